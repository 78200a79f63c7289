"""The explorer's numbers: rates of one kind, intervals by unit, and all models in one row."""

import itertools

import explorer_page
import numpy as np
import pytest
from explorer_page import choose, counts, document, exported, ids, row, verdict
from scipy import stats as scipy_stats

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


# Statistics


@pytest.fixture
def computed(browser):
    """A function that has the page's statistics compute an expression."""
    page = browser.new_page()
    script = (explorer.FOLDER / "script" / "statistics.js").read_text(encoding="utf-8")

    def compute(expression, given=None):
        return page.evaluate(f"given => {{ {script}; return {expression}; }}", given)

    yield compute
    page.close()


def test_t_is_exact_to_more_digits_than_a_page_shows(computed):
    degrees = [*range(1, 200), 9.5, 31.25, 999, 1000, 12345]  # units of unequal size count as fewer
    found = computed("given.map(t)", degrees)
    assert np.allclose(found, scipy_stats.t.ppf(0.975, degrees), rtol=1e-5)


def test_shares_are_those_of_the_tables(computed):
    rng = np.random.default_rng(23)
    samples = []
    for n, units, p in itertools.product((1, 2, 7, 60, 400), (1, 2, 9, 400), (0, 0.2, 0.9, 1)):
        tendency = rng.beta(4 * p + 0.01, 4 * (1 - p) + 0.01, units)
        unit = rng.integers(0, units, n)
        samples.append([[int(rng.random() < tendency[u]), f"u{u}"] for u in unit.tolist()])
    found = computed(
        "given.map(sample => { const {value, low, high} = share(sample); "
        "return [value, low, high].map(String); })",
        samples,
    )
    for sample, mine in zip(samples, found, strict=True):
        hits, unit = zip(*sample)
        assert np.allclose([float(x) for x in mine], stats.share(hits, unit)[:3], equal_nan=True)
    assert any("NaN" in mine for mine in found)


def test_pairs_are_tested_as_in_the_tables(computed):
    rng = np.random.default_rng(23)
    for n in (3, 40, 900):
        a, b = rng.random(n) < 0.3, rng.random(n) < 0.5
        sample = [[int(x) - int(y), i] for i, (x, y) in enumerate(zip(a, b))]
        assert computed("flips(given)", sample) == pytest.approx(stats.mcnemar(a, b), rel=1e-9)
    for _ in range(20):
        a, b = rng.random(40) < 0.3, rng.random(40) < 0.5
        unit = rng.integers(0, 11, 40)
        sample = [[int(x) - int(y), int(u)] for x, y, u in zip(a, b, unit)]
        exact = stats.paired_permutation(a, b, rng, units=unit)
        assert computed("flips(given)", sample) == pytest.approx(exact)
    assert computed("flips([])") == 1


# Rates


def test_an_opened_page_gives_rates_by_study_and_of_models_alone(shown):
    page = shown(mixed())
    assert counts(page) == "42 of 42 rows · 27 items"
    assert "%" not in page.locator("#summary").inner_text()
    models = table(page, "rates")
    # 4 of 12 and 6 of 12 in one section, 1 of 4 in the other: no rate of both
    assert models == [
        ["Cancer-Myth", "2 models", "11 of 28", "25.0% to 41.7% in 2 sections", "0"],
        ["MedDialBench", "m1", "1 of 1", "100.0% [no interval: fewer than ten units]", "2"],
    ]
    others = page.locator("#others summary").inner_text()
    assert others == "Not by models: rules 3 · people 3 · written answers 5"
    assert ["MedDialBench", "rules", "0 of 3", told([0] * 3, range(3)), "0"] in table(
        page, "others"
    )
    page.get_by_role("button", name="Cancer-Myth").first.click()
    assert counts(page).startswith("36 of 42 rows")
    hits, units = ([n % k == 0 for k in (3, 2) for n in range(12)], [n // 2 for n in range(12)] * 2)
    assert table(page, "rates") == [
        ["4.3 evaluation", "2 models", "10 of 24", told(hits, units), "0"],
        ["exams", "m1", "1 of 4", told([1, 0, 0, 0], range(4)), "0"],
    ]
    assert (
        "Confidence intervals are over questions, patients or cases"
        in page.locator("#rates summary").inner_text()
    )
    page.locator("#rates").get_by_role("button", name="4.3 evaluation").click()
    choose(page, "model", "m2")
    hits, units = [n % 2 == 0 for n in range(12)], [n // 2 for n in range(12)]
    told_of = f"failures of m2 6 of 12 scored: {told(hits, units)} · 0 unscored"
    assert told_of in page.locator("#summary").inner_text()
    assert page.locator("#rates").is_hidden() and page.locator("#others").is_hidden()


def test_without_models_the_others_have_the_first_place(shown):
    page = shown(mixed(), "#m=rules")
    assert "failures of rules 0 of 3 scored: 0.0%" in page.locator("#summary").inner_text()
    assert page.locator("#others").is_hidden()


def test_few_units_have_no_interval(shown):
    page = shown(document([judged(f"i{n}", "m1", n > 0, unit="case") for n in range(4)]))
    said = page.locator("#summary").inner_text()
    assert "1 of 4 scored: 25.0% [no interval: fewer than ten units] · 0 unscored" in said


@pytest.mark.parametrize("fragment", ["o=failed", "v=False", "d=1", "x=model&a=m1&b=m2&w=both"])
def test_what_is_chosen_by_outcome_has_no_rate(shown, fragment):
    made = mixed()
    for n in (0, 3):
        made["rows"][n]["human"] = [{"by": "x", "value": "True", "type": "", "reason": ""}]
    page = shown(made, "#p=cancer_myth&" + fragment)
    said = page.locator("#summary").inner_text()
    assert "%" not in said and "No rate, since rows were chosen by outcome." in said, said
    assert "right 0" in said and "failed 0" not in said
    assert page.locator("#rates").is_hidden() and page.locator("#others").is_hidden()


def test_pairs_whose_unit_repeats_are_tested_by_unit(shown):
    rights = {"m1": [n % 8 < 4 for n in range(48)], "m2": [n % 5 > 0 for n in range(48)]}
    rows = [
        judged(f"i{n}", model, mine[n], unit=f"u{n // 4}")
        for model, mine in rights.items()
        for n in range(48)
    ]
    page = shown(document(rows), "#x=model&a=m1&b=m2")
    units = [n // 4 for n in range(48)]
    p = stats.paired_permutation(rights["m1"], rights["m2"], None, units=units)
    assert p != pytest.approx(stats.mcnemar(*rights.values()), abs=1e-3)
    said = page.locator("#pairs").inner_text()
    assert f"permutation test over questions, cases or patients: p = {p:.4f}." in said
    assert "McNemar" not in said
    assert (
        f"A fails 24 of 48 scored: {told(~np.array(rights['m1']), units)}"
        in page.locator("#summary").inner_text()
    )
    page.locator("#outcome label", has_text="failed").click()
    assert "No test, since pairs were chosen by outcome." in page.locator("#pairs").inner_text()


def test_pairs_of_several_sections_have_a_rate_and_p_each(shown):
    rows = [judged(f"i{n}", m, m == "m1" or n > 0) for m in ("m1", "m2") for n in range(6)]
    rows += [judged(f"e{n}", m, m == "m2", section="s") for m in ("m1", "m2") for n in range(6)]
    page = shown(document(rows), "#x=model&a=m1&b=m2")
    none, every, one = (told(h, range(6)) for h in ([0] * 6, [1] * 6, [1, 0, 0, 0, 0, 0]))
    assert table(page, "rates") == [
        ["4.3 evaluation", "2 models", "0 of 6", none, "1 of 6", one, "0, 0", "1.0000"],
        ["s", "2 models", "6 of 6", every, "0 of 6", none, "0, 0", "0.0313"],
    ]
    assert "No test across several" in page.locator("#pairs").inner_text()


# Who is a model


def test_only_models_are_offered_as_two_models(shown):
    made = mixed()
    made["rows"].append(judged("c0", "m2", True, paper="meddialbench", section="4"))
    page = shown(made)
    compare = page.get_by_label("compare", exact=True)
    compare.select_option("model")
    for side in ("A", "B"):
        offered = page.get_by_label(side, exact=True).locator("option").all_inner_texts()
        assert sorted(offered) == ["m1", "m2"]
    compare.select_option("source")
    offered = page.get_by_label("A", exact=True).locator("option").all_inner_texts()
    assert {"m1", "rules", "reader 1", "written answer"} <= set(offered)
    page.get_by_label("B", exact=True).select_option("rules")
    assert counts(page) == "3 of 3 pairs · 3 items"
    said = page.locator("#summary").inner_text()
    assert "A fails 1 of 1 scored" in said and "B fails 0 of 3 scored" in said
    page.get_by_role("button", name="Copy link").click()
    again = shown(made, "#" + page.url.split("#")[1])
    assert counts(again) == "3 of 3 pairs · 3 items"
    assert again.locator("#message").inner_text() == ""


def test_a_name_that_is_also_a_model_pairs_its_models_replies_only(shown):
    rows = [judged("i1", "m1", True), judged("i1", "m2", True)]
    rows += [judged("i2", "m1", True, by="written"), judged("i2", "m2", True)]
    page = shown(document(rows), "#x=model&a=m1&b=m2")
    assert counts(page) == "1 of 1 pairs · 1 item"


def test_the_facet_sets_apart_what_is_no_model(shown):
    page = shown(mixed())
    group = page.get_by_role("group", name="model", exact=True)
    assert group.inner_text().replace("\n", " ").split("not models")[0].split()[::2] == ["m1", "m2"]
    assert group.locator(".rest label bdi").all_inner_texts() == [
        "rules",
        "reader 1",
        "written answer",
    ]
    choose(page, "paper", "MedDialBench")
    assert group.locator("label:visible bdi").all_inner_texts() == ["m1", "rules"]


# All models in one row


RIGHTS = {  # by item and model; of i4 m2 has no reply, of i5 none could be read
    "i1": {"m1": False, "m2": False, "m.3": False},
    "i2": {"m1": True, "m2": False, "m.3": None},
    "i3": {"m1": True, "m2": True, "m.3": True},
    "i4": {"m1": False, "m.3": True},
    "i5": {"m1": None, "m2": None, "m.3": None},
}


def asked():
    """Five items in one configuration and one in another, three models, and one answer written."""
    shared = {i: [{"kind": "text", "label": "question", "text": f"Whole {i}."}] for i in RIGHTS}
    rows = [
        judged(item, model, right, shared=[item])
        for item, mine in RIGHTS.items()
        for model, right in mine.items()
    ]
    rows += [judged("i1", "m1", True, configuration="careful", shared=["i1"])]
    rows += [judged("i1", "written answer", True, by="written")]
    again = judged("i2", "m2", True, shared=["i2"])
    return document([*rows, again | {"id": "once more"}], shared)


def lines(page):
    """What the table shows: {(item, configuration): outcomes by column}."""
    cells = "es => es.map(e => [e.getAttribute('tabulator-field'), e.textContent])"
    found = {}
    for at in range(page.locator(".tabulator-row").count()):
        line = dict(
            page.locator(".tabulator-row").nth(at).locator("[tabulator-field]").evaluate_all(cells)
        )
        key = line["item"], line["configuration"]
        found[key] = {k: v for k, v in line.items() if k.startswith("model:")}
    return found


def test_all_models_stand_in_one_row(shown):
    page = shown(asked())
    page.get_by_label("compare", exact=True).select_option("models")
    assert counts(page) == "6 of 6 lines · 5 items"
    assert page.get_by_label("A", exact=True).is_hidden()
    failed, right, unscored = "✗ failed", "✓ right", "– unscored"
    assert lines(page) == {
        ("i1", "plain"): {"model:m1": failed, "model:m2": failed, "model:m.3": failed},
        ("i2", "plain"): {"model:m1": right, "model:m2": "✗ 1 of 2 failed", "model:m.3": unscored},
        ("i3", "plain"): {"model:m1": right, "model:m2": right, "model:m.3": right},
        ("i4", "plain"): {"model:m1": failed, "model:m2": "", "model:m.3": right},
        ("i5", "plain"): {"model:m1": unscored, "model:m2": unscored, "model:m.3": unscored},
        ("i1", "careful"): {"model:m1": right, "model:m2": "", "model:m.3": ""},
    }
    buttons = page.locator("#pairs button")
    assert buttons.all_inner_texts() == [
        "all items (6)",
        "all fail (1)",
        "some fail (2)",
        "none fails (2)",
    ]
    assert "Without a scored reply: 1." in page.locator("#pairs").inner_text()
    rates = {line[1]: line[2:] for line in table(page, "rates")}
    hits, units = [1, 0, 0, 1, 0], ["i1", "i2", "i3", "i4", "i1"]
    assert rates["m1"] == ["2 of 5", told(hits, units), "1"]
    assert set(rates) == {"m1", "m2", "m.3"}
    buttons.nth(2).click()
    assert [key[0] for key in lines(page)] == ["i2", "i4"]
    assert "No rate, since rows were chosen by outcome." in page.locator("#summary").inner_text()


def test_a_row_of_all_models_opens_sorts_filters_and_comes_back(shown):
    page = shown(asked(), "#x=models")
    head = page.get_by_role("columnheader").get_by_role("button", name="m.3")
    head.click()
    assert [key[0] for key in lines(page)] == ["i1", "i1", "i3", "i4", "i2", "i5"]
    page.get_by_role("searchbox").fill('"reply of m.3"')  # of any side
    page.locator("#summary > span", has_text="5 of 6 lines").wait_for()
    page.locator(".tabulator-row", has_text="i4").click()
    detail = page.locator("#detail")
    assert detail.locator(".sides h3").count() == 2
    assert detail.get_by_text("Whole i4.").count() == 1
    for model in ("m1", "m.3"):
        assert f"Reply of {model}." in detail.inner_text()
    page.keyboard.press("Escape")
    page.locator(".tabulator-row", has_text="i1").click()
    heads = detail.locator(".sides.many h3").all_inner_texts()
    assert [h.split(" · ")[0].strip() for h in heads] == ["m.3", "m1", "m2"]
    assert "cancer_myth/i1/m2/plain" in detail.inner_text()
    again = shown(asked(), "#" + page.url.split("#")[1])
    assert again.locator("#message").inner_text() == ""
    assert again.locator("#detail").inner_text() == detail.inner_text()
    assert counts(again) == "5 of 6 lines · 5 items"
    assert again.locator("#place").inner_text() == page.locator("#place").inner_text()


def test_models_that_are_chosen_are_the_columns(shown):
    page = shown(asked(), "#x=models")
    choose(page, "model", "m1")
    choose(page, "model", "m.3")
    assert all(set(line) == {"model:m1", "model:m.3"} for line in lines(page).values())
    assert "some fail (1)" in page.locator("#pairs").inner_text()  # i4
    assert {r["model"] for r in exported(page)} == {"m1", "m.3"}


def test_all_models_are_exported_and_printed(shown):
    page = shown(asked(), "#x=models&w=all")
    assert ids(page) == [f"cancer_myth/i1/{m}/plain" for m in ("m.3", "m1", "m2")]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    head = page.locator("#printed th").all_text_contents()
    assert head[-3:] == ["m.3", "m1", "m2"]
    assert page.locator("#printed tbody td").all_text_contents()[-3:] == ["✗ failed"] * 3


def test_a_link_to_a_sorted_column_that_is_hidden_says_nothing(shown):
    page = shown(asked(), "#sort=model:m1")  # sorts again when all models are compared
    assert counts(page).startswith("17 of 17")
    page.get_by_label("compare", exact=True).select_option("models")
    assert counts(page).startswith("6 of 6")
    page = shown(asked(), "#sort=model:gone")
    assert "column “model:gone”" in page.locator("#message").inner_text()


def test_the_surveys_ratings_count_by_physicians(shown):
    rows = [
        row(
            item=f"survey-{n}",
            model=source,
            by="person" if source == "Social workers" else "model",
            section="2 physicians' survey",
            configuration="survey",
            verdicts=[verdict("physicians", "harmful" if n < k else "not harmful", n >= k)],
        )
        for source, k in (("GPT-4-Turbo", 2), ("Gemini-1.5-Pro", 5), ("Social workers", 7))
        for n in range(25)
    ]
    page = shown(document(rows))
    said = page.locator("#summary").inner_text()
    assert "failures of 2 models 7 of 50 scored: 14.0% [" in said
    assert table(page, "others")[0][1:3] == ["Social workers", "7 of 25"]
    page.get_by_label("compare", exact=True).select_option("models")
    assert "all fail (2)" in page.locator("#pairs").inner_text()


def test_long_titles_stay_in_their_place(shown):
    long = "A question of many words, " * 60
    page = shown(document([row(title=long), row(item="i2")]))
    boxes = [page.locator(".tabulator-row").nth(i).bounding_box()["height"] for i in (0, 1)]
    assert boxes[0] == boxes[1]
    cell = page.locator(".tabulator-row [tabulator-field=title] span").first
    assert len(cell.get_attribute("title")) > 900 and len(cell.inner_text()) < 400


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768)])
def test_rates_leave_the_window_to_the_replies(shown, size):
    made = mixed()
    for n in range(12):
        made["rows"] += [judged(f"s{n} {m}", m, True, section=f"s{n}") for m in ("m1", "m2")]
    for fragment in ("", "#p=cancer_myth", "#x=models"):
        page = shown(made, fragment, width=size[0], height=size[1])
        assert page.locator("#frame").bounding_box()["height"] > 0.42 * size[1], fragment
        assert page.evaluate("document.querySelector('main').scrollTopMax ?? 0") == 0


def test_hostile_names_of_models_are_columns_like_any(shown):
    names = ["__proto__", "constructor", "a.b", "<b>x</b>", "\u202eevil", "two\nlines", ""]
    rows = [judged(i, m, m == "a.b") for i in ("i1", "i2") for m in names]
    rows += [judged("i1", "by nobody", True, by="<i>stranger</i>")]
    page = shown(document(rows), "#x=models&w=some")
    assert counts(page) == "2 of 2 lines · 2 items"
    columns = page.locator(".tabulator-col [tabulator-field], .tabulator-col").evaluate_all(
        "es => es.map(e => e.getAttribute('tabulator-field'))"
    )
    assert {f"model:{name}" for name in names} <= set(columns)
    assert page.locator("#table .failed").count() == 12
    page.locator(".tabulator-row").first.click()
    assert page.locator("#detail .sides.many h3").count() == 7
    assert page.locator("#app :is(i, b b)").count() == 0
    page.evaluate("location.hash = '#sort=model:__proto__&x=models'")
    page.locator("[aria-sort=ascending]").wait_for()
    page.evaluate("location.hash = '#'")
    page.locator("#others summary", has_text="<i>stranger</i> 1").wait_for()


def test_facets_count_a_line_of_all_models_once(shown):
    page = shown(asked(), "#x=models")
    group = page.get_by_role("group", name="configuration", exact=True)
    assert group.locator("label").all_inner_texts() == ["careful\n1", "plain\n5"]
    # what each model would show alone, and outcomes that any of the models has
    assert page.get_by_role("group", name="model", exact=True).locator(
        "label:visible"
    ).all_inner_texts()[:3] == ["m.3\n5", "m1\n6", "m2\n4"]
    page.locator("#outcome label", has_text="failed").locator("input").click()
    assert counts(page) == "3 of 6 lines · 3 items"
