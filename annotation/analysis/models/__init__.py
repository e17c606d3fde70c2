"""Language models that answered a study, against the people who did."""
