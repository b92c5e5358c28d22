"""The programs and packages that the command runs: which ones, which versions, and what they can decode and encode."""

import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import _header
from .._ffmpeg import ffprobe_of, has_filter, places, version_in
from .._terminal import Failure
from .limited import run_limited
from .problems import Problem

# Codecs, and the names of their decoders and encoders in FFmpeg, the usual ones first.
DECODERS = {
    "H.264": ("h264",),
    "HEVC": ("hevc",),
    "AV1": ("libdav1d", "libaom-av1", "av1"),
    "VP9": ("vp9", "libvpx-vp9"),
    "VVC": ("vvc", "libvvdec"),
    "MPEG-2": ("mpeg2video",),
    "ProRes": ("prores",),
}
ENCODERS = {
    "H.264": ("libx264",),
    "HEVC": ("libx265",),
    "AV1": ("libsvtav1", "libaom-av1", "librav1e"),
    "VP9": ("libvpx-vp9",),
    "VVC": ("libvvenc",),
}
OF_GPUS = "nvenc", "vaapi", "qsv", "amf", "vulkan"  # encoders of GPUs: h264_nvenc, …
NOT_OF_GPUS = {"vdpau", "drm"}  # ways to decode that no other part of vmafx reads

# Packages of Python: the module, Debian's package, the name on PyPI, what needs it, and whether all scoring does.
PACKAGES = (
    ("fastjsonschema", "python3-fastjsonschema", "fastjsonschema", "reading reports", True),
    ("jinja2", "python3-jinja2", "Jinja2", "pages", False),
    ("cffi", "python3-cffi", "cffi", "merge, --jobs, the module vmafx", False),
    ("numpy", "python3-numpy", "numpy", "--sync, the module vmafx", False),
    ("av", "python3-av", "av", "crf, encode, vmafx.score() in Python", False),
    ("rich", "python3-rich", "rich", "progress bars and drawn tables", False),
    ("argcomplete", "python3-argcomplete", "argcomplete", "completion", False),
    ("bjontegaard", None, "bjontegaard", "BD-rates", False),
    (
        "distributed",
        "python3-distributed",
        "distributed",
        "Dask, for vmafx library on several processes or machines",
        False,
    ),
)


@dataclass
class Programs:
    ffmpeg: str | None = None
    why: str = ""
    tried: list[tuple[str, str]] = field(default_factory=list)  # other programs, and what is wrong with them
    versions: dict[str, str] = field(default_factory=dict)
    ffprobe: str | None = None
    decoders: list[str] = field(default_factory=list)
    encoders: list[str] = field(default_factory=list)
    accelerations: list[str] = field(default_factory=list)  # for decoding on a GPU
    packages: dict[str, str | None] = field(default_factory=dict)  # versions; None: not installed
    problems: list[Problem] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        found = None if self.ffmpeg is None else {"path": self.ffmpeg, "why": self.why, "ffprobe": self.ffprobe}
        return {
            "versions": self.versions,
            "ffmpeg": found,
            "tried": [{"path": path, "wrong": wrong} for path, wrong in self.tried],
            "decoders": self.decoders,
            "encoders": self.encoders,
            "accelerations": self.accelerations,
            "packages": self.packages,
        }


def look(chosen: str | None, limit_s: float) -> Programs:
    """Looks for ffmpeg as the other subcommands do, and asks it what it can do."""
    seen = Programs(versions={"vmafx": _header.version, "Python": platform.python_version()})
    _look_at_packages(seen)
    for path, why in places(chosen):
        try:
            if has_filter(path):
                seen.ffmpeg, seen.why = path, why
                break
            wrong = "it has no filter vmafx" if os.access(path, os.X_OK) else "there is no such program"
        except Failure as failure:
            wrong = str(failure)
        seen.tried.append((path, wrong))
    if seen.ffmpeg is None:
        seen.problems.append(_without_ffmpeg(seen, chosen))
        return seen
    _ask_ffmpeg(seen, seen.ffmpeg, limit_s)
    return seen


def _without_ffmpeg(seen: Programs, chosen: str | None) -> Problem:
    build = "run ./quickstart build in vmafx's sources"
    if chosen or os.environ.get("VMAFX_FFMPEG"):
        path, wrong = seen.tried[0]
        text = f"{path}, the only ffmpeg that may be used, cannot score: {wrong}"
        return Problem("no_ffmpeg", text, (f"{build}, and name build/bin/ffmpeg", "name no ffmpeg"), "scoring")
    tried = "; ".join(f"{path}: {wrong}" for path, wrong in seen.tried)
    text = "there is no ffmpeg with the filter vmafx" + (f" ({tried})" if tried else "")
    return Problem("no_ffmpeg", text, (build, "name one with --ffmpeg or VMAFX_FFMPEG"), "scoring")


def _ask_ffmpeg(seen: Programs, ffmpeg: str, limit_s: float) -> None:
    def said(program: str, word: str) -> str:
        return run_limited([program, "-hide_banner", word] if word != "-version" else [program, word], limit_s).out

    seen.versions["FFmpeg"] = version_in(said(ffmpeg, "-version"))
    try:
        seen.ffprobe = ffprobe_of(ffmpeg)
        seen.versions["ffprobe"] = version_in(said(seen.ffprobe, "-version"))
    except Failure as failure:
        seen.problems.append(Problem("no_ffprobe", str(failure), ("run apt-get install ffmpeg",), "scoring"))
    decoders, encoders = (_names(said(ffmpeg, word)) for word in ("-decoders", "-encoders"))
    seen.decoders = [name for names in DECODERS.values() for name in names if name in decoders]
    seen.encoders = [name for names in ENCODERS.values() for name in names if name in encoders]
    seen.encoders += sorted(name for name in encoders if name.rpartition("_")[2] in OF_GPUS)
    ways = said(ffmpeg, "-hwaccels").partition(":")[2].split()
    seen.accelerations = [way for way in ways if way not in NOT_OF_GPUS]


def _look_at_packages(seen: Programs) -> None:
    for module, debian, pypi, use, is_needed in PACKAGES:
        seen.packages[module] = _installed(module, pypi)
        if is_needed and seen.packages[module] is None:
            how = f"run apt-get install {debian}, or pip install {pypi}"
            text = f"the Python package {module} is not installed, which {use} needs"
            seen.problems.append(Problem("no_package", text, (how,), "scoring"))


def _installed(module: str, pypi: str) -> str | None:
    if module in sys.modules and sys.modules[module] is None:
        return None
    try:
        return importlib.metadata.version(pypi)
    except importlib.metadata.PackageNotFoundError:
        return None


def _names(text: str) -> set[str]:
    """Returns the names in ffmpeg's list of decoders or encoders."""
    return set(re.findall(r"^ V\S+ (\S+) ", text, re.M))


# -- As lines of the screen --------------------------------------------------------------------------------------------


def lines(seen: Programs) -> Iterator[tuple[str, str]]:
    """Yields (heading, text)."""
    yield "versions", ", ".join(f"{name} {version}" for name, version in seen.versions.items())
    for path, wrong in seen.tried:
        yield "not used", f"{path}: {wrong}"
    if seen.ffmpeg:
        yield "ffmpeg", f"{seen.ffmpeg}, because {seen.why}"
        yield "ffprobe", seen.ffprobe or "not found"
        yield "decoders", _listed(DECODERS, seen.decoders)
        yield "encoders", _listed(ENCODERS, seen.encoders)
        yield "GPU coding", _of_gpus(seen)
    yield "Python", ", ".join(f"{name} {version}" for name, version in seen.packages.items() if version)
    in_environment = sys.prefix != sys.base_prefix  # of which Debian's packages are no part
    for module, debian, pypi, use, _ in PACKAGES:
        if seen.packages[module] is None:
            yield "not there", f"{module} ({use}): " + (
                f"apt-get install {debian}" if debian and not in_environment else f"pip install {pypi}"
            )


def _listed(codecs: Mapping[str, Sequence[str]], there: Sequence[str]) -> str:
    names = {codec: next((name for name in names if name in there), None) for codec, names in codecs.items()}
    lacking = ", ".join(codec for codec, name in names.items() if name is None)
    return "; ".join(filter(None, [", ".join(filter(None, names.values())), lacking and f"none for {lacking}"]))


def _of_gpus(seen: Programs) -> str:
    encoders = ", ".join(name for name in seen.encoders if name.rpartition("_")[2] in OF_GPUS)
    return f"decoding by {', '.join(seen.accelerations) or 'none'}; encoders {encoders or 'none'}"
