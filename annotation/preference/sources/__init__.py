"""Where the questions of a preference study come from: cirque's methods, runs, HP-FashionIQ's files."""

from annotation.preference.sources.queries import SurveyQuery as SurveyQuery
from annotation.preference.sources.queries import SurveySource as SurveySource
