"""Runs what a wheel has beside the module: vmafx-ffmpeg, vmafx-ffprobe and vmafx-selftest."""

import os
import sys

from ._places import PACKED


def ffmpeg() -> None:
    _become(str(PACKED / "bin/ffmpeg"))


def ffprobe() -> None:
    _become(str(PACKED / "bin/ffprobe"))


def selftest() -> None:
    _become(sys.executable, str(PACKED / "lib/vmafx/selftest/selftest.py"), str(PACKED))


def _become(program: str, *words: str) -> None:
    try:
        os.execv(program, [program, *words, *sys.argv[1:]])
    except OSError as failure:
        sys.exit(f"vmafx: cannot run {program}: {failure.strerror}; install the wheel of vmafx again")
