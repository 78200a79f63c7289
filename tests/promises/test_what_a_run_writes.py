"""What a run writes: tables, figures, claims, graded replies, pages; hostile texts stay texts."""

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import bedside
from bedside import BedsideError
from bedside.asking.replies import Request, as_reply
from bedside.build import settings
from bedside.judging import trust_cards
from bedside.publish import pages
from bedside.read import claims, paths, prompts, sources
from bedside.read.surroundings import here
from bedside.run import Run
from bedside.stats.rounded import Verdict
from bedside.write import frames, plots, prose, tables
from pictures import faults

HOSTILE, NAME = "<script>alert(1)</script> {{ 7 * 7 }}", "cancer_myth/03_evaluation"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    return Run("cancer_myth", "03_evaluation", profile="sample")


def rows(*more):
    made = {"row": "m", "column": "PCR", "source": "run", "value": 100 / 3, "low": 20.0}
    made |= {"high": 40.123456789012, "n": 42, "unscored": 1}
    return pd.DataFrame([{**made, "source": "published", "value": 27.2}, made, *more])


def of(row, value=1):
    return {"row": row, "column": "c", "source": "run", "value": value}


# ---- tables


def test_tables_as_csv_hold_ten_digits_and_no_formula(run):
    run.table("t", rows(of("x", 0.1 + 0.2), of("y", None)), "T")
    found = pd.read_csv(run.folder / "t.csv")
    assert found["value"].tolist()[1:3] == [33.33333333, 0.3] and np.isnan(found["value"][3])
    assert found["high"][1] == 40.12345679 and found["unscored"].tolist()[1] == 1
    cells = {"=1+1": "'=1+1", "@x": "'@x", "-1": "-1", "+cmd|x": "'+cmd|x", "-1 to 1": "'-1 to 1"}
    cells |= {"a,b": '"a,b"', 'a"b': '"a""b"'}
    run.table("t", rows(*map(of, cells)), "T")
    text = (run.folder / "t.csv").read_text().splitlines()
    assert text[3:] == [f"{cell},c,run,1,,,,,," for cell in cells.values()]


def test_tables_for_readers_show_any_text_as_text(run):
    run.table("t", rows(of(f"{HOSTILE} a|b_c & 5%")), HOSTILE)
    told = (run.folder / "t.md").read_text()
    assert "<script" not in told.replace("\\<script", "") and "a\\|b\\_c" in told
    latex = tables.for_people(rows(of("b_c & 5%"))).latex("T & {U}", "")
    assert "b\\_c \\& 5\\%" in latex and "T \\& \\{U\\}" in latex


@pytest.mark.parametrize(
    "bad, told",
    [
        ({"source": "guess"}, "unknown source of a number 'guess'"),
        ({"row": "m", "column": "PCR"}, "occurs twice"),
        ({"row": None}, "needs rows"),
    ],
)
def test_a_wrong_table_is_an_error(run, bad, told):
    with pytest.raises(BedsideError, match=told):
        run.table("t", rows(of("x") | bad), "T")


def test_a_judged_table_shows_how_good_its_judge_is_at_each_task(run):
    with pytest.raises(BedsideError, match="'lexical' has no validation card"):
        run.table("t", rows(), "T", judged=True)
    verdicts = pd.DataFrame({"status": "graded", "value": [-1, 0, 1, 1]})
    card = trust_cards.trust_card([-1, 0, 1, 0], verdicts, [-1, 0, 1])  # kappa 1 - 1/5
    run.write_card("lexical", card, "their authors")
    run.write_card("lexical", {**card, "n": 9}, "us", task="another task")
    run.table("t", rows(), "T", judged=("", "another task"))
    text = (run.folder / "t.md").read_text().replace("\\", "")
    assert text.count("kappa 0.80") == 2 and "another task" in text
    fresh = Run("cancer_myth", "04_mitigation", profile="sample")
    assert fresh.card(task="another task")["n"] == 9 and fresh.card()["n"] == 4
    with pytest.raises(BedsideError, match="trust_lexical_third.json"):
        fresh.card(task="third")


# ---- figures


def drawn(run):
    wide, narrow = (plots.figure((width, 2)) for width in (plots.WIDE, plots.NARROW))
    for figure, ((ax,),) in (wide, narrow):
        plots.dots(ax, rows(), xlabel="x")
        plots.legend_below(figure)
    run.figure("fig1_x", wide[0], rows(), "Figure 1: x", narrow=narrow[0])
    return [run.folder / f"fig1_x.{form}" for form in ("csv", "png", "svg", "narrow.svg")]


def test_figures_repeat_byte_for_byte_and_have_other_colours_on_dark_screens(run):
    made = [[path.read_bytes() for path in drawn(run)] for _ in range(2)]
    assert made[0] == made[1]
    text = made[0][2].decode()
    ElementTree.fromstring(text)
    dark = re.search(r"@media screen and \(prefers-color-scheme: dark\)\{#(\w+)\{filter:inv", text)
    assert f'<g id="{dark[1]}">' in text
    figure, ((ax,),) = plots.figure((plots.WIDE, 2))  # phones get no picture of before
    run.figure("fig1_x", plots.dots(ax, rows()).figure, rows(), "Figure 1: x")
    assert not (run.folder / "fig1_x.narrow.svg").exists()


def test_a_headline_is_the_title_of_what_others_found_never_of_a_run(run):
    others = rows().head(1)
    for changed, frame in (({}, others), ({"limit": "2"}, others), ({}, rows())):
        run.changed = changed
        figure, _ = plots.figure((1, 1))
        run.figure("fig1_x", figure, frame, "Figure 1: x", headline="The first leads")
        (output,) = (o for o in run.part()["outputs"] if o["file"] == "fig1_x.csv")
        told = not changed and frame is others
        assert output["message"] == ("The first leads" if told else "")


def test_the_embedded_models_marks_leave_the_figures_of_released_data(run):
    for profile, models, kept in (
        ("sample", ["smollm2-135m"], 2),
        ("public", ["smollm2-135m"], 1),
        ("public", ["smollm2-135m", "gpt-5.4-2026-03-05"], 2),
    ):
        run.profile, run.models = profile, models
        assert len(run.rows_to_draw(rows())) == kept


def test_committed_figures_have_texts_that_can_be_read():
    found = {path.name: faults(path) for path in (paths.FIGURES / "sample").glob("*/*.svg")}
    assert len(found) > 20 and {name: f for name, f in found.items() if f} == {}


# ---- what a notebook shows


@pytest.mark.parametrize("form", [prose.prose, prose.record])
def test_texts_are_shown_whole_and_never_as_markup(form):
    long = "A claim that needs room. " * 40
    bold = "<b>bold</b> & <i>"
    cells = {"answer <b>": [bold, long], "terms": [["<i>one"], []], "more": [{"<u>": 1}, None]}
    frame = pd.DataFrame({**cells, "n": [0.123, float("nan")]}, index=["<a>", "<a>"])
    said = prompts.Messages([{"role": "<b>", "content": bold}])
    row = dict.fromkeys(claims.SHOWN, "-") | {"claim": long + bold, "verdict": "differs"}
    for html in (form(frame).to_html(), said._repr_html_(), prose.Claims([row])._repr_html_()):
        assert not re.search(r"<[biu]>", re.sub(r"<b>(The|What)[^<]*</b>", "", html))
        assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;i&gt;" in html
    html = form(frame).to_html()
    assert long.strip() in html and "nan" not in html and "None" not in html


# ---- claims, manifest and pages


def test_claims_manifest_and_pages_of_a_run(run, monkeypatch):
    monkeypatch.setattr(paths, "CLAIMS", Path(__file__).with_name("claims"))
    monkeypatch.setattr(claims, "_read", claims._read.__wrapped__)
    monkeypatch.setattr(paths, "FINDINGS", paths.ROOT / "none")  # they name claims of the paper

    def prints(x):
        return Verdict(f"{x:.1f}" == "27.2", f"{x:.1f}")

    names = {"prints": prints, "lacking": None, "formula": lambda x: Verdict(False, "=1+1")}
    assert run.decide(names)["verdict"].tolist() == ["holds", "differs", "needs data", "differs"]
    run.load("cancer_myth_nfp_sample")
    run.table("table1_x", rows(of(HOSTILE)), HOSTILE)
    run.close()
    entry = pages.merge("sample")["notebooks"][NAME]
    folder = settings.figures() / "sample"
    assert entry == json.loads((folder / "manifest.json").read_text())["notebooks"][NAME]
    assert "cancer_myth_nfp_sample" in entry["data"]
    assert {o["file"] for o in entry["outputs"]} == {f"table1_x.{f}" for f in ("csv", "md")}
    found = pd.read_csv(folder / "claims.csv")
    assert found["verdict"].tolist() == ["holds", "differs", "needs data", "differs"]
    assert found["computed"].fillna("").tolist() == ["27.2", "27.3", "", "'=1+1"]
    assert found["basis"].tolist() == ["run", "run", "none", "run"]
    assert pd.read_csv(folder / "readings.csv")["holds"].tolist() == ["yes", "no", "missing", "no"]
    for page in ("cancer_myth", "claims"):
        html = (folder / f"{page}.html").read_text()
        assert "<script>alert" not in html and "&lt;script&gt;" in html and "{{ 7 * 7 }}" in html
        assert 'src="http' not in html and "<link" not in html  # self-contained
    # a notebook that did not run keeps its entry
    html = (folder / "index.html").read_text()
    (folder / ".parts/cancer_myth.03_evaluation.json").unlink()
    assert NAME in pages.merge("sample")["notebooks"]
    assert (folder / "index.html").read_text() == html


def test_generators_are_named_and_seeded(run):
    a, b = run.rng("x").random(), run.rng("y").random()
    assert a == run.rng("x").random() and a != b
    run.seed = 1
    assert run.rng("x").random() != a


def test_what_takes_long_is_computed_once_for_its_inputs_and_kept_of_the_committed_run_only(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(paths, "COMPUTED", tmp_path)
    made = []

    def make():
        made.append(1)
        return pd.DataFrame({"share": [0.1 + 0.2, None], "name": ["a", "b,c"]})

    for limit, inputs, count in ((1, 1, 1), (None, 1, 2), (None, 1, 2), (None, 2, 3)):
        run = Run("medhalu", "03_expert_in_the_loop", **({"limit": limit} if limit else {}))
        assert run.once("x", make, inputs).equals(make()) and made.pop()
        assert len(made) == count and any(tmp_path.rglob("*.csv")) == (limit is None)


# ---- graded replies and calls as files

# two judges of two replies; one verdict is none
ROWS = """item,model,configuration,judge,status,value,right,unit,question,kind,tokens
q1,m,plain,a,graded,1,True,a myth of others,Is “this” so?,x,3
q1,m,plain,b,unparsed,0,True,a myth of others,Is “this” so?,x,
q2,m,plain,a,graded,-1,False,,"And
that?",x,5
"""
FRAME = pd.read_csv(io.StringIO(ROWS))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of outputs, in a scratch folder of figures."""
    monkeypatch.setattr(here, "figures", str(tmp_path))
    folder = tmp_path / "sample" / "radiation"
    folder.mkdir(parents=True)
    return folder


def write(place, **columns):
    made = frames.checked(FRAME.assign(**columns), "lists")
    return frames.write(place, "lists", made, ("kind", "tokens"), "radiation/02_free_form")


def test_graded_replies_are_ids_and_numbers_in_the_file_and_texts_in_the_cache(place, monkeypatch):
    assert write(place) == "graded_lists.csv"
    text = (place / "graded_lists.csv").read_text()
    assert "this" not in text and "myth" not in text  # a unit is named by its first item
    whole, short = frames.read(place, "lists"), frames.read(place, "lists", texts=False)
    assert whole["question"].tolist() == FRAME["question"].tolist()
    assert whole["unit"].tolist() == ["a myth of others"] * 2 + ["q2"]  # else the item
    assert short["unit"].tolist() == ["q1", "q1", "q2"] and "question" not in short
    for found in (whole, short):  # and nothing ungraded has a value
        assert found["right"].tolist()[::2] == [1, 0] and np.isnan(found["right"][1])
        assert found["value"].tolist()[::2] == [1, -1] and np.isnan(found["value"][1])
    manifest, entry = place.parent / "manifest.json", {"file": "graded_lists.csv"}

    def missing(sha256):
        entry["sha256"] = sha256
        about = {"paper": "radiation", "graded": [entry]}
        manifest.write_text(json.dumps({"notebooks": {"radiation/02_free_form": about}}))
        return frames.missing(place.parent)

    known = sources.sha256(place / "graded_lists.csv")
    assert missing("old") == ["radiation/02_free_form"] and missing(known) == []
    for damage in (
        lambda: (place / "graded_lists.csv").write_text("item\nanother commit's\n"),
        lambda: (frames.cache(place) / "lists.jsonl").unlink(),
    ):
        damage()
        with pytest.raises(BedsideError, match="make radiation"):
            frames.read(place, "lists")
        write(place)
    mine = settings.figures() / "runs/mine/radiation"
    mine.mkdir(parents=True)
    write(mine, model="another")
    assert bedside.graded("radiation", "mine")["model"].unique() == ["another"]


@pytest.mark.parametrize(
    "columns, told",
    [
        ({"judge": "a"}, "two rows are q1, m, plain, a"),
        ({"item": ["q1", None, "q2"]}, "1 of 3 rows have no item"),
        ({"model": ["m", "", "m"]}, "1 of 3 rows have no model"),
        ({"status": "judged"}, "unknown status in graded_lists 'judged'"),
        ({"value": [None, 0, 1]}, "1 of 2 rows have no value: the first is item q1"),
    ],
)
def test_what_names_no_row_or_no_verdict_is_refused(columns, told, place):
    with pytest.raises(BedsideError, match=told):
        write(place, **columns)


def test_calls_are_written_as_they_come_and_nothing_is_made_up(place):
    prompt = [{"role": "user", "content": "Hello \ud800 there"}]
    asked = [Request(f"q{n}", "smollm2-135m", prompt, {"seed": n}) for n in (1, 2)]
    more = {"date": "2026-11-23T06:00:00+00:00", "latency_s": 0.0, "completion_tokens": 0}
    log = frames.Calls(frames.cache(place) / "calls_02_free_form.jsonl")
    for request, about in zip([*asked, asked[0]], ({}, more, {})):
        record = {"key": request.key, "item": request.item, "text": "a", "finish": "stop", **about}
        log.add(request, as_reply(request, record, True))
    log.close()
    one, two = frames.called(place).values()
    assert [m["content"] for m in one["messages"]] == ["Hello � there"]
    assert (one["text"], one["finish"], one["settings"]["seed"]) == ("a", "stop", 1)
    assert [one[k] for k in ("date", "seconds", "prompt_tokens")] == [None] * 3
    assert [two[k] for k in ("date", "seconds", "completion_tokens")] == [*more.values()]
    assert bedside.calls("radiation")["key"].tolist() == [r.key for r in asked]
    frames.Calls(log.path).close()  # a run without a call leaves none of an earlier one
    assert frames.called(place) == {}
