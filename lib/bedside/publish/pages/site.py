"""A folder for a static host: the pages of both profiles and the files that they link to."""

import shutil
from pathlib import Path

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths

from . import ACROSS, HERE, content, frame, last, template

KEPT = ("outputs", "graded")  # a notebook's files in a manifest
PROFILES = ("sample", "public")


def write(site: Path) -> Path:
    """Write the pages of both profiles into a new folder `site`; return its first page.

    They show the committed runs. `sample` has its executed notebooks and the explorer; `public`
    has neither, since they hold other people's texts. Raises BedsideError if a notebook of
    `sample` was not executed in this checkout.
    """
    shutil.rmtree(site, ignore_errors=True)
    for profile in PROFILES:
        _profile(profile, site / profile)
    about = {f"{p}/index.html": settings.profiles()[p]["about"] for p in PROFILES}
    shown = frame({"index.html": "Bedside"}, "index.html", told=content.ABOUT)
    text = template(HERE / "site.html.j2").render(frame=shown, about=about, studies=paths.papers())
    paths.write(site / "index.html", text)
    return site / "index.html"


def _profile(profile, to):
    """One profile's pages and files."""
    here = paths.FIGURES / profile
    manifest = last(here)
    files = ["manifest.json", "claims.csv", "readings.csv"]
    files += [p.relative_to(here) for p in here.glob("letters/*")]
    for name, entry in manifest["notebooks"].items():
        files += [f"{entry['paper']}/{o['file']}" for k in KEPT for o in entry.get(k, ())]
        copied = to.parent / "notebooks" / f"{name}.ipynb"
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.NOTEBOOKS / f"{name}.ipynb", copied)
    if "across" in manifest:
        files += [ACROSS, *(f"across/{o['file']}" for o in manifest["across"]["outputs"])]
    if profile == "sample":
        files.append("explorer.html")
        lost = [n for n in manifest["notebooks"] if not notebooks.executed(n, profile).is_file()]
        if lost:
            raise BedsideError(f"{', '.join(lost)}: not executed here yet; run make all first")
    for file in files:
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(here / file, to / file)
    content.write(manifest, to, site=True)
    content.write_notebooks(manifest, to, site=True)
