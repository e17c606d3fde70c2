"""From judgements to numbers that can be published: agreement, correlation, preference, planning. Pure.

:mod:`~annotation.analysis.records` has what a report holds, :mod:`~annotation.analysis.validity_report` and
:mod:`~annotation.analysis.preference_report` make reports of a study, and :mod:`~annotation.analysis.documents`
writes them.
"""
