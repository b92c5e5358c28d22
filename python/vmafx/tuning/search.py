"""Searches for the quantizer with which an encode just reaches its targets."""

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .._pictures import Color
from .._system import memory as machine_memory
from .._system import processors as usable_processors
from ..command._ffmpeg import Video, ffprobe_of
from ..command._ffmpeg import probe as video_of
from ..command._said import shortened
from ..command._terminal import Failure, shown
from .axis import Axis
from .cache import Cache
from .damage import readable
from .encoders import Settings, check_available
from .probe import Encode, Ended, Part, Scorer, score_part
from .proposal import WHOLE_FRAMES, Proposer
from .samples import FIRST_SAMPLES, Plan, Sample, look_at, plan, read_sample
from .table import LED, NOT_LED, Estimate, Table
from .targets import Target

SIGNAL_S = 0.2  # the longest time before a signal is handled
MORE_SAMPLES = 8  # are added at a time
MOST_SEEN = 0.75  # a probe that has seen more of its frames goes on, so that others can be compared with it
LEAST_PART = 0.25  # of a video that is one sample must be seen before a probe ends: it begins with its first scenes
MOST_PROBES = 16
ENOUGH = 0.02  # of an encoder's range: samples need not tell the quantizer better
ROUGHLY = 0.3  # of what the samples leave open: the quantizer is found so well before more of them are read
PROCESSORS_PER_JOB = 4  # processors that an encode of a sample keeps busy
LEAST_MEMORY, MOST_MEMORY = 4 << 30, 16 << 30  # by default
EVERY = 3  # of a video that is one sample and has WHOLE_FRAMES, one of so many frames is scored


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
    """The quantizer that was found: the worst that reaches all targets; without one, the best there is."""

    reached: bool
    quantizer: float
    scores: dict[str, Estimate]
    bits_per_second: float
    predicted_bytes: float  # of the whole video's stream
    predicted_seconds: float  # of its encode
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
    memory: int | None = None  # bytes that the samples' pictures may take; None: usual_memory()
    model: str = "version=vmaf_v0.6.1"
    size: tuple[int, int] | None = None  # to which pictures are scaled for the model; None: not scaled
    jobs: int | None = None  # encodes at a time; None: usual_jobs()
    cache: bool = True
    backend: str = "auto"
    device: str | None = None
    early: bool = True  # whether probes end as soon as they are decided, and may skip frames
    partial: bool = False  # whether what can be decoded of a damaged source is taken for it
    convert: str | None = None  # the color space that pictures are converted to before they are scored, as the filter's
    color: Color | None = None  # of the pictures behind the filters; None: that of the video


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


def usual_jobs(processors: int) -> int:
    """Returns how many encodes run at a time: one for every two processors as long as the first samples are not all
    encoded at once, as encoders wait for many pictures before they write the first, while others can be scored.
    """
    return max(1, processors // PROCESSORS_PER_JOB, min(processors // 2, FIRST_SAMPLES))


def usual_memory() -> int:
    """Returns the bytes that samples' pictures may take: a quarter of the machine's, in bounds; of a small one half."""
    found = machine_memory()
    usual = min(max(found // 4, LEAST_MEMORY), MOST_MEMORY)
    return min(usual, found // 2) if found else usual


class _Event(NamedTuple):
    """A block of frames was scored, or a part has ended."""

    ended: bool = False
    error: BaseException | None = None


@dataclass
class _Probe:
    """A probe that runs."""

    quantizer: float
    encodes: list[Encode] = field(default_factory=list)
    is_decided: bool = False
    start: float = field(default_factory=time.monotonic)
    from_cache: bool = False


class _Search:
    """A search, with its samples and threads. Leaving `with` ends all encodes."""

    def __init__(
        self, video: Video, settings: Settings, targets: Sequence[Target], options: Options, tell: Tell
    ) -> None:
        if not targets:
            raise Failure("the search has no target: name one", 2)
        if options.partial:
            video = readable(ffprobe_of(options.ffmpeg), video)
        self._video, self._targets, self._options, self._tell = video, targets, options, tell
        self._axis = Axis(settings.encoder, options.first, options.last)
        self._table = Table()
        self._proposer = Proposer(self._axis, self._table, targets, options.confidence)
        pictures = look_at(options.ffmpeg, video, settings)
        self._pictures = pictures = replace(pictures, color=options.color or pictures.color)
        self._settings = replace(settings, pix_fmt=pictures.pix_fmt)
        processors = usable_processors()
        self._jobs = options.jobs or usual_jobs(processors)
        size = None if options.size == (pictures.width, pictures.height) else options.size
        threads = max(1, min(processors, 2 * processors // self._jobs))  # as others begin and end meanwhile
        scorer = Scorer.of(targets, options.model, size, threads, options.convert)
        self._scorer = replace(scorer, backend=options.backend, device=options.device)
        memory = usual_memory() if options.memory is None else options.memory
        self._plan: Plan = plan(video, pictures, scorer.views, memory, options.samples)
        self._table.allowance = LED if self._plan.has_leads else NOT_LED
        self._cache = Cache(options.ffmpeg) if options.cache else None
        self._samples: list[Sample] = []
        self._running: list[_Probe] = []
        self._probes: list[ProbeResult] = []
        self._notes: list[str] = []
        self._lock = threading.Lock()
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(self._jobs)

    def __enter__(self) -> "_Search":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for probe in self._running:
            self._end(probe)
        self._pool.shutdown()
        for sample in self._samples:
            sample.close()

    def run(self) -> Outcome:
        most = min(self._plan.most, len(self._plan.places))
        self._read(min(self._options.samples or FIRST_SAMPLES, most))
        if self._options.early and self._scorer.can_skip and self._plan.whole and self._frames >= WHOLE_FRAMES:
            self._scorer = replace(self._scorer, every=EVERY)
            self._table.every = EVERY
        while len(self._samples) < most and self._needs_more(found := self._find(roughly=True)):
            base = self._table.base(found)
            self._read(min(len(self._samples) + MORE_SAMPLES, most))
            self._probe([found if base is None else base], early=False)
        return self._outcome(self._find())

    def _read(self, count: int) -> None:
        """Decodes samples until there are so many, several at once: most of each is the work of one processor."""
        places = self._plan.places[len(self._samples) : count]
        given = self._options.ffmpeg, self._video, self._settings, self._pictures
        with ThreadPoolExecutor(max(1, min(usable_processors(), len(places)))) as pool:
            more = self._scorer.views, self._options.partial
            jobs = [pool.submit(read_sample, *given, place, *more) for place in places]
            try:
                for job in jobs:
                    while not wait([job], SIGNAL_S).done:
                        pass
                    self._samples.append(job.result())
            finally:
                for job in jobs:
                    job.cancel()
        self._table.samples = len(self._samples)
        self._table.covered = 1.0 if self._plan.whole else min(self._frames / max(self._plan.frames, 1), 1.0)

    @property
    def _frames(self) -> int:
        """The number of frames of all samples."""
        return sum(sample.frames for sample in self._samples)

    def _find(self, roughly: bool = False) -> float:
        """Returns the quantizer that the points so far lead to, and whose score is known. Roughly is as well as the
        samples can tell. A quantizer that is wanted again is tried on all frames: it would end again where it did.
        """
        tried: set[float] = set()
        for _ in range(MOST_PROBES):
            self._proposer.slack = self._slack() if roughly else 0.0
            wanted = self._proposer.next()
            if self._proposer.is_known(wanted):
                return wanted
            idle = max(min(self._jobs, usable_processors() // PROCESSORS_PER_JOB) // len(self._samples) - 1, 0)
            self._probe([wanted, *self._proposer.others(min(idle, 4))], early=wanted not in tried)
            tried.add(wanted)
        self._notes.append(f"the search ended after {MOST_PROBES} probes: scores do not fall evenly with the quantizer")
        key = lambda quantizer: (self._proposer.reaches(quantizer), self._axis.position(quantizer))
        return max(self._table.whole() or [self._whole_probe(wanted)], key=key)

    def _whole_probe(self, quantizer: float) -> float:
        self._probe([quantizer], early=False)
        return quantizer

    # -- Probes

    def _probe(self, quantizers: Sequence[float], early: bool = True) -> None:
        """Encodes and scores the samples with quantizers at once, each until it is decided. The first is wanted: the
        others end with it.
        """
        probes = [_Probe(quantizer) for quantizer in quantizers]
        waiting = {id(probe): self._take_kept(probe) for probe in probes}
        self._running = probes
        jobs = [self._pool.submit(self._score, probe, n) for probe in probes for n in waiting[id(probe)]]
        try:
            self._watch(probes, len(jobs), early and self._options.early)
        finally:
            for job in jobs:
                job.cancel()
        for probe in probes:
            if self._table.frames(probe.quantizer):
                self._report(probe)

    def _take_kept(self, probe: _Probe) -> list[int]:
        """Takes results from the cache, and returns the samples that have none."""
        parts = self._table.parts.setdefault(probe.quantizer, {})
        missing = [n for n in range(len(self._samples)) if n not in parts or not parts[n].is_whole]
        waiting = []
        for number in missing:
            kept = self._cache and self._cache.get(self._samples[number], self._settings, self._scorer, probe.quantizer)
            if kept:
                parts[number] = kept
            else:
                parts.pop(number, None)
                waiting.append(number)
        probe.from_cache = bool(missing) and not waiting
        return waiting

    def _watch(self, probes: Sequence[_Probe], jobs: int, early: bool) -> None:
        """Waits for the jobs of probes. A signal that comes right before Python waits does not end a wait: so each wait
        is short.
        """
        while jobs:
            try:
                event = self._events.get(timeout=SIGNAL_S)
            except queue.Empty:
                continue
            if event.error is not None and not isinstance(event.error, Ended):
                raise event.error
            jobs -= event.ended
            for probe in probes if early else ():
                if not probe.is_decided and self._is_decided(probe):
                    self._end(probe)
            if probes[0].is_decided or self._table.is_whole(probes[0].quantizer):
                for probe in probes[1:]:
                    self._end(probe)

    def _is_decided(self, probe: _Probe) -> bool:
        seen = self._table.frames(probe.quantizer) / self._frames
        if seen > MOST_SEEN or self._plan.whole and seen < LEAST_PART:
            return False
        return self._proposer.is_decided(probe.quantizer)

    def _end(self, probe: _Probe) -> None:
        with self._lock:
            probe.is_decided = True
            for encode in probe.encodes:
                encode.stop()

    def _score(self, probe: _Probe, number: int) -> None:
        """Encodes and scores a sample, in a thread of the pool."""
        try:
            self._score_or_raise(probe, number)
            self._events.put(_Event(True))
        except BaseException as error:
            self._events.put(_Event(True, error))

    def _score_or_raise(self, probe: _Probe, number: int) -> None:
        sample = self._samples[number]
        with self._lock:
            if probe.is_decided:
                raise Ended
            encode = Encode(self._options.ffmpeg, self._settings, probe.quantizer, sample)
            probe.encodes.append(encode)
        part = Part()
        try:
            self._table.parts[probe.quantizer][number] = part
            score_part(encode, sample, self._scorer, part, lambda: self._events.put(_Event()))
        finally:
            with self._lock:
                probe.encodes.remove(encode)
            encode.close()
        if self._cache:
            self._cache.put(sample, self._settings, self._scorer, probe.quantizer, part)

    def _report(self, probe: _Probe) -> None:
        quantizer = probe.quantizer
        result = ProbeResult(
            quantizer,
            {
                target.name: self._table.of_video(quantizer, target, self._options.confidence)
                for target in self._targets
            },
            self._bit_rate(quantizer),
            self._table.frames(quantizer),
            self._frames,
            time.monotonic() - probe.start,
            probe.from_cache,
            self._proposer.reaches(quantizer),
        )
        self._probes.append(result)
        self._tell(result)

    def _bit_rate(self, quantizer: float) -> float:
        return self._table.bits_per_frame(quantizer) * float(self._pictures.rate)

    # -- The end

    def _needs_more(self, found: float) -> bool:
        """Returns whether more samples would tell the quantizer better: ENOUGH of the range is less than they leave
        open.
        """
        return self._left_open(found) > max(self._axis.step, ENOUGH * self._axis.range)

    def _left_open(self, quantizer: float) -> float:
        """Returns how far from the quantizer, in positions, the intervals of its scores let the targets be."""
        width = 2 * self._axis.close
        found = 0.0
        for target in self._targets:
            value, *bounds = self._table.of_video(quantizer, target, self._options.confidence)
            half = max(abs(target.loss(bound) - target.loss(value)) for bound in bounds)
            found = max(found, half / max(self._proposer.steepness(target, quantizer, width) / width, 1e-9))
        return found

    def _slack(self) -> float:
        whole = self._table.whole()
        return ROUGHLY * min(map(self._left_open, whole)) if whole and not self._plan.whole else 0.0

    def _outcome(self, found: float) -> Outcome:
        damage = dict.fromkeys(text for sample in self._samples for text in sample.damage)
        self._notes += [f"{self._video.name} is damaged: {shown(text)}" for text in shortened([*damage])]
        if self._cache and self._cache.problem:
            self._notes.append(self._cache.problem)
        if grain := self._settings.film_grain:
            self._notes.append(f"scores are of pictures without the film grain that decoders add ({grain})")
        bits = self._bit_rate(found)
        whole = self._frames if self._plan.whole else self._plan.frames
        parts = [part for part in self._table.parts[self._table.base(found) or found].values() if part.is_whole]
        seconds = sum(part.seconds for part in parts) / max(sum(part.frames for part in parts), 1) * whole
        return Outcome(
            self._proposer.reaches(found),
            found,
            {target.name: self._table.of_video(found, target, self._options.confidence) for target in self._targets},
            bits,
            bits * whole / float(self._pictures.rate) / 8,
            seconds,
            self._probes,
            self._frames,
            whole,
            len(self._samples),
            self._notes,
        )
