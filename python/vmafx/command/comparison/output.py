"""Writes the results as text: tables, CSV, JSON."""

import csv
from typing import IO, Any

from .._terminal import decimals_of, print_table
from .comparison import Comparison
from .delta import Delta
from .points import Point

SCHEMA = 1  # version of the layout of --json


# -- For the terminal --------------------------------------------------------------------------------------------------


def print_tables(comparison: Comparison) -> None:
    """Prints the points, then the differences."""
    with_clips = len(comparison.clips) > 1
    rows = []
    for point in comparison.points:
        scores = [
            value_text(comparison, point, key) + ("*" if comparison.is_on_hull(point, key) else " ")
            for key in comparison.keys
        ]
        rows.append([*([point.clip] if with_clips else []), point.series, point.label, f"{point.bitrate:.1f}", *scores])
    heads = [*(["clip"] if with_clips else []), "series", "encode", "kbit/s", *(f"{key} " for key in comparison.keys)]
    print_table(heads, rows, texts=3 if with_clips else 2)
    print("* on the convex hull of its clip")
    if comparison.others and not comparison.lacks:
        print()
        heads = ["series", "clip", "score", "BD-rate", "BD-score"]
        print_table(heads, delta_rows(comparison), texts=3)
        print(f"against {comparison.anchor}, {comparison.method}")


def value_text(comparison: Comparison, point: Point, key: str) -> str:
    value = point.values.get(key)
    largest = max((other.values.get(key) or 0 for other in comparison.points), default=0)
    return "–" if value is None else f"{value:.{decimals_of(largest)}f}"


def delta_rows(comparison: Comparison) -> list[list[str]]:
    """Returns rows of (series, clip, score, rate, quality), the mean of all clips last."""
    rows = []
    for key in comparison.keys:
        for series in comparison.others:
            for clip in comparison.clips:
                delta = comparison.deltas[key, clip, series]
                rows.append([series, clip or "–", key, percent(delta.rate), difference(delta.quality, comparison, key)])
            if len(comparison.clips) > 1:
                mean = comparison.mean(key, series)
                rows.append(
                    [
                        series,
                        mean_name(comparison, key, series),
                        key,
                        percent(mean.rate),
                        difference(mean.quality, comparison, key),
                    ]
                )
    return rows


def mean_name(comparison: Comparison, key: str, series: str) -> str:
    """Returns "mean", and of how many clips, if some have no difference."""
    mean, clips = comparison.mean(key, series), len(comparison.clips)
    counts = list(dict.fromkeys((mean.rate_clips, mean.quality_clips)))
    return "mean" if counts == [clips] else f"mean of {' and '.join(map(str, counts))} of {clips}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f} %"


def difference(value: float | None, comparison: Comparison, key: str) -> str:
    largest = max((point.values.get(key) or 0 for point in comparison.points), default=0)
    return "–" if value is None else f"{value:+.{decimals_of(largest)}f}"


# -- Files -------------------------------------------------------------------------------------------------------------


def write_csv(comparison: Comparison, file: IO[str]) -> None:
    """Writes the points, with a column for each score, and one that is 1 for points on its hull."""
    keys = comparison.keys
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["clip", "series", "label", "file", "bitrate", "bytes", "frames", *keys, *(f"{key}_on_hull" for key in keys)]
    )
    for point in comparison.points:
        values = ["" if (value := point.values.get(key)) is None else f"{value:.6f}" for key in keys]
        on_hull = [int(comparison.is_on_hull(point, key)) for key in keys]
        known = [point.row.file or "", f"{point.bitrate:.3f}", "" if point.size is None else point.size, point.frames]
        writer.writerow([point.clip, point.series, point.label, *known, *values, *on_hull])


def as_json(comparison: Comparison) -> dict[str, Any]:
    keys, clips = comparison.keys, comparison.clips
    return {
        "schema": SCHEMA,
        "anchor": comparison.anchor,
        "pool": comparison.pool,
        "method": comparison.method,
        "scores": keys,
        "series": comparison.series,
        "clips": clips,
        "points": [_point_as_json(comparison, point) for point in comparison.points],
        "deltas": [
            {"score": key, "clip": clip, "series": series, **_delta_as_json(delta)}
            for (key, clip, series), delta in comparison.deltas.items()
        ],
        "means": [
            {"score": key, "series": series, **_mean_as_json(comparison, key, series)}
            for key in keys
            for series in comparison.others
        ],
        "leads": [
            {"score": key, "clip": clip, **lead._asdict()}
            for key in keys
            for clip in clips
            for lead in comparison.leads(key, clip)
        ],
        "warnings": comparison.warnings,
    }


def _point_as_json(comparison: Comparison, point: Point) -> dict[str, Any]:
    row = point.row
    return {
        "clip": point.clip,
        "series": point.series,
        "label": point.label,
        "file": None if row.file is None else str(row.file),
        "reference": None if row.reference is None else str(row.reference),
        "bitrate": point.bitrate,
        "bytes": point.size,
        "frames": point.frames,
        "values": {key: point.values.get(key) for key in comparison.keys},
        "on_hull": [key for key in comparison.keys if comparison.is_on_hull(point, key)],
    }


def _delta_as_json(delta: Delta) -> dict[str, Any]:
    return {
        "bd_rate": delta.rate,
        "bd_score": delta.quality,
        "overlap": delta.overlap,
        "problems": delta.problems,
        "warnings": delta.warnings,
    }


def _mean_as_json(comparison: Comparison, key: str, series: str) -> dict[str, Any]:
    mean = comparison.mean(key, series)
    return {
        "bd_rate": mean.rate,
        "bd_score": mean.quality,
        "rate_clips": mean.rate_clips,
        "score_clips": mean.quality_clips,
    }
