"""The tables of answers to the seminar's tasks, as students would give them."""

import tomllib
from pathlib import Path

FOUND = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).with_name("readers").glob("answers/*.toml"))
}
FORTY = FOUND["forty"]
TABLES = {paper: tables for paper, tables in FOUND.items() if paper != "forty"}


def answer(paper, number, row=None):
    """A row of a task's table, or its base, as the whole answer that a student would give."""
    table = TABLES[paper][number]
    made = table["base"] if row is None else row
    return {**table["base"], **made} if isinstance(made, dict) else made
