"""Scores encodes against their reference in a run of ffmpeg with the filter vmafx: the whole stream, or a range of it.

    work = prepare(settings, ["low.mp4", "high.mp4"], "ref.mp4")  # work.notes says how the files are made alike
    said = score(work, Path("scores.json"))

The module _parts cuts a stream into ranges, and joins their reports.
"""

import dataclasses
import math
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack

from . import _beginning, _decision, _ffmpeg, _fold, _inputs, _models, _regions
from ._changes import AS_TAGGED, Change, counting_rate, notes_of
from ._files import refuse_parts
from ._models import Scale, Size
from ._names import redact
from ._outputs import REPORT, Output, check_outputs
from ._run import Extent, FfmpegFailure, Processes, fail, run_ffmpeg
from ._said import Said, split_line
from ._terminal import Failure, Step, shown
from .decoders.decision import NONE, Decoding, chain_for

MOST_ENCODES = 16  # encodes that the filter takes
MOST_RANGE = 1_000_000_000  # seconds up to which a range may go; the filter takes twice that
EARLY = 2.0  # seconds before a range that hold its context, if the file has an index of key frames
ERRORS = "error", "fatal", "panic"  # levels
# The words of decoders and of what carries their frames, in ffmpeg's errors.
OF_DECODERS = re.compile(
    r"hwaccel|nvdec|cuvid|cuda|vaapi|vulkan|decod|hwdownload|surface|hw_?frames|Impossible to conv", re.I
)
CHANGED = re.compile("changed (?:its size or format )?in mid-stream")  # the filter's words
MOST_KINDS = 3  # of pictures that an error names
DECODED_AGAIN = "the GPU's decoders ({}) have failed: all was decoded and scored once more on the CPU ({})"
AS_IN_THE_FILE = "-copyts", "-start_at_zero"  # count times from the start of a file, wherever a seek lands


def models_of(words: Sequence[str] | None) -> tuple[str, ...] | None:
    """Returns the models for Settings, from --model or a list: 'none' as the only one means features only."""
    if words is None:
        return None
    return () if list(words) == ["none"] else tuple(words)


@dataclass(frozen=True)
class Settings:
    """The filter's options, and the programs to run."""

    ffmpeg: str
    ffprobe: str
    models: tuple[str, ...] | None = None  # None: the one for the reference's size; (): features only
    features: tuple[str, ...] = ()
    window: str | None = None
    backend: str | None = None
    device: str | None = None
    threads: int | None = None
    scale: str = "model"  # the value of --scale
    dist_options: tuple[str, ...] = ()  # words for ffmpeg before each encode, in pairs (_ffmpeg.option_words)
    ref_options: tuple[str, ...] = ()
    overwrite: bool = False  # whether metrics may replace any file that they write to
    partial: bool = False  # whether scores of a part of what the files promise are taken
    as_is: bool = False  # whether the inputs are taken as their tags say, and nobody looks at the pictures
    hwaccel: str = NONE  # the value of --hwaccel, for decoders.chosen
    scale_on: str = "cpu"  # the value of --scale-on
    maps: str | None = None  # a folder for maps
    convert: str | None = None  # the value of --convert: the color space in which the filter scores
    roi: str | None = None  # regions that have scores of their own, in samples of the reference: _regions.py

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any], **own: Any) -> "Settings":
        """Reads what as_json() wrote; `own` settings replace others, such as the programs of another machine."""
        values: dict[str, Any] = {**content, **own}
        for name, value in values.items():
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)

    def model_texts(self, reference: Size) -> list[str]:
        """Returns a text for each model, for the filter.

        Several models need names: a model without one is named after its version or file.
        """
        texts = [_models.chosen(text, reference) for text in _models.texts_of(self.models)]
        if len(texts) < 2:
            return texts
        return [text if _models.key_of(text) else f"{text}:name={_models.name_of(text)}" for text in texts]


@dataclass(frozen=True)
class Group:
    """The scores that one filter of the graph makes: of pictures of one size in one color space."""

    models: tuple[str, ...]
    features: tuple[str, ...]
    size: Size | None  # None: the reference's
    target: str | None = None  # the color space that the models' files have pictures converted to

    @property
    def keys(self) -> dict[str, str]:
        """The models by the keys of their scores in reports."""
        return {_models.key_of(text) or "vmaf": _models.name_of(text) for text in self.models}


class Begin(NamedTuple):
    """The beginning of an encode."""

    later: Fraction  # seconds by which it begins after the reference
    text: str


Begins: TypeAlias = Callable[[list[_ffmpeg.Video], _ffmpeg.Video], list[Begin]]


@dataclass(frozen=True)
class TimeRange:
    """A range of times in milliseconds, as the filter compares them; the end is not part of it.

    None stands for the beginning or the end of the stream.
    """

    begin: int | None = None
    end: int | None = None

    @classmethod
    def parse(cls, text: str) -> "TimeRange":
        """Parses a range of times as the filter's option has it. Raises ValueError."""
        found = re.fullmatch(r"(?:(\d+(?:\.\d{1,3})?)s)?-(?:(\d+(?:\.\d{1,3})?)s)?", text)
        if not found:
            raise ValueError(f"{text} is not a range of times")
        if any(float(time) > MOST_RANGE for time in found.groups() if time is not None):
            raise ValueError(f"the range {text} goes beyond {MOST_RANGE} s")
        time_range = cls(*(None if time is None else round(1000 * float(time)) for time in found.groups()))
        if time_range.end is not None and (time_range.begin or 0) >= time_range.end:
            raise ValueError(f"the range {text} is empty")
        return time_range

    def seconds(self) -> tuple[float, float | None]:
        """Returns both times in seconds; the end is None at the end of the stream."""
        return (self.begin or 0) / 1000, None if self.end is None else self.end / 1000

    def __str__(self) -> str:
        """Returns the range as the filter's option has it."""
        return "-".join("" if time is None else f"{time // 1000}.{time % 1000:03}s" for time in (self.begin, self.end))


@dataclass(frozen=True)
class Work:
    """Encodes, their reference, and the filters that make them alike."""

    settings: Settings
    dists: list[_ffmpeg.Video]
    ref: _ffmpeg.Video
    preparation: _inputs.Preparation
    groups: list[Group]
    changes: list[Change]  # of all inputs; `dists` and `ref` are what the changed inputs are
    begins: list[Begin] | None = None  # how the encodes begin, if that was asked for
    own_refs: list[_ffmpeg.Video] = dataclasses.field(default_factory=list)  # the reference for each encode alone
    decoding: Decoding | None = None  # None: the CPU decodes all inputs

    @property
    def models(self) -> dict[str, str]:
        """The models' names, by the keys of their scores in reports."""
        return {key: name for group in self.groups for key, name in group.keys.items()}

    @property
    def size_of_reference(self) -> Size:
        return Size(self.ref.width, self.ref.height)

    def size_of(self, group: Group) -> Size:
        return group.size or self.size_of_reference

    @property
    def videos(self) -> list[_ffmpeg.Video]:
        """The videos in the order of ffmpeg's inputs."""
        return [*self.dists, self.ref]

    @property
    def notes(self) -> list[str]:
        return self.preparation.notes

    @property
    def names(self) -> list[str]:
        return names_of([redact(video.path, [video.path]) for video in self.dists])

    def of(self, numbers: Sequence[int]) -> "Work":
        """Returns the work for some of the encodes, made alike as for all of them."""
        zeros = [self.preparation.zeros[number] for number in (*numbers, -1)] if self.preparation.zeros else None
        preparation = dataclasses.replace(
            self.preparation, dist=[self.preparation.dist[number] for number in numbers], zeros=zeros
        )
        return dataclasses.replace(
            self,
            dists=[self.dists[number] for number in numbers],
            preparation=preparation,
            changes=[self.changes[number] for number in (*numbers, -1)],
            begins=[self.begins[number] for number in numbers] if self.begins else None,
            decoding=self.decoding and self.decoding.of(numbers),
        )

    def spans(self) -> list[tuple[float, float] | None]:
        """Returns when the pictures of each input begin and end, in the time of reports; None if not known."""
        begins = [video.start - zero for video, zero in zip(self.videos, self.zeros())]
        least = 0.0 if self.preparation.zeros else -math.inf  # earlier pictures are cut off
        return [
            (max(begin, least), begin + video.duration) if video.duration else None
            for video, begin in zip(self.videos, begins)
        ]

    def reach(self, time_range: TimeRange) -> TimeRange:
        """Returns the range without its first end if no pair comes before that: the filter wants pairs before it."""
        if time_range.begin is None or time_range.begin > 1000 * self._first_pair() + 1e-6:
            return time_range
        return TimeRange(None, time_range.end)

    def _first_pair(self) -> float:
        """Returns when the first pair comes of the encode that begins first, in the time of reports."""
        *dists, ref = (video.start - zero for video, zero in zip(self.videos, self.zeros()))
        first = max(min(dists), ref)
        return max(first, 0.0) if self.preparation.zeros else first

    def zeros(self) -> list[float]:
        """Returns the time in each file, in seconds from its start, that is the time 0 of reports."""
        return [zero / 1e6 for zero in self.preparation.zeros or [0] * len(self.videos)]


def prepare(
    settings: Settings,
    dists: Sequence[str],
    ref: str,
    in_parts: bool = False,
    begins: Begins | None = None,
    changes: Sequence[Change] | None = None,
) -> Work:
    """Probes the files. Raises Failure if they cannot be compared.

    `in_parts` allows more encodes than the filter scores at once, for Work.of(). `begins` returns how the encodes
    begin, if they do not begin with the reference. `changes`: of each input, the reference last.
    """
    if not 0 < len(dists) <= MOST_ENCODES and not in_parts:
        raise Failure(f"the filter scores at most {MOST_ENCODES} encodes at once, not {len(dists)}: name fewer", 2)
    videos = probed(settings, dists, ref)
    changes = list(changes or [AS_TAGGED] * len(videos))
    rate = counting_rate(videos[-1])
    *encodes, reference = [change.facts(video, rate) for change, video in zip(changes, videos)]
    if not settings.as_is:
        found_out = [_decision.renumbered(settings.ffmpeg, *own, reference) for own in zip(changes, encodes)]
        changes = [*found_out, changes[-1]]
        encodes = [change.facts(video, rate) for change, video in zip(changes, videos[:-1])]
    said_of_colors: list[str] = []
    as_told = [*encodes, reference]
    if settings.convert:
        *encodes, reference = _inputs.with_known_colors([*encodes, reference], said_of_colors)
        said_of_colors.append(_said_of_conversion(settings.convert, [*encodes, reference]))
    else:
        _inputs.refuse_light(encodes, reference)
    encodes, reference, said = _decision.of_times(settings.ffmpeg, encodes, reference)
    asked = begins(encodes, reference) if begins else None
    found = asked or _begins_of(changes[:-1])
    zeros = _zeros(encodes, reference, found)
    decided = _decision.of_pictures(settings.ffmpeg, encodes, reference, zeros, bool(settings.convert))
    apart = found or _inputs.start_apart(encodes, reference)
    groups, said_of_sizes = _groups(settings, decided.dists, decided.ref)
    preparation = _inputs.make_alike(
        decided.dists,
        decided.ref,
        zeros if apart else None,
        bool(found),
        [group.size for group in groups],
        bool(settings.convert),
    )
    of_begins = [f"{video.name} {begin.text}" for video, begin in zip(encodes, asked or ())] + notes_of(changes, videos)
    notes = [*of_begins, *said, *decided.notes, *preparation.notes, *said_of_sizes, *said_of_colors]
    preparation = dataclasses.replace(preparation, notes=list(dict.fromkeys(notes)))
    own_refs = _colored(decided.own_refs, as_told) if settings.convert else decided.own_refs
    work = Work(settings, decided.dists, decided.ref, preparation, groups, changes, asked, own_refs)
    for video, span in zip(work.videos, work.spans() if found else []):
        if span and span[1] <= span[0]:
            raise Failure(f"{video.name} ends before the others begin: " + "; ".join(of_begins))
    return work


def _colored(own_refs: Sequence[_ffmpeg.Video], videos: Sequence[_ffmpeg.Video]) -> list[_ffmpeg.Video]:
    """Returns the references in the colors that a conversion takes for theirs with each encode alone."""
    *encodes, reference = videos
    colors = [_inputs.with_known_colors([encode, reference], [])[-1] for encode in encodes]
    return [
        dataclasses.replace(own, matrix=known.matrix, transfer=known.transfer, primaries=known.primaries)
        for own, known in zip(own_refs, colors)
    ]


def _said_of_conversion(target: str, videos: Sequence[_ffmpeg.Video]) -> str:
    own = ", ".join(f"{video.name} from {_inputs.colors_text(video)}" for video in videos)
    return (
        f"all are converted to {target} before they are scored, as --convert says ({own}): compare such scores only "
        "with others of the same --convert"
    )


def prepare_stream(settings: Settings, dist: _ffmpeg.Video, ref: _ffmpeg.Video, times: tuple[str, str]) -> Work:
    """Returns the work for an encode that does not exist yet: its facts are known, and its pictures are the
    reference's. `times`: filters of both that come first. Raises Failure.
    """
    if settings.convert:
        dist, ref = _inputs.with_known_colors([dist, ref], [])
    groups, said_of_sizes = _groups(settings, [dist], ref)
    sizes = [group.size for group in groups]
    alike = _inputs.make_alike([dist], ref, sizes=sizes, converts=bool(settings.convert))
    chains = [
        chain._replace(times=",".join(filter(None, (own, chain.times))))
        for own, chain in zip(times, (*alike.dist, alike.ref))
    ]
    preparation = dataclasses.replace(alike, dist=chains[:-1], ref=chains[-1], notes=[*alike.notes, *said_of_sizes])
    return Work(settings, [dist], ref, preparation, groups, [AS_TAGGED, AS_TAGGED])


def probed(settings: Settings, dists: Sequence[str], ref: str) -> list[_ffmpeg.Video]:
    """Returns what the files are, the reference last. Raises Failure."""
    options = [settings.dist_options] * len(dists) + [settings.ref_options]
    told = [_ffmpeg.probe(settings.ffprobe, path, own) for path, own in zip((*dists, ref), options)]
    for video in told if not settings.partial else ():
        refuse_parts(video, "--partial scores what is read")
    videos = _beginning.as_decoded(settings.ffmpeg, told)
    differ = _inputs.lengths_differ(videos[:-1], videos[-1])
    return [_ffmpeg.joined(settings.ffprobe, video, gaps=differ) for video in videos]


def _begins_of(changes: Sequence[Change]) -> list[Begin]:
    """Returns how encodes begin as their pictures show; nothing if all begin with the reference."""
    return [Begin(change.later, "") for change in changes] if any(change.later for change in changes) else []


def _zeros(dists: Sequence[_ffmpeg.Video], ref: _ffmpeg.Video, begins: Sequence[Begin]) -> list[int]:
    """Returns when all have begun, in each input, the reference last: microseconds from the file's start."""
    later = [*(begin.later for begin in begins), *([Fraction(0)] * (1 + len(dists) - len(begins)))]
    starts = [round(1e6 * video.start) for video in (*dists, ref)]
    return [start + round(1_000_000 * (max(later) - own)) for start, own in zip(starts, later)]


def prepare_again(work: Work, changes: Sequence[Change], settings: Settings | None = None) -> Work:
    """Prepares the inputs with other changes, or for other settings. Raises Failure."""
    found = work.begins or []
    return prepare(
        settings or work.settings,
        [video.path for video in work.dists],
        work.ref.path,
        in_parts=True,
        begins=(lambda dists, ref: found) if found else None,
        changes=changes,
    )


# -- The sizes at which pictures are scored ----------------------------------------------------------------------------


def _groups(settings: Settings, dists: list[_ffmpeg.Video], ref: _ffmpeg.Video) -> tuple[list[Group], list[str]]:
    """Returns the groups, models at the sizes and in the color spaces that they are made for and features on pictures
    as the reference's are, and notes on that.
    """
    _models.refuse_models(settings.features)
    scale, here = Scale.parse(settings.scale), Size(ref.width, ref.height)
    texts = settings.model_texts(here)
    if scale.word == "none":
        _refuse_sizes(dists, ref)
    kinds = {text: (_size_of_model(text, scale, ref), _models.target_of(text)) for text in texts}
    groups = [
        Group(tuple(text for text in texts if kinds[text] == kind), (), *kind) for kind in dict.fromkeys(kinds.values())
    ]
    if settings.features or not groups:
        groups = _with_features(groups, settings.features, scale.size)
    return groups, _said_of(settings, groups, scale, ref)


def _with_features(groups: list[Group], features: tuple[str, ...], size: Size | None) -> list[Group]:
    """Adds the features to the models of the same size, or as a group of their own."""
    joined = [
        dataclasses.replace(group, features=features) if (group.size, group.target) == (size, None) else group
        for group in groups
    ]
    return joined if joined != groups else [*groups, Group((), features, size)]


def _size_of_model(text: str, scale: Scale, ref: _ffmpeg.Video) -> Size | None:
    if scale.word != "model":
        return scale.size
    rows, here = _models.rows_of(text), Size(ref.width, ref.height)
    size = here if rows is None else _models.size_for(rows, here, ref.aspect)
    return None if size == here else size


def _refuse_sizes(dists: list[_ffmpeg.Video], ref: _ffmpeg.Video) -> None:
    for video in dists:
        if not _inputs.same_size(video, ref):
            raise Failure(
                f"{video.name} is {video.width}x{video.height} and {ref.name} {ref.width}x{ref.height}: "
                "with --scale none all must have one size; --scale reference scales to the reference's"
            )


def _said_of(settings: Settings, groups: list[Group], scale: Scale, ref: _ffmpeg.Video) -> list[str]:
    """Returns a note for each size that is not the reference's, and for a model that nobody named."""
    lines, here = [], Size(ref.width, ref.height)
    for group in groups:
        names = [f"{key}: model {name}" for key, name in group.keys.items()]
        unasked = _models.AUTO in _models.texts_of(settings.models) and _models.FOR_2160 in group.keys.values()
        if unasked:
            names = [
                f"{name}, as the reference has {_models.many_text(here)} (--model names another)" for name in names
            ]
        if group.size:
            what = ", ".join(names) or "features"
            why = "as --scale says"
            if scale.word == "model":
                why = f"the size that it is made for (--scale reference: {ref.width}x{ref.height})"
            lines.append(f"{what}; all are scaled to {group.size} (bicubic), {why}")
        elif unasked:
            lines += names
        for text in group.models:
            if scale.word == "model" and _models.rows_of(text) is None:
                lines.append(
                    f"the size that the model {_models.name_of(text)} is made for is not known: --scale WxH sets one"
                )
    return lines


# -- A run -------------------------------------------------------------------------------------------------------------


def score(
    work: Work,
    log: Path,
    time_range: TimeRange | None = None,
    *,
    early: float = EARLY,
    device: str | None = None,
    show: Callable[[Step], None] | None = None,
    processes: Processes | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Said:
    """Writes the report `log`, in the format of its name, for the whole stream, or for a range that is to be merged.
    What a GPU's decoders have failed at is decoded and scored once more on the CPU. Raises Failure.

    `early`: how many seconds before the range reading begins; `device`: replaces the settings' device; `processes`: the
    processes that ffmpeg joins; `stdin`: a descriptor from which ffmpeg reads a stream.
    """
    check_outputs([video.path for video in work.videos], [Output("the report", log, REPORT)], force=False)
    try:
        return _score_where_decoded(
            work, log, time_range, early=early, device=device, show=show, processes=processes, stdin=stdin
        )
    except FfmpegFailure as failure:
        if changes := _changes_in(work, failure.said):
            raise FfmpegFailure(changes, failure.status, failure.said) from failure
        raise


def _changes_in(work: Work, said: Said) -> str | None:
    """Returns what to do about an input whose pictures change in mid-stream; None if the filter complains of none."""
    if not any(CHANGED.search(line) for line in said.lines):
        return None
    for video in work.videos:
        kinds = _ffmpeg.kinds_of_pictures(work.settings.ffprobe, video) if os.path.isfile(video.path) else []
        if len(kinds) > 1:
            width, height, pix_fmt = kinds[0]
            told = ", then ".join(f"{kind[0]}x{kind[1]} {kind[2]}" for kind in kinds[:MOST_KINDS])
            return (
                f"the pictures of {video.name} change in mid-stream ({told}), and a score is of one size and format: "
                f"write them anew as one (ffmpeg -i {video.name} -vf scale={width}:{height},format={pix_fmt} -c:v ffv1 "
                "NEW.mkv), and name that file"
            )
    return None


def _score_where_decoded(work: Work, log: Path, time_range: TimeRange | None, **own: "Unpack[_Own]") -> Said:
    device = own["device"] = own["device"] or work.settings.device
    on_cpu = dataclasses.replace(work, decoding=None)
    if not work.decoding or not work.decoding.has(device):
        return _score(on_cpu, log, time_range, **own)
    try:
        said = _score(work, log, time_range, **own)
        complaints = said.all_damage
        if not complaints:
            return said
    except FfmpegFailure as failure:
        if not _is_of_decoders(failure.said):
            raise
        complaints = [str(failure)]
    log.unlink(missing_ok=True)
    said = _score(on_cpu, log, time_range, **own)
    said.lines.append(f"[vmafx @ 0x0] [warning] {DECODED_AGAIN.format(work.decoding.method, shown(complaints[0]))}")
    return said


class _Own(TypedDict):
    early: float
    device: str | None
    show: Callable[[Step], None] | None
    processes: Processes | None
    stdin: int


def _is_of_decoders(said: Said) -> bool:
    """Returns whether a run may have failed for its decoders: they complain, or the filter does not."""
    errors = [(source, text) for source, level, text in map(split_line, said.lines) if level in ERRORS]
    if not any("vmafx" in source for source, _ in errors):
        return True
    return any("vmafx" not in source and OF_DECODERS.search(f"{source} {text}") for source, text in errors)


def _score(
    work: Work,
    log: Path,
    time_range: TimeRange | None,
    early: float,
    device: str | None,
    show: Callable[[Step], None] | None,
    processes: Processes | None,
    stdin: int,
) -> Said:
    seeks = _seeks(work, time_range, early) if time_range else None
    logs = [log] if len(work.groups) == 1 else [log.with_stem(f"{log.stem}.{i}") for i in range(len(work.groups))]
    extent = _extent(work, time_range, early)
    options = {"range": time_range, "device": device or work.settings.device, "expected_frames": _frames(extent)}
    filters = [_filter_options(work, group, path, options) for group, path in zip(work.groups, logs)]
    try:
        command = _command(work, filters, seeks, device)
        said = run_ffmpeg(command, extent, show, processes, stdin)
        if not all(path.exists() for path in logs):  # FFmpeg up to 6.1 may fail with status 0
            fail(1, said)
        if len(logs) > 1 and time_range:
            _fold.side_by_side(logs, log)
        elif len(logs) > 1:
            _fold.fold(logs, work.models, log)
    finally:
        for path in set(logs) - {log}:
            path.unlink(missing_ok=True)
    if seeks and any(seeks):
        said.forget_seek()
    return said


def _seeks(work: Work, time_range: TimeRange, early: float) -> list[float | None]:
    """Returns where reading begins in each file, in seconds from its start; None for the start."""
    if time_range.begin is None:
        return [None] * len(work.videos)
    begin = time_range.begin / 1000 - early
    places = [begin + zero for zero in work.zeros()]
    return [place if place > 0 and video.can_seek else None for video, place in zip(work.videos, places)]


def _extent(work: Work, time_range: TimeRange | None, early: float) -> Extent:
    *dists, ref = work.spans()
    spans = [(max(dist[0], ref[0]), min(dist[1], ref[1])) for dist in dists if dist and ref]
    rate = float(work.ref.rate) if work.ref.rate else None
    if not spans:
        return Extent(None, rate)
    begin, end = min(span[0] for span in spans), max(span[1] for span in spans)
    if time_range and time_range.begin is not None:
        begin = max(begin, time_range.begin / 1000 - early)
    if time_range and time_range.end is not None:
        end = min(end, time_range.end / 1000)
    return Extent(end - begin, rate)


def _frames(extent: Extent) -> int | None:
    """Returns about how many frame pairs come, if that is known."""
    if not extent.seconds or not extent.rate:
        return None
    return max(1, min(round(extent.seconds * extent.rate), 2**31 - 1))


# -- The command line of ffmpeg ----------------------------------------------------------------------------------------


def _filter_options(work: Work, group: Group, log: Path, of_run: dict[str, Any]) -> str:
    settings = work.settings
    options: dict[str, Any] = {
        "model": "|".join(group.models),
        "feature": "|".join(group.features) or None,
        "window": settings.window,
        "backend": settings.backend,
        "n_threads": settings.threads,
        "log_path": log,
        "shortest": 1,
        "overwrite": 1 if settings.overwrite else None,
        "check": "off" if settings.as_is else None,
        "maps": settings.maps,
        "convert": settings.convert,
        "roi": settings.roi and _regions.scaled(settings.roi, work.size_of_reference, work.size_of(group)),
        **of_run,
    }
    if len(work.dists) > 1:
        options |= {"encodes": len(work.dists), "encode_names": "|".join(work.names)}
    return ":".join(f"{name}={escaped(str(value))}" for name, value in options.items() if value is not None)


def names_of(paths: Sequence[str]) -> list[str]:
    """Returns the names of the files, or enough of their paths to tell them apart, without the filter's separator |."""
    parts = [Path(path).parts[::-1] for path in paths]
    count = 1
    while len({part[:count] for part in parts}) < len(parts) and count < max(map(len, parts)):
        count += 1
    names = ["/".join(part[:count][::-1]).replace("|", "_") for part in parts]
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def escaped(value: str) -> str:
    """Escapes a value twice: for the list of options, and for the graph."""
    option = re.sub(r"([\\':])", r"\\\1", value)
    return re.sub(r"([\\'\[\],;])", r"\\\1", option)


def _command(
    work: Work, filters: Sequence[str], seeks: Sequence[float | None] | None, device: str | None = None
) -> list[str]:
    """Returns ffmpeg's command: [0:V]…[d0]; … [d0][d1][r]vmafx[s0][s1], with an output for each encode of each group.

    The stream V is the video that is not a cover picture.
    """
    begins = ([] if seek is None else ["-ss", f"{seek:.6f}"] for seek in seeks or [None] * len(work.videos))
    own = [work.decoding.words_of(number) if work.decoding else [] for number in range(len(work.videos))]
    opened = zip(work.videos, begins, own)
    files = [word for video, begin, decoder in opened for word in (*begin, *decoder, *video.input)]
    chains = [*work.preparation.dist, work.preparation.ref]
    if work.decoding:
        chains = [chain_for(chain, decoder) for chain, decoder in zip(chains, work.decoding.inputs)]
    parts, outputs = [], []
    for number, chain in enumerate(chains):
        parts += _branches(number, chain)
    for place, options in enumerate(filters):
        inputs = "".join(_pad(number, place) for number in range(len(chains)))
        labels = [f"[s{place}_{number}]" for number in range(len(work.dists))]
        parts.append(f"{inputs}vmafx={options}{''.join(labels)}")
        outputs += labels
    sinks = [word for label in outputs for word in ("-map", label, "-f", "null", "-")]
    head = [
        work.settings.ffmpeg,
        "-hide_banner",
        "-nostdin",
        "-nostats",
        "-loglevel",
        "level+info",
        "-progress",
        "pipe:1",
    ]
    gpu = work.decoding.words(device) if work.decoding else []
    copied = AS_IN_THE_FILE if seeks is not None else ()
    return [*head, *gpu, *copied, *files, "-filter_complex", ";".join(parts), *sinks]


def _branches(number: int, chain: _inputs.Chain) -> list[str]:
    """Returns the filters of an input: the filters of times once, the filters of pictures for each group."""
    if len(chain.pictures) == 1:
        return [f"[{number}:V:0]{chain.whole(0)}{_pad(number, 0)}"]
    times = f"{chain.times}," if chain.times else ""
    places = range(len(chain.pictures))
    split = "".join(f"[i{number}_{place}]" for place in places)
    own = (f"[i{number}_{place}]{chain.pictures[place] or 'null'}{_pad(number, place)}" for place in places)
    return [f"[{number}:V:0]{times}split={len(places)}{split}", *own]


def _pad(number: int, place: int) -> str:
    return f"[p{number}_{place}]"
