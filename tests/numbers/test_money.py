"""Money: what failed after it was paid for, budgets of names alike, prices with rules."""

import asyncio
import contextlib
import datetime
import itertools

import pytest

from bedside import BedsideError
from bedside.asking import models, sending
from bedside.bulk import results
from bedside.keep import ledger, prices, registry, store
from bedside.keep.ledger import Account, Ledger
from bedside.keep.registry import StopRun
from bedside.papers.meddialbench import design, study
from bedside.papers.meddialbench.tables import validation
from bedside.read import paths
from bedside.run import Run
from conftest import ask_for, completion
from request_files import folders, result, results_file, written  # noqa: F401  (a fixture)

# ---- what failed after it was paid for

USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
SAID = {"message": "The words of it."}
FLAGGED = {"message": "Blocked by the content filter.", "code": "content_filter"}
LONG = {"message": "This model's maximum context length is 9 tokens."}
TOO_HIGH = {"message": "max_tokens is too large: 20. This model supports at most 9 tokens."}
UNFINISHED = {"message": "Could not finish the message: max_tokens was reached."}
NO_CHOICE = {**completion(), "choices": [], "usage": USAGE}
USED, UNKNOWN, NOTHING = "its usage", "not known", "nothing"


def cut_off(finish, usage=USAGE):
    return {**completion("half of it", finish), "usage": usage}


CHARGED = {  # name -> (status, body), what it counts as
    "a plain answer": ((200, {**completion(), "usage": USAGE}), USED),
    "no usage": ((200, {**completion(), "usage": None}), UNKNOWN),
    "broken off": ((200, cut_off("error")), USED),
    "broken off (DeepSeek)": ((200, cut_off("insufficient_system_resource")), USED),
    "broken off (Z.ai)": ((200, cut_off("network_error")), USED),
    "broken off, uncounted": ((200, cut_off("error", None)), UNKNOWN),
    "an error in its choice": (
        (200, {"choices": [{"error": SAID, "message": {"content": "so"}}], "usage": USAGE}),
        USED,
    ),
    "an error inside, with usage": ((200, {"error": SAID, "usage": USAGE}), USED),
    "an error inside, nothing begun": ((200, {"error": {**SAID, "code": 502}}), NOTHING),
    "a limit inside": ((200, {"error": {**SAID, "code": 429}}), NOTHING),
    "filtered": ((200, {**completion("", finish="content_filter"), "usage": USAGE}), USED),
    "no choice": ((200, NO_CHOICE), USED),
    "no choice, uncounted": ((200, {**NO_CHOICE, "usage": None}), UNKNOWN),
    "no answer at all": ((200, []), UNKNOWN),
    "a fault with usage": ((500, {"error": SAID, "usage": USAGE}), USED),
    "a filter with usage": ((400, {"error": FLAGGED, "usage": USAGE}), USED),
    "a filter": ((400, {"error": FLAGGED}), NOTHING),
    "unfinished thoughts": ((400, {"error": UNFINISHED}), UNKNOWN),
    "too long": ((400, {"error": LONG}), NOTHING),
    "a limit that is too high": ((400, {"error": TOO_HIGH}), NOTHING),
    "no system role": ((400, {"object": "error", "message": "System role not supported"}), NOTHING),
    "an error in place of an answer": ((200, {"object": "error", **SAID}), NOTHING),
    "a limit that lasts": ((429, {"error": {"message": "Resets in 16 days."}}), NOTHING),
    "a timeout": ((408, {"error": SAID}), UNKNOWN),
    "a gateway's timeout": ((504, {"error": SAID}), UNKNOWN),
    "a bad request": ((400, {"error": SAID}), NOTHING),
    "no key": ((401, {"error": SAID}), NOTHING),
    "no credit": ((402, {"error": SAID}), NOTHING),
    "no model": ((404, {"error": SAID}), NOTHING),
    "a limit": ((429, {"error": SAID}), NOTHING),
    "a fault": ((500, {"error": SAID}), NOTHING),
    "too busy": ((503, {"error": SAID}), NOTHING),
    "overloaded (Anthropic)": ((529, {"error": SAID}), NOTHING),
}


@pytest.fixture
def priced(served):
    registry.model(served).update(usd_per_million_in=1e3, usd_per_million_out=1e4)
    return served


def counted(request, what):
    """USD of a call, by hand: at $0.001 and $0.01 a token."""
    prompt, reply = {USED: (100, 7), UNKNOWN: request.estimate(), NOTHING: (0, 0)}[what]
    return prompt / 1e3 + reply / 1e2


def directly(requests, recordings, budget=None):
    with contextlib.suppress(StopRun):  # a refused key
        given = {"mode": "record", "account": Account(usd=budget), "progress": False}
        return asyncio.run(models.ask(requests, recordings, **given))


@pytest.mark.parametrize("name", CHARGED)
def test_what_was_paid_counts_whatever_came(priced, endpoint, folders, monkeypatch, name):  # noqa: F811
    """A direct call and a line of a batch alike, at the same price."""
    monkeypatch.setattr(sending, "RETRIES", 0)
    (status, body), what = CHARGED[name]
    endpoint.script = lambda n, _: (status, {}, body if isinstance(body, dict) else b"[]")
    (request,) = requests = ask_for(priced, "a")
    recordings = store.Recordings(folders / "direct")
    directly(requests, recordings)
    usd = counted(request, what)
    assert ledger.total("test")[:2] == (1, pytest.approx(usd))
    assert Ledger(priced, Account()).spent("test") == pytest.approx(usd)
    written(requests)
    account = results.take([results_file(result(request.key, body, status))])
    assert account.usd == pytest.approx(usd)
    # what is recorded is the same both ways, with its usage, but that a batch's says that it is one
    mine = [dict(r) for r in recordings.records()]
    theirs = [dict(r) for r in store.Recordings(paths.RECORDINGS / "cancer_myth").records()]
    for record in (*mine, *theirs):
        for way in ("date", "latency_s", "batch"):
            record.pop(way, None)
        assert (record["prompt_tokens"] == 100) == (what == USED)
    assert mine == theirs


def test_a_line_that_was_never_answered_costs_nothing(priced, folders):  # noqa: F811
    requests = ask_for(priced, "a", "b")
    written(requests)
    codes = ("batch_expired", "batch_cancelled")
    lines = [result(r.key, None, None, {"code": c, **SAID}) for r, c in zip(requests, codes)]
    account = results.take([results_file(*lines)])
    assert len(account.failed) == 2 and account.usd == 0


def test_a_line_is_paid_once_however_often_it_comes(priced, folders):  # noqa: F811
    """Broken off once, then twice the same answer: two calls of $0.17."""
    (request,) = ask_for(priced, "a")
    written([request])
    half = result(request.key, cut_off("error"))
    whole = result(request.key, {**completion(), "usage": USAGE})
    account = results.take([results_file(half, half, whole, whole)])
    assert account.usd == pytest.approx(2 * 0.17) and account.taken == 1


def test_a_storm_of_503_leaves_the_budget_alone(priced, endpoint, recordings, monkeypatch):
    """Five refusals before each answer; 20 answers of $0.17 are $3.40, and refusals nothing."""
    monkeypatch.setattr(sending, "FIRST_S", 0.0)
    registry.model(priced)["max_concurrency"] = 1
    seen = {}

    def script(n, body):
        said = body["messages"][0]["content"]
        seen[said] = seen.get(said, 0) + 1
        busy = (503, {}, {"error": SAID})
        return busy if seen[said] < 6 else {**completion(), "usage": USAGE}

    endpoint.script = script
    requests = ask_for(priced, *map(str, range(20)))
    most = max(counted(r, UNKNOWN) for r in requests)
    replies = directly(requests, recordings, budget=3.4 + most)
    assert not any(r.why for r in replies) and len(endpoint.bodies) == 120
    assert ledger.total("test") == (120, pytest.approx(3.4), 0)


def test_timeouts_are_reserved_so_a_budget_is_not_passed(priced, endpoint, recordings, monkeypatch):
    """What a lost call cost isn't known: it stands at the most, and the next one doesn't fit."""
    monkeypatch.setattr(sending, "FIRST_S", 0.0)
    endpoint.script = lambda n, body: (504, {}, {"error": SAID})
    (request,) = ask_for(priced, "a")
    most = counted(request, UNKNOWN)
    with pytest.raises(StopRun, match="BUDGET_USD"):
        asyncio.run(
            models.ask(
                [request],
                recordings,
                mode="record",
                account=Account(usd=2.5 * most),
                progress=False,
            )
        )
    assert len(endpoint.bodies) == 2 and ledger.total("test")[1] == pytest.approx(2 * most)


# ---- budgets of names alike

NAMES = ("mine", "mine2", "min", "a", "a_b", "own-a", "own-ab")


@pytest.mark.parametrize("mine, other", [*itertools.permutations(NAMES, 2)])
def test_a_study_keeps_the_reservations_of_names_alike(tmp_path, monkeypatch, mine, other):
    """A total over all: $6 of another's batches stand, so $5 more of $10 don't fit."""
    places = {n: tmp_path / "batches" / n for n in (mine, other)}
    account = Account(total=10.0, scope="all")
    monkeypatch.setenv("BEDSIDE_MAKE", "other")
    theirs = Ledger("", account)
    theirs.reserve({str(places[other] / "01" / "a-1.jsonl"): 6.0})
    monkeypatch.setenv("BEDSIDE_MAKE", "mine")
    book = Ledger("", account)
    book.adopt(str(places[mine]), {})
    assert book.spent("all") == 6.0
    with pytest.raises(StopRun, match=r"BUDGET_TOTAL=10 would be passed \(\$6\.0000"):
        book.reserve({str(places[mine] / "01" / "a-1.jsonl"): 5.0})
    # its own are forgotten when nothing of them is under way
    theirs.adopt(str(places[other]), {})
    assert book.spent("all") == 0.0
    book.reserve({str(places[mine] / "01" / "a-1.jsonl"): 5.0})


# ---- prices with rules

FLAT = {"provider": "x", "usd_per_million_in": 1.0, "usd_per_million_out": 4.0}


def rule(usd_in=None, usd_out=None, **conditions):
    """A price rule; `from_` stands for `from`."""
    made = {k.rstrip("_"): v for k, v in conditions.items()}
    if usd_in is not None:
        made |= {"usd_per_million_in": usd_in, "usd_per_million_out": usd_out}
    return made


def entry(*rules, **more):
    return {**FLAT, "price_rules": list(rules), **more}


BUSY = rule(2.0, 8.0, utc_hours=[[1, 4], [6, 10]], utc_weekdays=[1, 5])
PRICED = [  # entry, (prompt, completion), when, USD of a million calls
    (FLAT, (10, 5), None, 30.0),  # 10 × 1 + 5 × 4
    (entry(rule(5.0, 20.0, above=100)), (100, 5), None, 120.0),  # up to the bound: 100 + 20
    (entry(rule(5.0, 20.0, above=100)), (101, 5), None, 605.0),  # above: all of it, 505 + 100
    (entry(rule(5.0, 20.0, above=100)), (100, 5000), None, 20100.0),  # the prompt's length decides
    (entry(rule(above=100)), (100, 5), None, 120.0),
    (entry(rule(above=100)), (101, 5), None, None),  # a price that nobody knows
    (entry(rule(2.0, 8.0, from_="2027-01-01")), (10, 5), "2026-12-31T23:59:59+00:00", 30.0),
    (entry(rule(2.0, 8.0, from_="2027-01-01")), (10, 5), "2027-01-01T00:00:00+00:00", 60.0),
    # elsewhere on earth it is another day; the rule is by UTC
    (entry(rule(2.0, 8.0, from_="2027-01-01")), (10, 5), "2027-01-01T01:30:00+02:00", 30.0),
    (entry(BUSY), (10, 5), "2026-11-23T00:59:00+00:00", 30.0),  # a Monday
    (entry(BUSY), (10, 5), "2026-11-23T01:00:00+00:00", 60.0),
    (entry(BUSY), (10, 5), "2026-11-23T04:00:00+00:00", 30.0),
    (entry(BUSY), (10, 5), "2026-11-23T09:59:00+00:00", 60.0),
    (entry(BUSY), (10, 5), "2026-11-22T09:59:00+00:00", 30.0),  # a Sunday
    # the last rule that fits: long prompts have a price of their own from a date on
    (
        entry(
            rule(5.0, 20.0, above=100),
            rule(2.0, 8.0, from_="2027-01-01"),
            rule(9.0, 30.0, above=100, from_="2027-01-01"),
        ),
        (200, 0),
        "2027-05-01T00:00:00+00:00",
        1800.0,
    ),
]


@pytest.mark.parametrize("priced, tokens, when, usd", PRICED)
def test_a_rule_holds_for_the_calls_that_it_names(priced, tokens, when, usd):
    found = prices.cost(priced, *tokens, when=when)
    assert found == (None if usd is None else pytest.approx(usd / 1e6))
    if usd is not None:  # a batch saves its share of whatever holds
        half = prices.cost({**priced, "batch_discount": 0.5}, *tokens, when=when, batch=True)
        assert half == pytest.approx(usd / 2e6)


@pytest.fixture
def clock(monkeypatch):
    """A function that sets the time."""

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromisoformat(clock.now).astimezone(tz)

    def clock(now):
        clock.now = now

    clock("2026-11-23T12:00:00+00:00")
    monkeypatch.setattr(prices.datetime, "datetime", Clock)
    return clock


def test_at_most_is_the_dearest_that_a_day_can_bring(clock):
    tiered, dated = entry(rule(5.0, 20.0, above=100)), entry(rule(2.0, 8.0, from_="2027-01-01"))
    assert prices.at_most(FLAT, 10, 5) == pytest.approx(30e-6)
    assert prices.at_most(tiered, 101, 5) == pytest.approx(605e-6)
    # a dear short prompt, a cheap long one: 101 tokens at most may be 100
    assert prices.at_most(entry(rule(0.5, 1.0, above=100)), 101, 5) == pytest.approx(120e-6)
    assert prices.at_most(entry(rule(above=100)), 100, 5) == pytest.approx(120e-6)
    assert prices.at_most(entry(rule(above=100)), 101, 5) is None
    assert prices.at_most(dated, 10, 5) == pytest.approx(30e-6)
    clock("2026-12-31T01:00:00+00:00")  # a batch may take until tomorrow
    assert prices.at_most(dated, 10, 5) == pytest.approx(60e-6)
    assert prices.cost(dated, 10, 5) == pytest.approx(30e-6)
    clock("2026-11-23T12:00:00+00:00")  # tomorrow is Tuesday
    assert prices.at_most(entry(BUSY), 10, 5) == pytest.approx(60e-6)
    clock("2026-11-21T00:00:00+00:00")  # a Saturday, and all of it
    assert prices.at_most(entry(BUSY), 10, 5) == pytest.approx(30e-6)
    written = entry(usd_per_million_cache_write=1.25)
    assert prices.at_most(written, 10, 5) == pytest.approx(32.5e-6)


def test_every_price_is_at_most_the_most(clock):
    """Whatever the rules: no call within a day costs more than what was reserved for it."""
    rules = [rule(5.0, 20.0, above=100), rule(0.5, 30.0, above=50), BUSY]
    rules += [rule(3.0, 1.0, from_="2026-11-24"), rule(0.1, 0.1, utc_hours=[[0, 12]])]
    start = datetime.datetime.fromisoformat("2026-11-23T12:00:00+00:00")
    for mine in itertools.permutations(rules, 3):
        priced = entry(*mine, usd_per_million_cache_write=1.5)
        most = prices.at_most(priced, 120, 7)
        for prompt, hours in itertools.product((1, 50, 51, 100, 101, 120), range(0, 25, 3)):
            when = start + datetime.timedelta(hours=hours)
            assert prices.cost(priced, prompt, 7, None, when=when) <= most + 1e-15, (mine, prompt)


def test_a_past_reply_keeps_the_price_of_its_date(clock):
    dated = entry(rule(2.0, 8.0, from_="2027-01-01"), price_date="2026-10-07")
    clock("2027-03-01T00:00:00+00:00")
    assert prices.cost(dated, 10, 5) == pytest.approx(60e-6)
    assert prices.cost(dated, 10, 5, when="2026-11-01T00:00:00+00:00") == pytest.approx(30e-6)
    # before the date of the price nobody knows it; the day before may be the same elsewhere
    assert prices.cost(dated, 10, 5, when="2026-10-06T23:00:00+00:00") == pytest.approx(30e-6)
    assert prices.cost(dated, 10, 5, when="2026-10-05T23:00:00+00:00") is None
    assert prices.cost(FLAT, 10, 5, when="2001-01-01T00:00:00+00:00") == pytest.approx(30e-6)
    assert prices.cost(dated, 10, 5, when="someday") is None
    assert prices.cost(dated, 10, 5, when="") == prices.cost(dated, 10, 5)


def test_a_call_is_priced_by_itself_not_by_the_sum_of_calls(served, monkeypatch):
    """Twenty prompts of 60 are no prompt of 1,200, for which a rule has another price."""
    registry.model(served).update(entry(rule(5.0, 20.0, above=1000)), provider="test")
    requests = ask_for(served, *map(str, range(20)))
    each = [r.estimate() for r in requests]
    assert sum(p for p, _ in each) > 1000 > max(p for p, _ in each)
    (made,) = written(requests)
    assert made.usd == pytest.approx(sum(p + 4 * c for p, c in each) / 1e6)


@pytest.mark.parametrize("budget", ["usd", "total"])
def test_a_budget_needs_the_price_of_each_call(served, endpoint, recordings, budget):
    registry.model(served).update(entry(rule(above=1000)), provider="test")
    short, long = ask_for(served, "a", "b" * 1000)
    account = Account(**{budget: 5.0})
    given = {"mode": "record", "account": account, "progress": False}
    assert asyncio.run(models.ask([short], recordings, **given))[0].text == "fine"
    words = f"{ledger.BUDGETS[budget == 'total']} is set but the price of served isn't known: give"
    with pytest.raises(StopRun, match=f"{words} it .*, and prices in all price_rules"):
        asyncio.run(models.ask([long], recordings, **given))
    assert len(endpoint.bodies) == 1
    asyncio.run(models.ask([long], recordings, mode="record", progress=False))  # without a budget
    assert ledger.total("test")[2] == 0  # 10 tokens came back, and they have a price


# ---- entries

HEAD = '[mine]\nprovider = "x"\nmodel = "m"\nbase_url = "http://x/v1"\n'
PRICE = "usd_per_million_in = 1\nusd_per_million_out = 2\n"


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """A function that reads the registry out of an entry's lines."""

    def read(text):
        (tmp_path / "models.toml").write_text(HEAD + text)
        monkeypatch.setattr(paths, "DATA", tmp_path)
        registry._read.cache_clear()
        return registry.model("mine")

    yield read
    registry._read.cache_clear()


LONGER = "usd_per_million_in = 5, usd_per_million_out = 9"
WRONG = [
    (PRICE + 'price_date = "Oct 2026"', "price_date = 'Oct 2026' is no date; write it as"),
    (PRICE + 'price_date = "2026-13-01"', "price_date = '2026-13-01' is no date"),
    (PRICE + 'price_date = "20261101"', "price_date = '20261101' is no date"),
    (PRICE + "price_rules = 3", "price_rules = 3 should be a list"),
    (PRICE + "price_rules = [3]", "is no table, such as { above"),
    (PRICE + f"price_rules = [{{ {LONGER} }}]", "doesn't say when it holds: above, from"),
    (PRICE + "price_rules = [{ }]", "doesn't say when it holds"),
    (PRICE + "price_rules = [{ abov = 3 }]", "unknown key 'abov'; did you mean 'above'"),
    (
        PRICE + "price_rules = [{ above = 3, usd_per_million_in = 5 }]",
        "lacks usd_per_million_out",
    ),
    (
        PRICE + f"usd_per_million_cache_write = 2\nprice_rules = [{{ above = 3, {LONGER} }}]",
        "lacks usd_per_million_cache_write",
    ),
    (PRICE + f"price_rules = [{{ above = -1, {LONGER} }}]", "has above = -1, which is no amount"),
    (PRICE + f"price_rules = [{{ above = nan, {LONGER} }}]", "has above = nan"),
    (PRICE + f"price_rules = [{{ above = true, {LONGER} }}]", "has above = True"),
    (PRICE + f'price_rules = [{{ from = "soon", {LONGER} }}]', "has from = 'soon', which is no"),
    (PRICE + f"price_rules = [{{ utc_hours = [1, 4], {LONGER} }}]", "utc_hours that are not like"),
    (PRICE + f"price_rules = [{{ utc_hours = [[4, 25]], {LONGER} }}]", "utc_hours"),
    (PRICE + f"price_rules = [{{ utc_weekdays = [5, 1], {LONGER} }}]", "utc_weekdays"),
    ("price_rules = [{ above = 3 }]", "usd_per_million_in, usd_per_million_out missing"),
    ("usd_per_million_cache_write = 3", "usd_per_million_in, usd_per_million_out missing"),
]


@pytest.mark.parametrize("text, said", WRONG)
def test_a_price_that_says_nothing_clear_is_an_error(reads, text, said):
    with pytest.raises(BedsideError) as e:
        reads(text)
    assert said in str(e.value) and "models.toml, [mine]" in str(e.value)


@pytest.mark.parametrize(
    "text, told",
    [
        ("", ""),
        ('price_date = "2026-10-26"', ""),  # without a price, as it could stand before
        (PRICE, "without a price_date: check it, and write down when"),
        (PRICE + 'price_date = "2026-10-26"', "as of 2026-10-26"),
        (
            PRICE + 'price_date = "2026-03-05"',
            "as of 2026-03-05, more than six months ago: check it",
        ),
        (PRICE + 'price_date = "2026-10-26"\nprice_rules = [{ above = 272_000 }]', "as of"),
        (PRICE + f"price_rules = [{{ above = 3, {LONGER} }}, {{ utc_weekdays = [6, 7] }}]", "with"),
    ],
)
def test_a_price_says_as_of_when_it_is(reads, clock, text, told):
    said = prices.priced_when(reads(text))
    assert said.startswith(told) and bool(said) == bool(told)


def test_every_bundled_price_has_a_date():
    priced = {n: e for n, e in registry.entries().items() if "usd_per_million_in" in e}
    assert len(priced) > 10
    for name, e in priced.items():
        assert "price_date" in e, name
        assert prices.at_most(e, 10, 10) > 0


MILLION = [  # USD of a prompt of so many tokens and 1,000 more, by the provider's price list
    ("claude-haiku-5-5", 100_000, "2026-11-23T00:00:00+00:00", 0.0105),  # 0.10 and 0.50
    ("claude-haiku-5-5", 100_001, "2026-11-23T00:00:00+00:00", 0.0525005),  # 0.50 and 2.50
    ("gemini-3.8-flash", 1000, "2026-12-31T00:00:00+00:00", 0.0045),  # 0.75 and 3.75
    ("gemini-3.8-flash", 1000, "2027-01-01T00:00:00+00:00", 0.009),  # 1.50 and 7.50
    ("gemini-3.1-pro-preview", 200_000, "2026-11-23T00:00:00+00:00", 0.412),  # 2 and 12
    ("gemini-3.1-pro-preview", 200_001, "2026-11-23T00:00:00+00:00", 0.818004),  # 4 and 18
    ("deepseek-flash", 1000, "2026-11-23T02:00:00+00:00", 0.0015),  # a Monday's busy hour
    ("deepseek-flash", 1000, "2026-11-23T12:00:00+00:00", 0.00075),
    ("deepseek-v4-pro", 1000, "2026-11-23T09:00:00+00:00", 0.00528),  # 1.32 and 3.96
    ("gpt-6.1-terra", 272_000, "2026-11-23T00:00:00+00:00", 0.277),  # 1 and 5
    ("gpt-6.1-terra", 272_001, "2026-11-23T00:00:00+00:00", 0.551502),  # 2 and 7.50
    ("gpt-6-luna", 1000, "2026-11-23T00:00:00+00:00", 0.0006),  # 0.10 and 0.50
    ("gpt-5.4-2026-03-05", 272_001, "2026-11-23T00:00:00+00:00", 1.382505),  # 5 and 22.50
]


@pytest.mark.parametrize("name, prompt, when, usd", MILLION)
def test_bundled_rules_by_hand(name, prompt, when, usd):
    assert registry.cost(name, prompt, 1000, when=when) == pytest.approx(usd, rel=1e-12)


def test_no_comment_of_a_bundled_entry_says_a_price():
    """Rules stand as data: what a comment says is read by nobody."""
    for line in (paths.DATA / "models.toml").read_text().splitlines():
        value, mark, said = line.partition("#")
        if mark and value.strip().startswith(("usd_per", "price")):
            words = ("twice", "as much", "up to", "above", "from", "until", "half")
            assert not any(w in said for w in words), line


def test_whole_studies_are_priced_by_the_call_as_of_the_price_s_date(monkeypatch, tmp_path):
    """34,900 prompt tokens of a consultation are those of 29 calls; the hour plays no part."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    run = Run("meddialbench", "01_design_and_validation")
    cheap = {"model": "cheap", "provider": "test", "base_url": "http://127.0.0.1:9/v1"}
    cheap |= {"usd_per_million_in": 0.01, "usd_per_million_out": 0.02, "price_date": "2026-11-01"}
    cheap["price_rules"] = [{"above": 30_000}, {"from": "2026-11-02"}]
    monkeypatch.setitem(registry.entries(), "cheap", cheap)
    plan = design.read(run)
    cases, scripts = asyncio.run(study.cases(run, plan, 0))
    rows = validation.cost_table(run, plan, cases, scripts, 13.66, 60, ["cheap"])
    of = rows[rows["row"] == "the paper's study"].set_index("column")["value"]
    tokens = [of[f"{what} tokens, millions"] for what in ("prompt", "reply")]
    # 85 cases, 17 configurations, five doctors; 2 * 13.66 + 1 statements of 60 tokens
    assert of["consultations"] == 7225 and of["calls"] == round(7225 * (2 * 13.66 + 2))
    assert tokens[1] == pytest.approx(7225 * 60 * 28.32 / 1e6)
    assert of["USD with cheap"] == pytest.approx(tokens[0] * 0.01 + tokens[1] * 0.02)
