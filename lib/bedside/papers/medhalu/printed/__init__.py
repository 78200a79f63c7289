"""MedHalu's printed numbers: as they stand, the counts behind them, and claims' readings."""

from . import claims, matrices, numbers

__all__ = ["claims", "matrices", "numbers"]
