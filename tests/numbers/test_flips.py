"""A reading that cannot fail is rejected; fragility is told, and judges nothing."""

import functools
import json
import random

import pytest
import worlds

from bedside.read import claims, paths, sources

STUDIES = sorted(p.stem for p in paths.CLAIMS.glob("*.csv"))
WHY = ("exact count: ", "data not at hand: ", "interval: ", "test: ")
WIDE = (worlds.TABLES, worlds.DATA)  # these compute everything anew: slow
SEED, DRAWN = 0, 12  # printed numbers of each study that the slow test changes again


def renew(kind, paper):
    return f"renew it: .venv/bin/python tests/numbers/worlds.py {kind} {paper}"


@functools.cache
def study(paper):
    return worlds.Study(paper)


@functools.cache
def flips(paper):
    """{(place, row, column, change): its rows} of what is committed."""
    path, found = worlds.FLIPS / f"{paper}.csv", {}
    for r in worlds.rows(path) if path.is_file() else []:
        found.setdefault((r["place"], r["row"], r["column"], r["change"]), []).append(r)
    return found


SLOW = {True: [pytest.mark.slow], False: []}
WORLDS = [
    pytest.param(p, where, id=f"{p}: {', '.join(where)}", marks=SLOW[where[0] in WIDE])
    for p in STUDIES
    for where in flips(p)
]


@pytest.mark.parametrize("paper, where", WORLDS)
def test_readings_flip(paper, where):
    """A change of tables, a number or data turns these readings."""
    mine = study(paper)
    if mine.profile != "public" and (where[0] == worlds.DATA or where[0] in sources.registry()):
        pytest.skip("the released data are not here")
    here = mine.said(mine.readings)
    turned = flips(paper)[where]
    after = mine.said(mine.world(worlds.changed(mine, *where), {r["id"] for r in turned}))
    for r in turned:
        key = r["id"], r["reading"]
        if mine.profile != "public" and here.get(key) != r["holds"]:
            continue  # it rests on the released data
        again = renew("flips", paper)
        assert here.get(key) == r["holds"], f"{key} says {here.get(key)!r} as printed; {again}"
        assert after.get(key) == r["becomes"], f"{key} no longer flips with {where}; {again}"


BY_HAND = [(p, *key) for p in STUDIES for key in worlds.by_hand(p)]


@pytest.mark.parametrize(
    "paper, id, reading, becomes", BY_HAND, ids=[": ".join(key[1:]) for key in BY_HAND]
)
def test_readings_flip_by_hand(paper, id, reading, becomes):
    """Several numbers or cells at once, where no simpler change was found."""
    mine, cells = study(paper), worlds.by_hand(paper)[id, reading, becomes]
    if mine.profile != "public" and ({c["table"] for c in cells} & set(sources.registry())):
        pytest.skip("the released data are not here")
    here = mine.said(mine.readings).get((id, reading))
    if mine.profile != "public" and here is None:
        pytest.skip("it rests on the released data, which are not here")
    made = mine.world(worlds.changed_by_hand(mine, cells), {id})
    assert mine.said(made).get((id, reading)) == becomes != here, mine.errors


@pytest.mark.parametrize("paper", STUDIES)
def test_each_computed_reading_flips_or_says_why_not(paper):
    """Exact counts, data not at hand and tests are listed so; an interval may open, not flip."""
    mine, listed = study(paper), claims.listed(paper)
    outputs = paths.ROOT / "figures" / "public" / "readings.csv"
    computed = {k for k in mine.said(mine.readings)} | {
        (r["id"], r["reading"])
        for r in worlds.rows(outputs)
        if r["holds"] != claims.MISSING and r["reading"] in listed.get(r["id"], ())
    }
    flip = {(r["id"], r["reading"]): r["becomes"] for g in flips(paper).values() for r in g}
    flip |= {(id, name): becomes for id, name, becomes in worlds.by_hand(paper)}
    excused = {(r["id"], r["reading"]): r["why"] for r in worlds.unable(paper)}
    for key, why in excused.items():
        assert why.startswith(WHY), f"{key}: {why!r} is no reason of {WHY}"
        if mine.profile != "public" and key not in computed:
            continue  # it rests on the released data
        assert key in computed, f"{key} is excused, and not computed"
        if why.startswith("test: "):
            file, name = why.removeprefix("test: ").split("::")
            assert f"def {name}(" in (paths.ROOT / file).read_text(), f"{key}: no {why}"
            continue  # it may flip as well
        assert (key in flip) == why.startswith("interval: "), f"{key} flips, or does not: {why}"
    weak = {k for k, becomes in flip.items() if becomes == "open"}
    assert weak <= set(excused), "these only open, and are not listed as intervals"
    lacking = sorted(computed - set(flip) - set(excused))
    assert not lacking, f"no change is known that turns these; {renew('flips', paper)}"


@pytest.mark.parametrize("paper", STUDIES)
def test_fragility_rests_on_what_is_here(paper):
    about = json.loads((worlds.FRAGILITY / f"{paper}.json").read_text())
    assert about["inputs"] == worlds.hashes(paper), f"out of date; {renew('fragility', paper)}"


@pytest.mark.slow
@pytest.mark.parametrize("paper", STUDIES)
def test_fragility_is_what_a_rerun_finds(paper):
    """For numbers drawn at random, as all of them take too long."""
    mine = study(paper)
    if mine.profile != "public":
        pytest.skip("the released data are not here")
    known = [tuple(r.values()) for r in worlds.rows(worlds.FRAGILITY / f"{paper}.csv")]
    numbers = worlds.printed_numbers(mine)
    for number in random.Random(SEED).sample(numbers, DRAWN):
        table, row, column, which = number[:4]
        told = [r for r in known if r[1:4] == (table, row, column)]
        told = [r for r in told if (r[4].split()[0] if " " in r[4] else "value") == which]
        assert worlds.turned(mine, number)[0] == told
