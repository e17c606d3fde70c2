"""Kinds of study, a folder each, and the table of them.

:mod:`~annotation.kinds.reports` composes the report of a study of any kind, :mod:`~annotation.kinds.reports` writes
it.
"""
