"""Runs programs: ffmpeg, with its progress and end; and short questions to ffmpeg and ffprobe, with a time limit."""

import contextlib
import functools
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple, NoReturn

from ._said import Said, split_line
from ._terminal import Failure, Step, shown

LAST_LINES = 5  # lines of ffmpeg that are shown when it fails
PATIENCE_S = 5.0  # time for an ffmpeg to end after it was told to
ANSWER_S = 60.0  # limit for a program that reads the head of a file
READING_S = 3600.0  # limit for a program that reads a file to its end


class Extent(NamedTuple):
    """The length and rate of the pictures that go through ffmpeg; None if not known."""

    seconds: float | None
    rate: float | None  # frames a second


class FfmpegFailure(Failure):
    def __init__(self, text: str, status: int, said: Said) -> None:
        super().__init__(text, status)
        self.said = said


class Processes:
    """The processes that several threads run, so that one thread can end them all.

    With util-linux's setpriv, the kernel kills each process together with the thread that started it, so that none
    outlives this process.
    """

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._ended = False

    @property
    def are_bound(self) -> bool:
        return bool(_bound())

    def start(
        self, command: Sequence[str], stdin: int = subprocess.DEVNULL, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Starts a program, with these environment variables beside those that are set. Raises Failure."""
        with self._lock:
            if self._ended:
                raise Failure("stopped")
            try:
                process = subprocess.Popen(
                    [*_bound(), *command],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    env={**os.environ, **environment} if environment else None,
                )
            except (OSError, ValueError) as error:  # ValueError: a name has a NUL
                cause = error.strerror if isinstance(error, OSError) else error
                raise Failure(f"cannot run {shown(command[0])}: {cause}") from error
            self._running.add(process)
        return process

    def end(self, process: "subprocess.Popen[str]") -> None:
        if process.poll() is None:
            _stop([process])
        with self._lock:
            self._running.discard(process)

    def end_all(self) -> None:
        """Ends all processes, and lets no other start."""
        with self._lock:
            self._ended = True
            running = list(self._running)
        _stop(running)


@functools.cache
def _bound() -> tuple[str, ...]:
    """Returns the words that make the kernel kill a program with the thread that started it; none without a setpriv
    that can (BusyBox's cannot).
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        asked = subprocess.run([setpriv, "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_S)
        if b"--pdeathsig" in asked.stdout:
            return setpriv, "--pdeathsig", "KILL", "--"
    return ()


@dataclass(frozen=True)
class Answer:
    """The output of a program that has ended."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def last_line(self) -> str:
        """The last line of standard error, which tells best what went wrong."""
        return (self.err.strip().splitlines() or [f"it ended with status {self.status}"])[-1]


def ask(command: Sequence[str], limit_s: float = ANSWER_S) -> Answer:
    """Runs a program to its end, for at most this many seconds. The program does not outlive this thread. Raises
    Failure.
    """
    name = os.path.basename(command[0])
    try:
        with subprocess.Popen(
            [*_bound(), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                out, err = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise Failure(f"timed out: {name} did not answer within {limit_s:g} s ({shown(command[-1])})") from None
            finally:
                process.kill()
    except (OSError, ValueError) as error:  # ValueError: a name has a NUL
        cause = error.strerror if isinstance(error, OSError) else error
        raise Failure(f"cannot run {shown(command[0])}: {cause}") from error
    return Answer(process.returncode, out, err.decode(errors="replace"))


def run_ffmpeg(
    command: Sequence[str],
    extent: Extent,
    show: Callable[[Step], None] | None = None,
    processes: Processes | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Said:
    """Runs ffmpeg to its end; an exception or a signal in between ends it. Raises FfmpegFailure."""
    processes = processes or Processes()
    process = processes.start(command, stdin)
    assert process.stdout and process.stderr
    said = Said([])
    listener = threading.Thread(target=listen, args=(process.stderr, said.lines), daemon=True)
    listener.start()
    try:
        for step in _steps(process.stdout, extent):
            if show:
                show(step)
        status = process.wait()
    finally:
        processes.end(process)
    listener.join()
    if status:
        fail(status, said)
    return said


def listen(stream: IO[str], lines: list[str]) -> None:
    """Collects what a program writes, until it ends."""
    lines.extend(line.rstrip("\n") for line in stream)


def _stop(processes: Sequence["subprocess.Popen[str]"]) -> None:
    """Ends all processes at once.

    An ffmpeg that waits for the next frame of -readrate, or for a device, does not see that it is told to end.
    """
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + PATIENCE_S
    for process in processes:
        try:
            process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _steps(stream: IO[str], extent: Extent) -> Iterator[Step]:
    """Reads the steps that `ffmpeg -progress` writes: KEY=VALUE lines, in groups that end with progress=.

    After a seek its times may stay at 0.
    """
    values: dict[str, str] = {}
    for line in stream:
        key, _, value = line.strip().partition("=")
        values[key] = value
        if key == "progress":
            frame = int(_number(values.get("frame")))
            done = frame / extent.rate if extent.rate else _number(values.get("out_time_us")) / 1e6
            part = min(max(done / extent.seconds, 0.0), 1.0) if extent.seconds else None
            yield Step(frame, _number(values.get("fps")), part)


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:  # ffmpeg writes N/A
        return 0.0


def ending_of(status: int) -> str:
    """Says how a program has ended, after its name."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


def fail(status: int, said: Said) -> NoReturn:
    """Raises FfmpegFailure with what the filter said, what ffmpeg said last, and its exit status."""
    errors = {
        text: source for source, level, text in map(split_line, said.lines) if level in ("error", "fatal", "panic")
    }
    ours = [text for text, source in errors.items() if "vmafx" in source and not text.startswith("Failed to configure")]
    lines = ours or list(errors)[-LAST_LINES:]  # ffmpeg's own words after a failure of the filter tell nothing more
    told = "\n  ".join([f"ffmpeg {ending_of(status)}:", *(lines or said.lines[-LAST_LINES:])])
    raise FfmpegFailure(told, 128 - status if status < 0 else status, said)
