"""The list of what is to be scored."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._names import is_possible, located, redact, why_refused, why_writing
from .._rows import Row, read_rows
from .._scoring import models_of
from .._terminal import Failure

NAMES = {
    "id": "id",
    "name": "id",
    "distorted": "distorted",
    "reference": "reference",
}  # columns, and what they are here
OPTIONS = {"model": "models", "models": "models", "feature": "features", "features": "features"}
OTHERWISE = ", unless --allow-protocols is given; for a file, write file: before its name"
MOST_SHOWN = 200  # characters of a value that is wrong


@dataclass(frozen=True)
class Pair:
    id: str  # without what is secret in the name of a file
    distorted: str
    reference: str
    models: tuple[str, ...] | None  # as those of Settings
    features: tuple[str, ...]
    error: str | None = None  # why it is not scored

    def stamp(self, options: Iterable[Any]) -> str:
        """Another one when a file or an option has changed.

        What is no file of this machine (a URL) counts by its name.
        """
        told = [
            self.distorted,
            _state(self.distorted),
            self.reference,
            _state(self.reference),
            self.models,
            self.features,
            *options,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


class Unusable(Exception):
    """A line of the list says no pair."""


@dataclass(frozen=True)
class Defaults:
    """Values for what lines of the list leave out."""

    folder: Path  # of the list
    models: tuple[str, ...] | None
    features: tuple[str, ...]
    allow_protocols: bool


def read_list(
    path: Path, models: tuple[str, ...] | None, features: tuple[str, ...], allow_protocols: bool = False
) -> list[Pair]:
    """Reads the list. `models`, `features`: of the lines that name none.

    A line that cannot be scored is a pair with an error, which does not keep the others from being scored. Raises
    Failure if no line says a pair, or if it is not clear which result would be whose.
    """
    defaults = Defaults(path.parent, models, features, allow_protocols)
    pairs: dict[str, Pair] = {}
    seen: dict[tuple[Any, ...], str] = {}
    unusable: list[tuple[Row, str]] = []
    for row in read_rows(path, (*NAMES, *OPTIONS), ("distorted", "reference"), may_be_short=True):
        try:
            pair = _pair(row.fields, defaults)
        except Unusable as error:
            unusable.append((row, str(error)))
            continue
        if pair.id in pairs:
            raise Failure(f"{row.place}: {pair.id} is there twice; give each line an id of its own")
        what = (pair.distorted, pair.reference, pair.models, pair.features)
        if what in seen:
            raise Failure(f"{row.place}: {pair.id} is the same files and options as {seen[what]}")
        pairs[pair.id], seen[what] = pair, pair.id
    if unusable and not pairs:
        raise Failure(f"{unusable[0][0].place}: {unusable[0][1]}")
    for row, why in unusable:
        _add_unusable(row, why, pairs)
    if not pairs:
        raise Failure(f"{path} lists no videos")
    return list(pairs.values())


def _add_unusable(row: Row, error: str, pairs: dict[str, Pair]) -> None:
    """By its id, if that is known and is not another's, else by its place in the list."""
    texts = [row.fields.get(name) for name in ("id", "name", "distorted", "reference")]
    names = [_possible(redact(text)) if isinstance(text, str) else "" for text in texts]
    own = names[0] or names[1] or names[2]
    name = own if own and own not in pairs else row.place
    pairs[name] = Pair(name, names[2], names[3], None, (), f"{row.place}: {error}")


def _pair(row: dict[str, Any], defaults: Defaults) -> Pair:
    for name in ("distorted", "reference"):
        if not isinstance(row.get(name), str):
            raise Unusable(
                f"{name} is missing"
                if name not in row
                else f"{name} is to be the name of a file, not {_short(row[name])}"
            )
    options = {OPTIONS[name]: _texts(value, name) for name, value in row.items() if name in OPTIONS}
    models = models_of(options["models"]) if "models" in options else defaults.models
    features = options.get("features", defaults.features)
    name = next((row[column] for column in ("id", "name") if column in row), row["distorted"])
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        raise Unusable(f"id is neither a text nor a number: {_short(name)}")
    return Pair(
        id=_possible(redact(str(name), (row["distorted"], row["reference"]))),
        distorted=located(row["distorted"], defaults.folder, defaults.allow_protocols),
        reference=located(row["reference"], defaults.folder, defaults.allow_protocols),
        models=models,
        features=features,
        error=_why_not(row, options, defaults),
    )


def _why_not(row: dict[str, Any], options: dict[str, tuple[str, ...]], defaults: Defaults) -> str | None:
    for name in ("distorted", "reference"):
        if error := why_refused(row[name], defaults.folder, defaults.allow_protocols, OTHERWISE):
            return f"{name}: {error}"
    for texts in options.values():
        for text in texts:
            if not is_possible(text):
                return f"{_short(text)} cannot be the name of a model or feature"
    return why_writing(options.get("models", ()), options.get("features", ()))


def _texts(value: Any, name: str) -> tuple[str, ...]:
    """A list of JSON, or as in the filter's options."""
    texts = value.split("|") if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Unusable(f"{name} is to be a text or a list of texts, not {_short(value)}")
    return tuple(texts)


def _possible(text: str) -> str:
    """A text that can be encoded, from any that JSON may have."""
    return text if is_possible(text) else text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
