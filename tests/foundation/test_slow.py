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
    names = {}
    for which in ("slow", "not slow"):
        out = subprocess.run([*listed, "-m", which], capture_output=True, text=True, cwd=paths.ROOT)
        names[which] = {*out.stdout.splitlines()}
        names[which] |= {name.partition("[")[0] for name in names[which]}
    for row in rows:
        assert row["slow"] in names["slow"], row
        assert row["fast"] in names["not slow"], row
