"""Radiation's numbers on random worlds, by counting, and a few by hand."""

import asyncio
import functools
import itertools
import json

import numpy as np
import pandas as pd
import pytest

import radiation_lists
from bedside.papers.radiation import data, matching, scores
from conftest import completion
from radiation_cells import overlaps, recall_by, strata
from radiation_lists import lists_of

run = radiation_lists.run  # a fixture
EFFECTS = [f"effect {k}" for k in range(9)]
SITES = ["chest wall", "breast only"]


def largest(pairs, taken=()):
    """(number, likeness, [(item, term)]) of the best one-to-one matching, by trying all."""
    if not len(pairs):
        return 0, 0.0, []
    (first, *rest), options = pairs, []
    for term in [None, *np.flatnonzero(first)]:
        if term is None or term not in taken:
            n, likeness, found = largest(rest, taken if term is None else (*taken, term))
            found = [(item + 1, t) for item, t in found]
            if term is not None:
                n, likeness, found = n + 1, likeness + first[term], [(0, term), *found]
            options.append((n, likeness, found))
    return max(options)


@functools.cache
def world():
    """A reference of two sites, and scored lists of 12 patients by two models; some have none."""
    rng = np.random.default_rng(0)
    cells = [(o, f) for o, f in data.CELLS]
    rows = [
        (effect, site, *cells[k])
        for site in SITES
        for effect, k in zip(EFFECTS, rng.integers(0, len(cells), len(EFFECTS)))
        if rng.random() < 0.7
    ]
    reference = pd.DataFrame(rows, columns=["effect", "site", "onset", "frequency"])
    lists = []
    regimes = itertools.product(("m", "other"), list(data.REGIMES)[:2], data.PROFILES)
    for (model, regime, profile), p in itertools.product(regimes, range(12)):
        k = int(rng.integers(1, 5))
        row = {"item": f"p{p:02}", "model": model, "regime": regime, "profile": profile}
        row |= {"site": SITES[p % 2], "status": "listed", "match": "graded"}
        row["terms"] = [f"Thing {t}" for t in rng.choice(8, k, replace=False)]
        row["pairs"] = np.where(rng.random((k, 9)) < 0.3, rng.uniform(0.6, 1, (k, 9)), 0)
        if rng.random() < 0.15:
            row |= {"terms": [], "pairs": None, "status": "unparsed", "match": "unparsed"}
        lists.append({**row, "truncated": False, "repeated": 0, "reply_status": ""})
    lists = pd.DataFrame(lists).sample(frac=1, random_state=0, ignore_index=True)
    return reference, scores.scored(lists, reference, EFFECTS)


def own_effects(reference, site):
    return {*reference.loc[reference["site"] == site, "effect"]}


def test_precision_recall_and_f1_by_trying_all_matchings():
    reference, graded = world()
    for r in graded.itertuples():
        own = own_effects(reference, r.site)
        assert r.size == len(own)
        if r.match != "graded":
            assert r.found is None and np.isnan([r.hits, r.precision, r.recall, r.f1]).all()
            continue
        pairs = r.pairs * [e in own for e in EFFECTS]
        n, _, found = largest(list(pairs))
        assert r.hits == n and r.found == {EFFECTS[t] for _, t in found}
        precision, recall = n / len(r.terms), n / len(own)
        f1 = 2 * precision * recall / (precision + recall) if n else 0
        assert [r.precision, r.recall, r.f1] == pytest.approx([precision, recall, f1])
        assert r.loose_precision == np.mean([bool(row.any()) for row in pairs])
        assert r.loose_recall == pytest.approx(sum(c.any() for c in pairs.T) / len(own))


def test_overlap_and_changes_by_sets():
    reference, graded = world()
    found = overlaps(graded, EFFECTS).set_index(["item", "model", "regime"])
    assert len(found) == len(graded) / 2
    counts = {}
    for key, part in graded.groupby(["item", "model", "regime"]):
        both = part.set_index("profile")
        if (both["match"] != "graded").any():
            assert found.loc[key].isna().all()
            counts.setdefault(key[1:], []).append(None)
            continue
        words = [{*both.at[p, "terms"]} for p in data.PROFILES]
        on = [dict(largest(list(both.at[p, "pairs"]))[2]) for p in data.PROFILES]
        meant = [
            {EFFECTS[m[i]] if i in m else t for i, t in enumerate(both.at[p, "terms"])}
            for p, m in zip(data.PROFILES, on)
        ]
        for column, (a, b) in {"overlap": words, "by_meaning": meant}.items():
            assert found.at[key, column] == pytest.approx(len(a & b) / len(a | b))
        own = own_effects(reference, both["site"].iloc[0])
        base, then = ({EFFECTS[t] for t in m.values()} for m in on)
        counts.setdefault(key[1:], []).append(
            [
                (len(own & then - base), len(own - base)),
                (len(then - own - base), len({*EFFECTS} - own - base)),
                (len(base - own - then), len(base - own)),
                (len(own & base - then), len(own & base)),
            ]
        )
    changes, lost = scores.changes(graded, reference, EFFECTS)
    shares = changes.groupby(["model", "regime", "change"])["changed"].agg(["sum", "count"])
    for key, each in counts.items():
        sums = np.sum([c for c in each if c], axis=0)
        of_key = shares.loc[key].reindex([name for name, _ in scores.CHANGES.values()])
        assert of_key.fillna(0).to_numpy().tolist() == sums.tolist()
        assert lost[key] == each.count(None)


def test_recall_by_onset_and_frequency_by_counting():
    reference, graded = world()
    graded = graded[graded["profile"] == "specified"]
    cells = strata(graded, reference)
    keyed = graded.set_index(scores.KEYS)
    for by in ("onset", "frequency"):
        other = "frequency" if by == "onset" else "onset"
        for key, r in recall_by(cells, by).set_index([*scores.KEYS, by]).iterrows():
            row = keyed.loc[key[:-1]]
            mine = reference[(reference["site"] == row["site"]) & (reference[by] == key[-1])]
            if row["found"] is None:
                assert r[["recall", "pooled"]].isna().all()
                continue
            got = mine["effect"].isin(row["found"])
            assert r["pooled"] == pytest.approx(got.mean())
            assert r["recall"] == pytest.approx(got.groupby(mine[other]).mean().mean())


def test_overlap_by_a_model_that_compares_both_lists(run, endpoint, served):
    """Of three and two items two match one to one: 2 of 3. A third match has no item left."""
    same = [{"predicted": p, "reference": r} for p, r in [(1, 1), (2, 2), (3, 2)]]

    def answer(n, body):
        said = body["messages"][-1]["content"]
        return completion("I won't." if "cough" in said else json.dumps({"matches": same}))

    endpoint.script = answer
    base = lists_of(["Fatigue", "nausea", "sick"], ["cough"], ["rash"], profile="base")
    both = pd.concat([base, lists_of(["tiredness", "Sickness"], ["coughing"], None)])
    found = asyncio.run(matching.compared(run, both, served))
    assert found["match"].tolist() == ["graded", "refused", "no list"]
    assert found["by_model"].tolist()[0] == 2 / 3 and found["by_model"].isna().sum() == 2
    assert len(endpoint.bodies) == 2
