"""libvmafx: its declarations, where it is found, its log, its errors."""

import errno
import functools
import logging
import os
import signal
import sys
import threading
import time
from traceback import format_exc, walk_tb
from types import TracebackType
from typing import Any

from cffi import FFI

from . import _header
from ._places import NAME, opened, places, reason_of

logger = logging.getLogger("vmafx")

LASTING: list[object] = []
"""The library itself, and the objects of Python's that it uses as long as there is a context."""


class Error(OSError):
    """The error of a call of the library: `errno`, and the library's text, which is str() of it.

    Among others: EINVAL for options, models and formats; ENOENT, EACCES for files; ENODEV for a GPU that cannot be
    used; ERANGE for a score below `fail_below`; EBADF for a session that is closed.
    """

    def __str__(self) -> str:
        return str(self.strerror)


ffi = FFI()
ffi.cdef(_header.declarations)

# All types that calls need. cffi reads the name of a type when it is first used, by the only parser that pycparser has,
# which stays unusable when Ctrl-C interrupts it.
for _name in (
    *(
        "VmafxContext **",
        "VmafxOptions **",
        "VmafxFormat *",
        "VmafxFormat[]",
        "VmafxPicture *",
        "const VmafxPicture *[]",
    ),
    *("VmafxFrameResult *", "VmafxPairing *", "VmafxKeptReference **", "VmafxKeptReferenceParams *"),
    *("char[]", "const char **", "double *", "const uint8_t *", "void *"),
):
    ffi.typeof(_name)


# -- Finding it --------------------------------------------------------------------------------------------------------


@functools.cache
def library() -> Any:
    """The library, loaded at the first call. Raises Error (ENOENT; ENOSYS: it is too old)."""
    seen, number = [], errno.ENOENT
    for place in places():
        if os.path.dirname(place) and not os.path.exists(place):
            seen.append(f"{place} (not there)")
            continue
        try:
            found = opened(place, ffi.dlopen, LASTING)
        except OSError as failure:
            seen.append(f"{place if os.path.dirname(place) else 'the loader of libraries'} ({reason_of(failure)})")
            continue
        missing = [name for name in dir(found) if not hasattr(found, name)]
        if not missing:
            LASTING.append(found)
            return found
        lacks = f"older than this module, it lacks {', '.join(missing)}: build and install both again"
        seen.append(f"{place} ({lacks})")
        number = errno.ENOSYS
    raise Error(
        number,
        f"{NAME} cannot be loaded. It was looked for at: {'; '.join(seen)}. Set VMAFX_LIBRARY to the library or to the "
        "folder that it is in; or put PREFIX/bin of `quickstart install PREFIX`, or build/bin of the sources, into PATH"
        "; or run `make install` and ldconfig",
    )


def version() -> str:
    """The version of the library that is loaded, such as "0.1.0", or "0.1.0-g80c0f90" if it was built from a git
    checkout.
    """
    return text_of(library().vmafx_version())


def text_of(characters: Any) -> str:
    """The text at a `char *` of the library's."""
    return str(ffi.string(characters).decode(errors="replace"))


# -- Its log -----------------------------------------------------------------------------------------------------------

_LEVELS = {
    "VMAFX_LOG_ERROR": logging.ERROR,
    "VMAFX_LOG_WARNING": logging.WARNING,
    "VMAFX_LOG_INFO": logging.INFO,
    "VMAFX_LOG_VERBOSE": logging.DEBUG,
    "VMAFX_LOG_DEBUG": logging.DEBUG,
}
_level_of = {number: _LEVELS[name] for number, name in ffi.typeof("enum VmafxLogLevel").elements.items()}


class Messages:
    """Errors and exceptions that the log callback keeps for a call; log_cookie is a handle of this."""

    def __init__(self) -> None:
        self.errors: list[str] = []  # texts; nothing else tells why vmafx_open() failed
        self.warnings: list[str] = []
        self.raised: list[BaseException] = []  # a call that ends raises them
        self.inside: dict[int, float] = {}  # threads that run handlers, and since when

    def raise_kept(self) -> None:
        if self.raised:
            raise self.raised.pop(0)


def _log(cookie: Any, level: int, message: Any) -> None:
    """Passes a message on to `logging`. An Exception that a handler of the log raises ends here."""
    messages: Messages = ffi.from_handle(cookie)
    messages.inside[threading.get_ident()] = time.monotonic()
    text = text_of(message)
    if _level_of[level] == logging.ERROR:
        messages.errors.append(text)
    elif _level_of[level] == logging.WARNING:
        messages.warnings.append(text)
    try:
        logger.log(_level_of[level], "%s", text)
    except Exception as error:
        if _is_of_a_signal(error):
            raise
        if logging.raiseExceptions and sys.stderr:
            print(f"a handler of the logger vmafx failed:\n{format_exc()}", file=sys.stderr)
    del messages.inside[threading.get_ident()]


def _is_of_a_signal(error: BaseException) -> bool:
    """Whether a handler of a signal has raised it, which Python runs between any two lines of the main thread."""
    codes = [getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()]
    return any(frame.f_code in codes for frame, _ in walk_tb(error.__traceback__))


def _keep(kind: type[BaseException], error: BaseException, traceback: TracebackType) -> None:
    """Keeps what _log() has raised, such as KeyboardInterrupt, which C does not pass on, for the end of the call."""
    del kind
    messages: Messages = ffi.from_handle(traceback.tb_frame.f_locals["cookie"])
    messages.inside.pop(threading.get_ident(), None)
    messages.raised.append(error)


log_callback = ffi.callback("void(void *, enum VmafxLogLevel, const char *)", _log, onerror=_keep)

LASTING.append(log_callback)
