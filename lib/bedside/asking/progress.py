"""The progress that make shows while notebooks call models: calls done, cost and failures.

    with Watch(["my_paper/01_answers"]) as watch:
        watch.write("one more notebook is done")

A terminal shows a line for each running notebook and redraws it once a second. Otherwise a line is
printed now and then.
"""

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import TextIO

from . import ledger

DRAWN_S, PRINTED_S = 1.0, 30.0  # seconds between two views in a terminal, and elsewhere
RATE_S = 30.0  # seconds over which the rate is measured


def duration(seconds: float) -> str:
    """Seconds in words: 40 s, 3 min, 2 h 10 min."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def line(name: str, state: dict, rate: float, usd: float) -> str:
    """One notebook's line: done of total, rate, time left, the make's cost so far, failures."""
    study, _, notebook = name.partition("/")
    of = f" of {state['total']}" if state["total"] else ""
    short = notebook[:2] if notebook[:2].isdigit() else notebook
    parts = [f"{study}/{short} {state['label']}: {state['done']}{of}"]
    if rate:
        parts.append(f"{rate:.1f}/s")
        if state["total"]:
            parts.append(f"{duration((state['total'] - state['done']) / rate)} left")
    parts.append(f"${usd:.2f} so far")
    for what, counts in (("failed", state["failed"]), ("tried again", state["again"])):
        if counts:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
            parts.append(f"{what}: {kinds}")
    return ", ".join(parts)


class Watch:
    """Shows the progress of this make's notebooks while its block runs."""

    def __init__(self, names: Iterable[str], shown: bool = True, file: TextIO | None = None):
        self.under_way, self.shown, self.file = set(names), shown, file or sys.stdout
        self.over = threading.Event()
        self.bars, self.seen = {}, {}  # notebook -> tqdm bar; -> (phase, recent [time, done])
        self.lock = threading.Lock()

    def __enter__(self):
        if self.shown:
            self.thread = threading.Thread(target=self._watch, daemon=True)
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
        with self.lock:
            self.under_way.discard(name)
            bar = self.bars.pop(name, None)
            if bar is not None:  # an empty bar is false
                bar.close()
            if self.bars:
                next(iter(self.bars.values())).write(text, file=self.file)
            else:
                print(text, file=self.file, flush=True)

    def _watch(self):
        terminal = self.file.isatty()
        while not self.over.wait(DRAWN_S if terminal else PRINTED_S):
            with contextlib.suppress(Exception), self.lock:  # a view must not end a run
                for name, text in self.lines():
                    self._draw(name, text) if terminal else print(text, file=self.file, flush=True)

    def lines(self) -> list[tuple[str, str]]:
        """(notebook, its line) for each running notebook."""
        told, usd = ledger.progress(ledger.make())
        mine = {k: v for k, v in told.items() if k in self.under_way}
        return [(k, line(k, v, self._rate(k, v), usd)) for k, v in mine.items()]

    def _rate(self, name, state):
        """Recent replies per second; replayed ones don't count."""
        phase, now = state["label"], time.monotonic()
        kept = self.seen.get(name)
        if kept is None or kept[0] != phase:
            kept = self.seen[name] = phase, deque()
        recent = kept[1]
        recent.append((now, state["done"] - state["recorded"]))
        while now - recent[0][0] > RATE_S:
            recent.popleft()
        (before, had), (_, have) = recent[0], recent[-1]
        return (have - had) / (now - before) if now > before else 0.0

    def _draw(self, name, text):
        from tqdm import tqdm

        if name not in self.bars:
            form = {"bar_format": "{desc}", "dynamic_ncols": True}
            self.bars[name] = tqdm(total=0, leave=False, file=self.file, **form)
        self.bars[name].set_description_str(text)
