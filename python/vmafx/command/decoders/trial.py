"""Asks ffmpeg and the machine about decoders of GPUs, and has the first pictures of an input decoded by one: whether
they are those of the CPU's decoder, and whether the filter reads them in the GPU's memory.
"""

import functools
import glob
import os
import re
import sys
import tempfile
from pathlib import Path

from .. import _json
from .._ffmpeg import Video, without_name
from .._run import Answer, ask
from .._said import split_line
from .._scoring import escaped
from .._terminal import Failure
from .decision import LAYOUTS, Gpu, Machine, Tried, words_of

PICTURES = 8
LIMIT_S = 30.0  # for a trial: a driver may hang
WAIT_S = 5  # for a place on a GPU that other processes use
HASH = re.compile(r"^0, .*, *([0-9a-f]{32})$", re.M)
DEVICES = "/dev"


@functools.cache
def methods(ffmpeg: str) -> tuple[str, ...]:
    """Returns the decoders of GPUs that ffmpeg was built with."""
    lines = ask([ffmpeg, "-hide_banner", "-hwaccels"]).text.splitlines()
    return tuple(line.strip() for line in lines[1:] if line.strip())


def machine() -> Machine:
    return Machine(
        bool(glob.glob(f"{DEVICES}/nvidia[0-9]*") or os.path.exists(f"{DEVICES}/dxg")),
        bool(glob.glob(f"{DEVICES}/dri/renderD*")),
    )


@functools.cache
def nvidia_gpus() -> tuple[Gpu, ...]:
    """Returns the GPUs that NVIDIA's driver shows; none if it does not answer."""
    try:
        answer = ask([sys.executable, str(Path(__file__).with_name("nvidia.py"))], LIMIT_S)
        found = _json.parse(answer.text) if not answer.status else []
        return tuple(
            Gpu(number, pci, count, frozenset((name, bits, chroma) for name, bits, chroma in formats))
            for number, pci, count, formats in found
        )
    except (Failure, ValueError, TypeError):
        return ()


def place_of(method: str, device: str) -> str | None:
    """Returns FFmpeg's name of a GPU that --device names; None if it is not known."""
    if device.isdecimal():
        return device if method == "cuda" else None
    address = device.lower() if device.count(":") > 1 else f"0000:{device.lower()}"
    if method == "cuda":
        return next((str(gpu.number) for gpu in nvidia_gpus() if gpu.pci == address), None)
    node = f"{DEVICES}/dri/by-path/pci-{address}-render"
    return os.path.realpath(node) if method == "vaapi" and os.path.exists(node) else None


def tried(ffmpeg: str, video: Video, method: str, place: str, device: str | None) -> Tried:
    """Decodes the first pictures twice, on the GPU and on the CPU. On the GPU the filter scores them, too, on that
    `device` or the one that it takes for them if the text is empty; None: nobody scores.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
            log = Path(folder) / "trial.json"
            answer = ask(
                _on_gpu(ffmpeg, video, method, place, None if device is None else _filter(device, log)), LIMIT_S
            )
            if answer.status or not HASH.search(answer.text):
                return Tried(_cause(answer, video), backend=not _is_of_filter(answer))
            imported = device is None or _imported(log)
        plain = ask(_on_cpu(ffmpeg, video), LIMIT_S)
    except Failure as failure:
        return Tried(str(failure))
    return Tried(same=HASH.findall(answer.text) == HASH.findall(plain.text), imported=imported)


def _filter(device: str, log: Path) -> str:
    options = f"model=:feature=psnr:backend=hip:device_wait={WAIT_S}:check=off:log_path={escaped(str(log))}"
    return f"vmafx={options}" + (f":device={escaped(device)}" if device else "")


def _on_gpu(ffmpeg: str, video: Video, method: str, place: str, filters: str | None) -> list[str]:
    name = f"{method}=gpu" + (f":{place}" if place else "")
    head = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "level+error", "-init_hw_device", name]
    down = f"hwdownload,format={LAYOUTS[video.pix_fmt]},format={video.pix_fmt}[down]"
    first, sinks = f"[0:V:0]trim=end_frame={PICTURES}", ["-map", "[down]", "-f", "framemd5", "-"]
    if filters is None:
        return [*head, *words_of(method), *video.input, "-filter_complex", f"{first},{down}", *sinks]
    graph = f"{first},split=3[a][b][c];[a][b]{filters}[scored];[c]{down}"
    sinks += ["-map", "[scored]", "-f", "null", "-"]
    return [*head, *words_of(method), *video.input, "-filter_complex", graph, *sinks]


def _on_cpu(ffmpeg: str, video: Video) -> list[str]:
    graph = f"[0:V:0]trim=end_frame={PICTURES},format={video.pix_fmt}[down]"
    head = [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "error"]
    return [*head, *video.input, "-filter_complex", graph, "-map", "[down]", "-f", "framemd5", "-"]


def _cause(answer: Answer, video: Video) -> str:
    """Returns the first error, which tells best why a decoder gave nothing."""
    errors = [text for _, level, text in map(split_line, answer.err.splitlines()) if level in ("error", "fatal")]
    return without_name((errors or [answer.last_line])[0], video.path)


def _is_of_filter(answer: Answer) -> bool:
    return any(
        "vmafx" in source and level in ("error", "fatal")
        for source, level, _ in map(split_line, answer.err.splitlines())
    )


def _imported(log: Path) -> bool:
    """Returns whether the filter has read all frames in the GPU's memory."""
    try:
        counts = _json.parse(log.read_text())["vmafx"]["frames"].values()
        return all(count["imported"] and not count["downloaded"] for count in counts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
