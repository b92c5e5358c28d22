"""Decides what is done to the inputs after their pictures were looked at: where the pictures are sure that tags or
times are wrong, they are followed; all else stays a doubt beside the scores.

Findings are about the pictures as the tags have prepared them, with the reference taken as right. Each that is followed
becomes a change of an input as it is in its file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import fmean

from ._changes import RENUMBERED, SHOWN, Box, Change, Turn, frames_of
from ._ffmpeg import Video
from ._findings import OF_TIME, Piece
from ._inputs import LIKE_RATES, is_rgb
from ._models import Size
from ._scoring import Work

MATRICES = {1: "bt709", 4: "fcc", 5: "bt470bg", 6: "smpte170m", 7: "smpte240m", 9: "bt2020nc"}  # code points of H.273
EDGES = "left", "top", "right", "bottom"
LIKE_GAIN, LIKE_COUNT = 0.03, 1.0  # evidence of one thing differs at most by this from piece to piece
NEARLY_WHOLE = 0.3  # samples: a distance that is as near as this to a whole number is meant as one
LEAST_SIDE = 16  # samples: a smaller picture is not cropped out


@dataclass(frozen=True)
class Case:
    """An encode and its reference, as they were prepared, and the changes that led there."""

    dist: Video
    ref: Video
    of_dist: Change
    of_ref: Change
    seen: Size  # the size at which the pictures were looked at
    pieces: Sequence[Piece]
    begin_is_given: bool  # whether an option says how the encode begins

    def sure(self, kind: str) -> Mapping[str, float] | None:
        """Returns the evidence of a finding that most pieces are sure of and agree on."""
        found = [own for piece in self.pieces if (own := piece.sure(kind)) is not None]
        if 2 * len(found) <= len(self.pieces):
            return None
        names = [name for name in found[0] if all(name in own for own in found)]
        spread = {name: max(own[name] for own in found) - min(own[name] for own in found) for name in names}
        if any(spread[name] > (LIKE_GAIN if name == "gain" else LIKE_COUNT) for name in _told_by(kind, names)):
            return None
        return {name: fmean(own[name] for own in found) for name in names}

    def change_dist(self, text: str, **fields: object) -> "Case":
        key = next(iter(fields))
        return (
            self if key in self.of_dist.by_hand else replace(self, of_dist=self.of_dist.with_note(key, text, **fields))
        )

    def change_ref(self, text: str, **fields: object) -> "Case":
        key = next(iter(fields))
        return self if key in self.of_ref.by_hand else replace(self, of_ref=self.of_ref.with_note(key, text, **fields))


def _told_by(kind: str, names: Sequence[str]) -> list[str]:
    """Returns the names of the evidence that a decision depends on."""
    known = {"frames", "repeated", "of", "degrees", *EDGES, "from", "to", "gain", *("xy" if kind == "shifted" else "")}
    return [name for name in names if name in known]


def decide(work: Work, seen: Sequence[Sequence[Piece]]) -> list[Change] | None:
    """Returns the changes of all inputs, the reference last, if the pictures ask for others than the work has. `seen`
    has the pieces of each encode that were looked at.

    The encodes of a run share their reference: it is changed only if all of them ask for the same.
    """
    cases = [_case(work, number, pieces) for number, pieces in enumerate(seen)]
    decided = [_decide(case) for case in cases]
    if any(case.of_ref != decided[0].of_ref for case in decided):
        decided = [own if own.of_ref == case.of_ref else _decide(case, False) for own, case in zip(decided, cases)]
    changes = [*(case.of_dist for case in decided), decided[0].of_ref]
    return changes if changes != work.changes else None


def _case(work: Work, number: int, pieces: Sequence[Piece]) -> Case:
    return Case(
        work.dists[number],
        work.ref,
        work.changes[number],
        work.changes[-1],
        work.size_of(work.groups[0]),
        pieces,
        work.begins is not None,
    )


def _decide(case: Case, may_change_ref: bool = True) -> Case:
    """Follows the pictures in all that does not depend on something else: how a turned picture is cropped is seen when
    it is turned back.
    """
    for step in _steps(case):
        changed = step(case)
        if may_change_ref or changed.of_ref == case.of_ref:
            case = changed
    return case


def _steps(case: Case) -> list[Callable[[Case], Case]]:
    turn = _turn_seen(case)
    if turn != Turn() and "turn" not in case.of_dist.by_hand and not case.of_dist.crop:
        return [_turned, _with_range, _with_matrix]
    return [_cropped, _padded, _shifted, _with_range, _with_matrix, _renumbered, _decimated, _offset]


# -- Geometry ----------------------------------------------------------------------------------------------------------


def _turn_seen(case: Case) -> Turn:
    """Returns how the encode must be turned to lie as the reference."""
    rotated = case.sure("rotated")
    quarters = round(rotated["degrees"] / 90) if rotated else 0
    if case.sure("flipped") is not None:
        return Turn(2, True).then(Turn(0, case.sure("mirrored") is not None))
    # The encode was mirrored first and then rotated: so it is rotated back first.
    return Turn(-quarters % 4).then(Turn(0, case.sure("mirrored") is not None))


def _turned(case: Case) -> Case:
    turn = _turn_seen(case)
    name = "+".join(turn.filters)
    return case.change_dist(f"is turned or mirrored, {SHOWN}: turned back ({name})", turn=case.of_dist.turn.then(turn))


def _cropped(case: Case) -> Case:
    """Crops the reference to the part that the encode shows."""
    if (lacking := case.sure("cropped")) is None:
        return case
    edges = _edges(lacking, case.seen, Size(case.ref.width, case.ref.height))
    box = _rest(case.ref, edges, case.of_ref)
    if not box:
        return case
    told = ", ".join(f"{count} at the {edge}" for edge, count in zip(EDGES, edges) if count)
    text = f"is cropped to the part that the encode shows, {SHOWN} (crop={box}; the encode lacks {told})"
    return case.change_ref(text, crop=box)


def _padded(case: Case) -> Case:
    if (added := case.sure("padded")) is None:
        return case
    edges = _edges(added, case.seen, Size(case.dist.width, case.dist.height))
    box = _rest(case.dist, edges, case.of_dist)
    if not box:
        return case
    told = ", ".join(f"{count} at the {edge}" for edge, count in zip(EDGES, edges) if count)
    return case.change_dist(f"has borders that the reference lacks, {SHOWN} ({told}): cut off (crop={box})", crop=box)


def _shifted(case: Case) -> Case:
    """Crops both to what both show, if they are whole samples apart."""
    if (by := case.sure("shifted")) is None or case.sure("scaled") is not None:
        return case
    x, y = by.get("x", 0.0), by.get("y", 0.0)
    boxes = []
    for video, change, sign in ((case.dist, case.of_dist, 1), (case.ref, case.of_ref, -1)):
        own = x * video.width / case.seen.width * sign, y * video.height / case.seen.height * sign
        if any(abs(distance - round(distance)) > NEARLY_WHOLE for distance in own):
            return case
        edges = [max(round(part), 0) for part in (*own, *(-distance for distance in own))]
        boxes.append(_rest(video, edges, change))
    if not boxes[0] or not boxes[1] or {"crop"} & (case.of_dist.by_hand | case.of_ref.by_hand):
        return case
    text = f"shows the picture {x:g} samples further right and {y:g} further down than the reference, {SHOWN}"
    moved = case.change_dist(f"{text}: what both show is scored (crop={boxes[0]})", crop=boxes[0])
    return moved.change_ref(f"is cropped to what both show, {SHOWN} (crop={boxes[1]})", crop=boxes[1])


def _edges(evidence: Mapping[str, float], seen: Size, own: Size) -> list[int]:
    """Returns how many samples of an input's own size lie beyond each edge."""
    scales = own.width / seen.width, own.height / seen.height
    return [max(round(evidence.get(edge, 0.0) * scales[place % 2]), 0) for place, edge in enumerate(EDGES)]


def _rest(video: Video, edges: Sequence[int], change: Change) -> Box | None:
    """Returns the part of the whole picture within these edges of a video; None if there is nothing to cut off."""
    left, top, right, bottom = edges
    x, y = video.corner or (0, 0)
    box = Box(video.width - left - right, video.height - top - bottom, left + x, top + y)
    if not any(edges) or min(box.width, box.height) < LEAST_SIDE:
        return None
    return box.inside(change.crop)


# -- Levels ------------------------------------------------------------------------------------------------------------


def _with_range(case: Case) -> Case:
    """Finds out which input has another range than its tag says: the encode if that explains what is seen, else the
    reference.
    """
    seen = case.sure("range")
    if not seen or "gain" not in seen:
        return case
    step = 1 if seen["gain"] > 1 else -1  # 1: the encode's samples were expanded once too much
    dist, ref = case.dist.full_range, case.ref.full_range
    wanted = (ref - dist) - step
    if (ref - (not dist)) == wanted:
        return case.change_dist(_range_text(not dist), full_range=not dist)
    if ((not ref) - dist) == wanted and not is_rgb(case.ref):
        return case.change_ref(_range_text(not ref), full_range=not ref)
    return case


def _range_text(full: bool) -> str:
    return f"has samples of {'full' if full else 'limited'} range, {SHOWN}, whatever its tag says"


def _with_matrix(case: Case) -> Case:
    """Takes the encode's colors for those of the matrix `to`, and those of a reference without a tag for `from`."""
    seen = case.sure("matrix")
    if not seen or round(seen.get("to", 0)) not in MATRICES:
        return case
    name = MATRICES[round(seen["to"])]
    known = MATRICES.get(round(seen.get("from", 0)))
    case = case.change_dist(f"has the color matrix {name}, {SHOWN}, whatever its tag says", matrix=name)
    if known and not case.ref.matrix and not is_rgb(case.ref):
        case = case.change_ref(f"has the color matrix {known}, {SHOWN}", matrix=known)
    return case


# -- Time --------------------------------------------------------------------------------------------------------------


def _offset(case: Case) -> Case:
    seen = case.sure("offset")
    if not seen or not case.ref.rate or case.begin_is_given:
        return case
    later = case.of_dist.later + Fraction(round(seen["frames"])) / case.ref.rate
    frames = round(later * case.ref.rate)
    if not frames:
        return case.change_dist(f"begins with the reference, {SHOWN}", later=Fraction(0))
    count = f"{abs(frames)} frame{'s' if abs(frames) > 1 else ''} ({abs(float(later)):.3f} s)"
    return case.change_dist(
        f"begins {count} {'later' if frames > 0 else 'earlier'} than the reference, {SHOWN}", later=later
    )


def _renumbered(case: Case) -> Case:
    """Counts the frames of an encode that has as many as the reference and another rate, if their times are wrong."""
    counts, rates = [frames_of(video) for video in (case.dist, case.ref)], (case.dist.rate, case.ref.rate)
    wrong = any(case.sure(kind) is not None for kind in OF_TIME)
    if not wrong or None in (*counts, *rates) or counts[0] != counts[1] or _alike(*rates):
        return case
    return case.change_dist(RENUMBERED, counted=True)


def _decimated(case: Case) -> Case:
    """Leaves out the frames that one input repeats in a pattern, if both have one rate then."""
    seen = case.sure("cadence")
    if not seen or case.of_dist.counted or round(seen.get("repeated", 0)) != 1:
        return case
    cycle = round(seen.get("of", 0))
    if not 2 <= cycle <= 25:
        return case
    left, text = Fraction(cycle - 1, cycle), f"repeats one of {cycle} frames, {SHOWN}: left out (decimate)"
    dist, ref = case.dist.rate, case.ref.rate
    if dist and _alike(dist * left, ref):
        return case.change_dist(text, cycle=cycle)
    return case.change_ref(text, cycle=cycle) if ref and _alike(dist, ref * left) else case


def _alike(one: Fraction | None, other: Fraction | None) -> bool:
    return bool(one and other and abs(one / other - 1) <= LIKE_RATES)
