"""Charts as SVG. Lines stretch with the page, text does not: it is HTML beside them."""

import math
from html import escape

from .curves import Chart, Curve

WIDTH, HEIGHT = 1000, 300
COLORS = 8  # of style.css; further curves have them again, dashed


# Of points, the center at 0, 0; there are as many as colors.
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


def plot(chart: Chart, points: int, identity: str = "") -> str:
    """With an identity the page's script may draw it instead."""
    shortened = [curve.shortened(points) for curve in chart.curves]
    lines = "".join(_curve(chart, curve) for curve in shortened) + "".join(_curve(chart, curve.means) for curve in shortened if curve.means)
    if chart.hull:
        lines = f'<path class="hull" d="{_line(chart, chart.hull)}"/>{lines}'
    y_texts = "".join(f'<span style="top:{100 - 100 * chart.y.part(y):.2f}%">{escape(text)}</span>' for y, text in chart.y.ticks)
    x_texts = "".join(f'<span style="left:{100 * chart.x.part(x):.2f}%">{escape(text)}</span>' for x, text in chart.x.ticks)
    name = f' id="{identity}"' if identity else ""
    return (
        f'<div class="plot"{name}><div class="ys" aria-hidden="true">{y_texts}</div>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{escape(chart.label)}">'
        f'<path class="grid" d="{_grid(chart)}"/>{lines}</svg>{_marks(chart)}<div class="xs" aria-hidden="true">{x_texts}</div></div>'
    )


def legend(chart: Chart) -> str:
    items = "".join(f"<li>{key_of(curve.number)}{escape(curve.name)}</li>" for curve in chart.curves)
    return f'<ul class="legend">{items}</ul>' if len(chart.curves) > 1 else ""


def key_of(number: int, marked: bool = False) -> str:
    """A short line in the color of an encode."""
    line = f'<path class="{style_of(number)}" d="M0 4H20"/>'
    if marked:
        return f'<svg class="key marked" viewBox="0 0 20 12" aria-hidden="true"><g transform="translate(0 2)">{line}</g>{_marker(number, 10, 6)}</svg>'
    return f'<svg class="key" viewBox="0 0 20 8" aria-hidden="true">{line}</svg>'


def _marker(number: int, x: float = 0, y: float = 0) -> str:
    """Where colors come again, they come with other markers."""
    shape = MARKERS[(number + number // COLORS) % len(MARKERS)]
    place = f' transform="translate({x} {y})"' if x or y else ""
    return f'<path class="mark m{number % COLORS}" d="{shape}"{place}/>'


def _marks(chart: Chart) -> str:
    """Pictures of their own, which do not stretch with the plot."""
    marks = "".join(
        f'<svg class="point" style="left:{100 * chart.x.part(x):.2f}%;top:{100 - 100 * chart.y.part(y):.2f}%" viewBox="-8 -8 16 16" role="img">'
        f"<title>{escape(title)}</title>{_marker(curve.number)}</svg>"
        for curve in chart.curves
        for x, y, title in zip(curve.xs, curve.ys, curve.titles)
    )
    return f'<div class="points">{marks}</div>' if marks else ""


def style_of(number: int) -> str:
    return f"c{number % COLORS}" + (" dashed" if number >= COLORS else "")


def _x(chart: Chart, x: float) -> str:
    return f"{WIDTH * chart.x.part(x):.1f}"


def _y(chart: Chart, y: float) -> str:
    return f"{HEIGHT * (1 - chart.y.part(y)):.1f}"


def _grid(chart: Chart) -> str:
    across = (f"M0 {_y(chart, y)}H{WIDTH}" for y, _ in chart.y.ticks)
    down = (f"M{_x(chart, x)} 0V{HEIGHT}" for x, _ in chart.x.ticks)
    return "".join((*across, *down))


def _curve(chart: Chart, curve: Curve) -> str:
    d = _steps(chart, curve) if chart.steps else _line(chart, curve)
    style = style_of(curve.number) + (" faint" if curve.means else "")
    area = ""
    if chart.filled and curve.xs:
        area = f'<path class="area {style_of(curve.number)}" d="{d}V{HEIGHT}H{_x(chart, curve.xs[0])}Z"/>'
    return f'{area}<path class="{style}" d="{d}"/>'


def _line(chart: Chart, curve: Curve) -> str:
    text, pen = "", "M"
    for x, y in zip(curve.xs, curve.ys):
        if math.isfinite(y):
            text += f"{pen}{_x(chart, x)} {_y(chart, y)}"
            pen = "L"
        else:
            pen = "M"
    return text


def _steps(chart: Chart, curve: Curve) -> str:
    text = ""
    for x, y in zip(curve.xs, curve.ys):
        text += f"H{_x(chart, x)}V{_y(chart, y)}" if text else f"M{_x(chart, x)} {_y(chart, y)}"
    return text
