"""Rows of Cancer-Myth's tables and figures, a module a subject."""
