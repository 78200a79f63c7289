"""Scripted speakers and consultations that they hold, for MedDialBench's tests."""

import asyncio
from dataclasses import replace

import pandas as pd

from bedside.asking.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench.data import CASE

FOUND = pd.DataFrame(
    [
        (
            f"case-{x}",
            f"Disease {x}",
            [f"{x} disease"],
            "a man",
            f"My toe number {x} hurts.",
            "",
            [],
        )
        for x in "AB"
    ],
    columns=CASE,
)


def speaker(lines, who, plain):
    """Says the lines (texts or Replies) in turn, then plain ones; the keys count who has spoken."""

    async def say(c):
        n = len(c.turns) - (who == "patient")
        line = lines[n] if n < len(lines) else plain.format(n)
        reply = line if isinstance(line, Reply) else Reply("", "m", "", text=line)
        return replace(reply, key=f"{who[0]}{n}")

    return say


def held(doctor=(), patient=(), turns=4, last='{"diagnosis": "Gout"}'):
    """One consultation, held, and how often a diagnosis was asked for."""
    asked = []

    async def diagnose(c):
        asked.append(c)
        return replace(last, key="x") if isinstance(last, Reply) else Reply("", "m", "x", text=last)

    doctor = speaker(doctor, "doctor", "Is there anything about number {} to tell?")
    patient = speaker(patient, "patient", "I can tell thing number {} about it.")
    (c,) = talks.planned(FOUND[:1], {"plain": ()}, ["m"], "p", turns)
    asyncio.run(talks.hold([c], doctor, patient, diagnose))
    return c, len(asked)
