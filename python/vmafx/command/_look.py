"""Looks at pictures of the inputs before they are scored, and prepares the inputs as their pictures show.

A look is a run of ffmpeg whose filter computes next to nothing beside its findings. It reads some ten seconds: of the
beginning, the middle and the end of the inputs. Short inputs are not looked at beforehand: the run that scores them
finds the same in all their pictures, at no cost where tags and pictures agree. Only if the pictures are sure of
something else, a second run follows (`as_shown`). For long inputs that would cost more than the looks at all of them.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean

from ._changes import AS_TAGGED, SHOWN, Change, Turn
from ._corrections import decide
from ._ffmpeg import Video
from ._findings import Piece, piece_of
from ._inputs import ShapesDiffer, same_shape
from ._scores import Encode, read_scores
from ._scoring import Begins, Settings, TimeRange, Work, prepare, prepare_again, probed, score
from ._terminal import Failure, note

SHORT_S = 30.0  # inputs up to this length are looked at while they are scored
PIECES, PIECE_S = 3, 3.4  # of longer ones
END_S = 0.5  # a look ends this much before the end that files promise
MOST_RUNS = 3  # a change may let the next one be seen: how a picture is cropped, once it is turned back
LEAST_DB, CLEARER_DB = 20.0, 3.0  # PSNR of the right one of two quarter turns, and what the other has less
FEATURE = "name=psnr:enable_chroma=false"  # the cheapest one

Run = Callable[[Work, Path, TimeRange | None], object]  # scores to a report in JSON


def looked_at(work: Work, time_range: TimeRange | None = None, run: Run | None = None, whole: bool = False) -> Work:
    """Returns the work, prepared as the pictures show. `whole`: short inputs are looked at, too; `run` runs ffmpeg.
    Raises Failure.
    """
    pieces = _pieces(work, time_range)
    one: list[TimeRange | None] = [time_range]
    if work.settings.as_is or not (pieces or whole):
        return work
    for _ in range(MOST_RUNS):
        if (other := _prepared_as(work, see(work, pieces or one, run))) is None:
            break
        work = other
    return work


def as_shown(work: Work, encodes: Sequence[Encode]) -> Work | None:
    """Returns the work, prepared as the pictures show that were scored; None if it is prepared so already."""
    return None if work.settings.as_is else _prepared_as(work, [[piece_of(encode)] for encode in encodes])


def _prepared_as(work: Work, seen: Sequence[Sequence[Piece]]) -> Work | None:
    """Returns the work, prepared as the pictures show; None if it is, or cannot be: then the doubts stay."""
    if (changes := decide(work, seen)) is None:
        return None
    try:
        return prepare_again(work, changes)
    except Failure as failure:
        note(f"cannot prepare the inputs as their pictures show: {failure}")
        return None


def is_short(work: Work, time_range: TimeRange | None = None) -> bool:
    """Returns whether the inputs are looked at while they are scored."""
    return not _pieces(work, time_range)


def _pieces(work: Work, time_range: TimeRange | None) -> list[TimeRange]:
    """Returns the times that are looked at before scoring; none for short inputs."""
    begins, ends = zip(*((span or (0.0, None)) for span in work.spans()))
    begin, end = max(begins), min((end for end in ends if end is not None), default=None)
    if time_range and time_range.begin is not None:
        begin = max(begin, time_range.begin / 1000)
    if time_range and time_range.end is not None:
        end = min(end or time_range.end / 1000, time_range.end / 1000)
    if end is not None and end - begin <= SHORT_S:
        return []
    if end is None or not all(video.can_seek for video in work.videos):
        return [_range_of(begin, begin + PIECES * PIECE_S)]
    step = (end - END_S - PIECE_S - begin) / (PIECES - 1)
    return [_range_of(begin + place * step, begin + place * step + PIECE_S) for place in range(PIECES)]


def _range_of(begin: float, end: float) -> TimeRange:
    first = round(1000 * begin)
    return TimeRange(first if first > 0 else None, round(1000 * end))


def see(work: Work, time_ranges: Sequence[TimeRange | None], run: Run | None = None) -> list[list[Piece]]:
    """Looks at these times, and returns the pieces of each encode. Times that cannot be read are left out: the run that
    scores them tells why.
    """
    quick = prepare_again(work, work.changes, _settings_of_look(work.settings))
    seen: list[list[Piece]] = [[] for _ in work.dists]
    for time_range in time_ranges:
        with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
            log = Path(folder) / "look.json"
            try:
                (run or score)(quick, log, time_range)
                encodes = read_scores(log)
            except Failure:
                continue
        for pieces, encode in zip(seen, encodes):
            pieces.append(piece_of(encode))
    return seen


def _settings_of_look(settings: Settings) -> Settings:
    own = replace(settings, models=(), features=(FEATURE,), window=None, maps=None)
    return replace(own, backend="cpu", device=None, scale="reference")


# -- Quarter turns -----------------------------------------------------------------------------------------------------


def prepared(
    settings: Settings,
    dists: Sequence[str],
    ref: str,
    *,
    begins: Begins | None = None,
    changes: Sequence[Change] | None = None,
    run: Run | None = None,
) -> Work:
    """Prepares the inputs, and turns encodes by a quarter that have the reference's shape only then: a phone's picture
    whose rotation was lost. Raises Failure.
    """
    changes = list(changes or [AS_TAGGED] * (len(dists) + 1))
    try:
        return prepare(settings, dists, ref, begins=begins, changes=changes)
    except ShapesDiffer as failure:
        lying = _lying(probed(settings, dists, ref), changes)
        if settings.as_is or not lying:
            raise
        try:
            works = [
                prepare(settings, dists, ref, begins=begins, changes=_with_quarters(changes, lying, quarters))
                for quarters in (1, 3)
            ]
            best = _better_turns(works, lying, run)
        except ShapesDiffer:
            raise failure from None
        if not best:
            raise
        for number in lying:
            changes[number] = works[best[number] == 3].changes[number]
        return prepare_again(works[0], changes)


def _lying(videos: Sequence[Video], changes: Sequence[Change]) -> list[int]:
    """Returns the encodes that have the reference's shape only if they are turned by a quarter."""
    ref = videos[-1]
    found = []
    for number, (video, change) in enumerate(zip(videos[:-1], changes)):
        turned = replace(AS_TAGGED, turn=Turn(1)).facts(video, Fraction(1))
        if "turn" not in change.by_hand and same_shape(turned, ref) and not same_shape(video, ref):
            found.append(number)
    return found


def _with_quarters(changes: Sequence[Change], numbers: Sequence[int], quarters: int) -> list[Change]:
    turn = Turn(quarters)
    text = f"lies on its side, {SHOWN}: turned by {90 * quarters} degrees ({turn.filters[0]})"
    return [
        change.with_note("turn", text, turn=turn) if number in numbers else change
        for number, change in enumerate(changes)
    ]


def _better_turns(works: Sequence[Work], numbers: Sequence[int], run: Run | None) -> dict[int, int]:
    """Returns for each encode the quarters that the pictures show; nothing if they are not sure of one."""
    psnr = []
    one: list[TimeRange | None] = [None]
    for work in works:
        seen = see(work, _pieces(work, None) or one, run)
        psnr.append([fmean(piece.psnr or 0.0 for piece in pieces) if pieces else 0.0 for pieces in seen])
    for number in numbers:
        worse, better = sorted((psnr[0][number], psnr[1][number]))
        if better < LEAST_DB or better - worse < CLEARER_DB:
            return {}
    return {number: 1 if psnr[0][number] > psnr[1][number] else 3 for number in numbers}
