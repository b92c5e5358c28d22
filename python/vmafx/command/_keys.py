"""What scores are: a model's or a metric's, which of them are the worse ones, their unit.

Reports say it under `vmafx.scores`. Of a report that does not (CSV, libvmaf's, those of older versions) it is what the
metrics say of the key, and a key that no metric has is taken for a model's.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ._known_scores import KNOWN


class Facts(NamedTuple):
    metric: str | None  # None: the score is a model's
    worse: str = "low"  # "low", "high" or "neither"
    main: bool = True  # a score to read first
    unit: str | None = None

    @property
    def tells_quality(self) -> bool:
        return self.worse != "neither"

    @property
    def worse_is_high(self) -> bool:
        return self.worse == "high"


def facts_told(told: Mapping[str, Any]) -> Facts:
    """What a report says of a score, as _schemas.py has it."""
    return Facts(told["metric"], told["worse"], told["main"], told.get("unit"))


def known_facts(key: str) -> Facts:
    """What the metrics say of a key."""
    if known := _known(key):
        metric, worse, unit, _, alone = known
        return Facts(metric, worse, alone, unit)
    return Facts(None)


def stands_for(key: str, metric: str) -> bool:
    """Whether this is the main score of a metric, whatever its options add to the key."""
    known = _known(key)
    return known is not None and known[0] == metric and known[3]


def _known(key: str) -> tuple[str, str, str | None, bool, bool] | None:
    """Options add to the end of a key, after `_`: so the longest key that it begins with is the metric's."""
    end = len(key)
    while end > 0:
        if known := KNOWN.get(key[:end]):
            return known
        end = key.rfind("_", 0, end)
    return None
