"""Decides whether findings are right: found and named, missed, or wrong."""

import numpy as np
from clips import MARGIN

NOTES = {"bars"}  # findings that say nothing against a pair
NEAR_PLACE = 12  # pairs by which a place may be told wrong
SEEN_LEVELS, SEEN_CELLS = 4, 3  # so many levels in so many of 32x18 cells are a change that can be seen
SEEN_COLORS = 1  # so many levels of luma or chroma in so many cells are a change of color that can be seen


def seen(first, second):
    """Says whether two pictures' means of cells differ by what an encode does not hide."""
    return (np.abs(first - second) > SEEN_LEVELS).sum() >= SEEN_CELLS


def cells_of(clip, entry):
    cells = clip.cell_means()
    if not isinstance(entry, tuple):
        return cells[entry + MARGIN]
    part = entry[3] if entry[0] == "mix" else 0.5
    return cells[entry[1] + MARGIN] * (1 - part) + cells[entry[2] + MARGIN] * part


def shows_color(clip, case):
    """Says whether other colors differ by what can be seen from those of the clip's pictures."""
    changed = 0
    for number in range(MARGIN, len(clip.pictures) - MARGIN, 48):
        cells = clip.color_means(number)
        changed += (np.abs(case.recolored(cells, clip) - cells).max(0) > SEEN_COLORS).sum()
    return changed >= SEEN_CELLS


def moments(plan):
    """Returns the two moments of each picture that is woven of two."""
    return [entry[1:3] for entry in plan if isinstance(entry, tuple) and entry[0] == "weave"]


def shows(clip, case, pair):
    """Says whether a damage changes any picture of this clip: a picture dropped from a still does not, nor do fields of
    two moments that are alike, nor another matrix where there is next to no color.
    """
    if case.color and clip.gray:
        return False
    if case.recolored and not shows_color(clip, case):
        return False
    woven = moments(pair.plan) + moments(pair.reference)
    if woven:
        return any(seen(cells_of(clip, even), cells_of(clip, odd)) for even, odd in woven)
    if not case.plan or pair.reference != list(range(len(pair.plan))):
        return True
    changed = [
        (a, b) for a, b in zip(pair.plan, pair.reference) if a != b and seen(cells_of(clip, a), cells_of(clip, b))
    ]
    return bool(changed)


def place_of(clip, case, pair):
    """Returns the pairs among which a damage may be told to begin: nobody sees where in a still it was."""
    at = case.place(len(pair.plan))
    cells = clip.cell_means()
    first = last = at
    while first > 0 and not seen(cells[first - 1 + MARGIN], cells[at + MARGIN]):
        first -= 1
    while last + 1 < len(pair.plan) and not seen(cells[last + 1 + MARGIN], cells[at - 1 + MARGIN]):
        last += 1
    return first - NEAR_PLACE, last + NEAR_PLACE


def evidence_fits(found, evidence):
    """Compares numbers. Pictures that were dropped or doubled may be told in several findings: they are added up."""
    for name, near in evidence.items():
        numbers = [finding["evidence"].get(name, 0.0) for finding in found]
        if not any(map(near.fits, numbers)) and not (name == "frames" and near.fits(sum(numbers))):
            return False
    return True


def judge(clip, case, pair, findings):
    """Returns the verdict of a damaged pair, and words.

    found: named with right numbers; wrong: a finding that says it is sure, but is not right; numbers: named, with
    other numbers; missed: not named.
    """
    findings = [finding for finding in findings if finding["kind"] not in NOTES]
    alternatives = case.wants(clip)
    right = {kind for wanted in alternatives for kind in wanted} | set(case.also)
    limits = place_of(clip, case, pair) if case.place else None
    placed = lambda finding: not limits or limits[0] <= finding["from"] <= limits[1]
    by_kind = {}
    for finding in findings:
        by_kind.setdefault(finding["kind"], []).append(finding)
    named = [wanted for wanted in alternatives if wanted.keys() <= by_kind.keys()]
    fits = lambda wanted: all(
        evidence_fits(by_kind[kind], evidence) and any(map(placed, by_kind[kind])) for kind, evidence in wanted.items()
    )
    found = any(map(fits, named))
    sure = {finding["kind"] for finding in findings if finding["certainty"] == "sure"}
    lies = sorted(sure - right)
    if lies or (named and not found and any(wanted.keys() & sure for wanted in named)):
        return "wrong", "sure of " + ", ".join(lies or sorted(sure & right))
    if found:
        return "found", "sure" if any(wanted.keys() <= sure for wanted in named if fits(wanted)) else ""
    return ("numbers", "") if named else ("missed", "")


def judge_good(case, findings):
    """Returns the verdict of a good pair: quiet, alarm, or missed where something had to be said."""
    kinds = {finding["kind"] for finding in findings} - NOTES
    if kinds - set(case.allowed):
        return "alarm", ", ".join(sorted(kinds - set(case.allowed)))
    if case.wanted and not kinds & set(case.wanted):
        return "missed", "nothing said"
    return "quiet", ""


def words(findings):
    """Returns findings as a short text."""
    parts = []
    for finding in findings:
        numbers = " ".join(f"{name}={value:.4g}" for name, value in finding["evidence"].items())
        place = f"{finding['from']}..{finding['end']}"
        parts.append(f"{finding['kind']} ({finding['certainty']}, {place}{', ' if numbers else ''}{numbers})")
    return "; ".join(parts) or "nothing"
