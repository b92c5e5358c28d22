"""Makes one report of several that the filters of one run have written: the same pairs of frames, pictures of other
sizes, other scores.

If several reports have a score, such as a feature that a model reads at its own size, the last report's is taken, which
has the features that were asked for. Scores of models come last, as in the filter's reports.
"""

import csv
import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.etree import ElementTree

Json = dict[str, Any]
T = TypeVar("T")
LISTS = "model", "feature"  # options that have entries with | between
KEYED = "pooled_metrics", "pooled_statistics", "aggregate_metrics", "excluded_scores"  # objects by the names of scores


def fold(logs: Sequence[Path], models: Collection[str], log: Path) -> None:
    """Writes `log` in the format of its name, which all `logs` have, too; `models` are the keys of models' scores."""
    write = {".json": _json, ".ndjson": _ndjson, ".csv": _csv, ".xml": _xml}[log.suffix.lower()]
    with open(log, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        write(logs, models, file)


def side_by_side(logs: Sequence[Path], log: Path) -> None:
    """Writes a report in JSON with the encodes of all `logs`, one after the other: a merge of ranges takes them as
    encodes.
    """
    reports = [_load(path) for path in logs]
    encodes = [dict(encode) for report in reports for encode in _encodes(report)]
    for number, encode in enumerate(encodes):
        encode["encode"] = number
    head = {key: value for key, value in reports[0].items() if key in ("version", "fps")}
    whole = head | {"encodes": encodes, "vmafx": _run([report.get("vmafx", {}) for report in reports])}
    with open(log, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(whole, file, ensure_ascii=False)


def _load(path: Path) -> Json:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        report: Json = json.load(file)
    return report


def _encodes(report: Json) -> list[Json]:
    """Returns the encodes of a report; a single one has its keys in the report itself."""
    encodes: list[Json] = report.get("encodes") or [
        {key: value for key, value in report.items() if key not in ("version", "fps", "vmafx")}
    ]
    return encodes


def _scores(parts: Sequence[Mapping[str, T]], models: Collection[str]) -> dict[str, T]:
    """Returns the scores of a frame, or pooled ones: features of all reports, then models of all."""
    found = {name: value for part in parts for name, value in part.items()}
    return dict(sorted(found.items(), key=lambda item: item[0] in models))


def _run(runs: Sequence[Json]) -> Json:
    whole = dict(runs[0])
    for key in ("backend", "models", "model_sha256", "scores"):
        if any(key in run for run in runs):
            whole[key] = {name: value for run in runs for name, value in run.get(key, {}).items()}
    if any("conversion" in run for run in runs):
        whole["conversion"] = _conversions(runs)
    if "options" in whole:
        options = [run["options"] for run in runs if "options" in run]
        whole["options"] = options[0] | {name: _listed([own.get(name, "") for own in options]) for name in LISTS}
    return whole


def _conversions(runs: Sequence[Json]) -> Json | list[Json]:
    """Returns the conversion of all pictures, or else each of them with the scores of models that it is of."""
    if all(run.get("conversion") == runs[0].get("conversion") for run in runs):
        return dict(runs[0]["conversion"])
    return [run["conversion"] | {"models": list(run.get("models", {}))} for run in runs if "conversion" in run]


def _listed(texts: Sequence[str]) -> str:
    """Joins lists that are texts, each of them once."""
    return "|".join(dict.fromkeys(filter(None, texts)))


def _alike(values: Sequence[Any], what: str) -> Any:
    """Returns the value that all reports have. Raises ValueError if they differ: then they are not of one run."""
    if any(value != values[0] for value in values):
        raise ValueError(f"{what} differs between the filters of one run")
    return values[0]


# -- JSON --------------------------------------------------------------------------------------------------------------


def _json(logs: Sequence[Path], models: Collection[str], file: IO[str]) -> None:
    reports = [_load(path) for path in logs]
    encodes = [_encode(parts, models) for parts in zip(*map(_encodes, reports))]
    whole = {key: value for key, value in reports[0].items() if key in ("version", "fps")}
    whole |= {"encodes": encodes} if "encodes" in reports[0] else encodes[0]
    if "vmafx" in reports[0]:
        whole["vmafx"] = _run([report["vmafx"] for report in reports])
    json.dump(whole, file, indent=2, ensure_ascii=False)
    file.write("\n")


def _encode(parts: Sequence[Json], models: Collection[str]) -> Json:
    """Folds an encode of a report, or the last line of a report in NDJSON."""
    whole = dict(parts[0])
    if "frames" in whole:
        whole["frames"] = [_frame(frames, models) for frames in zip(*(part["frames"] for part in parts), strict=True)]
    if "windows" in whole:
        whole["windows"] = [
            _window(windows, models) for windows in zip(*(part["windows"] for part in parts), strict=True)
        ]
    for key in KEYED:
        if found := [part[key] for part in parts if key in part]:
            whole[key] = _scores(found, models)
    return whole


def _frame(parts: Sequence[Json], models: Collection[str]) -> Json:
    _alike([part["frameNum"] for part in parts], "the number of a frame")
    return parts[0] | {"metrics": _scores([part["metrics"] for part in parts], models)}


def _window(parts: Sequence[Json], models: Collection[str]) -> Json:
    return parts[0] | {"pooled": _scores([part["pooled"] for part in parts], models)}


def _ndjson(logs: Sequence[Path], models: Collection[str], file: IO[str]) -> None:
    """Folds lines by their keys: lines of several encodes may come in another order in each report."""
    streams = [_lines(path) for path in logs]
    waiting: list[dict[Any, Json]] = [{} for _ in streams]
    for lines in itertools.zip_longest(*streams):
        for place, line in enumerate(lines):
            if line is not None:
                waiting[place][line.get("encode", 0), line.get("frameNum"), line.get("window")] = line
        for key in [key for key in waiting[0] if all(key in others for others in waiting)]:
            file.write(_line(key, [own.pop(key) for own in waiting], models) + "\n")


def _line(key: tuple[Any, Any, Any], parts: Sequence[Json], models: Collection[str]) -> str:
    make: Callable[[Sequence[Json], Collection[str]], Json] = (
        _frame if key[1] is not None else _window if key[2] is not None else _summary
    )
    return json.dumps(make(parts, models), ensure_ascii=False)


def _summary(parts: Sequence[Json], models: Collection[str]) -> Json:
    whole = _encode(parts, models)
    if "encodes" in whole:
        whole["encodes"] = [_encode(own, models) for own in zip(*(part["encodes"] for part in parts))]
    if "vmafx" in whole:
        whole["vmafx"] = _run([part["vmafx"] for part in parts])
    return whole


def _lines(path: Path) -> Iterator[Json]:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            yield json.loads(line)


# -- CSV and XML -------------------------------------------------------------------------------------------------------

PLACES = "Encode", "Name", "Frame", "Time"  # columns that are not scores
PLACES_OF_XML = "frameNum", "time", "firstFrame", "lastFrame"
DOUBTS, DOUBTS_OF_XML = "Doubts", "doubts"  # as the list of doubts, those of the first report


def _csv(logs: Sequence[Path], models: Collection[str], file: IO[str]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    texts = [path.read_text(encoding="utf-8", errors="surrogateescape").splitlines() for path in logs]
    for number, rows in enumerate(zip(*(csv.DictReader(text) for text in texts), strict=True)):
        places = _alike([{name: row[name] for name in PLACES if name in row} for row in rows], "a row")
        places |= {DOUBTS: rows[0][DOUBTS]} if DOUBTS in rows[0] else {}
        own = [{name: value for name, value in row.items() if name and name not in (*PLACES, DOUBTS)} for row in rows]
        whole = places | _scores(own, models)
        if number == 0:
            writer.writerow([*whole, ""])
        writer.writerow([*whole.values(), ""])


def _xml(logs: Sequence[Path], models: Collection[str], file: IO[str]) -> None:
    roots = [ElementTree.parse(path).getroot() for path in logs]
    for element in list(roots[0]):
        _fold_elements([found for root in roots if (found := root.find(element.tag)) is not None], models)
    ElementTree.indent(roots[0])
    file.write(ElementTree.tostring(roots[0], encoding="unicode") + "\n")


def _fold_elements(alike: Sequence[ElementTree.Element], models: Collection[str]) -> None:
    """Folds elements of one name into the first of them."""
    first, *others = alike
    if first.tag in ("frames", "windows"):
        for children in zip(*alike, strict=True):
            _alike([{name: child.get(name) for name in PLACES_OF_XML} for child in children], "a frame")
            for child in children[1:]:
                child.attrib.pop(DOUBTS_OF_XML, None)
            scores = _scores([child.attrib for child in children], models)
            children[0].attrib.clear()
            children[0].attrib.update(scores)
    elif first.tag in ("pooled_metrics", "pooled_statistics"):
        named = _scores([{child.attrib["name"]: child for child in parent} for parent in alike], models)
        for child in list(first):
            first.remove(child)
        first.extend(named.values())
    elif first.tag in ("aggregate_metrics", "excluded_scores"):
        for other in others:
            first.attrib.update(other.attrib)
    elif first.tag == "vmafx":
        for name in ("backend", "models", "model_sha256"):
            for element in (element for run in others for element in run.findall(name)):
                if (own := first.find(name)) is not None:
                    own.attrib.update(element.attrib)
        _fold_options([options for run in alike if (options := run.find("options")) is not None])
        for other in others:
            _fold_facts(first.find("scores"), other.find("scores"))


def _fold_options(alike: Sequence[ElementTree.Element]) -> None:
    for name in LISTS if alike else ():
        alike[0].set(name, _listed([options.get(name, "") for options in alike]))


def _fold_facts(first: ElementTree.Element | None, other: ElementTree.Element | None) -> None:
    """Adds the other's facts of scores, which replace those of the same score."""
    if first is None or other is None:
        return
    for facts in other:
        if (known := first.find(facts.tag)) is not None:
            first.remove(known)
        first.append(facts)
