"""Gets the scores of points: from the reports that the table names, from those that were kept, else by scoring.

Reports are kept in a folder, one for each encode. Their names have a digest of all that the scores depend on: the files
as they are, how they are made alike, the options, and the version of the filter. So a report with the right name has
the right scores.
"""

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _scoring, _whole
from .._regions import masks_of
from .._result import asked_keys
from .._scores import Encode, read_scores
from .._outputs import check_folder, check_kept
from .._terminal import Failure, note, progress, whole_file
from ..decoders.chosen import with_decoders
from .points import Point, read_report

PLAIN = re.compile(r"[^\w.+-]+")  # characters that names of files should not have


def take_scores(
    points: Sequence[Point], settings: _scoring.Settings | None, folder: Path | None, pool: str
) -> list[str]:
    """Gives the points their scores, and returns how inputs were made alike. Without settings all scores are in
    reports.
    """
    for point in points:
        if point.row.scores:
            point.take_scores(read_report(point.row), pool)
    notes: list[str] = []
    missing = [point for point in points if not point.row.scores]
    if missing:
        assert settings
        with _folder(folder) as kept:
            shelf = Shelf(kept, settings, _filter_version(settings) if folder else "")
            for work, own in list(_works(settings, missing)):  # looks at all files before the first is scored
                notes += work.notes
                _score(work, own, shelf, pool)
    return notes


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen:
        try:
            chosen.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot make the folder {chosen}: {error.strerror}") from error
        check_folder(chosen)
        yield chosen
    else:
        with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
            yield Path(folder)


def _works(settings: _scoring.Settings, points: Sequence[Point]) -> Iterator[tuple[_scoring.Work, list[Point]]]:
    """Yields the work on each reference with its points.

    All encodes of a reference are made alike together, whether they are scored now or were before: scores must not
    depend on that.
    """
    references = list(dict.fromkeys(point.row.reference for point in points))
    for reference in references:
        own = [point for point in points if point.row.reference == reference]
        work = _scoring.prepare(settings, [str(point.row.file) for point in own], str(reference), in_parts=True)
        for line in work.notes:
            note(line)
        yield work, own


def _score(work: _scoring.Work, points: Sequence[Point], shelf: "Shelf", pool: str) -> None:
    paths = [shelf.place(work, number) for number in range(len(points))]
    missing = [number for number, path in enumerate(paths) if not path.exists() and path not in paths[:number]]
    if known := sum(path.exists() for path in paths):
        note(f"{known} of {len(paths)} encodes of {work.ref.path} were scored before")
    for begin in range(0, len(missing), _scoring.MOST_ENCODES):
        batch = missing[begin : begin + _scoring.MOST_ENCODES]
        note(f"scoring {begin + 1} to {begin + len(batch)} of {len(missing)} encodes of {work.ref.path}")
        own = with_decoders(work.of(batch))
        for line in own.notes[len(work.notes) :]:
            note(line)
        shelf.fill(own, [paths[number] for number in batch])
    for point, path in zip(points, paths):
        point.take_scores(read_scores(path)[0], pool)


@dataclass(frozen=True)
class Shelf:
    """A folder of kept reports, each of one encode."""

    folder: Path
    settings: _scoring.Settings
    version: str  # of the filter

    def place(self, work: _scoring.Work, number: int) -> Path:
        """Returns the path of the report, whether it exists or not."""
        models = [text for group in work.groups for text in group.models]
        files = [
            Path(re.sub(r"\\(.)", r"\1", found[1]))
            for text in models
            if (found := re.match(r"path=((?:\\.|[^:])+)", text))
        ]
        depends = {
            "files": [_state(Path(video.path)) for video in (work.dists[number], work.ref)],
            "filters": [work.preparation.dist[number], work.preparation.ref],
            "models": [models, *map(_state, files)],
            "sizes": [work.size_of(group) for group in work.groups],
            "features": work.settings.features,
            "version": self.version,
        }
        if self.settings.scale_on == "gpu":
            depends["scaled on"] = "gpu"
        if self.settings.convert:
            depends["converted to"] = self.settings.convert
        if self.settings.roi:
            depends["regions"] = [self.settings.roi, [_state(Path(path)) for path in masks_of([self.settings.roi])]]
        digest = hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:20]
        return self.folder / f"{PLAIN.sub('_', Path(work.dists[number].path).stem)}-{digest}.ndjson"

    def fill(self, work: _scoring.Work, paths: Sequence[Path]) -> None:
        with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
            log = Path(folder) / "scores.ndjson"
            with progress() as shown:
                said = _scoring.score(work, log, show=shown.show)
            encodes = read_scores(log)
            for encode, name in zip(encodes, work.names):
                encode.name = name
            _whole.check_whole(work, said, encodes, asked_keys(encodes[0], work))
            heard = _whole.heard_by_encode(work, said)
            warnings = [
                list(dict.fromkeys([*own.warnings, *encode.warnings[-1:]])) if encode.partial else own.warnings
                for own, encode in zip(heard, encodes)
            ]
            with log.open(encoding="utf-8") as lines:
                _split(lines, paths, warnings, [own.doubts for own in heard])


def _state(path: Path) -> list[Any]:
    """Returns the state of a file, which differs when the file has changed."""
    try:
        status = path.stat()
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    return [os.fspath(path.resolve()), status.st_size, status.st_mtime_ns]


def _split(
    lines: Iterable[str],
    paths: Sequence[Path],
    warnings: Sequence[Sequence[str]],
    doubts: Sequence[Sequence[dict[str, Any]]],
) -> None:
    """Splits one report of several encodes into one for each, with its warnings, and with more doubts.

    Lines of a single encode have no number.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(path, check_kept)) for path in paths]
        parts = [stack.enter_context(file.open("w", encoding="utf-8")) for file in files]
        for line in lines:
            if found := re.match(r'\{"encode": (\d+), ', line):
                parts[int(found[1])].write(line)
            elif line.startswith('{"frameNum": '):
                parts[0].write(line)
            else:
                for number, part in enumerate(parts):
                    summary = json.loads(line) | {"warnings": list(warnings[number])}
                    told = {"warnings": summary["warnings"]}  # the filter's are among them
                    own = [
                        encode | told | {"doubts": [*encode.get("doubts", []), *doubts[number]]}
                        for encode in summary.get("encodes", [])
                        if encode["encode"] == number
                    ]
                    alone = {"encodes": own} if own else {"doubts": [*summary.get("doubts", []), *doubts[number]]}
                    part.write(json.dumps(summary | alone) + "\n")


def _filter_version(settings: _scoring.Settings) -> str:
    """Returns the version that reports have: the library's, with the commit that it was made from."""
    source = ["-f", "lavfi", "-i", "color=s=64x64:r=25:d=0.04"]
    command = [
        settings.ffmpeg,
        "-v",
        "error",
        "-nostdin",
        *source,
        *source,
        "-lavfi",
        "vmafx=model=:feature=psnr:log_fmt=json:log_path=-",
        "-f",
        "null",
        "-",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    try:
        return str(json.loads(done.stdout)["version"])
    except (ValueError, KeyError) as error:
        raise Failure(
            f"{settings.ffmpeg} does not tell the version of its filter vmafx: {done.stderr.strip()}"
        ) from error
