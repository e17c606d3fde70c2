"""SoFT's data pipeline: all images that answer a query, and texts that only one of them answers."""
