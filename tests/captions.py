"""What a caption tells, whatever its words are."""

import re


def tells(text, *numbers):
    """Whether a text has these numbers, as printed, one after the other."""
    found = re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", text)
    wanted = list(map(str, numbers))
    return any(found[k : k + len(wanted)] == wanted for k in range(len(found)))
