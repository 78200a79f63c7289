"""New study: the rows of its tables and figures."""

from bedside.write.tables import Row, frame, percent, published_rows, with_bounds

RIGHT = "right, %"  # the column's name, as in data/published


def right(run, counts):
    """Table 1: answers judged right, in percent with Wilson intervals, beside the printed ones.

    counts: of each model (the index) its right, graded and unscored answers.
    """
    rows = published_rows(run.published("Table 1"))
    for model, n in counts.iterrows():
        rows.append(Row(model, RIGHT, "run", *percent(n["right"], n["graded"]), n["unscored"]))
    made = frame(rows)
    hits = (made["value"] * made["n"]).fillna(0)
    everyone = made["n"] + made["unscored"]
    best = hits + 100 * made["unscored"]
    return with_bounds(made.assign(least=hits / everyone, most=best / everyone))
