"""Finds the programs ffmpeg and ffprobe, and asks them about videos."""

import math
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._places import PACKED
from .._system import PROGRAM_ENDING
from . import _json
from ._names import redact
from ._run import ANSWER_S, READING_S, ask
from ._terminal import Failure, shown

NAMES = "ffmpeg", "vmafx-ffmpeg"  # the names by which quickstart and Debian's package install it
# The script of tools/ffmpeg.in begins with these lines, where quickstart has made it.
MADE_BY_QUICKSTART = re.compile(rb"^# vmafx: runs .*\n# Made by `quickstart`", re.M)
HEAD = 512  # bytes of a script that have these lines
PACKAGE_LIST = Path("/var/lib/dpkg/info/ffmpeg.list")  # dpkg writes it whenever it installs the package
TREE = Path(__file__).resolve().parents[3]  # the top of the sources, unless the module is installed

# -- Finding them ------------------------------------------------------------------------------------------------------


def find_ffmpeg(chosen: str | None = None) -> str:
    """Returns an ffmpeg with the filter vmafx: `chosen` or VMAFX_FFMPEG and no other, else the first that is found."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    if named:
        path = shutil.which(named)
        if path is None:
            raise Failure(
                f"cannot find the program {named}: name another with {'--ffmpeg' if chosen else 'VMAFX_FFMPEG'}"
            )
        if not _can_score(path):
            raise Failure(
                f"{named} has no filter vmafx: run ./quickstart build in vmafx's sources, and name build/bin/ffmpeg"
            )
        return path
    without = []
    for path in _places():
        if _can_score(path):
            return path
        without.append(path)
    seen = f" ({', '.join(without)} lacks it)" if without else ""
    raise Failure(
        f"cannot find an ffmpeg with the filter vmafx{seen}: run ./quickstart build in vmafx's sources, or name one "
        "with --ffmpeg or VMAFX_FFMPEG"
    )


def _places() -> Iterator[str]:
    return (path for path, _ in places())


def places(chosen: str | None = None) -> Iterator[tuple[str, str]]:
    """Yields the programs that may be the ffmpeg, in the order in which they are tried, and why each of them is one."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    if named:
        yield shutil.which(named) or named, "--ffmpeg names it" if chosen else "VMAFX_FFMPEG names it"
        return
    beside = Path(sys.argv[0]).resolve().parent
    installed = [(beside / f"{name}{PROGRAM_ENDING}", "it is beside the command") for name in NAMES]
    packed = PACKED / f"bin/ffmpeg{PROGRAM_ENDING}", "it is in the module's wheel"
    for path, why in (packed, *installed, (TREE / "build/bin/ffmpeg", "it is built in the command's sources")):
        if os.access(path, os.X_OK) and path.is_file():
            yield str(path), why
    for name in NAMES:
        if path_of_name := shutil.which(name):
            yield path_of_name, f"it is {name} in PATH"


def is_ours(path: str) -> bool:
    """Returns whether quickstart made the program for the ffmpeg that is installed. Such a one has the filter: asking
    it, which takes a tenth of a second of a processor, would show nothing else.
    """
    script = Path(path).resolve()
    libraries = script.parents[1] / "lib/vmafx"
    try:
        with script.open("rb") as file:
            begins = file.read(HEAD)
        # The script, too, compares versions only if the list is newer.
        fits = PACKAGE_LIST.stat().st_mtime_ns <= (libraries / "built-for").stat().st_mtime_ns
    except (OSError, IndexError):
        return False
    whole = (libraries / "libvmafx.so.0").is_file() and any(libraries.glob("libavfilter.so.*"))
    return fits and whole and MADE_BY_QUICKSTART.search(begins) is not None


def _can_score(path: str) -> bool:
    return is_ours(path) or has_filter(path)


def has_filter(path: str) -> bool:
    """Returns whether the program has the filter vmafx. Raises Failure for one that cannot be run."""
    return re.search(r"^ \S+ vmafx +", ask([path, "-hide_banner", "-filters"]).text, re.M) is not None


def version_of(program: str) -> str:
    """Returns the version that a program of FFmpeg tells. Raises Failure."""
    return version_in(ask([program, "-version"]).text)


def version_in(text: str) -> str:
    """Returns the version in the answer of ffmpeg or ffprobe to -version."""
    found = re.match(r"\S+ version (\S+)", text)
    return found[1] if found else "unknown"


def ffprobe_of(ffmpeg: str) -> str:
    """Returns the ffprobe beside that ffmpeg, else the one in PATH."""
    beside = Path(ffmpeg).resolve().with_name(f"ffprobe{PROGRAM_ENDING}")
    path = str(beside) if os.access(beside, os.X_OK) else shutil.which("ffprobe")
    if path is None:
        raise Failure(f"cannot find ffprobe beside {ffmpeg} or in PATH: install Debian's package ffmpeg, which has it")
    return path


def find_any_ffmpeg(chosen: str | None = None) -> str:
    """Returns an ffmpeg that decodes; it need not have the filter vmafx."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    path = shutil.which(named) if named else next(_places(), None)
    if path is None:
        raise Failure(
            f"cannot find the program {named or 'ffmpeg'}: install Debian's package ffmpeg, or name one that exists"
        )
    return path


def programs(chosen: str | None) -> list[str]:
    """Returns the files of the programs that a command may run, none of which it may overwrite."""
    named = chosen or os.environ.get("VMAFX_FFMPEG")
    found = [path for path in ([shutil.which(named)] if named else _places()) if path]
    beside = [str(Path(path).resolve().with_name(f"ffprobe{PROGRAM_ENDING}")) for path in found]
    return [*found, *beside, *filter(None, [shutil.which("ffprobe")])]


# -- Videos ------------------------------------------------------------------------------------------------------------

PIPES = "pipe:", "fd:"
ONCE = (
    "{} can be read only once, and vmafx reads its inputs several times: write it to a file first, or give it "
    "to the filter itself, as Y4M: … | ffmpeg -i - -i REFERENCE -lavfi vmafx -f null -"
)
# These input options exist in ffmpeg but not in ffprobe.
OF_FFMPEG_ALONE = {
    *("r", "re", "readrate", "c", "codec", "vcodec", "autorotate", "noautorotate", "thread_queue_size", "discard"),
    *("hwaccel", "hwaccel_device", "hwaccel_output_format", "display_rotation", "display_hflip", "display_vflip"),
}


def input_name(path: str) -> str:
    """Returns a file's name for -i: FFmpeg would take the text before a colon for a protocol, and a hyphen at the
    beginning for that of an option.
    """
    return f"file:{path}" if os.path.exists(path) or (path.startswith("-") and path != "-") else path


@dataclass(frozen=True)
class Video:
    """The facts of the first video stream of a file, as ffprobe tells them."""

    path: str
    container: str  # FFmpeg's names for it, with commas
    width: int  # after decoding and turning
    height: int
    pix_fmt: str
    rate: Fraction | None  # None: it varies or is not known
    start: float  # the time of the first picture, counted as ffmpeg does from the start of the file
    duration: float | None
    frames: int | None  # the number that the container promises
    aspect: Fraction | None  # the shape of a sample; None: unknown
    interlaced: bool
    full_range: bool
    matrix: str | None
    transfer: str | None
    primaries: str | None = None
    options: tuple[str, ...] = ()  # words for ffmpeg before -i
    interval: tuple[float, float] | None = None  # without a rate: the seconds between pictures, from and to
    combed: bool = False  # whether lines of the first pictures are of different times
    fields: str = ""  # filters that make whole frames of fields
    restarts: int = 0  # how often the times begin anew in mid-stream
    changed: str = (
        ""  # filters that change the picture whatever its tags say (_changes); the facts are those behind them
    )
    corner: tuple[int, int] | None = None  # the place of these pictures in the decoded ones; None: they are those
    codec: str = ""  # FFmpeg's name of it
    profile: str = ""

    @property
    def name(self) -> str:
        """The path for a line of text, without the secrets of a URL."""
        return shown(redact(self.path, [self.path]))

    @property
    def timed(self) -> bool:
        """Whether the container has times of pictures, not only their order."""
        return not WITHOUT_TIMES.search(self.container)

    @property
    def rate_is_made_up(self) -> bool:
        """Whether the rate may be the demuxer's own, which neither the file nor the user has said."""
        return not self.timed and self.container != "avi" and not {"-r", "-framerate"} & set(self.options)

    @property
    def can_seek(self) -> bool:
        """Whether times are right after a seek: without an index or times in the file they are not, nor with -r, nor
        where filters count pictures or times begin anew.
        """
        counted = "-r" in self.options or "decimate" in self.fields or self.restarts
        return not counted and not SEEKABLE.isdisjoint(self.container.split(","))

    def at_rate(self, rate: Fraction) -> "Video":
        """Returns the video with its pictures counted at a rate, whatever their times."""
        frames = float(self.frames or 0) or (self.duration or 0) * float(self.rate or 0)
        options = (*self.options, "-r", str(rate))
        return replace(self, rate=rate, start=0.0, duration=frames / float(rate) or None, options=options)

    @property
    def input(self) -> list[str]:
        """The words with which ffmpeg opens the file."""
        return [*self.options, "-i", input_name(self.path)]


def probe(ffprobe: str, path: str, options: Sequence[str] = ()) -> Video:
    """Looks at a file; `options` are words for ffmpeg before -i. Raises Failure."""
    check_readable(path)
    entries = "stream:stream_tags=DURATION:stream_side_data=rotation:format=format_name,duration,start_time"
    said = ask_ffprobe(ffprobe, path, "-show_entries", entries, "-of", "json", options=options)
    try:
        video = _video_of(path, _json.parse(said), dict(zip(options[::2], options[1::2])))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as error:
        raise Failure(f"cannot read {shown(path)}: cannot understand ffprobe's answer ({shown(error)})") from error
    return _as_told(video, options)


def _video_of(path: str, content: dict[str, Any], options: dict[str, str]) -> Video:
    if not content.get("streams"):
        raise Failure(f"{shown(path)} has no video stream: name a file that has one")
    stream, container = content["streams"][0], content.get("format", {})
    if not stream.get("width") or "pix_fmt" not in stream:
        raise Failure(f"cannot read {shown(path)}: ffprobe finds no picture in it")
    turned = any(round(float(side.get("rotation", 0))) % 180 for side in stream.get("side_data_list", []))
    turned = turned and "-noautorotate" not in options
    aspect = fraction_in(stream.get("sample_aspect_ratio", "").replace(":", "/"))
    frames = str(stream.get("nb_frames", ""))
    return Video(
        path=path,
        container=str(container.get("format_name", "")),
        width=int(stream["height" if turned else "width"]),
        height=int(stream["width" if turned else "height"]),
        pix_fmt=str(stream["pix_fmt"]),
        rate=_rate(stream),
        start=(number_in(stream.get("start_time")) or 0.0) - (number_in(container.get("start_time")) or 0.0),
        duration=number_in(stream.get("duration")) or _duration(stream, container),
        frames=int(frames) if frames.isdecimal() and int(frames) > 0 else None,
        aspect=1 / aspect if aspect and turned else aspect,
        interlaced=stream.get("field_order", "unknown") not in ("unknown", "progressive"),
        full_range=stream.get("color_range") == "pc" or stream["pix_fmt"].startswith("yuvj"),
        matrix=_known(stream.get("color_space")),
        transfer=_known(stream.get("color_transfer")),
        primaries=_known(stream.get("color_primaries")),
        codec=str(stream.get("codec_name", "")),
        profile=str(stream.get("profile", "")),
    )


def _as_told(video: Video, options: Sequence[str]) -> Video:
    """Returns the video as ffmpeg reads it with these options: -r makes the times anew."""
    told = dict(zip(options[::2], options[1::2]))
    if rate := fraction_in(told.get("-r")):
        video = video.at_rate(rate)
    return replace(video, options=tuple(word for word in options if word != FLAG))


def check_readable(path: str) -> None:
    """Refuses an input that would be empty when it is read a second time, or never ends. Raises Failure."""
    if (path == "-" or path.startswith(PIPES)) and not os.path.exists(path) or path == "/dev/stdin":
        raise Failure(ONCE.format("standard input" if path in ("-", "/dev/stdin") else shown(path)))
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # a URL, a pattern of pictures; ffprobe says if a name is wrong
    if stat.S_ISDIR(kind):
        raise Failure(f"cannot read {shown(path)}: it is a folder")
    if not (stat.S_ISREG(kind) or stat.S_ISBLK(kind)):
        word = "a pipe" if stat.S_ISFIFO(kind) else "a socket" if stat.S_ISSOCK(kind) else "a device"
        raise Failure(ONCE.format(f"{shown(path)} is {word}, which"))


SEEKABLE = {"mov", "matroska", "webm", "mpegts", "yuv4mpegpipe", "nut", "mxf", "flv", "ivf"}
TIMES_BEGIN_ANEW = {"mpegts", "mpeg"}
BACK_S, AHEAD_S = 0.1, 10.0  # a larger step of times is a new beginning, as for ffmpeg (-dts_delta_threshold)
LEAST_RECORDING = 8  # packets
# Raw streams and sequences of pictures have no times. FFmpeg's AVI has no times of pictures that are out of order.
WITHOUT_TIMES = re.compile(
    r"^(?:avi|h26[1-4]|hevc|vvc|evc|obu|av1|mpegvideo|m4v|vc1|cavsvideo|avs[23]|dirac|mjpeg(?:_2000)?|dnxhd|rawvideo|"
    r"bitpacked|v210x?|image2\w*|\w+_pipe)$"
)
FLAG = ""  # stands for the value of an option that has none


def option_words(text: str) -> tuple[str, str]:
    """Returns NAME=VALUE or NAME as words for ffmpeg; FLAG is the second of an option without a value. Raises
    ValueError.
    """
    name, separator, value = text.lstrip("-").partition("=")
    if not name or any(character.isspace() for character in name):
        raise ValueError(
            f"'{shown(text)}' is not an input option: write NAME=VALUE, such as r=50, or NAME for one without a value"
        )
    return f"-{name}", value if separator else FLAG


def decoding_errors(ffmpeg: str, video: Video) -> list[str]:
    """Decodes the whole video and returns the lines of errors."""
    command = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "level+error", *video.input, "-map", "0:V:0"]
    return ask([*command, "-f", "null", "-"], READING_S).err.splitlines()


def kinds_of_pictures(ffprobe: str, video: Video) -> list[tuple[int, int, str]]:
    """Returns (width, height, pixel format) of the pictures, one after another where they change. Only key frames are
    decoded: others change nothing of this.
    """
    words = "-skip_frame", "nokey", "-show_entries", "frame=width,height,pix_fmt", "-of", "compact=p=0"
    said = ask_ffprobe(ffprobe, video.path, *words, options=video.options, limit_s=READING_S)
    kinds: list[tuple[int, int, str]] = []
    for line in said.splitlines():
        fields = dict(field.split("=", 1) for field in line.split("|") if "=" in field)
        if fields.get("width", "").isdecimal() and fields.get("height", "").isdecimal():
            kind = int(fields["width"]), int(fields["height"]), fields.get("pix_fmt", "")
            kinds += [kind] if kinds[-1:] != [kind] else []
    return kinds


def cuts(ffmpeg: str, path: str, threshold: float, begin: float, end: float) -> list[float]:
    """Returns when scenes begin between two times, in seconds from the start of the file, as FFmpeg's filter scdet
    finds them in small pictures.
    """
    small = "scale=w='min(320,iw)':h=-2:flags=fast_bilinear"
    filters = f"settb=AVTB,{small},scdet=threshold={threshold:g},metadata=print:key=lavfi.scd.time:file=-"
    command = [
        ffmpeg,
        "-v",
        "error",
        "-nostdin",
        "-ss",
        f"{begin:.6f}",
        "-t",
        f"{end - begin:.6f}",
        "-i",
        input_name(path),
    ]
    answer = ask([*command, "-map", "0:V:0", "-vf", filters, "-f", "null", os.devnull], READING_S)
    if answer.status:
        raise Failure(f"cannot find the scenes of {shown(path)}: {without_name(answer.last_line, path)}")
    return [begin + int(pts) / 1e6 for pts in re.findall(r"^frame:\d+ +pts:(-?\d+) ", answer.text, re.M)]


def packets(ffprobe: str, path: str, options: Sequence[str] = ()) -> Iterator[tuple[float, int]]:
    """Yields (time in seconds, bytes) of each packet of the video, in the file's order."""
    for fields in _packets(ffprobe, path, "pts_time,dts_time,size", "V:0", options):
        if (time := _time_of(fields)) is not None:
            yield time, int(fields.get("size", "0"))


def packet_times(ffprobe: str, path: str) -> Iterator[float | None]:
    """Yields the time of each packet of the video, in the file's order; None: it has none, as in raw streams."""
    for fields in _packets(ffprobe, path, "pts_time,dts_time", "V:0", ()):
        yield _time_of(fields)


def joined(ffprobe: str, video: Video, gaps: bool = True) -> Video:
    """Returns the video with the length of all pictures, if recordings were put together whose times begin anew.

    The container tells that of its last times. So all packets are read. `gaps`: times that jump ahead begin anew, too;
    without it they are those of a recording that was interrupted.
    """
    if TIMES_BEGIN_ANEW.isdisjoint(video.container.split(",")) or video.restarts:
        return video
    packets = _packets(ffprobe, video.path, "pts_time,dts_time", "V:0", video.options)
    times = [time for fields in packets if (time := number_in(fields.get("dts_time"))) is not None]
    frame = float(1 / video.rate) if video.rate else 0.0
    parts = _recordings(times, frame, AHEAD_S if gaps else math.inf)
    if len(parts) < 2:
        return video
    return replace(video, restarts=len(parts) - 1, duration=sum(last - first + frame for first, last in parts))


def _recordings(times: Sequence[float], frame: float, ahead: float) -> list[tuple[float, float]]:
    """Returns the first and the last time of each recording. `ahead`: how far times may jump within one. A few packets
    with other times are damaged, and no recording.
    """
    runs: list[list[float]] = []
    for time in times:
        if runs and len(runs[-1]) > LEAST_RECORDING and runs[-1][-LEAST_RECORDING] <= time:
            while runs[-1][-1] > time + BACK_S:
                runs[-1].pop()  # it was ahead of packets that go on as those before it
        if not runs or not runs[-1][-1] - BACK_S <= time <= runs[-1][-1] + AHEAD_S:
            runs.append([])
        runs[-1].append(time)
    parts: list[tuple[float, float]] = []
    damaged = 0
    for run in runs:
        if len(run) < LEAST_RECORDING and len(runs) > 1:
            damaged += len(run)
            continue
        first, last = run[0], run[-1]
        if parts and parts[-1][1] - BACK_S <= first <= parts[-1][1] + ahead + damaged * frame:
            first = parts.pop()[0]
        parts.append((first, last))
        damaged = 0
    return parts


def ends_of_streams(ffprobe: str, video: Video) -> tuple[float | None, float | None]:
    """Returns when the last picture of the video ends, and the last of all other streams, as far as the file can be
    read: seconds from its start.
    """
    ends: dict[bool, float] = {}
    place = str(_index_of_video(ffprobe, video))
    entries = "stream_index,pts_time,dts_time,duration_time,flags"
    for fields in _packets(ffprobe, video.path, entries, None, video.options):
        if (
            "D" not in fields.get("flags", "") and (time := _time_of(fields)) is not None
        ):  # D: discarded by an edit list
            own = fields.get("stream_index") == place
            end = time + (
                number_in(fields.get("duration_time")) or (float(1 / video.rate) if own and video.rate else 0.0)
            )
            ends[own] = max(ends.get(own, end), end)
    start = _start_of_file(ffprobe, video)
    own_end, others_end = (ends[key] - start if key in ends else None for key in (True, False))
    return own_end, others_end


def _index_of_video(ffprobe: str, video: Video) -> int | None:
    said = ask_ffprobe(ffprobe, video.path, "-show_entries", "stream=index", "-of", "csv=p=0", options=video.options)
    return int(said.split()[0]) if said.strip().isdecimal() else None


def _start_of_file(ffprobe: str, video: Video) -> float:
    words = "-show_entries", "format=start_time", "-of", "csv=p=0"
    return number_in(ask_ffprobe(ffprobe, video.path, *words, options=video.options).strip()) or 0.0


def _packets(
    ffprobe: str, path: str, entries: str, stream: str | None, options: Sequence[str] = ()
) -> Iterator[dict[str, str]]:
    words = "-show_entries", f"packet={entries}", "-of", "compact=p=0"
    for line in ask_ffprobe(ffprobe, path, *words, stream=stream, options=options, limit_s=READING_S).splitlines():
        yield dict(field.split("=", 1) for field in line.split("|") if "=" in field)


def _time_of(fields: dict[str, str]) -> float | None:
    time = number_in(fields.get("pts_time"))
    return number_in(fields.get("dts_time")) if time is None else time


def ask_ffprobe(
    ffprobe: str,
    path: str,
    *words: str,
    stream: str | None = "V:0",
    options: Sequence[str] = (),
    limit_s: float = ANSWER_S,
) -> str:
    """Asks ffprobe about a stream, or about all with None. The stream V:0 is the first video that is not a cover
    picture.
    """
    selected = [] if stream is None else ["-select_streams", stream]
    answer = ask([ffprobe, "-v", "error", *_of_ffprobe(options), *selected, *words, input_name(path)], limit_s)
    if answer.status:
        raise Failure(f"cannot read {shown(path)}: {without_name(answer.last_line, path)}")
    return answer.text


def _of_ffprobe(options: Sequence[str]) -> list[str]:
    """Returns those input options of ffmpeg that ffprobe has, too, with their values."""
    words: list[str] = []
    taken = False
    for word in options:
        if word.startswith("-") and not number_in(word):
            taken = word[1:].partition(":")[0] not in OF_FFMPEG_ALONE
        if taken and word != FLAG:
            words.append(word)
    return words


def without_name(line: str, path: str) -> str:
    line = line.removeprefix(f"{input_name(path)}: ").removeprefix("Error opening input files: ")  # since FFmpeg 7
    return line.replace(path, shown(path))


def _duration(stream: dict[str, Any], container: dict[str, Any]) -> float | None:
    """Returns how long the pictures last, by what the file says of its length.

    Matroska counts from zero, wherever the file starts, and may have the end of each stream as a tag.
    """
    duration, first = number_in(container.get("duration")), number_in(container.get("start_time")) or 0.0
    if "matroska" not in str(container.get("format_name", "")):
        return duration
    end = duration or 0.0
    if found := re.fullmatch(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)", str(stream.get("tags", {}).get("DURATION", ""))):
        tagged = 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3])
        end = min(tagged, end or tagged)
    start = max(number_in(stream.get("start_time")) or 0.0, first)
    return end - start if end > start else None


def _rate(stream: dict[str, Any]) -> Fraction | None:
    """Returns the frame rate, or None if it varies.

    r_frame_rate is exact, but counts fields if a picture has two of them; avg_frame_rate is rounded.
    """
    exact, average = fraction_in(stream.get("r_frame_rate")), fraction_in(stream.get("avg_frame_rate"))
    if not exact or not average:
        return None
    for rate in (exact, exact / 2):
        if abs(rate / average - 1) < Fraction(1, 50):
            return rate
    return None


def fraction_in(text: str | None) -> Fraction | None:
    """Returns the fraction that a text is; None for 0/0 and for a missing one."""
    try:
        return Fraction(text or "0") or None
    except (ValueError, ZeroDivisionError):
        return None


def number_in(text: Any) -> float | None:
    """Returns the number that a text is; None for other texts and for a missing one."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _known(text: str | None) -> str | None:
    return None if text in (None, "unknown", "unspecified", "reserved") else text
