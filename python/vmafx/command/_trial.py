"""Tries ways to make two inputs alike on some of their pictures: the right way gives the highest PSNR.

What tags say is tried only where they do not agree. Places in the middle of the inputs are tried if the pictures of the
beginning leave doubts, as black ones do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import _inputs
from ._ffmpeg import Video
from ._run import ask

PICTURES = 20  # pictures that are compared: several cycles of 3:2 pulldown
PLACES = 0.0, 0.35, 0.7  # parts of the length
SAME_DB = 200.0  # stands for the PSNR of equal pictures, which is infinite
TRIED_S = 300.0  # limit for a trial
SCORE = re.compile(r"^\[psnr@(\d+) @ \S+\] PSNR .*average:(\S+)", re.M)


@dataclass(frozen=True)
class Way:
    """A way to make an encode and its reference alike: what they are taken for."""

    dist: Video
    ref: Video
    text: str = ""  # how it is told
    zeros: tuple[int, int] | None = None  # the times that become 0, in microseconds; None: of the first pictures

    def chains(self) -> tuple[str, str]:
        zeros = self.zeros or (round(1e6 * self.dist.start), round(1e6 * self.ref.start))
        converts = _inputs.lights_differ(self.dist, self.ref)  # as the filter does later
        dist, ref = _inputs.chains_of([self.dist], self.ref, [], list(zeros), converts=converts)
        return dist.whole(0), ref.whole(0)


@dataclass(frozen=True)
class Outcome:
    way: Way
    number: int  # of the way
    psnr: tuple[float, ...]  # of each way, at the place that told it
    sure: bool  # whether it is clearly better than the first way, or the first than all others


def best_of(
    ffmpeg: str, ways: Sequence[Way], clear: float, pictures: int = PICTURES, parts: Sequence[float] = PLACES
) -> Outcome:
    """Returns the best way, and the first one unless another is better by at least `clear` dB, or all fail. `parts`: of
    the length, where pictures are compared, until the best one is clear.
    """
    found: list[Outcome] = []
    for part in parts:
        places = _places(ways[0], part)
        if places is None:
            break
        psnr = _psnr(ffmpeg, ways, places, pictures)
        if psnr is None:
            break
        best = psnr.index(max(psnr))
        other = psnr[0] if best else max(psnr[1:])
        sure = psnr[best] - other >= clear
        found.append(Outcome(ways[best if sure else 0], best if sure else 0, tuple(psnr), sure))
        if sure:
            return found[-1]
    return found[0] if found else Outcome(ways[0], 0, (), False)


def _places(way: Way, part: float) -> list[float] | None:
    """Returns where in the files of an encode and its reference the trial begins; None if it cannot begin there."""
    videos = way.dist, way.ref
    if not part:
        return [0.0, 0.0]
    if not all(video.duration and video.can_seek for video in videos):
        return None
    time = part * min(video.duration or 0.0 for video in videos)
    return [video.start + time for video in videos] if time > 1 else None


def _psnr(ffmpeg: str, ways: Sequence[Way], places: Sequence[float], pictures: int) -> list[float] | None:
    """Returns the PSNR of each way, None if the pictures cannot be compared.

    FFmpeg's psnr takes the last picture of the reference that is not later, so the reference is half a frame early.
    """
    inputs: dict[tuple[str, ...], list[str]] = {}  # by ffmpeg's words for them, the labels of those who read them
    compared, sinks = [], []
    for number, way in enumerate(ways):
        for video, chain, place, side in zip((way.dist, way.ref), way.chains(), places, "dr"):
            words = (*(("-ss", f"{place:.6f}") if place else ()), *video.input)
            inputs.setdefault(words, []).append(f"[{side}{number}]")
            nearest = f",settb=AVTB,setpts=PTS-{_inputs.half_a_frame(video):.6f}/TB" if side == "r" else ""
            compared.append(f"[{side}{number}]{chain}{nearest}[{side}p{number}]")
        compared.append(f"[dp{number}][rp{number}]psnr@{number}[s{number}]")
        sinks += ["-map", f"[s{number}]", "-frames:v", str(pictures), "-f", "null", "-"]
    split = [f"[{number}:V:0]split={len(labels)}{''.join(labels)}" for number, labels in enumerate(inputs.values())]
    command = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-copyts", "-start_at_zero"]
    command += [*(word for words in inputs for word in words), "-filter_complex", ";".join([*split, *compared]), *sinks]
    answer = ask(command, TRIED_S)
    found = {int(number): float(psnr) for number, psnr in SCORE.findall(answer.err)}
    if answer.status or len(found) < len(ways):
        return None
    return [min(found[number], SAME_DB) for number in range(len(ways))]
