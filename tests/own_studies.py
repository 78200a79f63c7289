"""An own study in this process, without its notebook and its page."""

import asyncio
from types import SimpleNamespace

from bedside import own


def compared(questions, **given):
    """The answers, verdicts, scores and pairs of a study, with its files but the page."""
    mine = own.Own(questions, **given)
    print(mine.texts_sent())

    async def all_of_it():
        answered = await own.answers(mine)
        return answered, await own.verdicts(mine, answered)

    answered, judged = asyncio.run(all_of_it())
    own.keep(mine, judged)
    results = {"scores": own.scores(mine, judged), "pairs": own.pairs(mine, judged)}
    if len(results["scores"]):
        mine.table("table_scores", results["scores"], "Scores")
    mine.close()
    return SimpleNamespace(own=mine, answers=answered, verdicts=judged, **results)
