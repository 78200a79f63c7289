"""New study: the rows of its tables and figures."""

from bedside.write.tables import Row, frame, percent, published_rows, with_bounds

RIGHT = "right, %"  # the column's name, as in data/published


def right(run, judged):
    """Table 1: answers judged right, in percent with Wilson intervals, beside the printed ones."""
    rows = published_rows(run.published("Table 1"))
    for model, mine in judged.groupby("model", sort=False):
        value = mine["value"][mine["status"] == "graded"]
        share = percent((value == 1).sum(), len(value))
        rows.append(Row(model, RIGHT, "run", *share, len(mine) - len(value)))
    made = frame(rows)
    hits = (made["value"] * made["n"]).fillna(0)
    everyone = made["n"] + made["unscored"]
    best = hits + 100 * made["unscored"]
    return with_bounds(made.assign(least=hits / everyone, most=best / everyone))
