"""Each slow test leaves a fast one of the same assertion: slow.csv is whole and true."""

import csv
import subprocess
import sys

from bedside.read import paths


def test_what_slow_csv_names_is_there_and_its_fast_tests_are_fast():
    with open(paths.ROOT / "tests/slow.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    files = sorted({name.partition("::")[0] for row in rows for name in row.values()})
    listed = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist"]
    listed += ["-o", "addopts=", *files]
    out = subprocess.run(listed, capture_output=True, text=True, cwd=paths.ROOT).stdout
    names = {*out.splitlines()} | {line.partition("[")[0] for line in out.splitlines()}
    slow = {row["slow"] for row in rows}
    for row in rows:
        assert {row["slow"], row["fast"]} <= names and row["fast"] not in slow, row
