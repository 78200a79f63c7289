"""All judged items of the sample, for tests of the studies' rows."""

import pytest

from judged import collected


@pytest.fixture(scope="module")
def content(nothing):
    """All judged items of the sample, without files of the user's own; a copy for each module."""
    return collected(nothing)
