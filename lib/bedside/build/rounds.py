"""Rounds: notebooks run again and again in mode batch, each time for what they can ask.

submitting.submit(Notebooks(given))
"""

import functools
import tempfile

from bedside import BedsideError
from bedside.asking import batches, budget
from bedside.read import paths
from bedside.read.surroundings import here, within

from . import notebooks, plans, settings


class Notebooks:
    """The notebooks of all studies, or of one, with these settings, as `asking.submitting` asks.

    left: those that still miss replies, as far as is known; fault: what ended others, in words.
    """

    def __init__(self, given: dict, paper: str = ""):
        self.given, self.fault, self.left = given, "", notebooks.listed(paper)
        self.scratch = tempfile.TemporaryDirectory()  # of cards, which later rounds read
        profile = given.get("profile", "sample")
        self.run = here.run or profile
        known = {k: v for k, v in given.items() if k in settings.NAMES}
        self.account = account(settings.validated(**known))
        usual = profile, settings.name_of(profile, settings.changed(given))
        named = {} if self.run in usual else {"run": self.run}
        self.command = command("record", {**named, **known})

    def ask(self) -> list[dict]:
        """What those can ask now that still miss replies, as `batches.row`."""
        found, papers = {}, paths.papers()
        by_study = [[n for n in self.left if n.startswith(f"{paper}/")] for paper in papers]
        with within(figures=self.scratch.name), plans.at_once() as pool:
            study = functools.partial(_study, {**self.given, "mode": "batch"})
            for mine in pool.map(study, by_study):
                found |= mine
        self.fault = "\n\n".join(fault for _, fault in found.values() if fault)
        self.left = [name for name in self.left if any(found[name])]
        return [row for rows, _ in found.values() for row in rows]


def _study(given, names):
    """{notebook: (what it asks now, what has ended it, in words)} of a study."""
    found = {}
    for name in names:
        fault, space = "", {}
        try:
            plans.execute(name, given, space)
        except BedsideError as e:
            if type(e).__name__ in notebooks.STOPS:
                raise
            fault = f"{name}: {e}"
        asked = [batches.row(r, space["run"].recordings) for r in plans.requests(space)]
        found[name] = asked, fault
    return found


def account(run: settings.Settings) -> budget.Account:
    """On whose account batches go, by settings, or a Run that has them."""
    return budget.Account("batches", run.budget_usd, run.budget_total, settings.scope(run))


def command(target: str, given: dict) -> str:
    """A make command with these settings, but for the mode."""
    told = {k.upper(): v for k, v in given.items() if v not in ("", None) and k != "mode"}
    quoted = [f'{k}="{v}"' if " " in str(v) else f"{k}={v}" for k, v in told.items()]
    return " ".join(["make", target, *quoted])
