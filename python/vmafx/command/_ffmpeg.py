"""The programs ffmpeg and ffprobe: where they are, what they say of a video."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ._terminal import Failure

NAMES = "ffmpeg", "vmafx-ffmpeg"  # as quickstart and as Debian's package install it
TREE = Path(__file__).resolve().parents[3]  # of the sources, if the module is not installed

# -- Finding them --------------------------------------------------------------------------------------------------------


def find_ffmpeg(chosen: str | None = None) -> str:
    """One with the filter vmafx: `chosen`, or VMAFX_FFMPEG, and then no other; else the first of those that are there."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    if named:
        path = shutil.which(named)
        if path is None:
            raise Failure(f"there is no program {named}, which {'--ffmpeg' if chosen else 'VMAFX_FFMPEG'} names")
        if not _has_filter(path):
            raise Failure(f"{named} has no filter vmafx; build/bin/ffmpeg of vmafx's sources has it after ./quickstart build")
        return path
    without = []
    for path in _places():
        if _has_filter(path):
            return path
        without.append(path)
    seen = f" ({', '.join(without)} has none)" if without else ""
    raise Failure(f"no ffmpeg with the filter vmafx was found{seen}: run ./quickstart build in vmafx's sources, or name one with --ffmpeg or VMAFX_FFMPEG")


def _places() -> Iterator[str]:
    beside = Path(sys.argv[0]).resolve().parent
    for path in (*(beside / name for name in NAMES), TREE / "build/bin/ffmpeg"):
        if os.access(path, os.X_OK) and path.is_file():
            yield str(path)
    for name in NAMES:
        if path_of_name := shutil.which(name):
            yield path_of_name


def _has_filter(path: str) -> bool:
    try:
        done = subprocess.run([path, "-hide_banner", "-filters"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failure(f"cannot run {path}: {error.strerror}") from error
    return re.search(r"^ \S+ vmafx +", done.stdout, re.M) is not None


def ffprobe_of(ffmpeg: str) -> str:
    """The ffprobe beside that ffmpeg, else the one in PATH."""
    beside = Path(ffmpeg).resolve().with_name("ffprobe")
    path = str(beside) if os.access(beside, os.X_OK) else shutil.which("ffprobe")
    if path is None:
        raise Failure("ffprobe is needed, too, and is neither beside ffmpeg nor in PATH; Debian has it in the package ffmpeg")
    return path


def find_any_ffmpeg(chosen: str | None = None) -> str:
    """One that decodes: it needs no filter of ours."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    path = shutil.which(named) if named else next(_places(), None)
    if path is None:
        raise Failure(f"there is no program {named or 'ffmpeg'}; Debian has it in the package ffmpeg")
    return path


# -- Videos --------------------------------------------------------------------------------------------------------------


def input_name(path: str) -> str:
    """A file's name for -i: without a protocol, FFmpeg takes what is before a colon for one."""
    return f"file:{path}" if os.path.exists(path) else path


@dataclass(frozen=True)
class Video:
    """What ffprobe says of the first video stream of a file."""

    path: str
    container: str  # FFmpeg's names for it, with commas
    width: int  # as it is decoded and turned
    height: int
    pix_fmt: str
    rate: Fraction | None  # None: it varies, or nobody knows
    start: float  # of the pictures, counted as ffmpeg does from the start of the file
    duration: float | None
    aspect: Fraction | None  # of a sample; None: unknown
    interlaced: bool
    full_range: bool
    matrix: str | None
    transfer: str | None


def probe(ffprobe: str, path: str) -> Video:
    entries = "stream:stream_side_data=rotation:format=format_name,duration,start_time"
    said = _ask(ffprobe, path, "-show_entries", entries, "-of", "json")
    content: dict[str, Any] = json.loads(said)
    if not content.get("streams"):
        raise Failure(f"there is no video in {path}")
    stream, container = content["streams"][0], content.get("format", {})
    turned = any(round(float(side.get("rotation", 0))) % 180 for side in stream.get("side_data_list", []))
    if not stream.get("width") or "pix_fmt" not in stream:
        raise Failure(f"cannot read {path}: ffprobe finds no picture in it")
    aspect = _fraction(stream.get("sample_aspect_ratio", "").replace(":", "/"))
    return Video(
        path=path,
        container=container.get("format_name", ""),
        width=stream["height" if turned else "width"],
        height=stream["width" if turned else "height"],
        pix_fmt=stream["pix_fmt"],
        rate=_rate(stream),
        start=(_number(stream.get("start_time")) or 0.0) - (_number(container.get("start_time")) or 0.0),
        duration=_number(stream.get("duration")) or _duration(container),
        aspect=1 / aspect if aspect and turned else aspect,
        interlaced=stream.get("field_order", "unknown") not in ("unknown", "progressive"),
        full_range=stream.get("color_range") == "pc" or stream["pix_fmt"].startswith("yuvj"),
        matrix=_known(stream.get("color_space")),
        transfer=_known(stream.get("color_transfer")),
    )


def first_picture(ffmpeg: str, path: str) -> int:
    """When it is shown, in microseconds from the start of the file. It need not be where the stream begins: decoders leave out what they cannot show."""
    command = [ffmpeg, "-hide_banner", "-nostdin", "-copyts", "-start_at_zero", "-i", input_name(path), "-map", "0:V:0"]
    command += ["-frames:v", "1", "-vf", "settb=AVTB,showinfo", "-f", "null", "-"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    found = re.search(r"^\[Parsed_showinfo\S* @ \S+\] n: *0 pts: *(-?\d+) ", done.stderr, re.M)
    if done.returncode or not found:
        raise Failure(f"cannot decode {path}: {_last_line(done.stderr, path)}")
    return int(found[1])


def cuts(ffmpeg: str, path: str, threshold: float, begin: float, end: float) -> list[float]:
    """When scenes begin between two times, in seconds from the start of the file: what FFmpeg's filter scdet finds in small pictures."""
    small = "scale=w='min(320,iw)':h=-2:flags=fast_bilinear"
    filters = f"settb=AVTB,{small},scdet=threshold={threshold:g},metadata=print:key=lavfi.scd.time:file=-"
    command = [ffmpeg, "-v", "error", "-nostdin", "-ss", f"{begin:.6f}", "-t", f"{end - begin:.6f}", "-i", input_name(path)]
    command += ["-map", "0:V:0", "-vf", filters, "-f", "null", os.devnull]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failure(f"cannot run {ffmpeg}: {error.strerror}") from error
    if done.returncode:
        raise Failure(f"no scenes of {path}: {_last_line(done.stderr, path)}")
    return [begin + int(pts) / 1e6 for pts in re.findall(r"^frame:\d+ +pts:(-?\d+) ", done.stdout, re.M)]


def packets(ffprobe: str, path: str) -> Iterator[tuple[float, int]]:
    """(time in seconds, bytes) of each packet of the video, in the file's order."""
    for line in _ask(ffprobe, path, "-show_entries", "packet=pts_time,dts_time,size", "-of", "compact=p=0").splitlines():
        fields = dict(field.split("=", 1) for field in line.split("|") if "=" in field)
        time = _number(fields.get("pts_time"))
        time = _number(fields.get("dts_time")) if time is None else time
        if time is not None:
            yield time, int(fields.get("size", "0"))


def _ask(ffprobe: str, path: str, *words: str) -> str:
    """V: videos, but no cover pictures."""
    command = [ffprobe, "-v", "error", "-select_streams", "V:0", *words, input_name(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failure(f"cannot read {path}: {_last_line(done.stderr, path)}")
    return done.stdout


def _last_line(said: str, path: str) -> str:
    line = (said.strip().splitlines() or ["ffprobe failed"])[-1]
    return line.removeprefix(f"{input_name(path)}: ").removeprefix("Error opening input files: ")  # as of FFmpeg 7


def _duration(container: dict[str, Any]) -> float | None:
    """Matroska counts it from zero, wherever the file starts."""
    duration, start = _number(container.get("duration")), _number(container.get("start_time"))
    return duration - start if duration and start and "matroska" in container.get("format_name", "") else duration


def _rate(stream: dict[str, Any]) -> Fraction | None:
    """r_frame_rate is exact, but that of fields where a picture has two of them; avg_frame_rate is told in round numbers."""
    exact, average = _fraction(stream.get("r_frame_rate")), _fraction(stream.get("avg_frame_rate"))
    if not exact or not average:
        return None
    for rate in (exact, exact / 2):
        if abs(rate / average - 1) < Fraction(1, 50):
            return rate
    return None


def _fraction(text: str | None) -> Fraction | None:
    """None for 0/0 and for what is not there."""
    try:
        return Fraction(text or "0") or None
    except (ValueError, ZeroDivisionError):
        return None


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _known(text: str | None) -> str | None:
    return None if text in (None, "unknown", "unspecified", "reserved") else text
