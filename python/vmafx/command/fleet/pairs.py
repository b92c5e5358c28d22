"""The list of what is to be scored."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._rows import read_rows
from .._scoring import models_of
from .._terminal import Failure

NAMES = {"id": "id", "name": "id", "distorted": "distorted", "reference": "reference"}  # columns, and what they are here
OPTIONS = {"model": "models", "models": "models", "feature": "features", "features": "features"}


@dataclass(frozen=True)
class Pair:
    id: str
    distorted: str
    reference: str
    models: tuple[str, ...] | None  # as those of Settings
    features: tuple[str, ...]

    def stamp(self, options: Iterable[Any]) -> str:
        """Another one when a file or an option has changed. What is no file of this machine (a URL) counts by its name."""
        told = [self.distorted, _state(self.distorted), self.reference, _state(self.reference), self.models, self.features, *options]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def read_list(path: Path, models: tuple[str, ...] | None, features: tuple[str, ...]) -> list[Pair]:
    """`models`, `features`: of the lines that name none. Raises Failure."""
    pairs: dict[str, Pair] = {}
    seen: dict[tuple[Any, ...], str] = {}
    for place, fields in read_rows(path, (*NAMES, *OPTIONS), ("distorted", "reference"), may_be_short=True):
        pair = _pair(fields, place, path.parent, models, features)
        if pair.id in pairs:
            raise Failure(f"{place}: {pair.id} is there twice; give each line an id of its own")
        what = (pair.distorted, pair.reference, pair.models, pair.features)
        if what in seen:
            raise Failure(f"{place}: {pair.id} is the same files and options as {seen[what]}")
        pairs[pair.id], seen[what] = pair, pair.id
    if not pairs:
        raise Failure(f"{path} lists no videos")
    return list(pairs.values())


def _pair(row: dict[str, Any], place: str, folder: Path, models: tuple[str, ...] | None, features: tuple[str, ...]) -> Pair:
    for name in ("distorted", "reference"):
        if not isinstance(row.get(name), str):
            raise Failure(f"{place}: {name} is missing" if name not in row else f"{place}: {name} is to be the name of a file, not {row[name]!r}")
    options = {OPTIONS[name]: _texts(value, f"{place}: {name}") for name, value in row.items() if name in OPTIONS}
    return Pair(
        id=str(next((row[name] for name in ("id", "name") if name in row), row["distorted"])),
        distorted=_located(row["distorted"], folder),
        reference=_located(row["reference"], folder),
        models=models_of(options["models"]) if "models" in options else models,
        features=options.get("features", features),
    )


def _texts(value: Any, place: str) -> tuple[str, ...]:
    """A list of JSON, or as in the filter's options."""
    texts = value.split("|") if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Failure(f"{place} is to be a text or a list of texts, not {value!r}")
    return tuple(texts)


def _located(name: str, folder: Path) -> str:
    """Relative to the list; URLs are left alone."""
    return name if "://" in name else os.path.abspath(folder / name)
