"""The clips of bench/tuning.py: painted ones, which are equal on all machines, and those of Debian's opencv-doc."""

import concurrent.futures
import subprocess
import sys
from pathlib import Path

import numpy as np

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests/look"))

import clips  # noqa: E402

WIDTH, HEIGHT, RATE = 640, 360, 24
PAINTED = (
    *("film", "anime", "screen", "sport", "grain", "hdr"),
    *("dark", "slideshow", "fades", "static", "low", "bw"),
)
REAL = tuple(clips.REAL)
KINDS = PAINTED + REAL
# A source as people have it: better than what is made of it, with a key frame every two seconds.
SOURCE = "-c:v libx264 -preset veryfast -crf 8 -g 48 -keyint_min 48 -an".split()
OF_HDR = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv".split()
OF_SDR = "-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv".split()


def make(names, folder, seconds, ffmpeg, workers):
    """Makes the clips that the folder lacks, several at once. Returns {name: path}, without real ones that cannot be
    had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    real = next((clips.real_file(name, clips.REAL_FOLDERS) for name in REAL if name in names), None)
    folders = list(clips.REAL_FOLDERS) if real else [clips.fetch_real(folder)] if set(REAL) & set(names) else []
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        jobs = {name: pool.submit(_make, name, folder, seconds, ffmpeg, folders) for name in names}
        made = {name: job.result() for name, job in jobs.items()}
    for name in names:
        if made[name] is None:
            print(f"tuning: the clip {name} is left out: run apt-get install opencv-doc to have it", file=sys.stderr)
    return {name: path for name, path in made.items() if path}


def _make(name, folder, seconds, ffmpeg, folders):
    path = folder / f"{name}-{seconds:g}s.mkv"
    if path.exists():
        return path
    part = path.with_suffix(".part.mkv")
    if name in REAL:
        source = clips.real_file(name, folders)
        if not source:
            return None
        _run([ffmpeg, *_QUIET, "-t", f"{seconds:g}", "-i", source, "-pix_fmt", "yuv420p", *SOURCE, part])
    else:
        _paint(name, part, seconds, ffmpeg)
    part.rename(path)
    return path


_QUIET = "-v error -nostdin -y".split()


def _paint(name, path, seconds, ffmpeg):
    painter, _, _, seed = clips.PAINTED[name]
    is_hdr = name == "hdr"
    pix_fmt, tags = ("yuv420p10le", OF_HDR) if is_hdr else ("yuv420p", OF_SDR)
    raw = f"-f rawvideo -pix_fmt {pix_fmt} -s {WIDTH}x{HEIGHT} -r {RATE}".split()
    command = [ffmpeg, "-v", "error", "-y", *raw, *tags, "-i", "-", *SOURCE, *tags, path]
    with subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE) as encoder:
        for image in painter(np.random.default_rng(seed), HEIGHT, WIDTH, round(seconds * RATE)):
            encoder.stdin.write(clips.to_yuv(image, 10 if is_hdr else 8, is_hdr))
    if encoder.returncode:
        sys.exit(f"tuning: cannot make the clip {name}: ffmpeg ended with status {encoder.returncode}")


def _run(command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tuning: {' '.join(map(str, command))}: {done.stderr[-500:]}")
