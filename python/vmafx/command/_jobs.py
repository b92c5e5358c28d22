"""Scores a stream on several processors or GPUs at once: each part in an ffmpeg, a limited number at a time."""

import contextlib
import functools
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._system import processors
from . import _parts
from ._heatmaps import HEAT, MAPS, Folder, folders_of, of_ranges
from ._run import Processes
from ._said import Said, said_together
from ._scoring import EARLY, TimeRange, Work
from ._terminal import Failure, Step
from .merge import Mismatch

PARTS_PER_JOB = 4  # enough parts that no job waits long for the last one
LEAST_SECONDS = 4.0  # the shortest part: its seek and context take time, too
PROCESSORS_PER_JOB = 4  # processors that one ffmpeg keeps busy
LEAST_SECONDS_ON_GPU = 30.0
SIGNAL_S = 0.2  # the longest time before a signal is handled


def usual_jobs(devices: Sequence[str]) -> int:
    return max(1, len(devices), processors() // PROCESSORS_PER_JOB)


def cut_for(work: Work, jobs: int) -> list[TimeRange]:
    """Cuts equal parts, several for each job, unless they would be too short to pay for their seeks."""
    return _parts.cut(work, parts=jobs * PARTS_PER_JOB, least=LEAST_SECONDS)


def cut_for_decoders(work: Work, jobs: int) -> list[TimeRange]:
    """Cuts a part for each job: the decoders of a GPU are equally fast, and each part opens the GPU."""
    return _parts.cut(work, parts=jobs, least=LEAST_SECONDS_ON_GPU)


def score_in_jobs(
    work: Work,
    time_ranges: Sequence[TimeRange],
    log: Path,
    jobs: int,
    devices: Sequence[str],
    show: Callable[[Step], None],
) -> tuple[Said, dict[str, Any]]:
    """Scores as `score` does, and returns also what the parts say of their runs. The parts are written beside `log`.

    Raises Failure, Indivisible.
    """
    parts = [Part(time_range, log.with_name(f"part{number}.json")) for number, time_range in enumerate(time_ranges)]
    jobs = min(jobs, len(parts))
    if work.settings.threads is None:
        work = replace(work, settings=replace(work.settings, threads=max(1, processors() // jobs)))
    run = Run(work, parts, jobs, devices, show)
    folders = [Folder(HEAT, path) for path in folders_of([*work.settings.features, *(work.settings.models or ())])]
    if work.settings.maps:
        folders.append(Folder(MAPS, Path(work.settings.maps)))
    with of_ranges(folders, list(map(str, time_ranges)), work.settings.overwrite) as maps:
        run.score(parts)
        joined = run.join(log)
        maps.join(joined.places)
    heads = [f"{name}: " for name in work.names] if len(work.names) > 1 else [""]
    of_all = [head + text for head, texts in zip(heads, joined.warnings) for text in texts]
    return said_together([part.said for part in parts], joined.of_parts, of_all), joined.run


def _next_of(ended: "queue.SimpleQueue[Future[None]]") -> "Future[None]":
    """Waits for the next part that has ended.

    A signal that comes right before Python waits, or to another thread, does not end a wait: so each wait is short.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=SIGNAL_S)


@dataclass
class Part:
    time_range: TimeRange
    log: Path
    early: float = EARLY
    said: Said = field(default_factory=lambda: Said([]))
    step: Step = Step(0, 0.0, 0.0)


class Run:
    """Some threads, each of which waits for its ffmpeg and then takes the next part."""

    def __init__(
        self, work: Work, parts: list[Part], jobs: int, devices: Sequence[str], show: Callable[[Step], None]
    ) -> None:
        self._work, self._parts, self._jobs, self._show = work, parts, jobs, show
        self._free: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # one device for each job
        for number in range(jobs):
            self._free.put(devices[number % len(devices)] if devices else None)
        self._processes = Processes()
        self._early = EARLY
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def score(self, parts: Sequence[Part]) -> None:
        """Scores the parts; an error or a signal ends all of them."""
        pool = ThreadPoolExecutor(self._jobs)
        ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        try:
            for part in parts:
                pool.submit(self._score, part).add_done_callback(ended.put)
            for _ in parts:
                _next_of(ended).result()
        except BaseException:  # also the exception of a signal, wherever that comes
            pool.shutdown(wait=False, cancel_futures=True)
            self._processes.end_all()
            raise
        finally:
            pool.shutdown()

    def _score(self, part: Part) -> None:
        """Scores one part. If it had to begin earlier for its seek, later parts begin as early."""
        show, early, device = functools.partial(self._show_all, part), max(part.early, self._early), self._free.get()
        try:
            part.said, part.early = _parts.score_part(
                self._work, part.time_range, part.log, early, device=device, show=show, processes=self._processes
            )
        except _parts.Indivisible:
            raise
        except Failure as failure:
            raise Failure(f"the part {part.time_range}: {failure}", failure.status) from failure
        finally:
            self._free.put(device)
        part.step = part.step._replace(part=1.0)
        if math.isfinite(part.early):
            self._early = max(self._early, part.early)

    def _show_all(self, part: Part, step: Step) -> None:
        with self._lock:
            part.step = step
            frames = sum(part.step.frame for part in self._parts)
            done = [part.step.part for part in self._parts if part.step.part is not None]
            spent = time.monotonic() - self._start
            self._show(Step(frames, frames / spent if spent else 0.0, sum(done) / len(self._parts)))

    def join(self, log: Path) -> _parts.Joined:
        """Joins the parts' reports; parts that do not meet are scored again, from an earlier place."""
        by_path = {str(part.log): part for part in self._parts}
        while True:
            try:
                return _parts.join(self._work, list(map(Path, by_path)), log)
            except Mismatch as mismatch:
                path, early = _parts.seek_again(mismatch, {path: part.early for path, part in by_path.items()})
                by_path[path].early = early
                self.score([by_path[path]])
