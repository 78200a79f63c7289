"""What users had before the library was made thin is opened with today's code and goes on.

The items are in tests/before, whose README says what each is and how it was made. A checkout of its
own gets an item, and then the commands that its user would give.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import raters
from bedside.publish.judged_items import collect
from bedside.read import paths
from endpoints import completion
from providers import KEY, Providers

pytestmark = pytest.mark.slow
BEFORE = Path(__file__).parents[1] / "before"
APART = {".git", ".cache", "data", "figures", "batches", "seminar", "handed_in", "site"}
USERS = {"models.toml", "recordings", "external"}  # of data/


class Checkout:
    """A checkout with an item of tests/before in it, whose models stand at an endpoint."""

    def __init__(self, folder, item, endpoint):
        self.folder, self.endpoint = folder, endpoint
        links = [p for p in paths.ROOT.iterdir() if p.name not in APART]
        links += [p for p in (paths.ROOT / "data").iterdir() if p.name not in USERS]
        links += (paths.ROOT / "data/recordings").rglob("smollm2-135m.jsonl")
        links += [paths.ROOT / name for name in ("figures/sample", ".cache/graded/sample")]
        for path in links:
            to = folder / path.relative_to(paths.ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.symlink_to(path)
        shutil.copytree(BEFORE / item, folder, dirs_exist_ok=True)
        if (packed := folder / "large.zip").is_file():
            zipfile.ZipFile(packed).extractall(folder)
        mine = (BEFORE / "models.toml").read_text(encoding="utf-8")
        mine = mine.replace("http://127.0.0.1:8791/v1", endpoint.at("openai"))
        text = (paths.ROOT / "data/models.toml").read_text(encoding="utf-8") + mine
        (folder / "data/models.toml").write_text(text, encoding="utf-8")

    def command(self, *words, **given):
        """What `python -m bedside` says, with variables as make takes them."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("BEDSIDE_")}
        env |= {"BEDSIDE_ROOT": str(self.folder), "SCRIPTED_KEY": KEY}
        words = [*map(str, words), *(f"{k}={v}" for k, v in given.items())]
        words = [sys.executable, "-m", "bedside", *words]
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def notebook(self, run, mode):
        """Run the baseline of a run that there is."""
        given = ("-p", "run", run, "-p", "mode", mode)
        self.command("run", "meddialbench/02_baseline", *given)

    def recorded(self):
        """The keys of what the model has replied."""
        files = (self.folder / "data/recordings").rglob("scripted.jsonl")
        return [json.loads(x)["key"] for p in files for x in p.read_text("utf-8").splitlines()]


@pytest.fixture
def checkout(tmp_path):
    """A function: a checkout with an item of tests/before, and an endpoint."""
    with Providers() as endpoint:
        yield lambda item: Checkout(tmp_path / "checkout", item, endpoint)


def rows(*files):
    """The rows of CSV files."""
    return pd.concat([pd.read_csv(file).assign(file=file.name) for file in files])


def computed(*tables):
    """What a run computed: value, n and unscored; intervals have another formula since."""
    made = rows(*tables)
    bounds = made["column"].str.contains(" if unscored were ")  # which are columns by now
    made = made[(made["source"] == "run") & ~bounds].fillna({"unscored": 0})
    return made.set_index(["file", "row", "column"])[["value", "n", "unscored"]].sort_index()


same = functools.partial(pd.testing.assert_frame_equal, check_dtype=False, rtol=1e-8)


def test_a_run_is_replayed_without_a_call_to_the_same_numbers_and_can_be_compared(checkout):
    made = checkout("run")
    runs = made.folder / "figures/runs"
    table = runs / "before/meddialbench/table2_baseline.csv"
    before = computed(table)
    made.notebook("before", "replay")
    same(computed(table), before)
    assert len(before) and not made.endpoint.bodies
    shutil.copytree(runs / "before", runs / "twin")
    made.command("compare", "before twin")
    (page,) = (made.folder / "figures/compared").glob("*/index.html")
    text = page.read_text(encoding="utf-8")
    assert "before" in text and "twin" in text and "accuracy at baseline" in text


def test_a_killed_run_goes_on_and_pays_for_no_reply_twice(checkout):
    made = checkout("killed")
    before = set(made.recorded())
    made.notebook("killed", "record")
    after = made.recorded()
    assert before and len(after) == len(set(after)) == len(before) + len(made.endpoint.bodies)
    assert made.endpoint.bodies and before < set(after)


QUESTIONS = {"QUESTIONS": BEFORE / "questions.csv", "MODELS": "scripted other"}


def test_an_own_study_with_labels_has_the_same_numbers(checkout):
    made = checkout("own")
    folder = made.folder / "figures/own/before"
    tables = sorted(folder.glob("table_*.csv"))
    before, verdicts = computed(*tables), rows(folder / "verdicts.csv")
    assert "table_corrected.csv" in {path.name for path in tables}
    for path in folder.iterdir():
        path.unlink()
    given = {"JUDGE": "scripted", "LABELS": BEFORE / "grades.csv", "MODE": "replay"}
    made.command("study", NAME="before", **QUESTIONS, **given)
    same(computed(*tables), before)
    same(rows(folder / "verdicts.csv"), verdicts)
    assert not made.endpoint.bodies
    assert "8 labelled" in (folder / "index.html").read_text(encoding="utf-8")


def test_raters_files_from_page_and_notebook_are_compared(checkout):
    made = checkout("raters")
    told = made.command("annotate", f"FROM={made.folder / 'returned'}")
    assert "Anna Berg" in told
    items = annotation.rows(collect("sample", "cancer_myth"))
    kept = made.folder / "data/external/annotations"
    labels = raters.labels("presupposition", items, kept).groupby("rater")["id"].agg(set)
    assert len(labels["Anna Berg"] & labels["Ann"]) == 6 and len(labels) == 2


def test_a_class_that_had_its_teachers_edition_is_checked(checkout):
    folder = (made := checkout("seminar")).folder / "handed_in"
    files = [json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*.json")]
    made.command("class", folder)
    found = rows(folder / "class.csv").set_index("student")
    assert {*found.index} == {"Blue heron", "Red fox"} == {f["pseudonym"] for f in files}
    for file in files:
        said = {f"cancer_myth {n} check": a["state"] for n, a in file["answers"].items()}
        assert len(said) == 8 and found.loc[file["pseudonym"], [*said]].to_dict() == said


def test_a_batch_under_way_is_collected(checkout):
    made = checkout("batch")
    (path,) = (made.folder / "batches/own-batch/01").glob("*.jsonl")
    keys = [json.loads(x)["custom_id"] for x in path.read_text(encoding="utf-8").splitlines()]
    answer, results = {"status_code": 200, "body": completion()}, made.folder / "results.jsonl"
    lines = ({"custom_id": key, "response": answer, "error": None} for key in keys)
    results.write_text("\n".join(map(json.dumps, lines)))
    made.command("collect", results)
    assert {*made.recorded()} == {*keys}
    made.command("batch", NAME="batch", **{**QUESTIONS, "MODELS": "scripted"})
    assert not made.endpoint.bodies
