"""Read what was constructed, for people: folders, sessions, search, sorting and filters."""
