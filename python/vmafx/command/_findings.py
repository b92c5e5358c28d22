"""The findings of the filter's look at the pictures, as its reports have them under `doubts`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ._scores import Encode

SURE = "sure"
NOTES = ("bars",)  # kinds that say how pictures are, and doubt nothing
OF_ERRORS = "errors_distorted", "errors_reference"  # kinds of what the command has heard of decoders
OF_TIME = "offset", "dropped", "doubled", "frozen", "cadence", "blended", "swapped", "other_pictures"
OF_GEOMETRY = "mirrored", "flipped", "rotated", "cropped", "padded", "scaled", "shifted"
LEAST_PART = 0.9  # of the pairs: a finding of so many is one of all
DETAIL_PERIOD = 48  # pairs: geometry and levels are looked at in one of so many


@dataclass(frozen=True)
class Finding:
    kind: str
    certainty: str
    pairs: int | None  # how many it concerns; None: the report does not say
    evidence: Mapping[str, float]


@dataclass(frozen=True)
class Piece:
    """What was seen in some pairs that follow one another, of one encode."""

    pairs: int
    findings: Sequence[Finding]
    psnr: float | None = None  # the mean of luma; None: it was not computed

    def sure(self, kind: str) -> Mapping[str, float] | None:
        """Returns the evidence of a sure finding of this kind that concerns all pairs."""
        for finding in self.findings:
            if finding.kind == kind and finding.certainty == SURE and self._is_of_all(finding):
                return finding.evidence
        return None

    def _is_of_all(self, finding: Finding) -> bool:
        others = 0 if finding.pairs is None else self.pairs - finding.pairs
        return others <= max((1 - LEAST_PART) * self.pairs, DETAIL_PERIOD)


def piece_of(encode: Encode) -> Piece:
    psnr = [score for score in encode.scores.get("psnr_y", ()) if math.isfinite(score)]
    return Piece(len(encode.numbers), list(_findings(encode.doubts)), fmean(psnr) if psnr else None)


def _findings(doubts: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yields the findings among the doubts of a report: doubts of the pairing have no certainty."""
    for doubt in doubts:
        if "certainty" in doubt:
            pairs = doubt["to"] - doubt["from"] + 1 if "from" in doubt and "to" in doubt else None
            yield Finding(doubt["kind"], doubt["certainty"], pairs, doubt.get("evidence", {}))


def doubts_of(encode: Encode) -> list[dict[str, Any]]:
    """Returns the doubts of an encode, without mere notes."""
    return [doubt for doubt in encode.doubts if doubt["kind"] not in NOTES]


def doubt_text(doubt: Mapping[str, Any]) -> str:
    """Returns a doubt as a line of text: what is seen, how sure that is, and in which pairs."""
    told = ", ".join(filter(None, (doubt.get("certainty"), pairs_text(doubt))))
    return f"{doubt['text']} ({told})" if told else str(doubt["text"])


def pairs_text(doubt: Mapping[str, Any]) -> str:
    """Returns words for the pairs that a doubt concerns; "" if the report does not say."""
    if "from" not in doubt or "to" not in doubt:
        return ""
    first, last = doubt["from"], doubt["to"]
    return f"pair {first}" if first == last else f"pairs {first} to {last}"


def wrong_pairs(encode: Encode) -> list[tuple[int, int]]:
    """Returns the first and the last of pairs that follow one another and are sure to be wrong, in their order."""
    sure = (doubt for doubt in doubts_of(encode) if doubt.get("certainty") == SURE)
    spans: list[tuple[int, int]] = []
    for first, last in sorted((doubt.get("from", 0), doubt.get("to", -1)) for doubt in sure):
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = spans[-1][0], max(last, spans[-1][1])
        elif first <= last:
            spans.append((first, last))
    return spans


def is_wrong(encode: Encode, number: int) -> bool:
    return any(first <= number <= last for first, last in wrong_pairs(encode))
