"""Tasks 4.4 and 4.5: a student's own behaviour script, and a change of one thing in it."""

from bedside.papers.meddialbench import data
from bedside.read.checks import normal
from bedside.seminar import Wrong, fields, nothing, task
from bedside.seminar.meddialbench.material import ITEM, Material


class Scripts(Material):
    """Scripts that fit their case and level, tried on the rules."""

    @task(
        "4.4",
        f"Write a dictionary with {', '.join(ITEM)}, as in data/sample/meddialbench/scripts.jsonl;"
        " toward is '-' if the script points at no diagnosis.",
        free=True,
    )
    def script(self, answer):
        """Task 4.4: a behaviour script that fits its case and level."""
        answer = self.plain_script(dict(zip(ITEM, fields(answer, ITEM))))
        item, dimension, level, script, facts, false, toward = answer.values()
        self._check_place(item, dimension, level)
        items, path = self.of.at[item, "key_items"], self.design.pathway(level)
        self._check_facts(item, items, facts, false)
        if len(str(script).split()) < 8 or nothing(script, 6):
            raise Wrong(
                "script: tell the patient in a sentence or two (at least eight words) what to do"
                " and why this person does it."
            )
        self._check_falsehoods(level, path, items, false)
        self._check_direction(item, false, toward)
        texts = self.with_script(answer)
        mine = texts[(texts["item"] == item) & (texts["level"] == level)]
        if faults := data.script_faults(self.cases[self.cases["item"] == item], mine):
            raise Wrong(
                f"script and facts don't fit: {faults[0]}. The text must name every fact of the"
                " list by one of its telling words."
            )
        return (
            f"the form fits. The script touches {len(facts)} of {len(items)} key items and makes"
            f" {len(false)} false statements ({path}). Guess what will happen, then try it."
        )

    def _check_place(self, item, dimension, level):
        """Case, dimension and level exist and belong together."""
        adverse = self.design.adverse
        if item not in self.of.index:
            raise Wrong(f"there is no case {item!r}; the cases are {', '.join(self.of.index)}.")
        if level not in adverse:
            raise Wrong(f"level {level!r} is none of the adverse ones: {', '.join(adverse)}.")
        if dimension != (its := self.design.dimension(level)):
            raise Wrong(f"{level!r} is a level of the dimension {its!r}, not of {dimension!r}.")

    def _check_facts(self, item, items, facts, false):
        """The facts that a script touches are key items of the case."""
        lists = isinstance(facts, list) and isinstance(false, list)
        if not lists or not all(isinstance(f, str) for f in false):
            raise Wrong(
                "facts is a list of numbers, such as [3, 4]; false is a list of sentences, or []."
            )
        if 0 in facts:
            raise Wrong("facts: key items are numbered from 1, not from 0.")
        if strange := [f for f in facts if f is True or f not in range(1, len(items) + 1)]:
            raise Wrong(
                f"facts: {item} has no key item {strange[0]!r}; numbers go from 1 to {len(items)}."
            )
        if not facts:
            raise Wrong(
                "facts: name at least one key item that the behaviour touches. A script that"
                " touches nothing changes nothing."
            )

    def _check_falsehoods(self, level, path, items, false):
        """False statements stand where the level pollutes, and are false."""
        if path == "pollution" and not false:
            raise Wrong(
                f"{level} is information pollution: it needs at least one false statement, as the"
                " patient would say it."
            )
        if path != "pollution" and false:
            raise Wrong(
                f"{level} isn't information pollution: a patient who shows it says nothing untrue."
                " Leave false empty, or take a level of logic or cognition."
            )
        if true := [f for f in false if normal(f) in map(normal, items)]:
            raise Wrong(f"false: {true[0]!r} is true; it is a key item of this case.")

    def _check_direction(self, item, false, toward):
        """False statements point at a wrong diagnosis."""
        known = [self.of.at[item, "diagnosis"], *self.of.at[item, "accepted"]]
        if normal(toward) in map(normal, known):
            raise Wrong(
                "toward is the wrong diagnosis that the false statements point at, but this one is"
                " right."
            )
        if toward.strip(" -") and not false:
            raise Wrong(
                "toward: without false statements nothing points at a wrong diagnosis; write '-'."
            )

    @task("4.5", "[my_script, my_second]: two scripts in the form of task 4.4.")
    def changed(self, answer):
        """Task 4.5: two scripts for one case and level, one of which misleads the doctor."""
        first, second = answer
        self.script(first), self.script(second)
        first, second = self.plain_script(first), self.plain_script(second)
        if (first["item"], first["level"]) != (second["item"], second["level"]):
            raise Wrong(
                "keep case and level, and change something else. With two changes nobody knows"
                " which one mattered."
            )
        if all(first[k] == second[k] for k in ("facts", "false", "toward")):
            raise Wrong(
                "only the text differs, or nothing. The patient of the rules reads facts, false"
                " and toward, not the text. A model as patient does the reverse."
            )
        made = [self.tried(s) for s in (first, second)]
        came = ["right" if c.diagnosis == c.case.diagnosis else "wrong" for c in made]
        if came[0] == came[1]:
            fewer_or_more = {
                "right": "Touch more facts, or facts that are asked for earlier.",
                "wrong": "Touch fewer facts, or facts that are asked for later.",
            }
            raise Wrong(
                f"both diagnoses are {came[0]}. Read the consultation. The doctor goes through a"
                " disease's findings in their order, and stops at five findings of one disease, or"
                f" when a fifth of the {made[0].most} questions brought nothing."
                f" {fewer_or_more[came[0]]}"
            )
        return (
            f"the diagnoses are {' and '.join(came)}, after"
            f" {' and '.join(str(len(c.turns)) for c in made)} questions. Compare the two lists of"
            " facts. What decided: their medical weight, or the order in which this doctor asks?"
        )
