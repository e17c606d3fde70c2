"""Import and export of CIRCUS's annotator files, one per person."""

from annotation.kinds.validity.circus.reading import ImportedStudy as ImportedStudy
from annotation.kinds.validity.circus.reading import read_circus_users as read_circus_users
from annotation.kinds.validity.circus.study import study_of as study_of
from annotation.kinds.validity.circus.writing import circus_files as circus_files
from annotation.kinds.validity.circus.writing import write_circus_users as write_circus_users
