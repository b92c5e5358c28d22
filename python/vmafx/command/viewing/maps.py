"""Lays the map of a model over pictures of an encode: where in the picture a frame loses its score.

The filter writes maps while it scores. Their colors are ffmpeg's palette cividis, which people without color vision see
as others do. From its dark to its light end it is the same in all frames and encodes: 0 to MOST points. A picture whose
blocks had all MOST points would score 0.
"""

import subprocess
import sys
from pathlib import Path

from .._scoring import Work

MOST = 100  # points
BLOCK = 32  # samples of the scored picture (docs/maps.md)
FLOAT = 4  # bytes
SAMPLES = "grayf32" + ("le" if sys.byteorder == "little" else "be")
LATE_S = 30.0


class Maps:
    """The maps of the first model, in a folder where the filter writes them."""

    def __init__(self, work: Work, folder: Path) -> None:
        self._work, self.folder = work, folder
        self._key = next(iter(work.models), "")

    def over(self, encode: int, number: int, png: bytes) -> bytes | str:
        """Returns a picture of an encode with its map laid over it; a text says why there is none."""
        found = self._file(encode)
        if not found:
            return "There is no map yet.\n"
        path, width, height = found
        if path.stat().st_size < (number + 1) * width * height * FLOAT:
            return "This frame is not scored yet.\n"
        command = self._command(path, width, height, number, png)
        try:
            done = subprocess.run(command, input=png, capture_output=True, timeout=LATE_S)
        except subprocess.TimeoutExpired:
            return f"ffmpeg has not laid the map over the picture within {LATE_S:.0f} s: ask for it again.\n"
        if done.returncode or not done.stdout:
            return f"ffmpeg cannot lay the map over the picture: {done.stderr.decode(errors='replace').strip()}\n"
        return done.stdout

    def _file(self, encode: int) -> tuple[Path, int, int] | None:
        """Returns an encode's file, and how many blocks a map has in a row and in a column."""
        name = self._key + (f"_encode{encode}" if len(self._work.dists) > 1 else "")
        size = self._work.size_of(self._work.groups[0])
        width, height = -(-size.width // BLOCK), -(-size.height // BLOCK)
        path = self.folder / f"{name}_{width}x{height}_f32.gray"
        return (path, width, height) if path.exists() else None

    def _command(self, path: Path, width: int, height: int, number: int, png: bytes) -> list[str]:
        size = self._work.size_of(self._work.groups[0])
        shown = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # the size in a PNG's head
        colors = (
            f"format={SAMPLES},geq=lum='clip(lum(X,Y)/{MOST},0,1)',format=gray,"
            f"scale={width * BLOCK}:{height * BLOCK}:flags=neighbor,crop={size.width}:{size.height}:0:0,"
            f"scale={':'.join(map(str, shown))}:flags=neighbor,format=gbrp,pseudocolor=preset=cividis"
        )
        raw = ["-f", "rawvideo", "-pixel_format", SAMPLES, "-video_size", f"{width}x{height}", "-framerate", "1"]
        inputs = [*raw, "-ss", str(number), "-i", f"file:{path}", "-f", "png_pipe", "-i", "pipe:0"]
        graph = f"[0]{colors}[map];[1]format=gbrp[own];[own][map]blend=all_mode=normal:all_opacity=0.5"
        outputs = ["-frames:v", "1", "-c:v", "png", "-compression_level", "1", "-f", "image2pipe", "-"]
        return [self._work.settings.ffmpeg, "-v", "error", *inputs, "-lavfi", graph, *outputs]
