"""MedHalu's benchmark and experts' reasons: what the tests of notebooks 01 and 03 may use."""

from typing import Any

from bedside.run import Run


def names(run: Run) -> dict[str, Any]:
    """What tests of claims on the benchmark (section 2) and on reasons (section 5) may use."""
    return {}
