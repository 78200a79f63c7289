"""What `import bedside` offers: docs/api.md and its examples, names, and asking without a run."""

import asyncio
import doctest
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest

import bedside
from bedside import BedsideError
from bedside.asking.models import MissingRecording
from bedside.build import settings
from bedside.publish import api
from bedside.read import paths
from bedside.write import frames
from conftest import completion

SECTIONS = api.sections()
NAMES = [(section, name) for section in SECTIONS for name in section["names"]]
PAGE = api.PAGE.read_text(encoding="utf-8")
RECIPES = re.findall(r"^\*\*(.+?)\*\*.*\n\n```python\n((?:[^`].*\n)+)```", PAGE, re.M)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The checkout's folder, with a folder of figures where examples may write."""
    texts = tmp_path / ".cache/graded"
    texts.mkdir(parents=True)
    for profile in ("sample", "public"):
        (tmp_path / profile).symlink_to(paths.FIGURES / profile)
        (texts / profile).symlink_to(paths.CACHE / "graded" / profile)
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    monkeypatch.chdir(paths.ROOT)
    yield
    plt.close("all")


def skip_without_texts(code):
    """Skip what reads more than the committed files, unless `make all` has kept it."""
    read = re.search(r"bedside\.(calls|graded)\((?!.*texts=False)", code)
    if read and frames.missing(settings.figures() / "sample"):
        pytest.skip("needs the texts that `make all` keeps")


def test_the_page_is_up_to_date():
    assert api.filled(PAGE) == PAGE, "write it anew: make outputs"
    assert len(PAGE.splitlines()) <= 200


def test_the_page_has_a_recipe_for_each_question():
    assert len(RECIPES) == PAGE.count("```python\n>>>") == 6


@pytest.mark.parametrize("code", [code for _, code in RECIPES], ids=[name for name, _ in RECIPES])
def test_a_recipe_gives_what_the_page_says(code, here):
    skip_without_texts(code)
    told, options = [], doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(code, {"bedside": bedside}, "recipe", None, 0)
    found = doctest.DocTestRunner(optionflags=options).run(test, out=told.append)
    assert found.attempted and not found.failed, "".join(told)


@pytest.mark.parametrize("section, name", NAMES, ids=[name for _, name in NAMES])
def test_an_example_gives_what_the_page_says(section, name, here):
    example, result = section["names"][name]
    assert f"bedside.{name}(" in example or result
    skip_without_texts(example)
    known = {"bedside": bedside}
    exec(section.get("before", ""), known)
    found = eval(example, known)
    assert not result or repr(found) == result


def test_each_name_must_have_its_example(tmp_path, monkeypatch):
    for cut, named in (("choose = ", "choose"), ("", "graded")):
        text = api.EXAMPLES.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not cut or not line.startswith(cut)]
        more = [] if cut else ['[[section]]\ntitle = "x"\n[section.names]\ngraded = ["1", "1"]']
        (tmp_path / "api.toml").write_text("\n".join([*lines, *more]), encoding="utf-8")
        monkeypatch.setattr(api, "EXAMPLES", tmp_path / "api.toml")
        with pytest.raises(BedsideError, match=f"see {named}$"):
            api.sections()
        monkeypatch.undo()


def test_a_page_without_its_marks_is_an_error():
    for text in ("", api.BEGIN, api.END + api.BEGIN, 2 * api.BEGIN + api.END):
        with pytest.raises(BedsideError, match="docs/api.md"):
            api.filled(text)


def test_a_wrong_name_gets_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'grade'; did you mean 'graded'"):
        bedside.grade  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'xyz'$"):
        bedside.xyz  # noqa: B018
    with pytest.raises(AttributeError, match="'__graded__'$"):
        bedside.__graded__  # noqa: B018
    assert not hasattr(bedside, "graded_")


def test_the_names_are_listed_and_rooms_stay_rooms():
    code = "import bedside; print(*dir(bedside)); import bedside.read; print(bedside.read)"
    code += "; print(bedside.stats); import bedside.run; print(bedside.run, bedside.Run)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    listed, room, stats, run = done.stdout.splitlines()
    assert listed.split() == sorted(bedside.__all__) and "graded" in listed
    assert "'bedside.read'" in room and "'bedside.stats'" in stats
    assert "'bedside.run'" in run and "'bedside.run.Run'" in run


def test_importing_it_loads_none_of_its_rooms():
    code = "import sys, bedside; print(*[m for m in sys.modules if m.startswith('bedside.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split() == [], done.stderr


def test_a_source_is_loaded_for_its_profile_and_a_study_has_several():
    every = bedside.load("cancer_myth")
    assert "cancer_myth_labelled" in every and "cancer_myth_released" not in every
    assert every["cancer_myth_labelled"].equals(bedside.load("cancer_myth_labelled"))
    with pytest.raises(BedsideError, match="isn't part of PROFILE=sample"):
        bedside.load("cancer_myth_released")
    with pytest.raises(BedsideError, match="did you mean 'cancer_myth_labelled'"):
        bedside.load("cancer_myth_labeled")


def test_a_table_and_claims_are_those_of_the_files(tmp_path, monkeypatch):
    rows = bedside.table("radiation", "table1_free_form")
    first = rows.loc[0, ["row", "column", "source", "value", "low", "n"]]
    assert first.tolist() == ["LLaMA-3.1-8B", "Precision", "published", 0.15, 0.13, 21]
    assert len(bedside.published("radiation")) > len(bedside.published("radiation", "Table 1")) > 0
    made = bedside.claims("medhalu", "public")
    assert set(made["paper"]) == {"medhalu"} and made["verdict"].str.len().min() > 0
    with pytest.raises(BedsideError, match="did you mean 'table1_free_form'"):
        bedside.table("radiation", "table1_freeform")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    for ask in (lambda: bedside.claims("medhalu"), lambda: bedside.table("medhalu", "table_x")):
        with pytest.raises(BedsideError, match="run `make medhalu PROFILE=sample` first"):
            ask()


def test_what_is_asked_is_recorded_once_and_replayed(served, endpoint, tmp_path):
    """Also in a notebook, whose loop is running already."""
    endpoint.script = lambda n, body: completion(
        '{"score": 1}' if "response_format" in body else "It is."
    )
    asked, where = {"q1": "Is it?", "q2": "And now?"}, {"recordings": tmp_path / "kept"}
    with pytest.raises(MissingRecording):
        bedside.ask(asked, "served", **where)

    async def notebook():
        return bedside.ask(asked, "served", mode="record", **where)

    made = asyncio.run(notebook())
    assert made["answer"].tolist() == ["It is."] * 2 and len(endpoint.bodies) == 2
    sent = {body["messages"][-1]["content"] for body in endpoint.bodies}
    assert sent == {*asked.values()}
    assert bedside.ask(asked, "served", **where).equals(made) and len(endpoint.bodies) == 2
    frame = made.assign(question=made["item"].map(asked), reference="")
    frame.loc[1, "reply_status"] = "refused"
    judged = bedside.judge(frame, "served", mode="record", **where)
    assert judged["status"].tolist() == ["graded", "error"] and judged["value"].iloc[0] == 1
    alone = bedside.judge(frame.head(1).drop(columns="reply_status"), "served", **where)
    assert alone["value"].tolist() == [1] and len(endpoint.bodies) == 3


def test_asking_needs_a_model_and_a_mode(tmp_path):
    with pytest.raises(BedsideError, match="name a model"):
        bedside.ask({"q": "Is it?"}, "")
    with pytest.raises(BedsideError, match="unknown mode 'plan'"):
        bedside.ask({"q": "Is it?"}, "smollm2-135m", mode="plan", recordings=tmp_path)
