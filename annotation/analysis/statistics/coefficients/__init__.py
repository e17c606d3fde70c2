"""Coefficients of agreement among all people, a file and a row of the table of statistics each."""
