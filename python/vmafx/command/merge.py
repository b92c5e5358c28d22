"""merge the JSON reports of a stream's ranges into the report of the whole stream

A frame has the same scores in a range as in the whole stream. So merging only checks that the parts are of one stream,
that none is missing, and that neighbors meet at the same pictures. The library pools and writes, as for a single run.
"""

import argparse
import logging
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from .. import _places
from .._identity import file_of_output
from . import _json
from ._heatmaps import HEAT, MAPS as MAP_PICTURES, Folder, Joiner, Place
from ._outputs import HEATMAPS, MAPS, WHOLE_REPORT, Output, add_force, check_outputs
from ._reading import MOST_LINE, Wrong, is_text, open_text, shown, shown_key
from ._schemas import FIT_NAMES, MOST_TIME, PAIRING_NAMES, SUM_NAMES, check_part, check_whole
from ._terminal import Failure, note, shown as shown_name

Json = dict[str, Any]
MOST_BYTES = 1 << 30  # bytes of a part, whose scores are all in memory at once
MOST_KEYS = 2000  # scores that a frame may have
NOT_FINITE = "inf", "-inf", "nan", "-nan"
MOST_SHOWN = 300  # characters of a value in an error


class Refusal(Failure):
    """Raised for parts that must not be merged; str() says why and what to do."""


class Mismatch(Refusal):
    """Raised if two parts have seen one pair of pictures differently: a seek before one of them went wrong, if the
    files are the same.
    """

    def __init__(self, text: str, before: "Part", after: "Part") -> None:
        super().__init__(text)
        self.before, self.after = before, after


class Form(NamedTuple):
    """How a report is written."""

    log_fmt: str | None = None  # None: by the ending of its name, else json
    score_fmt: str | None = None
    partial: bool = False  # whether the beginning or the end of the stream may be missing
    force: bool = False  # whether a file may be replaced that is not the report of a whole stream; never a part
    heatmaps: Path | None = None  # the folder of the ranges' heat maps, which are joined there, too
    maps: Path | None = None  # likewise of the ranges' maps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "parts",
        nargs="+",
        metavar="PART.json",
        help="JSON reports of runs with the filter's option range, in any order",
    )
    add(
        "-o",
        "--output",
        default="-",
        metavar="REPORT",
        help="the report to write; with several encodes %%d stands for each one's number (default: standard output)",
    )
    add(
        "--log-fmt",
        choices=("xml", "json", "csv", "sub"),
        help="the report's format (default: by the ending of REPORT, else json)",
    )
    add("--score-fmt", metavar="FORMAT", help="as in the filter's option score_fmt (default: the filter's)")
    add(
        "--partial",
        action="store_true",
        help="allow that the beginning or the end of the stream is missing; the report is then marked partial",
    )
    add(
        "--heatmaps",
        type=Path,
        metavar="FOLDER",
        help="also join the heat maps that the runs wrote below this folder, the heatmaps_path of the feature; what "
        "they wrote stays",
    )
    add(
        "--maps",
        type=Path,
        metavar="FOLDER",
        help="also join the maps that the runs wrote below this folder, the filter's option maps; what they wrote "
        "stays",
    )
    add_force(parser)


def check_library(ffmpeg: str | None = None) -> None:
    """Loads the library, which writes the report; that of this ffmpeg, if it has one. Raises Failure."""
    if ffmpeg:
        _places.look_beside(ffmpeg)
    try:
        from .. import _library  # imported here, as the other subcommands do without cffi
    except ImportError as failure:
        needs = f"the library merges the reports of parts, for which Python needs cffi ({failure})"
        raise Failure(f"{needs}: run apt-get install python3-cffi") from failure
    if not _library.logger.handlers:
        _library.logger.addHandler(logging.NullHandler())  # write_report() returns what it would warn of
    try:
        _library.library()
    except OSError as failure:
        raise Failure(str(failure)) from failure


def run(arguments: argparse.Namespace) -> int:
    try:
        form = Form(
            arguments.log_fmt,
            arguments.score_fmt,
            arguments.partial,
            arguments.force,
            arguments.heatmaps,
            arguments.maps,
        )
        merge(arguments.parts, arguments.output, form)
    except OSError as failure:  # raised for a file or by the library
        cause = failure.strerror or str(failure)
        raise Failure(
            f"cannot read {shown_name(failure.filename)}: {cause}" if failure.filename else cause
        ) from failure
    return 0


def merge(paths: Sequence[str], output: str, form: Form = Form()) -> None:
    """Writes the report of the stream whose parts these files are. Raises Refusal or another Failure, OSError."""
    if "%d" not in output:
        _check_outputs(paths, [output], form)
    streams = streams_of(paths, form.partial)  # reads all of them before anything is written
    if len(streams) > 1 and "%d" not in output:
        raise Refusal(
            f"{paths[0]} has {len(streams)} encodes, each of which gets its own report: put %d for their numbers in "
            "the name, as in -o scores%d.json"
        )
    outputs = [output.replace("%d", str(number)) for number in range(len(streams))] if len(streams) > 1 else [output]
    _check_outputs(paths, outputs, form)
    check_library()
    folders = [Folder(HEAT, form.heatmaps)] if form.heatmaps else []
    folders += [Folder(MAP_PICTURES, form.maps)] if form.maps else []
    Joiner(folders, form.force).join([places_of(parts) for parts in streams])
    for parts, own in zip(streams, outputs):
        for text in write_report(parts, own, form):
            note(f"{shown(parts[0].encode)}: {text}" if len(streams) > 1 else text)


def _check_outputs(paths: Sequence[str], outputs: Sequence[str], form: Form) -> None:
    reports = [Output("-o", Path(file_of_output(output)), WHOLE_REPORT) for output in outputs]
    heatmaps = form.heatmaps and Output("--heatmaps", form.heatmaps, HEATMAPS)
    maps = form.maps and Output("--maps", form.maps, MAPS)
    check_outputs(paths, [*reports, heatmaps or None, maps or None], form.force)


def streams_of(paths: Sequence[str], partial: bool = False) -> "list[list[Part]]":
    """Returns the parts of each encode in order, with frame numbers of the whole stream.

    Raises Refusal if they are not of one stream.
    """
    try:
        return _streams_of(paths, partial)
    except RecursionError:
        raise Refusal(f"{', '.join(paths)}: the range of one of them nests too deeply: score it again") from None


def _streams_of(paths: Sequence[str], partial: bool) -> "list[list[Part]]":
    by_encode = [_parts_of(path) for path in paths]
    names = [[part.encode for part in parts] for parts in by_encode]
    for path, found in zip(paths, names):
        if found != names[0]:
            raise Refusal(f"{path} has other encodes than {paths[0]}: name the parts of one stream")
    return [_join(list(parts), partial) for parts in zip(*by_encode)]


# -- A part ------------------------------------------------------------------------------------------------------------


@dataclass
class Part:
    """A report's account of a range, for one encode."""

    path: str
    encode: str  # the encode's name, if the report has several
    version: str
    fps: float
    report: Json
    range: Json
    run: Json  # how it was scored
    offset: int = 0  # added to its frame numbers

    @property
    def frames(self) -> list[Json]:
        frames: list[Json] = self.report["frames"]
        return frames

    @property
    def first(self) -> int:
        """The number of the part's first pair in the whole stream."""
        return int(self.range["first"]) + self.offset

    @property
    def end(self) -> int:
        return self.first + int(self.range["frames"])

    @property
    def warnings(self) -> list[str]:
        """The warnings about its pairs, as the log has them, with and without the name of the encode."""
        texts: list[str] = self.report.get("warnings", [])
        return [f"{head}{text}" for head in ("", f"{self.encode}: ") for text in texts]

    def pictures(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yields (number in the whole stream, (time, reference, distorted)) of the pairs at its borders."""
        for picture in self.range["pictures"]:
            yield picture["frame"] + self.offset, (picture["time"], picture["reference"], picture["distorted"])


def _parts_of(path: str) -> list[Part]:
    """Returns a part for each encode of the report."""
    try:
        report, encodes = _load(path)
        parts = [_part(path, report, encode) for encode in encodes or [report]]
        for part in parts:
            _check_frames(part)
    except MemoryError as failure:
        raise Refusal(f"cannot read {path}: there is not enough memory, score shorter ranges") from failure
    except Wrong as failure:
        raise Refusal(f"{path} is not a complete report of a range, or was changed: {failure}") from None
    except ValueError as failure:
        raise Refusal(f"{path} is not a complete JSON report: {' '.join(str(failure).split())}") from None
    return parts


def _load(path: str) -> tuple[Json, list[Json]]:
    """Returns the keys that hold for all encodes, and those of each encode if there are several.

    Raises OSError, ValueError.
    """

    def refuse(constant: str) -> None:
        raise Wrong(f"JSON has no number {constant}")

    def integer(digits: str) -> float:
        if len(digits) > 20 or abs(number := int(digits)) >= 2**63:
            raise Wrong(f"the number {digits[:20]}… is too large for a report")
        return -0.0 if digits == "-0" else number

    with open_text(path, errors="strict") as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise Wrong(f"it has more than {MOST_BYTES >> 20} MiB: score shorter ranges")
        scanner = _json.Scanner(file, parse_constant=refuse, parse_int=integer)
        encodes: list[Json] = []
        report = _object(scanner, encodes)
        scanner.end()
    return report, encodes


def _object(scanner: _json.Scanner, encodes: list[Json] | None = None) -> Json:
    """Reads a report, or, without `encodes`, one encode of it."""
    found: Json = {}
    for key in scanner.members():
        if key == "frames" and scanner.peek() == "[":
            found[key] = list(_frames(scanner))
        elif key == "encodes" and encodes is not None and scanner.peek() == "[":
            for _ in scanner.items():
                encodes.append(_object(scanner))
            if not encodes:
                raise Wrong("its list of encodes is empty")
        else:
            found[key] = scanner.value()
    return found


def _frames(scanner: _json.Scanner) -> Iterator[Json]:
    """Yields the frames, which must all have the scores of the first one."""
    names: list[str] | None = None
    for place, _ in enumerate(scanner.items()):
        frame = scanner.value(MOST_LINE)
        if (
            not isinstance(frame, dict)
            or type(frame.get("frameNum")) is not int
            or not isinstance(frame.get("metrics"), dict)
        ):
            raise Wrong(
                f"frames[{place}] is {shown(frame)}, and not an object with an integer frameNum and an object metrics"
            )
        metrics = frame["metrics"]
        names = list(metrics) if names is None else names
        if len(names) > MOST_KEYS or not all(map(is_text, names)):
            raise Wrong(f"frames[{place}] has more than {MOST_KEYS} scores, or one whose name is not a text")
        if list(metrics) != names:
            raise Wrong(f"frame {frame['frameNum']} has other scores than the first frame")
        time = frame.get("time", 0)
        if type(time) not in (int, float) or not -MOST_TIME <= time <= MOST_TIME:
            raise Wrong(
                f"frame {frame['frameNum']}: its time is {shown(time)}, and not a number of seconds up to {MOST_TIME:g}"
            )
        known = {"time": time} if "time" in frame else {}
        yield {
            "frameNum": frame["frameNum"],
            **known,
            "metrics": {key: _score(frame["frameNum"], key, score) for key, score in metrics.items()},
        }


def _score(frame: int, key: str, score: Any) -> float:
    if (type(score) in (int, float) and math.isfinite(score)) or (isinstance(score, str) and score in NOT_FINITE):
        return float(score)
    raise Wrong(f"frame {frame}: {shown_key(key)} is {shown(score)}, and not a score")


def _part(path: str, report: Json, encode: Json) -> Part:
    if "range" not in encode:
        raise Refusal(f"{path} is not the report of a range: score with the filter's option range and log_fmt=json")
    if encode.get("partial"):
        given = encode["range"].get("given") if isinstance(encode["range"], dict) else None
        raise Refusal(
            f"{path} is partial: its run was cut short. Score {_short(given) if isinstance(given, str) else 'it'} again"
        )
    check_whole(report)
    check_part(encode)
    if not all(type(count) is int for count in _counts_of(encode)):
        raise Wrong("a count in it is not an integer")
    if not isinstance(encode.get("frames"), list):
        raise Wrong("frames is missing, or is not a list")
    texts = [report["version"], encode.get("name", ""), *_texts_of(encode["range"]), *_texts_of_doubts(report, encode)]
    if not all(map(is_text, texts)):
        raise Wrong("a text in it has characters that are not text")
    return Part(
        path,
        encode.get("name", ""),
        report["version"],
        float(report["fps"] or 0),
        encode,
        encode["range"],
        report.get("vmafx", {}),
    )


def _texts_of(range_: Json) -> Iterator[str]:
    """Yields the texts of a range that the library is given."""
    yield from (range_["given"], range_["unit"], range_["options"]["window"], range_["options"]["pool"])
    for picture in range_["pictures"]:
        yield from (picture["reference"], picture["distorted"])


def _texts_of_doubts(report: Json, encode: Json) -> Iterator[str]:
    for doubt in encode.get("doubts", []):
        yield from (*doubt["remedies"], *doubt.get("evidence", {}))
    for found in encode["range"].get("look", {}).get("brief", []):
        yield from found["evidence"]
    for key, told in report.get("vmafx", {}).get("scores", {}).items():
        yield from filter(None, (key, told["metric"], told.get("unit")))


def _counts_of(encode: Json) -> Iterator[Any]:
    """Yields the values that the library takes for integers; a schema takes 4.0 for one, too."""
    range_ = encode["range"]
    yield from (
        range_["first"],
        range_["frames"],
        range_["format"]["width"],
        range_["format"]["height"],
        range_["options"]["n_subsample"],
    )
    yield from (picture["frame"] for picture in range_["pictures"])
    yield from range_.get("keyframes", [])
    seen = range_.get("look", {})
    yield from (found["pair"] for what in ("breaks", "ends") for found in seen.get(what, []))
    yield from (found[name] for name in ("from", "to") for found in seen.get("brief", []))
    yield from (count for name, count in encode.get("pairing", {}).items() if name in PAIRING_NAMES)
    yield from (doubt[name] for doubt in encode.get("doubts", []) for name in ("from", "to") if name in doubt)


def _scored(first: int, count: int, step: int) -> range:
    """Returns the numbers of the pairs of a range that are scored."""
    return range(-(-first // step) * step, first + count, step)


def _check_frames(part: Part) -> None:
    """Checks that no frame of the part is missing."""
    first, count, step = part.range["first"], part.range["frames"], part.range["options"]["n_subsample"]
    wanted = _scored(first, count, step)
    if [len(part.frames), *(frame["frameNum"] for frame in part.frames)] != [len(wanted), *wanted[: len(part.frames)]]:
        raise Wrong(f"its frames are not those from {first} to {first + count - 1}")
    values, sums = part.report["aggregate_metrics"], part.range.get("sums", {})
    if list(values) != list(sums):
        raise Wrong("its sums are not those of its aggregate_metrics")
    for planes in sums.values():
        for plane in planes:
            if any(int(plane[name]) >= 2**64 for name in SUM_NAMES):
                raise Wrong("a sum in it is larger than 64 bits")


# -- Several of one stream ---------------------------------------------------------------------------------------------


def _join(parts: list[Part], partial: bool) -> list[Part]:
    """Joins the parts of one encode."""
    first = _with_scores(parts)
    for part in parts:
        _check_alike(first, part)
    parts.sort(key=lambda part: -1 if part.range["from"] is None else part.range["from"])
    for before, after in pairwise(parts):
        _check_neighbors(before, after)
    if not partial and not parts[0].range["begins_stream"]:
        raise Refusal(
            f"the beginning of the stream is missing: the first part is {_named(parts[0])}. Score the range before it, "
            "or merge with --partial"
        )
    if not partial and not parts[-1].range["ends_stream"]:
        raise Refusal(
            f"the end of the stream is missing: the last part is {_named(parts[-1])}. Score the range after it, or "
            "merge with --partial"
        )
    _number(parts)
    _check_borders(parts)
    return parts


def _with_scores(parts: Sequence[Part]) -> Part:
    """Returns the first part that has scores, or the first one."""
    return next((part for part in parts if part.frames), parts[0])


def places_of(parts: Sequence[Part]) -> list[Place]:
    """Returns the places of an encode's parts in the stream."""
    return [Place(part.range["given"], part.first, _pictures(part)) for part in parts]


def _pictures(part: Part) -> int:
    """Returns how many pictures there are up to the last scored one."""
    first: int = part.range["first"]
    scored = _scored(first, part.range["frames"], part.range["options"]["n_subsample"])
    return scored[-1] + 1 - first if scored else 0


def _named(part: Part) -> str:
    return f"{part.path} (range={_short(part.range['given'])})"


def _check_alike(one: Part, other: Part) -> None:
    def compare(what: str, *values: Any) -> None:
        if values[0] != values[1]:
            of_one, of_other = map(_short, values)
            raise Refusal(
                f"the parts are not of one stream: {what} of {one.path} is {of_one}, of {other.path} {of_other}"
            )

    compare("the version of vmafx", one.version, other.version)
    for group, word in (("format", ""), ("options", "option ")):
        for key in one.range[group] | other.range[group]:
            compare(f"{word}{_short(key)}", one.range[group].get(key), other.range[group].get(key))
    compare("the unit of the range", one.range["unit"], other.range["unit"])
    compare("the context of the range", one.range["context"], other.range["context"])
    if other.frames:  # n_subsample may leave none of a range
        compare("the list of scores", _keys(one), _keys(other))
    compare("the list of values of the stream", *(list(part.range.get("sums", {})) for part in (one, other)))
    if one.range["unit"] == "frames":
        compare(
            "the time of frame 0, from which its numbers count,", one.range["counted_from"], other.range["counted_from"]
        )


def _short(value: Any) -> str:
    text = str(value)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _keys(part: Part) -> list[str]:
    return list(part.frames[0]["metrics"]) if part.frames else []


def _check_neighbors(before: Part, after: Part) -> None:
    end, begin = before.range["to"], after.range["from"]
    if end is None or begin is None or end > begin:
        raise Refusal(f"two parts overlap: {_named(before)} and {_named(after)}: leave one of them out")
    if end < begin:
        unit = " s" if before.range["unit"] == "seconds" else ""
        raise Refusal(
            f"a part is missing, from {end}{unit} to {begin}{unit}: between {_named(before)} and {_named(after)}"
        )


def _number(parts: list[Part]) -> None:
    """Numbers the pairs as in the stream; ranges by time have counted their own."""
    if parts[0].range["unit"] == "frames":
        return
    number = 0
    for part in parts:
        part.offset = number - part.range["first"]
        number = part.end


def _check_borders(parts: list[Part]) -> None:
    """Checks that parts agree on the pictures that several have seen; at each border these are the pairs before and
    after it.
    """
    seen: dict[int, tuple[Part, tuple[Any, ...]]] = {}
    shared = set()
    for part in parts:
        for number, picture in part.pictures():
            other, wanted = seen.setdefault(number, (part, picture))
            if other is part:
                continue
            shared.add(number)
            for what, of_other, of_part in zip(
                ("time", "picture of the reference", "distorted picture"), wanted, picture
            ):
                if of_other != of_part:
                    raise Mismatch(
                        f"the parts do not meet: the {what} of frame {number} differs between {_named(other)} and "
                        f"{_named(part)}. Either the files or the filters are not the same, or a seek did not land "
                        "where it should: seek to an earlier key frame (-ss), with -copyts",
                        other,
                        part,
                    )
    for before, after in pairwise(parts):
        if not {after.first - 1, after.first} <= shared or before.end != after.first:
            raise Refusal(
                f"nothing shows that these parts meet: {_named(before)} and {_named(after)}. One of them was changed: "
                "score it again"
            )


# -- The report --------------------------------------------------------------------------------------------------------


def write_report(parts: list[Part], output: str, form: Form = Form()) -> list[str]:
    """Writes the report of the parts of one encode, and returns the library's warnings. Raises Failure, OSError."""
    _check_outputs([part.path for part in parts], [output], form)
    # Imported here, as the other subcommands do without cffi.
    from .._enums import values_of
    from .._library import Error, Messages, ffi, library, log_callback

    kept: list[Any] = []  # the texts and arrays that the structs point to
    messages = Messages()
    report, stream = ffi.new("VmafxReport *"), ffi.new("VmafxReportStream *")
    cookie = ffi.new_handle(messages)
    frames = [(frame, part) for part in parts for frame in part.frames]
    format, options = parts[0].range["format"], parts[0].range["options"]

    def text(characters: str | None) -> Any:
        kept.append(ffi.NULL if characters is None else ffi.new("char[]", os.fsencode(characters)))
        return kept[-1]

    keys = {key: text(key) for key in _keys(_with_scores(parts))}
    report.path, report.format, report.score_fmt = (
        text(output),
        text(form.log_fmt or ("json" if output == "-" else None)),
        text(form.score_fmt),
    )
    report.overwrite = form.force  # _check_outputs() has refused other files than reports
    report.width, report.height, report.n_subsample = format["width"], format["height"], options["n_subsample"]
    seconds = sum(len(part.frames) / part.fps for part in parts if part.fps)
    report.fps = len(frames) / seconds if seconds else 0
    report.n_frames = len(frames)
    report.frames = results = ffi.new("VmafxFrameResult[]", len(frames))
    stream.pictures = pictures = ffi.new("VmafxPicture[]", len(frames))
    keyframes = {number + part.offset for part in parts for number in part.range.get("keyframes", [])}
    for (frame, part), result, picture in zip(frames, results, pictures):
        result.frame = frame["frameNum"] + part.offset
        result.n_scores = len(keys)
        result.scores = scores = ffi.new(
            "VmafxScore[]", [(keys[key], score) for key, score in frame["metrics"].items()]
        )
        kept.append(scores)
        picture.has_time, picture.time = "time" in frame, frame.get("time", 0)
        picture.keyframe = result.frame in keyframes
    stream.window, stream.pool = text(options["window"]), text(options["pool"])
    stream.pairing = _pairing(parts, form.partial, kept)
    findings = [_finding(doubt, part.offset, kept) for part in parts for doubt in _findings_of(part)]
    kept.append(ffi.new("VmafxFinding[]", findings))
    stream.findings, stream.n_findings = kept[-1], len(findings)
    kept.append(ffi.new("int64_t[]", [part.first for part in parts]))
    stream.parts, stream.n_parts = kept[-1], len(parts)
    breaks = [(found["pair"] + part.offset, found["size"]) for part in parts for found in _seen(part, "breaks")]
    ends = [
        (fit["pair"] + part.offset, *(fit[name] for name in FIT_NAMES)) for part in parts for fit in _seen(part, "ends")
    ]
    brief = [_finding(found, part.offset, kept) for part in parts for found in _known(_seen(part, "brief"))]
    kept += [ffi.new("VmafxBreak[]", breaks), ffi.new("VmafxPairFit[]", ends), ffi.new("VmafxFinding[]", brief)]
    stream.breaks, stream.ends, stream.brief = kept[-3:]
    stream.n_breaks, stream.n_ends, stream.n_brief = len(breaks), len(ends), len(brief)
    facts = [
        (
            text(key),
            text(told["metric"]),
            values_of("VmafxWorse")[told["worse"]],
            told["main"],
            0,
            text(told.get("unit")),
        )
        for key, told in _with_scores(parts).run.get("scores", {}).items()
    ]
    kept.append(ffi.new("VmafxScoreFacts[]", facts))
    stream.facts, stream.n_facts = kept[-1], len(facts)
    values = [(text(key), value) for key, value in _values(parts).items()]
    kept.append(ffi.new("VmafxScore[]", values))
    report.aggregates, report.n_aggregates = kept[-1], len(values)
    report.stream, report.log, report.log_cookie = stream, log_callback, cookie
    code = library().vmafx_write_report(report)
    messages.raise_kept()
    if code < 0:
        raise Error(-code, messages.errors[-1] if messages.errors else os.strerror(-code))
    return messages.warnings


def _values(parts: list[Part]) -> dict[str, float]:
    """Returns the values of the whole stream, which the library makes of the sums of all parts. Raises Failure."""
    from .._library import ffi, library

    values: dict[str, float] = {}
    for key in parts[0].range.get("sums", {}):
        planes = [plane for part in parts for plane in part.range["sums"][key]]
        metrics = {plane["metric"]: ffi.new("char[]", os.fsencode(plane["metric"])) for plane in planes}
        sums, value = ffi.new("VmafxStreamSums[]", len(planes)), ffi.new("double *")
        for given, plane in zip(sums, planes):
            given.metric, given.plane = metrics[plane["metric"]], plane["plane"]
            for name in SUM_NAMES:
                setattr(given, name, int(plane[name]))
        if library().vmafx_stream_value(sums, len(planes), value) < 0:
            raise Refusal(f"the sums of {shown_key(key)} do not belong together: score the ranges again")
        values[key] = value[0]
    return values


def _pairing(parts: list[Part], partial: bool, kept: list[Any]) -> Any:
    """Returns the pairing of all parts together; NULL if they do not say. `kept` keeps what it points to alive."""
    from .._enums import values_of
    from .._library import ffi

    of_parts: list[Json] = [part.report["pairing"] for part in parts if part.report.get("pairing")]
    if len(of_parts) < len(parts):
        return ffi.NULL
    pairing = ffi.new("VmafxPairing *")
    for name in PAIRING_NAMES:
        setattr(pairing, name, sum(of_part[name] for of_part in of_parts))
    pairing.max_time_difference = max(of_part["max_time_difference"] for of_part in of_parts)
    pairing.cut_short = partial and not (parts[0].range["begins_stream"] and parts[-1].range["ends_stream"])
    kinds = [kind for kind in values_of("VmafxDoubtKind") if any(_doubts_of(part, kind) for part in parts)]
    doubts = [_doubt(kind, parts, kept) for kind in kinds]
    kept += [pairing, ffi.new("VmafxDoubt[]", doubts)]
    pairing.doubts, pairing.n_doubts = kept[-1], len(doubts)
    return pairing


def _doubts_of(part: Part, kind: str) -> list[Json]:
    return [doubt for doubt in part.report.get("doubts", []) if doubt["kind"] == kind]


def _doubt(kind: str, parts: list[Part], kept: list[Any]) -> Json:
    """Returns the doubt of all parts together, with the numbers of the whole stream."""
    from .._enums import values_of
    from .._library import ffi

    found = [(part, doubt) for part in parts for doubt in _doubts_of(part, kind)]
    places = [(doubt[name] + part.offset) for part, doubt in found for name in ("from", "to") if name in doubt]
    remedies = dict.fromkeys(remedy for _, doubt in found for remedy in doubt["remedies"])
    texts = [ffi.new("char[]", os.fsencode(remedy)) for remedy in remedies]
    listed = ffi.new("const char *[]", texts)
    kept += [texts, listed]
    return {
        "kind": values_of("VmafxDoubtKind")[kind],
        "from": min(places, default=0),
        "end": max(places) + 1 if places else 0,
        "frame_duration": max(doubt.get("frame_duration", 0.0) for _, doubt in found),
        "remedies": listed,
        "n_remedies": len(texts),
    }


def _findings_of(part: Part) -> list[Json]:
    """Returns the doubts that pictures of the part raise, which the library joins with those of other parts."""
    return [doubt for doubt in _known(part.report.get("doubts", [])) if "certainty" in doubt]


def _known(findings: list[Json]) -> list[Json]:
    """Returns those of a kind that the library knows."""
    from .._enums import values_of

    kinds = values_of("VmafxFindingKind")
    return [finding for finding in findings if finding["kind"] in kinds]


def _seen(part: Part, what: str) -> list[Json]:
    """Returns what the look saw of the part's pictures; nothing where nobody looked."""
    seen: list[Json] = part.range.get("look", {}).get(what, [])
    return seen


def _finding(doubt: Json, offset: int, kept: list[Any]) -> Json:
    """Returns a doubt as VmafxFinding, with the numbers of the whole stream."""
    from .._enums import values_of
    from .._library import ffi

    numbers = doubt.get("evidence", {})
    texts = [ffi.new("char[]", os.fsencode(name)) for name in numbers]
    evidence = ffi.new("VmafxEvidence[]", list(zip(texts, numbers.values())))
    kept += [texts, evidence]
    return {
        "kind": values_of("VmafxFindingKind")[doubt["kind"]],
        "certainty": values_of("VmafxCertainty")[doubt["certainty"]],
        "from": doubt["from"] + offset,
        "end": doubt["to"] + offset + 1,
        "evidence": evidence,
        "n_evidence": len(numbers),
    }
