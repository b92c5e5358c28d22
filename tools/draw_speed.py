#!/usr/bin/env python3
"""Draws docs/speed.svg from the measurements in bench/results that docs/performance.md has under `speeds`.

usage: tools/draw_speed.py [--check]

  --check  writes nothing; exits 1 when docs/speed.svg differs from the measurements

A bar per metric: how many times as fast as libvmaf (ssimulacra2, xpsnr, butteraugli and cvvdp: as the programs that
the page names) a frame of 1920x1080 is scored, on one thread of the same processor. The scale is logarithmic. The
picture follows a light or dark page.
"""

import argparse
import math
import sys

from make_tables import TOP, speed, speed_rows

PICTURE = TOP / "docs/speed.svg"
TITLE = "CPU, one thread: times as fast as the reference program, 1920x1080 8 bit"

LEFT, RIGHT, HEAD, ROW, BAR = 130, 60, 46, 22, 14
WIDTH, PLOT = 720, 720 - 130 - 60
TICKS = 1, 2, 5, 10, 20, 50, 100

STYLE = """\
    text { font: 13px sans-serif; fill: #24292f }
    .title { font-size: 14px; font-weight: bold }
    .tick { font-size: 11px; fill: #57606a }
    line { stroke: #d0d7de }
    .one { stroke: #57606a }
    rect { fill: #2f6fd0 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .tick { fill: #9198a1 } line { stroke: #3d444d } .one { stroke: #9198a1 } rect { fill:
      #6ea4ff }
    }"""


def speeds():
    """Returns [(metric, factor)], fastest first."""
    return sorted(((row["row"], float(speed(row))) for row in speed_rows()), key=lambda row: -row[1])


def x_of(factor):
    return LEFT + PLOT * math.log(factor) / math.log(TICKS[-1])


def draw(rows):
    height = HEAD + ROW * len(rows) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} '
        f'{height}" role="img">',
        f"  <title>{TITLE}</title>",
        f"  <style>\n{STYLE}\n  </style>",
        f'  <text class="title" x="10" y="18">{TITLE}</text>',
    ]
    for tick in TICKS:
        x = f"{x_of(tick):.1f}"
        kind = ' class="one"' if tick == 1 else ""
        lines.append(f'  <line{kind} x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{height - 8}"/>')
        lines.append(f'  <text class="tick" x="{x}" y="{HEAD - 10}" text-anchor="middle">{tick}x</text>')
    for i, (name, factor) in enumerate(rows):
        top, x = HEAD + ROW * i + (ROW - BAR) // 2, min(x_of(1), x_of(factor))
        lines.append(f'  <text x="{LEFT - 8}" y="{top + BAR - 3}" text-anchor="end">{name}</text>')
        lines.append(f'  <rect x="{x:.1f}" y="{top}" width="{abs(x_of(factor) - x_of(1)):.1f}" height="{BAR}" rx="2"/>')
        lines.append(f'  <text x="{max(x_of(1), x_of(factor)) + 6:.1f}" y="{top + BAR - 3}">{factor:g}</text>')
    return "\n".join(lines + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draws docs/speed.svg from bench/results.")
    parser.add_argument("--check", action="store_true", help="only say whether the picture is current")
    picture = draw(speeds())
    if not parser.parse_args().check:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/speed.svg differs from bench/results: run tools/draw_speed.py")


if __name__ == "__main__":
    main()
