"""Joins the heat maps of ranges to those of the whole stream.

A run of a range writes them to a folder of the range's name, in the one that the option `heatmaps_path` names. A file
is a stream of pictures of 16 bits, whose size its name tells; pictures that were not scored are holes.

    with of_ranges(folders, ranges) as maps:  # nothing of the ranges stays behind
        …  # score the ranges
        maps.join(places)
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .._identity import values_of
from ._outputs import HEATMAPS
from ._terminal import Failure, make_part, shown

SAMPLE_BYTES = 2
PICTURES = re.compile(r".+_(\d{1,6})x(\d{1,6})_16b\.gray")
COPIED_AT_ONCE = 1 << 20  # bytes


class Place(NamedTuple):
    """The place of a range in its stream."""

    given: str  # the option `range`
    first: int  # the number of its first pair
    pictures: int  # those in its files, up to the last scored one; 0: it has no files


def folders_of(texts: Iterable[str]) -> list[Path]:
    """Returns the folders that features and models name."""
    return [Path(name) for name in dict.fromkeys(values_of("heatmaps_path", texts))]


@contextlib.contextmanager
def of_ranges(folders: Sequence[Path], ranges: Iterable[str], force: bool = False) -> Iterator["Joiner"]:
    """Yields what joins the heat maps of these ranges; removes what they wrote, whatever happens. Raises Failure."""
    were_there = {folder for folder in folders if folder.is_dir()}
    own: list[Path] = []
    try:
        for path in [_folder_of(folder, given) for folder in folders for given in ranges]:
            _claim(path)
            own.append(path)
        yield Joiner(folders, force)
    finally:
        for path in own:
            shutil.rmtree(path, ignore_errors=True)
        for folder in folders:
            if folder not in were_there:
                with contextlib.suppress(OSError):
                    folder.rmdir()  # if it is empty


def _claim(path: Path) -> None:
    """Makes the folder of a range, which another run at the same time then cannot make. Raises Failure."""
    try:
        os.makedirs(path)
    except FileExistsError:
        text = f"{shown(path)} is there from another run, whose heat maps would be lost: move it to another place"
        raise Failure(text) from None
    except OSError as error:
        raise Failure(f"heatmaps_path={shown(path.parent)}: the folder cannot be used: {error.strerror}") from error


class Joiner:
    """Joins the heat maps of ranges in some folders."""

    def __init__(self, folders: Sequence[Path], force: bool = False) -> None:
        self._folders, self._force = folders, force

    def join(self, places: Sequence[Place]) -> None:
        """Writes the files of all folders under other names, and then gives them theirs. Raises Failure."""
        parts: list[tuple[Path, Path]] = []
        path = self._folders[0] if self._folders else Path()
        try:
            for folder in self._folders:
                for name in _names(folder, places):
                    path = folder / name
                    self._check(path)
                    parts.append((make_part(path), path))
                    _write(parts[-1][0], [(_folder_of(folder, place.given) / name, place) for place in places])
            for part, path in parts:
                os.replace(part, path)
        except OSError as error:
            raise Failure(f"cannot write the heat maps {shown(path)}: {error.strerror}") from error
        finally:
            for part, _ in parts:
                part.unlink(missing_ok=True)

    def _check(self, path: Path) -> None:
        """Checks that only heat maps of this size are replaced."""
        if self._force or not os.path.lexists(path):
            return
        if path.is_symlink() or not path.is_file() or path.stat().st_size % _picture_bytes(path.name):
            told = "exists and is not a file of heat maps of this size"
            raise Failure(f"{path} {told}. Name another folder, or add --force to replace it")


def _folder_of(folder: Path, given: str) -> Path:
    path = folder / f"range_{given}"
    if path.parent != folder:
        raise Failure(f"{shown(given)} is not the text of a range: name reports that the filter has written")
    return path


def _names(folder: Path, places: Sequence[Place]) -> list[str]:
    """Returns the names of the files that the ranges have. Raises Failure."""
    found: set[str] = set()
    for place in places:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found |= set(os.listdir(_folder_of(folder, place.given)))
    names = [name for name in found if HEATMAPS.files and HEATMAPS.files.fullmatch(name) and PICTURES.fullmatch(name)]
    if not names and any(place.pictures for place in places):
        missing = next(_folder_of(folder, place.given) for place in places if place.pictures)
        raise Failure(f"there are no heat maps in {shown(missing)}: name the folder that heatmaps_path has named")
    return sorted(names)


def _picture_bytes(name: str) -> int:
    found = PICTURES.fullmatch(name)
    assert found
    return max(1, int(found[1]) * int(found[2]) * SAMPLE_BYTES)


def _write(part: Path, files: Sequence[tuple[Path, Place]]) -> None:
    """Writes the pictures of the ranges where they belong. Raises Failure, OSError."""
    size = _picture_bytes(files[0][0].name)
    first = min(place.first for _, place in files)
    with open(part, "wb") as whole:
        for path, place in files:
            if not place.pictures:
                continue
            try:
                file = open(path, "rb")
            except FileNotFoundError:
                raise Failure(f"{shown(path)} is missing: score range={place.given} again") from None
            with file:
                if os.fstat(file.fileno()).st_size != size * place.pictures:
                    raise Failure(f"{shown(path)} has not the pictures of its range: score range={place.given} again")
                whole.seek(size * (place.first - first))
                _copy(file, whole)


def _copy(file: IO[bytes], whole: IO[bytes]) -> None:
    """Copies a file. Blocks of zeros become holes, as those that nobody wrote were."""
    zeros = bytes(COPIED_AT_ONCE)
    end = whole.tell()
    while block := file.read(COPIED_AT_ONCE):
        end += len(block)
        if block == zeros[: len(block)]:
            whole.seek(end)
        else:
            whole.write(block)
    whole.truncate(end)
