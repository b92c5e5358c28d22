"""Joins the maps and the heat maps of ranges to those of the whole stream.

A run of a range writes them to a folder of the range's name, in the one that the option `maps` or `heatmaps_path`
names. A file is a stream of pictures, whose size its name tells; pictures that were not scored are holes.

    with of_ranges([Folder(HEAT, path), …], ranges) as maps:  # nothing of the ranges stays behind
        …  # score the ranges
        maps.join(places)
"""

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .._identity import values_of
from ._map_files import RANGE, are_pictures, is_heat_map, is_map, named, outdated
from ._terminal import Failure, make_part, shown

COPIED_AT_ONCE = 1 << 20  # bytes


class Pictures(NamedTuple):
    """The files of an option."""

    option: str
    noun: str
    is_named: Callable[[str], bool]  # whether a file is called so

    def size_of(self, name: str) -> int:
        """Returns the bytes of a picture in the file of this name; 0: it is not one of these files."""
        found = named(name)
        return found.picture_bytes if found and self.is_named(name) else 0


HEAT = Pictures("heatmaps_path", "heat maps", is_heat_map)
MAPS = Pictures("maps", "maps", is_map)


class Folder(NamedTuple):
    """A folder that an option names; two options may name the same one."""

    pictures: Pictures
    path: Path

    def names(self, places: Sequence["Place"]) -> list[str]:
        """Returns the names of the files that the ranges have. Raises Failure."""
        found: set[str] = set()
        for place in places:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found |= set(os.listdir(_folder_of(self.path, place.given)))
        names = [name for name in found if self.pictures.size_of(name)]
        if not names and any(place.pictures for place in places):
            missing = next(_folder_of(self.path, place.given) for place in places if place.pictures)
            told = f"there are no {self.pictures.noun} in {shown(missing)}"
            raise Failure(f"{told}: name the folder that {self.pictures.option} has named")
        return sorted(names)

    def check(self, name: str, force: bool) -> None:
        """Checks that only pictures of this kind and size are replaced. Raises Failure, OSError."""
        path = self.path / name
        if force or not os.path.lexists(path):
            return
        if not are_pictures(path):
            told = f"exists and is not a file of {self.pictures.noun} of this size"
            raise Failure(f"{path} {told}. Name another folder, or add --force to replace it")


class Place(NamedTuple):
    """The place of a range in its stream."""

    given: str  # the option `range`
    first: int  # the number of its first pair
    pictures: int  # those in its files, up to the last scored one; 0: it has no files


def folders_of(texts: Iterable[str]) -> list[Path]:
    """Returns the folders that features and models name."""
    return [Path(name) for name in dict.fromkeys(values_of("heatmaps_path", texts))]


@contextlib.contextmanager
def of_ranges(folders: Sequence[Folder], ranges: Iterable[str], force: bool = False) -> Iterator["Joiner"]:
    """Yields what joins the files of these ranges; removes what they wrote, whatever happens. Raises Failure."""
    of_path = {folder.path: folder for folder in folders}
    were_there = {path for path in of_path if path.is_dir()}
    own: list[Path] = []
    try:
        for folder, given in itertools.product(of_path.values(), ranges):
            own.append(_claim(folder, given))
        yield Joiner(folders, force)
    finally:
        for path in own:
            shutil.rmtree(path, ignore_errors=True)
        for path in of_path.keys() - were_there:
            with contextlib.suppress(OSError):
                path.rmdir()  # if it is empty


def _claim(folder: Folder, given: str) -> Path:
    """Makes the folder of a range, which another run at the same time then cannot make. Raises Failure."""
    path = _folder_of(folder.path, given)
    try:
        os.makedirs(path)
    except FileExistsError:
        told = f"{shown(path)} is there from another run, whose {folder.pictures.noun} would be lost"
        raise Failure(f"{told}: move it to another place") from None
    except OSError as error:
        option = f"{folder.pictures.option}={shown(folder.path)}"
        raise Failure(f"{option}: the folder cannot be used: {error.strerror}") from error
    return path


class Joiner:
    """Joins the files of ranges in some folders."""

    def __init__(self, folders: Sequence[Folder], force: bool = False) -> None:
        self._folders, self._force = folders, force

    def join(self, encodes: Sequence[Sequence[Place]]) -> None:
        """Writes the files of all folders under other names, and then gives them theirs; what earlier runs have left of
        the same maps goes away. `encodes`: the places of each encode's ranges. Raises Failure.
        """
        parts: list[tuple[Path, Path]] = []
        old: list[Path] = []
        path = Path()
        try:
            for folder in self._folders:
                path = folder.path
                names = folder.names(encodes[0])
                before = outdated(path, names)
                for path in before:
                    folder.check(path.name, self._force)
                old += before
                for name in names:
                    path = folder.path / name
                    folder.check(name, self._force)
                    parts.append((make_part(path), path))
                    files = [(_folder_of(folder.path, place.given) / name, place) for place in _places(name, encodes)]
                    _write(parts[-1][0], files, folder.pictures.size_of(name))
            for part, path in parts:
                os.replace(part, path)
            for path in old:
                path.unlink()
        except OSError as error:
            raise Failure(f"cannot write {shown(path)}: {error.strerror}") from error
        finally:
            for part, _ in parts:
                part.unlink(missing_ok=True)


def _places(name: str, encodes: Sequence[Sequence[Place]]) -> Sequence[Place]:
    """Returns the places of the encode that a file is of, as its name tells."""
    found = named(name)
    number = (found and found.encode) or 0
    return encodes[number if number < len(encodes) else 0]


def _folder_of(folder: Path, given: str) -> Path:
    path = folder / f"{RANGE}{given}"
    if path.parent != folder:
        raise Failure(f"{shown(given)} is not the text of a range: name reports that the filter has written")
    return path


def _write(part: Path, files: Sequence[tuple[Path, Place]], size: int) -> None:
    """Writes the pictures of the ranges where they belong. Raises Failure, OSError."""
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
