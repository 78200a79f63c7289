"""The progress that is shown while models are called: calls done, rate, time left, cost, failures.

    with Watch(["my_paper/01_answers"]) as watch:    # make, for the processes of its notebooks
        watch.write("one more notebook is done")

A terminal has a line for each notebook, redrawn once a second; elsewhere one is printed now and
then.
"""

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import TextIO

from . import budget

DRAWN_S, PRINTED_S = 1.0, 30.0  # seconds between two views in a terminal, and elsewhere


class Meter:
    """Counts what calls bring, and shows it: on stderr, or by the budget's file to a Watch.

    label: what is asked; total: how many requests, if that is known; recorded: those that need no
    call.
    """

    def __init__(
        self,
        account: budget.Account,
        label: str,
        shown: bool,
        total: int | None = None,
        recorded: int = 0,
    ):
        self.account, self.label, self.total, self.shown = account, label or "calls", total, shown
        self.recorded, self.count, self.usd, self.unpriced = recorded, 0, 0.0, 0
        self.failed, self.again = Counter(), Counter()  # by kind: for good, and tried once more
        self.began, self.told = time.monotonic(), 0.0
        self.live = bool(os.environ.get("BEDSIDE_LIVE"))

    def paid(self, usd: float | None) -> None:
        self.usd, self.unpriced = self.usd + (usd or 0.0), self.unpriced + (usd is None)

    def done(self) -> None:
        self.count += 1
        self._tell()

    def waits(self) -> None:
        """Another process of this make has its turn."""
        self._tell(f"{self.label}: waits while another notebook calls models")

    def close(self) -> None:
        self.told = 0.0
        self._tell()
        if self.shown and not self.live:
            print(file=sys.stderr)

    def _tell(self, line=""):
        if (now := time.monotonic()) - self.told < DRAWN_S:
            return
        self.told = now
        if self.live:
            self.account.tell(line or self.line())
        elif self.shown:
            print(f"\r{line or self.line()}", end="", file=sys.stderr, flush=True)

    def line(self) -> str:
        from tqdm import tqdm

        told = [f"recorded {self.recorded}", f"cost ${self.usd:.4f}"]
        told += [f"and {self.unpriced} of unknown cost"] * bool(self.unpriced)
        for what, counts in (("failed", self.failed), ("tried again", self.again)):
            kinds = " ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
            told += [f"{what}: {kinds}"] * bool(kinds)
        done, seconds = self.recorded + self.count, time.monotonic() - self.began
        more = {"initial": self.recorded, "prefix": self.label, "ascii": True, "unit": "call"}
        return tqdm.format_meter(done, self.total, seconds, **more, postfix=", ".join(told))


class Watch:
    """Shows the progress of this make's notebooks while its block runs."""

    def __init__(self, names: Iterable[str], shown: bool = True, file: TextIO | None = None):
        self.under_way, self.shown, self.file = set(names), shown, file or sys.stdout
        self.over, self.lock, self.bars = threading.Event(), threading.Lock(), {}
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        if self.shown:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.shown:
            self.thread.join()
        for bar in self.bars.values():
            bar.close()

    def write(self, text: str, name: str = "") -> None:
        """Print a line above the view. name: the notebook that is done, if the line says so."""
        from tqdm import tqdm

        with self.lock:
            self.under_way.discard(name)
            if name in self.bars:
                self.bars.pop(name).close()
            tqdm.write(text, file=self.file)
            self.file.flush()

    def _watch(self):
        terminal = self.file.isatty()
        while not self.over.wait(DRAWN_S if terminal else PRINTED_S):
            with contextlib.suppress(Exception), self.lock:  # a view must not end a run
                for name, line in budget.progress().items():
                    if name in self.under_way:
                        study, _, notebook = name.partition("/")
                        short = notebook[:2] if notebook[:2].isdigit() else notebook
                        show = self._draw if terminal else self._print
                        show(name, f"{study}/{short} {line}")

    def _print(self, name, text):
        print(text, file=self.file, flush=True)

    def _draw(self, name, text):
        from tqdm import tqdm

        if name not in self.bars:
            form = {"bar_format": "{desc}", "dynamic_ncols": True}
            self.bars[name] = tqdm(total=0, leave=False, file=self.file, **form)
        self.bars[name].set_description_str(text)
