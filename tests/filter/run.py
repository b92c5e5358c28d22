#!/usr/bin/env python3
"""Tests of the filter through ffmpeg.

usage: run.py [FFMPEG] [--only TEXT]

  FFMPEG   the ffmpeg to test (default: $FFMPEG, else build/bin/ffmpeg)
  --only   run the cases whose name contains TEXT

Prints one line per case and 'N passed, N failed, N skipped' at the end; exits 1 when something failed.
"""

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import support
import cases_clients  # each module registers its cases
import cases_encodes
import cases_ends
import cases_examples
import cases_formats
import cases_graphs
import cases_hardware
import cases_options
import cases_pairing
import cases_pipelines
import cases_reports
import cases_windows

top = Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("ffmpeg", nargs="?", default=os.environ.get("FFMPEG", str(top / "build/bin/ffmpeg")))
    parser.add_argument("--only", default="")
    return parser.parse_args()


def run_case(function, ffmpeg, folder, clips):
    """(verdict, why)"""
    try:
        function(support.Lab(ffmpeg, folder / function.__name__, clips))
        return "PASS", ""
    except support.Skip as reason:
        return "SKIP", str(reason)
    except Exception as failure:  # a case that breaks has failed, whatever broke
        return "FAIL", f"{type(failure).__name__}: {failure}"


def main():
    arguments = parse_arguments()
    ffmpeg = Path(arguments.ffmpeg).resolve()
    if not os.access(ffmpeg, os.X_OK):
        print(f"run.py: {ffmpeg} is no program", file=sys.stderr)
        return 1
    chosen = [function for function in support.cases if arguments.only in function.__name__]
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    with tempfile.TemporaryDirectory(prefix="vmafx-filter-") as folder:
        folder = Path(folder)
        clips = support.Lab(ffmpeg, folder / "clips").clips
        with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
            outcomes = pool.map(lambda function: run_case(function, ffmpeg, folder, clips), chosen)
            for function, (verdict, why) in zip(chosen, outcomes):
                count[verdict] += 1
                print(f"{verdict} {function.__name__}{': ' + why if why else ''}", flush=True)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped")
    return 1 if count["FAIL"] or not count["PASS"] else 0


if __name__ == "__main__":
    sys.exit(main())
