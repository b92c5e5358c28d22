"""Lists the built-in models and the feature extractors of the library."""

from collections.abc import Callable
from typing import Any

from ._library import library, text_of


def models() -> list[str]:
    """Returns the names of the built-in models: "vmaf_v0.6.1" for model="version=vmaf_v0.6.1"."""
    return _names(library().vmafx_builtin_model)


def extractors() -> list[str]:
    """Returns the names of the feature extractors: "psnr" for feature="name=psnr"."""
    return _names(library().vmafx_extractor)


def _names(nth: Callable[[int], Any]) -> list[str]:
    names: list[str] = []
    while name := nth(len(names)):
        names.append(text_of(name))
    return names
