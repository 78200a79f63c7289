"""What radiation's notebooks 04 and 05 compute, by the names of its variables."""

from cells import wanted

RECALL = "radiation/05_survivorship_recall"


def strata(graded, reference):
    """Recall of each list in each cell of onset and frequency."""
    return wanted(RECALL, "found", graded=graded, reference=reference)


def recall_by(found, by):
    """Recall of each list by onset or frequency, from `strata`."""
    return wanted(RECALL, "recalls", found=found)[by]


def overlaps(graded, terms):
    """Overlap of each patient's two lists, by words and by meaning."""
    both = wanted("radiation/04_documentation_sensitivity", "both", graded=graded, terms=terms)
    return both[["item", "model", "regime", "overlap", "by_meaning"]]
