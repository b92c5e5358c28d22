#!/usr/bin/env python3
"""Writes the golden files with one line per frame, and one per pooled key; numbers keep their digits.

usage: tests/golden/format.py [--check] [FILE ...]

  FILE     a file of scores (default: all in this folder)
  --check  writes nothing; exits 1 when a file has other lines
"""

import argparse
import json
import sys
from pathlib import Path


class Digits(float):
    """A number that is written as it was read."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self):
        return self.text


def line(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(line, value)) + "]"
    return repr(value) if isinstance(value, Digits) else json.dumps(value)


def lines(value, depth):
    """The value with one line for each thing that lies `depth` levels below it."""
    if not depth or not value or not isinstance(value, (dict, list)):
        return line(value)
    if isinstance(value, list):
        return "[\n" + ",\n".join(lines(item, depth - 1) for item in value) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {lines(item, depth - 1)}" for key, item in value.items()) + "\n}"


def formatted(text):
    scores = json.loads(text, parse_float=Digits, parse_int=Digits)
    # Frames and pooled keys lie in parts, which lie in features or models, which lie in the file.
    parts = (
        f"{json.dumps(key)}: {lines(value, 0 if key in ('make_clip', 'sha256') else 3)}"
        for key, value in scores.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description="Writes the golden files with one line per frame.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    for file in arguments.files or sorted(Path(__file__).resolve().parent.glob("*.json")):
        old = file.read_text()
        new = formatted(old)
        if not arguments.check:
            file.write_text(new)
        elif new != old:
            sys.exit(f"{file} has other lines than tests/golden/format.py writes: run it")


if __name__ == "__main__":
    main()
