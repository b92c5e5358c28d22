#!/usr/bin/env python3
"""Memory stays flat over a long stream: memory.py [FFMPEG] [--encodes]

Compares ffmpeg's peak memory over 20,000 small frames, from a source that is much faster than the scorer, with that
over 2,000. What may grow is the table of scores: 16 features and models of 8 bytes a frame, held once, and the report
that is made of it.

  --encodes   checks instead the memory of a ladder of three encodes that is scored while it is made (FFmpeg 7.1 and
              later): in the second half never more than in the first. Prints a line for each tenth of the stream
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FEW, MANY = 2000, 20000
ALLOWED_PER_FRAME = 1024  # bytes; a leaked or queued 96x64 frame would be 9216
SOURCE = ["-f", "lavfi", "-i", "color=gray:s=96x64:r=25"]
LADDER = """[0:v]split[r][size];[dec:2][size]scale=rw:rh:flags=bicubic[up];
[dec:0][dec:1][up][r]vmafx=backend=cpu:encodes=3[s0][s1][s2]"""
LADDER_FRAMES = 5000


def fail(why):
    raise SystemExit(f"FAIL memory: {why}\n0 passed, 1 failed")


def peak_bytes(ffmpeg, frames, folder):
    graph = f"[0:v]noise=alls=20[c];[c][1:v]vmafx=backend=cpu:log_fmt=json:log_path={folder}/report.json"
    command = [
        ffmpeg,
        "-v",
        "error",
        "-nostdin",
        *SOURCE,
        *SOURCE,
        "-lavfi",
        graph,
        "-frames:v",
        str(frames),
        "-f",
        "null",
        "-",
    ]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        fail(f"ffmpeg ended with exit status {child.returncode}")
    return usage.ru_maxrss * 1024


def stream(ffmpeg, folder):
    few, many = peak_bytes(ffmpeg, FEW, folder), peak_bytes(ffmpeg, MANY, folder)
    growth = (many - few) / (MANY - FEW)
    return (
        growth <= ALLOWED_PER_FRAME,
        f"{few >> 20} MiB at {FEW} frames, {many >> 20} MiB at {MANY}: {growth:.0f} bytes per frame",
    )


def ladder_command(ffmpeg):
    x264 = ["-c:v", "libx264", "-preset", "veryfast"]
    rungs = [["-crf", "24"], ["-crf", "32"], ["-vf", "scale=64:48", "-crf", "28"]]
    encodes = [word for rung in rungs for word in ("-map", "0:v", *x264, *rung, "-f", "null", "-")]
    scores = [word for number in range(3) for word in ("-map", f"[s{number}]", "-f", "null", "-")]
    source = ["-f", "lavfi", "-i", f"color=gray:s=96x64:r=25,noise=alls=20:allf=t,trim=end_frame={LADDER_FRAMES}"]
    # FFmpeg's decoders on 16 threads each grow by 1,800 bytes per frame by themselves.
    decoders = [word for number in range(3) for word in ("-threads", "1", "-dec", f"{number}:0")]
    return [
        ffmpeg,
        "-v",
        "error",
        "-nostdin",
        "-progress",
        "pipe:1",
        "-stats_period",
        "0.1",
        *source,
        *encodes,
        *decoders,
        "-filter_complex",
        LADDER,
        *scores,
    ]


def resident_bytes(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def samples(ffmpeg):
    """Yields (frame, bytes) while a ladder is encoded and scored."""
    taken = []
    with subprocess.Popen(ladder_command(ffmpeg), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if (frame := re.match(r"frame=(\d+)", line)) and child.poll() is None:
                taken.append((int(frame[1]), resident_bytes(child.pid)))
    if child.returncode:
        fail(f"ffmpeg ended with exit status {child.returncode}")
    return [(frame, resident) for frame, resident in taken if resident]  # a process that has ended has 0


def ladder(ffmpeg, _):
    tenths = {}
    for frame, resident in samples(ffmpeg):
        tenth = min(9, frame * 10 // LADDER_FRAMES)
        tenths[tenth] = max(tenths.get(tenth, 0), resident)
    for tenth, resident in sorted(tenths.items()):
        print(f"{resident / 2**20:.1f} MiB up to frame {(tenth + 1) * LADDER_FRAMES // 10}")
    first, second = ([resident for tenth, resident in tenths.items() if (tenth >= 5) == late] for late in (False, True))
    if not first or not second:
        fail("too few samples")
    growth = (max(second) - max(first)) / (LADDER_FRAMES / 2)
    return (
        growth <= ALLOWED_PER_FRAME,
        f"{max(first) >> 20} MiB in the first half of a ladder, {max(second) >> 20} MiB in the second",
    )


def main():
    words = [word for word in sys.argv[1:] if word != "--encodes"]
    ffmpeg = words[0] if words else str(Path(__file__).resolve().parents[1] / "build/bin/ffmpeg")
    with tempfile.TemporaryDirectory(prefix="vmafx-memory-") as folder:
        flat, what = (ladder if "--encodes" in sys.argv else stream)(ffmpeg, folder)
    print(f"{'PASS' if flat else 'FAIL'} memory: {what}")
    print(f"{int(flat)} passed, {int(not flat)} failed")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
