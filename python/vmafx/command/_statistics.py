"""Takes pooled values of frame scores from the report; the library, if it is there, pools what a report lacks."""

import errno
import math
from array import array
from collections.abc import Mapping, Sequence

from .. import _pooling
from ._keys import Facts
from ._scores import Encode
from ._terminal import note

PERCENTS = 1, 5, 10, 25, 75, 90, 95, 99
NAMES = "mean", "harmonic_mean", "min", "max", "median", "stddev", *(f"p{percent}" for percent in PERCENTS)
LACKING = "pooled values that reports lack, and those of scenes, are computed by libvmafx.so.0, which was not found"
_said: list[str] = []  # once in a process


def pool(key: str, name: str, scores: Sequence[float]) -> float | None:
    """Pools the scores of frames in their order, by a name of NAMES. None: none of them is finite and they differ, they
    have no such mean, or the library is not there, which a note says.
    """
    if name == "harmonic_mean" and not has_harmonic(min(scores, default=None)):
        return None
    if any(map(math.isnan, scores)) or not isinstance(scores, array):
        scores = array("d", (score for score in scores if not math.isnan(score)))
    try:
        value = _pooling.pool(name, scores, key) if scores else math.nan
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        if LACKING not in _said:
            _said.append(LACKING)
            note(LACKING)
        value = math.nan
    return None if math.isnan(value) else value


def has_harmonic(least: float | None) -> bool:
    """Tells whether scores with this smallest one have a harmonic mean, 1 / mean(1 / (score + 1)) - 1: those of regions
    may be far below 0, where it tells nothing.
    """
    return least is None or not least <= -1


def pooled_values(encode: Encode, key: str) -> dict[str, float | None]:
    """Returns the pooled values by NAMES: the report's, and the others as pooled here. None: there are no scores.
    Infinite, if all scores are; JSON has no number for that.
    """
    known: tuple[int, dict[str, float | None]] = encode.pooled_here.get(key, (-1, {}))
    if known[0] == len(encode.scores[key]):
        return known[1]
    told: Mapping[str, float | None] = encode.pooled.get(key, {})
    values = {name: told[name] if name in told else pool(key, name, encode.scores[key]) for name in NAMES}
    values = {name: None if value is None or math.isnan(value) else value for name, value in values.items()}
    if not has_harmonic(values["min"]):
        values["harmonic_mean"] = None
    encode.pooled_here[key] = len(encode.scores[key]), values
    return values


def worst_value_name(facts: Facts) -> str:
    """The pooled value that is the worst score: `min`, or `max` where high scores tell of worse pictures."""
    return "max" if facts.worse_is_high else "min"


def worst_tail_name(facts: Facts) -> str:
    """The pooled value that 5 % of the frames are worse than: `p5`, or `p95` where high scores are the worse ones."""
    return "p95" if facts.worse_is_high else "p5"


def worst_frames(encode: Encode, key: str, count: int, apart: float = 0) -> list[int]:
    """Places in the lists of the encode, the worst first, `apart` seconds from each other.

    None, if the scores do not tell of quality.
    """
    scores, facts = encode.scores[key], encode.facts(key)
    if not facts.tells_quality:
        return []
    finite = (i for i in range(len(scores)) if math.isfinite(scores[i]))
    order = sorted(finite, key=scores.__getitem__, reverse=facts.worse_is_high)
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
