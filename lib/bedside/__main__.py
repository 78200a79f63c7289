"""python -m bedside: the steps that `make` calls, for use without it too. `check` needs the standard library only."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import BedsideError, choose, paths
from .notebooks import execute, parameters

PASSED = ("PROFILE", "MODE", "MODELS", "JUDGE", "LIMIT", "SEED", "PROMPTS", "BUDGET_USD")    # into every notebook
KNOWN = (*PASSED, "MIRROR", "PYTHON", "CONDA_PREFIX")       # what make takes on its command line


def notebooks(paper=""):
    """The papers' notebooks as <paper>/<name>, in running order: a paper's judges are measured first."""
    found = sorted(paths.NOTEBOOKS.glob("*/[0-9][0-9]_*.ipynb"))
    names = [f"{p.parent.name}/{p.stem}" for p in found]
    return [n for n in sorted(names, key=lambda n: ("judge_agreement" not in n, n)) if n.startswith(paper)]


def check(given, write=None):
    """Validate make's variables (NAME=value strings); write them to a file if they changed since the last time."""
    from . import report

    pairs = dict(g.split("=", 1) for g in given)
    for name in pairs:
        choose(name, KNOWN, "variable")
    report.check(**{n.lower(): pairs.get(n) or report.DEFAULTS.get(n.lower(), "sample") for n in PASSED})
    text = json.dumps({n.lower(): pairs[n] for n in PASSED if pairs.get(n)}, indent=1) + "\n"
    if write:
        path = Path(write)
        path.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{write}.started").touch()
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)


def run(name, given):
    """Execute a notebook by papermill with {parameter: value}; a failing cell is shown and ends the program."""
    have = parameters(name)
    typed = {}
    for key, value in given.items():
        choose(key, have, f"parameter of notebooks/{name}.ipynb")
        typed[key] = type(have[key])(value) if not isinstance(have[key], bool) else value in (True, "True", "1", "yes")
    out = paths.CACHE / "executed" / str(given.get("profile", "sample")) / f"{name}.ipynb"
    out.parent.mkdir(parents=True, exist_ok=True)
    execute(paths.NOTEBOOKS / f"{name}.ipynb", out, typed)


def index(profile, since=None):
    """Merge manifests, write claims and the page; print what a run ends with (`since`: a file touched at its start)."""
    from . import page, report

    manifest = page.merge(profile)
    entries = manifest["notebooks"].values()
    verdicts = [c["verdict"].split()[0] for e in entries for c in e["claims"]]
    lost = sum(r["failed"] for e in entries for r in e["recordings"].values())
    print(f"{sum(len(e['outputs']) for e in entries)} outputs in {paths.rel(report.figures() / profile)}; claims: "
          f"{verdicts.count('holds')} hold, {verdicts.count('differs')} differ, {verdicts.count('needs')} need more"
          + (f"; {lost} calls failed" if lost else "")
          + (f"; {time.time() - Path(since).stat().st_mtime:.0f} s" if since else "")
          + f"\nOpen {paths.rel(report.figures() / profile)}/index.html")


def explorer(given):
    """Write the failure explorer of a profile from its recordings; without a call."""
    import asyncio

    from . import explorer as page
    from . import papers, report

    settings = {k: v for k, v in given.items() if k not in ("mode", "budget_usd")}
    content = asyncio.run(papers.items(**settings))
    path = report.figures() / content["profile"] / "explorer.html"
    page.write(path, content)
    print(f"{len(content['rows'])} replies with their verdicts in {paths.rel(path)} ({path.stat().st_size / 1e6:.1f} MB)")


def seminar():
    """Write both editions of the seminar and the students' zip."""
    from . import seminar as sheets

    path = sheets.build()
    print(f"{len(sheets.sources())} sheets in {paths.rel(path.parent)}/students and instructors; to hand out: "
          f"{paths.rel(path)} ({path.stat().st_size / 1e6:.1f} MB)")


def data(profile, mirror):
    """Fetch and verify every source of a profile; go on after a failure and report all of them."""
    from . import sources

    failed = []
    for name in sources.used_by(profile):
        try:
            print(f"{sources.fetch(name, mirror):8} {name}")
            if rows := sources.differing(name):
                print(f"         {len(rows)} rows differ from the copy that the recordings were made from: "
                      f"{', '.join(rows[:20])}{', ...' if len(rows) > 20 else ''}")
        except sources.SourceError as e:
            if sources.entry(name).get("optional") and isinstance(e.__cause__, OSError):     # it could not be had
                print(f"absent   {name} (optional: what needs it says so): {e}")
            else:
                failed.append(str(e))
    if failed:
        raise BedsideError("\n".join(failed))


def plan(given, paper=""):
    """Calls, tokens and cost of what has no recording, without a call. Later steps count with answers of full length.

    A call that several notebooks make counts for the first of them: its answer is recorded then.
    """
    from . import models

    with tempfile.TemporaryDirectory() as tmp:
        os.environ["BEDSIDE_FIGURES"] = tmp
        first = {}
        for name in notebooks(paper):
            run(name, {**given, "mode": "plan"})
            for p in Path(tmp).glob(f"*/.parts/{name.replace('/', '.')}.plan.json"):
                for r in json.loads(p.read_text()):
                    first.setdefault(r["key"], (name, r))
        rows = list(first.values())
        print(f"{'notebook':40} {'model':24} {'calls':>7} {'prompt':>9} {'reply':>9}  at most")
        total = 0.0
        for key in sorted({(n, r["model"]) for n, r in rows}):
            mine = [r for n, r in rows if (n, r["model"]) == key]
            tokens = sum(r["prompt"] for r in mine), sum(r["completion"] for r in mine)
            price = models.cost(key[1], *tokens)
            total = None if price is None or total is None else total + price
            print(f"{key[0]:40} {key[1]:24} {len(mine):7} {tokens[0]:9} {tokens[1]:9}  "
                  + ("unknown price" if price is None else f"${price:.2f}"))
        print(f"{len(rows)} calls; " + ("cost unknown: a price is missing in data/models.toml" if total is None
                                        else f"at most ${total:.2f}"))


def verify(profile):
    """Rebuild a profile in a scratch folder and compare with what is committed (without git: with what lies there).

    CSV, Markdown, LaTeX and trust cards byte for byte; SVG, PNG, index.html and the explorer's data too where the versions
    are the ones of the committed manifest. Raises BedsideError naming what moved.
    """
    from . import page

    scratch = paths.CACHE / "verify"
    subprocess.run(["rm", "-rf", str(scratch)], check=True)
    os.environ["BEDSIDE_FIGURES"] = str(scratch)
    for name in notebooks():
        run(name, {"profile": profile})
    built = page.merge(profile)["notebooks"]
    if f"{profile}/explorer.html" in _committed_names(profile):
        explorer({"profile": profile})
    old = json.loads(_committed(f"{profile}/manifest.json") or "{}").get("notebooks", {})
    locked = all(built[k]["versions"] == old.get(k, {}).get("versions") for k in built)
    loose = () if locked else (".svg", ".png", ".html")
    files = [p.relative_to(scratch).as_posix() for p in sorted((scratch / profile).rglob("*"))
             if p.is_file() and ".parts" not in p.parts and p.name != "manifest.json" and p.suffix not in loose]
    kept = [f for f in _committed_names(profile) if not f.endswith(("manifest.json", *loose))]
    moved = [f for f in sorted({*files, *kept}) if f not in files or not _same(f, _committed(f), (scratch / f).read_bytes())]
    print(f"{len({*files, *kept}) - len(moved)} of {len({*files, *kept})} identical"
          + ("" if locked else " (pictures not compared: other versions than the committed run's)"))
    if moved:
        raise BedsideError("moved against the committed run:\n  " + "\n  ".join(
            f"figures/{f}" + ("" if f in files else " (committed, not built)" if f in kept else "")
            + (" (built, not committed)" if f not in kept else "") for f in moved))


def _same(name, committed, built):
    """Whether two files hold the same: byte for byte, the explorer's data unpacked."""
    if committed is None or not name.endswith("/explorer.html"):
        return committed == built
    from . import explorer

    return explorer.read(committed.decode()) == explorer.read(built.decode())


def _git(*arguments):
    done = subprocess.run(["git", "-C", str(paths.ROOT), *arguments], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def _committed(name):
    """Bytes of figures/<name> as committed, or as they lie there in a copy without git; None if there are none."""
    if _git("rev-parse", "HEAD") is not None:
        return _git("show", f"HEAD:figures/{name}")
    path = paths.FIGURES / name
    return path.read_bytes() if path.is_file() else None


def _committed_names(profile):
    listed = _git("ls-tree", "-r", "--name-only", "HEAD", f"figures/{profile}/")
    if listed is None:
        listed = "\n".join(paths.rel(p) for p in (paths.FIGURES / profile).rglob("*")
                           if p.is_file() and ".parts" not in p.parts).encode()
    return [n.removeprefix("figures/") for n in listed.decode().splitlines()]


def serve():
    """Serve the embedded model in the foreground, with llama.cpp's OpenAI-compatible interface."""
    from . import local

    with local.running() as url:
        print(f"{url} (OpenAI-compatible; model {Path(local.MEMBER).stem}; end with Ctrl-C)", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print()


def doctor():
    """What this checkout has and lacks: Python, packages, weights, data, recordings."""
    import importlib.metadata

    from . import local, models, sources, store

    print(f"Python {sys.version.split()[0]} at {sys.prefix}")
    for package in ("papermill", "openai", "pandas", "matplotlib", "scikit-learn", "xllamacpp"):
        try:
            print(f"  {package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"  {package} missing: `make setup`")
    weights = paths.CACHE / "local" / Path(local.MEMBER).name
    print(f"weights of the embedded model: {'present' if weights.is_file() else 'fetched when first needed (93 MB)'}")
    for name in sources.registry():
        try:
            sources.check(name)
            print(f"source {name}: as it should be")
        except sources.SourceError as e:
            print(f"source {name}: {e}")
    for folder in sorted({p.parent for p in paths.RECORDINGS.rglob("*.jsonl")}):
        recordings = store.Recordings(folder)
        count = sum(1 for _ in recordings.records())
        print(f"recordings {paths.rel(folder)}: {count} replies, {len(recordings.damaged)} damaged lines"
              + "".join(f"\n  {place}: {why}" for place, why in recordings.damaged.items()))
    for name, m in models.registry().items():
        if variable := m.get("api_key_env"):
            print(f"model {name}: key in {variable} {'set' if os.environ.get(variable) else 'not set'}")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m bedside", description="Bedside's steps, as make calls them.")
    step = parser.add_subparsers(dest="step", required=True)
    p = step.add_parser("check", help="validate make's variables")
    p.add_argument("given", nargs="*")
    p.add_argument("--write")
    p = step.add_parser("run", help="execute notebooks (all without a name)")
    p.add_argument("name", nargs="*")
    p.add_argument("--file", help="parameters as JSON")
    p.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    for name, text in (("plan", "calls, tokens and cost before anything is spent"), ("record", "run with MODE=record")):
        p = step.add_parser(name, help=text)
        p.add_argument("paper", nargs="?", default="")
        p.add_argument("--file")
        p.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    p = step.add_parser("explorer", help="write the failure explorer")
    p.add_argument("--file")
    p.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    step.add_parser("seminar", help="write both editions of the seminar and the students' zip")
    p = step.add_parser("index", help="write manifest, claims and index.html")
    p.add_argument("--profile", default="sample")
    p.add_argument("--since")
    p = step.add_parser("data", help="fetch and verify the data of a profile")
    p.add_argument("--profile", default="public")
    p.add_argument("--mirror")
    p = step.add_parser("verify", help="rebuild and compare with what is committed")
    p.add_argument("--profile", default="sample")
    step.add_parser("serve", help="serve the embedded model")
    step.add_parser("doctor", help="what this checkout has and lacks")
    a = parser.parse_args(arguments)
    try:
        given = {**(json.loads(Path(a.file).read_text()) if getattr(a, "file", None) else {}), **dict(getattr(a, "p", []))}
        if a.step == "check":
            check(a.given, a.write)
        elif a.step == "run":
            for name in a.name or notebooks():
                run(choose(name.removeprefix("notebooks/").removesuffix(".ipynb"), notebooks(), "notebook"), given)
        elif a.step == "plan":
            plan(given, a.paper)
        elif a.step == "record":
            for name in notebooks(a.paper):
                run(name, {**given, "mode": "record"})
            index(given.get("profile", "sample"))
        elif a.step == "explorer":
            explorer(given)
        elif a.step == "index":
            index(a.profile, a.since)
        elif a.step == "data":
            data(a.profile, a.mirror)
        elif a.step == "verify":
            verify(a.profile)
        else:
            {"serve": serve, "doctor": doctor, "seminar": seminar}[a.step]()
    except BedsideError as e:
        print(f"bedside: {e}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
