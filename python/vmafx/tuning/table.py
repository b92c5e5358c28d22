"""The scores of all probes: what those of a running one tell of all samples, and samples of the whole video."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from .curve import t_quantile
from .probe import BLOCK, Part
from .targets import Target

# What an encoder's beginning anew in each sample may change, in parts of its range: after a lead, and without one.
LED, NOT_LED = 0.02, 0.06
RESAMPLES = 200  # of the bootstrap
LEAST_SAMPLES, LEAST_BLOCKS = 3, 4  # before a running probe tells anything
ALIKE = 2.0  # blocks that follow each other are alike: errors of differences between them count so often
UNPAIRED = 3.0  # and of scores that are compared with none
GROUPS = 7  # of scores of a whole video, each of which has every seventh: so each has frames of all types
MARGIN = 1.15  # with which 95 % of such intervals hold in simulations, for percentiles, too


class Estimate(NamedTuple):
    """A pooled score of the whole video, with the bounds of its interval."""

    value: float
    low: float
    high: float


class Table:
    """The parts of all probes, by quantizer and sample."""

    def __init__(self) -> None:
        self.parts: dict[float, dict[int, Part]] = {}
        self.samples = 0
        self.covered = 0.0  # the part of the video that the samples are
        self.allowance = LED  # of the beginnings of samples
        self.every = 1  # one of so many frames is scored

    def is_whole(self, quantizer: float) -> bool:
        return sum(part.is_whole for part in self._parts_of(quantizer)) >= self.samples > 0

    def whole(self) -> list[float]:
        return [quantizer for quantizer in self.parts if self.is_whole(quantizer)]

    def base(self, quantizer: float) -> float | None:
        """Returns the nearest quantizer whose probe is whole: others are compared with it. None if there is none."""
        whole = self.whole()
        return min(whole, key=lambda other: abs(other - quantizer)) if whole else None

    def by_sample(self, quantizer: float, target: Target) -> list[list[float]]:
        parts = self.parts[quantizer]
        return [parts[number].scores.get(target.facts.key, []) for number in sorted(parts)]

    def frames(self, quantizer: float) -> int:
        """Returns the number of frames that were seen: scored, or skipped between those that are."""
        return sum(part.frames for part in self._parts_of(quantizer))

    def _parts_of(self, quantizer: float) -> list[Part]:
        """Returns the parts that are there now: threads of the search add others meanwhile."""
        return list(self.parts.get(quantizer, {}).values())

    def estimate(self, quantizer: float, target: Target) -> tuple[float, float]:
        """Returns the score of all samples' frames, and its standard error: 0 of a whole probe; infinite of one that
        has just begun.

        A running probe is compared with the whole one of the nearest quantizer, on the same frames.
        """
        if self.is_whole(quantizer):
            return target.pooled([s for scores in self.by_sample(quantizer, target) for s in scores]), 0.0
        units = self._units(quantizer, quantizer, target)
        if len(units) < (LEAST_SAMPLES if self.samples > 1 else LEAST_BLOCKS):
            return math.nan, math.inf
        base = self.base(quantizer)
        if base is None:
            pooled = [target.pooled(unit) for unit in units]
            return _mean(pooled), self._alike(UNPAIRED) * _deviation(pooled) / math.sqrt(len(pooled))
        return self._against(base, units, self._units(base, quantizer, target), target)

    def _units(self, quantizer: float, seen_by: float, target: Target) -> list[list[float]]:
        """Returns the scores of a probe in what is nearly independent: samples, or blocks of the only sample; of the
        frames that another probe has seen.
        """
        parts, seen = self.parts[quantizer], self.parts.get(seen_by, {})
        counts = {number: len(part.scores.get(target.facts.key, [])) for number, part in sorted(seen.items())}
        scores = {number: parts[number].scores.get(target.facts.key, []) for number in counts if number in parts}
        block = max(BLOCK // self.every, 1)
        if self.samples > 1:
            return [scores[number][:count] for number, count in counts.items() if count >= block]
        return [
            scores[number][i : min(i + block, count)]
            for number, count in counts.items()
            for i in range(0, count, block)
        ]

    def _alike(self, factor: float) -> float:
        return 1.0 if self.samples > 1 else factor

    def _against(
        self, base: float, mine: Sequence[Sequence[float]], others: Sequence[Sequence[float]], target: Target
    ) -> tuple[float, float]:
        """Returns the score of all frames, if the others of a probe differ from those of the base as these do."""
        differences = [target.loss(target.pooled(a)) - target.loss(target.pooled(b)) for a, b in zip(mine, others)]
        left = 1 - sum(map(len, mine)) / max(sum(map(len, self.by_sample(base, target))), 1)
        error = self._alike(ALIKE) * _deviation(differences) / math.sqrt(len(differences)) * math.sqrt(max(left, 0.0))
        loss = target.loss(self.estimate(base, target)[0]) + _mean(differences)
        value = target.score_of(loss)
        return value, abs(target.score_of(loss + error) - value)

    def interval(self, quantizer: float, target: Target, confidence: float) -> Estimate:
        """Returns the score of the whole video. Of a running probe the interval tells what the rest of its frames may
        change.
        """
        if self.is_whole(quantizer):
            return self._of_whole_video(self.by_sample(quantizer, target), target, confidence)
        value, error = self.estimate(quantizer, target)
        half = self.half(quantizer, error, target, confidence)
        return Estimate(value, value - half, value + half)

    def of_video(self, quantizer: float, target: Target, confidence: float) -> Estimate:
        """Returns the score of the whole video, also of a probe that has ended early: its interval is that of the probe
        it is compared with, and what the difference of both may be.
        """
        base = self.base(quantizer)
        if base is None or base == quantizer:
            return self.interval(quantizer, target, confidence)
        known, own = self.interval(base, target, confidence), self.interval(quantizer, target, confidence)
        half = math.hypot(_half_of_loss(known, target), _half_of_loss(own, target))
        return _around(own.value, half, target)

    def _of_whole_video(self, by_sample: Sequence[Sequence[float]], target: Target, confidence: float) -> Estimate:
        """Returns the score of the whole video, from the scores of samples: the bootstrap's error times Student's
        quantile, less if samples are much of the video, and the allowance, in parts of x264's range.
        """
        scores = [s for scores in by_sample for s in scores]
        value, count = target.pooled(scores), len(by_sample)
        if self.covered >= 1:
            return _around(value, _skipped(scores, target, confidence, self.every), target)
        if count < 2:
            return Estimate(value, -math.inf, math.inf)
        choose = random.Random(0).choices
        losses = []
        for _ in range(RESAMPLES):
            losses.append(target.loss(target.pooled([s for scores in choose(by_sample, k=count) for s in scores])))
        error = _deviation(losses) * math.sqrt(count / (count - 1)) * math.sqrt(1 - self.covered)
        begun = self.allowance * target.scale.per_range if math.isfinite(target.scale.per_range) else 0.0
        return _around(value, math.hypot(t_quantile(confidence, count - 1) * error, begun), target)

    def bits_per_frame(self, quantizer: float) -> float:
        """Returns the bits of a frame of all samples. A probe that has ended early is compared with a whole one on the
        same samples, each of which takes another number of bits.
        """
        parts, base = self.parts[quantizer], self.base(quantizer)
        others = self.parts[base] if base is not None else {}
        shared = [number for number, part in list(parts.items()) if part.frames and number in others]
        if base is None or not shared:
            return _sum_of(self._parts_of(quantizer)).bits_per_frame
        own, of_base = (math.fsum(each[number].bits_per_frame for number in shared) for each in (parts, others))
        return own / of_base * _sum_of(self._parts_of(base)).bits_per_frame

    def half(self, quantizer: float, error: float, target: Target, confidence: float) -> float:
        """Returns half the width of the interval of a running probe."""
        return error * t_quantile(confidence, max(len(self._units(quantizer, quantizer, target)) - 1, 1))


def _skipped(scores: Sequence[float], target: Target, confidence: float, every: int) -> float:
    """Returns half the width, in losses, of the interval of a video of which one of `every` frames is scored: from how
    interleaved groups of these differ (random groups: Wolter, Introduction to Variance Estimation, chapter 2).
    """
    if every == 1:
        return 0.0
    if len(scores) < 2 * GROUPS:
        return math.inf
    losses = [target.loss(target.pooled(scores[group::GROUPS])) for group in range(GROUPS)]
    error = _deviation(losses) / math.sqrt(GROUPS) * math.sqrt(1 - 1 / every)
    return MARGIN * error * t_quantile(confidence, GROUPS - 1)


def _around(value: float, half: float, target: Target) -> Estimate:
    """Returns a score with the interval whose bounds are so far from it on the scale of losses."""
    if not math.isfinite(half):
        return Estimate(value, -math.inf, math.inf)
    loss = target.loss(value)
    low, high = sorted((target.score_of(loss + half), target.score_of(loss - half)))
    return Estimate(value, min(low, value), max(high, value))


def _half_of_loss(estimate: Estimate, target: Target) -> float:
    """Returns how far the bounds are from the score, on the scale of losses."""
    value, *bounds = estimate
    return max(abs(target.loss(bound) - target.loss(value)) for bound in bounds)


def _sum_of(parts: Sequence[Part]) -> Part:
    return Part(bytes=sum(part.bytes for part in parts), frames=sum(part.frames for part in parts))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))
