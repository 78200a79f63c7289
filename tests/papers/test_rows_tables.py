"""Judged rows say what the committed tables say, study by study."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from committed import rights, rows_of, says, says_n, says_value, share, table

from bedside.papers.cancer_myth import display
from bedside.papers.cancer_myth.v2.items import KINDS
from bedside.papers.medhalu.study import AGAINST
from bedside.papers.radiation import matching
from bedside.publish import judged_items
from bedside.read import paths
from judged import collected

TINY = "smollm2-135m"
SETS = ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")
JOINED = {
    "valid": "hard (joins the valid set)",
    "easy": "easy (joins the invalid set)",
    "neither": "partly corrected (apart)",
}


@pytest.fixture(scope="module")
def content(nothing):
    """All judged items of the sample, without files of the user's own."""
    return collected(nothing)


def test_cancer_myth_counts(content):
    main = rows_of(content, "4.3 false presupposition")
    for judge in ("lexical", TINY):
        said = says("cancer_myth", "table_judges", f"{TINY}, judge {judge}", "PCR")
        assert share(rights(main, judge)) == said
    assert share(rights(main, "lexical")) == says("cancer_myth", "fig6a_scores", TINY, "PCR")
    cells = [i for i in table("cancer_myth", "table1_mitigation").index if i[1] in SETS]
    assert len(cells) == 20
    for model, name in cells:
        section = f"version 2 cures: {display.KIND[KINDS[name]] if name in KINDS else name}"
        found = rows_of(content, section, configuration=model.split()[1])
        judge = "lexical" if name.startswith("Cancer") else "key"
        said = says("cancer_myth", "table1_mitigation", model, name)
        assert share(rights(found, judge)) == said
    joined = Counter(r["configuration"] for r in rows_of(content, "3.2 generation loop"))
    for where, column in JOINED.items():
        said = says_value("cancer_myth", "fig3_yield", TINY, column)
        assert 100 * joined[f"joined: {where}"] / 30 == said


JUDGES = ["lexical", TINY]
CARDS = [
    ("3.2 labelled answers", "cancer_myth", "table1_agreement", JUDGES, "1 corrected"),
    (
        "version 2: labelled answers",
        "cancer_myth",
        "table_nfp_judges",
        JUDGES,
        "1 leaves the premise alone",
    ),
    ("3.5 labelled pairs", "radiation", "table_matchers_agreement", [*JUDGES, "exact"], "same"),
    ("3.5 labelled diagnoses", "meddialbench", "table_judges", JUDGES, "yes"),
]


@pytest.mark.parametrize("section, paper, name, judges, positive", CARDS)
def test_labelled_rows_agree_with_the_trust_cards_tables(
    content, section, paper, name, judges, positive
):
    held = judged_items.frame({"rows": rows_of(content, section)})
    if paper == "radiation":  # cards rest on the pairs that no matcher was made on
        pairs = pd.read_json(paths.DATA / "sample/radiation/pairs.jsonl", lines=True)
        held = held[held["item"].isin(pairs["pair"][matching.unseen(pairs)])]
    exactly, found, ending = "exact match", f"sensitivity for {positive.split()[0]}", ""
    if paper == "meddialbench":
        exactly, found, ending = "right, %", "sensitivity, %", ", diagnosis"
    for judge in judges:
        mine = held[held["judge"] == judge]
        known, true = mine["status"] == "graded", mine["human"] == positive
        exact = [v == h if k else None for v, h, k in zip(mine["value"], mine["human"], known)]
        assert share(exact) == says(paper, name, judge + ending, exactly)
        said = mine["value"] == positive
        assert (mine.loc[known, "right"].astype(bool) == said[known]).all()
        hits = share(said[true & known].tolist())
        assert hits[:2] == says_n(paper, name, judge + ending, found)


def test_radiation_scores_and_the_lists_set_side_by_side(content):
    for regime, name in (("free-form", "table1_free_form"), ("selection", "table3_selection")):
        for profile, more in (("specified", ""), ("base", ", base profile")):
            mine = rows_of(content, "4 lists", configuration=f"{regime}, {profile}")
            found = [radiation_scores(r, profile) for r in mine]
            assert found
            for metric, values in zip(("Precision", "Recall", "F1"), zip(*found)):
                assert share(values, 1) == says("radiation", name, TINY, metric + more)


def radiation_scores(row, profile):
    """Precision, recall and F1 of a row's verdict, which its lists side by side bear out."""
    said = [v for v in row["verdicts"] if (v["judge"], v["status"]) == ("lexical", "graded")]
    block, decided = row["blocks"]
    column = block["columns"].index(profile)
    marks = Counter(line["cells"][column] for line in block["rows"])
    if not said:
        assert not marks["matched"] and not marks["spurious"]
        return None, None, None
    told = re.match(r"matched (\d+) of (\d+), listed (\d+)", said[0]["reason"])
    hits, size, listed = map(int, told.groups())
    shown = (marks["matched"], marks["missed"], marks["spurious"])
    assert shown == (hits, size - hits, listed - hits)
    lines = decided["text"].splitlines()
    assert (sum(not d.endswith("→ nothing") for d in lines), len(lines)) == (hits, listed)
    assert said[0]["right"] == (hits / size >= 0.5)
    return hits / listed, hits / size, 2 * hits / (listed + size)


def detections(content, who):
    """Detections without a note, of a model or of people."""
    name = who.removeprefix("people: ")
    mine = [r for r in rows_of(content, "3 detection") if r["model"].startswith(name)]
    return [r for r in mine if r["configuration"].startswith("no note")]


def test_medhalu_accuracy_and_yes_shares(content):
    for dataset in ("HealthQA", "LiveQA", "MedicationQA"):
        for who in (TINY, "people: illustrative"):
            found = [r for r in detections(content, who) if r["category"].startswith(dataset)]
            said = says_value("medhalu", "table6_detection", f"{dataset}: {who}", "accuracy")
            items = {r["item"]: [] for r in found}  # repeats are averaged, as far as they were read
            for r, right in zip(found, rights(found, AGAINST), strict=True):
                items[r["item"]] += [] if right is None else [right]
            assert share([np.mean(mine) for mine in items.values()], 1)[0] == said
        for name in ("expert's note", "other item's note", "topic only"):
            noted = rows_of(content, "3 detection", configuration=f"{name}, repeat 1")
            found = [r for r in noted if r["category"].startswith(dataset)]
            said = says("medhalu", "table10_expert", f"{dataset}: {TINY}, {name}", "accuracy")
            assert share(rights(found, AGAINST), 1) == said
    for who in (TINY, "people: illustrative"):
        given = [r["verdicts"][0] for r in detections(content, who)]
        read = [v for v in given if v["status"] == "graded"]
        yes = [v["value"] == "yes, hallucinated" for v in read]
        assert share(yes)[:2] == says_n("medhalu", "table_replies", who, "yes, %")
    right = [r["verdicts"][0]["right"] for r in rows_of(content, "2.2 answers")]
    assert sum(right) == 8  # of 32 answers 24 hold a hallucination


def other_values(mine, task):
    """What the lexical judge says of rows on another question."""
    given = [m for r in mine for m in r["more"]]
    return [m["value"] for m in given if (m["judge"], m["task"]) == ("lexical", task)]


def test_meddialbench_counts_by_doctor_and_configuration(content):
    cells = [i for i in table("meddialbench", "table3_single").index if "if" not in i[1]]
    for cell in cells:
        mine = rows_of(content, "4 consultations", configuration=cell[0], model=cell[1])
        assert share(rights(mine, "lexical")) == says("meddialbench", "table3_single", *cell)
        told = [re.match(r"(\d+) of (\d+)", v).groups() for v in other_values(mine, "coverage")]
        mean = np.mean([int(k) / int(n) for k, n in told])
        assert (mean, len(told), 0) == says("meddialbench", "fig2_coverage", *cell)
    fabricating = [r for r in content["rows"] if r["category"] == "fabricating"]
    wrong = other_values([r for r in fabricating if r["model"] == "rules"], "misled")
    said = says_n("meddialbench", "table_misled", "fabricating", "rules: % of the wrong ones")
    assert (100 * wrong.count("yes") / len(wrong), len(wrong)) == said
