"""Encodes pictures, and scores the encode while it is made.

One ffmpeg encodes into a pipe. What comes out goes into a file and into a second ffmpeg, which decodes it and scores it
against the source.

    job = Job(scoring, source, settings)
    encoded = encode_scored(job, 23.0, Path("video.nut"), show)
"""

import contextlib
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, cast

from ..command import _ffmpeg, _scoring
from ..command._run import PATIENCE_S, FfmpegFailure, Processes, fail, listen
from ..command._said import Said
from ..command._scores import Encode, read_scores
from ..command._terminal import Failure, Step, shown
from .damage import refuse_damage
from .encoders import Settings
from .source import Source

CHUNK = 1 << 16  # bytes that are passed on at once
FIRST_IS_ZERO = "setpts=PTS-STARTPTS"
ACCEPTED = "--partial encodes what can be decoded"
SILENT = {"SVT_LOG": "1"}  # environment variables with which encoders write errors only
# These filters make more or fewer pictures than there are, so their output cannot be cut at a time of the input.
COUNTING = re.compile(
    r"(?:^|,)\s*(?:fps|framerate|minterpolate|setpts|trim|select|decimate|mpdecimate|[bk]?wdif|yadif|tinterlace|"
    r"telecine|pullup|fieldmatch|loop|reverse|tmix|framestep|thumbnail|separatefields|setrate)\b"
)
Show = Callable[[Step], None]


@dataclass(frozen=True)
class Part:
    """Some of the pictures, behind the filters before the encoder."""

    first: int  # the number of the first picture
    frames: int
    time: float  # of the first picture, in seconds from the start of the file
    gap: float  # seconds between pictures there

    @property
    def last(self) -> int:
        return self.first + self.frames - 1


@dataclass(frozen=True)
class Job:
    """What is encoded, how, and how it is scored."""

    scoring: _scoring.Settings
    source: Source
    settings: Settings
    container: str = "nut"  # FFmpeg's name of the format in which encodes are kept until they are complete
    accepts_damage: bool = False  # whether a source is encoded although it cannot be decoded without errors

    def seek_and_trim(self, part: Part | None) -> tuple[list[str], str]:
        """Returns ffmpeg's words before the source, and the filter behind its filters, that leave a part of it."""
        if part is None:
            return [], ""
        if part.first == 0:
            return [], f"trim=end_frame={part.frames}"
        if not self.source.video.can_seek or COUNTING.search(self.source.vfilter):
            return [], f"trim=start_frame={part.first}:end_frame={part.first + part.frames}"
        return ["-ss", f"{max(part.time - part.gap / 2, 0):.6f}"], f"trim=end_frame={part.frames}"

    def work(self, part: Part | None = None, path: str = "pipe:0") -> _scoring.Work:
        """Returns the work that scores an encode, from standard input or a file, against the filtered source."""
        seek, trim = self.seek_and_trim(part)
        ref = self.source.pictures
        ref = replace(ref, options=(*ref.options, *seek), duration=part.frames * part.gap if part else ref.duration)
        dist = replace(
            self.settings.encoded(ref),
            path=path,
            container=self.container,
            options=(*self.settings.decoding(), "-f", self.container),
            frames=None,
        )
        times = ",".join(filter(None, (self.source.vfilter, trim, FIRST_IS_ZERO)))
        return _scoring.prepare_stream(self.scoring, dist, ref, (FIRST_IS_ZERO, times))

    def encoder(self, quantizer: float, part: Part | None = None) -> list[str]:
        """Returns the command that encodes to standard output."""
        seek, trim = self.seek_and_trim(part)
        vfilter = ",".join(filter(None, (self.settings.vfilter, trim)))
        filters = replace(self.settings, vfilter=vfilter).filters
        head = [self.scoring.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+warning"]
        times = ["-fps_mode", "passthrough", *([] if self.source.rate else ["-enc_time_base:v", "-1"])]
        video = self.source.video
        return [
            *head,
            *self.settings.global_arguments(),
            *replace(video, options=(*video.options, *seek)).input,
            *("-map", "0:V:0", "-map_metadata", "-1", "-map_chapters", "-1"),
            *(["-vf", filters] if filters else []),
            *times,
            *self.settings.arguments(quantizer),
            *("-f", self.container, "pipe:1"),
        ]


@dataclass
class Encoded:
    """An encode, and its scores."""

    path: Path
    quantizer: float
    bytes: int
    scores: Encode
    damage: list[str]  # what decoders said of the source
    damage_of_encode: list[str]
    notes: list[str]  # how the pictures are prepared for the scores

    @property
    def frames(self) -> int:
        return len(self.scores.numbers)


def encode_scored(
    job: Job,
    quantizer: float,
    path: Path,
    show: Show | None = None,
    part: Part | None = None,
    processes: Processes | None = None,
) -> Encoded:
    """Encodes the video stream, or a part of it, into a file, and scores it. Raises Failure."""
    work = job.work(part)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / "scores.json"
        run = _Run(path, processes or Processes())
        said, of_encoder = run.finish(job.encoder(quantizer, part), work, log, show)
        scores = read_scores(log)[0]
    damage = [text for text in of_encoder.all_damage if not _is_of_encoder(text)]
    if damage and not job.accepts_damage:
        refuse_damage(job.source.video, damage, ACCEPTED)
    return Encoded(path, quantizer, path.stat().st_size, scores, damage, _damage_of(work, said), work.notes)


def score_file(
    job: Job, quantizer: float, path: Path, show: Show | None = None, processes: Processes | None = None
) -> Encoded:
    """Scores an encode that is there. Raises Failure."""
    work = job.work(path=str(path))
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / "scores.json"
        said = _scoring.score(work, log, show=show, processes=processes)
        scores = read_scores(log)[0]
    return Encoded(path, quantizer, path.stat().st_size, scores, [], _damage_of(work, said), work.notes)


def _damage_of(work: _scoring.Work, said: Said) -> list[str]:
    """Returns what the decoder of the encode said, and what nobody knows the input of."""
    damage = said.damage([_ffmpeg.input_name(video.path) for video in work.videos])
    return [*damage.get(0, []), *damage.get(None, [])]


def _is_of_encoder(text: str) -> bool:
    """Returns whether an encoder wrote this: some write all that they tell as errors."""
    return text.startswith(("Svt[", "x265 [", "vvenc["))


# -- The two processes -------------------------------------------------------------------------------------------------


class _Run:
    """An ffmpeg that encodes, one that scores, and a thread that carries the encode to a file and to the second."""

    def __init__(self, path: Path, processes: Processes) -> None:
        self._path, self._processes = path, processes
        self._is_whole = False  # whether the encoder has closed its output
        self._error: OSError | None = None  # of writing the file

    def finish(self, encoder: Sequence[str], work: _scoring.Work, log: Path, show: Show | None) -> tuple[Said, Said]:
        """Returns what the scoring ffmpeg said and what the encoding one did. Raises Failure."""
        encoding = self._processes.start(encoder, environment=SILENT)
        said_of_encoder = Said([])
        listener = threading.Thread(target=listen, args=(encoding.stderr, said_of_encoder.lines), daemon=True)
        reading, writing = os.pipe()
        pump = threading.Thread(target=self._pump, args=(encoding, writing), daemon=True)
        listener.start()
        pump.start()
        failure: FfmpegFailure | None = None
        said = Said([])
        try:
            try:
                said = _scoring.score(work, log, show=show, processes=self._processes, stdin=reading)
            except FfmpegFailure as error:
                failure = error
            finally:
                os.close(reading)  # nobody reads any more: the thread goes on with the file alone
            if failure is None:
                pump.join()
            if is_whole := self._is_whole:
                _wait(encoding)
        finally:
            self._processes.end(encoding)
            pump.join()
            listener.join()
        self._check(encoding.returncode if is_whole or not failure else 0, said_of_encoder, failure)
        return said, said_of_encoder

    def _pump(self, encoding: "subprocess.Popen[str]", writing: int) -> None:
        """Carries the encode to the file and into the pipe, as long as somebody reads that."""
        assert encoding.stdout
        stream = cast(BufferedReader, cast(TextIOWrapper, encoding.stdout).buffer)
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            try:
                with open(self._path, "wb") as file:
                    while data := stream.read1(CHUNK):
                        file.write(data)
                        _write_all(pipe, data)
                self._is_whole = True
            except OSError as error:
                self._error = error
                stream.close()  # ends the encoder

    def _check(self, status: int, of_encoder: Said, failure: FfmpegFailure | None) -> None:
        """Raises Failure for what failed first. `status`: the encoder's; 0 if it was ended as the scores had failed."""
        if self._error:
            raise Failure(f"cannot write {shown(self._path)}: {self._error.strerror}")
        if status:
            fail(status, of_encoder)
        if failure:
            raise failure


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    """Writes into a pipe; nothing if nobody reads it."""
    view = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while view:
            view = view[pipe.write(view) :]


def _wait(process: "subprocess.Popen[str]") -> None:
    """Waits for a process that has closed its output."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE_S)
