"""The progress that is shown while models are called: calls done, rate, time left, cost, failures.

with watched() as say:    # of a make; of its processes one calls at a time
    say("one more notebook is done")
"""

import contextlib
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from tqdm import tqdm

from bedside.read.surroundings import here

from . import budget

DRAWN_S, PRINTED_S = 1.0, 30.0  # seconds between two lines in a terminal, and elsewhere


class Meter:
    """Tells once a second what calls bring: on stderr, or to whom the make lets watch.

    label: what is asked; total: how many requests, if that is known; recorded: those that need no
    call.
    """

    def __init__(self, account: budget.Account, label: str, shown: bool, total: int | None = None):
        self.account, self.label, self.total, self.shown = account, label or "calls", total, shown
        self.recorded, self.count, self.again = 0, 0, Counter()  # by kind: tried once more
        self.began, self.told, self.live = time.monotonic(), 0.0, here.live

    def done(self) -> None:
        self.count += 1
        self.tell()

    def tell(self, instead: str = "", end: str = "") -> None:
        """Tell how far it is, or something else instead."""
        if time.monotonic() - self.told < DRAWN_S and not end:
            return
        self.told = time.monotonic()
        if self.live and not instead:
            study, _, notebook = self.account.notebook.partition("/")
            self.account.tell(f"{study}/{notebook[:2]} {self.line()}")
        elif self.shown and not self.live:
            print(f"\r{instead or self.line()}", end=end, file=sys.stderr, flush=True)

    def line(self) -> str:
        unpriced = self.account.counts["unpriced"]
        told = f"${self.account.paid:.2f}" + f" and {unpriced} of unknown cost" * bool(unpriced)
        for what, counts in (("failed", self.account.kinds), ("tried again", self.again)):
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
            told += f", {what}: {kinds}" * bool(kinds)
        return tqdm.format_meter(
            self.recorded + self.count,
            self.total,
            time.monotonic() - self.began,
            prefix=self.label,
            initial=self.recorded,
            postfix=told,
            ncols=0,
        )


@contextlib.contextmanager
def watched(shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Show while its block runs how far the notebook of this make is that calls models.

    Gives a function that prints a line beside it.
    """
    terminal, over = sys.stdout.isatty(), threading.Event()
    bar = tqdm(bar_format="{desc}", leave=False, file=sys.stdout, disable=not (shown and terminal))

    def watch():
        while not over.wait(DRAWN_S if terminal else PRINTED_S):
            with contextlib.suppress(Exception):  # a view must not end a run
                if (line := budget.progress()) and terminal:
                    bar.set_description_str(line[: shutil.get_terminal_size().columns - 1])
                elif line:
                    say(line)

    def say(line):
        bar.write(line)
        sys.stdout.flush()

    if shown:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield say
    finally:
        over.set()
        bar.close()
