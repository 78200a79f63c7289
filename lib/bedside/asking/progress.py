"""Progress that is shown while models are called: calls done, rate, time left, cost, failures."""

import contextlib
import os
import shutil
import sys
import time
from collections import Counter

from tqdm import tqdm

from bedside.read.surroundings import here

from . import budget


def terminal() -> str:
    """The file of the terminal that this process prints to, for `here.terminal`."""
    return os.ttyname(1) if hasattr(os, "ttyname") and os.isatty(1) else os.devnull


class Meter:
    """Shows once a second what calls bring: on stderr, or at the terminal of the make.

    label: what is asked; total: how many requests, if that is known; recorded: those that need no
    call.
    """

    def __init__(self, account: budget.Account, label: str, shown: bool, total: int | None = None):
        self.account, self.label, self.total, self.shown = account, label or "calls", total, shown
        self.recorded, self.count, self.again = 0, 0, Counter()  # by kind: tried once more
        self.began = self.last = time.monotonic()

    def done(self) -> None:
        self.count += 1
        if time.monotonic() - self.last > 1:
            self.last = time.monotonic()
            self.show()

    def show(self, end: bool = False) -> None:
        """Show how far it is; at the end of a make's calls its terminal has the line again."""
        if here.terminal:
            width = shutil.get_terminal_size().columns - 1
            line = "" if end else f"{self.account.notebook} {self._line()}"[:width]
            with contextlib.suppress(OSError), open(here.terminal, "w") as file:
                file.write(f"\r\x1b[K{line}")
        elif self.shown:
            print(f"\r{self._line()}", end="\n" * end, file=sys.stderr, flush=True)

    def _line(self):
        unpriced = self.account.unpriced
        cost = f"${self.account.paid:.2f}" + f" and {unpriced} of unknown cost" * bool(unpriced)
        for what, counts in (("failed", self.account.kinds), ("tried again", self.again)):
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
            cost += f", {what}: {kinds}" * bool(kinds)
        elapsed, done = time.monotonic() - self.began, self.recorded + self.count
        more = {"initial": self.recorded, "postfix": cost, "ncols": 0}
        return tqdm.format_meter(done, self.total, elapsed, prefix=self.label, **more)
