"""A monotone model of a score over the quantizer, fitted to noisy points."""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

STEPS = 60  # of a bisection
FAR = 0.35  # of the range: how far beyond the points the model is believed
SHAPE = 0.12  # of the difference between two points: how far the curve between them may be from the model's


class Point(NamedTuple):
    value: float
    sigma: float  # the standard error of the value


@dataclass
class Curve:
    """Rising values over a position; both in units of the caller's choice.

    `slope` is what to expect before there are two points, `least_sigma` the noise that each point has at least.
    """

    width: float  # of the range of positions
    slope: float
    least_sigma: float = 1e-3
    points: dict[float, Point] = field(default_factory=dict)

    def put(self, position: float, value: float, sigma: float) -> None:
        """Adds a point, in place of an earlier one at this position."""
        self.points[position] = Point(value, sigma)

    def with_point(self, position: float, value: float, sigma: float) -> "Curve":
        return Curve(self.width, self.slope, self.least_sigma, {**self.points, position: Point(value, sigma)})

    def fitted(self) -> tuple[list[float], list[float]]:
        """Returns the positions and the rising values that are closest to the points: pools adjacent violators."""
        positions = sorted(self.points)
        blocks: list[tuple[float, float, int]] = []  # value, weight, points
        for position in positions:
            value, sigma = self.points[position]
            blocks.append((value, 1 / (sigma**2 + self.least_sigma**2), 1))
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (first, weight, count), (second, other, more) = blocks[-2:]
                mean = (first * weight + second * other) / (weight + other)
                blocks[-2:] = [(mean, weight + other, count + more)]
        return positions, [value for value, _, count in blocks for _ in range(count)]

    def at(self, position: float) -> float:
        """Returns the model's value."""
        xs, ys = self.fitted()
        return _value(xs, ys, self._slopes(xs, ys), position)

    def interval(self, position: float, factor: float) -> tuple[float, float]:
        """Returns bounds of the value: `factor` standard errors of the points beside the position, and what the shape
        between them may differ.
        """
        xs, ys = self.fitted()
        value = _value(xs, ys, self._slopes(xs, ys), position)
        i = min(max(bisect.bisect_left(xs, position), 1), max(len(xs) - 1, 1))
        beside = [self.points[x].sigma for x in xs[max(i - 1, 0) : i + 1]]
        noise = factor * max(beside)
        if position in self.points:
            return value - factor * self.points[position].sigma, value + factor * self.points[position].sigma
        if len(xs) < 2 or not xs[0] < position < xs[-1]:
            distance = min(abs(position - x) for x in xs)
            shape = abs(self.slope) * distance
            return value - noise - shape, value + noise + shape
        t = (position - xs[i - 1]) / (xs[i] - xs[i - 1])
        shape = SHAPE * 4 * t * (1 - t) * (ys[i] - ys[i - 1])
        return max(value - shape, ys[i - 1]) - noise, min(value + shape, ys[i]) + noise

    def crossing(self, value: float) -> float:
        """Returns the largest position whose value is at most this one."""
        xs, ys = self.fitted()
        slopes = self._slopes(xs, ys)
        low, high = xs[0] - FAR * self.width, xs[-1] + FAR * self.width
        if _value(xs, ys, slopes, low) > value:
            return low
        if _value(xs, ys, slopes, high) <= value:
            return high
        for _ in range(STEPS):
            middle = (low + high) / 2
            if _value(xs, ys, slopes, middle) <= value:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def _slopes(self, xs: Sequence[float], ys: Sequence[float]) -> list[float]:
        """Returns the slope at each point, which keep a cubic between the points monotone (Fritsch and Carlson, 1980):
        the harmonic mean of the slopes beside it; at the ends that of the line, but never one that is nearly level.
        """
        lines = [(ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) for i in range(len(xs) - 1)]
        if not lines:
            return [self.slope]
        inner = [2 * a * b / (a + b) if a * b > 0 else 0.0 for a, b in zip(lines, lines[1:])]
        return [max(lines[0], self.slope / 8), *inner, max(lines[-1], self.slope / 8)]


def _value(xs: Sequence[float], ys: Sequence[float], slopes: Sequence[float], x: float) -> float:
    """Returns the cubic between the points, and a line beyond them."""
    if x <= xs[0]:
        return ys[0] + slopes[0] * (x - xs[0])
    if x >= xs[-1]:
        return ys[-1] + slopes[-1] * (x - xs[-1])
    i = bisect.bisect_right(xs, x) - 1
    width, rise = xs[i + 1] - xs[i], ys[i + 1] - ys[i]
    t = (x - xs[i]) / width
    first, last = (min(slope * width, 3 * rise) for slope in slopes[i : i + 2])  # up to 3 times the line is monotone
    return ys[i] + rise * t * t * (3 - 2 * t) + first * t * (1 - t) ** 2 - last * t * t * (1 - t)


def t_quantile(confidence: float, freedom: int) -> float:
    """Returns how many standard errors a two-sided interval is wide on each side, by Student's distribution."""
    if freedom < 1:
        return math.inf
    tail = (1 - confidence) / 2
    if freedom == 1:
        return 1 / math.tan(math.pi * tail)
    if freedom == 2:
        return (1 - 2 * tail) * math.sqrt(2 / (4 * tail * (1 - tail)))
    z = float(NormalDist().inv_cdf(1 - tail))
    # Cornish and Fisher's expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5)
    terms = (
        (z**3 + z) / 4.0,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum([z, *(term / float(freedom) ** (i + 1) for i, term in enumerate(terms))])
