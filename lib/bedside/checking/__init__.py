"""The numbers of any paper, checked: which its tables can hold, and which no data can give.

    checks = bedside.check("mine.csv")     # a frame: a row for each check, with its verdict
    checking.write("mine.csv")             # figures/checked/mine/index.html and checks.csv

The file has a row for each printed number, with its digits as they are printed; docs/check.md has
its columns and an example of each kind. The arithmetic is in `stats`.

numbers: digits as printed, and settings. rows: the file, with decimal points or commas by table.
formulas: what grades, shares and statistics allow. verdicts: what a check says. single, tests,
scores: the checks, by kind. checks: all of a file.
"""

from .checks import COLUMNS, check, template, write
from .rows import KINDS
from .verdicts import VERDICTS

__all__ = ["COLUMNS", "KINDS", "VERDICTS", "check", "template", "write"]
