"""Items of a study from a table that somebody hands over: its file, the columns, the pictures it names."""
