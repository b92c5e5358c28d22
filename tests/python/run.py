#!/usr/bin/python3
"""Tests of the Python module, with Debian's Python and its cffi, NumPy and PyAV.

usage: run.py [BUILD] [--only TEXT] [--long]

  BUILD   a build folder with the library and bin/ffmpeg (default: build)
  --only  run the cases whose name contains TEXT
  --long  check the types with mypy, too

Prints one line per case and 'N passed, N failed, N skipped' at the end; exits 1 when something failed.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path

sys.dont_write_bytecode = True
top = Path(__file__).resolve().parents[2]
MOST_WORKERS = 2  # cases wait for clocks and processes; more of them would be late


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", type=Path, default=top / "build")
    parser.add_argument("--only", default="")
    parser.add_argument("--long", action="store_true")
    return parser.parse_args()


def load_cases(build):
    """Imports the tests and the module under test, with the library of this build."""
    os.environ |= {"VMAFX_LIBRARY": str(build / ".libs/libvmafx.so.0"), "PYTHONPYCACHEPREFIX": str(build / "bytecode")}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each command would compile all of its modules
    sys.path[1:1] = [str(top / folder) for folder in ("python", "tests/filter", "tests/golden", "fuzz")]
    import common
    import cases_compare  # each module registers its cases
    import cases_crf
    import cases_doctor
    import cases_encode
    import cases_files
    import cases_fleet
    import cases_front
    import cases_hostile
    import cases_hwaccel
    import cases_inputs
    import cases_jobs
    import cases_library
    import cases_lifetime
    import cases_look
    import cases_outputs
    import cases_page
    import cases_pictures
    import cases_programs
    import cases_reference
    import cases_report
    import cases_score
    import cases_session
    import cases_sync
    import cases_threads
    import cases_view
    import cases_verify
    import cases_windows

    return common


def is_chosen(function, common, arguments):
    return arguments.only in function.__name__ and (function not in common.long_cases or arguments.long)


chosen_cases = []  # (case, its laboratory), which processes of the pool inherit


def run_chosen(number):
    import common

    return common.run_case(*chosen_cases[number])


def main():
    arguments = parse_arguments()
    # A shell that starts this in the background has SIGINT ignored, here and in all processes started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    missing = [name for name in ("cffi", "numpy", "av") if find_spec(name) is None]
    if missing:
        print(f"SKIP all: Debian's python3-{missing[0]} is not installed\n0 passed, 0 failed, 1 skipped")
        return 0
    build = arguments.build.resolve()
    common = load_cases(build)
    common.support.SLOW = common.support.SLOW or bool(arguments.only)
    chosen = [function for function in common.cases if is_chosen(function, common, arguments)]
    with tempfile.TemporaryDirectory(prefix="vmafx-python-") as folder:
        laboratory = lambda name, clips=None: common.Lab(build / "bin/ffmpeg", Path(folder) / name, clips)
        clips = laboratory("clips").clips
        chosen_cases[:] = [(function, laboratory(function.__name__, clips)) for function in chosen]
        # Processes, not threads: cases change the module, the environment and the folder of their process.
        workers = min(len(os.sched_getaffinity(0)), MOST_WORKERS)
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
            return common.report_cases(chosen, pool.map(run_chosen, range(len(chosen))))


if __name__ == "__main__":
    sys.exit(main())
