"""What single cells of a notebook compute, for tests of the definitions that stand in them."""

import functools
import json

from bedside.read import paths


@functools.cache
def compiled(name, cell):
    """A cell's code up to the table or figure that it writes."""
    found = json.loads((paths.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    (source,) = ("".join(c["source"]) for c in found if c["id"] == cell)
    for written in ("run.table(", "run.figure("):
        source = source.partition(written)[0]
    return compile(source, f"<{name}, cell {cell}>", "exec")


def computed(name, cells, /, **given):
    """The variables that cells of a notebook make, one after the other, from those given."""
    for cell in ("c01", *cells.split()):
        exec(compiled(name, cell), given)
    return given
