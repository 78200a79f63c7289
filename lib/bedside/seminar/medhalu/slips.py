"""The extra task of sheet 3: a made-up table of six printed numbers, with two slips in it."""

import pandas as pd

from bedside import checking, seminar
from bedside.read import paths
from bedside.seminar import needs

FILE = paths.ROOT / "data" / "sample" / "check" / "six_lines.csv"
LETTERS = "abcdef"


class Slips(seminar.Sheet):
    """Printed numbers that no data can give, found by hand and by `bedside.check`."""

    def six_lines(self):
        """The table, its numbers as printed."""
        rows = pd.read_csv(FILE, dtype=str, keep_default_na=False).assign(letter=list(LETTERS))
        return seminar.shown(rows[["letter", "table", "row", "column", "value", "n"]])

    @needs("“two slips”")
    def slips(self, given):
        """What the check finds, each with the letters of its lines, after two guesses."""
        guessed = sorted(seminar.choice(g, {x: () for x in LETTERS}) or "?" for g in given)
        if "?" in guessed or len(set(guessed)) != 2:
            raise ValueError('name two of the six lines, such as ["a", "c"]')
        found = checking.check(FILE)
        found["lines"] = [
            ", ".join(LETTERS[int(line.removeprefix("line ")) - 2] for line in place.split(", "))
            for place in found["place"]
        ]
        caught = found[found["verdict"] == "impossible"]["lines"]
        hit = sum(any(g in lines for g in guessed) for lines in caught)
        print(f"You named {' and '.join(guessed)}: {hit} of {len(caught)} slips found.")
        return seminar.shown(found[["lines", "kind", "verdict", "arithmetic"]])
