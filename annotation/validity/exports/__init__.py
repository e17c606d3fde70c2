"""A study's results as files that other tools read."""
