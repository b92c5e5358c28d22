"""Gives each scene of a video the quantizer with which it just reaches its targets.

Encoders with zones are told in one encode how much of the bit rate each scene gets. For others, each scene is encoded
alone, and the encodes are joined.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from .._system import processors
from ..command._run import READING_S, Processes, ask
from ..command._terminal import Failure
from .encoders import Encoder
from .whole import Encoded, Job, Part, encode_scored

THRESHOLD = 10.0  # of FFmpeg's scdet, in percent
LEAST_SCENE_S = 1.0  # shorter scenes belong to the one before
SAMPLE_S = 6.0  # of a scene that is encoded to find its place among the zones
MOST_PROBES = 6  # encodes of a scene
MOST_WHOLES = 3  # encodes of the whole with zones, each with better ones
PRECISION = 0.5  # quantizers within which a scene is not searched any further
FIRST_STEP = 4.0  # quantizers from the first probe to the second
LONGEST_STEP = 10.0
DOUBLING = 6.0  # quantizers of x264 and x265 that halve the bit rate: the unit of their zones
THREADS_OF_ENCODER = 4  # processors that an encoder of a short scene keeps busy

Slack = Callable[[Encoded], float]  # how far above its worst target an encode is; negative: below


# -- Finding them ------------------------------------------------------------------------------------------------------


def find_scenes(job: Job, threshold: float = THRESHOLD) -> list[Part]:
    """Returns the scenes of the filtered source, in order and without gaps. Raises Failure."""
    scoring, source = job.scoring, job.source
    small = "scale=w='min(320,iw)':h=-2:flags=fast_bilinear"
    printed = "metadata=print:file=-"
    chain = ",".join(filter(None, (source.vfilter, f"settb=AVTB,{small},scdet=threshold={threshold:g},{printed}")))
    command = [scoring.ffmpeg, "-v", "error", "-nostdin", "-copyts", "-start_at_zero", *source.video.input]
    command += ["-map", "0:V:0", "-vf", chain, "-fps_mode", "passthrough", "-f", "null", os.devnull]
    answer = ask(command, READING_S)
    if answer.status:
        raise Failure(f"cannot find the scenes of {source.video.name}: {answer.last_line}")
    frames = [int(pts) / 1e6 for pts in re.findall(r"^frame:\d+ +pts:(-?\d+) ", answer.text, re.M)]
    if not frames:
        raise Failure(f"cannot find the scenes of {source.video.name}: it has no pictures with times")
    begun = [
        int(number)
        for number in re.findall(
            r"^frame:(\d+) [^\n]*\n(?:lavfi\.(?!scd\.time)[^\n]*\n)*lavfi\.scd\.time=", answer.text, re.M
        )
    ]
    return scenes_of(frames, begun, source.rate)


def scenes_of(times: Sequence[float], begun: Sequence[int], rate: Fraction | None) -> list[Part]:
    """Returns the scenes that begin with the pictures of these numbers; short ones are joined to their neighbours."""
    gap = float(1 / rate) if rate else (times[-1] - times[0]) / max(len(times) - 1, 1) or 0.04
    firsts = [0]
    for number in begun:
        if times[number] - times[firsts[-1]] >= LEAST_SCENE_S and times[-1] + gap - times[number] >= LEAST_SCENE_S:
            firsts.append(number)
    ends = [*firsts[1:], len(times)]
    return [Part(first, end - first, times[first], _gap(times, first, gap)) for first, end in zip(firsts, ends)]


def _gap(times: Sequence[float], first: int, usual: float) -> float:
    """Returns the time from the picture before, at which a seek must not land."""
    return min(usual, times[first] - times[first - 1]) if first else usual


# -- A quantizer for each ----------------------------------------------------------------------------------------------


@dataclass
class Probe:
    slack: float
    bytes_per_frame: float


@dataclass
class Scene:
    """A scene, and what is known of it."""

    part: Part
    probes: dict[float, Probe] = field(default_factory=dict)  # by quantizer
    quantizer: float = math.nan  # the chosen one
    encoded: Encoded | None = None  # of the chosen quantizer, if the scene was encoded as a whole

    @property
    def reached(self) -> bool:
        probe = self.probes.get(self.quantizer)
        return probe is not None and probe.slack >= 0

    def bytes_at(self, quantizer: float) -> float:
        """Returns the bytes of the scene at a quantizer, from its probes on a logarithmic scale."""
        known = sorted((q, math.log(probe.bytes_per_frame)) for q, probe in self.probes.items())
        return self.part.frames * math.exp(_on_line(known, quantizer, -math.log(2) / DOUBLING))

    def correct(self, encoder: Encoder, slack: float) -> None:
        """Moves the quantizer of a scene that misses its targets by `slack` in an encode of the whole."""
        known = sorted((q, probe.slack) for q, probe in self.probes.items())
        slope = -1.0
        if len(known) > 1 and known[-1][1] < known[0][1]:
            slope = (known[-1][1] - known[0][1]) / (known[-1][0] - known[0][0])
        self.quantizer = encoder.rounded(self.quantizer - max(1.2 * slack / slope, PRECISION))


def _on_line(known: Sequence[tuple[float, float]], place: float, slope: float) -> float:
    """Returns the value at a place, on straight lines through known points, and beyond them with the slope."""
    if len(known) > 1:
        slope = (known[-1][1] - known[0][1]) / (known[-1][0] - known[0][0])
    before = [point for point in known if point[0] <= place] or known[:1]
    after = [point for point in known if point[0] >= place] or known[-1:]
    low, high = before[-1], after[0]
    if low[0] < place < high[0]:
        return low[1] + (high[1] - low[1]) * (place - low[0]) / (high[0] - low[0])
    return low[1] + slope * (place - low[0]) if low[0] <= place else high[1] + slope * (place - high[0])


def settle(job: Job, scene: Scene, slack: Slack, start: float, folder: Path, whole: bool, processes: Processes) -> None:
    """Chooses the quantizer of a scene by encodes of it, or of its middle. The file of the chosen one stays if all of
    the scene was encoded. Raises Failure.
    """
    encoder = job.settings.encoder
    part = scene.part if whole else _middle(scene.part)
    kept: dict[float, Encoded] = {}
    quantizer: float | None = encoder.rounded(start)
    while quantizer is not None:
        path = folder / f"scene{scene.part.first}-{quantizer:g}"
        encoded = encode_scored(job, quantizer, path, part=part, processes=processes)
        scene.probes[quantizer] = Probe(slack(encoded), encoded.bytes / max(encoded.frames, 1))
        kept[quantizer] = encoded
        quantizer = next_quantizer(encoder, {q: probe.slack for q, probe in scene.probes.items()})
    scene.quantizer = chosen(encoder, {q: probe.slack for q, probe in scene.probes.items()})
    for quantizer, encoded in kept.items():
        if whole and quantizer == scene.quantizer:
            scene.encoded = encoded
        else:
            encoded.path.unlink(missing_ok=True)


def _middle(part: Part) -> Part:
    """Returns the middle of a scene, of at most SAMPLE_S seconds."""
    frames = min(part.frames, max(round(SAMPLE_S / part.gap), 1))
    skipped = (part.frames - frames) // 2
    return replace(part, first=part.first + skipped, frames=frames, time=part.time + skipped * part.gap)


def chosen(encoder: Encoder, slacks: dict[float, float]) -> float:
    """Returns the quantizer of the fewest bits that reaches the targets, else the one that comes closest."""
    good = [quantizer for quantizer, slack in slacks.items() if slack >= 0]
    if good:
        return max(good) if encoder.higher_is_worse else min(good)
    return max(slacks, key=slacks.__getitem__)


def next_quantizer(encoder: Encoder, slacks: dict[float, float]) -> float | None:
    """Returns the quantizer to try next; None once the chosen one is near enough to the best.

    Between a good and a bad one it is where a straight line meets the target; beyond all, where it would.
    """
    sign = 1.0 if encoder.higher_is_worse else -1.0
    points = sorted((sign * quantizer, slack) for quantizer, slack in slacks.items())
    good = max((point for point in points if point[1] >= 0), default=None)
    bad = min((point for point in points if point[1] < 0 and (good is None or point[0] > good[0])), default=None)
    precision = max(encoder.step, PRECISION)
    if len(points) >= MOST_PROBES or (good and bad and bad[0] - good[0] <= precision + 1e-9):
        return None
    if good and bad:
        place = good[0] + (bad[0] - good[0]) * min(max(good[1] / (good[1] - bad[1]), 0.1), 0.9)
        place = (
            min(max(place, good[0] + precision), bad[0] - precision)
            if bad[0] - good[0] > 2 * precision
            else (good[0] + bad[0]) / 2
        )
    else:
        place = _beyond(points)
    tried = encoder.rounded(sign * place)
    return None if tried in slacks else tried


def _beyond(points: Sequence[tuple[float, float]]) -> float:
    """Returns where to try next if all quantizers so far are good, or all are bad: where a straight line meets the
    target, and no nearer than the step before, as curves flatten.
    """
    good = points[0][1] >= 0
    edge, inner = (points[-1], points[:-1][-1:]) if good else (points[0], points[1:2])
    step = FIRST_STEP
    for other in inner:
        slope = min((points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]), -0.01)
        step = max(abs(edge[1] / slope) * 1.1 + PRECISION, abs(edge[0] - other[0]))
    step = min(step, LONGEST_STEP)
    return edge[0] + (step if good else -step)


def in_parallel(jobs: int, task: Callable[[Scene], None], scenes: Sequence[Scene], processes: Processes) -> None:
    """Does the task for several scenes at once; the first failure, or an interrupt, ends them all."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(task, scene) for scene in scenes]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            processes.end_all()
            raise


def usual_jobs() -> int:
    return max(1, processors() // THREADS_OF_ENCODER)


# -- Together ----------------------------------------------------------------------------------------------------------


def zones_of(encoder: Encoder, scenes: Sequence[Scene], base: float) -> tuple[tuple[int, int, float], ...]:
    """Returns the zones that give each scene its quantizer in an encode with the quantizer `base`."""
    return tuple(
        (scene.part.first, scene.part.last, 2 ** ((base - scene.quantizer) / DOUBLING))
        for scene in scenes
        if abs(scene.quantizer - base) >= encoder.step
    )


def joined(ffmpeg: str, scenes: Sequence[Scene], container: str, path: Path) -> None:
    """Joins the encodes of all scenes without encoding again. Raises Failure."""
    lines = ["ffconcat version 1.0"]
    for scene, following in zip(scenes, [*scenes[1:], None]):
        assert scene.encoded
        lines.append(f"file {scene.encoded.path.name}")
        if following:
            lines.append(f"duration {following.part.time - scene.part.time:.6f}")
    table = path.with_name("scenes.ffconcat")
    table.write_text("\n".join(lines) + "\n")
    command = [ffmpeg, "-v", "error", "-nostdin", "-y", "-f", "concat", "-safe", "0", "-i", str(table)]
    answer = ask([*command, "-map", "0:v:0", "-c", "copy", "-f", container, str(path)], READING_S)
    if answer.status:
        raise Failure(f"cannot join the scenes: {answer.last_line}")
