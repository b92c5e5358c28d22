"""Reads the table of encodes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._names import why_refused
from .._reading import is_text, shown, shown_key
from .._rows import read_rows
from .._schemas import MOST_NAME
from .._terminal import Failure

LEAST_RATE, MOST_RATE = 1e-3, 1e9  # kbit/s
COLUMNS = "series", "file", "reference", "scores", "encode", "bitrate", "clip", "label"


@dataclass(frozen=True)
class Row:
    """An encode of the table. Paths are as they are reached from here."""

    place: str  # the table and line, for errors
    series: str
    file: Path | None
    reference: Path | None
    scores: Path | None  # a report that exists
    encode: str | None  # the encode's name in that report
    bitrate: float | None  # kbit/s
    clip: str | None
    label: str

    @property
    def name(self) -> str:
        return str(self.file or self.scores)


def read_table(path: Path) -> list[Row]:
    rows = [_row(place, path.parent, fields) for place, fields in read_rows(path, COLUMNS, ("series",))]
    if not rows:
        raise Failure(f"the table {path} names no encodes: add a line for each")
    _refuse_twice(rows)
    return rows


def _row(place: str, folder: Path, content: Mapping[str, Any]) -> Row:
    texts = {name: _text(place, name, content.get(name)) for name in COLUMNS}
    paths = {name: folder / text if (text := texts[name]) else None for name in ("file", "reference", "scores")}
    for name in ("file", "reference"):  # a table is data, and names files only
        if (text := texts[name]) and (error := why_refused(text, folder) or why_refused(str(folder / text), "")):
            raise Failure(f"{place}: {name}: {error}")
    if not texts["series"]:
        raise Failure(f"{place}: the series is missing: name the encoder or setting of the encode there")
    if not paths["scores"] and not (paths["file"] and paths["reference"]):
        raise Failure(f"{place}: give file and reference, which are then scored, or a report in scores")
    if not paths["file"] and not texts["bitrate"]:
        raise Failure(f"{place}: give file or bitrate")
    label = texts["label"] or Path(texts["file"] or texts["scores"] or "").name
    return Row(
        place,
        texts["series"],
        **paths,
        encode=texts["encode"],
        bitrate=_bitrate(place, texts["bitrate"]),
        clip=texts["clip"],
        label=label,
    )


def _text(place: str, name: str, value: Any) -> str | None:
    """Returns a cell as a text. Numbers are names, too: a series 2, an encode 0."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Failure(f"{place}: {name} must be a text or a number")
    text = str(value)
    if len(text) > MOST_NAME or not is_text(text):
        raise Failure(
            f"{place}: {name} must be a text of at most {MOST_NAME} characters without NUL and halves of surrogate "
            f"pairs, not {shown(text)}"
        )
    return text


def _bitrate(place: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        bitrate = float(text)
    except ValueError:
        bitrate = math.nan
    if not LEAST_RATE <= bitrate <= MOST_RATE:
        raise Failure(
            f"{place}: bitrate must be a number of kbit/s from {LEAST_RATE:g} to {MOST_RATE:g}, not {shown_key(text)}"
        )
    return bitrate


def _refuse_twice(rows: list[Row]) -> None:
    seen: dict[tuple[object, ...], Row] = {}
    for row in rows:
        other = seen.setdefault((row.series, row.clip, row.file, row.reference, row.scores, row.encode), row)
        if other is not row:
            raise Failure(f"{row.place} and {other.place} name the same encode: leave one of them out")
