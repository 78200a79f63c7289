"""Seminar sheet 1p, Whose advice is it?: the released survey on real patients' questions.

Like sheet 1, but on real answers; it needs the released data.
"""

from bedside.seminar.survey.counting import Counting
from bedside.seminar.survey.reading import Reading


class Sheet(Reading, Counting):
    """The checks of sheet 1p, and those solutions that are other people's ratings."""

    def solution(self, number):
        """The physicians' answers to a task, read when they are needed and written nowhere."""
        return {"1.1": self.medians, "1.2": self.often}[number]()
