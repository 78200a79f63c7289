"""MedHalu's printed numbers: as they stand, what lies behind them, and claims' readings.

Readings stand by section: `benchmark` (2, A), `detection` and `types` (1, 4), `notes` (5); `own`
has the questions that are ours.
"""

from . import benchmark, detection, matrices, notes, numbers, own, rates, types

__all__ = ["benchmark", "detection", "matrices", "notes", "numbers", "own", "rates", "types"]
