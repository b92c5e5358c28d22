"""Keeps the standard error of Dask and of this machine's workers from the user: it may tell why something failed."""

import contextlib
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

LOGGERS = "distributed", "asyncio", "tornado", "bokeh"
LINES = 50
MOST_OF_LINE = 1000


class Noise:
    """The last lines that workers have written."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)

    def take(self, line: str) -> None:
        self._lines.append(line.rstrip())

    def cause(self) -> str | None:
        """Returns the last line that names an error, as a traceback's last line does."""
        for line in reversed(list(self._lines)):
            head = line.split(":")[0]
            if head.endswith(("Error", "Exception")) and " " not in head:
                return line
        return None


def told(error: BaseException) -> str:
    """Returns an error in one line: the system's refusal if there is one in its history, else its first cause."""
    history: list[BaseException] = [error]
    while (before := history[-1].__cause__ or history[-1].__context__) and before not in history:
        history.append(before)
    while error.__cause__:
        error = error.__cause__
    error = next(
        (other for other in history if isinstance(other, MemoryError) or (isinstance(other, OSError) and other.errno)),
        error,
    )
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@contextlib.contextmanager
def kept_noise() -> Iterator[Noise]:
    """Takes the standard error of processes that are started in this block.

    From then on Dask's logs, and the tracebacks of its threads and destructors, are dropped.
    """
    noise = Noise()
    _drop_logs()
    threading.excepthook = _ignore
    sys.unraisablehook = _ignore
    with _own_stderr(noise.take):
        yield noise


def _ignore(_: Any) -> None:
    pass


def _drop_logs() -> None:
    """Takes the handlers away that Dask gives to some of its loggers."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in LOGGERS:
            logger = logging.getLogger(name)
            logger.handlers[:], logger.propagate = [], True
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [logging.NullHandler()], False


@contextlib.contextmanager
def _own_stderr(take: Callable[[str], None]) -> Iterator[None]:
    """Keeps this process's standard error as it is, but lets the processes that it starts inherit a pipe."""
    shown = sys.stderr
    try:
        shown.flush()
        kept = os.dup(2)
    except (OSError, AttributeError, ValueError):  # standard error is closed
        yield
        return
    read, write = os.pipe()
    os.dup2(write, 2)
    os.close(write)
    # The thread ends with the last process that has the pipe.
    threading.Thread(target=_listen, args=(read, take), daemon=True).start()
    sys.stderr = open(kept, "w", encoding=shown.encoding, errors="backslashreplace", buffering=1)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os.dup2(kept, 2)
        with contextlib.suppress(OSError):
            sys.stderr.close()
        sys.stderr = shown


def _listen(pipe: int, take: Callable[[str], None]) -> None:
    with open(pipe, "rb") as stream:
        while line := stream.readline(MOST_OF_LINE):
            take(line.decode(errors="replace"))
