"""The seminar's sheets, run in this process, and the tables of answers that students would give."""

import json
import tomllib
from pathlib import Path
from types import ModuleType

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from bedside.seminar import editions, sheets

FOUND = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).with_name("readers").glob("answers/*.toml"))
}
FORTY = FOUND["forty"]
TABLES = {paper: tables for paper, tables in FOUND.items() if paper != "forty"}


def answer(paper, number, row=None):
    """A row of a task's table, or its base, as the whole answer that a student would give."""
    table = TABLES[paper][number]
    made = table["base"] if row is None else row
    return {**table["base"], **made} if isinstance(made, dict) else made


def execute(path, out, given):
    """What `bedside.build.notebooks.execute` does, without a kernel, and without pictures.

    Returns the sheets that the notebook opened.
    """
    shell = InteractiveShell.instance(user_module=ModuleType("a_sheet"))  # __main__ stays pytest's
    made = json.loads(path.read_text(encoding="utf-8"))
    try:
        for cell in (c for c in made["cells"] if c["cell_type"] == "code"):
            with capture_output() as said:
                done = shell.run_cell(cell["source"])
            assert done.success, (path.name, cell["source"], done.error_in_exec)
            data = [{"text/plain": said.stdout.split("Out[")[0]}, *(o.data for o in said.outputs)]
            if not hasattr(done.result, "_ipython_display_"):  # which was shown already
                data.append(shell.display_formatter.format(done.result)[0])
            cell["outputs"] = [
                {"output_type": "display_data", "metadata": {}, "data": texts}
                for d in data
                if (texts := {k: v for k, v in d.items() if k in ("text/html", "text/plain")})
            ]
        opened = [v for v in shell.user_ns.values() if isinstance(v, sheets.Sheet)]
    finally:
        shell.reset()
        InteractiveShell.clear_instance()
    out.write_text(json.dumps(made), encoding="utf-8")
    return list(dict.fromkeys(opened))


def ran(path, students, scratch):
    """(notebook, sheets) of a sheet's text, as students open it or as it is solved."""
    place = scratch / f"{path.stem}.ipynb"
    place.write_text(json.dumps(editions.notebook(path, students)), encoding="utf-8")
    opened = execute(place, place, {})
    return json.loads(place.read_text(encoding="utf-8")), opened
