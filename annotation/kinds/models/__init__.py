"""Studies answered by language models."""
