#!/usr/bin/env python3
"""Memory stays flat over a long stream whose source is much faster than the scorer: memory.py [FFMPEG]

Compares ffmpeg's peak memory over 20,000 small frames with that over 2,000. What may grow is the table of scores: 16 features and
models of 8 bytes a frame, held once, and the report that is made of it.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FEW, MANY = 2000, 20000
ALLOWED_PER_FRAME = 1024  # bytes; a leaked or queued 96x64 frame would be 9216


def peak_bytes(ffmpeg, frames, folder):
    source = ["-f", "lavfi", "-i", "color=gray:s=96x64:r=25"]
    graph = f"[0:v]noise=alls=20[c];[c][1:v]vmafx=backend=cpu:log_fmt=json:log_path={folder}/report.json"
    command = [ffmpeg, "-v", "error", "-nostdin", *source, *source, "-lavfi", graph, "-frames:v", str(frames), "-f", "null", "-"]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"FAIL memory: ffmpeg ended with exit status {child.returncode}\n0 passed, 1 failed")
    return usage.ru_maxrss * 1024


def main():
    ffmpeg = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).resolve().parents[1] / "build/bin/ffmpeg")
    with tempfile.TemporaryDirectory(prefix="vmafx-memory-") as folder:
        few, many = peak_bytes(ffmpeg, FEW, folder), peak_bytes(ffmpeg, MANY, folder)
    growth = (many - few) / (MANY - FEW)
    flat = growth <= ALLOWED_PER_FRAME
    print(f"{'PASS' if flat else 'FAIL'} memory: {few >> 20} MiB at {FEW} frames, {many >> 20} MiB at {MANY}: {growth:.0f} bytes per frame")
    print(f"{int(flat)} passed, {int(not flat)} failed")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
