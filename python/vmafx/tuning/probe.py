"""Encodes a sample with a process of ffmpeg and scores its pictures against the kept ones while they are encoded."""

import contextlib
import math
import os
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
from ..command._models import reads_luma_alone
from ..command._run import _bound
from ..command._terminal import Failure, shown
from .encoders import Settings
from .samples import Sample, View
from .scaling import LumaScaler, luma_of, luma_picture
from .targets import Target

BLOCK = 12  # frames between two looks at the running scores
# Environment of encoders: SVT-AV1 then writes errors only.
QUIET = {"SVT_LOG": "1"}


class Ended(Exception):
    """The probe was decided before all frames were encoded."""


@dataclass
class Part:
    """The encode of a sample: scores of its frames so far, by their keys in reports; of every n-th frame, if the scorer
    skips others.
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
    every: int = 1  # each n-th frame is scored

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
        """Returns whether the scores of a frame depend on no other picture of the encode: models that read luma alone
        have motion from the reference.
        """
        return all(each.view.luma_only for each in self.passes)

    def scores(self, number: int, sample: Sample) -> bool:
        """Returns whether a frame is scored. Sessions count from the first that they get."""
        return (number - sample.scored.start + sample.before) % self.every == 0

    def count(self, sample: Sample) -> int:
        """Returns how many frames of a sample are scored."""
        return sum(self.scores(number, sample) for number in sample.scored)

    def session(self, each: Pass, sample: Sample) -> Session:
        options: dict[str, Any] = {"model": each.model, "n_threads": self.threads, "check": "off"}
        if self.every > 1:
            options["n_subsample"] = self.every
        if each.features:
            options["feature"] = "|".join(f"name={metric}" for metric in each.features)
        if each.convert is not None:
            options["convert"] = each.convert
        if self.device is not None:
            options["device"] = self.device
        rate = float(sample.pictures.rate)
        return Session(reference=sample.kept[each.view], fps=rate, backend=self.backend, **options)


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
    number, scored, first = 0, sample.scored, sample.scored.start - sample.before
    with contextlib.ExitStack() as stack:
        runs = [_Run(each, stack.enter_context(scorer.session(each, sample)), sample) for each in scorer.passes]
        for frame in stack.enter_context(contextlib.closing(encode.frames(part))):
            if encode.is_stopped:
                raise Ended
            if first <= number < scored.stop:
                for run in runs:
                    run.submit(number - first, frame if scorer.scores(number, sample) else None)
            number += 1
            if _take(runs, part, sample.before):
                tell()
            if sample.tail and number == scored.stop:
                break  # the encoder has seen the tail, which nobody needs
        if number != scored.stop:
            raise Failure(f"the encoder made {number} frames of {scored.stop}: choose options that drop none")
        for run in runs:
            run.session.finish()
        _take(runs, part, sample.before)
    part.frames, part.is_whole = sample.frames, True
    part.seconds = (time.monotonic() - start) * sample.frames / number


class _Run:
    """A session that scores a sample, and how pictures are made ready for it."""

    def __init__(self, of: Pass, session: Session, sample: Sample) -> None:
        self._of, self.session, self._color = of, session, sample.pictures.color
        self.frames = 0  # whose scores have come, or that were skipped
        self._last: Picture | None = None
        format = sample.pictures.format
        self._scaler = LumaScaler(format, of.view.size) if of.view.size and of.view.scales_luma(format) else None
        self._reformatter = VideoReformatter()

    def submit(self, number: int, frame: Any | None) -> None:
        """Submits a frame; None: one that is skipped, for which any picture will do."""
        if frame is not None:
            self._last = self._picture(frame)
        assert self._last is not None
        self.session.submit(number, self._last)

    def take(self, part: Part, before: int) -> None:
        for frame in self.session.frames():
            self.frames = max(frame.number + 1 - before, 0)
            for key in self._of.keys if frame.number >= before and frame.scores else ():
                part.scores[key].append(frame.scores[key])

    def _picture(self, frame: Any) -> Picture:
        view = self._of.view
        if view.size and not self._scaler:
            frame = self._reformatter.reformat(frame, *view.size, interpolation="BICUBIC")
        picture = Picture.from_frame(frame, color=self._color, keyframe=False)
        if not view.luma_only:
            return picture
        luma = luma_of(frame, picture.format)
        return luma_picture(self._scaler.scaled(luma) if self._scaler else luma, picture.format, self._color)


def _take(runs: Sequence[_Run], part: Part, before: int) -> bool:
    """Takes the scores that are there, without those of frames before the sample, and returns whether a block of
    frames is complete that was not before.
    """
    for run in runs:
        run.take(part, before)
    told, part.frames = part.frames, min(run.frames for run in runs)
    return part.frames // BLOCK > told // BLOCK
