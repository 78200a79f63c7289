"""Rounds: notebooks run again and again in mode batch, each time putting down what they can ask.

submitting.submit(Notebooks(given))
"""

from pathlib import Path

from bedside import BedsideError
from bedside.asking import batches, budget
from bedside.read.surroundings import here, within

from . import notebooks, settings


class Notebooks:
    """The notebooks of all studies, or of one, with these settings, as `asking.submitting` asks.

    left: those that still miss replies, as far as is known; fault: what ended others, in words.
    """

    def __init__(self, given: dict, paper: str = ""):
        self.given, self.fault, self.left = given, "", notebooks.listed(paper)
        profile = given.get("profile", "sample")
        self.run = here.run or profile
        known = {k: v for k, v in given.items() if k in settings.NAMES}
        self.account = account(settings.validated(**known))
        usual = profile, settings.name_of(profile, settings.changed(given))
        named = {} if self.run in usual else {"run": self.run}
        self.command = command("record", {**named, **known})

    def ask(self, folder: Path) -> None:
        """Let all that still miss replies put down what can be asked now, below a folder."""
        through, self.fault = [], ""
        with within(figures=str(folder)):
            try:
                given = {**self.given, "mode": "batch"}
                notebooks.run_all(self.left, given, done=lambda name, _: through.append(name))
            except notebooks.Stopped:
                raise
            except BedsideError as e:
                self.fault = str(e)
        asked = {p.name.removesuffix(batches.ENDS) for p in folder.rglob(f"*{batches.ENDS}")}
        self.left = [n for n in self.left if n.replace("/", ".") in asked or n not in through]


def account(run: settings.Settings) -> budget.Account:
    """On whose account batches go, by settings, or a Run that has them."""
    return budget.Account("batches", run.budget_usd, run.budget_total, settings.scope(run))


def command(target: str, given: dict) -> str:
    """A make command with these settings, but for the mode."""
    told = {k.upper(): v for k, v in given.items() if v not in ("", None) and k != "mode"}
    quoted = [f'{k}="{v}"' if " " in str(v) else f"{k}={v}" for k, v in told.items()]
    return " ".join(["make", target, *quoted])
