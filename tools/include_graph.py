#!/usr/bin/env python3
"""Which folders of src/ include which: prints a line per folder, from the ground up, or the circles.

usage: include_graph.py

Exits 1 when folders include each other, in a circle of any length, and names the files that make it.
"""

import re
import sys
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


def circles(folders):
    """Sets of folders that reach each other: Tarjan's strongly connected components of more than one folder."""
    number, low, stack, found = {}, {}, [], []

    def visit(folder):
        number[folder] = low[folder] = len(number)
        stack.append(folder)
        for other in folders[folder]:
            if other not in number:
                visit(other)
                low[folder] = min(low[folder], low[other])
            elif other in stack:
                low[folder] = min(low[folder], number[other])
        if low[folder] != number[folder]:
            return
        component = []
        while not component or component[-1] != folder:
            component.append(stack.pop())
        if len(component) > 1:
            found.append(sorted(component))

    for folder in folders:
        if folder not in number:
            visit(folder)
    return found


def floors(folders):
    """The folders in an order in which each includes only those before it."""
    order, rest = [], dict(folders)
    while rest:
        ready = sorted(folder for folder, below in rest.items() if not set(below) & set(rest))
        order += ready
        for folder in ready:
            del rest[folder]
    return order


def sentences(component, folders):
    """A line for each include that takes part in a circle."""
    return [
        f"src/{file} includes src/{other}"
        for folder in component
        for below, pairs in folders[folder].items()
        if below in component
        for file, other in pairs
    ]


def main():
    folders = graph(TOP / "src")
    found = circles(folders)
    for component in found:
        print("a circle of " + ", ".join(f"src/{folder}" for folder in component))
        print("\n".join("    " + line for line in sentences(component, folders)))
    if found:
        return 1
    for folder in floors(folders):
        print(f"src/{folder}: " + (", ".join(sorted(folders[folder])) or "-"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
