"""Where the questions of a preference study come from: cirque's methods, runs, HP-FashionIQ's files."""

from annotation.preference_sources.queries import SurveyQuery as SurveyQuery
from annotation.preference_sources.queries import SurveySource as SurveySource
