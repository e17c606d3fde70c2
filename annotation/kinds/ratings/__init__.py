"""People rate whole search sessions: the five questions that a language model answers as well."""
