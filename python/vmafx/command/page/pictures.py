"""Makes pictures of single frames with ffmpeg, as data URIs."""

import base64
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _ffmpeg
from .._terminal import Failure

# Samples of all pictures of a page together: 48 of 1920x1080. More or larger pictures are scaled down.
MOST_SAMPLES = 48 * 1920 * 1080
# Qualities of ffmpeg's mjpeg (2 is best, 31 worst): the usual one, and those of pages that would be too large. WebP
# saves little at this quality, and AVIF takes ten times as long.
QUALITIES = 3, 4, 5, 6, 7
MOST_TEXT = 14_000_000  # characters of all pictures of a page together, so that it stays below 15 MB


@dataclass(frozen=True)
class Media:
    """The files whose scores are shown."""

    ffmpeg: str
    dists: list[str]
    ref: str | None
    starts: dict[str, float] = field(default_factory=dict)  # a file's time of the picture at time 0, unless 0
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)  # a file's words for ffmpeg before -i
    filters: dict[str, str] = field(default_factory=dict)  # a file's filters that turn and crop it, as it is scored


def picture(media: Media, path: str, time: float, rate: float, samples: int) -> bytes:
    """Returns the first frame that is at most half a frame earlier than `time`, with at most so many samples, for
    compressed(). Raises Failure.
    """
    return _made(media.ffmpeg, _command(media, path, time, rate, samples), f"of {path} at {time:.3f} s")


def compressed(ffmpeg: str, made: bytes, samples: int, quality: int) -> str:
    """Returns what picture() has made as a data URI, with at most so many samples. Raises Failure."""
    filters = ["-vf", f"scale={_size('iw', samples)}:flags=bicubic:in_range=full:out_range=full"]
    outputs = ["-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", str(quality), "-f", "image2pipe", "-"]
    command = [ffmpeg, "-v", "error", "-f", "nut", "-i", "-", *filters, *outputs]
    jpeg = _made(ffmpeg, command, "of a frame that has been decoded", made)
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")


def _made(ffmpeg: str, command: Sequence[str], what: str, given: bytes | None = None) -> bytes:
    inputs: dict[str, Any] = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    try:
        done = subprocess.run(command, capture_output=True, **inputs)
    except OSError as error:
        raise Failure(f"cannot run {ffmpeg}: {error.strerror}") from error
    if done.returncode or not done.stdout:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["ffmpeg did not write one"])[-1]
        raise Failure(f"cannot make a picture {what}: {last}")
    return bytes(done.stdout)


def _size(width: str, samples: int) -> str:
    """Returns the size for the filter scale: of this width, an expression, but with at most so many samples."""
    factor = f"min(1,sqrt({samples}/({width}*ih)))"
    return f"w='max(round({width}*{factor}),1)':h='max(round(ih*{factor}),1)'"


def _command(media: Media, path: str, time: float, rate: float, samples: int) -> Sequence[str]:
    seek = max(time + media.starts.get(path, 0) - 0.5 / rate, 0)
    options = media.options.get(path, ())
    # With -r, ffmpeg counts pictures, and cannot seek.
    begin, filters = ([], [f"trim=start={seek:.6f}"]) if "-r" in options else (["-ss", f"{seek:.6f}"], [])
    # sar gives the picture the shape in which it is shown, and browsers take the matrix of a JPEG for BT.601's.
    filters += filter(None, [media.filters.get(path)])
    size = _size("iw*sar", samples)
    filters.append(f"scale={size}:flags=bicubic:out_color_matrix=smpte170m:out_range=full,setsar=1")
    inputs = [*begin, *options, "-i", _ffmpeg.input_name(path), "-map", "0:V:0"]
    outputs = ["-pix_fmt", "yuv420p", "-c:v", "rawvideo", "-f", "nut", "-"]
    return [media.ffmpeg, "-v", "error", "-nostdin", *inputs, "-frames:v", "1", "-vf", ",".join(filters), *outputs]
