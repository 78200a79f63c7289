"""What MedHalu's notebooks compute, and small frames of items and detections to compute it of."""

import numpy as np
import pandas as pd

from bedside.papers.medhalu import detection
from cells import wanted

DETECTION, NOTED = "medhalu/02_detection", "medhalu/03_expert_in_the_loop"
NOTES = dict.fromkeys(list(detection.NOTES)[1:], {})


def cell(variable, run, judged, items, notebook=DETECTION, **given):
    """A variable of notebook 02 or 03, from these detections."""
    known = dict(run=run, items=items, detectors=judged, everyone=judged, notes=NOTES, **given)
    return wanted(notebook, variable, **known)


def items_of(*types):
    """Items of these types, one each."""
    frame = pd.DataFrame({"type": types}).assign(
        dataset="HealthQA",
        answer="Cold air causes it. Milk does not help at all.",
        expert_answer="Because of this reason.",
        spans=[["Cold air"] if t != "none" else [] for t in types],
        hallucinated=[t != "none" for t in types],
    )
    texts = {"item": "i{}", "question": "Why {}?", "topic": "topic {}", "reason": "reason {}"}
    return frame.assign(**{k: frame.index.map(text.format) for k, text in texts.items()})


def judged_of(items, said, evaluator="m", repeat=0):
    """Readings of the items by one evaluator: yes (1), no (0) or nothing that can be read (NaN)."""
    yes = np.array(said, float)
    return items[["item"]].assign(
        evaluator=evaluator,
        repeat=repeat,
        source="run",
        status=np.where(np.isnan(yes), "unparsed", "graded"),
        yes=yes,
        spans=[[] for _ in yes],
        truncated=False,
        why="",
    )
