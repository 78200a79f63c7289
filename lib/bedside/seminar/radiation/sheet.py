"""Seminar sheet 2, The list that changed: side effects of breast radiotherapy.

Lists of them are matched, scored, and compared between two records of a patient.
"""

from bedside.seminar.radiation.counting import Counting
from bedside.seminar.radiation.weighing import Weighing
from bedside.seminar.radiation.wordings import Wordings


class Sheet(Wordings, Counting, Weighing):
    """The checks of sheet 2: each of its parts has those of a few tasks."""
