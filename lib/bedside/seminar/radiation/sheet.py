"""Seminar sheet 2, The list that changed: records, wordings, lists and what their scores hide.

Every right answer is computed from the sample and the printed tables.
"""

from bedside.seminar.radiation.checks import Checks


class Sheet(Checks):
    """The checks of sheet 2."""
