"""MedDialBench: what its claims on combinations come to (section 4.3)."""

from bedside.claims import reading, same

from . import MODELS, combinations, drops, odds_interaction, ratio_draws, ratios, share, wide

FABRICATED, OTHER = ["C1", "C2", "C3"], ["C4", "C5", "C6"]


def of_table(run, paper):
    """Readings of the claims on Table 4: {id: readings}; paper: the paper's design."""
    observed, four = ratios(run, combinations(paper)).mean(axis=1), wide(run, "Table 4")
    found = {}
    for c in four.index:
        found[f"md-oe-{c.lower()}"] = same(run, f"md-oe-{c.lower()}", observed[c], 2)
    for what, mine in (("Mean Acc", share(run)), ("Mean drop", drops(run))):
        mean = mine.loc[four.index].mean(axis=1)
        equal = [f"{mean[c]:.1f}" == f"{v:.1f}" for c, v in four[what].items()]
        told = ", ".join(f"{v:.2f}" for v in mean)
        found[f"md-{what.lower().replace(' ', '-')}"] = reading(told, all(equal))
    return found


def of_fabricating(run, paper):
    """Readings of the claims that fabricating alone makes pairs super-additive: {id: readings}."""
    pairs = combinations(paper)
    observed, draws = ratios(run, pairs), ratio_draws(run, pairs)
    lied, other = observed.loc[FABRICATED], observed.loc[OTHER]
    cells = lied.stack()
    above = [f"{c} {m} {v:.2f}" for (c, m), v in cells[cells >= 1].items()]
    below = f"{(cells < 1).sum()} of {len(cells)} below 1; not {', '.join(above)}"

    at = {c: k for k, c in enumerate(pairs)}
    mean, each = (draws.mean(-1) >= 1).mean(0), (draws < 1).mean(0)
    apart = {c: float(mean[at[c]]) for c in FABRICATED}
    sure = {c: [m for m, p in zip(MODELS, each[at[c]]) if p >= 0.975] for c in FABRICATED}
    in_draws = [f"{c} {lied.loc[c].mean():.2f} ({100 * p:.1f}% of draws)" for c, p in apart.items()]
    means = other.mean(axis=1)
    spans = [f"{x.min():.2f}-{x.max():.2f}" for x in (other.stack(), means)]
    return {
        "md-super": reading(below, not above),
        "md-super-mean": reading(", ".join(in_draws), max(apart.values()) < 0.025),
        "md-super-each": reading(
            "; ".join(f"{c}: {', '.join(v) or 'none'}" for c, v in sure.items()),
            all(len(v) == len(MODELS) for v in sure.values()),
        ),
        "md-additive": reading(
            f"{spans[0]}; means {spans[1]}", ((other > 0.9) & (other < 1.1)).all(axis=None)
        ),
    }


def of_models(run, paper):
    """Readings of the claims on models, scales and cases: {id: readings}."""
    pairs = combinations(paper)
    observed = ratios(run, pairs)
    spread = (observed.max(axis=1) - observed.min(axis=1)).sort_values(ascending=False)
    deepseek, gemini = (observed.at["C2", m] for m in ("DeepSeek", "Gemini"))
    odds = {c: odds_interaction(run, c, levels) for c, levels in pairs.items()}
    alone, lowest = drops(run).loc["incoherent"].mean(), observed.mean(axis=1).idxmin()
    return {
        "md-spread": reading(
            ", ".join(f"{c} {v:.2f}" for c, v in spread.items()), spread.index[0] == "C2"
        ),
        "md-c2-deepseek": same(run, "md-c2-deepseek", deepseek, 2),
        "md-c2-gemini": same(run, "md-c2-gemini", gemini, 2),
        "md-c6": same(run, "md-c6", observed.loc["C6"].mean(), 2),
        "md-odds": reading(
            ", ".join(f"{c} {v:+.2f}" for c, v in odds.items()),
            all((v > 0) == (c in FABRICATED) for c, v in odds.items()),
        ),
        "md-eligible-fabricating": {},
        "md-eligible-other": {},
        "md-incoherent-harmless": reading(
            f"{-alone:+.1f} points alone; lowest O/E {lowest}", alone < 0 and lowest == "C2"
        ),
    }
