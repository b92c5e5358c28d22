"""Tells where in the picture a frame loses its score, by the map of a model that the filter writes while it scores.

The colors are the same in all frames and encodes: 0 to MOST points. A picture whose blocks had all MOST points would
score 0.
"""

from pathlib import Path

from .. import _maps
from .._scoring import Work
from .._terminal import Failure

MOST = 100  # points
BLOCK = 32  # samples of the scored picture (docs/maps.md)


class Maps:
    """The maps of the first model, in a folder where the filter writes them."""

    def __init__(self, work: Work, folder: Path) -> None:
        self._work, self.folder = work, folder
        self.name = next(iter(work.models), "")

    @property
    def extent(self) -> tuple[float, float]:
        """How wide and how high all blocks are together, as parts of the picture."""
        size = self._work.size_of(self._work.groups[0])
        width, height = (-(-samples // BLOCK) * BLOCK / samples for samples in (size.width, size.height))
        return width, height

    def picture(self, encode: int, number: int) -> bytes | str | None:
        """Returns the map of a frame as PNG; None if it is not scored yet, and a text if there is another reason."""
        try:
            file = self._file(encode)
            values = file.values(number) if file else None
            if not file or values is None:
                return None
            made = _maps.pictures(self._work.settings.ffmpeg, [values], (file.width, file.height), MOST)
            return next(made)
        except Failure as failure:
            return f"{failure}\n"

    def _file(self, encode: int) -> _maps.MapFile | None:
        if not self.folder.is_dir():
            return None
        return _maps.find_maps(self.folder, encode if len(self._work.dists) > 1 else None).get(self.name)
