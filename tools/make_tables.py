#!/usr/bin/env python3
"""Makes the tables in docs/performance.md, and the speeds in README.md, from the results of bench/bench.

usage: tools/make_tables.py [--check]

  --check  writes nothing; exits 1 when a table is not what its file says

A table stands between `<!-- KIND of FILE -->` and `<!-- end -->`. FILE, in bench/results, is the output of
`bench/bench --json`, or for the last KIND of `bench/files.py --json`:

  peer     each row beside the peer's with the same instruction sets, and the peer's at its best
  metrics  each row beside the peer's at its best
  threads  each row with 1, 2, … threads
  files    a row for each graph, decoding alone first

README.md's table of metrics gets the speed of each metric that a file of the kind `metrics` has.
"""

import argparse
import itertools
import json
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGE, README, RESULTS = TOP / "docs/performance.md", TOP / "README.md", TOP / "bench/results"
MARK = re.compile(r"(<!-- (peer|metrics|threads|files) of (\S+) -->\n).*?(<!-- end -->)", re.S)


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def digits(ms):
    return f"{ms:.3g}"


def peer(rows):
    """Makes a row for each line of JSON."""
    head = [
        "",
        "bits",
        "instruction set",
        "vmafx, ms",
        "libvmaf with the same, ms",
        "ratio",
        "libvmaf at its best, ms",
        "ratio",
    ]
    return table(
        head,
        [
            [
                row["row"],
                str(row["bits"]),
                row["cpu"],
                digits(row["fastest"]),
                digits(row["peer"]),
                f"{row['peer'] / row['fastest']:.1f}",
                digits(row["peer_best"]),
                f"{row['peer_best'] / row['fastest']:.1f}",
            ]
            for row in rows
        ],
    )


def speed(row):
    return f"{row['peer_best'] / row['fastest']:.2g}"


def metrics(rows):
    """Makes a row for each line of JSON, all of one instruction set."""
    return table(
        ["", "vmafx, ms", "libvmaf at its best, ms", "ratio"],
        [[row["row"], digits(row["fastest"]), digits(row["peer_best"]), speed(row)] for row in rows],
    )


def threads(rows):
    """Makes a row for all lines that differ only in the number of threads; missing measurements stay empty."""
    counts = sorted({row["threads"] for row in rows})

    def cell(times, count):
        if count not in times:
            return ""
        return digits(times[count]) + (f" ({times[1] / times[count]:.1f})" if count > 1 and 1 in times else "")

    made = []
    for (name, width, height, bits), group in itertools.groupby(
        rows, lambda row: (row["row"], row["width"], row["height"], row["bits"])
    ):
        times = {row["threads"]: row["fastest"] for row in group}
        made.append([name, f"{width}x{height}", str(bits), *(cell(times, count) for count in counts)])
    return table(["", "size", "bits", *(f"{count} thread{'s'[:count > 1]}" for count in counts)], made)


def files(rows):
    """Makes a row for each graph, with the cost that is left of it without the decoding."""
    decoding = rows[0]

    def left(row, key):
        return "" if row is decoding else f"{row[key] - decoding[key]:.2f}"

    return table(
        ["", "wall time, s", "processor time, s", "without decoding: wall, s", "processor, s", ""],
        [
            [
                f"`{row['graph']}`" if row["score"] else row["graph"],
                f"{row['wall_s']:.2f}",
                f"{row['cpu_s']:.2f}",
                left(row, "wall_s"),
                left(row, "cpu_s"),
                row["score"],
            ]
            for row in rows
        ],
    )


def caption(rows):
    """Returns when and where the rows were measured, and of which commit."""

    def all_of(key):
        return ", ".join(sorted({str(row[key]) for row in rows}))

    return (
        f"{all_of('processor')}, {all_of('date')}, vmafx {all_of('version')}, {all_of('clock')} time, the fastest runs:"
    )


def made_of(kind, name):
    rows = lines_of(name)
    made = {"peer": peer, "metrics": metrics, "threads": threads, "files": files}[kind](rows)
    return made if kind == "files" else f"{caption(rows)}\n\n{made}"


def lines_of(name):
    rows = [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]
    bad = [row["row"] for row in rows if not row.get("good", True)]
    if bad:
        sys.exit(f"make_tables.py: {name}: the scores of {', '.join(bad)} were wrong in that run: measure again")
    return rows


def with_tables(text):
    text, count = MARK.subn(lambda found: f"{found[1]}\n{made_of(found[2], found[3])}\n\n{found[4]}", text)
    if not count:
        sys.exit(f"make_tables.py: cannot find a table in {PAGE.name}")
    return text


def with_speeds(text):
    """Returns README.md with the speeds in rows `| `metric` | what it measures | agreement | speed |`."""
    measured = [row for found in MARK.finditer(PAGE.read_text()) if found[2] == "metrics" for row in lines_of(found[3])]
    for row in measured:
        text, count = re.subn(
            rf"^(\| `{row['row']}` \|[^|\n]*\|[^|\n]*\|)[^|\n]*\|$", rf"\1 {speed(row)} |", text, flags=re.M
        )
        if count != 1:
            sys.exit(f"make_tables.py: {README.name} has no row of {row['row']}")
    return text


def main():
    parser = argparse.ArgumentParser(description="Makes the tables in docs/performance.md and the speeds in README.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    for page, remade in (PAGE, with_tables), (README, with_speeds):
        old = page.read_text()
        new = remade(old)
        if not check:
            page.write_text(new)
        elif new != old:
            sys.exit(f"a table in {page.relative_to(TOP)} is not what was measured: run tools/make_tables.py")


if __name__ == "__main__":
    main()
