"""Reads the maps that the filter writes with its option `maps`, and makes pictures of them.

A picture has a sample for each block. Its colors are ffmpeg's palette cividis, which people without color vision see as
others do: the dark end stands for 0 and less, the light end for a highest value and more.
"""

import subprocess
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ._map_files import is_map, named
from ._terminal import Failure, shown

FLOAT = 4  # bytes
LATE_S = 60.0
STEPS = 255  # of the palette
LONGEST_BLOCK = 512  # samples


@dataclass(frozen=True)
class MapFile:
    """The maps of an encode by one name, a frame behind the other."""

    name: str
    path: Path
    width: int  # in blocks
    height: int

    def count(self) -> int:
        """Returns how many frames are there, as far as they are written. Raises Failure."""
        try:
            return self.path.stat().st_size // (FLOAT * self.width * self.height)
        except OSError as error:
            raise Failure(f"cannot read {shown(self.path)}: {error.strerror}") from error

    def values(self, place: int) -> "array[float] | None":
        """Returns the map of a frame, row by row; None if it is not written yet. Raises Failure."""
        size = FLOAT * self.width * self.height
        try:
            with open(self.path, "rb") as file:
                file.seek(place * size)
                content = file.read(size)
        except OSError as error:
            raise Failure(f"cannot read {shown(self.path)}: {error.strerror}") from error
        return array("f", content) if len(content) == size else None


def find_maps(folder: Path, encode: int | None) -> dict[str, MapFile]:
    """Returns the maps in a folder by their names, of an encode by its number, or of the only one (None). Raises
    Failure.
    """
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise Failure(f"cannot read the maps in {shown(folder)}: {error.strerror}") from error
    maps = [(name, found) for name in names if is_map(name) and (found := named(name)) and found.encode == encode]
    return {found.name: MapFile(found.name, folder / name, found.width, found.height) for name, found in maps}


def extent(blocks: tuple[int, int], size: tuple[int, int]) -> tuple[float, float] | None:
    """Returns how wide and how high the blocks are together, as parts of the picture of this size, which they exceed
    where the border cuts the last ones; None if no square block fits.
    """
    usual = [side << shift for shift in range(7) for side in (8, 28)]  # of psnr_hvs 28
    for block in (*sorted(usual), *range(4, LONGEST_BLOCK + 1, 4)):  # of xpsnr a multiple of 4
        if all(-(-samples // block) == count for samples, count in zip(size, blocks)):
            return block * blocks[0] / size[0], block * blocks[1] / size[1]
    return None


def pictures(ffmpeg: str, maps: Sequence[Sequence[float]], blocks: tuple[int, int], highest: float) -> Iterator[bytes]:
    """Yields a PNG for each map, all of which have the same blocks. Raises Failure."""
    width, height = blocks
    gray = bytes(_step(value, highest) for values in maps for value in values)
    raw = ["-f", "rawvideo", "-pixel_format", "gray", "-video_size", f"{width}x{height}", "-i", "pipe:0"]
    outputs = ["-c:v", "png", "-f", "image2pipe", "-"]
    command = [ffmpeg, "-v", "error", *raw, "-vf", "format=gbrp,pseudocolor=preset=cividis", *outputs]
    try:
        done = subprocess.run(command, input=gray, capture_output=True, timeout=LATE_S)
    except OSError as error:
        raise Failure(f"cannot run {ffmpeg}: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise Failure(f"ffmpeg has not made pictures of maps within {LATE_S:.0f} s") from None
    made = list(_split(done.stdout))
    if done.returncode or len(made) != len(maps):
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["some are missing"])[-1]
        raise Failure(f"cannot make pictures of maps: {last}")
    yield from made


def _step(value: float, highest: float) -> int:
    return int(min(max(value / highest, 0), 1) * STEPS + 0.5) if value == value else 0


def _split(content: bytes) -> Iterator[bytes]:
    """Yields the PNGs that stand one behind the other."""
    end = b"IEND\xaeB`\x82"
    begin = 0
    while (found := content.find(end, begin)) >= 0:
        yield content[begin : found + len(end)]
        begin = found + len(end)


def scale(ffmpeg: str) -> bytes:
    """Returns a PNG of the palette, from 0 at the left. Raises Failure."""
    return next(pictures(ffmpeg, [range(STEPS + 1)], (STEPS + 1, 1), STEPS))
