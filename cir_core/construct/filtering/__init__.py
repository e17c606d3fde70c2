"""Which sessions make a benchmark."""
