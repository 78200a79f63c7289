"""MedHalu's claims: readings of what the paper says, {id: readings}; a function a subject."""

import pandas as pd

from bedside import stats
from bedside.claims import reading, same

from ..data import DATASETS, TYPES, liveqa_train
from . import matrices
from .numbers import (
    LLMS,
    OPEN,
    PEOPLE,
    PROPRIETARY,
    ROUNDED,
    SHORT,
    accuracy_test,
    grid,
    long,
    text,
    wide,
)

ABOUT = 2.5  # percentage points that "about" allows
MARGIN = 0.02  # macro-F1 that "marginal" allows
ALPHA = 0.05
# LLaMA-2's types by section 4.2: worst in HealthQA, best in LiveQA, best in MedicationQA
LLAMA = ("Input-conflict", "Input-conflict", "Fact-conflict")


def by_dataset(values, form=""):
    """Numbers by dataset, or by anything, as words; values: {name: number}."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def listed(values):
    """Numbers in their shortest form."""
    return ", ".join(map(str, values))


# ---- section 2


def counts(run):
    """Tables 3 and 4: sums, balance, and the number of experts."""
    four, three = grid(run, "Table 4"), text(run, "Table 3")
    types = four.drop(index="Total")
    rows = types[list(SHORT.values())].sum(axis=1) == types["Total"]
    columns = types.sum() == four.loc["Total"]
    p, plain = stats.even(types["Total"]), types.at["None-conflict", "Total"]
    wrong = 100 * (1 - plain / four.at["Total", "Total"])
    groups = three.groupby(three.index.str.split(":").str[0]).sum()
    experts = text(run, "text 2.3")["medical experts"]
    return {
        "mh-rows": reading(f"{rows.sum()} of 4 do", rows.all()),
        "mh-columns": reading(f"{columns.sum()} of 4 do", columns.all()),
        "mh-balanced": reading(
            f"chi-squared p = {p:.2f}; {wrong:.0f}% of all answers are hallucinated", p > ALPHA
        ),
        "mh-thirty": reading(by_dataset(groups, ".0f"), (groups == experts).all()),
    }


def raters(run):
    """Section 2.3: the sample, its batches, who judged them for how much, kappa with the labels."""
    said, pay = text(run, "text 2.3"), text(run, "appendix B")
    share = 100 * said["sampled pairs"] / grid(run, "Table 4").at["Total", "Total"]
    pairs, experts = said["batches"] * said[["pairs of a batch", "experts of a batch"]]
    six = text(run, "ethical considerations")["medical experts"]
    hourly = pay["payment"] / pay["time"]
    accuracy = wide(run, "Table 6", "Acc").loc["Experts"]
    most = stats.most_kappa(accuracy + ROUNDED)
    bounds = ", ".join(f"{k:.2f} ({d})" for d, k in zip(accuracy.index, most))
    return {
        "mh-share": reading(f"{share:.1f}%", abs(share - said["sampled share"]) < ABOUT),
        "mh-batches": reading(
            f"{pairs:.0f}, {experts:.0f}",
            (pairs, experts) == (said["sampled pairs"], said["medical experts"]),
        ),
        "mh-six": reading(f"{six:.0f} (ethical considerations)", six == said["medical experts"]),
        "mh-pay": reading(f"{hourly:.0f}", hourly == said["hourly rate"]),
        "mh-kappa": reading(
            f"at most {bounds} with the accuracies of Table 6",
            max(most) >= said["expert annotators"] - ROUNDED,
        ),
    }


def questions(run, lengths):
    """Section 2.2 and the checklist: sizes and lengths of base sets; lengths: `length_table`."""
    raw = lengths[lengths["source"] == "raw"].set_index(["row", "column"])["value"]
    train, found = liveqa_train(run), {}
    for d in DATASETS:
        there = d != "LiveQA" or train is not None  # its test set isn't the paper's
        for column in ("pairs", "words, mean", "words, standard deviation"):
            id = f"mh-{d.lower()}-{column.split()[-1]}"
            got = raw.get((d, column)) if there else None
            found[id] = same(run, id, got, 0 if column == "pairs" else 2)
    found["mh-personal"] = {}
    if train is not None:
        mails = int(train["message"].str.contains(r"\S+@\w+\.\w+").sum())
        found["mh-personal"] = reading(f"{mails} with a mail address", mails == 0)
    return found


# ---- sections 1, 3 and 4


def averages(run):
    """Section 1: macro-F1s as some usual average of Table 6; both are rounded."""
    said = text(run, "text 1")
    found = {name: matrices.averages(run, "Table 6", name) for name in said.index}
    fits = {
        name: {k for k, v in by.items() if abs(v - said[name]) < 2 * ROUNDED - 1e-9}
        for name, by in found.items()
    }
    made = {
        f"mh-average-{name.lower()}": reading(by_dataset(found[name], ".3f"), bool(fits[name]))
        for name in said.index
    }
    kinds = "; ".join(f"{k}: {', '.join(sorted(v)) or 'none fits'}" for k, v in fits.items())
    return made | {"mh-average-same": reading(kinds, bool(set.intersection(*fits.values())))}


def texts(run):
    """Section 4.1: its macro-F1s against Table 6's."""
    said = run.published("text 4.1").set_index(["row", "column"])["value"]
    f1 = wide(run, "Table 6", "ma-F1")
    made = {}
    for name in PEOPLE:
        equal = [said[d, f"{name} ma-F1"] == f1.at[name, d] for d in f1]
        made[f"mh-text-{name.lower()}"] = reading(listed(f1.loc[name]), all(equal))
    health = [said[m, "HealthQA ma-F1"] == f1.at[m, "HealthQA"] for m in LLMS]
    live = said["GPT-3.5 and GPT-4", "LiveQA ma-F1"]
    best = said["highest of the LLMs", "MedicationQA ma-F1"]
    others = [live == v for v in f1.loc[PROPRIETARY, "LiveQA"]]
    equal = [*health, *others, best == f1.loc[LLMS, "MedicationQA"].max()]
    return made | {"mh-text-llms": reading(f"{sum(equal)} agree", all(equal))}


def models(run, rates):
    """Section 4.1: the models among each other; rates: `implied` of Table 6."""
    f1 = wide(run, "Table 6", "ma-F1")
    gaps, ahead = {}, {}
    for m in PROPRIETARY:
        gaps |= {f"{m}, {d}": i for d, i in matrices.f1_test(run, rates, m, OPEN).items()}
        ahead |= {f"{m}, {d}": test for d, test in accuracy_test(run, m, OPEN).items()}
    f1_gaps = [f"{k}: {i.value:+.2f} [{i.low:.2f}, {i.high:.2f}]" for k, i in gaps.items()]
    accuracy_gaps = [f"{k}: {x:+.2f}, p = {p:.2g}" for k, (x, p) in ahead.items()]
    apart = f1.loc["GPT-4"] - f1.loc["GPT-3.5"]
    return {
        "mh-proprietary": reading("; ".join(f1_gaps), all(i.low > 0 for i in gaps.values())),
        "mh-proprietary-accuracy": reading(
            "; ".join(accuracy_gaps), all(x > 0 for x, _ in ahead.values())
        ),
        "mh-marginal": reading(by_dataset(apart, "+.2f"), apart.between(0, MARGIN).all()),
    }


def people(run):
    """Section 4.1: experts and laypeople, and the models beside them."""
    f1, accuracy = wide(run, "Table 6", "ma-F1"), wide(run, "Table 6", "Acc")
    tests = [accuracy_test(run, "Experts", m) for m in LLMS]
    least = {d: min(t[d][0] for t in tests) for d in f1}
    largest = {d: max(t[d][1] for t in tests) for d in f1}
    less, gap = accuracy_test(run, "Experts", "Laypeople"), f1.loc["Experts"] - f1.loc["Laypeople"]
    made = {
        "mh-below-experts": reading(
            "; ".join(f"{d}: {least[d]:+.2f}, largest p = {largest[d]:.2g}" for d in f1),
            all(x > 0 and p < ALPHA for t in tests for x, p in t.values()),
        ),
        "mh-laypeople": reading(
            "; ".join(f"{d}: {gap[d]:.2f}, accuracy p = {less[d][1]:.2g}" for d in f1),
            (f1.loc["Experts"] > f1.loc["Laypeople"]).all(),
        ),
    }
    for what, table in (("macro-F1", f1), ("accuracy", accuracy)):
        best = table.loc[LLMS].max() - table.loc["Laypeople"]
        ahead = [d for d in DATASETS if best[d] > 0]
        made[f"mh-no-better-{what}"] = reading(by_dataset(best, "+.2f"), ahead == ["LiveQA"])
    least = f1.min(axis=1)
    hardest = [f"{e} {', '.join(d for d in f1 if f1.at[e, d] == v)}" for e, v in least.items()]
    return made | {"mh-liveqa": reading("; ".join(hardest), (f1["LiveQA"] <= least).all())}


def behind(run, rates):
    """Tables 6 and 8: whether counts exist that print so; rates: `implied` of Table 6."""
    none, never = rates[rates["fits"] == 0], rates[rates["anyhow"] > matrices.FITS]
    agree = matrices.types_agree(run)
    off = ", ".join(f"{r.row} {r.dataset} (off by {r.off:.4f})" for r in none.itertuples())
    lost = f"{len(rates) - len(never)} can be; not {rows_of(never)}"
    return {
        "mh-matrices": reading(f"{len(rates) - len(none)} are; not {off}", none.empty),
        "mh-any-share": reading("all can be" if never.empty else lost, never.empty),
        "mh-types-fit": reading(
            f"{agree['agrees'].sum()} fit; not {rows_of(agree[~agree['agrees']])}",
            agree["agrees"].all(),
        ),
    }


def rows_of(frame):
    """Rows of a printed table, named by evaluator and dataset."""
    return ", ".join(f"{r.row} {r.dataset}" for r in frame.itertuples())


def types(run):
    """Section 4.2 and Table 8: which type a model sees best."""
    rows = long(run, "Table 8")
    metrics, kinds = list(rows["metric"].unique()), list(TYPES.values())[1:]

    def block(model, metric):  # types by datasets
        return wide(run, "Table 8", metric).loc[[f"{model}, {t}" for t in kinds]].set_axis(kinds)

    both = [block(m, x) for m in PROPRIETARY for x in metrics]
    cells = sum(t.shape[1] for t in both)
    context = sum((t.idxmax() == "Context-conflict").sum() for t in both)
    fact = sum((t.loc["Fact-conflict"] > t.loc["Input-conflict"]).sum() for t in both)
    llama = block(OPEN, "ma-F1")
    most = ", ".join(f"{d}: best {llama[d].idxmax()} {llama[d].max()}" for d in DATASETS)
    found = (llama["HealthQA"].idxmin(), llama["LiveQA"].idxmax(), llama["MedicationQA"].idxmax())
    return {
        "mh-context": reading(f"{context} of {cells}", context == cells),
        "mh-fact-input": reading(f"{fact} of {cells}", fact == cells),
        "mh-llama-types": reading(most, found == LLAMA),
        "mh-caption": reading(", ".join(metrics), len(metrics) == 4),
    }


def spans(run):
    """Section 4.1 and Table 7: edit distances."""
    seven = pd.concat([wide(run, "Table 7", x) for x in ("Mean", "Med")], keys=["Mean", "Med"])
    nearer = seven.xs("GPT-4", level="row") < seven.xs("GPT-3.5", level="row")
    largest = seven.idxmax(axis=1) == "LiveQA"
    return {
        "mh-spans-gpt4": reading(f"{nearer.sum().sum()} of {nearer.size}", nearer.all(axis=None)),
        "mh-spans-liveqa": reading(
            f"{largest.sum()} of {len(largest)} means and medians", largest.all()
        ),
    }


# ---- section 5


def scores_of(run, table):
    """Table 6 or 10 by metric, models only: {metric: models by datasets}."""
    metrics = long(run, table)["metric"].unique()
    return {x: wide(run, table, x).loc[LLMS] for x in metrics}


def gains(run):
    """Section 5: what a reason in the prompt gains, and whether text and Table 10 agree."""
    before, after = (scores_of(run, t)["ma-F1"] for t in ("Table 6", "Table 10"))
    gain, said = 100 * (after - before), grid(run, "text 5").loc[DATASETS]
    printed = text(run, "abstract")["GPT-4 gain with an expert's reason"]
    mean = gain.loc["GPT-4"].mean()
    ratio = 100 * (after.loc["GPT-4"].mean() / before.loc["GPT-4"].mean() - 1)
    made = {
        "mh-gain-gpt4": reading(
            ", ".join(f"{v:.0f}" for v in gain.loc["GPT-4"]),
            (gain.loc["GPT-4"].round() == said["GPT-4 gain, points"]).all(),
        ),
        "mh-gain-average": reading(
            f"{mean:.1f} points; {ratio:.1f}% of the score before",
            f"{mean:.1f}" == f"{printed:.1f}",
        ),
    }
    for name in ("LLaMA-2", "GPT-4"):
        equal = said[f"{name} ma-F1"] == after.loc[name]
        made[f"mh-reason-{name.lower()}"] = reading(listed(after.loc[name]), equal.all())
    means = ", ".join(f"{m} {v:+.1f}" for m, v in gain.mean(axis=1).items())
    more = gain > 0
    return made | {
        "mh-all-improve": reading(
            f"{more.sum().sum()} of {gain.size}; on average {means}", more.all(axis=None)
        )
    }


def with_reason(run, ten):
    """Section 5, Table 10: all scores, the best model, counts; ten: `implied` of Table 10."""
    before, after = scores_of(run, "Table 6"), scores_of(run, "Table 10")
    change = pd.concat({x: after[x] - before[x] for x in after}).round(2).stack()
    falls, best = change[change < 0], after["ma-F1"].idxmax()
    fallen = ", ".join(f"{m} {d} {x} {v:+.2f}" for (x, m, d), v in falls.items())
    fit, anyhow = (ten["fits"] > 0), (ten["anyhow"] <= matrices.FITS)
    return {
        "mh-all-scores": reading(f"{len(falls)} of {len(change)} fall: {fallen}", falls.empty),
        "mh-gpt4-best": reading(
            ", ".join(f"{d} {m}" for d, m in best.items()), (best == "GPT-4").all()
        ),
        "mh-matrices-10": reading(
            f"{fit.sum()} are; at another share of hallucinations {anyhow.sum()}", fit.all()
        ),
    }


def found_and_let_pass(six, ten):
    """Section 5: what a reason does to finding and letting pass; `implied` of Tables 6 and 10."""
    pairs = six.merge(ten, on=["row", "dataset"], suffixes=("", " then"))
    pairs = pairs[(pairs["fits"] > 0) & (pairs["fits then"] > 0)]
    told = [
        f"{r['row']}, {r['dataset']}: found {r['sensitivity']:.2f} to {r['sensitivity then']:.2f},"
        f" let pass {r['specificity']:.2f} to {r['specificity then']:.2f}"
        for r in pairs.to_dict("records")
    ]
    no_worse = pairs["specificity least"] <= pairs["specificity most then"]
    return {"mh-yes": reading("; ".join(told), no_worse.all())}
