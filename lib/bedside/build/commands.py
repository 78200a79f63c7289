"""make's commands and variables: which take which, what they mean, and the text of `make help`."""

import re
from collections.abc import Collection

from bedside import BedsideError, choose
from bedside.read import paths
from bedside.read.surroundings import began, variable

TABLE = """
PROFILE      | notebooks data letter latex annotate | sample: our items; public: released data
MODE         | notebooks study batch | replay (usual): no call; record: only missing replies; fresh
QUESTIONS    | study batch     | a file of your own questions (docs/own_study.md)
MODELS       | notebooks study batch try annotate | names in data/models.toml, "a b"
JUDGE        | notebooks study batch | who grades: one or more models, or a judge without one
LIMIT        | notebooks study batch annotate | only the first n items
SEED         | notebooks study batch annotate | another seed than 0
PROMPTS      | notebooks       | a folder of prompts in your wording, in templates of the same names
BUDGET_USD   | notebooks study batch | where calls stop, in USD, for this command
ANSWERS      | notebooks study batch | a file of answers made elsewhere, to be judged
BUDGET_TOTAL | notebooks       | where they stop for all runs of the same settings
RUN          | notebooks lab   | a run's name, to give one or to return to it
RUNS         | compare         | names of runs or profiles: RUNS="a b c"
RUBRIC       | study batch     | a file that says how to grade: a template, or criteria with points
LABELS       | study batch     | a file of labels made elsewhere, which measure the judges
REPEATS      | study batch     | how often each question is asked
TEMPERATURE  | study batch     | of the answers (usual: 0)
NAME         | study batch annotate | a name for this run of your questions
TASK         | annotate        | what raters decide (notebooks/agreement.ipynb lists all)
RATERS       | annotate        | "Anna Berg, Jo"; adjudicated: what they differ on
GROUP        | annotate        | expert, layperson or another word
SIZE         | annotate        | how many replies are drawn (20); 0: all
SHARED       | annotate        | 1: raters share the sample, a fifth of it goes to all
BATCHES      | annotate        | so many parts of the sample, each for equally many raters
PROTOCOL     | annotate        | 1: by the study's own protocol, with consent and training first
REASONS      | annotate        | 1: a reason for every decision
REVISION     | study batch     | which version of a dataset of the Hugging Face Hub
COMPARE      | study           | two runs, COMPARE=old,new: what changed
NUMBERS      | check           | a file of printed numbers (docs/check.md); new: a template
PAPER        | plan batch new  | only this study; with new, its name
FROM         | collect annotate | the file or folder of results, or of labels sent back
FOLDER       | class           | the folder of what a class handed in
MIRROR       | data all verify plan batch seminar | a folder that has the released data
SLOW         | test            | 1: also tests that take minutes
JOBS         | any             | how many notebooks or tests run at once
PYTHON       | any             | which Python sets everything up
CONDA_PREFIX | any             | empty: .venv, although a conda environment is active
"""
ROWS = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]
KNOWN = {name: commands.split() for name, commands, _ in ROWS}
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
            raise BedsideError(f"{name} is for `make study` alone; see docs/own_study.md")


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
            *(f"  {name:12} {text} ({', '.join(KNOWN[name])})" for name, _, text in ROWS),
        ]
    )
