"""Multi-turn benchmarks constructed from a data set and a gallery (CIRCLED): sessions, filters, statistics."""
