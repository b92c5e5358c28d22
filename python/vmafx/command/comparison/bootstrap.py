"""Computes how sure a mean over titles is, by bootstrap: titles are drawn again and again, with repetition, and the
means of the draws are spread as the mean of other titles of this kind would be. (B. Efron, "Bootstrap Methods: Another
Look at the Jackknife", The Annals of Statistics 7 (1), 1979)
"""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 10_000
SEED = 1  # the same titles have the same interval in every run
CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float


def interval_of_mean(values: Sequence[float]) -> Interval | None:
    """Returns the interval between the percentiles of the means of draws; None for fewer than two values."""
    if len(values) < 2:
        return None
    draw, count = random.Random(SEED).choices, len(values)
    means = sorted(math.fsum(draw(values, k=count)) / count for _ in range(DRAWS))
    outside = round(DRAWS * (1 - CONFIDENCE) / 2)
    return Interval(means[outside], means[-1 - outside])
