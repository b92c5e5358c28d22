"""The page of a comparison: for each score the curves with their hull, the differences from the anchor, the best series by rate; then all points."""

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from .._terminal import decimals_of
from ..comparison.comparison import Comparison
from ..comparison.output import difference, mean_name, percent, value_text
from ..comparison.points import Point
from .curves import Axis, Chart, Curve, number_axis
from .document import document, footer, header
from .plots import key_of, plot
from .tables import number, table

LEAST_TICKS = 4  # of rates
HULL_STEPS = 12  # of a line between two points: straight in the rate, it is bent where the logarithm of the rate is drawn


def make_page(comparison: Comparison, title: str = "") -> str:
    title = title or f"Comparison of {', '.join(comparison.series)}"
    sections = "\n".join(_section(comparison, key) for key in comparison.keys)
    body = "\n".join([_head(comparison, title), sections, _points(comparison), _foot(comparison)])
    return document(title, body)


def _head(comparison: Comparison, title: str) -> str:
    clips = f"{len(comparison.clips)} clips" if len(comparison.clips) > 1 else comparison.clips[0]
    facts = [f"{len(comparison.points)} encodes", clips, f"{comparison.pool.replace('_', ' ')} of the frames", f"anchor {comparison.anchor}"]
    warnings = [*comparison.notes, *comparison.of_points, *comparison.lacks]
    return header(title, list(filter(None, facts)), _cards(comparison), warnings)


def _cards(comparison: Comparison) -> str:
    """The BD-rate by the first score, large, and those by others."""
    if comparison.lacks or not comparison.others:
        return ""
    first, *others = comparison.keys
    cards = []
    for series in comparison.others:
        rest = " · ".join(f"{escape(key)} {percent(comparison.mean(key, series).rate)}" for key in others)
        name = f'{_key(comparison, series)}<span class="name">{escape(series)}</span>'
        cards.append(f"<li>{name}<b>{percent(comparison.mean(first, series).rate)}</b><span>{rest}</span></li>")
    of_clips = ", mean of the clips" if len(comparison.clips) > 1 else ""
    return f'<h2 class="quiet">BD-rate by {escape(first)}{of_clips}: less is better</h2><ul class="cards">{"".join(cards)}</ul>'


# -- A score -------------------------------------------------------------------------------------------------------------


def _section(comparison: Comparison, key: str) -> str:
    figures = "".join(_figure(comparison, key, clip) for clip in comparison.clips)
    several = ' class="pair"' if len(comparison.clips) > 1 else ""
    tables = _differences(comparison, key) + _leads(comparison, key)
    return f"<section><h2>{escape(key)}</h2>{_legend(comparison)}<div{several}>{figures}</div>{tables}</section>"


def _legend(comparison: Comparison) -> str:
    items = "".join(f"<li>{_series(comparison, series)}</li>" for series in comparison.series)
    hull = '<li><svg class="key" viewBox="0 0 20 8" aria-hidden="true"><path class="hull" d="M0 4H20"/></svg>convex hull</li>'
    return f'<ul class="legend">{items}{hull}</ul>'


def _figure(comparison: Comparison, key: str, clip: str) -> str:
    label = f"{key} over kbit/s" + (f", {clip}" if clip else "")
    chart = _chart(comparison, key, clip, label)
    if not chart.curves:
        return f"<figure><figcaption>{escape(label)}: no scores</figcaption></figure>"
    return f'<figure class="rates"><figcaption>{escape(label)}</figcaption>{plot(chart, len(comparison.points))}</figure>'


def _chart(comparison: Comparison, key: str, clip: str, label: str) -> Chart:
    curves = []
    for place, series in enumerate(comparison.series):
        if points := comparison.curve(key, clip, series):
            titles = [_title(comparison, point, key) for point in points]
            curves.append(Curve(series, place, [_x(point.bitrate) for point in points], [point.values[key] or 0.0 for point in points], titles=titles))
    x, y = rate_axis([x for curve in curves for x in curve.xs]), number_axis([value for curve in curves for value in curve.ys])
    return Chart(curves, x, y, decimals_of(y.high), label, hull=_hull(comparison.hulls[key, clip], key))


def _x(rate: float) -> float:
    return math.log10(rate)


def rate_axis(logarithms: Sequence[float]) -> Axis:
    """Of decimal logarithms of kbit/s, with some room at both ends."""
    low, high = min(logarithms, default=2.0), max(logarithms, default=4.0)
    margin = max(0.04 * (high - low), 0.02)
    low, high = low - margin, high + margin
    ticks: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        ticks = ticks if len(ticks) >= LEAST_TICKS else [step * 10.0**power for power in range(math.floor(low), math.ceil(high)) for step in steps]
        ticks = [rate for rate in ticks if low <= _x(rate) <= high]
    if len(ticks) < LEAST_TICKS:
        ticks = [rate for rate, _ in number_axis([10**low, 10**high]).ticks if rate > 0 and low <= _x(rate) <= high]
    return Axis(low, high, [(_x(rate), f"{rate:,.6g}") for rate in ticks])


def _hull(points: Sequence[Point], key: str) -> Curve:
    places = [(point.bitrate, point.values[key] or 0.0) for point in points]
    line = [(a + (b - a) * i / HULL_STEPS, p + (q - p) * i / HULL_STEPS) for (a, p), (b, q) in pairwise(places) for i in range(HULL_STEPS)]
    line += places[-1:]
    return Curve("convex hull", 0, [_x(rate) for rate, _ in line], [score for _, score in line])


def _title(comparison: Comparison, point: Point, key: str) -> str:
    on_hull = ", on the hull" if comparison.is_on_hull(point, key) else ""
    return f"{point.series}, {point.label}: {point.bitrate:,.1f} kbit/s, {key} {value_text(comparison, point, key)}{on_hull}"


def _differences(comparison: Comparison, key: str) -> str:
    if comparison.lacks or not comparison.others:
        return ""
    rows = []
    for series in comparison.others:
        name = _series(comparison, series)
        for clip in comparison.clips:
            delta = comparison.deltas[key, clip, series]
            by_rate = [percent(delta.rate), _part(delta.overlap.get("scores"))]
            by_score = [difference(delta.quality, comparison, key), _part(delta.overlap.get("rates"))]
            rows.append([name, *_clip(comparison, clip), *by_rate, *by_score])
        if len(comparison.clips) > 1:
            mean = comparison.mean(key, series)
            cells = [mean_name(comparison, key, series), percent(mean.rate), "", difference(mean.quality, comparison, key), ""]
            rows.append([name, *(f"<b>{cell}</b>" for cell in cells)])
    clips = _clip(comparison, "clip")
    heads = ["series", *clips, "BD-rate", "overlap of scores", f"BD-{escape(key)}", "overlap of rates"]
    warnings = "".join(f"<li>{escape(text)}</li>" for text in comparison.of_deltas(key))
    box = f'<ul class="warnings">{warnings}</ul>' if warnings else ""
    return f"<h3>Against {escape(comparison.anchor)}</h3>{table(heads, rows, texts=1 + len(clips))}{box}"


def _clip(comparison: Comparison, text: str) -> list[str]:
    """A cell, where there are several."""
    return [escape(text)] if len(comparison.clips) > 1 else []


def _part(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _leads(comparison: Comparison, key: str) -> str:
    """Where curves cross, another series is the best one."""
    if len(comparison.series) < 2:
        return ""
    rows = []
    for clip in comparison.clips:
        for lead in comparison.leads(key, clip):
            why = "curves cross" if lead.crosses else "a curve begins or ends" if lead.follows else ""
            rows.append([_series(comparison, lead.series), *_clip(comparison, clip), f"{lead.begin:,.1f}", f"{lead.end:,.1f}", why])
    clips = _clip(comparison, "clip")
    return f"<h3>Best series by rate</h3>{table(['series', *clips, 'from kbit/s', 'to', 'why from there'], rows, texts=1 + len(clips))}" if rows else ""


def _series(comparison: Comparison, series: str) -> str:
    return _key(comparison, series) + escape(series)


def _key(comparison: Comparison, series: str) -> str:
    return key_of(comparison.series.index(series), marked=True)


# -- All points ----------------------------------------------------------------------------------------------------------


def _points(comparison: Comparison) -> str:
    rows = []
    for point in comparison.points:
        scores = [_score(comparison, point, key) for key in comparison.keys]
        size = number(None if point.size is None else point.size / 1e6, 3)
        rows.append([_series(comparison, point.series), escape(point.clip or "–"), escape(point.label), f"{point.bitrate:,.1f}", size, *scores])
    heads = ["series", "clip", "encode", "kbit/s", "megabytes", *(escape(key) for key in comparison.keys)]
    return f'<section><h2>Encodes</h2><p class="facts">◆: on the convex hull of its clip</p>{table(heads, rows, texts=3)}</section>'


def _score(comparison: Comparison, point: Point, key: str) -> str:
    mark = "◆ " if comparison.is_on_hull(point, key) else ""
    return mark + value_text(comparison, point, key)


def _foot(comparison: Comparison) -> str:
    return footer(
        f"BD-rates: {comparison.method}, by the package bjontegaard. Hulls are those of the rate, not of its logarithm; between its points a curve is "
        "drawn straight over the logarithm."
    )
