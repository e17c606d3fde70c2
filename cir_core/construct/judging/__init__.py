"""Sessions rated by a language model."""
