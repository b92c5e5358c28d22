"""Targets of a search, such as `vmaf=95` or `p5:ssimulacra2=80`: which scores, how they are pooled, how good."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._library import ffi, library, text_of
from .._pooling import pool
from ..command._terminal import Failure

VMAF = "vmaf"  # the score of the model
SAMPLED = re.compile(r"mean|harmonic_mean|median|p(?:erc)?(\d+(?:\.\d+)?)")  # poolings that samples can tell


class Facts(NamedTuple):
    """The facts about a score that a search needs."""

    key: str  # in reports
    metric: str | None  # the extractor that makes it; None: the model does
    high_is_good: bool
    unit: str


class Loss(NamedTuple):
    """A scale on which a score falls nearly evenly with the quantizer: log(|best - score| + floor), or the score."""

    best: float | None  # the score of equal pictures; None: there is no such bound, as for dB
    floor: float
    per_range: float  # how much the loss rises over the range of x264's quantizers, roughly
    middle: float | None  # the loss that a quantizer in the middle of the range has, roughly


DOUBLINGS = 8 * math.log(2)  # the loss doubles every eighth of the range: each 6 of x264's CRF
LOSSES = {
    "vmaf": Loss(100, 1, DOUBLINGS, math.log(8)),
    "ssimulacra2": Loss(100, 1, DOUBLINGS, math.log(30)),
    "cvvdp": Loss(10, 0.05, DOUBLINGS, math.log(0.5)),
    "float_ssim": Loss(1, 0.0005, DOUBLINGS, None),
    "float_ms_ssim": Loss(1, 0.0005, DOUBLINGS, None),
    "butteraugli": Loss(0, 0.05, DOUBLINGS / 2, None),
}
DECIBELS = Loss(None, 0, 25, None)
UNKNOWN = Loss(None, 0, math.nan, None)


@dataclass(frozen=True)
class Target:
    """A score that an encode shall reach."""

    facts: Facts
    value: float
    pooling: str = "mean"

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Parses [POOLING:]SCORE=VALUE. Raises Failure."""
        found = re.fullmatch(r"(?:([^:=]+):)?([^:=]+)=([^:=]+)", text)
        if not found:
            raise Failure(f"--target {text}: write SCORE=VALUE or POOLING:SCORE=VALUE, such as p5:vmaf=90", 2)
        pooling = found[1] or "mean"
        percent = SAMPLED.fullmatch(pooling)
        if not percent or float(percent[1] or 0) > 100:
            raise Failure(f"--target {text}: pool by mean, harmonic_mean, median or pN, such as p5", 2)
        try:
            value = float(found[3])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise Failure(f"--target {text}: {found[3]} is not a number", 2)
        return cls(facts_of(found[2]), value, pooling)

    @property
    def name(self) -> str:
        """Returns the score and its pooling, without the value."""
        return self.facts.key if self.pooling == "mean" else f"{self.pooling}:{self.facts.key}"

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}"

    def is_reached(self, score: float) -> bool:
        return score >= self.value if self.facts.high_is_good else score <= self.value

    def pooled(self, scores: Sequence[float]) -> float:
        return pool(self.pooling, scores, self.facts.key)

    @property
    def scale(self) -> Loss:
        if self.facts.unit == "dB":
            return DECIBELS
        return LOSSES.get(self.facts.metric or VMAF, UNKNOWN)

    def loss(self, score: float) -> float:
        """Returns how bad a score is, on the scale that falls evenly."""
        if self.scale.best is None:
            return -score if self.facts.high_is_good else score
        return math.log(max(abs(self.scale.best - score), 0.0) + self.scale.floor)

    def score_of(self, loss: float) -> float:
        """Returns the score with this loss."""
        if self.scale.best is None:
            return -loss if self.facts.high_is_good else loss
        distance = max(math.exp(min(loss, 50.0)) - self.scale.floor, 0.0)
        return self.scale.best - distance if self.facts.high_is_good else self.scale.best + distance


def facts_of(name: str) -> Facts:
    """Returns the facts of a score by its key in reports, or by the metric that it stands for. Raises Failure."""
    if name == VMAF:
        return Facts(VMAF, None, True, "")
    known = _known()
    mains = {facts.metric: facts for facts, main in known.values() if main}
    found = known[name][0] if name in known else mains.get(name)
    if found is None:
        names = ", ".join([VMAF, *sorted(map(str, mains))])
        raise Failure(f"the library does not know the score {name}: choose of {names}", 2)
    return found


@functools.cache
def _known() -> dict[str, tuple[Facts, bool]]:
    """Returns the scores that tell good pictures from bad ones, and whether each is the main one of its metric."""
    told: Any = ffi.new("VmafxScoreFacts *")
    found: dict[str, tuple[Facts, bool]] = {}
    number = 0
    while library().vmafx_known_score(number, told) == 0:
        number += 1
        if told.worse in (0, 1):  # VMAFX_WORSE_LOW, VMAFX_WORSE_HIGH
            unit = text_of(told.unit) if told.unit else ""
            facts = Facts(text_of(told.key), text_of(told.metric), told.worse == 0, unit)
            found[facts.key] = facts, bool(told.main)
    return found
