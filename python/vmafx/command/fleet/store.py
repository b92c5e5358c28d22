"""Keeps what is known of the pairs, so that a run that was killed can be continued: results, and the scores of ranges
until they are joined.

A result is a JSON object; the last one with an id counts. It is on the disk when add() returns. Only one run at a time
writes a file, by whichever name.
"""

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from ..._system import lock_byte
from .. import _json
from .._reading import one_line
from .._statistics import NAMES
from .._terminal import Failure

Record = dict[str, Any]
SCHEMA = 1  # version of a record's layout
HEAD = b'{"schema": 1, "id": '  # begins the line of a record
LINES = ".jsonl", ".ndjson"
DATABASES = ".sqlite", ".db"
MOST_RECORD = 4 << 20  # bytes that a line may have


class Results(Protocol):
    def add(self, record: Record) -> None: ...

    def all(self) -> Iterable[Record]: ...

    def close(self) -> None: ...


def open_results(path: Path) -> Results:
    """Opens the results. Raises Failure, also if another run has them open."""
    with _writing(path):
        lock = _locked(path)
        try:
            if path.suffix in DATABASES:
                return _Database(path, lock)
            return _Lines(path, lock)
        except BaseException:
            os.close(lock)
            raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise Failure(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error


def _is_not_ours(path: Path) -> Failure:
    return Failure(f"{path} exists and has no results of vmafx library: name another file, or remove it")


# -- One run at a time -------------------------------------------------------------------------------------------------

LOCKED = 1 << 62  # the byte that is locked, far from those that SQLite locks


def _locked(path: Path) -> int:
    """Opens and locks the file itself until it is closed, so that links to it are locked, too. Makes it if need be."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Failure(f"cannot write {path}: it is a pipe or a device; name a file for the results")
            _lock(file, path)
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except FileNotFoundError:  # another process has removed it
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _lock(file: int, path: Path) -> None:
    """Takes a lock that belongs to the open file.

    SQLite's own locks belong to the process: they do not meet this one, and it does not end with them.
    """
    try:
        lock_byte(file, LOCKED)
    except (BlockingIOError, PermissionError):
        raise Failure(f"another vmafx library is writing {path}: wait for its end, or name another file") from None


# -- Lines of JSON -----------------------------------------------------------------------------------------------------


class _Lines:
    def __init__(self, path: Path, file: int) -> None:
        self._path, self._file = path, file
        self._check_first()
        self._drop_torn_line()

    def _check_first(self) -> None:
        """Checks the first line before anything is changed: the file could be any."""
        with open(self._file, "rb", closefd=False) as file:
            file.seek(0)
            first = file.readline(MOST_RECORD + 1)
        if not (_is_record(first) if first.endswith(b"\n") else first.startswith(HEAD) or HEAD.startswith(first)):
            raise _is_not_ours(self._path)

    def _drop_torn_line(self) -> None:
        """Cuts off the part of a line that a killed run has left."""
        end = size = os.fstat(self._file).st_size
        block = 1 << 16
        while end:
            begin = max(end - block, 0)
            found = os.pread(self._file, end - begin, begin).rfind(b"\n")
            end = begin + found + 1
            if found >= 0:
                break
        if end < size:
            os.ftruncate(self._file, end)

    def add(self, record: Record) -> None:
        line = json.dumps({"schema": SCHEMA, **record}).encode() + b"\n"
        begin = os.fstat(self._file).st_size
        with _writing(self._path):
            try:
                _write(self._file, line)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, begin)  # leaves no part of a line
                raise

    def all(self) -> Iterator[Record]:
        with _reading(self._path), open(self._file, "rb", closefd=False) as file:
            file.seek(0)
            number = 0
            while line := file.readline(MOST_RECORD + 1):
                number += 1
                yield _record(line, f"{self._path}, line {number}")

    def close(self) -> None:
        with contextlib.suppress(OSError):  # all was written
            os.close(self._file)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise Failure(f"cannot read {path}: {getattr(error, 'strerror', None) or one_line(error)}") from error


def _write(file: int, content: bytes) -> None:
    """Writes all of the content to the disk."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
    os.fsync(file)


# -- Records -----------------------------------------------------------------------------------------------------------


def _is_record(line: bytes) -> bool:
    try:
        record = _json.parse(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("schema") == SCHEMA and "stamp" in record


def _record(text: str | bytes, place: str) -> Record:
    """Parses a result, which others may have written. Raises Failure if it does not fit the schema."""
    remedy = "take it out, or name another file for the results"
    try:
        content = _json.parse(text) if len(text) <= MOST_RECORD else None
    except ValueError as error:
        raise Failure(f"{place}: not a result of vmafx library, as it is not JSON ({error}): {remedy}") from error
    if not isinstance(content, dict):
        raise Failure(f"{place}: not a result of vmafx library: {remedy}")
    if content.get("schema") != SCHEMA:
        raise Failure(f"{place}: not a result of this version of vmafx library, whose schema is {SCHEMA}: {remedy}")
    checks = CHECKS if content.get("error") is not None else CHECKS | CHECKS_OF_SCORED
    for name, is_right in (checks | {name: OPTIONAL[name] for name in OPTIONAL.keys() & content.keys()}).items():
        if name not in content or not is_right(content[name]):
            raise Failure(
                f"{place}: not a result of vmafx library, for its {name} is "
                f"{'wrong' if name in content else 'missing'}: {remedy}"
            )
    return content


MOST_NUMBER = 1e300
NOT_FINITE = "inf", "-inf", "nan"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    """Returns whether the value is finite, and not too large for a float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST_NUMBER < value < MOST_NUMBER


def _is_score(value: Any) -> bool:
    """Returns whether the value is a score; texts stand for infinity, which JSON lacks."""
    return value is None or value in NOT_FINITE or _is_number(value)


def _is_pooled(value: Any) -> bool:
    scores = value.values() if isinstance(value, dict) else [None]
    return all(
        isinstance(pooled, dict) and all(_is_score(pooled.get(name, ...)) for name in NAMES) for pooled in scores
    )


def _is_worst(value: Any) -> bool:
    frames = [frame for frame in value.values() if frame is not None] if isinstance(value, dict) else [None]
    return all(
        isinstance(frame, dict) and all(_is_number(frame.get(name)) for name in ("frame", "time")) for frame in frames
    )


def _is_doubt(value: Any) -> bool:
    if not isinstance(value, dict) or not all(_is_text(value.get(name)) for name in ("kind", "text")):
        return False
    places = [value[name] for name in ("from", "to") if name in value]
    return _is_text(value.get("certainty", "")) and all(map(_is_number, places))


def _are_models(value: Any) -> bool:
    models = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(model, dict) and _is_text(model.get("model", "")) for model in models)


CHECKS: dict[str, Callable[[Any], bool]] = {
    "id": _is_text,
    "stamp": _is_text,
    "error": lambda value: value is None or isinstance(value, str),
}
CHECKS_OF_SCORED: dict[str, Callable[[Any], bool]] = {
    "pooled": _is_pooled,
    "worst_frame": _is_worst,
    "warnings": lambda value: isinstance(value, list) and all(map(_is_text, value)),
}
OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "doubts": lambda value: isinstance(value, list) and all(map(_is_doubt, value)),
    "models": _are_models,
}

# -- A database --------------------------------------------------------------------------------------------------------

IN_RESULTS = {
    "id": "TEXT PRIMARY KEY",
    "distorted": "TEXT",
    "reference": "TEXT",
    "frames": "INTEGER",
    "error": "TEXT",
    "record": "TEXT",
}
IN_SCORES = {"id": "TEXT", "score": "TEXT", **dict.fromkeys(NAMES, "REAL")}
SQLITE = b"SQLite format 3\0"
JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


class _Database:
    """An SQLite database: `results` has the records, `scores` their pooled values in columns."""

    def __init__(self, path: Path, file: int) -> None:
        self._path, self._file = path, file
        head = os.pread(file, len(SQLITE), 0)
        if head not in (b"", SQLITE):
            raise _is_not_ours(path)
        _check_journal(path)
        self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
        try:
            self._check_tables()
        except BaseException:
            self._connection.close()
            raise

    def _check_tables(self) -> None:
        """Checks the tables, and makes them in a new file only."""
        do = self._connection
        (objects,) = do.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with self._transaction():
            if not objects:
                do.execute(f"CREATE TABLE results ({', '.join(map(' '.join, IN_RESULTS.items()))})")
                do.execute(
                    f"CREATE TABLE scores ({', '.join(map(' '.join, IN_SCORES.items()))}, PRIMARY KEY (id, score))"
                )
        for table, wanted in (("results", IN_RESULTS), ("scores", IN_SCORES)):
            columns = [name for _, name, *_ in do.execute(f"PRAGMA table_info({table})")]
            (kind,) = do.execute("SELECT type FROM sqlite_master WHERE name = ?", [table]).fetchone() or ("",)
            if kind != "table" or columns != list(wanted):
                raise _is_not_ours(self._path)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # after some errors SQLite itself has rolled back
                self._connection.execute("ROLLBACK")
            raise

    def add(self, record: Record) -> None:
        do = self._connection
        with _writing(self._path), self._transaction():
            head = [record["id"], record["distorted"], record["reference"], record.get("frames"), record.get("error")]
            do.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)",
                [*map(_text, head), json.dumps({"schema": SCHEMA, **record})],
            )
            do.execute("DELETE FROM scores WHERE id = ?", [_text(record["id"])])
            rows = [
                [
                    _text(record["id"]),
                    _text(key),
                    *(values[name] if values[name] is None else float(values[name]) for name in NAMES),
                ]
                for key, values in record.get("pooled", {}).items()
            ]
            do.executemany(f"INSERT INTO scores VALUES (?, ?{', ?' * len(NAMES)})", rows)

    def all(self) -> Iterator[Record]:
        with _reading(self._path):
            for row, text in self._connection.execute("SELECT rowid, record FROM results ORDER BY rowid"):
                place = f"{self._path}, row {row} of results"
                if not isinstance(text, str | bytes):
                    raise Failure(
                        f"{place}: not a result of vmafx library: take it out, or name another file for the results"
                    )
                yield _record(text, place)

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error, OSError):  # everything is on the disk by now
            self._connection.close()
        with contextlib.suppress(OSError):
            os.close(self._file)


def _check_journal(path: Path) -> None:
    """Refuses a foreign file in place of the journal: SQLite plays back a killed run's journal and removes it, whatever
    it was.
    """
    journal = f"{os.path.realpath(path)}-journal"
    try:
        file = os.open(journal, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        head = os.read(file, len(JOURNAL)) if stat.S_ISREG(os.fstat(file).st_mode) else b"?"
    finally:
        os.close(file)
    if head.strip(b"\0") and head != JOURNAL:
        raise Failure(
            f"{journal} exists and is not a journal of SQLite, which would remove it: move it away, or name another "
            "file for the results"
        )


def _text(value: Any) -> Any:
    """Returns a text that SQLite takes: names of files need not be text."""
    if not isinstance(value, str):
        return value
    try:
        return value.encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:  # JSON may have other surrogates
        return value.encode(errors="backslashreplace").decode()


# -- Ranges ------------------------------------------------------------------------------------------------------------

MARK = "vmafx.txt"  # tells whose folder it is
ABOUT = b"vmafx library keeps the scores of ranges here until their videos are done. The results are beside it.\n"
WORK = re.compile(r"[0-9a-f]{24}")  # the name of a video's folder
RANGE = re.compile(r"[0-9]+\.range|[0-9]+\.[0-9]+\.part")
HEAD_OF_RANGE = b"vmafx range 1 "  # a digest of the rest and a line break follow
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Ranges:
    """Compressed reports of ranges, in a folder beside the results, which is made when there is one to keep.

    The folder is reached by a descriptor and through no link. Only files made here are removed, recognized by name and
    beginning; anything else in it stays.
    """

    def __init__(self, results: Path) -> None:
        target = Path(os.path.realpath(results))
        self._path = target.with_name(f"{target.name}.ranges")
        with _writing(self._path):
            self._parent = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._folder = self._open()
            except BaseException:
                os.close(self._parent)
                raise

    def _open(self) -> int | None:
        try:
            return os.open(self._path.name, FOLDER, dir_fd=self._parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            with contextlib.suppress(OSError):
                mode = os.stat(self._path.name, dir_fd=self._parent, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(mode):
                    kind = "a link" if stat.S_ISLNK(mode) else "not a folder"
                    told = f"{self._path} is {kind}, but vmafx library keeps the scores of ranges in a folder"
                    raise Failure(f"{told} of that name: remove it, or name another file for the results") from error
            raise

    def __enter__(self) -> "Ranges":
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._leave(self._folder)
            os.close(self._folder)
        os.close(self._parent)

    def _leave(self, folder: int) -> None:
        """Removes the folder if it was made here and is empty."""
        if os.listdir(folder) == [MARK] and _content(folder, MARK, len(ABOUT) + 1) == ABOUT:
            os.unlink(MARK, dir_fd=folder)
            os.rmdir(self._path.name, dir_fd=self._parent)

    def clear(self) -> None:
        """Drops all ranges, which are not needed any more."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                for work in filter(WORK.fullmatch, os.listdir(self._folder)):
                    self.drop(work)

    def drop(self, work: str) -> None:
        with contextlib.suppress(OSError), self._work(work) as folder:
            for name in filter(RANGE.fullmatch, os.listdir(folder)):
                if _is_range(folder, name):
                    os.unlink(name, dir_fd=folder)
            assert self._folder is not None
            os.rmdir(work, dir_fd=self._folder)  # fails unless it is empty

    def has(self, work: str, number: int) -> bool:
        try:
            return bool(self.get(work, number))
        except Failure:
            return False

    def get(self, work: str, number: int) -> bytes:
        with _reading(self._path), self._work(work) as folder:
            content = _content(folder, f"{number}.range")
        head, _, report = content.partition(b"\n")
        if head != _head(report):
            raise Failure(f"{self._path}/{work}/{number}.range is damaged: remove it, and start the command again")
        return report

    def put(self, work: str, number: int, report: bytes) -> None:
        with _writing(self._path):
            top = self._made()
            with contextlib.suppress(FileExistsError):
                os.mkdir(work, dir_fd=top)
            with self._work(work) as folder:
                name, part = f"{number}.range", f"{number}.{os.getpid()}.part"
                if not _is_range(folder, name, or_missing=True):
                    raise Failure(
                        f"{self._path}/{work}/{name} exists and was not made by vmafx library: remove it, or name "
                        "another file for the results"
                    )
                try:
                    _make(folder, part, _head(report) + b"\n" + report)
                    os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(part, dir_fd=folder)
                    raise

    def _made(self) -> int:
        if self._folder is None:
            os.mkdir(self._path.name, dir_fd=self._parent)
            self._folder = os.open(self._path.name, FOLDER, dir_fd=self._parent)
            _make(self._folder, MARK, ABOUT)
        return self._folder

    @contextlib.contextmanager
    def _work(self, work: str) -> Iterator[int]:
        if self._folder is None:
            raise FileNotFoundError
        folder = os.open(work, FOLDER, dir_fd=self._folder)
        try:
            yield folder
        finally:
            os.close(folder)


def _head(report: bytes) -> bytes:
    return HEAD_OF_RANGE + hashlib.sha256(report).hexdigest().encode()


def _make(folder: int, name: str, content: bytes) -> None:
    """Makes a new file with this content. Raises OSError, also if the name is taken."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        _write(file, content)
    finally:
        os.close(file)


def _content(folder: int, name: str, most: int = -1) -> bytes:
    """Reads a file that is not a link, up to `most` bytes. Raises OSError."""
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=folder)
    with open(file, "rb") as stream:
        return stream.read(most) if stat.S_ISREG(os.fstat(file).st_mode) else b""


def _is_range(folder: int, name: str, or_missing: bool = False) -> bool:
    """Returns whether a file was made here, by its beginning; a file that was still being written may end within it."""
    try:
        head = _content(folder, name, len(HEAD_OF_RANGE))
    except FileNotFoundError:
        return or_missing
    except OSError:
        return False
    return head == HEAD_OF_RANGE or (name.endswith(".part") and HEAD_OF_RANGE.startswith(head))
