"""Progress that is shown while models are called: calls done, rate, time left, cost, failures."""

import os
import sys

from tqdm import tqdm

from bedside.read.surroundings import here


def terminal() -> str:
    """The file of the terminal that this process prints to, for `here.terminal`."""
    return os.ttyname(1) if hasattr(os, "ttyname") and os.isatty(1) else os.devnull


def meter(label: str, shown: bool, total: int | None) -> tqdm:
    """Shows once a second what calls bring: on stderr, or at the terminal of the make.

    label: what is asked; shown: whether any can be; total: how many requests, if that is known.
    """
    file = open(here.terminal, "w") if here.terminal else sys.stderr
    how = {"file": file, "delay": 1, "mininterval": 1, "leave": not here.terminal}
    return tqdm(desc=label, total=total, disable=not shown, **how)
