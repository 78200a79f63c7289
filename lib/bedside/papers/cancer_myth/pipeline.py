"""Cancer-Myth, section 3: what the released data say to the claims on how the set was made."""

from bedside import stats
from bedside.checks import counterparts, merged, normal, shared, spellings
from bedside.claims import reading

from .data import CATEGORIES

CLAIMS = """
cm-myths cm-myths-unique cm-cancer-types cm-cancer-names
cm-balanced cm-balanced-parts cm-first-76 cm-even cm-even-generators cm-per-myth
cm-subset cm-nfp-source cm-exclude
cm-manual cm-distinct cm-gaps cm-generator-names
cm-review-even
""".split()


def kept(candidates, released):
    """Which candidates (booleans) were kept: released word for word, or nearly (`counterparts`)."""
    found = counterparts(candidates["question"], released["question"])
    return candidates["question"].map(normal).isin(found.values())


def readings(run, raw, checked):
    """Readings of CLAIMS, {id: readings}, from `data.released` and `checks.report`.

    Without the data ({}) each is empty.
    """
    if not raw:
        return dict.fromkeys(CLAIMS, {})
    counts = run.published("v1 text 3", "v1 text 4.1", "v1 text B.4")
    said = {(r.row, r.column): int(r.value) for r in counts.itertuples()}
    hit = kept(raw["candidates"], raw["released"])
    found = {
        **_on_myths(said, raw["myths"]),
        **_on_candidates(said, raw["candidates"], hit),
        **_on_sets(raw),
        **_on_files(said, raw, checked),
        **_on_review(raw["candidates"], hit),
    }
    return {id: found[id] for id in CLAIMS}


def _on_myths(said, myths):
    """Section 3.1: how many there are, and of how many cancers."""
    texts, types = myths["myth"].map(normal).nunique(), myths["cancer"].nunique()
    repeated, fewer = len(myths) - texts, merged(myths["cancer"])
    names = spellings(myths["cancer"])
    pair = " = ".join(names[0]) if names else "none"
    return {
        "cm-myths": reading(f"{len(myths)}", len(myths) == said["myths", "count"]),
        "cm-myths-unique": reading(
            f"{texts} different texts; {repeated} repeat another's, most under another cancer",
            not repeated,
        ),
        "cm-cancer-types": reading(
            f"{types} names, {fewer} with spellings merged",
            said["cancer types", "count"] in (types, fewer),
        ),
        "cm-cancer-names": reading(f"{len(names)} types have two names, such as {pair}", not names),
    }


def _on_candidates(said, offered, hit):
    """Section 4.1, appendix B: what the physicians were given, and how even its categories are."""
    first, rest = offered[offered["first"]], offered[~offered["first"]]
    made, balanced = said["generated at first", "count"], said["balanced", "all"]
    parts = rest["generator"].value_counts()
    shares = offered["category"].value_counts()
    worst = rest.groupby("generator")["category"].agg(
        lambda category: category.value_counts(normalize=True).max()
    )
    most = offered[offered["myth"] > 0].groupby(["generator", "myth"]).size().max()
    even = _even(shares)
    return {
        "cm-balanced": reading(f"{len(offered)}", len(offered) == balanced),
        "cm-balanced-parts": reading(
            f"{made} + {' + '.join(map(str, parts))} = {made + parts.sum()}; the file has"
            f" {len(first)} for the first {made}: what the first review took out is gone",
            parts.nunique() == 1 and made + parts.sum() == balanced,
        ),
        "cm-first-76": reading(
            f"{len(first)}, of which {hit[first.index].sum()} are released",
            len(first) == said["valid at first", "count"],
        ),
        "cm-even": reading(
            f"{shares.min()} to {shares.max()} of {len(offered)} (chi-square p = {even:.1g})",
            even > 0.05,
        ),
        "cm-even-generators": reading(
            "largest share: " + ", ".join(f"{g} {100 * s:.0f}%" for g, s in worst.items()),
            worst.max() <= 2 / len(CATEGORIES),
        ),
        "cm-per-myth": reading(f"{most}", most <= said["questions per myth", "count"]),
    }


def _on_sets(raw):
    """What the released sets share with the candidates and with each other."""
    offered, released = raw["candidates"]["question"], raw["released"]["question"]
    plain = raw["nfp"]["example_question"]
    exact, from_offered = len(shared(released, offered)), len(shared(offered, plain))
    both = len(shared(released, plain))
    without = f"{both} without a false presupposition also released as one with"
    return {
        "cm-subset": reading(
            f"{exact}; the other {len(released) - exact} were reworded", exact == len(released)
        ),
        "cm-nfp-source": reading(f"{from_offered}", from_offered == len(plain)),
        "cm-exclude": reading(without if both else "0", not both),
    }


def _on_files(said, raw, checked):
    """The files themselves: hand-made questions, repetitions, gaps, names."""
    manual = (raw["candidates"]["generator"] == "Manual").sum()
    sources = ["cancer_myth_candidates", "cancer_myth_released", "cancer_myth_nfp"]
    total = checked[checked["row"].isin(sources)].groupby("column")["value"].sum()
    twice, gaps = int(total["repeated texts"]), int(total["empty cells"])
    spelled = spellings([*raw["candidates"]["spelled"], *raw["nfp"]["from_model"]])
    names = "; ".join(" = ".join(group) for group in spelled)
    return {
        "cm-manual": reading(
            f"{manual}; the other is filed under GPT-4o", manual == said["candidates", "manual"]
        ),
        "cm-distinct": reading(f"{twice}", not twice),
        "cm-gaps": reading(f"{gaps}", not gaps),
        "cm-generator-names": reading(names or "one each", not spelled),
    }


def _on_review(offered, hit):
    """Does the review keep equal shares of the generators' questions (beyond the first set)?"""
    rest = offered[~offered["first"]]
    by = {g: (int(hit[part.index].sum()), len(part)) for g, part in rest.groupby("generator")}
    low, high = (pick(by.values(), key=lambda k: k[0] / k[1]) for pick in (min, max))
    apart = stats.two_proportions(*low, *high)
    shares = ", ".join(f"{g} {100 * k / n:.0f}%" for g, (k, n) in by.items())
    told = f"{shares}; lowest against highest p = {apart:.1g}"
    return {"cm-review-even": reading(told, apart > 0.05)}


def _even(counts):
    """p of a chi-square test of equal shares."""
    from scipy.stats import chisquare

    return chisquare(counts).pvalue
