"""Cancer-Myth: what the printed numbers of both versions allow, by themselves and beside each other."""

from bedside import stats
from bedside.tables import interval_rows


def printed_scores(run, version):
    """The rows with the printed PCRs and PCSs of a version's models."""
    import pandas as pd

    tables = (
        ("v1 text 4.3", "v1 introduction")
        if version == 1
        else ("v2 Main results", "v2 text results")
    )
    rows = pd.concat([run.published(t) for t in tables])
    return rows[
        rows["column"].isin(["PCR", "PCS"])
        & ~rows["row"].str.contains("best model| on | with GEPA")
    ]


def printed_rates(run, version):
    """Printed PCRs of a version by model, in percent."""
    rows = printed_scores(run, version)
    return rows[rows["column"] == "PCR"].set_index("row")["value"].rename(f"version {version}")


def possible_kappas(n, exact, zeros, zeros_right):
    """Kappas that appendix C.1 allows: -1 and 1 matched exactly, errors only among human 0s and only towards -1."""
    found = []
    for ones in range(n - zeros + 1):
        minus = n - zeros - ones
        wrong = zeros - zeros_right
        chance = (minus * (minus + wrong) + zeros * zeros_right + ones * ones) / n**2
        found.append((exact / n - chance) / (1 - chance))
    return found


def grim_table(run, n=585):
    """The counts out of n that print as each PCR; value is the smallest, low and high the range, empty if none."""
    rows = []
    for version in (1, 2):
        for model, rate in printed_rates(run, version).items():
            found = stats.grim_counts(rate, n, 0 if rate == round(rate) and rate != 40 else 1)
            rows.append(
                (
                    model,
                    f"count, version {version}",
                    "recomputed",
                    *((found[0], found[0], found[-1]) if found else (None, None, None)),
                    n,
                )
            )
    return interval_rows(rows)


def possible_p(run, a, b, n=585):
    """Least and largest exact McNemar p that two printed PCRs of the first version allow, and the two-proportion p."""
    rates = printed_rates(run, 1)
    x, y = (stats.grim_counts(rates[m], n, 1)[0] for m in (a, b))
    return *stats.mcnemar_range(x, y, n), stats.two_proportions(x, n, y, n)


def impossible_pairs(run):
    """Models of the second version whose printed PCR and PCS no grades can give: the share of -1 is PCR - PCS."""
    rows = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    right = rows["PCR"] / 100
    unaware = right - rows["PCS"]
    slack = 0.0005 + 0.005  # both are rounded
    return rows.index[(unaware < -slack) | (unaware + right > 1 + slack)].tolist()


SAME = {  # one quantity under several labels: (row, column) of data/published
    "released questions": [("dataset", "questions"), ("released", "all"), ("released", "count")],
    "upper bound of all models' PCR": [("best model", "PCR")],
    "models evaluated": [("models evaluated", "count")],
    "GPT-4o, PCR": [("GPT-4o", "PCR"), ("GPT-4o Plain", "Cancer-Myth")],
    "Gemini-2.5-Pro, PCR": [("Gemini-2.5-Pro", "PCR"), ("Gemini-2.5-Pro Plain", "Cancer-Myth")],
    "MDAgents (GPT-4o), PCR": [
        ("MDAgents (GPT-4o)", "PCR"),
        ("GPT-4o with MDAgents Plain", "Cancer-Myth"),
    ],
    "Gemini-2.5-Pro with GEPA, PCR": [
        ("Gemini-2.5-Pro with GEPA", "PCR"),
        ("Gemini-2.5-Pro GEPA", "Cancer-Myth"),
    ],
    "Gemini-2.5-Pro, NFP": [
        ("Gemini-2.5-Pro plain", "NFP"),
        ("Gemini-2.5-Pro Plain", "Cancer-Myth-NFP"),
    ],
    "Gemini-2.5-Pro with GEPA, NFP": [
        ("Gemini-2.5-Pro with GEPA", "NFP"),
        ("Gemini-2.5-Pro GEPA", "Cancer-Myth-NFP"),
    ],
    "rated paragraphs": [("paragraphs with advice", "count"), ("paragraphs", "count")],
    "first valid set": [
        ("annotated for categories", "count"),
        ("valid at first", "count"),
        ("examples", "count"),
    ],
    "categoriser's agreement with people, %": [
        ("categoriser agreement", "percent"),
        ("Categorisation", "label agreement"),
    ],
}
CHANGED = {
    "upper bound of all models' PCR",
    "models evaluated",
}  # the second version evaluates more and newer models


def places(run):
    """Every quantity that is printed in more than one place: quantity, place, version, value, about; one row a place."""
    from bedside import published

    names = {label: quantity for quantity, labels in SAME.items() for label in labels}
    frame = published.load(run.paper)
    for place in frame["table"].unique():
        run.published(place)  # so that the manifest knows
    quantity = [names.get((r.row, r.column), f"{r.row}, {r.column}") for r in frame.itertuples()]
    frame = frame.assign(
        quantity=quantity, place=frame["table"], version=frame["table"].str[1].astype(int)
    )
    about = frame["note"].str.startswith("approximately")
    frame = frame.assign(about=about).drop_duplicates(["quantity", "place"])[
        ["quantity", "place", "version", "value", "about"]
    ]
    return frame[frame.groupby("quantity")["place"].transform("size") > 1].reset_index(drop=True)


def derived(run):
    """Numbers of the second version's text that its own Table 1 gives too, as `places` has them."""
    import pandas as pd

    text = run.published("v2 text results").set_index(["row", "column"])["value"]
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    drop = [
        100 * (1 - cell[f"{m} GEPA", s] / cell[f"{m} Plain", s])
        for m in ("GPT-4o", "Gemini-2.5-Pro")
        for s in ("MedQA", "PubMedQA")
    ]
    both = {
        "Gemini-2.5-Pro with GEPA, over-correction, %": (
            text["Gemini-2.5-Pro with GEPA", "over-correction"],
            100 - cell["Gemini-2.5-Pro GEPA", "Cancer-Myth-NFP"],
        ),
        "GPT-4o with MDAgents and monitor, over-correction, %": (
            text["Monitor misidentifies", "percent"],
            100 - cell["GPT-4o with MDAgents Monitor", "Cancer-Myth-NFP"],
        ),
        "least drop on other benchmarks with GEPA, %": (
            text["Drop on other benchmarks with GEPA", "least"],
            min(drop),
        ),
        "largest drop on other benchmarks with GEPA, %": (
            text["Drop on other benchmarks with GEPA", "most"],
            max(drop),
        ),
    }
    return pd.DataFrame(
        [
            (q, place, 2, v)
            for q, (said, found) in both.items()
            for place, v in (("v2 text results", said), ("recomputed from v2 Table 1", found))
        ],
        columns=["quantity", "place", "version", "value"],
    ).assign(about=False)


def disagreements(found):
    """The quantities of `places` and `derived`, each with its kind: same, rounded, changed or contradicts.

    rounded: alike at the fewest decimals printed (`about`: within one). changed: another thing was measured (CHANGED).
    Adds the columns kind and within: the versions that disagree with themselves, else empty.
    """
    kinds = {}
    for quantity, part in found.groupby("quantity", sort=False):
        kind = (
            "same"
            if part["value"].nunique() == 1
            else "rounded"
            if _alike(part)
            else "changed"
            if quantity in CHANGED
            else "contradicts"
        )
        within = [v for v, p in part.groupby("version") if not _alike(p)]
        kinds[quantity] = kind, ", ".join(f"version {v}" for v in within)
    return found.assign(
        kind=found["quantity"].map(lambda q: kinds[q][0]),
        within=found["quantity"].map(lambda q: kinds[q][1]),
    )


def _alike(part):
    values = part["value"]
    if part["about"].any():
        return values.max() - values.min() <= 1
    fewest = min(len(f"{v:g}".partition(".")[2]) for v in values)
    return len({round(v + 1e-9, fewest) for v in values}) == 1


def versions_table(found):
    """What the versions print differently, with the places: table rows, contradictions first."""
    import pandas as pd

    order = {
        "contradicts": "contradicts",
        "changed": "changed between the versions",
        "rounded": "the same, rounded",
    }
    rows = [
        (
            f"{label}: {r.quantity}",
            r.place,
            "recomputed" if r.place.startswith("recomputed") else "published",
            r.value,
        )
        for kind, label in order.items()
        for _, part in found[found["kind"] == kind].groupby("quantity", sort=False)
        for r in part.itertuples()
    ]
    return pd.DataFrame(rows, columns=["row", "column", "source", "value"])
