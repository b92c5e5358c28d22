"""A search for a CRF by the method of ab-av1 0.11.7 (crf-search), written anew from what its source does:

- samples of 20 s, one for each 12 minutes, cut out of the source without decoding; the whole source where they would
  be most of it;
- a probe encodes each sample with one ffmpeg and scores it with another one, one after the other;
- the first probe is in the middle of the range, the second one at 40 % of the rest; then it interpolates between
  the nearest probes on both sides of the target, and takes a score that is above the target by little enough.
"""

import functools
import math
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE_S, EVERY_S, MOST_OF_INPUT = 20.0, 720.0, 0.85
MOST_PERCENT = 80.0  # of the sample's size
SCORED_RATE = "25"  # -r of both inputs of a score
SMALL = 1728, 972  # smaller pictures are scaled to 1920 columns, or 1080 rows, for the score
# The range of CRFs, and the step in which they are tried.
RANGES = {"libx264": (10.0, 46.0, 0.1), "libx265": (10.0, 46.0, 0.1), "libsvtav1": (5.0, 70.0, 0.25)}
DEEP = {"libsvtav1"}  # encoders that get 10 bits, whatever the source has


class NoCrf(Exception):
    """No CRF reaches the target in the size that is allowed."""


@dataclass(frozen=True)
class Source:
    path: Path
    seconds: float
    rate: float
    frames: int
    width: int
    height: int
    pix_fmt: str


@dataclass
class Work:
    """The cost of a search."""

    decoded: int = 0
    encoded: int = 0
    scored: int = 0
    probes: list = field(default_factory=list)  # (CRF, score, per cent of the size)


def pix_fmt_for(encoder, source):
    return "yuv420p10le" if encoder in DEEP else source.pix_fmt


def own_options(encoder):
    """Returns the options that both methods give to an encoder. libx265 and SVT-AV1 start a thread for each processor
    of the machine, also for those that they may not use.
    """
    usable = len(os.sched_getaffinity(0))
    options = {"libx265": ("x265-params", f"pools={usable}"), "libsvtav1": ("svtav1-params", f"lp={usable}")}
    return [options[encoder]] if encoder in options else []


def encoder_words(encoder, preset, crf, source):
    """Returns the output options of an encode; all encodes of bench/tuning.py have them."""
    number = f"{crf:g}"
    words = ["-c:v", encoder, "-preset", preset, "-pix_fmt", pix_fmt_for(encoder, source)]
    own = dict(own_options(encoder))
    if encoder == "libsvtav1":
        own["svtav1-params"] += f":scd=0:crf={number}"
    words += [word for name, value in own.items() for word in (f"-{name}", value)]
    return [*words, "-crf", f"{min(crf, 63):g}" if encoder == "libsvtav1" else number]


def score_graph(source, pix_fmt, score_filter):
    scale = ""
    if source.width < SMALL[0] and source.height < SMALL[1]:
        is_tall = source.height / 1080 > source.width / 1920
        scale = f"scale={'-1:1080' if is_tall else '1920:-1'}:flags=bicubic,"
    prepared = f"format={pix_fmt},{scale}setpts=PTS-STARTPTS,settb=AVTB"
    return f"[0:v]{prepared}[dis];[1:v]{prepared}[ref];[dis][ref]{score_filter}"


@functools.cache
def libvmaf_filter(ffmpeg):
    """Returns the filter with ab-av1's options; FFmpeg before 6.1 has no ts_sync_mode, and pairs equal times alike."""
    asked = subprocess.run([ffmpeg, "-hide_banner", "-h", "filter=libvmaf"], capture_output=True, text=True).stdout
    sync = ":ts_sync_mode=nearest" if "ts_sync_mode" in asked else ""
    return f"libvmaf=shortest=true{sync}:n_threads={len(os.sched_getaffinity(0))}"


def run(command):
    """Runs a program and returns what it says."""
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr[-800:]}")
    return done.stderr


def frames_decoded(said):
    return sum(map(int, re.findall(r"Input stream #\d+:\d+ \(video\): .*? (\d+) frames decoded", said)))


class Search:
    def __init__(self, source, encoder, preset, target, programs, folder, crfs=None):
        """`programs`: the ffmpeg that encodes, and the one that scores with its filter libvmaf; `crfs`: the first and
        the last CRF, and the step (default: ab-av1's).
        """
        self.source, self.encoder, self.preset, self.target = source, encoder, preset, target
        self.encoding, self.scoring = programs
        self.folder, self.work = folder, Work()
        self.first, self.last, self.step = crfs or RANGES[encoder]

    def run(self):
        """Returns (CRF, score of its samples). Raises NoCrf."""
        self.samples = self._cut()
        least, most = round(self.first / self.step), round(self.last / self.step)
        tried = {}
        q = (least + most) // 2
        for number in range(1, most - least + 2):
            score, percent = self._probe(q * self.step)
            tried[q] = score, percent
            fits = percent <= MOST_PERCENT
            if score > self.target:
                tolerance = max(min(self.step, 1) * 2 ** (number - 1) * 0.1, 0.1)
                if fits and score < self.target + tolerance:
                    return self._found(q, tried)
                above = min((other for other in tried if other > q), default=None)
                if above == q + 1 or (above is None and q == most):
                    if not fits:
                        raise NoCrf(f"CRF {q * self.step:g} is {percent:.0f} % of the source")
                    return self._found(q, tried)
                q = self._next(q, above, most, number, tried)
            else:
                if not fits or q == least:
                    raise NoCrf(f"CRF {q * self.step:g} scores {score:.2f} with {percent:.0f} % of the source")
                below = max((other for other in tried if other < q), default=None)
                if below == q - 1:
                    if tried[below][1] > MOST_PERCENT:
                        raise NoCrf(f"CRF {below * self.step:g} is {tried[below][1]:.0f} % of the source")
                    return self._found(below, tried)
                q = self._next(q, below, least, number, tried)
        raise NoCrf("all CRFs were tried")

    def _found(self, q, tried):
        return round(q * self.step, 4), tried[q][0]

    def _next(self, q, other, end, number, tried):
        """Returns where the next probe is, between this one and the nearest on the other side of the target, or the end
        of the range.
        """
        if other is None:
            return round(q * 0.4 + end * 0.6) if number == 1 and abs(end - q) > 1 else end
        worse, better = max(q, other), min(q, other)
        part = (self.target - tried[worse][0]) / (tried[better][0] - tried[worse][0])
        # Halves are rounded away from zero.
        return min(max(math.floor(worse - (worse - better) * part + 0.5), better + 1), worse - 1)

    def _cut(self):
        source = self.source
        count = max(math.ceil(source.seconds / EVERY_S), 1)
        if SAMPLE_S * count >= MOST_OF_INPUT * source.seconds:
            return [source.path]
        made, gap = [], (source.seconds - SAMPLE_S * count) / (count + 1)
        for i in range(count):
            path = self.folder / f"sample{i}.mkv"
            start = math.floor(gap * (i + 1) + SAMPLE_S * i)
            words = ["-ss", start, "-i", source.path, "-frames:v", round(SAMPLE_S * source.rate)]
            run([self.encoding, "-y", *words, *"-c:v copy -an -sn".split(), path])
            made.append(path)
        return made

    def _probe(self, crf):
        scores, encoded_bytes, sample_bytes = [], 0, 0
        for sample in self.samples:
            encode = self.folder / "probe.mkv"
            words = encoder_words(self.encoder, self.preset, crf, self.source)
            said = run(
                [self.encoding, "-y", "-v", "verbose", "-i", sample, *words, "-fps_mode", "passthrough", "-an", encode]
            )
            self.work.decoded += frames_decoded(said)
            self.work.encoded += frames_decoded(said)
            scores.append(self._score(encode, sample))
            encoded_bytes += encode.stat().st_size
            sample_bytes += sample.stat().st_size
        score, percent = sum(scores) / len(scores), 100 * encoded_bytes / sample_bytes
        self.work.probes.append((round(crf, 4), score, percent))
        return score, percent

    def _score(self, encode, sample):
        graph = score_graph(self.source, pix_fmt_for(self.encoder, self.source), libvmaf_filter(self.scoring))
        inputs = ["-r", SCORED_RATE, "-i", encode, "-r", SCORED_RATE, "-i", sample]
        said = run([self.scoring, "-v", "verbose", *inputs, "-filter_complex", graph, *"-an -sn -dn -f null -".split()])
        decoded = frames_decoded(said)
        self.work.decoded += decoded
        self.work.scored += decoded // 2
        return float(re.search(r"VMAF score: (\S+)", said)[1])


def measured(search):
    """Runs a search. Returns (CRF, score, seconds, why there is no CRF)."""
    start = time.monotonic()
    try:
        crf, score = search.run()
        return crf, score, time.monotonic() - start, None
    except NoCrf as failure:
        return None, None, time.monotonic() - start, str(failure)
