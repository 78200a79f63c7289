"""All checks of a file of printed numbers: as a frame, and on a page, as `make check` writes it."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bedside import BedsideError, stats
from bedside.build import settings
from bedside.publish import pages
from bedside.read import paths, prompts
from bedside.write import tables

from . import scores, single, tests
from .rows import Row, readings
from .verdicts import VERDICTS, Result

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "row", "column", "value", "n", "kind", "verdict", "only_if", "arithmetic")
COLUMNS += ("would_fit", "power", "condition", "place")
CHECKS = {
    "share": single.grim,
    "accuracy": single.grim,
    "mean": single.grim,
    "count": single.count,
    "sd": single.sd,
    "total": single.total,
    "difference": single.difference,
    "ratio": single.ratio,
    "mean of rows": single.mean_of_rows,
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

    ways = [list(_results(rows, seconds)) for rows in readings(source)]
    results = sorted((_better(*way) for way in zip(*ways, strict=True)), key=_rank)
    return pd.DataFrame([_line(*result) for result in results], columns=COLUMNS)


def _rank(result):
    return VERDICTS.index(result[1].verdict)


def _better(by_point, by_comma=None):
    """Of a check's two results the one that says less against its numbers, and how it reads them.

    Each is the check's rows and what it says. One alone is it.
    """
    if by_comma is None or by_point[0] == by_comma[0]:
        return by_point
    rows, result = better = max(by_point, by_comma, key=_rank)
    told = f"read with a decimal {'point' if better is by_point else 'comma'}"
    if by_point[1].verdict == by_comma[1].verdict:
        told = "read with a decimal point; with a comma it is so, too"
    return rows, result._replace(condition="; ".join(filter(None, (result.condition, told))))


def _results(every, seconds) -> Iterable[tuple[list[Row], Result]]:
    """All checks, each with the rows that it is about."""
    groups = scores.groups(every)
    grouped, sharing = {r.place for group in groups for r in group}, {}
    for r in every:
        if r.place not in grouped:
            alone = r.kind == "kappa"
            yield [r], scores.kappa(r, seconds) if alone else CHECKS[r.kind](r, every)
    for group in groups:
        fits = scores.search(group, seconds)
        yield group, scores.scores(group, fits, every, seconds)
        if word := scores.shared(group):
            sharing.setdefault(word, []).append((group, fits))
    for pairs in sharing.values():
        of_word, fits = zip(*pairs)
        yield [group[0] for group in of_word], scores.positives(of_word, fits, seconds)


def _line(rows, result):
    """A line of the frame: the names of its rows, each once, and what the check says."""

    def joined(name):
        values = [str(value) for r in rows if (value := getattr(r, name)) is not None]
        return ", ".join(dict.fromkeys(values))

    values = ", ".join(r.text for r in rows) if len({r.row for r in rows}) == 1 else ""
    return (
        *map(joined, COLUMNS[:3]),
        values,
        ", ".join(map(str, sorted({r.n for r in rows} - {None}))),
        *result[:3],
        "\n".join(filter(None, result.lines)),
        *result[4:],
        joined("place"),
    )


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
        heads=("where", "printed", "arithmetic", "would fit", "power, condition"),
    )
    paths.write(folder / FILES[0], prompts.plain(page))
    told = ", ".join(f"{len(rows)} {verdict}" for verdict, rows in of.items() if rows)
    return folder / FILES[0], f"{len(checks)} checks: {told}"


def template(path: Path = Path("numbers.csv")) -> Path:
    """Write a file with a row of every kind, to be filled in; BedsideError if one is there."""
    if path.exists():
        raise BedsideError(f"{path} is there already; move it away, or check it: NUMBERS={path}")
    paths.write(path, EXAMPLE.read_bytes())
    return path
