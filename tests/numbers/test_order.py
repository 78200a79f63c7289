"""What the order of rows and the names of models may not change: any number of any table."""

import re

import pytest
from catalogue import CASES, MODELS, call, same  # noqa: F401

# shown is the first case that one of the run's models fails, and odds are against its first model
FIRST = ("meddialbench case_table", "meddialbench mixed_table")
SWAPPED = dict(zip(MODELS, MODELS[::-1]))
NAMED = [name for name, (frame, _) in CASES.items() if MODELS[0] in frame.make().to_csv()]


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_changes_no_number(name, call):  # noqa: F811
    frame = CASES[name][0].make()
    for other in frame[::-1], frame.sample(frac=1, random_state=1).reset_index(drop=True):
        other = other.sort_values("model", kind="stable") if name in FIRST else other
        same(call(name, other), call(name))


def turned(found, names):
    """A result with models renamed back; a difference keeps its sign, whichever comes first."""

    def text(said):
        return re.sub("|".join(names), lambda m: names[m[0]], said)

    made = {}
    for labels, rows in found.items():
        key = tuple(map(text, labels))
        pair = re.match(f"({MODELS[1]}) vs ({MODELS[0]})", key[0])
        if pair:
            key = (f"{pair[2]} vs {pair[1]}", *key[1:])
            if any("difference" in k and "detectable" not in k for k in key):
                rows = [{**r, "value": -r["value"]} for r in rows]
        made[key] = rows
    return made


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("back", [SWAPPED, {"zelkova": MODELS[0]}], ids=["swap", "new"])
def test_numbers_move_with_the_names_of_models(name, back, call):  # noqa: F811
    """Names exchanged, and one that sorts otherwise. p and detectable differences stay."""
    frame, there = CASES[name][0].make(), {old: new for new, old in back.items()}

    def renamed(cell):
        found = isinstance(cell, str) and re.sub("|".join(there), lambda m: there[m[0]], cell)
        return found or cell

    found = call(name, frame.map(renamed), [there.get(m, m) for m in MODELS])
    same(turned(found, back), call(name))
