"""Seminar sheet 4, The difficult patient: what a patient tells, invented details, what they cost.

Every right answer is computed from sample data, printed tables and the written consultations.
"""

from bedside.seminar.meddialbench.checks import Checks


class Sheet(Checks):
    """The checks of sheet 4."""
