"""What the failure explorer takes in headless Chromium: `explorer()`, a part of `make bench`.

With -v it shows every view.
"""

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from browser import MISSING, binary

PAPERS = {
    "cancer_myth": ("plain", "cautious"),
    "radiation": ("base", "specified"),
    "medhalu": ("plain", "expert"),
    "meddialbench": ("baseline", *(f"behaviour {i}" for i in range(8))),
}


class Writer:
    """Draws texts from 6,000 words of unequal frequency."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.words = ["".join(self._letters()) for _ in range(6000)]
        self.weights = [1 / (i + 3) for i in range(len(self.words))]

    def _letters(self):
        return (self.draw.choice("etaoinshrdlucmfwypvbgk") for _ in range(self.draw.randint(2, 11)))

    def prose(self, length):
        """About so many characters."""
        words = self.draw.choices(self.words, self.weights, k=max(1, length // 6))
        return " ".join(words)[:length]

    def text(self, label, length):
        return {"kind": "text", "label": label, "text": self.prose(length)}

    def verdicts(self, value):
        """Two judges' verdicts of a value, one in twelve of them not to be read."""
        graded = self.draw.random() < 0.92
        return [
            {
                "judge": judge,
                "status": "graded" if graded else "unparsed",
                "value": value if graded else "",
                "reason": "",
                "right": value == "yes" if graded else None,
                "raw": self.prose(150),
            }
            for judge in ("lexical", "model-judge")
        ]

    def consultation(self, size):
        turns = [
            {"who": who, "pieces": [[self.prose(size // 20), ""]], "notes": []}
            for who in ("Doctor", "Patient") * 6
        ]
        return {"kind": "dialogue", "label": "consultation", "turns": turns}

    def row(self, paper, key, title, number, model, configuration, size):
        """A reply; of consultations the turns are most of the text."""
        value, talks = self.draw.choice(("yes", "no")), paper == "meddialbench"
        verdicts, consultation = self.verdicts(value), self.consultation(size)
        reply = self.prose(size // (3 if talks else 1))
        label = {"by": "rater", "value": value, "type": "", "reason": ""}
        return {
            "id": f"{key}/model-{model}/{configuration}",
            "paper": paper,
            "section": f"4.{number % 3 + 1}",
            "item": key,
            "unit": f"{paper} u{number // 3}",
            "model": f"model-{model}",
            "by": "rules" if model == 4 else "model",
            "configuration": configuration,
            "category": f"category {number % 7}",
            "title": title,
            "calls": [],
            "shared": [key],
            "reply": reply,
            "reply_status": "",
            "truncated": False,
            "blocks": [consultation] if talks else [],
            "verdicts": verdicts,
            "more": [],
            "beside": "",
            "human": [label] if self.draw.random() < 0.2 else [],
        }


def judged(count, size, seed=0):
    """A document of `count` rows with about `size` characters of text each."""
    writer, rows, shared, number = Writer(seed), [], {}, 0
    while len(rows) < count:
        paper = list(PAPERS)[number % 4]
        key, title, number = f"{paper} i{number}", writer.prose(90), number + 1
        shared[key] = [writer.text("question", 500), writer.text("reference", 300)]
        rows += [
            writer.row(paper, key, title, number, model, configuration, size)
            for configuration in PAPERS[paper]
            for model in range(5)
        ]
    return {
        "profile": "sample",
        "about": "A benchmark.",
        "papers": {p: p for p in PAPERS},
        "judge": dict.fromkeys(PAPERS, "lexical"),
        "cards": {},
        "shared": shared,
        "rows": rows[:count],
        "calls": {},
        "messages": {},
    }


# The page's own apply function; the last number is the time until the browser has drawn it.
MEASURE = """async () => {
  const {apply, state} = window.explorer, taken = [];
  const sets = ["paper", "section", "model", "category", "configuration", "judge", "verdict"];
  const none = {outcome: "", differs: false, search: "", compare: "", a: "", b: "", pairs: ""};
  const views = [
    {paper: ["medhalu"]}, {paper: ["cancer_myth", "radiation"]},
    {model: ["model-1"]}, {model: ["model-1", "model-2"]},
    {section: ["4.1"]}, {category: ["category 3"]}, {configuration: ["plain"]},
    {verdict: ["no"]}, {verdict: ["(unparsed)"]}, {outcome: "failed"}, {outcome: "right"},
    {judge: ["model-judge"]}, {differs: true},
    {search: "et"}, {search: "sooner later nothere"}, {search: "\\"in the\\" a"},
    {search: "et", outcome: "failed", model: ["model-0"]}, {sort: "title"},
    {compare: "model", a: "model-0", b: "model-1"},
    {compare: "judge", a: "lexical", b: "model-judge", pairs: "both"},
    {compare: "source", a: "model-0", b: "model-4"},
    {compare: "models"}, {compare: "models", pairs: "some", paper: ["medhalu"]}];
  for (const view of views) {
    for (const name of sets) state[name].clear();
    Object.assign(state, none);
    apply();
    await new Promise(requestAnimationFrame);
    for (const [name, value] of Object.entries(view))
      if (sets.includes(name)) value.forEach(v => state[name].add(v)); else state[name] = value;
    const start = performance.now();
    apply();
    const done = performance.now();
    await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
    taken.push([JSON.stringify(view), done - start, performance.now() - start]);
  }
  return taken;
}"""
SEARCH = """() => {
  const start = performance.now();
  explorer.state.search = "nothere";
  explorer.apply();
  return performance.now() - start;
}"""


def explorer():
    """The explorer in headless Chromium: 23 views of 10,000 rows by its own `apply`.

    And the file's size at 5,000 rows.
    """
    from playwright.sync_api import sync_playwright

    from bedside import explorer as page

    if binary() is None:
        print(f"explorer: {MISSING}")
        return

    def said(what, found):
        print(f"explorer, {what}: {found}", flush=True)

    def megabytes(path):
        return f"{path.stat().st_size / 1e6:.1f} MB"

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, start = Path(folder, "small.html"), time.perf_counter()
        page.write(path, judged(5000, 5000))
        taken = time.perf_counter() - start
        said("5,000 rows of 5,000 characters", f"{megabytes(path)}, made in {taken:.1f} s")
        path = Path(folder, "large.html")
        page.write(path, judged(10_000, 5000))
        browser = playwright.chromium.launch(
            executable_path=binary(), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        start = time.perf_counter()
        tab.goto(path.as_uri())
        tab.wait_for_selector(".tabulator-row", timeout=120_000)
        taken = time.perf_counter() - start
        said(f"10,000 rows ({megabytes(path)})", f"opened in {taken:.1f} s")
        cold = tab.evaluate(SEARCH)
        tab.evaluate("() => new Promise(r => setTimeout(r, 4000))")
        views = tab.evaluate(MEASURE)
        for at, what in ((1, "filter, count, table"), (2, "until drawn")):
            worst = max(views, key=lambda view: view[at])
            median = statistics.median(view[at] for view in views)
            found = f"median {median:.0f} ms, worst {worst[at]:.0f} ms ({worst[0]})"
            said(f"10,000 rows, {len(views)} views, {what}", found)
        said("10,000 rows, a search at once after opening", f"{cold:.0f} ms")
        if "-v" in sys.argv:
            print(*(f"{a:8.1f} {b:8.1f}  {view}" for view, a, b in views), sep="\n")
        browser.close()


if __name__ == "__main__":
    explorer()
