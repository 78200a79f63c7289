"""Myths that models list (3.1): what counts, which pairs a judge compares, what the table says."""

import asyncio
import json

import numpy as np
import pandas as pd
import pytest

from bedside.judging import baselines
from bedside.keep.replies import as_reply
from bedside.papers.cancer_myth import collecting, data
from bedside.papers.cancer_myth.baselines import Alike
from bedside.papers.cancer_myth.tables import generation as tables
from bedside.read import sources
from bedside.run import Run


def run_of(replies=()):
    run = Run("cancer_myth", "02_adversarial_generation", profile="sample")

    async def ask(requests, label):
        return [
            as_reply(r, {"key": r.key, "item": r.item, "text": t, "finish": "stop"}, True)
            for r, t in zip(requests, replies, strict=True)
        ]

    run.ask = ask
    return run


def said(*myths):
    return json.dumps({"myths": [{"myth": m, "fact": "No.", "source": ""} for m in myths]})


def test_what_is_listed():
    """Of two myths on each of three cancers one is told twice, one is blank, one reply is prose."""
    run = run_of(
        [said("A knife spreads it.", "Air feeds it."), said("a knife spreads it", " "), "?"]
    )
    settings = {"max_tokens": 500, "temperature": 0}
    found = asyncio.run(collecting.listed(run, ["Bone", "Skin", "Lip"], 2, settings))
    assert found["status"].tolist() == "new new copied missing unparsed unparsed".split()
    assert found["cancer"].tolist() == ["Bone"] * 2 + ["Skin"] * 2 + ["Lip"] * 2
    assert found["item"].is_unique


def test_types_are_drawn_and_limited():
    run, myths = run_of(), data.myths(run_of())
    some = collecting.types(run, myths, 4)
    assert len(some) == 4 and set(some) <= set(myths["cancer"])
    assert len(collecting.types(run, myths, 0)) == myths["cancer"].nunique()


def test_which_pairs_are_compared():
    listed = pd.DataFrame(
        {
            "cancer": ["Bone", "Bone", "Skin"],
            "myth": ["Legs come off.", "Sugar feeds tumours.", "Legs must come off."],
        }
    )
    known = pd.DataFrame(
        {
            "item": ["m1", "m2"],
            "cancer": ["Bone", "Lip"],
            "myth": ["Tumours live on sugar.", "Pipes are safe."],
        }
    )
    made = collecting.pairs(listed, known, np.random.default_rng(0))
    by = {kind: part[["myth", "other"]].values.tolist() for kind, part in made.groupby("kind")}
    # the third is nearest to the first; the known one on bones to the second
    assert by[collecting.TWICE][1] == ["Legs must come off.", "Legs come off."]
    assert by[collecting.AGAIN] == [["Tumours live on sugar.", "Sugar feeds tumours."]]
    # for bones only the one on lips is of another cancer
    assert by[collecting.APART][0] == ["Legs come off.", "Pipes are safe."]
    assert made["item"].is_unique


def test_nothing_listed_has_no_pairs():
    listed = pd.DataFrame({"cancer": [], "myth": []})
    assert collecting.pairs(listed, data.myths(run_of()), np.random.default_rng(0)).empty


def test_the_table_counts_by_hand():
    """Of four pairs found again one of the three that were graded."""
    listed = pd.DataFrame(
        {"model": "m", "status": ["new", "new", "copied"], "source": ["x", "", ""]}
    )
    pairs = pd.DataFrame(
        {
            "item": list("abcd"),
            "model": "m",
            "kind": collecting.AGAIN,
            "status": ["graded"] * 3 + ["unparsed"],
            "value": [1, 0, 0, None],
        }
    )
    found = tables.collected_table(listed, {"j": pairs}).set_index(["row", "column"])
    again = found.loc[("m, j", "found again, %")]
    assert (round(again["value"]), again["n"], again["unscored"]) == (33, 3, 1)
    counts = found.loc["m", "value"]
    assert counts["asked for"] == 3 and counts["different texts"] == 2
    assert counts["texts told before"] == 1 and counts["with a source"] == 1


def test_words_alone_tell_pairs_better_than_chance():
    known = sources.load("cancer_myth_myth_pairs")
    assert known["label"].mean() == 0.5
    right = baselines.held_out(Alike, known, [0, 1]) == known["label"]
    assert 0.5 < right.mean() < 1


@pytest.mark.skipif(not sources.here("cancer_myth_myths"), reason="released data")
def test_released_kinds_of_cancer():
    run = Run("cancer_myth", "02_adversarial_generation", profile="public")
    assert len(collecting.types(run, data.myths(run), 0)) > 100
