"""Scales pictures to the size at which a model scores them, as FFmpeg's scaler does by default: bicubic."""

from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from .._pictures import Array, Color, Format, Picture


class LumaScaler:
    """Scales luma planes of one format. Threads need one each."""

    def __init__(self, format: Format, size: tuple[int, int]) -> None:
        """`size` is columns and rows. The samples of `format` are not shifted."""
        self._size, self._format = size, format
        self._source = av.VideoFrame(
            format.width, format.height, "gray" if format.bits == 8 else f"gray{format.bits}le"
        )
        self._reformatter = VideoReformatter()

    def scaled(self, luma: Array) -> Array:
        """Returns a plane of rows x columns samples, scaled."""
        luma_of(self._source, self._format)[:] = luma
        return luma_of(self._reformatter.reformat(self._source, *self._size, interpolation="BICUBIC"), self._format)


def luma_of(frame: Any, format: Format) -> Array:
    """Returns the luma of a frame, without a copy. `format` is that of its samples."""
    plane, kind = frame.planes[0], sample_type(format)
    rows = np.frombuffer(plane, kind).reshape(-1, plane.line_size // kind.itemsize)
    return rows[: frame.height, : frame.width]


def luma_picture(luma: Array, format: Format, color: Color) -> Picture:
    """Returns a picture of luma alone. `format` is that of its samples."""
    return Picture(luma, bits=None if format.bits == 8 else format.bits, shift=format.shift, color=color)


def sample_type(format: Format) -> "np.dtype[Any]":
    return np.dtype("u1" if format.bits == 8 else "<u2")
