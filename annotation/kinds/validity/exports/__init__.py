"""Export of a study's results to files."""
