"""Finds how much later one video begins than another that shows the same: by small gray pictures of both, compared at
each offset.

What is compared is how each of the small picture's samples goes up and down over time, as one correlation of all of
them: what does not move, as a logo, a border or another brightness, does not count. The offset is where the correlation
is highest. It is told only if it is sure: high enough, clearly higher than at any other offset, the next frame
included, and over enough pictures.
"""

import subprocess
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from . import _ffmpeg
from ._scoring import Begin, Settings
from ._terminal import Failure

if TYPE_CHECKING:
    import numpy

WIDTH, HEIGHT = 32, 18  # of the small pictures
USUAL_SECONDS = 5.0  # to search, in both directions
LOOK_SECONDS = 30.0, 300.0  # of the videos are compared, beside what is searched; the more where the less is not sure
LEAST_CORRELATION = 0.97  # FFmpeg's testsrc2 against itself 12 s later, where all but the digits repeats: 0.965
# How many times as far from 1 the correlation of any other offset must be, and of the next frames. Encoders hold slow
# pictures back by a frame or two: of slow zooms at CRF 44 a wrong neighbor was the best, but by no more than 1.04.
FAR_CLEARER, NEAR_CLEARER = 2.0, 1.3
NEAR = 2  # frames
LEAST_OVERLAP = 0.4  # of the shorter one
MOST_RATIO = 8  # of the frame rates


@dataclass(frozen=True)
class Offset:
    """Of an encode's first picture, from the reference's."""

    seconds: Fraction
    frames: int  # of the input that has more of them
    correlation: float
    next_best: float  # farther away
    overlap: float  # in seconds

    def __str__(self) -> str:
        """How it begins, and how sure that is."""
        sure = (
            f"(correlation {self.correlation:.4f}, at the next best offset {self.next_best:.4f}, over "
            f"{self.overlap:.1f} s)"
        )
        if not self.frames:
            return f"begins with the reference {sure}"
        count = f"{abs(self.frames)} frame{'s' if abs(self.frames) > 1 else ''}"
        return (
            f"begins {count} ({abs(float(self.seconds)):.3f} s) {'later' if self.frames > 0 else 'earlier'} than "
            f"the reference {sure}"
        )


def find_begin(settings: Settings, dist: _ffmpeg.Video, ref: _ffmpeg.Video, seconds: float) -> Begin:
    found = find_offset(settings, dist, ref, seconds)
    return Begin(found.seconds, str(found))


def find_offset(settings: Settings, dist: _ffmpeg.Video, ref: _ffmpeg.Video, seconds: float = USUAL_SECONDS) -> Offset:
    """Raises Failure if there is none that is sure."""
    check_numpy()
    if not dist.rate or not ref.rate:
        raise _Unsure(dist, f"the frame rate of {(ref if dist.rate else dist).path} varies or is not known")
    ratio = max(dist.rate, ref.rate) / min(dist.rate, ref.rate)
    steps = round(ratio)
    if abs(ratio / steps - 1) > Fraction(1, 5000) or steps > MOST_RATIO:
        raise _Unsure(
            dist,
            f"{float(dist.rate):.6g} frames a second are no multiple or whole part of the reference's "
            f"{float(ref.rate):.6g}",
        )
    doubt = ""
    for look in LOOK_SECONDS:
        small = [_small_pictures(settings.ffmpeg, video, 2 * seconds + look) for video in (dist, ref)]
        found, doubt = _compare(small[0], small[1], seconds, dist.rate, ref.rate, steps)
        if not doubt:
            return found
        if min(len(small[0]) / dist.rate, len(small[1]) / ref.rate) < 2 * seconds + look - 1:
            break  # these are all pictures
    raise _Unsure(dist, doubt)


def check_numpy() -> None:
    if find_spec("numpy") is None:
        raise Failure(
            "--sync computes with NumPy, which is not installed: apt-get install python3-numpy; or say with --offset "
            "what it would find"
        )


class _Unsure(Failure):
    def __init__(self, dist: _ffmpeg.Video, why: str) -> None:
        super().__init__(
            f"it is not sure how much later or earlier {dist.path} begins: {why}. Say it with --offset SECONDS (0: "
            "they begin together)"
        )


def _small_pictures(ffmpeg: str, video: _ffmpeg.Video, seconds: float) -> "numpy.ndarray[Any, Any]":
    """A row for each frame, from the first one on, at the video's own rate."""
    import numpy as np

    chain = f"setpts=PTS-STARTPTS,fps={video.rate},scale={WIDTH}:{HEIGHT}:flags=area,format=gray"
    limit = f"{seconds + max(video.start, 0):.3f}"
    command = [
        ffmpeg,
        "-v",
        "error",
        "-nostdin",
        "-t",
        limit,
        "-i",
        _ffmpeg.input_name(video.path),
        "-map",
        "0:V:0",
        "-vf",
        chain,
        "-f",
        "rawvideo",
        "-",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise Failure(
            f"cannot decode {video.path}: "
            f"{(done.stderr.decode(errors='replace').strip().splitlines() or ['ffmpeg failed'])[-1]}"
        )
    pictures = np.frombuffer(done.stdout, dtype=np.uint8)
    return pictures[: len(pictures) // (WIDTH * HEIGHT) * WIDTH * HEIGHT].reshape(-1, WIDTH * HEIGHT).astype(np.float32)


# -- Comparing ---------------------------------------------------------------------------------------------------------


def _compare(
    dist: Any, ref: Any, seconds: float, dist_rate: Fraction, ref_rate: Fraction, steps: int
) -> tuple[Offset, str]:
    """The best offset, and why it is not sure.

    With more frames in one of them, each of their phases is compared by itself.
    """
    fast, slow = max(dist_rate, ref_rate), min(dist_rate, ref_rate)
    found: dict[int, tuple[float, int]] = {
        0: (0.0, 0)
    }  # offset in frames of the faster one: correlation, pictures of the slower one
    most = int(seconds * fast)
    for phase in range(steps):
        one, other = (dist[phase::steps], ref) if dist_rate > ref_rate else (dist, ref[phase::steps])
        correlations, overlaps = _correlate(one, other, most // steps + 1)
        for place, (correlation, overlap) in enumerate(zip(correlations, overlaps)):
            # The encode's picture `phase` is one of the reference's, or its first picture is one of this phase of the
            # reference's.
            offset = (place - most // steps - 1) * steps + (-phase if dist_rate > ref_rate else phase)
            if abs(offset) <= most and overlap:
                found[offset] = float(correlation), int(overlap)
    least = LEAST_OVERLAP * min(len(dist) / dist_rate, len(ref) / ref_rate) * slow
    best = max(
        (offset for offset in found if found[offset][1] >= least), key=lambda offset: found[offset][0], default=0
    )
    far = max((found[offset][0] for offset in found if abs(offset - best) > NEAR * steps), default=0.0)
    near = max((found[offset][0] for offset in found if 0 < abs(offset - best) <= NEAR * steps), default=0.0)
    told = Offset(Fraction(best) / fast, best, found[best][0], far, found[best][1] / float(slow))
    return told, _doubt(told, near, most)


def _doubt(found: Offset, near: float, most: int) -> str:
    rest = max(1 - found.correlation, 1e-6)
    if found.correlation < LEAST_CORRELATION:
        why = (
            "they show different things, hardly move, begin farther apart, have too little in common, or one of them "
            "is badly damaged"
        )
        return f"the best correlation is {found.correlation:.2f}, and {LEAST_CORRELATION} is wanted: {why}"
    if 1 - near < NEAR_CLEARER * rest:
        return (
            "the next frame fits about as well, so little changes from one to the next (correlations "
            f"{found.correlation:.4f} and {near:.4f})"
        )
    if 1 - found.next_best < FAR_CLEARER * rest:
        return (
            f"other offsets fit about as well (correlations {found.correlation:.4f} and {found.next_best:.4f}): "
            "little moves, or movements repeat"
        )
    if abs(found.frames) == most:
        return f"the best offset, {float(found.seconds):.3f} s, is at the end of what was searched"
    return ""


def _correlate(dist: Any, ref: Any, most: int) -> tuple[Any, Any]:
    """For offsets from -most to most: the correlation of what both show at one time, over all samples, and how many
    pictures that is.
    """
    import numpy as np

    offsets = np.arange(-most, most + 1)
    dist, ref = (pictures - pictures.mean(axis=0) for pictures in (dist, ref))
    products = _products(dist, ref, offsets)
    begins = np.maximum(offsets, 0)  # in the reference
    ends = np.minimum(len(ref), len(dist) + offsets)
    counts = np.maximum(ends - begins, 0)
    ends = begins + counts
    sums, energies = zip(
        *(
            _overlap_sums(pictures, first, last)
            for pictures, first, last in ((ref, begins, ends), (dist, begins - offsets, ends - offsets))
        )
    )
    whole = np.maximum(counts, 1)
    covariance = products - (sums[0] * sums[1]).sum(axis=1) / whole
    variances = [energy - (sum_ * sum_).sum(axis=1) / whole for sum_, energy in zip(sums, energies)]
    # Less than a step of gray in a picture says nothing.
    enough = (np.minimum(*variances) > whole) & (counts > 2)
    scale = np.sqrt(np.maximum(variances[0] * variances[1], 1e-9))
    return np.where(enough, covariance / scale, 0.0), counts


def _products(dist: Any, ref: Any, offsets: Any) -> Any:
    """The sum of products of the encode's picture i and the reference's picture i + offset, over i and all samples."""
    import numpy as np

    size = 1 << (len(dist) + len(ref)).bit_length()
    total = np.zeros(size // 2 + 1, dtype=np.complex128)
    for column in range(dist.shape[1]):
        total += np.fft.rfft(ref[:, column], size) * np.conj(np.fft.rfft(dist[:, column], size))
    found = np.fft.irfft(total, size)
    inside = (offsets < len(ref)) & (offsets > -len(dist))
    return np.where(inside, found[np.where(inside, offsets, 0) % size], 0.0)


def _overlap_sums(pictures: Any, begins: Any, ends: Any) -> tuple[Any, Any]:
    """Of the pictures from begins to ends: sums of each sample, and the sum of all squares."""
    import numpy as np

    sums = np.concatenate([np.zeros((1, pictures.shape[1])), np.cumsum(pictures, axis=0, dtype=np.float64)])
    squares = np.concatenate([[0.0], np.cumsum((pictures.astype(np.float64) ** 2).sum(axis=1))])
    first, last = (np.clip(place, 0, len(pictures)) for place in (begins, ends))
    return sums[last] - sums[first], squares[last] - squares[first]
