"""Scenes: where the picture changes at once, and how each encode scores in between."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path

from .. import _ffmpeg
from .._keys import tells_quality, worse_is_high
from .._scores import Encode
from .._statistics import pooled_of, rate_of
from .._terminal import Failure, decimals_of, note, time_text
from .pictures import Media
from .plots import key_of
from .tables import number, table

MOST_WORST = 10  # that are listed first, of a score of an encode
MOST_FOLDED = 1500  # rows of all other lists together


@dataclass(frozen=True)
class Scene:
    """Part of an encode."""

    number: int  # among all scenes of the file, from 1
    first: int  # in the lists of the encode
    end: int  # after its last one


@dataclass(frozen=True)
class Pooled:
    scene: Scene
    mean: float
    harmonic: float | None
    worst: int  # in the lists of the encode


def scenes_section(encodes: Sequence[Encode], keys: Sequence[str], media: Media | None, threshold: float) -> str:
    """A table for each encode and score; `threshold` as FFmpeg's scdet takes it, 0: none is wanted."""
    keys = [key for key in keys if tells_quality(key)]
    if not threshold or not keys:
        return ""
    if not media or not any(encode.times for encode in encodes):
        content = "<p>Scores of scenes need a video to find them in: with --media, best with --reference, too.</p>"
    else:
        content = _tables(encodes, keys, media, threshold)
    return f"<section><h2>Scenes</h2>{content}</section>"


def _tables(encodes: Sequence[Encode], keys: Sequence[str], media: Media, threshold: float) -> str:
    path = media.ref or media.dists[0]
    try:
        cuts = _cuts(encodes, media, path, threshold)
    except Failure as failure:
        note(str(failure))
        return f"<p>{escape(str(failure))}</p>"
    lists = [(place, encode, key) for place, encode in enumerate(encodes) if encode.times for key in keys if key in encode.scores]
    room = max(MOST_FOLDED // max(len(lists), 1), 1)
    parts = []
    for place, encode, key in lists:
        of = f"{key_of(place)}{escape(encode.name)}, " if len(encodes) > 1 else ""
        parts.append(f"<h3>{of}{escape(key)}</h3>{_lists(encode, key, scenes_of(encode, cuts), room)}")
    count = f"{len(cuts)} cut{'' if len(cuts) == 1 else 's'}" if cuts else "no cuts"
    return f"<p>FFmpeg’s scdet={threshold:g} finds {count} in {escape(Path(path).name)}.</p>{''.join(parts)}"


def _cuts(encodes: Sequence[Encode], media: Media, path: str, threshold: float) -> list[float]:
    """In the times of the scores, between the first and the last of them."""
    zero, timed = media.starts.get(path, 0), [encode for encode in encodes if encode.times]
    begin = min(encode.times[0] - 0.5 / rate_of(encode) for encode in timed) + zero
    end = max(encode.times[-1] + 0.5 / rate_of(encode) for encode in timed) + zero
    return [cut - zero for cut in _ffmpeg.cuts(media.ffmpeg, path, threshold, max(begin, 0), end)]


def scenes_of(encode: Encode, cuts: Sequence[float]) -> list[Scene]:
    """Those that the encode has frames of. A cut is at the frame that is nearest to it in time."""
    half = 0.5 / rate_of(encode)
    ends = [0, *(bisect_left(encode.times, cut - half) for cut in cuts), len(encode.times)]
    return [Scene(i, first, end) for i, (first, end) in enumerate(zip(ends, ends[1:]), 1) if first < end]


def _lists(encode: Encode, key: str, scenes: Sequence[Scene], most: int) -> str:
    """The worst scenes, the worst first, then the others in the order of time, folded."""
    worst_first = sorted(_pooled(encode, key, scenes), key=lambda pooled: pooled.mean, reverse=worse_is_high(key))
    worst, others = worst_first[:MOST_WORST], worst_first[MOST_WORST : MOST_WORST + most]
    text = _table(encode, key, worst) if worst else ""
    if others:
        left = len(worst_first) - len(worst) - len(others)
        summary = f"The other {len(others)}" if not left else f"The next {len(others)}; {left} better ones are left out"
        text += f"<details><summary>{summary}</summary>{_table(encode, key, sorted(others, key=lambda pooled: pooled.scene.number))}</details>"
    return text


def _pooled(encode: Encode, key: str, scenes: Sequence[Scene]) -> Iterator[Pooled]:
    """Of the scenes that have finite scores."""
    scores, worse = encode.scores[key], max if worse_is_high(key) else min
    for scene in scenes:
        finite = [i for i in range(scene.first, scene.end) if isfinite(scores[i])]
        if finite:
            values = pooled_of(key, sorted(scores[i] for i in finite))
            yield Pooled(scene, values["mean"], values.get("harmonic_mean"), worse(finite, key=scores.__getitem__))


def _table(encode: Encode, key: str, rows: Sequence[Pooled]) -> str:
    scores, lasts = encode.scores[key], 1 / rate_of(encode)
    decimals = decimals_of(max(abs(scores[row.worst]) for row in rows)) - 1
    cells = []
    for row in rows:
        first, last = row.scene.first, row.scene.end - 1
        length = encode.times[last] - encode.times[first] + lasts
        pooled = [number(value, decimals) for value in (row.mean, row.harmonic, scores[row.worst])]
        place = [time_text(length), str(encode.numbers[first]), str(row.scene.end - first)]
        cells.append([str(row.scene.number), time_text(encode.times[first]), *pooled, time_text(encode.times[row.worst]), *place])
    heads = ["scene", "from", "mean", "harmonic", "max" if worse_is_high(key) else "min", "at", "lasts", "first frame", "frames"]
    return table(heads, cells)
