"""The failure explorer: judged items as one HTML file that needs no server.

It filters, compares and shows single replies. What a row holds is decided in
`publish.judged_items` and in the studies' `display`, how it looks here. Nothing here grades or
calls a model.

    write("figures/sample/explorer.html", document)

A document is what `Document.content` of `bedside.publish.judged_items` returns: rows, each a reply
with its verdicts, and the blocks that they share. The page holds it gzipped in base64, unpacks it
(script/) and shows every text as plain text. The messages sent (`calls` and `messages`) are a
second parcel, unpacked on request. The page has the frame of all pages (`bedside.publish.pages`)
and their Content-Security-Policy: it may run only the scripts written here and may not contact any
address.
"""

import base64
import gzip
import json
import re
from collections import Counter
from pathlib import Path

from bedside import BedsideError
from bedside.asking import registry
from bedside.publish.pages import frame, hashes, pages, template
from bedside.read import paths, prompts
from bedside.read.questions import FROM

FOLDER = Path(__file__).parent
SCRIPT = (
    "page texts document marks lines table filters summary reply sent address export start"
).split()
SENT = ("calls", "messages")  # the parts of a document on what was sent and what came back
PARCEL = re.compile(r'<script[^>]*\bid="(?:data|sent)"[^>]*>\s*([^<]*?)\s*</script>')


def html(document: dict, linked: dict[str, str] | None = None) -> str:
    """The explorer as HTML text; the same document always gives the same text.

    linked: the pages beside it, {file: name}, if they aren't a profile's. Raises BedsideError if
    two rows have the same id.
    """
    twice = [i for i, n in Counter(r["id"] for r in document["rows"]).items() if n > 1]
    if twice:
        raise BedsideError(
            f"{len(twice)} ids occur in more than one row, first {twice[0]!r}. Give each"
            " row its own id."
        )
    scripts = [inline("vendor/tabulator.min.js")]
    scripts.append(script(*(f"script/{name}.js" for name in SCRIPT)))
    sent = {k: document.get(k, {}) for k in SENT}
    data = {k: v for k, v in document.items() if k not in SENT}
    papers = {paper: prompts.clean(name) for paper, name in document["papers"].items()}
    answering = dict.fromkeys(r["model"] for r in document["rows"] if r["by"] == "model")
    asked = [name for name in answering if name in registry.entries() or FROM.fullmatch(name)]
    return template(FOLDER / "explorer.html.j2").render(
        frame=frame(linked or pages(papers), "explorer.html", asked),
        profile=prompts.clean(document["profile"]),
        about=prompts.clean(document["about"]),
        styles=[inline("vendor/tabulator_simple.min.css"), inline("explorer.css")],
        scripts=scripts,
        hashes=hashes(scripts),
        parcels={"data": _packed(data), "sent": _packed(sent)},
    )


def write(path: Path | str, document: dict, linked: dict[str, str] | None = None) -> None:
    """Write the explorer of a document to `path`; linked as for `html`."""
    paths.write(path, html(document, linked))


def read(text: str) -> tuple[dict, str]:
    """(the document in an explorer's HTML text, the text without it).

    Compressed bytes may differ between machines; these don't.
    """
    found = PARCEL.findall(text)
    if len(found) != 2:
        raise BedsideError("this isn't an explorer page: it contains no data")
    data, sent = (json.loads(gzip.decompress(base64.b64decode(parcel))) for parcel in found)
    return data | sent, PARCEL.sub(lambda m: m[0].replace(m[1], ""), text)


def _packed(value):
    """A value as gzipped JSON in base64."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = bytearray(gzip.compress(prompts.clean(text).encode(), 9, mtime=0))
    packed[9] = 255  # "unknown system": Pythons differ in what they write here
    return base64.b64encode(packed).decode()


def script(*names: str | Path) -> str:
    """A page's own script, of these files: one function in strict mode."""
    return "\n".join(['"use strict";', "(async () => {", *map(inline, names), "})();", ""])


def inline(name: str | Path) -> str:
    """A script or style sheet of this folder, or at a path, for a page.

    script/texts.js is for any page.
    """
    text = (FOLDER / name).read_text(encoding="utf-8")
    text = re.sub(
        r"^(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ \*/)\s*", "", text, flags=re.M
    )
    if re.search(r"</(script|style)|<!--", text, re.I):
        raise BedsideError(
            f"{paths.rel(FOLDER / name)}: a page can't include a text that ends or comments out a"
            " script"
        )
    return text
