#!/usr/bin/env python3
"""Makes the tables in docs/performance.md of what bench/bench measured.

usage: tools/make_tables.py [--check]

  --check  writes nothing; exits 1 when a table is not what its file says

A table stands between `<!-- KIND of FILE -->` and `<!-- end -->`. FILE, in bench/results, is what `bench/bench --json` wrote. KIND is
`peer`, each row beside the peer's with the same instruction sets and at its best, or `threads`, each row with 1, 2, … threads.
"""

import argparse
import itertools
import json
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGE, RESULTS = TOP / "docs/performance.md", TOP / "bench/results"


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def digits(ms):
    return f"{ms:.3g}"


def peer(rows):
    """A row for each line of JSON."""
    head = ["", "bits", "instruction set", "vmafx, ms", "libvmaf with the same, ms", "ratio", "libvmaf at its best, ms", "ratio"]
    return table(head, [[row["row"], str(row["bits"]), row["cpu"], digits(row["fastest"]),
                         digits(row["peer"]), f"{row['peer'] / row['fastest']:.1f}",
                         digits(row["peer_best"]), f"{row['peer_best'] / row['fastest']:.1f}"] for row in rows])


def threads(rows):
    """A row for all lines that differ in the number of threads only; what was not measured stays empty."""
    counts = sorted({row["threads"] for row in rows})

    def cell(times, count):
        if count not in times:
            return ""
        return digits(times[count]) + (f" ({times[1] / times[count]:.1f})" if count > 1 and 1 in times else "")

    made = []
    for (name, width, height, bits), group in itertools.groupby(rows, lambda row: (row["row"], row["width"], row["height"], row["bits"])):
        times = {row["threads"]: row["fastest"] for row in group}
        made.append([name, f"{width}x{height}", str(bits), *(cell(times, count) for count in counts)])
    return table(["", "size", "bits", *(f"{count} thread{'s'[:count > 1]}" for count in counts)], made)


def caption(rows):
    """Where and when it was measured, and of which commit."""
    def all_of(key):
        return ", ".join(sorted({str(row[key]) for row in rows}))
    return f"{all_of('processor')}, {all_of('date')}, vmafx {all_of('version')}, {all_of('clock')} time, the fastest runs:"


def made_of(kind, name):
    rows = [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]
    bad = [row["row"] for row in rows if not row["good"]]
    if bad:
        sys.exit(f"make_tables.py: {name}: the scores of {', '.join(bad)} were wrong in that run: measure again")
    return caption(rows) + "\n\n" + {"peer": peer, "threads": threads}[kind](rows)


def remade(text):
    text, count = re.subn(r"(<!-- (peer|threads) of (\S+) -->\n).*?(<!-- end -->)",
                          lambda found: found[1] + "\n" + made_of(found[2], found[3]) + "\n\n" + found[4], text, flags=re.S)
    if not count:
        sys.exit(f"make_tables.py: no table in {PAGE.name}")
    return text


def main():
    parser = argparse.ArgumentParser(description="Makes the tables in docs/performance.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    old = PAGE.read_text()
    new = remade(old)
    if not check:
        PAGE.write_text(new)
    elif new != old:
        sys.exit("a table in docs/performance.md is not what was measured: run tools/make_tables.py")


if __name__ == "__main__":
    main()
