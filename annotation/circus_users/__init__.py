"""CIRCUS's annotator files, one for each person: read as a study, and written from one."""

from annotation.circus_users.reading import ImportedStudy as ImportedStudy
from annotation.circus_users.reading import read_circus_users as read_circus_users
from annotation.circus_users.study import StudyParts as StudyParts
from annotation.circus_users.study import study_of as study_of
from annotation.circus_users.writing import as_zip as as_zip
from annotation.circus_users.writing import circus_files as circus_files
from annotation.circus_users.writing import write_circus_users as write_circus_users
