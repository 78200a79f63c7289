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


def test_a_specification_is_a_frame_for_readers(written):
    written(WRITTEN)
    (row,) = specifications.load("my_paper").to_numpy().tolist()
    assert row[0] == "Where does the ranking turn?"
    assert row[1][0].endswith("the judge's errors. [Rogan and Gladen 1978]")
    assert row[1][1].startswith("lost are right (defective): A reply") and "[" not in row[1][1]
    assert row[2] == ["The released grades aren't here."]
    assert "2026-11-26" in specifications.load("my_paper").columns[0]
    written(WRITTEN.replace('mark = "defective"', 'mark = "bad"'))
    with pytest.raises(BedsideError, match="my_paper.toml.*\n?.*'bad', in .*choices.*mark"):
        specifications.load("my_paper")
