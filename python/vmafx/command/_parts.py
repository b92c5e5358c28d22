"""Scores a stream in parts: ranges that are scored one by one, anywhere, and joined to the report of a single run.

    for time_range in cut(work, parts=8):
        score_part(work, time_range, log_of(time_range))  # each in any process, on any machine
    join(work, logs, Path("scores.json"))

The joined scores are exactly those of the whole stream: the filter wants to see the pairs before a range, and the merge
compares the pictures that two neighbors have seen of each other. If a seek landed too late for that, the part is scored
again from an earlier place.
"""

import csv
import io
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _ffmpeg, _fold, merge
from ._heatmaps import Place
from ._outputs import REPORT, Output, check_outputs
from ._run import FfmpegFailure, Processes
from ._said import Said
from ._scoring import EARLY, TimeRange, Work, score
from ._terminal import Failure, Step

# Seconds by which reading begins before a part; each entry is tried if the one before was too little. MPEG-TS has no
# index: a seek lands anywhere in a group of pictures, and only the next group can be decoded.
LADDER = EARLY, 12.0, 60.0, math.inf
LEAST_SECONDS = 0.5  # the shortest part
LEAST_FRAMES = 12


class Indivisible(Failure):
    """Raised if the stream cannot be scored in these parts, though it may be as a whole."""


# -- Cutting -----------------------------------------------------------------------------------------------------------


def cut(
    work: Work, *, seconds: float | None = None, parts: int | None = None, least: float = LEAST_SECONDS
) -> list[TimeRange]:
    """Cuts the stream into this many parts, or into parts of about this many seconds; into one if its length is not
    known.

    Times that begin anew in mid-stream do not tell the parts, so that a stream that has them is one part. The last part
    begins before the shortest encode ends, so that each has pairs of all encodes, and goes on to the end.
    """
    spans = work.spans()
    known = [span for span in spans if span]
    if len(known) < len(spans):
        return [TimeRange()]
    begin, end = max(span[0] for span in known), min(span[1] for span in known)
    least = max(least, LEAST_FRAMES / float(work.ref.rate or 1))
    wanted = (end - begin) / seconds if seconds else parts or 1
    count = max(1, min(round(wanted), math.floor((end - begin) / least)))
    if count > 1 and any(_ffmpeg.joined(work.settings.ffprobe, video).restarts for video in work.videos):
        return [TimeRange()]
    borders = [round(1000 * (begin + (end - begin) * number / count)) for number in range(1, count)]
    return [TimeRange(first, last) for first, last in zip([None, *borders], [*borders, None])]


# -- Scoring -----------------------------------------------------------------------------------------------------------


def score_part(
    work: Work,
    time_range: TimeRange,
    log: Path,
    early: float = EARLY,
    *,
    device: str | None = None,
    show: Callable[[Step], None] | None = None,
    processes: Processes | None = None,
) -> tuple[Said, float]:
    """Writes the report that `join` wants, and returns also how much earlier than the part it had to begin.

    Raises Failure, Indivisible.
    """
    time_range = work.reach(time_range)
    for early in (early, *earlier_than(early)):
        try:
            return score(work, log, time_range, early=early, device=device, show=show, processes=processes), early
        except FfmpegFailure as failure:
            if not _is_of_range(failure, time_range):
                raise
            complaint = failure
            log.unlink(missing_ok=True)
    raise Indivisible(f"cannot score the part {time_range} by itself: {complaint}", complaint.status)


def earlier_than(early: float) -> Iterator[float]:
    return (step for step in LADDER if step > early)


def _is_of_range(failure: FfmpegFailure, time_range: TimeRange) -> bool:
    """Returns whether the filter misses pairs of the range or around it."""
    return any(f"range={time_range}:" in line or "no frames were scored" in line.lower() for line in failure.said.lines)


# -- Joining -----------------------------------------------------------------------------------------------------------


def check_merge(work: Work) -> None:
    """Checks that the library, which `join` needs, is there, before work on several parts begins. Raises Failure."""
    merge.check_library(work.settings.ffmpeg)


def can_merge(work: Work) -> bool:
    """Returns whether the library is there that `join` needs."""
    try:
        check_merge(work)
    except Failure:
        return False
    return True


@dataclass(frozen=True)
class Joined:
    """The facts of parts that were joined, besides the report."""

    run: dict[str, Any]  # the facts of `vmafx` on which the parts agree
    of_parts: frozenset[str]  # the warnings of the parts' filters about their pairs
    warnings: list[list[str]]  # the warnings about the pairs of the stream, which replace them: a list for each encode
    places: list[list[Place]]  # the parts' places in the stream, in order: a list for each encode


def join(work: Work, parts: Sequence[Path], log: Path) -> Joined:
    """Writes to `log` (.json, .csv, .xml) what a single run writes, except for the keys `fps` and `vmafx`.

    Raises Mismatch, which names the part to score again (`seek_again` says from where), Refusal, Failure.
    """
    videos = [video.path for video in work.videos]
    check_outputs([*parts, *videos], [Output("the report", log, REPORT)], force=False)
    streams = merge.streams_of([str(path) for path in parts])
    count = len(work.dists)
    check_merge(work)
    warnings: list[list[str]] = [[] for _ in work.dists]
    try:
        with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
            if len(streams) == count:
                warnings = _join_encodes(work, streams, log, Path(folder))
            else:  # the run has scored pictures of several sizes
                logs = [Path(folder) / f"size{place}{log.suffix}" for place in range(len(work.groups))]
                for place, path in enumerate(logs):
                    warnings = _join_encodes(work, streams[place * count : (place + 1) * count], path, Path(folder))
                _fold.fold(logs, work.models, log)
    except OSError as failure:
        raise Failure(str(failure)) from failure
    of_parts = frozenset(text for stream in streams for part in stream for text in part.warnings)
    places = [merge.places_of(stream) for stream in streams[:count]]
    return Joined(_run_of(streams[0]), of_parts, warnings, places)


def _join_encodes(work: Work, streams: "Sequence[list[merge.Part]]", log: Path, folder: Path) -> list[list[str]]:
    """Joins the encodes of pictures of one size, and returns the warnings about each encode."""
    if len(streams) == 1:
        return [merge.write_report(streams[0], str(log))]
    warnings = []
    reports = [folder / f"{number}{log.suffix}" for number in range(len(streams))]
    for report, stream in zip(reports, streams):
        report.unlink(missing_ok=True)
        warnings.append(merge.write_report(stream, str(report)))
    _write_together(reports, work.names, log)
    return warnings


def _run_of(parts: list[merge.Part]) -> dict[str, Any]:
    """Returns the facts on which the parts agree; names of processors are joined if the parts ran on different ones."""
    agreed = {key: value for key, value in parts[0].run.items() if all(part.run.get(key) == value for part in parts)}
    metrics = list(dict.fromkeys(metric for part in parts for metric in part.run.get("backend", {})))
    backend = {
        metric: "/".join(
            sorted({part.run["backend"][metric] for part in parts if metric in part.run.get("backend", {})})
        )
        for metric in metrics
    }
    return agreed | {"backend": backend}


def seek_again(mismatch: merge.Mismatch, earlies: dict[str, float]) -> tuple[str, float]:
    """Returns the part to score again and how much earlier to begin; `earlies` says how much earlier each part began.

    Raises the mismatch if there is nothing left to try.
    """
    for part in (mismatch.after, mismatch.before):
        if part.range["from"] is not None and (early := next(earlier_than(earlies[part.path]), None)):
            return part.path, early
    raise mismatch


def _write_together(reports: list[Path], names: list[str], log: Path) -> None:
    """Writes one report of several encodes, in the filter's layout."""
    together = {".json": _json_of_all, ".csv": _csv_of_all}[log.suffix]
    with open(log, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        for line in together(reports, names):
            file.write(line)


def _lines(report: Path) -> list[str]:
    return report.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)


def _json_of_all(reports: list[Path], names: list[str]) -> Iterator[str]:
    """Puts several reports in JSON together.

    The library writes one key a line: the first lines within the braces and the key `vmafx` hold for all encodes, the
    others for one.
    """
    run: list[str] = []
    for number, (report, name) in enumerate(zip(reports, names)):
        brace, version, fps, *rest, end = _lines(report)
        own, run = _without_run(rest)
        if number == 0:
            yield from (brace, version, fps, '  "encodes": [\n')
        yield f'    {{\n      "encode": {number},\n      "name": {json.dumps(name, ensure_ascii=False)},\n'
        yield from (f"    {line}" for line in own)
        yield "    }\n" if number == len(reports) - 1 else "    },\n"
    yield "  ],\n" if run else "  ]\n"
    yield from (*run, end)


def _without_run(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines of an encode, and those of the key vmafx; the last of each has no comma."""
    if '  "vmafx": {\n' not in lines:
        return lines, []
    begin = lines.index('  "vmafx": {\n')
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("  }")) + 1
    own = lines[:begin] + lines[end:]
    return [*own[:-1], own[-1].replace(",\n", "\n")], [*lines[begin : end - 1], "  }\n"]


def _csv_of_all(reports: list[Path], names: list[str]) -> Iterator[str]:
    for number, (report, name) in enumerate(zip(reports, names)):
        head, *rows = _lines(report)
        if number == 0:
            yield f"Encode,Name,{head}"
        cell = io.StringIO()
        csv.writer(cell, lineterminator="").writerow([name])
        yield from (f"{number},{cell.getvalue()},{row}" for row in rows)
