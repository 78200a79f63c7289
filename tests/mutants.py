"""How strong the tests are: small faults, drawn by a rule, and which tests notice them.

`make mutants` draws twelve for each of the eight largest packages, seeded by the commit's hash, and
puts one after the other into a scratch checkout. Each runs the fast tests that reach its line, the
quickest first, two minutes of them at most, until one fails; if none does and notebooks reach the
line, they are built and the committed numbers are compared. tests/mutants.csv has the results.
Mutants of an earlier commit stay as long as their function holds the same text, else fresh ones
take their place. Give a row the outcome `equivalent` by hand if no input can tell it from the code.
"""

import argparse
import ast
import csv
import hashlib
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parent.parent
RESULTS, SCRATCH = ROOT / "tests/mutants.csv", ROOT / ".cache/mutants"
COLUMNS = "commit,package,file,function,nth,before,after,outcome,by".split(",")
PACKAGES, EACH = 8, 12
ENOUGH, LONGEST = 120, 900  # seconds of tests a mutant; until it hangs, which is noticed

SWAPPED = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn},
    **{ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div},
    **{ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
}


def package(path: str) -> str:
    """The package of a file below lib/bedside: a study, a room, or the three that make calls."""
    parts = path.split("/")[2:]
    if parts[0] == "papers" and len(parts) > 2:
        return parts[1]
    return "asking" if parts[0] in ("keep", "bulk") else parts[0].removesuffix(".py")


def joined(node: ast.AST) -> bool:
    """Whether texts or paths are put together, where another operator only crashes."""
    return any(
        isinstance(n, ast.JoinedStr | ast.Constant)
        and not isinstance(getattr(n, "value", ""), int | float)
        for n in (node.left, node.right)
    )


def changed(node: ast.AST) -> ast.AST | None:
    """A copy of a node with one fault in it, or None where it can have none."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            return ast.Compare(node.left, [SWAPPED[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in SWAPPED and not joined(node):
            return ast.BinOp(node.left, SWAPPED[type(op)](), node.right)
        case ast.BoolOp():
            return ast.BoolOp(SWAPPED[type(node.op)](), node.values)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)


def mutants(path: str, source: str):
    """Each possible fault in a file's functions: its row, and its place in the text."""
    seen, text = Counter(), source.encode()
    lines = text.splitlines(keepends=True)

    def walk(node, function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
                yield from (m for part in child.body for m in walk(part, name))
                yield from here(child, name)
                continue
            yield from here(child, function)
            yield from walk(child, function)

    def here(node, function):
        if function and (new := changed(node)) and not isinstance(node, ast.JoinedStr):
            start, end = span(lines, node)
            before, after = text[start:end].decode(), f"({ast.unparse(new)})"
            seen[function, before, after] += 1
            nth = seen[function, before, after]
            row = (package(path), path, function, str(nth), before, after)
            yield dict(zip(COLUMNS[1:7], row)), node

    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from walk(ast.Module([statement], []), "")


def possible() -> list[tuple[dict, ast.AST]]:
    """All faults that the library can be given; none inside an f-string, whose places vary."""
    files = sorted((ROOT / "lib/bedside").rglob("*.py"))
    paths = {f.relative_to(ROOT).as_posix(): f.read_text() for f in files}
    return [m for path, text in paths.items() for m in mutants(path, text)]


def place(row: dict) -> tuple:
    """What a mutant is known by: its file, function, and what stands there before and after."""
    return tuple(row[k] for k in COLUMNS[1:7])


def drawn(commit: str, earlier: list[dict]) -> list[tuple[dict, ast.AST]]:
    """Twelve mutants a package: those of `earlier` that still apply, and fresh ones by hash."""
    sites, size = defaultdict(list), Counter()
    for file in sorted((ROOT / "lib/bedside").rglob("*.py")):
        size[package(file.relative_to(ROOT).as_posix())] += file.read_text().count("\n")
    for row, node in possible():
        sites[row["package"]].append((row, node))
    known = {place(r): r for r in earlier}
    chosen = []
    for name, _ in size.most_common(PACKAGES):
        kept = [site for site in sites[name] if place(site[0]) in known]
        fresh = [site for site in sites[name] if place(site[0]) not in known]
        fresh.sort(key=lambda s: hashlib.sha256(repr((commit, place(s[0]))).encode()).digest())
        for row, node in (kept + fresh)[:EACH]:
            old = known.get(place(row), {})
            chosen.append(({**row, "commit": old.get("commit", commit)}, node))
    return chosen


def span(lines: list[bytes], node: ast.AST) -> tuple[int, int]:
    """Where a node begins and ends in a text, by its lines."""
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    return start, sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset


def mutated(source: str, node: ast.AST, after: str) -> str:
    """The text with what stands at a node replaced."""
    text = source.encode()
    start, end = span(text.splitlines(keepends=True), node)
    return (text[:start] + after.encode() + text[end:]).decode()


# What follows runs inside pytest (-p mutants), and notes which test reaches which line.


def pytest_runtest_protocol(item):
    """Let coverage of this process, and of those that it starts, count for the test."""
    import coverage

    os.environ["REACHED_BY"] = item.nodeid
    if measured := coverage.Coverage.current():
        measured.switch_context(item.nodeid)


SETTINGS = """[run]
parallel = true
source = {root}/lib/bedside
data_file = {data}
context = ${{REACHED_BY-}}
patch = subprocess
sigterm = true
disable_warnings = no-data-collected,module-not-imported,module-not-measured
"""


class House:
    """A checkout of the commit in a scratch folder, with this one's environment and data."""

    def __init__(self, commit: str, name: str):
        self.root = SCRATCH / name
        if not (self.root / ".git").exists():
            git("worktree", "prune")
            git("worktree", "add", "--detach", str(self.root), commit)
        git("-C", str(self.root), "checkout", "--quiet", "--force", commit)
        for folder in (".venv", "data/external"):
            if (ROOT / folder).exists() and not (self.root / folder).exists():
                (self.root / folder).symlink_to(ROOT / folder)
        (self.root / ".cache").mkdir(exist_ok=True)
        for part in ("executed", "graded", "stamps"):
            if (ROOT / ".cache" / part).is_dir():
                shutil.copytree(
                    ROOT / ".cache" / part, self.root / ".cache" / part, dirs_exist_ok=True
                )

    def python(self, *arguments, **more):
        """Run Python there; its completed process."""
        where = {"PYTHONPATH": f"{self.root}/lib{os.pathsep}{self.root}/tests"}
        env = {**os.environ, **where, "PYTHONDONTWRITEBYTECODE": "1", **more.pop("env", {})}
        command = [str(ROOT / ".venv/bin/python"), *arguments]
        return subprocess.run(command, cwd=self.root, env=env, text=True, **more)

    def reached(self, commit):
        """{(file, line): names of tests, quickest first}, from one run of the fast tests."""
        import coverage

        rc = self.root / "coverage.ini"
        data = SCRATCH / f"{commit}.coverage"
        if not data.exists():
            rc.write_text(SETTINGS.format(root=self.root, data=data))
            tests = ("-n", "2", "-p", "mutants", "--durations=0", "--durations-min=0", "-vv")
            run = ("-m", "coverage", "run", f"--rcfile={rc}", "-m", "pytest", *tests)
            with open(SCRATCH / f"{commit}.durations", "w") as out:
                self.python(*run, stdout=out, env={"REACHED_BY": ""})
            self.python(
                "-c",
                BUILD.format("notebooks.listed()"),
                env={"COVERAGE_PROCESS_START": str(rc), "REACHED_BY": "build"},
            )
            self.python("-m", "coverage", "combine", f"--rcfile={rc}", "-q")
            git("-C", str(self.root), "checkout", "--quiet", "--force", "figures")
        took = Counter()
        for line in (SCRATCH / f"{commit}.durations").read_text().splitlines():
            parts = line.split(maxsplit=2)
            if len(parts) == 3 and parts[1] in ("call", "setup", "teardown"):
                took[parts[2]] += float(parts[0].rstrip("s"))
        read, reached = coverage.CoverageData(str(data)), {}
        read.read()
        for file in read.measured_files():
            name = Path(file).relative_to(self.root).as_posix()
            for line, contexts in read.contexts_by_lineno(file).items():
                names = {c.split("|")[-1] for c in contexts} - {""}
                quickest = sorted(names, key=lambda n: (took[n], n))
                spent = accumulate(took[n] for n in quickest)
                reached[name, line] = [n for n, s in zip(quickest, spent) if s < ENOUGH]
        return reached

    def outcome(self, row: dict, node: ast.AST, reached: dict) -> tuple[str, str]:
        """(killed or survived, by which test) of one mutant."""
        path = self.root / row["file"]
        sound, lines = path.read_text(), range(node.lineno, node.end_lineno + 1)
        names = {n: None for line in lines for n in reached.get((row["file"], line), ())}
        built = names.pop("build", 0) is None
        path.write_text(mutated(sound, node, row["after"]))
        try:
            if names and (by := self.failing(list(names))):
                return "killed", by
            if built and (self.root / "tests/golden").is_dir():
                study = row["package"] if row["file"].startswith("lib/bedside/papers") else ""
                if self.python(
                    "-c", BUILD.format(f"notebooks.listed({study!r})"), **QUIET
                ).returncode:
                    return "killed", "the build"
                if by := self.failing(["tests/golden"]):
                    return "killed", by
            return "survived", ""
        finally:
            path.write_text(sound)
            git("-C", str(self.root), "checkout", "--quiet", "--force", "figures")

    def failing(self, names):
        """The first of the tests that fails, or ''."""
        chosen = self.root / "chosen.txt"
        chosen.write_text("\n".join(names))
        run = ("-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", "-rfE", f"@{chosen}")
        try:
            done = self.python(*run, capture_output=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return "no end"
        said = [x for x in done.stdout.splitlines() if x.startswith(("FAILED ", "ERROR "))]
        return (said or ["collection"])[0].split(" - ")[0][:200] if done.returncode else ""


BUILD = """
from bedside.build import notebooks
from bedside.publish import pages
notebooks.run_all({}, {{"profile": "sample"}})
pages.merge("sample")
"""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    earlier = list(csv.DictReader(RESULTS.open(newline=""))) if RESULTS.exists() else []
    commit, lock = git("rev-parse", "HEAD"), Lock()
    houses = [House(commit, f"house{n}") for n in range(jobs)]
    chosen, reached = drawn(commit, earlier), houses[0].reached(commit)
    fresh = SCRATCH / f"{commit}.csv"
    done = list(csv.DictReader(fresh.open(newline=""))) if fresh.exists() else []
    known = {place(r) for r in done}
    equivalent = {place(r) for r in earlier if r["outcome"] == "equivalent"}

    def one(mutant):
        row, node = mutant
        if place(row) in known:
            return
        with lock:
            house = houses.pop()
        outcome = house.outcome(row, node, reached)
        if place(row) in equivalent:
            outcome = ("equivalent", "")
        with lock:
            houses.append(house)
            done.append({**row, "outcome": outcome[0], "by": outcome[1]})
            write(fresh, done)
            print(row["package"], row["file"], row["function"], *outcome, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, chosen))
    places = [place(row) for row, _ in chosen]
    done.sort(key=lambda r: places.index(place(r)))
    write(RESULTS, done)
    for name, n in Counter(r["package"] for r in done).items():
        counted = Counter(r["outcome"] for r in done if r["package"] == name)
        print(f"{name:14} {counted['killed']} of {n - counted['equivalent']} noticed")


def write(path, rows):
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
