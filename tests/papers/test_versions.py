"""Where the summary of version 2 departs from the paper: kinds by hand, and the printed numbers."""

import pandas as pd
import pytest

from bedside.papers.cancer_myth import versions
from bedside.papers.cancer_myth.tables.versions import text_table, versions_table
from bedside.read import published
from bedside.run import Run


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run("cancer_myth", "06_paper_versions", profile="sample")


def rows(*values, quantity="x", about=False):
    """(version, value) pairs of one quantity."""
    return pd.DataFrame(
        [(quantity, f"place {k}", v, x, about) for k, (v, x) in enumerate(values)],
        columns=["quantity", "place", "version", "value", "about"],
    )


@pytest.mark.parametrize(
    "values, options, kind, within",
    [
        ([(1, 2.0), (2, 2.0)], {}, "same", ""),
        ([(1, 2.2), (2, 2)], {}, "rounded", ""),
        ([(1, 41.4), (2, 41)], {}, "rounded", ""),
        ([(1, 2.5), (2, 3)], {}, "rounded", ""),
        ([(1, 5.8), (2, 12)], {}, "different", ""),
        ([(1, 15.4), (2, 6.3)], {}, "different", ""),
        ([(2, 5.8), (2, 12)], {}, "different", "summary of version 2"),
        ([(1, 5.8), (1, 6), (2, 7)], {}, "different", ""),
        ([(1, 89.47), (1, 90)], {"about": True}, "rounded", ""),
        ([(1, 89.47), (1, 92)], {"about": True}, "different", "the paper"),
        ([(1, 7), (2, 17)], {"quantity": "models evaluated"}, "changed", ""),
    ],
)
def test_kinds(values, options, kind, within):
    made = versions.disagreements(rows(*values, **options))
    assert made["kind"].unique().tolist() == [kind] and made["within"].unique().tolist() == [within]


def test_what_the_papers_print(run):
    made = versions.disagreements(
        pd.concat([versions.places(run), versions.derived(run)], ignore_index=True)
    )
    kinds = made.groupby("quantity")["kind"].first()
    assert (
        kinds["GPT-4o, PCR"] == kinds["GPT-4-Turbo, PCR"] == "different"
        and kinds["Gemini-1.5-Pro, PCR"] == "same"
    )
    assert (
        kinds["MDAgents (GPT-4o), PCR"] == "rounded"
        and kinds["upper bound of all models' PCR"] == "changed"
    )
    place = made[made["quantity"] == "GPT-4o, PCR"].set_index("place")["value"]
    first = {"v1 text 4.3": 5.8, "v1 Figure 6a": 5.8}
    assert place.to_dict() == {**first, "v2 Main results": 5.8, "v2 Table 1": 12}
    # 100 - 68 = 32, not 28; the drops are 70 to 63 (10%), 67 to 59 (11.94%), 92 to 85 (7.6%),
    # 82 to 78 (4.88%)
    derived = made[made["place"].str.startswith("recomputed")].set_index("quantity")["value"]
    assert derived["Gemini-2.5-Pro with GEPA, over-correction, %"] == 32
    assert derived["least drop on other benchmarks with GEPA, %"] == pytest.approx(400 / 82)
    assert derived["largest drop on other benchmarks with GEPA, %"] == pytest.approx(800 / 67)
    table = versions_table(made)
    assert table["row"].iloc[0].startswith("different numbers: ")
    assert not table["row"].str.contains("mean score").any()
    # each number says whose it is
    assert table["column"].str.contains("paper, |summary of version 2, ").all()
    assert not table["column"].str.contains("v1|v2").any()


def test_claims_on_the_versions():
    """GPT-4o has two rates within the summary, GPT-4-Turbo one in each text."""
    found = pd.concat(
        [
            rows((1, 5.8), (2, 5.8), (2, 12), quantity="GPT-4o, PCR"),
            rows((1, 15.4), (2, 15.2), quantity="GPT-4-Turbo, PCR"),
            rows((1, 585), (2, 585), quantity="questions"),
        ]
    )
    found = versions.disagreements(found)
    made = versions.readings(found)
    said = {id: {n: (r[0], r[3]) for n, r in ways.items()} for id, ways in made.items()}
    one = "as written"
    assert said["cm-versions-agree"][one] == ("GPT-4-Turbo, PCR: 15.4 and 15.2", False)
    assert said["cm-v1-consistent"][one] == ("they do", True)
    # 34 and 70 of 585: z = 3.7; 90 and 89 of 585: z = 0.08
    assert said["cm-gpt4o-chance"] == {
        "the same grades": ("5.8% are 34; 12% are 68 to 73 of 585", False),
        "two runs on all questions": ("p = 0.0002", False),
    }
    assert versions.chance(found[found["quantity"] == "GPT-4-Turbo, PCR"]) > 0.9


def test_every_alias_is_printed(run):
    frame = pd.concat([run.published(t) for t in published.load("cancer_myth")["table"].unique()])
    known = set(zip(frame["row"], frame["column"]))
    assert {label for labels in versions.SAME.values() for label in labels} <= known
    assert set(versions.CHANGED) <= set(versions.SAME)


def test_every_number_of_the_texts_stands_with_its_place(run):
    said = published.load("cancer_myth")
    told = text_table(run)
    assert len(told) == (~said["table"].str.contains("Table")).sum() and told["value"].notna().all()
    value = told.set_index(["row", "column"])["value"]
    assert value["paper, introduction: categories", "count"] == 7
    assert value["paper, introduction: runs", "count"] == 3
    assert (
        value["paper, text 4.2: MDAgents", "medical benchmarks (where it is said to be the best)"]
        == 7
    )
    assert value["paper, text A.5: Example 1, advice 1, Social workers", "score"] == 2
    assert value["summary of version 2, text method: NFP", "count"] == 150
