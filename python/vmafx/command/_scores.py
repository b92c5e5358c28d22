"""Reads reports: JSON, NDJSON, CSV and XML of the filter, JSON, CSV and XML of libvmaf."""

import csv
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias
from xml.etree import ElementTree

from . import _json
from ._keys import MAIN_FEATURES, is_model
from ._terminal import Failure

Values: TypeAlias = Mapping[str, float | None]


class Window(NamedTuple):
    first_frame: int
    last_frame: int
    time: float
    pooled: Values


@dataclass
class Encode:
    """The scores of one encode. The n-th number, time and score of each key belong together."""

    name: str
    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    times: "array[float]" = field(default_factory=lambda: array("d"))  # in seconds; empty: the report has none
    scores: "dict[str, array[float]]" = field(default_factory=dict)  # NaN: none
    pooled: dict[str, Values] = field(default_factory=dict)
    windows: list[Window] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)  # `vmafx` of the report
    pairing: dict[str, float] = field(default_factory=dict)
    partial: bool = False  # the inputs were not read to their end
    warnings: list[str] = field(default_factory=list)

    def add(self, number: int, time: float | None, scores: Values) -> None:
        for key, score in scores.items():
            if key not in self.scores:
                self.scores[key] = array("d", [math.nan]) * len(self.numbers)
            self.scores[key].append(math.nan if score is None else float(score))  # those of a range may be "inf"
        self.numbers.append(number)
        if time is not None:
            self.times.append(time)
        if len(scores) < len(self.scores):
            for key in self.scores.keys() - scores.keys():
                self.scores[key].append(math.nan)

    def position(self, i: int) -> float:
        """Its time, or its number, where the report has no times."""
        return self.times[i] if self.times else float(self.numbers[i])

    def set_rate(self, rate: float) -> None:
        """Times for a report that has none."""
        self.times = array("d", (number / rate for number in self.numbers))

    def main_keys(self) -> list[str]:
        """The models, and the main scores of the features that were likely asked for; else the last key."""
        models = [key for key in self.scores if is_model(key)]
        return models + [key for key in MAIN_FEATURES if key in self.scores] or list(self.scores)[-1:]

    def take_summary(self, summary: Mapping[str, Any]) -> None:
        """What a report has beside the frames."""
        for group in ("pooled_metrics", "pooled_statistics"):
            for key, values in summary.get(group, {}).items():
                self.pooled[key] = {**self.pooled.get(key, {}), **values}
        self.windows = [Window(window["firstFrame"], window["lastFrame"], window["time"], window["pooled"]) for window in summary.get("windows", [])]
        self.run = summary.get("vmafx", {})
        self.pairing = summary.get("pairing", {})
        self.partial = bool(summary.get("partial"))
        self.warnings += summary.get("warnings", [])
        if self.partial:
            self.warnings.append("The inputs were not read to their end: these are the scores up to there.")
        if doubts := [f"{name.replace('_', ' ')} {count}" for name, count in self.pairing.items() if name in DOUBTFUL and count]:
            self.warnings.append(f"The scores are doubtful, the inputs do not go together frame by frame: {', '.join(doubts)}.")


DOUBTFUL = (
    "unmatched_distorted",
    "unmatched_reference",
    "repeated_reference",
    "repeated_distorted",
    "corrupt_distorted",
    "corrupt_reference",
)


def read_scores(path: Path) -> list[Encode]:
    """The encodes of a report. Those without a name have that of the file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            encodes = list(_reader_of(file)(file, path.stem))
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, csv.Error, ElementTree.ParseError) as error:
        raise Failure(f"{path} is not a report of vmafx or libvmaf in JSON, NDJSON, CSV or XML ({type(error).__name__}: {error})") from error
    for encode in encodes:
        if not encode.scores:
            raise Failure(f"{path} has no scores of frames" + (f" for {encode.name}" if len(encodes) > 1 else ""))
        if encode.times and len(encode.times) < len(encode.numbers):
            encode.times = array("d")
    if not encodes:
        raise Failure(f"{path} has no scores")
    return encodes


def _reader_of(file: IO[str]) -> Any:
    first = file.readline(1 << 20)
    file.seek(0)
    if first.lstrip().startswith("<"):
        return _read_xml
    if not first.startswith("{"):
        return _read_csv
    try:
        return _read_ndjson if "frameNum" in _json.parse(first) else _read_json
    except ValueError:
        return _read_json


# -- JSON ----------------------------------------------------------------------------------------------------------------


def _read_json(file: IO[str], name: str) -> Iterator[Encode]:
    """Frames are put away as they are read: as Python's objects, those of a film would fill the memory."""
    current = Encode(name)

    def put_away(thing: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal current
        if "frameNum" in thing and "metrics" in thing:
            current.add(thing["frameNum"], thing.get("time"), thing["metrics"])
            return None
        if isinstance(thing.get("frames"), list):
            thing["frames"], current = current, Encode(name)
        return thing

    content = _json.parse(file.read(), object_hook=put_away)
    for part in content.get("encodes", [content]):
        encode: Encode = part["frames"]
        encode.name = part.get("name", name)
        encode.take_summary({**content, **part})
        yield encode


def _read_ndjson(file: IO[str], name: str) -> Iterable[Encode]:
    encodes: dict[int, Encode] = {}
    summary: dict[str, Any] | None = None
    for line in file:
        if not line.endswith("\n"):
            break  # of a run that was killed
        thing = _json.parse(line)
        if "frameNum" in thing:
            encode = encodes.setdefault(thing.get("encode", 0), Encode(thing.get("name", name)))
            encode.add(thing["frameNum"], thing.get("time"), thing["metrics"])
        elif "window" not in thing:
            summary = thing
    for number, encode in encodes.items():
        if summary is None:
            encode.warnings.append("The run was aborted: the report lacks its last line.")
        else:
            own = {part["encode"]: part for part in summary.get("encodes", [])}
            encode.take_summary({**summary, **own.get(number, {})})
    return encodes.values()


# -- CSV and XML ---------------------------------------------------------------------------------------------------------


def _read_csv(file: IO[str], name: str) -> Iterable[Encode]:
    encodes: dict[str, Encode] = {}
    rows = csv.DictReader(file)
    if "Frame" not in (rows.fieldnames or ()):
        raise ValueError("there is no column Frame")
    for row in rows:
        row.pop("", None)  # after the comma at the end of each line
        encode = encodes.setdefault(row.pop("Encode", "0"), Encode(row.pop("Name", name)))
        row.pop("Name", None)
        number, time = int(row.pop("Frame")), row.pop("Time", None)
        encode.add(number, None if time is None else float(time), _numbers(row))
    return encodes.values()


def _read_xml(file: IO[str], name: str) -> Iterator[Encode]:
    encode, summary = Encode(name), dict[str, Any](pooled_metrics={}, pooled_statistics={}, windows=[])
    for _, element in ElementTree.iterparse(file):
        own = dict(element.attrib)
        if element.tag == "frame":
            number, time = int(own.pop("frameNum")), own.pop("time", None)
            encode.add(number, None if time is None else float(time), _numbers(own))
        elif element.tag in ("metric", "statistics"):
            group = "pooled_metrics" if element.tag == "metric" else "pooled_statistics"
            key = own.pop("name")
            summary[group][key] = _numbers(own)
        elif element.tag == "window":
            place = {name: int(own.pop(name)) for name in ("firstFrame", "lastFrame")}
            summary["windows"].append({**place, "time": float(own.pop("time")), "pooled": _numbers(own)})
        elif element.tag == "vmafx":
            summary["vmafx"] = own | {"backend": dict(backend.attrib) for backend in element.iter("backend")}
        elif element.tag == "pairing":
            summary["pairing"] = {name: float(value) if "time" in name else int(value) for name, value in own.items()}
        elif element.tag == "VMAF":
            summary["partial"] = own.get("partial")
        if element.tag in ("frame", "frames"):
            element.clear()
    encode.take_summary(summary)
    yield encode


def _numbers(texts: Mapping[str, str]) -> dict[str, float | None]:
    return {key: float(text) if text not in ("", "null") else None for key, text in texts.items()}
