"""Other worlds: a study's readings, as its notebooks compute them, with other numbers or data.

    python tests/numbers/worlds.py flips STUDY [seconds]    # renews tests/numbers/flips
    python tests/numbers/worlds.py fragility STUDY          # renews data/fragility

Of each notebook only the statements run that its claims need, and in a changed world only those of
them that read what is changed. No model is asked and no output is written.
"""

import csv
import itertools
import json
import resource
import signal
import sys
import time
import warnings

import numpy as np
import pandas as pd
from study_worlds import NUMBERS, Study

from bedside.read import claims, paths, sources
from bedside.read.sources import sha256

FLIPS, FRAGILITY = paths.ROOT / "tests" / "numbers" / "flips", paths.DATA / "fragility"
FLIP = ["id", "reading", "holds", "place", "row", "column", "change", "becomes"]
TURN = ["claim", "table", "row", "column", "change", "verdict", "becomes"]
INPUTS = ("published", "readings", "claims")  # of data/, by study: what fragility rests on
STEPS = (-5, -1, 1, 5)  # changes in the last printed digit


# ---- changes of a table or a source


TABLES, DATA = "all tables", "all data"


def _column(values, change):
    """Numbers of one column after a change that is made in each column."""
    if change == "reversed":
        return values[::-1]
    if change == "mirrored":
        return np.nanmin(values) + np.nanmax(values) - values
    if change in ("largest", "smallest"):
        end = np.nanmax(values) if change == "largest" else np.nanmin(values)
        return np.where(np.isnan(values), values, end)
    if change in ("doubled", "halved"):
        return values * (2 if change == "doubled" else 0.5)
    if change.startswith("ends"):
        ends = np.array([np.nanmin(values), np.nanmax(values)])
        which = np.random.default_rng(int(change.split()[1])).integers(3, size=len(values))
        return np.where(np.isnan(values) | (which == 2), values, ends[which % 2])
    if change.startswith("shuffled"):
        return np.random.default_rng(int(change.split()[1])).permutation(values)
    return np.where(np.isnan(values), values, float(change))


BY_ROW = "by row: "
IN_COLUMNS = ("reversed", "mirrored", "largest", "smallest", "doubled", "0", "100", "shuffled 1")
IN_ROWS = ("reversed", "mirrored", "shuffled 1")
ROWS = ("first half", "last half", "without the last", "twice", "rows reversed")
NUMERIC = ("mirrored", "largest", "smallest", "0", "ends 1", "ends 2", "ends 3")
IN_DATA = (*NUMERIC, "reversed", "first", "last", "emptied", "shuffled 1", "shuffled 2")


def changed(study, place, row, column, change):
    """{table or source: its rows after a change}, as `Study.world` takes them.

    place: a table, a source, TABLES or DATA. row, column: the only ones that change, empty for
    all. A change `by row: ...` is made in each row instead of each column; a number is the new
    value.
    """
    if place in (TABLES, DATA):
        places = study.tables() if place == TABLES else study.data()
        each = (changed(study, p, row, column, change) for p in places)
        return {p: rows for one in each for p, rows in one.items()}
    if not study.prints(place):
        return {place: _data(sources.load(place), column, change)}
    rows = study.frame[study.frame["table"] == place].copy()
    mine = ((rows["row"] == row) | (row == "")) & ((rows["column"] == column) | (column == ""))
    by = "row" if change.startswith(BY_ROW) else "column"
    what = change.removeprefix(BY_ROW)
    for _, part in rows[mine].groupby(by, sort=False):
        for number in NUMBERS:
            if part[number].notna().any():
                rows.loc[part.index, number] = _column(part[number].to_numpy(float), what)
    return {place: rows}


def _data(frame, column, change):
    half = len(frame) // 2
    if change in ROWS:
        return {
            "first half": frame.head(half),
            "last half": frame.tail(len(frame) - half),
            "without the last": frame.head(-1),
            "twice": pd.concat([frame, frame]),
            "rows reversed": frame[::-1],
        }[change].reset_index(drop=True)
    if not column:
        for each in frame.columns:
            frame = _data(frame, each, change)
        return frame
    old = frame[column].to_list()
    if change in NUMERIC:
        if frame[column].dtype.kind not in "if":
            return frame
        new = _column(frame[column].to_numpy(), change)
    elif change.startswith("shuffled"):
        new = [old[i] for i in np.random.default_rng(int(change[-1])).permutation(len(old))]
    elif change == "reversed":
        new = old[::-1]
    else:
        empty = "" if isinstance(old[0], str) else type(old[0])()
        new = [{"first": old[0], "last": old[-1], "emptied": empty}[change]] * len(old)
    return frame.assign(**{column: pd.Series(new, index=frame.index, dtype=frame[column].dtype)})


# ---- flips: for each reading a world in which it says the opposite


def _known(study, _):
    """The changes that are committed."""
    if (path := FLIPS / f"{study.paper}.csv").is_file():
        yield from {(r["place"], r["row"], r["column"], r["change"]): 0 for r in rows(path)}


def _every(study, _):
    """Changes of all tables at once, and of all data."""
    for change in (*IN_COLUMNS, "shuffled 2", "shuffled 3", *(BY_ROW + c for c in IN_ROWS)):
        yield TABLES, "", "", change
    for change in (*ROWS, *IN_DATA):
        yield DATA, "", "", change


def _whole(study, place):
    """Changes of a whole table or source, also by row and by column."""
    if not study.prints(place):
        columns = sources.load(place).columns[:30]
        yield from ((place, "", "", change) for change in (*ROWS, *IN_DATA))
        yield from ((place, "", c, change) for c in columns for change in IN_DATA)
        return
    for change in (*IN_COLUMNS, *(BY_ROW + c for c in IN_ROWS)):
        yield place, "", "", change


def _parts(study, place):
    """Changes of a row, a column or a single number of a table."""
    if not study.prints(place):
        return
    for n in range(1, 16):
        for change in (f"shuffled {n}", f"ends {n}", f"{BY_ROW}ends {n}"):
            yield place, "", "", change
    mine = study.frame[study.frame["table"] == place]
    if mine["column"].nunique() > 1 and mine["row"].nunique() > 1:
        for name, change in itertools.product(mine["column"].unique(), IN_COLUMNS):
            yield place, "", name, change
        for name, change in itertools.product(mine["row"].unique(), IN_ROWS):
            yield place, name, "", BY_ROW + change
    known = mine["value"].dropna()
    for row in mine.itertuples():
        near = (known.min(), known.max(), row.value + 1, row.value - 1, row.value * 2)
        for new in dict.fromkeys(("0", "100", "1", *(f"{v:g}" for v in near))):
            yield place, row.row, row.column, new


def _opposite(before, after):
    return after is not None and after != before and (before == "open" or after != "open")


def flips(study, seconds=240):
    """Write rows of FLIP for the readings that flip, after each phase; return what doesn't flip.

    The committed changes first, then all tables at once, whole tables, parts. seconds: for each
    phase. Parts only of tables that moved a reading's number, where some did.
    """
    before, found, good, moves = study.said(study.readings), {}, {}, {}
    left = set(before)
    for kind in (_known, _every, _whole, _parts):
        places = {p for id, _ in left for p in study.places(id)}
        if kind is _parts:
            moved = {k: moves.get(k, set()) - {TABLES, DATA} for k in left}
            places = {p for k in left for p in moved[k] or study.places(k[0])}
        each = [kind(study, p) for p in (sorted(places) if kind in (_whole, _parts) else [""])]
        todo = [where for group in itertools.zip_longest(*each) for where in group if where]
        end = time.monotonic() + (np.inf if kind is _known else seconds)
        while todo and left and time.monotonic() < end:
            where = todo.pop(0)
            after = _after(study, where, None if kind in (_known, _every) else {i for i, _ in left})
            for k in left:
                if k in after and after[k] != _way(study.readings, k):
                    moves.setdefault(k, set()).add(where[0])
            found[where] = {k: claims.SAID[way[3]] for k, way in after.items()}
            good[where] = {k for k in before if _opposite(before[k], found[where].get(k))}
            left -= good[where]
        _write(study, before, found, good)
        print(f"{study.paper} {kind.__name__}: {len(todo)} untried, {len(left)} left", flush=True)
    weak = {k: [w for w in found if found[w].get(k, before[k]) != before[k]][:1] for k in left}
    return [(*k, before[k], moves.get(k), weak[k]) for k in before if k in left]


def _way(made, k):
    return made.get(k[0], {}).get(k[1])


def _after(study, where, ids):
    """{(id, reading): way} of all readings after a change; {} if it can't be made."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, 15, 5)
    try:
        made = study.world(changed(study, *where), ids)
    except Exception:  # a change that the table or source doesn't allow
        return {}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {(id, n): way for id, ways in made.items() for n, way in ways.items()}


def _late(*_):
    raise TimeoutError("a changed world takes too long")


def _write(study, before, found, good):
    """The fewest worlds, greedily, that flip all readings that some world flips."""
    rows, open_ = [], set().union(*good.values())
    while open_:
        best = max(good, key=lambda where: len(good[where] & open_))
        rows += [(*k, before[k], *best, found[best][k]) for k in before if k in good[best] & open_]
        open_ -= good[best]
    write(FLIPS / f"{study.paper}.csv", FLIP, rows)


# ---- fragility: verdicts that turn with the last printed digit


def printed_numbers(study):
    """Printed numbers behind readings: (table, row, column, which, number, last digit).

    A number has as many decimals as any of its table and column, so 40 beside 39.5 is 40.0.
    """
    printed, places = rows(paths.PUBLISHED / f"{study.paper}.csv"), {}
    for r, which in itertools.product(printed, NUMBERS):
        at = r["table"], r["column"]
        places[at] = max(places.get(at, 0), len(r[which].partition(".")[2]))
    mine = set(study.tables())
    return [
        (r["table"], r["row"], r["column"], which, float(r[which]), places[r["table"], r["column"]])
        for r, which in itertools.product(printed, NUMBERS)
        if r[which] and r["table"] in mine
    ]


def turned(study, number):
    """The verdicts that other last digits of one number turn: rows of TURN.

    Of the claims that are `impossible` only the number is told: where no whole number of cases
    prints the changed number, or the code rejects it otherwise. Second value: {error: times}.
    """
    table, row, column, which, old, digits = number
    before, found, errors = study.verdicts(study.readings), [], {}
    for step in STEPS:
        frame = study.frame[study.frame["table"] == table].copy()
        mine = (frame["row"] == row) & (frame["column"] == column)
        frame.loc[mine, which] = round(old + step / 10**digits, digits)
        made = study.world({table: frame})
        for e in study.errors:
            errors[e] = errors.get(e, 0) + 1
        told = f"{step:+d}" if which == "value" else f"{which} {step:+d}"
        none = 0  # claims that can't be computed
        for id, was in before.items():
            ways = made.get(id, {})
            lost = set(study.readings[id]) - set(ways)
            none += bool(lost)
            if not lost and (now := claims.judged(study.paper, id, ways)[0]) != was:
                found.append((id, table, row, column, told, was, now))
        if none:
            found.append((f"{none} claims", table, row, column, told, "", "impossible"))
    return found, errors


def hashes(paper):
    """{file: sha256} of what a study's fragility rests on."""
    files = [paths.DATA / kind / f"{paper}.csv" for kind in INPUTS]
    return {paths.rel(f): sha256(f) for f in files}


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def unable(paper):
    """Readings that no change flips, with a reason: rows id, reading, why."""
    path = FLIPS / "unable" / f"{paper}.csv"
    return rows(path) if path.is_file() else []


def by_hand(paper):
    """Worlds made by hand, {(id, reading, becomes): rows table, row, column, value}.

    A row is a printed number or a cell of a source's frame, whose row is a place counted from 0.
    """
    path, found = FLIPS / "by_hand" / f"{paper}.csv", {}
    for r in rows(path) if path.is_file() else []:
        found.setdefault((r["id"], r["reading"], r["becomes"]), []).append(r)
    return found


def changed_by_hand(study, cells):
    """{table or source: its rows after changes of these cells}, as `Study.world` takes them."""
    made = {}
    for r in cells:
        place, prints = r["table"], study.prints(r["table"])
        if place not in made:
            own = study.frame[study.frame["table"] == place]
            made[place] = (own if prints else sources.load(place)).copy()
        frame = made[place]
        if prints:
            mine = (frame["row"] == r["row"]) & (frame["column"] == r["column"])
            assert mine.any(), f"{r} is not printed"
            by = float(r["value"]) - frame.loc[mine, "value"]  # its low and high move along
            frame.loc[mine, NUMBERS] = frame.loc[mine, NUMBERS].add(by, axis=0)
        else:
            frame.at[int(r["row"]), r["column"]] = r["value"]
    return made


def write(path, columns, rows):
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, lineterminator="\n")


def renew_fragility(study):
    """Write a study's fragility, and the hashes of what it rests on; print the errors met."""
    found, errors, numbers = [], {}, printed_numbers(study)
    for i, number in enumerate(numbers):
        turns, met = turned(study, number)
        found += turns
        for e, n in met.items():
            errors[e] = errors.get(e, 0) + n
        if i % 50 == 0:  # so far
            write(FRAGILITY / f"{study.paper}.csv", TURN, found)
            print(study.paper, i, "of", len(numbers), flush=True)
    write(FRAGILITY / f"{study.paper}.csv", TURN, found)
    about = {"numbers": len(numbers), "verdicts": len(study.readings)}
    about |= {"inputs": hashes(study.paper)}
    (FRAGILITY / f"{study.paper}.json").write_text(json.dumps(about, indent=1) + "\n")
    for e in sorted(errors):
        print(f"  {errors[e]} times {e[:300]}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    kind, paper, *more = sys.argv[1:]
    if kind == "flips":
        print(*flips(Study(paper), *map(float, more)), sep="\n")
    else:
        renew_fragility(Study(paper))
