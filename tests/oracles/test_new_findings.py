"""What only this project reports of MedDialBench, against counting: losses by strategy."""

import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import printed as table_9


def test_losses_by_strategy_are_those_of_table_9():
    levels = {"withholding": "withholding", "invention": "fabricating"}
    right, rows, gaps = table_9.counts(), table_9.strategies(levels), []
    for name, level in levels.items():
        lost = 100 * (right.loc["baseline"] - right.loc[level]) / 85
        little, much = lost[["Claude", "Gemini"]].mean(), lost[["GPT-5.4", "DeepSeek"]].mean()
        gaps.append(little - much)
        parts = {"models that ask little": little, "models that ask much": much}
        for row, value in (parts | {table_9.APART: gaps[-1]}).items():
            assert rows[row, f"mean loss to {name}"].value == pytest.approx(value)
    both = rows[table_9.APART, "invention less withholding"].value
    assert both == pytest.approx(gaps[1] - gaps[0])
    # of one cell the limits are Wilson's, whichever sign it has
    qwen, claude = ("baseline", "Qwen"), ("baseline", "Claude")
    low, high = (100 * x for x in stats.wilson(int(right.at[qwen]), 85)[1:3])
    one = table_9.contrast(pd.Series({qwen: -1.0}))
    assert (one.low, one.high) == pytest.approx((-high, -low))
    two = table_9.contrast(pd.Series({qwen: 1.0, claude: -1.0}))
    assert two.high - two.value < high - low < two.high - two.low
