"""Statistics of judgements: agreement, correlation, preference, planning. Pure.

:mod:`~annotation.analysis.records` has the records of reports, :mod:`~annotation.kinds.validity.report.report` and
:mod:`~annotation.kinds.preference.report.report` compute a study's report, and
:mod:`~annotation.kinds.documents` writes it.
"""
