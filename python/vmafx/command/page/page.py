"""Puts the page of scores together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import _ffmpeg
from .._keys import Facts
from .._scores import Encode
from .._statistics import pooled_values, worst_tail_name, worst_value_name
from .._terminal import time_text
from . import USUAL_SCENES
from .curves import (
    LIVE_POINTS,
    MOST_LIVE,
    MOST_STATIC,
    STATIC_POINTS,
    Chart,
    bit_rates,
    cumulative,
    have_times,
    histogram,
    over_time,
    span,
)
from .document import render
from .maps import Maps, Scale
from .pictures import Media
from .plots import Card, Figure, Label, plot, telling_names
from .scenes import scenes_of_page
from .tables import Cell, Table, decimals_for, doubts_table, number, pooled_table, run_tables, windows_table
from .verdict import side_of, verdict
from .worst import Place, Worst, WorstFrames

LEAST_MULTIPLES = 3  # encodes whose curves are drawn one by one, too
MULTIPLE_POINTS = 120  # points of such a curve
MOST_TITLE = 80  # characters of the names of several encodes in the title
LEAST = 8  # points of a curve, however many curves there are


@dataclass
class Page:
    encodes: list[Encode]
    keys: list[str]
    media: Media | None = None
    dygraphs: Path | None = None  # the folder of dygraph.min.js
    title: str = ""
    warnings: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # lines on models, sizes, and how inputs were made alike
    worst: int = 4  # worst frames of each encode that are shown
    frames: Sequence[Place] = ()  # other frames that get pictures
    maps: Maps | None = None  # over these pictures
    scenes: float = USUAL_SCENES  # the threshold of FFmpeg's scdet for a new scene; 0: scenes are left out
    charts: list[dict[str, Any]] = field(default_factory=list)  # the charts for the script


@dataclass(frozen=True)
class Section:
    """The page's section on one score."""

    key: str
    side: str  # which scores are the better ones
    over_time: Figure
    multiples: list[Figure]  # the curves of several encodes, one by one, with the same axes
    pooled: Table
    distributions: list[Figure]
    worst: list[WorstFrames]
    maps: Scale | None  # of the maps over the pictures of these frames


def _warnings_of(encodes: Sequence[Encode]) -> Iterator[str]:
    """Yields the encodes' warnings, with the name of the encode; what concerns all of several stands there once."""
    for encode in encodes:
        for text in encode.warnings:
            is_of_all = all(text in other.warnings for other in encodes)
            name = f"all {len(encodes)} encodes" if is_of_all else encode.name
            yield f"{name}: {text}" if len(encodes) > 1 else text


def make_page(page: Page) -> str:
    title = page.title or _usual_title(page.encodes)
    warnings = list(dict.fromkeys([*_warnings_of(page.encodes), *page.warnings]))
    sections = list(_sections(page))
    bit_rate = _bit_rate(page)
    return render(
        "report.html",
        title,
        page.charts,
        page.dygraphs,
        has_pictures=any(frame.pictures for section in sections for found in section.worst for frame in found.frames),
        facts=_facts(page),
        warnings=warnings,
        verdict=verdict(page.encodes, page.keys, bool(warnings)),
        doubts=doubts_table(page.encodes),
        cards_of=f"{page.keys[0]}, mean. {side_of(_facts_of(page, page.keys[0]))}",
        cards=list(_cards(page)),
        sections=sections,
        bit_rate=bit_rate,
        scenes=scenes_of_page(page.encodes, page.keys, page.media, page.scenes),
        windows=list(_windows(page)),
        several=len(page.encodes) > 1,
        runs=run_tables(page.encodes),
        said=page.said,
    )


def _usual_title(encodes: Sequence[Encode]) -> str:
    names = ", ".join(encode.name for encode in encodes)
    return f"Scores of {names if len(encodes) == 1 or len(names) <= MOST_TITLE else f'{len(encodes)} encodes'}"


def _facts(page: Page) -> list[str]:
    frames = max(len(encode.numbers) for encode in page.encodes)
    facts = [f"{frames:,} frames" if frames != 1 else "1 frame"]
    if have_times(page.encodes) and frames != 1:
        axis = span(page.encodes)
        facts.append(time_text(axis.high - axis.low, 0))
    if page.media and page.media.ref:
        facts.append(f"reference {Path(page.media.ref).name}")
    if version := page.encodes[0].run.get("version"):
        facts.append(f"vmafx {version}")
    return facts


def _cards(page: Page) -> Iterator[Card]:
    """Yields a card for each encode: the mean of the first score, and two other values of it."""
    key = page.keys[0]
    for place, encode in enumerate(page.encodes):
        if key in encode.scores:
            values, facts = pooled_values(encode, key), encode.facts(key)
            tail, worst, mean = (
                number(values[name], decimals_for(values))
                for name in (worst_tail_name(facts), worst_value_name(facts), "mean")
            )
            yield Card(Label(encode.name, place), mean, [f"worst 5 % {tail}", f"worst {worst}"])


# -- Sections ----------------------------------------------------------------------------------------------------------


def _sections(page: Page) -> Iterator[Section]:
    worst = Worst(page.encodes, page.media, page.worst, page.frames, page.maps)
    static, _ = _points(page)
    for place, key in enumerate(page.keys):
        curves = over_time(page.encodes, key)
        lists = worst.lists(key, pictured=place == 0)
        distributions = (("How often each score, %", histogram), ("Frames with at most a score, %", cumulative))
        yield Section(
            key,
            side_of(_facts_of(page, key)),
            _live(page, curves),
            list(_multiples(curves)),
            pooled_table(page.encodes, key),
            [Figure(title, plot(chart(page.encodes, key), static)) for title, chart in distributions],
            lists,
            worst.scale if place == 0 else None,
        )


def _facts_of(page: Page, key: str) -> Facts:
    return next(encode.facts(key) for encode in page.encodes if key in encode.scores)


def _points(page: Page) -> tuple[int, int]:
    """Returns how many points a curve has, in pictures and for the script."""
    curves = len(page.keys) * len(page.encodes) + (len(page.encodes) if page.media else 0)
    static, live = (
        max(min(all_curves // curves, most), LEAST)
        for all_curves, most in ((STATIC_POINTS, MOST_STATIC), (LIVE_POINTS, MOST_LIVE))
    )
    return static, live


def _live(page: Page, chart: Chart) -> Figure:
    static, live = _points(page)
    identity = f"chart{len(page.charts)}"
    page.charts.append({"id": identity, **chart.for_script(live)})
    return Figure(chart.label, plot(chart, static, identity), is_live=True)


def _multiples(chart: Chart) -> Iterator[Figure]:
    if len(chart.curves) < LEAST_MULTIPLES:
        return
    names = telling_names([curve.name for curve in chart.curves])
    for curve, name in zip(chart.curves, names):
        own = replace(chart, curves=[curve], label=f"{curve.name}: {chart.label}", wrong=())
        yield Figure(name, plot(own, MULTIPLE_POINTS))


def _bit_rate(page: Page) -> tuple[Figure, Table] | None:
    if not page.media or not have_times(page.encodes):
        return None
    ffprobe = _ffmpeg.ffprobe_of(page.media.ffmpeg)
    packets = [list(_ffmpeg.packets(ffprobe, path)) for path in page.media.dists]
    chart = bit_rates([encode.name for encode in page.encodes], packets, span(page.encodes))
    rows: list[list[Cell]] = []
    for place, (encode, own) in enumerate(zip(page.encodes, packets)):
        size = sum(size for _, size in own)
        length = max(encode.times[-1] - encode.times[0], 0.04) * len(encode.times) / max(len(encode.times) - 1, 1)
        rows.append(
            [
                Label(encode.name, place),
                f"{8e-6 * size / length:.3f}",
                f"{max(chart.curves[place].ys):.3f}",
                f"{size / 1e6:,.2f}",
            ]
        )
    return _live(page, chart), Table(["encode", "mean Mbit/s", "highest", "megabytes"], rows)


def _windows(page: Page) -> Iterator[tuple[Label, str, Table]]:
    for place, encode in enumerate(page.encodes):
        if encode.windows:
            yield Label(encode.name, place), f"{len(encode.windows)} windows", windows_table(encode, page.keys)
