"""Statistics of judgements: agreement, correlation, preference, planning. Pure.

:mod:`~annotation.analysis.records` has the records of reports, :mod:`~annotation.analysis.validity.report` and
:mod:`~annotation.analysis.preference.report` compute a study's report, and
:mod:`~annotation.analysis.documents` writes it.
"""
