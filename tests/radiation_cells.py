"""What radiation's notebook 05 computes, by the names of its variables."""

from cells import wanted

RECALL = "radiation/05_survivorship_recall"


def strata(graded, reference):
    """Recall of each list in each cell of onset and frequency."""
    return wanted(RECALL, "found", graded=graded, reference=reference)


def recall_by(found, by):
    """Recall of each list by onset or frequency, from `strata`."""
    return wanted(RECALL, "recalls", found=found)[by]
