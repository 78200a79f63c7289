"""Radiation: pairs of profiles, records with missing fields, the released reference."""

import asyncio
import json
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import radiation_lists
from bedside import BedsideError
from bedside.papers.radiation import checks, data, filling
from bedside.write.results import means
from conftest import completion

run = radiation_lists.run  # a fixture
KNOWN = tomllib.loads(Path(__file__).with_name("radiation.toml").read_text("utf-8"))


# ---- pairs of profiles


def test_the_site_is_added_after_each_mention_and_nothing_else_changes():
    base = (
        "Prior: surgery, Radiation (done)\n"
        "Visit: 6 months after radiation therapy; irradiation of a tooth"
    )
    made = data.specify(base, "chest wall")
    assert made == (
        "Prior: surgery, Radiation (chest wall) (done)\n"
        "Visit: 6 months after radiation (chest wall) therapy; irradiation of a tooth"
    )
    changes = [(old, new.strip()) for old, new in data.difference(base, made)]
    assert changes == [("", "(chest wall)")] * 2
    with pytest.raises(BedsideError, match="rp-x.*no radiation"):
        data.specify("surgery only", "chest wall", "rp-x")


def test_what_differs_elsewhere_in_a_pair_is_counted():
    texts, expected = zip(*KNOWN["pairs"])
    frame = pd.DataFrame({"item": map(str, range(len(texts))), "specified": texts})
    counts, changed = checks.pairs(frame.assign(site="chest wall", base=KNOWN["base"]))
    flags = ["lost", "capitals", "spaces", "elsewhere"]
    found = [[k for k in flags if r[k]] for r in counts.to_dict("records")]
    assert found == [*expected]
    assert {"tamoxifen", "letrozole"} <= {*changed["removed"], *changed["added"]}


# ---- records with missing fields


def test_a_filled_record_counts_only_if_nothing_else_changed(run, endpoint, served):
    """One usable, one with a given field reworded, one that stays empty, one cut into half."""
    gaps = filling.incomplete(run, 4)
    assert (gaps[["medications", "last_visit"]] == "").all(axis=None) and len(gaps) == 4
    new = {"medications": "Letrozole daily.", "last_visit": "Seen after  radiation."}
    given = gaps.drop(columns="item").to_dict("records")
    other = ({"age": f" {given[0]['age']}"}, {"gender": "Woman"}, {"medications": "(missing)"}, {})
    replies = [{**r, **new, **more} for r, more in zip(given, other)]
    del replies[3]["history"]

    def answer(n, body):
        said = body["messages"][-1]["content"]
        assert said.count("(missing)") == 2
        return completion(json.dumps(next(r for r in replies if r["diagnosis"] in said)))

    endpoint.script = answer
    found = asyncio.run(filling.filled(run, gaps)).set_index("item").loc[gaps["item"]]
    assert found["status"].tolist() == ["filled", "rejected", "rejected", "unparsed"]
    assert found["changed"].tolist()[:3] == [[], ["gender"], []]
    assert found["empty"].tolist()[:3] == [[], [], ["medications"]]
    assert found["signs"].tolist()[0] == ["last_visit"]
    assert found["new"].iloc[0] == {**new, "last_visit": "Seen after radiation."}
    rows = means(filling.outcomes(found.reset_index()), filling.OUTCOMES).set_index("column")
    assert rows["value"].round(1).tolist() == [33.3, 33.3, 33.3, 100.0]
    assert set(rows["n"]) == {3} and set(rows["unscored"]) == {1}


# ---- the released reference, read strictly


class Released:
    """Just enough of a public run: a reference of the released shape and a vocabulary."""

    profile = "public"

    def __init__(self, *rows):
        self.rows = rows

    def load(self, name):
        return pd.DataFrame([[*r, *[""] * (7 - len(r))] for r in self.rows], columns=KNOWN["head"])

    def published(self, table):
        return pd.DataFrame({"row": ["decreased blood cell count", "fatigue", "breast shrinkage"]})


def test_every_row_is_read_or_accounted_for():
    frame, repairs = data.repaired(Released(*KNOWN["rows"]))
    assert frame.to_numpy().tolist() == KNOWN["read"]
    assert repairs.groupby("kind")["row"].apply(list).to_dict() == KNOWN["repairs"]


@pytest.mark.parametrize("row, match", KNOWN["unexplained"])
def test_a_row_that_nothing_explains_stops_with_its_number(row, match):
    with pytest.raises(BedsideError, match=match):
        data.repaired(Released(row))


def test_an_effect_twice_for_a_site_is_an_error():
    early = ("Short term-common", "Fatigue", "", "x")
    late = ("Long term - rare", "Fatigue", "", "x")
    with pytest.raises(BedsideError, match="'fatigue' occurs twice for 'chest wall'"):
        data.reference(Released(early, late))
