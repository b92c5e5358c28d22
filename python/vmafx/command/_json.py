"""Reads JSON that others wrote."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from ._reading import MOST_LINE, MOST_VALUE, Wrong, shown

CHUNK = 1 << 18  # characters read at a time
MOST_MEMBERS = 1000  # the most in an object that is read member by member
_BLANK = re.compile(r"[ \t\r\n]*")


def parse(text: str | bytes, **hooks: Any) -> Any:
    """Parses as json.loads() does; nesting too deep for Python is a ValueError, too."""
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("it nests too deep") from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object of these members (`object_pairs_hook`). Raises Wrong for a key that occurs twice: nobody knows
    which value counts.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise Wrong(f"an object has the key {shown(twice)} twice")
    return members


class Scanner:
    """Reads JSON of any length: large lists and objects are read item by item, with one item in memory.

    All methods raise ValueError if the text is not JSON or a value is too long.
    """

    def __init__(self, file: IO[str], begun: str = "", **hooks: Any) -> None:
        """Takes a file, and in `begun` the text that was read from it before."""
        self._file, self._text, self._at, self._before = file, begun, 0, 0
        self._decode = json.JSONDecoder(object_pairs_hook=unique, **hooks).raw_decode

    def peek(self) -> str:
        """Returns the next character that is not a blank, "" at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_on(CHUNK):
                return ""

    def value(self, most: int = MOST_VALUE) -> Any:
        """Reads the next value, of at most `most` characters."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                failure = f"{error.msg} at character {self._before + error.pos}"
            except RecursionError:
                raise Wrong("it nests too deep") from None
            else:
                if end - self._at > most:
                    raise Wrong(f"the value at character {self._before + self._at} has more than {most} characters")
                if end < len(self._text) or not self._read_on(CHUNK):  # else a number may go on
                    self._at = end
                    return value
                continue
            if len(self._text) - self._at > most:
                raise Wrong(f"it has a value of more than {most} characters, or is not JSON: {failure}")
            if not self._read_on(max(CHUNK, len(self._text) - self._at)):
                raise ValueError(failure)

    def members(self) -> Iterator[str]:
        """Yields the keys of the next object. The caller reads the value of a key before it asks for the next key."""
        self._take("{")
        keys: set[str] = set()
        while self.peek() != "}" or keys:
            if self.peek() != '"':
                raise self._wrong("a key in double quotes")
            key = self.value(MOST_LINE)
            if key in keys:
                raise Wrong(f"an object has the key {shown(key)} twice")
            keys.add(key)
            if len(keys) > MOST_MEMBERS:
                raise Wrong(f"an object has more than {MOST_MEMBERS} members")
            self._take(":")
            yield key
            if self.peek() == "}":
                break
            self._take(",")
        self._take("}")

    def items(self) -> Iterator[None]:
        """Yields once for each item of the next list; the caller then reads that item."""
        self._take("[")
        if self.peek() != "]":
            yield
            while self.peek() == ",":
                self._at += 1
                yield
        self._take("]")

    def end(self) -> None:
        if self.peek():
            raise self._wrong("the end of the file")

    def _take(self, character: str) -> None:
        if self.peek() != character:
            raise self._wrong(f"'{character}'")
        self._at += 1

    def _wrong(self, wanted: str) -> ValueError:
        there = shown(self.peek()) if self.peek() else "the end of the file"
        return ValueError(f"{wanted} is expected at character {self._before + self._at}, not {there}")

    def _read_on(self, count: int) -> bool:
        """Reads more of the file and drops the text that was parsed; returns whether there was more."""
        more = self._file.read(count)
        if more:
            self._before += self._at
            self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)
