"""The tasks that a worker runs: ffmpeg in its own process, and the evaluation of its report.

An ffmpeg does not outlive its worker (Processes). The failure of a pair is its result; only a failure of the worker
itself is raised, as Unfit.
"""

import dataclasses
import errno
import functools
import json
import math
import os
import re
import socket
import stat
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ... import _header
from .. import _ffmpeg, _inputs, _look
from .._heatmaps import folders_of
from .._names import FILES_ONLY, redact
from .._parts import Indivisible, check_merge, cut, join, score_part, seek_again
from .._result import Result
from .._run import FfmpegFailure, Processes
from .._said import Said, shortened
from .._schemas import check_packages
from .._scores import read_scores
from .._scoring import EARLY, TimeRange, Settings, Work, score
from .._terminal import Failure, Step
from .._whole import Heard, heard_by_encode, shortfalls
from ..decoders.chosen import shared_decoders
from ..merge import Mismatch

T = TypeVar("T")
Show = Callable[[Step], None]

FULL_HD = 1920 * 1080

# Failures that another attempt, later or on another machine, may not meet.
PASSING = re.compile(
    "Input/output error|Stale file handle|timed out|Connection (?:reset|refused)|Resource temporarily "
    "unavailable|Cannot allocate memory|No space left"
)
PASSING_ERRORS = {errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.ECONNRESET}
PASSING_STATUSES = {128 + 7, 128 + 9, 128 + 15}  # a mapped file that went away; lack of memory; an operator


class Unfit(Exception):
    """Raised by a worker that cannot score."""


class Stalled(Failure):
    """Raised for an ffmpeg that makes no progress."""


# Failures of a pair; whichever it is, the other pairs go on.
FAILURES = (
    Failure,
    OSError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
    MemoryError,
    zlib.error,
)


@dataclass(frozen=True, repr=False)  # Dask logs the arguments of tasks, and a URL may have a password
class Job:
    """Encodes of one reference."""

    settings: dict[str, Any]  # the values of Settings except the programs
    ffmpeg: str | None  # None: the one that the worker finds
    dists: list[str]
    ref: str
    piece: float  # frames of 1080p that one run scores; 0: all
    stall: float  # seconds without progress

    @property
    def names(self) -> list[str]:
        return [*self.dists, self.ref]


@dataclass(frozen=True)
class Outcome:
    """The result of a pair."""

    record: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    again: bool = False  # another attempt may help


Outcomes = dict[int, Outcome]  # by the places of encodes in a job


@dataclass(frozen=True, repr=False)
class Long:
    """Encodes that are scored in ranges."""

    places: list[int]
    work: Work
    time_ranges: list[TimeRange]


@dataclass(frozen=True)
class Begun:
    outcomes: Outcomes
    long: list[Long]


@dataclass(frozen=True)
class Scored:
    """The result of a range."""

    report: bytes = b""  # compressed
    early: float = EARLY
    warnings: Sequence[Sequence[str]] = ()  # a list for each encode
    errors: Sequence[Sequence[Sequence[str]]] = ()  # of decoding each encode, and its reference
    error: str | None = None
    again: bool = False
    indivisible: bool = False  # the stream may be scored as a whole

    def pack(self) -> bytes:
        head = [self.early, self.warnings, self.errors]
        return json.dumps(head).encode() + b"\n" + self.report

    @classmethod
    def unpack(cls, packed: bytes) -> "Scored":
        head, _, report = packed.partition(b"\n")
        early, warnings, *errors = json.loads(head)
        return cls(report, early, warnings, errors[0] if errors else [[[], []] for _ in warnings])


# -- The tasks ---------------------------------------------------------------------------------------------------------


def begin(job: Job) -> Begun:
    """Scores short encodes, and says how to cut long ones."""
    outcomes: Outcomes = {}
    long: list[Long] = []
    for places, work in _looked_at(job, _works(job, list(range(len(job.dists))), outcomes), outcomes):
        time_ranges = _cut(work, job.piece)
        if len(time_ranges) > 1:
            long.append(Long(places, work, time_ranges))
        else:
            outcomes |= _score(job, places, work)
    return Begun(outcomes, long)


def score_range(job: Job, long: Long, number: int, early: float) -> Scored:
    work, time_range = _here(job, long.work), long.time_ranges[number]
    with _folder() as folder:
        log = folder / "scores.json"
        try:
            with shared_decoders(work) as work:
                said, early = _watched(
                    job,
                    lambda processes, show: score_part(work, time_range, log, early, show=show, processes=processes),
                )
            # Warnings are kept on the disk, so secrets are taken out.
            heard = [own.redacted(job.names) for own in heard_by_encode(work, said)]
            report = zlib.compress(log.read_bytes(), 6)
            return Scored(report, early, [own.warnings for own in heard], [own.errors for own in heard])
        except FAILURES as failure:
            return Scored(error=_told(failure), again=_may_pass(failure), indivisible=isinstance(failure, Indivisible))


def score_whole(job: Job, long: Long) -> Outcomes:
    """Scores encodes as a whole that cannot be scored in ranges."""
    return _score(job, long.places, _here(job, long.work))


def join_ranges(job: Job, long: Long, parts: Sequence[bytes]) -> Outcomes | tuple[int, float]:
    """Joins the ranges' reports.

    Returns the outcomes, or the number of a part to score again and how many seconds earlier to begin: a seek landed in
    the wrong place.
    """
    scored = [Scored.unpack(part) for part in parts]
    with _folder() as folder:
        paths = [folder / f"{number}.json" for number in range(len(scored))]
        for path, part in zip(paths, scored):
            path.write_bytes(zlib.decompress(part.report))
        try:
            log = folder / "scores.json"
            joined = join(long.work, paths, log)
            warnings = [
                shortened([text for own in of_parts for text in own if text not in joined.of_parts] + of_all)
                for *of_parts, of_all in zip(*(part.warnings for part in scored), joined.warnings)
            ]
            errors = [
                [shortened([text for own in of_parts for text in own]) for of_parts in zip(*of_encode)]
                for of_encode in zip(*(part.errors for part in scored))
            ]
            heard = list(map(Heard, warnings, errors))
            return dict(zip(long.places, _outcomes(log, _here(job, long.work), Said([]), heard, joined.run)))
        except Mismatch as mismatch:
            try:
                wrong, early = seek_again(mismatch, {str(path): part.early for path, part in zip(paths, scored)})
                return paths.index(Path(wrong)), early
            except Mismatch as failure:
                return dict.fromkeys(long.places, Outcome(error=str(failure)))
        except FAILURES as failure:
            return dict.fromkeys(long.places, Outcome(error=_told(failure), again=_may_pass(failure)))


# -- What goes into one run --------------------------------------------------------------------------------------------


def _works(job: Job, places: list[int], outcomes: Outcomes) -> Iterator[tuple[list[int], Work]]:
    """Yields the encodes that are scored together; together only if that changes no score."""
    try:
        settings = _settings(job)
        names = [*(job.dists[place] for place in places), job.ref]
        if settings.ref_options == FILES_ONLY:
            _check_files(names)
        work = _look.prepared(settings, names[:-1], job.ref, run=_run_of(job))
    except FAILURES as failure:
        if len(places) == 1:
            outcomes[places[0]] = Outcome(error=_told(failure), again=_may_pass(failure))
            return
        groups = [[place] for place in places]
    else:
        alike: dict[Any, list[int]] = {}
        for place, video, own_ref in zip(places, work.dists, work.own_refs):
            alike.setdefault(_alone(video, own_ref, bool(settings.convert)), []).append(place)
        groups = list(alike.values())
    if len(groups) == 1:
        yield places, work
        return
    for group in groups:
        yield from _works(job, group, outcomes)


def _looked_at(
    job: Job, works: Iterator[tuple[list[int], Work]], outcomes: Outcomes
) -> Iterator[tuple[list[int], Work]]:
    """Looks at the pictures of long inputs. Encodes that are prepared otherwise than tags say are scored alone."""
    for places, work in works:
        try:
            looked = _look.looked_at(work, run=_run_of(job))
            if looked is work or len(places) == 1:
                yield places, looked
                continue
            for number, place in enumerate(places):
                alone = work.of([number])
                yield [place], _look.looked_at(alone, run=_run_of(job))
        except FAILURES as failure:
            outcomes |= dict.fromkeys(places, Outcome(error=_told(failure), again=_may_pass(failure)))


def _run_of(job: Job) -> _look.Run:
    """Returns what runs ffmpeg for a look."""

    def run(work: Work, log: Path, time_range: TimeRange | None) -> Said:
        return _watched(job, lambda processes, show: score(work, log, time_range, show=show, processes=processes))

    return run


def _check_files(names: Sequence[str]) -> None:
    """Refuses pipes and devices, which change when they are opened again, or never end.

    Missing files are left to ffprobe, which reports them.
    """
    for name in names:
        try:
            mode = os.stat(name).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
            raise Failure(f"cannot read {name}: it is {kind}, but a list must name files")


def _alone(video: _ffmpeg.Video, ref: _ffmpeg.Video, converts: bool) -> Any:
    """Returns the preparation of the reference for this encode alone, and the colors, which a reference without tags
    takes from the first encode.
    """
    preparation = _inputs.make_alike([video], ref, converts=converts)
    return (
        preparation.ref,
        ref.matrix,
        _inputs.start_apart([video], ref),
        video.matrix,
        video.transfer,
        video.full_range,
    )


def _cut(work: Work, piece: float) -> list[TimeRange]:
    seconds = max((span[1] - span[0] for span in work.spans() if span), default=0.0)
    frames = seconds * float(work.ref.rate or 25) * len(work.dists) * work.ref.width * work.ref.height / FULL_HD
    if folders_of([*work.settings.features, *(work.settings.models or ())]):
        return [TimeRange()]  # ranges may run on several machines, and their files stay there
    time_ranges = cut(work, parts=math.ceil(frames / piece) if piece else 1)
    if len(time_ranges) > 1:
        _fit(lambda: check_merge(work))
    return time_ranges


# -- One run -----------------------------------------------------------------------------------------------------------


def _score(job: Job, places: list[int], work: Work, runs: int = _look.MOST_RUNS) -> Outcomes:
    """Scores encodes together; if that fails, one by one, as perhaps only one of them is to blame. Encodes whose
    pictures show that they must be prepared otherwise are scored once more, alone.
    """
    try:
        with _folder() as folder:
            log = folder / "scores.json"
            with shared_decoders(work) as work:
                said = _watched(job, lambda processes, show: score(work, log, show=show, processes=processes))
            outcomes = dict(zip(places, _outcomes(log, work, said, heard_by_encode(work, said))))
            if runs > 1 and _look.is_short(work):
                for place, other in _as_shown(places, work, log):
                    outcomes |= _score(job, [place], other, runs - 1)
            return outcomes
    except FAILURES as failure:
        again = _may_pass(failure)
        if again or len(places) == 1:
            return dict.fromkeys(places, Outcome(error=_told(failure), again=again))
    outcomes = {}
    for place in places:
        for alone, own in _works(job, [place], outcomes):
            outcomes |= _score(job, alone, own)
    return outcomes


def _as_shown(places: Sequence[int], work: Work, log: Path) -> Iterator[tuple[int, Work]]:
    """Yields the encodes that the pictures want prepared otherwise, each with its own work."""
    for number, (place, encode) in enumerate(zip(places, read_scores(log))):
        if other := _look.as_shown(work.of([number]), [encode]):
            yield place, other


def _outcomes(
    log: Path, work: Work, said: Said, heard: Sequence[Heard], run: dict[str, Any] | None = None
) -> Iterator[Outcome]:
    """Yields the outcomes of a report; `heard` has the lines on each encode, `run` the facts that a report of ranges
    lacks.
    """
    encodes = read_scores(log)
    for encode, name, own in zip(encodes, work.names, heard):
        encode.name, encode.run, encode.warnings = name, run or encode.run, list(own.warnings)
        encode.doubts = [*encode.doubts, *own.doubts]
    causes = shortfalls(work, said, encodes)
    for encode, cause in zip(encodes, causes):
        encode.partial = cause is not None
        encode.warnings += [cause] if cause else []
    result = Result.of(work, encodes)
    paths = [f"{video.name} " for video in work.dists]
    for place, (record, cause) in enumerate(zip(result.as_json()["encodes"], causes)):
        if cause and not work.settings.partial:
            yield Outcome(error=f"not everything was scored: {cause}", again=True)
            continue
        record["pooled"] = {key: record["pooled"][key] for key in result.keys}
        record["models"] = result.models
        record["notes"] = list(_own(work.notes, paths, place))
        record |= {"host": socket.gethostname(), "version": _header.version}
        yield Outcome({key: record[key] for key in record if key not in ("name", "file")})


def _own(texts: Sequence[str], heads: Sequence[str], place: int) -> Iterator[str]:
    """Returns the texts on this encode and those on none."""
    others = tuple(head for i, head in enumerate(heads) if i != place)
    return (text for text in texts if text.startswith(heads[place]) or not others or not text.startswith(others))


def _told(failure: Exception) -> str:
    return str(failure) if isinstance(failure, Failure | OSError) else f"{type(failure).__name__}: {failure}"


def _may_pass(failure: Exception) -> bool:
    cause = failure.__cause__ if isinstance(failure, Failure) else failure
    if isinstance(failure, Stalled | MemoryError) or (isinstance(cause, OSError) and cause.errno in PASSING_ERRORS):
        return True
    return bool(PASSING.search(str(failure))) or (
        isinstance(failure, FfmpegFailure) and failure.status in PASSING_STATUSES
    )


# -- This machine ------------------------------------------------------------------------------------------------------


def _settings(job: Job) -> Settings:
    _fit(check_packages)
    ffmpeg, ffprobe = _fit(lambda: _programs(job.ffmpeg))
    return Settings.from_json({**job.settings, "ffmpeg": ffmpeg, "ffprobe": ffprobe})


def _here(job: Job, work: Work) -> Work:
    return dataclasses.replace(work, settings=_settings(job))


@functools.cache
def _programs(chosen: str | None) -> tuple[str, str]:
    ffmpeg = _ffmpeg.find_ffmpeg(chosen)
    return ffmpeg, _ffmpeg.ffprobe_of(ffmpeg)


def _fit(action: Callable[[], T]) -> T:
    try:
        return action()
    except Failure as failure:
        raise Unfit(f"the worker on {socket.gethostname()} cannot score: {failure}") from None


class _folder(tempfile.TemporaryDirectory[str]):
    """A folder within the worker's own, which Dask clears if the worker was killed."""

    def __init__(self) -> None:
        from distributed import get_worker

        super().__init__(prefix="vmafx-", dir=get_worker().local_directory)

    def __enter__(self) -> Path:  # type: ignore[override]
        return Path(super().__enter__())


def _watched(job: Job, action: Callable[[Processes, Show], T]) -> T:
    """Runs ffmpeg, and ends it if it makes no progress."""
    processes, over = Processes(), threading.Event()
    if not processes.are_bound:
        raise Unfit(f"the worker on {socket.gethostname()} has no setpriv with --pdeathsig: install util-linux there")
    moved, frame, stalled = time.monotonic(), 0, False

    def show(step: Step) -> None:
        nonlocal moved, frame
        if step.frame != frame:
            moved, frame = time.monotonic(), step.frame

    def watch() -> None:
        nonlocal stalled
        while not over.wait(min(job.stall / 4, 5)):
            if time.monotonic() - moved > job.stall:
                stalled = True
                processes.end_all()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        return action(processes, show)
    except Failure as failure:
        if stalled:
            raise Stalled(f"timed out: ffmpeg made no progress for {job.stall:g} s") from failure
        raise
    finally:
        over.set()
        watcher.join()
