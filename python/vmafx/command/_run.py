"""Runs ffmpeg: how far it is, what it says, how it ends."""

import re
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, NoReturn

from ._terminal import Failure, Step, note, progress

LAST_LINES = 5  # of ffmpeg, where it fails
MOST_WARNINGS = 20  # where it does not: a damaged file has many


@dataclass
class Said:
    """What ffmpeg wrote, by level, as far as it matters."""

    lines: list[str]

    @property
    def warnings(self) -> list[str]:
        """Those of the filter, and errors of the others: damaged pictures, say."""
        found = []
        for line in self.lines:
            source, level, text = _parts(line)
            if level in ("error", "fatal") or (level == "warning" and "vmafx" in source):
                found.append(text)
        different = list(dict.fromkeys(found))
        more = len(different) - MOST_WARNINGS
        return different[:MOST_WARNINGS] + ([f"ffmpeg has said {more} lines more of errors"] if more > 0 else [])

    @property
    def features(self) -> list[str]:
        """The keys of the main scores of features, as the filter has printed them."""
        texts = (_parts(line)[2] for line in self.lines if "vmafx" in line)
        found = [match[1] for text in texts if (match := re.search(r"(\S+) score: \S+$", text)) and match[1] != "VMAF"]
        return list(dict.fromkeys(found))


def _parts(line: str) -> tuple[str, str, str]:
    """(who says it, level, text)"""
    found = re.match(r"(?:\[([^\]]* @ 0x[0-9a-f]+)\] )*\[(\w+)\] (.*)", line)
    return (found[1] or "", found[2], found[3]) if found else ("", "", line)


def run_ffmpeg(command: Sequence[str], length: float | None) -> Said:
    """`length`: how long it goes on, in seconds of video. Whatever ends this before, ends ffmpeg, too."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    assert process.stdout and process.stderr
    said = Said([])
    listener = threading.Thread(target=_listen, args=(process.stderr, said.lines), daemon=True)
    listener.start()
    try:
        with progress() as shown:
            start = time.monotonic()
            for step in _steps(process.stdout, length):
                spent = time.monotonic() - start
                shown.show(step, spent / step.part - spent if step.part else None)
        status = process.wait()
    finally:
        if process.poll() is None:
            _stop(process)
    listener.join()
    if status:
        fail(status, said)
    for warning in said.warnings:
        note(warning)
    return said


def _listen(stream: IO[str], lines: list[str]) -> None:
    lines.extend(line.rstrip("\n") for line in stream)


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _steps(stream: IO[str], length: float | None) -> Iterator[Step]:
    """From what `ffmpeg -progress` writes: KEY=VALUE lines, the last of each group is progress=."""
    values: dict[str, str] = {}
    for line in stream:
        key, _, value = line.strip().partition("=")
        values[key] = value
        if key == "progress":
            done = _number(values.get("out_time_us")) / 1e6
            part = min(max(done / length, 0.0), 1.0) if length else None
            yield Step(int(_number(values.get("frame"))), _number(values.get("fps")), part)


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:  # N/A
        return 0.0


def fail(status: int, said: Said) -> NoReturn:
    """With what ffmpeg said last, and its exit status."""
    lines = [text for _, level, text in map(_parts, said.lines) if level in ("error", "fatal", "panic")] or said.lines
    ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    raise Failure("\n  ".join([f"ffmpeg {ending}:", *list(dict.fromkeys(lines))[-LAST_LINES:]]), 128 - status if status < 0 else status)
