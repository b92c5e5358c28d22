"""Finds the encodes worth having: the upper convex hull of points of rate and quality, and the best series at each
rate.

The hull is drawn over the rate itself, not over its logarithm. An encode below it is beaten by switching in time
between the two encodes of the hull around it, which reaches the points on the line between them. (Y. Shoham and A.
Gersho, "Efficient bit allocation for an arbitrary set of quantizers", IEEE Transactions on Acoustics, Speech, and
Signal Processing 36 (9), 1988; A. Aaron et al., "Per-Title Encode Optimization", Netflix, 2015)
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

Curve: TypeAlias = Sequence[tuple[float, float]]  # (rate, quality), the lowest rate first; higher is better


def upper_hull(points: Curve) -> list[int]:
    """Returns the places of the hull's corners, from the lowest rate to the highest quality.

    Of equal points the first one is taken.
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1], i))
    corners: list[int] = []
    for i in order:
        if corners and points[i][1] <= points[corners[-1]][1]:
            continue  # this point has more bits but not more quality
        while len(corners) > 1 and not _turns_down(points[corners[-2]], points[corners[-1]], points[i]):
            corners.pop()
        corners.append(i)
    return corners


def _turns_down(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[1] - a[1]) * (c[0] - b[0]) > (c[1] - b[1]) * (b[0] - a[0])


class Lead(NamedTuple):
    """A series that is the best one between two rates."""

    series: str
    begin: float
    end: float
    follows: bool  # whether another series is the best up to `begin`
    crosses: bool  # whether the two curves cross there; else one of them begins or ends


def leads(curves: Mapping[str, Curve]) -> list[Lead]:
    """Returns the best series in the order of rates. Curves are straight over the logarithm of the rate, as drawn."""
    straight = {series: [(math.log(rate), quality) for rate, quality in curve] for series, curve in curves.items()}
    places = {x for curve in straight.values() for x, _ in curve}
    places |= {x for one, other in combinations(straight.values(), 2) for x in _crossings(one, other)}
    found: list[Lead] = []
    for begin, end in pairwise(sorted(places)):
        qualities = {
            series: quality
            for series, curve in straight.items()
            if (quality := _quality_at(curve, (begin + end) / 2)) is not None
        }
        if not qualities:
            continue
        best = max(qualities, key=qualities.__getitem__)
        before = found[-1].series if found and found[-1].end == math.exp(begin) else None
        if before == best:
            found[-1] = found[-1]._replace(end=math.exp(end))
        else:
            crosses = before is not None and _meet(straight[before], straight[best], begin)
            found.append(Lead(best, math.exp(begin), math.exp(end), before is not None, crosses))
    return found


def _meet(one: Curve, other: Curve, x: float) -> bool:
    """Returns whether two curves meet; if not, one of them begins or ends there."""
    p, q = _quality_at(one, x), _quality_at(other, x)
    return p is not None and q is not None and math.isclose(p, q, rel_tol=1e-9, abs_tol=1e-9)


def _crossings(one: Curve, other: Curve) -> list[float]:
    """Returns the places at which the difference of two curves changes its sign."""
    places = sorted({x for x, _ in (*one, *other)})
    known = [
        (x, p - q)
        for x in places
        if (p := _quality_at(one, x)) is not None and (q := _quality_at(other, x)) is not None
    ]
    return [x + (after - x) * d / (d - e) for (x, d), (after, e) in pairwise(known) if d * e < 0]


def _quality_at(curve: Curve, x: float) -> float | None:
    for (left, p), (right, q) in pairwise(curve):
        if left <= x <= right and left < right:
            return p + (q - p) * (x - left) / (right - left)
    return None
