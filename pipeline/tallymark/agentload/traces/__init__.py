"""Traces of real agents: one importer a format, one corpus of whole tasks, nothing of their content."""
