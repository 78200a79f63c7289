"""What a notebook shows of texts: messages as messages, prose and claims whole, nothing as markup.

HOSTILE stands for what a model or a data file may say.
"""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.keep import store
from bedside.read import claims, paths, prompts
from bedside.run import Run
from bedside.write import prose

HOSTILE = '<script>alert("x")</script> & <b>bold</b>\n\n  second line'
LONG = "A claim that needs room. " * 40


class Page(HTMLParser):
    """The tags of a piece of HTML, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_messages_are_a_list_like_any_other():
    said = prompts.render("cancer_myth/answer", question="Q?")
    plain = [{"role": "user", "content": "Q?"}]
    assert said == plain and json.dumps(said) == json.dumps(plain)
    assert store.digest(said) == store.digest(plain)


def test_messages_are_shown_as_text_under_their_roles():
    said = prompts.Messages(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": HOSTILE}]
    )
    page = Page(said._repr_html_())
    assert page.text == f"systemBe brief.user{HOSTILE}" and not {"script", "b"} & {*page.tags}
    assert "<i>" not in prompts.Messages([{"role": "<i>", "content": ""}])._repr_html_()


@pytest.mark.parametrize("form", [prose.prose, prose.record])
def test_prose_is_whole_wrapped_from_the_left_and_escaped(form):
    rows = pd.DataFrame(
        {
            "answer <b>": [HOSTILE, LONG],
            "terms": [["<i>one", "two"], []],
            "more": [{"<u>": 1}, None],
            "found": [{"b", "a"}, {"<s>"}],
            "n": [0.123, float("nan")],
        },
        index=["<a>", "<a>"],
    )
    html = form(rows).to_html()
    page = Page(html)
    assert not {"script", "b", "i", "u", "s"} & {*page.tags}
    for text in (
        HOSTILE,
        LONG,
        "• <i>one\n• two",
        "• a\n• b",
        "• <s>",
        "{'<u>': 1}",
        "0.12",
        "answer <b>",
    ):
        assert text in page.text
    assert "nan" not in page.text and "None" not in page.text


def test_claims_are_shown_whole_with_their_verdicts_first():
    row = dict.fromkeys(claims.SHOWN, "-")
    made = prose.Claims(
        [
            {**row, "claim": LONG + HOSTILE, "verdict": "differs"},
            {**row, "verdict": "needs the raw data"},
            {**row, "verdict": "needs the prompts"},
        ]
    )
    assert made["verdict"].tolist()[0] == "differs"
    page = Page(made._repr_html_())
    assert LONG + HOSTILE in page.text and "script" not in page.tags
    assert "3 claims: needs 2, differs 1" in page.text


def test_a_reading_fails_when_it_no_longer_holds_and_is_of_no_other_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "FIGURES", tmp_path)
    told = {"paper": "30% <at most>", "adds": "GRIM", "changes": "grades"}
    run = Run("cancer_myth", "03_evaluation", profile="sample")
    assert (
        "<b>The paper.</b> 30% &lt;at most&gt;" in run.shows({"true": True}, **told)._repr_html_()
    )
    with pytest.raises(BedsideError, match="03_evaluation.ipynb: its reading no longer holds: low"):
        run.shows({"low": False, "true": True}, **told)
    other = Run("cancer_myth", "03_evaluation", profile="sample", limit="3")
    assert "without a conclusion" in repr(other.shows({"low": False}, **told))
