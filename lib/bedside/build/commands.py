"""make's commands and variables: which take which, what they mean, and the text of `make help`."""

import re
from collections.abc import Collection
from pathlib import Path

from bedside import BedsideError, choose
from bedside.read import paths
from bedside.read.surroundings import began, variable

TABLE = paths.toml(Path(__file__).with_name("variables.toml"))
KNOWN = {name: takers.split() for name, (takers, _) in TABLE.items()}
NOTEBOOKS = "all record plan batch verify test explorer site seminar".split()  # and each study


def taken(command: str) -> tuple[str, ...]:
    """The variables that a command takes, in the table's order; `notebooks`: all in NOTEBOOKS."""
    return tuple(name for name, commands in KNOWN.items() if command in commands)


def of_make() -> dict[str, str]:
    """{NAME: value} of what make was given, by its line or the environment; {} without a make."""
    return {n: variable(n) for n in KNOWN} if began() else {}


def check(goals: Collection[str], line: dict[str, str]) -> None:
    """BedsideError for an unknown variable of make's line, or one that is not for these commands.

    Without questions `batch` is of the notebooks.
    """
    goals = goals if "QUESTIONS" in line else ["all" if g == "batch" else g for g in goals]
    for name in line:
        if "study" in goals and name not in taken("any"):
            choose(name, taken("study"), "variable of make study")
        takers = KNOWN[choose(name, KNOWN, "variable")]
        others = ({*NOTEBOOKS, *paths.papers()} - {*takers}).intersection(goals)
        if others and "study" in takers and "notebooks" not in takers:
            costs = ", where MODE=plan says what it costs" * ("plan" in goals)
            raise BedsideError(f"{name} is only for `make study`{costs}. See docs/own_study.md.")


def targets() -> dict[str, str]:
    """{command: its text, empty for a step of `python -m bedside`}, from the Makefile."""
    makefile = (paths.ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = re.search(r"^STEPS := (.*)$", makefile, re.M)[1].split()
    return dict(re.findall(r"^([a-z]+):.*## (.*)$", makefile, re.M)) | dict.fromkeys(steps, "")


def help_text(steps: dict[str, str]) -> str:
    """All commands and all variables; steps: the texts of those that are steps."""
    commands = [(name, text or steps[name]) for name, text in targets().items()]
    commands += [(paper, "the notebooks of this study") for paper in paths.papers()]
    return "\n".join(
        [
            "Bedside. Usage: make COMMAND [VARIABLE=value ...]\n",
            *(f"  {name:12} {text}" for name, text in commands),
            f"\nVariables and who takes them; notebooks: {', '.join(NOTEBOOKS)} and each study\n",
            *(
                f"  {name:12} {text} ({', '.join(takers.split())})"
                for name, (takers, text) in TABLE.items()
            ),
        ]
    )
