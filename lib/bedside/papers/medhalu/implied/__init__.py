"""MedHalu's printed numbers, what follows from them, and the readings of claims on detection."""

from . import detection, label_errors, matrices, numbers, rates, regions

__all__ = ["detection", "label_errors", "matrices", "numbers", "rates", "regions"]
