"""The page of all studies side by side: its executed notebook, in the common frame.

It is of a profile's committed run, and made when outputs and claims of all studies are there.
"""

import json
import re
from pathlib import Path

from bedside.build import notebooks

from . import ACROSS, HERE, encoded, executed, save, template
from .content import Pages

PLACE = "across"  # its outputs, below the profile's folder
TOLD = "What four studies of how language models fail patients found, each on its own scale."
IMAGE = re.compile(r'<img\b[^>]*src="data:image/png;base64,[^>]*>')
SCROLLS = re.compile(r'<div class="output_html\b[^">]*"')  # so the keyboard has to reach it


def write(manifest: dict, folder: Path) -> Path | None:
    """Execute the notebook, note its outputs in the manifest, write its page; return its path.

    None, and nothing is done, for a run with other settings, or where a study has no outputs.
    """
    shown = Pages(manifest, folder)
    if not shown.across:
        return None
    made = executed.read(notebooks.run(notebooks.ACROSS, {"profile": manifest["profile"]}))
    part = json.loads((folder / f".parts/{PLACE}.{notebooks.ACROSS}.json").read_text())
    save(folder, {**manifest, PLACE: part})
    # papermill's own cell has another id each time
    made.cells = [c for c in made.cells if "injected-parameters" not in c.metadata.get("tags", ())]
    body = executed.converted(made, raw_template=executed.FOLDED)
    body = SCROLLS.sub(r'\g<0> tabindex="0"', _drawn(body, folder / PLACE, part["outputs"]))
    names = dict.fromkeys(o["file"].partition(".")[0] for o in part["outputs"])
    about = {"title": notebooks.title(notebooks.ACROSS), "code": executed.style()}
    shown.page(ACROSS, "across", told=TOLD, body=body, place=PLACE, names=names, **about)
    return folder / ACROSS


def _drawn(body, folder, outputs):
    """The notebook's pictures as SVG, for light and dark, wide and narrow screens."""
    draw = template(HERE / "parts.html.j2").module.picture
    pictures = iter(
        draw(
            {
                "title": o["title"],
                "svg": encoded(folder / o["file"]),
                "narrow": encoded((folder / o["file"]).with_suffix(".narrow.svg")),
            }
        )
        for o in outputs
        if o["file"].endswith(".svg") and ".narrow." not in o["file"]
    )
    return IMAGE.sub(lambda found: next(pictures, found[0]), body)
