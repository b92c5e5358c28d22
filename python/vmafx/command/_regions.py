"""The regions of --roi: at which size filters score them, and the keys of their scores."""

import os
import re
from collections.abc import Collection, Iterable, Iterator

from ._models import Size

RECTANGLE = re.compile(r"(\d{1,9})x(\d{1,9})\+(\d{1,9})\+(\d{1,9})", re.ASCII)
MASK = ".pgm"
UNNAMED = "active", "center"  # called so without a name of their own


def scaled(regions: str, reference: Size, size: Size) -> str:
    """Returns the value of the filter's option roi for pictures of the reference that are scaled to this size first.

    The edges of rectangles are rounded to whole samples; a rectangle keeps at least one. What is no rectangle stays:
    a mask is of the size at which pictures are scored.
    """
    return "|".join(_scaled(region, reference, size) for region in regions.split("|"))


def _scaled(region: str, reference: Size, size: Size) -> str:
    name, equals, what = region.rpartition("=")
    found = RECTANGLE.fullmatch(what)
    if not found or size == reference:
        return region
    width, height, left, top = map(int, found.groups())
    if left + width > reference.width or top + height > reference.height:
        return region  # the filter says that it is outside the picture
    x, w = _edges(left, width, reference.width, size.width)
    y, h = _edges(top, height, reference.height, size.height)
    return f"{name}{equals}{w}x{h}+{x}+{y}"


def _edges(begin: int, length: int, of: int, to: int) -> tuple[int, int]:
    """Returns where a part begins and how long it is, in a row of `to` samples instead of `of`."""
    first, end = (round(edge * to / of) for edge in (begin, begin + length))
    first = min(first, to - 1)
    return first, max(end - first, 1)


def masks_of(regions: Iterable[str]) -> Iterator[str]:
    """Yields the files of masks that values of the option name."""
    for region in "|".join(regions).split("|"):
        if region.endswith(MASK):
            first, equals, path = region.partition("=")
            yield path if equals else first


def with_whole_paths(regions: str) -> str:
    """Returns the value of the option with the masks' absolute paths, for processes that run elsewhere."""
    return "|".join(map(_with_whole_path, regions.split("|")))


def _with_whole_path(region: str) -> str:
    mask = next(masks_of([region]), "")
    return region.removesuffix(mask) + os.path.abspath(mask) if mask else region


def names_of(regions: str | None) -> list[str]:
    """Returns the regions' names, with which the keys of their scores end."""
    parts = [region.partition("=") for region in (regions or "").split("|") if region]
    return [first if equals or first in UNNAMED else "roi" for first, equals, _ in parts]


def whole_key(key: str, keys: Collection[str]) -> str | None:
    """Returns the key of the whole picture's score, if this is the key of a region's; `keys`: those of the report."""
    whole, point, region = key.rpartition(".")
    return whole if point and region[:1].isalpha() and whole in keys else None
