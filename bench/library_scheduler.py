#!/usr/bin/env python3
"""Measures how many tasks a second `vmafx library` gets through Dask's scheduler, and the memory for it: its own code,
with tasks that score nothing.

usage: library_scheduler.py [--pairs N] [--workers N] [--threads N]

A list of N pairs of references of their own, a scheduler and workers in processes of their own, and results on the
disk, as in a cluster; a task sleeps for no time and returns a result as large as that of a pair.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path

MODULE = str(Path(__file__).resolve().parents[1] / "python")
sys.path.insert(0, MODULE)
from vmafx.command._statistics import NAMES
from vmafx.command.fleet.campaign import Campaign, Options
from vmafx.command.fleet.engine import Place, Task, open_engine
from vmafx.command.fleet.pairs import Pair
from vmafx.command.fleet.store import Ranges, open_results
from vmafx.command.fleet.tasks import Begun, Outcome

RECORD = {
    "frames": 172800,
    "pooled": {"vmaf": dict.fromkeys(NAMES, 93.123456)},
    "worst_frame": {"vmaf": {"frame": 18, "time": 0.72, "score": 60.96689}},
    "pairing": {
        "paired": 172800,
        "unmatched_distorted": 0,
        "unmatched_reference": 0,
        "repeated_reference": 0,
        "repeated_distorted": 0,
    },
    "warnings": [],
    "notes": [],
}


def score_nothing(job):
    return Begun({place: Outcome(RECORD) for place in range(len(job.dists))}, [])


def peak_megabytes(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(folder, arguments):
    pairs = [
        Pair(f"{i}", f"/videos/title-{i:06}/1080p-5000k.mp4", f"/videos/title-{i:06}/mezzanine.mov", None, ())
        for i in range(arguments.pairs)
    ]
    address = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": MODULE}
    with ExitStack() as stack:
        start = lambda *words: stack.enter_context(
            ended(subprocess.Popen([sys.executable, "-m", *words], env=environment, stderr=subprocess.DEVNULL))
        )
        scheduler = start(
            "distributed.cli.dask_scheduler", "--scheduler-file", str(address), "--port", "0", "--no-dashboard"
        )
        while not address.exists():
            time.sleep(0.1)
        for _ in range(arguments.workers):
            start(
                "distributed.cli.dask_worker",
                "--scheduler-file",
                str(address),
                "--nthreads",
                str(arguments.threads),
                "--no-nanny",
                "--no-dashboard",
            )
        ranges = stack.enter_context(Ranges(folder / "out.jsonl"))
        results = stack.enter_context(closing(open_results(folder / "out.jsonl")))
        campaign = Campaign(pairs, results, ranges, Options({"backend": None, "threads": 1}, None, 1, 15000, 600, 3))
        engine = stack.enter_context(open_engine(Place(scheduler_file=address)))
        begin = time.monotonic()
        engine.run((Task(score_nothing, task.arguments, task.own) for task in campaign.tasks()), campaign.finish)
        seconds = time.monotonic() - begin
        print(
            f"{campaign.done} tasks in {seconds:.0f} s: {campaign.done / seconds:.0f} a second, {engine.window()} "
            "submitted at a time"
        )
        client = resource.getrusage(resource.RUSAGE_SELF)
        print(f"scheduler: {peak_megabytes(scheduler.pid):.0f} MB at most")
        milliseconds = 1000 * (client.ru_utime + client.ru_stime) / campaign.done
        print(f"client: {client.ru_maxrss / 1024:.0f} MB at most, {milliseconds:.2f} ms of processor time per task")
        size = (folder / "out.jsonl").stat().st_size
        print(f"results: {size / 1e6:.0f} MB")


class ended:
    """Yields a process that ends with the block."""

    def __init__(self, process):
        self._process = process

    def __enter__(self):
        return self._process

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vmafx-bench-") as folder:
        measure(Path(folder), arguments)


if __name__ == "__main__":
    main()
