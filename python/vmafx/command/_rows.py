"""Reads lists: CSV whose first line names the columns, or a JSON object in each line."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import _json
from ._terminal import Failure, note


class Row(NamedTuple):
    place: str  # of the file, for errors
    fields: dict[str, Any]  # by the names of their columns, without empty ones; those of CSV are texts


def read_rows(path: Path, columns: Sequence[str], needed: Sequence[str], may_be_short: bool = False) -> Iterator[Row]:
    """One at a time, for lists that are long. Of `columns`, CSV must have those in `needed`; a note tells of others. Its lines may leave out cells at the
    end if they `may_be_short`. Raises Failure."""
    unused: dict[str, None] = {}
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            blank, first = 0, next(file, "")
            while first and not first.strip():
                blank, first = blank + 1, next(file, "")
            lines = itertools.chain([first], file)
            is_json = first.lstrip().startswith("{")
            for number, fields in _objects(path, blank, lines) if is_json else _cells(path, blank, lines, columns, needed, may_be_short):
                unused |= dict.fromkeys(name for name in fields if name not in columns)
                yield Row(_place(path, number), {name: value for name, value in fields.items() if value not in (None, "")})
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    if unused:
        note(f"columns of {path} that mean nothing here: {', '.join(unused)}")


def _place(path: Path, number: int) -> str:
    return f"{path}, line {number}"


def _objects(path: Path, before: int, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, before + 1):
        if not line.strip():
            continue
        try:
            content = _json.parse(line)
        except ValueError as error:
            raise Failure(f"{_place(path, number)}: not a line of JSON ({error})") from error
        if not isinstance(content, dict):
            raise Failure(f"{_place(path, number)}: not an object of JSON")
        yield number, content


def _cells(
    path: Path, before: int, lines: Iterable[str], columns: Sequence[str], needed: Sequence[str], may_be_short: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(lines, strict=True)
    try:
        heads = [head.strip() for head in next(reader, [])]
        if missing := [name for name in needed if name not in heads]:
            told = f"its first line names the columns ({', '.join(columns)}), separated by commas, or each line is a JSON object"
            raise Failure(f"{path} has no column {' and no column '.join(missing)}: {told}")
        if len(set(heads)) < len(heads):
            raise Failure(f"{path} names a column twice")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(heads) or (len(cells) < len(heads) and not may_be_short):
                raise Failure(f"{_place(path, before + reader.line_num)}: {len(cells)} cells, and {len(heads)} columns; a cell with commas is to be in quotes")
            yield before + reader.line_num, {head: cell.strip() for head, cell in zip(heads, cells)}
    except csv.Error as error:
        raise Failure(f"{_place(path, before + reader.line_num)}: not CSV ({error})") from error
