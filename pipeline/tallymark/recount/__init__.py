"""Filled in by its stage."""
