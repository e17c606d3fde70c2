"""Bulk work in independent parts, and where it runs: in this process, or on a Ray cluster."""
