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
from .._terminal import decimals_of, note, print_table, time_text, whole_file
from ..page.curves import MOST_STATIC, Chart, cumulative, histogram
from ..page.document import render
from ..page.plots import Figure, plot
from ..page.tables import Cell, Lines, Table, pooled_table
from ..page.verdict import Said, grade_of, meaning, side_of
from .store import Record

MOST_FAILURES = 20  # shown on the terminal
MOST_WARNED = 200  # pairs with warnings on the page
WARNED = "pair has warnings", "pairs have warnings"
MOST_WORST = 3  # pairs that the top of the page names


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
    scored = len(summary.scored)
    text = render(
        "library.html",
        title,
        facts=[f"{scored:,} pair{'' if scored == 1 else 's'} scored", f"{len(summary.failed):,} failed"],
        warnings=[],
        verdict=_verdict(summary),
        sections=[section for key in summary.keys if (section := _section(summary, key, worst))],
        texts=texts,
    )
    with whole_file(path, guard) as part:
        part.write_text(text, encoding="utf-8")


def _verdict(summary: Summary) -> list[Said]:
    """Says how good the pairs are by the first score, which are the worst, what is doubtful, and what scores mean."""
    key = summary.keys[0] if summary.keys else ""
    found = summary.worst(key, len(summary.scored))
    having = [record for record in found if math.isfinite(float(record["pooled"][key]["mean"]))]
    means = [float(record["pooled"][key]["mean"]) for record in having]
    good: list[list[Cell]] = []
    worst: list[list[Cell]] = []
    if means:
        mean, middle = math.fsum(means) / len(means), means[len(means) // 2]
        number = f".{decimals_of(max(abs(mean) for mean in means)) - 1}f"
        graded = grade_of(_model(having[0], key), mean)
        told = f"{key} of the pairs is {mean:{number}} on average" + (f", {graded}" if graded else "")
        side = "at most" if known_facts(key).worse_is_high else "at least"
        good.append([f"{told}; half of them have {side} {middle:{number}}." if len(means) > 1 else f"{told}."])
        for record, own in list(zip(having, means))[:MOST_WORST]:
            worst.append([record["id"], f"has a mean of {own:{number}}{_worst_place(record, key)}."])
    parts = (
        Said("How good", good or [["No pair has a score."]]),
        Said("What is worst", worst),
        Said("What is doubtful", [[text] for text in _troubles(summary)] or [["No pair has failed or is doubtful."]]),
        Said("What scores mean", [[_meaning(summary, key)] for key in summary.keys]),
    )
    return [part for part in parts if part.lines]


def _worst_place(record: Record, key: str) -> str:
    worst = record["worst_frame"].get(key)
    if not worst or abs(worst["time"]) > MOST_TIME:
        return ""
    return f"; its worst frame is {worst['frame']}, at {time_text(worst['time'])}"


def _troubles(summary: Summary) -> list[str]:
    """Returns sentences on pairs that failed, are doubtful, or have warnings."""
    warned = sum(bool(record["warnings"]) for record in summary.scored)
    counts = len(summary.failed), len(summary.doubtful), warned
    words = ("pair has failed", "pairs have failed"), ("pair is doubtful", "pairs are doubtful"), WARNED
    return [
        f"{count:,} {one if count == 1 else many}: see below." for count, (one, many) in zip(counts, words) if count
    ]


def _model(record: Record, key: str) -> str:
    """Returns the name of the model of a score; "" if the score is none of a model, or the record does not say."""
    return str(record.get("models", {}).get(key, {}).get("model", ""))


def _meaning(summary: Summary, key: str) -> str:
    models = (_model(record, key) for record in summary.scored)
    return f"{key}: {meaning(known_facts(key), key, next(filter(None, models), ''))}"


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
