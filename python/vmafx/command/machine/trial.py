"""Scores some pictures that ffmpeg draws, as a proof that scoring works."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from .. import _json
from .limited import Ended, run_limited
from .problems import HUNG, Problem

PAIRS = 4
NOT_MADE = "trial_not_made"  # the kind of problem
PICTURES = f"testsrc2=size=64x64:rate=25,trim=end_frame={PAIRS}"
DRAWN = "[0:v]split[a][b];[a]scale=32:32,scale=64:64[encode]"
GRAPH = f"{DRAWN};[encode][b]vmafx=log_fmt=json:check=off"


def score(ffmpeg: str, backend: str, device: str, limit_s: float) -> tuple[dict[str, Any], Problem | None]:
    """Returns the facts of a run with this backend, and what went wrong."""
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / "scores.json"
        name = device.replace(":", "\\\\\\:")
        graph = f"{GRAPH}:backend={backend}:device={name}:device_wait=0:log_path={log}"
        start = time.monotonic()
        ended = run_limited([*_begin(ffmpeg), "-filter_complex", graph, "-f", "null", os.devnull], limit_s)
        seconds = time.monotonic() - start
        report = _report(log)
    facts = {"backend": backend, "seconds": round(seconds, 3), **_scores(report)}
    return facts, _draws_nothing(ffmpeg, ended, limit_s) or _wrong(backend, ended, limit_s, facts)


def _begin(ffmpeg: str) -> list[str]:
    return [ffmpeg, "-hide_banner", "-nostdin", "-v", "level+warning", "-f", "lavfi", "-i", PICTURES]


def _draws_nothing(ffmpeg: str, ended: Ended, limit_s: float) -> Problem | None:
    """Returns that an ffmpeg whose run has failed cannot draw the pictures, if it cannot, without the filter either."""
    if not ended.status:
        return None
    sinks = [word for pad in ("[encode]", "[b]") for word in ("-map", pad, "-f", "null", os.devnull)]
    alone = run_limited([*_begin(ffmpeg), "-filter_complex", DRAWN, *sinks], limit_s)
    if not alone.status:
        return None
    text = f"scoring was not tried, since this ffmpeg cannot draw pictures: {alone.last_line}"
    return Problem(NOT_MADE, text, ("score two files with it",))


def _report(log: Path) -> dict[str, Any]:
    try:
        report = _json.parse(log.read_text())
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def _scores(report: dict[str, Any]) -> dict[str, Any]:
    run = report.get("vmafx", {})
    frames = [frame.get("metrics", {}).get("vmaf") for frame in report.get("frames", [])]
    return {"vmaf": frames, "version": report.get("version"), "device": run.get("device")}


def _wrong(backend: str, ended: Ended, limit_s: float, facts: dict[str, Any]) -> Problem | None:
    stops, what = ("gpu", "scoring on the GPU") if backend == "hip" else ("scoring", "scoring")
    if ended.status is None:
        remedies = HUNG if backend == "hip" else ("run the same with a larger --limit",)
        return Problem("trial_hangs", f"{what} did not end within {limit_s:g} s", remedies, stops)
    if ended.status or len(facts["vmaf"]) != PAIRS:
        remedies = (
            ("run ./quickstart selftest",) if backend == "hip" else ("run ./quickstart build in vmafx's sources",)
        )
        return Problem("trial_fails", f"{what} failed: {ended.last_line}", remedies, stops)
    return None
