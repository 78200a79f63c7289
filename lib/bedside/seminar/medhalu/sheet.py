"""Seminar sheet 3, Can you see it?: a reading of twelve answers, scores, base rates, a note, spans.

Every right answer is computed from sample data, recordings and printed tables.
"""

from bedside.seminar.medhalu.rates import Rates
from bedside.seminar.medhalu.reading import Reading
from bedside.seminar.medhalu.scoring import Scoring
from bedside.seminar.medhalu.slips import Slips


class Sheet(Reading, Scoring, Rates, Slips):
    """The checks of sheet 3: each of its parts has those of a few tasks."""
