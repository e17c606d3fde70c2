"""People mark which of a query's candidates answer it: a check of SoFT's stage 1."""
