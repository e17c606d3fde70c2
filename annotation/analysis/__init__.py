"""From judgements to numbers that can be published: agreement, correlation, preference, planning. Pure.

:mod:`~annotation.analysis.records` has what a report holds, :mod:`~annotation.analysis.validity.report` and
:mod:`~annotation.analysis.preference.report` make reports of a study, and
:mod:`~annotation.analysis.rendering.documents` writes them.
"""
