"""Records of reports. Undefined numbers are None, with a reason; never 0 or nan."""

from annotation.analysis.records.common import About as About
from annotation.analysis.records.common import AnyReport as AnyReport
from annotation.analysis.records.common import Groups as Groups
from annotation.analysis.records.common import MetricTest as MetricTest
from annotation.analysis.records.common import ModelAnswer as ModelAnswer
from annotation.analysis.records.common import ModelAnswers as ModelAnswers
from annotation.analysis.records.common import Options as Options
from annotation.analysis.records.common import PlanPoint as PlanPoint
from annotation.analysis.records.common import Precision as Precision
from annotation.analysis.records.common import Rate as Rate
from annotation.analysis.records.common import Rater as Rater
from annotation.analysis.records.common import Resample as Resample
from annotation.analysis.records.common import Scale as Scale
from annotation.analysis.records.common import Selection as Selection
from annotation.analysis.records.common import Strength as Strength
from annotation.analysis.records.common import StudyAnswers as StudyAnswers
from annotation.analysis.records.common import Undefined as Undefined
from annotation.records import MetricScores as MetricScores
from cir_core.reports.records import Estimate as Estimate
from cir_core.reports.records import Figure as Figure
from cir_core.reports.records import Headline as Headline
from cir_core.reports.records import ReportColumn as ReportColumn
from cir_core.reports.records import ReportTable as ReportTable
from cir_core.reports.records import Section as Section
