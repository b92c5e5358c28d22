"""Searches for the quantizer with which an encode just reaches its targets."""

import math
import os
import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..command._ffmpeg import Video, ffprobe_of
from ..command._ffmpeg import probe as video_of
from ..command._terminal import Failure
from . import samples as _samples
from .cache import Cache
from .curve import Curve, t_quantile
from .encoders import Settings, check_available
from .probe import Encode, Ended, Part, Scorer, score_part
from .samples import Pictures, Plan, Sample, look_at, plan, read_sample
from .targets import Target

SIGNAL_S = 0.2  # the longest time before a signal is handled
FIRST_SAMPLES = 6
RESAMPLES = 200  # of the bootstrap
LEAST_BLOCKS = 4  # before a running probe may end
MOST_PROBES = 16
FINEST = 0.2  # the smallest difference of quantizers that is searched for
DEFAULT_MEMORY = 4 << 30


class Estimate(NamedTuple):
    """A pooled score of the whole video, with the bounds of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ProbeResult:
    """A quantizer that was tried."""

    quantizer: float
    scores: dict[str, Estimate]  # by the targets' names
    bits_per_second: float
    frames: int  # that were encoded and scored
    of_frames: int  # of all samples
    seconds: float
    from_cache: bool
    reaches: bool


@dataclass(frozen=True)
class Outcome:
    """The quantizer that was found: the worst that reaches all targets, or without one the best there is."""

    reached: bool
    quantizer: float
    scores: dict[str, Estimate]
    bits_per_second: float
    predicted_bytes: float
    predicted_seconds: float  # of the encode of the whole video
    probes: list[ProbeResult]
    frames: int  # of all samples
    of_frames: int  # of the video; 0: not known
    samples: int
    notes: list[str]


@dataclass(frozen=True)
class Options:
    """How to search."""

    ffmpeg: str = "ffmpeg"
    confidence: float = 0.95  # of intervals and of decisions
    first: float | None = None  # the quantizers to search in; None: all of the encoder
    last: float | None = None
    samples: int | None = None  # None: as many as the confidence asks for
    memory: int = DEFAULT_MEMORY  # bytes that the samples' pictures may take
    model: str = "version=vmaf_v0.6.1"
    size: tuple[int, int] | None = None  # to which pictures are scaled before they are scored
    jobs: int | None = None  # encodes at a time; None: one for each 4 processors
    cache: bool = True
    backend: str = "auto"
    device: str | None = None
    early: bool = True  # whether probes end as soon as they are decided


Tell = Callable[[ProbeResult], None]


def search(
    input: "str | Video",
    settings: Settings,
    targets: Sequence[Target],
    options: Options = Options(),
    tell: Tell = lambda _: None,
) -> Outcome:
    """Finds the worst quantizer of an encoder whose encode of a video reaches all targets, from encodes of samples.
    `tell` gets each quantizer that was tried. Raises Failure.
    """
    check_available(options.ffmpeg, settings.encoder)
    video = input if isinstance(input, Video) else video_of(ffprobe_of(options.ffmpeg), input)
    with _Search(video, settings, targets, options, tell) as running:
        return running.run()


# -- The samples' scores -----------------------------------------------------------------------------------------------


class _Table:
    """The parts of all probes: of each quantizer and sample."""

    def __init__(self, targets: Sequence[Target], confidence: float) -> None:
        self.parts: dict[float, dict[int, Part]] = {}
        self.targets, self.confidence = targets, confidence
        self.samples = 0
        self.covered = 0.0  # the part of the video that the samples are

    def is_whole(self, quantizer: float) -> bool:
        parts = self.parts.get(quantizer, {})
        return sum(part.is_whole for part in parts.values()) >= self.samples > 0

    def whole(self) -> list[float]:
        return [quantizer for quantizer in self.parts if self.is_whole(quantizer)]

    def pooled(self, quantizer: float, target: Target) -> float:
        """Returns the score of all samples' frames; the probe is whole."""
        parts = self.parts[quantizer]
        return target.pooled([s for number in sorted(parts) for s in parts[number].scores[target.facts.key]])

    def estimate(self, quantizer: float, target: Target) -> tuple[float, float]:
        """Returns the score of all samples' frames, and its standard error: 0 of a whole probe; of one that has just
        begun, the error is infinite.

        A running probe is compared with a whole one of the nearest quantizer, on the same frames.
        """
        if self.is_whole(quantizer):
            return self.pooled(quantizer, target), 0.0
        blocks = self._blocks(quantizer, target)
        if len(blocks) < LEAST_BLOCKS:
            return math.nan, math.inf
        whole = [other for other in self.whole() if other != quantizer]
        if not whole:
            return _alone(blocks, target)
        base = min(whole, key=lambda other: abs(other - quantizer))
        return self._against(quantizer, base, target)

    def _blocks(self, quantizer: float, target: Target, limit: "dict[int, int] | None" = None) -> list[list[float]]:
        """Returns the scores in blocks of frames; `limit` is how many frames of each sample."""
        from .probe import BLOCK

        blocks = []
        for number, part in sorted(self.parts.get(quantizer, {}).items()):
            scores = part.scores.get(target.facts.key, [])
            count = len(scores) if limit is None else limit.get(number, 0)
            count = count if part.is_whole and limit is None else count // BLOCK * BLOCK
            blocks += [scores[i : min(i + BLOCK, count)] for i in range(0, count, BLOCK)]
        return blocks

    def _against(self, quantizer: float, base: float, target: Target) -> tuple[float, float]:
        parts = self.parts[quantizer]
        seen = {number: len(part.scores.get(target.facts.key, [])) for number, part in parts.items()}
        mine, others = self._blocks(quantizer, target, seen), self._blocks(base, target, seen)
        total = sum(len(part.scores[target.facts.key]) for part in self.parts[base].values())
        count = sum(map(len, mine))
        differences = [target.loss(target.pooled(a)) - target.loss(target.pooled(b)) for a, b in zip(mine, others)]
        difference = _mean(differences)
        error = _deviation(differences) / math.sqrt(len(differences)) * math.sqrt(max(1 - count / total, 0.0))
        loss = target.loss(self.pooled(base, target))
        value = target.score_of(loss + difference)
        # Blocks that follow each other are alike: the error counts double.
        return value, abs(target.score_of(loss + difference + 2 * error) - value)


def _alone(blocks: Sequence[Sequence[float]], target: Target) -> tuple[float, float]:
    pooled = [target.pooled(block) for block in blocks]
    return _mean(pooled), 3 * _deviation(pooled) / math.sqrt(len(pooled))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))


def interval(by_sample: Sequence[Sequence[float]], target: Target, confidence: float, covered: float) -> Estimate:
    """Returns the score of the whole video with its interval, from the scores of each sample: the bootstrap's error,
    times Student's quantile, less for samples that are much of the video.
    """
    value = target.pooled([s for scores in by_sample for s in scores])
    count = len(by_sample)
    if covered >= 1:
        return Estimate(value, value, value)
    if count < 2:
        return Estimate(value, -math.inf, math.inf)
    choose = random.Random(0).choices
    losses = []
    for _ in range(RESAMPLES):
        drawn = choose(by_sample, k=count)
        losses.append(target.loss(target.pooled([s for scores in drawn for s in scores])))
    error = _deviation(losses) * math.sqrt(count / (count - 1)) * math.sqrt(1 - covered)
    half = t_quantile(confidence, count - 1) * error
    loss = target.loss(value)
    low, high = sorted((target.score_of(loss + half), target.score_of(loss - half)))
    return Estimate(value, min(low, value), max(high, value))


# -- The search --------------------------------------------------------------------------------------------------------


@dataclass
class _Running:
    """A probe that runs: its encodes, and whether it was decided."""

    quantizer: float
    encodes: list[Encode] = field(default_factory=list)
    is_decided: bool = False
    start: float = field(default_factory=time.monotonic)


class _Search:
    """A search, with its samples and threads. Leaving `with` ends all encodes."""

    def __init__(
        self, video: Video, settings: Settings, targets: Sequence[Target], options: Options, tell: Tell
    ) -> None:
        if not targets:
            raise Failure("there is no target to reach", 2)
        self._video, self._targets, self._options, self._tell = video, targets, options, tell
        self._notes: list[str] = []
        pictures = look_at(options.ffmpeg, video, settings)
        if options.size != (pictures.width, pictures.height):
            pictures = replace(pictures, size=options.size)
        self._pictures = pictures
        self._settings = replace(settings, pix_fmt=pictures.pix_fmt)
        processors = len(os.sched_getaffinity(0))
        self._jobs = options.jobs or max(1, processors // 4)
        self._scorer = Scorer.of(
            targets, options.model, max(1, processors // self._jobs), options.backend, options.device
        )
        self._plan: Plan = plan(video, pictures, options.memory, options.samples)
        self._samples: list[Sample] = []
        self._cache = Cache(options.ffmpeg) if options.cache else None
        self._table = _Table(targets, options.confidence)
        encoder = settings.encoder
        self._first = encoder.first if options.first is None else options.first
        self._last = encoder.last if options.last is None else options.last
        if not encoder.first <= self._first <= self._last <= encoder.last:
            range_ = f"{encoder.number(encoder.first)} to {encoder.number(encoder.last)}"
            raise Failure(f"{encoder.quantizer} of {encoder.name} is {range_}: choose --min-crf and --max-crf so", 2)
        self._step = max(encoder.step, FINEST)
        self._lock = threading.Lock()
        self._events: "queue.SimpleQueue[Failure | BaseException | None]" = queue.SimpleQueue()
        self._running: dict[float, _Running] = {}
        self._pool = ThreadPoolExecutor(self._jobs)
        self.probes: list[ProbeResult] = []

    def __enter__(self) -> "_Search":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for running in self._running.values():
                running.is_decided = True
                for encode in running.encodes:
                    encode.stop()
        self._pool.shutdown()
        for sample in self._samples:
            sample.close()

    # Positions count from the best quantizer to the worst.

    def _position(self, quantizer: float) -> float:
        return quantizer if self._settings.encoder.higher_is_worse else -quantizer

    def _ends(self) -> tuple[float, float]:
        low, high = sorted((self._position(self._first), self._position(self._last)))
        return low, high

    def _on_grid(self, position: float) -> float:
        """Returns the worst quantizer of the grid that is no worse than a position."""
        low, high = self._ends()
        steps = math.floor((min(max(position, low), high) - low) / self._step + 1e-6)
        return self._settings.encoder.rounded(self._position(low + steps * self._step))

    # -- Steps

    def run(self) -> Outcome:
        self._read(1 if self._plan.whole else min(self._options.samples or FIRST_SAMPLES, len(self._plan.places)))
        while True:
            found = self._find()
            if not self._needs_more(found):
                return self._outcome(found)
            self._read(min(len(self._samples) + 4, len(self._plan.places), self._most()))

    def _most(self) -> int:
        return self._options.samples or _samples.MOST_SAMPLES

    def _read(self, count: int) -> None:
        """Decodes samples until there are so many."""
        for place in self._plan.places[len(self._samples) : count]:
            sample = read_sample(
                self._options.ffmpeg, self._video, self._settings, self._pictures, place, self._scorer.luma_only
            )
            self._samples.append(sample)
        if self._plan.whole and self._plan.frames and self._samples[0].frames < self._plan.frames - 1:
            self._notes.append(f"only {self._samples[0].frames} of {self._plan.frames} frames could be decoded")
        self._table.samples = len(self._samples)
        frames = sum(sample.frames for sample in self._samples)
        self._table.covered = 1.0 if self._plan.whole else min(frames / max(self._plan.frames, 1), 1.0)

    def _find(self) -> float:
        """Returns the quantizer that the points so far lead to, whose probe is whole."""
        wanted = self._proposal({})
        for _ in range(MOST_PROBES):
            if self._table.is_whole(wanted):
                return wanted
            self._probe(wanted)
            following = self._proposal({})
            wanted = following if following != wanted or self._table.is_whole(wanted) else wanted
        self._notes.append(f"the search ended after {MOST_PROBES} probes")
        return max(self._table.whole(), key=lambda q: (self._reaches(q), self._position(q)))

    def _proposal(self, instead: dict[str, tuple[float, float]], at: float | None = None) -> float:
        """Returns the quantizer to try next: where the models of all targets say that they are just reached, or the
        one that was found. `instead` are scores to take for a probe `at` a quantizer.
        """
        low, high = self._ends()
        best = high
        for target in self._targets:
            curve = self._curve(target, instead.get(target.name), at)
            if not curve.points:
                best = min(best, self._first_guess(target))
            else:
                best = min(best, curve.crossing(target.loss(target.value)))
        return self._refined(self._on_grid(min(max(best, low), high)), instead, at)

    def _refined(self, wanted: float, instead: dict[str, tuple[float, float]], at: float | None) -> float:
        """Keeps the proposal between the worst quantizer that reaches the targets and the best that does not."""
        known = {q: self._reaches(q) for q in self._table.whole()}
        if at is not None and at not in known and instead:
            known[at] = all(t.is_reached(instead[t.name][0]) for t in self._targets)
        good = max((self._position(q) for q, reached in known.items() if reached), default=None)
        bad = min((self._position(q) for q, reached in known.items() if not reached), default=None)
        if good is not None and bad is not None and bad < good:
            bad = min((self._position(q) for q, r in known.items() if not r and self._position(q) > good), default=None)
        position = self._position(wanted)
        if bad is not None and position >= bad - 1e-9:
            position = bad - self._step
        if good is not None and position < good:
            position = good
        return self._on_grid(position)

    def _reaches(self, quantizer: float) -> bool:
        return all(target.is_reached(self._table.estimate(quantizer, target)[0]) for target in self._targets)

    def _curve(self, target: Target, instead: "tuple[float, float] | None", at: float | None) -> Curve:
        low, high = self._ends()
        width = max(high - low, self._step)
        whole_range = self._settings.encoder.last - self._settings.encoder.first
        slope = target.scale.per_range / whole_range
        curve = Curve(width, slope if math.isfinite(slope) else self._slope_seen(target, whole_range))
        for quantizer in self._table.parts:
            value, error = self._table.estimate(quantizer, target)
            if at == quantizer and instead is not None:
                value, error = instead
            if math.isfinite(value) and math.isfinite(error):
                loss = target.loss(value)
                sigma = max(abs(target.loss(value + error) - loss), abs(target.loss(value - error) - loss))
                curve.put(self._position(quantizer), loss, sigma)
        return curve

    def _slope_seen(self, target: Target, whole_range: float) -> float:
        """Returns a slope for a score of unknown scale: one that leads a quarter of the range further."""
        values = [self._table.estimate(q, target)[0] for q in self._table.parts]
        farthest = max((abs(target.value - value) for value in values if math.isfinite(value)), default=0.0)
        return max(4 * farthest / whole_range, 1e-6)

    def _first_guess(self, target: Target) -> float:
        low, high = self._ends()
        scale = target.scale
        encoder = self._settings.encoder
        begin = self._position(encoder.first if encoder.higher_is_worse else encoder.last)
        whole_range = encoder.last - encoder.first
        guess = begin + 0.45 * whole_range
        if scale.middle is not None:
            guess += (target.loss(target.value) - scale.middle) / scale.per_range * whole_range
        return min(max(guess, low), high)

    # -- Probes

    def _probe(self, quantizer: float) -> None:
        """Encodes and scores the samples with a quantizer, until that is decided."""
        running = _Running(quantizer)
        parts = self._table.parts.setdefault(quantizer, {})
        todo = [number for number in range(len(self._samples)) if not (number in parts and parts[number].is_whole)]
        waiting = []
        for number in todo:
            kept = self._cache and self._cache.get(self._samples[number], self._settings, self._scorer, quantizer)
            if kept:
                parts[number] = kept
            else:
                parts.pop(number, None)
                waiting.append(number)
        from_cache = bool(todo) and not waiting
        self._running[quantizer] = running
        jobs = [self._pool.submit(self._score, running, number) for number in waiting]
        try:
            self._watch(running, len(jobs))
        finally:
            for job in jobs:
                job.cancel()
            self._running.pop(quantizer)
        self._report(running, from_cache)

    def _watch(self, running: _Running, jobs: int) -> None:
        """Waits for all jobs of a probe. A signal that comes right before Python waits does not end a wait: so each
        wait is short.
        """
        while jobs:
            try:
                event = self._events.get(timeout=SIGNAL_S)
            except queue.Empty:
                continue
            if isinstance(event, BaseException):
                if not isinstance(event, Ended):
                    raise event
                jobs -= 1
            elif event == DONE:
                jobs -= 1
            if not running.is_decided and self._options.early and self._is_decided(running.quantizer):
                with self._lock:
                    running.is_decided = True
                    for encode in running.encodes:
                        encode.stop()

    def _score(self, running: _Running, number: int) -> None:
        """Encodes and scores a sample, in a thread of the pool."""
        try:
            self._score_or_raise(running, number)
            self._events.put(DONE)
        except BaseException as error:
            self._events.put(error)

    def _score_or_raise(self, running: _Running, number: int) -> None:
        sample = self._samples[number]
        with self._lock:
            if running.is_decided:
                raise Ended
            encode = Encode(self._options.ffmpeg, self._settings, running.quantizer, sample)
            running.encodes.append(encode)
        part = Part()
        try:
            self._table.parts[running.quantizer][number] = part
            score_part(encode, sample, self._scorer, part, lambda: self._events.put(BLOCK))
        finally:
            with self._lock:
                running.encodes.remove(encode)
            encode.close()
        if self._cache:
            self._cache.put(sample, self._settings, self._scorer, running.quantizer, part)

    def _is_decided(self, quantizer: float) -> bool:
        """Returns whether the search would go on with the same quantizer, another one, wherever in its interval the
        score of this one is.
        """
        if self._table.is_whole(quantizer):
            return False
        bounds: list[dict[str, tuple[float, float]]] = [{}, {}]
        for target in self._targets:
            value, error = self._table.estimate(quantizer, target)
            if not (math.isfinite(value) and math.isfinite(error)):
                return False
            blocks = sum(len(part.scores.get(target.facts.key, ())) for part in self._table.parts[quantizer].values())
            half = error * t_quantile(self._options.confidence, max(blocks // 12 - 1, 1))
            low, high = sorted((value - half, value + half))
            bounds[0][target.name], bounds[1][target.name] = (low, error), (high, error)
        proposals = [self._proposal(bound, quantizer) for bound in bounds]
        same = abs(proposals[0] - proposals[1]) <= self._step + 1e-9
        return same and all(abs(p - quantizer) > self._step + 1e-9 for p in proposals)

    def _estimates(self, quantizer: float) -> dict[str, Estimate]:
        parts = self._table.parts[quantizer]
        found = {}
        for target in self._targets:
            if self._table.is_whole(quantizer):
                by_sample = [parts[number].scores[target.facts.key] for number in range(len(self._samples))]
                found[target.name] = interval(by_sample, target, self._options.confidence, self._table.covered)
            else:
                value, error = self._table.estimate(quantizer, target)
                half = error * t_quantile(self._options.confidence, 8)
                found[target.name] = Estimate(value, value - half, value + half)
        return found

    def _report(self, running: _Running, from_cache: bool) -> None:
        quantizer = running.quantizer
        parts = self._table.parts[quantizer].values()
        frames = sum(len(next(iter(part.scores.values()), ())) for part in parts)
        result = ProbeResult(
            quantizer,
            self._estimates(quantizer),
            self._bit_rate(quantizer),
            frames,
            sum(sample.frames for sample in self._samples),
            time.monotonic() - running.start,
            from_cache,
            self._reaches(quantizer),
        )
        self.probes.append(result)
        self._tell(result)

    def _bit_rate(self, quantizer: float) -> float:
        """Returns bits per second of what was encoded."""
        parts = self._table.parts[quantizer].values()
        frames = sum(part.frames for part in parts)
        return sum(part.bytes for part in parts) * 8 * float(self._pictures.rate) / frames if frames else math.nan

    # -- The end

    def _needs_more(self, found: float) -> bool:
        """Returns whether more samples would tell the quantizer better: the interval is wider than what a step of 2 %
        of the range changes.
        """
        if self._plan.whole or len(self._samples) >= min(len(self._plan.places), self._most()):
            return False
        allowed = max(self._step, 0.02 * (self._settings.encoder.last - self._settings.encoder.first))
        for target in self._targets:
            estimate = self._estimates(found)[target.name]
            curve = self._curve(target, None, None)
            position = self._position(found)
            slope = (curve.at(position + allowed) - curve.at(position - allowed)) / 2
            widths = [abs(target.loss(bound) - target.loss(estimate.value)) for bound in estimate[1:]]
            if max(widths) > slope:
                return True
        return False

    def _outcome(self, found: float) -> Outcome:
        if self._cache and self._cache.problem:
            self._notes.append(self._cache.problem)
        grain = self._settings.film_grain
        if grain:
            self._notes.append(f"the scores are of pictures without the film grain that {grain} has decoders add")
        bits = self._bit_rate(found)
        whole = self._plan.frames or sum(sample.frames for sample in self._samples)
        seconds = whole / float(self._pictures.rate)
        parts = self._table.parts[found].values()
        per_frame = sum(part.seconds for part in parts) / max(sum(part.frames for part in parts), 1)
        return Outcome(
            self._reaches(found),
            found,
            self._estimates(found),
            bits,
            bits * seconds / 8,
            per_frame * whole,
            self.probes,
            sum(sample.frames for sample in self._samples),
            self._plan.frames,
            len(self._samples),
            self._notes,
        )


DONE, BLOCK = "done", "block"  # events of a probe
