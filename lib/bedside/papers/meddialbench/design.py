"""MedDialBench: the design (section 3.1): dimensions, levels with severity, combinations.

The design is data, in design.toml beside this file; a new dimension, level or combination is a new
line there. A configuration is a tuple of levels; all other dimensions stay at their cooperative
level.
"""

import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec

from bedside import BedsideError
from bedside.read import paths

OURS = Path(__file__).with_name("design.toml")
BASELINE, PILOT = "baseline", "all extreme"
Words = Annotated[str, msgspec.Meta(pattern=r"\S")]


# what a file holds; pathways are of information, and in communication (section 3.1)
class Dimension(TypedDict):
    dimension: Words
    title: Words
    pathway: Literal["pollution", "deficit", "friction"]
    gate: NotRequired[str]


class Level(TypedDict):
    dimension: str
    level: Words
    severity: int
    instruction: Words


class Combination(TypedDict):
    configuration: Words
    levels: list[str]


class File(TypedDict):
    dimensions: list[Dimension]
    levels: list[Level]
    combinations: list[Combination]


@dataclass(frozen=True)
class Design:
    """Dimensions and levels by name, in the order of the file, and combinations (name: levels)."""

    dimensions: dict
    levels: dict
    combinations: dict
    path: Path

    @property
    def adverse(self):
        """Names of the levels other than the cooperative ones, by dimension and severity."""
        return [n for d in self.dimensions for n in self.of(d)[1:]]

    def of(self, dimension):
        """Names of a dimension's levels in order of severity."""
        return [n for n, x in self.levels.items() if x["dimension"] == dimension]

    @property
    def extreme(self):
        """Names of the extreme levels."""
        return [self.of(d)[-1] for d in self.dimensions]

    def dimension(self, level):
        return self.levels[level]["dimension"]

    def pathway(self, level):
        return self.dimensions[self.dimension(level)]["pathway"]

    def configurations(self, combinations="paper"):
        """{configuration: levels}: baseline, each adverse level, and combinations.

        combinations: "paper" (those of the file), "extreme" (all pairs of extreme levels),
        "adverse" (all pairs of adverse levels of two dimensions; 40 in the paper's design) or ""
        (none).
        """
        pools = {"paper": [], "": [], "extreme": self.extreme, "adverse": self.adverse}
        if combinations not in pools:
            known = ", ".join(map(repr, pools))
            raise BedsideError(f"combinations={combinations!r}: one of {known}")
        more = dict(self.combinations) if combinations == "paper" else {}
        named = {frozenset(v): k for k, v in self.combinations.items()}
        for a, b in itertools.combinations(pools[combinations], 2):
            if self.dimension(a) != self.dimension(b):
                more[named.get(frozenset((a, b)), f"{a} + {b}")] = (a, b)
        return {BASELINE: (), **{n: (n,) for n in self.adverse}, **more}

    def severities(self, levels):
        """{dimension: its level}: the one given, else the cooperative one."""
        given = {self.dimension(n): n for n in levels}
        return {d: given.get(d) or self.of(d)[0] for d in self.dimensions}


def read(run, path=""):
    """The design in a file of your own, or the paper's; BedsideError names the file and a fault."""
    path = Path(path or OURS)
    try:
        found = msgspec.toml.decode(path.read_text(encoding="utf-8"), type=File)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as e:
        told = f"{paths.rel(path)} can't be read as a design: {e}; compare with {paths.rel(OURS)}"
        raise BedsideError(told) from None
    if faults := [*_faults(**found)]:
        raise BedsideError(f"{paths.rel(path)}: " + "; ".join(faults))
    run.reads(f"design/{path.name}", path)
    combinations = {c["configuration"]: tuple(c["levels"]) for c in found["combinations"]}
    dimensions = {d["dimension"]: d for d in found["dimensions"]}
    return Design(dimensions, {x["level"]: x for x in found["levels"]}, combinations, path)


def _faults(dimensions, levels, combinations):
    severities = {d["dimension"]: [] for d in dimensions}
    for x in levels:
        if x["dimension"] not in severities:
            yield f"level {x['level']!r}: no dimension {x['dimension']!r} in this file"
        severities.get(x["dimension"], []).append(x["severity"])
    for name, steps in severities.items():
        if len(steps) < 2 or steps != list(range(len(steps))):
            yield f"dimension {name!r}: its levels must have severity 0, 1, ..., in this order"
    adverse = {x["level"]: x["dimension"] for x in levels if x["severity"]}
    for c in combinations:
        of = {adverse.get(n) for n in c["levels"]}
        if None in of or len(of) < max(2, len(c["levels"])):
            told = "needs levels of different dimensions of this file, none of severity 0"
            yield f"combination {c['configuration']!r}: {told}"
    configurations = [BASELINE, *(x["level"] for x in levels)]
    configurations += [c["configuration"] for c in combinations]
    names = Counter(d["dimension"] for d in dimensions), Counter(configurations)
    yield from (f"{n!r} names two entries" for c in names for n, times in c.items() if times > 1)
