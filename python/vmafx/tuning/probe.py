"""Encodes a sample with a process of ffmpeg and scores its pictures against the kept ones while they are encoded."""

import contextlib
import math
import os
import random
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import av
from av.video.reformatter import VideoReformatter

from .._pictures import Picture
from .._session import Session
from .._system import unnamed_file
from ..command._models import reads_luma_alone, sees_next_frames_only
from ..command._run import _bound
from ..command._terminal import Failure, shown
from .encoders import Settings
from .samples import Sample, View
from .scaling import LumaScaler, luma_of, luma_picture
from .targets import Target

BLOCK = 12  # frames between two looks at the running scores
PAIRS = 3  # of a session that skips frames, for each frame that it scores
# Environment of encoders: SVT-AV1 then writes errors only.
QUIET = {"SVT_LOG": "1"}


class Ended(Exception):
    """The probe was decided before all frames were encoded."""


@dataclass
class Part:
    """The encode of a sample: scores of its frames so far, by their keys in reports; if the scorer skips frames, of the
    others.
    """

    scores: dict[str, list[float]] = field(default_factory=dict)
    bytes: int = 0  # of the sample's frames
    frames: int = 0  # of the sample that were encoded and decoded, and scored or skipped
    seconds: float = 0.0  # that the encoder took for these
    is_whole: bool = False
    from_cache: bool = False

    @property
    def bits_per_frame(self) -> float:
        return self.bytes * 8 / self.frames if self.frames else math.nan


@dataclass(frozen=True)
class Pass:
    """A session's share of the scores: a model, or metrics."""

    model: str  # the option `model`; empty: none
    features: tuple[str, ...]
    keys: tuple[str, ...]  # that targets need
    view: View
    convert: str | None = None  # the option `convert`: the color space that is scored in; None: that of the pictures


@dataclass(frozen=True)
class Scorer:
    """What scores: sessions beside each other, on the threads that one encode may have."""

    passes: tuple[Pass, ...]
    threads: int
    backend: str = "auto"
    device: str | None = None
    every: int = 1  # one of so many frames is scored

    @classmethod
    def of(
        cls,
        targets: Sequence[Target],
        model: str,
        size: tuple[int, int] | None,
        threads: int,
        convert: str | None = None,
    ) -> "Scorer":
        """Returns what scores for targets: the model in pictures of a size, metrics in those that are encoded. A
        conversion of colors reads all planes.
        """
        of_model = tuple(dict.fromkeys(target.facts.key for target in targets if target.facts.metric is None))
        others = [target.facts for target in targets if target.facts.metric is not None]
        luma_only = convert is None and reads_luma_alone(model)
        passes = [Pass(model, (), of_model, View(size, luma_only), convert)] if of_model else []
        if others:
            metrics = tuple(dict.fromkeys(str(facts.metric) for facts in others))
            keys = tuple(dict.fromkeys(facts.key for facts in others))
            passes.append(Pass("", metrics, keys, View(None, False), convert))
        return cls(tuple(passes), threads)

    @property
    def keys(self) -> list[str]:
        return [key for each in self.passes for key in each.keys]

    @property
    def views(self) -> list[View]:
        return [each.view for each in self.passes]

    @property
    def can_skip(self) -> bool:
        """Returns whether the scores of a frame follow from its pictures and the reference's frames beside it."""
        return all(each.view.luma_only and sees_next_frames_only(each.model) for each in self.passes)

    def chosen(self, sample: Sample) -> Sequence[int]:
        """Returns which frames of a sample are scored, from 0."""
        return range(sample.frames) if self.every == 1 else chosen_of(sample.frames, self.every, sample.digest)

    def session(self, each: Pass, sample: Sample) -> Session:
        options: dict[str, Any] = {"model": each.model, "n_threads": self.threads, "check": "off"}
        if self.every > 1:
            options["n_subsample"] = PAIRS
        if each.features:
            options["feature"] = "|".join(f"name={metric}" for metric in each.features)
        if each.convert is not None:
            options["convert"] = each.convert
        if self.device is not None:
            options["device"] = self.device
        rate = float(sample.pictures.rate)
        return Session(reference=sample.kept[each.view], fps=rate, backend=self.backend, **options)


def chosen_of(count: int, every: int, seed: str) -> list[int]:
    """Returns the numbers of frames to score: the first one, then one of each so many, which is drawn, so that what
    returns at equal distances, such as types of frames, counts as it does in all frames.
    """
    draw = random.Random(seed)
    drawn = (first + draw.randrange(every) for first in range(every, count, every))
    return [0, *(number for number in drawn if number < count)]


class Encode:
    """A running encode of a sample. stop() ends it from any thread."""

    def __init__(self, ffmpeg: str, settings: Settings, quantizer: float, sample: Sample) -> None:
        self._quantizer, self._settings, self._sample = quantizer, settings, sample
        made = replace(settings, vfilter="", conversion="", pix_fmt=sample.pictures.pix_fmt)  # the sample is filtered
        upload = ["-vf", made.filters] if made.filters else []
        self._format = "mpegts" if settings.encoder.codec == "vvc" else "nut"  # NUT has no name for VVC
        command = [
            *_bound(),
            ffmpeg,
            "-hide_banner",
            "-nostdin",
            "-v",
            "error",
            *made.global_arguments(),
            *sample.raw_input(made.colour),
        ]
        command += [
            *upload,
            *made.arguments(quantizer),
            *_key_frame(sample),
            "-an",
            "-flush_packets",
            "1",
            "-f",
            self._format,
            "pipe:1",
        ]
        self._said = unnamed_file()
        self._stopped = threading.Event()
        with sample.opened() as pictures:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=pictures,
                    stdout=subprocess.PIPE,
                    stderr=self._said,
                    env={**QUIET, **os.environ},
                    start_new_session=True,  # Ctrl-C is for this program, which ends the encoder
                )
            except OSError as error:
                raise Failure(f"cannot run {shown(ffmpeg)}: {error.strerror}") from error

    def stop(self) -> None:
        self._stopped.set()
        self._process.kill()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._said.close()

    def frames(self, part: Part) -> Any:
        """Yields the decoded frames, and counts the bytes. Raises Failure if the encoder fails, Ended if stopped."""
        assert self._process.stdout
        try:
            with av.open(f"pipe:{self._process.stdout.fileno()}", format=self._format) as file:
                yield from self._decoded(file, part)
        except av.error.FFmpegError as error:
            self._check_end(str(error))
        self._check_end("it wrote no video")

    def _decoded(self, file: Any, part: Part) -> Any:
        codec = file.streams.video[0].codec_context
        codec.thread_type = "AUTO"
        codec.options = {"export_side_data": "film_grain"}  # the decoder adds no grain
        first, rate, scored = None, self._sample.pictures.rate, self._sample.scored
        try:
            for number, packet in enumerate(file.demux(video=0)):
                if packet.pts is not None:  # packets come in order of decoding
                    first = packet.pts if first is None else first
                    number = round((packet.pts - first) * packet.time_base * rate)
                if number in scored:
                    part.bytes += packet.size
                yield from packet.decode()
                if self.is_stopped:
                    return
        finally:
            with contextlib.suppress(av.error.FFmpegError):  # a decoder that is freed with frames in it may hang
                codec.decode(None)

    def _check_end(self, otherwise: str) -> None:
        if self.is_stopped:
            raise Ended
        if self._process.wait() != 0:
            raise Failure(self._why())

    def _why(self) -> str:
        settings, pictures = self._settings, self._sample.pictures
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        told = "; ".join(dict.fromkeys(shown(line) for line in lines[-3:])) or f"status {self._process.returncode}"
        quantizer = f"{settings.encoder.quantizer} {settings.encoder.number(self._quantizer)}"
        what = f"{settings.encoder.name} cannot encode {pictures.width}x{pictures.height} {pictures.pix_fmt} "
        odd = pictures.width % 2 or pictures.height % 2
        even = pictures.width // 2 * 2, pictures.height // 2 * 2
        remedy = f". Try --vfilter crop={even[0]}:{even[1]}" if odd and all(even) else ""
        return f"{what}with {quantizer}: {told}{remedy}"


def _key_frame(sample: Sample) -> list[str]:
    """Returns ffmpeg's words for a key frame where the lead ends: its quantizer is of the lead, and so is that of all
    pictures that are copied from it.
    """
    lead = sample.place.lead
    return ["-force_key_frames", f"{(lead - 0.5) / float(sample.pictures.rate):.6f}"] if lead else []


def score_part(encode: Encode, sample: Sample, scorer: Scorer, part: Part, tell: Callable[[], None]) -> None:
    """Scores an encode as its frames come, and fills `part`; calls `tell` after each block of frames. Raises Failure,
    Ended.
    """
    start = time.monotonic()
    part.scores.update((key, []) for key in scorer.keys)
    number, scored = 0, sample.scored
    with contextlib.ExitStack() as stack:
        runs = [_run(each, stack.enter_context(scorer.session(each, sample)), sample, scorer) for each in scorer.passes]
        for frame in stack.enter_context(contextlib.closing(encode.frames(part))):
            if encode.is_stopped:
                raise Ended
            if scored.start - sample.before <= number < scored.stop:
                for run in runs:
                    run.submit(number - scored.start, frame)
            number += 1
            if _take(runs, part):
                tell()
            if sample.tail and number == scored.stop:
                break  # the encoder has seen the tail, which nobody needs
        if number != scored.stop:
            raise Failure(f"the encoder made {number} frames of {scored.stop}: choose options that drop none")
        for run in runs:
            run.session.finish()
        _take(runs, part)
    part.frames, part.is_whole = sample.frames, True
    part.seconds = (time.monotonic() - start) * sample.frames / number


class _Run:
    """A session that scores all frames of a sample, and how pictures are made ready for it. Frames are counted from the
    sample's first one.
    """

    def __init__(self, of: Pass, session: Session, sample: Sample) -> None:
        self._of, self.session, self._color, self._before = of, session, sample.pictures.color, sample.before
        self.frames = 0  # whose scores have come, or that were skipped
        format = sample.pictures.format
        size = of.view.size_of_luma(format)
        self._scaler = LumaScaler(format, size) if size else None
        self._reformatter = VideoReformatter()

    def submit(self, number: int, frame: Any) -> None:
        self.session.submit(number + self._before, self._picture(frame))

    def take(self, part: Part) -> None:
        for result in self.session.frames():
            if (number := self._number_of(result.number)) is not None:
                self.frames = number + 1
                for key in self._of.keys:
                    part.scores[key].append(result.scores[key])

    def _number_of(self, pair: int) -> int | None:
        """Returns the number of the frame whose scores a pair of the session has; None: nobody needs them."""
        return pair - self._before if pair >= self._before else None

    def _picture(self, frame: Any) -> Picture:
        view = self._of.view
        if view.size and not self._scaler:
            frame = self._reformatter.reformat(frame, *view.size, interpolation="BICUBIC")
        picture = Picture.from_frame(frame, color=self._color, keyframe=False)
        if not view.luma_only:
            return picture
        luma = luma_of(frame, picture.format)
        return luma_picture(self._scaler.scaled(luma) if self._scaler else luma, picture.format, self._color)


class _SkippingRun(_Run):
    """A session that scores some frames of a sample without a lead. Motion, which is of the reference alone, compares
    a frame with those beside it: so a chosen frame is a pair of three, of which the session scores the first one
    (n_subsample); the second is the frame after it, and the third the frame before the next that is chosen. Any picture
    will do for these.
    """

    def __init__(self, of: Pass, session: Session, sample: Sample, chosen: Sequence[int]) -> None:
        super().__init__(of, session, sample)
        self._chosen, self._next, self._count = chosen, 0, sample.frames

    def submit(self, number: int, frame: Any) -> None:
        if self._next == len(self._chosen) or number != self._chosen[self._next]:
            return
        self._next += 1
        picture = self._picture(frame)
        after = self._chosen[self._next] - 1 if self._next < len(self._chosen) else self._count
        for each in (number, number + 1, after):
            if each < self._count:
                self.session.submit(each, picture)

    def _number_of(self, pair: int) -> int | None:
        return None if pair % PAIRS else self._chosen[pair // PAIRS]


def _run(of: Pass, session: Session, sample: Sample, scorer: Scorer) -> _Run:
    return _Run(of, session, sample) if scorer.every == 1 else _SkippingRun(of, session, sample, scorer.chosen(sample))


def _take(runs: Sequence[_Run], part: Part) -> bool:
    """Takes the scores that are there, and returns whether a block of frames is complete that was not before."""
    for run in runs:
        run.take(part)
    before, part.frames = part.frames, min(run.frames for run in runs)
    return part.frames // BLOCK > before // BLOCK
