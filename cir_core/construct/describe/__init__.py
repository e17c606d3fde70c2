"""Statistics of sets of sessions."""
