"""Scores encodes against their reference by a run of ffmpeg with the filter vmafx: of the whole stream, or of a range of it.

    work = prepare(settings, ["low.mp4", "high.mp4"], "ref.mp4")   # looks at the files; work.notes says how they are made alike
    said = score(work, Path("scores.json"))

How a stream is cut into ranges, and how the reports of these become one, is in _parts.py.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from . import _ffmpeg, _inputs
from ._run import Extent, Processes, fail, run_ffmpeg
from ._said import Said
from ._terminal import Failure, Step

MOST_ENCODES = 16  # of the filter
EARLY = 2.0  # seconds before a range: the context, where key frames are in an index
SEEKABLE = {"mov", "matroska", "webm", "mpegts", "yuv4mpegpipe", "nut", "mxf", "flv", "ivf"}
AS_IN_THE_FILE = "-copyts", "-start_at_zero"  # times count from the start of a file, wherever a seek lands


def models_of(words: Sequence[str] | None) -> tuple[str, ...] | None:
    """As Settings have them, from --model or a list: 'none' alone means features only."""
    if words is None:
        return None
    return () if list(words) == ["none"] else tuple(words)


@dataclass(frozen=True)
class Settings:
    """What the options of the filter are made of, and the programs."""

    ffmpeg: str
    ffprobe: str
    models: tuple[str, ...] | None = None  # None: the filter's default; (): features only
    features: tuple[str, ...] = ()
    window: str | None = None
    backend: str | None = None
    device: str | None = None
    threads: int | None = None

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any], **own: Any) -> "Settings":
        """`own` settings replace others: the programs of another machine, say."""
        values = {**content, **own}
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    def filter_models(self) -> str | None:
        """The filter's option. Several models need names: those that have none are called by their version or file."""
        if self.models is None:
            return None
        texts = [text for model in self.models for text in model.split("|")]
        if len(texts) < 2:
            return "".join(texts)
        return "|".join(text if re.search(r"(?:^|:)name=", text) else f"{text}:name={_name_of_model(text)}" for text in texts)

    def model_count(self) -> int:
        return 0 if self.models == () else len((self.filter_models() or "vmaf").split("|"))


def _name_of_model(text: str) -> str:
    first = text.split(":")[0]
    return Path(first.removeprefix("path=")).stem if first.startswith("path=") else first.removeprefix("version=")


class Begin(NamedTuple):
    """How an encode begins."""

    later: Fraction  # seconds than the reference
    text: str


Begins: TypeAlias = Callable[[list[_ffmpeg.Video], _ffmpeg.Video], list[Begin]]


@dataclass(frozen=True)
class Reach:
    """A range of times, in milliseconds, as the filter compares them; the end is not in it. None: the beginning or the end of the stream."""

    begin: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Reach":
        """As the filter's option, but only of times. Raises ValueError."""
        found = re.fullmatch(r"(?:(\d+(?:\.\d{1,3})?)s)?-(?:(\d+(?:\.\d{1,3})?)s)?", text)
        if not found:
            raise ValueError(f"{text} is no range of times")
        reach = cls(*(None if time is None else round(1000 * float(time)) for time in found.groups()))
        if reach.begin is not None and reach.end is not None and reach.begin >= reach.end:
            raise ValueError(f"{text} has nothing in it")
        return reach

    def __str__(self) -> str:
        """The filter's option."""
        return "-".join("" if time is None else f"{time // 1000}.{time % 1000:03}s" for time in (self.begin, self.end))


@dataclass(frozen=True)
class Work:
    """Encodes, the reference, and what is done to make them alike."""

    settings: Settings
    dists: list[_ffmpeg.Video]
    ref: _ffmpeg.Video
    plan: _inputs.Plan

    @property
    def videos(self) -> list[_ffmpeg.Video]:
        """In the order of ffmpeg's inputs."""
        return [*self.dists, self.ref]

    @property
    def notes(self) -> list[str]:
        return self.plan.notes

    @property
    def names(self) -> list[str]:
        return names_of([video.path for video in self.dists])

    def of(self, numbers: Sequence[int]) -> "Work":
        """Some of the encodes, made alike as all of them are."""
        zeros = [self.plan.zeros[number] for number in (*numbers, -1)] if self.plan.zeros else None
        plan = dataclasses.replace(self.plan, dist=[self.plan.dist[number] for number in numbers], zeros=zeros)
        return dataclasses.replace(self, dists=[self.dists[number] for number in numbers], plan=plan)

    def spans(self) -> list[tuple[float, float] | None]:
        """From when to when each input has pictures, in the time that reports have; None: nobody knows how long it is."""
        begins = [video.start - zero for video, zero in zip(self.videos, self.zeros())]
        least = 0.0 if self.plan.zeros else -math.inf  # what is before is cut
        return [(max(begin, least), begin + video.duration) if video.duration else None for video, begin in zip(self.videos, begins)]

    def zeros(self) -> list[float]:
        """Where each file has the time 0 of reports, in seconds from its start."""
        return [zero / 1e6 for zero in self.plan.zeros or [0] * len(self.videos)]


def prepare(settings: Settings, dists: Sequence[str], ref: str, in_parts: bool = False, begins: Begins | None = None) -> Work:
    """Probes the files. Raises Failure if they cannot be compared.

    `in_parts`: there may be more than the filter scores at once, for Work.of(). `begins`: how the encodes begin, where that is not with the reference.
    """
    if not 0 < len(dists) <= MOST_ENCODES and not in_parts:
        raise Failure(f"the filter scores up to {MOST_ENCODES} encodes at once, not {len(dists)}", 2)
    *encodes, reference = videos = [_ffmpeg.probe(settings.ffprobe, path) for path in (*dists, ref)]
    zeros = None
    if begins or _inputs.start_apart(encodes, reference):
        zeros = [_ffmpeg.first_picture(settings.ffmpeg, video.path) for video in videos]
    if not zeros or not begins:
        return Work(settings, encodes, reference, _inputs.make_alike(encodes, reference, zeros))
    found = begins(encodes, reference)
    later = [*(begin.later for begin in found), Fraction(0)]
    zeros = [zero + round(1_000_000 * (max(later) - own)) for zero, own in zip(zeros, later)]  # where all have begun
    plan = _inputs.make_alike(encodes, reference, zeros, cut=True)
    notes = [f"{video.path} {begin.text}" for video, begin in zip(encodes, found)]
    work = Work(settings, encodes, reference, dataclasses.replace(plan, notes=notes + plan.notes))
    for video, span in zip(videos, work.spans()):
        if span and span[1] <= span[0]:
            raise Failure(f"{video.path} ends before the others begin: " + "; ".join(notes))
    return work


def score(
    work: Work,
    log: Path,
    reach: Reach | None = None,
    *,
    early: float = EARLY,
    device: str | None = None,
    show: Callable[[Step], None] | None = None,
    processes: Processes | None = None,
) -> Said:
    """Writes the report `log`, in the format of its name: of all, or of a range alone, for a merge. Raises Failure.

    `early`: how many seconds before the range to begin reading; `device`: instead of that of the settings; `processes`: that ffmpeg joins.
    """
    seeks = _seeks(work, reach, early) if reach else None
    said = run_ffmpeg(_command(work, _filter_options(work, log, reach, device), seeks), _extent(work, reach, early), show, processes)
    if not log.exists():  # FFmpeg up to 6.1 may end with status 0 all the same
        fail(1, said)
    if seeks and any(seeks):
        said.forget_seek()
    return said


def _seeks(work: Work, reach: Reach, early: float) -> list[float | None]:
    """Where to begin reading each file, in seconds from its start; None: at its start."""
    if reach.begin is None:
        return [None] * len(work.videos)
    begin = reach.begin / 1000 - early
    places = [begin + zero for zero in work.zeros()]
    return [place if place > 0 and _can_seek(video) else None for video, place in zip(work.videos, places)]


def _can_seek(video: _ffmpeg.Video) -> bool:
    """Without an index or times in the file, what comes after a seek has other times than it should."""
    return not SEEKABLE.isdisjoint(video.container.split(","))


def _extent(work: Work, reach: Reach | None, early: float) -> Extent:
    *dists, ref = work.spans()
    spans = [(max(dist[0], ref[0]), min(dist[1], ref[1])) for dist in dists if dist and ref]
    rate = float(work.ref.rate) if work.ref.rate else None
    if not spans:
        return Extent(None, rate)
    begin, end = min(span[0] for span in spans), max(span[1] for span in spans)
    if reach and reach.begin is not None:
        begin = max(begin, reach.begin / 1000 - early)
    if reach and reach.end is not None:
        end = min(end, reach.end / 1000)
    return Extent(end - begin, rate)


# -- The command line of ffmpeg --------------------------------------------------------------------------------------------


def _filter_options(work: Work, log: Path, reach: Reach | None, device: str | None) -> str:
    settings = work.settings
    options: dict[str, Any] = {
        "model": settings.filter_models(),
        "feature": "|".join(settings.features) or None,
        "window": settings.window,
        "backend": settings.backend,
        "device": device or settings.device,
        "n_threads": settings.threads,
        "log_path": log,
        "shortest": 1,
        "range": reach,
    }
    if len(work.dists) > 1:
        options |= {"encodes": len(work.dists), "encode_names": "|".join(work.names)}
    return ":".join(f"{name}={_escape(str(value))}" for name, value in options.items() if value is not None)


def names_of(paths: Sequence[str]) -> list[str]:
    """The names of the files, or as much of their paths as tells them apart; | separates names in the filter."""
    parts = [Path(path).parts[::-1] for path in paths]
    count = 1
    while len({part[:count] for part in parts}) < len(parts) and count < max(map(len, parts)):
        count += 1
    names = ["/".join(part[:count][::-1]).replace("|", "_") for part in parts]
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _escape(value: str) -> str:
    """Once for the list of options, once for the graph."""
    option = re.sub(r"([\\':])", r"\\\1", value)
    return re.sub(r"([\\'\[\],;])", r"\\\1", option)


def _command(work: Work, options: str, seeks: Sequence[float | None] | None) -> list[str]:
    """[0:V]…[d0]; … [d0][d1][r]vmafx[s0][s1]: an input and an output for each encode. V: videos, but no cover pictures."""
    encodes = range(len(work.dists))
    inputs, outputs = [*(f"[d{number}]" for number in encodes), "[r]"], [f"[s{number}]" for number in encodes]
    chains = [f"[{number}:V:0]{chain}{label}" for number, (chain, label) in enumerate(zip([*work.plan.dist, work.plan.ref], inputs))]
    graph = ";".join([*chains, f"{''.join(inputs)}vmafx={options}{''.join(outputs)}"])
    begins = ([] if seek is None else ["-ss", f"{seek:.6f}"] for seek in seeks or [None] * len(inputs))
    files = [word for video, begin in zip(work.videos, begins) for word in (*begin, "-i", _ffmpeg.input_name(video.path))]
    sinks = [word for label in outputs for word in ("-map", label, "-f", "null", "-")]
    head = [work.settings.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info", "-progress", "pipe:1"]
    return [*head, *(AS_IN_THE_FILE if seeks is not None else ()), *files, "-filter_complex", graph, *sinks]
