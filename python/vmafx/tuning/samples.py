"""Samples of a video: where they are, by the file's key frames and how much data it spends, and their pictures."""

import contextlib
import hashlib
import mmap
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import IO, Any, NamedTuple

import av
import numpy as np

from .._kept_reference import KeptReference
from .._pictures import _PLANAR, Array, Color, Format, Picture, _format_named
from .._system import processors, reopened, unnamed_file
from ..command._ffmpeg import Video, ffprobe_of
from ..command._run import ending_of
from ..command._said import Said, errors_in
from ..command._terminal import Failure, shown
from .damage import lack_at, refuse_damage
from .encoders import Pairs, Settings
from .scaling import LumaScaler, luma_picture, sample_type
from .source import NO_PICTURE, causes_of

SCOUTED_S = 1.0  # seconds of a place whose packets are looked at
PLACES = 48  # the most places that are looked at
SAMPLE_S = 2.5  # length of a sample
# Frames that are encoded before and after those of a sample, and not scored. Rate control begins with the quantizer
# that the user gave, and takes that of later key frames from the frames before: with x264 a sample without a lead was
# up to 2 VMAF worse than the same frames of the whole encode. The lookahead of its last frames must see some, too.
LEAD, TAIL = 60, 40
MOST_SAMPLES = 24  # unless the user asks for more
LEAST_S = 1.0  # the shortest sample, if memory does not suffice
FIRST_SAMPLES = 8  # of these a search begins with
SCALED_AT_ONCE = 16  # frames, by a thread
ACCEPTED = "--partial takes what can be decoded"

# -- Where ---------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A place in a video, in seconds from the start of the file, as ffmpeg's -ss counts."""

    begin: float
    frames: int  # that are scored
    difficulty: float  # bytes a second that the file spends here
    lead: int = 0  # frames before, and
    tail: int = 0  # after these, which are encoded and not scored


@dataclass(frozen=True)
class Pictures:
    """The pictures that are encoded: the facts of the video behind its filters."""

    width: int
    height: int
    pix_fmt: str
    rate: Fraction
    color: Color

    @property
    def format(self) -> Format:
        return _format_named(self.pix_fmt, self.width, self.height)

    @property
    def bytes(self) -> int:
        """The size of a picture."""
        return sum(rows * columns for rows, columns in _shapes(self.format)) * sample_type(self.format).itemsize

    @property
    def bytes_of_luma(self) -> int:
        return self.width * self.height * sample_type(self.format).itemsize


def look_at(ffmpeg: str, video: Video, settings: Settings) -> Pictures:
    """Decodes a picture and returns the facts of it behind the filters. Raises Failure."""
    pix_fmt = settings.pix_fmt or settings.encoder.format_for(video.pix_fmt)
    command = [
        *_decoding(ffmpeg, video, settings, pix_fmt, 0.0, "level+error"),
        "-frames:v",
        "1",
        "-f",
        "framecrc",
        "pipe:1",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    size = re.search(r"^#dimensions 0: (\d+)x(\d+)", done.stdout, re.M)
    base = re.search(r"^#tb 0: (\d+)/(\d+)", done.stdout, re.M)
    if done.returncode or not size or not base or not re.search(r"^0,", done.stdout, re.M):
        nothing = NO_PICTURE.format(video.name) if settings.vfilter else "it has no picture"
        told = causes_of(done.returncode, done.stderr) if done.returncode or done.stderr else nothing
        raise Failure(f"cannot decode {video.name}{_behind(settings)}: {told}")
    try:
        _format_named(pix_fmt, 2, 2)
    except ValueError:
        raise Failure(f"cannot score pictures of the format {pix_fmt}: choose another with --pix-format", 2) from None
    rate = Fraction(int(base[2]), int(base[1]))
    return Pictures(int(size[1]), int(size[2]), pix_fmt, rate, color_of(settings.encoded(video)))


def _behind(settings: Settings) -> str:
    return f" with the filters {settings.vfilter}" if settings.vfilter else ""


def _of_size(pictures: Pictures) -> str:
    """Returns a filter that fails where a picture has another size, which ffmpeg would scale to the first one's."""
    return f"crop=iw-1e6*sgn(abs(iw-{pictures.width})+abs(ih-{pictures.height})):ih:0:0:exact=1"


OTHER_SIZE = "Invalid too big or non positive size for width '-"  # of that filter; its own sizes are not negative


def _decoding(
    ffmpeg: str, video: Video, settings: Settings, pix_fmt: str, begin: float, level: str, *checks: str
) -> list[str]:
    """Returns the words with which ffmpeg decodes and filters, from a time on; `checks` are filters behind all."""
    command = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", level]
    seek = ["-ss", f"{begin:.6f}"] if begin > 0 else []
    command += [*seek, *video.input] if video.can_seek else [*video.input, *seek]
    chain = ",".join(filter(None, (settings.vfilter, settings.conversion, f"format={pix_fmt}", *checks)))
    return [*command, "-map", "0:V:0", "-vf", chain, "-vsync", "passthrough", "-c:v", "rawvideo"]


class View(NamedTuple):
    """The pictures as they are scored."""

    size: tuple[int, int] | None  # to which they are scaled; None: as they are encoded
    luma_only: bool

    def size_of_luma(self, format: Format) -> tuple[int, int] | None:
        """Returns the size to which luma planes are scaled alone; None: they are not. FFmpeg has no format for those
        whose samples are shifted, and scales that of nv12 otherwise.
        """
        return self.size if self.luma_only and format.layout == _PLANAR else None

    def bytes_of(self, pictures: Pictures) -> int:
        """Returns what a scaled picture takes beside the one that is encoded."""
        if not self.size:
            return 0
        scaled = replace(pictures, width=self.size[0], height=self.size[1])
        return scaled.bytes_of_luma if self.size_of_luma(scaled.format) else scaled.bytes


@dataclass
class Plan:
    """Places for samples, in an order in which each beginning of the list is spread over the difficulties."""

    places: list[Place]
    frames: int  # of the whole video, as far as known
    whole: bool  # whether the only place is the whole video
    most: int = 1  # samples that the memory holds, and that are not more to encode than the whole video
    has_leads: bool = True  # whether the memory suffices for leads and tails


def plan(video: Video, pictures: Pictures, views: Sequence[View], memory: int, most: int | None) -> Plan:
    """Looks where samples can begin. `memory` is what all pictures may take, `most` the most samples."""
    rate = pictures.rate
    total = round(video.duration * rate) if video.duration else video.frames or 0
    frame = pictures.bytes + sum(view.bytes_of(pictures) for view in views)
    room = max(memory // frame, 2)
    length, least = round(SAMPLE_S * rate), max(round(LEAST_S * rate), 2)
    first, encoded = most or FIRST_SAMPLES, LEAD + length + TAIL
    if not total or encoded * first >= total and total <= room:
        return Plan([Place(0.0, room, 0.0)], total, True)
    has_leads = first * (least * frame + (LEAD + TAIL) * pictures.bytes) <= memory
    lead, tail = (LEAD, TAIL) if has_leads else (0, 0)
    beside = (lead + tail) * pictures.bytes  # of each sample
    count = min(most or MOST_SAMPLES, max(total // encoded, 1))
    length = min(length, total, max((memory // count - beside) // frame, least))
    count = min(count, max(memory // (length * frame + beside), 1))
    found = _scouted(video, pictures, total, length, max(count, min(PLACES, total // (2 * length) or 1)))
    places = [place._replace(lead=min(lead, round(place.begin * rate)), tail=tail) for place in _spread(found)]
    return Plan(places, total, False, count, has_leads)


def _scouted(video: Video, pictures: Pictures, total: int, length: int, count: int) -> list[Place]:
    """Returns a place in each of `count` equal parts of the video: at its first key frame, where the encoder of the
    file has seen a new scene or begun anew.
    """
    seconds = float(total / pictures.rate)
    part = seconds / count
    latest = seconds - float(length / pictures.rate)
    if not video.can_seek:
        return [Place(min(part * (i + 0.5), latest), length, 0.0) for i in range(count)]
    places: list[Place] = []
    try:
        with av.open(video.path) as file:
            stream = next((s for s in file.streams.video if s.codec_context.name not in STILLS), file.streams.video[0])
            start = file.start_time / av.time_base if file.start_time else 0.0
            for number in range(count):
                places.append(_scout(file, stream, start, part * number, part, length, latest))
    except (av.error.FFmpegError, ValueError, IndexError):
        return [Place(min(part * (i + 0.5), latest), length, 0.0) for i in range(count)]
    return places


STILLS = {"mjpeg", "png", "bmp", "gif"}  # formats of cover pictures


def _scout(file: Any, stream: Any, start: float, begin: float, part: float, length: int, latest: float) -> Place:
    """Looks at the packets around a time; reads on for at most SCOUTED_S from the key frame."""
    middle = begin + part / 2
    file.seek(int((start + middle) / stream.time_base), stream=stream, backward=True)
    key, size, last = None, 0, 0.0
    for packet in file.demux(stream):
        if packet.pts is None or packet.size == 0:
            continue
        time = float(packet.pts * stream.time_base) - start
        if key is None and packet.is_keyframe:
            key = time
        if key is not None:
            size, last = size + packet.size, max(last, time)
            if time >= key + SCOUTED_S:
                break
    if key is None:
        return Place(min(middle, latest), length, 0.0)
    inside = begin <= key <= begin + part
    place = key if inside else middle
    return Place(max(min(place, latest), 0.0), length, size / max(last - key, 0.1))


def _spread(places: Sequence[Place]) -> list[Place]:
    """Orders places so that each beginning of the list has easy and hard ones, in equal shares: by difficulty, in the
    order of van der Corput's sequence.
    """
    ranked = sorted(places, key=lambda place: (place.difficulty, place.begin))
    taken: list[int] = []
    number = 0
    while len(taken) < len(ranked):
        number += 1
        place = int(_van_der_corput(number) * len(ranked))
        if place not in taken:
            taken.append(place)
    return [ranked[i] for i in taken]


def _van_der_corput(number: int) -> float:
    value, part = 0.0, 0.5
    while number:
        value, number, part = value + part * (number & 1), number >> 1, part / 2
    return value


# -- Their pictures ----------------------------------------------------------------------------------------------------


@dataclass
class Sample:
    """The pictures of a place, decoded once: raw in a file without a name, where encoders read them, and kept to score
    against, in the same memory.
    """

    place: Place
    pictures: Pictures
    frames: int  # that are scored
    tail: int  # frames after them, fewer than the place's at the end of the video
    file: IO[bytes]
    kept: dict[View, KeptReference]
    digest: str  # of the pictures
    damage: list[str]  # that ffmpeg told while it decoded them

    @property
    def scored(self) -> range:
        """The numbers of the frames that are scored, among all that are encoded."""
        return range(self.place.lead, self.place.lead + self.frames)

    @property
    def before(self) -> int:
        """The number of frames of the lead that are scored, so that motion is known, and whose scores do not count."""
        return min(self.place.lead, 1)

    def raw_input(self, colour: Pairs) -> list[str]:
        """Returns ffmpeg's words for the pictures as its input. `colour` is the tags that the encode will have: from
        version 7.1 on, ffmpeg converts pictures without tags to those of its output.
        """
        pictures = self.pictures
        size = f"{pictures.width}x{pictures.height}"
        words = ["-f", "rawvideo", "-pix_fmt", pictures.pix_fmt, "-s", size, "-r", str(pictures.rate)]
        return [*words, *(word for name, value in colour for word in (f"-{name}", value)), "-i", "pipe:0"]

    def opened(self) -> IO[bytes]:
        """Opens the pictures once more, from their beginning."""
        return reopened(self.file)

    def close(self) -> None:
        for kept in self.kept.values():
            kept.close()
        self.file.close()


def read_sample(
    ffmpeg: str,
    video: Video,
    settings: Settings,
    pictures: Pictures,
    place: Place,
    views: Sequence[View],
    accepts_damage: bool = False,
) -> Sample:
    """Decodes the pictures of a place. Raises Failure, also if there is damage and nobody accepts that."""
    half = float(1 / pictures.rate) / 2
    begin = place.begin - place.lead / float(pictures.rate)
    count = place.lead + place.frames + place.tail
    seek, size = max(begin - half, 0.0), _of_size(pictures)
    command = _decoding(ffmpeg, video, settings, pictures.pix_fmt, seek, "level+info", size)
    command += ["-frames:v", str(count), "-f", "rawvideo", "pipe:1"]
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(unnamed_file())
        said = _run_into(file, command, video.name, f"{place.begin:.1f} s", pictures)
        if begin - half > 0 and video.can_seek:
            said.forget_seek()
        damage = said.all_damage
        decoded = os.fstat(file.fileno()).st_size // pictures.bytes
        if decoded < count:
            damage += lack_at(ffprobe_of(ffmpeg), video, begin + decoded / float(pictures.rate), float(pictures.rate))
        if damage and not accepts_damage:
            refuse_damage(video, damage, ACCEPTED)
        behind = decoded - place.lead  # frames of the sample and its tail
        if behind < 1:
            raise Failure(f"cannot decode {video.name}: it has no picture from {place.begin:.1f} s on")
        frames = min(behind, place.frames)
        sample = Sample(place, pictures, frames, behind - frames, file, {}, _digest(file), damage)
        first = place.lead - sample.before
        for view in views:
            sample.kept[view] = _kept(ffmpeg, file, pictures, range(first, place.lead + frames), view)
        stack.pop_all()
    return sample


def _run_into(file: IO[bytes], command: Sequence[str], name: str, place: str, pictures: Pictures) -> Said:
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE) as process:
        try:
            _, said = process.communicate()
        finally:
            process.kill()
    lines = said.decode(errors="replace").splitlines()
    if process.returncode:
        what = f"cannot decode {name} from {place} on"
        told = errors_in(lines) or lines or [f"ffmpeg {ending_of(process.returncode)}"]
        if any(text.startswith(OTHER_SIZE) for text in told):
            size = f"{pictures.width}:{pictures.height}"
            remedy = f"ffmpeg -i {name} -vf scale={size},format={pictures.pix_fmt} -c:v ffv1 NEW.mkv"
            raise Failure(
                f"{what}: its pictures have another size than {size.replace(':', 'x')}, and a score is of one size: "
                f"write them anew as one ({remedy}), and name that file"
            )
        raise Failure(f"{what}: {shown(told[-1])}")
    return Said(lines)


def _last_line(text: str) -> str:
    return shown((text.strip().splitlines() or [""])[-1])


def _digest(file: IO[bytes]) -> str:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        return hashlib.blake2b(memory, digest_size=20).hexdigest()


def _kept(ffmpeg: str, file: IO[bytes], pictures: Pictures, frames: range, view: View) -> KeptReference:
    """Keeps pictures of a file as they are scored."""
    scored = replace(pictures, width=view.size[0], height=view.size[1]) if view.size else pictures
    size = len(frames) * scored.bytes
    kept = KeptReference(budget=2 * size, device_budget=size)
    for picture in _as_scored(ffmpeg, file, pictures, scored, frames, view):
        kept.add(picture)
    return kept


def _as_scored(
    ffmpeg: str, file: IO[bytes], pictures: Pictures, scored: Pictures, frames: range, view: View
) -> Iterator[Picture]:
    """Yields pictures of a file at the size at which they are scored."""
    if size := view.size_of_luma(pictures.format):
        yield from _with_scaled_luma(file, pictures, frames, size)
        return
    first = frames.start
    with contextlib.ExitStack() as stack:
        if view.size:
            file, first = stack.enter_context(_scaled(ffmpeg, file, pictures, scored, frames)), 0
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for number in range(len(frames)):
        yield _picture_in(memory, (first + number) * scored.bytes, scored, view.luma_only)


def _with_scaled_luma(file: IO[bytes], pictures: Pictures, frames: range, size: tuple[int, int]) -> Iterator[Picture]:
    """Yields the luma of pictures, scaled by as many threads as there are processors."""
    memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    format = pictures.format

    def scaled(part: range) -> list[Array]:
        scaler = LumaScaler(format, size)
        planes = (_plane_in(memory, number * pictures.bytes, format, format.height, format.width) for number in part)
        return [scaler.scaled(plane) for plane in planes]

    parts = [frames[i : i + SCALED_AT_ONCE] for i in range(0, len(frames), SCALED_AT_ONCE)]
    with ThreadPoolExecutor(processors()) as pool:
        for planes in pool.map(scaled, parts):
            for luma in planes:
                yield luma_picture(luma, format, pictures.color)


def _scaled(ffmpeg: str, file: IO[bytes], pictures: Pictures, scored: Pictures, frames: range) -> IO[bytes]:
    scaled = unnamed_file()
    raw = ["-f", "rawvideo", "-pix_fmt", pictures.pix_fmt]
    size = [f"{p.width}x{p.height}" for p in (pictures, scored)]
    part = f"trim=start_frame={frames.start}:end_frame={frames.stop},setpts=PTS-STARTPTS"
    chain = f"{part},scale={scored.width}:{scored.height}:flags=bicubic,format={pictures.pix_fmt}"
    command = [ffmpeg, "-v", "error", *raw, "-s", size[0], "-i", "pipe:0", "-vf", chain, *raw[:2], "pipe:1"]
    with reopened(file) as source:
        done = subprocess.run(command, stdin=source, stdout=scaled, stderr=subprocess.PIPE)
    if done.returncode:
        raise Failure(f"cannot scale pictures to {size[1]}: {_last_line(done.stderr.decode(errors='replace'))}")
    return scaled


def _shapes(format: Format) -> list[tuple[int, int]]:
    """Returns the rows and columns of each plane."""
    width, height = format.width, format.height
    if format.chroma == 0:
        return [(height, width)]
    rows = -(-height // 2) if format.chroma == 1 else height
    columns = width if format.chroma == 3 else -(-width // 2)
    return [(height, width), (rows, 2 * columns)] if format.layout else [(height, width), *[(rows, columns)] * 2]


def _picture_in(memory: mmap.mmap, offset: int, pictures: Pictures, luma_only: bool) -> Picture:
    """Returns a raw picture in a memory, without a copy."""
    format = pictures.format
    if luma_only:
        return luma_picture(_plane_in(memory, offset, format, *_shapes(format)[0]), format, pictures.color)
    planes = []
    for shape in _shapes(format):
        planes.append(_plane_in(memory, offset, format, *shape))
        offset += planes[-1].nbytes
    bits = None if format.bits == 8 else format.bits
    return Picture(planes, bits=bits, shift=format.shift, color=pictures.color)


def _plane_in(memory: mmap.mmap, offset: int, format: Format, rows: int, columns: int) -> Array:
    return np.frombuffer(memory, sample_type(format), rows * columns, offset).reshape(rows, columns)


# Numbers of ITU-T H.273 by FFmpeg's names.
MATRICES = {"gbr": 0, "bt709": 1, "fcc": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "bt2020nc": 9, "bt2020c": 10}
TRANSFERS = {"bt709": 1, "bt470m": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "linear": 8} | {
    "iec61966-2-1": 13,
    "bt2020-10": 14,
    "bt2020-12": 15,
    "smpte2084": 16,
    "arib-std-b67": 18,
}
PRIMARIES = {"bt709": 1, "bt470m": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "bt2020": 9} | {
    "smpte431": 11,
    "smpte432": 12,
}


def color_of(video: Video) -> Color:
    return Color(
        MATRICES.get(video.matrix or "", 0),
        2 if video.full_range else 1,
        TRANSFERS.get(video.transfer or "", 0),
        PRIMARIES.get(video.primaries or "", 0),
    )
