"""Radiation: readings of its claims about the overlap of base and specified lists (4.6)."""

from bedside.read.claims import between, every, near, reading

from . import MODERATE, ROUNDED, above, counted, meet, rank_correlation, wide

HALF, STABLE = 0.5, 0.75  # Jaccard's index of clusters: dissolved below, stable above (Hennig 2007)


def _faultless(patients, reference):
    """The overlaps of faultless lists (least, most): means over patients.

    The specified list is the site's reference. The base list, made without a site, has the effects
    of all sites in common, or those of any site.
    """
    size = patients["site"].map(reference.groupby("site").size())
    sites = reference.groupby("effect")["site"].nunique()
    core = (sites == reference["site"].nunique()).sum()
    ways = (core / size).mean(), (size / len(sites)).mean()
    return min(ways), max(ways)


def readings(run, patients, reference):
    """{id: readings} of section 4.6: how low are overlaps, with and without a list size?"""
    table, low, high = (wide(run, "Table 5", what) for what in ("value", "low", "high"))
    free, sized = table
    bounds = {"below a half": HALF, "below what counts as stable": STABLE}
    if run.profile == "public":
        bounds["below faultless lists"] = _faultless(patients, reference)[0]
    largest, lowest = table.stack(), {}
    for name, bound in bounds.items():
        told = f" below {bound:.2f}; the largest is {largest.max()}"
        lowest |= counted(above(bound - largest), told, name, all=True)
    same = meet(*([ends[free], ends[sized]] for ends in (low, high)))
    top = table[sized].max()
    ranks, *limits = rank_correlation(table[free], wide(run, "Table 1")["Precision"])
    return {
        "rad-overlap-low": lowest,
        "rad-overlap-step": reading(
            f"{same.sum()} of {len(same)} have intervals that meet; largest with a size {top}",
            every([same.mean() > 0.5, near(top, ROUNDED, most=STABLE)]),
            name="intervals meet for most models, none becomes stable",
        ),
        "rad-overlap-precise": reading(
            f"{ranks:.2f}",
            between(*limits, least=MODERATE),
            *limits,
            "rank correlation over the seven models",
        ),
    }
