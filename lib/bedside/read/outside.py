"""Outside: JSON that other programs or people wrote, held against what it should be.

    record = outside.fitted(outside.parsed(line), Recording)  # ValueError says what is wrong

A schema is a dataclass or a typed dict, as msgspec takes it. What it doesn't name may be there.
"""

import json
from typing import Any

MOST = 10**9  # tokens, lines or seconds; more is no count of anything here
LONGEST = 18  # digits of a number that is read as a whole one


def parsed(text: str | bytes) -> Any:
    """A JSON text as a value; ValueError for anything else, too deep a value included.

    A whole number of more than LONGEST digits becomes a float, such as inf.
    """
    try:
        return json.loads(text, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole(digits):
    return int(digits) if len(digits) <= LONGEST else float(digits)


def fitted(value: Any, schema: Any) -> Any:
    """`value` as the schema's type; ValueError names the field and what it should be."""
    import msgspec

    try:
        return msgspec.convert(value, schema)
    except (msgspec.ValidationError, RecursionError) as e:
        told = str(e).replace("`", "").replace(" - at $.", ", in ").replace(" - at $", ", in ")
        raise ValueError(told[:1].lower() + told[1:]) from None
