"""Seminar sheet 1, Three patients ask: false presuppositions, the judge, its errors, cures."""

from bedside.seminar.cancer_myth.checks import Checks


class Sheet(Checks):
    """The checks of sheet 1."""
