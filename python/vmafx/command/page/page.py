"""Puts the page of scores together."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _ffmpeg
from .._findings import is_wrong
from .._scores import Encode
from .._statistics import pooled_values, rate_of, worst_frames, worst_tail_name, worst_value_name
from .._terminal import Failure, decimals_of, note, time_text
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
from .pictures import Media, picture
from .plots import Card, Figure, Label, plot
from .scenes import scenes_of_page
from .tables import Cell, Table, decimals_for, doubts_table, number, pooled_table, run_table, windows_table

LEAST = 8  # points of a curve, however many curves there are
APART_S, APART = 1.0, 1 / 8  # distance of worst frames: seconds, or this part of the whole length if that is less


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
    scenes: float = 10  # the threshold of FFmpeg's scdet for a new scene; 0: scenes are left out
    charts: list[dict[str, Any]] = field(default_factory=list)  # the charts for the script


@dataclass(frozen=True)
class Section:
    """The page's section on one score."""

    key: str
    over_time: Figure
    pooled: Table
    distributions: list[Figure]
    bit_rate: tuple[Figure, Table] | None
    worst: list["WorstFrames"]


@dataclass(frozen=True)
class WorstFrames:
    title: str
    has_pictures: bool
    frames: list["WorstFrame"]


@dataclass(frozen=True)
class WorstFrame:
    score: str
    place: str
    pictures: list["Picture"]


@dataclass(frozen=True)
class Picture:
    """A picture of an encode or of the reference. Without data, `problem` says why."""

    name: str
    what: str
    data: str = ""
    problem: str = ""


def make_page(page: Page) -> str:
    title = page.title or f"Scores of {', '.join(encode.name for encode in page.encodes)}"
    own = [
        f"{encode.name}: {text}" if len(page.encodes) > 1 else text
        for encode in page.encodes
        for text in encode.warnings
    ]
    sections = list(_sections(page))
    return render(
        "report.html",
        title,
        page.charts,
        page.dygraphs,
        facts=_facts(page),
        warnings=list(dict.fromkeys([*own, *page.warnings])),
        doubts=doubts_table(page.encodes),
        cards_of=page.keys[0],
        cards=list(_cards(page)),
        sections=sections,
        scenes=scenes_of_page(page.encodes, page.keys, page.media, page.scenes),
        windows=list(_windows(page)),
        several=len(page.encodes) > 1,
        run=run_table(page.encodes),
        said=page.said,
    )


def _facts(page: Page) -> list[str]:
    frames = max(len(encode.numbers) for encode in page.encodes)
    facts = [f"{frames:,} frames"]
    if have_times(page.encodes):
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
            yield Card(Label(encode.name, place), mean, f"worst 5 % {tail} · worst {worst}")


# -- Sections ----------------------------------------------------------------------------------------------------------


def _sections(page: Page) -> Iterator[Section]:
    curves = len(page.keys) * len(page.encodes) + (len(page.encodes) if page.media else 0)
    static, live = (
        max(min(all_curves // curves, most), LEAST)
        for all_curves, most in ((STATIC_POINTS, MOST_STATIC), (LIVE_POINTS, MOST_LIVE))
    )
    for place, key in enumerate(page.keys):
        distributions = (("How often each score, %", histogram), ("Frames with at most a score, %", cumulative))
        yield Section(
            key,
            _live(page, over_time(page.encodes, key), static, live),
            pooled_table(page.encodes, key),
            [Figure(title, plot(chart(page.encodes, key), static)) for title, chart in distributions],
            _bit_rates(page, static, live) if place == 0 and page.media and have_times(page.encodes) else None,
            list(_worst(page, key)),
        )


def _live(page: Page, chart: Chart, static: int, live: int) -> Figure:
    identity = f"chart{len(page.charts)}"
    page.charts.append({"id": identity, **chart.for_script(live)})
    return Figure(chart.label, plot(chart, static, identity), is_live=True)


def _bit_rates(page: Page, static: int, live: int) -> tuple[Figure, Table]:
    assert page.media
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
    return _live(page, chart, static, live), Table(["encode", "mean Mbit/s", "highest", "megabytes"], rows)


def _worst(page: Page, key: str) -> Iterator[WorstFrames]:
    for place, encode in enumerate(page.encodes):
        if key in encode.scores and (found := _worst_of(page, place, encode, key)):
            yield found


def _worst_of(page: Page, place: int, encode: Encode, key: str) -> WorstFrames | None:
    apart = min(APART_S, APART * (encode.times[-1] - encode.times[0])) if encode.times else 0
    chosen = worst_frames(encode, key, page.worst, apart)
    if not chosen:
        return None
    decimals = decimals_of(max(abs(encode.scores[key][i]) for i in chosen)) - 1
    pictured = _has_pictures(page, encode, key)
    frames = []
    for i in chosen:
        at = f" at {time_text(encode.times[i])}" if encode.times else ""
        pictures = list(_pictures(page, place, i)) if pictured else []
        wrong = ", a pair that is sure to be wrong" if is_wrong(encode, encode.numbers[i]) else ""
        place_told = f"frame {encode.numbers[i]}{at}{wrong}"
        frames.append(WorstFrame(number(encode.scores[key][i], decimals), place_told, pictures))
    return WorstFrames(f"Worst frames{f' of {encode.name}' if len(page.encodes) > 1 else ''}", pictured, frames)


def _has_pictures(page: Page, encode: Encode, key: str) -> bool:
    """Returns whether the frames get pictures: only for the first score, as each takes a decoder's time, and room."""
    return bool(key == page.keys[0] and page.media and page.media.ref and encode.times)


def _pictures(page: Page, place: int, i: int) -> Iterator[Picture]:
    assert page.media and page.media.ref
    encode = page.encodes[place]
    time, rate = encode.times[i], rate_of(encode)
    for path, name in ((page.media.dists[place], encode.name), (page.media.ref, "reference")):
        what = f"frame {encode.numbers[i]} of {name}"
        try:
            yield Picture(name, what, data=picture(page.media, path, time, rate))
        except Failure as failure:
            note(str(failure))
            yield Picture(name, what, problem=str(failure))


def _windows(page: Page) -> Iterator[tuple[Label, str, Table]]:
    for place, encode in enumerate(page.encodes):
        if encode.windows:
            yield Label(encode.name, place), f"{len(encode.windows)} windows", windows_table(encode, page.keys)
