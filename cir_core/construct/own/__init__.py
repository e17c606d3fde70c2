"""Sessions that people made by searching, in CIRCLED's raw form."""
