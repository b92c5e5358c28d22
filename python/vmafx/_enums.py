"""The names of the library's enumerators, which reports write in lower case."""

import functools
import os

from ._library import ffi


@functools.cache
def names_of(enum: str) -> dict[int, str]:
    """Returns the names by their values, in order, without what all of them begin with: {0: "low", 1: "high"}."""
    elements: dict[int, str] = ffi.typeof(f"enum {enum}").elements
    common = os.path.commonprefix(list(elements.values())).rpartition("_")[0]
    return {value: name[len(common) + 1 :].lower() for value, name in sorted(elements.items())}


@functools.cache
def values_of(enum: str) -> dict[str, int]:
    return {name: value for value, name in names_of(enum).items()}
