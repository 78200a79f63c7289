"""Each slow test leaves a fast one of the same assertion: slow.csv is whole and true."""

import csv

from bedside.read import paths


def test_what_slow_csv_names_is_there_and_its_fast_tests_are_fast(request):
    with open(paths.ROOT / "tests/slow.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    here = {item.nodeid for item in request.session.items}  # the fast tests of the files that run
    fast = here | {name.partition("[")[0] for name in here}
    files = {name.partition("::")[0] for name in here}
    for row in rows:
        for name in row.values():
            if name.startswith("1 in "):
                name = row["slow"]
            elif name == row["fast"] and name.partition("::")[0] in files:
                assert name in fast, row
            file, _, test = name.partition("[")[0].partition("::")
            assert f"def {test}(" in (paths.ROOT / file).read_text(), row
        if row["fast"].startswith("1 in ") and row["slow"].partition("::")[0] in files:
            assert row["slow"] in fast, row
