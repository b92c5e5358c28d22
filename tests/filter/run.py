#!/usr/bin/env python3
"""Tests of the filter through ffmpeg.

usage: run.py [FFMPEG] [--only TEXT]

  FFMPEG   the ffmpeg to test (default: $FFMPEG, else build/bin/ffmpeg)
  --only   run the cases whose name, or that of their file, contains TEXT

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
import cases_colors
import cases_encodes
import cases_ends
import cases_examples
import cases_formats
import cases_graphs
import cases_hardware
import cases_look
import cases_maps
import cases_options
import cases_outputs
import cases_pairing
import cases_pipelines
import cases_ranges
import cases_reports
import cases_vulkan
import cases_windows
import cases_xpsnr

top = Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("ffmpeg", nargs="?", default=os.environ.get("FFMPEG", str(top / "build/bin/ffmpeg")))
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    ffmpeg = Path(arguments.ffmpeg).resolve()
    if not os.access(ffmpeg, os.X_OK):
        print(f"run.py: {ffmpeg} is not a program", file=sys.stderr)
        return 1
    support.SLOW = support.SLOW or bool(arguments.only)
    chosen = [function for function in support.cases if arguments.only in f"{function.__module__} {function.__name__}"]
    with tempfile.TemporaryDirectory(prefix="vmafx-filter-") as folder:
        folder = Path(folder)
        clips = support.Lab(ffmpeg, folder / "clips").clips
        with ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
            run = lambda function: support.run_case(function, support.Lab(ffmpeg, folder / function.__name__, clips))
            return support.report_cases(chosen, pool.map(run, chosen))


if __name__ == "__main__":
    sys.exit(main())
