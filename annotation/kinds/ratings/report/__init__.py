"""Ratings of sessions: how far people agree with each other and with a language model."""
