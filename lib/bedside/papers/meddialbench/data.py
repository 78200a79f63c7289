"""MedDialBench: the design, cases and their scripts (sections 3.1 to 3.3).

The design is data/meddialbench.toml: dimensions with pathways, levels with severity and instruction, combinations. A
configuration is a tuple of levels; every other dimension stays at its cooperative level. Frames are long, with `item`
(a case), `configuration` and `model` (the doctor).
"""

import itertools
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from bedside import BedsideError, checks, judges, paths, sources
from bedside.models import requests_to, response_format
from bedside.sources import drawn, limited

BASELINE, PILOT = "baseline", "all extreme"
PATHWAYS = (
    "pollution",
    "deficit",
    "friction",
)  # of information, and in communication (section 3.1)
WHOSE = {
    "sample": "Cases written for this project. ",
    "public": "OSCE cases; key items and scripts by the run's first model. ",
}  # in captions
LEAST, MOST = 8, 16  # key items of a case (section 3.3)
TOKENS, TEMPERATURE, TRIES = (
    400,
    0.7,
    3,
)  # of a case's key items, and of a script, when a model writes them
CASE = ["item", "diagnosis", "accepted", "patient", "complaint", "history", "key_items"]
SCRIPT = ["item", "level", "script", "facts", "false", "toward"]
STRINGS = {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True)
class Design:
    """The dimensions, levels (both by name, as they stand in the file) and combinations (name: levels) of a study."""

    dimensions: dict
    levels: dict
    combinations: dict
    path: Path

    @property
    def adverse(self):
        """Names of the levels that aren't cooperative, dimension by dimension, in order of severity."""
        return [n for d in self.dimensions for n in self.of(d)[1:]]

    def of(self, dimension):
        """Names of a dimension's levels in order of severity."""
        return sorted(
            (n for n, x in self.levels.items() if x["dimension"] == dimension),
            key=lambda n: self.levels[n]["severity"],
        )

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

        combinations: "paper" (those of the file), "extreme" (all pairs of extreme levels), "adverse" (all pairs of
        adverse levels of two dimensions; 40 in the paper's design) or "" (none).
        """
        pools = {"paper": None, "": None, "extreme": self.extreme, "adverse": self.adverse}
        if combinations not in pools:
            raise BedsideError(
                f"combinations={combinations!r}: one of {', '.join(map(repr, pools))}"
            )
        pairs = {
            f"{a} + {b}": (a, b)
            for a, b in itertools.combinations(pools[combinations] or [], 2)
            if self.dimension(a) != self.dimension(b)
        }
        named = {frozenset(v): k for k, v in self.combinations.items()}
        return {
            BASELINE: (),
            **{n: (n,) for n in self.adverse},
            **(self.combinations if combinations == "paper" else {}),
            **{named.get(frozenset(v), k): v for k, v in pairs.items()},
        }

    def severities(self, levels):
        """The level of each dimension, by dimension: those given, else the cooperative one."""
        mine = {self.dimension(n): n for n in levels}
        return {d: mine.get(d) or self.of(d)[0] for d in self.dimensions}


def design(run, path=""):
    """The design in a file of your own or in data/meddialbench.toml; BedsideError names the line that doesn't fit."""
    path = Path(path or paths.DATA / "meddialbench.toml")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        dimensions = {d["dimension"]: d for d in found["dimensions"]}
        levels = {x["level"]: x for x in found["levels"]}
        combinations = {c["configuration"]: tuple(c["levels"]) for c in found["combinations"]}
        faults = [
            f"dimension {n!r}: needs a title"
            for n, d in dimensions.items()
            if not d["title"].strip()
        ]
        faults += [
            f"dimension {n!r}: pathway must be one of {', '.join(PATHWAYS)}"
            for n, d in dimensions.items()
            if d["pathway"] not in PATHWAYS
        ]
        faults += [
            f"level {n!r}: no dimension {x['dimension']!r}"
            for n, x in levels.items()
            if x["dimension"] not in dimensions
        ]
        faults += [
            f"level {n!r}: needs an instruction"
            for n, x in levels.items()
            if not x["instruction"].strip()
        ]
        for d in dimensions:
            mine = [x["severity"] for x in levels.values() if x["dimension"] == d]
            if len(mine) < 2 or mine != list(range(len(mine))):
                faults.append(
                    f"dimension {d!r}: its levels must have severity 0, 1, ... in this order"
                )
        faults += [
            f"combination {n!r}: has the name of another configuration"
            for n in combinations
            if n == BASELINE or n in levels
        ]
        faults += [
            f"combination {n!r}: no level {x!r}"
            for n, v in combinations.items()
            for x in v
            if x not in levels
        ]
        faults += [
            f"combination {n!r}: needs levels of different dimensions, none of severity 0"
            for n, v in combinations.items()
            if set(v) <= set(levels)
            and (
                len({levels[x]["dimension"] for x in v}) < max(2, len(v))
                or not all(levels[x]["severity"] for x in v)
            )
        ]
        faults += [
            f"{k}: two with one name"
            for k, made in (
                ("dimensions", dimensions),
                ("levels", levels),
                ("combinations", combinations),
            )
            if len(made) < len(found[k])
        ]
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BedsideError(f"{paths.rel(path)} can't be read as a design: {e}") from None
    except KeyError as e:
        raise BedsideError(
            f"{paths.rel(path)}: an entry lacks {e}; compare with data/meddialbench.toml"
        ) from None
    except (TypeError, AttributeError) as e:
        raise BedsideError(
            f"{paths.rel(path)}: an entry isn't what it should be ({e}); compare with"
            " data/meddialbench.toml"
        ) from None
    if faults:
        raise BedsideError(f"{paths.rel(path)}: " + "; ".join(faults))
    run.reads(f"design/{path.name}", path)
    return Design(dimensions, levels, combinations, path)


def osce(run):
    """The released OSCE cases (section 3.3) with what a patient can know: CASE without key_items; item counts from 1."""
    import pandas as pd

    rows = []
    for number, e in enumerate(run.load("agentclinic")["OSCE_Examination"], 1):
        actor = e["Patient_Actor"]
        symptoms = [
            actor["Symptoms"]["Primary_Symptom"],
            *actor["Symptoms"].get("Secondary_Symptoms", []),
        ]
        more = {
            k.replace("_", " "): v
            for k, v in actor.items()
            if k not in ("Demographics", "History", "Symptoms")
        }
        history = "\n".join(
            [actor["History"], "Symptoms: " + "; ".join(symptoms)]
            + [f"{k}: {plain(v)}" for k, v in more.items()]
        )
        truth = e["Correct_Diagnosis"]
        names = [
            n.strip()
            for n in re.findall(r"\(([^)]*)\)", truth) + [re.sub(r"\s*\([^)]*\)", "", truth)]
            if n.strip() != truth
        ]
        rows.append(
            (f"osce-{number:03}", truth, names, actor["Demographics"], symptoms[0], history)
        )
    return pd.DataFrame(rows, columns=CASE[:-1])


def plain(value):
    """Text of a field that is text, a list or an object."""
    if isinstance(value, dict):
        return "; ".join(f"{k.replace('_', ' ')}: {plain(v)}" for k, v in value.items())
    return "; ".join(map(plain, value)) if isinstance(value, list) else str(value)


async def cases(run, design, size):
    """Cases and scripts of the run's profile: frames CASE and SCRIPT, each with a status.

    sample: the bundled ones. public: `size` OSCE cases drawn by the seed (0: all), with what `generated` makes of them.
    Raises BedsideError for a bundled script that doesn't fit the design and its case.
    """
    if run.profile == "public":
        return await generated(run, design, limited(run, drawn(run, osce(run), size)))
    found = limited(run, run.load("meddialbench_cases")[CASE])
    texts = run.load("meddialbench_scripts")
    texts = texts[texts["item"].isin(found["item"])]
    if faults := script_faults(found, texts):
        raise BedsideError(f"{paths.rel(sources.where('meddialbench_scripts')[1])}: {faults[0]}")
    return found.assign(status="graded"), texts[SCRIPT].assign(status="graded")


async def generated(run, design, drawn):
    """Key items and scripts of cases by the first of the run's models (sections 3.1 and 3.3): frames as of `cases`.

    Who gives fewer than LEAST different items is asked again, up to TRIES times; the longest list counts, and its
    status is `few` if it stays short. A case without any item has the status of its last reply and no scripts; a script
    that can't be read is empty, and the level's instruction stands alone.
    """
    import pandas as pd

    form = response_format("key_items", items={**STRINGS, "minItems": LEAST, "maxItems": MOST})
    best = {i: judges.Verdict(i, "") for i in drawn["item"]}
    for k in range(TRIES):
        short = {
            r.item: run.prompt("key_items", case=r._asdict(), least=LEAST, most=MOST)
            for r in drawn.itertuples()
            if len(best[r.item].value or []) < LEAST
        }
        tried = [
            replace(r, repeat=k)
            for r in requests_to(
                run, short, TOKENS, run.models[:1], TEMPERATURE, response_format=form
            )
        ]
        for v in [judges.read(reply, facts_in) for reply in await run.ask(tried, "key items")]:
            best[v.item] = max(
                v, best[v.item], key=lambda v: len(v.value or [])
            )  # of equal ones the later
    items = {i: v.value or [] for i, v in best.items()}
    status = {i: "few" if 0 < len(items[i]) < LEAST else v.status for i, v in best.items()}
    found = drawn.assign(key_items=drawn["item"].map(items), status=drawn["item"].map(status))

    form = response_format(
        "script",
        script={"type": "string"},
        facts={"type": "array", "items": {"type": "integer"}, "maxItems": 6},
        false={**STRINGS, "maxItems": 4},
    )
    asked = {
        (r.item, n): run.prompt(
            "script",
            case=r._asdict(),
            level=n,
            **{k: design.levels[n][k] for k in ("dimension", "instruction")},
        )
        for r in found.itertuples()
        if r.key_items
        for n in design.adverse
    }
    requests = requests_to(
        run,
        {" ".join(k): v for k, v in asked.items()},
        TOKENS,
        run.models[:1],
        TEMPERATURE,
        response_format=form,
    )
    rows = []
    for (item, level), reply in zip(asked, await run.ask(requests, "scripts"), strict=True):
        v = judges.read(reply, parse_script)
        script, facts, false = v.value or ("", [], [])
        rows.append(
            (
                item,
                level,
                script,
                [f for f in facts if 1 <= f <= len(items[item])],
                false,
                "",
                v.status,
            )
        )
    return found, pd.DataFrame(rows, columns=[*SCRIPT, "status"])


def facts_in(text):
    """The key items in a reply, MOST at most: different ones of three to forty words; None if there is none."""
    made = {
        checks.normal(s): s
        for s in judges.strings(text, "items") or []
        if 3 <= len(s.split()) <= 40
    }
    return list(made.values())[:MOST] or None


def parse_script(text):
    """(script, facts, false statements) in a generator's reply, a JSON object that may be cut short, or None."""
    script = judges.member(text, "script")
    facts = re.search(r'"facts"\s*:\s*\[([\d\s,]*)', text)
    return (
        (
            script,
            [int(n) for n in re.findall(r"\d+", facts[1])] if facts else [],
            judges.strings(text, "false") or [],
        )
        if script
        else None
    )


def named_facts(script, facts, key_items):
    """The key items (numbers from 1, out of `facts`) of which a script names at least one word that tells."""
    words = set(content(script))
    return [n for n in facts if words & set(content(key_items[n - 1]))]


def content(text):
    """Words that tell, cut to five letters so that their endings don't matter; numbers too."""
    return [
        w[:5] for w in checks.normal(text).split() if (len(w) > 2 or w.isdigit()) and w not in IDLE
    ]


IDLE = set(
    "about after again also because been before being both could does doing done down during each"
    " from further have having here into itself just keep keeps more most much never only other"
    " over same should some such than that their them then there these they this those through till"
    " under until very were what when where which while will with would your yours doctor says tell"
    " patient all and any are ask but can did don for get got had has her him his how its let may"
    " nor not now off one our out own put say see she the too two use was way who why yes yet you".split()
)


def script_faults(found, texts):
    """What is wrong with scripts: two for a level, a fact that the case hasn't or the script doesn't name; and with a case's number of items.

    A level without a script is none: its instruction stands alone then, and `script_table` counts it.
    """
    items = found.set_index("item")["key_items"]
    faults = [
        f"item {i!r}: {len(k)} key items, not {LEAST} to {MOST}"
        for i, k in items.items()
        if not LEAST <= len(k) <= MOST
    ]
    for item in items.index:
        mine = texts[texts["item"] == item]
        faults += [
            f"item {item!r}: {n} scripts for level {level!r}, not one"
            for level, n in mine["level"].value_counts().items()
            if n > 1
        ]
        for r in mine.itertuples():
            if strange := [n for n in r.facts if not 1 <= n <= len(items[item])]:
                faults.append(f"item {item!r}, level {r.level!r}: no key item {strange[0]}")
            elif len(named := named_facts(r.script, r.facts, items[item])) < max(1, len(r.facts)):
                missing = next((n for n in r.facts if n not in named), None)
                faults.append(
                    f"item {item!r}, level {r.level!r}: the script doesn't name "
                    + (
                        f"key item {missing} ({items[item][missing - 1]!r})"
                        if missing
                        else "any of the case's facts"
                    )
                )
    return faults


def script_table(design, found, texts):
    """How many scripts there are, could be read, and name facts of their case: table rows by level."""
    from bedside.tables import table_rows

    items, rows = found.set_index("item")["key_items"], []
    for level in design.adverse:
        mine = texts[texts["level"] == level]
        named = [
            len(named_facts(r.script, range(1, len(items[r.item]) + 1), items[r.item]))
            for r in mine.itertuples()
        ]
        rows += [
            (level, "scripts", "run", len(mine), len(mine)),
            (level, "read", "run", (mine["status"] == "graded").sum(), len(mine)),
            (level, "name a fact of their case", "run", sum(k > 0 for k in named), len(mine)),
            (level, "false statements", "run", mine["false"].str.len().sum(), len(mine)),
        ]
    return table_rows(rows)


def blocks(design, texts, item, levels):
    """What a patient is told about each dimension: title, level, instruction and the case's script for adverse levels."""
    mine = texts[texts["item"] == item].set_index("level")["script"]
    return [
        {
            "title": design.dimensions[d]["title"],
            "level": n,
            "instruction": design.levels[n]["instruction"],
            "script": mine.get(n, "") if n in levels else "",
        }
        for d, n in design.severities(levels).items()
    ]
