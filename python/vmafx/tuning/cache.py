"""Keeps results of probes by their content, in files that several processes may use at once."""

import contextlib
import hashlib
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _header
from .._identity import files_of_models
from .._library import library, text_of
from .encoders import Settings
from .probe import Part, Scorer
from .samples import Sample

FORMAT = 2  # of the files; another number makes them new


def folder() -> Path:
    """Returns the folder for results: XDG_CACHE_HOME/vmafx/probes."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else Path.home() / ".cache") / "vmafx/probes"


class Cache:
    """The results that are kept in a folder, of one ffmpeg. Whatever fails here only costs time."""

    def __init__(self, ffmpeg: str, place: Path | None = None) -> None:
        self._place = place or folder()
        said = subprocess.run([ffmpeg, "-version"], stdin=subprocess.DEVNULL, capture_output=True).stdout
        real = os.path.realpath(ffmpeg)
        facts = os.stat(real) if os.path.exists(real) else None
        version = text_of(library().vmafx_version()), _header.version
        self._programs = [said.decode(errors="replace"), facts and [facts.st_size, facts.st_mtime_ns], version]
        self._libraries = _codec_libraries(real)
        self.problem: str | None = None  # why a result could not be kept

    def _path(self, sample: Sample, settings: Settings, scorer: Scorer, quantizer: float) -> Path:
        pictures = sample.pictures
        scored = [scorer.passes, scorer.every, _models_read(scorer)]
        encoded = [settings.arguments(quantizer), settings.film_grain]
        frames = sample.place.lead, sample.frames, sample.tail
        facts = [FORMAT, self._programs, self._libraries, sample.digest, frames, str(pictures), scored, encoded]
        digest = hashlib.blake2b(json.dumps(facts, default=str).encode(), digest_size=20).hexdigest()
        return self._place / digest[:2] / f"{digest[2:]}.json"

    def get(self, sample: Sample, settings: Settings, scorer: Scorer, quantizer: float) -> Part | None:
        """Returns a result that was kept; None if there is none that is whole."""
        try:
            content = json.loads(self._path(sample, settings, scorer, quantizer).read_bytes())
            scores = {key: [math.nan if s is None else float(s) for s in content["scores"][key]] for key in scorer.keys}
            if any(len(column) != len(scorer.chosen(sample)) for column in scores.values()):
                return None
            return Part(scores, int(content["bytes"]), sample.frames, float(content["seconds"]), True, True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, sample: Sample, settings: Settings, scorer: Scorer, quantizer: float, part: Part) -> None:
        """Keeps a whole result. The file gets its name when it is whole."""
        path = self._path(sample, settings, scorer, quantizer)
        scores = {key: [s if math.isfinite(s) else None for s in column] for key, column in part.scores.items()}
        content = {"scores": scores, "bytes": part.bytes, "seconds": part.seconds}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, json.dumps(content))
        except OSError as error:
            self.problem = f"cannot keep results in {self._place}: {error.strerror}"


def _models_read(scorer: Scorer) -> list[str]:
    """Returns digests of the model files that the scores depend on."""
    paths = [path for each in scorer.passes if each.model for path in files_of_models([each.model])]
    return [
        hashlib.blake2b(Path(path).read_bytes(), digest_size=20).hexdigest() for path in paths if os.path.isfile(path)
    ]


def _write_whole(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _codec_libraries(ffmpeg: str) -> Sequence[Any]:
    """Returns facts about the shared libraries of encoders that an ffmpeg loads: a new x264 gives other encodes."""
    try:
        said = subprocess.run(["ldd", ffmpeg], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    except OSError:
        return []
    paths = sorted({line.split(" => ")[1].split(" (")[0] for line in said.splitlines() if " => /" in line})
    names = "avcodec", "x264", "x265", "SvtAv1", "aom", "vpx", "vvenc"
    found = [path for path in paths if any(name in path for name in names)]
    return [[os.path.realpath(path), os.stat(path).st_size, os.stat(path).st_mtime_ns] for path in found]
