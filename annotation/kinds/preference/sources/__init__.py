"""Sources of the questions of a preference study: cirque's methods, run files, HP-FashionIQ's files."""

from annotation.kinds.preference.sources.queries import SurveyQuery as SurveyQuery
from annotation.kinds.preference.sources.queries import SurveySource as SurveySource
