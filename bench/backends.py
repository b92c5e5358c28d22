#!/usr/bin/env python3
"""Compares backend=auto with cpu and hip: whole streams in processes of their own, of several lengths, alone and many
at once, with light and heavy metrics, and prints a table.

usage: bench/backends.py [--program FILE] [--seconds N] [--runs N] [--size WxH] [--lengths A,B,…] [--processes A,B,…]
                         [--only light|heavy] [--json FILE]

Each time is from the moment at which all processes have their pictures ready to the end of the last one, in
milliseconds: the shortest of N runs (--runs, default 3; one run where a run takes longer than 3 s). Columns:

  cpu, hip     backend=cpu and backend=hip
  auto, new    backend=auto on a machine where nothing was measured before (VMAFX_COSTS names a file that is not there)
  auto         with what the runs before have measured
  auto, told   and expected_frames is the length
  worst        how much longer the last two take than the shorter one of cpu and hip

With more than one process, each has one thread. Cases that would take longer than a tenth of --seconds (default 290)
on the CPU are left out, and so is what is left when the time is over. All scores must be equal: the script fails else.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROWS = {"light": "vmaf_v0.6.1", "heavy": "vmaf_v0.6.1,ssimulacra2,butteraugli,cambi,psnr_hvs,cvvdp"}
COLUMNS = ("cpu", "hip", "auto, new", "auto", "auto, told")
LONG_RUN = 3.0  # seconds; one run of such a case is enough
LONGEST = 0.1  # of all time, for a run on the CPU


def parsed():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="backend=auto beside cpu and hip.")
    parser.add_argument("--program", default=str(here.parent / "build" / "bench" / "backends"))
    parser.add_argument("--seconds", type=float, default=290, help="for all runs (290)")
    parser.add_argument("--runs", type=int, default=3, help="of each case (3)")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--lengths", default="2,50,300,1200", help="frame pairs (2,50,300,1200)")
    parser.add_argument("--processes", default="1,16", help="at once (1,16)")
    parser.add_argument("--only", choices=sorted(ROWS))
    parser.add_argument("--json", help="add a line of JSON for each case to this file")
    return parser.parse_args()


def whole_numbers(text):
    return [int(word) for word in text.split(",")]


def run(words, processes, costs):
    """Returns (seconds to the end of the last process, what each printed)."""
    environment = {**os.environ, "VMAFX_COSTS": str(costs)}
    started = []
    for _ in range(processes):
        started.append(
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        )
    for process in started:
        if process.stdout.readline() != "ready\n":
            sys.exit(f"bench/backends.py: {' '.join(words)} has no pictures")
    begin = time.monotonic()
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    told = [json.loads(process.communicate()[0] or "null") for process in started]
    seconds = time.monotonic() - begin
    if any(process.returncode for process in started):
        sys.exit(f"bench/backends.py: {' '.join(words)} failed")
    return seconds, told


class Case:
    """Streams of one length, with the same metrics, so many at once."""

    def __init__(self, arguments, kind, processes, length, folder):
        self.kind, self.processes, self.length = kind, processes, length
        self.costs = folder / "known"
        self.fresh = folder / "none"
        self.words = [arguments.program, "--wait", "--rows", ROWS[kind], "--size", arguments.size]
        self.words += ["--frames", str(length), "--threads", "1" if processes > 1 else "0"]
        self.times, self.took_over, self.hashes, self.processor = {}, {}, set(), {}

    def measure(self, column):
        words = [*self.words, "--backend", column.split(",")[0]]
        if column.endswith("told"):
            words.append("--told")
        costs = self.costs
        if column.endswith("new"):
            self.fresh.unlink(missing_ok=True)
            costs = self.fresh
        seconds, told = run(words, self.processes, costs)
        self.hashes |= {one["hash"] for one in told}
        if column not in self.times or seconds < self.times[column]:
            self.times[column] = seconds
            self.processor[column] = sum(one["processor_ms"] for one in told) / 1e3
            self.took_over[column] = sum(any("takes over" in line for line in one["log"]) for one in told)
        return seconds

    def worst(self):
        best = min(self.times[column] for column in ("cpu", "hip"))
        return max(self.times[column] for column in COLUMNS[3:]) / best - 1

    def row(self):
        cells = [f"{self.kind}, {self.processes}, {self.length}"]
        for column in COLUMNS:
            note = f" ({self.took_over[column]})" if self.took_over.get(column) else ""
            cells.append(f"{1e3 * self.times[column]:,.0f}{note}")
        return "| " + " | ".join([*cells, f"{100 * self.worst():+.0f} %"]) + " |"

    def json(self):
        facts = {"kind": self.kind, "processes": self.processes, "frames": self.length}
        for name, values in (("ms", self.times), ("processor_s", self.processor), ("took_over", self.took_over)):
            facts[name] = {column: round(1e3 * value, 1) if name == "ms" else value for column, value in values.items()}
        return facts


def main():
    arguments = parsed()
    end = time.monotonic() + arguments.seconds
    print("| metrics, processes, pairs | " + " | ".join(COLUMNS) + " | worst |")
    print("| --- |" + " --- |" * (len(COLUMNS) + 1), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder, pair_on_cpu = pathlib.Path(name), {}
        for kind in [arguments.only] if arguments.only else ROWS:
            for processes in whole_numbers(arguments.processes):
                for length in whole_numbers(arguments.lengths):
                    expected = length * pair_on_cpu.get((kind, processes), 0)
                    if expected > LONGEST * arguments.seconds or time.monotonic() + 5 * expected > end:
                        print(f"| {kind}, {processes}, {length} | left out |", flush=True)
                        continue
                    case = Case(arguments, kind, processes, length, folder)
                    for number in range(arguments.runs):
                        seconds = [case.measure(column) for column in COLUMNS]
                        if max(seconds) > LONG_RUN or time.monotonic() + sum(seconds) > end:
                            break
                    pair_on_cpu[kind, processes] = case.times["cpu"] / length
                    print(case.row(), flush=True)
                    if arguments.json:
                        with open(arguments.json, "a", encoding="utf-8") as file:
                            file.write(json.dumps(case.json()) + "\n")
                    if len(case.hashes) != 1:
                        sys.exit(f"bench/backends.py: {case.kind}, {case.length} pairs: scores differ")
    print("\nmilliseconds; in parentheses in how many processes the GPU took over")


if __name__ == "__main__":
    main()
