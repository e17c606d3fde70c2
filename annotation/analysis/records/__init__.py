"""Records of reports. Undefined numbers are None, with a reason; never 0 or nan."""

from annotation.analysis.records.common import (
    About as About,
)
from annotation.analysis.records.common import (
    Options as Options,
)
from annotation.analysis.records.common import (
    Rater as Rater,
)
from annotation.analysis.records.common import (
    Resample as Resample,
)
from annotation.analysis.records.common import (
    Scale as Scale,
)
from annotation.analysis.records.common import (
    Selection as Selection,
)
from annotation.analysis.records.common import (
    StudyAnswers as StudyAnswers,
)
from annotation.analysis.records.common import (
    Undefined as Undefined,
)
from annotation.analysis.records.planning import (
    PlanPoint as PlanPoint,
)
from annotation.analysis.records.planning import (
    Precision as Precision,
)
from annotation.analysis.records.preference import (
    Correlation as Correlation,
)
from annotation.analysis.records.preference import (
    MethodPair as MethodPair,
)
from annotation.analysis.records.preference import (
    MetricReport as MetricReport,
)
from annotation.analysis.records.preference import (
    MetricTest as MetricTest,
)
from annotation.analysis.records.preference import (
    Normality as Normality,
)
from annotation.analysis.records.preference import (
    PreferenceReport as PreferenceReport,
)
from annotation.analysis.records.preference import (
    Rate as Rate,
)
from annotation.analysis.records.preference import (
    Strength as Strength,
)
from annotation.analysis.records.validity import (
    Disputed as Disputed,
)
from annotation.analysis.records.validity import (
    PairAgreement as PairAgreement,
)
from annotation.analysis.records.validity import (
    PairSummary as PairSummary,
)
from annotation.analysis.records.validity import (
    SignaturePair as SignaturePair,
)
from annotation.analysis.records.validity import (
    Signatures as Signatures,
)
from annotation.analysis.records.validity import (
    TwoWay as TwoWay,
)
from annotation.analysis.records.validity import (
    ValidityReport as ValidityReport,
)
from annotation.records import MetricScores as MetricScores
from cir_core.reports.records import (
    Estimate as Estimate,
)
from cir_core.reports.records import (
    Figure as Figure,
)
from cir_core.reports.records import (
    Headline as Headline,
)
from cir_core.reports.records import (
    ReportColumn as ReportColumn,
)
from cir_core.reports.records import (
    ReportTable as ReportTable,
)
from cir_core.reports.records import (
    Section as Section,
)
