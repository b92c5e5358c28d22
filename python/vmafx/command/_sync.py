"""Finds how much later one video begins than another that shows the same, by comparing small gray pictures of both at
each offset.

For each sample of the small pictures, its changes over time are compared, in one correlation over all samples: parts
that do not move, such as a logo or a border, and a different brightness do not count. The offset with the highest
correlation is found. It is taken only if it is sure: high enough, clearly higher than at any other offset, the next
frame included, and over enough pictures.
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

WIDTH, HEIGHT = 32, 18  # the size of the small pictures
USUAL_SECONDS = 5.0  # the usual search, in both directions
LOOK_SECONDS = 30.0, 300.0  # seconds compared beside those searched; the second if the first leaves doubts
LEAST_CORRELATION = 0.97  # FFmpeg's testsrc2 has 0.965 with itself 12 s later, when only its digits differ
# The correlations of other offsets, and of the next frames, must be this many times as far from 1. Encoders hold slow
# pictures back by a frame or two: with slow zooms at CRF 44 a wrong neighbor was the best, but by at most 1.04.
FAR_CLEARER, NEAR_CLEARER = 2.0, 1.3
NEAR = 2  # frames
LEAST_OVERLAP = 0.4  # the part of the shorter video that must overlap
MOST_RATIO = 8  # the highest ratio of the frame rates


@dataclass(frozen=True)
class Offset:
    """The time of an encode's first picture, counted from the reference's first picture."""

    seconds: Fraction
    frames: int  # counted in the frames of the input that has more of them
    correlation: float
    next_best: float  # the best correlation farther away
    overlap: float  # in seconds

    def __str__(self) -> str:
        """Returns how the encode begins, and how sure that is."""
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
    """Returns the offset of an encode. Raises Failure if none is sure."""
    check_numpy()
    if not dist.rate or not ref.rate:
        raise _Unsure(dist, f"the frame rate of {(ref if dist.rate else dist).path} varies or is not known")
    ratio = max(dist.rate, ref.rate) / min(dist.rate, ref.rate)
    steps = round(ratio)
    if abs(ratio / steps - 1) > Fraction(1, 5000) or steps > MOST_RATIO:
        raise _Unsure(
            dist,
            f"its {float(dist.rate):.6g} frames a second are neither a multiple nor a whole part of the reference's "
            f"{float(ref.rate):.6g}",
        )
    doubt = ""
    for look in LOOK_SECONDS:
        small = [_small_pictures(settings.ffmpeg, video, 2 * seconds + look) for video in (dist, ref)]
        found, doubt = _compare(small[0], small[1], seconds, dist.rate, ref.rate, steps)
        if not doubt:
            return found
        if min(len(small[0]) / dist.rate, len(small[1]) / ref.rate) < 2 * seconds + look - 1:
            break  # the videos have no more pictures
    raise _Unsure(dist, doubt)


def check_numpy() -> None:
    if find_spec("numpy") is None:
        raise Failure(
            "--sync computes with NumPy, which is not installed: run apt-get install python3-numpy, or give the "
            "difference with --offset"
        )


class _Unsure(Failure):
    def __init__(self, dist: _ffmpeg.Video, why: str) -> None:
        super().__init__(
            f"--sync cannot tell how much later or earlier {dist.path} begins: {why}. Give the difference with "
            "--offset SECONDS (0: they begin together)"
        )


def _small_pictures(ffmpeg: str, video: _ffmpeg.Video, seconds: float) -> "numpy.ndarray[Any, Any]":
    """Returns a row for each frame, from the first one on, at the video's own rate."""
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
        *video.input,
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
    """Returns the best offset, and why it is not sure ("" if it is).

    If one video has more frames, each of their phases is compared by itself.
    """
    fast, slow = max(dist_rate, ref_rate), min(dist_rate, ref_rate)
    # Offsets in frames of the faster video, with their correlation and the number of pictures of the slower one.
    found: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    most = int(seconds * fast)
    for phase in range(steps):
        one, other = (dist[phase::steps], ref) if dist_rate > ref_rate else (dist, ref[phase::steps])
        correlations, overlaps = _correlate(one, other, most // steps + 1)
        for place, (correlation, overlap) in enumerate(zip(correlations, overlaps)):
            # Either the encode's picture `phase` meets a picture of the reference, or the encode's first picture meets
            # one of this phase of the reference.
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
            "the videos show different things, hardly move, begin farther apart, overlap too little, or one of them is "
            "badly damaged"
        )
        return f"the best correlation is {found.correlation:.2f}, less than {LEAST_CORRELATION}: {why}"
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
    """Returns for each offset from -most to most the correlation of the pictures shown at one time, over all samples,
    and the number of these pictures.
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
    # Pictures that vary by less than a step of gray say nothing.
    enough = (np.minimum(*variances) > whole) & (counts > 2)
    scale = np.sqrt(np.maximum(variances[0] * variances[1], 1e-9))
    return np.where(enough, covariance / scale, 0.0), counts


def _products(dist: Any, ref: Any, offsets: Any) -> Any:
    """Returns the sum of products of the encode's picture i and the reference's picture i + offset, over i and all
    samples.
    """
    import numpy as np

    size = 1 << (len(dist) + len(ref)).bit_length()
    total = np.zeros(size // 2 + 1, dtype=np.complex128)
    for column in range(dist.shape[1]):
        total += np.fft.rfft(ref[:, column], size) * np.conj(np.fft.rfft(dist[:, column], size))
    found = np.fft.irfft(total, size)
    inside = (offsets < len(ref)) & (offsets > -len(dist))
    return np.where(inside, found[np.where(inside, offsets, 0) % size], 0.0)


def _overlap_sums(pictures: Any, begins: Any, ends: Any) -> tuple[Any, Any]:
    """Returns the sums of each sample, and the sum of all squares, of the pictures from begins to ends."""
    import numpy as np

    sums = np.concatenate([np.zeros((1, pictures.shape[1])), np.cumsum(pictures, axis=0, dtype=np.float64)])
    squares = np.concatenate([[0.0], np.cumsum((pictures.astype(np.float64) ** 2).sum(axis=1))])
    first, last = (np.clip(place, 0, len(pictures)) for place in (begins, ends))
    return sums[last] - sums[first], squares[last] - squares[first]
