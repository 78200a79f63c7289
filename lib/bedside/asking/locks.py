"""Locks on files that several processes share, on every system.

A lock ends with its file, or with the process. Windows has locks of bytes only, which nobody else
may read or write meanwhile: there a byte far behind every end stands for the file, and a shared
lock is one of its own.
"""

import os
import time
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    fcntl = None

FAR = 2**40  # bytes; no file of ours is as long


def lock(file: Any, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file. OSError if another process holds it and `wait` is False."""
    if fcntl:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        return fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
    while True:
        try:
            return _far(file, msvcrt.LK_NBLCK)
        except OSError:
            if not wait:
                raise
            time.sleep(0.05)


def unlock(file: Any) -> None:
    """Free a locked file that stays open."""
    if fcntl:
        return fcntl.flock(file, fcntl.LOCK_UN)
    _far(file, msvcrt.LK_UNLCK)


def _far(file, kind):
    fd = file.fileno()
    at = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(fd, kind, 1)
    finally:
        os.lseek(fd, at, os.SEEK_SET)
