"""Three questions, a run and scripted agents, for tests of the second version."""

import json

import pandas as pd
import pytest

from conftest import completion

ITEMS = pd.DataFrame({"item": ["q1", "q2", "q3"], "question": ["one?", "two?", "three?"]})


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "04_mitigation")


def agents(levels, monitor_text="nothing wrong"):
    """An endpoint for the agents: complexity by question, notes that name who wrote them."""

    def script(n, body):
        system, user = (m["content"] for m in body["messages"])
        if "response_format" in body:
            level = next(v for k, v in levels.items() if k in user)
            return completion(level if level.startswith("{") else json.dumps({"complexity": level}))
        if system.startswith("You watch"):
            return completion(monitor_text)
        if system.startswith("You are a clinician"):
            return completion("the answer")
        return completion("note by " + system.split(".")[0].removeprefix("You are "))

    return script
