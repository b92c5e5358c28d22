#!/usr/bin/env python3
"""Which folders of src/ include which: prints a line per folder, from the ground up, or a circle.

usage: include_graph.py

Exits 1 when folders include each other, in a circle of any length, and names the files that make it.
"""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
ENDINGS = (".c", ".cpp", ".h", ".hip")


def includes(path, src):
    """The files of src/ that a file includes, relative to it."""
    named = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)
    return [Path(name) for name in named if (src / name).is_file()]


def graph(src):
    """{folder: {included folder: [(file, included file), ...]}}, with every folder that has sources."""
    folders = {}
    for path in sorted(src.rglob("*")):
        if path.suffix not in ENDINGS:
            continue
        name = path.relative_to(src)
        below = folders.setdefault(str(name.parent), {})
        for other in includes(path, src):
            if other.parent != name.parent:
                below.setdefault(str(other.parent), []).append((str(name), str(other)))
    return folders


def ordered(folders):
    """The folders in an order in which each includes only those before it. Raises CycleError."""
    sorter = TopologicalSorter({folder: set(below) for folder, below in folders.items()})
    sorter.prepare()
    order = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return order


def sentences(circle, folders):
    """A line for each include that makes a circle: folders, each of which the next one includes; the first is last."""
    return [
        f"src/{file} includes src/{other}"
        for below, folder in zip(circle, circle[1:])
        for file, other in folders[folder][below]
    ]


def main():
    folders = graph(TOP / "src")
    try:
        order = ordered(folders)
    except CycleError as found:
        circle = found.args[1]
        print("a circle of " + ", ".join(f"src/{folder}" for folder in circle[1:]))
        print("\n".join("    " + line for line in sentences(circle, folders)))
        return 1
    for folder in order:
        print(f"src/{folder}: " + (", ".join(sorted(folders[folder])) or "-"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
