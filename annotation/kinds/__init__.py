"""Kinds of study, a folder each; their reports as a whole and as files."""
