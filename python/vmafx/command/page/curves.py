"""Makes the page's charts: curves of scores and bit rates over time, and distributions."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._findings import wrong_pairs
from .._scores import Encode
from .._terminal import decimals_of, time_text
from .decimation import averages, extremes

STATIC_POINTS = 8000  # points of all curves of a page together, in pictures
LIVE_POINTS = 36000  # points of all curves together for the script
MOST_STATIC, MOST_LIVE = 1200, 12000  # points of one curve, in pictures and for the script
MEANS = 300  # most points of a curve of means
TIME_STEPS = 0.04, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800
BARS = 40
# Higher scores are not drawn: metrics stay far below, and an axis up to there would flatten all others.
MOST_DRAWN = 1e15
MOST_PARTS = 12000  # parts of a curve of bit rates
LONG = 1e7  # larger numbers of an axis are written with a power of ten


@dataclass
class Curve:
    name: str
    number: int  # the encode's number, which chooses the color
    xs: Sequence[float]
    ys: Sequence[float]  # NaN: a gap
    frames: Sequence[int] | None = None
    means: "Curve | None" = None  # the means of a shortened curve, which is then drawn faintly behind them
    titles: Sequence[str] = ()  # titles of the points, which are marked if there are any

    def shortened(self, count: int) -> "Curve":
        kept = extremes(self.ys, count)
        if len(kept) == len(self.ys):
            return self
        frames = None if self.frames is None else [self.frames[i] for i in kept]
        means = Curve(self.name, self.number, *averages(self.xs, self.ys, min(MEANS, count // 4)))
        return Curve(self.name, self.number, [self.xs[i] for i in kept], [self.ys[i] for i in kept], frames, means)


@dataclass
class Axis:
    low: float
    high: float
    ticks: list[tuple[float, str]]

    def part(self, value: float) -> float:
        """Returns 0 for the low end, 1 for the high end."""
        return (value - self.low) / (self.high - self.low)


@dataclass
class Chart:
    curves: list[Curve]
    x: Axis
    y: Axis
    decimals: int
    label: str
    in_time: bool = True  # False: over frame numbers
    steps: bool = False  # a value holds until the next one
    filled: bool = False
    hull: Curve | None = None
    wrong: Sequence[tuple[float, float]] = ()  # stretches of x whose pairs are sure to be wrong: from, to

    def for_script(self, points: int) -> dict[str, Any]:
        """Returns the chart for the script, as differences of integers, which are short: milliseconds or frames, and
        scores without a point.
        """
        curves = [curve.shortened(points) for curve in self.curves]
        return {
            "time": self.in_time,
            "steps": self.steps,
            "decimals": self.decimals,
            "range": [self.y.low, self.y.high],
            "ticks": [{"v": value, "label": text} for value, text in self.y.ticks],
            "wrong": [[round(x * (1000 if self.in_time else 1)) for x in stretch] for stretch in self.wrong],
            "curves": [self._for_script(curve) for curve in curves],
        }

    def _for_script(self, curve: Curve) -> dict[str, Any]:
        unit = 1000 if self.in_time else 1
        ys = [round(y * 10**self.decimals) if math.isfinite(y) else None for y in curve.ys]
        content: dict[str, Any] = {
            "name": curve.name,
            "color": curve.number,
            "x": _differences([round(x * unit) for x in curve.xs]),
            "y": ys,
        }
        if curve.frames is not None:
            content["frames"] = _differences(curve.frames)
        if curve.means is not None:
            content["means"] = self._for_script(curve.means)
        return content


def _differences(values: Sequence[int]) -> list[int]:
    return [value - before for value, before in zip(values, [0, *values])]


# -- Axes --------------------------------------------------------------------------------------------------------------


def number_axis(
    values: Sequence[float], most: int = 6, floor: float | None = None, ceiling: float | None = None
) -> Axis:
    """Returns an axis from one round number to another. The values are at most MOST_DRAWN."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    low, high = low if floor is None else min(low, floor), high if ceiling is None else max(high, ceiling)
    if high - low < 1e-6 * max(abs(high), 1):
        margin = max(abs(high) * 0.05, 0.01)
        low, high = low - margin, high + margin
    step = _round_step((high - low) / most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [i * step for i in range(first, last + 1)]
    return Axis(
        first * step,
        last * step,
        [(tick, f"{tick:.{decimals}f}" if abs(tick) < LONG else f"{tick:.6g}") for tick in ticks],
    )


def _round_step(least: float) -> float:
    unit = float(10 ** math.floor(math.log10(least)))
    return float(next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= least * (1 - 1e-9)))


def position_axis(low: float, high: float, in_time: bool, most: int = 8) -> Axis:
    """Returns an axis of times or of frame numbers, which ends with the curves."""
    if high <= low:
        high = low + (0.04 if in_time else 1)
    if not in_time:
        ticks = [
            tick for tick in number_axis([low, high], most).ticks if low <= tick[0] <= high and tick[0] == int(tick[0])
        ]
        return Axis(low, high, ticks)
    step = (
        next((step for step in TIME_STEPS if (high - low) / step <= most), 0)
        or _round_step((high - low) / most / 3600) * 3600
    )
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return Axis(low, high, [(i * step, time_text(i * step, decimals)) for i in places])


# -- Charts ------------------------------------------------------------------------------------------------------------


def have_times(encodes: Sequence[Encode]) -> bool:
    return all(encode.times for encode in encodes)


def over_time(encodes: Sequence[Encode], key: str) -> Chart:
    in_time = have_times(encodes)
    curves = [
        Curve(encode.name, number, _positions(encode, in_time), _drawn(encode.scores[key]), encode.numbers)
        for number, encode in enumerate(encodes)
        if key in encode.scores
    ]
    finite = [y for curve in curves for y in (min(_finite(curve.ys), default=0), max(_finite(curve.ys), default=1))]
    y = number_axis(finite)
    label = f"{key} of each frame over {'time' if in_time else 'frame numbers'}"
    scored = [encode for encode in encodes if key in encode.scores]
    wrong = [stretch for encode in scored for stretch in _wrong(encode, in_time)]
    label += "; pairs that are sure to be wrong are shaded" if wrong else ""
    return Chart(curves, span(scored), y, decimals_of(y.high), label, in_time, wrong=wrong)


def _wrong(encode: Encode, in_time: bool) -> Iterator[tuple[float, float]]:
    """Yields where pairs are wrong. A pair lasts until the next one."""
    places = _positions(encode, in_time)
    for first, last in wrong_pairs(encode):
        begin, end = bisect_left(encode.numbers, first), bisect_right(encode.numbers, last)
        if begin < end:
            yield places[begin], places[min(end, len(places) - 1)]


def span(encodes: Sequence[Encode]) -> Axis:
    in_time = have_times(encodes)
    positions = [_positions(encode, in_time) for encode in encodes]
    return position_axis(min(place[0] for place in positions), max(place[-1] for place in positions), in_time)


def _positions(encode: Encode, in_time: bool) -> Sequence[float]:
    if in_time:
        return encode.times
    return encode.numbers


def _are_drawn(values: Sequence[float]) -> bool:
    """Tells whether all values are drawn, by functions in C: films have a million scores."""
    return all(map(math.isfinite, values)) and (not values or -MOST_DRAWN <= min(values) <= max(values) <= MOST_DRAWN)


def _finite(values: Sequence[float]) -> Sequence[float]:
    """Returns the values that are drawn."""
    if _are_drawn(values):
        return values
    return [value for value in values if -MOST_DRAWN <= value <= MOST_DRAWN]


def _drawn(values: Sequence[float]) -> Sequence[float]:
    """Returns the values with gaps for those that are not drawn."""
    if _are_drawn(values):
        return values
    return [value if -MOST_DRAWN <= value <= MOST_DRAWN else math.nan for value in values]


def histogram(encodes: Sequence[Encode], key: str) -> Chart:
    """Returns the share of the frames in each of equal ranges of scores, in percent."""
    finite = {number: _finite(encode.scores[key]) for number, encode in enumerate(encodes) if key in encode.scores}
    x = number_axis([end for values in finite.values() if values for end in (min(values), max(values))])
    curves = []
    for number, values in finite.items():
        counts = [0] * BARS
        low, width, last = x.low, x.high - x.low, BARS - 1
        for value in values:
            counts[min(int((value - low) / width * BARS), last)] += 1
        shares = [100 * count / max(len(values), 1) for count in counts]
        edges = [x.low + (x.high - x.low) * i / BARS for i in range(BARS + 1)]
        curves.append(Curve(encodes[number].name, number, edges, [*shares, shares[-1]]))
    y = number_axis([share for curve in curves for share in curve.ys], 5, floor=0)
    return Chart(
        curves,
        x,
        y,
        1,
        f"share of frames with a {key} near each score, in percent",
        steps=True,
        filled=len(curves) == 1,
    )


def cumulative(encodes: Sequence[Encode], key: str) -> Chart:
    """Returns the share of the frames that are not above each score, in percent."""
    curves = []
    for number, encode in enumerate(encodes):
        ordered = sorted(_finite(encode.scores.get(key, ())))
        if ordered:
            percents = [0.5 * i for i in range(201)]
            nearest = [ordered[round(percent / 100 * (len(ordered) - 1))] for percent in percents]
            curves.append(Curve(encode.name, number, nearest, percents))
    x = number_axis([end for curve in curves for end in (curve.xs[0], curve.xs[-1])])
    return Chart(curves, x, number_axis([0, 100], 4), 1, f"share of frames with at most each {key}, in percent")


def bit_rates(names: Sequence[str], packets: Sequence[Sequence[tuple[float, int]]], x: Axis) -> Chart:
    """Returns the bit rates in Mbit/s, over parts of a second or longer."""
    longest = max((max(times) - min(times) for own in packets if (times := [time for time, _ in own])), default=0.0)
    length = max(1.0, (x.high - x.low) / 1200, longest / MOST_PARTS)
    curves = []
    for number, (name, own) in enumerate(zip(names, packets)):
        start, end = min((time for time, _ in own), default=0.0), max((time for time, _ in own), default=0.0)
        duration = (end - start) * len(own) / (len(own) - 1) if end > start else length  # counts the last frame, too
        sizes = [0] * (int((end - start) / length) + 1)
        for time, size in own:
            sizes[int((time - start) / length)] += size
        ends = [min(length, duration - i * length) for i in range(len(sizes))]  # the last part may be shorter
        rates = [8e-6 * size / end for size, end in zip(sizes, ends)]
        curves.append(
            Curve(
                name, number, [*(x.low + i * length for i in range(len(rates))), x.low + duration], [*rates, rates[-1]]
            )
        )
    y = number_axis([rate for curve in curves for rate in curve.ys], 4, floor=0)
    return Chart(curves, x, y, 3, f"bit rate over {length:.3g} s each, in Mbit/s", steps=True)
