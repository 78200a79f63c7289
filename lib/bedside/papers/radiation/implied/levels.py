"""Radiation: readings of its claims about recall by onset and by frequency (section 4.7)."""

import pandas as pd

from bedside.read.claims import between, every, near, outcome, reading

from . import ROUNDED, STRONG, TWO, above, both, counted, high, listed, number, of_most, wide

NAMED = [  # the delayed effects of section 4.7.1, in the words of the reference
    "breast or chest wall fibrosis",
    "telangiectasia",
    "lymphedema",
    "cardiovascular disease",
    "cancer caused by radiation",
]
LATE = "long-term"
MISSED = 0.1  # share of lists: a model that misses an effect in so many fails to retrieve it


def readings(run, reference):
    """{id: readings} of section 4.7. Some need the released reference, and are empty without it."""
    six, seven = wide(run, "Table 6"), wide(run, "Table 7")
    found = {**_on_onset(six, seven), **_on_frequency(seven), **_on_exceptions(six, seven)}
    known = _on_reference(run, six, seven, reference)
    known = known if run.profile == "public" else dict.fromkeys(known, {})
    # most claims have readings of one kind only
    return {id: found.get(id, {}) | known.get(id, {}) for id in {**found, **known}}


def _on_onset(six, seven):
    """Short-term and long-term effects (4.7.1), and rare and long-term ones (abstract)."""
    gap = six["Short-term"] - six["Long-term"]
    short, late = above(gap, slack=TWO), above(-gap, slack=TWO)
    rarer = above(seven["Common"] - seven["Rare"], slack=TWO)
    told = f"rare below common in {number(rarer)}, long-term below short-term in {number(short)}"
    models = list(six.index[late[0]])
    return {
        "rad-onset": counted(short, name="Table 6"),
        "rad-onset-reversed": reading(", ".join(models), set(models) == set(STRONG)),
        "rad-tend": reading(told, every([of_most(rarer), of_most(short)])),
        "rad-late": {
            "rare effects in every model, long-term ones in most": outcome(
                told, every([of_most(rarer, all=True), of_most(short)])
            ),
            "both in every model": outcome(
                told, every([of_most(rarer, all=True), of_most(short, all=True)])
            ),
        },
    }


def _on_frequency(seven):
    """Which frequencies have the lowest recall (4.7.2)?"""
    rare, last = seven["Rare"], seven["Extremely Rare"]
    common = [above(seven["Common"] - other, slack=TWO) for other in (rare, last)]
    below = [above(rare - other, slack=TWO) for other in (seven["Uncommon"], last)]
    means = seven.mean().sort_values()
    lowest = ", ".join(f"{level.lower()} {v:.2f}" for level, v in means.items())
    said = means[["Uncommon", "Extremely Rare"]]
    apart = means.drop(said.index).min() - said.max()
    return {
        "rad-common": counted(both(*common)),
        "rad-uncommon": {
            "below rare in most models": outcome(
                "uncommon below rare in {}, extremely rare in {}".format(*map(number, below)),
                every(map(of_most, below)),
            ),
            "lowest on the models' mean": outcome(f"means: {lowest}", near(apart, TWO, least=0)),
        },
    }


def _on_exceptions(six, seven):
    """Are O4-Mini and GPT-5.3 strong in every onset and frequency (4.7.2)?"""
    table = pd.concat([six, seven], axis=1)
    best = above(table.loc[STRONG].min() - table.drop(STRONG).max(), slack=TWO)
    others = [f"; {c}: {', '.join(table[c].nlargest(2).index)}" for c in table.columns[~best[0]]]
    rest = {(m, c): table.at[m, c] - table[c].drop(m) for m in STRONG for c in table}
    # at the median or above, even if all models with the same rounded value are better
    middle = pd.Series(
        {k: above(gaps, slack=TWO)[0].sum() >= len(gaps) // 2 for k, gaps in rest.items()}
    )
    gap = seven.loc[STRONG, "Rare"] - seven.loc[STRONG, "Common"]
    lower = above(-gap, slack=TWO)
    return {
        "rad-exceptions": {
            **counted(best, f" columns{''.join(others)}", "the best two", all=True),
            **counted((middle, middle), " values", "the median or more", all=True),
            "no bias to common effects": outcome(
                f"rare less common: {listed(gap)}", of_most((~lower[1], ~lower[0]), all=True)
            ),
        }
    }


def _on_reference(run, six, seven, reference):
    """Readings that need to know which effects are late, and which frequencies each onset has.

    Each site has two extremely rare effects, both long-term. If each level counts once, long-term
    recall is therefore a mean over four frequencies, and short-term recall over the first three.
    """
    last, short, common = seven["Extremely Rare"], six["Short-term"], seven["Common"]
    alike = above(short - (4 * six["Long-term"] - last) / 3, slack=ROUNDED * (1 + 5 / 3))
    mean_of = {3: short, 2: common}  # cells in these means, short-term common one of them
    least = [n * (mean - ROUNDED) - (n - 1) for n, mean in mean_of.items()]
    most = [n * (mean + ROUNDED) for n, mean in mean_of.items()]
    least = pd.concat(least, axis=1).max(axis=1).clip(lower=0)
    most = pd.concat(most, axis=1).min(axis=1).clip(upper=1)
    reliable = tuple(v >= high(run) for v in (least, most))
    missed = 1 - 2 * (last + ROUNDED)
    mostly = ", ".join(missed.index[missed > 0.5])
    sure = missed[missed >= MISSED]
    may = 2 * (1 - last + ROUNDED) >= MISSED  # if no list misses the other effect
    named = (reference["onset"] == LATE).groupby(reference["effect"]).all()[NAMED]
    return {
        "rad-onset": counted(alike, name="without extremely rare effects"),
        "rad-infrequent-late": {
            **_late(reference.drop_duplicates(["effect", "onset", "frequency"]), "terms"),
            **_late(reference, "terms at a site"),
        },
        "rad-late-named": reading(
            f"{named.sum()} of {len(named)} are long-term", named.all(), name="their onset"
        ),
        "rad-acute": reading(
            f"{number(reliable)} reach {high(run)}; they have at least {least.min():.2f} to"
            f" {least.max():.2f}, at most {most.min():g}",
            of_most(reliable),
            name="as high as the precision that 4.3 calls high",
        ),
        "rad-pericarditis": reading(
            f"{len(sure)} of {len(missed)} miss it in at least"
            f" {sure.min():.2f} to {sure.max():.2f} of the lists; in over half: {mostly}",
            between(len(sure), may.sum(), least=len(missed) // 2 + 1),
            name="missed in a tenth of the lists or more by most models",
        ),
    }


def _late(entries, name):
    """Are uncommon and extremely rare effects mostly long-term?"""
    late = (entries["onset"] == LATE).groupby(entries["frequency"]).agg(["sum", "size"])
    late = late.loc[["uncommon", "extremely rare"]]
    told = ", ".join(f"{level} {n} of {size}" for level, n, size in late.itertuples())
    return reading(told, (late["sum"] > late["size"] / 2).all(), name=name)
