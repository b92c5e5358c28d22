"""Compares what a report says with what was found when its scores were computed again."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._scores import Encode
from ._terminal import shown

MOST_LISTED = 1000  # frames of a score that are listed in JSON
SHORT = 12  # digits of a hash on the screen
PROGRAMS = {"library": "library", "ffmpeg": "FFmpeg", "command": "command", "cpu": "CPU code", "device": "GPU"}

Json = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    kind: str  # "input", "preparation", "model", "frames", "score", "pooled" or "aggregate"
    text: str
    facts: Json

    def as_json(self) -> Json:
        return {"kind": self.kind, "text": self.text, **self.facts}


def of_inputs(was: Sequence[Json], now: Sequence[Json]) -> Iterator[Difference]:
    """Yields how the inputs differ from those of the report, and how their preparation does."""
    for number, (told, found) in enumerate(zip(was, now)):
        name = shown(found["file"])
        what = {"input": number, "file": found["file"]}
        if None not in (told["bytes"], found["bytes"]) and told["bytes"] != found["bytes"]:
            text = f"{name} has {found['bytes']} bytes, and {told['bytes']} in the report"
            yield Difference("input", text, {**what, "what": "bytes", "report": told["bytes"], "now": found["bytes"]})
        for end in ("first", "last"):
            own, other = told["packets"][end], found["packets"][end]
            if own != other:
                text = f"the {end} packets of {name} are not those of the report"
                yield Difference("input", text, {**what, "what": f"{end}_packets", "report": own, "now": other})
        if told["filters"] != found["filters"]:
            text = f"{name} is prepared with {_filters(found)}, and with {_filters(told)} in the report"
            yield Difference("preparation", text, {**what, "report": told["filters"], "now": found["filters"]})


def _filters(told: Json) -> str:
    filters = [filter_ for filter_ in (told["filters"]["times"], *told["filters"]["pictures"]) if filter_]
    return shown("; ".join(filters)) if filters else "no filter"


def of_models(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Difference]:
    for key in was.keys() & now.keys():
        if was[key] != now[key]:
            hashes = f"{now[key][:SHORT]}…, and {was[key][:SHORT]}… in the report"
            text = f"the model of {shown(key)} is another one: its SHA-256 is {hashes}"
            yield Difference("model", text, {"key": key, "report": was[key], "now": now[key]})


def of_programs(was: Json, now: Json) -> list[str]:
    """Returns a line for each program and processor that is another one, which changes no score by itself."""
    return [
        f"{name}: {shown(now[key] or 'none')}, and {shown(was[key] or 'none')} in the report"
        for key, name in PROGRAMS.items()
        if was[key] != now[key]
    ]


# -- Scores ------------------------------------------------------------------------------------------------------------


def of_frames(name: str, was: Encode, now: Encode) -> Iterator[Difference]:
    """Yields the frames and scores of an encode that differ from the report's."""
    yield from _of_numbers(name, was, now)
    places = {number: place for place, number in enumerate(now.numbers)}
    common = [(place, places[number]) for place, number in enumerate(was.numbers) if number in places]
    for key in dict.fromkeys([*was.scores, *now.scores]):
        if key not in was.scores or key not in now.scores:
            lacking = "the report has no" if key in now.scores else "there is no longer a"
            yield Difference("score", f"{name}: {lacking} score {shown(key)}", {"encode": name, "key": key})
            continue
        own, other = was.scores[key], now.scores[key]
        found = [(was.numbers[i], own[i], other[j]) for i, j in common if not _equal(own[i], other[j])]
        if found:
            yield _of_scores(name, key, found, len(common))


def _of_numbers(name: str, was: Encode, now: Encode) -> Iterator[Difference]:
    if was.numbers == now.numbers:
        return
    gone, added = sorted(set(was.numbers) - set(now.numbers)), sorted(set(now.numbers) - set(was.numbers))
    for numbers, text in ((gone, "of the report are no longer scored"), (added, "are not in the report")):
        if numbers:
            told = f"{name}: {len(numbers)} frames {text}, the first is frame {numbers[0]}"
            yield Difference("frames", told, {"encode": name, "count": len(numbers), "first": numbers[0]})


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _of_scores(name: str, key: str, found: Sequence[tuple[int, float, float]], of: int) -> Difference:
    number, own, other = found[0]
    worst, largest = max(((row[0], _distance(*row[1:])) for row in found), key=lambda pair: pair[1])
    text = (
        f"{name}: {shown(key)} differs in {len(found)} of {of} frames, by {largest:g} at most (frame {worst}); first "
        f"in frame {number}: {other!r}, and {own!r} in the report"
    )
    frames = [{"frame": row[0], "report": _plain(row[1]), "now": _plain(row[2])} for row in found[:MOST_LISTED]]
    facts = {"encode": name, "key": key, "count": len(found), "largest": _plain(largest), "frames": frames}
    return Difference("score", text, facts)


def _distance(one: float, other: float) -> float:
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance


def _plain(value: float) -> float | str:
    """Returns a number as JSON can have it."""
    return value if math.isfinite(value) else str(value)


def of_pooled(
    name: str, was: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> Iterator[Difference]:
    """Yields the pooled scores of an encode that differ, one for each key."""
    for key in dict.fromkeys([*was, *now]):
        own, other = was.get(key, {}), now.get(key, {})
        methods = [method for method in dict.fromkeys([*own, *other]) if own.get(method) != other.get(method)]
        if methods:
            pairs = ", ".join(
                f"{method} {other.get(method)}, and {own.get(method)} in the report" for method in methods
            )
            facts = {"encode": name, "key": key, "report": dict(own), "now": dict(other)}
            yield Difference("pooled", f"{name}: {shown(key)} differs: {shown(pairs)}", facts)


def of_aggregates(name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yields the values of an encode's whole stream that differ."""
    for key in dict.fromkeys([*was, *now]):
        own, other = was.get(key), now.get(key)
        if key not in was or key not in now or own != other:
            text = f"{name}: {shown(key)} of the stream differs: {shown(other)}, and {shown(own)} in the report"
            yield Difference("aggregate", text, {"encode": name, "key": key, "report": own, "now": other})
