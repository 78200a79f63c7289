"""Seminar sheet 2p, The record and the site: released patients and the clinicians' reference.

Like sheet 2, but on the released data, which it needs.
"""

from bedside.seminar.released.checks import Checks


class Sheet(Checks):
    """The checks of sheet 2p."""
