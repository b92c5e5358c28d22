"""Proposes the next quantizer of a search, from the scores of all probes so far."""

import math
from collections.abc import Mapping, Sequence

from .axis import Axis
from .curve import Curve
from .table import Table
from .targets import Target

FIRST_GUESS = 0.45  # of the range, for targets of which nothing better is known
FAR, FAR_CONFIDENCE = 0.05, 0.8  # of the range: a probe that is so far from the target ends if none is whole yet
NEARLY = 0.35  # of the positions that count as equally good: differences need not be known better
STILL = 1.25  # times as much, for a probe that has ended: it sees some frames more before it does
# Of a video that is one sample: with fewer frames, it is always scored whole; else this part of it, at least.
WHOLE_FRAMES, SETTLED_PART = 600, 0.4
ROUGHLY = 0.2  # of the way to a proposal: a probe need not tell it better, as the next one will

Points = Mapping[str, tuple[float, float]]  # scores and their standard errors, by the targets' names


class Proposer:
    """Follows the models of all targets."""

    def __init__(self, axis: Axis, table: Table, targets: Sequence[Target], confidence: float) -> None:
        self._axis, self._table, self._targets, self._confidence = axis, table, targets, confidence
        self.slack = 0.0  # positions that a known probe may be from where the targets are just reached, as found

    def next(self, at: float | None = None, instead: Points | None = None) -> float:
        """Returns the quantizer to try next, or the one that was found, which has been tried. `instead` are scores to
        take for the probe `at` a quantizer.
        """
        axis = self._axis
        points = self._points(at, instead or {})
        known = [q for q in points if q != at and self.is_known(q)]  # others may be wrong, and bound nothing
        reached = {axis.position(q): self._all_reached(points[q]) for q in known}
        crossing = min(max(self._crossing(points), axis.low), axis.high)
        good = max((position for position, is_good in reached.items() if is_good), default=-math.inf)
        bad = min(
            (position for position, is_good in reached.items() if not is_good and position > good), default=math.inf
        )
        if known and self.slack:
            nearest = min((axis.position(q) for q in known), key=lambda position: abs(position - crossing))
            if abs(nearest - crossing) <= self.slack:
                return axis.quantizer(nearest + 1e-9)
        if good > -math.inf and (crossing - good < axis.close - 1e-9 or bad - good <= axis.step + 1e-9):
            return axis.quantizer(good + 1e-9)
        aim = crossing if axis.close <= axis.step else crossing - axis.close / 2
        aim = min(max(aim, good + axis.step, axis.low), bad - axis.step, axis.high)
        if axis.high - aim < axis.close and bad == math.inf:
            aim = axis.high
        return axis.quantizer(aim + 1e-9)

    def is_known(self, quantizer: float) -> bool:
        """Returns whether a probe need not see more frames: it is whole, or it differs from a whole one by what is
        known well enough.
        """
        return self._table.is_whole(quantizer) or self._is_settled(quantizer, STILL * NEARLY)

    def _is_settled(self, quantizer: float, nearly: float) -> bool:
        """Returns whether the difference to a whole probe is known as well as quantizers need be told apart."""
        base = self._table.base(quantizer)
        if quantizer not in self._table.parts or base is None:
            return False
        frames, seen = self._table.frames(base), self._table.frames(quantizer)
        if self._table.samples < 2 and (frames < WHOLE_FRAMES or seen < SETTLED_PART * frames):
            return False
        enough = nearly * max(self._axis.close, self.slack)
        for target in self._targets:
            value, error = self._table.estimate(quantizer, target)
            if not (math.isfinite(value) and math.isfinite(error)):
                return False
            half = self._table.half(quantizer, error, target, self._confidence)
            off = max(abs(target.loss(value + sign * half) - target.loss(value)) for sign in (-1, 1))
            if off > self.steepness(target, quantizer, 2 * enough) / 2:
                return False
        return True

    def is_decided(self, quantizer: float) -> bool:
        """Returns whether a running probe may end: it is known, or the search would go on alike, at another quantizer,
        wherever in its interval its score is. As long as none is whole, with which others are compared, a probe ends if
        it is far from the target.
        """
        if self._is_settled(quantizer, NEARLY):
            return True
        is_compared = bool(self._table.whole())
        confidence = self._confidence if is_compared else FAR_CONFIDENCE
        bounds: tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float]]] = {}, {}
        for target in self._targets:
            value, error = self._table.estimate(quantizer, target)
            if not (math.isfinite(value) and math.isfinite(error)):
                return False
            half = self._table.half(quantizer, error, target, confidence)
            bounds[0][target.name], bounds[1][target.name] = (value - half, error), (value + half, error)
        here, axis = self._axis.position(quantizer), self._axis
        ways = [axis.position(self.next(quantizer, bound)) - here for bound in bounds]
        shortest = min(abs(way) for way in ways)
        if shortest < max(axis.close, self.slack) or ways[0] * ways[1] < 0:
            return False  # the running probe may be what is looked for
        if not is_compared and shortest > FAR * axis.range:
            return True
        return abs(ways[0] - ways[1]) <= max(axis.close, ROUGHLY * shortest)

    def reaches(self, quantizer: float) -> bool:
        return all(target.is_reached(self._table.estimate(quantizer, target)[0]) for target in self._targets)

    def others(self, count: int) -> list[float]:
        """Returns quantizers to try beside the proposal, where processors would be idle."""
        axis, wanted = self._axis, self._axis.position(self.next())
        spread = 2 * axis.close if self._table.whole() else axis.range / 8
        found: list[float] = []
        for number in range(1, count + 1):
            sign = -1 if number % 2 else 1
            other = axis.quantizer(wanted + sign * ((number + 1) // 2) * spread)
            if other not in self._table.parts and other not in found:
                found.append(other)
        return found

    def steepness(self, target: Target, quantizer: float, width: float) -> float:
        """Returns how much the loss rises over `width` positions around a quantizer."""
        curve = self._curve(target, self._points(None, {}))
        position = self._axis.position(quantizer)
        return (curve.at(position + width / 2) - curve.at(position - width / 2)) if curve.points else math.inf

    def _points(self, at: float | None, instead: Points) -> dict[float, Points]:
        """Returns the scores of all probes that tell any."""
        points: dict[float, Points] = {}
        for quantizer in self._table.parts:
            if quantizer == at and instead:
                points[quantizer] = instead
                continue
            found = {target.name: self._table.estimate(quantizer, target) for target in self._targets}
            if all(math.isfinite(value) and math.isfinite(error) for value, error in found.values()):
                points[quantizer] = found
        return points

    def _all_reached(self, scores: Points) -> bool:
        return all(target.is_reached(scores[target.name][0]) for target in self._targets)

    def _crossing(self, points: Mapping[float, Points]) -> float:
        """Returns the worst position at which the models say that all targets are reached."""
        found = []
        for target in self._targets:
            curve = self._curve(target, points)
            found.append(curve.crossing(target.loss(target.value)) if curve.points else self._first_guess(target))
        return min(found)

    def _curve(self, target: Target, points: Mapping[float, Points]) -> Curve:
        slope = self._rise(target) / self._axis.range
        if not math.isfinite(slope):  # the scale of the score is not known: lead a quarter of the range further
            distances = [abs(target.value - scores[target.name][0]) for scores in points.values()]
            slope = max(4 * max(distances, default=0.0) / self._axis.range, 1e-6)
        curve = Curve(self._axis.width, slope)
        for quantizer, scores in points.items():
            value, error = scores[target.name]
            loss = target.loss(value)
            sigma = max(abs(target.loss(value + error) - loss), abs(target.loss(value - error) - loss))
            curve.put(self._axis.position(quantizer), loss, sigma)
        return curve

    def _rise(self, target: Target) -> float:
        """Returns how much the loss rises over the encoder's range, roughly."""
        return self._axis.steepness * target.scale.per_range

    def _first_guess(self, target: Target) -> float:
        guess = FIRST_GUESS
        if target.scale.middle is not None:
            guess += (target.loss(target.value) - target.scale.middle) / self._rise(target)
        return self._axis.begin + min(max(guess, 0.1), 0.9) * self._axis.range
