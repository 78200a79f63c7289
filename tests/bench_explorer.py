"""What the failure explorer takes in headless Chromium: `explorer()`, a part of `make bench`; -v shows every view."""

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from browser import MISSING, binary


def judged(count, size, seed=0):
    """A document of `count` rows with about `size` characters of text each, drawn from 6,000 words of unequal frequency."""
    draw = random.Random(seed)
    words = [
        "".join(draw.choice("etaoinshrdlucmfwypvbgk") for _ in range(draw.randint(2, 11)))
        for _ in range(6000)
    ]
    weights = [1 / (i + 3) for i in range(len(words))]

    def prose(length):
        return " ".join(draw.choices(words, weights, k=max(1, length // 6)))[:length]

    papers = {
        "cancer_myth": ("plain", "cautious"),
        "radiation": ("base", "specified"),
        "medhalu": ("plain", "expert"),
        "meddialbench": ("baseline", *(f"behaviour {i}" for i in range(8))),
    }
    rows, shared, item = [], {}, 0
    while len(rows) < count:
        paper = list(papers)[item % 4]
        key, title, item = f"{paper} i{item}", prose(90), item + 1
        shared[key] = [
            {"kind": "text", "label": "question", "text": prose(500)},
            {"kind": "text", "label": "reference", "text": prose(300)},
        ]
        for configuration in papers[paper]:
            for model in range(5):
                value = draw.choice(("yes", "no"))
                graded = draw.random() < 0.92
                verdicts = [
                    {
                        "judge": j,
                        "status": "graded" if graded else "unparsed",
                        "value": value if graded else "",
                        "reason": "",
                        "right": value == "yes" if graded else None,
                        "raw": prose(150),
                    }
                    for j in ("lexical", "model-judge")
                ]
                blocks = [
                    {
                        "kind": "dialogue",
                        "label": "consultation",
                        "turns": [
                            {
                                "who": ("Doctor", "Patient")[t % 2],
                                "pieces": [[prose(size // 20), ""]],
                                "notes": [],
                            }
                            for t in range(12)
                        ],
                    }
                ]
                rows.append(
                    {
                        "id": f"{key}/model-{model}/{configuration}",
                        "paper": paper,
                        "section": f"4.{item % 3 + 1}",
                        "item": key,
                        "model": f"model-{model}",
                        "configuration": configuration,
                        "category": f"category {item % 7}",
                        "title": title,
                        "shared": [key],
                        "reply": prose(size // (3 if paper == "meddialbench" else 1)),
                        "reply_status": "",
                        "truncated": False,
                        "blocks": blocks if paper == "meddialbench" else [],
                        "verdicts": verdicts,
                        "more": [],
                        "beside": "",
                        "human": (
                            [{"by": "rater", "value": value, "type": "", "reason": ""}]
                            if draw.random() < 0.2
                            else []
                        ),
                    }
                )
    return {
        "profile": "sample",
        "about": "A benchmark.",
        "papers": {p: p for p in papers},
        "judge": dict.fromkeys(papers, "lexical"),
        "cards": {},
        "shared": shared,
        "rows": rows[:count],
    }


# The page's own apply function; `frame` is the time until the browser has drawn what follows.
MEASURE = """async () => {
  const {apply, state} = window.explorer, sets = ["paper", "section", "model", "category", "configuration", "judge", "verdict"], taken = [];
  const views = [{paper: ["medhalu"]}, {paper: ["cancer_myth", "radiation"]}, {model: ["model-1"]}, {model: ["model-1", "model-2"]}, {section: ["4.1"]},
    {category: ["category 3"]}, {configuration: ["plain"]}, {verdict: ["no"]}, {verdict: ["(unparsed)"]}, {outcome: "failed"}, {outcome: "right"},
    {judge: ["model-judge"]}, {differs: true}, {search: "et"}, {search: "sooner later nothere"}, {search: "\\"in the\\" a"},
    {search: "et", outcome: "failed", model: ["model-0"]}, {sort: "title"}, {compare: "model", a: "model-0", b: "model-1"},
    {compare: "judge", a: "lexical", b: "model-judge", pairs: "both"}];
  for (const view of views) {
    for (const name of sets) state[name].clear();
    Object.assign(state, {outcome: "", differs: false, search: "", compare: "", a: "", b: "", pairs: ""});
    apply();
    await new Promise(requestAnimationFrame);
    for (const [name, value] of Object.entries(view)) if (sets.includes(name)) value.forEach(v => state[name].add(v)); else state[name] = value;
    const start = performance.now();
    apply();
    const done = performance.now();
    await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
    taken.push([JSON.stringify(view), done - start, performance.now() - start]);
  }
  return taken;
}"""


def explorer():
    """The explorer in headless Chromium: 20 views of 10,000 rows by its own `apply`, and the file's size at 5,000 rows."""
    from playwright.sync_api import sync_playwright

    from bedside import explorer as page

    if binary() is None:
        print(f"explorer: {MISSING}")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        start = time.perf_counter()
        path = Path(folder, "small.html")
        page.write(path, judged(5000, 5000))
        print(
            f"explorer, 5,000 rows of 5,000 characters: {path.stat().st_size / 1e6:.1f} MB, made in"
            f" {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        path = Path(folder, "large.html")
        page.write(path, judged(10_000, 5000))
        browser = playwright.chromium.launch(
            executable_path=binary(), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        start = time.perf_counter()
        tab.goto(path.as_uri())
        tab.wait_for_selector(".tabulator-row", timeout=120_000)
        print(
            f"explorer, 10,000 rows ({path.stat().st_size / 1e6:.1f} MB): opened in"
            f" {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        cold = tab.evaluate(
            "() => { const s = performance.now(); explorer.state.search = 'nothere';"
            " explorer.apply(); return performance.now() - s; }"
        )
        tab.evaluate("() => new Promise(r => setTimeout(r, 4000))")
        taken = tab.evaluate(MEASURE)
        for at, what in ((1, "filter, count, table"), (2, "until drawn")):
            ms = [t[at] for t in taken]
            print(
                f"explorer, 10,000 rows, {len(ms)} views, {what}: median"
                f" {statistics.median(ms):.0f} ms, worst {max(ms):.0f} ms"
                f" ({max(taken, key=lambda t: t[at])[0]})"
            )
        print(f"explorer, 10,000 rows, a search at once after opening: {cold:.0f} ms")
        if "-v" in sys.argv:
            print(*(f"{a:8.1f} {b:8.1f}  {view}" for view, a, b in taken), sep="\n")
        browser.close()


if __name__ == "__main__":
    explorer()
