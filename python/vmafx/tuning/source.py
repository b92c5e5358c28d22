"""What is encoded: the first video stream of a file, through the filters before the encoder, and all of its tags."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..command import _beginning, _ffmpeg
from ..command._run import ask, ending_of
from ..command._said import errors_in
from ..command._terminal import Failure, shown
from .encoders import Hdr, Mastering, Pairs

TAGS = {
    "color_range": "color_range",
    "color_space": "colorspace",
    "color_transfer": "color_trc",
    "color_primaries": "color_primaries",
}  # ffprobe's names of tags, and ffmpeg's
DYNAMIC = {"HDR Dynamic Metadata SMPTE2094-40 (HDR10+)": "HDR10+", "Dolby Vision Metadata": "Dolby Vision"}
SHOWN_CAUSES = 3  # lines of ffmpeg in an error
NO_PICTURE = "no picture of {} comes through these filters: leave out what drops all"
MASTERING, LIGHT = "Mastering display metadata", "Content light level metadata"


@dataclass(frozen=True)
class Source:
    """A video, and the pictures that the filters before the encoder make of it."""

    video: _ffmpeg.Video
    pictures: _ffmpeg.Video  # behind the filters
    vfilter: str
    colour: Pairs  # ffmpeg's options for the tags of the pictures
    hdr: Hdr
    lost: tuple[str, ...]  # metadata that no encoder of FFmpeg writes again

    @property
    def rate(self) -> Fraction | None:
        return self.pictures.rate

    @property
    def seconds(self) -> float | None:
        return self.video.duration


def open_source(ffmpeg: str, ffprobe: str, path: str, vfilter: str = "", options: Sequence[str] = ()) -> Source:
    """Looks at a file and its first picture. `options` are words for ffmpeg before -i. Raises Failure."""
    video = _beginning.as_decoded(ffmpeg, [_ffmpeg.probe(ffprobe, path, options)])[0]
    colour, hdr, lost = _tags(ffprobe, video)
    pictures = filtered(ffmpeg, video, vfilter) if vfilter else video
    return Source(video, pictures, vfilter, () if vfilter else colour, hdr, lost)


def filtered(ffmpeg: str, video: _ffmpeg.Video, vfilter: str) -> _ffmpeg.Video:
    """Returns the facts of the pictures behind filters, as ffmpeg's filter showinfo tells them of the first one, where
    no encoder asks for a format. Raises Failure.
    """
    command = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "level+info", *video.input, "-map", "0:V:0"]
    answer = ask([*command, "-vf", f"{vfilter},showinfo", "-frames:v", "1", "-f", "null", "-"])
    lines = "\n".join(line for line in answer.err.splitlines() if "showinfo" in line)
    told = dict(re.findall(r"\b(fmt|sar|s|color_\w+): ?(\S+)", lines))
    size = re.fullmatch(r"(\d+)x(\d+)", told.get("s", ""))
    if answer.status or not size:
        why = causes_of(answer.status, answer.err) if answer.status else NO_PICTURE.format(video.name)
        raise Failure(f"cannot decode {video.name} with the filters {vfilter}: {why}")
    rate = re.search(r"frame_rate: ([1-9]\d*)/([1-9]\d*)", lines)
    aspect = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", told.get("sar", ""))

    def tag(name: str, before: str | None) -> str | None:
        return told[name] if _is_known(told.get(name)) else before

    return replace(
        video,
        width=int(size[1]),
        height=int(size[2]),
        pix_fmt=told["fmt"],
        rate=Fraction(int(rate[1]), int(rate[2])) if rate and video.rate else None,
        aspect=Fraction(int(aspect[1]), int(aspect[2])) if aspect else video.aspect,
        frames=None,
        combed=False,
        interlaced=False,
        full_range=told["fmt"].startswith("yuvj") or told.get("color_range") == "pc",
        matrix=tag("color_space", video.matrix),
        transfer=tag("color_trc", video.transfer),
        primaries=tag("color_primaries", video.primaries),
    )


def causes_of(status: int, err: str) -> str:
    """Returns what an ffmpeg with -v level+error said first, which tells the cause; later lines tell what it led to.
    If it said nothing: how it ended.
    """
    lines = err.strip().splitlines()
    told = [shown(text) for text in dict.fromkeys(errors_in(lines) or lines)][:SHOWN_CAUSES]
    return "; ".join(told) or f"ffmpeg {ending_of(status)}"


def _tags(ffprobe: str, video: _ffmpeg.Video) -> tuple[Pairs, Hdr, tuple[str, ...]]:
    """Returns the colour tags and the HDR metadata of the first picture and its stream."""
    entries = f"stream={','.join(TAGS)}:stream_side_data:frame={','.join(TAGS)}:frame_side_data"
    command = [ffprobe, "-v", "error", "-select_streams", "V:0", "-read_intervals", "%+#1"]
    answer = ask([*command, "-show_entries", entries, "-of", "json", _ffmpeg.input_name(video.path)])
    try:
        content = json.loads(answer.text or "{}")
        stream = (content.get("streams") or [{}])[0]
        frame = (content.get("frames") or [{}])[0]
        sides = [*stream.get("side_data_list", []), *frame.get("side_data_list", [])]
        told = {name: frame.get(name) or stream.get(name) for name in TAGS}
        colour = tuple((TAGS[name], value) for name, value in told.items() if _is_known(value))
        return colour, _hdr_of(sides), _lost(sides)
    except (ValueError, TypeError, AttributeError, KeyError, ZeroDivisionError):
        return (), Hdr(), ()


def _is_known(value: Any) -> bool:
    return isinstance(value, str) and value not in ("unknown", "unspecified", "reserved")


def _hdr_of(sides: Sequence[dict[str, Any]]) -> Hdr:
    by_type = {side.get("side_data_type"): side for side in sides}
    mastering, light = by_type.get(MASTERING), by_type.get(LIGHT)

    def value(name: str) -> Fraction:
        assert mastering
        return Fraction(mastering[name])

    display = None
    if mastering and "red_x" in mastering and "max_luminance" in mastering:
        red, green, blue, white = (
            (value(f"{name}_x"), value(f"{name}_y")) for name in ("red", "green", "blue", "white_point")
        )
        display = Mastering(red, green, blue, white, value("min_luminance"), value("max_luminance"))
    return Hdr(display, (int(light["max_content"]), int(light["max_average"])) if light else None)


def _lost(sides: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    types = [str(side.get("side_data_type")) for side in sides]
    names = [DYNAMIC.get(name) or ("Dolby Vision" if name.startswith("DOVI") else None) for name in types]
    return tuple(dict.fromkeys(name for name in names if name))
