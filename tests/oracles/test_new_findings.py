"""What only this project reports, against counting: questions asked again, losses by strategy."""

import pandas as pd
import pytest

from bedside import stats
from bedside.papers.cancer_myth import printed as cancer_myth
from bedside.papers.meddialbench import printed as table_9
from bedside.papers.medhalu import printed as medhalu
from bedside.run import Run

LEVELS = {"withholding": "withholding", "invention": "fabricating"}


@pytest.mark.parametrize(
    "model, size, own, rate",
    [
        ("GPT-4o", 258, -0.52, 5.8),
        ("Claude-3.5-Sonnet", 179, -0.43, 19.8),
        ("Gemini-1.5-Pro", 146, -0.36, 27.2),
    ],
)
def test_own_questions_no_longer_ignored_are_those_of_all_grades_that_print_so(
    model, size, own, rate
):
    most = next(k for k in range(586) if f"{100 * k / 585:.1f}" == str(rate))
    heeded = [
        size - minus
        for minus in range(size + 1)
        for ones in range(min(most, size - minus) + 1)
        if abs((ones - minus) / size - own) <= 0.005
    ]
    i = cancer_myth.asked_again(Run("cancer_myth", "03_evaluation"))[model, cancer_myth.AGAIN]
    assert (i.low, i.high) == pytest.approx((100 * min(heeded) / size, 100 * max(heeded) / size))
    assert i.value == i.low


def test_losses_by_strategy_are_those_of_table_9():
    right, rows = table_9.counts(), table_9.strategies(LEVELS)
    gaps = []
    for name, level in LEVELS.items():
        lost = 100 * (right.loc["baseline"] - right.loc[level]) / 85
        little, much = (
            (lost["Claude"] + lost["Gemini"]) / 2,
            (lost["GPT-5.4"] + lost["DeepSeek"]) / 2,
        )
        column = f"mean loss to {name}"
        for row, value in (("models that ask little", little), ("models that ask much", much)):
            assert rows[row, column].value == pytest.approx(value)
        gaps.append(little - much)
        assert rows[table_9.APART, column].value == pytest.approx(gaps[-1])
    assert rows[table_9.APART, "invention less withholding"].value == pytest.approx(
        gaps[1] - gaps[0]
    )
    # of one cell the limits are Wilson's, whichever sign it has
    k = int(right.at["baseline", "Qwen"])
    one = table_9.contrast(pd.Series({("baseline", "Qwen"): -1.0}))
    low, high = (100 * x for x in stats.wilson(k, 85)[1:3])
    assert (one.low, one.high) == pytest.approx((-high, -low))
    two = table_9.contrast(pd.Series({("baseline", "Qwen"): 1.0, ("baseline", "Claude"): -1.0}))
    assert two.high - two.value < high - low < two.high - two.low


def test_limits_of_macro_f1_hold_it_and_widen_with_fewer_answers():
    limits = medhalu.f1_limits(Run("medhalu", "02_detection"))
    width = {key: high - low for key, (low, high) in limits.items()}
    f1 = medhalu.rounded_table(Run("medhalu", "02_detection"), "Table 6").value["F1"]
    assert all(low < f1.at[key] < high for key, (low, high) in limits.items())
    for who in f1.index:
        assert width[who, "HealthQA"] < width[who, "MedicationQA"] < width[who, "LiveQA"]
    assert width["Experts", "LiveQA"] > width["GPT-4", "LiveQA"]
