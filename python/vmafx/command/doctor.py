"""Tells what this machine scores with, and what is wrong with it.

The exit status is 0 if scoring works, else 1.
"""

import argparse
import json
from collections.abc import Iterator
from typing import Any

from ._terminal import emit, shown
from .machine import gpus, programs, trial
from .machine.problems import Problem

SCHEMA = 1
LIMIT_S = 60.0
WIDTH = 10  # of the headings
NO_PROBLEM = "no problem found"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    help_backend = "hip: the exit status tells whether scoring on a GPU works (default: auto)"
    parser.add_argument("--backend", choices=("auto", "cpu", "hip"), default="auto", help=help_backend)
    parser.add_argument(
        "--limit", type=_seconds, default=LIMIT_S, metavar="SECONDS", help="how long a program may take (default: 60)"
    )
    parser.add_argument("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use")


def run(arguments: argparse.Namespace) -> int:
    found = Findings(arguments)
    emit(json.dumps(found.json(), indent=2) + "\n" if arguments.json else "".join(found.screen()))
    return 0 if found.scores and (found.scores_on_gpu or arguments.backend != "hip") else 1


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{shown(text)}' is not a time limit: use a number of seconds up to 3600")
    return seconds


class Findings:
    """All that is found, in the order in which one thing needs the other."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.limit_s = arguments.limit
        self.programs = programs.look(arguments.ffmpeg, self.limit_s)
        self.machine = gpus.Examination()
        if arguments.backend != "cpu":
            self.machine = gpus.examine(self.programs.ffmpeg, self.limit_s)
        self.trials: list[dict[str, Any]] = []
        self.problems = [*self.programs.problems, *self.machine.problems]
        if self.programs.ffmpeg:
            self._try(self.programs.ffmpeg)

    @property
    def tried(self) -> bool:
        return not any(problem.kind == trial.NOT_MADE for problem in self.problems)

    @property
    def scores(self) -> bool:
        stopped = any(problem.stops == "scoring" for problem in self.problems)
        return bool(self.trials) and self.tried and not stopped

    @property
    def scores_on_gpu(self) -> bool:
        return self.scores and any(run["backend"] == "hip" and run["works"] for run in self.trials)

    def _try(self, ffmpeg: str) -> None:
        of_cpu = self._score(ffmpeg, "cpu", "auto")
        for gpu in self.machine.usable() if self.tried else ():
            of_gpu = self._score(ffmpeg, "hip", gpu["pci_address"])
            if of_gpu["works"] and of_cpu["works"] and of_gpu["vmaf"] != of_cpu["vmaf"]:
                of_gpu["works"] = False
                self.problems.append(_of_difference(of_gpu["device"], of_gpu["vmaf"], of_cpu["vmaf"]))
        versions = {self.machine.library.get("version"), of_cpu["version"]} - {None}
        if len(versions) > 1:
            self.problems.append(_of_versions(self.machine.library, of_cpu["version"]))

    def _score(self, ffmpeg: str, backend: str, device: str) -> dict[str, Any]:
        facts, problem = trial.score(ffmpeg, backend, device, self.limit_s)
        facts["works"] = problem is None
        self.trials.append(facts)
        self.problems += [problem] if problem else []
        return facts

    def json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "scoring": self.scores,
            "scoring_on_gpu": self.scores_on_gpu,
            **self.programs.json(),
            **self.machine.json(),
            "trials": self.trials,
            "problems": [problem.json() for problem in self.problems],
        }

    def screen(self) -> Iterator[str]:
        before = ""
        for heading, text in self._lines():
            yield f"{heading if heading != before else '':<{WIDTH}} {shown(text)}\n"
            before = heading
        yield "\n"
        for problem in self.problems:
            yield f"problem: {shown(problem.text)}\n"
            yield from (f"  remedy: {remedy}\n" for remedy in problem.remedies)
        yield f"{self._verdict()}\n"

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield from programs.lines(self.programs)
        if self.machine.library.get("place"):
            yield "library", f"{self.machine.library['place']}, {self.machine.library['version'] or 'too old'}"
        yield from gpus.lines(self.machine)
        for run in self.trials:
            where = run["device"] or run["backend"].upper()
            worked = f"{len(run['vmaf'])} pairs on {where} in {run['seconds']:.2f} s"
            failed = f"failed with backend={run['backend']}" if self.tried else "not made"
            yield "trial", worked if run["works"] else failed

    def _verdict(self) -> str:
        if not self.scores:
            return "Scoring does not work." if self.tried else "Scoring was not tried."
        where = "on the CPU and on the GPU" if self.scores_on_gpu else "on the CPU"
        return f"Scoring works {where}" + ("." if self.problems else f"; {NO_PROBLEM}.")


def _of_difference(device: str, on_gpu: list[float], on_cpu: list[float]) -> Problem:
    text = f"the scores of {device} differ from the CPU's: {on_gpu}, not {on_cpu}"
    remedies = "do not use this GPU: update its driver, and run ./quickstart selftest", "score with --backend cpu"
    return Problem("other_scores", text, remedies, "gpu")


def _of_versions(library: dict[str, Any], of_filter: str) -> Problem:
    text = f"the filter runs version {of_filter}, and the library {library['place']} is {library['version']}"
    return Problem("two_versions", text, ("build and install both again, or set VMAFX_LIBRARY",))
