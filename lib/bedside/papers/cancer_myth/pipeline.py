"""Cancer-Myth, section 3: yield of the loop, counts along the pipeline, and what the raw data say to the paper's claims."""

from bedside import stats
from bedside.checks import merged, normal, same, shared, spellings
from bedside.claims import reading
from bedside.papers.cancer_myth.data import CATEGORIES
from bedside.tables import card_rows, interval_rows, percent


def yield_table(questions, rounds, run):
    """What became of the questions that the loop asked for, in percent, and how the two sets grew: table rows.

    The paper's share rests on three questions for each of 994 myths; its run of GPT-4o was a partial one.
    """
    kinds = {
        "hard (joins the valid set)": questions["value"] == -1,
        "partly corrected (apart)": questions["value"] == 0,
        "easy (joins the invalid set)": questions["value"] == 1,
        "answered, no grade (apart)": (
            (questions["status"] == "new") & (questions["verdict"] != "graded")
        ),
    }
    kinds |= {
        f"question {s}": questions["status"] == s
        for s in ("copied", "missing", "truncated", "unparsed", "refused")
    }
    rows = []
    for name, mine in questions.groupby("generator", sort=False):
        rows += [
            (name, kind, "run", *percent(hit[mine.index].sum(), len(mine)))
            for kind, hit in kinds.items()
        ]
    count, per = run.published("v1 text 4.1"), run.published("v1 text 3").set_index("row")["value"]
    asked = per["myths"] * per["questions per myth"]
    for r in count[
        (count["row"] == "candidates") & ~count["column"].isin(["all", "manual"])
    ].itertuples():
        rows.append(
            (
                r.column,
                "hard (joins the valid set)",
                "recomputed",
                100 * r.value / asked,
                None,
                None,
                asked,
            )
        )
    for r in rounds[rounds["stopped"] == ""].reset_index().itertuples():
        rows += [
            (f"{r.generator} after {r.myth}", kind, "run", size, None, None, None)
            for kind, size in (("valid set", r.valid), ("invalid set", r.invalid))
        ]
    return interval_rows(rows)


def balance_table(stages):
    """Questions in each category at several stages ({name: (frame with category, source)}): table rows in percent."""
    return interval_rows(
        [
            (c, stage, source, *percent((frame["category"] == c).sum(), len(frame)))
            for stage, (frame, source) in stages.items()
            for c in CATEGORIES.values()
        ]
    )


def pipeline_table(run, questions, myths=None, candidates=None, released=None, nfp=None):
    """Counts along the pipeline beside the paper's: table rows. Frames of the released data, None where not there."""
    import pandas as pd

    printed = run.published("v1 text 4.1")
    rows = [
        ("myths", "all", "published", *run.published("v1 text 3").query("row == 'myths'")["value"]),
        (
            "cancer types",
            "all",
            "published",
            *run.published("v1 text 3").query("row == 'cancer types'")["value"],
        ),
    ]
    names = {
        "candidates": "questions that fooled a model",
        "balanced": "given to the physicians",
        "released": "released",
    }
    rows += [
        (names[r.row], r.column, "published", r.value)
        for r in printed.itertuples()
        if r.row in names
    ]
    nothing_wrong = "without a false presupposition"
    rows += [
        (
            nothing_wrong,
            "all",
            "published",
            *run.published("v2 text method").query("row == 'NFP'")["value"],
        )
    ]
    for name, mine in questions.groupby("generator", sort=False):
        rows += [
            ("questions asked for", name, "run", len(mine)),
            ("questions usable", name, "run", (mine["status"] == "new").sum()),
            (names["candidates"], name, "run", (mine["value"] == -1).sum()),
        ]
    if myths is not None:
        rows += [
            ("myths", "all", "raw", len(myths)),
            ("myths", "different texts", "raw", myths["myth"].map(normal).nunique()),
            ("cancer types", "all", "raw", myths["cancer"].nunique()),
            ("cancer types", "spellings merged", "raw", merged(myths["cancer"])),
        ]
        for stage, frame in (
            (names["balanced"], candidates),
            (names["released"], released),
            (nothing_wrong, nfp),
        ):
            rows.append((stage, "all", "raw", len(frame)))
            for what in ("generator", "category"):
                rows += (
                    [(stage, k, "raw", n) for k, n in frame[what].value_counts().items()]
                    if what in frame
                    else []
                )
    return pd.DataFrame(rows, columns=["row", "column", "source", "value"])


def kept(candidates, released):
    """Which candidates (booleans) the physicians kept: released word for word, or nearly (`checks.same`)."""
    return (
        candidates["question"]
        .map(normal)
        .isin(same(candidates["question"], released["question"]).values())
    )


def review_table(candidates, released):
    """Share of the candidates that the physicians kept, by generator and category: table rows in percent."""
    hit = kept(candidates, released)
    parts = [
        ("all", candidates),
        *candidates.groupby("generator", sort=False),
        *candidates.groupby("category", sort=False),
    ]
    return interval_rows(
        [
            (name, "kept by the physicians, %", "raw", *percent(hit[part.index].sum(), len(part)))
            for name, part in parts
        ]
    )


def categoriser_table(sets, run):
    """Agreement of categorisers ({set: {categoriser: card}}) beside the printed one: table rows in percent, kappa as it is."""
    import pandas as pd

    printed = run.published("v1 Table 1").query("row == 'Categorisation'")["value"].iloc[0]
    rows = [
        (
            "GPT-4o (the paper's)",
            "exact match, overlaps count",
            "published",
            printed,
            None,
            None,
            76,
            None,
        )
    ]
    for name, cards in sets.items():
        for judge, card in cards.items():
            rows += card_rows(f"{judge}, {name}", card, {"exact": "exact match", "kappa": "kappa"})
        rows += [
            (
                f"constant guesser, {name}",
                "exact match",
                "run",
                100 * card["guesser_exact"],
                None,
                None,
                card["n"],
                0,
            )
        ]
    return pd.DataFrame(
        rows, columns=["row", "column", "source", "value", "low", "high", "n", "unscored"]
    )


def claims(run, raw, checked):
    """The paper's claims on how the set was made, held against the released data (`raw`, {} where not there) and the checks."""
    printed = run.published("v1 text 4.1").set_index(["row", "column"])["value"]
    parts = printed["candidates"].drop("all")
    run.claim(
        "cm-candidates-sum",
        reading(
            " + ".join(f"{v:.0f}" for v in parts) + f" = {parts.sum():.0f}",
            parts.sum() == printed["candidates", "all"],
        ),
        basis="recomputed",
    )
    needs = "PROFILE=public"
    tests = _on_raw(run, raw, checked) if raw else {}
    for id, section, claim, said in CLAIMS:
        computed, holds = tests.get(id, ("", None))
        run.claim(id, reading(computed, holds), basis="raw" if raw else "none")


CLAIMS = [  # id, section, what the paper says (or what its data take for granted), the printed number
    ("cm-myths", "3", "994 myths were collected", "994"),
    ("cm-myths-unique", "3.1", "The myths are unique", "994"),
    ("cm-cancer-types", "3.1", "The myths belong to 127 cancer types", "127"),
    ("cm-cancer-names", "3.1", "Each cancer type has one name (our reading)", "127"),
    ("cm-balanced", "4.1", "888 questions were given to the physicians", "888"),
    (
        "cm-balanced-parts",
        "4.1, B.4",
        (
            "888 is the first set of 90 and an equal number from each of three generators (our"
            " reading)"
        ),
        "888",
    ),
    ("cm-first-76", "B.4", "The first set has 76 valid questions", "76"),
    ("cm-even", "B.3", "Balancing gives the categories even shares", "even"),
    (
        "cm-even-generators",
        "B.3",
        "Within each generator's part, no category has more than twice an even share (our reading)",
        "even",
    ),
    ("cm-per-myth", "3.2", "At most three questions of a generator rest on one myth", "3"),
    (
        "cm-subset",
        "4.1",
        "The released questions are a subset of the candidates, word for word",
        "585",
    ),
    (
        "cm-nfp-source",
        "version 2",
        "The questions without a false presupposition come from the candidates",
        "150",
    ),
    ("cm-exclude", "version 2", "No question stands in both released sets", "0"),
    ("cm-manual", "4.1", "Two questions are filed as written by hand", "2"),
    (
        "cm-distinct",
        "4.1",
        (
            "No question stands twice within candidates, released questions or those without a"
            " presupposition"
        ),
        "0",
    ),
    ("cm-gaps", "4.1", "No field of the released sets is empty", "0"),
    ("cm-generator-names", "3.2", "A generator has one name in all files", "3 generators"),
    (
        "cm-review-even",
        "4.1",
        "The review keeps equal shares of the generators' questions (our question)",
        "not printed",
    ),
]


def _on_raw(run, raw, checked):
    """{claim: (computed, holds)} from the released data."""
    said = {
        (r.row, r.column): int(r.value)
        for t in ("v1 text 3", "v1 text 4.1", "v1 text B.4")
        for r in run.published(t).itertuples()
    }
    first_made, first_valid = said["generated at first", "count"], said["valid at first", "count"]
    balanced, manual = said["balanced", "all"], (raw["candidates"]["generator"] == "Manual").sum()
    myths, offered, released, nfp = (raw[k] for k in ("myths", "candidates", "released", "nfp"))
    texts, types, names = (
        myths["myth"].map(normal).nunique(),
        myths["cancer"].nunique(),
        spellings(myths["cancer"]),
    )
    rest, first = offered[~offered["first"]], offered[offered["first"]]
    hit = kept(offered, released)
    parts, shares = rest["generator"].value_counts(), offered["category"].value_counts()
    worst = rest.groupby("generator")["category"].agg(
        lambda c: c.value_counts(normalize=True).max()
    )
    most = offered[offered["myth"] > 0].groupby(["generator", "myth"]).size().max()
    exact, both = (
        len(shared(released["question"], f)) for f in (offered["question"], nfp["example_question"])
    )
    from_offered = len(shared(offered["question"], nfp["example_question"]))
    found = checked[
        checked["row"].isin(["cancer_myth_candidates", "cancer_myth_released", "cancer_myth_nfp"])
    ]
    twice, gaps = (
        int(found[found["column"] == what]["value"].sum())
        for what in ("repeated texts", "empty cells")
    )
    spelled = spellings([*offered["spelled"], *nfp["from_model"]])
    by = {g: (int(hit[p.index].sum()), len(p)) for g, p in rest.groupby("generator")}
    low, high = (pick(by.values(), key=lambda k: k[0] / k[1]) for pick in (min, max))
    apart, fewer = stats.two_proportions(*low, *high), merged(myths["cancer"])
    return {
        "cm-myths": (f"{len(myths)}", len(myths) == said["myths", "count"]),
        "cm-myths-unique": (
            (
                f"{texts} different texts; {len(myths) - texts} repeat another's, most under"
                " another cancer"
            ),
            texts == len(myths),
        ),
        "cm-cancer-types": (
            f"{types} names, {fewer} with spellings merged",
            said["cancer types", "count"] in (types, fewer),
        ),
        "cm-cancer-names": (
            f"{len(names)} types have two names, such as {' = '.join(names[0])}",
            not names,
        ),
        "cm-balanced": (f"{len(offered)}", len(offered) == balanced),
        "cm-balanced-parts": (
            (
                f"{first_made} + {' + '.join(map(str, parts))} = {first_made + parts.sum()}; the"
                f" file has {len(first)} for the first {first_made}: what the first review took out"
                " is gone"
            ),
            parts.nunique() == 1 and first_made + parts.sum() == balanced,
        ),
        "cm-first-76": (
            f"{len(first)}, of which {hit[first.index].sum()} are released",
            len(first) == first_valid,
        ),
        "cm-even": (
            (
                f"{shares.min()} to {shares.max()} of {len(offered)} (chi-square p ="
                f" {_even(shares):.1g})"
            ),
            _even(shares) > 0.05,
        ),
        "cm-even-generators": (
            "largest share: " + ", ".join(f"{g} {100 * s:.0f}%" for g, s in worst.items()),
            worst.max() <= 2 / 7,
        ),
        "cm-per-myth": (f"{most}", most <= 3),
        "cm-subset": (
            f"{exact}; the other {len(released) - exact} were reworded",
            exact == len(released),
        ),
        "cm-nfp-source": (f"{from_offered}", from_offered == len(nfp)),
        "cm-exclude": (
            f"{both} without a false presupposition also released as one with" if both else "0",
            not both,
        ),
        "cm-manual": (f"{manual}; the other is filed under GPT-4o", manual == 2),
        "cm-distinct": (f"{twice}", not twice),
        "cm-gaps": (f"{gaps}", not gaps),
        "cm-generator-names": (
            "; ".join(" = ".join(g) for g in spelled) or "one each",
            not spelled,
        ),
        "cm-review-even": (
            ", ".join(f"{g} {100 * k / n:.0f}%" for g, (k, n) in by.items())
            + f"; lowest against highest p = {apart:.1g}",
            apart > 0.05,
        ),
    }


def _even(counts):
    from scipy.stats import chisquare

    return chisquare(counts).pvalue
