"""The failure explorer: judged items as one HTML file that needs no server.

It filters, compares and shows single replies.

    write("figures/sample/explorer.html", document)

A document holds `profile`, `about`, `papers` {paper: name}, `judge` {paper: the judge that counts
first}, `cards` {"paper judge": line}, `shared` {key: [block, ...]} and `rows`, each a reply with
its verdicts. It travels gzipped in base64 and is unpacked by the page (explorer.js), which shows
every text of it as text. Its frame is that of all pages (`bedside.page`), with their
Content-Security-Policy: it may run only the scripts written here, and ask no address for anything.
"""

import base64
import gzip
import json
import re
from collections import Counter
from pathlib import Path

from bedside import BedsideError, models, paths, prompts
from bedside.page import frame, hashes, pages, template

FOLDER = Path(__file__).parent
DATA = re.compile(r'<script[^>]*\bid="data"[^>]*>\s*([^<]*?)\s*</script>')


def html(document):
    """The explorer as HTML text: the same document gives the same text.

    Raises BedsideError when two rows have one id.
    """
    twice = [i for i, n in Counter(r["id"] for r in document["rows"]).items() if n > 1]
    if twice:
        raise BedsideError(
            f"{len(twice)} ids stand at more than one row, first {twice[0]!r}: give each row an id"
            " of its own"
        )
    text = prompts.clean(
        json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    )
    scripts = [_inline("vendor/tabulator.min.js"), _inline("explorer.js")]
    papers = {paper: prompts.clean(name) for paper, name in document["papers"].items()}
    answering = dict.fromkeys(r["model"] for r in document["rows"])
    asked = [name for name in answering if name in models.registry()]
    return template(FOLDER / "explorer.html.j2").render(
        frame=frame(pages(papers), "explorer.html", asked),
        profile=prompts.clean(document["profile"]),
        about=prompts.clean(document["about"]),
        styles=[_inline("vendor/tabulator_simple.min.css"), _inline("explorer.css")],
        scripts=scripts,
        hashes=hashes(scripts),
        data=base64.b64encode(_packed(text.encode())).decode(),
    )


def write(path, document):
    """Write the explorer of a document to `path`."""
    Path(path).write_text(html(document), encoding="utf-8", newline="\n")


def read(text):
    """The document in an explorer's HTML text, and the text without it.

    Compressed bytes may differ between machines, these don't.
    """
    found = DATA.search(text)
    if not found:
        raise BedsideError("this is no explorer page: it holds no data")
    return (
        json.loads(gzip.decompress(base64.b64decode(found[1]))),
        text[: found.start(1)] + text[found.end(1) :],
    )


def _packed(data):
    packed = bytearray(gzip.compress(data, 9, mtime=0))
    packed[9] = 255  # "unknown system": Pythons differ in what they write here
    return bytes(packed)


def _inline(name):
    """A script's or style sheet's text as the page has it, without a source map's address."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    text = re.sub(
        r"^(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ \*/)\s*", "", text, flags=re.M
    )
    if re.search(r"</(script|style)|<!--", text, re.I):
        raise BedsideError(
            f"{paths.rel(FOLDER / name)}: a text that ends or comments out a script can't stand in"
            " a page"
        )
    return text
