"""A sheet as a page for a projector: large type, no answers, one file without scripts."""

import re
from pathlib import Path

from bedside.publish.pages import executed, frame, template

FOLDER = Path(__file__).parent
# How outputs begin that say only that nothing was answered or handed in yet.
WIDGET = "application/vnd.jupyter.widget-view+json"
WAITS = re.compile(r"…|0 of \d+ tasks done|'?Nobody has handed in")
EMPTY = re.compile(r"<th\b([^>]*)>(?:\s|&nbsp;)*</th>")  # an empty heading is no heading


def page(path):
    """The HTML of an executed students' sheet: its texts, tasks and material."""
    made = executed.read(path)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if not _waits(o)]
    heading = next(c.source for c in made.cells if c.cell_type == "markdown")
    unprompted = {"exclude_input_prompt": True, "exclude_output_prompt": True}
    body = executed.converted(made, **unprompted)
    return template(FOLDER / "projector.html.j2").render(
        title=heading.splitlines()[0].lstrip("# "),
        frame=frame({}),
        code=executed.style(),
        body=EMPTY.sub(r"<td\1></td>", body),
    )


def _waits(output):
    if WIDGET in output.get("data", {}):
        return True
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return bool(WAITS.match("".join(text)))
