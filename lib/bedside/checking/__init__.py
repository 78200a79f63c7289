"""The numbers of any paper, checked: which its tables can hold, and which no data can give.

    found = bedside.check("mine.csv")      # a frame: a row for each check, with its verdict
    checking.write("mine.csv")             # figures/checked/mine/index.html and checks.csv

The file has a row for each printed number, with its digits as they are printed; docs/check.md has
its columns and an example of each kind. The arithmetic is in `stats`.

printed: a number's digits and marks. conventions: decimal points or commas, by table. numbers: the
file's rows, and what they refer to. verdicts: what a check says. single, pairs, scores, tests: the
checks, by kind. unsized: what needs no n. page: what is written.
"""

from .checks import COLUMNS, check
from .numbers import KINDS
from .page import template, write
from .verdicts import VERDICTS

__all__ = ["COLUMNS", "KINDS", "VERDICTS", "check", "template", "write"]
