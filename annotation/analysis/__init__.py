"""Statistics of judgements, sizes to plan, and parts of reports; no kind of study is known here. Pure.

:mod:`~annotation.analysis.records` has the records that reports share.
"""
