"""Chooses the models that score, and the size of the pictures that each of them is made for.

A model tells how good pictures look on a display with a number of rows, from a distance counted in its heights. So
pictures are scaled to that display, bicubic, as Netflix advises
(https://github.com/Netflix/vmaf/blob/master/resource/doc/faq.md) and as ab-av1 does.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from ._known_models import BY_NAME, OF_LUMA
from ._terminal import Failure, shown

AUTO = "auto"
FOR_1080, FOR_2160 = "vmaf_v0.6.1", "vmaf_4k_v0.6.1"
LEAST_ROWS_OF_2160, MOST_COLUMNS_OF_1080 = 1440, 2560  # larger pictures get the model of 2160 rows from `auto`
NEARLY = Fraction(1, 10)  # pictures are not scaled if their width or height differs less from the display's
DISPLAYS = {1080: 1920, 2160: 3840}  # rows, columns
MOST_BYTES = 64 << 20  # read at most of a model file


class Size(NamedTuple):
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True)
class Scale:
    """The value of --scale."""

    word: str  # "model", "reference", "none", or a size
    size: Size | None = None

    @classmethod
    def parse(cls, text: str) -> "Scale":
        """Parses the value of --scale. Raises ValueError."""
        if text in ("model", "reference", "none"):
            return cls(text)
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
        if not found or not all(16 <= int(number) <= 16384 for number in found.groups()):
            raise ValueError(f"'{shown(text)}' is not a scale: use model, reference, none, or a size such as 1920x1080")
        return cls(text, Size(int(found[1]), int(found[2])))


def texts_of(models: Sequence[str] | None) -> list[str]:
    """Returns a text for each model, as the filter's option has it. None: the model that goes with the reference's
    size.
    """
    return [AUTO] if models is None else [text for model in models for text in model.split("|")]


def chosen(text: str, reference: Size) -> str:
    """Returns the model that `auto` stands for; a named model stays as it is."""
    if text != AUTO:
        return text
    many = min(reference) >= LEAST_ROWS_OF_2160 or max(reference) > MOST_COLUMNS_OF_1080
    return FOR_2160 if many else FOR_1080


def many_text(reference: Size) -> str:
    """Returns words for what makes a reference one for the model of 2160 rows."""
    is_wide = min(reference) < LEAST_ROWS_OF_2160 and reference.width > reference.height
    return f"{reference.width} columns" if is_wide else f"{reference.height} rows"


def refuse_models(features: Sequence[str]) -> None:
    """Refuses models among the values of the option `feature`. Raises Failure."""
    for name in metrics_of(features):
        if name == "vmaf" or name in BY_NAME:
            raise Failure(
                f"--feature {name}: this is a model, and no feature: leave it out, or name it with --model", 2
            )


def name_of(text: str) -> str:
    """Returns the version of a built-in model, or the name of a model's file."""
    first = re.split(r"(?<!\\):", text)[0]
    if first.startswith("path="):
        return Path(re.sub(r"\\(.)", r"\1", first.removeprefix("path="))).stem
    return first.removeprefix("version=")


def key_of(text: str) -> str | None:
    """Returns the key of the model's score in reports, if the model's text sets one."""
    found = re.search(r"(?:^|:)name=((?:\\.|[^:])+)", text)
    return re.sub(r"\\(.)", r"\1", found[1]) if found else None


def rows_of(text: str) -> int | None:
    """Returns the rows of the display that a model is made for, or None if they are not known.

    Raises Failure for a model file that cannot be read.
    """
    first = re.split(r"(?<!\\):", text)[0]
    name = name_of(text)
    if not first.startswith("path=") and name in BY_NAME:
        return BY_NAME[name].rows
    if re.search(r"(?:^|_)4k(?:_|$)|_2160$", name):
        return 2160
    if not first.startswith("path="):
        return 1080
    found = re.search(r'"adm_ref_display_height"\s*:\s*(\d+)', _read(Path(re.sub(r"\\(.)", r"\1", first[5:]))))
    if found:
        return int(found[1])
    return 1080 if re.match(r"vmaf_(?:float_|b_)*v?\d", name) else None


def reads_luma_alone(text: str) -> bool:
    """Returns whether a model is known to read no chroma."""
    known = None if text.startswith("path=") else BY_NAME.get(name_of(text))
    return known is not None and known.features in OF_LUMA


def sees_next_frames_only(text: str) -> bool:
    """Returns whether a model is known to score a frame by that and, for motion, by the reference's frames beside it.
    An option of a metric, such as motion's window of five frames, may have it see more.
    """
    return reads_luma_alone(text) and not re.search(r"(?<!\\):\w+\.", text)


def target_of(text: str) -> str | None:
    """Returns the color space that a model file has pictures converted to, as a text to compare; None: they stay as
    they are. Raises Failure for a file that cannot be read.
    """
    first = re.split(r"(?<!\\):", text)[0]
    if not first.startswith("path="):
        return None
    content = _read(Path(re.sub(r"\\(.)", r"\1", first[5:])))
    found = re.search(r'"conversion_target"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\})', content)
    if not found:
        return None
    try:
        return json.dumps(json.loads(found[1]), sort_keys=True)
    except ValueError:
        return found[1]  # the filter says what is wrong


def _read(path: Path) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else error
        raise Failure(f"cannot read the model {shown(path)}: {cause}") from error


def size_for(rows: int, reference: Size, aspect: Fraction | None) -> Size:
    """Returns the size at which pictures fill a display with these rows as far as their shape lets them, in even
    numbers, as 4:2:0 needs them.
    """
    columns = DISPLAYS.get(rows, round(rows * 16 / 9))
    seen = Fraction(reference.width) * (aspect or 1), Fraction(reference.height)
    wide = seen[0] >= seen[1]
    factors = [Fraction(columns if wide else rows) / seen[0], Fraction(rows if wide else columns) / seen[1]]
    if any(abs(factor - 1) <= NEARLY for factor in factors):
        return reference
    return Size(*(max(2 * round(length * min(factors) / 2), 16) for length in seen))


def metrics_of(features: Sequence[str]) -> list[str]:
    """Returns the metrics that values of the option `feature` name."""
    metrics = []
    for feature in "|".join(features).split("|"):
        words = feature.split(":")
        name = next((word.removeprefix("name=") for word in words if word.startswith("name=")), words[0])
        metrics.append(name.removesuffix("_hip"))
    return metrics
