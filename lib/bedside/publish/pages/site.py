"""A folder for a static host: the pages of both profiles and the files that they link to."""

import shutil
from pathlib import Path

from bedside import BedsideError
from bedside.build import notebooks, settings
from bedside.read import paths

from . import ACROSS, frame, last, write
from .content import ABOUT, Pages

PROFILES = ("sample", "public")


def write_site(site: Path) -> Path:
    """Write the pages of both profiles into a new folder `site`; return its first page.

    They show the committed runs. `sample` has its executed notebooks and the explorer; `public`
    has neither, since they hold other people's texts. Raises BedsideError if a notebook of
    `sample` was not executed in this checkout.
    """
    shutil.rmtree(site, ignore_errors=True)
    for profile in PROFILES:
        here, manifest = paths.FIGURES / profile, last(paths.FIGURES / profile)
        files = [here / name for name in ("manifest.json", "claims.csv", "readings.csv")]
        files += here.glob("letters/*")
        entries = manifest["notebooks"] | {"": manifest.get("across", {})}
        for name, entry in entries.items():
            made = [o["file"] for k in ("outputs", "graded") for o in entry.get(k, ())]
            files += [here / (name.partition("/")[0] or "across") / file for file in made]
        if profile == "sample":
            files.append(here / "explorer.html")
            names = manifest["notebooks"]
            if lost := [n for n in names if not notebooks.executed(n, profile).is_file()]:
                raise BedsideError(f"{', '.join(lost)}: not executed here yet; run make all first")
        files += [here / ACROSS] * ("across" in manifest)
        files += [paths.NOTEBOOKS / f"{name}.ipynb" for name in manifest["notebooks"]]
        for file in files:
            base = paths.FIGURES if file.is_relative_to(paths.FIGURES) else paths.ROOT
            to = site / file.relative_to(base)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
        pages = Pages(manifest, site / profile, site=True)
        pages.write()
        pages.write_notebooks()
    about = {f"{p}/index.html": settings.profiles()[p]["about"] for p in PROFILES}
    shown = frame({"index.html": "Bedside"}, "index.html", told=ABOUT)
    return write(site / "index.html", "site", frame=shown, about=about, studies=paths.papers())
