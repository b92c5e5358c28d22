"""Finds the library."""

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _system

NAME = _system.LIBRARY

PACKED = Path(__file__).resolve().parent / "_packed"
"""A wheel's files beside the module: ffmpeg, ffprobe and the libraries, as in an installed prefix."""

_programs: list[str] = []


def look_beside(ffmpeg: str) -> None:
    """Prefers the library of this ffmpeg to all others but that of VMAFX_LIBRARY, if none was loaded yet."""
    if ffmpeg not in _programs:
        _programs.insert(0, ffmpeg)


def places() -> list[str]:
    """Lists where the library may be, in order. A name without a path is for the loader of libraries."""
    named = os.environ.get("VMAFX_LIBRARY")
    if named:
        return [os.path.join(named, NAME) if os.path.isdir(named) else named]
    own = Path(__file__).resolve().parent.parent.parent  # PREFIX/lib/vmafx of an installation, or the sources
    of_module = [own / NAME, own / "build/.libs" / NAME, own / "build/lib/vmafx" / NAME]
    if PACKED.is_dir():
        of_module = [PACKED / _system.LIBRARY_FOLDER / NAME]
    names = os.environ.get("VMAFX_FFMPEG"), "ffmpeg", "vmafx-ffmpeg"
    programs = [path for name in names if name and (path := shutil.which(name))]
    started = [path for path in getattr(sys, "argv", [])[:1] if os.path.isfile(path)]
    places = *map(_beside, _programs), *of_module, *map(_beside, (*started, *programs)), NAME
    return list(dict.fromkeys(map(str, places)))


def _beside(program: str) -> Path:
    """The library that belongs to PREFIX/bin/PROGRAM or build/bin/ffmpeg; on Windows it is in the program's folder."""
    return Path(os.path.normpath(Path(program).resolve().parent / _system.LIBRARY_FROM_PROGRAM)) / NAME


def opened(place: str, load: Callable[[str], Any], lasting: list[object]) -> Any:
    """Loads a library by ffi.dlopen() or ctypes.CDLL(), and before it those that it needs, where they are beside it, as
    in a bundle; `lasting` gets them. Raises OSError.
    """
    looked_for = set()
    while True:
        try:
            return load(place)
        except OSError as failure:
            needed = re.search(r"(lib[^\s/:']+): (?:cannot open|version )", str(failure))
            folders = [Path(place).parent, Path(place).parent / "gcc"]  # the latter has the compiler's libraries
            there = [path for folder in folders if needed and (path := folder / needed[1]).exists()]
            if not there or there[0] in looked_for:
                raise
            looked_for.add(there[0])
            lasting.append(opened(str(there[0]), load, lasting))


def reason_of(failure: OSError) -> str:
    """The loader's words, without those of cffi around them."""
    return re.sub(r"^cannot load library '?.*?'?: |\.  (?:Additionally|Also), .*", "", str(failure), flags=re.S)
