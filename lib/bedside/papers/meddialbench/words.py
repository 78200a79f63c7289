"""MedDialBench: the telling words of a text, that is, all but common ones.

They are used to compare scripts with facts of their case, by the rules to find what is asked
about, and by the word-overlap judge.
"""

from bedside.read import checks

IDLE = frozenset(
    """
    about after again also because been before being both could does doing done down during
    each from further have having here into itself just keep keeps more most much never only
    other over same should some such than that their them then there these they this those
    through till under until very were what when where which while will with would your
    yours doctor says tell patient all and any are ask but can did don for get got had has
    her him his how its let may nor not now off one our out own put say see she the too two
    use was way who why yes yet you
    """.split()
)


def telling(normal):
    """The telling words of a normalised text (see `checks`), including numbers.

    They are cut to five letters, so that endings don't matter.
    """
    return [w[:5] for w in normal.split() if (len(w) > 2 or w.isdigit()) and w not in IDLE]


def of(text: str) -> frozenset[str]:
    """The telling words of a text, a frozenset."""
    return frozenset(telling(checks.normal(text)))


def telling_words(texts):
    """{text: its telling words} for all texts."""
    return {t: frozenset(telling(n)) for t, n in checks.normals(texts).items()}
