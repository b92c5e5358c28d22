"""find the quantizer or bit rate with which an encode of a video just reaches a score

Samples of the video are encoded by ffmpeg and scored while they are encoded. Nothing is written but a cache of results.
"""

import argparse
import dataclasses
import importlib.util
import json
import logging
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _ffmpeg, _inputs, _models
from ._files import refuse_parts
from ._models import Scale, Size
from ._terminal import Failure, counted, emit, note, time_text
from .score import add_convert, scale_word

if TYPE_CHECKING:
    from ..tuning.encoders import Pairs, Settings
    from ..tuning.search import Options, Outcome, ProbeResult
    from ..tuning.table import Estimate
    from ..tuning.targets import Target

USUAL_TARGET = "vmaf=95"
USUAL_ENCODER = "libx264"
UNREACHED = 4  # the exit status if no quantizer reaches the targets
NEEDED = {"cffi": "python3-cffi", "numpy": "python3-numpy", "av": "python3-av"}
UNITS = "kB", "MB", "GB", "TB"
MIB = 1 << 20
MOST_NUMBER = (1 << 31) - 1  # of samples, jobs and mebibytes


# -- The command line --------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("input", metavar="INPUT", help="the video to encode")
    add_search(parser)
    add_encoder(parser)
    add("--partial", action="store_true", help="search in what can be decoded of a damaged source")
    add("--json", action="store_true", help="print JSON: a line for each probe as it ends, and one for the result")


def add_search(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_target = (
        "a score to reach, [POOLING:]SCORE=VALUE such as ssimulacra2=80 or p5:vmaf=90; may be repeated: all are "
        f"reached (default: {USUAL_TARGET})"
    )
    add("--target", action="append", default=[], metavar="TARGET", help=help_target)
    add("--min-crf", type=float, metavar="Q", help="the smallest quantizer, or bit rate, to search")
    add("--max-crf", type=float, metavar="Q", help="the largest quantizer, or bit rate, to search")
    help_confidence = "how sure the intervals of the scores are, in percent (default: %(default)g)"
    add("--confidence", type=float, default=95.0, metavar="PERCENT", help=help_confidence)
    add(
        "--samples",
        type=int,
        metavar="N",
        help="use at most so many samples (default: as the confidence asks, 8 to 24)",
    )
    add("--all-frames", action="store_true", help="encode and score all frames of each probe, though it is decided")
    add("--no-cache", action="store_true", help="neither read nor keep results of probes")
    add("--model", metavar="MODEL", help="the model of VMAF, as in the filter's option model (default: by the size)")
    add_convert(parser)
    help_scale = "the size at which the model scores: model (default), reference, none, or WIDTHxHEIGHT"
    add("--scale", type=scale_word, default="model", metavar="SCALE", help=help_scale)
    add("--backend", choices=("auto", "cpu", "hip"), default="auto", help="where scores are computed (default: auto)")
    add("--device", metavar="DEVICE", help="the GPU that scores: an index or a PCI address")
    help_jobs = "encodes at a time (default: one for every two processors up to 8, then one for every four)"
    add("--jobs", type=int, metavar="N", help=help_jobs)
    help_memory = (
        "memory for the samples' pictures (default: a quarter of the machine's, 4096 to 16384, but no more than half)"
    )
    add("--memory", type=int, metavar="MIB", help=help_memory)
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; crf needs no filter vmafx in it, encode does")


def add_encoder(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_encoder = "FFmpeg's name of the encoder, such as libx265 or libsvtav1 (default: %(default)s)"
    add("-e", "--encoder", default=USUAL_ENCODER, metavar="ENCODER", help=help_encoder)
    add("--preset", metavar="PRESET", help="the encoder's preset")
    help_enc = "an option of the encoder, such as tune=film or x265-params=aq-mode=3; may be repeated"
    add("--enc", action="append", default=[], metavar="NAME=VALUE", help=help_enc)
    help_filter = "FFmpeg's filters before the encoder; scores compare with the filtered source"
    add("--vfilter", default="", metavar="FILTERS", help=help_filter)
    add("--pix-format", metavar="FORMAT", help="the encode's pixel format (default: the source's, or the nearest one)")
    add("--keyint", metavar="N", help="the most frames from one key frame to the next, or seconds, such as 10s")
    add("--encoder-device", metavar="DEVICE", help="the GPU that encodes, for VAAPI: /dev/dri/renderD128")
    add("--bit-rate", action="store_true", help="search for a bit rate in kbit/s in place of the quantizer")


def run(arguments: argparse.Namespace) -> int:
    check_packages()
    check_arguments(arguments)
    from ..tuning import encoders
    from ..tuning.samples import ACCEPTED
    from ..tuning.search import search
    from ..tuning.source import filtered
    from ..tuning.targets import Target

    look_beside_ffmpeg(arguments)
    targets = [Target.parse(text) for text in arguments.target or [USUAL_TARGET]]
    ffmpeg = _ffmpeg.find_any_ffmpeg(arguments.ffmpeg)
    encoder = encoders.encoder_of(arguments.encoder)
    encoders.check_available(ffmpeg, encoder)
    if arguments.bit_rate:
        encoder = encoders.by_bit_rate(encoder)
    video = _ffmpeg.probe(_ffmpeg.ffprobe_of(ffmpeg), arguments.input)
    if not arguments.partial:
        refuse_parts(video, ACCEPTED)
    pictures = filtered(ffmpeg, video, arguments.vfilter) if arguments.vfilter else video
    settings = settings_of(arguments, encoder, video, pictures)
    with Shown(arguments, settings, targets) as shown:
        options = options_of(arguments, ffmpeg, video, pictures, settings)
        outcome = search(video, settings, targets, options, shown.probe)
    shown.result(outcome)
    return 0 if outcome.reached else UNREACHED


def check_packages() -> None:
    for module, package in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise Failure(f"it needs Python's module {module}: install Debian's {package}, or {module} with pip")


def check_arguments(arguments: argparse.Namespace) -> None:
    if not 50 <= arguments.confidence < 100:
        raise Failure(f"--confidence {arguments.confidence:g}: give a number from 50 up to less than 100", 2)
    for name in ("samples", "jobs", "memory"):
        if (value := getattr(arguments, name)) is not None and not 1 <= value <= MOST_NUMBER:
            raise Failure(f"--{name} {value}: give a number from 1 up to {MOST_NUMBER}", 2)
    if arguments.backend == "cpu" and arguments.device:
        raise Failure("--device names a GPU, and --backend cpu uses none: leave one of them out", 2)


def look_beside_ffmpeg(arguments: argparse.Namespace) -> None:
    """Loads the library that belongs to the ffmpeg, where that has one. Raises Failure without any."""
    from .._library import Error, library
    from .._places import look_beside

    if arguments.ffmpeg:
        look_beside(_ffmpeg.find_any_ffmpeg(arguments.ffmpeg))
    try:
        library()
    except (Error, OSError) as error:
        raise Failure(f"cannot load the library libvmafx: {error}") from error


def settings_of(
    arguments: argparse.Namespace,
    encoder: Any,
    video: _ffmpeg.Video,
    pictures: _ffmpeg.Video,
    colour: "Pairs | None" = None,
) -> "Settings":
    """Returns the settings of an encode of the pictures behind the filters; `colour` instead of the video's tags."""
    from ..tuning import encoders

    preset = arguments.preset
    if preset is not None and encoder.presets and preset not in encoder.presets:
        raise Failure(f"{encoder.name} has no preset {preset}: choose of {', '.join(encoder.presets)}", 2)
    if colour is None:
        colour = () if arguments.vfilter else _tags_of(video)
    pix_fmt = arguments.pix_format or encoder.format_for(pictures.pix_fmt)
    conversion, colour = encoders.conversion_of(pictures, pix_fmt, colour)
    return encoders.Settings(
        encoder,
        preset=preset,
        options=tuple(encoders.own_option(text, encoder) for text in arguments.enc),
        pix_fmt=pix_fmt,
        vfilter=arguments.vfilter,
        conversion=conversion,
        keyint=encoders.key_interval(encoder, arguments.keyint, video.rate),
        colour=colour,
        device=arguments.encoder_device,
    )


def _tags_of(video: _ffmpeg.Video) -> "Pairs":
    """Returns ffmpeg's options for the tags of a video's colors that are known."""
    tags = {
        "color_range": "pc" if video.full_range else None,
        "color_primaries": video.primaries,
        "color_trc": video.transfer,
        "colorspace": video.matrix,
    }
    return tuple((name, value) for name, value in tags.items() if value)


def options_of(
    arguments: argparse.Namespace, ffmpeg: str, video: _ffmpeg.Video, behind: _ffmpeg.Video, settings: "Settings"
) -> "Options":
    """Returns the options of a search in a video; `behind`: the facts of its pictures behind the filters."""
    from ..tuning.samples import color_of, look_at
    from ..tuning.search import Options

    pictures = look_at(ffmpeg, video, settings)
    model, size = model_and_size(arguments, Size(pictures.width, pictures.height), video)
    return Options(
        ffmpeg=ffmpeg,
        confidence=arguments.confidence / 100,
        first=arguments.min_crf,
        last=arguments.max_crf,
        samples=arguments.samples,
        memory=None if arguments.memory is None else arguments.memory * MIB,
        model=model,
        size=size,
        jobs=arguments.jobs,
        cache=not arguments.no_cache,
        backend="hip" if arguments.device and arguments.backend == "auto" else arguments.backend,
        device=arguments.device,
        early=not arguments.all_frames,
        partial=arguments.partial,
        convert=arguments.convert,
        color=color_of(settings.encoded(_with_known_colors(behind))) if arguments.convert else None,
    )


def _with_known_colors(pictures: _ffmpeg.Video) -> _ffmpeg.Video:
    """Returns the facts of pictures with all colors known, and tells which are taken for others. Raises Failure."""
    said: list[str] = []
    known = _inputs.with_known_colors([pictures], said)[0]
    for text in said:
        note(text)
    return known


def model_and_size(arguments: argparse.Namespace, here: Size, video: _ffmpeg.Video) -> tuple[str, Size | None]:
    """Returns the model for pictures of a size, and the size at which it scores them; None: as they are."""
    model = _models.chosen(arguments.model or _models.AUTO, here)
    scale = Scale.parse(arguments.scale)
    size = scale.size
    if scale.word == "model" and (rows := _models.rows_of(model)):
        size = _models.size_for(rows, here, video.aspect)
    return model, None if size == here else size


# -- What is shown -----------------------------------------------------------------------------------------------------


class Shown:
    """The lines of a search: a row for each probe as it ends, then the result."""

    def __init__(self, arguments: argparse.Namespace, settings: "Settings", targets: "Sequence[Target]") -> None:
        self._arguments, self._settings, self._targets = arguments, settings, targets
        self._listener = _Listener()
        self._has_head = False

    def __enter__(self) -> "Shown":
        logging.getLogger("vmafx").addHandler(self._listener)
        libav = logging.getLogger("libav")  # decoders complain of encodes that end early
        libav.addHandler(logging.NullHandler())
        libav.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("vmafx").removeHandler(self._listener)

    def probe(self, result: "ProbeResult") -> None:
        if self._arguments.json:
            self._print({"probe": dataclasses.asdict(result)})
            return
        if not self._has_head:
            self._has_head = True
            self._row(self._quantizer(), [target.name for target in self._targets], "kbit/s", "frames", "time")
        self._row(
            self._settings.encoder.number(result.quantizer),
            [interval_text(result.scores[target.name]) for target in self._targets],
            f"{result.bits_per_second / 1000:.1f}",
            f"{result.frames}/{result.of_frames}",
            "kept" if result.from_cache else f"{result.seconds:.1f} s",
        )

    def _row(self, quantizer: str, scores: Sequence[str], rate: str, frames: str, time: str) -> None:
        """Prints a row of the table, which nobody knows whole: rows come as probes end."""
        cells = [quantizer.rjust(8), *(score.rjust(23) for score in scores), rate.rjust(10), frames.rjust(11)]
        emit("  ".join([*cells, time.rjust(7)]) + "\n")

    def _quantizer(self) -> str:
        return "kbit/s" if self._settings.encoder.unit else self._settings.encoder.quantizer

    def result(self, outcome: "Outcome") -> None:
        """Prints the result, and why targets are not reached."""
        for text in outcome.notes:
            note(text)
        if self._arguments.json:
            told = {name: value for name, value in dataclasses.asdict(outcome).items() if name != "probes"}
            arguments = self._settings.arguments(outcome.quantizer)
            self._print({"result": {"encoder": self._settings.encoder.name, **told, "arguments": arguments}})
            return
        encoder = self._settings.encoder
        number = f"{self._quantizer()} {encoder.number(outcome.quantizer)}"
        scores = ", ".join(f"{target.name} {interval_text(outcome.scores[target.name])}" for target in self._targets)
        if not outcome.reached:
            wanted = " and ".join(map(str, self._targets))
            emit(f"\nno quantizer reaches {wanted}: {number}, the best, has {scores}\n")
            return
        size = size_text(outcome.predicted_bytes)
        of_input = ""
        if os.path.isfile(self._arguments.input) and (whole := os.path.getsize(self._arguments.input)):
            of_input = f" ({100 * outcome.predicted_bytes / whole:.0f} % of the input)"
        emit(f"\n{number}: {scores}\n")
        emit(f"predicted: {size} of video{of_input}, {time_text(outcome.predicted_seconds, 0)} to encode\n")
        of_frames = f"{outcome.frames} of {counted(outcome.of_frames, 'frame')}"
        emit(f"from {of_frames} in {counted(outcome.samples, 'sample')}\n")

    def _print(self, content: Any) -> None:
        emit(json.dumps(_finite(content)) + "\n")


def interval_text(estimate: "Estimate") -> str:
    """Returns a score and its interval: 95.12 (94.8…95.4)."""
    value, low, high = estimate
    if not math.isfinite(value):
        return "–"
    decimals = 2 if abs(value) > 1.5 else 5
    if low == value == high:
        return f"{value:.{decimals}f}"
    bounds = (f"{bound:.{decimals}f}" if math.isfinite(bound) else "?" for bound in (low, high))
    return f"{value:.{decimals}f} ({'…'.join(bounds)})"


def size_text(size: float) -> str:
    value = size / 1000
    for unit in UNITS[:-1]:
        if value < 1000:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} {UNITS[-1]}"


def _finite(content: Any) -> Any:
    """Returns JSON's null for numbers that are not finite."""
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, (list, tuple)) and not hasattr(content, "_asdict"):
        return [_finite(value) for value in content]
    if hasattr(content, "_asdict"):
        return _finite(content._asdict())
    return None if isinstance(content, float) and not math.isfinite(content) else content


class _Listener(logging.Handler):
    """Notes each warning of the library once: all probes have the same."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno == logging.WARNING and text not in self._said:  # errors are raised, too
            self._said.add(text)
            note(text)
