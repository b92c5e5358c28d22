"""Makes the tables of the page: pooled values, windows, facts of the run."""

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .._findings import OF_ERRORS, doubts_of, pairs_text
from .._scores import Encode, Window
from .._statistics import pooled_values
from .._terminal import decimals_of, time_text
from .curves import MOST_DRAWN
from .links import Link
from .plots import Label

MOST_WINDOWS = 60  # windows of an encode that are listed
# Tables of at most so many rows get the heads beside each value, for narrow windows; longer ones would be too large.
MOST_STACKED = 250
LONG_HEAD, LONG_NAME = 11, 9  # characters of a head, and of a name as a head, that stands beside its value
NARROW = 52  # characters of all columns that fit into any window
GAP, KEY = 3, 4  # characters that the room between columns, and the line of a label, take
COLUMNS = {
    "mean": "mean",
    "harmonic_mean": "harmonic",
    "min": "min",
    "p1": "1 %",
    "p5": "5 %",
    "p10": "10 %",
    "p25": "25 %",
    "median": "50 %",
    "p75": "75 %",
    "p95": "95 %",
    "max": "max",
    "stddev": "std. dev.",
}
# Columns of scores whose high values are the worse ones, with the worst first, too.
COLUMNS_OF_WORSE_HIGH = {
    **{name: COLUMNS[name] for name in ("mean", "harmonic_mean", "max")},
    **{"p99": "99 %", "p95": "95 %", "p90": "90 %", "p75": "75 %", "median": "50 %", "p25": "25 %", "p5": "5 %"},
    **{name: COLUMNS[name] for name in ("min", "stddev")},
}
LARGE = 1e9  # larger numbers are written with a power of ten


@dataclass(frozen=True)
class Lines:
    """A cell of several lines."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Strong:
    """A cell in bold print."""

    text: str


Cell: TypeAlias = str | Label | Lines | Strong | Link


@dataclass(frozen=True)
class Table:
    heads: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    texts: int = 1  # the number of columns with words; the others have numbers
    intro: str = ""  # shown above the table
    notes: Sequence[str] = ()  # shown below the table

    @functools.cached_property  # the template asks in each cell
    def is_stacked(self) -> bool:
        """Tells whether a narrow window shows each row as a block, with its heads beside the values."""
        width = sum(max(map(_width, column)) + GAP for column in zip(self.heads, *self.rows))
        return width > NARROW and len(self.rows) <= MOST_STACKED

    @property
    def is_roomy(self) -> bool:
        """Tells whether the heads beside the values, such as names of series, need more room than numbers."""
        return any(len(_words(head)) > (LONG_NAME if isinstance(head, Label) else LONG_HEAD) for head in self.heads[1:])

    def head_text(self, column: int) -> str:
        return _words(self.heads[column])


def _width(cell: Cell) -> int:
    """Returns how many characters a cell is wide on one line."""
    if isinstance(cell, Lines):
        return max(map(len, cell.texts), default=0)
    return len(_words(cell)) + (KEY if isinstance(cell, Label) else 0)


def _words(cell: Cell) -> str:
    return cell if isinstance(cell, str) else " ".join(cell.texts) if isinstance(cell, Lines) else cell.text


def number(value: float | None, decimals: int) -> str:
    """Returns a number as text: `–` if it is missing, `inf` if it is infinite."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{decimals}f}" if abs(value) < LARGE else f"{value:g}"


def finite_or_zero(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0


def decimals_for(values: dict[str, float | None]) -> int:
    """Returns how many decimals the pooled values of a score get on the page."""
    return decimals_of(finite_or_zero(values["max"])) - 1


def decimals_of_frames(encodes: Sequence[Encode], key: str) -> int:
    """Returns how many decimals scores of single frames get on the page."""
    scores = (score for encode in encodes for score in encode.scores.get(key, ()) if math.isfinite(score))
    return decimals_of(max(scores, default=0.0)) - 1


def pooled_table(encodes: Sequence[Encode], key: str, head: str = "encode") -> Table:
    high = any(encode.facts(key).worse_is_high for encode in encodes if key in encode.scores)
    columns = COLUMNS_OF_WORSE_HIGH if high else COLUMNS
    rows: list[list[Cell]] = []
    notes: list[str] = []
    for place, encode in enumerate(encodes):
        if key in encode.scores:
            values = pooled_values(encode, key)
            rows.append([Label(encode.name, place), *(number(values[name], decimals_for(values)) for name in columns)])
            notes += _not_shown(encode.scores[key], f" of {encode.name}" if len(encodes) > 1 else "")
    return Table([head, *columns.values()], rows, notes=notes)


def _not_shown(scores: Sequence[float], of: str) -> Iterator[str]:
    infinite = sum(map(math.isinf, scores))
    if 0 < infinite < len(scores):
        yield f"Infinite scores{of} that the pooled values leave out: {infinite:,}."
    if far := sum(MOST_DRAWN < abs(score) < math.inf for score in scores):
        yield f"Scores{of} beyond {MOST_DRAWN:g} that the charts leave out: {far:,}."


def windows_table(encode: Encode, keys: Sequence[str]) -> Table:
    """Returns a table of all windows, or of those that are worst by the first key, in the order of time."""
    windows = encode.windows
    known = [key for key in keys if any(window.pooled.get(key) is not None for window in windows)]
    intro = ""
    if len(windows) > MOST_WINDOWS and known:
        windows = sorted(_worst(encode, known[0])[:MOST_WINDOWS], key=lambda window: window.first_frame)
        intro = f"The {MOST_WINDOWS} windows with the worst {known[0]} of {len(encode.windows)}."
    decimals = {
        key: decimals_of(max(finite_or_zero(window.pooled.get(key)) for window in windows)) - 1 for key in known
    }
    rows = []
    for window in windows:
        scores = [number(window.pooled.get(key), decimals[key]) for key in known]
        time = "–" if window.time is None else time_text(window.time)
        rows.append([time, f"{window.first_frame}–{window.last_frame}", *scores])
    return Table(["from", "frames", *known], rows, intro=intro)


def _worst(encode: Encode, key: str) -> list[Window]:
    scored = [
        (score, window)
        for window in encode.windows
        if (score := window.pooled.get(key)) is not None and not math.isnan(score)
    ]
    high = encode.facts(key).worse_is_high
    return [window for _, window in sorted(scored, key=lambda pair: pair[0], reverse=high)]


def doubts_table(encodes: Sequence[Encode]) -> Table | None:
    """Returns a table of what makes the scores doubtful; None if nothing does."""
    rows: list[list[Cell]] = [
        [
            Label(encode.name, place),
            str(doubt["text"]),
            str(doubt.get("certainty", "told by ffmpeg" if doubt["kind"] in OF_ERRORS else "counted")),
            pairs_text(doubt) or "–",
            Lines([str(remedy) for remedy in doubt["remedies"]]),
        ]
        for place, encode in enumerate(encodes)
        for doubt in doubts_of(encode)
    ]
    heads = ["encode", "what is seen", "how sure", "where", "what helps"]
    return Table(heads, rows, texts=len(heads)) if rows else None


def run_tables(encodes: Sequence[Encode]) -> list[Table]:
    """Returns tables of how the frames were paired, and what computed the scores: one of what all encodes have in
    common, one of what differs.
    """
    names = [name for name in dict.fromkeys(name for encode in encodes for name in encode.pairing)]
    rows = [["frames", *(str(len(encode.numbers)) for encode in encodes)]]
    rows += [[name.replace("_", " "), *(_text(encode.pairing.get(name)) for encode in encodes)] for name in names]
    rows += [
        [name, *(_text(encode.run.get(name)) for encode in encodes)]
        for name in ("version", "models", "backend", "device", "cpu", "threads", "n_subsample")
    ]
    filled = [row for row in rows if any(cell != "–" for cell in row[1:])]
    common = [row[:2] for row in filled if len(set(row[1:])) == 1]
    differing = [row for row in filled if len(set(row[1:])) > 1]
    head: Cell = f"all {len(encodes)} encodes" if len(encodes) > 1 else Label(encodes[0].name, 0)
    tables = (
        Table(["fact", head], common),
        Table(["fact", *(Label(encode.name, place) for place, encode in enumerate(encodes))], differing),
    )
    return [table for table in tables if table.rows]


def _text(value: Any) -> str:
    """Returns a fact of the run as text: a text, a number, or one for each metric."""
    if isinstance(value, dict):
        texts = (_text(part) for part in value.values() if not isinstance(part, dict))
        return ", ".join(dict.fromkeys(text for text in texts if text != "–")) or "–"
    return "–" if value in (None, "null", "") or isinstance(value, list) else str(value)
