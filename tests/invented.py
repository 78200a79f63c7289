"""An invented `all_data.json`: our released questions with invented answers and grades.

    place(monkeypatch, tmp_path, rows())

Without the released questions there is nothing to invent answers to, and the test is skipped.
"""

import json
import random
import shutil

import pytest

from bedside.papers.cancer_myth.systems import FILE, GENERATED, SYSTEMS
from bedside.read import paths, sources

SHARES = dict(zip(SYSTEMS, (0.27, 0.20, 0.15, 0.14, 0.10, 0.06, 0.02, 0.015)))  # of grade 1
FILLING = "care team visit plan support week question nurse clinic option trial dose".split()


def rows(seed=0, length=60, count=None):
    """Rows of the described shape; an answer repeats words of its question and is of `length`."""
    _needed()
    draw, made = random.Random(seed), []
    asked = sources.load("cancer_myth_released").to_dict("records")[:count]
    for i, r in enumerate(asked):
        words = r["question"].split()
        made.append(
            {
                "example_question": r["question"],
                "example_assumption": r["presupposition_correction"],
                "source_row": i,
                "source_type": "myth",
                "source_info": "",
                "category": r["category"],
                "from_model": r["from_model"],
                "answers": {s: " ".join(draw.choices(words + FILLING, k=length)) for s in SYSTEMS},
                "scores": {
                    s: 1 if draw.random() < share else draw.choice((-1, 0))
                    for s, share in SHARES.items()
                },
                "QID": i,
            }
        )
    return made


def _needed():
    if not sources.here("cancer_myth_released"):
        pytest.skip("the released questions are not here")


def place(monkeypatch, tmp_path, made, generated=None):
    """Put rows where the file belongs, in a copy of data/external, under their own git blob."""
    _needed()
    if (external := tmp_path / "external") != paths.EXTERNAL:
        for name in ("github", "huggingface"):
            shutil.copytree(paths.EXTERNAL / name, external / name)
        monkeypatch.setattr(paths, "EXTERNAL", external)
    for name, these in ((FILE, made), (GENERATED, generated)):
        if these is not None:
            path = sources.where(name)[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(these))
            monkeypatch.setitem(sources.registry()[name], "blob", sources.blob(path))
    sources.forget()
