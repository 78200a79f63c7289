"""What a notebook shows of texts: messages as messages, prose and claims whole, nothing as markup.

HOSTILE stands for what a model or a data file may say.
"""

import ast
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.build import notebooks
from bedside.keep import store
from bedside.read import claims, paths, prompts
from bedside.run import Run
from bedside.write import prose

HOSTILE = '<script>alert("x")</script> & <b>bold</b>\n\n  second line'
LONG = "A claim that needs room. " * 40
SHOWING = {"prompt", "openings"}  # calls that give Messages
EVERY = [p for p in paths.NOTEBOOKS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts]


class Page(HTMLParser):
    """The elements of a piece of HTML, [(tag, attributes)], and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def sources(path):
    cells = json.loads(path.read_text())["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def displayed(source):
    """What a cell shows: its last expression, and what it gives to `display`."""
    body = ast.parse(source).body
    last = [body[-1].value] if body and isinstance(body[-1], ast.Expr) else []
    calls = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
    given = [
        a for n in calls if isinstance(n.func, ast.Name) and n.func.id == "display" for a in n.args
    ]
    return [*last, *given]


def shows_a_prompt(path):
    parts = [value for source in sources(path) for value in displayed(source)]
    called = [n.func for part in parts for n in ast.walk(part) if isinstance(n, ast.Call)]
    return any(isinstance(f, ast.Attribute) and f.attr in SHOWING for f in called)


def asking():
    """The notebooks that asked a model when the committed outputs were made."""
    found = set()
    for profile in ("sample", "public"):
        manifest = json.loads((paths.FIGURES / profile / "manifest.json").read_text())
        found |= {name for name, entry in manifest["notebooks"].items() if entry["recordings"]}
    return sorted(found)


def test_most_notebooks_ask_a_model():
    assert set(asking()) <= set(notebooks.listed()) and len(asking()) > 10


@pytest.mark.parametrize("name", asking())
def test_a_notebook_that_asks_a_model_shows_a_prompt(name):
    assert shows_a_prompt(paths.NOTEBOOKS / f"{name}.ipynb")


def test_so_does_the_template_and_one_that_asks_nobody_does_not():
    (template,) = (paths.ROOT / "templates").rglob("*.ipynb")
    assert shows_a_prompt(template)
    assert not shows_a_prompt(paths.NOTEBOOKS / "cancer_myth" / "06_paper_versions.ipynb")


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
    assert {tag for tag, _ in page.tags} == {"p", "strong", "div"}
    assert page.text == f"systemBe brief.user{HOSTILE}"
    styles = [a["style"] for tag, a in page.tags if tag == "div"]
    assert len(styles) == 2 and all("white-space: pre-wrap" in s for s in styles)
    assert not re.search("#|color|rgb|background", "".join(styles))  # those of the page around
    assert str(said) == f"SYSTEM\nBe brief.\n\nUSER\n{HOSTILE}"


def test_a_role_is_escaped_too():
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
    tags = {tag for tag, _ in page.tags}
    assert tags <= {"style", "table", "thead", "tbody", "tr", "th", "td"}
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
    css = " ".join(re.search(" td {(.*?)}", html, re.S)[1].split())
    assert "text-align: left;" in css and "white-space: pre-wrap;" in css
    assert "text-align: left" in re.search(" th {(.*?)}", html, re.S)[1]


@pytest.mark.parametrize("form", [prose.prose, prose.record])
def test_no_row_is_shown_too(form):
    assert "<td" not in form(pd.DataFrame({"answer": []})).to_html()


@pytest.mark.parametrize("form", [prose.prose, prose.record])
def test_the_same_rows_are_the_same_html(form):
    rows = pd.DataFrame({"item": ["a", "b"], "n": [1.5, None]})
    assert form(rows).to_html() == form(rows.copy()).to_html()
    assert form(rows).uuid != form(rows.assign(n=2.0)).uuid  # two tables of a page


def test_a_record_has_a_line_for_each_field():
    page = Page(prose.record(pd.DataFrame({"a": ["x"], "b": ["y"]})).to_html())
    assert page.text.split()[-4:] == ["a", "x", "b", "y"]


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
    assert LONG + HOSTILE in page.text and "script" not in {tag for tag, _ in page.tags}
    assert "3 claims: needs 2, differs 1" in page.text
    heads = re.findall(r'class="col_heading[^>]*>(.*?)<', made._repr_html_())
    assert heads[:2] == ["verdict", "claim"] and set(heads) == set(claims.SHOWN)


@pytest.mark.parametrize("path", EVERY, ids=lambda p: p.stem)
def test_notebooks_make_no_html_of_their_own(path):
    """What they show of models and data is escaped in one place, `bedside.write.prose`."""
    for source in sources(path):
        assert not re.search(r"\.style\b|\bto_html\b|\b(HTML|Markdown)\(", source), source


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
