"""The files of pictures into which the filter writes maps and heat maps: their names, and how a folder of maps gets new
ones.

A file is a stream of pictures, one for each frame. Its name tells the map, the encode if there are several, and the
size: `vmaf_60x34_f32.gray`, `vmaf_encode1_60x34_f32.gray`, `cambi_heatmap_scale_0_1920x1080_16b.gray`.

    with renewed(folder, guard) as new:  # nothing of it stays behind after a failure; after SIGKILL, until the next run
        …  # write maps into `new`
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .._system import flags, take_lock
from ._terminal import Failure, shown

NAME = re.compile(r"(.+?)(?:_encode(\d+))?_(\d{1,6})x(\d{1,6})_(f32|16b)\.gray")
SAMPLE_BYTES = {"f32": 4, "16b": 2}
RANGE = "range_"  # the folder of a range begins so
OWN, BEGUN, PART = ".maps-", ".begun", ".part"  # how the folder of a run begins; how it ends unlocked, and locked
TRIES = 5  # folders that a run makes until it has a locked one


@dataclass(frozen=True)
class GrayFile:
    """A file as its name tells it."""

    name: str  # of the map
    encode: int | None  # None: there is one encode
    width: int
    height: int
    format: str

    @property
    def picture_bytes(self) -> int:
        return self.width * self.height * SAMPLE_BYTES[self.format]


def named(file: str) -> GrayFile | None:
    """Returns what the name of a file tells; None if no map and no heat map is called so."""
    found = NAME.fullmatch(file)
    if not found or not int(found[3]) or not int(found[4]):
        return None
    return GrayFile(found[1], int(found[2]) if found[2] else None, int(found[3]), int(found[4]), found[5])


def is_map(file: str) -> bool:
    """Returns whether a map is called so."""
    found = named(file)
    return found is not None and found.format == "f32"


def is_heat_map(file: str) -> bool:
    """Returns whether a heat map is called so."""
    found = named(file)
    return found is not None and found.format == "16b" and "_heatmap_" in file


def are_pictures(path: Path) -> bool:
    """Returns whether a file has whole pictures of the size in its name. A link has none, neither a symbolic nor a hard
    one. Samples alone do not tell what they are. Raises OSError.
    """
    found, state = named(path.name), os.lstat(path)
    if not found or not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        return False
    return state.st_size % found.picture_bytes == 0


def outdated(folder: Path, names: Iterable[str]) -> list[Path]:
    """Returns the files in a folder that have the same maps as those with these names, of another run: in another size,
    or of other numbers of encodes. Raises OSError.
    """
    new = set(names)
    maps = {found.name for name in new if (found := named(name))}
    old = sorted(set(os.listdir(folder)) - new)
    return [folder / name for name in old if is_map(name) and (found := named(name)) and found.name in maps]


@contextlib.contextmanager
def renewed(folder: Path, check: Callable[[Path], object]) -> Iterator[Path]:
    """Yields a new folder for the maps of a run. At the end, its files take the place of those in `folder`, and what
    earlier runs have left of the same maps goes away; until then, and after a failure, `folder` stays as it is.

    `check(folder)` raises Failure if what has the name of a map there may not be replaced: _outputs.check_outputs()
    returns it. Raises Failure.
    """
    check(folder)
    made: list[Path] = [path for path in (folder, *folder.parents) if not path.exists()]
    held = contextlib.ExitStack()
    try:
        os.makedirs(folder, exist_ok=True)
        new = _own_folder(folder, held)
    except OSError as error:
        held.close()
        raise Failure(f"--maps {shown(folder)}: the folder cannot be used: {error.strerror}") from error
    try:
        yield new
        try:
            for own in [new, *(path for path in sorted(new.iterdir()) if path.is_dir())]:
                to = folder / own.relative_to(new)
                check(to)
                _replace(own, to)
        except OSError as error:
            raise Failure(f"--maps {shown(folder)}: cannot write there: {error.strerror}") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
        held.close()
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()  # if it is empty


def _own_folder(folder: Path, held: contextlib.ExitStack) -> Path:
    """Makes the folder of a run, which is locked as long as the run lives, and removes those of runs that were killed.

    It gets its name when it is locked, so that no other run can take it for a left one. Raises OSError.
    """
    new, is_locked = _begun_folder(folder, held)
    if is_locked:  # where there are no locks, nothing tells who is alive
        for left in (*folder.glob(f"{OWN}*{PART}"), *folder.glob(f"{OWN}*{BEGUN}")):
            if left != new and not left.is_symlink():
                with _lock_of(left) as is_dead:
                    if is_dead:
                        shutil.rmtree(left, ignore_errors=True)
    return new


def _begun_folder(folder: Path, held: contextlib.ExitStack) -> tuple[Path, bool]:
    """Makes the folder of a run. Returns it, and whether it is locked. Raises OSError.

    Another run may take a folder that has no lock yet for a left one: it locks it, and removes it. Then a new one is
    made, as after any lock that fails; the last one is used without a lock.
    """
    for last in (False,) * (TRIES - 1) + (True,):
        begun = Path(tempfile.mkdtemp(prefix=OWN, suffix=BEGUN, dir=folder))
        with contextlib.ExitStack() as own:
            if (is_locked := own.enter_context(_lock_of(begun))) or last:
                with contextlib.nullcontext() if last else contextlib.suppress(FileNotFoundError):
                    new = begun.rename(begun.with_suffix(PART))
                    held.push(own.pop_all())
                    return new, is_locked
            with contextlib.suppress(FileNotFoundError):
                begun.rmdir()
    raise AssertionError("the last folder is used")


@contextlib.contextmanager
def _lock_of(folder: Path) -> Iterator[bool]:
    """Holds the lock of a folder. False: another process has it, or the system has no such locks."""
    try:
        file = os.open(folder, os.O_RDONLY | flags("O_DIRECTORY", "O_NOFOLLOW"))
    except OSError:
        yield False
        return
    try:
        yield take_lock(file)
    finally:
        os.close(file)


def _replace(new: Path, folder: Path) -> None:
    """Moves the files of a folder into another one. Raises OSError."""
    folder.mkdir(exist_ok=True)
    names = sorted(path.name for path in new.iterdir() if path.is_file())
    for name in names:
        os.replace(new / name, folder / name)
    for path in outdated(folder, names):
        path.unlink()
