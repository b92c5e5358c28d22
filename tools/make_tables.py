#!/usr/bin/env python3
"""Makes the tables in docs/performance.md, gpu-results.md, reliability.md and tuning.md from the measurements in
bench/results.

usage: tools/make_tables.py [--check]

  --check  writes nothing; exits 1 when a table differs from its file

A table stands between `<!-- KIND of FILE… -->` and `<!-- end -->`. bench/results/README.md describes the files. KIND:

  summary  pairs a second of the two default models, a row for each processor, instruction set and number of threads
  speeds   a row for each metric beside the reference program's fastest code, the largest ratio first
  peer     a row for each model, depth and instruction set beside libvmaf with the same instruction set, and at its best
  threads  a row for each model, a column for each number of threads
  files    a row for each graph that bench/files.py measured, decoding alone first
  table    the rows of a file whose first line names their columns; a sentence where there is no such file
"""

import argparse
import itertools
import json
import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGES = [TOP / "docs" / name for name in ("performance.md", "gpu-results.md", "reliability.md", "tuning.md")]
RESULTS = TOP / "bench/results"
MARK = re.compile(r"(<!-- (\w+) of ([^>]+?) -->\n).*?(<!-- end -->)", re.S)
MODELS = "vmaf_v0.6.1", "vmaf_v1.0.16_3d0h"
WIDTH = 120


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def digits(ms):
    return f"{ms:.3g}" if ms < 1000 else f"{ms:,.0f}"


def lines_of(name):
    rows = [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]
    bad = [row["row"] for row in rows if isinstance(row, dict) and not row.get("good", True)]
    if bad:
        sys.exit(f"make_tables.py: {name}: the scores of {', '.join(bad)} were wrong in that run: measure again")
    return rows


def caption(rows, what=""):
    """Names the processor, the day and the commit of a measurement."""

    def all_of(key):
        return ", ".join(sorted({str(row[key]) for row in rows}))

    words = f"{all_of('processor')}; {all_of('date')}, vmafx {all_of('version')}. {what}"
    return textwrap.fill(words.strip(), WIDTH, break_long_words=False, break_on_hyphens=False)


def fastest(rows):
    return f"{', '.join(sorted({row['clock'] for row in rows})).capitalize()} time, the fastest runs."


def pairs_a_second(row):
    return row["frames_per_second"] if "frames_per_second" in row else 1000 / row["fastest"]


def summary(*files):
    """Makes a row for each processor, instruction set and number of threads.

    SSE4 is left out, and of several numbers of threads in a file all but the largest.
    """
    rates = {}
    for name in files:
        rows = [row for row in lines_of(name) if (row["width"], row["bits"]) == (1920, 8) and row["row"] in MODELS]
        counts = {row.get("threads", 1) for row in rows}
        for row in rows:
            threads = row.get("threads", 1)
            if row.get("cpu") == "sse4" or (len(counts) > 1 and threads != max(counts)):
                continue
            how = f"{row['cpu']}, {threads} thread{'s'[:threads > 1]}" if "cpu" in row else "frames in its memory"
            rates.setdefault((row["processor"], how), {})[row["row"]] = f"{round(pairs_a_second(row)):,}"
    head = ["pairs of 1920x1080, 8 bit, a second", "", *(f"`{model}`" for model in MODELS)]
    return table(head, [[*place, *(rate.get(model, "") for model in MODELS)] for place, rate in rates.items()])


def speed(row):
    return f"{row['peer_best'] / row['fastest']:.2g}"


def speed_rows():
    """Returns the rows of all files of the kind `speeds`, which tools/draw_speed.py draws."""
    files = [found[3].split() for page in PAGES for found in MARK.finditer(page.read_text()) if found[2] == "speeds"]
    return [row for names in files for name in names for row in lines_of(name)]


def speeds(*files):
    rows = sorted((row for name in files for row in lines_of(name)), key=lambda row: -row["peer_best"] / row["fastest"])
    head = ["metric", "vmafx, ms", "reference program, ms", "times as fast", "reference program"]
    name = "libvmaf f85a853"
    return table(
        head,
        [
            [
                f"`{row['row']}`",
                digits(row["fastest"]),
                digits(row["peer_best"]),
                speed(row),
                row.get("peer_name", name),
            ]
            for row in rows
        ],
    )


def peer(name):
    rows = lines_of(name)
    head = ["", "bits", "instruction set", "vmafx, ms", "libvmaf with the same, ms", "ratio"]
    head += ["libvmaf at its best, ms", "ratio"]
    cells = [
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
    ]
    return f"{caption(rows, fastest(rows))}\n\n{table(head, cells)}"


def threads(name):
    """Makes a row for all lines that differ only in the number of threads; missing measurements stay empty."""
    rows = lines_of(name)
    counts = sorted({row["threads"] for row in rows})

    def cell(times, count):
        if count not in times:
            return ""
        return digits(times[count]) + (f" ({times[1] / times[count]:.1f})" if count > 1 and 1 in times else "")

    made = []
    for (row_name, width, height, bits), group in itertools.groupby(
        rows, lambda row: (row["row"], row["width"], row["height"], row["bits"])
    ):
        times = {row["threads"]: row["fastest"] for row in group}
        made.append([row_name, f"{width}x{height}", str(bits), *(cell(times, count) for count in counts)])
    head = ["ms", "size", "bits", *(f"{count} thread{'s'[:count > 1]}" for count in counts)]
    return f"{caption(rows, fastest(rows))}\n\n{table(head, made)}"


def files(name):
    """Makes a row for each graph, with the cost that is left of it without the decoding."""
    rows = lines_of(name)
    decoding = rows[0]

    def left(row, key):
        return "" if row is decoding else f"{row[key] - decoding[key]:.2f}"

    def cells(row):
        graph = f"`{row['graph']}`" if row["score"] else row["graph"]
        times = [f"{row[key]:.2f}" for key in ("wall_s", "cpu_s")]
        return [graph, *times, left(row, "wall_s"), left(row, "cpu_s"), row["score"]]

    head = ["", "wall time, s", "processor time, s", "without decoding: wall, s", "processor, s", ""]
    return table(head, [cells(row) for row in rows])


def cell_text(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def plain_table(name):
    if not (RESULTS / name).exists():
        return "Not measured yet."
    about, *rows = lines_of(name)
    words = ". ".join(about[key] for key in ("about", "note") if key in about)
    cells = [[cell_text(value) for value in row] for row in rows]
    return f"{caption([about], words + ':')}\n\n{table(about['columns'], cells)}"


KINDS = {"summary": summary, "speeds": speeds, "peer": peer, "threads": threads, "files": files, "table": plain_table}


def with_tables(page):
    def made(found):
        return f"{found[1]}\n{KINDS[found[2]](*found[3].split())}\n\n{found[4]}"

    text, count = MARK.subn(made, page.read_text())
    if not count:
        sys.exit(f"make_tables.py: cannot find a table in {page.name}")
    return text


def main():
    parser = argparse.ArgumentParser(description="Makes the tables of docs/ from bench/results.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    for page in PAGES:
        new = with_tables(page)
        if not check:
            page.write_text(new)
        elif new != page.read_text():
            sys.exit(f"a table in {page.relative_to(TOP)} differs from its measurements: run tools/make_tables.py")


if __name__ == "__main__":
    main()
