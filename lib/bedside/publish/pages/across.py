"""The page of all studies side by side: its executed notebook, in the common frame.

It is of a profile's committed run, and made when outputs and claims of all studies are there.
"""

import json
import re
from pathlib import Path

from bedside.build import notebooks

from . import ACROSS, HERE, drawing, executed, save, template
from .content import Pages

PLACE = "across"  # its outputs, below the profile's folder
TOLD = "What four studies of how language models fail patients found, each on its own scale."
IMAGE = re.compile(r'<img\b[^>]*src="data:image/png;base64,[^>]*>')


def write(manifest: dict, folder: Path) -> None:
    """Execute the notebook, note its outputs in the manifest, write its page.

    Nothing is done for a run with other settings, or where a study has no outputs.
    """
    pages = Pages(manifest, folder)
    if not pages.across:
        return
    made = executed.read(notebooks.run(notebooks.ACROSS, {"profile": manifest["profile"]}))
    part = json.loads((folder / f".parts/{PLACE}.{notebooks.ACROSS}.json").read_text())
    save(folder, {**manifest, PLACE: part})
    # papermill's own cell has another id each time
    made.cells = [c for c in made.cells if "injected-parameters" not in c.metadata.get("tags", ())]
    draw, outputs = template(HERE / "parts.html.j2").module.titled, part["outputs"]
    drawn = [o for o in outputs if o["file"].endswith(".svg") and ".narrow." not in o["file"]]
    pictures = (
        draw(drawing(folder / PLACE / o["file"], o["title"]), o.get("message") or o["title"])
        for o in drawn
    )
    pages.page(
        ACROSS,
        "across",
        told=TOLD,
        # the notebook's pictures as SVG, for light and dark, wide and narrow screens
        body=IMAGE.sub(
            lambda found: next(pictures, found[0]),
            executed.converted(made, raw_template=executed.FOLDED),
        ),
        names=dict.fromkeys(o["file"].partition(".")[0] for o in outputs),
        title=notebooks.title(notebooks.ACROSS),
        code=executed.style(),
    )
