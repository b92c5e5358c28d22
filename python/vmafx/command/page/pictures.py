"""Makes pictures of single frames with ffmpeg, as data URIs."""

import base64
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import _ffmpeg
from .._terminal import Failure

# Samples of all pictures of a page together: 48 of 1920x1080. More or larger pictures are scaled down.
MOST_SAMPLES = 48 * 1920 * 1080
# Qualities of ffmpeg's mjpeg (2 is best, 31 worst): the usual one, and that of pages that would be too large. WebP
# saves little at this quality, and AVIF takes ten times as long.
QUALITY, LESS_QUALITY = 3, 5
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


def picture(media: Media, path: str, time: float, rate: float, samples: int, quality: int = QUALITY) -> str:
    """Returns the first frame that is at most half a frame earlier than `time`, with at most so many samples."""
    command = _command(media, path, time, rate, samples, quality)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise Failure(f"cannot run {media.ffmpeg}: {error.strerror}") from error
    if done.returncode or not done.stdout:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["ffmpeg did not write one"])[-1]
        raise Failure(f"cannot make a picture of {path} at {time:.3f} s: {last}")
    return "data:image/jpeg;base64," + base64.b64encode(done.stdout).decode("ascii")


def _command(media: Media, path: str, time: float, rate: float, samples: int, quality: int) -> Sequence[str]:
    seek = max(time + media.starts.get(path, 0) - 0.5 / rate, 0)
    options = media.options.get(path, ())
    # With -r, ffmpeg counts pictures, and cannot seek.
    begin, filters = ([], [f"trim=start={seek:.6f}"]) if "-r" in options else (["-ss", f"{seek:.6f}"], [])
    # sar gives the picture the shape in which it is shown, and browsers take the matrix of a JPEG for BT.601's.
    factor = f"min(1,sqrt({samples}/(iw*sar*ih)))"
    size = f"w='max(round(iw*sar*{factor}),1)':h='max(round(ih*{factor}),1)'"
    filters += filter(None, [media.filters.get(path)])
    filters.append(f"scale={size}:flags=bicubic:out_color_matrix=smpte170m:out_range=full,setsar=1")
    inputs = [*begin, *options, "-i", _ffmpeg.input_name(path), "-map", "0:V:0"]
    outputs = ["-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", str(quality), "-f", "image2pipe", "-"]
    return [media.ffmpeg, "-v", "error", "-nostdin", *inputs, "-frames:v", "1", "-vf", ",".join(filters), *outputs]
