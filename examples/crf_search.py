#!/usr/bin/env python3
"""Finds the largest CRF with which an encode of a video still reaches a VMAF score.

The video is decoded once, and its frames stay in memory, where all probes score against them. Each probe encodes them,
decodes what the encoder writes, and scores it, all in this process, without a file. The CRF to try next is interpolated
between the best one that was too high and the best one that was not.

Needs the Python modules vmafx and av, Debian's python3-av for example.
"""

import argparse
import contextlib
import errno
import itertools
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import av
import vmafx
from av.video.frame import PictureType

MIB = 1 << 20


@dataclass(frozen=True)
class Encoder:
    """An encoder of FFmpeg, and the decoder for its output."""

    name: str
    decoder: str
    crf_range: tuple[int, int]
    preset: str


ENCODERS = {
    encoder.name: encoder
    for encoder in (Encoder("libx264", "h264", (10, 51), "medium"), Encoder("libsvtav1", "libdav1d", (10, 63), "8"))
}


class Failure(Exception):
    """An error that ends the search; its text is for the user."""


# -- The reference -----------------------------------------------------------------------------------------------------


@dataclass
class Reference:
    frames: list[av.VideoFrame]  # frames for the encoder
    kept: vmafx.KeptReference  # the same frames, in the same memory, to score against
    rate: Fraction


def encodable(frame: av.VideoFrame, formats: set[str]) -> av.VideoFrame:
    """Returns the frame in a format that the encoder takes."""
    if frame.format.name in formats:
        return frame
    deep = any(component.bits > 8 for component in frame.format.components)
    return frame.reformat(format="yuv420p10le" if deep else "yuv420p")


@contextlib.contextmanager
def threads_of(codec: av.CodecContext) -> Iterator[None]:
    """Lets a decoder decode several frames at once.

    PyAV keeps Python's lock when it frees a decoder and waits for the decoder's threads, so it hangs if one of these
    wants to log. The decoder is therefore emptied first.
    """
    codec.thread_type = "AUTO"
    try:
        yield
    finally:
        with contextlib.suppress(av.error.FFmpegError):  # the decoder was emptied before
            codec.decode(None)


def read_reference(path: str, encoder: Encoder, most_frames: int | None, budget: int) -> Reference:
    """Decodes the video; its frames may take `budget` bytes."""
    formats = {format.name for format in av.Codec(encoder.name, "w").video_formats}
    frames: list[av.VideoFrame] = []
    kept = vmafx.KeptReference(budget=budget, device_budget=budget)
    with av.open(path) as file, threads_of(file.streams.video[0].codec_context):
        rate = file.streams.video[0].average_rate or Fraction(25)
        for decoded in itertools.islice(file.decode(video=0), most_frames):
            frame = encodable(decoded, formats)
            frame.pts, frame.time_base = len(frames), 1 / rate
            frame.pict_type = PictureType.NONE  # the encoder would repeat the types that frames have in the file
            try:
                kept.add(frame)
            except vmafx.Error as error:
                if error.errno != errno.ENOMEM:
                    raise
                raise Failure(f"{path}: {error}. Allow more with --memory, or take fewer with --frames") from None
            frames.append(frame)
    if not frames:
        raise Failure(f"{path} has no frames")
    return Reference(frames, kept, rate)


# -- A probe -----------------------------------------------------------------------------------------------------------


@dataclass
class Encode:
    """The reference, encoded with a CRF."""

    reference: Reference
    encoder: Encoder
    preset: str
    crf: int
    bytes: int = field(default=0, init=False)
    decoded_frames: int = field(default=0, init=False)

    def packets(self) -> Iterator[av.Packet]:
        first = self.reference.frames[0]
        codec = av.CodecContext.create(self.encoder.name, "w")
        codec.width, codec.height, codec.pix_fmt = first.width, first.height, first.format.name
        codec.framerate, codec.time_base = self.reference.rate, 1 / self.reference.rate
        codec.options = {"crf": str(self.crf), "preset": self.preset}
        codec.thread_type = "FRAME"  # ffmpeg's choice; PyAV's default, slices, makes x264 cut frames in pieces
        for frame in [*self.reference.frames, None]:  # None stands for the end
            yield from codec.encode(frame)

    def decoded(self) -> Iterator[av.VideoFrame]:
        """Yields the frames of the encode as soon as they are decoded."""
        codec = av.CodecContext.create(self.encoder.decoder, "r")
        with threads_of(codec):
            for packet in self.packets():
                self.bytes += packet.size
                yield from self.count(codec.decode(packet))
            yield from self.count(codec.decode(None))

    def count(self, frames: list[av.VideoFrame]) -> list[av.VideoFrame]:
        self.decoded_frames += len(frames)
        return frames

    def kilobits_per_second(self) -> float:
        return float(self.bytes * 8 * self.reference.rate / len(self.reference.frames) / 1000)


def score(encode: Encode, model: str) -> float:
    with vmafx.Session(model=model, reference=encode.reference.kept) as session:
        for _ in session.run(enumerate(encode.decoded())):
            pass
        if encode.decoded_frames < len(encode.reference.kept):
            raise Failure(
                f"the encode with crf {encode.crf} lacks {len(encode.reference.kept) - encode.decoded_frames} frames"
            )
        return next(iter(session.scores.models.values()))


# -- The search --------------------------------------------------------------------------------------------------------


def search(probe: Callable[[int], float], target: float, first: int, last: int) -> int | None:
    """Returns the largest CRF of first … last whose score is at least the target, or None. The score must fall with the
    CRF.
    """
    good, bad = first - 1, last + 1  # the wanted CRF is `good` or between the two
    scores: dict[int, float] = {}
    halve = True
    while bad - good > 1:
        width = bad - good
        crf = (good + bad) // 2
        if not halve and good in scores and bad in scores:
            crf = interpolated(target, (good, scores[good]), (bad, scores[bad]))
        scores[crf] = probe(crf)
        if scores[crf] >= target:
            good = crf
        else:
            bad = crf
        halve = 2 * (bad - good) > width and not halve  # after a step that gained little, the range is halved
    return good if good >= first else None


def interpolated(target: float, good: tuple[int, float], bad: tuple[int, float]) -> int:
    """Returns the CRF between two at which a straight line through their scores meets the target."""
    part = (good[1] - target) / (good[1] - bad[1])
    return min(max(good[0] + int(part * (bad[0] - good[0])), good[0] + 1), bad[0] - 1)


# -- The command line --------------------------------------------------------------------------------------------------


def crf_range(text: str) -> tuple[int, int]:
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"{text} is not FIRST:LAST")
    return int(first), int(last)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 up")
    return int(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="the video to encode")
    parser.add_argument(
        "--target", type=float, default=95, metavar="SCORE", help="the score to reach (default %(default)s)"
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="libx264", help="(default %(default)s)")
    parser.add_argument("--preset", help="of the encoder (default medium for libx264, 8 for libsvtav1)")
    parser.add_argument(
        "--crf-range", type=crf_range, metavar="FIRST:LAST", help="default 10:51 for libx264, 10:63 for libsvtav1"
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="take the first N frames only")
    parser.add_argument(
        "--model", default=vmafx.options()["model"].default, help="as in the filter (default %(default)s)"
    )
    parser.add_argument(
        "--memory",
        type=positive,
        default=2048,
        metavar="MIB",
        help="most memory for the frames of the reference, also on a GPU (default %(default)s)",
    )
    return parser.parse_args()


def say_each_once() -> None:
    """Logs each message once: the library's messages on the pictures are the same in each probe."""
    said: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        count = len(said)
        said.add(record.getMessage())
        return len(said) > count

    logging.basicConfig(format="%(levelname)s: %(message)s")
    logging.getLogger("vmafx").addFilter(is_new)


def run(arguments: argparse.Namespace) -> int:
    encoder = ENCODERS[arguments.encoder]
    reference = read_reference(arguments.input, encoder, arguments.frames, arguments.memory * MIB)
    encodes: dict[int, Encode] = {}

    def probe(crf: int) -> float:
        start = time.monotonic()
        encodes[crf] = encode = Encode(reference, encoder, arguments.preset or encoder.preset, crf)
        value = score(encode, arguments.model)
        print(
            f"crf {crf:2}  {encode.kilobits_per_second():10.1f} kbit/s  score {value:10.6f}  "
            f"{time.monotonic() - start:6.2f} s",
            flush=True,
        )
        return value

    first, last = arguments.crf_range or encoder.crf_range
    found = search(probe, arguments.target, first, last)
    of_probes = sum(encode.decoded_frames for encode in encodes.values())
    print(f"decoded: {len(reference.frames)} frames of the reference, {of_probes} of {len(encodes)} probes")
    if found is None:
        raise Failure(f"no CRF of {first} to {last} reaches {arguments.target:g}: lower --target or --crf-range")
    print(f"found: crf {found}, {encodes[found].kilobits_per_second():.1f} kbit/s")
    return 0


def main() -> int:
    os.environ.setdefault("SVT_LOG", "1")  # 1: errors only
    try:
        arguments = parse_arguments()
        say_each_once()
        return run(arguments)
    except (Failure, vmafx.Error, av.error.FFmpegError) as failure:
        print(f"crf_search.py: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
