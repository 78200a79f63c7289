"""MedHalu: rows of its tables and figures, printed numbers beside computed ones; a module a subject."""

from . import benchmark, detection, notes, rates, spans

__all__ = ["benchmark", "detection", "notes", "rates", "spans"]
