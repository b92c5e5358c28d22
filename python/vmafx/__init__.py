"""vmafx: VMAF and the metrics around it, on the CPU and on the GPU.

    print(vmafx.score("reference.mp4", "distorted.mp4").models["vmaf"])

Session scores frames that a program has: NumPy arrays and PyAV's frames. docs/python.md of the sources has examples.
"""

from ._discovery import extractors, models
from ._files import FileScores, score
from ._library import Error, header_version, version
from ._pictures import Color, Format, Frame, Picture
from ._reference import Reference
from ._session import FrameScores, Option, OptionInfo, Scores, Session, Window, options

__version__ = header_version

__all__ = [
    "Color",
    "Error",
    "FileScores",
    "Format",
    "Frame",
    "FrameScores",
    "Option",
    "OptionInfo",
    "Picture",
    "Reference",
    "Scores",
    "Session",
    "Window",
    "extractors",
    "models",
    "options",
    "score",
    "version",
]
