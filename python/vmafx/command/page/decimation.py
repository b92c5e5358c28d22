"""Takes fewer points for a curve, with the same lows and highs."""

import math
from collections.abc import Sequence


def extremes(values: Sequence[float], count: int) -> list[int]:
    """Returns the places of about `count` values, in order: the lowest and the highest of each of equal parts, and the
    first and the last of all.

    NaN, which stands for a missing value, stays a gap: the first of each part is kept.
    """
    if len(values) <= count:
        return list(range(len(values)))
    parts = max(count // 2, 1)
    kept = {0, len(values) - 1}
    for part in range(parts):
        places = range(part * len(values) // parts, (part + 1) * len(values) // parts)
        finite = [i for i in places if math.isfinite(values[i])]
        if finite:
            kept |= {min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)}
        if len(finite) < len(places):
            kept.add(next(i for i in places if not math.isfinite(values[i])))
    return sorted(kept)


def averages(xs: Sequence[float], ys: Sequence[float], count: int) -> tuple[list[float], list[float]]:
    """Returns the middle x and the mean of the finite values of each of `count` equal parts; parts without any are left
    out.
    """
    middles, means = [], []
    for part in range(count):
        places = range(part * len(ys) // count, (part + 1) * len(ys) // count)
        finite = [ys[i] for i in places if math.isfinite(ys[i])]
        if finite:
            middles.append((xs[places[0]] + xs[places[-1]]) / 2)
            means.append(math.fsum(finite) / len(finite))
    return middles, means
