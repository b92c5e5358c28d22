"""Output of the subcommands: errors, notes, progress, tables."""

import contextlib
import errno
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from .._identity import descriptor_of
from .._system import flags
from ._names import redact

MOST_OF_NAME = 200  # bytes of an output's name that the name of its temporary file begins with


class Failure(Exception):
    """An error that ends the command; its text is for the user."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(redact(text))
        self.status = status


def note(text: str) -> None:
    """Writes a line beside the result. If nobody can read it, it is lost and the run goes on."""
    complain(f"vmafx: {text}")


def complain(text: str) -> None:
    """Writes to standard error, without any character that a terminal would take for a command."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it may be full, closed or missing
        print(harmless(redact(text)), file=sys.stderr, flush=True)


def emit(text: str) -> None:
    """Writes a result, whole or not at all as far as this program can tell. Raises Failure, BrokenPipeError."""
    if sys.stdout is None:
        raise Failure("cannot write the result: standard output is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        drop_output()
        cause = os.strerror(errno.EBADF) if isinstance(error, ValueError) else error.strerror
        raise Failure(f"cannot write the result to standard output: {cause}") from error


def drop_output() -> None:
    """Points standard output to nowhere, so that Python does not fail once more when it flushes the rest at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, sys.stdout.fileno())
        os.close(descriptor)


def counted(number: int, word: str) -> str:
    """Returns a number with its word: 1 frame, 2 frames."""
    return f"{number} {word}{'s' * (number != 1)}"


# -- Names -------------------------------------------------------------------------------------------------------------


def shown(name: object) -> str:
    r"""Returns a file's name for a line of text, written as a shell reads it ($'a\nb') if a terminal cannot show it."""
    text = str(name)
    if text.isprintable():
        return text
    escaped = "".join(_as_shell_reads(character) for character in text)
    return f"$'{escaped}'"


def _as_shell_reads(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    simple = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\033": "\\E"}
    is_byte = "\udc80" <= character <= "\udcff"  # a byte of a name that is not UTF-8
    errors = "surrogateescape" if is_byte else "surrogatepass"
    return simple.get(character) or "".join(f"\\{byte:03o}" for byte in character.encode(errors=errors))


def harmless(text: str) -> str:
    """Returns lines of text in which no character controls the terminal."""
    return "\n".join("".join(c if c.isprintable() else _as_shell_reads(c) for c in line) for line in text.split("\n"))


def time_text(seconds: float, decimals: int = 3) -> str:
    """Returns a time as 1:02:03.040, or 2:03.040 in the first hour; – if it is not finite."""
    if not math.isfinite(seconds):
        return "–"
    units = round(max(seconds, 0) * 10**decimals)
    whole, part = divmod(units, 10**decimals)
    hours, minutes = whole // 3600, whole // 60 % 60
    text = f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
    return f"{text}.{part:0{decimals}}" if decimals else text


def decimals_of(largest: float) -> int:
    """Returns how many decimals tell scores apart: fewer on a scale up to 100 than on one up to 1."""
    return 3 if largest > 1.5 else 5


# -- Files -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def whole_file(path: Path, check: Callable[[Path], object]) -> Iterator[Path]:
    """Yields a file to write, which takes the place of `path` when it is complete. A device or a pipe is written as it
    is.

    `check(path)` raises Failure if `path` may not be overwritten: _outputs.check_outputs() returns it. It is called at
    the beginning and at the end, since another file may have the name by then. Raises Failure.
    """
    check(path)
    try:
        if (descriptor := descriptor_of(path)) is not None:
            with _into_descriptor(descriptor) as part:
                yield part
            return
        if path.exists() and not path.is_file():
            yield path
            return
        target = Path(os.path.realpath(path))
        part = make_part(target)
        try:
            yield part
            if target.exists():
                shutil.copymode(target, part)
            check(path)
            if os.path.realpath(path) != str(target):
                raise Failure(f"cannot write {shown(path)}: it has become a link to another file; write to a new name")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(f"cannot write {shown(path)}: {error.strerror}") from error


def make_part(target: Path) -> Path:
    """Makes a new file in the folder of the target."""
    name = os.fsdecode(os.fsencode(target.name)[:MOST_OF_NAME])
    number = 0
    while True:
        part = target.with_name(f"{name}.{os.getpid()}{f'.{number}' if number else ''}.part")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(part, flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC"), 0o666))
            return part
        number += 1


@contextlib.contextmanager
def _into_descriptor(descriptor: int) -> Iterator[Path]:
    """Appends to an open file: its present content stays, and a file renamed into its place would not be seen."""
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        part = Path(folder) / "part"
        yield part
        if sys.stdout:  # None if the caller has closed it
            sys.stdout.flush()
        with part.open("rb") as source, open(descriptor, "wb", closefd=False) as sink:
            shutil.copyfileobj(source, sink)


# -- Progress ----------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """The progress of a run."""

    frame: int
    fps: float
    part: float | None  # 0 to 1; None if the length is not known

    def text(self) -> str:
        return f"{self.frame} frames, {self.fps:.0f} a second"


class Count(NamedTuple):
    """The progress of a list."""

    done: int
    total: int
    failed: int

    @property
    def part(self) -> float:
        return self.done / self.total

    def text(self) -> str:
        return f"{self.done} of {self.total} pairs" + (f", {self.failed} failed" if self.failed else "")


class Progress(Protocol):
    def __enter__(self) -> "Progress": ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, step: Step | Count) -> None: ...


class _Silent:
    _start = 0.0

    def __enter__(self) -> "_Silent":
        self._start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, step: Step | Count) -> None:
        pass

    def _describe(self, step: Step | Count) -> str:
        text = step.text()
        if step.part is not None:
            text += f", {100 * step.part:.0f} %"
        spent = time.monotonic() - self._start
        return f"{text}, {time_text(spent / step.part - spent, 0)} left" if step.part else text


class _Line(_Silent):
    """One line of the terminal, written over and over."""

    def __exit__(self, *_: object) -> None:
        self._write("")

    def show(self, step: Step | Count) -> None:
        self._write(self._describe(step))

    @staticmethod
    def _write(text: str) -> None:
        with contextlib.suppress(OSError):  # the terminal may have gone
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class _Bar(_Silent):
    """A progress bar of rich."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Bars, TextColumn

        self._bars = Bars(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True)
        self._task = self._bars.add_task("starting", total=None)

    def __enter__(self) -> "_Bar":
        super().__enter__()
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, step: Step | Count) -> None:
        total = None if step.part is None else 1.0
        self._bars.update(self._task, description=self._describe(step), completed=step.part or 0, total=total)


def progress() -> Progress:
    """Returns a bar on a terminal, or a line without rich; elsewhere progress is not shown."""
    if sys.stderr is None or not sys.stderr.isatty():
        return _Silent()
    try:
        return _Bar()
    except ImportError:
        return _Line()


# -- Tables ------------------------------------------------------------------------------------------------------------

LEAST_NAME = 16  # columns of the terminal that a name needs; longer names go on in the next line


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> None:
    """Prints a table: the first `texts` columns are words, the others numbers. On a terminal rich draws it, if
    installed.
    """
    rows = [[*map(shown, row)] for row in rows]
    emit(
        (_drawn(heads, rows, texts) if sys.stdout is not None and sys.stdout.isatty() else None)
        or _plain(heads, rows, texts)
    )


def _plain(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    lines = []
    for row in (heads, *rows):
        cells = [
            cell.ljust(width) if i < texts else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str | None:
    """Returns the table as rich draws it; None without rich, and if the terminal is too narrow.

    Numbers are never cut; names are folded instead.
    """
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return None
    console = Console()
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    names = max(range(texts), key=widths.__getitem__)  # the column with the longest words gives way
    others = sum(width for i, width in enumerate(widths) if i != names)
    if others + min(LEAST_NAME, widths[names]) + 2 * len(heads) > console.width:
        return None
    table: Any = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i < texts else "right", no_wrap=i != names, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    with console.capture() as capture:
        console.print(table)
    return str(capture.get())
