"""The facts of scores: whether a model or a metric makes them, which of them are the worse ones, their unit.

Reports have them under `vmafx.scores`. For a report without them (CSV, libvmaf's, those of older versions), the metric
of the key tells them, and a key that no metric has is taken for a model's.
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
    """Returns the facts that a report has of a score; _schemas.py has their form."""
    return Facts(told["metric"], told["worse"], told["main"], told.get("unit"))


def known_facts(key: str) -> Facts:
    """Returns the facts of a key by the metric that has it, or those of a model's score."""
    if known := _known(key):
        metric, worse, unit, _, alone = known
        return Facts(metric, worse, alone, unit)
    return Facts(None)


def stands_for(key: str, metric: str) -> bool:
    """Tells whether this is the main score of a metric, whatever its options add to the key."""
    known = _known(key)
    return known is not None and known[0] == metric and known[3]


def _known(key: str) -> tuple[str, str, str | None, bool, bool] | None:
    """Finds the longest known key that this one begins with: options add to the end of a key, after `_`, and regions
    after a point.
    """
    end = len(key)
    while end > 0:
        if known := KNOWN.get(key[:end]):
            return known
        end = max(key.rfind("_", 0, end), key.rfind(".", 0, end))
    return None
