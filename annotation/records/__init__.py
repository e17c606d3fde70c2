"""What people are asked, and what they judged. Frozen records; storage keeps them, reports count them."""

from annotation.records.people import Invitation as Invitation
from annotation.records.people import Person as Person
from annotation.records.people import Role as Role
from annotation.records.people import SignIn as SignIn
from annotation.records.studies import Assignment as Assignment
from annotation.records.studies import AssignmentState as AssignmentState
from annotation.records.studies import Decision as Decision
from annotation.records.studies import Desk as Desk
from annotation.records.studies import Draft as Draft
from annotation.records.studies import EventKind as EventKind
from annotation.records.studies import HandOver as HandOver
from annotation.records.studies import Item as Item
from annotation.records.studies import Judgement as Judgement
from annotation.records.studies import OpenWork as OpenWork
from annotation.records.studies import Place as Place
from annotation.records.studies import Saved as Saved
from annotation.records.studies import Seat as Seat
from annotation.records.studies import Stand as Stand
from annotation.records.studies import Study as Study
from annotation.records.studies import StudyEvent as StudyEvent
from annotation.records.studies import StudyImage as StudyImage
from annotation.records.studies import StudyKind as StudyKind
from annotation.records.studies import StudyPlan as StudyPlan
from annotation.records.studies import Taken as Taken
from annotation.records.votes import MethodVote as MethodVote
