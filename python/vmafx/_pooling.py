"""Pools scores by the library. ctypes calls it, as the command pools without cffi, too."""

import ctypes
import errno
import functools
import os
from array import array
from collections.abc import Sequence
from typing import Any

from ._places import opened, places

_DOUBLES = ctypes.POINTER(ctypes.c_double)


def pool(method: str, scores: Sequence[float], key: str | None = None) -> float:
    """Pools the scores of frames, in the order of the frames, as reports do.

    `method` is as the option `pool`: "mean", "min", "p5", …; `key` is the key of the score in reports: cvvdp has a mean
    of its own. Scores that are not finite are left out. The result is infinite if all scores are, and NaN if there is
    nothing to pool them to. Raises OSError (EINVAL: there is no such method; EDOM: there are no scores; ENOENT: there
    is no library).
    """
    library = found()
    if library is None:
        raise OSError(errno.ENOENT, "the library libvmafx pools scores, and was not found: set VMAFX_LIBRARY to it")
    values = array("d", scores)
    address, count = values.buffer_info()
    pooled = ctypes.c_double()
    named = None if key is None else os.fsencode(key)
    code = library.vmafx_pool_key(named, method.encode(), ctypes.cast(address, _DOUBLES), count, ctypes.byref(pooled))
    if code == -errno.EINVAL:
        raise OSError(errno.EINVAL, f"cannot pool by {method}: use mean, min, max, harmonic_mean, median, stddev or pN")
    if code < 0:
        raise OSError(-code, "there are no scores to pool")
    return pooled.value


@functools.cache
def found() -> Any:
    """Loads the library at the first call. None: it is not there, or it cannot pool."""
    lasting: list[object] = []
    for place in places():
        try:
            library = opened(place, ctypes.CDLL, lasting)
            function = library.vmafx_pool_key
        except (OSError, AttributeError):
            continue
        function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, _DOUBLES, ctypes.c_size_t, _DOUBLES]
        return library
    return None
