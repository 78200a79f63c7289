"""Cancer-Myth: the quantities and functions that the tests in data/claims may use."""

import importlib
from typing import Any

from bedside.run import Run

PARTS = (".survey_claims", ".v2.claims")


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    found = {}
    for part in PARTS:
        try:
            found |= importlib.import_module(part, __package__).names(run)
        except ModuleNotFoundError:
            continue
    return found
