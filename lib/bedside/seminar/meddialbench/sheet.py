"""Seminar sheet 4, The difficult patient: what a patient tells, what behaviours cost, scripts.

Every right answer is computed from sample data, printed tables or consultations held now.
"""

from bedside.seminar.meddialbench.consultation import Consultation
from bedside.seminar.meddialbench.losses import Losses
from bedside.seminar.meddialbench.scripts import Scripts
from bedside.seminar.meddialbench.together import Together


class Sheet(Consultation, Losses, Scripts, Together):
    """The checks of sheet 4: each of its parts has those of a few tasks."""
