"""Tasks 4.1 and 4.2: what a patient tells in a consultation, and how much of the case it is."""

from bedside.papers.meddialbench import words
from bedside.seminar import Wrong, number, right, task
from bedside.seminar.meddialbench.material import Material


def listed(told):
    """The numbers of a list or of a text such as "2, 7", or a single number; else None."""
    if isinstance(told, str):
        told = [] if told.strip().lower() in ("-", "none") else told.replace(",", " ").split()
    told = told if isinstance(told, (list, tuple, set)) else [told]
    found = [number(n) for n in told]
    return None if None in found else found


class Consultation(Material):
    """A labelled consultation, read turn by turn."""

    @task(
        "4.1",
        "For each turn, write the list of the key items (their numbers) that the patient tells"
        " there for the first time; [] for none.",
    )
    def told(self, answer):
        """Task 4.1: key items told, turn by turn."""
        turns, items = self.dialogue["turns"], self.dialogue["key_items"]
        lists = {number(turn): listed(told) for turn, told in answer.items()}
        if set(lists) != set(range(1, len(turns) + 1)) or None in lists.values():
            raise Wrong(f"write a list for each of the turns 1 to {len(turns)}.")
        mine = [n for told in lists.values() for n in told]
        label = list(self.dialogue["disclosed"])
        if strange := [n for n in mine if n not in range(1, len(items) + 1)]:
            raise Wrong(f"there is no key item {strange[0]:g}; they count from 1 to {len(items)}.")
        if twice := [n for n in set(mine) if mine.count(n) > 1]:
            raise Wrong(f"item {twice[0]} is in two turns, but only the first time counts.")
        if extra := sorted(set(mine) - set(label)):
            raise Wrong(
                f"item {extra[0]} ({items[extra[0] - 1]!r}) isn't told. Something similar isn't"
                " enough: the patient must say the fact itself, or confirm it when asked for it."
            )
        if missing := [n for n in label if n not in mine]:
            raise Wrong(
                f"{len(missing)} more to find, for instance item {missing[0]}:"
                f" {self._where(items[missing[0] - 1])}, with the questions. Other words for the"
                " same fact count, and so does a no that answers a question about it."
            )
        return (
            f"{len(label)} of {len(items)} key items, which agrees with the label. A doctor who"
            f" had asked about the other {len(items) - len(label)} would have heard them."
        )

    def _where(self, item):
        """Where to look for a key item: the first turn that has half of its words."""
        telling = words.of(item)
        for k, turn in enumerate(self.dialogue["turns"], 1):
            if 2 * len(telling & words.of(" ".join(turn))) >= len(telling):
                return f"read turn {k} again"
        return "it comes in other words, so read all turns again"

    @task("4.2", "Write a dictionary with 'coverage' and 'coverage per turn'.")
    def coverage(self, answer):
        """Task 4.2: coverage, and coverage per turn (section 3.5)."""
        told, of, turns = (len(self.dialogue[k]) for k in ("disclosed", "key_items", "turns"))
        share = told / of
        mistakes = {
            "coverage per turn: that is the number of key items a turn. Divide the share by the"
            " turns, not the number.": {"coverage per turn": told / turns},
            "coverage per turn: this is upside down. Divide coverage by the turns.": {
                "coverage per turn": turns / share
            },
            "coverage: that is the share of key items that were not told.": {"coverage": 1 - share},
        }
        hint = (
            "Coverage is the key items told, divided by all key items of the case. Coverage per"
            " turn is that share, divided by the number of the doctor's questions."
        )
        right(answer, {"coverage": share, "coverage per turn": share / turns}, mistakes, hint)
        two = self.run.published("Table 2").query("column == 'Coverage'")["value"]
        return (
            f"Table 2 prints a coverage of {two.min():.2f} to {two.max():.2f} for the paper's five"
            " models, in up to 18 turns. A high coverage per turn can mean good questions, or that"
            " the doctor stopped early."
        )
