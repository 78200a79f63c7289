"""Formats: files of released data as frames; cells are text if the format has no types.

read("questions.jsonl", "jsonl", {})
read("cases.xml", "xml", {"record": "case", "fields": {"item": "@id", "names": "alias*"}})
"""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def read(path: Path, kind: str, options: dict) -> "pd.DataFrame":
    """A file as a frame.

    kind: xlsx, csv, tsv (without a header), xml, jsonl, objects (JSON objects one after another),
    keyed (an object of objects) or json. options: `skip_rows` of a csv, `fields` of a tsv (a list)
    and of xml ({column: path}), `record` of xml. Raises ValueError, KeyError or SyntaxError for a
    file that isn't of this kind.
    """
    import pandas as pd

    text_cells = {"dtype": str, "keep_default_na": False}
    if kind == "xlsx":
        return pd.read_excel(path, **text_cells)
    text = path.read_text(encoding="utf-8-sig")
    if kind == "csv":
        return pd.read_csv(io.StringIO(text), skiprows=options.get("skip_rows"), **text_cells)
    if kind == "tsv":
        layout = {"sep": "\t", "header": None, "names": options["fields"], "quoting": 3}
        return pd.read_csv(io.StringIO(text), **layout, **text_cells)
    if kind == "xml":
        return pd.DataFrame(_xml(text, options["record"], options["fields"]))
    if kind in ("jsonl", "objects"):
        return pd.DataFrame(_objects(text))
    value = json.loads(text)
    if kind == "keyed":
        return pd.DataFrame([{"key": k, **v} for k, v in value.items()])
    rows = value if isinstance(value, list) else [{"key": k, "value": v} for k, v in value.items()]
    return pd.DataFrame(rows)


def _objects(text):
    """Objects of JSON written one after another, pretty-printed or not."""
    text, objects = text.strip(), []
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        objects.append(value)
        text = text[end:].lstrip()
    return objects


def _xml(text, record, fields):
    """The records of an XML text: {column: the content at its path}."""
    from xml.etree import ElementTree

    records = ElementTree.fromstring(text).iter(record)
    return [{column: _inside(r, path) for column, path in fields.items()} for r in records]


def _inside(record, path):
    """The content of a record at a path: text with single spaces.

    `@name` is an attribute, `path*` a list of all that match.
    """
    if path.startswith("@"):
        return record.get(path[1:], "")
    nodes = record.findall(path.removesuffix("*"))
    texts = [" ".join("".join(node.itertext()).split()) for node in nodes]
    return texts if path.endswith("*") else (texts or [""])[0]
