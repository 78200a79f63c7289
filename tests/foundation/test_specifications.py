"""Questions that were written down before they were computed."""

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


def test_a_specification_is_a_frame_for_readers_and_its_faults_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "SPECIFICATIONS", tmp_path)
    file = tmp_path / "my_paper.toml"
    file.write_text(WRITTEN)
    frame = specifications.load("my_paper")
    ((asks, (first, second), cannot),) = frame.to_numpy().tolist()
    assert (asks, cannot) == ("Where does the ranking turn?", ["The released grades aren't here."])
    assert first.endswith("the judge's errors. [Rogan and Gladen 1978]")
    assert second.startswith("lost are right (defective): A reply") and "[" not in second
    assert "2026-11-26" in frame.columns[0]
    file.write_text(WRITTEN.replace('mark = "defective"', 'mark = "bad"'))
    with pytest.raises(BedsideError, match="my_paper.toml.*\n?.*'bad', in .*choices.*mark"):
        specifications.load("my_paper")
