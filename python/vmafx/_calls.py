"""Calls into the library: nothing is closed while a call uses it, and no call is left when the interpreter ends.

The library's threads call Python to log and to give pictures back. Once Python has ended, it ends any thread that calls
it, which in C++ ends the process. So all of the library's objects are given back before that.
"""

import atexit
import ctypes
import errno
import os
import signal
import sys
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NoReturn, TypeVar

from ._library import LASTING, Error, Messages, ffi

# How many seconds the end of the interpreter waits for a call of another thread, and for a handler of the log.
LONGEST_CALL = 30.0
LONGEST_HANDLER = 5.0

LOOK_S = 0.02  # seconds between two checks whether a call has ended

T = TypeVar("T")


def called(codes: list[int], function: Any, *arguments: Any) -> int:
    """Calls the library, appends its return value to `codes`, and returns that.

    Python runs no signal handler between the call and the append. So there is a code if and only if the function was
    called, also if an argument does not fit, and if Ctrl-C raises KeyboardInterrupt right before or after the call.
    """
    codes.extend(map(function, *([argument] for argument in arguments)))
    return codes[-1]


class Owned(ABC):
    """An object of the library, a session or a reference, that is given back exactly once, when no call uses it."""

    kind = ""

    def __init__(self, out: Any) -> None:
        """Takes the place where the library writes the object's address, and NULL once it was given back."""
        self._out = out
        self.messages = Messages()
        self.cookie = ffi.new_handle(self.messages)
        self.over = threading.Event()  # set once the object was given back
        self._process = os.getpid()
        self._lock = threading.Lock()  # for calls that exclude each other
        self._calling = 0  # identifies the thread that holds the lock
        _owned.add(self)
        if _ending:
            _owned.discard(self)
            self.refuse()

    @abstractmethod
    def free(self) -> None:
        """Gives the object back to the library, unless that was done before."""

    @abstractmethod
    def close(self) -> None:
        """Gives the object back once, as soon as no call uses it."""

    @abstractmethod
    def is_called(self) -> bool:
        """Returns whether a call still uses the object at the end of the interpreter, when the main thread has no call
        left.
        """

    def give_back(self) -> None:
        """Frees the object; one thread calls this, and calls it again if Ctrl-C came before the library was called."""
        try:
            self.free()
        finally:
            if not self._out[0]:
                _owned.discard(self)
                self.over.set()

    def is_of_this_process(self) -> bool:
        return self._process == os.getpid()

    def refuse(self) -> NoReturn:
        """Raises Error (EBADF). While the interpreter ends, a daemon thread that calls is ended without a message."""
        if not _ending:
            raise Error(errno.EBADF, f"the {self.kind} is closed")
        thread = threading.current_thread()
        if thread.daemon and thread is not threading.main_thread():
            raise SystemExit
        raise Error(errno.EBADF, f"the {self.kind} is closed, since the interpreter ends")

    def check_open(self, is_open: object) -> None:
        if _ending or not is_open:
            self.refuse()

    def is_called_here(self) -> bool:
        """Returns whether this thread is inside a call already, and now runs a handler of the log or of a signal."""
        here = threading.get_ident()
        return here in self.messages.inside or (self._calling == here and self._lock.locked())

    def alone(self, action: Callable[[], T]) -> T:
        """Makes one call after the other. Raises what a callback raised; Error (EDEADLK) for a call within a call."""
        if self.is_called_here():
            callers = "a handler of the log or of a signal, or __del__()"
            raise Error(errno.EDEADLK, f"{callers} used the {self.kind} during a call of it: use it after the call")
        try:
            with self._lock:
                try:
                    self._calling = threading.get_ident()
                    return action()
                finally:
                    self._calling = 0
        finally:
            self.messages.raise_kept()

    def is_stuck(self, began: float) -> bool:
        """Returns whether the end of the interpreter, waiting since `began`, waits for this object in vain."""
        now = time.monotonic()
        in_handlers = [max(began, since) for since in list(self.messages.inside.values())]
        return now - began > LONGEST_CALL or any(now - since > LONGEST_HANDLER for since in in_handlers)

    def forked(self) -> None:
        """Makes new locks in the child of a fork(): the threads that held the old ones do not exist there."""
        self._lock = threading.Lock()


# -- Closing elsewhere -------------------------------------------------------------------------------------------------


class Closer:
    """A thread that closes sessions to which nobody refers any more.

    The garbage collector reaches them in any thread, also in one of the library's, which would wait for itself, and
    while any lock is held. A SimpleQueue is safe there.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._process = 0

    def start(self) -> None:
        if self._process == os.getpid():
            return
        with suppress(RuntimeError):  # the interpreter ends and starts no more threads
            threading.Thread(target=self._run, name="vmafx closer", daemon=True).start()
            self._process = os.getpid()

    def is_there(self) -> bool:
        return self._process == os.getpid()

    def add(self, action: Callable[[], object]) -> None:
        self._queue.put(action)

    def _run(self) -> None:
        while True:
            action = self._queue.get()
            try:
                action()
            except BaseException as error:
                sys.excepthook(type(error), error, error.__traceback__)
            del action


_owned: set[Owned] = set()
_closer = Closer()
_ending = False


def start_closer() -> None:
    _closer.start()


def close_elsewhere(owned: Owned) -> None:
    _closer.add(owned.close)


def abandoned(owned: Owned, name: str) -> None:
    """Closes an object to which nobody refers any more, and warns that it was not closed."""
    if owned in _owned:
        _closer.add(owned.close)
        warnings.warn(f"a {name} was not closed", ResourceWarning, stacklevel=2)


def is_ending() -> bool:
    return _ending


def is_of_python() -> bool:
    """Returns whether `threading` knows this thread, so that it is neither the library's nor another program's."""
    return not isinstance(threading.current_thread(), threading._DummyThread)


# -- The end of the interpreter ----------------------------------------------------------------------------------------


@atexit.register
def _end() -> None:
    """Closes all objects. Other threads are daemons by now: the end waits for those in a call, and they make no further
    one.
    """
    global _ending
    _ending = True
    began = time.monotonic()
    try:
        if not all([_ended(owned, began) for owned in list(_owned)]):
            _keep_for_ever([*LASTING, _owned])
    except KeyboardInterrupt:
        _die_of_interrupt()


def _ended(owned: Owned, began: float) -> bool:
    """Returns whether the object was given back. A stuck object stays as it is: nothing is freed under a call."""
    while owned.is_called():
        if owned.is_stuck(began):
            return False
        time.sleep(LOOK_S)
    if not _closer.is_there():
        owned.close()
        return True
    _closer.add(owned.close)
    while not owned.over.wait(LOOK_S):
        if owned.is_stuck(began):
            return False
    return True


def _keep_for_ever(things: Sequence[object]) -> None:
    """Keeps things alive for threads that are still in the library when Python frees its remaining modules.

    Python ends a library's thread that calls it at that time, by an exception that makes C++ end the process; here the
    thread sleeps instead.
    """
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    with suppress(OSError, AttributeError):  # this process uses another C++ library
        ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE(ctypes.CDLL(None).pause)


def _die_of_interrupt() -> None:
    """Ends the process at once, as Ctrl-C does without a handler: it came while the interpreter's end was waiting."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


# -- fork() ------------------------------------------------------------------------------------------------------------


def _forget() -> None:
    """Leaves all objects to the parent process: the child has none of the library's threads."""
    global _closer
    for owned in _owned:
        owned.forked()
    _owned.clear()
    _closer = Closer()


os.register_at_fork(after_in_child=_forget)
