"""Says in words how good the encodes are, what is worst and where, what the scores mean, and what is doubtful."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from .._findings import SURE, doubt_text, doubts_of, wrong_pairs
from .._known_metrics import METRICS
from .._known_models import BY_NAME
from .._keys import Facts, stands_for
from .._regions import whole_key
from .._scores import Encode
from .._statistics import pool, pooled_values, worst_frames, worst_tail_name
from .._terminal import time_text
from .links import Link, link_to
from .plots import Label, short_name
from .tables import Cell, decimals_for, decimals_of_frames, number

MOST_TOLD = 4  # encodes that have sentences of their own; of more, the best and the worst have
MOST_DOUBTS = 3  # doubts of an encode
# The words of the votes that the models of v0.6 were trained on, which give 20 to the worst and 100 to the best.
VOTES = (90, "excellent"), (70, "good"), (50, "fair"), (30, "poor"), (-math.inf, "bad")
VOTING = "vmaf_v0.6", "vmaf_4k_v0.6", "vmaf_b_v0.6", "vmaf_float_"  # the beginnings of these models' names


@dataclass(frozen=True)
class Said:
    """A part of the verdict: sentences, each in one or several cells."""

    title: str
    lines: Sequence[Sequence[Cell]]


def verdict(encodes: Sequence[Encode], keys: Sequence[str], is_warned: bool = False) -> list[Said]:
    key, several = keys[0], len(encodes) > 1
    scored = [(place, encode) for place, encode in enumerate(encodes) if _has_scores(encode, key)]
    doubts = Said("What is doubtful", list(_doubts(encodes, is_warned)))
    if not scored:
        return [
            Said("How good", [[f"No frame has a score {key}, so that nothing can be said of the quality."]]),
            doubts,
        ]
    told = _told(scored, key)
    worst = [line for place, encode in told for line in _worst(place, encode, key, several)]
    parts = (
        Said("How good", [_goodness(place, encode, key, several) for place, encode in told]),
        Said("What is worst", worst),
        doubts,
        Said("What scores mean", [[text] for text in _meanings(encodes, keys)]),
    )
    return [part for part in parts if part.lines]


def _has_scores(encode: Encode, key: str) -> bool:
    return any(not math.isnan(score) for score in encode.scores.get(key, ()))


def _told(scored: Sequence[tuple[int, Encode]], key: str) -> Sequence[tuple[int, Encode]]:
    """Returns all encodes, or the best and the worst of many."""
    if len(scored) <= MOST_TOLD:
        return scored
    high = scored[0][1].facts(key).worse_is_high
    ordered = sorted(scored, key=lambda pair: _mean(pair[1], key), reverse=not high)
    return [ordered[0], ordered[-1]]


def _mean(encode: Encode, key: str) -> float:
    told = encode.pooled.get(key, {})
    return (told["mean"] if "mean" in told else pool(key, "mean", encode.scores[key])) or 0.0


# -- How good ----------------------------------------------------------------------------------------------------------


def _goodness(place: int, encode: Encode, key: str, several: bool) -> list[Cell]:
    values, facts = pooled_values(encode, key), encode.facts(key)
    decimals = decimals_for(values)
    mean = number(values["mean"], decimals)
    if not facts.tells_quality:
        return [*_name(place, encode, several), f"{key} is {mean} on average; it does not tell of quality by itself."]
    grade = grade_of(_model_of(encode, key), values["mean"])
    graded = f", {grade}" if grade else ""
    if len(encode.scores[key]) == 1:
        return [*_name(place, encode, several), f"{key} is {mean}{graded}, of one frame."]
    side = "at least" if facts.worse_is_high else "at most"
    tail = number(values[worst_tail_name(facts)], decimals)
    told = f"{key} is {mean} on average{graded}; 5 % of the frames have {side} {tail}."
    return [*_name(place, encode, several), told]


def _name(place: int, encode: Encode, several: bool) -> list[Cell]:
    """Returns the name of one of several encodes."""
    return [Label(short_name(encode.name), place)] if several else []


def grade_of(model: str, mean: float | None) -> str:
    """Returns the word for the quality, "" if the model of a score is not known to have such words."""
    if mean is None or not model.startswith(VOTING):
        return ""
    return next(word for least, word in VOTES if mean >= least)


def _model_of(encode: Encode, key: str) -> str:
    return encode.models.get(key, "")


# -- What scores mean --------------------------------------------------------------------------------------------------


def _meanings(encodes: Sequence[Encode], keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        encode = next((encode for encode in encodes if key in encode.scores), encodes[0])
        facts = encode.facts(key)
        if whole := whole_key(key, encode.scores):
            yield f"{key}: {whole} of the region {key[len(whole) + 1 :]} of the picture. {side_of(facts)}"
        else:
            yield f"{key}: {meaning(facts, key, _model_of(encode, key))}"


def meaning(facts: Facts, key: str, model: str = "") -> str:
    """Returns what a score is, in which range, and which side of it is the better one."""
    side = side_of(facts)
    if facts.metric in METRICS:
        main, _, scale, _, told = METRICS[facts.metric]
        return f"{told}; {scale}. {side}" if key == main or stands_for(key, facts.metric) else f"part of {told}. {side}"
    if facts.metric:
        return f"of the metric {facts.metric}. {side}"
    if model not in BY_NAME:
        told = (
            f"the model {model}, which is not built in" if model else "a model’s score; the report does not say which"
        )
        return f"{told}. {side}"
    known = BY_NAME[model]
    view = f"a display of {known.rows} rows, seen from {known.heights:g} times its height"
    told = f"the model {model}, from 0 to {known.most}, for {view}. {side}"
    if not model.startswith(VOTING):
        return told
    return (
        f"{told} It foretells the votes of viewers there: 100 excellent, 80 good, 60 fair, 40 poor, 20 bad. "
        f"At 95 most differences from the reference are hard to see; at 80 they are seen, and are rarely annoying."
    )


def side_of(facts: Facts) -> str:
    sides = {"low": "Higher is better.", "high": "Lower is better."}
    return sides.get(facts.worse, "It does not tell which side is better.")


# -- What is worst -----------------------------------------------------------------------------------------------------


def _worst(place: int, encode: Encode, key: str, several: bool) -> Iterator[list[Cell]]:
    for i in worst_frames(encode, key, 1):
        time = encode.times[i] if encode.times else None
        decimals = decimals_of_frames([encode], key)
        score = number(encode.scores[key][i], decimals)
        at = "" if time is None else f" at {time_text(time)}"
        frame = link_to(f"frame {encode.numbers[i]}{at}", encode.numbers[i], time)
        yield [
            *_name(place, encode, several),
            "The worst is",
            frame,
            f"with {score}{_worst_second(encode, key, decimals)}.",
        ]


def _worst_second(encode: Encode, key: str, decimals: int) -> str:
    """Returns words for the second with the worst mean; "" where scores are missing or last less than two seconds."""
    scores, count = encode.scores[key], _frames_of_a_second(encode)
    if count < 2 or len(scores) < 2 * count or not all(map(math.isfinite, scores)):
        return ""
    sums = [0.0, *accumulate(scores)]
    means = [(end - begin) / count for begin, end in zip(sums, sums[count:])]
    worst = (max if encode.facts(key).worse_is_high else min)(range(len(means)), key=means.__getitem__)
    mean = number(means[worst], decimals)
    return f"; the worst second begins at {time_text(encode.times[worst])}, with a mean of {mean}"


def _frames_of_a_second(encode: Encode) -> int:
    """Returns how many frames a second have scores; 0 if the report has no times."""
    length = encode.times[-1] - encode.times[0] if encode.times else 0
    rate = (len(encode.times) - 1) / length if length > 0 else 0.0
    return round(rate) if math.isfinite(rate) else 0


# -- What is doubtful --------------------------------------------------------------------------------------------------


def _doubts(encodes: Sequence[Encode], is_warned: bool) -> Iterator[list[Cell]]:
    several = len(encodes) > 1
    for place, encode in enumerate(encodes):
        doubts = sorted(doubts_of(encode), key=lambda doubt: doubt.get("certainty") != SURE)
        if wrong := sum(last - first + 1 for first, last in wrong_pairs(encode)):
            told = f"{wrong:,} pairs are sure to be wrong: their scores do not tell of the encode."
            yield [*_name(place, encode, several), told]
        for doubt in doubts[:MOST_DOUBTS]:
            yield [*_name(place, encode, several), f"{doubt_text(doubt)}."]
        if len(doubts) > MOST_DOUBTS:
            yield [*_name(place, encode, several), Link(f"{len(doubts) - MOST_DOUBTS} more doubts", "#doubts")]
    if not any(map(doubts_of, encodes)):
        yield ["The report has warnings, and no doubts." if is_warned else "The report has no doubts."]
