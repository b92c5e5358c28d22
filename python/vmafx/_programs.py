"""Runs what a wheel has beside the module: vmafx-ffmpeg, vmafx-ffprobe and vmafx-selftest."""

import sys

from . import _system
from ._places import PACKED


def ffmpeg() -> None:
    _become(str(PACKED / f"bin/ffmpeg{_system.PROGRAM_ENDING}"))


def ffprobe() -> None:
    _become(str(PACKED / f"bin/ffprobe{_system.PROGRAM_ENDING}"))


def selftest() -> None:
    _become(sys.executable, str(PACKED / "lib/vmafx/selftest/selftest.py"), str(PACKED))


def _become(program: str, *words: str) -> None:
    try:
        _system.become(program, [*words, *sys.argv[1:]])
    except OSError as failure:
        sys.exit(f"vmafx: cannot run {program}: {failure.strerror}; install the wheel of vmafx again")
