"""Checks the outputs of a command: it never writes an input nor one file twice, nor without --force a file of another
kind.

    guard = check_outputs(inputs, [Output("--report", path, PAGE)], force)  # before any work
    with whole_file(path, guard) as part:  # checks again before the file is replaced
        …
"""

import argparse
import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .. import _identity, _system
from .._identity import Identity
from ._map_files import are_pictures, is_heat_map, is_map
from ._terminal import Failure

BEGINNING, ENDING = 1 << 16, 1 << 18  # bytes at both ends of a file that tell its kind
STREAMS = {1: "standard output", 2: "standard error"}
# An output with such a name is most likely an input: the user forgot to name the output before it.
VIDEOS = frozenset(
    ".264 .265 .266 .3gp .asf .av1 .avc .avi .dv .f4v .flv .h264 .h265 .h266 .hevc .ivf .m2ts .m2v .m4v .mj2 .mkv "
    ".mov .mp4 .mpeg .mpg .mts .mxf .nut .obu .ogv .rm .ts .vob .vvc .webm .wmv .y4m .yuv".split()
)


def add_force(parser: argparse.ArgumentParser) -> None:
    help_force = "replace an output file even if it is of another kind; inputs are never replaced"
    parser.add_argument("--force", action="store_true", help=help_force)


# -- Kinds of files ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of output, and how a file of this kind is recognized."""

    name: str  # for errors: "this file exists and has no NAME in it"
    is_in: Callable[[str, str], bool]  # takes the first characters of a file, and the last ones after these
    files: Callable[[str], object] | None = None  # whether a file of the output, which is a folder, is called so
    is_video: bool = False  # whether names of videos are expected


REPORTS = (
    r'\{\s*"version"\s*:\s*"[^"]*"\s*,\s*"fps"\s*:\s*[-\d.n]',  # JSON, and NDJSON without frames
    r'\{.*"frameNum"\s*:\s*\d',  # NDJSON, and JSON with its keys in another order
    r"(?:Encode,Name,)?Frame,[^\n]*,\r?\n",  # CSV: the last column has a comma behind it, too
    r"(?:<\?xml[^>]*>\s*)?<VMAF\s",
    r"\{\d+\}\{\d+\}frame: \d",
)
POINTS_HEAD = "clip,series,label,file,bitrate,bytes,frames,"
DIFFERENCES_HEAD = "score,anchor,series,clip,clips,bd_rate,bd_score,"
RECORD_HEAD = '{"schema": 1, "id": '
RECORDS_TABLE = "CREATE TABLE results (id TEXT PRIMARY KEY, distorted TEXT, reference TEXT"


def _is_page(begin: str, _: str) -> bool:
    return bool(re.match(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", begin, re.I | re.S))


def _is_report(begin: str, _: str) -> bool:
    return any(re.match(pattern, begin, re.S) for pattern in REPORTS)


def _is_whole_report(begin: str, end: str) -> bool:
    """Refuses reports of ranges: they are inputs of `vmafx merge`, so one named as output was meant as a part."""
    return _is_report(begin, end) and not re.search(r'"range"\s*:\s*\{', begin + end)


def _are_points(begin: str, _: str) -> bool:
    return begin.startswith(POINTS_HEAD)


def _are_differences(begin: str, _: str) -> bool:
    return begin.startswith(DIFFERENCES_HEAD)


def _are_results(begin: str, _: str) -> bool:
    """Tells results by their beginning; their own reader checks the first line again."""
    if begin.startswith("SQLite format 3\0"):
        return RECORDS_TABLE in begin
    if begin.startswith(RECORD_HEAD) or RECORD_HEAD.startswith(begin):  # also matches a torn line
        return True
    return re.match(r'\{[^\n]*"schema"\s*:\s*1\b', begin) is not None and '"stamp"' in begin


PAGE = Kind("HTML page", _is_page)
REPORT = Kind("report of vmafx or libvmaf", _is_report)
WHOLE_REPORT = Kind("report of a whole stream", _is_whole_report)
POINTS = Kind("points of vmafx compare", _are_points)
DIFFERENCES = Kind("differences of vmafx compare", _are_differences)
RESULTS = Kind("results of vmafx library", _are_results)
KEPT_SCORES = Kind("report of vmafx", _is_report, re.compile(r".*-[0-9a-f]{20}\.ndjson").fullmatch)
HEATMAPS = Kind("heatmap", lambda begin, end: False, is_heat_map)
MAPS = Kind("map", lambda begin, end: False, is_map)
RANGES = Kind("range", lambda begin, end: False, lambda name: True)
ENCODE = Kind("encode", lambda begin, end: False, is_video=True)  # replaced with --force alone


# -- The check ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Output:
    option: str  # the option that names the output
    path: Path
    kind: Kind


class Guard:
    """Knows all files that a command reads and writes. Called with an output's path, it checks that output again."""

    def __init__(self, inputs: Iterable[str | Path | None], outputs: Iterable[Output | None], force: bool) -> None:
        """Takes inputs as paths or as names for FFmpeg."""
        self._outputs = [output for output in outputs if output]
        self._force = force
        self._inputs: dict[Identity, str] = {}  # the inputs' names by their identities
        for name in map(str, filter(None, inputs)):
            for file in _identity.files_of(name):
                for identity in _identities(file):
                    self._inputs.setdefault(identity, name)

    def check_all(self) -> None:
        for stream, name in STREAMS.items():
            for identity in _identities_of_stream(stream) & self._inputs.keys():
                told = f"{name} goes into the input {self._inputs[identity]}, which is never overwritten"
                raise Failure(f"{told}: choose another file", 2)
        for output in self._outputs:
            self._check(output)

    def __call__(self, path: Path) -> None:
        """Checks the output with this path again. Raises Failure."""
        for output in self._outputs:
            if output.path == path:
                self._check(output)

    def _check(self, output: Output) -> None:
        descriptor, found = _identity.descriptor_of(output.path), _state(output.path)
        self._check_identity(output, descriptor)
        if output.kind.files:
            self._check_files(output)
            return
        if descriptor is not None:
            _check_descriptor(output.path, descriptor)
        else:
            _check_access(output.path, found)
        if not self._force and not (descriptor is not None and _keeps_what_is_there(descriptor)):
            _check_kind(output, found, descriptor is None)

    def _check_identity(self, output: Output, descriptor: int | None) -> None:
        """Refuses an output that is an input or another output: --force does not allow this."""
        named = f"{output.option} {output.path}"
        own = _identity.identities(output.path)
        for identity in own & self._inputs.keys():
            name = self._inputs[identity]
            told = "an input" if name == str(output.path) else f"the same file as the input {name}"
            raise Failure(f"{named} is {told}, which is never overwritten: name another file", 2)
        for other in self._outputs:
            if other.option == output.option and other.path in (output.path, output.path.parent):
                continue
            if not own.isdisjoint(_identity.identities(other.path)) or _is_file_of(other, output.path):
                raise Failure(f"{named} and {other.option} {other.path} would overwrite each other: name two files", 2)
        for stream, name in STREAMS.items():
            if descriptor is None and not own.isdisjoint(_identities_of_stream(stream)):
                raise Failure(f"{named} is also {name}, and both would overwrite each other: name two files", 2)

    def _check_files(self, output: Output) -> None:
        """Checks the files of a folder that would be overwritten. Kept scores are not overwritten; check_kept() looks
        at new ones.
        """
        if output.kind not in (HEATMAPS, MAPS) or not output.path.is_dir():
            return
        for path in output.path.iterdir():
            if output.kind.files and output.kind.files(path.name):
                self._check_identity(Output(output.option, path, output.kind), None)
                if path.is_symlink() and not self._force:
                    told = f"{output.option}: {path} is a link to another file, which would be overwritten"
                    raise Failure(f"{told}. Remove it, or add --force", 2)
                if output.kind is MAPS and not self._force and not are_pictures(path):
                    told = f"{output.option}: {path} exists and is not a file of whole maps of this size"
                    raise Failure(f"{told}. Name another folder, or add --force to replace it")


def check_outputs(inputs: Iterable[str | Path | None], outputs: Iterable[Output | None], force: bool) -> Guard:
    """Checks all outputs of a command before it does any work; `inputs` are all files that it reads.

    Returns the guard that checks an output again. Raises Failure, with status 2 if another name is needed.
    """
    guard = Guard(inputs, outputs, force)
    guard.check_all()
    return guard


def check_kept(path: Path) -> None:
    """Checks the path of a report in a folder of kept scores. Raises Failure."""
    found = _state(path)
    if path.is_symlink() or (found and not _may_be_replaced(path, found, KEPT_SCORES)):
        raise Failure(
            f"{path} exists and has no {KEPT_SCORES.name} in it: remove it, or name another folder with --scores"
        )


def check_folder(path: Path) -> None:
    """Checks that files can be made in a folder. Raises Failure."""
    if not os.access(path, os.W_OK | os.X_OK):
        raise Failure(f"cannot write into {path}: permission denied")


def make_way(path: Path, kind: Kind, guard: Guard) -> None:
    """Empties a file of another kind that something is to be added to, as --force allows. Raises Failure."""
    guard(path)
    found = _state(path)
    if found and not _may_be_replaced(path, found, kind):
        try:
            os.truncate(path, 0)
        except OSError as error:
            raise Failure(f"cannot write {path}: {error.strerror}") from error


def heatmaps(texts: Iterable[str]) -> list[Output]:
    """Returns the folders into which --feature and --model tell metrics to write."""
    return [Output("heatmaps_path", Path(value), HEATMAPS) for value in _identity.values_of("heatmaps_path", texts)]


# -- Its parts ---------------------------------------------------------------------------------------------------------


def _state(path: Path) -> os.stat_result | None:
    try:
        return _identity.state(path)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from error
    except ValueError as error:
        raise Failure(f"cannot write {str(path)!r}: {error}", 2) from error


def _identities(file: str) -> set[Identity]:
    """Returns the identities of an input's file; none if the name cannot be a file's: reading it fails."""
    try:
        return _identity.identities(file)
    except (OSError, ValueError):
        return set()


def _identities_of_stream(stream: int) -> set[Identity]:
    """Returns the identity of the file that a stream goes into; none for a terminal or a pipe."""
    try:
        found = os.fstat(stream)
    except OSError:
        return set()
    return {(found.st_dev, found.st_ino)} if stat.S_ISREG(found.st_mode) else set()


def _is_file_of(folder: Output, path: Path) -> bool:
    """Returns whether `path` may become one of the files in an output that is a folder."""
    if not folder.kind.files or not folder.kind.files(path.name):
        return False
    return not _identity.identities(path.parent).isdisjoint(_identity.identities(folder.path))


def _check_descriptor(path: Path, descriptor: int) -> None:
    try:
        flags = _system.access_of(descriptor)
    except (OSError, OverflowError):
        raise Failure(f"cannot write {path}: the descriptor {descriptor} is not open") from None
    if flags & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) == os.O_RDONLY:
        raise Failure(f"cannot write {path}: the descriptor {descriptor} is open for reading only")


def _keeps_what_is_there(descriptor: int) -> bool:
    """Returns whether writing goes behind the present content of an open file: a shell opened it with >>, or it was
    written to its end.
    """
    try:
        at_end = os.lseek(descriptor, 0, os.SEEK_CUR) == os.fstat(descriptor).st_size
    except OSError:  # a pipe
        return True
    return at_end or bool(_system.access_of(descriptor) & os.O_APPEND)


def _check_access(path: Path, found: os.stat_result | None) -> None:
    if found and stat.S_ISDIR(found.st_mode):
        raise Failure(f"cannot write {path}: it is a folder")
    folder = path.parent if not path.is_symlink() else Path(os.path.realpath(path)).parent
    is_made_there = not found or stat.S_ISREG(found.st_mode)  # first written there under another name
    if (is_made_there and not os.access(folder, os.W_OK | os.X_OK)) or (found and not os.access(path, os.W_OK)):
        reason = "permission denied" if folder.is_dir() else f"the folder {folder} does not exist"
        raise Failure(f"cannot write {path}: {reason}")


def _check_kind(output: Output, found: os.stat_result | None, is_named: bool) -> None:
    named = f"{output.option} {output.path}"
    if found and not _may_be_replaced(output.path, found, output.kind):
        told = "this file exists" + ("" if output.kind.is_video else f" and has no {output.kind.name} in it")
        raise Failure(f"{named}: {told}. Name another file, or add --force to replace it")
    is_file = not found or stat.S_ISREG(found.st_mode)
    if is_file and is_named and not output.kind.is_video and output.path.suffix.lower() in VIDEOS:
        told = f"Name the output after {output.option}, or add --force to write there"
        raise Failure(f"{named}: the name ends like that of a video. {told}", 2)


def _may_be_replaced(path: Path, found: os.stat_result, kind: Kind) -> bool:
    """Returns whether a file may be replaced. Devices and pipes are written as they are; disks are devices that hold
    files.
    """
    if not stat.S_ISREG(found.st_mode):
        return stat.S_ISCHR(found.st_mode) or stat.S_ISFIFO(found.st_mode)
    if not found.st_size:
        return True
    try:
        with open(path, "rb") as file:
            begin = file.read(BEGINNING)
            file.seek(max(len(begin), found.st_size - ENDING))
            end = file.read(ENDING)
    except OSError:
        return False
    return kind.is_in(begin.decode("utf-8-sig", "replace"), end.decode(errors="replace"))
