"""What radiation's notebook 05 computes, by its cells."""

from cells import computed

RECALL = "radiation/05_survivorship_recall"
LEVELS = {"onset": ("c05b", "by_onset"), "frequency": ("c07b", "by_frequency")}


def strata(graded, reference):
    """Recall of each list in each cell of onset and frequency."""
    return computed(RECALL, "c04b", graded=graded, reference=reference)["found"]


def recall_by(found, by):
    """Recall of each list by onset or frequency, from `strata`."""
    cell, made = LEVELS[by]
    return computed(RECALL, cell, found=found)[made]
