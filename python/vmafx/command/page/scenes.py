"""Finds scenes, between which the picture changes at once, and the scores of each encode in them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from .. import _ffmpeg
from .._scores import Encode
from .._statistics import pool, rate_of, worst_value_name
from .._terminal import Failure, decimals_of, note, time_text
from .links import link_to
from .pictures import Media
from .plots import Label
from .tables import Cell, Table, number

MOST_WORST = 10  # worst scenes that are listed first, by a score of an encode
MOST_FOLDED = 1500  # rows of all folded lists together


@dataclass(frozen=True)
class Scene:
    """Part of an encode."""

    number: int  # counted among all scenes of the file, from 1
    first: int  # the first frame's place in the lists of the encode
    end: int  # the place after the last frame


@dataclass(frozen=True)
class Pooled:
    scene: Scene
    mean: float
    harmonic: float | None
    worst: int  # the worst frame's place in the lists of the encode


@dataclass(frozen=True)
class Scenes:
    """The page's part on scenes."""

    text: str
    lists: Sequence["SceneList"] = ()


@dataclass(frozen=True)
class SceneList:
    """The scenes of an encode by a score: the worst first, then the others in the order of time. The page folds all
    lists but the first, and the others of each list.
    """

    label: Label | None  # the encode's name, if there are several
    key: str
    told: str  # the worst of them in words
    worst: Table | None
    summary: str = ""  # the line above the others
    others: Table | None = None


def scenes_of_page(
    encodes: Sequence[Encode], keys: Sequence[str], media: Media | None, threshold: float
) -> Scenes | None:
    """Returns a table for each encode and score; `threshold` is as in FFmpeg's scdet, 0 leaves scenes out."""
    keys = [key for key in keys if any(encode.facts(key).tells_quality for encode in encodes)]
    if not threshold or not keys:
        return None
    if not media or not any(encode.times for encode in encodes):
        return Scenes("Scores of scenes need a video: name it with --media, best also the reference with --reference.")
    return _scenes(encodes, keys, media, threshold)


def _scenes(encodes: Sequence[Encode], keys: Sequence[str], media: Media, threshold: float) -> Scenes:
    path = media.ref or media.dists[0]
    try:
        cuts = _cuts(encodes, media, path, threshold)
    except Failure as failure:
        note(str(failure))
        return Scenes(str(failure))
    lists = [
        (place, encode, key)
        for place, encode in enumerate(encodes)
        if encode.times
        for key in keys
        if key in encode.scores
    ]
    room = max(MOST_FOLDED // max(len(lists), 1), 1)
    found = []
    for place, encode, key in lists:
        label = Label(encode.name, place) if len(encodes) > 1 else None
        found.append(_list(encode, key, label, scenes_of(encode, cuts), room))
    count = f"{len(cuts)} cut{'' if len(cuts) == 1 else 's'}" if cuts else "no cuts"
    return Scenes(f"FFmpeg’s scdet={threshold:g} finds {count} in {Path(path).name}.", found)


def _cuts(encodes: Sequence[Encode], media: Media, path: str, threshold: float) -> list[float]:
    """Returns the cuts between the first and the last score, in the time of scores."""
    zero, timed = media.starts.get(path, 0), [encode for encode in encodes if encode.times]
    begin = min(encode.times[0] - 0.5 / rate_of(encode) for encode in timed) + zero
    end = max(encode.times[-1] + 0.5 / rate_of(encode) for encode in timed) + zero
    return [cut - zero for cut in _ffmpeg.cuts(media.ffmpeg, path, threshold, max(begin, 0), end)]


def scenes_of(encode: Encode, cuts: Sequence[float]) -> list[Scene]:
    """Returns the scenes of which the encode has frames. A cut is at the frame nearest to it in time."""
    half = 0.5 / rate_of(encode)
    ends = [0, *(bisect_left(encode.times, cut - half) for cut in cuts), len(encode.times)]
    return [Scene(i, first, end) for i, (first, end) in enumerate(zip(ends, ends[1:]), 1) if first < end]


def _list(encode: Encode, key: str, label: Label | None, scenes: Sequence[Scene], most: int) -> SceneList:
    worst_first = sorted(
        _pooled(encode, key, scenes), key=lambda pooled: pooled.mean, reverse=encode.facts(key).worse_is_high
    )
    worst, others = worst_first[:MOST_WORST], worst_first[MOST_WORST : MOST_WORST + most]
    if not worst:
        return SceneList(label, key, "no scores", None)
    table, told = _table(encode, key, worst), _told(encode, key, worst[0], len(worst_first))
    if not others:
        return SceneList(label, key, told, table)
    left = len(worst_first) - len(worst) - len(others)
    summary = f"The other {len(others)}" if not left else f"The next {len(others)}; {left} better ones are left out"
    in_time = sorted(others, key=lambda pooled: pooled.scene.number)
    return SceneList(label, key, told, table, summary, _table(encode, key, in_time, linked=False))


def _told(encode: Encode, key: str, worst: Pooled, count: int) -> str:
    if count == 1:
        return "1 scene"
    mean = number(worst.mean, decimals_of(abs(worst.mean)) - 1)
    return f"{count} scenes, the worst at {time_text(encode.times[worst.scene.first])} with a mean of {mean}"


def _pooled(encode: Encode, key: str, scenes: Sequence[Scene]) -> Iterator[Pooled]:
    """Yields the pooled values of scenes that have finite scores."""
    scores, worse = encode.scores[key], max if encode.facts(key).worse_is_high else min
    for scene in scenes:
        finite = [i for i in range(scene.first, scene.end) if isfinite(scores[i])]
        own = [scores[i] for i in finite]
        if finite and (mean := pool(key, "mean", own)) is not None:
            harmonic = pool(key, "harmonic_mean", own)
            yield Pooled(scene, mean, harmonic, worse(finite, key=scores.__getitem__))


def _table(encode: Encode, key: str, rows: Sequence[Pooled], linked: bool = True) -> Table:
    scores, lasts = encode.scores[key], 1 / rate_of(encode)
    decimals = decimals_of(max(abs(scores[row.worst]) for row in rows)) - 1
    cells: list[list[Cell]] = []
    for row in rows:
        first, last = row.scene.first, row.scene.end - 1
        length = encode.times[last] - encode.times[first] + lasts
        pooled = [number(value, decimals) for value in (row.mean, row.harmonic, scores[row.worst])]
        place = [time_text(length), str(encode.numbers[first]), str(row.scene.end - first)]
        when: list[Cell] = [_when(encode, i, linked) for i in (first, row.worst)]
        cells.append([str(row.scene.number), when[0], *pooled, when[1], *place])
    heads = [
        "scene",
        "from",
        "mean",
        "harmonic",
        worst_value_name(encode.facts(key)),
        "at",
        "lasts",
        "first frame",
        "frames",
    ]
    return Table(heads, cells)


def _when(encode: Encode, i: int, linked: bool) -> Cell:
    told = time_text(encode.times[i])
    return link_to(told, encode.numbers[i], encode.times[i]) if linked else told
