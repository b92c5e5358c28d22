"""The clips of bench/tuning.py: painted ones, which are equal on all machines, and those of Debian's opencv-doc.

A painted clip is made of shots of SHOT_S seconds, each of which has a seed of its own. Shots are painted side by side,
so that many processors make all clips in little more time than one shot takes.
"""

import concurrent.futures
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests/look"))

import clips  # noqa: E402

RATE = 24
SHOT_S = 5.0
PAINTED = (
    *("film", "anime", "screen", "sport", "grain", "hdr"),
    *("dark", "slideshow", "fades", "static", "low", "bw"),
)
# Clips of long scenes that differ much, for encodes with a quantizer for each scene: what each shot is of.
MIXED = {
    "mixed1": ("film", "screen", "sport", "dark", "static", "grain"),
    "mixed2": ("low", "sport", "slideshow", "film", "fades", "anime"),
    "mixed3": ("static", "film", "dark", "film", "screen", "sport"),
}
REAL = tuple(clips.REAL)
KINDS = PAINTED + tuple(MIXED) + REAL
# A source as people have it: better than what is made of it, with a key frame every two seconds.
SOURCE = "-c:v libx264 -preset veryfast -crf 8 -g 48 -keyint_min 48 -threads 2 -an".split()
OF_HDR = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv".split()
OF_SDR = "-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv".split()


def make(names, folder, seconds, size, ffmpeg, workers):
    """Makes the clips that the folder lacks, of a size (width, height), several at once. Returns {name: path}, without
    real ones that cannot be had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = {name: folder / f"{name}-{size[0]}x{size[1]}-{seconds:g}s.mkv" for name in names}
    lacking = [name for name, path in there.items() if not path.exists()]
    with tempfile.TemporaryDirectory(dir=folder) as shots:
        _make_painted(
            [name for name in lacking if name not in REAL], there, seconds, size, ffmpeg, workers, Path(shots)
        )
    _make_real([name for name in lacking if name in REAL], there, folder, seconds, ffmpeg)
    return {name: path for name, path in there.items() if path.exists()}


_QUIET = "-v error -nostdin -y".split()


def _make_painted(names, paths, seconds, size, ffmpeg, workers, folder):
    count = math.ceil(seconds / SHOT_S)
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        jobs = {
            name: [
                pool.submit(_paint, name, shot, folder, min(SHOT_S, seconds - shot * SHOT_S), size, ffmpeg)
                for shot in range(count)
            ]
            for name in sorted(names, key=_effort)
        }
        for name, shots in jobs.items():
            _join([shot.result() for shot in shots], paths[name], folder, ffmpeg)


def _effort(name):
    """Returns a number that is small for clips whose pictures take long to paint."""
    return {"sport": 0, "fades": 1, "anime": 2, "hdr": 3}.get(name, 4)


def _paint(name, shot, folder, seconds, size, ffmpeg):
    """Paints and encodes a shot. Returns (its file, its length in seconds)."""
    kind = MIXED[name][shot % len(MIXED[name])] if name in MIXED else name
    painter, _, _, seed = clips.PAINTED[kind]
    width, height = size
    is_hdr, path, count = kind == "hdr", folder / f"{name}-{shot}.mkv", round(seconds * RATE)
    pix_fmt, tags = ("yuv420p10le", OF_HDR) if is_hdr else ("yuv420p", OF_SDR)
    raw = f"-f rawvideo -pix_fmt {pix_fmt} -s {width}x{height} -r {RATE}".split()
    command = [ffmpeg, "-v", "error", "-y", *raw, *tags, "-i", "-", *SOURCE, *tags, path]
    with subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE) as encoder:
        for image in painter(np.random.default_rng((seed, shot)), height, width, count):
            encoder.stdin.write(clips.to_yuv(image, 10 if is_hdr else 8, is_hdr))
    if encoder.returncode:
        raise RuntimeError(f"cannot make the clip {name}: ffmpeg ended with status {encoder.returncode}")
    return path, count / RATE


def _join(shots, path, folder, ffmpeg):
    """Joins shots without encoding them again."""
    listed = folder / f"{path.name}.txt"
    listed.write_text("ffconcat version 1.0\n" + "".join(f"file {shot.name}\nduration {s:.6f}\n" for shot, s in shots))
    part = path.with_suffix(".part.mkv")
    _run([ffmpeg, *_QUIET, "-f", "concat", "-safe", "0", "-i", listed, "-c", "copy", part])
    part.rename(path)


def _make_real(names, paths, folder, seconds, ffmpeg):
    if not names:
        return
    real = next((clips.real_file(name, clips.REAL_FOLDERS) for name in REAL), None)
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        folders = list(clips.REAL_FOLDERS) if real else [clips.fetch_real(unpacked)]
        for name in names:
            source = clips.real_file(name, folders)
            if not source:
                print(
                    f"tuning: the clip {name} is left out: run apt-get install opencv-doc to have it", file=sys.stderr
                )
                continue
            part = paths[name].with_suffix(".part.mkv")
            _run([ffmpeg, *_QUIET, "-t", f"{seconds:g}", "-i", source, "-pix_fmt", "yuv420p", *SOURCE, part])
            part.rename(paths[name])


def _run(command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr[-500:]}")
