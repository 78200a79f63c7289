"""Notebooks: their parameters, and running one by papermill."""

import ast
import json
import sys
import tempfile

from . import BedsideError, paths


def parameters(name):
    """Names and defaults in a notebook's cell tagged `parameters`."""
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    cells = [c for c in json.loads(path.read_text())["cells"] if "parameters" in c["metadata"].get("tags", [])]
    if len(cells) != 1:
        raise BedsideError(f"{paths.rel(path)}: one cell must be tagged parameters, not {len(cells)}")
    return {n.targets[0].id: ast.literal_eval(n.value) for n in ast.parse("".join(cells[0]["source"])).body
            if isinstance(n, ast.Assign)}


def execute(path, out, given):
    """Run the notebook `path` from the repository's root with these parameters and write it to `out`; BedsideError shows a failing cell."""
    # jsonschema builds a grammar for internationalised addresses when imported, a fifth of a run's time; it does without
    sys.modules.setdefault("rfc3987_syntax", None)
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    try:
        with tempfile.TemporaryDirectory() as own:      # sockets in a folder of its own: no port that others see, and -j2 works
            papermill.execute_notebook(str(path), str(out), parameters=given, kernel_name="python3", progress_bar=False, cwd=str(paths.ROOT),
                                       config=Config({"KernelManager": {"transport": "ipc", "ip": f"{own}/kernel"}}))
    except PapermillExecutionError as e:
        last = [line for line in str(e.evalue).splitlines() if line.strip()]
        raise BedsideError(f"{paths.rel(path)} failed in cell {e.cell_index}:\n\n{e.source}\n\n{e.ename}: "
                           + "\n".join(last) + f"\n\nThe executed notebook is {paths.rel(out)}") from None
