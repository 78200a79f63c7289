"""Rows of Cancer-Myth's tables and figures, a module for each subject."""
