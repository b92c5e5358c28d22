"""compare encoders or settings: curves of rate and quality, BD-rates, convex hulls

A table names the encodes. Their scores are read from reports, or computed as `vmafx score` does.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _ffmpeg
from ._names import FILES_ONLY
from ._outputs import DIFFERENCES, KEPT_SCORES, PAGE, POINTS, Guard, Output, add_force, check_outputs, heatmaps
from ._schemas import check_packages
from ._statistics import NAMES
from ._terminal import Failure, note, whole_file
from .comparison.comparison import Comparison, facts_of, main_keys
from .comparison.delta import METHODS, find_library
from .comparison.output import as_json, print_tables, write_csv, write_differences
from .comparison.points import Point, points_of
from .comparison.scores import take_scores
from .comparison.table import Row, read_table
from .page.comparison import make_page
from .page.document import check_templates
from .score import add_regions, add_scoring_arguments, read_for_scoring, scoring_settings

MOST_WARNINGS = 20  # shown on the terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "table",
        type=Path,
        metavar="TABLE",
        help="the encodes, in CSV or as lines of JSON: series, file, reference, scores, encode, bitrate, clip, label",
    )
    add("-o", "--output", type=Path, metavar="FILE.html", help="also write a page: curves, hulls, tables")
    add("--csv", type=Path, metavar="FILE", help="also write the points as CSV")
    help_differences = "also write the differences of all clips, and the means of all pairs of series, as CSV"
    add("--differences", type=Path, metavar="FILE", help=help_differences)
    add("--json", action="store_true", help="print the results as JSON")
    add(
        "--anchor",
        metavar="SERIES",
        help="the series that others are compared with (default: the first one of the table)",
    )
    add(
        "--score",
        action="append",
        metavar="KEY",
        help="a score to compare by, by its key in reports; may be repeated (default: models and main features)",
    )
    add(
        "--pool",
        choices=NAMES,
        default="mean",
        metavar="METHOD",
        help="how the scores of frames are pooled: mean, harmonic_mean, min, median, p5 … (default: mean)",
    )
    add(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="how curves are interpolated for BD-rates (default: %(default)s)",
    )
    add("--scores", type=Path, metavar="FOLDER", help="keep computed scores in this folder, and use those kept there")
    add("--title", default="", metavar="TEXT", help="the title of the page (default: the names of the series)")
    add("--device", metavar="DEVICE", help="the GPU to use: an index or a PCI address")
    add_regions(parser)
    add_scoring_arguments(parser)
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    rows = read_table(arguments.table)
    guard = _check_outputs(arguments, rows)
    check_packages()
    if arguments.output:
        check_templates()
    if arguments.anchor and all(row.series != arguments.anchor for row in rows):
        known = ", ".join(dict.fromkeys(row.series for row in rows))
        raise Failure(f"the table has no series {arguments.anchor} for --anchor: choose one of {known}", 2)
    settings = None
    if any(not row.scores for row in rows):
        settings = scoring_settings(arguments, device=arguments.device)
        options = {name: getattr(settings, name) + FILES_ONLY for name in ("dist_options", "ref_options")}
        settings = dataclasses.replace(settings, **options)
    points = points_of(rows, settings.ffprobe if settings else _ffprobe(arguments, rows))
    notes = take_scores(points, settings, arguments.scores, arguments.pool)
    anchor = arguments.anchor or rows[0].series
    library = find_library() if any(row.series != anchor for row in rows) else ""
    comparison = Comparison(points, _keys(arguments, points), anchor, arguments.pool, arguments.method, library, notes)
    _warn(comparison)
    _write(comparison, arguments, guard)
    return 0


def _check_outputs(arguments: argparse.Namespace, rows: Sequence[Row]) -> Guard:
    files = [path for row in rows for path in (row.file, row.reference, row.scores)]
    outputs = [
        arguments.output and Output("-o", arguments.output, PAGE),
        arguments.csv and Output("--csv", arguments.csv, POINTS),
        arguments.differences and Output("--differences", arguments.differences, DIFFERENCES),
        arguments.scores and Output("--scores", arguments.scores, KEPT_SCORES),
        *heatmaps([*arguments.feature, *(arguments.model or [])]),
    ]
    return check_outputs([arguments.table, *files, *read_for_scoring(arguments)], outputs, arguments.force)


def _warn(comparison: Comparison) -> None:
    """Notes all warnings but those of the preparation, which were noted before scoring."""
    texts = [
        *comparison.lacks,
        *comparison.of_points,
        *(text for key in comparison.keys for text in comparison.of_deltas(key)),
    ]
    for text in texts[:MOST_WARNINGS]:
        note(text)
    if len(texts) > MOST_WARNINGS:
        note(f"{len(texts) - MOST_WARNINGS} more warnings are in the output of --json and on the page")


def _ffprobe(arguments: argparse.Namespace, rows: Sequence[Row]) -> str | None:
    """Returns the ffprobe for bit rates, unless the table has all of them."""
    if all(row.bitrate is not None for row in rows):
        return None
    return _ffmpeg.ffprobe_of(_ffmpeg.find_any_ffmpeg(arguments.ffmpeg))


def _keys(arguments: argparse.Namespace, points: Sequence[Point]) -> list[str]:
    keys: list[str] = list(dict.fromkeys(arguments.score or main_keys(points)))
    for key in keys:
        if not any(key in point.values for point in points):
            raise Failure(f"no encode has the score {key}: choose one of {', '.join(points[0].values)}")
        if not facts_of(points, key).tells_quality:
            raise Failure(f"{key} does not tell good pictures from bad ones: choose another score with --score")
    return keys


def _write(comparison: Comparison, arguments: argparse.Namespace, guard: Guard) -> None:
    if arguments.json:
        json.dump(as_json(comparison), sys.stdout, indent=2)
        print()
    else:
        print_tables(comparison)
    for chosen, write in ((arguments.csv, write_csv), (arguments.differences, write_differences)):
        if chosen:
            with whole_file(chosen, guard) as path:
                with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                    write(comparison, file)
    if arguments.output:
        text = make_page(comparison, arguments.title)
        with whole_file(arguments.output, guard) as path:
            path.write_text(text, encoding="utf-8")
