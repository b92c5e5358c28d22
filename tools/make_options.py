#!/usr/bin/python3
"""Makes the table of options in docs/python.md, as the library tells them.

usage: VMAFX_LIBRARY=build/.libs tools/make_options.py [--check]

  --check  writes nothing; exits 1 when the table is not what the library tells

The table stands between `<!-- options -->` and `<!-- end -->`. Needs Debian's python3-cffi.
"""

import argparse
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGE = TOP / "docs/python.md"
BEGIN, END = "<!-- options -->\n", "<!-- end -->"

sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "python"))
from vmafx._options import argument, options

LARGEST = 2**31 - 1


def values(option):
    if option.type == "text":
        return "text"
    return f"{option.least} or more" if option.most == LARGEST else f"{option.least} to {option.most}"


def row(name, option):
    default = "" if option.default is None else f"`{option.default}`"
    return f"| `{argument(name)}` | {values(option)} | {default} | {option.help} |".replace("|-sep", r"\|-sep")


def table():
    head = ["| option | values | default | |", "| --- | --- | --- | --- |"]
    return "\n".join(head + [row(name, option) for name, option in options().items()]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the table would change")
    arguments = parser.parse_args()
    before, _, rest = PAGE.read_text().partition(BEGIN)
    old, _, after = rest.partition(END)
    if not after:
        sys.exit(f"make_options.py: {PAGE.name} has no place for the table")
    if not arguments.check:
        PAGE.write_text(before + BEGIN + table() + END + after)
    elif table() != old:
        sys.exit(f"the table of options in {PAGE.relative_to(TOP)} is not what the library tells: run {sys.argv[0]}")


main()
