"""Where the items of a study come from: audits, query files, CIRCUS's aggregates, search sessions."""

from annotation.sources.queries import FindPicture as FindPicture
from annotation.sources.queries import QuerySource as QuerySource
from annotation.sources.queries import StudyQuery as StudyQuery
