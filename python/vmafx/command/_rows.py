"""Reads lists: CSV whose first line names the columns, or a JSON object in each line."""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from . import _json
from ._terminal import Failure, note

MOST_LINE = 1 << 20  # characters
MOST_LINES = 10_000_000
MOST_SPANNED = 100  # lines that a row of CSV with line breaks in quotes spans
MOST_TOLD = 20  # unused columns that the note names


class Row(NamedTuple):
    place: str  # the file and line, for errors
    fields: dict[str, Any]  # values by the names of columns, without empty ones; values from CSV are texts


def read_rows(path: Path, columns: Sequence[str], needed: Sequence[str], may_be_short: bool = False) -> Iterator[Row]:
    """Yields the rows of a list one at a time, as lists may be long.

    CSV must have the columns `needed`; a note tells of columns that are not in `columns`. Lines of CSV may leave out
    cells at the end if they `may_be_short`. Blanks around a cell are dropped, blanks within its quotes are kept. Raises
    Failure.
    """
    unused: dict[str, None] = {}
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            lines = Lines(path, file)
            first = next((line for line in lines if line.strip()), "")
            lines.give_back(first)
            is_json = first.lstrip().startswith("{")
            for number, fields in _objects(lines) if is_json else _cells(lines, columns, needed, may_be_short):
                if len(unused) <= MOST_TOLD:
                    unused |= dict.fromkeys(name for name in fields if name not in columns)
                yield Row(
                    _place(path, number), {name: value for name, value in fields.items() if value not in (None, "")}
                )
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    if unused:
        told = list(unused)[:MOST_TOLD] + ["…"] * (len(unused) > MOST_TOLD)
        note(f"{path}: these columns are not used: {', '.join(told)}")


class Lines:
    """Counts the lines of a file. Raises Failure for an endless line or file, such as /dev/zero."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self.path, self.number, self._file, self._next = path, 0, file, ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, self._next = self._next or self._file.readline(MOST_LINE + 1), ""
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > MOST_LINE or self.number > MOST_LINES:
            raise Failure(
                f"{self.path} is not a list, as it has more than {MOST_LINES:,} lines, "
                f"or one of more than {MOST_LINE:,} characters"
            )
        return line

    def give_back(self, line: str) -> None:
        """Takes back the last line, which is then the next one again."""
        self.number -= bool(line)
        self._next = line

    def failure(self, text: str) -> Failure:
        return Failure(f"{_place(self.path, self.number)}: {text}")


def _place(path: Path, number: int) -> str:
    return f"{path}, line {number}"


def _objects(lines: Lines) -> Iterator[tuple[int, dict[str, Any]]]:
    for line in lines:
        if not line.strip():
            continue
        try:
            content = _json.parse(line)
        except ValueError as error:
            raise lines.failure(f"the line is not JSON ({error})") from error
        if not isinstance(content, dict):
            raise lines.failure("the line is not a JSON object")
        yield lines.number, content


def _cells(
    lines: Lines, columns: Sequence[str], needed: Sequence[str], may_be_short: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = _csv(lines)
    heads = [head.strip() for head in next(rows, [])]
    if missing := [name for name in needed if name not in heads]:
        heading = f"name the columns ({', '.join(columns)}) in its first line, separated by commas"
        told = f"{heading}, or write a JSON object in each line"
        raise Failure(f"{lines.path} has no column {' and no column '.join(missing)}: {told}")
    if len(set(heads)) < len(heads):
        raise Failure(f"{lines.path} names a column twice: rename or drop one of the two")
    for cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(heads) or (len(cells) < len(heads) and not may_be_short):
            raise lines.failure(f"{len(cells)} cells for {len(heads)} columns: put a cell with commas in quotes")
        yield lines.number, dict(zip(heads, cells))


# -- CSV ---------------------------------------------------------------------------------------------------------------
# Python's module csv does not say which cells were in quotes; blanks within quotes are part of a name.

QUOTED = re.compile(r'[ \t]*"((?:[^"]|"")*+)"[ \t]*(?=,|\Z)')
OPEN = re.compile(r'[ \t]*"(?:[^"]|"")*+\Z')  # a cell whose quotes do not end in this line
UNQUOTED = re.compile(r'(?![ \t]*")[^,]*')


def _csv(lines: Lines) -> Iterator[list[str]]:
    for line in lines:
        spanned = 1
        while (cells := _split(line.rstrip("\r\n"), lines)) is None:
            more = next(lines, "") if spanned < MOST_SPANNED else ""
            if not more or len(line) + len(more) > MOST_LINE:
                raise lines.failure("the line is not CSV: the quotes of a cell do not end")
            line, spanned = line + more, spanned + 1
        yield cells


def _split(line: str, lines: Lines) -> list[str] | None:
    """Returns the cells of a line; None if it goes on in the next line."""
    cells: list[str] = []
    place = 0
    while place <= len(line):
        if found := QUOTED.match(line, place):
            cells.append(found[1].replace('""', '"'))
        elif found := UNQUOTED.match(line, place):
            cells.append(found[0].strip())
        elif OPEN.match(line, place):
            return None
        else:
            raise lines.failure(f"the line is not CSV: a comma is missing after the quotes of cell {len(cells) + 1}")
        place = found.end() + 1
    return cells
