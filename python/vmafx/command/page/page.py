"""Puts the page together."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from .. import _ffmpeg
from .._scores import Encode
from .._statistics import pooled_values, rate_of, worst_frames
from .._terminal import Failure, decimals_of, note, time_text
from .curves import LIVE_POINTS, MOST_LIVE, MOST_STATIC, STATIC_POINTS, Chart, bit_rates, cumulative, have_times, histogram, over_time, span
from .document import document, footer, header
from .pictures import Media, picture
from .plots import key_of, legend, plot
from .scenes import scenes_section
from .scripts import scripts
from .tables import number, pooled_table, run_table, table, windows_table

APART_S, APART = 1.0, 1 / 8  # the worst frames from each other: in seconds, and, if that is less, of the whole length


@dataclass
class Page:
    encodes: list[Encode]
    keys: list[str]
    media: Media | None = None
    dygraphs: Path | None = None  # the folder of dygraph.min.js
    title: str = ""
    warnings: list[str] = field(default_factory=list)
    worst: int = 4  # frames with pictures, of each encode
    scenes: float = 10  # how much a picture differs from the one before where a scene begins, as FFmpeg's scdet takes it; 0: none
    charts: list[dict[str, Any]] = field(default_factory=list)  # for the script


def make_page(page: Page) -> str:
    title = page.title or f"Scores of {', '.join(encode.name for encode in page.encodes)}"
    body = "\n".join([_head(page, title), *_sections(page), _run(page), _foot()])
    return document(title, body, scripts(page.charts, page.dygraphs) if page.dygraphs else "")


def _head(page: Page, title: str) -> str:
    first = page.encodes[0]
    frames = max(len(encode.numbers) for encode in page.encodes)
    facts = [f"{frames:,} frames"]
    if have_times(page.encodes):
        axis = span(page.encodes)
        facts.append(time_text(axis.high - axis.low, 0))
    if page.media and page.media.ref:
        facts.append(f"reference {Path(page.media.ref).name}")
    if version := first.run.get("version"):
        facts.append(f"vmafx {version}")
    own = [f"{encode.name}: {text}" if len(page.encodes) > 1 else text for encode in page.encodes for text in encode.warnings]
    return header(title, facts, _cards(page), [*own, *page.warnings])


def _cards(page: Page) -> str:
    """The mean of the first score, large, and two others of it."""
    key = page.keys[0]
    cards = []
    for place, encode in enumerate(page.encodes):
        if key not in encode.scores:
            continue
        values = pooled_values(encode, key)
        decimals = decimals_of(values["max"] or 0) - 1
        others = f"5 % {number(values['p5'], decimals)} · min {number(values['min'], decimals)}"
        cards.append(f'<li>{key_of(place)}<span class="name">{escape(encode.name)}</span><b>{number(values["mean"], decimals)}</b><span>{others}</span></li>')
    return f'<h2 class="quiet">{escape(key)}, mean</h2><ul class="cards">{"".join(cards)}</ul>'


# -- Sections ------------------------------------------------------------------------------------------------------------


def _sections(page: Page) -> Iterator[str]:
    curves = len(page.keys) * len(page.encodes) + (len(page.encodes) if page.media else 0)
    static, live = min(STATIC_POINTS // curves, MOST_STATIC), min(LIVE_POINTS // curves, MOST_LIVE)
    for place, key in enumerate(page.keys):
        yield f"<section><h2>{escape(key)}</h2>{_live(page, over_time(page.encodes, key), static, live)}{pooled_table(page.encodes, key)}"
        distributions = (("How often each score", histogram), ("Frames with at most a score", cumulative))
        yield f'<div class="pair">{"".join(_figure(f"{title}, %", chart(page.encodes, key), static) for title, chart in distributions)}</div>'
        if place == 0 and page.media and have_times(page.encodes):
            yield _bit_rates(page, static, live)
        yield f"{_worst(page, key)}</section>"
    yield scenes_section(page.encodes, page.keys, page.media, page.scenes)
    if any(encode.windows for encode in page.encodes):
        yield f"<section><h2>Windows</h2>{''.join(_windows(page))}</section>"


def _live(page: Page, chart: Chart, static: int, live: int) -> str:
    identity = f"chart{len(page.charts)}"
    page.charts.append({"id": identity, **chart.for_script(live)})
    return f'<figure class="live"><figcaption>{escape(chart.label)}</figcaption>{legend(chart)}{plot(chart, static, identity)}</figure>'


def _figure(title: str, chart: Chart, static: int) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{plot(chart, static)}</figure>"


def _bit_rates(page: Page, static: int, live: int) -> str:
    assert page.media
    ffprobe = _ffmpeg.ffprobe_of(page.media.ffmpeg)
    packets = [list(_ffmpeg.packets(ffprobe, path)) for path in page.media.dists]
    chart = bit_rates([encode.name for encode in page.encodes], packets, span(page.encodes))
    rows = []
    for place, (encode, own) in enumerate(zip(page.encodes, packets)):
        size = sum(size for _, size in own)
        length = max(encode.times[-1] - encode.times[0], 0.04) * len(encode.times) / max(len(encode.times) - 1, 1)
        rows.append([key_of(place) + escape(encode.name), f"{8e-6 * size / length:.3f}", f"{max(chart.curves[place].ys):.3f}", f"{size / 1e6:,.2f}"])
    heads = ["encode", "mean Mbit/s", "highest", "megabytes"]
    return f"<h3>Bit rate</h3>{_live(page, chart, static, live)}{table(heads, rows)}"


def _worst(page: Page, key: str) -> str:
    return "".join(_worst_of(page, place, encode, key) for place, encode in enumerate(page.encodes) if key in encode.scores)


def _worst_of(page: Page, place: int, encode: Encode, key: str) -> str:
    apart = min(APART_S, APART * (encode.times[-1] - encode.times[0])) if encode.times else 0
    chosen = worst_frames(encode, key, page.worst, apart)
    if not chosen:
        return ""
    decimals = decimals_of(max(abs(encode.scores[key][i]) for i in chosen)) - 1
    title = f"<h3>Worst frames{f' of {escape(encode.name)}' if len(page.encodes) > 1 else ''}</h3>"
    pictured = _has_pictures(page, encode, key)
    items = []
    for i in chosen:
        at = f" at {time_text(encode.times[i])}" if encode.times else ""
        caption = f"<b>{encode.scores[key][i]:.{decimals}f}</b> frame {encode.numbers[i]}{at}"
        pictures = _pictures(page, place, i) if pictured else ""
        items.append(f"<li><p>{caption}</p>{pictures}</li>")
    return f'{title}<ol class="worst{" pictured" if pictured else ""}">{"".join(items)}</ol>'


def _has_pictures(page: Page, encode: Encode, key: str) -> bool:
    """By the first score alone: each takes a decoder's time, and room."""
    return bool(key == page.keys[0] and page.media and page.media.ref and encode.times)


def _pictures(page: Page, place: int, i: int) -> str:
    assert page.media and page.media.ref
    encode = page.encodes[place]
    time, rate = encode.times[i], rate_of(encode)
    figures = []
    for path, name in ((page.media.dists[place], encode.name), (page.media.ref, "reference")):
        try:
            data = picture(page.media, path, time, rate)
            image = f'<img src="{data}" alt="frame {encode.numbers[i]} of {escape(name)}">'
        except Failure as failure:
            note(str(failure))
            image = f"<p>{escape(str(failure))}</p>"
        figures.append(f"<figure>{image}<figcaption>{escape(name)}</figcaption></figure>")
    return f'<div class="two">{"".join(figures)}</div>'


def _windows(page: Page) -> Iterator[str]:
    for place, encode in enumerate(page.encodes):
        if encode.windows:
            state = " open" if len(page.encodes) == 1 else ""
            yield f"<details{state}><summary>{key_of(place)}{escape(encode.name)}, {len(encode.windows)} windows</summary>{windows_table(encode, page.keys)}</details>"


def _run(page: Page) -> str:
    return f"<section><h2>Run</h2>{run_table(page.encodes)}</section>"


def _foot() -> str:
    return footer("Curves of many frames show the lowest and the highest of each part.")
