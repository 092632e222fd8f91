"""Recomputing what was published, by a way that shares no code with the tables."""
