"""MedHalu: rows of its tables and figures, printed beside computed; one module for each subject."""

from . import benchmark, cut, detection, notes, rates, spans

__all__ = ["benchmark", "cut", "detection", "notes", "rates", "spans"]
