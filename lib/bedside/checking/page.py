"""What `make check` writes: a page, a CSV of all checks, and the template of a file."""

from pathlib import Path
from typing import TYPE_CHECKING

from bedside import BedsideError, stats
from bedside.build import settings
from bedside.publish import pages
from bedside.read import paths, prompts
from bedside.write import tables

from .checks import check
from .verdicts import VERDICTS

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = paths.DATA / "sample/check/every_kind.csv"
FILES = ("index.html", "checks.csv")


def write(source: "str | Path | pd.DataFrame", name: str = "") -> tuple[Path, str]:
    """Check printed numbers and write index.html and checks.csv; return the page and the verdicts.

    They go to figures/checked/<name>; name: the file's unless it is given.
    """
    name = name or (Path(source).stem if isinstance(source, str | Path) else "frame")
    name = name.strip(".") or "numbers"  # a folder of its own
    found = check(source)
    folder = settings.figures() / "checked" / settings.short(paths.file_name(name))
    folder.mkdir(parents=True, exist_ok=True)
    text = tables.csv_text(found.columns, found.itertuples(index=False))
    paths.write(folder / FILES[1], prompts.plain(text))
    page = pages.template(Path(__file__).with_name("check.html.j2")).render(
        frame=pages.frame({FILES[0]: "Checked"}, FILES[0]),
        name=name,
        verdicts={v: found[found["verdict"] == v].to_dict("records") for v in VERDICTS},
        seconds=f"{stats.SECONDS:g}",
        file=FILES[1],
    )
    path = folder / FILES[0]
    paths.write(path, prompts.plain(page))
    counts = found["verdict"].value_counts()
    told = ", ".join(f"{counts[v]} {v}" for v in VERDICTS if v in counts)
    return path, f"{len(found)} checks: {told}"


def template(path: Path = Path("numbers.csv")) -> Path:
    """Write a file with a row of every kind, to be filled in; BedsideError if one is there."""
    if path.exists():
        raise BedsideError(f"{path} is there already; move it away, or check it: NUMBERS={path}")
    paths.write(path, EXAMPLE.read_bytes())
    return path
