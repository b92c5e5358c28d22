"""Opens texts that others wrote, and bounds the memory that they can take: a file may be long, one value may not."""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

MOST_LINE = 1 << 20  # characters of a line or of a frame
MOST_VALUE = 4 << 20  # characters of one value of JSON, except lists that are read item by item
MOST_STREAM = 1 << 30  # bytes of a pipe or a device
ENCODINGS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}  # the encodings by their byte order marks
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Wrong(ValueError):
    """Raised for content that is not as it should be; str() says where, and what is expected."""


class _Bounded(io.RawIOBase):
    def __init__(self, file: io.FileIO) -> None:
        self._file, self._left = file, MOST_STREAM

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int | None:  # type: ignore[override]
        count = self._file.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise Wrong(f"it is not a regular file and has more than {MOST_STREAM >> 20} MiB: write it to a file first")
        return count

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def open_text(path: "Path | str", errors: str = "surrogateescape") -> Iterator[IO[str]]:
    """Opens a text in UTF-8, which may begin with a byte order mark. Line breaks stay as they are. Raises OSError,
    Wrong.
    """
    with open(path, "rb", buffering=0) as file:
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        with io.BufferedReader(file if regular else _Bounded(file), 1 << 16) as bytes_of_it:
            _check_encoding(bytes_of_it.peek(4)[:4])
            with io.TextIOWrapper(bytes_of_it, encoding="utf-8-sig", errors=errors, newline="") as text:
                yield text


def _check_encoding(first: bytes) -> None:
    for mark, encoding in ENCODINGS.items():
        if first.startswith(mark):
            raise Wrong(f"it is a text in {encoding}: save it as UTF-8")
    if b"\0" in first:
        raise Wrong(
            "it is not a text in UTF-8: it begins with zeros, as a text in UTF-16, a device or a damaged file does"
        )


def read_line(file: IO[str]) -> str:
    """Returns a line with its end, "" at the end of the file. Raises Wrong if the line is too long."""
    line = file.readline(MOST_LINE + 1)
    if len(line) > MOST_LINE:
        raise Wrong(f"a line has more than {MOST_LINE} characters")
    return line


def shown(value: object) -> str:
    """Returns a wrong value for an error message: short and printable."""
    if isinstance(value, str) and value.isprintable() and len(value) <= 60:
        return f"'{value}'"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    try:
        text = "null" if value is None else str(value).lower() if isinstance(value, bool) else ascii(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:60]}…"


def shown_key(key: str) -> str:
    """Returns a key for an error message, short and printable."""
    short = key if len(key) <= 100 else f"{key[:100]}…"
    return short if short.isprintable() else ascii(short)


def one_line(error: Exception) -> str:
    """Returns a library's error text as one printable line: it may quote what the library has read."""
    text = " ".join(str(error).split())
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 300 else f"{text[:300]}…"


def is_text(text: str) -> bool:
    """Returns whether a text can be written anywhere; bytes of file names that are not UTF-8 can."""
    return "\0" not in text and not any(
        "\ud800" <= character <= "\udc7f" or "\udd00" <= character <= "\udfff" for character in text
    )
