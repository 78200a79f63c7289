"""The project's own promises: environments, texts, notebooks, imports, what git keeps."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from bedside import __main__ as steps
from bedside.annotation import tasks
from bedside.asking import embedded
from bedside.build import commands, notebooks
from bedside.publish import pages, readme
from bedside.publish.pages import content
from bedside.read import claims, paths

TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TEXTS += sorted(f"docs/{path.name}" for path in (paths.ROOT / "docs").glob("*.md"))


def text_of(name):
    return (paths.ROOT / name).read_text(encoding="utf-8")


def git(*arguments):
    asked = ["git", "-C", str(paths.ROOT), *arguments]
    return subprocess.run(asked, capture_output=True, text=True)


def pinned(file):
    """{package: (version, hashes)} of a lock."""
    blocks = re.split(r"^(?=[a-z0-9][\w.-]*==)", text_of(file), flags=re.M)[1:]
    names = (re.match(r"([\w.-]+)==([^\s;\\]+)", block).groups() for block in blocks)
    return {n: (v, re.findall(r"--hash=\S+", b)) for (n, v), b in zip(names, blocks)}


# ---- environments


def test_environment_and_locks_have_what_the_package_needs():
    project = tomllib.loads(text_of("pyproject.toml"))
    needed = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    conda = re.findall(r"^ +- ([a-z][\w-]*[<>=][^\s]*)$", text_of("environment.yml"), re.M)
    conda = {r.name: r.specifier for r in map(Requirement, conda)}
    lock, sheets = pinned("requirements.lock"), pinned("seminar.lock")
    for r in map(Requirement, needed):
        assert conda[r.name] == r.specifier and Version(lock[r.name][0]) in r.specifier, r.name
    assert all(hashes for _, hashes in [*lock.values(), *sheets.values()])
    assert not re.search("://|--index|--find-links", text_of("requirements.lock"))
    assert sheets.items() <= lock.items()
    assert {Requirement(r).name for r in project["dependency-groups"]["seminar"]} <= {*sheets}
    assert not {"pyarrow", "statsmodels", "playwright", "xllamacpp"} & {*sheets}  # the large ones


def test_what_comes_before_set_up_needs_the_standard_library_only():
    """It runs in an interpreter that has no other package; other light steps import none early."""
    steps = "from bedside.__main__ import main; main(['variables', 'all']); main(['help'])"
    light = "run publish.pages publish.judged_items publish.verification explorer stats".split()
    heavy = "openai datasets sklearn scipy matplotlib xllamacpp papermill pandas seaborn".split()
    light = f"import sys, {', '.join(f'bedside.{m}' for m in light)}"
    for arguments in (
        ("-I", "-S", "-c", f"import sys; sys.path.insert(0, 'lib'); {steps}"),
        ("-c", f"{light}; assert not {{*{heavy}}} & {{*sys.modules}}"),
    ):
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, cwd=paths.ROOT
        )
        assert done.returncode == 0, done.stderr


# ---- texts


def test_what_readme_and_docs_say_of_outputs_and_their_sources_is_what_the_manifests_say():
    for page, text in readme.filled().items():
        assert page.read_text(encoding="utf-8") == text, f"write {page.name} anew: make outputs"


@pytest.mark.parametrize("name", TEXTS)
def test_paths_commands_variables_and_steps_that_a_text_names_are_there(name):
    text = text_of(name)
    named = re.findall(r"`((?:data|docs|figures|lib|notebooks|templates|tests)/[^`\s]*)`", text)
    # the user's, or not committed
    own = ("data/external", "name", "figures/own", "figures/runs", "figures/compared")
    own += ("figures/public/explorer.html", "figures/checked")
    for path in named:
        pattern = re.sub(r"(<\w+>_?|\*)+", "*", path).rstrip("/")
        assert any(part in path for part in own) or list(paths.ROOT.glob(pattern)), path
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((paths.ROOT / name).parent / path).exists(), path
    targets = {*commands.targets(), *paths.papers(), "name"}
    assert {*re.findall(r"(?:`|^)make ([a-z_]+)", text, re.M)} <= targets
    blocks = "".join(re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)).splitlines()
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    for line in (re.sub(r"\s#.*|\[|\]", "", line).strip() for line in [*blocks, *inline]):
        if line.startswith("make "):
            assert {*re.findall(r"\b([A-Z_]+)=", line)} <= {*commands.KNOWN}, line
        _, found, step = line.partition("python -m bedside ")
        if found and "|" not in step and "..." not in step:
            _, given = steps._asked(shlex.split(step))
            for notebook in given.get("names", []):
                assert {*given["given"]} <= {*notebooks.parameters(notebook)}, line


ENTRIES = [
    (name, entry)
    for profile in ("sample", "public")
    for name, entry in pages.last(paths.FIGURES / profile)["notebooks"].items()
]


def test_what_the_table_of_coverage_names_is_there():
    """Notebooks, parameters, outputs, claims, statements, tasks, files."""
    known = {
        *tasks(),
        "sample",
        "public",
        *(id for paper in paths.papers() for id in claims.load(paper)),
    }
    known |= {o["file"].rpartition(".")[0] for _, entry in ENTRIES for o in entry["outputs"]}
    for name in notebooks.listed():
        known |= {name, *notebooks.parameters(name)}
    rows = [line for line in text_of("docs/coverage.md").splitlines() if line.count(" | ") == 3]
    assert len(rows) > 50
    for name in re.findall(r"`([^`]+)`", " ".join(r.split(" | ", 2)[2] for r in rows)):
        assert name in known or ("/" in name and (paths.ROOT / name).exists()), name


def test_no_worn_phrase_comes_back():
    """In docs, `make help`, findings, pages and notebooks; what to say instead stands beside it."""
    pages_of = ("README.md", "Makefile", "docs/*.md", "data/findings/*", "lib/**/*.j2")
    texts = {p: p.read_text(encoding="utf-8") for g in pages_of for p in paths.ROOT.glob(g)}
    for p in paths.NOTEBOOKS.rglob("*.ipynb"):
        cells = json.loads(p.read_text(encoding="utf-8"))["cells"]
        texts[p] = "\n".join("".join(c["source"]) for c in cells)
    listed = (paths.ROOT / "tests/project/worn_phrases.txt").read_text(encoding="utf-8")
    for phrase, instead in (x.rsplit(" | ", 1) for x in listed.splitlines()[1:]):
        worn = [paths.rel(p) for p, text in texts.items() if re.search(phrase, text, re.I)]
        assert not worn, f"{phrase}: say {instead}"


def test_pages_explain_a_term_once_where_it_first_occurs_and_the_glossary_repeats_it():
    explained = content.explaining()
    assert explained("a kappa of <b>") == (
        "a kappa <i>(agreement beyond chance: 0 is chance, 1 is perfect)</i> of &lt;b&gt;"
    )
    assert explained("the kappas, a kappa") == "the kappas, a kappa"
    assert explained("expected (O/E) and O/E") == "expected (O/E) and O/E"
    for term, words in paths.toml(content.TERMS).items():
        assert f"| {term} | {words} |" in text_of("docs/glossary.md") and len(words.split()) <= 10


# ---- what is committed


def test_notebooks_are_committed_clean_and_their_cells_are_short():
    for path in paths.NOTEBOOKS.rglob("*.ipynb"):
        for c in json.loads(path.read_text())["cells"]:
            if c["cell_type"] == "code" and ".ipynb_checkpoints" not in path.parts:
                assert c["outputs"] == [] and c["execution_count"] is None, path
                tree = ast.parse("".join(x for x in c["source"] if x[0] not in "%!"))
                imports = all(isinstance(x, ast.Import | ast.ImportFrom) for x in tree.body)
                assert len(c["source"]) <= 15 or c["metadata"].get("tags") or imports, path


def test_foundation_explorer_and_annotation_name_no_study():
    """Nor do make and the command line: the list of studies is data/papers.toml."""
    library = paths.ROOT / "lib/bedside"
    files = [
        p
        for p in [*library.rglob("*.*"), paths.ROOT / "Makefile"]
        if p.suffix in ("", ".py", ".js", ".css", ".j2")
        and not {"papers", "seminar", "vendor", "pages"} & {*p.parts[len(library.parts) :]}
    ]
    files += (library / "publish/pages").glob("*.*")
    named, found = re.compile("cancer.?myth|radiation|medhalu|meddialbench", re.I), []
    for path in files:
        found += [(path, x) for x in path.read_text().splitlines() if named.search(x)]
    assert len(files) > 100 and not found, found


def test_every_claim_of_the_ledger_is_made_and_says_where_it_stands():
    """Each row of data/claims is made by the committed notebooks, in one profile or both."""
    made = {entry["paper"]: set() for _, entry in ENTRIES}  # a study that has begun has none
    for _, entry in ENTRIES:
        made[entry["paper"]] |= {(c["id"], c["section"], c["claim"]) for c in entry["claims"]}
    assert len(made) > 3
    for paper, found in made.items():
        assert {(r.id, r.section, r.claim) for r in claims.load(paper).values()} == found


def test_no_path_of_one_machine_no_prompt_and_no_external_data_is_committed():
    texts = "py md toml ipynb yml lock json jsonl csv".split()
    for name in git("ls-files").stdout.splitlines():
        assert not name.startswith(("data/external/", ".cache/", ".venv/")), name
        if name.rpartition(".")[2] in texts or name == "Makefile":
            text = (paths.ROOT / name).read_text(errors="replace")
            assert f"{paths.ROOT}/" not in text and f"{os.path.expanduser('~')}/" not in text, name
    for path in (p for name in embedded.known() for p in paths.RECORDINGS.rglob(f"{name}.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            assert re.fullmatch("[0-9a-f]{16}", record["fields"]["messages"]), path
            assert record["item"] and record["returned_model"], path


def test_an_experiment_leaves_the_work_tree_clean():
    if git("status").returncode:
        pytest.skip("not a git checkout")
    for path, ignored in {
        "figures/runs/sample-mine/index.html": True,
        "figures/own/mine/answers.csv": True,
        "data/recordings/own/mine/smollm2-135m.jsonl": True,
        "data/recordings/medhalu/sample/mine.jsonl": True,
        "data/recordings/medhalu/sample/smollm2-135m.jsonl": False,
        "figures/sample/index.html": False,
        "figures/sample/notebooks/medhalu/02_detection.html": True,
        "site/index.html": True,
    }.items():
        assert (git("check-ignore", "--quiet", path).returncode == 0) == ignored, path
