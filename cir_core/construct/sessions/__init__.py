"""Sessions from single-turn queries."""
