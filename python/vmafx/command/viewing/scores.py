"""Scores the inputs of a view on a thread, and tells scores as soon as frames have them."""

import json
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .. import _scoring, _whole
from .._keys import stands_for
from .._models import metrics_of
from .._regions import whole_key
from .._result import Result, asked_keys
from .._run import Processes
from .._scores import Encode, read_scores
from .._terminal import Failure, note
from ..decoders.chosen import with_decoders
from ..score import read_log

LOOK_S = 0.5  # between looks at the growing report
MOST_ROWS = 20000  # scores that are told at once


@dataclass
class Series:
    """The scores of an encode by one key."""

    encode: int
    key: str
    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    scores: "array[float]" = field(default_factory=lambda: array("d"))

    def since(self, count: int) -> dict[str, Any]:
        """Returns what comes after so many frames, as the page's script reads it."""
        end = min(count + MOST_ROWS, len(self.scores))  # scores come last
        return {
            "encode": self.encode,
            "key": self.key,
            "frames": list(self.numbers[count:end]),
            "times": [round(time, 6) for time in self.times[count:end]],
            "scores": [round(score, 4) if abs(score) < 1e15 else None for score in self.scores[count:end]],
        }


class Scores:
    """The scores of a work. A thread fills in series, others read them; only complete frames are there."""

    def __init__(self, work: _scoring.Work, processes: Processes) -> None:
        self.work, self._processes = work, processes
        self.series: dict[tuple[int, str], Series] = {}
        self.encodes: list[Encode] = []  # once all is scored
        self.state = "none"  # then "running", then "done" or "failed"
        self.problem = ""
        self._thread: threading.Thread | None = None
        self._begin = threading.Lock()
        self._ended = threading.Event()

    def take_report(self, path: Path) -> None:
        """Takes the scores of a report instead of computing them. Raises Failure."""
        encodes = read_scores(path)
        if len(encodes) != len(self.work.dists):
            raise Failure(f"{path} has the scores of {len(encodes)} encodes, not of {len(self.work.dists)}")
        for number, encode in enumerate(encodes):
            if not encode.times:
                encode.set_rate(float(self.work.ref.rate or 25))
            for key in encode.main_keys():
                self.series[number, key] = Series(number, key, encode.numbers, encode.times, encode.scores[key])
        self.encodes, self.state = encodes, "done"

    def start(self, folder: Path) -> None:
        """Begins to score, unless that was begun before."""
        with self._begin:
            if self.state == "none":
                self.state = "running"
                self._thread = threading.Thread(target=self._score, args=(folder / "scores.ndjson",), daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Waits for the thread, after Processes.end_all()."""
        self._ended.set()
        if self._thread:
            self._thread.join()

    def _score(self, log: Path) -> None:
        done = threading.Event()
        follower = threading.Thread(target=self._follow, args=(log, done), daemon=True)
        follower.start()
        try:
            work = with_decoders(self.work, [device] if (device := self.work.settings.device) else [])
            said = _scoring.score(work, log, processes=self._processes)
            encodes = read_log(log, work, said)
            _whole.check_whole(work, said, encodes, asked_keys(encodes[0], work))
            done.set()
            follower.join()
            self._fill(encodes, asked_keys(encodes[0], work))
            self.encodes, self.state = encodes, "done"
        except Failure as failure:
            if not self._ended.wait(LOOK_S):  # an interrupt of the terminal ends ffmpeg first
                note(f"scoring has failed: {failure}")
            self.problem, self.state = str(failure), "failed"
        finally:
            done.set()
            follower.join()

    def _fill(self, encodes: Sequence[Encode], keys: Sequence[str]) -> None:
        """Adds what the growing report had when nobody looked: reports of several sizes are joined at the end."""
        for number, encode in enumerate(encodes):
            for key in keys:
                known = self.series.get((number, key))
                if encode.times and key in encode.scores and (known is None or len(known.scores) < len(encode.numbers)):
                    whole = Series(number, key, encode.numbers, encode.times, encode.scores[key])
                    self.series[number, key] = whole

    @property
    def keys(self) -> list[str]:
        """The keys of which there are scores, in the order of the encode that has them first."""
        return list(dict.fromkeys(key for _, key in list(self.series)))

    def result(self) -> Result:
        return Result.of(self.work, self.encodes)

    # -- The growing report --------------------------------------------------------------------------------------------

    def _follow(self, log: Path, done: threading.Event) -> None:
        """Reads the lines of the report, or of the reports of several sizes, as ffmpeg writes them."""
        count = len(self.work.groups)
        paths = [log] if count == 1 else [log.with_stem(f"{log.stem}.{place}") for place in range(count)]
        files: dict[Path, Iterator[str]] = {}
        is_last = False
        while not is_last and not self._ended.is_set():
            is_last = done.wait(LOOK_S)
            for path in paths:
                if path not in files and path.exists():
                    files[path] = _whole_lines(path.open(encoding="utf-8", errors="surrogateescape"))
                for line in files.get(path, ()):
                    if line is None:
                        break
                    self._take(line)

    def _take(self, line: str) -> None:
        try:
            frame = json.loads(line)
            encode, number, time, scores = frame.get("encode", 0), frame["frameNum"], frame["time"], frame["metrics"]
        except (ValueError, KeyError):  # a line of a window or of the whole
            return
        for key, score in scores.items():
            if (encode, key) in self.series or self._is_shown(key):
                own = self.series.setdefault((encode, key), Series(encode, key))
                own.times.append(time)
                own.numbers.append(number)
                own.scores.append(float("inf") if score is None else score)

    def _is_shown(self, key: str) -> bool:
        metrics = metrics_of(self.work.settings.features)
        return (
            whole_key(key, self.work.models) is not None
            or key in self.work.models
            or any(stands_for(key, metric) for metric in metrics)
        )


def _whole_lines(file: IO[str]) -> Iterator[Any]:
    """Yields the lines that are complete, None where the next one is not, and goes on there."""
    rest = ""
    with file:
        while True:
            part = file.readline()
            rest += part
            if rest.endswith("\n"):
                yield rest
                rest = ""
            else:
                yield None
