"""Puts an encode and the other streams of its source into the output, and verifies it.

Audio, subtitles, attachments, covers, chapters and tags are copied. What the container cannot hold is known before any
work: can_hold() writes a short output for a trial.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..command import _ffmpeg
from ..command._run import Extent, Processes, ask, run_ffmpeg
from ..command._terminal import Failure, shown
from ..command._whole import LEAST_FRAMES, LEAST_S
from .source import Source
from .whole import COUNTING, Encoded, Show

FORMATS = {
    ".mkv": "matroska",
    ".webm": "webm",
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".ts": "mpegts",
    ".m2ts": "mpegts",
    ".mts": "mpegts",
    ".nut": "nut",
    ".ivf": "ivf",
    ".avi": "avi",
    ".flv": "flv",
    ".264": "h264",
    ".h264": "h264",
    ".265": "hevc",
    ".h265": "hevc",
    ".hevc": "hevc",
    ".266": "vvc",
    ".obu": "obu",
}  # FFmpeg's names of formats, by the ends of files' names
VIDEO_ALONE = {"ivf", "h264", "hevc", "vvc", "obu"}
WITHOUT_HEADER = {"h264", "hevc", "vvc"}  # whose parameter sets stand before key frames
IN_MATROSKA = {"matroska", "webm"}
IN_MP4 = {"mp4", "mov"}
TEXT_SUBTITLES = {"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text"}
SUBTITLES_OF = {"mp4": "mov_text", "mov": "mov_text", "webm": "webvtt"}  # the text subtitles that a format holds
COVERS = {"mjpeg": ("jpg", "image/jpeg"), "png": ("png", "image/png"), "gif": ("gif", "image/gif")}
KINDS = "audio", "subtitle", "attachment", "data", "cover", "chapters"
KEPT_TAGS = "language", "title", "handler_name"


@dataclass(frozen=True)
class Stream:
    index: int
    kind: str  # video, audio, subtitle, attachment, data, cover
    codec: str
    channels: int
    tags: tuple[tuple[str, str], ...]
    disposition: str


@dataclass(frozen=True)
class Sound:
    """The choices for audio."""

    codec: str = "copy"
    stereo: bool = False  # whether more than three channels are mixed down to two
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Layout:
    """The streams of an output."""

    format: str
    codec: str  # of the encode
    main: Stream
    others: tuple[Stream, ...]
    chapters: bool
    sound: Sound
    left_out: tuple[str, ...]  # lines on streams that the format cannot hold

    def codec_of(self, stream: Stream) -> str:
        if stream.kind == "audio":
            mixed = self.sound.stereo and stream.channels > 3
            return "libopus" if mixed and self.sound.codec == "copy" else self.sound.codec
        if stream.kind == "subtitle" and stream.codec in TEXT_SUBTITLES:
            wanted = SUBTITLES_OF.get(self.format)
            if wanted and stream.codec != wanted:
                return wanted
            if self.format == "matroska" and stream.codec in ("mov_text", "text"):
                return "subrip"
        return "copy"


def format_of(path: Path) -> str:
    """Returns FFmpeg's name of the format of an output. Raises Failure."""
    if path.suffix.lower() not in FORMATS:
        told = f"cannot tell the format of {shown(path)} by its name"
        raise Failure(f"{told}: let it end in {', '.join(FORMATS)}", 2)
    return FORMATS[path.suffix.lower()]


def layout_of(
    ffprobe: str, video: _ffmpeg.Video, path: Path, codec: str, sound: Sound, without: Collection[str]
) -> Layout:
    """Returns what of the source goes into the output. Raises Failure."""
    wanted = format_of(path)
    streams = _streams(ffprobe, video)
    main = next((stream for stream in streams if stream.kind == "video"), None)
    if main is None:
        raise Failure(f"{video.name} has no video stream: name a file that has one")
    others, left_out = [], []
    for stream in streams:
        titles_of_chapters = stream.codec == "bin_data" and "mov" in video.container
        if stream is main or stream.kind in without or wanted in VIDEO_ALONE or titles_of_chapters:
            continue
        if reason := _why_not(wanted, stream):
            left_out.append(f"the {stream.kind} stream {stream.index} ({stream.codec}) is left out: {reason}")
        else:
            others.append(stream)
    chapters = "chapters" not in without and wanted not in VIDEO_ALONE
    return Layout(wanted, codec, main, tuple(others), chapters, sound, tuple(left_out))


def _streams(ffprobe: str, video: _ffmpeg.Video) -> list[Stream]:
    entries = "stream=index,codec_type,codec_name,channels:stream_tags:stream_disposition"
    answer = ask([ffprobe, "-v", "error", "-show_entries", entries, "-of", "json", _ffmpeg.input_name(video.path)])
    try:
        return [_stream(told) for told in json.loads(answer.text)["streams"]]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Failure(f"cannot read the streams of {video.name}: {answer.last_line}") from None


def _stream(told: dict[str, Any]) -> Stream:
    disposition = {name for name, is_set in told.get("disposition", {}).items() if is_set}
    kind = "cover" if "attached_pic" in disposition else str(told.get("codec_type", "data"))
    tags = tuple((str(name), str(value)) for name, value in told.get("tags", {}).items())
    words = "+".join(sorted(disposition)) or "0"
    return Stream(int(told["index"]), kind, str(told.get("codec_name", "?")), int(told.get("channels", 0)), tags, words)


def _why_not(wanted: str, stream: Stream) -> str:
    """Returns why a format cannot hold a stream; "" if it can, as far as its kind tells."""
    if stream.kind == "data":
        return "data streams cannot be copied" if wanted != "mpegts" else ""
    if stream.kind == "attachment" and wanted not in IN_MATROSKA - {"webm"}:
        return f"the format {wanted} holds no attachments"
    if stream.kind == "cover" and (wanted not in {"mp4", "matroska"} or stream.codec not in COVERS):
        return f"the format {wanted} holds no such cover"
    if stream.kind == "subtitle" and wanted in SUBTITLES_OF and stream.codec not in TEXT_SUBTITLES:
        return f"the format {wanted} holds subtitles of text only"
    if stream.kind == "subtitle" and wanted == "mpegts" and stream.codec in TEXT_SUBTITLES:
        return "the format mpegts holds no subtitles of text"
    return ""


def lost_kinds(ffprobe: str, layout: Layout, output: Path) -> list[str]:
    """Returns the kinds of streams of which an output has fewer than it should. Chapters of MP4 are a data stream."""
    kept = [stream.kind for stream in _streams(ffprobe, _ffmpeg.probe(ffprobe, str(output))) if stream.kind != "data"]
    wanted = [stream.kind for stream in (layout.main, *layout.others) if stream.kind != "data"]
    if len(kept) >= len(wanted):  # a cover may have become an attachment
        return []
    return [kind for kind in dict.fromkeys(wanted) if kept.count(kind) < wanted.count(kind)]


# -- Writing -----------------------------------------------------------------------------------------------------------


def write(
    ffmpeg: str,
    source: Source,
    layout: Layout,
    encode: Path,
    output: Path,
    tag: str,
    show: Show | None = None,
    processes: Processes | None = None,
    seconds: float | None = None,
) -> None:
    """Writes the output: the encode beside the other streams, or only the beginning of all. Raises Failure."""
    covers = list(_extracted(ffmpeg, source.video, layout, encode.parent))
    command = _command(ffmpeg, source, layout, encode, output, tag, covers, seconds)
    run_ffmpeg(command, Extent(source.seconds, float(source.rate) if source.rate else None), show, processes)


def _extracted(ffmpeg: str, video: _ffmpeg.Video, layout: Layout, folder: Path) -> Iterator[tuple[Stream, Path]]:
    """Writes covers as files, which Matroska holds as attachments."""
    for stream in layout.others if layout.format == "matroska" else ():
        if stream.kind == "cover":
            path = folder / f"cover{stream.index}.{COVERS[stream.codec][0]}"
            words = "-map", f"0:{stream.index}", "-c", "copy", "-frames:v", "1", "-f", "image2", "-update", "1"
            answer = ask([ffmpeg, "-v", "error", "-nostdin", "-y", *video.input, *words, str(path)])
            if answer.status:
                raise Failure(f"cannot read the cover of {video.name}: {answer.last_line}")
            yield stream, path


def _command(
    ffmpeg: str,
    source: Source,
    layout: Layout,
    encode: Path,
    output: Path,
    tag: str,
    covers: Sequence[tuple[Stream, Path]],
    seconds: float | None,
) -> list[str]:
    """Returns the command; input 0 is the encode, which begins when the source's pictures do, input 1 the source."""
    head = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+warning", "-progress", "pipe:1", "-y"]
    inputs = [*("-itsoffset", f"{source.video.start:.6f}", "-i", str(encode)), *source.video.input]
    streams = [stream for stream in layout.others if stream not in [cover for cover, _ in covers]]
    words = [*("-map", "0:v:0"), *(word for stream in streams for word in ("-map", f"1:{stream.index}"))]
    words += ["-map_metadata", "1", "-map_chapters", "1" if layout.chapters else "-1", "-c", "copy"]
    for number, stream in enumerate((layout.main, *streams)):
        words += _of_stream(layout, number, stream)
    for place, (stream, path) in enumerate(covers):
        number = sum(stream.kind == "attachment" for stream in streams) + place
        words += ["-attach", str(path), f"-metadata:s:t:{number}", f"mimetype={COVERS[stream.codec][1]}"]
        words += [f"-metadata:s:t:{number}", f"filename=cover.{COVERS[stream.codec][0]}"]
    words += [*_of_format(layout, tag)]
    if seconds is not None:
        words += ["-t", f"{seconds:g}"]
    return [*head, *inputs, *words, "-f", layout.format, str(output)]


def _of_stream(layout: Layout, number: int, stream: Stream) -> Iterator[str]:
    """Returns the words for a stream of the output."""
    codec = layout.codec_of(stream)
    if codec != "copy":
        yield from (f"-c:{number}", codec)
    if stream.kind == "audio" and codec != "copy":
        if layout.sound.stereo and stream.channels > 3:
            yield from (f"-ac:{number}", "2")
        for name, value in layout.sound.options:
            yield from (f"-{name}:{number}", value)
    if number == 0:
        for name, value in stream.tags:
            if name.lower() in KEPT_TAGS:
                yield from (f"-metadata:s:{number}", f"{name}={value}")
    yield from (f"-disposition:{number}", stream.disposition)


def _of_format(layout: Layout, tag: str) -> Iterator[str]:
    """Returns options that put the index in front, where players of streams look for it, and tags."""
    if layout.format in IN_MP4:
        yield from ("-movflags", "+faststart")
        if layout.codec == "hevc":
            yield from ("-tag:v:0", "hvc1")  # the only one that Apple's players take
    elif layout.format in IN_MATROSKA:
        yield from ("-cues_to_front", "1", "-metadata", f"VMAFX={tag}")
    elif layout.format in WITHOUT_HEADER:
        yield from ("-bsf:v", "dump_extra")


# -- Verifying ---------------------------------------------------------------------------------------------------------


def problems(ffprobe: str, source: Source, layout: Layout, output: Path, encoded: Encoded) -> list[str]:
    """Returns what is wrong with an output: lines of text."""
    found = [f"the encode cannot be decoded without errors: {text}" for text in encoded.damage_of_encode[:3]]
    told = list(_ffmpeg.packet_times(ffprobe, str(output)))
    times = sorted(time for time in told if time is not None)
    pictures = len(times) or len(told)  # none of a raw stream has a time
    pairing = encoded.scores.pairing
    if pictures != encoded.frames:
        found.append(f"the output has {pictures} pictures, but {encoded.frames} were decoded and scored")
    for name, what in ("unmatched_reference", "the encode lacks"), ("unmatched_distorted", "the source lacks"):
        if pairing.get(name):
            found.append(f"{what} {pairing[name]:.0f} pictures of the other")
    if lost := lost_kinds(ffprobe, layout, output):
        found.append(f"the output lacks streams of the source: {', '.join(lost)}")
    if source.seconds and times and not COUNTING.search(source.vfilter):
        frame = float(1 / source.rate) if source.rate else (times[-1] - times[0]) / max(len(times) - 1, 1)
        seconds = times[-1] - times[0] + frame
        if seconds < source.seconds - max(LEAST_S, LEAST_FRAMES * frame):
            found.append(f"the output lasts {seconds:.3f} s, but the source promises {source.seconds:.3f} s")
    return found
