"""Sums up the whole library at the end: a table, a page."""

import dataclasses
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .._findings import NOTES, doubt_text
from .._keys import known_facts
from .._result import HEADS, score_cells
from .._schemas import MOST_TIME
from .._scores import Encode
from .._outputs import PAGE, Guard, Output, check_outputs
from .._terminal import note, print_table, whole_file
from ..page.curves import MOST_STATIC, Chart, cumulative, histogram
from ..page.document import render
from ..page.plots import Figure, plot
from ..page.tables import Lines, Table, pooled_table
from ..page.verdict import side_of
from .store import Record

MOST_FAILURES = 20  # shown on the terminal
MOST_WARNED = 200  # pairs with warnings on the page


class Summary:
    def __init__(self, records: Sequence[Record]) -> None:
        self.scored = [record for record in records if record["error"] is None]
        self.failed = [record for record in records if record["error"] is not None]
        self.doubtful = [record for record in self.scored if _doubts(record)]
        self.keys = list(dict.fromkeys(key for record in self.scored for key in record["pooled"]))

    def worst(self, key: str, count: int) -> list[Record]:
        """Returns the pairs with the worst means."""
        having = [record for record in self.scored if record["pooled"].get(key, {}).get("mean") is not None]
        high = known_facts(key).worse_is_high
        return sorted(having, key=lambda record: float(record["pooled"][key]["mean"]), reverse=high)[:count]

    def show(self, worst: int) -> None:
        for record in self.failed[:MOST_FAILURES]:
            note(f"{record['id']}: {record['error']}")
        if (more := len(self.failed) - MOST_FAILURES) > 0:
            note(f"{more} more pairs have failed: the results say why")
        if self.keys and worst:
            key = self.keys[0]
            rows = [[record["id"], key, *_cells(record, key)] for record in self.worst(key, worst)]
            print_table(["worst pairs", "score", *HEADS], rows, texts=2)
        warned = sum(bool(record["warnings"]) for record in self.scored)
        counts = f"{len(self.scored)} scored, {len(self.failed)} failed, {warned} with warnings"
        print(f"{counts}, {len(self.doubtful)} doubtful" if self.doubtful else counts)


def _doubts(record: Record) -> list[str]:
    """Returns what makes a pair doubtful, in words; earlier versions have kept no doubts."""
    return [doubt_text(doubt) for doubt in record.get("doubts", []) if doubt["kind"] not in NOTES]


def _cells(record: Record, key: str) -> list[str]:
    worst = record["worst_frame"].get(key)
    return score_cells(
        known_facts(key), record["pooled"][key], worst if worst and abs(worst["time"]) <= MOST_TIME else None
    )


# -- The page ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """The page's section on one score."""

    key: str
    side: str  # which means are the better ones
    pooled: Table
    figures: list[Figure]
    worst: Table


@dataclass(frozen=True)
class Texts:
    """A table of texts about some pairs."""

    title: str
    table: Table


def write_summary(path: Path, summary: Summary, title: str, worst: int, guard: Guard | None = None) -> None:
    """Writes the page. Without a guard, `path` must be new or an HTML page. Raises Failure."""
    guard = guard or check_outputs([], [Output("the page", path, PAGE)], force=False)
    warned = [(record["id"], record["warnings"]) for record in summary.scored if record["warnings"]]
    doubts = [(record["id"], _doubts(record)) for record in summary.doubtful]
    texts = [
        *_texts("Failed", "cause", [(record["id"], [record["error"]]) for record in summary.failed]),
        *_texts(
            f"Warnings of the first {MOST_WARNED} pairs" if len(warned) > MOST_WARNED else "Warnings",
            "warning",
            warned[:MOST_WARNED],
        ),
        *_texts("Doubts", "what is seen", doubts[:MOST_WARNED]),
    ]
    text = render(
        "library.html",
        title,
        facts=[f"{len(summary.scored):,} pairs scored", f"{len(summary.failed):,} failed"],
        warnings=[],
        sections=[section for key in summary.keys if (section := _section(summary, key, worst))],
        texts=texts,
    )
    with whole_file(path, guard) as part:
        part.write_text(text, encoding="utf-8")


def _section(summary: Summary, key: str, worst: int) -> Section | None:
    """Shows the pairs' means as other pages show the scores of frames."""
    means = [record["pooled"][key]["mean"] for record in summary.scored if key in record["pooled"]]
    scores = array("d", [math.nan if mean is None else float(mean) for mean in means])
    library = [Encode("means of the pairs", array("q", range(len(scores))), scores={key: scores})]
    if not any(map(math.isfinite, scores)):
        return None
    charts = (
        ("Pairs with a mean near each score, %", histogram(library, key)),
        ("Pairs with at most a mean, %", cumulative(library, key)),
    )
    rows = [[record["id"], *_cells(record, key)] for record in summary.worst(key, worst)]
    return Section(
        key,
        side_of(known_facts(key)),
        pooled_table(library, key, "library"),
        [_figure(*chart) for chart in charts],
        Table(["pair", *HEADS], rows),
    )


def _figure(title: str, chart: Chart) -> Figure:
    return Figure(title, plot(dataclasses.replace(chart, label=title), MOST_STATIC))


def _texts(title: str, head: str, rows: Sequence[tuple[str, Sequence[str]]]) -> list[Texts]:
    """Returns a section of texts, or none if there are no rows."""
    return (
        [Texts(title, Table(["pair", head], [[name, Lines(texts)] for name, texts in rows], texts=2))] if rows else []
    )
