"""How sets of sessions differ, e.g. simulated and real ones."""
