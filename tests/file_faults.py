"""Files that fail: every write of the library, by what it does and in which line, can be let fail.

with Faults() as seen: work()                  # seen.sites: (operation, place), in their order
with Faults(site, fault) as seen: work()       # that site's first time fails
"""

import builtins
import contextlib
import errno
import io
import os
import sys
from pathlib import Path

import pytest

LIB = str(Path(__file__).parents[1] / "lib/bedside") + os.sep
WRITING = ("replace", "rename", "unlink", "mkdir", "fsync", "ftruncate")  # of os
FAULTS = ("ENOSPC", "EIO", "EINTR", "short", "killed")


class Killed(BaseException):
    """The process ends here, as far as it is concerned."""


def _place():
    """The line of the library that is at work, or None."""
    frame = sys._getframe(2)
    while frame and not frame.f_code.co_filename.startswith(LIB):
        frame = frame.f_back
    return frame and f"{frame.f_code.co_filename.removeprefix(LIB)}:{frame.f_lineno}"


class _File:
    """An open file whose writes may fail."""

    def __init__(self, file, faults):
        self.file, self.faults = file, faults

    def write(self, data):
        if fault := self.faults.due("write"):
            part = data[: len(data) // 2]
            if fault != "short":  # half of it is there when it fails
                self.file.write(part)
                self.faults.fail(fault)
            if isinstance(self.file, io.RawIOBase):
                return self.file.write(part)  # whoever writes unbuffered is told how much
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        self.file.__enter__()
        return self

    def __exit__(self, *error):
        return self.file.__exit__(*error)

    def __iter__(self):
        return iter(self.file)


class Faults:
    def __init__(self, site=None, fault="EIO"):
        self.site, self.fault, self.sites = site, fault, []
        self.patch = pytest.MonkeyPatch()

    def due(self, operation):
        """The fault that this operation has, if it is its turn."""
        site = operation, _place()
        if not site[1] or site in self.sites:
            return None
        self.sites.append(site)
        return self.fault if site == self.site else None

    def fail(self, fault):
        if fault == "killed":
            raise Killed
        number = getattr(errno, fault, errno.EIO)
        raise OSError(number, os.strerror(number))

    def __enter__(self):
        for name in WRITING:
            self.patch.setattr(os, name, self._done(name, getattr(os, name)))
        for module in (builtins, io):
            self.patch.setattr(module, "open", self._opened(module.open))
        return self

    def __exit__(self, *_):
        self.patch.undo()

    def _done(self, name, real):
        def done(*args, **more):
            if fault := self.due(name):
                self.fail(fault)
            return real(*args, **more)

        return done

    def _opened(self, real):
        opening = self._done("open", real)

        def opened(file, mode="r", *args, **more):
            if not set(mode) & set("wax+"):
                return real(file, mode, *args, **more)
            made = opening(file, mode, *args, **more)
            return _File(made, self) if _place() else made

        return opened


@contextlib.contextmanager
def full_disk(most):
    """No file of the library's can hold more than so many bytes."""

    class Full(_File):
        def write(self, data):
            room = max(0, most - self.file.tell())
            if not room and len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self.file.write(data[:room])

    def opened(file, mode="r", *args, **more):
        made = real(file, mode, *args, **more)
        return Full(made, None) if set(mode) & set("wax+") and _place() else made

    real = open
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        yield
