"""Seminar sheet 1p, What three physicians marked: the released survey on real patients' questions.

Sheet 1 on real answers; it needs the released data.
"""

from bedside.seminar.survey.counting import Counting
from bedside.seminar.survey.reading import Reading


class Sheet(Reading, Counting):
    """The checks of sheet 1p, and the solutions that are other people's."""

    def solution(self, number):
        """What the physicians answered to a task, read when it is wanted; it is written nowhere."""
        return {"1.1": self.medians, "1.2": self.often}[number]()
