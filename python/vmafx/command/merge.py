"""merge the JSON reports of a stream's ranges into the report of the whole stream

The scores of ranges are those of the whole stream, so that what is left to do is to see that the parts are all of one
stream, whole, and meet at the very same pictures. The library pools and writes, as for a single run.
"""

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .._identity import file_of_output
from . import _json
from ._outputs import WHOLE_REPORT, Output, add_force, check_outputs
from ._reading import MOST_LINE, Wrong, is_text, open_text, shown, shown_key
from ._schemas import MOST_TIME, PAIRING_NAMES, check_part, check_whole
from ._terminal import Failure, shown

Json = dict[str, Any]
MOST_BYTES = 1 << 30  # of a part, whose scores are in the memory at once
MOST_KEYS = 2000  # scores of a frame
NOT_FINITE = "inf", "-inf", "nan", "-nan"
MOST_SHOWN = 300  # characters of a value in an error


class Refusal(Failure):
    """The parts are not to be merged; str() says why and what to do."""


class Mismatch(Refusal):
    """Two parts have seen one pair of pictures differently: a seek before one of them went wrong, if the files are the
    same.
    """

    def __init__(self, text: str, before: "Part", after: "Part") -> None:
        super().__init__(text)
        self.before, self.after = before, after


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
        help="the report; with several encodes %%d stands for the number of each (default: standard output)",
    )
    add(
        "--log-fmt",
        choices=("xml", "json", "csv", "sub"),
        help="its format (default: what REPORT ends with, else json)",
    )
    add("--score-fmt", metavar="FORMAT", help="as the filter's option score_fmt (default: as the filter prints)")
    add(
        "--partial",
        action="store_true",
        help="the parts need not hold the beginning and the end of the stream; the report is marked partial",
    )
    add_force(parser)


def check_library(ffmpeg: str | None = None) -> None:
    """The library writes the report. That of this ffmpeg is taken, if it has one. Raises Failure."""
    try:
        from .. import _library  # here: the other subcommands do without cffi
    except ImportError as failure:
        needs = f"reports of parts are merged by the library, for which Python needs cffi ({failure})"
        raise Failure(f"{needs}: apt-get install python3-cffi") from failure
    if ffmpeg:
        _library.look_beside(ffmpeg)
    try:
        _library.library()
    except OSError as failure:
        raise Failure(str(failure)) from failure


def run(arguments: argparse.Namespace) -> int:
    try:
        formats = arguments.log_fmt, arguments.score_fmt
        merge(arguments.parts, arguments.output, *formats, arguments.partial, arguments.force)
    except OSError as failure:  # a file, or the library's own
        cause = failure.strerror or str(failure)
        raise Failure(f"cannot read {shown(failure.filename)}: {cause}" if failure.filename else cause) from failure
    return 0


def merge(
    paths: Sequence[str],
    output: str,
    log_fmt: str | None = None,
    score_fmt: str | None = None,
    partial: bool = False,
    force: bool = False,
) -> None:
    """Writes the report of the stream whose parts these files are.

    `force`: replaces also a file that is not the report of a whole stream, but never one of the parts.
    Raises Refusal or another Failure, OSError.
    """
    if "%d" not in output:
        _check_outputs(paths, [output], force)
    streams = streams_of(paths, partial)  # all of them, before anything is written
    if len(streams) > 1 and "%d" not in output:
        raise Refusal(
            f"{paths[0]} is of {len(streams)} encodes, each of which gets a report of its own: -o scores%d.json"
        )
    outputs = [output.replace("%d", str(number)) for number in range(len(streams))] if len(streams) > 1 else [output]
    _check_outputs(paths, outputs, force)
    check_library()
    for parts, own in zip(streams, outputs):
        write_report(parts, own, log_fmt, score_fmt, partial, force)


def _check_outputs(paths: Sequence[str], outputs: Sequence[str], force: bool) -> None:
    check_outputs(paths, [Output("-o", Path(file_of_output(output)), WHOLE_REPORT) for output in outputs], force)


def streams_of(paths: Sequence[str], partial: bool = False) -> "list[list[Part]]":
    """The parts of each encode in order, with frame numbers of the whole stream.

    Raises Refusal if they are not one stream.
    """
    try:
        return _streams_of(paths, partial)
    except RecursionError:
        raise Refusal(f"{', '.join(paths)}: what one of them says of its range nests too deep") from None


def _streams_of(paths: Sequence[str], partial: bool) -> "list[list[Part]]":
    by_encode = [_parts_of(path) for path in paths]
    names = [[part.encode for part in parts] for parts in by_encode]
    for path, found in zip(paths, names):
        if found != names[0]:
            raise Refusal(f"{path} is of other encodes than {paths[0]}")
    return [_join(list(parts), partial) for parts in zip(*by_encode)]


# -- A part ------------------------------------------------------------------------------------------------------------


@dataclass
class Part:
    """What a report says of a range, of one encode."""

    path: str
    encode: str  # its name, where there are several
    version: str
    fps: float
    report: Json
    range: Json
    run: Json  # how it was scored
    offset: int = 0  # what to add to its frame numbers

    @property
    def frames(self) -> list[Json]:
        frames: list[Json] = self.report["frames"]
        return frames

    @property
    def first(self) -> int:
        """The number of its first pair in the whole stream."""
        return int(self.range["first"]) + self.offset

    @property
    def end(self) -> int:
        return self.first + int(self.range["frames"])

    def pictures(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """(number in the whole stream, (time, reference, distorted)) at its borders."""
        for picture in self.range["pictures"]:
            yield picture["frame"] + self.offset, (picture["time"], picture["reference"], picture["distorted"])


def _parts_of(path: str) -> list[Part]:
    """One for each encode."""
    try:
        report, encodes = _load(path)
        parts = [_part(path, report, encode) for encode in encodes or [report]]
        for part in parts:
            _check_frames(part)
    except MemoryError as failure:
        raise Refusal(f"{path} cannot be read: there is not enough memory") from failure
    except Wrong as failure:
        raise Refusal(f"{path} is not a whole report of a range, or was changed: {failure}") from None
    except ValueError as failure:
        raise Refusal(f"{path} is not a whole JSON report: {' '.join(str(failure).split())}") from None
    return parts


def _load(path: str) -> tuple[Json, list[Json]]:
    """What is said of all encodes, and what of each, if there are several. Raises OSError, ValueError."""

    def refuse(constant: str) -> None:
        raise Wrong(f"{constant} is not a number of JSON")

    def integer(digits: str) -> float:
        if len(digits) > 20 or abs(number := int(digits)) >= 2**63:
            raise Wrong(f"{digits[:20]}… is not a number of a report")
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
    """A report, or, without `encodes`, the part of an encode."""
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
    """All with the scores of the first one."""
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
            raise Wrong(f"frame {frame['frameNum']} has other scores than the first")
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
    texts = [report["version"], encode.get("name", ""), *_texts_of(encode["range"])]
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
    """What the library is given of a range."""
    yield from (range_["given"], range_["unit"], range_["options"]["window"], range_["options"]["pool"])
    for picture in range_["pictures"]:
        yield from (picture["reference"], picture["distorted"])


def _counts_of(encode: Json) -> Iterator[Any]:
    """What the library takes for integers, as which a schema takes 4.0, too."""
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
    yield from (count for name, count in encode.get("pairing", {}).items() if name in PAIRING_NAMES)


def _check_frames(part: Part) -> None:
    """Nothing is missing in it."""
    first, count, step = part.range["first"], part.range["frames"], part.range["options"]["n_subsample"]
    wanted = range(-(-first // step) * step, first + count, step)
    if [len(part.frames), *(frame["frameNum"] for frame in part.frames)] != [len(wanted), *wanted[: len(part.frames)]]:
        raise Wrong(f"its frames are not those from {first} to {first + count - 1}")
    if part.report["aggregate_metrics"]:
        raise Wrong("scores of a whole stream cannot be merged")


# -- Several of one stream ---------------------------------------------------------------------------------------------


def _join(parts: list[Part], partial: bool) -> list[Part]:
    """Those of an encode."""
    for part in parts[1:]:
        _check_alike(parts[0], part)
    parts.sort(key=lambda part: -1 if part.range["from"] is None else part.range["from"])
    for before, after in pairwise(parts):
        _check_neighbors(before, after)
    if not partial and not parts[0].range["begins_stream"]:
        raise Refusal(
            f"the beginning of the stream is missing: the first part is {_named(parts[0])}. Score what is before it, "
            "or merge with --partial"
        )
    if not partial and not parts[-1].range["ends_stream"]:
        raise Refusal(
            f"the end of the stream is missing: the last part is {_named(parts[-1])}. Score what is after it, or "
            "merge with --partial"
        )
    _number(parts)
    _check_borders(parts)
    return parts


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
    compare("the list of scores", _keys(one), _keys(other))
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
        raise Refusal(f"two parts overlap: {_named(before)} and {_named(after)}")
    if end < begin:
        unit = " s" if before.range["unit"] == "seconds" else ""
        raise Refusal(
            f"a part is missing, from {end}{unit} to {begin}{unit}: between {_named(before)} and {_named(after)}"
        )


def _number(parts: list[Part]) -> None:
    """Numbers of pairs are those of the stream; with times each part has counted for itself."""
    if parts[0].range["unit"] == "frames":
        return
    number = 0
    for part in parts:
        part.offset = number - part.range["first"]
        number = part.end


def _check_borders(parts: list[Part]) -> None:
    """What several parts have seen must be the same, and at each border that is the pair before it and the pair after
    it.
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
                        f"{_named(part)}. Either the files or "
                        "the filters are not the same, or a seek did not land where it should: seek to an earlier "
                        "key frame (-ss), with -copyts",
                        other,
                        part,
                    )
    for before, after in pairwise(parts):
        if not {after.first - 1, after.first} <= shared or before.end != after.first:
            raise Refusal(
                f"nothing shows that these parts meet: {_named(before)} and {_named(after)}; one of them was changed"
            )


# -- The report --------------------------------------------------------------------------------------------------------


def write_report(
    parts: list[Part],
    output: str,
    log_fmt: str | None = None,
    score_fmt: str | None = None,
    partial: bool = False,
    force: bool = False,
) -> None:
    """Writes the report of the parts of one encode, as merge(). Raises Failure, OSError."""
    _check_outputs([part.path for part in parts], [output], force)
    from .._library import Error, Messages, ffi, library, log_callback  # here: the other subcommands do without cffi

    kept: list[Any] = []  # what the structs point to
    messages = Messages()
    report, stream = ffi.new("VmafxReport *"), ffi.new("VmafxReportStream *")
    cookie = ffi.new_handle(messages)
    frames = [(frame, part) for part in parts for frame in part.frames]
    format, options = parts[0].range["format"], parts[0].range["options"]

    def text(characters: str | None) -> Any:
        kept.append(ffi.NULL if characters is None else ffi.new("char[]", os.fsencode(characters)))
        return kept[-1]

    keys = {key: text(key) for key in _keys(parts[0])}
    report.path, report.format, report.score_fmt = (
        text(output),
        text(log_fmt or ("json" if output == "-" else None)),
        text(score_fmt),
    )
    report.overwrite = force  # other files than reports were refused above
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
    stream.pairing = pairing = _pairing(parts, partial)
    report.stream, report.log, report.log_cookie = stream, log_callback, cookie
    code = library().vmafx_write_report(report)
    del pairing  # until here
    messages.raise_kept()
    if code < 0:
        raise Error(-code, messages.errors[-1] if messages.errors else os.strerror(-code))


def _pairing(parts: list[Part], partial: bool) -> Any:
    """Of all parts together; NULL where they do not say."""
    from .._library import ffi

    of_parts: list[Json] = [part.report["pairing"] for part in parts if part.report.get("pairing")]
    if len(of_parts) < len(parts):
        return ffi.NULL
    pairing = ffi.new("VmafxPairing *")
    for name in PAIRING_NAMES:
        setattr(pairing, name, sum(of_part[name] for of_part in of_parts))
    pairing.max_time_difference = max(of_part["max_time_difference"] for of_part in of_parts)
    pairing.cut_short = partial and not (parts[0].range["begins_stream"] and parts[-1].range["ends_stream"])
    return pairing
