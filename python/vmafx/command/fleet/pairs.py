"""Reads the list of pairs that are to be scored."""

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

# The columns of the list, and the values that they give.
NAMES = {"id": "id", "name": "id", "distorted": "distorted", "reference": "reference"}
OPTIONS = {"model": "models", "models": "models", "feature": "features", "features": "features"}
OTHERWISE = ", unless --allow-protocols is given; for a file, write file: before its name"
MOST_SHOWN = 200  # characters of a wrong value in a message


@dataclass(frozen=True)
class Pair:
    id: str  # free of secrets that a file's name has
    distorted: str
    reference: str
    models: tuple[str, ...] | None  # as in Settings
    features: tuple[str, ...]
    error: str | None = None  # why the pair is not scored

    def stamp(self, options: Iterable[Any]) -> str:
        """Returns a text that differs when a file or an option has changed.

        Inputs other than files of this machine, such as a URL, count by their names.
        """
        told = [
            self.distorted,
            state_of(self.distorted),
            self.reference,
            state_of(self.reference),
            self.models,
            self.features,
            *options,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def state_of(path: str) -> tuple[int, int] | None:
    """Returns the size of a file and when it was changed; None if this machine has no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


class Unusable(Exception):
    """Raised for a line of the list that does not name a pair."""


@dataclass(frozen=True)
class Defaults:
    """Values for columns that lines of the list leave out."""

    folder: Path  # the list's folder
    models: tuple[str, ...] | None
    features: tuple[str, ...]
    allow_protocols: bool


def read_list(
    path: Path, models: tuple[str, ...] | None, features: tuple[str, ...], allow_protocols: bool = False
) -> list[Pair]:
    """Reads the list; `models` and `features` are for the lines that name none.

    A line that cannot be scored becomes a pair with an error, so that the others are scored. Raises Failure if no line
    names a pair, or if it is not clear to which line a result belongs.
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
            raise Failure(f"{row.place}: the id {pair.id} occurs twice: give each line an id of its own")
        what = (pair.distorted, pair.reference, pair.models, pair.features)
        if what in seen:
            raise Failure(f"{row.place}: {pair.id} has the same files and options as {seen[what]}: leave one out")
        pairs[pair.id], seen[what] = pair, pair.id
    if unusable and not pairs:
        raise Failure(f"{unusable[0][0].place}: {unusable[0][1]}")
    for row, why in unusable:
        _add_unusable(row, why, pairs)
    if not pairs:
        raise Failure(f"the list {path} names no videos: add a line for each pair")
    return list(pairs.values())


def _add_unusable(row: Row, error: str, pairs: dict[str, Pair]) -> None:
    """Adds a line as a pair with an error, under its id if that is known and free, else under its place in the list."""
    texts = [row.fields.get(name) for name in ("id", "name", "distorted", "reference")]
    names = [_possible(redact(text)) if isinstance(text, str) else "" for text in texts]
    own = names[0] or names[1] or names[2]
    name = own if own and own not in pairs else row.place
    pairs[name] = Pair(name, names[2], names[3], None, (), f"{row.place}: {error}")


def _pair(row: dict[str, Any], defaults: Defaults) -> Pair:
    for name in ("distorted", "reference"):
        if not isinstance(row.get(name), str):
            wrong = f"{name} must be the name of a file, not {_short(row[name])}" if name in row else ""
            raise Unusable(wrong or f"{name} is missing")
    options = {OPTIONS[name]: _texts(value, name) for name, value in row.items() if name in OPTIONS}
    models = models_of(options["models"]) if "models" in options else defaults.models
    features = options.get("features", defaults.features)
    name = next((row[column] for column in ("id", "name") if column in row), row["distorted"])
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        raise Unusable(f"id must be a text or a number, not {_short(name)}")
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
    """Returns the texts of a list of JSON, or of a text as in the filter's options."""
    texts = value.split("|") if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Unusable(f"{name} must be a text or a list of texts, not {_short(value)}")
    return tuple(texts)


def _possible(text: str) -> str:
    """Returns a text that can be encoded, from any text that JSON may have."""
    return text if is_possible(text) else text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
