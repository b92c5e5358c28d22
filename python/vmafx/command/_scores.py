"""Reads reports: JSON, NDJSON, CSV and XML of the filter, JSON, CSV and XML of libvmaf.

A report may be of any length. What must be in the memory is bounded: `_reading.py` and the constants below say how.
"""

import csv
import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias
from xml.parsers import expat

from . import _json
from ._keys import Facts, facts_told, known_facts
from ._reading import MOST_LINE, Wrong, is_text, one_line, open_text, read_line, shown, shown_key
from ._schemas import MOST_ENCODES, MOST_NAME, MOST_NUMBER, MOST_TIME, check_summary, check_window
from ._terminal import Failure

Values: TypeAlias = Mapping[str, float | None]

MOST_KEYS = 2000  # scores of an encode
MOST_KEY = 1024  # characters
MOST_GAPS = 10_000_000  # scores that frames lack, beyond as many as there are
MOST_POOLED = 5_000_000  # scores of windows, of all encodes together
MOST_LINES = 1000  # that a row of CSV goes on
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-nan": math.nan}  # as a report of a range has them
BEFORE_FRAMES = "Encode", "Name", "Frame", "Time", "Doubts"  # columns of CSV


class Window(NamedTuple):
    first_frame: int
    last_frame: int
    time: float | None
    pooled: Values


@dataclass
class Encode:
    """The scores of one encode. The n-th number, time and score of each key belong together."""

    name: str
    numbers: "array[int]" = field(default_factory=lambda: array("q"))  # ascending
    times: "array[float]" = field(
        default_factory=lambda: array("d")
    )  # in seconds, ascending; empty: the report has none
    scores: "dict[str, array[float]]" = field(default_factory=dict)  # NaN: none
    pooled: dict[str, Values] = field(default_factory=dict)
    aggregates: Values = field(default_factory=dict)  # values of the whole stream
    windows: list[Window] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)  # `vmafx` of the report
    pairing: dict[str, float] = field(default_factory=dict)
    doubts: list[dict[str, Any]] = field(default_factory=list)
    partial: bool = False  # the inputs were not read to their end
    warnings: list[str] = field(default_factory=list)
    provenance: Any = None  # as the report has it, not checked; None: it has none
    # All pooled values of a score, as _statistics computes them, and of how many frames.
    pooled_here: dict[str, tuple[int, dict[str, float | None]]] = field(default_factory=dict)
    _nulls: "dict[str, array[int]]" = field(
        default_factory=dict
    )  # places of scores that are not finite, as JSON has them
    _given: int = 0  # scores
    _gaps: int = 0  # scores that frames lack
    _falls: bool = False  # a time is before the one before

    def add(self, number: Any, time: Any, scores: Any) -> None:
        """A frame, as it is in a report, after those before it. Raises Wrong."""
        count = len(self.numbers)
        if type(number) is not int or not 0 <= number <= MOST_NUMBER:
            raise Wrong(f"the number of a frame is {shown(number)}, and not an integer from 0 to {MOST_NUMBER}")
        if count and number <= self.numbers[-1]:
            raise Wrong(f"frame {number} comes after frame {self.numbers[-1]}: numbers of frames ascend")
        if type(scores) is not dict:
            raise Wrong(f"frame {number}: its scores are {shown(scores)}, and not an object")
        for key, score in scores.items():
            column = self.scores[key] if key in self.scores else self._new(key)
            if len(column) < count:
                self._fill(column, count)
            column.append(score if type(score) is float else self._score(number, key, score))
        self.numbers.append(number)
        self._given += len(scores)
        if time is not None:
            self._add_time(number, time)

    def _new(self, key: str) -> "array[float]":
        if not key or not is_text(key) or len(key) > MOST_KEY:
            raise Wrong(f"a score is called {shown(key)}, and not by a text of 1 to {MOST_KEY} characters")
        if len(self.scores) == MOST_KEYS:
            raise Wrong(f"there are more than {MOST_KEYS} scores: {shown_key(key)} is one too many")
        return self.scores.setdefault(key, array("d"))

    def _score(self, number: int, key: str, score: Any) -> float:
        if score is None:
            self._nulls.setdefault(key, array("q")).append(len(self.numbers))
            return math.nan
        if isinstance(score, str) and score in NOT_FINITE:
            return NOT_FINITE[score]
        if type(score) is int and -(2**1023) < score < 2**1023:
            return float(score)
        raise Wrong(f"frame {number}: {shown_key(key)} is {shown(score)}, and not a number")

    def _add_time(self, number: int, time: Any) -> None:
        if type(time) not in (int, float) or not -MOST_TIME <= time <= MOST_TIME:
            raise Wrong(f"frame {number}: its time is {shown(time)}, and not a number of seconds up to {MOST_TIME:g}")
        if self.times and time < self.times[-1]:
            self._falls = True
        self.times.append(time)

    def _fill(self, column: "array[float]", count: int) -> None:
        """With gaps, for frames that lack this score."""
        missing = count - len(column)
        self._gaps += missing
        if self._gaps > MOST_GAPS + self._given:
            raise Wrong(f"most of {count} frames lack most of {len(self.scores)} scores: is this one report?")
        column.extend(itertools.repeat(math.nan, missing))

    def finish(self) -> None:
        """After the last frame. Raises Wrong."""
        for column in self.scores.values():
            if len(column) < len(self.numbers):
                self._fill(column, len(self.numbers))
        if self._falls:
            self.warnings.append("The times of the frames do not ascend: what is shown is over frame numbers.")
        if self._falls or len(self.times) < len(self.numbers):
            self.times = array("d")

    def position(self, i: int) -> float:
        """Its time, or its number, where the report has no times."""
        return self.times[i] if self.times else float(self.numbers[i])

    def set_rate(self, rate: float) -> None:
        """Times for a report that has none, unless they are beyond all."""
        if self.numbers[-1] / rate <= MOST_TIME:
            self.times = array("d", (number / rate for number in self.numbers))

    @property
    def models(self) -> dict[str, str]:
        """The names of models, by the keys of their scores, as far as the report tells them."""
        told = self.run.get("models")
        models = told.items() if isinstance(told, dict) else ()
        return {key: model for key, model in models if isinstance(model, str)}

    def main_keys(self) -> list[str]:
        """The main scores, those of models first; else the last key."""
        found = {key: self.facts(key) for key in self.scores}
        main = [key for key, facts in found.items() if facts.main]
        models = [key for key in main if found[key].metric is None]
        return models + [key for key in main if key not in models] or list(self.scores)[-1:]

    def facts(self, key: str) -> Facts:
        """Returns the facts of a score by the report, or else by its key."""
        told = self.run.get("scores", {}).get(key)
        return facts_told(told) if told else known_facts(key)

    def take_summary(self, summary: Mapping[str, Any]) -> None:
        """Takes all of a report but its frames and windows, in the form of _schemas.py."""
        for group in ("pooled_metrics", "pooled_statistics"):
            for key, values in summary.get(group, {}).items():
                self.pooled[key] = {
                    **self.pooled.get(key, {}),
                    **{name: number_of(value) for name, value in values.items()},
                }
        self.aggregates = {key: number_of(value) for key, value in summary.get("aggregate_metrics", {}).items()}
        for key in summary.get("infinite_scores", []):  # JSON has no infinity: where it stands for one, there is null
            self._set_infinite(key)
        self.run = summary.get("vmafx", {})
        self.provenance = summary.get("provenance")
        self.pairing = {name: count for name, count in summary.get("pairing", {}).items() if count is not None}
        self.doubts = summary.get("doubts", [])
        self.partial = summary.get("partial") in (True, "true")
        self.warnings += summary.get("warnings", [])
        if self.partial:
            self.warnings.append("The inputs were not read to their end: these are the scores up to there.")
        if "doubts" not in summary:
            self._doubt_counts()

    def _doubt_counts(self) -> None:
        """Adds a warning with the counts, for reports of versions that have neither `doubts` nor `warnings`."""
        counts = {name.replace("_", " "): self.pairing.get(name) for name in DOUBTFUL}
        if doubts := [f"{name} {count}" for name, count in counts.items() if count]:
            told = "The scores are doubtful, the inputs do not go together frame by frame"
            self.warnings.append(f"{told}: {', '.join(doubts)}.")

    def _set_infinite(self, key: str) -> None:
        for place in self._nulls.pop(key, ()):
            self.scores[key][place] = math.inf
        if key in self.scores and not any(map(math.isfinite, self.scores[key])):
            told = self.pooled.get(key, {})
            self.pooled[key] = {
                name: math.inf if value is None and name != "stddev" else value for name, value in told.items()
            }
        self.windows = [
            window._replace(pooled={**window.pooled, key: math.inf}) if window.pooled.get(key, 0) is None else window
            for window in self.windows
        ]


DOUBTFUL = (
    "unmatched_distorted",
    "unmatched_reference",
    "repeated_reference",
    "repeated_distorted",
    "corrupt_distorted",
    "corrupt_reference",
)


def number_of(score: Any) -> float | None:
    """Reads a score of a report: a number, null, or one of NOT_FINITE. Raises Wrong."""
    try:
        return NOT_FINITE[score] if isinstance(score, str) else None if score is None else float(score)
    except OverflowError:
        raise Wrong(f"a pooled score is {shown(score)}, which is beyond the numbers") from None


def read_scores(path: Path) -> list[Encode]:
    """The encodes of a report. Those without a name have that of the file. Raises Failure."""
    try:
        with open_text(path) as file:
            first = read_first(file)
            encodes = list(_reader_of(first)(file, first, path.stem))
        for encode in encodes:
            encode.finish()
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    except MemoryError as error:
        raise Failure(f"cannot read {path}: there is not enough memory") from error
    except Wrong as error:
        raise Failure(f"cannot take {path} for a report: {error}") from error
    except (ValueError, csv.Error, expat.ExpatError) as error:
        raise Failure(
            f"{path} is not a report of vmafx or libvmaf in JSON, NDJSON, CSV or XML: {one_line(error)}"
        ) from error
    for encode in encodes:
        if not encode.scores:
            raise Failure(f"{path} has no scores of frames" + (f" for {encode.name}" if len(encodes) > 1 else ""))
    if not encodes:
        raise Failure(f"{path} has no scores")
    return encodes


def read_first(file: IO[str]) -> str:
    """The first line that is not blank, or so much of it as a line may have; "" of an empty file."""
    for _ in range(MOST_LINES):
        first = file.readline(MOST_LINE)
        if first.strip() or not first:
            return first
    raise Wrong("it begins with nothing but blank lines")


def _reader_of(first: str) -> Any:
    if first.lstrip().startswith("<"):
        return _read_xml
    if not first.lstrip().startswith(("{", "[")):
        return _read_csv
    try:
        return _read_ndjson if "frameNum" in _json.parse(first) else _read_json
    except (ValueError, TypeError):
        return _read_json


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_NAME:
        raise Wrong(f"the name of an encode is {shown(value)}, and not a text of at most {MOST_NAME} characters")
    return value


# -- JSON --------------------------------------------------------------------------------------------------------------


class _Report:
    """A report in JSON, as far as it is read. Frames and windows are put away one by one: as Python's objects, those
    of a film would fill the memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.summary: dict[str, Any] = {}
        self.encodes: list[tuple[Encode, dict[str, Any]]] = []
        self.pooled = 0  # scores of windows

    def read(self, scanner: _json.Scanner) -> None:
        own, seen = Encode(self.name), False
        for key in scanner.members():
            if key == "encodes":
                for _ in scanner.items():
                    self._read_encode(scanner)
            elif key in ("frames", "windows"):
                self._read_list(scanner, key, own)
                seen = seen or key == "frames"
            else:
                self.summary[key] = scanner.value()
        scanner.end()
        check_summary(self.summary)
        if not self.encodes or seen:
            self.encodes.append((own, {}))

    def _read_encode(self, scanner: _json.Scanner) -> None:
        if len(self.encodes) == MOST_ENCODES:
            raise Wrong(f"there are more than {MOST_ENCODES} encodes")
        encode, summary = Encode(self.name), {}
        for key in scanner.members():
            if key in ("frames", "windows"):
                self._read_list(scanner, key, encode)
            else:
                summary[key] = scanner.value()
        check_summary(summary, f"encodes[{len(self.encodes)}]")
        encode.name = _name(summary.get("name", self.name))
        self.encodes.append((encode, summary))

    def _read_list(self, scanner: _json.Scanner, key: str, encode: Encode) -> None:
        if scanner.peek() != "[":
            raise Wrong(f"{key} is {shown(scanner.value())}, and not a list")
        for place, _ in enumerate(scanner.items()):
            item = scanner.value(MOST_LINE)
            if key == "frames":
                add_frame(encode, item, place)
            else:
                self._add_window(encode, item, place)

    def _add_window(self, encode: Encode, item: Any, place: int) -> None:
        check_window(item, f"windows[{place}]")
        self.pooled += len(item["pooled"])
        if self.pooled > MOST_POOLED:
            raise Wrong(f"the windows have more than {MOST_POOLED} scores")
        pooled = {key: number_of(score) for key, score in item["pooled"].items()}
        time = item.get("time")
        encode.windows.append(
            Window(
                int(item["firstFrame"]),
                int(item["lastFrame"]),
                None if time is None or math.isnan(time) else float(time),
                pooled,
            )
        )


def add_frame(encode: Encode, frame: Any, place: int) -> None:
    """One of the list `frames` of JSON."""
    if type(frame) is not dict:
        raise Wrong(f"frames[{place}] is {shown(frame)}, and not an object with a frameNum and metrics")
    for name in ("frameNum", "metrics"):
        if name not in frame:
            raise Wrong(f"frames[{place}] has no {name}")
    encode.add(frame["frameNum"], frame.get("time"), frame["metrics"])


def _read_json(file: IO[str], first: str, name: str) -> Iterator[Encode]:
    report = _Report(name)
    report.read(_json.Scanner(file, first))
    for encode, summary in report.encodes:
        encode.take_summary({**report.summary, **summary})
        yield encode


def _read_ndjson(file: IO[str], first: str, name: str) -> Iterable[Encode]:
    encodes: dict[int, Encode] = {}
    report: _Report | None = None
    line, number = first, 0
    while line and not report:
        number += 1
        if thing := _line_of_json(line, number):
            if "frameNum" in thing:
                _add_line(encodes, thing, number, name)
            elif "window" not in thing:
                report = _Report(name)
                report.read(_json.Scanner(file, line))
        elif len(line) >= MOST_LINE:  # what comes last may be of any length, as a report in JSON
            report = _Report(name)
            report.read(_json.Scanner(file, line))
        elif not line.endswith("\n"):
            break  # of a run that was killed
        line = "" if report else file.readline(MOST_LINE)
    for place, encode in encodes.items():
        if report is None:
            encode.warnings.append("The run was aborted: the report lacks its last line.")
        else:
            _take_last_line(encode, place, report)
    return encodes.values()


def _line_of_json(line: str, number: int) -> dict[str, Any] | None:
    """None: it is blank, or not whole."""
    if not line.strip():
        return None
    try:
        thing = _json.parse(line, object_pairs_hook=_json.unique)
    except Wrong as error:
        raise Wrong(f"line {number}: {error}") from None
    except ValueError as error:
        if line.endswith("\n"):
            raise ValueError(f"line {number}: {error}") from None
        return None
    if not isinstance(thing, dict):
        raise Wrong(f"line {number} is {shown(thing)}, and not an object")
    return thing


def _add_line(encodes: dict[int, Encode], thing: dict[str, Any], number: int, name: str) -> None:
    place = thing.get("encode", 0)
    if type(place) is not int or not 0 <= place < MOST_ENCODES:
        raise Wrong(f"line {number}: encode is {shown(place)}, and not an integer below {MOST_ENCODES}")
    if place not in encodes:
        encodes[place] = Encode(_name(thing.get("name", name)))
    try:
        encodes[place].add(thing["frameNum"], thing.get("time"), thing.get("metrics"))
    except Wrong as error:
        raise Wrong(f"line {number}: {error}") from None


def _take_last_line(encode: Encode, place: int, report: _Report) -> None:
    """Takes the last line, which is of all encodes, or of each of several, with their windows."""
    for own, summary in report.encodes:
        if summary.get("encode", place) == place:
            encode.windows = own.windows
            encode.take_summary({**report.summary, **summary})
            return
    encode.take_summary(report.summary)


# -- CSV and XML -------------------------------------------------------------------------------------------------------


def _read_csv(file: IO[str], first: str, name: str) -> Iterable[Encode]:
    lines = _Lines(file, first)
    rows = csv.reader(lines, strict=True)
    heads = [head.strip() for head in next(rows, [])]
    if "Frame" not in heads:
        raise ValueError("there is no column Frame")
    named = [head for head in heads if head]  # none is after the comma at the end of each line
    if len(set(named)) < len(named):
        raise Wrong("its first line names a column twice")
    places = {head: heads.index(head) for head in named}
    scores = [(head, place) for head, place in places.items() if head not in BEFORE_FRAMES]
    encodes: dict[str, Encode] = {}
    for row in rows:
        lines.of_row = 0
        if not row:
            continue
        if len(row) != len(heads):
            raise Wrong(f"line {rows.line_num}: {len(row)} cells, and {len(heads)} in the first line")
        cell = {head: row[places[head]] for head in BEFORE_FRAMES if head in places}
        own = cell.get("Encode", "0")
        if own not in encodes:
            if len(encodes) == MOST_ENCODES:
                raise Wrong(f"line {rows.line_num}: there are more than {MOST_ENCODES} encodes")
            encodes[own] = Encode(_name(cell.get("Name", name)))
        try:
            time = _number(cell["Time"], "Time") if "Time" in cell else None
            encodes[own].add(
                _integer(cell["Frame"], "Frame"), time, {head: _number(row[place], head) for head, place in scores}
            )
        except Wrong as error:
            raise Wrong(f"line {rows.line_num}: {error}") from None
    return encodes.values()


class _Lines:
    """Lines of CSV, in which a row may go on in the next lines."""

    def __init__(self, file: IO[str], first: str) -> None:
        self._file, self._first, self.of_row = file, first, 0

    def __iter__(self) -> Iterator[str]:
        line = self._first if self._first.endswith("\n") else self._first + read_line(self._file)
        while line:
            self.of_row += 1
            if self.of_row > MOST_LINES:
                raise Wrong(f"a row goes on for more than {MOST_LINES} lines: a quote is not closed")
            yield line
            line = read_line(self._file)


def _integer(text: str, what: str) -> int:
    try:
        if "_" not in text:
            return int(text)
    except ValueError:
        pass
    raise Wrong(f"{shown_key(what)} is {shown(text)}, and not an integer")


def _number(text: str, what: str) -> float | None:
    if text in ("", "null"):
        return None
    try:
        if "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise Wrong(f"{shown_key(what)} is {shown(text)}, and not a number")


class _Xml:
    """A report in XML, as far as it is read. All is in attributes."""

    def __init__(self, name: str) -> None:
        self.encode = Encode(name)
        self.summary: dict[str, Any] = {"pooled_metrics": {}, "pooled_statistics": {}}
        self._pooled = 0  # scores of windows
        self._open: list[str] = []
        self._since = 0  # characters that were parsed since the last tag

    def read(self, file: IO[str], first: str) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = (
            self._start,
            self._end,
            self._refuse,
        )
        text = first
        while text:
            self._since += len(text)
            if self._since > 2 * MOST_LINE:
                raise Wrong(f"there are more than {MOST_LINE} characters without a tag, or in one")
            parser.Parse(text)
            text = file.read(1 << 16)
        parser.Parse("", True)

    def _refuse(self, *_: object) -> None:
        raise Wrong("it has a document type (<!DOCTYPE), which a report has not")

    def _end(self, _: str) -> None:
        self._since = 0
        self._open.pop()

    def _start(self, tag: str, own: dict[str, str]) -> None:
        self._since = 0
        self._open.append(tag)
        if len(self._open) > 100:
            raise Wrong("it nests too deep")
        if tag == "frame":
            number, time = _integer(self._take(own, "frameNum", tag), "frameNum"), own.pop("time", None)
            own.pop("doubts", None)  # the list of doubts says it, too
            self.encode.add(number, None if time is None else _number(time, "time"), self._numbers(own))
        elif tag in ("metric", "statistics"):
            group = "pooled_metrics" if tag == "metric" else "pooled_statistics"
            key = self._take(own, "name", tag)
            self.summary[group][key] = self._numbers(own)
            if len(self.summary[group]) > MOST_KEYS:
                raise Wrong(f"there are more than {MOST_KEYS} scores with pooled values")
        elif tag == "window":
            first, last = (_integer(self._take(own, name, tag), name) for name in ("firstFrame", "lastFrame"))
            at = own.pop("time", None)
            begin, pooled = None if at is None else _number(at, "time"), self._numbers(own)
            check_window(
                {"firstFrame": first, "lastFrame": last, "time": begin, "pooled": pooled},
                f"window {len(self.encode.windows)}",
            )
            self._pooled += len(own)
            if self._pooled > MOST_POOLED:
                raise Wrong(f"the windows have more than {MOST_POOLED} scores")
            self.encode.windows.append(
                Window(first, last, None if begin is None or math.isnan(begin) else begin, pooled)
            )
        elif tag == "vmafx":
            self.summary["vmafx"] = {name: None if text == "null" else text for name, text in own.items()}
        elif self._open[-3:-1] == ["vmafx", "scores"]:
            self._add_facts(tag, own)
        elif tag == "doubt" and "doubts" in self.summary:
            self._append("doubts", _doubt_of_xml(own))
        elif tag == "evidence" and self._open[-2:-1] == ["doubt"] and self.summary.get("doubts"):
            self.summary["doubts"][-1][tag] = self._numbers(own)
        elif tag in ("doubts", "warnings"):
            self.summary[tag] = []
        elif tag == "warning" and "warnings" in self.summary:
            self._append("warnings", self._take(own, "text", tag))
        elif tag == "backend" and self._open[-2:-1] == ["vmafx"]:
            self.summary["vmafx"]["backend"] = own
        elif tag == "pairing":
            self.summary["pairing"] = {
                name: _number(value, name) if "time" in name else _integer(value, name) for name, value in own.items()
            }
        elif tag == "VMAF":
            self.summary["partial"] = own.get("partial")

    def _add_facts(self, tag: str, own: Mapping[str, str]) -> None:
        scores = self.summary["vmafx"].setdefault("scores", {})
        if isinstance(scores, dict):  # else check_summary() refuses it
            scores[tag] = _facts_of_xml(own)
            if len(scores) > MOST_KEYS:
                raise Wrong(f"there are more than {MOST_KEYS} scores")

    def _append(self, name: str, item: Any) -> None:
        self.summary[name].append(item)
        if len(self.summary[name]) > MOST_KEYS:
            raise Wrong(f"there are more than {MOST_KEYS} {name}")

    @staticmethod
    def _take(own: dict[str, str], name: str, tag: str) -> str:
        if name not in own:
            raise Wrong(f"an element {tag} has no {name}")
        return own.pop(name)

    @staticmethod
    def _numbers(own: Mapping[str, str]) -> dict[str, float | None]:
        return {key: _number(text, key) for key, text in own.items()}


def _facts_of_xml(own: Mapping[str, str]) -> dict[str, Any]:
    """Converts the facts of a score from XML, where all values are texts."""
    words: dict[str, Any] = {"null": None, "true": True, "false": False}
    return {name: words.get(text, text) for name, text in own.items()}


def _doubt_of_xml(own: Mapping[str, str]) -> dict[str, Any]:
    doubt: dict[str, Any] = dict(own)
    for name in ("count", "from", "to"):
        if name in own:
            doubt[name] = _integer(own[name], name)
    doubt["remedies"] = own["remedies"].split("; ") if own.get("remedies") else []
    return doubt


def _read_xml(file: IO[str], first: str, name: str) -> Iterator[Encode]:
    report = _Xml(name)
    report.read(file, first)
    check_summary(report.summary)
    report.encode.take_summary(report.summary)
    yield report.encode
