"""Runs cases side by side, each on processors of its own, until they are done or the time is up."""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
import traceback

LEAST_LEFT_S = 10.0  # no case is begun with less time left
END_S = 5.0  # processes that do not end by a signal are killed so much later


def slots_of(count):
    """Returns sets of so many processors each; with fewer than that, one set of all."""
    usable = sorted(os.sched_getaffinity(0))
    return [set(usable[i : i + count]) for i in range(0, len(usable) - count + 1, count)] or [set(usable)]


def run(measure, cases, slots, end):
    """Calls measure(case) for all cases, in order, in as many processes as there are slots, which stay on their
    processors. At `end`, by time.monotonic(), all that still runs is ended. Returns whether all cases were measured.
    """
    taken = multiprocessing.Value("i", 0)
    context = multiprocessing.get_context("fork")
    running = [context.Process(target=_take, args=(measure, cases, slot, taken, end)) for slot in slots[: len(cases)]]
    for process in running:
        process.start()
    for process in running:
        process.join(max(0.0, end - time.monotonic()))
    late = [process for process in running if process.is_alive()]
    _end(late)
    if failed := [process for process in running if process not in late and process.exitcode]:
        sys.exit(f"tuning: cases of {len(failed)} of {len(running)} processes failed: see above")
    return taken.value == len(cases) and not late


def _take(measure, cases, slot, taken, end):
    os.setpgid(0, 0)
    os.sched_setaffinity(0, slot)
    failed = False
    while True:
        with taken.get_lock():
            if taken.value == len(cases) or time.monotonic() + LEAST_LEFT_S > end:
                sys.exit(failed)
            case = cases[taken.value]
            taken.value += 1
        try:
            measure(case)
        except Exception:
            traceback.print_exc()
            failed = True


def _end(processes):
    """Ends processes, and all that they have started and that is in their groups."""
    for kind in signal.SIGTERM, signal.SIGKILL:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, kind)
        until = time.monotonic() + END_S
        for process in processes:
            process.join(max(0.0, until - time.monotonic()))
