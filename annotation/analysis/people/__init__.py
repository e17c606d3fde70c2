"""People one by one: against the others, their confusions, and who judges alike."""
