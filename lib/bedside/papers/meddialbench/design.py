"""MedDialBench: the design (section 3.1): dimensions, levels with severity, combinations.

The design is data, in design.toml beside this file; a new dimension, level or combination is a new
line there. A configuration is a tuple of levels; all other dimensions stay at their cooperative
level.
"""

import itertools
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths

OURS = Path(__file__).with_name("design.toml")
BASELINE, PILOT = "baseline", "all extreme"
# of information, and in communication (section 3.1)
PATHWAYS = ("pollution", "deficit", "friction")


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
        mine = [n for n, x in self.levels.items() if x["dimension"] == dimension]
        return sorted(mine, key=lambda n: self.levels[n]["severity"])

    @property
    def extreme(self):
        """Names of the extreme levels."""
        return [self.of(d)[-1] for d in self.dimensions]

    def dimension(self, level):
        return self.levels[level]["dimension"]

    def pathway(self, level):
        return self.dimensions[self.dimension(level)]["pathway"]

    def gate(self, level):
        """What patients at this adverse level are told of its dimension and the others, or ""."""
        return self.dimensions[self.dimension(level)].get("gate", "")

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
        mine = {self.dimension(n): n for n in levels}
        return {d: mine.get(d) or self.of(d)[0] for d in self.dimensions}


def read(run, path=""):
    """The design in a file of your own, or the paper's; BedsideError names every fault."""
    path = Path(path or OURS)
    compare = f"; compare with {paths.rel(OURS)}"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        dimensions = {d["dimension"]: d for d in found["dimensions"]}
        levels = {x["level"]: x for x in found["levels"]}
        combinations = {c["configuration"]: tuple(c["levels"]) for c in found["combinations"]}
        wrong = [
            *_faults_of_dimensions(dimensions, levels),
            *_faults_of_levels(dimensions, levels),
            *_faults_of_combinations(combinations, levels),
        ]
        named = {"dimensions": dimensions, "levels": levels, "combinations": combinations}
        for kind, made in named.items():
            wrong += [f"{kind}: two entries have the same name"] * (len(made) < len(found[kind]))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BedsideError(f"{paths.rel(path)} can't be read as a design: {e}") from None
    except KeyError as e:
        raise BedsideError(f"{paths.rel(path)}: an entry lacks {e}{compare}") from None
    except (TypeError, AttributeError) as e:
        what = f"an entry has the wrong form ({e})"
        raise BedsideError(f"{paths.rel(path)}: {what}{compare}") from None
    if wrong:
        raise BedsideError(f"{paths.rel(path)}: " + "; ".join(wrong))
    run.reads(f"design/{path.name}", path)
    return Design(dimensions, levels, combinations, path)


def _faults_of_dimensions(dimensions, levels):
    known = ", ".join(PATHWAYS)
    severities = {d: [] for d in dimensions}
    for x in levels.values():
        severities.get(x["dimension"], []).append(x["severity"])
    for name, d in dimensions.items():
        if not d["title"].strip():
            yield f"dimension {name!r}: needs a title"
        if d["pathway"] not in PATHWAYS:
            yield f"dimension {name!r}: pathway must be one of {known}"
        mine = severities[name]
        if len(mine) < 2 or mine != list(range(len(mine))):
            yield f"dimension {name!r}: its levels must have severity 0, 1, ..., in this order"


def _faults_of_levels(dimensions, levels):
    for name, x in levels.items():
        if x["dimension"] not in dimensions:
            yield f"level {name!r}: no dimension {x['dimension']!r} in this file"
        if not x["instruction"].strip():
            yield f"level {name!r}: needs an instruction"


def _faults_of_combinations(combinations, levels):
    for name, mine in combinations.items():
        if name == BASELINE or name in levels:
            yield f"combination {name!r}: another configuration has this name"
        if unknown := [x for x in mine if x not in levels]:
            yield from (f"combination {name!r}: no level {x!r} in this file" for x in unknown)
            continue
        of = Counter(levels[x]["dimension"] for x in mine)
        if len(of) < max(2, len(mine)) or not all(levels[x]["severity"] for x in mine):
            yield f"combination {name!r}: needs levels of different dimensions, none of severity 0"
