"""Small frames of MedHalu's items and detections, for its tests."""

import numpy as np
import pandas as pd


def items_of(*types):
    """Items of these types, one each."""
    frame = pd.DataFrame(
        {
            "item": [f"i{k}" for k in range(len(types))],
            "dataset": "HealthQA",
            "type": types,
            "question": [f"Why {k}?" for k in range(len(types))],
            "expert_answer": "Because of this reason.",
            "answer": "Cold air causes it. Milk does not help at all.",
            "topic": [f"topic {k}" for k in range(len(types))],
            "spans": [["Cold air"] if t != "none" else [] for t in types],
            "reason": [f"reason {'word ' * k}".strip() for k in range(len(types))],
        }
    )
    return frame.assign(hallucinated=frame["type"] != "none")


def judged_of(items, said, evaluator="m", repeat=0, spans=()):
    """Readings of the items by one evaluator: yes (1), no (0) or nothing that can be read (NaN)."""
    return pd.DataFrame(
        {
            "item": items["item"],
            "evaluator": evaluator,
            "repeat": repeat,
            "source": "run",
            "status": ["graded" if y == y else "unparsed" for y in said],
            "yes": np.array(said, float),
            "spans": [list(spans)] * len(items),
            "truncated": False,
            "why": "",
        }
    )
