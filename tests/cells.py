"""What single cells of a notebook compute, for tests of the definitions that stand in them."""

import functools
import json

from bedside.read import paths


@functools.cache
def compiled(name, cell=None):
    """A cell's code up to the table or figure that it writes; None: of the first, with imports."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [c for c in found if c["cell_type"] == "code"]
    (source,) = ("".join(c["source"]) for c in code if c["id"] == (cell or code[0]["id"]))
    for written in ("run.table(", "run.figure("):
        source = source.partition(written)[0]
    return compile(source, f"<{name}, cell {cell}>", "exec")


def computed(name, cells, /, **given):
    """The variables that cells of a notebook make, one after the other, from those given."""
    for cell in (None, *cells.split()):
        exec(compiled(name, cell), given)
    return given
