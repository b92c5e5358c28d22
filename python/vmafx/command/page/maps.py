"""Lays maps over the pictures of a page: where in the picture a frame loses its score."""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .. import _maps
from .._maps import MapFile
from .._scores import Encode
from .._terminal import Failure, shown

MOST_SHOWN = 0.99  # the part of all blocks of a page that the palette reaches
MOST_APART = 0.02  # points between what a score and the mean of its map add up to, in different frames


@dataclass(frozen=True)
class Maps:
    """The maps by one name, of each encode of a page."""

    files: Sequence[MapFile]
    extent: tuple[float, float]  # of all blocks, as parts of the picture
    is_model: bool  # whether the name is that of a model's score


class Place(NamedTuple):
    """A frame of an encode."""

    encode: int
    place: int  # in the encode's lists


@dataclass(frozen=True)
class Map:
    """A map over a picture."""

    data: str
    what: str
    width: str  # in percent of the picture's
    height: str


@dataclass(frozen=True)
class Scale:
    """The scale of colors that all maps of a page have in common."""

    name: str
    data: str  # a picture of the palette
    high: str  # its light end, with the unit; the dark end is 0


def find(
    folders: Sequence[tuple[Path, int | None]], encodes: Sequence[Encode], name: str, size: tuple[int, int]
) -> Maps:
    """Finds the maps by this name: for each encode a folder, and its number there (None: it is the only one). `size` is
    that of the scored pictures. Raises Failure.
    """
    files = []
    for (folder, number), encode in zip(folders, encodes):
        known = _maps.find_maps(folder, number)
        if name not in known:
            told = f"name one of {', '.join(known)} with --map" if known else "the filter’s option maps writes them"
            raise Failure(f"{shown(folder)} has no maps of {name} of {encode.name}: {told}")
        files.append(known[name])
        count, wanted = files[-1].count(), encode.numbers[-1] - encode.numbers[0] + 1
        if count < wanted:
            told = f"and the report has {wanted}: name the folder of that run"
            raise Failure(f"{shown(files[-1].path)} has maps of {count} frames, {told}")
    blocks = {(file.width, file.height) for file in files}
    extents = [_maps.extent(own, size) for own in blocks]
    if len(extents) > 1 or extents[0] is None:
        told = " and ".join(f"{width}x{height}" for width, height in sorted(blocks))
        raise Failure(
            f"maps of {told} blocks do not fit pictures of {size[0]}x{size[1]}: score at the size of the reference, "
            "or have vmafx score --report-maps make the page"
        )
    return Maps(files, extents[0], all(encode.facts(name).metric is None for encode in encodes))


def make(maps: Maps, ffmpeg: str, encodes: Sequence[Encode], places: Sequence[Place]) -> tuple[list[Map], Scale]:
    """Returns the maps of some frames, and their scale, which is the same for all. Raises Failure."""
    name = maps.files[0].name
    values = [_values(maps.files[own.encode], encodes[own.encode], own.place) for own in places]
    if maps.is_model:
        _check(name, [encodes[own.encode] for own in places], [own.place for own in places], values)
    highest = _highest([value for own in values for value in own])
    blocks = maps.files[0].width, maps.files[0].height
    width, height = (f"{100 * part:.4f}%" for part in maps.extent)
    made = [
        Map(png_address(png), f"{name} of frame {encodes[own.encode].numbers[own.place]}", width, height)
        for own, png in zip(places, _maps.pictures(ffmpeg, values, blocks, highest))
    ]
    unit = " points" if maps.is_model else ""
    return made, Scale(name, png_address(_maps.scale(ffmpeg)), f"{highest:g}{unit} and more")


def _values(file: MapFile, encode: Encode, place: int) -> Sequence[float]:
    values = file.values(encode.numbers[place] - encode.numbers[0])
    if values is None:
        raise Failure(f"{shown(file.path)} has become shorter: score once more")
    return values


def _check(name: str, encodes: Sequence[Encode], places: Sequence[int], maps: Sequence[Sequence[float]]) -> None:
    """Checks that the maps are those of the scores: the mean of each is what its score lacks to the highest one."""
    sums = [
        encode.scores[name][place] + math.fsum(values) / len(values)
        for encode, place, values in zip(encodes, places, maps)
        if name in encode.scores and math.isfinite(encode.scores[name][place])
    ]
    if sums and max(sums) - min(sums) > MOST_APART:
        raise Failure(f"the maps of {name} are not those of the report’s scores: name the folder of that run")


def _highest(values: Sequence[float]) -> float:
    """Returns the value at the light end of the palette, rounded up to two digits."""
    ordered = sorted(value for value in values if math.isfinite(value))
    value = ordered[round(MOST_SHOWN * (len(ordered) - 1))] if ordered else 0.0
    if value <= 0:
        return 1.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.6g}")


def png_address(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
