"""New study: its printed numbers, what follows from them, readings of its claims."""

from bedside.read.claims import same

from .tables import RIGHT


def readings(run, table):
    """Readings of the claims about Table 1: {id: readings}, for `run.claim`."""
    mine = table[table["source"] == "run"].set_index(["row", "column"])["value"]
    id = "new_study-reference"
    return {id: same(run, id, mine["reference", RIGHT], 0)}
