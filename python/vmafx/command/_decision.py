"""Decides what inputs are where their tags do not tell, or do not agree: whether their pictures have times, fields, a
padding, which matrix and which primaries. The first pictures tell, or a trial (_trial).

What is decided is in the videos, which _inputs makes alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from . import _inputs
from ._changes import RENUMBERED, Change, frames_of
from ._ffmpeg import Video
from ._terminal import Failure
from ._trial import PICTURES, Outcome, Way, best_of

# Decibels by which a way must be better than the usual one.
CLEAR = 1.0
CLEAR_COLORS = 0.5  # chroma of pale pictures differs little
CLEAR_TIMES = 3.0  # neighbors of a slow scene are alike
CLEAR_MARKED = 0.5  # where decoders mark fields, and combs are seen
# bwdif keeps one half of the lines. If it blurs the others as much as the encoder does, their error goes away: 3.01 dB.
CLEAR_FIELDS = 3.1
FEW = 64  # rows or columns by which cropped or padded pictures differ; the largest blocks of AV1 have 128 samples
FEW_OF = 8  # at most this part of the picture
FILM = Fraction(4, 5)  # the rate of film before 3:2 pulldown

DEINTERLACE = "bwdif=mode=send_frame"
TO_FILM = "fieldmatch=order={},decimate"
SMALL = 5  # pictures that tell sizes and colors
MANY = 75  # pictures that tell a speed: 25 of 24 pictures are two frames apart after 50


@dataclass(frozen=True)
class Decided:
    """The videos with all that is known of them."""

    dists: list[Video]
    ref: Video
    own_refs: list[Video]  # what the reference would be for each encode alone
    notes: list[str]


def of_times(ffmpeg: str, dists: Sequence[Video], ref: Video) -> tuple[list[Video], Video, list[str]]:
    """Returns the inputs with the rates that they have, and notes. Raises Failure if encodes need different ones."""
    rates = {dist.rate for dist in dists}
    ref = _at_rate_of(ref, dists[0]) if len(rates) == 1 else ref
    notes: list[str] = []
    pairs = [_rates(ffmpeg, _at_rate_of(dist, ref), ref, notes) for dist in dists]
    if any(own != pairs[0][1] for _, own in pairs):
        raise Failure(f"{ref.name} has no times of its own, and the encodes' rates differ: score them in separate runs")
    return [dist for dist, _ in pairs], pairs[0][1], list(dict.fromkeys(notes))


def of_pictures(
    ffmpeg: str, dists: Sequence[Video], ref: Video, zeros: Sequence[int], converts: bool = False
) -> Decided:
    """Returns what is decided about pictures; `zeros` are the times when all begin, `converts` is that of
    _inputs.make_alike(). Raises Failure if encodes need different references.
    """
    notes: list[str] = []
    trials = [Trial(ffmpeg, (zero, zeros[-1]), notes, converts) for zero in zeros[:-1]]
    pairs = [_pair(trial, dist, ref) for trial, dist in zip(trials, dists)]
    own_refs = [own for _, own in pairs]
    common = _common(dists, ref, own_refs)
    found = [_like(dist, own, ref, common) for dist, own in pairs]
    if not common.fields and all(trial.alike_in_fields for trial in trials):
        *found, common = (_without_mark(video) for video in (*found, common))
    return Decided(found, common, own_refs, list(dict.fromkeys(notes)))


@dataclass
class Trial:
    """What all trials of an encode share."""

    ffmpeg: str
    zeros: tuple[int, int]
    notes: list[str]
    converts: bool
    alike_in_fields: bool = False  # whether it is sure that lines of both are of the same times, whatever their marks

    def best_of(self, ways: Sequence[Way], clear: float, pictures: int = PICTURES) -> Outcome:
        return best_of(self.ffmpeg, [replace(way, zeros=self.zeros) for way in ways], clear, pictures)


def _pair(trial: Trial, dist: Video, ref: Video) -> tuple[Video, Video]:
    for step in (_fields, _sizes, _matrix, _primaries):
        dist, ref = step(trial, dist, ref)
    return dist, ref


def _common(dists: Sequence[Video], ref: Video, own_refs: Sequence[Video]) -> Video:
    """Returns the reference for all encodes. Its matrix, which is that of RGB, is the first encode's."""
    wanted = [replace(own, matrix=ref.matrix) for own in own_refs]
    changed = [own for own in wanted if own != ref]
    if any(own != changed[0] for own in changed):
        raise Failure(
            f"{ref.name} must be prepared in different ways for {dists[0].name} and other encodes: score them in "
            "separate runs"
        )
    return replace(changed[0] if changed else ref, matrix=own_refs[0].matrix)


def _like(dist: Video, own: Video, ref: Video, common: Video) -> Video:
    """Returns an encode that was like the reference, and must become like the reference that is common to all."""
    if own.fields != common.fields and not dist.fields:
        dist = replace(dist, fields=common.fields, rate=common.rate if _inputs.same_rate(dist, ref) else dist.rate)
    if own.corner != common.corner and _inputs.same_size(dist, ref):
        dist = replace(dist, width=common.width, height=common.height, corner=common.corner)
    return dist


def _without_mark(video: Video) -> Video:
    """Returns the video without the mark of fields, of which the filter would warn."""
    return replace(video, fields="setfield=prog") if video.interlaced else video


# -- Time --------------------------------------------------------------------------------------------------------------


def _rates(ffmpeg: str, dist: Video, ref: Video, notes: list[str]) -> tuple[Video, Video]:
    if not dist.rate_is_made_up and not ref.rate_is_made_up:
        return dist, ref
    rate = (dist.rate if ref.rate_is_made_up and not dist.rate_is_made_up else ref.rate) or ref.rate or dist.rate
    if not rate:
        return dist, ref
    by_number = Way(_counted(dist, rate), _counted(ref, rate))
    if not dist.rate or not ref.rate or _inputs.same_rate(dist, ref):
        return by_number.dist, by_number.ref
    by_time = Way(_counted(dist, dist.rate), _counted(ref, ref.rate))
    outcome = best_of(ffmpeg, [by_number, by_time], CLEAR_TIMES)
    for video in (dist, ref):
        if video.rate_is_made_up and outcome.number == 0 and video.rate != rate:
            notes.append(
                f"{video.name} has no times of its own: its pictures are counted, at {float(rate):.6g} a second"
            )
    return outcome.way.dist, outcome.way.ref


def renumbered(ffmpeg: str, change: Change, dist: Video, ref: Video) -> Change:
    """Returns the change of an encode whose frames are to be counted: it has as many as the reference at another rate,
    as if it were faster or slower, and the first ones are those of the reference by number alone.
    """
    counts = frames_of(dist), frames_of(ref)
    if change.counted or "counted" in change.by_hand or not dist.rate or not ref.rate or None in counts:
        return change
    if counts[0] != counts[1] or _inputs.same_rate(dist, ref) or dist.rate_is_made_up or ref.rate_is_made_up:
        return change
    ways = [Way(dist, ref), Way(dist.at_rate(ref.rate), ref)]
    outcome = best_of(ffmpeg, ways, CLEAR_TIMES, MANY, parts=(0.0,))
    return change.with_note("counted", RENUMBERED, counted=True) if outcome.number else change


def _at_rate_of(video: Video, other: Video) -> Video:
    """Returns the video at the other's rate if its times allow that."""
    if video.rate or not video.interval or not other.rate:
        return video
    shortest, longest = video.interval
    return replace(video, rate=other.rate) if shortest <= 1 / other.rate <= longest else video


def _counted(video: Video, rate: Fraction) -> Video:
    """Returns the video with its pictures counted, if they have no times or a rate that varies."""
    return video.at_rate(rate) if video.rate_is_made_up or not video.rate else video


# -- Fields ------------------------------------------------------------------------------------------------------------


def _fields(trial: Trial, dist: Video, ref: Video) -> tuple[Video, Video]:
    """Decides whether fields of one input are made frames. If both have combs, lines are compared with lines."""
    for film, telecined in ((dist, ref), (ref, dist)):
        if _is_film_of(film, telecined) and (telecined.combed or telecined.interlaced):
            return _film(trial, dist, ref, telecined)
    if (dist.combed, dist.interlaced) == (ref.combed, ref.interlaced):
        return dist, ref
    marked = dist.interlaced != ref.interlaced
    changed = next(video for video in (dist, ref) if (video.interlaced if marked else video.combed))
    orders = ("",) if marked else (":parity=tff", ":parity=bff")
    ways = [Way(dist, ref), *(_with_fields(dist, ref, changed, f"{DEINTERLACE}{order}") for order in orders)]
    outcome = trial.best_of(ways, CLEAR_MARKED if marked and changed.combed else CLEAR_FIELDS)
    if outcome.number:
        trial.notes.append(
            f"{changed.name} is interlaced, another input is not: deinterlaced (PSNR of "
            f"some pictures {max(outcome.psnr):.1f} dB, as it is {outcome.psnr[0]:.1f} dB)"
        )
    trial.alike_in_fields = outcome.sure and not outcome.number
    return outcome.way.dist, outcome.way.ref


def _is_film_of(film: Video, telecined: Video) -> bool:
    if not film.rate or not telecined.rate:
        return False
    return abs(film.rate / telecined.rate / FILM - 1) <= _inputs.LIKE_RATES


def _film(trial: Trial, dist: Video, ref: Video, telecined: Video) -> tuple[Video, Video]:
    ways = [
        Way(dist, ref),
        _with_fields(dist, ref, telecined, DEINTERLACE),
        *(_with_fields(dist, ref, telecined, TO_FILM.format(order), FILM) for order in ("tff", "bff")),
    ]
    outcome = trial.best_of(ways, CLEAR)
    if outcome.number == 1:
        trial.notes.append(f"{telecined.name} is interlaced, another input is not: deinterlaced")
    elif outcome.number:
        trial.notes.append(f"{telecined.name} is film with 3:2 pulldown: made film again (fieldmatch, decimate)")
    elif not outcome.sure:
        trial.notes.append(
            f"{telecined.name} has 5 pictures for 4 of another input, which may be 3:2 pulldown; its first pictures do "
            "not tell: remove it first (ffmpeg's filters fieldmatch and decimate)"
        )
    return outcome.way.dist, outcome.way.ref


def _with_fields(dist: Video, ref: Video, changed: Video, filters: str, speed: Fraction = Fraction(1)) -> Way:
    one, other = (
        replace(video, fields=filters, rate=video.rate and video.rate * speed) if video is changed else video
        for video in (dist, ref)
    )
    return Way(one, other)


# -- Size --------------------------------------------------------------------------------------------------------------


def _sizes(trial: Trial, dist: Video, ref: Video) -> tuple[Video, Video]:
    """Decides whether sizes that differ by a few rows or columns are those of cropped or padded pictures."""
    differences = abs(dist.width - ref.width), abs(dist.height - ref.height)
    if not any(differences) or any(
        difference > min(FEW, size // FEW_OF) for difference, size in zip(differences, (ref.width, ref.height))
    ):
        return dist, ref
    columns, rows = ({0, difference // 2 & ~1, difference} for difference in differences)
    ways = [Way(dist, ref)]
    ways += [_cropped(dist, ref, x, y) for x in sorted(columns) for y in sorted(rows)]
    outcome = trial.best_of(ways, CLEAR, SMALL)
    if outcome.number:
        best = max(outcome.psnr)
        trial.notes.append(
            f"{dist.name} is {dist.width}x{dist.height}, the reference {ref.width}x{ref.height}: {outcome.way.text}, "
            f"not scaled (PSNR of the first pictures {best:.1f} dB, scaled {outcome.psnr[0]:.1f} dB)"
        )
    return outcome.way.dist, outcome.way.ref


def _cropped(dist: Video, ref: Video, x: int, y: int) -> Way:
    """Returns both with the part that they have in common, which begins at x, y in the larger one."""
    width, height = min(dist.width, ref.width), min(dist.height, ref.height)
    told = []

    def part_of(video: Video, name: str) -> Video:
        if (video.width, video.height) == (width, height):
            return video
        corner = (x if video.width > width else 0, y if video.height > height else 0)
        told.append(f"{name} is cropped to {width}x{height} at {corner[0]},{corner[1]}")
        return replace(video, width=width, height=height, corner=corner)

    return Way(part_of(dist, dist.name), part_of(ref, "the reference"), " and ".join(told))


# -- Colors ------------------------------------------------------------------------------------------------------------


def _matrix(trial: Trial, dist: Video, ref: Video) -> tuple[Video, Video]:
    """Decides which matrix lies between RGB and an input whose tags do not tell its matrix."""
    rgb = [_inputs.is_rgb(video) for video in (dist, ref)]
    if rgb[0] == rgb[1]:
        return dist, ref
    other = dist if rgb[1] else ref
    if other.matrix:
        return dist, ref
    usual = _inputs.usual_matrix(ref)
    matrices = [usual, *(matrix for matrix in ("bt709", "smpte170m") if matrix != usual)]
    ways = [Way(replace(dist, matrix=matrix), replace(ref, matrix=matrix), matrix) for matrix in matrices]
    outcome = trial.best_of(ways, CLEAR_COLORS, SMALL)
    if outcome.number:
        trial.notes.append(
            f"{other.name} does not say its color matrix: taken for {outcome.way.text}, which fits the pictures "
            f"({max(outcome.psnr):.1f} dB, {usual}: {outcome.psnr[0]:.1f} dB)"
        )
    return outcome.way.dist, outcome.way.ref


def _primaries(trial: Trial, dist: Video, ref: Video) -> tuple[Video, Video]:
    """Decides whether primaries differ, or only their tags."""
    if trial.converts or not _inputs.primaries_differ(dist, ref):
        return dist, ref
    ways = [Way(dist, ref), Way(replace(dist, primaries=ref.primaries), ref)]
    outcome = trial.best_of(ways, CLEAR_COLORS, SMALL)
    said = f"{dist.name} has the color primaries {dist.primaries}, the reference {ref.primaries}"
    if outcome.number == 1:
        trial.notes.append(
            f"{said}: not converted, as the pictures are the same without ({outcome.psnr[1]:.1f} dB, converted: "
            f"{outcome.psnr[0]:.1f} dB)"
        )
    return outcome.way.dist, outcome.way.ref
