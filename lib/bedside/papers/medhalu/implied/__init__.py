"""MedHalu's printed numbers: as printed, what follows from them, and the readings of claims.

Readings are grouped by section: `benchmark` (2, A), `detection` and `types` (1, 4), `notes` (5);
`own` has this project's own questions.
"""

from . import (
    benchmark,
    detection,
    label_errors,
    matrices,
    notes,
    numbers,
    own,
    rates,
    regions,
    types,
)

__all__ = [
    "benchmark",
    "detection",
    "label_errors",
    "matrices",
    "notes",
    "numbers",
    "own",
    "rates",
    "regions",
    "types",
]
