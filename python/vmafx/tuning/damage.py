"""Damage of a source: what ffmpeg says of it while it is decoded, and an end that it promises and lacks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from ..command._ffmpeg import Video, ends_of_streams
from ..command._terminal import Failure, shown
from ..command._whole import LEAST_FRAMES, LEAST_S, lack_of

MOST_LINES = 5  # that an error shows


def lack_at(ffprobe: str, video: Video, end: float, rate: float) -> list[str]:
    """Returns why decoding has ended at a time, in seconds from the start of the file; nothing if it is the end."""
    least = max(LEAST_S, LEAST_FRAMES / rate)
    if not video.duration or end >= video.start + video.duration - least:
        return []
    lack = lack_of(video, ends_of_streams(ffprobe, video), least)
    return [lack] if lack else []


def readable(ffprobe: str, video: Video) -> Video:
    """Returns the video with the length that can be read, for a damaged one."""
    own, _ = ends_of_streams(ffprobe, video)
    if own is None or not video.duration or own - video.start >= video.duration:
        return video
    return replace(video, duration=max(own - video.start, 0.0) or None, frames=None)


def refuse_damage(video: Video, texts: Sequence[str], remedy: str) -> NoReturn:
    """Raises Failure for a damaged source. `remedy`: how its damage is accepted."""
    told = "\n  ".join(map(shown, texts[:MOST_LINES]))
    raise Failure(f"{video.name} is damaged:\n  {told}\n  {remedy}")
