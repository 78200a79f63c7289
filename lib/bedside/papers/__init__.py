"""The papers' modules, and their judged items together: what the explorer shows and raters label.

    content = await items("sample")                 # all papers; a dict as bedside.items describes it
    explorer.write("figures/sample/explorer.html", content)
"""

import importlib

PAPERS = ("cancer_myth", "radiation", "medhalu", "meddialbench")
NOTE = {"sample": "The models here are a tiny one, too small for medicine, and rules without a model: their failures show how one looks at failures, "
                  "not how models that patients use behave. Questions, cases and labels were written for this project, by no clinician.",
        "public": "The studies' released data with replies of a tiny model, too small for medicine. The page shows other people's texts: keep it to yourself."}


async def items(profile="sample", papers="", folder=None, **parameters):
    """The judged items of a profile, raters' labels included: a dict as of `bedside.items.Document.content`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts as of every notebook. folder: where the
    raters' labels are. What was never recorded with these settings isn't there.
    """
    from .. import choose
    from ..items import Document

    names = str(papers).split() or PAPERS
    document = Document(profile, **parameters)
    for name in names:
        await importlib.import_module(f".{choose(name, PAPERS, 'paper')}_items", __name__).collect(document)
    content = document.content(NOTE[profile])
    return with_raters(content, folder)


def with_raters(content, folder=None):
    """The content with the labels of the user's own raters at its rows, in the words of the verdicts."""
    from .. import annotation, raters
    from ..items import human, more
    from . import cancer_myth_items, medhalu_items

    words = {"presupposition": cancer_myth_items.GRADES, "nfp": cancer_myth_items.PLAIN,
             "hallucination": dict(zip(("yes", "no"), medhalu_items.SAYS.values()))}
    rows, by_id = annotation.rows(content), {row["id"]: row for row in content["rows"]}
    for task in annotation.TASKS:
        known = {str(value): shown for value, shown in words.get(task, {}).items()}
        given = raters.labels(task, rows, folder)
        for (id, rater), mine in given[~given["check"]].groupby(["id", "rater"], sort=False):
            if annotation.TASKS[task].several:      # not the main question, so nothing that a verdict could differ from
                shown = "; ".join(mine.loc[mine["value"] == "yes", "part"]) or "none"
                by_id[id]["more"].append(more(rater, f"{task}, label", shown))
            elif all(h["by"].split(": ")[-1] != rater for h in by_id[id]["human"]):     # else published, and there already
                r = mine.iloc[0]
                by_id[id]["human"].append(human(rater, known.get(r["value"], r["value"]), r["type"], r["reason"]))
    return content
