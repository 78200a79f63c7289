"""MedHalu: rows of its tables and figures, printed beside computed numbers; a module a subject."""

from . import benchmark, detection, notes, rates, spans

__all__ = ["benchmark", "detection", "notes", "rates", "spans"]
