"""What the project may take in lines of code: `make lint` holds the budgets of docs/design.md.

A room is charged its lines without blank ones, comments and docstrings, or its tokens over eleven
where those are more, so that neither long lines nor several statements on a line save anything.
Scripts, styles and templates count a line for each hundred characters; so does the Makefile.
"""

import io
import json
import math
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PER_LINE, WIDE = 11, 100  # tokens of a line; characters of one
SCRIPTS = (".js", ".mjs", ".css", ".j2", ".html", ".svg")
LEFT_OUT = ("figures/", "docs/", "data/")  # what is read, not run
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
NO_CODE |= {tokenize.ENDMARKER}
# in docs/design.md: a line of the house, or of the table below it
BUDGET = re.compile(r"^(?:\| )?(\w[\w: ]*?) +(?:\| +)?([\d,]+)(?:  | \|)", re.M)


def python(text: str) -> tuple[int, int]:
    """(lines, tokens) of Python code. A statement that begins with a string is a docstring."""
    lines, tokens, begins = set(), 0, True
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type not in NO_CODE and not (begins and t.type == tokenize.STRING):
            lines.update(range(t.start[0], t.end[0] + 1))
            tokens += 1
        if t.type not in (tokenize.COMMENT, tokenize.NL):
            begins = t.type in NO_CODE
    return len(lines), tokens


def counted(path: str, text: str) -> tuple[int, int]:
    """(lines, tokens) of a file."""
    if path.endswith(".py"):
        return python(text)
    if path.endswith(".ipynb"):
        cells = (c for c in json.loads(text)["cells"] if c["cell_type"] == "code")
        code = (re.sub(r"(?m)^\s*[%!].*$", "pass", "".join(c["source"])) for c in cells)
        return tuple(map(sum, zip(*map(python, code)))) or (0, 0)
    return sum(math.ceil(len(x) / WIDE) for x in text.splitlines() if x.strip()), 0


def rooms(path: str) -> list[str]:
    """Whose lines a file's are: a room's, and a study's in it."""
    top, *rest = path.split("/")
    if path.startswith("lib/bedside/"):
        mine = rest[1].removesuffix(".py")
        if path.endswith(SCRIPTS):
            return [f"{mine}: scripts"]
        return [mine, *rest[2:3]] if mine == "papers" and len(rest) > 3 else [mine]
    here = top in ("tests", "notebooks", "Makefile") and not path.endswith(SCRIPTS)
    return [top if here else "elsewhere"]


def charged() -> dict[str, int]:
    """The lines that each room is charged with."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    lines, tokens = Counter(), Counter()
    for path in {*listed.splitlines()}:
        code = path.endswith((".py", ".ipynb", ".sh", *SCRIPTS)) or path in ("Makefile", ".ci/run")
        out = path.startswith(LEFT_OUT) or "/vendor/" in path
        if code and not out and (ROOT / path).is_file():
            found = counted(path, (ROOT / path).read_text(encoding="utf-8"))
            for each in rooms(path):
                lines[each] += found[0]
                tokens[each] += found[1]
    return {r: max(lines[r], math.ceil(tokens[r] / PER_LINE)) for r in sorted(lines)}


def main() -> str:
    """What is over its budget or has none, in lines; empty if nothing is."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    most = {name: int(n.replace(",", "")) for name, n in BUDGET.findall(text)}
    over = {name: n for name, n in charged().items() if n > most.get(name, 0)}
    told = "{}: {:,} lines, more than its budget in docs/design.md, {:,}"
    return "\n".join(told.format(name, n, most.get(name, 0)) for name, n in over.items())


if __name__ == "__main__":
    sys.exit(main() or 0)
