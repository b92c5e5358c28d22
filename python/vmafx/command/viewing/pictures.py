"""Decodes pictures of an input while somebody looks at them, prepared as they are scored.

An ffmpeg for each input writes pictures from the last place that was sought; it waits while nobody wants more. The next
pictures are read from it, and any other place is sought by another ffmpeg.
"""

import queue
import re
import subprocess
import threading
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, NamedTuple

from .._inputs import colors_of, half_a_frame
from .._run import Processes
from .._scoring import AS_IN_THE_FILE, Work
from .._terminal import Failure

MOST_BYTES = 192 << 20  # of the pictures of one input that are kept
FORWARD_S = 1.0  # a place that is so much ahead is read up to, not sought
BACK_S = 0.4  # a step back seeks so much earlier, for the next steps back
AHEAD = 6  # pictures that are decoded before they are asked for
LATE_S = 30.0  # for the time of a picture that was read already
RATE = 25  # pictures are renumbered at this rate, so that ffmpeg repeats and drops none
# The fastest compression of PNG: of a picture of 1920x1080 the usual one takes 0.23 s, this one 0.07 s, WebP's 0.45 s.
ENCODER = "-c:v", "png", "-compression_level", "1", "-pred", "up"
SHOWN = re.compile(r"^\[showinfo@\S* @ \S+\] n: *\d+ pts: *(-?\d+) ")


class Picture(NamedTuple):
    time: float  # in seconds, as reports have it
    png: bytes


class Run:
    """An ffmpeg that writes pictures in the order of time."""

    def __init__(self, command: list[str], processes: Processes, begin: float) -> None:
        self.at = begin  # the time of the last picture that was read
        self._processes = processes
        self._times: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._said: deque[str] = deque(maxlen=5)
        self._process = processes.start(command)
        assert self._process.stdout and self._process.stderr
        self._stream = self._process.stdout.buffer  # type: ignore[attr-defined]
        self._listener = threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True)
        self._listener.start()

    def _listen(self, lines: IO[str]) -> None:
        for line in lines:
            if found := SHOWN.match(line):
                self._times.put(int(found[1]) / 1e6)
            else:
                self._said.append(line.strip())

    def read(self) -> Picture | None:
        """Returns the next picture; None at the end."""
        png = read_png(self._stream)
        if png is None:
            return None
        try:
            self.at = self._times.get(timeout=LATE_S)
        except queue.Empty:
            raise Failure("ffmpeg does not tell the time of a picture") from None
        return Picture(self.at, png)

    def complaint(self) -> str:
        """Returns what the program complained of, if it has failed, after its last picture."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LATE_S)
        status = self._process.poll()
        self.end()
        return (self._said[-1] if self._said else f"ffmpeg ended with status {status}") if status else ""

    def end(self) -> None:
        """Ends the program at once: while it waits for a reader it does not see that it is told to end."""
        self._process.kill()
        self._processes.end(self._process)
        self._listener.join()


def read_png(stream: IO[bytes]) -> bytes | None:
    """Returns a PNG, whole; None at the end of the stream."""
    parts = [stream.read(8)]
    while parts[-1]:
        head = stream.read(8)
        parts += [head, stream.read(int.from_bytes(head[:4], "big") + 4) if len(head) == 8 else b""]
        if head[4:] == b"IEND" and len(parts[-1]) == 4:
            return b"".join(parts)
    return None


class Decoder:
    """The pictures of an input. Programs belong to the decoder's own thread, since they do not outlive the thread that
    started them; requests of any threads wait for it.
    """

    def __init__(self, work: Work, number: int, processes: Processes) -> None:
        self._work, self._number, self._processes = work, number, processes
        self.half = half_a_frame(work.videos[number])
        self._thread = ThreadPoolExecutor(1)
        self._lock = threading.Lock()
        self._times: list[float] = []  # ascending, of the pictures that are kept
        self._kept: dict[float, bytes] = {}  # the oldest first
        self._bytes = 0
        self._waiting = 0
        self._is_closed = False
        self._run: Run | None = None
        self._end: float | None = None  # the time of the last picture of all, once it is known

    def picture(self, time: float) -> bytes | None:
        """Returns the first picture that is at most half a frame earlier than `time`; None behind the end. Raises
        Failure.
        """
        with self._lock:
            found = self._find(time)
            self._waiting += found is None
        if found is None:
            try:
                found = self._in_thread(lambda: self._read(time)).result()
            except CancelledError:
                raise Failure("stopped") from None
            finally:
                with self._lock:
                    self._waiting -= 1
        self._in_thread(lambda: self._read_ahead(time))
        return found

    def _in_thread(self, call: "Callable[[], bytes | None]") -> "Future[bytes | None]":
        try:
            return self._thread.submit(call)
        except RuntimeError:  # it is shut down
            raise Failure("stopped") from None

    def close(self) -> None:
        """Ends the program and the thread, which starts no other."""
        self._is_closed = True
        if run := self._run:
            run.end()
        self._thread.shutdown(cancel_futures=True)
        if self._run:
            self._run.end()

    # -- Kept pictures -------------------------------------------------------------------------------------------------

    def _find(self, time: float) -> bytes | None:
        place = bisect_left(self._times, time - self.half)
        if place < len(self._times) and self._times[place] < time + self.half:
            return self._kept[self._times[place]]
        return None

    def _keep(self, picture: Picture) -> None:
        with self._lock:
            if picture.time in self._kept:
                return
            insort(self._times, picture.time)
            self._kept[picture.time] = picture.png
            self._bytes += len(picture.png)
            while self._bytes > MOST_BYTES and len(self._kept) > 1:
                oldest = next(iter(self._kept))
                self._bytes -= len(self._kept.pop(oldest))
                self._times.remove(oldest)

    # -- In the decoder's thread ---------------------------------------------------------------------------------------

    def _read(self, time: float) -> bytes | None:
        with self._lock:
            if (found := self._find(time)) is not None:
                return found
        if self._end is not None and time - self.half > self._end:
            return None
        if not self._run or not self._run.at < time - self.half <= self._run.at + FORWARD_S:
            is_back = self._run and time <= self._run.at <= time + FORWARD_S
            self._seek(time - self.half - (BACK_S if is_back else 0))
        while (picture := self._next()) is not None:
            if picture.time >= time - self.half:
                return picture.png
        return None

    def _read_ahead(self, time: float) -> None:
        count = 0
        while self._run and not self._waiting and count < AHEAD and self._run.at < time + 2 * AHEAD * self.half:
            if self._next() is None:
                return
            count += 1

    def _next(self) -> Picture | None:
        assert self._run
        picture = self._run.read()
        if picture is not None:
            self._keep(picture)
            return picture
        last, complaint = self._run.at, self._run.complaint()
        self._run = None
        if complaint:
            raise Failure(f"cannot decode {self._work.videos[self._number].name}: {complaint}")
        self._end = max(last, self._end or last)
        return None

    def _seek(self, time: float) -> None:
        if self._run:
            self._run.end()
        self._run = None  # stays so if the next one cannot start
        if self._is_closed:
            raise Failure("stopped")
        self._run = Run(self._command(time), self._processes, time)

    def _command(self, time: float) -> list[str]:
        """Returns ffmpeg's words: pictures from `time` on, in the samples that a browser shows."""
        work, video = self._work, self._work.videos[self._number]
        chain = [*work.preparation.dist, work.preparation.ref][self._number].whole(0)
        place = time + work.zeros()[self._number]
        begin = ["-ss", f"{place:.6f}"] if place > 0 and video.can_seek else []
        matrix, samples = colors_of(work.dists, work.ref)
        shown = f"scale=in_color_matrix={matrix}:in_range={samples}:flags=bicubic,format=rgb24"
        filters = [chain, "settb=AVTB", f"trim=start={time:.6f}", "showinfo@shown=checksum=0"]
        filters += [f"setpts=N/{RATE}/TB", shown]
        words = [work.settings.ffmpeg, "-hide_banner", "-nostdin", "-nostats", *AS_IN_THE_FILE, *begin, *video.input]
        graph = f"[0:V:0]{','.join(filters)}[shown]"
        return [*words, "-filter_complex", graph, "-map", "[shown]", "-r", str(RATE), *ENCODER, "-f", "image2pipe", "-"]
