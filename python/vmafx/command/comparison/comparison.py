"""Compares the points: curves, differences from the anchor, hulls, warnings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

from .._keys import Facts, known_facts
from .bootstrap import Interval, interval_of_mean
from .delta import Delta, Measured, compare_curves
from .hull import Lead, leads, upper_hull
from .points import Point

MOST_NAMES = 3  # encodes that a warning names


class Mean(NamedTuple):
    """The mean difference of a series, over the clips that have one."""

    rate: float | None
    quality: float | None
    rate_clips: int
    quality_clips: int
    rate_interval: Interval | None
    quality_interval: Interval | None


class Rung(NamedTuple):
    """A rung of a clip's ladder."""

    point: Point
    number: int  # from 1, the lowest rate first
    gain: float | None  # of the score, from the rung below


@dataclass
class Comparison:
    points: list[Point]
    keys: list[str]
    anchor: str
    pool: str
    method: str
    library: ModuleType | str  # a text says why it is missing
    notes: Sequence[str] = ()  # how the inputs were made alike

    @cached_property
    def series(self) -> list[str]:
        """The series, in the order of the table."""
        return list(dict.fromkeys(point.series for point in self.points))

    @cached_property
    def clips(self) -> list[str]:
        return list(dict.fromkeys(point.clip for point in self.points))

    @property
    def others(self) -> list[str]:
        return [series for series in self.series if series != self.anchor]

    def curve(self, key: str, clip: str, series: str) -> list[Point]:
        """Returns the points of a series that have the score, the lowest rate first."""
        own = [
            point
            for point in self.points
            if (point.clip, point.series) == (clip, series) and point.values.get(key) is not None
        ]
        return sorted(own, key=lambda point: point.bitrate)

    def curves(self, key: str, clip: str) -> dict[str, list[Point]]:
        return {series: curve for series in self.series if (curve := self.curve(key, clip, series))}

    def facts(self, key: str) -> Facts:
        return facts_of(self.points, key)

    # -- Differences ---------------------------------------------------------------------------------------------------

    @cached_property
    def deltas(self) -> dict[tuple[str, str, str], Delta]:
        """The differences, by score, clip and series."""
        return {
            (key, clip, series): self._delta(key, clip, self.anchor, series)
            for key in self.keys
            for clip in self.clips
            for series in self.others
        }

    def _delta(self, key: str, clip: str, anchor: str, series: str) -> Delta:
        if isinstance(self.library, str):
            return Delta(problems=[self.library])
        first, second = (_measured(self.curve(key, clip, name), key) for name in (anchor, series))
        return compare_curves(self.library, first, second, self.method, self.facts(key).worse_is_high)

    def mean(self, key: str, series: str) -> Mean:
        """Returns the mean over the clips. Each clip counts the same, as in the common test conditions."""
        return self._means[key, series]

    @cached_property
    def _means(self) -> dict[tuple[str, str], Mean]:
        return {
            (key, series): _mean_of([self.deltas[key, clip, series] for clip in self.clips])
            for key in self.keys
            for series in self.others
        }

    @cached_property
    def matrix(self) -> dict[tuple[str, str, str], Mean]:
        """The mean differences of each series from each other one, by score, anchor and series; empty without the
        library.
        """
        if self.lacks:
            return {}
        pairs = [(anchor, series) for anchor in self.series for series in self.series if anchor != series]
        return {
            (key, anchor, series): (
                self._means[key, series]
                if anchor == self.anchor
                else _mean_of([self._delta(key, clip, anchor, series) for clip in self.clips])
            )
            for key in self.keys
            for anchor, series in pairs
        }

    # -- Hulls ---------------------------------------------------------------------------------------------------------

    @cached_property
    def hulls(self) -> dict[tuple[str, str], list[Point]]:
        """The hulls of all series together, by score and clip, the lowest rate first."""
        return {(key, clip): self._hull(key, clip) for key in self.keys for clip in self.clips}

    def _hull(self, key: str, clip: str) -> list[Point]:
        points = [point for curve in self.curves(key, clip).values() for point in curve]
        return [points[i] for i in upper_hull([self._place(point, key) for point in points])]

    def ladder(self, key: str, clip: str) -> list[Rung]:
        """Returns the encodes of a clip that are worth having, which are those of the hull, the lowest rate first."""
        points = self.hulls[key, clip]
        scores = [point.values[key] or 0.0 for point in points]
        gains = [None, *(after - before for before, after in pairwise(scores))]
        return [Rung(point, number, gain) for number, (point, gain) in enumerate(zip(points, gains), 1)]

    def is_on_hull(self, point: Point, key: str) -> bool:
        return point in self.hulls[key, point.clip]

    def leads(self, key: str, clip: str) -> list[Lead]:
        return leads(
            {series: [self._place(point, key) for point in curve] for series, curve in self.curves(key, clip).items()}
        )

    def _place(self, point: Point, key: str) -> tuple[float, float]:
        quality = point.values[key]
        assert quality is not None
        return point.bitrate, -quality if self.facts(key).worse_is_high else quality

    # -- Warnings ------------------------------------------------------------------------------------------------------

    @property
    def warnings(self) -> list[str]:
        return list(
            dict.fromkeys(
                [
                    *self.notes,
                    *self.of_points,
                    *self.lacks,
                    *(text for key in self.keys for text in self.of_deltas(key)),
                ]
            )
        )

    @property
    def lacks(self) -> list[str]:
        return [self.library] if isinstance(self.library, str) and self.others else []

    @cached_property
    def of_points(self) -> list[str]:
        """The warnings about encodes; one that concerns several stands there once."""
        encodes: dict[str, list[str]] = {}
        for point in self.points:
            for text in self._of_point(point):
                encodes.setdefault(text, []).append(point.row.name)
        return [
            f"{', '.join(names) if len(names) <= MOST_NAMES else f'{len(names)} encodes'}: {text}"
            for text, names in encodes.items()
        ]

    def _of_point(self, point: Point) -> Iterator[str]:
        yield from point.warnings
        most = max(other.frames for other in self.points if other.clip == point.clip)
        if point.frames < most:
            have = "frame has scores" if point.frames == 1 else "frames have scores"
            yield f"{point.frames} {have}, but {most} frames of another encode of that clip"
        for key in self.keys:
            if key not in point.values:
                yield f"{key} is missing: left out of that curve"
            elif point.values[key] is None:
                yield f"{key} is infinite or missing in some frames: left out of that curve"

    def of_deltas(self, key: str) -> Iterator[str]:
        if self.lacks:
            return
        for (own, clip, series), delta in self.deltas.items():
            place = ", ".join(filter(None, (key, clip if len(self.clips) > 1 else "", series)))
            if own == key:
                yield from (f"{place}: {text}" for text in (*delta.problems, *delta.warnings))


def _measured(points: Sequence[Point], key: str) -> list[Measured]:
    return [
        Measured(point.bitrate, quality, point.label) for point in points if (quality := point.values[key]) is not None
    ]


def _mean_of(deltas: Sequence[Delta]) -> Mean:
    rates = [delta.rate for delta in deltas if delta.rate is not None]
    qualities = [delta.quality for delta in deltas if delta.quality is not None]
    intervals = interval_of_mean(rates), interval_of_mean(qualities)
    return Mean(_mean(rates), _mean(qualities), len(rates), len(qualities), *intervals)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def facts_of(points: Sequence[Point], key: str) -> Facts:
    """Returns the facts of a score by the first report that has it."""
    return next((point.facts[key] for point in points if key in point.facts), known_facts(key))


def main_keys(points: Sequence[Point]) -> list[str]:
    """Returns the keys of the main scores, in the order of the first point that has each."""
    return list(dict.fromkeys(key for point in points for key in point.keys))
