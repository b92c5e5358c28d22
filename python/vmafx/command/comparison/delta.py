"""Computes Bjøntegaard's differences of two curves of rate and quality, with the library bjontegaard."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

METHODS = "pchip", "akima", "cubic"
LEAST_POINTS = 4  # as in VCEG-M33, and in all common test conditions since
LEAST_OVERLAP = 0.75  # part of the range that both curves span together; below, the library warns, too

# Debian lacks the package, and its pip refuses all folders but one that is named. Python looks into the account's
# folder by itself. The package's own needs are in Debian. docs/command.md repeats this line, and quickstart prints it.
INSTALL_LINE = (
    "sudo apt-get install -y --no-install-recommends python3-pip python3-scipy python3-matplotlib"
    ' && /usr/bin/python3 -m pip install --no-deps --target "$(/usr/bin/python3 -m site --user-site)" bjontegaard'
)
INSTALL = f"the Python package bjontegaard is not installed: run pip install bjontegaard, or on Debian: {INSTALL_LINE}"


class Measured(NamedTuple):
    rate: float  # in kbit/s
    quality: float
    name: str = ""


@dataclass
class Delta:
    """The difference of a curve from the anchor's. None: `problems` say why."""

    rate: float | None = None  # in percent, at equal quality
    quality: float | None = None  # in the unit of the score, at equal rate
    # The part of the rates, and of the scores, that both curves have of those that they span together.
    overlap: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def find_library() -> ModuleType | str:
    """Returns the library, or why it is missing.

    It brings NumPy, SciPy and Matplotlib along, each of which may be broken in its own way.
    """
    try:
        import bjontegaard
    except ModuleNotFoundError as error:
        lacks = INSTALL if error.name == "bjontegaard" else f"the package bjontegaard lacks {error.name}: install it"
        return f"BD-rates are left out: {lacks}"
    except Exception as error:
        return f"BD-rates are left out: cannot load the package bjontegaard: {error}"
    library: ModuleType = bjontegaard
    return library


@dataclass(frozen=True)
class _Curve:
    """A curve whose points are in ascending order of rates. `sign` makes higher qualities the better ones."""

    who: str
    points: Sequence[Measured]
    sign: float

    @property
    def rates(self) -> list[float]:
        return [point.rate for point in self.points]

    @property
    def qualities(self) -> list[float]:
        return [self.sign * point.quality for point in self.points]

    def problems(self) -> Iterator[str]:
        if len(self.points) < LEAST_POINTS:
            yield f"{self.who} has {len(self.points)} points, but at least {LEAST_POINTS} are needed"
        for one, other in pairwise(self.points):
            if one.rate == other.rate:
                yield f"{self.who} has two points of {one.rate:.6g} kbit/s ({one.name}, {other.name})"

    def falls(self) -> Iterator[str]:
        for one, other in pairwise(self.points):
            if self.sign * other.quality <= self.sign * one.quality:
                yield (
                    f"{self.who} is not monotonic: at {other.rate:.6g} kbit/s ({other.name}) it is "
                    f"{other.quality:.6g}, not better than {one.quality:.6g} at {one.rate:.6g} kbit/s ({one.name})"
                )


def compare_curves(
    library: ModuleType, anchor: Sequence[Measured], test: Sequence[Measured], method: str, worse_is_high: bool = False
) -> Delta:
    """Compares two curves, whose points are in ascending order of rates.

    The difference of quality keeps the direction of the score: less is better for cambi.
    """
    sign = -1.0 if worse_is_high else 1.0
    curves = _Curve("the anchor", anchor, sign), _Curve("the series", test, sign)
    delta = Delta(problems=[problem for curve in curves for problem in curve.problems()])
    if delta.problems:
        return delta
    (a, b), settings = curves, {"method": method, "require_matching_points": False, "min_overlap": 0}
    if _overlap(
        delta, "rates", [(math.log(min(curve.rates)), math.log(max(curve.rates))) for curve in curves], math.exp
    ):
        delta.quality = _computed(
            delta, sign, lambda: float(library.bd_psnr(a.rates, a.qualities, b.rates, b.qualities, **settings))
        )
    falls = [problem for curve in curves for problem in curve.falls()]
    delta.problems += falls
    if not falls and _overlap(
        delta,
        "scores",
        [(min(curve.qualities), max(curve.qualities)) for curve in curves],
        lambda quality: sign * quality,
    ):
        delta.rate = _computed(
            delta, 1.0, lambda: float(library.bd_rate(a.rates, a.qualities, b.rates, b.qualities, **settings))
        )
    return delta


def _computed(delta: Delta, sign: float, compute: Callable[[], float]) -> float | None:
    """Returns the library's result if it has one: points may lie beyond its arithmetic."""
    try:
        value = sign * float(compute())
    except Exception as error:
        delta.problems.append(f"the package bjontegaard cannot compute the difference: {error}")
        return None
    if math.isfinite(value):
        return value
    delta.problems.append("the package bjontegaard computes an infinite difference")
    return None


def _overlap(delta: Delta, what: str, spans: list[tuple[float, float]], shown: Callable[[float], float]) -> bool:
    """Returns whether the curves overlap; a small overlap is a warning."""
    common = min(high for _, high in spans) - max(low for low, _ in spans)
    whole = max(high for _, high in spans) - min(low for low, _ in spans)
    if whole <= 0:
        delta.problems.append(f"the {what} are too close to each other")
        return False
    part = common / whole
    (a, b), (c, d) = [sorted(map(shown, span)) for span in spans]
    ranges = f"the {what} of the anchor are {a:.6g} to {b:.6g}, those of the series {c:.6g} to {d:.6g}"
    delta.overlap[what] = max(part, 0.0)
    if part <= 0:
        delta.problems.append(f"the curves do not overlap: {ranges}")
    elif part < LEAST_OVERLAP:
        delta.warnings.append(f"the curves overlap by only {100 * part:.0f} %: {ranges}")
    return part > 0
