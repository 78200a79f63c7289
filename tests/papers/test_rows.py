"""Judged items: rows that say what the committed tables say, joined by id, and nothing of what was never recorded."""

import asyncio
import copy
import functools
import json
import re
import shutil
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bedside import BedsideError, checks, models, notebooks, paths, sources
from bedside import papers as every_paper
from bedside import rows as items
from bedside.papers.cancer_myth import rows as cancer_myth_items
from bedside.papers.meddialbench import judging
from bedside.papers.meddialbench import rows as meddialbench_items
from bedside.papers.medhalu import detection
from bedside.papers.medhalu import rows as medhalu_items
from bedside.papers.radiation import matching
from bedside.papers.radiation import rows as radiation_items
from bedside.run import Run

WHERE = sources.where
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} =1+1 \ud800 \x00 \"'</div> ‮"


def elsewhere(patch, folder):
    """The user's own files are looked for in `folder`, whatever lies in data/external here."""

    def where(name):
        inside, path = WHERE(name)
        return inside, (
            folder / path.relative_to(paths.EXTERNAL)
            if path.is_relative_to(paths.EXTERNAL)
            else path
        )

    patch.setattr(sources, "where", where)
    sources._frame.cache_clear()


@functools.cache
def _collected(folder):
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, folder)
        made = asyncio.run(every_paper.items("sample", folder=folder / "annotations"))
    sources._frame.cache_clear()
    return made


def collected(folder):
    """All judged items of the sample, with the user's own files in `folder`; a copy."""
    return copy.deepcopy(_collected(folder))


@pytest.fixture(scope="session")
def nothing(tmp_path_factory):
    return tmp_path_factory.getbasetemp() / "nothing"


@pytest.fixture(scope="module")
def content(nothing):
    return collected(nothing)


def rows_of(content, section, **fields):
    return [
        r
        for r in content["rows"]
        if r["section"] == section and all(r[k] == v for k, v in fields.items())
    ]


def verdict_of(row, judge):
    return next(v for v in row["verdicts"] if v["judge"] == judge)


@functools.cache
def table(paper, name):
    return (
        pd.read_csv(
            paths.FIGURES / "sample" / paper / f"{name}.csv", keep_default_na=False, na_values=[""]
        )
        .query("source == 'run'")
        .set_index(["row", "column"])
    )


def says(paper, name, row, column):
    """(value, n, unscored) as committed."""
    r = table(paper, name).loc[(row, column)]
    return float(r["value"]), float(r["n"]), float(r["unscored"])


def close(expected):
    return pytest.approx(expected, nan_ok=True)


def share(found, scale=100.0):
    """(value, n, unscored) of rights."""
    known = [r for r in found if r is not None]
    return (scale * np.mean(known) if known else np.nan, len(known), len(found) - len(known))


def rights(rows, judge):
    return [verdict_of(r, judge)["right"] for r in rows]


# ---- the rows against the committed tables


def test_cancer_myth_counts(content):
    main = rows_of(content, "4.3 false presupposition")
    for judge in ("lexical", "smollm2-135m"):
        assert share(rights(main, judge)) == close(
            says("cancer_myth", "table_judges", f"smollm2-135m, judge {judge}", "PCR")
        )
    assert share(rights(main, "lexical")) == close(
        says("cancer_myth", "fig6a_scores", "smollm2-135m", "PCR")
    )
    cells = [
        (m, s)
        for m, s in table("cancer_myth", "table1_mitigation").index
        if s in ("Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA")
    ]
    assert len(cells) == 20
    for model, name in cells:
        found = rows_of(
            content,
            f"version 2 cures: {cancer_myth_items.CURED.get(name, name)}",
            configuration=model.split()[1],
        )
        assert share(rights(found, "lexical" if name.startswith("Cancer") else "key")) == close(
            says("cancer_myth", "table1_mitigation", model, name)
        )
    joined = Counter(r["configuration"] for r in rows_of(content, "3.2 generation loop"))
    for where, column in (
        ("valid", "hard (joins the valid set)"),
        ("easy", "easy (joins the invalid set)"),
        ("neither", "partly corrected (apart)"),
    ):
        assert 100 * joined[f"joined: {where}"] / 30 == close(
            says("cancer_myth", "fig3_yield", "smollm2-135m", column)[0]
        )


@pytest.mark.parametrize(
    "section, paper, name, judges, positive",
    [
        (
            "3.2 labelled answers",
            "cancer_myth",
            "table1_agreement",
            ["lexical", "smollm2-135m"],
            "1 corrected",
        ),
        (
            "version 2: labelled answers",
            "cancer_myth",
            "table_nfp_judges",
            ["lexical", "smollm2-135m"],
            "1 leaves the premise alone",
        ),
        (
            "3.5 labelled pairs",
            "radiation",
            "table_matchers_agreement",
            ["lexical", "smollm2-135m", "exact"],
            "same",
        ),
        (
            "3.5 labelled diagnoses",
            "meddialbench",
            "table_judges",
            ["lexical", "smollm2-135m"],
            "yes",
        ),
    ],
)
def test_labelled_rows_agree_with_the_trust_cards_tables(
    content, section, paper, name, judges, positive
):
    held = items.frame({"rows": rows_of(content, section)})
    for judge in judges:
        mine = held[held["judge"] == judge]
        row, unit = (
            (f"{judge}, diagnosis", ", %")
            if paper == "meddialbench"
            else (judge, f" for {positive.split()[0]}")
        )
        known, true = mine["status"] == "graded", mine["human"] == positive
        exact = [v == h if k else None for v, h, k in zip(mine["value"], mine["human"], known)]
        assert share(exact) == close(
            says(paper, name, row, "right, %" if paper == "meddialbench" else "exact match")
        )
        assert (
            mine.loc[known, "right"].astype(bool) == (mine.loc[known, "value"] == positive)
        ).all()
        assert share((mine["value"] == positive)[true & known].tolist())[:2] == close(
            says(paper, name, row, f"sensitivity{unit}")[:2]
        )


def test_radiation_scores_and_the_lists_set_side_by_side(content):
    for regime, name in (("free-form", "table1_free_form"), ("selection", "table3_selection")):
        for profile, more in (("specified", ""), ("base", ", base profile")):
            found = {k: [] for k in ("Precision", "Recall", "F1")}
            for r in rows_of(content, "4 lists", configuration=f"{regime}, {profile}"):
                said = [
                    v for v in r["verdicts"] if v["judge"] == "lexical" and v["status"] == "graded"
                ]
                (block,) = r["blocks"]
                marks = Counter(
                    row["cells"][block["columns"].index(profile)] for row in block["rows"]
                )
                if not said:
                    assert not marks["matched"] and not marks["spurious"]
                    scores = (None,) * 3
                else:
                    hits, size, listed = map(
                        int,
                        re.match(
                            r"matched (\d+) of (\d+), listed (\d+)", said[0]["reason"]
                        ).groups(),
                    )
                    assert (marks["matched"], marks["missed"], marks["spurious"]) == (
                        hits,
                        size - hits,
                        listed - hits,
                    )
                    scores = hits / listed, hits / size, 2 * hits / (listed + size)
                    assert said[0]["right"] == (hits / size >= 0.5)
                for metric, score in zip(found, scores):
                    found[metric].append(score)
            for metric, values in found.items():
                assert share(values, 1) == close(
                    says("radiation", name, "smollm2-135m", metric + more)
                )


def detections(content, who):
    """Detections without a note, of a model or of people."""
    return [
        r
        for r in rows_of(content, "3 detection")
        if r["configuration"].startswith("no note")
        and r["model"].startswith(who.removeprefix("people: "))
    ]


def test_medhalu_accuracy_and_yes_shares(content):
    for dataset in ("HealthQA", "LiveQA", "MedicationQA"):
        for who in ("smollm2-135m", "people: illustrative"):
            found = [r for r in detections(content, who) if r["category"].startswith(dataset)]
            assert share(rights(found, medhalu_items.AGAINST), 1)[0] == close(
                says("medhalu", "table6_detection", f"{dataset}: {who}", "accuracy")[0]
            )
        for name in ("expert's note", "other item's note", "topic only"):
            found = [
                r
                for r in rows_of(content, "3 detection", configuration=f"{name}, repeat 1")
                if r["category"].startswith(dataset)
            ]
            assert share(rights(found, medhalu_items.AGAINST), 1) == close(
                says("medhalu", "table10_expert", f"{dataset}: smollm2-135m, {name}", "accuracy")
            )
    for who in ("smollm2-135m", "people: illustrative"):
        yes = [r["verdicts"][0]["value"] == "yes, hallucinated" for r in detections(content, who)]
        assert share(yes)[:2] == close(says("medhalu", "table_replies", who, "yes, %")[:2])
    assert (
        sum(r["verdicts"][0]["right"] for r in rows_of(content, "2.2 answers")) == 8
    )  # of 32 answers 24 hold a hallucination


def test_meddialbench_counts_by_doctor_and_configuration(content):
    for configuration, doctor in [
        i for i in table("meddialbench", "table3_single").index if "if" not in i[1]
    ]:
        mine = rows_of(content, "4 consultations", configuration=configuration, model=doctor)
        assert share(rights(mine, "lexical")) == close(
            says("meddialbench", "table3_single", configuration, doctor)
        )
        told = [
            re.match(r"(\d+) of (\d+)", m["value"]).groups()
            for r in mine
            for m in r["more"]
            if (m["judge"], m["task"]) == ("lexical", "coverage")
        ]
        assert (np.mean([int(k) / int(n) for k, n in told]), len(told), 0) == close(
            says("meddialbench", "fig2_coverage", configuration, doctor)
        )
    wrong = [
        m["value"]
        for r in content["rows"]
        for m in r["more"]
        if r["model"] == "rules"
        and r["category"] == "fabricating"
        and (m["judge"], m["task"]) == ("lexical", "misled")
    ]
    assert (100 * wrong.count("yes") / len(wrong), len(wrong)) == close(
        says("meddialbench", "table_worst_case", "rules", "misled, % of the wrong ones")[:2]
    )


# ---- what holds for all rows


def test_ids_verdicts_and_blocks_are_sound_and_the_content_is_json(content):
    by_id = {r["id"]: r for r in content["rows"]}
    assert (
        len(by_id) == len(content["rows"]) > 1000
        and json.loads(json.dumps(content, allow_nan=False)) == content
    )
    assert (
        set(content["papers"]) == set(content["judge"]) == set(every_paper.PAPERS)
        and "not the models" not in content["about"]
    )
    for r in content["rows"]:
        assert r["id"].startswith(f"{r['paper']}/") and r["id"].endswith(
            f"/{r['item']}/{r['model']}/{r['configuration']}"
        )
        assert (
            r["shared"]
            and all(key in content["shared"] for key in r["shared"])
            and r["title"]
            and "\n" not in r["title"]
        )
        assert r["reply_status"] != items.ABSENT and items.ABSENT not in r["reply"]
        for v in r["verdicts"]:
            assert v["raw"] != items.ABSENT and (v["right"] in (True, False)) == (
                v["status"] == "graded"
            ) == bool(v["value"])
        assert items.printed(content, r).startswith(r["id"] + "\n")
    assert (
        "kappa 0.36" in content["cards"]["cancer_myth lexical"]
        and "judge" not in content["cards"]["radiation lexical"]
    )


def test_what_is_shown_belongs_to_the_row(content):
    shown = {
        r["id"]: {b["label"]: b for key in r["shared"] for b in content["shared"][key]}
        for r in content["rows"]
    }
    for r in content["rows"]:
        blocks = shown[r["id"]]
        if r["section"].startswith("3.5 ") and r["paper"] == "radiation":
            assert (
                blocks["Reference term"]["text"] == r["category"]
                and r["title"] == f"{r['reply']} | {r['category']}"[:160].rstrip()
            )
        elif r["paper"] in ("cancer_myth", "medhalu"):
            question = blocks.get("Question", blocks.get("Generated question"))["text"]
            assert " ".join(question.split())[:160] == r["title"]
        if r["paper"] == "cancer_myth":
            assert ("What sets the false presupposition right" in blocks) == (
                not r["item"].startswith(("nfp-", "mq-", "pq-"))
            )
    sample = pd.read_json(paths.DATA / "sample/medhalu/answers.jsonl", lines=True).set_index("item")
    for r in rows_of(content, "3 detection"):
        assert "".join(t for t, _ in r["blocks"][0]["pieces"]) == sample.at[r["item"], "answer"]
        marks = {" ".join(t.split()): m.split() for t, m in r["blocks"][0]["pieces"]}
        assert any("labelled" in m for m in marks.values()) == bool(sample.at[r["item"], "spans"])
    again = asyncio.run(_only("medhalu"))
    assert [r["id"] for r in again["rows"]] == [
        r["id"] for r in content["rows"] if r["paper"] == "medhalu"
    ]


async def _only(papers, **parameters):
    document = items.Document("sample", **parameters)
    for name in papers.split():
        await {"medhalu": medhalu_items, "radiation": radiation_items}[name].collect(document)
    return document.content()


def test_rows_stand_beside_their_counterpart(content):
    by_id = {r["id"]: r for r in content["rows"]}
    beside = [r for r in content["rows"] if r["beside"]]
    assert Counter(r["paper"] for r in beside) == {"radiation": 80, "meddialbench": 192}
    for r in beside:
        other = by_id[r["beside"]]
        assert (other["item"], other["model"]) == (r["item"], r["model"]) and other["id"] != r["id"]
        assert (
            other["category"] == "cooperative"
            if r["paper"] == "meddialbench"
            else other["beside"] == r["id"]
        )


def test_dialogues_name_a_key_item_where_it_is_first_told_and_mark_what_the_script_says(content):
    noted = marked = 0
    for r in (r for r in content["rows"] if r["section"] == "4 consultations"):
        key_items = {
            str(n): e
            for key in r["shared"]
            for b in content["shared"][key]
            if b["label"] == "Key items"
            for n, e in enumerate(b["entries"], 1)
        }
        lies = [
            checks.normal(e)
            for b in r["blocks"]
            if b["label"] == "False statements of the script"
            for e in b["entries"]
        ]
        dialogue, said, first = r["blocks"][0]["turns"], [], {}
        assert [t["who"] for t in dialogue[:2]] == ["Doctor", "Patient"] and not dialogue[1][
            "notes"
        ]
        for n, turn in enumerate(dialogue[2:]):
            notes = [
                re.fullmatch(r"discloses key item (\d+): (.*)", note).groups()
                for note in turn["notes"]
            ]
            assert turn["who"] == "Patient" or not notes
            assert all(key_items[k] == t for k, t in notes)
            said += [k for k, _ in notes]
            words = checks.normal("".join(t for t, _ in turn["pieces"]))
            if turn["who"] == "Patient":
                first |= {
                    k: n
                    for k, t in key_items.items()
                    if k not in first and checks.normal(t) in words
                }
                assert {k for k, at in first.items() if at <= n} <= set(said)
                for t, mark in turn["pieces"]:
                    assert mark in ("", "script") and (not mark or lies)
                    marked += checks.normal(t) in lies
                    assert (
                        mark == "script" or checks.normal(t) not in lies or len(judging.told(t)) < 2
                    )
        assert len(said) == len(set(said))
        noted += len(said)
    assert noted > 200 and marked > 20


def test_places_of_false_statements():
    lies = ["The pain began after a fall from a ladder last spring."]
    text = "I sleep well. I had a fall from a ladder in spring! It was a ladder."
    ((start, end),) = meddialbench_items.scripted(text, lies)
    assert text[start:end] == " I had a fall from a ladder in spring!"
    assert meddialbench_items.scripted("", lies) == meddialbench_items.scripted(text, []) == []


def test_a_predicted_item_keeps_the_reference_terms_own_mark():
    # what was predicted second is the reference's own wording, but the matcher gave the term to the first item
    r = SimpleNamespace(
        match="graded",
        found={"fatigue"},
        terms=["tiredness", "rash"],
        pairs=np.array([[1.0, 0, 1], [0, 0, 0]]),
    )
    block = radiation_items.sides(
        {"base": r}, ["fatigue", "nausea"], ["fatigue", "nausea", "weariness"]
    )
    assert block["columns"] == ["base", "specified"]
    assert {x["term"]: x["cells"] for x in block["rows"]} == {
        "fatigue": ["matched", ""],
        "nausea": ["missed", ""],
        "rash": ["spurious", ""],
    }


def test_a_spurious_item_in_a_terms_own_words_leaves_the_terms_mark():
    # a matcher gives fatigue to "tiredness"; "fatigue" and "nausea", as worded in the reference, are matched with nothing
    r = SimpleNamespace(
        match="graded",
        found={"fatigue"},
        terms=["tiredness", "fatigue", "nausea"],
        pairs=np.array([[1.0, 0], [0, 0], [0, 0]]),
    )
    marks = Counter(
        x["cells"][0]
        for x in radiation_items.sides({"base": r}, ["fatigue", "nausea"], ["fatigue", "nausea"])[
            "rows"
        ]
    )
    assert marks == {"matched": 1, "missed": 1, "spurious": 2}


def test_a_short_false_statement_is_marked_too():
    lie = "It has only been there for a week or two."
    assert meddialbench_items.scripted(lie, [lie]) == [(0, len(lie))]


# ---- joined by id


def test_nothing_is_joined_by_position(content, monkeypatch):
    def shuffled(f):
        async def made(*a, **k):
            return (await f(*a, **k)).sample(frac=1, random_state=1).reset_index(drop=True)

        return made

    for owner, name in (
        (Run, "answers"),
        (Run, "grade"),
        (Run, "grade_labelled"),
        (detection, "detect"),
        (matching, "match_labelled"),
    ):
        monkeypatch.setattr(owner, name, shuffled(getattr(owner, name)))
    document = items.Document("sample")

    async def all_():
        await cancer_myth_items.evaluation(document)
        await cancer_myth_items.labelled(document)
        await medhalu_items.collect(document)
        await radiation_items.collect(document)

    asyncio.run(all_())
    by_id = {r["id"]: r for r in content["rows"]}
    made = document.content()["rows"]
    assert (
        len(made)
        == sum(
            r["id"].split("/")[1] in {m["id"].split("/")[1] for m in made}
            and r["paper"] in {m["paper"] for m in made}
            for r in content["rows"]
        )
        > 800
    )
    for r in made:
        assert r == by_id[r["id"]]


def test_verdicts_are_given_by_id_and_unscored_ones_have_no_side():
    by = {
        "a": pd.DataFrame(
            {
                "item": ["y", "x", "z"],
                "status": ["graded", "unparsed", "error"],
                "value": [1, None, None],
                "raw": ['{"reason": "so"}', "?", items.ABSENT],
            }
        ),
        "b": pd.DataFrame(
            {"item": ["x", "y"], "status": ["graded", "graded"], "value": [0.0, 1.0], "raw": ""}
        ),
    }
    found = items.verdicts(by, {0: "bad", 1: "good"}, {1})
    assert list(found) == ["y", "x"]  # z was never recorded
    assert [(v["judge"], v["status"], v["value"], v["right"], v["reason"]) for v in found["y"]] == [
        ("a", "graded", "good", True, "so"),
        ("b", "graded", "good", True, ""),
    ]
    assert [(v["status"], v["value"], v["right"]) for v in found["x"]] == [
        ("unparsed", "", None),
        ("graded", "bad", False),
    ]
    assert (
        items.verdict("j", "refused", "value", True, "no")["right"] is None
        and items.verdict("j", "graded", "v")["right"] is None
    )


# ---- what was never recorded


def test_what_was_never_asked_leaves_no_row_and_calls_nobody(
    served, endpoint, tmp_path, monkeypatch, nothing
):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    elsewhere(monkeypatch, nothing)
    ask = models.ask

    async def replayed(requests, recordings, **more):
        assert all(r.key in recordings for r in requests)
        return await ask(requests, recordings, **more)

    monkeypatch.setattr(models, "ask", replayed)
    made = asyncio.run(
        every_paper.items(
            "sample",
            "medhalu radiation meddialbench",
            folder=nothing,
            models=served,
            mode="record",
            judge="smollm2-135m",
            limit=2,
        )
    )
    assert (
        endpoint.bodies == []
        and made["rows"]
        and made["judge"]["radiation"] == "smollm2-135m"
        and not made["cards"]
    )
    assert not [
        r
        for r in made["rows"]
        if r["model"] == served or any(v["judge"] == served for v in r["verdicts"])
    ]
    assert (
        Counter(r["section"].split()[0] for r in made["rows"] if r["paper"] == "meddialbench")["4"]
        == 34
    )  # the rules' own, 17 configurations of two cases


def test_lost_recordings_leave_out_their_rows_and_verdicts_only(
    tmp_path, monkeypatch, content, nothing
):
    shutil.copytree(
        paths.RECORDINGS, tmp_path / "recordings", ignore=shutil.ignore_patterns("public", "*.lock")
    )
    for paper in ("medhalu", "radiation"):
        path = tmp_path / f"recordings/{paper}/sample/smollm2-135m.jsonl"
        path.write_text("".join(path.read_text().splitlines(True)[::2]))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    elsewhere(monkeypatch, nothing)
    made = asyncio.run(_only("medhalu radiation"))
    whole, left = (
        {r["id"]: r for r in c["rows"] if r["paper"] in ("medhalu", "radiation")}
        for c in (content, made)
    )
    for name in (
        "medhalu/02_detection",
        "medhalu/03_expert_in_the_loop",
        "radiation/04_documentation_sensitivity",
    ):
        had, has = (
            {i for i, r in rows.items() if i.startswith(name) and r["model"] == "smollm2-135m"}
            for rows in (whole, left)
        )
        assert 0.25 * len(had) < len(has) < 0.75 * len(had) and has < had
    for i, r in left.items():
        if r["section"] != "3.5 pairs of this run":
            assert r["reply"] == whole[i]["reply"] and all(
                v in whole[i]["verdicts"] for v in r["verdicts"]
            )
    graded = [
        sum(
            v["judge"] == "smollm2-135m"
            for r in rows.values()
            if r["section"] == "3.5 labelled pairs"
            for v in r["verdicts"]
        )
        for rows in (whole, left)
    ]
    assert graded[0] == 150 and 0 < graded[1] < 150


# ---- rows by hand


def document_of(**row):
    document = items.Document("sample")
    run = SimpleNamespace(paper="p", notebook="n")
    id = document.add(
        run,
        "1 s",
        "i",
        "m",
        "c",
        **{"title": "t", "shared": [document.share("p i", items.text("Question", HOSTILE))], **row},
    )
    return document, run, id


def test_hostile_texts_pass_through_but_for_lone_surrogates():
    clean = HOSTILE.replace("\ud800", "\ufffd")
    document, _, id = document_of(
        title=f"a\n b {HOSTILE}",
        reply=HOSTILE,
        verdicts=[items.verdict("j", "unparsed", raw=HOSTILE, reason=HOSTILE)],
        human=[items.human("Ann", "yes", reason=HOSTILE)],
        blocks=[
            items.entries("list", [HOSTILE]),
            items.aligned("sides", ["x"], {HOSTILE: ("matched",)}),
            items.marked("spans", HOSTILE, found=[(0, 8)]),
            items.dialogue("talk", [("Doctor", items.pieces(HOSTILE), [])]),
        ],
    )
    content = document.content()
    (row,) = content["rows"]
    text = json.dumps(content, ensure_ascii=False)
    assert text.encode() and text.count(json.dumps(clean, ensure_ascii=False)[1:-1]) == 9
    assert row["reply"] == row["human"][0]["reason"] == content["shared"]["p i"][0][
        "text"
    ] == clean and row["title"] == "a b " + " ".join(clean.split())
    assert items.printed(content, row).count(
        clean
    ) == 7 and "\n<script> [found]alert" in items.printed(content, row)


def test_marks_stand_where_the_places_are():
    assert items.pieces("0123456789", a=[(2, 5, "exact")], b=[(4, 7), (9, 10)]) == [
        ["01", ""],
        ["23", "a"],
        ["4", "a b"],
        ["56", "b"],
        ["78", ""],
        ["9", "b"],
    ]
    assert (
        items.pieces("") == []
        and items.pieces("ab") == [["ab", ""]]
        and items.pieces("ab", a=[(0, 2)]) == [["ab", "a"]]
    )
    block = medhalu_items.spans(
        "Cold air causes it. Milk helps.", ["Milk helps"], ["cold AIR", "snow and ice"]
    )
    assert block["pieces"] == [
        ["Cold air", "detected"],
        [" causes it. ", ""],
        ["Milk helps", "labelled"],
        [".", ""],
    ]


def test_a_row_is_taken_in_once_and_an_absent_reply_never():
    document, run, id = document_of(
        verdicts=[items.verdict("j", "graded", 1, 1), items.verdict("k", "refused")],
        human=[items.human("Ann", 1), items.human("Bob", 0)],
        reply="r",
    )
    assert id == "p/n/i/m/c"
    with pytest.raises(BedsideError, match="two rows with the id 'p/n/i/m/c'"):
        document.add(run, "1 s", "i", "m", "c", title="t")
    assert document.add(
        run, "1 s", "j", "m", "c", title="t", status=items.ABSENT
    ) == "" and document.add(run, "1 s", "k", "m", "c", title="t", status="500")
    assert document.share("p i", items.text("Question", "another")) == "p i" and document.content()[
        "shared"
    ]["p i"][0]["text"].startswith("<script>")
    found = items.frame(document.content())
    assert found[["item", "judge", "status", "value", "right", "human"]].values.tolist() == [
        ["i", "j", "graded", "1", True, "1"],
        ["i", "k", "refused", "", None, "1"],
        ["k", "", "", "", None, ""],
    ]
    assert (
        items.frame(document.content(), "k")["item"].tolist() == ["i"]
        and items.frame({"rows": []}).empty
    )
    with pytest.raises(BedsideError, match="judge"):
        items.frame(document.content(), "nobody")
    assert items.printed(document.content(), document.content()["rows"][0]).splitlines()[-5:] == [
        "VERDICTS",
        "j: 1",
        "k: refused",
        "Ann: 1",
        "Bob: 0",
    ]


# ---- notebooks


def notebook(path, *sources_):
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    path.write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {
                    "kernelspec": {"name": "python3", "display_name": "", "language": "python"}
                },
                "cells": [
                    {
                        **cell,
                        "id": f"c{k}",
                        "source": [s],
                        "metadata": {"tags": ["parameters"] if s.startswith("a = ") else []},
                    }
                    for k, s in enumerate(sources_)
                ],
            }
        )
    )
    return path


def test_a_notebooks_parameters_are_read_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    notebook(tmp_path / "x.ipynb", "a = 1\nb = -0.5  # why\nc = ''", "d = 2")
    assert notebooks.parameters("x") == {"a": 1, "b": -0.5, "c": ""}
    for cells, count in ((["d = 2"], 0), (["a = 1", "a = 2"], 2)):
        notebook(tmp_path / "y.ipynb", *cells)
        with pytest.raises(
            BedsideError, match=f"y.ipynb: one cell must be tagged parameters, not {count}"
        ):
            notebooks.parameters("y")
    monkeypatch.undo()
    assert (
        notebooks.parameters("medhalu/02_detection").items()
        >= {
            "profile": "sample",
            "mode": "replay",
            "limit": 0,
        }.items()
    )


def test_a_notebook_runs_from_the_root_and_says_what_failed(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "a = 1", "import os\nprint(a, os.getcwd())\n1 / (a - 7)")
    notebooks.execute(path, tmp_path / "done.ipynb", {"a": 5})
    printed = "".join(
        o.get("text", "") if isinstance(o.get("text"), str) else "".join(o["text"])
        for c in json.loads((tmp_path / "done.ipynb").read_text())["cells"]
        for o in c["outputs"]
        if "text" in o
    )
    assert printed.strip() == f"5 {paths.ROOT}"
    with pytest.raises(
        BedsideError,
        match=r"(?s)x\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb",
    ):
        notebooks.execute(path, tmp_path / "done.ipynb", {"a": 7})
