"""Pooled values of frame scores, by the formulas of the filter (src/report/pooling.h)."""

import math
from collections.abc import Iterable, Mapping, Sequence

from ._keys import are_jods, tells_quality, worse_is_high
from ._scores import Encode

PERCENTS = 1, 5, 10, 25, 75, 90, 95, 99
NAMES = "mean", "harmonic_mean", "min", "max", "median", "stddev", *(f"p{percent}" for percent in PERCENTS)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Linear between the two nearest ranks of values in ascending order."""
    rank = percent / 100 * (len(ordered) - 1)
    left = int(rank)
    if rank == left:
        return ordered[left]
    return ordered[left] * (1 - rank + left) + ordered[left + 1] * (rank - left)


def pooled_values(encode: Encode, key: str) -> dict[str, float | None]:
    """Those of the report, and the others computed, by NAMES. None: there are no scores. Infinite, if all scores are;
    JSON has no number for that."""
    scores = encode.scores[key]
    finite = sorted(filter(math.isfinite, scores))
    computed = pooled_of(key, finite) if finite else _pooled_of_infinite(scores)
    told: Mapping[str, float | None] = encode.pooled.get(key, {})
    values = {name: told[name] if name in told else computed.get(name) for name in NAMES}
    return {name: None if value is None or math.isnan(value) else value for name, value in values.items()}


def _pooled_of_infinite(scores: Sequence[float]) -> dict[str, float]:
    """As the filter: a metric of equal pictures that is infinite in all frames has an infinite mean, and no deviation
    from it."""
    different = {score for score in scores if not math.isnan(score)}
    return dict.fromkeys((name for name in NAMES if name != "stddev"), different.pop()) if len(different) == 1 else {}


def worst_value_name(key: str) -> str:
    """The pooled value that is the worst score of a key: `min`, or `max` where high scores tell of worse pictures."""
    return "max" if worse_is_high(key) else "min"


def worst_tail_name(key: str) -> str:
    """The pooled value that 5 % of the frames are worse than: `p5`, or `p95` where high scores tell of worse pictures.
    The pooled value that 5 % of the frames are worse than: `p5`, or `p95` where high scores tell of worse pictures."""
    return "p95" if worse_is_high(key) else "p5"


def _sum(values: Iterable[float]) -> float:
    """Infinite, where it is beyond the numbers, as the filter's."""
    values = list(values)
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return sum(values)


def _mean_of_jods(values: Sequence[float]) -> float:
    """The JOD of the norm of the differences that scores of cvvdp are made of (src/kernels/cvvdp/cvvdp.cpp)."""
    if len(values) == 1:
        return values[0]
    scale, power, linear, small = 0.0439569391310215, 0.9302042722702026, 0.1, 9.999999747378752e-06  # 1e-5 as a float
    slope = scale * math.pow(linear, power - 1)
    differences = (
        (10 - jod) / slope if 10 - jod <= slope * linear else math.pow((10 - jod) / scale, 1 / power) for jod in values
    )
    try:
        norm = math.sqrt(
            math.fsum((difference + small) ** 2 - small**2 for difference in differences) / len(values) + small
        ) - math.sqrt(small)
    except OverflowError:  # scores that cvvdp does not have
        return math.nan
    return 10 - (slope * norm if norm <= linear else scale * math.pow(norm, power))


def pooled_of(key: str, ordered: Sequence[float]) -> dict[str, float]:
    """Of finite scores in ascending order, at least one."""
    if ordered[0] == ordered[-1]:  # of equal scores, without what rounding would add
        return {
            name: 0.0 if name == "stddev" else ordered[0]
            for name in NAMES
            if name != "harmonic_mean" or ordered[0] > -1
        }
    count = len(ordered)
    mean = _sum(ordered) / count
    values = {
        "mean": _mean_of_jods(ordered) if are_jods(key) else mean,
        "min": ordered[0],
        "max": ordered[-1],
        "median": percentile(ordered, 50),
        "stddev": math.sqrt(_sum((value - mean) * (value - mean) for value in ordered) / count),
    }
    if ordered[0] > -1:
        values["harmonic_mean"] = count / _sum(1 / (value + 1) for value in ordered) - 1
    return values | {f"p{percent}": percentile(ordered, percent) for percent in PERCENTS}


def worst_frames(encode: Encode, key: str, count: int, apart: float = 0) -> list[int]:
    """Places in the lists of the encode, the worst first, `apart` seconds from each other.

    None, if the scores do not tell of quality.
    """
    scores = encode.scores[key]
    if not tells_quality(key):
        return []
    order = sorted(
        (i for i in range(len(scores)) if math.isfinite(scores[i])), key=scores.__getitem__, reverse=worse_is_high(key)
    )
    chosen: list[int] = []
    for i in order:
        if len(chosen) == count:
            break
        if all(abs(encode.position(i) - encode.position(other)) >= apart for other in chosen):
            chosen.append(i)
    return chosen


def rate_of(encode: Encode) -> float:
    """Frames a second, on average, of an encode that has times."""
    length = encode.times[-1] - encode.times[0]
    return (encode.numbers[-1] - encode.numbers[0]) / length if length > 0 else 25.0
