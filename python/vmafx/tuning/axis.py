"""Positions of an encoder's quantizers, from the best to the worst, on which scores fall evenly."""

import math

from ..command._terminal import Failure
from .encoders import Encoder

CLOSE = 0.008  # of an encoder's range: quantizers that are so close count as equally good
PER_OCTAVE = 6.0  # positions for each halving of a bit rate, which is about what 6 of a CRF do


class Axis:
    """The quantizers of an encoder that a search looks at."""

    def __init__(self, encoder: Encoder, first: float | None, last: float | None) -> None:
        self._encoder = encoder
        first, last = encoder.first if first is None else first, encoder.last if last is None else last
        if not encoder.first <= first <= last <= encoder.last:
            told = f"{encoder.quantizer} of {encoder.name} is {encoder.first:g} to {encoder.last:g}"
            raise Failure(f"{told}, not {first:g} to {last:g}: choose others with --min-crf and --max-crf", 2)
        self.is_rate = not encoder.higher_is_worse
        self.low, self.high = sorted((self.position(first), self.position(last)))
        ends = self.position(encoder.first), self.position(encoder.last)
        self.begin, self.range = min(ends), abs(ends[1] - ends[0])
        self.step = 0.05 if self.is_rate else encoder.step
        self.steepness = encoder.steepness
        self.close = max(self.step, CLOSE * self.range)

    @property
    def width(self) -> float:
        return max(self.high - self.low, self.step)

    def position(self, quantizer: float) -> float:
        return -PER_OCTAVE * math.log2(quantizer) if self.is_rate else quantizer

    def quantizer(self, position: float) -> float:
        """Returns the worst quantizer that is no worse than a position, or the best of all."""
        position = min(max(position, self.low), self.high)
        if self.is_rate:
            return min(math.ceil(2 ** (-position / PER_OCTAVE) - 1e-6), round(2 ** (-self.low / PER_OCTAVE)))
        steps = math.floor((position - self.low) / self.step + 1e-6)
        return self._encoder.rounded(self.low + steps * self.step)
