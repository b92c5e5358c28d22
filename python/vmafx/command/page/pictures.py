"""Makes pictures of single frames with ffmpeg, as data URIs."""

import base64
import subprocess
from dataclasses import dataclass, field

from .. import _ffmpeg
from .._terminal import Failure

WIDTH = 480


@dataclass(frozen=True)
class Media:
    """The files whose scores are shown."""

    ffmpeg: str
    dists: list[str]
    ref: str | None
    starts: dict[str, float] = field(default_factory=dict)  # a file's time of the picture at time 0, unless 0
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)  # a file's words for ffmpeg before -i


def picture(media: Media, path: str, time: float, rate: float) -> str:
    """Returns the first frame that is at most half a frame earlier than `time`."""
    seek = max(time + media.starts.get(path, 0) - 0.5 / rate, 0)
    options = media.options.get(path, ())
    # With -r, ffmpeg counts pictures, and cannot seek.
    begin, filters = ([], [f"trim=start={seek:.6f}"]) if "-r" in options else (["-ss", f"{seek:.6f}"], [])
    # dar gives the picture the shape in which it is shown
    scale = f"scale={WIDTH}:trunc({WIDTH}/dar/2)*2:flags=bicubic,setsar=1"
    command = [
        media.ffmpeg,
        "-v",
        "error",
        "-nostdin",
        *begin,
        *options,
        "-i",
        _ffmpeg.input_name(path),
        "-map",
        "0:V:0",
    ]
    command += [
        "-frames:v",
        "1",
        "-vf",
        ",".join([*filters, scale]),
        "-pix_fmt",
        "yuvj420p",
        "-c:v",
        "mjpeg",
        "-q:v",
        "4",
        "-f",
        "image2pipe",
        "-",
    ]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise Failure(f"cannot run {media.ffmpeg}: {error.strerror}") from error
    if done.returncode or not done.stdout:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["ffmpeg did not write one"])[-1]
        raise Failure(f"cannot make a picture of {path} at {time:.3f} s: {last}")
    return "data:image/jpeg;base64," + base64.b64encode(done.stdout).decode("ascii")
