"""Sources of study items: audits, query files, CIRCUS's aggregates, search sessions."""

from annotation.sources.queries import FindPicture as FindPicture
from annotation.sources.queries import QuerySource as QuerySource
from annotation.sources.queries import StudyQuery as StudyQuery
