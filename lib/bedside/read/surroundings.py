"""What a process finds around it: the variables that make was given, keys, and places.

Nothing else in the library reads the environment.
"""

import os


def variable(name: str) -> str:
    """An environment variable, such as a key; empty if it isn't set."""
    return os.environ.get(name, "")


def began() -> float:
    """When the `make` that called this process began, in seconds since 1970; 0 without one."""
    at = variable("BEDSIDE_MAKE").rpartition(" at ")[2]
    return float(at) if at.isdecimal() else 0
