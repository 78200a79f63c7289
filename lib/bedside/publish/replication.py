"""What nobody has run yet: the calls that replicate each section, their cost, and who made them.

data/replication.csv has, for each notebook that asks models, what one model's answers to all
released items cost with each of MODELS, and what their grades cost with JUDGE, as of a day: `count`
writes it. Who has run them says data/recordings/contributed.toml.
"""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

from bedside.build import notebooks
from bedside.keep import contributed, registry
from bedside.read import paths
from bedside.write.tables import csv_text

FILE = paths.DATA / "replication.csv"
COLUMNS = ["notebook", "model", "asks", "calls", "prompt_tokens", "reply_tokens", "usd", "price"]
MODELS = (  # one current model of each of five providers
    *("gpt-6.1-terra", "claude-sonnet-5-5", "gemini-3.8-flash"),
    *("deepseek-v4-pro", "mistral-medium-3-5"),
)
JUDGE = "gpt-6-luna"
COUNTED = {"mistral-medium-3-5": "answers", "qwen3.8-max": "grades"}  # none needs room for thoughts


def count(papers: list[str]) -> Path:
    """Write the rows of these studies into FILE, from plans of them on all released items.

    calls, and the most tokens and USD that they can take; price: the day of the entry's price.
    """
    kept = [r for r in rows() if r["notebook"].partition("/")[0] not in papers]
    for paper in papers:
        whole = paths.papers()[paper].get("whole", {})
        given = dict(zip(("models", "judge"), COUNTED)) | {k: str(v) for k, v in whole.items()}
        calls = notebooks.planned({"profile": "public", **given}, paper)
        calls["asks"] = calls["model"].map(COUNTED)
        for (name, asks), mine in calls.groupby(["notebook", "asks"]):
            for model in MODELS if asks == "answers" else (JUDGE,):
                kept.append(dict(zip(COLUMNS, (name, model, asks, *_most(model, mine)))))
    kept.sort(key=lambda r: r["notebook"])
    paths.write(FILE, csv_text(COLUMNS, ([r[c] for c in COLUMNS] for r in kept)))
    return FILE


def _most(model, calls):
    """Number of calls, most tokens, most USD and the price's day; thoughts have their room."""
    entry = registry.model(model)
    reply = calls["completion"] + entry.get("reasoning_tokens", 0)
    usd = sum(registry.cost_at_most(model, *each) for each in zip(calls["prompt"], reply))
    tokens = int(calls["prompt"].sum()), int(reply.sum())
    return len(calls), *tokens, round(usd, 2), entry["price_date"]


def rows() -> list[dict]:
    """The rows of FILE, texts; none without it."""
    if not FILE.is_file():
        return []
    with open(FILE, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def costs() -> Iterator[dict]:
    """Each notebook: notebook, calls of a model that answers, and usd: {model, or JUDGE: most}."""
    for name, mine in itertools.groupby(rows(), key=lambda r: r["notebook"]):
        asked = list(mine)
        usd = {r["model"]: float(r["usd"]) for r in asked}
        calls = next((int(r["calls"]) for r in asked if r["asks"] == "answers"), 0)
        yield {"notebook": name, "calls": calls, "usd": usd}


def done() -> Iterator[dict]:
    """What was handed in: model, studies and days, and the fields of `contributed.FIELDS`."""
    for name, about in contributed.entries().items():
        found = contributed.check(name)
        studies = dict.fromkeys(paths.papers()[Path(file).parts[-3]]["name"] for file in found)
        first, last = (f(r[k] for r in found.values()) for f, k in ((min, "first"), (max, "last")))
        yield {"model": name, "studies": [*studies], "first": first, "last": last, **about}
