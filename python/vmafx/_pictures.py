"""Turns NumPy arrays and PyAV frames into pictures that the library reads, without a copy where possible."""

import itertools
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ._calls import called
from ._library import LASTING, ffi

if TYPE_CHECKING:
    import av

Array: TypeAlias = npt.NDArray[Any]

_CHROMAS: dict[str, int] = {"400": 0, "420": 1, "422": 2, "444": 3}  # enum VmafxChroma
_PLANAR, _SEMIPLANAR = 0, 1  # enum VmafxLayout


class Color(NamedTuple):
    """The colors that samples stand for, in the numbers of ITU-T H.273 and of FFmpeg; 0: not known.

    Few metrics look at it.
    """

    matrix: int = 0
    range: int = 0
    """1 limited, 2 full"""
    transfer: int = 0
    primaries: int = 0
    chroma_location: int = 0


class Format(NamedTuple):
    """The format that all pictures of an input share; its fields are those of VmafxFormat."""

    width: int
    height: int
    chroma: int
    bits: int
    layout: int
    shift: int

    def __str__(self) -> str:
        chroma = next(name for name, number in _CHROMAS.items() if number == self.chroma)
        layout = ", semi-planar" if self.layout == _SEMIPLANAR else ""
        return (
            f"{self.width}x{self.height}, {chroma}, {self.bits} "
            f"bits{layout}{f', shifted by {self.shift}' if self.shift else ''}"
        )


class Picture:
    """One picture of either input.

    `planes` are arrays of uint8, or of uint16 for more than 8 bits:

    - one plane of shape (height, width): luma only. It needs no list around it.
    - three planes: Y, U and V, the last two (height / 2, width / 2) in 4:2:0, (height, width / 2) in 4:2:2, rounded up,
      and (height, width) in 4:4:4
    - two planes: Y, then U and V interleaved as in nv12, of shape (rows, columns, 2) or (rows, 2 * columns)

    Other arguments:

    - `bits`: how many bits of a uint16 are significant, 9 to 16; required for uint16
    - `shift`: how many bits the samples are shifted to the left: 6 for p010
    - `time`: the time of the picture in the stream, in seconds
    - `keyframe`: whether a window of window="keyframe" begins here
    - `color`: see Color; the color of an input's first picture counts for all

    The samples are not copied if the rows are contiguous; a row may be followed by padding, and rows may be in reverse
    order. The arrays must not be changed once the picture was submitted; a reference to them is kept for as long as the
    library reads them. Raises TypeError and ValueError.
    """

    __slots__ = ("format", "color", "time", "keyframe", "_planes", "_owner")

    def __init__(
        self,
        planes: Array | Sequence[Array],
        *,
        bits: int | None = None,
        shift: int = 0,
        time: float | None = None,
        keyframe: bool = False,
        color: Color = Color(),
    ) -> None:
        rows = [_rows(plane) for plane in ([planes] if isinstance(planes, np.ndarray) else planes)]
        self.format = _format_of(rows, bits, shift)
        self.color, self.time, self.keyframe = color, time, keyframe
        self._planes = [(plane.__array_interface__["data"][0], plane.strides[0]) for plane in rows]
        self._owner: object = rows

    @classmethod
    def from_frame(
        cls,
        frame: "av.VideoFrame",
        *,
        time: float | None = None,
        keyframe: bool | None = None,
        color: Color | None = None,
    ) -> "Picture":
        """Returns the picture of a PyAV frame, without a copy: yuv420p, yuv422p, yuv444p and gray (8 to 16 bits),
        yuvj…, nv12, nv16, nv24, p010, p210, p410 and the like. Arguments left out are taken from the frame; PyAV before
        11 does not tell a frame's color. Raises ValueError.
        """
        self = cls.__new__(cls)
        self.format = _format_named(frame.format.name, frame.width, frame.height)
        self.color = _color_of(frame) if color is None else color
        self.time = time_of(frame) if time is None else time
        self.keyframe = bool(frame.key_frame) if keyframe is None else keyframe
        self._planes = [(plane.buffer_ptr, plane.line_size) for plane in frame.planes]
        self._owner = frame
        return self


Frame: TypeAlias = "Picture | Array | Sequence[Array] | av.VideoFrame"
"""A frame as Session.submit() takes it."""


def picture_of(frame: Frame) -> Picture:
    if isinstance(frame, Picture):
        return frame
    if hasattr(frame, "planes"):
        return Picture.from_frame(frame)
    return Picture(frame)


# -- From arrays -------------------------------------------------------------------------------------------------------


def _rows(plane: Array) -> Array:
    """Returns the plane as an array of two dimensions with adjacent samples; a copy only if it must be."""
    if not isinstance(plane, np.ndarray) or plane.dtype.kind != "u" or plane.itemsize > 2:
        raise TypeError(f"a plane is an array of uint8 or uint16, not {getattr(plane, 'dtype', type(plane).__name__)}")
    if plane.ndim == 3 and plane.shape[2] == 2:
        plane = plane.reshape(plane.shape[0], -1)
    if plane.ndim != 2 or 0 in plane.shape:
        raise ValueError(
            f"a plane has the shape (rows, columns), or (rows, columns, 2) for U and V interleaved, not {plane.shape}"
        )
    readable = plane.strides[1] == plane.itemsize and plane.flags.aligned and plane.dtype.isnative
    return plane if readable else np.array(plane, dtype=plane.dtype.newbyteorder("="), order="C")


def _format_of(rows: Sequence[Array], bits: int | None, shift: int) -> Format:
    if not 1 <= len(rows) <= 3 or len({plane.dtype for plane in rows}) != 1:
        raise ValueError("a picture has one, two or three planes of one type: give uint8 or uint16 for all of them")
    height, width = rows[0].shape
    return Format(
        width, height, _chroma_of(rows), _bits_of(rows[0], bits), _SEMIPLANAR if len(rows) == 2 else _PLANAR, shift
    )


def _chroma_of(rows: Sequence[Array]) -> int:
    if len(rows) == 1:
        return _CHROMAS["400"]
    height, width = rows[0].shape
    for name, divisor_y, divisor_x in (("420", 2, 2), ("422", 1, 2), ("444", 1, 1)):
        chroma_height, chroma_width = -(-height // divisor_y), -(-width // divisor_x)
        shape = chroma_height, chroma_width * (2 if len(rows) == 2 else 1)
        if all(plane.shape == shape for plane in rows[1:]):
            return _CHROMAS[name]
    raise ValueError(f"planes of shapes {', '.join(str(plane.shape) for plane in rows)} are not 4:2:0, 4:2:2 or 4:4:4")


def _bits_of(plane: Array, bits: int | None) -> int:
    if plane.itemsize == 1:
        if bits not in (None, 8):
            raise ValueError(f"samples of {bits} bits are uint16, not uint8")
        return 8
    if bits is None or not 9 <= bits <= 16:
        raise ValueError("uint16 needs the number of significant bits, 9 to 16: vmafx.Picture(planes, bits=10)")
    return bits


# -- From PyAV's frames ------------------------------------------------------------------------------------------------

_ENDIAN = "le" if sys.byteorder == "little" else "be"
_PLANAR_NAME = re.compile(rf"(?:yuvj?(420|422|444)p|gray)(?:(9|10|12|14|16){_ENDIAN})?")
_SEMIPLANAR_NAME = re.compile(rf"nv(12|16|24)|p([024])(10|12|16){_ENDIAN}")
_SEMIPLANAR_CHROMAS = {"12": "420", "16": "422", "24": "444", "0": "420", "2": "422", "4": "444"}


def _format_named(name: str, width: int, height: int) -> Format:
    """Returns the format that has this name in FFmpeg."""
    if found := _PLANAR_NAME.fullmatch(name):
        chroma, bits = found.groups()
        return Format(width, height, _CHROMAS[chroma or "400"], int(bits or 8), _PLANAR, 0)
    if found := _SEMIPLANAR_NAME.fullmatch(name):
        kind, word_kind, word_bits = found.groups()
        bits = int(word_bits or 8)
        shift = 16 - bits if word_bits else 0
        return Format(width, height, _CHROMAS[_SEMIPLANAR_CHROMAS[kind or word_kind]], bits, _SEMIPLANAR, shift)
    raise ValueError(
        f'vmafx cannot score the format {name}: convert the frame, as with frame.reformat(format="yuv444p")'
    )


def time_of(frame: "av.VideoFrame") -> float | None:
    """Returns the time of a frame in seconds; `frame.time` divides by zero if the time base is not known."""
    return None if frame.pts is None or not frame.time_base else float(frame.pts * frame.time_base)


def _color_of(frame: "av.VideoFrame") -> Color:
    full = 2 if frame.format.name.startswith("yuvj") else 0
    names = "colorspace", "color_range", "color_trc", "color_primaries"
    matrix, range_, transfer, primaries = (int(getattr(frame, name, None) or 0) for name in names)
    return Color(matrix, range_ or full, transfer, primaries)


# -- To the library ----------------------------------------------------------------------------------------------------

_held: dict[Any, object] = {}  # the owners of samples, by the `opaque` of their pictures
_numbers = itertools.count(1)

# The callback is a method in C: Ctrl-C could raise before the first line of a Python function, and keep the picture.
_release_callback = ffi.callback("void(void *)", _held.__delitem__)

LASTING.extend([_held, _release_callback])


def fill_format(out: Any, picture: Picture, fps: float = 0) -> None:
    """Writes the format of a picture to a VmafxFormat."""
    out.fps = fps
    for name, value in picture.format._asdict().items():
        setattr(out, name, value)
    for name, value in picture.color._asdict().items():
        setattr(out.color, name, value)
    out.drm_fd = -1
    out.whole_chroma = 1


def lend(out: Any, picture: Picture) -> None:
    """Writes a picture to a VmafxPicture. Its samples stay alive until the library releases them: see Loan."""
    for i, (address, stride) in enumerate(picture._planes):
        out.data[i] = ffi.cast("const uint8_t *", address)
        out.stride[i] = stride
    if picture.time is not None:
        out.has_time, out.time = 1, picture.time
    out.keyframe = picture.keyframe
    out.release, out.opaque = _release_callback, ffi.cast("void *", next(_numbers))
    _held[out.opaque] = picture._owner


class Loan:
    """Pictures for one call of the library, which releases each of them, whether the call succeeds or fails:

        with Loan() as loan:
            code = loan.call(function, …, loan.lend(picture))

    If the call was not made, for whatever reason, the loan takes the pictures back.
    """

    def __init__(self) -> None:
        self.codes: list[int] = []
        self._outs: list[Any] = []

    def __enter__(self) -> "Loan":
        return self

    def __exit__(self, *_: object) -> None:
        if not self.codes:
            for out in self._outs:
                _held.pop(out.opaque, None)

    def lend(self, picture: Picture) -> Any:
        """Returns the picture as a VmafxPicture that is valid until the loan ends."""
        self._outs.append(ffi.new("VmafxPicture *"))
        lend(self._outs[-1], picture)
        return self._outs[-1]

    def call(self, function: Any, *arguments: Any) -> int:
        return called(self.codes, function, *arguments)
