"""Writes the results as text: tables, CSV, JSON."""

import csv
from collections.abc import Callable
from typing import IO, Any

from .._terminal import decimals_of, print_table
from .bootstrap import CONFIDENCE, DRAWS, SEED, Interval
from .comparison import Comparison, Mean
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
        print(f"against {comparison.anchor}, {comparison.method}{interval_words(comparison)}")
        if len(comparison.series) > 2:
            _print_matrices(comparison)


def _print_matrices(comparison: Comparison) -> None:
    """Prints the BD-rates of each series against each other one."""
    for key in comparison.keys:
        print()
        print_table([f"{key}, against", *comparison.series], matrix_rows(comparison, key), texts=1)


def matrix_rows(comparison: Comparison, key: str) -> list[list[str]]:
    """Returns a row for each anchor, with the mean BD-rates of all series against it."""
    return [
        [
            anchor,
            *(
                "" if anchor == series else percent(comparison.matrix[key, anchor, series].rate)
                for series in comparison.series
            ),
        ]
        for anchor in comparison.series
    ]


def interval_words(comparison: Comparison) -> str:
    """Returns words for the intervals, if there are any."""
    if len(comparison.clips) < 2:
        return ""
    return f"; intervals of {100 * CONFIDENCE:.0f} % by bootstrap over {len(comparison.clips)} clips, {DRAWS} draws"


def with_interval(value: float | None, interval: Interval | None, text: Callable[[float | None], str]) -> str:
    return text(value) if interval is None else f"{text(value)} ({text(interval.low)} to {text(interval.high)})"


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
                        with_interval(mean.rate, mean.rate_interval, percent),
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


def write_differences(comparison: Comparison, file: IO[str]) -> None:
    """Writes the differences of each clip from the anchor, then the mean differences of all pairs of series."""
    writer = csv.writer(file, lineterminator="\n")
    low_high = [f"{name}_{end}" for name in ("bd_rate", "bd_score") for end in ("low", "high")]
    writer.writerow(["score", "anchor", "series", "clip", "clips", "bd_rate", "bd_score", *low_high])
    for (key, clip, series), delta in comparison.deltas.items():
        values = [_cell(delta.rate), _cell(delta.quality)]
        writer.writerow([key, comparison.anchor, series, clip, 1, *values, "", "", "", ""])
    for (key, anchor, series), mean in comparison.matrix.items():
        ends = [*(mean.rate_interval or ("", "")), *(mean.quality_interval or ("", ""))]
        values = [_cell(value) for value in (mean.rate, mean.quality, *ends)]
        writer.writerow([key, anchor, series, "mean", mean.rate_clips, *values])


def _cell(value: float | str | None) -> str:
    return f"{value:.6f}" if isinstance(value, float) else value or ""


def write_csv(comparison: Comparison, file: IO[str]) -> None:
    """Writes the points, with a column for each score, one that is 1 for points on its hull, and one for their rung of
    the ladder.
    """
    keys = comparison.keys
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        [
            "clip",
            "series",
            "label",
            "file",
            "bitrate",
            "bytes",
            "frames",
            *keys,
            *(f"{key}_on_hull" for key in keys),
            *(f"{key}_rung" for key in keys),
        ]
    )
    rungs = {
        (key, id(rung.point)): rung.number
        for key in keys
        for clip in comparison.clips
        for rung in comparison.ladder(key, clip)
    }
    for point in comparison.points:
        values = ["" if (value := point.values.get(key)) is None else f"{value:.6f}" for key in keys]
        on_hull = [int(comparison.is_on_hull(point, key)) for key in keys]
        known = [point.row.file or "", f"{point.bitrate:.3f}", "" if point.size is None else point.size, point.frames]
        writer.writerow(
            [
                point.clip,
                point.series,
                point.label,
                *known,
                *values,
                *on_hull,
                *(rungs.get((key, id(point)), "") for key in keys),
            ]
        )


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
            {"score": key, "series": series, **_mean_as_json(comparison.mean(key, series))}
            for key in keys
            for series in comparison.others
        ],
        "bootstrap": {"draws": DRAWS, "seed": SEED, "confidence": CONFIDENCE},
        "matrix": [
            {"score": key, "anchor": anchor, "series": series, **_mean_as_json(mean)}
            for (key, anchor, series), mean in comparison.matrix.items()
        ],
        "ladders": [
            {"score": key, "clip": clip, "rungs": _rungs_as_json(comparison, key, clip)}
            for key in keys
            for clip in clips
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


def _rungs_as_json(comparison: Comparison, key: str, clip: str) -> list[dict[str, Any]]:
    return [
        {
            "series": rung.point.series,
            "label": rung.point.label,
            "bitrate": rung.point.bitrate,
            "value": rung.point.values[key],
            "gain": rung.gain,
        }
        for rung in comparison.ladder(key, clip)
    ]


def _mean_as_json(mean: Mean) -> dict[str, Any]:
    return {
        "bd_rate": mean.rate,
        "bd_score": mean.quality,
        "rate_clips": mean.rate_clips,
        "score_clips": mean.quality_clips,
        "bd_rate_interval": mean.rate_interval and list(mean.rate_interval),
        "bd_score_interval": mean.quality_interval and list(mean.quality_interval),
    }
