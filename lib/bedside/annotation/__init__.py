"""Blind annotation: a rater labels replies without seeing who wrote them.

With a document of judged items:

    rows = annotation.rows(document)
    annotation.handed.out(rows, "my_task", ["Ann", "Ben"], folder, group="expert", size=30)
    annotation.handed.taken("returned")

Each rater labels on a page of their own. What comes back is added to
data/external/annotations/<task>/<rater>.jsonl.

What a study asks raters is in its `labels`, how a reply is shown in `publish.judged_items`, and
whether a judge agrees with people in `judging.trust_cards`.

labelling: all tasks. blind: what a rater sees. sampling: which rows are drawn. handed: pages, and
Label Studio's files. returned: what comes back. log: labels on disk. protocol: a study's own:
consent and background, items that come first, items with a known answer. raters: labels of several
raters, and judges compared with them.
"""

from . import handed
from .blind import material, rows
from .labelling import tasks

__all__ = ["handed", "material", "rows", "tasks"]
