"""Plans: what a run would call, what it is expected to cost, and the most that it can."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from test_stops import ENTRY, notebook

from bedside.read import paths
from conftest import completion

# ---- as make prints it


@pytest.fixture
def project(root, endpoint):
    """A copy of the project whose first study has two small notebooks, one of them adaptive.

    Nothing is recorded.
    """
    for path in (root / "data/recordings").rglob("*.jsonl"):
        path.unlink()
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


def test_a_plan_names_what_it_costs_and_what_is_missing(project, endpoint):
    told = bedside(project, "plan cancer_myth -p models 'remote gone unset'")
    assert not endpoint.bodies
    for name, count in (("02_adversarial_generation", 4), ("03_evaluation", 6)):
        for model in ("remote", "gone", "unset"):
            row = rf"^cancer_myth/{name} +{model} +{count} +\d+ +{20 * count} +unknown +\$0\.00$"
            assert re.search(row, told, re.M), told
    assert re.search(r"^30 calls; expected unknown, at most \$0\.00$", told, re.M)
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


WHOLE, CUT = "stop", "length"


@pytest.mark.parametrize("finish", [WHOLE, CUT])
def test_a_first_plan_expects_by_other_models_replies_that_ended_by_themselves(
    project, endpoint, finish
):
    """Twelve tokens each; where they were cut, at most stands alone."""
    entry = project / "data/models.toml"
    entry.write_text(entry.read_text().replace("million_in = 1\n", "million_in = 1e4\n"))
    answer = completion("twelve tokens of text", finish)
    answer["usage"] = {"prompt_tokens": 10, "completion_tokens": 12, "total_tokens": 22}
    endpoint.script = lambda n, body: answer
    bedside(project, "run cancer_myth/03_evaluation -p mode record -p models remote")
    files = {p: p.read_bytes() for p in project.rglob("*") if p.is_file() and "cache" not in str(p)}
    told, before = bedside(project, "plan cancer_myth -p models unset"), len(endpoint.bodies)
    assert len(endpoint.bodies) == before == 6
    known = {p for p in project.rglob("*") if p.is_file() and "cache" not in str(p)}
    assert known == files.keys() and all(p.read_bytes() == files[p] for p in known)
    rows = re.findall(r"^cancer_myth/\S+ +unset +(\d+) .* (\S+) +\$([\d.]+)$", told, re.M)
    assert [int(count) for count, *_ in rows] == [4, 6]
    for count, expected, most in rows:
        if finish == CUT:
            assert expected == "unknown"
        else:
            paid = int(count) * (10 * 1e4 + 12 * 2) / 1e6
            assert paid / 1.5 < float(expected.strip("$")) < 1.5 * paid < float(most)
    lent = "expected of unset is by the length of other models' replies"
    assert (lent in told) == (finish == WHOLE)


def test_what_is_paid_is_never_more_than_the_plan_s_most(project, endpoint):
    """Also where each reply is as long as its limit and its prompt as many tokens as bytes."""

    def script(n, body):
        answer = completion("word " * 20, "length")
        sent = sum(len(m["content"].encode()) + 12 for m in body["messages"])
        answer["usage"] = {"prompt_tokens": sent, "completion_tokens": 20}
        return answer

    entry = project / "data/models.toml"
    entry.write_text(entry.read_text().replace("million_in = 1\n", "million_in = 1e4\n"))
    endpoint.script = script
    told = bedside(project, "plan cancer_myth -p models remote")
    (count, most) = re.search(r"^(\d+) calls; .*at most \$([\d.]+)$", told, re.M).groups()
    for name in ("02_adversarial_generation", "03_evaluation"):
        bedside(project, f"run cancer_myth/{name} -p mode record -p models remote")
    prompts = [sum(len(m["content"]) + 12 for m in b["messages"]) for b in endpoint.bodies]
    paid = sum(prompts) * 1e4 / 1e6 + 20 * 2 * len(prompts) / 1e6
    assert len(prompts) == int(count) and 0 < paid <= float(most)


def test_notebooks_of_a_study_call_what_the_plan_counts_for_each(root, endpoint):
    """A call that several make counts for the first of them."""
    with open(root / "data/models.toml", "a") as f:
        f.write(ENTRY.format(name="remote", url=endpoint.url))
    given = "-p models remote -p limit 2"
    told = bedside(root, f"plan medhalu {given}")
    counts = re.findall(r"^(medhalu/\S+) +remote +(\d+) ", told, re.M)
    assert len(counts) > 1 and not endpoint.bodies
    assert re.search(rf"^{sum(int(n) for _, n in counts)} calls;", told, re.M)
    for name, count in counts:
        before = len(endpoint.bodies)
        bedside(root, f"run {name} {given} -p mode record")
        assert len(endpoint.bodies) - before == int(count)


@pytest.mark.slow
@pytest.mark.parametrize("paper", paths.papers())
def test_every_study_can_be_planned_for_a_model_and_a_judge_that_nobody_has_measured(root, paper):
    """Nothing of theirs is recorded, no card is there, and cells that keep frames aren't run."""
    told = bedside(root, f"plan PAPER={paper} MODELS=qwen2.5-coder-1.5b JUDGE=gpt-4o-2024-08-06")
    assert re.search(r"^[1-9]\d* calls; expected", told, re.M), told
