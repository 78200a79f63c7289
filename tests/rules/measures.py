"""The studies' measures, each on a small frame, for the laws that all of them keep.

The frames have two models, twelve units with several rows each, and replies without a verdict.
"""

import collections
import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import medhalu_cells
import radiation_cells
from bedside.judging import trust_cards
from bedside.own import results
from bedside.papers.cancer_myth import released
from bedside.papers.cancer_myth import scores as cancer_myth
from bedside.papers.cancer_myth.v2 import scores as cures
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import scores as consulted
from bedside.papers.medhalu.data import DATASETS, TYPES
from bedside.papers.radiation import scores as radiation
from bedside.read.surroundings import here
from bedside.run import Run
from bedside.write.results import means as means_of
from cells import wanted

NAN = float("nan")
MODELS = ["larch", "maple"]
CARD = trust_cards.trust_card(
    np.repeat([1, 0], 20),
    pd.DataFrame({"status": "graded", "value": [1] * 17 + [0] * 20 + [1] * 3}),
    [0, 1],
)


def drawn(values, size, seed):
    return np.random.default_rng(seed).choice(np.array(values, dtype=object), size)


def rows_of(columns, *values):
    return pd.DataFrame(itertools.product(*values), columns=columns.split())


def answers():
    """Verdicts on 24 questions on 12 myths."""
    frame = rows_of("model k", MODELS, range(24))
    k, lost = frame["k"], frame["k"].isin([3, 10])
    frame = frame.assign(
        item="q" + k.astype(str),
        unit="myth " + (k // 2).astype(str),
        category=(k // 2 % 2).map({0: "Treatment", 1: "Causes"}),
        generator=(k // 2 % 3).map(dict(enumerate("xyz"))),
        group=(k % 2).map({0: "early", 1: "late"}),
        answer=[f"answer {i}" for i in range(48)],
        value=drawn([-1, 0, 1], 48, 1),
        **dict(status="graded", truncated=False, reply_status="", raw=""),
    )
    frame.loc[lost, ["status", "value"]] = ["unparsed", None]
    return frame.drop(columns="k")


def right_or_wrong():
    """As `answers`, of a judge with two grades, as an own study has them."""
    named = {"judge": "j", "configuration": "plain"}
    return answers().assign(value=lambda f: f["value"].replace(-1, 0), **named)


def mitigated():
    """As `answers`, by two methods."""
    names = itertools.product("ab", ("Cancer-Myth", "Cancer-Myth-NFP"))
    parts = [
        answers().assign(method=m, set=name, value=drawn([0, 1], 48, k))
        for k, (m, name) in enumerate(names)
    ]
    frame = pd.concat(parts, ignore_index=True).assign(calls=NAN)
    lost = frame["status"] != "graded"
    frame["value"] = frame["value"].mask(lost, None)
    return frame.assign(hit=frame["value"] == 1, complexity=None, outcome=None)


ITEMS = pd.DataFrame({"item": [f"i{k}" for k in range(24)]}).assign(
    question=[f"Why {k // 2}" for k in range(24)],
    dataset=[DATASETS[k // 8] for k in range(24)],
    type=[list(TYPES)[k % 4] for k in range(24)],
    answer="Cold air causes it. Milk does not help at all.",
    hallucinated=lambda f: f["type"] != "none",
)
ITEMS["spans"] = [["Cold air"] if h else [] for h in ITEMS["hallucinated"]]
MARKED = {r.item: r.spans for r in ITEMS.itertuples() if r.spans}


def detections():
    """Detections, each twice."""
    frame = rows_of("evaluator repeat item", MODELS, range(2), ITEMS["item"])
    lost = frame["item"].isin(["i5", "i6"]) & (frame["repeat"] == 1)
    yes = pd.Series(drawn([0.0, 1.0], len(frame), 7).astype(float)).mask(lost)
    frame = frame.assign(source="run", yes=yes, why="", truncated=False)
    frame["status"] = lost.map({True: "unparsed", False: "graded"})
    return frame.assign(spans=[["Cold air", "nothing there"] if y == 1 else [] for y in yes])


PAIRS = {"C1": {"a": "a2", "b": "b2"}}  # a combination of two levels
LEVELS = {"baseline": {}, "a2": {"a": "a2"}, "b2": {"b": "b2"}, **PAIRS}


def consultations():
    """Consultations in 12 cases, four configurations each."""
    frame = rows_of("model configuration case", MODELS, LEVELS, [f"case-{k}" for k in range(12)])
    frame["unit"] = frame["case"]
    n, measures = len(frame), {"coverage": [0.25, 0.5, 1.0], "turns": [2.0, 4.0, 8.0]}
    frame = frame.assign(
        item=frame["case"] + " " + frame["configuration"] + " " + frame["model"],
        correct=drawn([0.0, 1.0, 1.0], n, 9).astype(float),
        **{name: drawn(v, n, k).astype(float) for k, (name, v) in enumerate(measures.items())},
        **dict(truncated=0, end=drawn(["ended", "limit"], n, 13), by="", why=""),
        reply_status="",
    )
    lost = frame["case"].eq("case-3") & frame["configuration"].isin(["C1", "a2"])
    frame.loc[lost, ["correct", "reply_status"]] = [NAN, "unparsed"]
    return frame.assign(misled=1 - frame["correct"], per_turn=frame["coverage"] / frame["turns"])


TERMS = ["fatigue", "nausea", "rib fracture", "mastitis"]
REFERENCE = pd.DataFrame(
    [
        ("fatigue", "chest wall", "short-term", "common"),
        ("nausea", "chest wall", "short-term", "rare"),
        ("rib fracture", "chest wall", "long-term", "rare"),
        ("fatigue", "breast only", "short-term", "common"),
        ("mastitis", "breast only", "long-term", "rare"),
    ],
    columns=["effect", "site", "onset", "frequency"],
)


def matched(said):
    """Which terms each list has."""
    return [np.array([[float(t == u) for u in TERMS] for t in ts]) for ts in said]


def lists():
    """Matched lists of 12 patients with two profiles in two regimes."""
    patients = [f"p{k:02}" for k in range(12)]
    names, regimes = "model regime profile item", ["free-form", "selection"]
    frame = rows_of(names, MODELS, regimes, ["base", "specified"], patients)
    rng = np.random.default_rng(15)
    said = [
        rng.permutation([*TERMS, "cystitis"])[: rng.integers(1, 5)].tolist() for _ in frame.index
    ]
    site = frame["item"].map(lambda p: "chest wall" if int(p[1:]) % 2 else "breast only")
    told = dict(status="listed", match="graded", reply_status="", repeated=0, truncated=False)
    frame = frame.assign(site=site, terms=said, pairs=matched(said), **told)
    for i in frame.index[frame["item"] == "p04"][::3]:
        frame.at[i, "terms"], frame.at[i, "pairs"] = [], None
        frame.loc[i, ["status", "match"]] = "unparsed"
    return frame


class Frame(NamedTuple):
    """paper: whose Run its measures get. lost: what an unscored row has. read: columns of numbers

    that may be unscored by themselves. unit: what repeats.
    """

    paper: str
    make: Callable[[], pd.DataFrame]
    lost: dict = {}
    read: tuple = ()
    unit: str = "unit"


UNPARSED = {"status": "unparsed", "value": None}
MYTHS = Frame("cancer_myth", answers, UNPARSED)
CURES = Frame("cancer_myth", mitigated, UNPARSED | {"hit": False})
UNREAD = {"status": "unparsed", "yes": NAN, "spans": []}
DETECTED = Frame("medhalu", detections, UNREAD, ("yes",), "item")
READ = ("correct", "coverage", "turns", "per_turn", "misled")
HELD = Frame("meddialbench", consultations, {}, READ, "case")
LISTS = Frame(
    "radiation", lists, {"status": "unparsed", "match": "unparsed", "pairs": None}, (), "item"
)
OWN = Frame("own", right_or_wrong, UNPARSED)


def scored(frame):
    return radiation.scored(frame, REFERENCE, TERMS)


def means(run, frame):
    return means_of(scored(frame), radiation.METRICS, "{model}, {regime}, {profile}")


def by_onset(run, frame):
    found = radiation_cells.recall_by(radiation_cells.strata(scored(frame), REFERENCE), "onset")
    kinds = {"recall": "", "pooled": ", over effects"}
    return means_of(found, kinds, column="{onset}{metric}")


MEASURES = {
    "PCS and PCR": (MYTHS, lambda run, f: cancer_myth.scores(f, ["category"])),
    "pairs of systems": (MYTHS, lambda run, f: released.pairs(f, run)),
    "agreement of systems": (MYTHS, lambda run, f: released.agreement(f)),
    "rates of the cures": (CURES, lambda run, f: cures.rates(f)),
    "against plain": (CURES, lambda run, f: cures.balanced(cures.rates(f))),
    "Table 6": (DETECTED, lambda run, f: medhalu_cells.cell("six", run, f, ITEMS)),
    "spans": (DETECTED, lambda run, f: medhalu_cells.cell("seven", run, f, ITEMS, right=MARKED)),
    "accuracy": (
        HELD,
        lambda run, f: wanted("meddialbench/03_single_dimension", "accuracy", judged=f),
    ),
    "changes": (HELD, lambda run, f: consulted.changes(f)),
    "O/E": (HELD, lambda run, f: consulted.interactions(f, PAIRS, run)),
    "ends": (HELD, lambda run, f: talks.ends(f)),
    "lists": (LISTS, means),
    "recall by onset": (LISTS, by_onset),
    "own scores": (OWN, lambda run, f: results.scores(run, f)),
    "own pairs": (OWN, lambda run, f: results.pairs(run, f)),
    "own, corrected": (OWN, lambda run, f: results.corrected(run, f, {"j": CARD})),
}


PLAIN = {}  # what measures gave of their own frames


class Asking(Run):
    """A run that asks nobody, has these models and a card, and draws alike everywhere."""

    def rng(self, *name):
        return np.random.default_rng(20)

    def card(self, judge="", task=""):
        return CARD


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """A function that gives a measure of its own frame, or of another, as `told`."""
    monkeypatch.setattr(here, "figures", str(tmp_path))

    def measured(name, frame=None, models=MODELS):
        if frame is None:
            if name not in PLAIN:
                PLAIN[name] = measured(name, MEASURES[name][0].make())
            return PLAIN[name]
        of, function = MEASURES[name]
        own = of.paper == "own"
        run = Asking("cancer_myth" if own else of.paper, "00_rules", profile="sample")
        run.models = list(models)
        if own:
            run.judge, run.judges, run.criteria, run.measure = "j", ["j"], {}, "right, %"
            run.lowest = 0
        return told(function(run, frame))

    return measured


def told(made, *name):
    """What a measure returned as {labels: [numbers]}, whatever the order of its rows."""
    found = collections.defaultdict(list)
    parts = made.items() if isinstance(made, dict) else enumerate(made)
    if not isinstance(made, pd.DataFrame):
        for key, part in parts:
            for labels, rows in told(part, *name, str(key)).items():
                found[labels] += rows
        return dict(found)
    for row in made.to_dict("records"):
        numbers = {k: NAN if v is None else v for k, v in row.items() if v is None or number(v)}
        labels = [str(v) for k, v in row.items() if k not in numbers]
        found[(*name, *labels)].append(numbers)
    return dict(found)


def number(x):
    return isinstance(x, int | float | np.number | bool | np.bool_)


def same(found, expected):
    """Assert that two results of `told` have the same rows and, but for rounding, numbers."""
    assert found.keys() == expected.keys()
    for labels, rows in expected.items():
        assert len(found[labels]) == len(rows), labels
        for mine, theirs in zip(found[labels], rows):
            assert mine == pytest.approx(theirs, nan_ok=True, rel=1e-6, abs=1e-9), labels


def renamed(frame, names):
    """The frame with other names of models, wherever these stand."""
    pattern = re.compile("|".join(names))

    def other(cell):
        return pattern.sub(lambda m: names[m[0]], cell) if isinstance(cell, str) else cell

    return frame.map(other)
