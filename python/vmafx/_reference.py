"""A reference that stays in memory, for many encodes."""

import errno
import os
import threading
import weakref
from collections.abc import Iterable
from typing import Any

from ._library import Error, ffi, library, log_callback, text_of
from ._pictures import Format, Frame, Picture, fill_format, lend, picture_of


class Reference:
    """The frames of a reference, kept in memory for sessions that score encodes against them, one after the other or at once in several threads:

        with vmafx.Reference(frames) as reference:
            for encode in encodes:
                with vmafx.Session(reference=reference) as session:
                    for frame in session.run(enumerate(encode)):
                        print(frame.number, frame.scores["vmaf"])

    A frame is what Session.submit() takes. It is not copied, and a reference to it is kept for as long as this, and the sessions that use it,
    are open; frames whose samples are interleaved or shifted (nv12, p010) are converted when they are added, and not kept.

    - `budget`: how many bytes the frames may take; default 2 GiB
    - `planes`: which planes are kept, as a sum of 1 (Y), 2 (U) and 4 (V); default all. The VMAF models v0.6 read luma alone.
    - `copy`: whether all frames are copied, and none kept as it is: for frames whose memory is used again
    - `device_budget`: how many bytes of each GPU's memory they may take besides; default none. The first session on a GPU leaves copies there, and
      later ones do not upload the frames again.

    len() is the number of frames. They may be added while sessions in other threads score those that are there. Leaving `with` closes the
    reference; sessions that use it go on. Raises what add() does.
    """

    def __init__(self, frames: Iterable[Frame] = (), *, budget: int = 0, planes: int = 0, copy: bool = False, device_budget: int = 0) -> None:
        self._lock = threading.RLock()
        self._errors: list[str] = []  # what the log said
        self._cookie = ffi.new_handle(self._errors)
        self._params = ffi.new("VmafxReferenceParams *", {"budget": budget, "planes": planes, "copy": copy, "device_budget": device_budget})
        self._params.log, self._params.log_cookie = log_callback, self._cookie
        self._out = ffi.new("VmafxReference **")
        self._format: Format | None = None
        self._closed = False
        self._finalizer = weakref.finalize(self, _close, self._out)
        for frame in frames:
            self.add(frame)

    def __enter__(self) -> "Reference":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the frames back, unless sessions still use them. It may be called again."""
        with self._lock:
            self._closed = True
            self._finalizer()

    def add(self, frame: Frame) -> None:
        """Adds the next frame. What fails leaves the frames that are there as they are.

        Raises Error (ENOMEM: the budget is spent; EINVAL: it is not like the frames before), TypeError and ValueError for what is no picture.
        """
        picture = picture_of(frame)
        with self._lock:
            self._open_once(picture)
            out = ffi.new("VmafxPicture *")
            lend(out, picture)
            code = library().vmafx_reference_add(self._out[0], out)
            if code < 0:
                raise Error(-code, text_of(library().vmafx_reference_last_error(self._out[0])))

    def _open_once(self, picture: Picture) -> None:
        if self._closed:
            raise Error(errno.EBADF, "the reference is closed")
        if self._format is None:
            format = ffi.new("VmafxFormat *")
            fill_format(format, picture)
            code = library().vmafx_reference_open(self._out, format, self._params)
            if code < 0:
                raise Error(-code, self._errors[-1] if self._errors else os.strerror(-code))
            self._format = picture.format
        if picture.format != self._format:
            raise Error(errno.EINVAL, f"the reference input changed from {self._format} to {picture.format}")

    @property
    def pointer(self) -> Any:
        """The VmafxReference, for Session."""
        if self._closed:
            raise Error(errno.EBADF, "the reference is closed")
        if not self._out[0]:
            raise Error(errno.EINVAL, "the reference has no frames")
        return self._out[0]

    def __len__(self) -> int:
        return int(library().vmafx_reference_frames(self._out[0]))

    @property
    def nbytes(self) -> int:
        """How many bytes of the budget the frames take."""
        return int(library().vmafx_reference_bytes(self._out[0]))

    @property
    def device_nbytes(self) -> int:
        """How many bytes of GPUs' memory they take."""
        return int(library().vmafx_reference_device_bytes(self._out[0]))

    @property
    def format(self) -> Format | None:
        """That of the frames; None: there are none yet."""
        return self._format


def _close(out: Any) -> None:
    library().vmafx_reference_close(out)
