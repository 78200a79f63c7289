"""Raters: labels together, agreement and corrected rates by hand, and what trust cards make of published labels."""

import asyncio
import csv
import unicodedata
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bedside import BedsideError, annotation, judges, sources, stats
from bedside import run as report
from bedside.annotation import raters
from bedside.papers.cancer_myth import data as cm
from bedside.papers.cancer_myth.v2 import mitigation
from bedside.papers.meddialbench import judging
from bedside.papers.medhalu import detection
from bedside.papers.radiation import matching
from bedside.rows import text
from bedside.run import Run
from bedside.store import digest
from test_items import collected, elsewhere, nothing  # noqa: F401

PAPER = {
    "presupposition": "cancer_myth",
    "hallucination": "medhalu",
    "adherence": "meddialbench",
    "diagnosis": "meddialbench",
}
SECTION = {"hallucination": "2.2 answers"}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def row(id, task="diagnosis", reply="a reply", **more):
    return {
        "id": id,
        "paper": PAPER[task],
        "section": SECTION.get(task, "4 consultations"),
        "item": id,
        "model": "m",
        "configuration": "c",
        "category": "cooperative",
        "title": "t",
        "shared": [text("Question", "why?")],
        "reply": reply,
        "reply_status": "",
        "blocks": [],
        "verdicts": [],
        "more": [],
        "human": [],
        **more,
    }


def write(folder, task, rater, row, value, check=False, **more):
    """A label on disk."""
    log = annotation.Log(folder, task, rater)
    record = {
        "id": row["id"],
        "paper": row["paper"],
        "item": row["item"],
        "task": task,
        "rater": log.rater,
        "group": "expert",
        "value": value,
        "type": "",
        "spans": [],
        "reason": "",
        "seconds": 2.0,
        "at": "2026-01-01",
        "check": check,
        "sample": {},
        "text_sha256": digest(annotation.material(row, annotation.TASKS[task])),
    }
    assert set(record) == set(annotation.FIELDS)
    log.append({**record, **more})


def given(table, check=(), part=""):
    """Labels {rater: {id: value}} as a frame; `check` holds (rater, id, value) of repetitions."""
    every = [(r, i, v, False) for r, mine in table.items() for i, v in mine.items()] + [
        (*c, True) for c in check
    ]
    return pd.DataFrame(
        [
            {
                **dict.fromkeys(raters.LABEL, ""),
                "rater": r,
                "id": i,
                "value": v,
                "check": c,
                "part": part,
                "seconds": 3.0,
            }
            for r, i, v, c in every
        ],
        columns=raters.LABEL,
    ).astype({"check": bool})


def cells(rows):
    return {(r.row, r.column): (r.value, r.low, r.high, r.n) for r in rows.itertuples()}


# ---- labels


def test_the_last_label_counts_and_repetitions_are_marked(tmp_path):
    rows = [row("a"), row("b", reply="another")]
    write(tmp_path, "diagnosis", "Ann", rows[0], "no")
    write(tmp_path, "diagnosis", "Ann", rows[0], "yes")
    write(tmp_path, "diagnosis", "Ann", rows[0], "no", check=True)
    write(tmp_path, "diagnosis", "Bob", rows[1], "yes")
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found[["id", "rater", "value", "check"]].values.tolist() == [
        ["a", "Ann", "yes", False],
        ["a", "Ann", "no", True],
        ["b", "Bob", "yes", False],
    ]
    assert (
        found.attrs == {"left_out": 0, "damaged": {}}
        and list(found) == raters.LABEL
        and set(found["part"]) == {""}
    )
    none = raters.labels("nfp", rows, tmp_path)
    assert none.empty and list(none) == raters.LABEL and none["check"].dtype == bool


def test_labels_of_another_text_are_left_out_and_damaged_lines_named(tmp_path):
    rows = [row("a"), row("b", reply="another")]
    for r in rows:
        write(tmp_path, "diagnosis", "Ann", r, "yes")
    write(tmp_path, "diagnosis", "Ann", row("gone"), "yes", check=True)
    with open(tmp_path / "diagnosis/Ann.jsonl", "ab") as f:
        f.write(b'{"id": "a", "value": "no"\n\xff\xfe\n')
    rows[0]["reply"] = "changed meanwhile"
    found = raters.labels("diagnosis", rows, tmp_path)
    assert found["id"].tolist() == ["b"] and found.attrs["left_out"] == 2
    assert [k.rpartition("/")[2] for k in found.attrs["damaged"]] == [
        "Ann.jsonl, line 4",
        "Ann.jsonl, line 5",
    ]


def test_what_several_choices_hold_is_a_yes_or_no_for_each(tmp_path):
    rows = [row("a", "adherence"), row("b", "adherence", reply="b")]
    write(tmp_path, "adherence", "Ann", rows[0], "attitude; logic")
    write(tmp_path, "adherence", "Ann", rows[1], "")
    found = raters.labels("adherence", rows, tmp_path)
    parts = list(annotation.TASKS["adherence"].values)
    assert len(parts) == 5 and found["part"].tolist() == parts * 2
    assert {p for p, v in zip(found["part"][:5], found["value"]) if v == "yes"} == {
        "attitude",
        "logic",
    } and set(found["value"][5:]) == {"no"}
    assert (
        raters.values("adherence") == ["no", "yes"]
        and raters.values("presupposition") == ["-1", "0", "1"]
        and raters.values("side_effect") == ["different", "same"]
    )


def test_a_copied_file_is_no_second_rater(tmp_path, rng):
    for rater, value in (("Ann", "yes"), ("Bob", "no")):
        write(tmp_path, "diagnosis", rater, row("a"), value)
    (tmp_path / "diagnosis/Ann copy.jsonl").write_bytes(
        (tmp_path / "diagnosis/Ann.jsonl").read_bytes()
    )
    found = raters.labels("diagnosis", [row("a")], tmp_path)
    assert (
        raters.consensus(found)["by"].tolist() == ["disputed"]
        and cells(raters.agreement(found, "diagnosis", rng))["Ann and Bob", "kappa"][3] == 1
    )


def test_a_file_from_a_system_that_spells_names_otherwise_is_read(tmp_path):
    write(tmp_path, "diagnosis", "Zoë", row("a"), "yes")
    (path,) = (tmp_path / "diagnosis").iterdir()
    path.rename(path.with_name(unicodedata.normalize("NFD", path.name)))
    found = raters.labels("diagnosis", [row("a")], tmp_path)
    assert len(found) + found.attrs["left_out"] == 1


# ---- agreement

TEN = {
    "Ann": dict(zip("abcdefghij", ["yes"] * 5 + ["no"] * 5)),
    "Bob": dict(zip("abcdefghij", ["yes"] * 4 + ["no"] + ["yes"] * 2 + ["no"] * 3)),
}


def test_two_raters_by_hand(rng):
    # Ann 5 yes, Bob 6 yes, 7 of 10 equal: chance is .5 x .6 + .5 x .4 = .5, kappa (.7 - .5) / .5 = .4. Pooled there are 11 yes and
    # 9 no: alpha is 1 - (6 / 20) / (2 x 11 x 9 / (20 x 19)) = 1 - 114 / 198.
    found = cells(
        raters.agreement(
            given(TEN, check=[("Ann", "a", "no"), ("Bob", "a", "no")]), "hallucination", rng
        )
    )
    assert found["Ann and Bob", "equal, %"][0] == pytest.approx(70) and found[
        "Ann and Bob", "kappa"
    ][0] == pytest.approx(0.4)
    assert found["all 2 raters", "Krippendorff's alpha"][0] == pytest.approx(1 - 114 / 198)
    assert [v[3] for v in found.values()] == [10, 10, 10] and all(
        low < value < high for value, low, high, _ in found.values()
    )


def test_ordered_labels_by_hand(rng):
    # Squared differences 0, 1, 0, 4: mean 1.25; by chance E(x - y)^2 = 3/4 + 2/4 - 2 x 1/4 x 2/4 = 1, so kappa is -.25. Pooled: four -1,
    # three 0, one 1; ordinal distances 3.5^2, 2^2, 5.5^2. Observed 2 (12.25 + 30.25) / 8, expected 2 (12 x 12.25 + 3 x 4 + 4 x 30.25) / 56 = 10.
    table = {
        "Ann": dict(zip("abcd", ["-1", "-1", "0", "1"])),
        "Bob": dict(zip("abcd", ["-1", "0", "0", "-1"])),
    }
    found = cells(raters.agreement(given(table), "presupposition", rng))
    assert found["Ann and Bob", "kappa"][0] == pytest.approx(-0.25) and found[
        "all 2 raters", "Krippendorff's alpha"
    ][0] == pytest.approx(1 - 10.625 / 10)


def test_three_raters_with_gaps_and_the_adjudicator_apart(rng):
    table = TEN | {
        "Cem": {"a": "yes", "b": "no"},
        "Dot": {"z": "no"},
        raters.ADJUDICATED: dict.fromkeys("abcdefghij", "yes"),
    }
    found = cells(raters.agreement(given(table), "hallucination", rng))
    assert found["Ann and Bob", "kappa"][0] == pytest.approx(0.4) and found[
        "Ann and Cem", "equal, %"
    ][::3] == (50, 2)
    assert (
        found["Ann and Cem", "kappa"][0] == 0
        and found["Ann and Dot", "kappa"][3] == 0
        and np.isnan(found["Ann and Dot", "kappa"][0])
    )
    assert (
        found["all 4 raters", "Krippendorff's alpha"][3] == 10
        and len(found) == 13
        and not any("adjudicated" in r for r, _ in found)
    )


@pytest.mark.parametrize(
    "table, count",
    [
        ({}, 1),
        ({"Ann": {"a": "yes"}}, 1),
        ({"Ann": {"a": "yes"}, "Bob": {"b": "yes"}}, 3),
        ({raters.ADJUDICATED: {"a": "yes"}}, 1),
    ],
)
def test_without_two_labels_of_an_item_there_is_no_agreement(table, count, rng):
    found = cells(raters.agreement(given(table), "hallucination", rng))
    assert all(np.isnan(value) and n == 0 for value, _, _, n in found.values())
    assert len(found) == count


def test_labels_of_one_kind_are_no_evidence(rng):
    found = cells(
        raters.agreement(
            given({r: dict.fromkeys("abc", "yes") for r in ("Ann", "Bob")}), "hallucination", rng
        )
    )
    assert (
        found["Ann and Bob", "equal, %"][::3] == (100, 3)
        and np.isnan(found["Ann and Bob", "kappa"][1:3]).all()
    )
    assert np.isnan(found["all 2 raters", "Krippendorff's alpha"][0])


def test_intervals_draw_items_not_parts():
    table = {
        "Ann": dict(zip("abcdef", ["yes", "yes", "yes", "no", "no", "no"])),
        "Bob": dict(zip("abcdef", ["yes", "yes", "no", "no", "no", "yes"])),
    }
    parts = pd.concat(
        [given(table, part=p) for p in annotation.TASKS["adherence"].values]
    )  # every part as the item
    one, five = (
        cells(raters.agreement(g, t, np.random.default_rng(1)))["Ann and Bob", "kappa"]
        for g, t in ((given(table), "hallucination"), (parts, "adherence"))
    )
    assert (
        five[:3] == pytest.approx(one[:3])
        and one[0] == pytest.approx(1 / 3)
        and (one[3], five[3]) == (6, 30)
    )


def test_how_raters_worked():
    labels = given(
        {"Ann": {"a": "yes", "b": "no", "c": "no"}, "Bob": {"a": "no"}},
        check=[("Ann", "a", "yes"), ("Ann", "b", "yes"), ("Ann", "q", "yes")],
    )
    labels.loc[labels["id"] == "b", "seconds"] = 9.0
    found = cells(raters.attention(labels))
    assert found["Ann", "labels"][0] == 3 and found["Ann", "seconds an item, median"][::3] == (3, 3)
    assert (
        found["Ann", "repetitions answered as before, %"][::3] == (50, 2)
        and found["Bob", "repetitions answered as before, %"][3] == 0
    )
    several = pd.concat(
        [given({"Ann": {"a": "yes", "b": "no"}}, part=p) for p in ("logic", "attitude")]
    )
    assert cells(raters.attention(several))["Ann", "labels"][0] == 2


# ---- consensus


def test_consensus_and_what_is_open():
    table = {
        "Ann": dict(zip("abcde", ["yes"] * 5)),
        "Bob": dict(zip("abcd", ["yes", "yes", "no", "no"])),
        "Cem": dict(zip("abd", ["yes", "no", "no"])),
        raters.ADJUDICATED: {"d": "yes", "f": "no"},
    }
    labels = given(
        table, check=[("Bob", "e", "no"), ("Cem", "c", "yes"), (raters.ADJUDICATED, "c", "no")]
    )
    found = raters.consensus(labels).set_index("id")
    assert found[["value", "by", "raters"]].astype(object).where(found.notna(), None).agg(
        tuple, axis=1
    ).to_dict() == {
        "a": ("yes", "all", 3),
        "b": ("yes", "majority", 3),
        "c": (None, "disputed", 2),
        "d": ("yes", "adjudicated", 3),
        "e": ("yes", "all", 1),
        "f": ("no", "adjudicated", 0),
    }
    rows = [{"id": i} for i in "fedcba"]
    assert [r["id"] for r in raters.differing(labels, rows)] == ["c", "b"]
    three = given({"Ann": {"a": "-1"}, "Bob": {"a": "0"}, "Cem": {"a": "1"}})
    assert raters.consensus(three)["by"].tolist() == ["disputed"] and [
        r["id"] for r in raters.differing(three, rows)
    ] == ["a"]
    four = given({"Ann": {"a": "0"}, "Bob": {"a": "0"}, "Cem": {"a": "1"}, "Dot": {"a": "-1"}})
    assert raters.consensus(four)["by"].tolist() == ["disputed"]  # two of four are no majority
    assert raters.consensus(given({})).empty and raters.differing(given({}), rows) == []


# ---- judges against raters


def judged_rows(model, said, start=0):
    return [
        row(
            f"{model}{start + k}",
            "hallucination",
            reply=f"{model} {k}",
            model=model,
            verdicts=[
                {
                    "judge": "j",
                    "status": "graded" if s is not None else "refused",
                    "value": {True: "yes, hallucinated", False: "no, right", None: ""}[s],
                }
            ],
        )
        for k, s in enumerate(said)
    ]


def test_corrected_rates_by_hand(rng):
    # Model a: 10 labelled yes of which the judge finds 8, 10 labelled no of which it says yes to 1, and 40 unlabelled with 15 yes: it says
    # 24 / 60 = .4. Model b: 5 and 5 labelled, all found right, so that over both sensitivity is 13 / 15 and specificity 14 / 15;
    # Rogan-Gladen: (.4 + 14/15 - 1) / (13/15 + 14/15 - 1) = (1/3) / (4/5) = 5/12; of b: (1/2 - 1/15) / (4/5) = 13/24.
    said = [True] * 8 + [False] * 2 + [True] + [False] * 9 + [True] * 15 + [False] * 25
    rows = judged_rows("a", [*said, None]) + judged_rows("b", [True] * 5 + [False] * 5)
    truth = {f"a{k}": "yes" if k < 10 else "no" for k in range(20)} | {
        f"b{k}": "yes" if k < 5 else "no" for k in range(10)
    }
    judged, settled = (
        raters.verdicts(rows, "hallucination"),
        raters.consensus(given({"Ann": truth})),
    )
    shuffled = judged.sample(frac=1, random_state=3), settled.sample(frac=1, random_state=4)
    assert (
        judged["status"].value_counts().to_dict() == {"graded": 70, "refused": 1}
        and judged["value"].isna().sum() == 1
    )
    for j, s in ((judged, settled), shuffled):
        found = cells(raters.corrected(j, s, "hallucination", np.random.default_rng(1)))
        a, b = "a, 2.2 answers: j", "b, 2.2 answers: j"
        assert (
            found[a, "judge says"][::3] == (pytest.approx(40), 60)
            and found[a, "raters"][::3] == (50, 20)
            and found[b, "raters"][::3] == (50, 10)
        )
        assert found[a, "Rogan-Gladen"][0] == pytest.approx(500 / 12) and found[b, "Rogan-Gladen"][
            0
        ] == pytest.approx(1300 / 24)
        assert 0 <= found[a, "Rogan-Gladen"][1] < 500 / 12 < found[a, "Rogan-Gladen"][2] <= 100
        powered = stats.prediction_powered([True] * 10 + [False] * 10, said[:20], said[20:])
        assert found[a, "prediction-powered"] == pytest.approx(
            (*(100 * x for x in powered[:3]), 20)
        )
    card = raters.against(*shuffled, "hallucination", rng)["j"]
    assert (
        card["n"] == 30
        and card["unscored"] == 0
        and card["sensitivity"]["value"] == pytest.approx(13 / 15)
        and card["confusion"] == [[14, 1], [2, 13]]
    )
    assert (
        card["judge"] == "j"
        and card["kappa"]["value"] == pytest.approx(0.8)
        and "raters" in card["labelled_by"]
    )


def test_a_judge_at_chance_or_without_labels_corrects_nothing(rng):
    rows = judged_rows("a", [True] * 6)
    judged = raters.verdicts(rows, "hallucination")
    settled = raters.consensus(
        given({"Ann": {"a0": "yes", "a1": "no", "a2": "no"}, "Bob": {"a2": "yes"}})
    )
    found = cells(raters.corrected(judged, settled, "hallucination", rng))
    assert np.isnan(found["a, 2.2 answers: j", "Rogan-Gladen"][0]) and found[
        "a, 2.2 answers: j", "raters"
    ][::3] == (
        50,
        2,
    )  # a2 is disputed
    assert found["a, 2.2 answers: j", "prediction-powered"][0] == pytest.approx(50)
    found = cells(raters.corrected(judged, raters.consensus(given({})), "hallucination", rng))
    assert found["a, 2.2 answers: j", "judge says"][0] == 100 and all(
        np.isnan(v[0]) and v[3] in (0, 6) for (_, c), v in found.items() if c != "judge says"
    )
    assert raters.against(judged, raters.consensus(given({})), "hallucination", rng) == {}


def test_judges_verdicts_in_the_words_of_labels():
    dialogue = [{"kind": "dialogue", "label": "Consultation", "turns": []}]
    more = [
        {
            "judge": "j",
            "task": "adherence",
            "status": "graded",
            "value": "expression; logic",
            "raw": "",
        },
        {"judge": "j", "task": "misled", "status": "graded", "value": "yes", "raw": ""},
        {"judge": "k", "task": "adherence", "status": "unparsed", "value": "", "raw": ""},
    ]
    rows = [
        row("a", "adherence", more=more, blocks=dialogue),
        row("b", "adherence", more=[{**more[0], "value": "none"}], blocks=dialogue),
        row("c", "adherence", more=more, reply_status="ended", blocks=dialogue),
    ]
    found = raters.verdicts(rows, "adherence")
    assert found.groupby(["id", "judge"])["part"].agg(len).to_dict() == {
        ("a", "j"): 5,
        ("a", "k"): 5,
        ("b", "j"): 5,
    }
    assert found.loc[(found["id"] == "a") & (found["value"] == "yes"), "part"].tolist() == [
        "expression",
        "logic",
    ]
    assert found.loc[found["judge"] == "k", "value"].isna().all() and set(
        found.loc[found["id"] == "b", "value"]
    ) == {"no"}
    graded = row(
        "cm-1",
        "presupposition",
        section="4.3 false presupposition",
        verdicts=[{"judge": "j", "status": "graded", "value": "-1 unaware"}],
    )
    assert raters.verdicts([graded, row("x", "diagnosis")], "presupposition")[
        ["id", "judge", "value"]
    ].values.tolist() == [["cm-1", "j", "-1"]]


# ---- published labels, and what reads them

TASKS = {
    "presupposition": ("4.3 false presupposition", 12),
    "nfp": ("version 2: no false presupposition", 8),
    "side_effect": ("3.5 pairs of this run", 10),
    "diagnosis": ("4 consultations", 14),
    "adherence": ("4 consultations", 6),
    "hallucination": ("2.2 answers", 9),
}
OPPOSITE = {
    "presupposition": "1",
    "nfp": "1",
    "side_effect": "same",
    "diagnosis": "no",
    "adherence": "attitude; expression",
}


@pytest.fixture(scope="module")
def world(nothing, tmp_path_factory):
    """Content without raters, then labels of all tasks published into a folder, and the content after."""
    folder = tmp_path_factory.mktemp("external")
    before = collected(nothing)
    rows, files = annotation.rows(before), {}
    for task, (section, size) in TASKS.items():
        mine = [
            r
            for r in annotation.candidates(rows, annotation.TASKS[task])
            if r["section"] == section
        ][:size]
        if task == "hallucination":
            session = annotation.Session(
                mine, task, "Ann", "expert", size=0, checks=0.3, folder=folder / "annotations"
            )
            while not session.done:
                words = session.shown()["answer"]["text"].split()
                yes = session.at % 2 == 0 and not session.queue[session.at].check
                assert (
                    session.label(
                        "yes" if yes else "no",
                        **({"type": "fact", "spans": [" ".join(words[:3])]} if yes else {}),
                        reason='so, "it\nis"',
                    )
                    == ""
                )
        else:
            for r in mine:
                write(folder / "annotations", task, "Ann", r, OPPOSITE[task])
            write(folder / "annotations", task, "Bob", mine[0], OPPOSITE[task])
            write(
                folder / "annotations",
                task,
                "Bob",
                mine[1],
                {"adherence": "logic"}.get(
                    task,
                    (
                        "0"
                        if task == "presupposition"
                        else next(v for v in raters.values(task) if v != OPPOSITE[task])
                    ),
                ),
            )
        given_ = raters.labels(task, rows, folder / "annotations")
        files[task] = (
            *raters.publish(task, rows, given_, raters.consensus(given_), folder),
            mine,
            given_,
        )
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, folder)
        learnt = []
        for judge in (judges.Lexical, mitigation.Echo, judging.Overlap):

            def init(self, labelled, *values, own=judge.__init__):
                learnt.append(
                    (
                        type(self).__name__,
                        bool(labelled["rated"].any()) if "rated" in labelled else False,
                    )
                )
                own(self, labelled, *values)

            patch.setattr(judge, "__init__", init)
        after = collected(folder)
        patch.undo()
        elsewhere(patch, folder)
        yield SimpleNamespace(
            folder=folder, before=before, rows=rows, files=files, after=after, learnt=set(learnt)
        )
    sources._frame.cache_clear()


def run_of(paper, notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(paper, notebook)


def test_published_files_are_what_the_sources_describe(world):
    for task, (path, written, mine, _) in world.files.items():
        name = next(
            n
            for n, e in sources.registry().items()
            if e.get("file") == f"data/external/{path.relative_to(world.folder).as_posix()}"
        )
        loaded = sources.load(name)
        assert (
            len(loaded) == written == TASKS[task][1] - (task != "hallucination")
        )  # the second row is disputed
        if task != "hallucination":
            assert (
                mine[1]["id"]
                not in loaded.get("answer_id", loaded.get("pair", loaded.get("dialogue"))).tolist()
            )
            assert loaded["labelled_by"].tolist() == ["Ann, Bob"] + ["Ann"] * (written - 1)
    first, myth = world.files["presupposition"][2][0], sources.load("cancer_myth_rated").iloc[0]
    assert (
        (myth["answer"], myth["item"], myth["label"]) == (first["reply"], first["item"], 1)
        and myth["question"] == first["shared"][0]["text"]
        and myth["correction"] == first["shared"][1]["text"]
    )
    seen = sources.load("meddialbench_rated_adherence").iloc[0]
    assert (
        seen["shown"] == ["expression", "attitude"]
        and len(seen["levels"]) == 2
        and seen["text"].startswith("Doctor: What brings you here today?\nPatient: ")
    )
    assert (
        [
            line.removeprefix("Patient: ")
            for line in seen["text"].splitlines()
            if line.startswith("Patient: ")
        ]
        == seen["said"].splitlines()
        != []
    )
    said = sources.load("meddialbench_rated").iloc[0]
    assert said["references"][0] == said["truth"] and said["diagnosis"] and said["label"] == "no"


def test_judges_say_the_same_after_labels_were_published(world):
    assert world.learnt == {("Lexical", False), ("Echo", False), ("Overlap", False)}
    after = {r["id"]: r for r in world.after["rows"]}
    for r in world.before["rows"]:
        judged = [m for m in after[r["id"]]["more"] if not m["task"].endswith("label")]
        assert (after[r["id"]]["verdicts"], judged, after[r["id"]]["reply"]) == (
            r["verdicts"],
            r["more"],
            r["reply"],
        )
    new = [r for i, r in after.items() if i not in {r["id"] for r in world.before["rows"]}]
    assert {(r["section"], r["paper"]) for r in new} == {("3 detection", "medhalu")} and len(
        new
    ) == world.files["hallucination"][1]


def test_raters_labels_stand_at_their_rows(world):
    def by_ann(row, task):
        said = (
            [m["value"] for m in row["more"] if m["judge"] == "Ann"]
            if task == "adherence"
            else [h["value"] for h in row["human"] if h["by"].endswith("Ann")]
        )
        return said if row["section"] == TASKS[task][0] else []

    found = {task: [v for r in world.after["rows"] if (v := by_ann(r, task))] for task in TASKS}
    assert all(
        len(v) == 1 for values in found.values() for v in values
    )  # published or not, a label stands there once
    assert {task: len(values) for task, values in found.items()} == {
        task: n for task, (_, n) in TASKS.items()
    }
    assert found["presupposition"][0] == ["1 corrected"] and found["nfp"][0] == [
        "1 leaves the premise alone"
    ]
    assert found["adherence"][0] == ["expression; attitude"] and found["hallucination"][0][0] in (
        "yes, hallucinated",
        "no, right",
    )
    assert found["diagnosis"][0] == ["no"] and found["side_effect"][0] == ["same"]


def test_cards_count_the_new_labels(world, tmp_path, monkeypatch, rng):
    # The word-overlap judge grades all 11 new answers -1, the raters 1: of 120 exact 69 stay of 131, of 40 answers of grade 1 33 are found, now of 51.
    run = run_of("cancer_myth", "05_judge_agreement", tmp_path, monkeypatch)
    example = cm.rated(run)
    card = judges.agreement(
        example["label"],
        asyncio.run(run.grade_labelled(example, cm.GRADES, "judge", "lexical")),
        cm.GRADES,
        rng,
    )
    assert (
        card["n"] == 131
        and card["exact"]["value"] == pytest.approx(69 / 131)
        and card["sensitivity"]["value"] == pytest.approx(33 / 51)
        and card["specificity"]["value"] == pytest.approx(75 / 80)
    )
    row_sums, column_sums = np.sum(card["confusion"], 1), np.sum(card["confusion"], 0)
    chance = float(row_sums @ column_sums) / 131**2
    assert (
        card["kappa"]["value"] == pytest.approx((69 / 131 - chance) / (1 - chance))
        and card["kappa"]["value"] < 0.3625
    )
    assert (
        report.whose(example) == "their authors, Ann and Bob"
        and example["rated"].sum() == 11
        and len(cm.labelled(run)) == 120
    )
    plain = mitigation.rated_plain(run)
    made = asyncio.run(run.grade_labelled(plain, judge="lexical", **mitigation.JUDGE_PLAIN))
    assert (
        len(plain) == 49 and (made["value"][:42] == plain["label"][:42]).sum() == 33
    )  # 78.6 % of 42 as without raters

    run = run_of("radiation", "06_judge_agreement", tmp_path, monkeypatch)
    pairs = matching.labelled(run)
    found = asyncio.run(matching.match_labelled(run, pairs, "lexical"))
    assert (
        len(pairs) == 159
        and (found["value"] == pairs["label"])[:150].sum() == 126
        and pairs["labelled_by"].iloc[0] == "their author"
        and pairs["labelled_by"].iloc[-1] == "Ann"
    )

    run = run_of("meddialbench", "01_design_and_validation", tmp_path, monkeypatch)
    known = judging.Labelled(run)
    labels = {
        task: made for task, made in asyncio.run(judging.measured(run, known, "lexical")).items()
    }
    counts = {
        task: (len(right), sum(a == b for a, b in zip(right, made["value"])))
        for task, (right, made) in labels.items()
    }
    assert (
        counts["misled"] == (15, 12)
        and counts["coverage"] == (360, 279)
        and counts[""][0] == 90 + 13
        and counts["adherence"][0] == 5 * (30 + 5)
    )
    assert sum(a == b for a, b in list(zip(labels[""][0], labels[""][1]["value"]))[:90]) == 70
    assert (
        sum(
            a == b
            for a, b in list(zip(labels["adherence"][0], labels["adherence"][1]["value"]))[:150]
        )
        == 131
    )
    assert (
        known.labelled_by("coverage") == known.labelled_by("misled") == "this project"
        and "Ann" in known.labelled_by()
        and "Ann" in known.labelled_by("adherence")
    )
    assert (
        len(judges.learnt(known.diagnosis)) == 90
        and len(known.rows("coverage")) == 360
        and known.adherence["dialogue"].str.startswith("Doctor: ").all()
        and known.adherence["answer_id"].is_unique
    )


def test_medhalus_annotations_are_read(world, tmp_path, monkeypatch):
    from bedside.papers.medhalu import data as mh

    path, written, mine, given_ = world.files["hallucination"]
    run = run_of("medhalu", "02_detection", tmp_path, monkeypatch)
    read = detection.annotations(run, asyncio.run(mh.benchmark(run, "built", 0, "", 0)))
    own = read[read["repeat"] == "Ann"].set_index("item")
    assert (
        written == len(own) == 9
        and given_["check"].sum() == 3
        and set(own["group"]) == {"expert"}
        and set(own["reason"]) == {'so, "it\nis"'}
    )
    for r in given_[~given_["check"]].itertuples():
        assert (own.at[r.item, "yes"], own.at[r.item, "type"], own.at[r.item, "spans"]) == (
            float(r.value == "yes"),
            r.type,
            r.spans,
        )
    assert own["yes"].nunique() == 2


def test_what_is_published_again_is_read_again(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    rows, counts = judged_rows("a", [True, False]), []
    labels = given({"Ann": {"a0": "no", "a1": "no"}})
    labels["item"], labels["spans"] = labels["id"], [[]] * len(labels)
    for mine in (labels, labels[:1]):
        raters.publish("hallucination", rows, mine, raters.consensus(mine), tmp_path)
        counts.append(len(sources.load("medhalu_annotations")))
    sources._frame.cache_clear()
    assert counts == [2, 1]


def test_published_without_a_settled_label_reads_as_none(tmp_path, monkeypatch):
    elsewhere(monkeypatch, tmp_path)
    labels = given({"Ann": {"a": "yes"}, "Bob": {"a": "no"}})
    assert (
        raters.publish("diagnosis", [row("a")], labels, raters.consensus(labels), tmp_path)[1] == 0
    )
    own = run_of("meddialbench", "01_design_and_validation", tmp_path, monkeypatch).with_rated(
        pd.DataFrame({"label": ["yes"]}), "meddialbench_rated"
    )
    assert len(own) == 1


def test_a_file_is_replaced_whole_or_stays(tmp_path):
    rows = judged_rows("a", [True, False])
    labels = given(
        {"Ann": {"a0": "no", "a1": "no"}, raters.ADJUDICATED: {"a0": "yes"}},
        check=[("Ann", "a0", "yes")],
    )
    labels["item"], labels["spans"] = labels["id"], [[]] * len(labels)
    path, n = raters.publish("hallucination", rows, labels, raters.consensus(labels), tmp_path)
    with open(path, newline="") as f:
        assert n == 2 and [
            (r["item"], r["rater"], r["group"], r["hallucinated"]) for r in csv.DictReader(f)
        ] == [("a0", "Ann", "rater", "no"), ("a1", "Ann", "rater", "no")]
    old = path.read_bytes()
    fewer = labels[labels["id"] == "a1"]
    part = path.with_name(f"{path.name}.part{raters.os.getpid()}")
    part.mkdir()
    with pytest.raises((OSError, BedsideError)):
        raters.publish("hallucination", rows, fewer, raters.consensus(fewer), tmp_path)
    assert path.read_bytes() == old
    part.rmdir()
    assert (
        raters.publish("hallucination", rows, fewer, raters.consensus(fewer), tmp_path)[1] == 1
        and path.read_bytes() != old
    )
    assert [p.name for p in path.parent.iterdir()] == ["annotations.csv"]


def test_rated_rows_are_graded_never_learnt_from():
    class Judge:
        def __init__(self, labelled, values):
            assert labelled.index.tolist() == list(range(len(labelled)))
            self.learnt = labelled["answer"].tolist()

        def out_of_fold(self):
            return [f"out {a}" for a in self.learnt]

        def grade(self, frame):
            return [f"{a} by {len(self.learnt)}" for a in frame["answer"]]

    frame = pd.DataFrame(
        {"answer": list("abcde"), "rated": [True, False, True, False, False]}, index=[9, 8, 7, 6, 5]
    )
    made = judges.held_out(Judge, frame, [0, 1])
    assert made.tolist() == [
        "a by 3",
        "out b",
        "c by 3",
        "out d",
        "out e",
    ] and made.index.tolist() == [9, 8, 7, 6, 5]
    assert judges.held_out(Judge, frame.drop(columns="rated"), [0, 1]).tolist() == [
        f"out {a}" for a in "abcde"
    ]


def test_without_raters_labels_are_their_authors(nothing, tmp_path, monkeypatch):
    elsewhere(monkeypatch, nothing)
    run = run_of("cancer_myth", "05_judge_agreement", tmp_path, monkeypatch)
    own = run.with_rated(pd.DataFrame({"label": [1, 0]}), "cancer_myth_rated", "us")
    assert (
        own["labelled_by"].tolist() == ["us", "us"]
        and not own["rated"].any()
        and report.whose(own) == "us"
    )
