"""Seminar sheet 1, Three patients ask: false presuppositions, the judge, its errors, cures."""

from bedside.seminar.cancer_myth.cures import Cures
from bedside.seminar.cancer_myth.judge import Judge
from bedside.seminar.cancer_myth.patients import Patients


class Sheet(Patients, Judge, Cures):
    """The checks of sheet 1: each of its parts has those of a few tasks."""
