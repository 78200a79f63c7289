"""The tables of answers to the seminar's tasks, as students would give them."""

import tomllib
from pathlib import Path

TABLES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).with_name("readers").glob("answers/*.toml"))
}


def answer(paper, number, row=None):
    """A row of a task's table, or its base, as the whole answer that a student would give."""
    table = TABLES[paper][number]
    made = table["base"] if row is None else row
    if isinstance(made, dict):
        made = {**table["base"], **made}
    if table.get("formulas"):
        return eval(f"lambda h, w, m, r: {made}")  # of these tables, of nobody's answers
    return [answer(paper, table["after"]), made] if "after" in table else made
