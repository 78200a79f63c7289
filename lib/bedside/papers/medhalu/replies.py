"""MedHalu: what replies are like: unreadable, truncated, contradictory, copied.

Long frames with a row for each reply, verdict or span and each `what` that is true of it or not
(`hit`), whose means are the shares in the tables of replies.
"""

import pandas as pd

from bedside.read.checks import complete, scored

from .data import PEOPLE, TYPES, units
from .spans import locate

KINDS = ("exact", "aligned", "not in the answer")  # of spans, by where they stand
COPIED = 80  # a rapidfuzz ratio from which on a text counts as a copy


def like(judged: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """What detections by models and people are like: evaluator, item, unit, what, hit.

    Of truncated replies, whether the verdict is right isn't counted; people's replies have no
    `truncated`.
    """
    about = items.set_index("item").assign(unit=units(items))
    judged = complete(judged, ["evaluator", "spans"]).assign(why=judged["why"].fillna(""))
    complete(judged[~judged["evaluator"].str.startswith(PEOPLE)], ["truncated"])
    read = scored(judged, "yes")
    yes, some = read["yes"] == 1, read["spans"].map(len) > 0
    whole = read[read["truncated"].eq(False)]
    right = (whole["yes"] == 1) == whole["item"].map(about["hallucinated"])
    spans = read.explode("spans").dropna(subset="spans").reset_index(drop=True)
    places = [locate(s, about.at[i, "answer"]) for i, s in zip(spans["item"], spans["spans"])]
    kind = pd.Series([place[2] if place else KINDS[-1] for place in places], dtype=object)
    lost = (judged["why"] == "") & (judged["status"] != "graded")
    parts = {
        **_no_answer(judged),
        "can't be read, %": judged.assign(hit=lost),
        "cut off at the limit, %": judged.assign(hit=judged["truncated"].eq(True)),
        "right where not cut off, %": whole.assign(hit=right),
        "yes, %": read.assign(hit=yes),
        "yes without a span, %": read[yes].assign(hit=~some[yes]),
        "no with spans, %": read[~yes].assign(hit=some[~yes]),
        **{f"spans: {k}, %": spans.assign(hit=kind == k) for k in KINDS},
    }
    made = pd.concat(parts, names=["what"]).reset_index("what")
    return made.assign(unit=made["item"].map(about["unit"]))


def written(built: pd.DataFrame) -> pd.DataFrame:
    """A generator's replies (`building.build`), all and by type: kind, item, what, hit.

    Copied answers are nearly the expert's, or quote it.
    """
    from rapidfuzz import fuzz

    asked = complete(built, ["type"]).query("type != 'none'")
    asked = pd.concat([asked.assign(kind="all"), asked.assign(kind=asked["type"].map(TYPES))])
    got = scored(asked, "answer")
    pairs = list(zip(got["answer"], got["expert_answer"]))
    got = got.assign(
        same=[fuzz.ratio(*p) >= COPIED for p in pairs],
        quoted=[fuzz.partial_ratio(*p) >= COPIED for p in pairs],
    )
    whole = got[~got["truncated"].astype(bool)]
    parts = {
        **_no_answer(asked),
        "gave no answer, %": asked.assign(hit=asked["status"] != "graded"),
        "cut off at the limit, %": asked.assign(hit=asked["truncated"].astype(bool)),
        "nearly the right answer, %": got.assign(hit=got["same"]),
        "nearly the right answer where not cut off, %": whole.assign(hit=whole["same"]),
        "quotes the right answer, %": got.assign(hit=got["quoted"]),
    }
    return pd.concat(parts, names=["what"]).reset_index("what")


def _no_answer(replies):
    """Why replies hold no text; failed calls count by kind."""
    why = replies["why"].str.split(":").str[0]
    return {f"no answer: {k}, %": replies.assign(hit=why == k) for k in sorted({*why} - {""})}
