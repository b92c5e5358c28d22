"""Makes the page of a comparison: for each score the curves with their hull, the differences from the anchor, and the
best series by rate; then all points.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .._terminal import decimals_of
from ..comparison.bootstrap import CONFIDENCE
from ..comparison.comparison import Comparison
from ..comparison.output import difference, interval_words, mean_name, percent, value_text
from ..comparison.points import Point
from .curves import Axis, Chart, Curve, number_axis
from .document import render
from .plots import Card, Figure, Label, plot
from .tables import Cell, Lines, Strong, Table, number
from .verdict import MOST_TOLD, Said, meaning, side_of

MOST_LARGE = 4  # clips with charts of the usual size; those of more are small multiples
MOST_WARNINGS = 4  # more are folded
MOST_DOUBTS = 2  # warnings about curves that are said at the top
LEAST_TICKS = 4  # ticks on the axis of rates
# Pieces of a line between two points of the hull: straight over the rate, it is bent over the rate's logarithm.
HULL_STEPS = 12


@dataclass(frozen=True)
class Section:
    """The page's section on one score."""

    key: str
    side: str  # which scores are the better ones
    figures: list[Figure]
    by_clip: Table | None  # a row for each clip, a column for each series
    matrix: Table | None  # each series against each other one
    differences: Table | None
    warnings: list[str]
    leads: Table | None
    ladders: Table


def make_page(comparison: Comparison, title: str = "") -> str:
    clips = f"{len(comparison.clips)} clips" if len(comparison.clips) > 1 else comparison.clips[0]
    facts = [
        f"{len(comparison.points)} encodes",
        clips,
        f"{comparison.pool.replace('_', ' ')} of the frames",
        f"anchor {comparison.anchor}",
    ]
    return render(
        "comparison.html",
        title or f"Comparison of {', '.join(comparison.series)}",
        facts=list(filter(None, facts)),
        warnings=list(dict.fromkeys([*comparison.notes, *comparison.of_points, *comparison.lacks])),
        cards_of=f"{comparison.keys[0]}{', mean of the clips' if len(comparison.clips) > 1 else ''}",
        cards=list(_cards(comparison)),
        verdict=_verdict(comparison),
        series=[_label(comparison, series) for series in comparison.series],
        sections=[_section(comparison, key) for key in comparison.keys],
        anchor=comparison.anchor,
        points=_points(comparison),
        intervals=interval_words(comparison).removeprefix("; "),
        several=len(comparison.clips) > 1,
        most_large=MOST_LARGE,
        most_warnings=MOST_WARNINGS,
        method=comparison.method,
    )


def _cards(comparison: Comparison) -> Iterator[Card]:
    """Yields the BD-rate of each series by the first score, and by the others."""
    if comparison.lacks:
        return
    first, *others = comparison.keys
    for series in comparison.others:
        mean = comparison.mean(first, series)
        rest = [f"{key} {percent(comparison.mean(key, series).rate)}" for key in others]
        if mean.rate_interval:
            rest.insert(0, " to ".join(map(percent, mean.rate_interval)))
        yield Card(_label(comparison, series), percent(mean.rate), rest)


def _label(comparison: Comparison, series: str) -> Label:
    return Label(series, comparison.series.index(series), marked=True)


# -- In words ----------------------------------------------------------------------------------------------------------


def _verdict(comparison: Comparison) -> list[Said]:
    """Says what the series cost against the anchor, which encodes are worth having, what is doubtful, and what the
    scores mean.
    """
    key = comparison.keys[0]
    parts = (
        Said("What they cost", list(_costs(comparison, key))),
        Said("Worth having", [_worth(comparison, key)]),
        Said("What is doubtful", list(_doubts(comparison, key))),
        Said("What scores mean", [[_meaning(comparison, key)] for key in comparison.keys]),
    )
    return [part for part in parts if part.lines]


def _costs(comparison: Comparison, key: str) -> Iterator[list[Cell]]:
    """Yields the BD-rates of the first score in words: of all series, or of the best and the worst of many."""
    if comparison.lacks:
        return
    rates = {series: comparison.mean(key, series).rate for series in comparison.others}
    ordered = sorted((series for series in rates if rates[series] is not None), key=lambda series: rates[series] or 0.0)
    told = comparison.others if len(comparison.others) <= MOST_TOLD else list(dict.fromkeys(ordered[:1] + ordered[-1:]))
    for series in told:
        rate = rates[series]
        if rate is None:
            yield [_label(comparison, series), f"has no BD-rate by {key}: the reasons stand below."]
            continue
        more = "more" if rate > 0 else "fewer"
        mean = ", as a mean of the clips" if len(comparison.clips) > 1 else ""
        amount = f"{abs(rate):.2f} % {more} bits than" if rate else "as many bits as"
        yield [_label(comparison, series), f"needs {amount} {comparison.anchor} for the same {key}{mean}."]


def _worth(comparison: Comparison, key: str) -> list[Cell]:
    """Says how many encodes of each series are on the hull of their clip."""
    having = [point for point in comparison.points if point.values.get(key) is not None]
    best = [point.series for point in having if comparison.is_on_hull(point, key)]
    counts = [f"{best.count(series)} of {series}" for series in comparison.series if series in best]
    told = f": {', '.join(counts)}" if 1 < len(comparison.series) and 0 < len(counts) <= MOST_TOLD else ""
    return [f"By {key}, {len(best)} of {len(having)} encodes are on the convex hull of their clip{told}."]


def _doubts(comparison: Comparison, key: str) -> Iterator[list[Cell]]:
    found = list(comparison.of_deltas(key))
    if comparison.lacks:
        yield ["There are no BD-rates: the reason stands below."]
    for text in found[:MOST_DOUBTS]:
        yield [f"{text}."]
    if len(found) > MOST_DOUBTS:
        yield [f"{len(found) - MOST_DOUBTS} more warnings stand beside the differences by {key}."]
    if not found and not comparison.lacks:
        yield ["The curves give no doubts." if len(comparison.series) > 1 else "There is one curve, and no comparison."]


def _meaning(comparison: Comparison, key: str) -> str:
    model = next((point.models[key] for point in comparison.points if key in point.models), "")
    return f"{key}: {meaning(comparison.facts(key), key, model)}"


# -- A score -----------------------------------------------------------------------------------------------------------


def _section(comparison: Comparison, key: str) -> Section:
    figures = [_figure(comparison, key, clip) for clip in comparison.clips]
    return Section(
        key,
        side_of(comparison.facts(key)),
        figures,
        _by_clip(comparison, key),
        _matrix(comparison, key),
        _differences(comparison, key),
        list(comparison.of_deltas(key)),
        _leads(comparison, key),
        _ladders(comparison, key),
    )


def _figure(comparison: Comparison, key: str, clip: str) -> Figure:
    label = f"{key} over kbit/s" + (f", {clip}" if clip else "")
    title = clip if len(comparison.clips) > MOST_LARGE else label
    chart = _chart(comparison, key, clip, label)
    return Figure(title, plot(chart, len(comparison.points))) if chart.curves else Figure(f"{title}: no scores", None)


def _chart(comparison: Comparison, key: str, clip: str, label: str) -> Chart:
    curves = []
    for place, series in enumerate(comparison.series):
        if points := comparison.curve(key, clip, series):
            titles = [_title(comparison, point, key) for point in points]
            curves.append(
                Curve(
                    series,
                    place,
                    [_x(point.bitrate) for point in points],
                    [point.values[key] or 0.0 for point in points],
                    titles=titles,
                )
            )
    x, y = rate_axis([x for curve in curves for x in curve.xs]), number_axis(
        [value for curve in curves for value in curve.ys]
    )
    return Chart(curves, x, y, decimals_of(y.high), label, hull=_hull(comparison.hulls[key, clip], key))


def _x(rate: float) -> float:
    return math.log10(rate)


def rate_axis(logarithms: Sequence[float]) -> Axis:
    """Returns an axis of decimal logarithms of kbit/s, with some room at both ends."""
    low, high = min(logarithms, default=2.0), max(logarithms, default=4.0)
    margin = max(0.04 * (high - low), 0.02)
    low, high = low - margin, high + margin
    ticks: list[float] = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        ticks = (
            ticks
            if len(ticks) >= LEAST_TICKS
            else [step * 10.0**power for power in range(math.floor(low), math.ceil(high)) for step in steps]
        )
        ticks = [rate for rate in ticks if low <= _x(rate) <= high]
    if len(ticks) < LEAST_TICKS:
        ticks = [rate for rate, _ in number_axis([10**low, 10**high]).ticks if rate > 0 and low <= _x(rate) <= high]
    return Axis(low, high, [(_x(rate), f"{rate:,.6g}") for rate in ticks])


def _hull(points: Sequence[Point], key: str) -> Curve:
    places = [(point.bitrate, point.values[key] or 0.0) for point in points]
    line = [
        (a + (b - a) * i / HULL_STEPS, p + (q - p) * i / HULL_STEPS)
        for (a, p), (b, q) in pairwise(places)
        for i in range(HULL_STEPS)
    ]
    line += places[-1:]
    return Curve("convex hull", 0, [_x(rate) for rate, _ in line], [score for _, score in line])


def _title(comparison: Comparison, point: Point, key: str) -> str:
    on_hull = ", on the hull" if comparison.is_on_hull(point, key) else ""
    return (
        f"{point.series}, {point.label}: {point.bitrate:,.1f} kbit/s, {key} "
        f"{value_text(comparison, point, key)}{on_hull}"
    )


def _by_clip(comparison: Comparison, key: str) -> Table | None:
    """Returns the BD-rates of several clips, with their means and the intervals of these."""
    if comparison.lacks or not comparison.others or len(comparison.clips) < 2:
        return None
    means = [comparison.mean(key, series) for series in comparison.others]
    rows: list[list[Cell]] = [
        [clip, *(percent(comparison.deltas[key, clip, series].rate) for series in comparison.others)]
        for clip in comparison.clips
    ]
    rows.append([Strong("mean"), *(Strong(percent(mean.rate)) for mean in means)])
    ends = [mean.rate_interval or (None, None) for mean in means]
    rows.append([f"{100 * CONFIDENCE:.0f} %", *(f"{percent(low)} to {percent(high)}" for low, high in ends)])
    if any(mean.rate_clips < len(comparison.clips) for mean in means):
        rows.append(["clips", *(str(mean.rate_clips) for mean in means)])
    return Table(["clip", *(_label(comparison, series) for series in comparison.others)], rows)


def _matrix(comparison: Comparison, key: str) -> Table | None:
    """Returns the mean BD-rates of all pairs of series, if there are more pairs than those with the anchor."""
    if comparison.lacks or len(comparison.series) < 3:
        return None
    rows: list[list[Cell]] = [
        [_label(comparison, anchor), *(_pair(comparison, key, anchor, series) for series in comparison.series)]
        for anchor in comparison.series
    ]
    return Table(["against", *(_label(comparison, series) for series in comparison.series)], rows)


def _pair(comparison: Comparison, key: str, anchor: str, series: str) -> Cell:
    """Returns the mean BD-rate of a series against another one, with its interval."""
    if anchor == series:
        return "–"
    mean = comparison.matrix[key, anchor, series]
    if not mean.rate_interval:
        return percent(mean.rate)
    return Lines([percent(mean.rate), " to ".join(map(percent, mean.rate_interval))])


def _ladders(comparison: Comparison, key: str) -> Table:
    rows: list[list[Cell]] = [
        [
            *(_clip(comparison, clip) if rung.number == 1 else _clip(comparison, "")),
            _label(comparison, rung.point.series),
            rung.point.label,
            str(rung.number),
            f"{rung.point.bitrate:,.1f}",
            value_text(comparison, rung.point, key),
            difference(rung.gain, comparison, key) if rung.gain is not None else "",
        ]
        for clip in comparison.clips
        for rung in comparison.ladder(key, clip)
    ]
    clips = _clip(comparison, "clip")
    return Table([*clips, "series", "encode", "rung", "kbit/s", key, "gain"], rows, texts=2 + len(clips))


def _differences(comparison: Comparison, key: str) -> Table | None:
    if comparison.lacks or not comparison.others:
        return None
    rows: list[list[Cell]] = []
    for series in comparison.others:
        name = _label(comparison, series)
        for clip in comparison.clips:
            delta = comparison.deltas[key, clip, series]
            by_rate = [percent(delta.rate), _part(delta.overlap.get("scores"))]
            by_score = [difference(delta.quality, comparison, key), _part(delta.overlap.get("rates"))]
            rows.append([name, *_clip(comparison, clip), *by_rate, *by_score])
        if len(comparison.clips) > 1:
            mean = comparison.mean(key, series)
            cells = [
                mean_name(comparison, key, series),
                percent(mean.rate),
                "",
                difference(mean.quality, comparison, key),
                "",
            ]
            rows.append([name, *map(Strong, cells)])
    clips = _clip(comparison, "clip")
    return Table(
        ["series", *clips, "BD-rate", "overlap of scores", f"BD-{key}", "overlap of rates"], rows, texts=1 + len(clips)
    )


def _clip(comparison: Comparison, text: str) -> list[str]:
    """Returns a cell with the text if there are several clips."""
    return [text] if len(comparison.clips) > 1 else []


def _part(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _leads(comparison: Comparison, key: str) -> Table | None:
    """Returns the table of the best series: another is the best after curves cross."""
    if len(comparison.series) < 2:
        return None
    rows: list[list[Cell]] = []
    for clip in comparison.clips:
        for lead in comparison.leads(key, clip):
            why = "curves cross" if lead.crosses else "a curve begins or ends" if lead.follows else ""
            rows.append(
                [
                    _label(comparison, lead.series),
                    *_clip(comparison, clip),
                    f"{lead.begin:,.1f}",
                    f"{lead.end:,.1f}",
                    why,
                ]
            )
    clips = _clip(comparison, "clip")
    return (
        Table(["series", *clips, "from kbit/s", "to", "why from there"], rows, texts=1 + len(clips)) if rows else None
    )


# -- All points --------------------------------------------------------------------------------------------------------


def _points(comparison: Comparison) -> Table:
    rows: list[list[Cell]] = []
    for point in comparison.points:
        scores = [_score(comparison, point, key) for key in comparison.keys]
        size = number(None if point.size is None else point.size / 1e6, 3)
        rows.append(
            [
                _label(comparison, point.series),
                *_clip(comparison, point.clip or "–"),
                point.label,
                f"{point.bitrate:,.1f}",
                size,
                *scores,
            ]
        )
    clips = _clip(comparison, "clip")
    return Table(["series", *clips, "encode", "kbit/s", "megabytes", *comparison.keys], rows, texts=2 + len(clips))


def _score(comparison: Comparison, point: Point, key: str) -> str:
    mark = "◆ " if comparison.is_on_hull(point, key) else ""
    return mark + value_text(comparison, point, key)
