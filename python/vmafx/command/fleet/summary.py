"""What is said of the whole library at the end: a table, a page."""

import dataclasses
import math
from array import array
from collections.abc import Sequence
from html import escape
from pathlib import Path

from .._keys import worse_is_high
from .._result import HEADS, score_cells
from .._scores import Encode
from .._outputs import PAGE, Guard, Output, check_outputs
from .._terminal import note, print_table, whole_file
from ..page.curves import MOST_STATIC, Chart, cumulative, histogram
from ..page.document import document, footer, header
from ..page.plots import plot
from ..page.tables import pooled_table, table
from .store import Record

MOST_FAILURES = 20  # on the terminal
MOST_WARNED = 200  # on the page


class Summary:
    def __init__(self, records: Sequence[Record]) -> None:
        self.scored = [record for record in records if record["error"] is None]
        self.failed = [record for record in records if record["error"] is not None]
        self.keys = list(dict.fromkeys(key for record in self.scored for key in record["pooled"]))

    def worst(self, key: str, count: int) -> list[Record]:
        """By the mean."""
        having = [record for record in self.scored if record["pooled"].get(key, {}).get("mean") is not None]
        return sorted(having, key=lambda record: float(record["pooled"][key]["mean"]), reverse=worse_is_high(key))[:count]

    def show(self, worst: int) -> None:
        for record in self.failed[:MOST_FAILURES]:
            note(f"{record['id']}: {record['error']}")
        if (more := len(self.failed) - MOST_FAILURES) > 0:
            note(f"{more} more have failed: the results say why")
        if self.keys and worst:
            key = self.keys[0]
            rows = [[record["id"], key, *_cells(record, key)] for record in self.worst(key, worst)]
            print_table(["worst pairs", "score", *HEADS], rows, texts=2)
        warned = sum(bool(record["warnings"]) for record in self.scored)
        print(f"{len(self.scored)} scored, {len(self.failed)} failed, {warned} with warnings")


def _cells(record: Record, key: str) -> list[str]:
    return score_cells(key, record["pooled"][key], record["worst_frame"].get(key))


# -- The page ------------------------------------------------------------------------------------------------------------


def write_summary(path: Path, summary: Summary, title: str, worst: int, guard: Guard | None = None) -> None:
    """Without a guard, `path` is to be new or an HTML page. Raises Failure."""
    guard = guard or check_outputs([], [Output("the page", path, PAGE)], force=False)
    facts = [f"{len(summary.scored):,} pairs scored", f"{len(summary.failed):,} failed"]
    parts = [header(title, facts, "", [])]
    parts += [_scores(summary, key, worst) for key in summary.keys]
    parts.append(_texts("Failed", "cause", [(record["id"], [record["error"]]) for record in summary.failed]))
    warned = [(record["id"], record["warnings"]) for record in summary.scored if record["warnings"]]
    parts.append(_texts(f"Warnings of the first {MOST_WARNED} pairs" if len(warned) > MOST_WARNED else "Warnings", "warning", warned[:MOST_WARNED]))
    parts.append(footer("The scores of a pair are pooled over its frames."))
    with whole_file(path, guard) as part:
        part.write_text(document(title, "\n".join(parts)), encoding="utf-8", errors="surrogateescape")


def _scores(summary: Summary, key: str, worst: int) -> str:
    """The pairs' means, as those of frames are shown."""
    means = [record["pooled"][key]["mean"] for record in summary.scored if key in record["pooled"]]
    scores = array("d", [math.nan if mean is None else float(mean) for mean in means])
    library = [Encode("means of the pairs", array("q", range(len(scores))), scores={key: scores})]
    if not any(map(math.isfinite, scores)):
        return ""
    charts = (("Pairs with a mean near each score, %", histogram(library, key)), ("Pairs with at most a mean, %", cumulative(library, key)))
    rows = [[escape(record["id"]), *_cells(record, key)] for record in summary.worst(key, worst)]
    return (
        f'<section><h2>{escape(key)}</h2>{pooled_table(library, key)}<div class="pair">{"".join(_figure(*chart) for chart in charts)}</div>'
        f"<h3>Worst pairs</h3>{table(['pair', *HEADS], rows)}</section>"
    )


def _figure(title: str, chart: Chart) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{plot(dataclasses.replace(chart, label=title), MOST_STATIC)}</figure>"


def _texts(title: str, head: str, rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    if not rows:
        return ""
    cells = [[escape(name), "<br>".join(map(escape, texts))] for name, texts in rows]
    return f"<section><h2>{escape(title)}</h2>{table(['pair', head], cells, texts=2)}</section>"
