"""Questions that were written down before they were computed, and what is computed once."""

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError, stats
from bedside.read import once, paths, specifications
from bedside.run import Run

WRITTEN = """dated = 2026-11-26
[judge]
asks = "Where does the ranking turn?"
cannot = ["The released grades aren't here."]
[[judge.choices]]
name = "corrected"
mark = "defensible"
what = "Shares are corrected for the judge's errors."
by = "Rogan and Gladen 1978"
[[judge.choices]]
name = "lost are right"
mark = "defective"
what = "A reply without a verdict counts as right."
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "SPECIFICATIONS", tmp_path)

    def write(text):
        (tmp_path / "my_paper.toml").write_text(text)

    return write


def test_a_specification_is_read_by_question(written):
    written(WRITTEN)
    spec = specifications.load("my_paper")
    assert list(spec) == ["judge"] and spec.dated.isoformat() == "2026-11-26"
    assert spec["judge"].cannot == ["The released grades aren't here."]
    assert [c.mark for c in spec["judge"].choices] == ["defensible", "defective"]


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("dated = 2026-11-26", "", "expected date"),
        ('mark = "defective"', 'mark = "bad"', "mark of 'lost are right' in judge"),
        ('by = "Rogan and Gladen 1978"', "", "'corrected' is defensible, but by whom?"),
        ('asks = "Where does the ranking turn?"', "", "missing required field asks"),
        ("[judge]", "[judge", "can't be used"),
    ],
)
def test_a_fault_of_a_specification_names_its_file(old, new, told, written):
    written(WRITTEN.replace(old, new))
    with pytest.raises(BedsideError, match="my_paper.toml") as error:
        specifications.load("my_paper")
    assert told in str(error.value)


def test_what_takes_long_is_computed_once_for_its_inputs(tmp_path):
    made, path = [], tmp_path / "a" / "table.csv"
    inputs = pd.DataFrame({"n": [1, 2]})

    def make():
        made.append(1)
        return pd.DataFrame({"share": [0.1 + 0.2, None], "name": ["a", "b,c"]})

    first = once.frame(path, make, [inputs, 85])
    assert once.frame(path, make, [inputs, 85]).equals(first) and len(made) == 1
    assert first["share"][0] == 0.1 + 0.2
    assert once.frame(path, make, [inputs, 86], keep=False).equals(first) and len(made) == 2
    once.frame(path, make, [inputs, 85])
    assert len(made) == 2
    once.frame(path, make, [inputs.assign(n=[1, 3]), 85])
    assert len(made) == 3


def test_a_run_keeps_nothing_that_other_settings_gave(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "COMPUTED", tmp_path)
    run = Run("medhalu", "03_expert_in_the_loop", limit=1)
    assert run.once("x", lambda: pd.DataFrame({"a": [1]}), 1)["a"].tolist() == [1]
    assert not any(tmp_path.iterdir())


def test_the_share_behind_a_judges_is_found_and_turns_where_it_says():
    rng = np.random.default_rng(0)
    truth = rng.random(400_000) < 0.3
    seen = np.where(truth, rng.random(truth.size) < 0.8, rng.random(truth.size) > 0.9)
    assert stats.true_share(seen.mean(), 0.8, 0.9) == pytest.approx(0.3, abs=0.005)
    specificity = np.linspace(0.8, 1, 5)
    sensitivity = stats.turning_sensitivity(0.27, 0.3, specificity)
    assert stats.true_share(0.27, sensitivity, specificity) == pytest.approx(0.3)
    assert np.isnan(stats.true_share(0.5, 0.5, 0.5)) and np.isnan(
        stats.turning_sensitivity(1, 0.3, 1)
    )
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.true_share(27, 0.8, 0.9)
