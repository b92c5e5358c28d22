"""Turns a list into results: makes the tasks, follows up on their results, and tries again what may pass."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._names import redact
from .._regions import masks_of
from .._scoring import EARLY
from .._terminal import Failure
from . import tasks
from .engine import Lost, Task
from .pairs import Pair, state_of
from .store import Ranges, Results
from .tasks import Begun, Job, Long, Outcome, Outcomes, Scored, Unfit

OF_SCORES = "backend", "scale", "partial", "as_is"  # settings on which a result depends


@dataclass(frozen=True)
class Options:
    settings: dict[str, Any]  # settings that all pairs share
    ffmpeg: str | None
    together: int  # how many encodes of one reference a task has at most
    piece: float
    stall: float
    attempts: int


@dataclass
class Batch:
    """Pairs with one reference and the same options, which make one job."""

    pairs: list[Pair]
    job: Job


@dataclass
class Stream:
    """Pairs that are scored in ranges."""

    batch: Batch
    long: Long
    key: str  # the key under which its ranges are kept
    missing: set[int] = field(default_factory=set)
    given_up: bool = False


class Campaign:
    def __init__(self, pairs: list[Pair], results: Results, ranges: Ranges, options: Options) -> None:
        self._options, self._results, self._ranges = options, results, ranges
        of_scores = [options.settings.get(name) for name in OF_SCORES]
        if options.settings.get("scale_on") == "gpu":
            of_scores.append("scaled on the GPU")
        if target := options.settings.get("convert"):
            of_scores.append(f"converted to {target}")
        if regions := options.settings.get("roi"):
            of_scores += [regions, *map(state_of, masks_of([regions]))]
        self._stamps = {pair.id: pair.stamp(of_scores) for pair in pairs}
        known = {
            record["id"]: record["error"] is None and record["stamp"] == self._stamps.get(record["id"])
            for record in results.all()
        }
        self._pairs = [pair for pair in pairs if not known.get(pair.id)]
        self.total, self.failed = len(pairs), 0
        self.done = self.known = len(pairs) - len(self._pairs)

    def refuse(self) -> None:
        """Puts away the pairs that the list keeps from being scored."""
        for pair in self._pairs:
            if pair.error is not None:
                self._add(pair, Outcome(error=pair.error), 0, [pair.distorted, pair.reference])

    def tasks(self) -> Iterator[Task]:
        """Yields tasks, each for a few encodes of one reference, in the order of the list's references."""
        alike: dict[Any, list[Pair]] = {}
        for pair in self._pairs:
            if pair.error is not None:
                continue
            alike.setdefault((pair.reference, pair.models, pair.features), []).append(pair)
        for pairs in alike.values():
            for first in range(0, len(pairs), self._options.together):
                yield self._begin(pairs[first : first + self._options.together])

    def _begin(self, pairs: list[Pair], attempt: int = 1) -> Task:
        options = self._options
        settings = options.settings | {"models": pairs[0].models, "features": pairs[0].features}
        job = Job(
            settings,
            options.ffmpeg,
            [pair.distorted for pair in pairs],
            pairs[0].reference,
            options.piece,
            options.stall,
        )
        return Task(tasks.begin, (job,), Batch(pairs, job), attempt)

    # -- What comes back -----------------------------------------------------------------------------------------------

    def finish(self, task: Task, result: Any) -> list[Task]:
        """Puts away the results of a task; returns the tasks that follow."""
        if isinstance(result, Unfit):
            raise Failure(f"{result}. The results so far are kept: start the command again to go on")
        if isinstance(task.own, Batch):
            return self._of_batch(task, result)
        return self._of_stream(task, task.own, result)

    def _of_batch(self, task: Task, result: Any) -> list[Task]:
        batch: Batch = task.own
        if isinstance(result, BaseException):
            result = Begun(_broken(result, range(len(batch.pairs))), [])
        next_ones = self._put(batch, result.outcomes, task.attempt)
        for long in result.long:
            next_ones += self._start(Stream(batch, long, self._key(batch, long)))
        return next_ones

    def _of_stream(self, task: Task, stream: Stream, result: Any) -> list[Task]:
        if stream.given_up:
            return []
        if task.function is tasks.score_range:
            if isinstance(result, BaseException):
                result = Scored(error=_cause(result), again=isinstance(result, Lost))
            return self._of_range(task, stream, result)
        if isinstance(result, tuple):
            number, early = result
            stream.missing = {number}
            return [self._range(stream, number, early)]
        outcomes: Outcomes = _broken(result, stream.long.places) if isinstance(result, BaseException) else result
        if task.attempt < self._options.attempts and any(outcome.again for outcome in outcomes.values()):
            return [Task(task.function, task.arguments, stream, task.attempt + 1)]
        self._ranges.drop(stream.key)
        return self._put(stream.batch, outcomes, task.attempt)

    def _of_range(self, task: Task, stream: Stream, scored: Scored) -> list[Task]:
        number = task.arguments[2]
        if scored.error is None:
            self._ranges.put(stream.key, number, scored.pack())
            stream.missing.discard(number)
            return [] if stream.missing else [self._join(stream)]
        if scored.again and task.attempt < self._options.attempts:
            return [Task(task.function, task.arguments, stream, task.attempt + 1)]
        stream.given_up = True
        self._ranges.drop(stream.key)
        if scored.indivisible:
            whole = Stream(stream.batch, stream.long, stream.key)
            return [Task(tasks.score_whole, (stream.batch.job, stream.long), whole)]
        pairs = [stream.batch.pairs[place] for place in stream.long.places]
        if len(pairs) > 1 and not scored.again:  # perhaps only one of them is to blame
            return [self._begin([pair]) for pair in pairs]
        return self._put(stream.batch, dict.fromkeys(stream.long.places, Outcome(error=scored.error)), task.attempt)

    # -- Ranges --------------------------------------------------------------------------------------------------------

    def _key(self, batch: Batch, long: Long) -> str:
        stamps = [self._stamps[batch.pairs[place].id] for place in long.places]
        return hashlib.sha256(" ".join([*stamps, *map(str, long.time_ranges)]).encode()).hexdigest()[:24]

    def _start(self, stream: Stream) -> list[Task]:
        numbers = range(len(stream.long.time_ranges))
        stream.missing = {number for number in numbers if not self._ranges.has(stream.key, number)}
        return [self._range(stream, number) for number in sorted(stream.missing)] or [self._join(stream)]

    def _range(self, stream: Stream, number: int, early: float = EARLY) -> Task:
        return Task(tasks.score_range, (stream.batch.job, stream.long, number, early), stream)

    def _join(self, stream: Stream) -> Task:
        parts = [self._ranges.get(stream.key, number) for number in range(len(stream.long.time_ranges))]
        return Task(tasks.join_ranges, (stream.batch.job, stream.long, parts), stream)

    # -- Results -------------------------------------------------------------------------------------------------------

    def _put(self, batch: Batch, outcomes: Outcomes, attempt: int) -> list[Task]:
        """Puts outcomes away, and tries again those that may pass, without the encodes that went well."""
        again = []
        for place, outcome in outcomes.items():
            pair = batch.pairs[place]
            if outcome.again and attempt < self._options.attempts:
                again.append(pair)
                continue
            self._add(pair, outcome, attempt, batch.job.names)
        return [self._begin(again, attempt + 1)] if again else []

    def _add(self, pair: Pair, outcome: Outcome, attempt: int, names: Sequence[str]) -> None:
        """Adds a result; `names` are the names of all inputs of the run, which ffmpeg's messages may mention."""
        self.done += 1
        self.failed += outcome.error is not None
        head = {"id": pair.id, "distorted": pair.distorted, "reference": pair.reference, "stamp": self._stamps[pair.id]}
        self._results.add(
            _without_secrets({**head, "error": outcome.error, "attempts": attempt, **outcome.record}, names)
        )


def _without_secrets(content: Any, names: Sequence[str]) -> Any:
    """Returns the content with secrets taken out of all its texts."""
    if isinstance(content, str):
        return redact(content, names)
    if isinstance(content, dict):
        return {key: _without_secrets(value, names) for key, value in content.items()}
    return [_without_secrets(value, names) for value in content] if isinstance(content, list) else content


def _broken(error: BaseException, places: Iterable[int]) -> Outcomes:
    return dict.fromkeys(places, Outcome(error=_cause(error), again=isinstance(error, Lost)))


def _cause(error: BaseException) -> str:
    return str(error) if isinstance(error, Lost) else f"{type(error).__name__}: {error}"
