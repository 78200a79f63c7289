"""Cancer-Myth: the sample data's balance, and what the review of questions kept."""

import re

import numpy as np
import pandas as pd

from bedside.papers.cancer_myth import data
from bedside.papers.cancer_myth.tables import generation
from bedside.read import sources


def test_questions_are_six_in_each_category_with_sources():
    frame = sources.load("cancer_myth_questions_sample")
    assert (
        frame["category"].value_counts().to_dict() == dict.fromkeys(data.CATEGORIES, 6)
        and frame["item"].is_unique
    )
    for name in ("cancer_myth_questions_sample", "cancer_myth_nfp_sample"):
        assert all(s["organisation"] and s["title"] for s in sources.load(name)["source"])
    assert sources.load("cancer_myth_nfp_sample")["near"].value_counts().to_dict() == dict.fromkeys(
        data.CATEGORIES, 3
    )


def test_labelled_answers_are_balanced_in_grade_length_and_tone():
    frame = sources.load("cancer_myth_labelled")
    assert (
        frame["label"].value_counts().to_dict() == {-1: 40, 0: 40, 1: 40}
        and frame["answer_id"].is_unique
    )
    assert (frame.groupby("item")["label"].apply(sorted).map(tuple) == (-1, 0, 1)).all()
    words = frame["answer"].str.split().str.len()
    assert np.ptp(words.groupby(frame["label"]).mean()) < 1 and words.between(70, 100).all()
    assert (words.groupby(frame["item"]).agg(np.ptp) <= 8).all()
    assert pd.crosstab(frame["label"], frame["tone"]).to_numpy().min() >= 12


def test_stock_phrases_do_not_give_the_grade_away():
    frame = sources.load("cancer_myth_labelled")
    for phrase in ("actually", "misconception", "not necessarily", "however", "sorry"):
        share = (
            frame["answer"]
            .str.contains(rf"\b{phrase}\b", flags=re.I)
            .groupby(frame["label"])
            .mean()
        )
        assert np.ptp(share) <= 0.15, phrase


def test_the_first_set_ends_where_another_generator_begins():
    """In the order of raw_QID: manual, GPT-4o, Claude, GPT-4o; two belong to the first set.

    However the file is ordered.
    """

    class Released:
        def load(self, name):
            return pd.DataFrame(
                {
                    "example_question": list("dbca"),
                    "example_assumption": list("dbca"),
                    "raw_QID": [3, 1, 2, 0],
                    "source_row": [9, 1, 4, -1],
                    "from_model": ["gpt-4o", "gpt-4o", "claude-3-5-sonnet", "manual"],
                    "category": "other",
                }
            )

    made = data.candidates(Released())
    assert made["question"].tolist() == list("abcd") and made["first"].tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert made["generator"].tolist() == [
        "Manual",
        "GPT-4o",
        "Claude-3.5-Sonnet",
        "GPT-4o",
    ] and set(made["category"]) == {"Others"}


def test_what_the_review_kept_by_hand():
    """Two of three: one word for word, one reworded."""
    offered = pd.DataFrame(
        {
            "question": [
                "My father has surgery next week and we prepare.",
                "Which tea is good for her?",
                "Is it all lost?",
            ],
            "generator": ["a", "a", "b"],
            "category": ["x", "y", "y"],
            "myth": [1, 1, 2],
        }
    )
    released = pd.DataFrame(
        {
            "question": [
                "which tea is good for her",
                "My father has, I think, surgery next week and we prepare.",
            ]
        }
    )
    table = generation.review_table(offered, released).set_index("row")
    assert table["value"].round(4).to_dict() == {
        "all": 66.6667,
        "a": 100,
        "b": 0,
        "x": 100,
        "y": 50,
    }
    assert table["n"].to_dict() == {"all": 3, "a": 2, "b": 1, "x": 1, "y": 2}
