"""Seminar sheet 1p, Whose advice is it?: the released survey on real patients' questions.

Like sheet 1, but on real answers; it needs the released data.
"""

from bedside.seminar.survey.checks import Checks


class Sheet(Checks):
    """The checks of sheet 1p, and those solutions that are other people's ratings."""
