#!/usr/bin/env python3
"""Tells quickstart which words for `vmafx score` are videos, before anything is built: tools/score_words.py WORD…

Prints each video and a NUL after it. Exit status 2: vmafx score would not take these words, and standard error says
why in one line. 3: it cannot be asked, as a library that it needs is not installed yet.
"""

import argparse
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

CANNOT_TELL = 3


class Wrong(Exception):
    """Raised for words that the parser does not take."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Wrong(message)


def videos_of(parser: Parser, words: list[str]) -> list[str]:
    """Returns the videos. Without any, the words must be right for quickstart's own clip."""
    try:
        videos: list[str] = parser.parse_args(words).videos
        return videos
    except Wrong as wrong:
        if not str(wrong).startswith("the following arguments are required"):
            raise
    parser.parse_args(["distorted", "reference", *words])
    return []


def main() -> int:
    try:
        from vmafx.command import score
    except ImportError:
        return CANNOT_TELL
    parser = Parser(add_help=False)
    score.add_arguments(parser)
    words = sys.argv[1:]
    try:
        for video in videos_of(parser, words):
            sys.stdout.buffer.write(os.fsencode(video) + b"\0")
    except Wrong as wrong:
        # A value such as -0.48 looks like an option here; vmafx score itself tells whether it is one.
        if any(re.match(r"-\.?\d", word) for word in words):
            return CANNOT_TELL
        sys.stderr.buffer.write(os.fsencode(f"{wrong}\n"))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
