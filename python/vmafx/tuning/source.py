"""What is encoded: the first video stream of a file, through the filters before the encoder, and all of its tags."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..command import _beginning, _ffmpeg
from ..command._run import ask
from ..command._terminal import Failure
from .encoders import Hdr, Mastering, Pairs

TAGS = {
    "color_range": "color_range",
    "color_space": "colorspace",
    "color_transfer": "color_trc",
    "color_primaries": "color_primaries",
}  # ffprobe's names of tags, and ffmpeg's
DYNAMIC = {"HDR Dynamic Metadata SMPTE2094-40 (HDR10+)": "HDR10+", "Dolby Vision Metadata": "Dolby Vision"}
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
    pictures = filtered(ffmpeg, ffprobe, video, vfilter) if vfilter else video
    return Source(video, pictures, vfilter, () if vfilter else colour, hdr, lost)


def filtered(ffmpeg: str, ffprobe: str, video: _ffmpeg.Video, vfilter: str) -> _ffmpeg.Video:
    """Returns the facts of the pictures behind filters, which a small lossless file of the first ones tells."""
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        file = Path(folder) / "filtered.mkv"
        command = [ffmpeg, "-hide_banner", "-nostdin", "-v", "error", *video.input, "-map", "0:V:0", "-vf", vfilter]
        answer = ask([*command, "-frames:v", "3", "-c:v", "ffv1", str(file)])
        if answer.status or not file.exists():
            raise Failure(f"--vfilter {vfilter}: ffmpeg cannot filter {video.name}: {answer.last_line}")
        seen = _ffmpeg.probe(ffprobe, str(file))
    return replace(
        video,
        width=seen.width,
        height=seen.height,
        pix_fmt=seen.pix_fmt,
        rate=seen.rate if video.rate else None,
        aspect=seen.aspect or video.aspect,
        frames=None,
        combed=False,
        interlaced=False,
        full_range=seen.full_range or video.full_range and seen.pix_fmt == video.pix_fmt,
        matrix=seen.matrix or video.matrix,
        transfer=seen.transfer or video.transfer,
        primaries=seen.primaries or video.primaries,
    )


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
