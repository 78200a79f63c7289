"""Radiation: readings of its claims about the matcher (3.5): 96% agreement on 30 examples."""

from bedside import stats
from bedside.read.claims import outcome

from . import ROUNDED, all_scores

RELIABLE = 90  # percent; the lower end of the interval must be above it


def readings(run):
    """{id: readings}: can 30 examples give 96%, and how precisely do they estimate it?

    An example is one decision, or a list with a decision for each entry. The number of entries is a
    lower bound: the lowest ratio of recall to precision in Table 1, times the shortest reference of
    section 3.4.
    """
    said = run.published("text 3.5").set_index("row")["value"]
    examples, rate = int(said["validated examples"]), said["matcher agreement"]
    size = run.published("text 3.4").set_index(["row", "column"])["value"]
    first = all_scores(run)["free-form"]
    ratio = (first["Recall"] - ROUNDED) / (first["Precision"] + ROUNDED)
    entries = int(ratio.min() * size["side effects per profile", "least"])
    many, known = examples * entries, int(rate * examples / 100)
    near = [f"{k} is {100 * k / examples:.1f}%" for k in (known, known + 1)]
    never = [n for n in range(1, 101) if not stats.grim(rate, n, 0)]  # from 100 on any n can
    counts = {"30 decisions": examples, "decisions on 30 lists": many}
    reliable = {}
    for name, n in counts.items():
        sure = stats.wilson(round(rate * n / 100), n)
        low, high = 100 * sure.low, 100 * sure.high
        told = f"95% interval of {n}: {low:.0f} to {high:.0f}%"
        reliable[name] = outcome(told, low > RELIABLE, low, high)
    return {
        "rad-grim": {
            "30 decisions": outcome(
                f"of {examples}: {', '.join(near)}", stats.grim(rate, examples, 0)
            ),
            "decisions on 30 lists": outcome(
                f"any number from {max(never) + 1} on can; 30 lists have {many} entries or more",
                many > max(never),
            ),
        },
        "rad-reliable": reliable,
    }
