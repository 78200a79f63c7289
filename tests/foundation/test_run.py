"""Tables, figures, claims and the index: the contract of the files, and hostile text in them."""

import asyncio
import json
import os

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError
from bedside.build import settings
from bedside.judging import trust_cards
from bedside.keep import registry, store
from bedside.keep.registry import StopRun
from bedside.publish import pages
from bedside.read import claims, paths
from bedside.run import Run
from bedside.write import plots, tables
from conftest import ask_for

HOSTILE, NAME = "<script>alert(1)</script>", "cancer_myth/03_evaluation"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))
    return Run("cancer_myth", "03_evaluation", profile="sample")


def rows(*more):
    return pd.DataFrame(
        [
            {"row": "m", "column": "PCR", "source": "published", "value": 27.2, "n": 585},
            {
                "row": "m",
                "column": "PCR",
                "source": "run",
                "value": 100 / 3,
                "low": 20.0,
                "high": 40.123456789012,
                "n": 42,
                "unscored": 1,
            },
            *more,
        ]
    )


def test_csv_contract(run):
    run.table("table1_x", rows(), "T")
    text = (run.folder / "table1_x.csv").read_text()
    assert (
        text == "row,column,source,value,low,high,n,unscored\nm,PCR,published,27.2,,,585,\n"
        "m,PCR,run,33.33333333,20,40.12345679,42,1\n"
    )


def test_ten_digits_hide_the_last_bits_of_another_processor(run):
    run.table("a", rows({"row": "x", "column": "c", "source": "run", "value": 0.1 + 0.2}), "T")
    run.table("b", rows({"row": "x", "column": "c", "source": "run", "value": 0.3}), "T")
    assert (run.folder / "a.csv").read_bytes() == (run.folder / "b.csv").read_bytes()


@pytest.mark.parametrize(
    "text, cell",
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-1", "-1"),
        ("+cmd|x", "'+cmd|x"),
        ("a,b", '"a,b"'),
        ('a"b', '"a""b"'),
        ("-1 to 1", "'-1 to 1"),
    ],
)
def test_text_in_csv_is_never_a_formula_and_always_text(run, text, cell):
    run.table("t", rows({"row": text, "column": "c", "source": "run", "value": 1}), "T")
    assert (run.folder / "t.csv").read_text().splitlines()[-1] == f"{cell},c,run,1,,,,"
    assert tables.cell_text("lone \ud83d") == "lone \ufffd"


def test_markdown_and_latex_escape(run):
    run.table(
        "t",
        rows({"row": HOSTILE + " a|b_c & 5%", "column": "c", "source": "run", "value": 1}),
        HOSTILE,
    )
    assert (
        "\\<script\\>" in (run.folder / "t.md").read_text()
        and "a\\|b\\_c" in (run.folder / "t.md").read_text()
    )
    assert "b\\_c \\& 5\\%" in (run.folder / "t.tex").read_text()


@pytest.mark.parametrize(
    "bad, match",
    [
        (
            {"row": "x", "column": "c", "source": "guess", "value": 1},
            "unknown source of a number 'guess'",
        ),
        ({"row": "m", "column": "PCR", "source": "run", "value": 1}, "occurs twice"),
        ({"row": None, "column": "c", "source": "run", "value": 1}, "needs rows"),
    ],
)
def test_a_wrong_table_is_an_error(run, bad, match):
    with pytest.raises(BedsideError, match=match):
        run.table("t", rows(bad), "T")


def test_a_judged_table_needs_the_judges_card_and_shows_it(run):
    with pytest.raises(BedsideError, match="'lexical' has no trust card"):
        run.table("t", rows(), "T", judged=True)
    verdicts = pd.DataFrame({"status": "graded", "value": [-1, 0, 1, 1]})
    run.write_card(
        "lexical",
        trust_cards.trust_card([-1, 0, 1, 0], verdicts, [-1, 0, 1], np.random.default_rng(0)),
        "their authors",
    )
    run.table("t", rows(), "T", judged=True)
    # one error of one step; by chance (1 + 4 * 2 + 2 + 2 * 2 + 4 + 1) / 4 = 5 squared: 1 - 1/5
    told = (run.folder / "t.md").read_text()
    assert "lexical" in told and "kappa 0.80 on 4" in told


def test_figures_repeat_byte_for_byte(run):
    made = []
    for _ in range(2):
        figure, ((ax,),) = plots.figure((4, 2))
        plots.dots(ax, rows(), xlabel="x")
        plots.legend_below(figure)
        run.figure("fig1_x", figure, rows(), "F")
        made.append([(run.folder / f"fig1_x.{s}").read_bytes() for s in ("png", "svg", "csv")])
    assert made[0] == made[1] and b"dc:date" not in made[0][1]


@pytest.mark.parametrize(
    ("profile", "models", "kept"),
    [
        ("sample", ["smollm2-135m"], 2),
        ("public", ["smollm2-135m"], 1),
        ("public", ["smollm2-135m", "gpt-5.4-2026-03-05"], 2),
    ],
)
def test_the_embedded_models_marks_leave_the_figures_of_released_data(run, profile, models, kept):
    run.profile, run.models = profile, models
    assert len(run.rows_to_draw(rows())) == kept
    run._elsewhere = ["brought"]
    assert len(run.rows_to_draw(rows())) == 2


@pytest.fixture
def ledger(monkeypatch):
    """The claims of the run's paper, to be filled by a test."""
    found = {}
    monkeypatch.setattr(claims, "load", lambda paper: found)
    monkeypatch.setattr(claims, "listed", lambda paper: {})
    monkeypatch.setattr(paths, "FINDINGS", paths.ROOT / "none")  # they name claims of the paper

    def add(id, text, published, needs=""):
        value = float(published) if published else None
        words = (needs, "", "tried everything", "", "")
        found[id] = claims.Claim(
            id, "paper", "claim", "4.3", "detail", text, published, *words, value
        )

    return add


def test_claims(run, ledger):
    for id, needs in (("a", ""), ("b", ""), ("c", "data"), ("d", ""), ("e", "")):
        ledger(id, "A share", "27.2", needs)
    same = claims.same
    assert run.claim("a", same(run, "a", 27.249, 1), basis="run") == "holds"
    assert run.claim("b", same(run, "b", 27.26, 1), basis="run") == "differs"
    assert run.claim("c", same(run, "c", None, 1), basis="run") == "needs data"
    with pytest.raises(BedsideError, match="twice"):
        run.claim("a", claims.reading(1, 1 > 0))
    with pytest.raises(BedsideError, match="is not decided"):
        run.claim("d")
    with pytest.raises(BedsideError, match="unknown claim 'f'"):
        run.claim("f")
    with pytest.raises(BedsideError, match="basis of a claim"):
        run.claim("d", claims.reading(1, 1 > 0), basis="hearsay")
    run.claim("e", claims.reading(0.123456, 1 > 0), basis="run")
    made = run.claims()
    assert made["verdict"].tolist() == ["holds", "differs", "needs data", "holds"]
    assert made["id"].tolist() == ["a", "b", "c", "e"]
    assert made["computed"].tolist() == ["27.2", "27.3", "", "0.1235"]
    assert made["basis"].tolist() == ["run", "run", "none", "run"]


def test_index_manifest_and_claims(run, ledger):
    run.load("cancer_myth_nfp_sample")
    run.table(
        "table1_x", rows({"row": HOSTILE, "column": "c", "source": "run", "value": 1}), HOSTILE
    )
    ledger("a", HOSTILE + ' {{ 7 * 7 }} "quoted"', "27.2")
    run.claim("a", claims.reading("=1+1", 1 > 2), basis="run")
    run.close()
    manifest = pages.merge("sample")
    folder = settings.figures() / "sample"
    entry = json.loads((folder / "manifest.json").read_text())["notebooks"][NAME]
    assert entry == manifest["notebooks"][NAME] and "cancer_myth_nfp_sample" in entry["data"]
    assert {o["file"] for o in entry["outputs"]} == {"table1_x.csv", "table1_x.md", "table1_x.tex"}
    (claim,), (reading,) = (
        pd.read_csv(folder / f).to_dict("records") for f in ("claims.csv", "readings.csv")
    )
    assert (claim["id"], claim["verdict"], claim["computed"]) == ("a", "differs", "'=1+1")
    assert (reading["id"], reading["holds"], reading["computed"]) == ("a", "no", "'=1+1")
    for page in ("cancer_myth", "claims"):
        html = (folder / f"{page}.html").read_text()
        assert HOSTILE not in html and "&lt;script&gt;" in html and "{{ 7 * 7 }}" in html
        # a self-contained page, whose one script is its own
        assert 'src="http' not in html and "<link" not in html and html.count("<script") == 1


def test_other_settings_are_a_run_in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    settings.entered({"limit": "5", "mode": "record", "budget_usd": "3"})
    run = Run("cancer_myth", "03_evaluation", profile="sample", limit=5, judge="")
    run.table("t", rows(), "T")
    run.close()
    pages.merge("sample")
    assert [p.name for p in tmp_path.iterdir()] == ["runs"]
    html = (tmp_path / "runs/sample-limit-5/index.html").read_text()
    assert "not the committed run" in html and "LIMIT=5" in html


def test_a_run_keeps_its_settings_for_whoever_comes_back(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    given = {"limit": "5", "profile": "public", "max_tokens": "40"}
    settings.entered(given, "mine")
    settings.keep(given)
    assert settings.outputs("public") == tmp_path / "runs/mine"
    assert settings.entered({}, "mine") == {"limit": "5", "profile": "public", "max_tokens": "40"}
    run = Run("cancer_myth", "03_evaluation")  # as in a notebook that is opened there
    assert (run.profile, run.limit, run.changed["max_tokens"]) == ("public", 5, "40")
    with pytest.raises(BedsideError, match="'mine' has other settings .*limit 5"):
        settings.entered({"limit": "6"}, "mine")
    with pytest.raises(BedsideError, match="for a run's name"):
        settings.entered({}, "../mine")
    assert settings.entered({"limit": "0", "judge": "lexical"}) and not os.environ["BEDSIDE_RUN"]


def test_a_notebook_that_did_not_run_keeps_its_entry(run):
    run.table("t", rows(), "T")
    run.close()
    pages.merge("sample")
    html = (settings.figures() / "sample/index.html").read_text()
    (settings.figures() / "sample/.parts/cancer_myth.03_evaluation.json").unlink()
    assert "cancer_myth/03_evaluation" in pages.merge("sample")["notebooks"]
    assert (settings.figures() / "sample/index.html").read_text() == html


@pytest.mark.parametrize(
    "bad, match",
    [
        ({"profile": "sampel"}, "did you mean 'sample'"),
        ({"mode": "rerecord"}, "unknown MODE"),
        ({"models": "smollm2-135n"}, "smollm2-135m"),
        ({"judge": "lexicl"}, "did you mean 'lexical'"),
        ({"limit": "ten"}, "LIMIT='ten'"),
        ({"seed": -1}, "SEED"),
        ({"budget_usd": "a lot"}, "BUDGET_USD"),
        ({"prompts": "/nowhere"}, "not a folder"),
        ({"modles": "smollm2-135m"}, "did you mean 'models'"),
    ],
)
def test_unknown_settings_name_the_valid_ones(bad, match):
    with pytest.raises(BedsideError, match=match):
        settings.validated(**bad)


def test_generators_are_named_and_seeded(run):
    a, b = run.rng("x").random(), run.rng("y").random()
    assert a == run.rng("x").random() and a != b
    run.seed = 1
    assert run.rng("x").random() != a


def test_a_judge_has_a_card_for_each_task(run):
    card = {"n": 4, "unscored": 0, "kappa": {"value": 0.5, "low": 0.1, "high": 0.9, "n": 4}}
    run.write_card("lexical", card, "us")
    run.write_card("lexical", {**card, "n": 9}, "us", task="another task")
    assert (run.folder / "trust_lexical.json").is_file() and (
        run.folder / "trust_lexical_another_task.json"
    ).is_file()
    run.table("t", rows(), "T", judged=("", "another task"))
    told = (run.folder / "t.md").read_text().replace("\\", "")
    assert told.count("kappa 0.50 [0.10, 0.90]") == 2 and "another task" in told
    fresh = Run("cancer_myth", "04_mitigation", profile="sample")
    assert fresh.card(task="another task")["n"] == 9 and fresh.card()["n"] == 4
    with pytest.raises(BedsideError, match="trust_lexical_third.json"):
        fresh.card(task="third")


def test_a_budget_holds_over_all_questions_of_a_run(run, served, endpoint, monkeypatch, tmp_path):
    """Each call costs 15 tokens at $1,000 per million, $0.015, and may cost more before it."""
    prices = {"usd_per_million_in": 1e3, "usd_per_million_out": 1e3}
    monkeypatch.setitem(registry.entries(), "served", {**registry.entries()["served"], **prices})
    run.mode, run.budget_usd = "record", 0.30
    run.recordings = store.Recordings(tmp_path / "recordings")
    most = sum(ask_for("served", "q0")[0].estimate()) / 1e3
    with pytest.raises(StopRun, match="BUDGET_USD"):
        for k in range(99):
            asyncio.run(run.ask(ask_for("served", f"q{k}")))
    spent = 0.015 * k
    assert 0.30 - most < spent <= 0.30 and len(endpoint.bodies) == k > 5


def test_counts_without_limits_have_no_note_on_small_numbers():
    counts = pd.DataFrame({"row": ["x", "y"], "column": "n", "source": "run", "value": [3, 4]})
    for rows in (counts, counts.assign(n=[9, 12]), counts.assign(n=[9, 12], low=None)):
        assert tables.few_note(rows) == ""
    assert tables.few_note(counts.assign(n=[9, 12], low=[None, 1]))
    assert tables.few_note(counts.assign(n=[9, 12], value=[0.5, 4]))


def test_a_figures_message_is_the_title_where_it_holds_and_of_what_others_found(run):
    for changed, holds, n in (
        ({}, True, 1),
        ({}, False, 1),
        ({"limit": "2"}, True, 1),
        ({}, True, 2),
    ):
        figure, narrow = (plots.figure((width, 2))[0] for width in (plots.WIDE, plots.NARROW))
        run.changed = changed
        plots.message(figure, "The first leads", holds, about="Mean of two.")
        run.figure("fig1_x", figure, rows().head(n), "Figure 1: x", narrow=narrow)
        outputs = {o["file"]: o for o in run.part()["outputs"]}
        assert {f"fig1_x.{form}" for form in ("csv", "png", "svg", "narrow.svg")} < {*outputs}
        told = holds and not changed and n == 1
        assert outputs["fig1_x.csv"]["message"] == ("The first leads" if told else "")
