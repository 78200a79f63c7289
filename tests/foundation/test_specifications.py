"""Questions that were written down before they were computed, and what is computed once."""

import pytest

from bedside import BedsideError
from bedside.read import paths, specifications

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
