"""What README and the other texts say is here is here, and the README's table is the manifests'."""

import ast
import re
import shlex

import pytest

from bedside import OFFERED
from bedside import __main__ as steps
from bedside.build import commands as table
from bedside.build import notebooks
from bedside.publish import readme
from bedside.read import paths

TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TEXTS += sorted(f"docs/{path.name}" for path in (paths.ROOT / "docs").glob("*.md"))
MANIFESTS = {p: paths.FIGURES / p / "manifest.json" for p in ("sample", "public")}


def test_the_table_of_outputs_is_that_of_the_manifests():
    text = readme.README.read_text(encoding="utf-8")
    assert text == readme.filled(text), "write it anew: make outputs"


@pytest.mark.parametrize("name", TEXTS)
def test_paths_that_a_text_names_are_there(name):
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    folder = (paths.ROOT / name).parent
    linked = [folder / path for path in re.findall(r"\]\(([^)#:]+)\)", text)]
    assert all(path.exists() for path in linked), linked
    named = re.findall(r"`((?:data|docs|figures|lib|notebooks|templates|tests)/[^`\s]*)`", text)
    named += re.findall(r"`([A-Z]\w+(?:\.md|\.cff))`", text)
    # the user's, or not committed
    own = ("data/external", "name", "figures/own", "figures/runs", "figures/compared")
    own += ("figures/public/explorer.html", "figures/checked")
    assert len(named) + len(linked) > 3 or not name.startswith(("README", "CONTRIBUTING"))
    for path in named:
        pattern = re.sub(r"(<\w+>_?|\*)+", "*", path).rstrip("/")
        if not any(part in path for part in own):
            assert list(paths.ROOT.glob(pattern)), path


def known():
    """{module, package or class: the names in it} of the library; namesakes are taken together."""
    found, library = {"bedside": {*OFFERED}, "sheet": set()}, paths.ROOT / "lib/bedside"
    for path in library.rglob("*.py"):
        inside = path.stem == "__init__"
        name = path.parent.name if inside else path.stem
        mine = found.setdefault(name, set())
        found.setdefault((path.parent.parent if inside else path.parent).name, set()).add(name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                mine.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                mine.add(node.id)
            elif isinstance(node, ast.alias):
                mine.add((node.asname or node.name).rpartition(".")[2])
            if isinstance(node, ast.ClassDef):
                methods = (getattr(n, "name", "") for n in node.body)
                found.setdefault(node.name, set()).update(methods)
    found["sheet"] |= found["tasks"]  # a notebook's `sheet`
    return found


FILES = r"(?:py|md|cff|csv|jsonl?|toml|html|ipynb|js|css|txt|xml|zip|j2|yml|svg|sqlite|sbatch)"
# a variable that docs/own_study.md makes; other libraries
OTHERS = "found pandas Figure functools asyncio".split()


def test_names_of_code_that_texts_and_docstrings_name_are_there():
    texts = [paths.ROOT / n for n in TEXTS if n != "CHANGELOG.md"]  # that one tells of the past
    texts += [p for d in ("lib", "templates") for p in (paths.ROOT / d).rglob("*.py")]
    have, seen = known(), 0
    for path in texts:
        text = path.read_text(encoding="utf-8")
        for dotted in re.findall(r"`((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:\([^`]*\))?`", text):
            parts = dotted.split(".")
            if parts[0] in OTHERS or re.fullmatch(FILES, parts[-1]):
                continue
            for outer, name in zip(parts, parts[1:]):
                assert name in have.get(outer, ()), f"{paths.rel(path)}: {dotted}"
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("name", TEXTS)
def test_commands_that_a_text_names_are_there(name):
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    makefile = (paths.ROOT / "Makefile").read_text()
    targets = {*re.findall(r"^([a-z]+):", makefile, re.M), *paths.papers()}
    for target in re.findall(r"(?:`|^)make ([a-z_]+)", text, re.M):
        assert target in {*targets, "name"}, target


def commands(name):
    """The commands that a text shows, in blocks or between backticks, without their comments."""
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    shown = [
        line
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
        for line in block.splitlines()
    ]
    shown += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [re.sub(r"\s#.*|\[|\]", "", line).strip() for line in shown]


@pytest.mark.parametrize("name", TEXTS)
def test_variables_of_commands_are_there(name):
    for command in commands(name):
        if command.startswith("make "):
            for variable in re.findall(r"\b([A-Z_]+)=", command):
                assert variable in table.KNOWN, command


@pytest.mark.parametrize("name", TEXTS)
def test_steps_of_commands_are_there_with_their_parameters(name, capsys):
    for command in commands(name):
        _, found, step = command.partition("python -m bedside ")
        if not found or "|" in step or "..." in step:
            continue
        given = vars(steps._arguments().parse_args(shlex.split(step)))
        for notebook in given.get("names", []):
            known = notebooks.parameters(notebook)
            assert {key for key, _ in given["pairs"]} <= {*known}, command


def test_texts_that_newcomers_read_are_short():
    for name, most in (("README.md", 130), ("CONTRIBUTING.md", 150), ("docs/glossary.md", 24)):
        assert len((paths.ROOT / name).read_text(encoding="utf-8").splitlines()) <= most, name
