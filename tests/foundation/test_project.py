"""The project's own promises: its environments, layers, notebooks, parameters and errors."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.build import notebooks
from bedside.read import paths

NOTEBOOKS = notebooks.listed()
EVERY = sorted(
    p.relative_to(paths.NOTEBOOKS).with_suffix("").as_posix()
    for p in paths.NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in p.parts
)


def git(*arguments):
    done = subprocess.run(
        ["git", "-C", str(paths.ROOT), *arguments], capture_output=True, text=True
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


def requirements():
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())
    return [
        Requirement(r)
        for r in project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    ]


def test_conda_environment_has_what_the_package_needs():
    text = (paths.ROOT / "environment.yml").read_text()
    listed = {
        r.name: r
        for r in map(Requirement, re.findall(r"^ +- ([a-z][\w-]*[<>=][^\s]*)$", text, re.M))
    }
    for r in requirements():
        assert listed[r.name].specifier == r.specifier, r.name
    assert "-e ." in text


def test_lock_satisfies_the_package_and_has_hashes():
    lock = (paths.ROOT / "requirements.lock").read_text()
    pins = {}
    for name, version in re.findall(r"^([a-z0-9][\w.-]*)==([^\s;\\]+)", lock, re.M):
        pins.setdefault(name.lower(), []).append(Version(version))
    for r in requirements():
        assert pins[r.name] and all(v in r.specifier for v in pins[r.name]), r.name
    blocks = re.split(r"^(?=[a-z0-9][\w.-]*==)", lock, flags=re.M)[1:]
    assert all("--hash=sha256:" in b for b in blocks)
    assert "://" not in lock and "--index" not in lock and "--find-links" not in lock


def test_the_seminars_lock_is_a_part_of_the_whole_one():
    """Each package with the same version and hashes; what the sheets import is in it."""
    whole, part = (
        {
            name: re.findall(r"--hash=\S+", block)
            for block in re.split(r"^(?=[a-z0-9])", (paths.ROOT / file).read_text(), flags=re.M)[1:]
            for name in [block.split()[0]]
        }
        for file in ("requirements.lock", "seminar.lock")
    )
    assert {n: whole.get(n) for n in part} == part and all(part.values())
    pinned = {name.partition("==")[0] for name in part}
    groups = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert {Requirement(r).name for r in groups["seminar"]} <= pinned
    assert not pinned & {"pyarrow", "statsmodels", "playwright", "xllamacpp"}  # the large ones


def code_of(name):
    cells = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    return [c for c in cells if c["cell_type"] == "code"]


def test_every_parameter_of_make_reaches_the_notebooks():
    for name in NOTEBOOKS:
        have, source = notebooks.parameters(name), str([c["source"] for c in code_of(name)])
        for variable in map(str.lower, steps.PASSED):
            assert variable in have and f"{variable}={variable}" in source, (name, variable)


def test_notebooks_are_committed_clean_and_their_cells_are_short():
    for name in EVERY:
        for c in code_of(name):
            assert c["outputs"] == [] and c["execution_count"] is None, name
            assert len(c["source"]) <= 15 or "parameters" in c["metadata"].get("tags", []), name


@pytest.mark.parametrize(
    "given, match",
    [
        (["PROFILE=sampel"], "PROFILE 'sampel'; did you mean 'sample'"),
        (["MODEL="], "variable 'MODEL'; did you mean 'MODE"),
        (["MODE=replya"], "did you mean 'replay'"),
        (["MODELS=smollm"], "did you mean 'smollm2-135m'"),
        (["JUDGE=lexial"], "lexical"),
        (["LIMIT=x"], "LIMIT"),
    ],
)
def test_unknown_settings_stop_with_the_nearest(given, match):
    with pytest.raises(BedsideError, match=match):
        steps.check(given)


def test_settings_are_rewritten_only_when_they_change(tmp_path):
    file = tmp_path / "s.json"
    steps.check(["PROFILE=public", "LIMIT=3", "MODELS="], file)
    assert json.loads(file.read_text()) == {"profile": "public", "limit": "3"}
    before = file.stat().st_mtime_ns
    steps.check(["PROFILE=public", "LIMIT=3"], file)
    assert file.stat().st_mtime_ns == before
    steps.check(["PROFILE=public", "LIMIT=4"], file)
    assert file.stat().st_mtime_ns != before


def run_step(root, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "bedside", *arguments],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "BEDSIDE_ROOT": str(root),
            "PYTHONPATH": str(root / "lib"),
            **environment,
        },
    )


def test_an_unknown_parameter_of_a_notebook_is_an_error(root):
    done = run_step(root, "run", NOTEBOOKS[0], "-p", "max_token", "9")
    assert (
        done.returncode == 1
        and "unknown parameter" in done.stderr
        and "Valid: profile" in done.stderr
    )


def test_a_failing_notebook_fails_and_shows_the_cell(root):
    path = root / "notebooks" / f"{NOTEBOOKS[0]}.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"].insert(
        3,
        {
            "cell_type": "code",
            "id": "bad",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": ["raise RuntimeError('on purpose')"],
        },
    )
    path.write_text(json.dumps(notebook))
    done = run_step(root, "run", NOTEBOOKS[0])
    assert (
        done.returncode == 1
        and "raise RuntimeError('on purpose')" in done.stderr
        and "RuntimeError: on purpose" in done.stderr
    )


HEAVY = "openai datasets sklearn scipy matplotlib xllamacpp papermill pandas numpy seaborn".split()
LIBRARY = paths.ROOT / "lib/bedside"
ROOMS = "read keep asking judging build bulk write publish own checking stats".split()
FOUNDATION = [*LIBRARY.glob("*.py"), *(p for r in ROOMS for p in (LIBRARY / r).rglob("*.py"))]


@pytest.mark.parametrize(
    "modules, more",
    [
        (
            "__main__ build.notebooks build.settings judging.judges asking.models asking.sending"
            " keep.store read.claims read.prompts read.sources",
            "",
        ),
        # statistics are arrays
        ("run publish.pages publish.judged_items publish.verification explorer stats", "numpy"),
    ],
)
def test_what_light_commands_import_is_light(modules, more):
    imports = ", ".join(f"bedside.{m}" for m in modules.split())
    code = f"import sys, {imports}; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=paths.ROOT
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= set(more.split())


def test_check_and_help_need_the_standard_library_only(tmp_path):
    """Both run in an interpreter that has no other package."""
    code = "from bedside.__main__ import main; main(['check', 'PROFILE=sample']); main(['help'])"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, 'lib'); {code}"],
        capture_output=True,
        text=True,
        cwd=paths.ROOT,
    )
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_house_is_the_house():
    """Its rooms, their order and what each may use are the contract's."""
    text = (paths.ROOT / "docs/design.md").read_text()
    drawn = re.findall(r"^(\w+) +([\d,]+)  .*?  +(\w+(?:, \w+)*)$", text.split("```")[1], re.M)
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [layer.split(" : ") for layer in project["contracts"][0]["layers"]]
    below = [", ".join(layer) for layer in layers[1:]] + ["none"]
    expected = [(room, uses) for layer, uses in zip(layers, below) for room in layer]
    assert [(room, uses) for room, _, uses in drawn] == expected
    assert {p.parent.name for p in LIBRARY.glob("*/__init__.py")} <= {room for room, *_ in drawn}


def test_foundation_explorer_and_annotation_name_no_study():
    """Nor do make and the command line: the list of studies is data/papers.toml."""
    people = [
        p for d in ("explorer", "annotation") for p in (paths.ROOT / "lib/bedside" / d).rglob("*")
    ]
    files = [
        *FOUNDATION,
        paths.ROOT / "Makefile",
        *(paths.ROOT / "lib/bedside/publish/pages").glob("*.*"),
    ]
    files += [
        p for p in people if p.suffix in (".py", ".js", ".css", ".j2") and "vendor" not in p.parts
    ]
    assert len(files) > 25
    named = re.compile("cancer.?myth|radiation|medhalu|meddialbench", re.I)
    found = [
        f"{paths.rel(path)}, line {n}: {line.strip()}"
        for path in files
        for n, line in enumerate(path.read_text().splitlines(), 1)
        if named.search(line)
    ]
    assert not found, "\n".join(found)


def test_every_claim_of_the_ledger_is_made_and_says_where_it_stands():
    """Each row of data/claims is made by the committed notebooks, in one profile or both."""
    from bedside.read import claims

    made = {}
    for profile in ("sample", "public"):
        manifest = json.loads((paths.FIGURES / profile / "manifest.json").read_text())
        for entry in manifest["notebooks"].values():
            of = made.setdefault(entry["paper"], set())
            of |= {(c["id"], c["section"], c["claim"]) for c in entry["claims"]}
    assert len(made) > 3
    for paper, found in made.items():  # a study that has just begun has no committed outputs
        rows = claims.load(paper).values()
        assert {(r.id, r.section, r.claim) for r in rows} == found


def test_no_path_of_one_machine_and_no_external_data_is_tracked():
    home, texts = os.path.expanduser("~"), "py md toml ipynb yml lock json jsonl csv".split()
    for name in git("ls-files"):
        assert not name.startswith(("data/external/", ".cache/", ".venv/")), name
        if name.rpartition(".")[2] in texts or name == "Makefile":
            text = (paths.ROOT / name).read_text(errors="replace")
            assert f"{paths.ROOT}/" not in text and f"{home}/" not in text, name


def test_recordings_hold_no_prompts():
    for path in paths.RECORDINGS.rglob("*.jsonl"):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            assert (
                isinstance(record["fields"]["messages"], str)
                and len(record["fields"]["messages"]) == 16
            )
            assert line.startswith('{"key":"') and record["item"] and record["returned_model"]


@pytest.mark.parametrize(
    "path, ignored",
    [
        ("figures/runs/sample-mine/index.html", True),
        ("data/recordings/medhalu/sample/mine.jsonl", True),
        ("data/recordings/medhalu/sample/smollm2-135m.jsonl", False),
        ("figures/sample/index.html", False),
        ("figures/sample/notebooks/medhalu/02_detection.html", True),
        ("site/index.html", True),
    ],
)
def test_an_experiment_leaves_the_work_tree_clean(path, ignored):
    asked = ["git", "-C", str(paths.ROOT), "check-ignore", "--quiet", path]
    if (status := subprocess.run(asked).returncode) > 1:
        pytest.skip("not a git checkout")
    assert (status == 0) == ignored


def test_workflows_and_binder_find_what_they_run():
    """Binder reads environment.yml unless a folder of its own is there, and opens JupyterLab."""
    text = "".join(p.read_text() for p in (paths.ROOT / ".github/workflows").glob("*.yml"))
    assert ".ci/run" in text and os.access(paths.ROOT / ".ci/run", os.X_OK)
    assert "make site" in text and re.search("^site:", (paths.ROOT / "Makefile").read_text(), re.M)
    assert "jupyterlab" in (paths.ROOT / "environment.yml").read_text()
    assert not any((paths.ROOT / name).exists() for name in ("binder", ".binder"))
