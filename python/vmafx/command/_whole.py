"""Checks that everything was scored that the files promise, and tells which file is to blame for ffmpeg's complaints.

ffmpeg treats a file that it cannot read any further as one that ends there. So the end of the scored pictures is
compared with the lengths that the files promise; if it is too early, the packets of the files tell why.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _ffmpeg
from ._findings import OF_ERRORS
from ._names import redact
from ._said import READ_ERROR, SHORT_FILE, Said, shortened
from ._scores import Encode
from ._scoring import TimeRange, Work
from ._statistics import pooled_values, rate_of
from ._terminal import Failure, decimals_of, shown, time_text

# A stream may end this much before its promised end: files round times, and decoders may lack the last pictures.
LEAST_S, LEAST_FRAMES = 0.1, 3

Ends = Callable[[_ffmpeg.Video], tuple[float | None, float | None]]


@dataclass(frozen=True)
class Promise:
    """The end and the number of frames that the files of an encode and of the reference promise together, in the time
    of reports; None if they do not say.
    """

    end: float | None
    frames: int | None


def promise_of(work: Work, number: int, time_range: TimeRange | None = None) -> Promise:
    spans = [work.spans()[number], work.spans()[-1]]
    if not spans[0] or not spans[1]:
        return Promise(None, None)
    begin, end = max(spans[0][0], spans[1][0]), min(spans[0][1], spans[1][1])
    if time_range and time_range.begin is not None:
        begin = max(begin, time_range.begin / 1000)
    if time_range and time_range.end is not None:
        end = min(end, time_range.end / 1000)
    return Promise(end, max(round((end - begin) * float(work.ref.rate)), 0) if work.ref.rate else None)


def check_whole(
    work: Work, said: Said, encodes: Sequence[Encode], keys: Sequence[str], time_range: TimeRange | None = None
) -> None:
    """Refuses scores of only a part of what the files promise, or marks them as partial if the settings allow that.

    Raises Failure, which has the scores.
    """
    causes = {i: cause for i, cause in enumerate(shortfalls(work, said, encodes, time_range)) if cause}
    for i, cause in causes.items():
        encodes[i].partial = True
        encodes[i].warnings.append(cause)
    if causes and not work.settings.partial:
        told = "\n  ".join(f"{cause}\n  {_scores_of(encodes[i], keys)}" for i, cause in causes.items())
        raise Failure(f"not everything was scored: {told}\n  --partial accepts the scores of a part")


def shortfalls(
    work: Work, said: Said, encodes: Sequence[Encode], time_range: TimeRange | None = None
) -> list[str | None]:
    """Returns for each encode why its scores are those of a part; None if they are those of all."""
    ends = functools.cache(lambda video: _ffmpeg.ends_of_streams(work.settings.ffprobe, video))
    return [_shortfall(work, said, number, encode, ends, time_range) for number, encode in enumerate(encodes)]


def _shortfall(
    work: Work, said: Said, number: int, encode: Encode, ends: Ends, time_range: TimeRange | None
) -> str | None:
    promise = promise_of(work, number, time_range)
    last = len(encode.numbers) - 1
    frame = 1 / (float(work.ref.rate) if work.ref.rate else rate_of(encode) if encode.times else 25.0)
    got = (encode.times[last] if encode.times else last * frame) + frame
    least = max(LEAST_S, LEAST_FRAMES * frame)
    failed = _complaints(work, said, number, READ_ERROR)
    if _has_counted_frames(work, number, last + 1):
        return None
    if not failed and promise.end is not None and got >= promise.end - least:
        return None
    causes = failed or _complaints(work, said, number, SHORT_FILE)
    if promise.end is not None and not failed:
        why = _why(work, number, got, least, ends)
        causes = causes if why and causes else why
    if not causes:
        return None
    scored = "frame was scored" if last == 0 and not (promise.frames or 0) > 1 else "frames were scored"
    of = f" of {promise.frames}" if promise.frames and promise.frames > last else ""
    to = f", up to {time_text(got)}" + (f" of {time_text(promise.end)}" if promise.end and promise.end > got else "")
    return f"{shown(encode.name)}: {len(encode.numbers)}{of} {scored}{to}: {'; '.join(causes)}"


def _why(work: Work, number: int, got: float, least: float, ends: Ends) -> list[str]:
    """Returns why an input ended early; nothing if both files end there as they promise."""
    videos, zeros = [work.dists[number], work.ref], [work.zeros()[number], work.zeros()[-1]]
    readable = []
    causes = []
    for video, zero in zip(videos, zeros):
        own, others = ends(video)
        readable.append((own if own is not None else 0.0) - zero)
        if (lack := lack_of(video, (own, others), least)) and readable[-1] <= got + least:
            causes.append(lack)
    if not causes and got < min(readable) - least:
        causes.append("decoding ended early")
    return causes


def lack_of(video: _ffmpeg.Video, ends: tuple[float | None, float | None], least: float) -> str | None:
    """Returns a text if the file cannot be read to its promised end. `ends`: those of ends_of_streams()."""
    promised = video.start + video.duration if video.duration else None
    reached = max(end for end in (*ends, 0.0) if end is not None)
    if not promised or reached >= promised - least:
        return None
    return (
        f"{video.name} promises {promised:.3f} s but can be read only to {reached:.3f} s: it is damaged or incomplete"
    )


def _has_counted_frames(work: Work, number: int, frames: int) -> bool:
    """Returns whether the containers have counted their frames, and as many were scored."""
    counts = [video.frames for video in (work.dists[number], work.ref)]
    alike = work.dists[number].rate == work.ref.rate and not work.preparation.zeros
    return alike and None not in counts and frames >= min(count for count in counts if count is not None)


def _complaints(work: Work, said: Said, number: int, kind: "re.Pattern[str]") -> list[str]:
    """Returns the complaints about the encode, about the reference, and those that ffmpeg gives no input for."""
    damage = said.damage([_ffmpeg.input_name(video.path) for video in work.videos])
    texts = [text for place in (number, len(work.dists), None) for text in damage.get(place, []) if kind.search(text)]
    return shortened([shown(text) for text in texts])


def _scores_of(encode: Encode, keys: Sequence[str]) -> str:
    texts = []
    for key in keys:
        if key in encode.scores:
            mean = pooled_values(encode, key)["mean"]
            texts.append(f"{key} –" if mean is None else f"{key} {mean:.{decimals_of(mean)}f}")
    return f"the mean of these frames: {', '.join(texts)}"


# -- Damage ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """The lines of a run that concern an encode."""

    warnings: list[str]  # of the filter, and all errors
    errors: list[list[str]]  # of decoding the encode, and of decoding the reference

    def redacted(self, names: Sequence[str]) -> "Heard":
        texts, *errors = ([redact(text, names) for text in own] for own in (self.warnings, *self.errors))
        return Heard(texts, errors)

    @property
    def doubts(self) -> list[dict[str, Any]]:
        return [_doubt_of_errors(*told) for told in zip(OF_ERRORS, self.errors) if told[1]]


SHOWN_ERRORS = 3  # that a doubt shows


def _doubt_of_errors(kind: str, errors: Sequence[str]) -> dict[str, Any]:
    whose = "the reference" if kind == OF_ERRORS[1] else "the encode"
    told = "; ".join(shown(text.rstrip(".")) for text in errors[:SHOWN_ERRORS])
    more = f" and {len(errors) - SHOWN_ERRORS} more" if len(errors) > SHOWN_ERRORS else ""
    return {
        "kind": kind,
        "text": f"{whose} was decoded with errors: {told}{more}",
        "remedies": ["a copy of the file that ffmpeg decodes without errors"],
    }


def heard_by_encode(work: Work, said: Said) -> list[Heard]:
    """Returns for each encode the filter's warnings and decoders' errors that concern it or the reference."""
    damage = _damage_of(work, said)
    heads = [f"{name}: " for name in work.names] if len(work.dists) > 1 else ["\0"]
    of_ref = [f"the reference: {text}" for text in damage[-1]]
    found = []
    for number, head in enumerate(heads):
        others = tuple(other for other in heads if other != head)
        filters = [text.removeprefix(head) for text in said.of_filter if not others or not text.startswith(others)]
        errors = [shortened([*filter(_is_of_decoding, damage[place])]) for place in (number, -1)]
        found.append(Heard(shortened([*filters, *damage[number], *of_ref]), errors))
    return found


def _is_of_decoding(text: str) -> bool:
    """Returns whether pictures may be damaged; a file that ends early is compared with what it promises."""
    return not READ_ERROR.search(text) and not SHORT_FILE.search(text)


def _damage_of(work: Work, said: Said) -> list[list[str]]:
    """Returns the errors of each input.

    If ffmpeg does not say which input an error is of, and several come into question, each input is decoded alone.
    """
    damage = said.damage([_ffmpeg.input_name(video.path) for video in work.videos])
    unknown = damage.pop(None, [])
    found = [damage.get(number, []) for number in range(len(work.videos))]
    if not unknown:
        return found
    named = [number for number, texts in enumerate(found) if texts]
    if len(named) == 1:
        found[named[0]] = unknown + found[named[0]]
    elif len(work.dists) == 1 and not named:
        found[0] = unknown
    else:
        for number, video in enumerate(work.videos):
            found[number] = Said(_ffmpeg.decoding_errors(work.settings.ffmpeg, video)).all_damage
    return found
