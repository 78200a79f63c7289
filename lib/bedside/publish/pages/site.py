"""A folder for a static host: the pages of both profiles and the files that they link to."""

import shutil
from pathlib import Path

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths

from . import frame, last, write
from .content import ABOUT, Pages

PROFILES = {  # and which of their files have no place there, besides parts
    "sample": ("*.tex",),
    "public": ("*.tex", "notebooks", "explorer.html"),  # texts of other people
}


def write_site(site: Path) -> Path:
    """Write the pages of both profiles into a new folder `site`; return its first page.

    They show the committed runs. `sample` has its executed notebooks and the explorer; `public`
    has neither, since they hold other people's texts. Raises BedsideError if a notebook of
    `sample` was not executed in this checkout.
    """
    shutil.rmtree(site, ignore_errors=True)
    for name in notebooks.listed():
        if not notebooks.executed(name, "sample").is_file():
            raise BedsideError(f"{name}: not executed yet. Run make all first.")
        copied = site / "notebooks" / f"{name}.ipynb"
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.NOTEBOOKS / f"{name}.ipynb", copied)
    for profile, left in PROFILES.items():
        ignored = shutil.ignore_patterns(".*", *left)
        shutil.copytree(paths.FIGURES / profile, site / profile, ignore=ignored)
        pages = Pages(last(paths.FIGURES / profile), site / profile, site=True)
        pages.write()
        if "notebooks" not in left:
            pages.write_notebooks()
    about = {f"{p}/index.html": settings.profiles()[p]["about"] for p in PROFILES}
    shown = frame({"index.html": "Bedside"}, "index.html", told=ABOUT)
    return write(site / "index.html", "site", frame=shown, about=about, studies=paths.papers())
