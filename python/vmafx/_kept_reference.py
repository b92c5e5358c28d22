"""A reference that stays in memory and is used to score many encodes."""

import errno
import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._calls import Owned, close_elsewhere, is_ending, is_of_python
from ._library import Error, ffi, library, log_callback, text_of
from ._pictures import Format, Frame, Loan, Picture, fill_format, picture_of


class _Frames(Owned):
    """A VmafxKeptReference, from vmafx_kept_reference_open() to vmafx_kept_reference_close()."""

    kind = "reference"

    def __init__(self, params: Any) -> None:
        self._params = params
        self._state = threading.RLock()  # never held during a slow call
        self._giving = threading.RLock()
        self._users: dict[object, int] = {}  # the threads of slow calls
        self._closed = False
        super().__init__(ffi.new("VmafxKeptReference **"))
        params.log, params.log_cookie = log_callback, self.cookie

    @property
    def pointer(self) -> Any:
        """The VmafxKeptReference; NULL unless it is open."""
        return self._out[0]

    def open(self, format: Any) -> None:
        code = library().vmafx_kept_reference_open(self._out, format, self._params)
        if code < 0:
            raise Error(-code, self.messages.errors[-1] if self.messages.errors else os.strerror(-code))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps the reference open during a call. Raises Error (EBADF)."""
        use = object()
        try:
            with self._state:
                self.check_open(not self._closed)
                self._users[use] = threading.get_ident()
            yield
        finally:
            with self._state:
                self._users.pop(use, None)
            self._close_if_unused()

    def count(self, function: Any) -> int:
        """Returns the result of a counting function, which any thread may call; 0 once the reference is closed."""
        with self._state:
            return 0 if self._closed else int(function(self._out[0]))

    def close(self) -> None:
        with self._state:
            self._closed = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        is_used = self.is_called() if is_ending() else bool(self._users)
        if self._closed and not is_used and not self.over.is_set():
            with self._giving:
                if not self.over.is_set():
                    self.give_back()

    def free(self) -> None:
        if not self.is_of_this_process():
            self._out[0] = ffi.NULL  # the child of a fork() keeps its copy until it ends
        elif self._out[0]:
            library().vmafx_kept_reference_close(self._out)

    def is_called(self) -> bool:
        main = threading.main_thread().ident
        return any(thread != main for thread in list(self._users.values()))

    def forked(self) -> None:
        super().forked()
        self._state, self._giving = threading.RLock(), threading.RLock()
        self._users = {}


class KeptReference:
    """The frames of a reference, kept in memory for sessions that score encodes against them, one after the other or at
    once in several threads:

        with vmafx.KeptReference(frames) as reference:
            for encode in encodes:
                with vmafx.Session(reference=reference) as session:
                    for frame in session.run(enumerate(encode)):
                        print(frame.number, frame.scores["vmaf"])

    A frame is what Session.submit() takes. It is not copied, and a reference to it is kept for as long as this, and the
    sessions that use it, are open; frames whose samples are interleaved or shifted (nv12, p010) are converted when they
    are added, and not kept.

    - `budget`: how many bytes the frames may take; default 2 GiB
    - `planes`: the planes to keep, as a sum of 1 (Y), 2 (U) and 4 (V); default all. The VMAF models v0.6 read luma
      only.
    - `copy`: whether every frame is copied, for a program that uses the memory of its frames again
    - `device_budget`: how many bytes of each GPU's memory the frames may take besides; default none. The first session
      on a GPU leaves copies there, so that later ones need not upload the frames again.

    len() is the number of frames. Frames may be added while sessions in other threads score those that were added
    before. Leaving `with` closes the reference; sessions that use it go on. Raises what add() does.
    """

    def __init__(
        self,
        frames: Iterable[Frame] = (),
        *,
        budget: int = 0,
        planes: int = 0,
        copy: bool = False,
        device_budget: int = 0,
    ) -> None:
        params = {"budget": budget, "planes": planes, "copy": copy, "device_budget": device_budget}
        self._frames = _Frames(ffi.new("VmafxKeptReferenceParams *", params))
        self._format: Format | None = None
        self._finalizer = weakref.finalize(self, _close, self._frames)
        self._finalizer.atexit = False  # _calls closes all open objects when the interpreter ends
        for frame in frames:
            self.add(frame)

    def __enter__(self) -> "KeptReference":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the frames back as soon as no session uses them and no other thread is in a call. It may be called
        again.
        """
        self._frames.close()
        self._finalizer.detach()

    def add(self, frame: Frame) -> None:
        """Adds the next frame. A failure leaves the frames added before as they are.

        Raises Error (ENOMEM: the budget is spent; EINVAL: the frame's format differs from that of the frames before),
        TypeError and ValueError if the frame is not a picture.
        """
        picture = picture_of(frame)
        self._frames.alone(lambda: self._add(picture))

    def _add(self, picture: Picture) -> None:
        with self._frames.in_use(), Loan() as loan:
            self._open_once(picture)
            code = loan.call(library().vmafx_kept_reference_add, self._frames.pointer, loan.lend(picture))
            if code < 0:
                raise Error(-code, text_of(library().vmafx_kept_reference_last_error(self._frames.pointer)))

    def _open_once(self, picture: Picture) -> None:
        if self._format is None:
            format = ffi.new("VmafxFormat *")
            fill_format(format, picture)
            try:
                self._frames.open(format)
            finally:
                if self._frames.pointer:
                    self._format = picture.format
        if picture.format != self._format:
            raise Error(errno.EINVAL, f"the reference input changed from {self._format} to {picture.format}")

    @contextmanager
    def in_use(self) -> Iterator[Any]:
        """Yields the VmafxKeptReference for a call of a session. Raises Error (EBADF: closed; EINVAL: it has no
        frames).
        """
        with self._frames.in_use():
            if not self._frames.pointer:
                raise Error(errno.EINVAL, "the reference has no frames")
            yield self._frames.pointer

    def __len__(self) -> int:
        return self._frames.count(library().vmafx_kept_reference_frames)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the budget that the frames take."""
        return self._frames.count(library().vmafx_kept_reference_bytes)

    @property
    def device_nbytes(self) -> int:
        """The number of bytes of GPU memory that the frames take."""
        return self._frames.count(library().vmafx_kept_reference_device_bytes)

    @property
    def format(self) -> Format | None:
        """The format of the frames; None before the first one."""
        return self._format


def _close(frames: _Frames) -> None:
    """Closes a reference that nobody refers to any more, in the closer's thread if a thread of the library, which may
    hold locks, dropped it.
    """
    if is_of_python():
        frames.close()
    else:
        close_elsewhere(frames)
