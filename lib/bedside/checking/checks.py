"""All checks of a file of printed numbers: as a frame, and on a page, as `make check` writes it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bedside import BedsideError, stats
from bedside.build import settings
from bedside.publish import pages
from bedside.read import paths, prompts
from bedside.write import tables

from . import scores, single, tests
from .rows import Row, read
from .verdicts import VERDICTS, Result, Untestable, outside

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "row", "column", "value", "n", "kind", "verdict", "only_if", "arithmetic")
COLUMNS += ("condition", "place")
CHECKS = {
    "share": single.grim,
    "accuracy": single.grim,
    "mean": single.grim,
    "count": single.count,
    "sd": single.sd,
    **dict.fromkeys(single.MADE, single.made_of),
    "p": tests.p,
    "interval": tests.interval,
}


def check(source: "str | Path | pd.DataFrame", seconds: float = stats.SECONDS) -> "pd.DataFrame":
    """Check the printed numbers of a file or frame: which are possible, and which are not.

    source: a CSV or JSON Lines file, or a frame, with the columns of docs/check.md; values are
    text. seconds: the limit of time for one search of matrices. A row for each check with COLUMNS,
    the worst verdicts first. Raises BedsideError with all faults of the file.
    """
    import pandas as pd

    results = []
    for rows, kind, made in _checks(read(source), seconds):
        try:
            result = next(filter(None, map(outside, (r for r in rows if r.number))), None) or made()
        except Untestable as why:
            result = Result(kind, "not testable", f"{why}", f"Not testable: {why}.")
        results.append((rows, result))
    results.sort(key=lambda made: VERDICTS.index(made[1].verdict))
    return pd.DataFrame([_line(*result) for result in results], columns=COLUMNS)


def _checks(every, seconds) -> Iterator[tuple[list[Row], str, Callable[[], Result]]]:
    """All checks, each with the rows that it is about, and its name."""
    groups = scores.groups(every, seconds)
    grouped, sharing = {r.place for group in groups for r in group.rows.values()}, {}
    for r in every:
        if r.kind == "kappa" and r.place not in grouped:
            yield [r], "kappa", lambda r=r: scores.scores(scores.of_kappa(r, seconds), every)
        elif r.place not in grouped:
            kind = "share" if r.kind == "accuracy" else r.kind
            yield [r], kind, lambda r=r: CHECKS[r.kind](r, every)
    for group in groups:
        rows = [*group.rows.values()]
        yield rows, "scores of one matrix", lambda group=group: scores.scores(group, every)
        if isinstance(group.positives, str):
            sharing.setdefault(group.positives, []).append(group)
    for shared in sharing.values():
        rows = [group.first for group in shared]
        yield rows, "rows that share positives", lambda shared=shared: scores.positives(shared)


def _line(rows, result):
    """A line of the frame: the names of its rows, each once, and what the check says."""

    def joined(name):
        values = [str(value) for r in rows if (value := getattr(r, name)) is not None]
        return ", ".join(dict.fromkeys(values))

    values = ", ".join(r.text for r in rows) if len({r.row for r in rows}) == 1 else ""
    return (*map(joined, COLUMNS[:3]), values, joined("n"), *result, joined("place"))


# ---- files


EXAMPLE = paths.DATA / "sample/check/every_kind.csv"
FILES = ("index.html", "checks.csv")


def write(source: "str | Path | pd.DataFrame", name: str = "") -> tuple[Path, str]:
    """Check printed numbers and write index.html and checks.csv; return the page and the verdicts.

    They go to figures/checked/<name>; name: the file's unless it is given.
    """
    name = name or (Path(source).stem if isinstance(source, str | Path) else "frame")
    name = name.strip(".") or "numbers"  # a folder of its own
    checks = check(source)
    folder = settings.figures() / "checked" / settings.short(paths.file_name(name))
    folder.mkdir(parents=True, exist_ok=True)
    text = tables.csv_text(checks.columns, checks.itertuples(index=False))
    paths.write(folder / FILES[1], prompts.plain(text))
    of = {v: checks[checks["verdict"] == v].to_dict("records") for v in VERDICTS}
    page = pages.template(Path(__file__).with_name("check.html.j2")).render(
        frame=pages.frame({FILES[0]: "Checked"}, FILES[0]),
        name=name,
        verdicts=of,
        seconds=f"{stats.SECONDS:g}",
        file=FILES[1],
        heads=("where", "printed", "arithmetic", "condition"),
    )
    paths.write(folder / FILES[0], prompts.plain(page))
    counts = ", ".join(f"{len(rows)} {verdict}" for verdict, rows in of.items() if rows)
    return folder / FILES[0], f"{len(checks)} checks: {counts}"


def template(path: Path = Path("numbers.csv")) -> Path:
    """Write a file with a row of every kind, to be filled in; BedsideError if one is there."""
    if path.exists():
        raise BedsideError(f"{path} exists already. Move it, or check it with NUMBERS={path}.")
    paths.write(path, EXAMPLE.read_bytes())
    return path
