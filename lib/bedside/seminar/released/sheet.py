"""Seminar sheet 2p, The record and the site: released patients and the clinicians' reference.

Sheet 2 on the study's own data; it needs the released data.
"""

from bedside.seminar.released.checks import Checks


class Sheet(Checks):
    """The checks of sheet 2p."""
