"""Plans: what a run would call, what it is expected to cost, and the most that it can."""

import asyncio
import os
import random
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest
from test_stops import ENTRY, notebook

from bedside import __main__
from bedside.asking import dry_run, models
from bedside.build import notebooks
from bedside.keep import registry, replies, store
from bedside.keep.replies import Request
from bedside.read import paths
from bedside.run import Run
from bedside.write import tables
from conftest import completion

FORM = replies.response_format("verdict", score={"type": "integer", "enum": [-1, 0, 1]})


@pytest.fixture
def priced(served, endpoint):
    """A model with prices, whose endpoint counts about four characters a token."""
    registry.model(served).update(usd_per_million_in=2.0, usd_per_million_out=10.0)
    rng = random.Random(0)

    def script(n, body):
        prompt = sum(len(m["content"]) // 4 + 4 for m in body["messages"]) + 3
        thought = 0 if body["max_tokens"] == 24 else rng.randint(20, 380)
        said = 9 if body["max_tokens"] == 24 else rng.randint(5, 20) + thought
        usage = {"prompt_tokens": prompt, "completion_tokens": said}
        return {**completion("fine"), "usage": usage}

    endpoint.script = script
    return served


def asked(name, count, limit, form=None, seed=0):
    """Requests with prompts of 50 to 3,000 characters."""
    rng = random.Random(seed)
    said = [f"{seed} {k} " + "word " * rng.randint(10, 600) for k in range(count)]
    settings = {"max_tokens": limit, "temperature": 0}
    return [
        Request(f"{k}", name, [{"role": "user", "content": s}], settings, form)
        for k, s in enumerate(said)
    ]


def recorded(study, requests):
    """Record replies where plans look for them; what they cost."""
    kept = store.Recordings(paths.RECORDINGS / study / "sample")
    replies = asyncio.run(models.ask(requests, kept, mode="record", progress=False))
    return sum(registry.cost(r.model, r.prompt_tokens, r.completion_tokens) for r in replies)


def planned(study, requests):
    """What is expected of each call, as `make plan` sees it."""
    rows = [{"notebook": f"{study}/01_x", **dry_run.planned(r), "adaptive": ""} for r in requests]
    return notebooks._expected(pd.DataFrame(rows))


def priced_at(calls, *columns):
    tokens = calls[list(columns)].itertuples(index=False)
    return sum(registry.cost(m, *t) for m, t in zip(calls["model"], tokens))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")


@pytest.mark.parametrize("seed", range(3))
def test_after_twenty_replies_a_plan_is_near_and_its_most_is_never_passed(priced, seed):
    answers, verdicts = asked(priced, 50, 400, seed=seed), asked(priced, 50, 24, FORM, seed=seed)
    recorded("a", [*answers[:20], *verdicts[:20]])
    for left in (answers[20:], verdicts[20:], [*answers[20:], *verdicts[20:]]):
        calls, real = planned("a", left), recorded("a", left)
        expected = priced_at(calls, "expected_prompt", "expected_completion")
        assert real / 1.5 < expected < 1.5 * real
        assert real <= priced_at(calls, "prompt", "completion")


def test_what_is_expected_follows_replies_alike_first_of_the_study_then_of_all(priced, endpoint):
    def completions(study, requests):
        return planned(study, requests)["expected_completion"].round(6).tolist()

    counts = {"a": 10, "b": 30}

    def script(n, body):
        said = counts[body["messages"][0]["content"][0]]
        return {**completion(), "usage": {"prompt_tokens": 4, "completion_tokens": said}}

    endpoint.script = script

    def of(study, limit=400, count=5, form=None):
        requests = asked(priced, count, limit, form)
        for r in requests:
            r.messages[0]["content"] = f"{study} {r.messages[0]['content']}"
        return requests

    recorded("a", of("a")[:4])
    assert planned("a", of("a", 9)).filter(like="expected_c").isna().all(axis=None)  # too few
    recorded("a", of("a")[4:])
    recorded("b", of("b"))
    # under another limit no reply is longer than it: of 10 and 20 tokens, 9 count
    for study, limit, expected in (("a", 400, 10), ("b", 400, 30), ("c", 400, 20), ("c", 9, 9)):
        assert completions(study, of("a", limit)) == [expected] * 5
    recorded("b", of("b", 24, 5, FORM))  # another form: it doesn't count for these
    assert completions("c", of("a")) == [20] * 5 and completions("c", of("b", 24, 2)) != [30] * 2
    assert completions("c", of("b", 24, 2, FORM)) == [30] * 2


def test_an_unknown_price_or_count_is_unknown(served, priced):
    calls = planned("a", asked(priced, 2, 400))
    assert calls[["expected_prompt", "expected_completion"]].isna().all(axis=None)
    assert registry.cost(served, None, 3) is None


# ---- as make prints it


@pytest.fixture
def project(root, endpoint):
    """A copy of the project whose first study has two small notebooks, one of them adaptive."""
    for path in (root / "notebooks/cancer_myth").glob("*.ipynb"):
        path.unlink()
    notebook(root, "02_adversarial_generation", "another question", 4)
    notebook(root, "03_evaluation", "question", 6)
    with open(root / "data/models.toml", "a") as f:
        f.write(ENTRY.format(name="remote", url=endpoint.url))
        f.write(ENTRY.format(name="gone", url=endpoint.url))
        f.write('retired = "2026-06-15"\ninstead = "remote"\n')
        f.write(ENTRY.format(name="unset", url=endpoint.url).replace("REMOTE", "UNSET"))
    return root


def bedside(project, command):
    """What a step prints, in a process of its own."""
    known = {k: v for k, v in os.environ.items() if k != "UNSET_KEY"}
    done = subprocess.run(
        [sys.executable, "-m", "bedside", *shlex.split(command)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**known, "BEDSIDE_ROOT": str(project), "REMOTE_KEY": "x"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plan_draws_and_claims_nothing(tmp_path, monkeypatch):
    """What it would draw and claim takes a third of its time, and nobody sees it."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    run = Run("radiation", "02_free_form", profile="sample", mode="plan")
    rows = tables.frame([tables.Row("a", "x", "run", 1.0)])
    picture = run.figure("fig_x", None, rows, "X")
    run.claim_each(lambda: pytest.fail("made"), basis="printed")
    assert picture._repr_png_() == b"" and not list(tmp_path.rglob("fig_x.[ps]*"))


@pytest.mark.parametrize("step", ["plan {}", "record {}", "batch --paper {}"])
def test_a_step_that_takes_a_study_says_so(capsys, monkeypatch, step):
    monkeypatch.setenv("BEDSIDE_RUN", "")
    with pytest.raises(SystemExit):
        __main__.main(step.format("radiation/02_free_form").split())
    told = capsys.readouterr().err
    assert "unknown study 'radiation/02_free_form'; did you mean 'radiation'?" in told


def test_a_plan_names_what_it_costs_and_what_is_missing(project, endpoint):
    told = bedside(project, "plan cancer_myth -p models 'remote gone unset'")
    assert not endpoint.bodies
    for name, count in (("02_adversarial_generation", 4), ("03_evaluation", 6)):
        for model in ("remote", "gone", "unset"):
            row = rf"^cancer_myth/{name} +{model} +{count} +\d+ +{20 * count} +unknown +\$0\.00$"
            assert re.search(row, told, re.M), told
    assert re.search(r"^30 calls; expected unknown, at most \$0\.00$", told, re.M)
    assert "expected is known once some replies of each model are recorded" in told
    bound = "cancer_myth/02_adversarial_generation: the generation loop depends on earlier replies"
    assert told.count("depends on earlier") == 1 and bound in told
    assert "before this can run: model 'gone' was retired on 2026-06-15; use 'remote'" in told
    assert "before this can run: model 'unset' needs its key in the environment" in told
    assert told.count("before this can run") == 2


def test_a_plan_counts_what_is_left_and_expects_what_was_seen(project, endpoint):
    entry = project / "data/models.toml"
    entry.write_text(entry.read_text().replace("million_in = 1\n", "million_in = 1e4\n"))
    bedside(project, "run cancer_myth/03_evaluation -p mode record -p models remote")
    before = len(endpoint.bodies)
    told = bedside(project, "plan cancer_myth -p models remote")
    (row,) = re.findall(r"^cancer_myth.* remote +(\d+) .* \$([\d.]+) +\$([\d.]+)$", told, re.M)
    count, expected, most = map(float, row)
    bedside(project, "run cancer_myth/02_adversarial_generation -p mode record -p models remote")
    real = (len(endpoint.bodies) - before) * (10 * 1e4 + 5 * 2) / 1e6
    assert count == len(endpoint.bodies) - before == 4
    assert real / 1.5 < expected < 1.5 * real < most
