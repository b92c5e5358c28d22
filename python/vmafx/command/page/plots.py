"""Draws charts as SVG. Lines stretch with the page, text does not: it stands in separate pictures beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import NamedTuple

from .curves import Chart, Curve

WIDTH, HEIGHT = 1000, 300
MOST_NAME, NAME_END = 40, 19  # characters of a name, and of its ends if it is longer
LEAST_COMMON = 8  # characters of the beginnings of names that are left out
LONE = 4  # half the width of the dash for a point whose neighbors are missing
COLORS = 8  # colors of style.css; further curves have them again, dashed


# Markers of points, with the center at 0, 0; there are as many as colors.
MARKERS = (
    "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-4.6L4.4 3.4H-4.4Z",
    "M0-5L5 0L0 5L-5 0Z",
    "M0 4.6L-4.4-3.4H4.4Z",
    "M-1.5-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
    "M0-5L4.8-1.5L2.9 4.1H-2.9L-4.8-1.5Z",
    "M-4.5-2.4L-2.4-4.5L0-2.1L2.4-4.5L4.5-2.4L2.1 0L4.5 2.4L2.4 4.5L0 2.1L-2.4 4.5L-4.5 2.4L-2.1 0Z",
)


def telling_names(names: Sequence[str]) -> list[str]:
    """Returns names without what all of them begin with, up to a dot, a dash or the like, if that is long."""
    common = commonprefix(names) if len(names) > 1 else ""
    begin = max(common.rfind(sign) for sign in "._-/ ") + 1
    if begin < LEAST_COMMON or any(len(name) == begin for name in names):
        return list(names)
    return [f"…{name[begin:]}" for name in names]


@dataclass(frozen=True)
class Label:
    """The name of an encode or a series, with a short line in its color."""

    text: str
    number: int  # of the encode, which chooses the color
    marked: bool = False  # with the marker of its points


@dataclass(frozen=True)
class Card:
    """The value of an encode or a series in large print, and others in small print."""

    label: Label
    value: str
    others: Sequence[str]  # no line ends within one of them


class Tick(NamedTuple):
    percent: str  # part of the width or the height
    text: str


class Line(NamedTuple):
    style: str  # the classes of style.css
    d: str  # the path, as in SVG


class Mark(NamedTuple):
    x: str  # percent of the width
    y: str
    title: str
    number: int


@dataclass(frozen=True)
class Plot:
    """The parts of a chart that the template draws."""

    label: str
    names: Sequence[Label]  # the curves' names
    ys: Sequence[Tick]
    xs: Sequence[Tick]
    grid: str
    lines: Sequence[Line]
    marks: Sequence[Mark]
    identity: str  # "" if no script draws the chart instead


@dataclass(frozen=True)
class Figure:
    """A chart below its title; its plot is missing if there are no scores."""

    title: str
    plot: Plot | None
    is_live: bool = False  # True: a script draws it, too


def plot(chart: Chart, points: int, identity: str = "") -> Plot:
    shortened = [curve.shortened(points) for curve in chart.curves]
    lines = [Line("wrong", _stretches(chart))] if chart.wrong else []
    lines += [Line("hull", _line(chart, chart.hull))] if chart.hull else []
    lines += [line for curve in shortened for line in _curve(chart, curve)]
    lines += [line for curve in shortened if curve.means for line in _curve(chart, curve.means)]
    return Plot(
        chart.label,
        [Label(curve.name, curve.number) for curve in chart.curves],
        [Tick(_percent(1 - chart.y.part(y)), text) for y, text in chart.y.ticks],
        [Tick(_percent(chart.x.part(x)), text) for x, text in chart.x.ticks],
        _grid(chart),
        lines,
        [
            Mark(_percent(chart.x.part(x)), _percent(1 - chart.y.part(y)), title, curve.number)
            for curve in chart.curves
            for x, y, title in zip(curve.xs, curve.ys, curve.titles)
        ],
        identity,
    )


def _percent(part: float) -> str:
    return f"{100 * part:.2f}%"


def short_name(name: str) -> str:
    """Leaves out the middle of a long name, for places beside others that have all of it."""
    return name if len(name) <= MOST_NAME else f"{name[:NAME_END]}…{name[-NAME_END:]}"


def style_of(number: int) -> str:
    return f"c{place_in_colors(number)}" + (" dashed" if number >= COLORS else "")


def place_in_colors(number: int) -> int:
    return number % COLORS


def marker_of(number: int) -> str:
    """Returns the marker of a number; when colors repeat, their markers differ."""
    return MARKERS[(number + number // COLORS) % len(MARKERS)]


def _x(chart: Chart, x: float, aside: int = 0) -> str:
    return f"{WIDTH * chart.x.part(x) + aside:.1f}"


def _y(chart: Chart, y: float) -> str:
    return f"{HEIGHT * (1 - chart.y.part(y)):.1f}"


def _grid(chart: Chart) -> str:
    across = (f"M0 {_y(chart, y)}H{WIDTH}" for y, _ in chart.y.ticks)
    down = (f"M{_x(chart, x)} 0V{HEIGHT}" for x, _ in chart.x.ticks)
    return "".join((*across, *down))


def _stretches(chart: Chart) -> str:
    return "".join(f"M{_x(chart, begin)} 0H{_x(chart, end)}V{HEIGHT}H{_x(chart, begin)}Z" for begin, end in chart.wrong)


def _curve(chart: Chart, curve: Curve) -> Sequence[Line]:
    d = _steps(chart, curve) if chart.steps else _line(chart, curve)
    style = style_of(curve.number)
    line = Line(style + (" faint" if curve.means else ""), d)
    if chart.filled and curve.xs:
        return Line(f"area {style}", f"{d}V{HEIGHT}H{_x(chart, curve.xs[0])}Z"), line
    return (line,)


def _line(chart: Chart, curve: Curve) -> str:
    """Returns lines between points whose neighbors are there, and dashes for the others."""
    text, run = "", []
    for x, y in (*zip(curve.xs, curve.ys), (0, math.nan)):
        if math.isfinite(y):
            run.append((x, y))
            continue
        if len(run) == 1:
            ((lone, height),) = run
            text += f"M{_x(chart, lone, -LONE)} {_y(chart, height)}H{_x(chart, lone, LONE)}"
        elif run:
            text += "M" + "L".join(f"{_x(chart, a)} {_y(chart, b)}" for a, b in run)
        run = []
    return text


def _steps(chart: Chart, curve: Curve) -> str:
    text = ""
    for x, y in zip(curve.xs, curve.ys):
        text += f"H{_x(chart, x)}V{_y(chart, y)}" if text else f"M{_x(chart, x)} {_y(chart, y)}"
    return text
