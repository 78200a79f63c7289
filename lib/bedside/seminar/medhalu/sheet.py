"""Seminar sheet 3, Can you see it?: a reading of twelve answers, scores, base rates, a note, spans.

Every right answer is computed from sample data, recordings and printed tables.
"""

from bedside.seminar.medhalu.checks import Checks
from bedside.seminar.medhalu.slips import Slips


class Sheet(Checks, Slips):
    """The checks of sheet 3, and the extra task."""
