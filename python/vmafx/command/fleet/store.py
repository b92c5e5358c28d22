"""What is known of the pairs, kept so that a run that was killed goes on where it was: results, and the scores of ranges until they are joined.

A result is a JSON object; the last one of an id counts. It is on the disk when add() returns.
"""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from .._statistics import NAMES
from .._terminal import Failure

Record = dict[str, Any]
SCHEMA = 1  # of a record
HEAD = b'{"schema": 1, "id": '  # of the line of a record
LINES = ".jsonl", ".ndjson"
DATABASES = ".sqlite", ".db"


class Results(Protocol):
    def add(self, record: Record) -> None: ...

    def all(self) -> Iterable[Record]: ...

    def close(self) -> None: ...


def open_results(path: Path) -> Results:
    with _writing(path):
        if path.suffix in DATABASES:
            return _Database(path)
        return _Lines(path)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise Failure(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error


class _Lines:
    """JSON, a line each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open(path, "a+b")
        self._check_first()
        self._drop_torn_line()

    def _check_first(self) -> None:
        """Before anything is changed: it could be any file."""
        self._file.seek(0)
        first = self._file.readline()
        if not (_is_record(first) if first.endswith(b"\n") else first.startswith(HEAD) or HEAD.startswith(first)):
            raise Failure(f"{self._path} is there, and has no results of vmafx library: name another file, or remove it")

    def _drop_torn_line(self) -> None:
        """Of a run that was killed while it wrote."""
        size = self._file.seek(0, os.SEEK_END)
        end = size
        while end and self._byte(end - 1) != b"\n":
            end -= 1
        if end < size:
            self._file.truncate(end)

    def _byte(self, place: int) -> bytes:
        self._file.seek(place)
        return self._file.read(1)

    def add(self, record: Record) -> None:
        with _writing(self._path):
            self._file.write(json.dumps({"schema": SCHEMA, **record}).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def all(self) -> Iterator[Record]:
        with open(self._path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise Failure(f"{self._path}:{number} is no JSON: {error}") from error

    def close(self) -> None:
        self._file.close()


def _is_record(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("schema") == SCHEMA and "stamp" in record


class _Database:
    """SQLite: `results` has the records, `scores` their pooled values in columns."""

    def __init__(self, path: Path) -> None:
        self._path, self._connection = path, sqlite3.connect(path, timeout=60, isolation_level=None)
        columns = ", ".join(f"{name} REAL" for name in NAMES)
        with self._connection as do:
            do.execute("CREATE TABLE IF NOT EXISTS results (id TEXT PRIMARY KEY, distorted TEXT, reference TEXT, frames INTEGER, error TEXT, record TEXT)")
            do.execute(f"CREATE TABLE IF NOT EXISTS scores (id TEXT, score TEXT, {columns}, PRIMARY KEY (id, score))")

    def add(self, record: Record) -> None:
        with _writing(self._path), self._connection as do:
            do.execute("BEGIN IMMEDIATE")
            head = [record["id"], record["distorted"], record["reference"], record.get("frames"), record.get("error")]
            do.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", [*map(_text, head), json.dumps({"schema": SCHEMA, **record})])
            do.execute("DELETE FROM scores WHERE id = ?", [_text(record["id"])])
            rows = [[_text(record["id"]), key, *(values[name] for name in NAMES)] for key, values in record.get("pooled", {}).items()]
            do.executemany(f"INSERT INTO scores VALUES (?, ?{', ?' * len(NAMES)})", rows)

    def all(self) -> Iterator[Record]:
        for (text,) in self._connection.execute("SELECT record FROM results ORDER BY rowid"):
            yield json.loads(text)

    def close(self) -> None:
        self._connection.close()


def _text(value: Any) -> Any:
    """Names of files need not be text; SQLite's are."""
    return value.encode(errors="surrogateescape").decode(errors="backslashreplace") if isinstance(value, str) else value


# -- Ranges --------------------------------------------------------------------------------------------------------------


class Ranges:
    """Reports of ranges, compressed, in a folder beside the results, which also tells a second run that it is not alone."""

    def __init__(self, results: Path) -> None:
        self._folder = results.with_name(f"{results.name}.ranges")
        try:
            self._folder.mkdir(exist_ok=True)
            self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another vmafx library is writing {results}") from None
        except OSError as error:
            raise Failure(f"cannot write {self._folder}: {error.strerror}") from error

    def __enter__(self) -> "Ranges":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._folder.rmdir()  # if it is empty
        os.close(self._lock)

    def clear(self) -> None:
        """None is needed any more."""
        for work in self._folder.iterdir():
            shutil.rmtree(work, ignore_errors=True)

    def has(self, work: str, number: int) -> bool:
        return self._path(work, number).exists()

    def get(self, work: str, number: int) -> bytes:
        return self._path(work, number).read_bytes()

    def put(self, work: str, number: int, report: bytes) -> None:
        path = self._path(work, number)
        part = path.with_suffix(".part")
        with _writing(path):
            path.parent.mkdir(exist_ok=True)
            with open(part, "wb") as file:
                file.write(report)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)

    def drop(self, work: str) -> None:
        shutil.rmtree(self._folder / work, ignore_errors=True)

    def _path(self, work: str, number: int) -> Path:
        return self._folder / work / f"{number}.range"
