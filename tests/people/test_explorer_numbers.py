"""The explorer's numbers are those of the tables: shares, tests, and all models in one row."""

import itertools

import explorer_page
import numpy as np
import pytest
from explorer_page import choose, counts, document, exported, ids, row, verdict

from bedside import explorer, stats

shown = explorer_page.shown  # a fixture


def judged(item, model, right, **more):
    """A reply with a verdict: True, False, or None for one that couldn't be read."""
    status = "unparsed" if right is None else "graded"
    return row(
        item=item, model=model, verdicts=[verdict("lexical", str(right), right, status)], **more
    )


def mixed():
    """Two sections of one study and one of another, by models, rules, people and as written."""
    rows = [judged(f"i{n}", "m1", n % 3 > 0, unit=f"u{n // 2}") for n in range(12)]
    rows += [judged(f"i{n}", "m2", n % 2 > 0, unit=f"u{n // 2}") for n in range(12)]
    rows += [judged(f"e{n}", "m1", n > 0, section="exams") for n in range(4)]
    rows += [judged(f"w{n}", "written answer", False, by="written") for n in range(5)]
    rows += [judged(f"h{n}", "reader 1", n > 1, by="person") for n in range(3)]
    other = {"paper": "meddialbench", "section": "4"}
    rows += [judged(f"c{n}", "m1", None if n else False, **other) for n in range(3)]
    rows += [judged(f"c{n}", "rules", True, **other, by="rules") for n in range(3)]
    return document(rows)


def table(page, which):
    """The lines of one of the tables of rates, as lists of cells."""
    page.locator(f"#{which}").evaluate("e => { e.open = true; }")
    return [line.split("\t") for line in page.locator(f"#{which} tbody tr").all_inner_texts()]


def told(hits, units):
    """A share of failures as the page says it."""
    found = stats.share(hits, units)
    ends = f"{100 * found.low:.1f}, {100 * found.high:.1f}"
    ends = "no interval: fewer than ten units" if found.low != found.low else ends
    return f"{100 * found.value:.1f}% [{ends}]"


def test_shares_and_tests_of_pairs_are_those_of_the_tables(browser):
    rng = np.random.default_rng(23)
    page = browser.new_page()
    script = (explorer.FOLDER / "script" / "statistics.js").read_text(encoding="utf-8")

    def compute(expression, given):
        return page.evaluate(f"given => {{ {script}; return {expression}; }}", given)

    samples = []
    for n, units, p in itertools.product((1, 2, 7, 60, 400), (1, 2, 9, 400), (0, 0.2, 0.9, 1)):
        tendency = rng.beta(4 * p + 0.01, 4 * (1 - p) + 0.01, units)
        unit = rng.integers(0, units, n)
        samples.append([[int(rng.random() < tendency[u]), f"u{u}"] for u in unit.tolist()])
    shares = "given.map(share).map(({value, low, high}) => [value, low, high].map(String))"
    for sample, mine in zip(samples, compute(shares, samples), strict=True):
        expected = stats.share(*zip(*sample))[:3]
        assert np.allclose([float(x) for x in mine], expected, equal_nan=True)
    for n in (3, 40, 900):
        a, b = rng.random(n) < 0.3, rng.random(n) < 0.5
        sample = [[int(x) - int(y), i] for i, (x, y) in enumerate(zip(a, b))]
        assert compute("flips(given)", sample) == pytest.approx(stats.mcnemar(a, b), rel=1e-9)
    for _ in range(20):
        a, b = rng.random(40) < 0.3, rng.random(40) < 0.5
        unit = rng.integers(0, 11, 40)
        sample = [[int(x) - int(y), int(u)] for x, y, u in zip(a, b, unit)]
        exact = stats.paired_permutation(a, b, rng, units=unit)
        assert compute("flips(given)", sample) == pytest.approx(exact)
    page.close()


def test_rates_are_of_models_alone_by_study_and_section_and_never_of_a_choice_by_outcome(shown):
    page = shown(mixed())
    assert counts(page) == "42 of 42 rows · 27 items"
    # 4 of 12 and 6 of 12 in one section, 1 of 4 in the other: no rate of both
    assert table(page, "rates") == [
        ["Cancer-Myth", "2 models", "11 of 28", "25.0% to 41.7% in 2 sections", "0"],
        ["MedDialBench", "m1", "1 of 1", "100.0% [no interval: fewer than ten units]", "2"],
    ]
    others = table(page, "others")
    assert ["MedDialBench", "rules", "0 of 3", told([0] * 3, range(3)), "0"] in others
    page.get_by_role("button", name="Cancer-Myth").first.click()
    hits, units = [n % k == 0 for k in (3, 2) for n in range(12)], [n // 2 for n in range(12)] * 2
    assert table(page, "rates") == [
        ["4.3 evaluation", "2 models", "10 of 24", told(hits, units), "0"],
        ["exams", "m1", "1 of 4", told([1, 0, 0, 0], range(4)), "0"],
    ]
    page.locator("#rates").get_by_role("button", name="4.3 evaluation").click()
    choose(page, "model", "m2")
    said = f"failures of m2 6 of 12 scored: {told(hits[12:], units[12:])} · 0 unscored"
    assert said in page.inner_text("#summary")
    page.locator("#outcome label", has_text="failed").locator("input").click()
    assert "No rate, since rows were chosen by outcome." in page.inner_text("#summary")
    assert "%" not in page.inner_text("#summary") and page.locator("#rates").is_hidden()


def test_pairs_are_of_models_and_whose_unit_repeats_are_tested_by_unit(shown):
    rights = {"m1": [n % 8 < 4 for n in range(48)], "m2": [n % 5 > 0 for n in range(48)]}
    units = [n // 4 for n in range(48)]
    rows = [
        judged(f"i{n}", model, mine[n], unit=f"u{units[n]}")
        for model, mine in rights.items()
        for n in range(48)
    ]
    rows += [judged("i50", "m1", True, by="written"), judged("i50", "m2", True)]
    page = shown(document(rows), "#x=model&a=m1&b=m2")
    assert counts(page) == "48 of 48 pairs · 48 items"
    p = stats.paired_permutation(*rights.values(), None, units=units)
    assert p != pytest.approx(stats.mcnemar(*rights.values()), abs=1e-3)
    assert f"p = {p:.4f}." in page.inner_text("#pairs")
    said = f"A fails 24 of 48 scored: {told(~np.array(rights['m1']), units)}"
    assert said in page.inner_text("#summary")
    for side in ("A", "B"):
        offered = page.get_by_label(side, exact=True).locator("option").all_inner_texts()
        assert sorted(offered) == ["m1", "m2"]
    page.locator("#outcome label", has_text="failed").click()
    assert "No test, since pairs were chosen by outcome." in page.inner_text("#pairs")


RIGHTS = {  # by item and model; of i4 m2 has no reply, of i5 none could be read
    "i1": {"m1": False, "m2": False, "m.3": False},
    "i2": {"m1": True, "m2": False, "m.3": None},
    "i3": {"m1": True, "m2": True, "m.3": True},
    "i4": {"m1": False, "m.3": True},
    "i5": {"m1": None, "m2": None, "m.3": None},
}


def asked():
    """Five items in one configuration and one in another, three models, and one answer written."""
    rows = [judged(i, model, right) for i, mine in RIGHTS.items() for model, right in mine.items()]
    rows += [judged("i1", "m1", True, configuration="careful")]
    rows += [judged("i1", "written answer", True, by="written")]
    return document([*rows, judged("i2", "m2", True) | {"id": "once more"}])


def lines(page):
    """What the table shows: {(item, configuration): outcomes by model, in its order}."""
    cells = "es => es.map(e => [e.getAttribute('tabulator-field'), e.textContent])"
    found = {}
    for line in page.locator(".tabulator-row").all():
        cell = dict(line.locator("[tabulator-field]").evaluate_all(cells))
        key = cell["item"], cell["configuration"]
        found[key] = {k[6:]: v for k, v in cell.items() if k.startswith("model:")}
    return found


def test_all_models_stand_in_one_row(shown):
    page = shown(asked())
    page.get_by_label("compare", exact=True).select_option("models")
    assert counts(page) == "6 of 6 lines · 5 items"
    failed, right, none = "✗ failed", "✓ right", "– unscored"
    assert lines(page) == {
        ("i1", "plain"): {"m1": failed, "m2": failed, "m.3": failed},
        ("i2", "plain"): {"m1": right, "m2": "✗ 1 of 2 failed", "m.3": none},
        ("i3", "plain"): {"m1": right, "m2": right, "m.3": right},
        ("i4", "plain"): {"m1": failed, "m2": "", "m.3": right},
        ("i5", "plain"): {"m1": none, "m2": none, "m.3": none},
        ("i1", "careful"): {"m1": right, "m2": "", "m.3": ""},
    }
    buttons = page.locator("#pairs button")
    expected = ["all items (6)", "all fail (1)", "some fail (2)", "none fails (2)"]
    assert buttons.all_inner_texts() == expected
    rates = {line[1]: line[2:] for line in table(page, "rates")}
    hits, units = [1, 0, 0, 1, 0], ["i1", "i2", "i3", "i4", "i1"]
    assert rates["m1"] == ["2 of 5", told(hits, units), "1"] and set(rates) == {"m1", "m2", "m.3"}
    page.get_by_role("columnheader").get_by_role("button", name="m.3").click()
    assert [key[0] for key in lines(page)] == ["i1", "i1", "i3", "i4", "i2", "i5"]
    page.locator(".tabulator-row", has_text="i4").click()
    detail = page.locator("#detail")
    assert detail.locator(".sides h3").count() == 2
    assert all(f"Reply of {model}." in detail.inner_text() for model in ("m1", "m.3"))
    again = shown(asked(), "#" + page.url.split("#")[1])
    assert again.inner_text("#detail") == detail.inner_text()
    page.keyboard.press("Escape")
    choose(page, "model", "m1")
    choose(page, "model", "m.3")
    assert all(set(line) == {"m1", "m.3"} for line in lines(page).values())
    assert {r["model"] for r in exported(page)} == {"m1", "m.3"}
    page.locator("#pairs button", has_text="all fail").click()
    assert ids(page) == [f"cancer_myth/i1/{m}/plain" for m in ("m.3", "m1")]
