"""vmafx: VMAF and the metrics around it, on the CPU and on the GPU.

    print(vmafx.score("reference.mp4", "distorted.mp4").models["vmaf"])

Session scores frames that a program has: NumPy arrays and PyAV's frames. docs/python.md of the sources has examples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._header import version as __version__

if TYPE_CHECKING:
    from ._discovery import extractors, models
    from ._files import FileScores, score
    from ._library import Error, version
    from ._pictures import Color, Format, Frame, Picture
    from ._kept_reference import KeptReference
    from ._options import Option, OptionInfo, options
    from ._pooling import pool
    from ._session import Finding, FrameScores, Map, Scores, Session, Window

__all__ = [
    "Color",
    "Error",
    "FileScores",
    "Finding",
    "Format",
    "Frame",
    "FrameScores",
    "Map",
    "Option",
    "OptionInfo",
    "Picture",
    "KeptReference",
    "Scores",
    "Session",
    "Window",
    "extractors",
    "models",
    "options",
    "pool",
    "score",
    "version",
]


def __getattr__(name: str) -> Any:
    """Imports a name of the module at its first use: the command `vmafx` runs without cffi and NumPy, which all of
    these names need.
    """
    if name in __all__:
        places = "_discovery", "_options", "_files", "_library", "_pictures", "_pooling", "_kept_reference", "_session"
        for place in places:
            module = import_module(f".{place}", __name__)
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
