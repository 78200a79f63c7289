"""Seminar sheet 4, The difficult patient: what a patient tells, invented details, what they cost.

Every right answer is computed from sample data, printed tables and the written consultations.

What the checks say is in words.toml beside this file.
"""

import functools

from bedside import stats
from bedside.papers.meddialbench import printed, words
from bedside.papers.meddialbench.design import BASELINE
from bedside.read.checks import normal
from bedside.seminar import choice, fields, near, number, numbers, task
from bedside.seminar.meddialbench.material import HALF, Material

DETAIL = ["turn", "instead", "toward", "why", "uncovers"]
SET_RIGHT = {"E": (), "F": (), "both": (), "neither": ("none",)}
LEAST = 0.05  # p below which a difference is significant in task 4.7, as in the paper


def odds(accuracy):
    """Odds of failure of an accuracy in percent."""
    return (100 - accuracy) / accuracy


def listed(told):
    """The numbers of a list or of a text such as "2, 7", or a single number; else None."""
    if isinstance(told, str):
        told = [] if told.strip().lower() in ("-", "none") else told.replace(",", " ").split()
    told = told if isinstance(told, (list, tuple, set)) else [told]
    found = [number(n) for n in told]
    return None if None in found else found


class Sheet(Material):
    """The checks of sheet 4; each knows what common mistakes lead to."""

    @task("4.1")
    def told(self, answer):
        """Task 4.1: key items told, turn by turn."""
        turns, items, label = self.dialogue["turns"], self.items, list(self.dialogue["disclosed"])
        lists = {number(turn): listed(told) for turn, told in answer.items()}
        if set(lists) != set(range(1, len(turns) + 1)) or None in lists.values():
            raise self.wrong("turns", n=len(turns))
        mine = [n for told in lists.values() for n in told]
        if strange := [n for n in mine if n not in range(1, len(items) + 1)]:
            raise self.wrong("strange", item=strange[0], n=len(items))
        if twice := [n for n in set(mine) if mine.count(n) > 1]:
            raise self.wrong("twice", item=twice[0])
        if extra := sorted(set(mine) - set(label)):
            raise self.wrong("extra", item=extra[0], text=items[extra[0] - 1])
        if missing := [n for n in label if n not in mine]:
            where = self._where(items[missing[0] - 1])
            raise self.wrong("missing", n=len(missing), item=missing[0], where=where)
        return self.said(told=len(label), n=len(items), rest=len(items) - len(label))

    def _where(self, item):
        """Where to look for a key item: the first turn that has half of its words."""
        telling = words.of(item)
        for k, turn in enumerate(self.dialogue["turns"], 1):
            if 2 * len(telling & words.of(" ".join(turn))) >= len(telling):
                return f"read turn {k} again"
        return "it comes in other words, so read all turns again"

    @task("4.2")
    def coverage(self, answer):
        """Task 4.2: coverage, and coverage per turn (section 3.5)."""
        told, of, turns = (len(self.dialogue[k]) for k in ("disclosed", "key_items", "turns"))
        share = told / of
        mistakes = {
            "items a turn": {"coverage per turn": told / turns},
            "upside down": {"coverage per turn": turns / share},
            "not told": {"coverage": 1 - share},
        }
        self.numbers(answer, {"coverage": share, "coverage per turn": share / turns}, mistakes)
        two = self.run.published("Table 2").query("column == 'Coverage'")["value"]
        return self.said(low=two.min(), high=two.max())

    @task("4.3")
    def loss(self, answer):
        """Task 4.3: mean losses of Table 3, and their ratio."""
        names, mean = ["fabricating", "withholding"], self.means()
        base, accuracy = mean[BASELINE], [mean[n] for n in names]
        lost = [base - a for a in accuracy]
        mistakes = {
            "left": dict(zip(names, accuracy)),
            "positive": dict(zip(names, [-v for v in lost])),
            "relative": dict(zip(names, [100 * v / base for v in lost])),
            "upside down": {"ratio": lost[1] / lost[0]},
        }
        truth = {**dict(zip(names, lost)), "ratio": lost[0] / lost[1]}
        self.numbers(answer, truth, mistakes, by=0.06)
        each = printed.drops(self.run)
        ratios = each.loc["fabricating"] / each.loc["withholding"]
        return self.said(low=ratios.min(), high=ratios.max())

    @task("4.4")
    def turns_of(self, answer):
        """Task 4.4: the statement that a conclusion rests on, and what it leaves over."""
        rests = {f"{k}, rests on": c["rests"] for k, c in self.misled.items()}
        left = {f"{k}, left over": c["left"] for k, c in self.misled.items()}
        numbers(answer, [*rests, *left])
        for k, c in self.misled.items():
            mine = [number(answer[f"{k}, {what}"]) for what in ("rests on", "left over")]
            truth, turns = [c["rests"], c["left"]], len(c["turns"])
            cases = {
                "no turn": not set(mine) <= set(range(1, turns + 1)),
                "swapped": mine == truth[::-1],
                "true": mine[0] == truth[1],
                "rests": mine[0] != truth[0],
                "invented": mine[1] == truth[0],
                "left": mine[1] != truth[1],
            }
            self.refuse(cases, letter=k, n=turns)
        return self.said(n=len(self.misled))

    @task("4.5", free=True)
    def detail(self, answer):
        """Task 4.5: an invented detail for a consultation in which everything is true."""
        turn, *texts = fields(answer, DETAIL)
        instead, toward, _, uncovers = map(str, texts)
        turns, right = self.true["turns"], map(normal, self.true["right"])
        at = number(turn)
        if at not in range(1, len(turns) + 1):
            raise self.wrong("no turn", n=len(turns))
        asked = f" {' '.join(normal(q) for q, _ in turns)} "
        cases = {
            "own words": set(normal(instead).split()) <= set(normal(turns[int(at) - 1][1]).split()),
            "same": any(name in normal(toward) for name in right),
            "asked": f" {normal(uncovers)} " in asked,
        }
        self.refuse(cases)
        return self.said(turn=int(at), toward=toward.strip())

    @task("4.6")
    def dose(self, answer):
        """Task 4.6: steps from severity 0 to 1 to 2 in Table 3 (section 4.2)."""
        mean, truth, whole, times = self.means(), {}, {}, {}
        for d in ("cognition", "logic"):
            none, some, most = (mean[n] for n in (BASELINE, *self.design.of(d)[1:]))
            truth |= {f"{d}, first step": none - some, f"{d}, second step": some - most}
            whole[f"{d}, second step"] = none - most
            times[d] = (some - most) / (none - some)
        *steps, threshold = fields(answer, [*truth, "threshold"])
        mistakes = {"whole": whole, "positive": {k: -v for k, v in truth.items()}}
        self.numbers(dict(zip(truth, steps)), truth, mistakes, by=0.11)
        jump = max(times, key=times.get)
        said = set(normal(threshold).split())
        if jump not in said or said & (times.keys() - {jump}):
            raise self.wrong("threshold")
        return self.said(jump=jump, times=times[jump])

    @functools.cached_property
    def six_cases(self):
        """What the rules lose and win: (lost, won)."""
        made = self.ruled()
        return made["lost"], made["won"]

    @task("4.7")
    def six(self, answer):
        """Task 4.7: exact McNemar test on six cases."""
        p, least = numbers(answer, ["p", "least"], share=["p"])
        n, true = len(self.cases), stats.mcnemar_counts(*self.six_cases)
        needed = next(k for k in range(1, 100) if stats.mcnemar_counts(k, 0) < LEAST)
        fewer, all_n = needed - 1, (stats.mcnemar_counts(n, 0), 0.5**n)
        off = not near(p, true, 0.006)
        cases = {
            "one-sided": near(p, true / 2, 0.006),
            "discordant": off and any(near(p, x, 0.006) for x in all_n),
            "p": off,
            "fewer": least == fewer,
            "least": least != needed,
        }
        self.refuse(cases, fewer=fewer, its=stats.mcnemar_counts(fewer, 0))
        points = 100 * stats.mde_paired(printed.N, 0.2)
        return self.said(
            p=true, lost=self.six_cases[0], n=n, needed=needed, cases=printed.N, points=points
        )

    @task("4.8")
    def ratio(self, answer):
        """Task 4.8: observed over expected on shares (equation 1) and on odds of failure."""
        base, a, b, both = self.cell().values()
        mean, low, high = self.printed_ratio()
        expected, failing = a * b / base, odds(a) * odds(b) / odds(base)
        ratio, observed = both / expected, odds(both)
        truth = {"expected": expected, "O/E": ratio}
        truth |= {"odds, observed": observed, "odds, expected": failing}
        mistakes = {
            "subtracted": {"expected": a + b - base},
            "baseline": {"expected": a * b / 100},
            "upside down": {"O/E": expected / both},
            "mean": {"O/E": mean},
            "share": ({"odds, observed": 1 / observed}, {"odds, observed": 1 - both / 100}),
            "added": {"odds, expected": odds(a) + odds(b) - odds(base)},
        }
        self.numbers(answer, truth, mistakes, by=0.03)
        return self.said(
            ratio=ratio, odds=observed, failing=failing, n=printed.N, low=low, high=high
        )

    @task("4.9")
    def questions(self, answer):
        """Task 4.9: coverage after half and all of the turns, and what more questions set right."""
        truth, turns = {}, {}
        for k, c in self.longer.items():
            of, told = len(c["key_items"]), [len(t) for t in c["told"]]
            truth |= {f"{k}, after {HALF}": sum(told[:HALF]) / of}
            truth |= {f"{k}, after {len(told)}": sum(told) / of}
            turns |= {f"{k}, after {len(told)}": sum(told[HALF:]) / of}
        *shares, by_questions = fields(answer, [*truth, "set right"])
        counted = {f"F, after {HALF}": truth[f"F, after {HALF}"] + 1 / of}
        mistakes = {"second half": turns, "invented": counted}
        self.numbers(dict(zip(truth, shares)), truth, mistakes)
        mine = choice(by_questions, SET_RIGHT)
        self.refuse({"no choice": mine is None, "F": mine in ("F", "both"), "E": mine != "E"})
        return self.said(half=truth[f"E, after {HALF}"])
