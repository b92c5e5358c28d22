"""Looks at the first pictures of a video as ffmpeg decodes them: their size, times and fields. Headers may say otherwise.

The size is that after rotation and cropping, by whatever tag. The first time is that of the first picture that can be
decoded, which in a stream captured in the middle of a group of pictures is later than the stream's.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ._ffmpeg import Video, without_name
from ._run import Answer, ask
from ._terminal import Failure

PICTURES = 16  # pictures that are decoded: enough for three cycles of 3:2 pulldown
MOST_AT_ONCE = 4  # processes at the same time
LEAST_COMBED = 0.2  # the part of pictures with combs above which a video has fields; 3:2 pulldown has 0.4
# Containers that keep times in milliseconds, or in the unit that a muxer made of its rate.
ROUNDED = {"matroska", "webm", "flv"}
ROUNDING_S = 0.001
SHOW = "settb=AVTB,showinfo@first=checksum=0"
SHOWN = re.compile(r"^\[showinfo@\S* @ \S+\] n: *\d+ pts: *(-?\d+) .* s:(\d+)x(\d+) i:(.)", re.M)
COMBED = re.compile(r"Multi frame detection: TFF: *(\d+) BFF: *(\d+) Progressive: *(\d+)")


def as_decoded(ffmpeg: str, videos: Sequence[Video]) -> list[Video]:
    """Returns the videos with the facts that their first pictures tell. Raises Failure."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        return list(pool.map(lambda video: _as_decoded(ffmpeg, video), videos))


def _as_decoded(ffmpeg: str, video: Video) -> Video:
    answer = _decode(ffmpeg, video, [SHOW, "idet"])
    if answer.status:  # frames in the memory of a GPU, or an ffmpeg without idet
        answer = _decode(ffmpeg, video, [SHOW])
    pictures = SHOWN.findall(answer.err)
    if answer.status or not pictures:
        raise Failure(f"cannot decode {video.name}: {without_name(answer.last_line, video.path)}")
    times = [int(pts) / 1e6 for pts, *_ in pictures]
    return _at_rate_of_times(
        replace(
            video,
            width=int(pictures[0][1]),
            height=int(pictures[0][2]),
            start=times[0],
            duration=_duration(video, times[0]),
            interlaced=any(field in "TB" for *_, field in pictures),
            combed=_is_combed(answer.err),
        ),
        times,
    )


def _decode(ffmpeg: str, video: Video, filters: Sequence[str]) -> Answer:
    command = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-copyts", "-start_at_zero", *video.input]
    return ask([*command, "-map", "0:V:0", "-frames:v", str(PICTURES), "-vf", ",".join(filters), "-f", "null", "-"])


def _duration(video: Video, start: float) -> float | None:
    """Returns how long the pictures last from the first one that can be decoded.

    The demuxer counts from the stream's first packet. Where packets have no times of their own, all pictures are late
    by the decoder's delay, and none is missing.
    """
    late = start - video.start
    return video.duration if not video.duration or not video.timed or late < 0 else max(video.duration - late, 0.0)


def _is_combed(said: str) -> bool:
    found = COMBED.search(said)
    top, bottom, progressive = map(int, found.groups()) if found else (0, 0, 0)
    return top + bottom > LEAST_COMBED * (top + bottom + progressive)


def _at_rate_of_times(video: Video, times: Sequence[float]) -> Video:
    """Returns the video without its rate if the times are evenly apart at another one: a muxer had rounded the duration
    of a picture, and the rate is that of this duration.
    """
    if not video.rate or ROUNDED.isdisjoint(video.container.split(",")) or len(times) < PICTURES:
        return video
    step = (times[-1] - times[0]) / (len(times) - 1)
    even = all(abs(time - times[0] - number * step) <= 2 * ROUNDING_S for number, time in enumerate(times))
    doubt = 2 * ROUNDING_S / (len(times) - 1)
    if not even or abs(step - float(1 / video.rate)) <= doubt:
        return video
    return replace(video, rate=None, interval=(step - doubt, step + doubt))
