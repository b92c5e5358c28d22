"""Tables of the page: pooled values, windows, how the run went."""

from collections.abc import Sequence
from html import escape

from .._keys import worse_is_high
from .._scores import Encode, Window
from .._statistics import pooled_values
from .._terminal import decimals_of, time_text
from .plots import key_of

MOST_WINDOWS = 60  # that are listed of an encode
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


def number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Cells are HTML. The first `texts` columns are words, the others numbers."""
    head = "".join(f'<th scope="col"{_kind(i, texts)}>{cell}</th>' for i, cell in enumerate(heads))
    body = "".join(f"<tr>{_row(row, texts)}</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _row(cells: Sequence[str], texts: int) -> str:
    first, *rest = cells
    return f'<th scope="row">{first}</th>' + "".join(f"<td{_kind(i, texts)}>{cell}</td>" for i, cell in enumerate(rest, 1))


def _kind(i: int, texts: int) -> str:
    return "" if i < texts else ' class="n"'


def pooled_table(encodes: Sequence[Encode], key: str) -> str:
    rows = []
    for place, encode in enumerate(encodes):
        if key in encode.scores:
            values = pooled_values(encode, key)
            decimals = decimals_of(values["max"] or 0) - 1
            rows.append([key_of(place) + escape(encode.name), *(number(values[name], decimals) for name in COLUMNS)])
    return table(["encode", *COLUMNS.values()], rows)


def windows_table(encode: Encode, keys: Sequence[str]) -> str:
    """All of them, or the worst by the first key, in the order of time."""
    windows = encode.windows
    known = [key for key in keys if any(window.pooled.get(key) is not None for window in windows)]
    note = ""
    if len(windows) > MOST_WINDOWS and known:
        windows = sorted(_worst(windows, known[0])[:MOST_WINDOWS], key=lambda window: window.first_frame)
        note = f"<p>The {MOST_WINDOWS} windows with the worst {escape(known[0])} of {len(encode.windows)}.</p>"
    decimals = {key: decimals_of(max(window.pooled.get(key) or 0 for window in windows)) - 1 for key in known}
    rows = []
    for window in windows:
        scores = [number(window.pooled.get(key), decimals[key]) for key in known]
        rows.append([time_text(window.time), f"{window.first_frame}–{window.last_frame}", *scores])
    return note + table(["from", "frames", *(escape(key) for key in known)], rows)


def _worst(windows: Sequence[Window], key: str) -> list[Window]:
    scored = [window for window in windows if window.pooled.get(key) is not None]
    return sorted(scored, key=lambda window: window.pooled[key] or 0, reverse=worse_is_high(key))


def run_table(encodes: Sequence[Encode]) -> str:
    """How the frames were paired, and what computed the scores."""
    names = [name for name in dict.fromkeys(name for encode in encodes for name in encode.pairing)]
    rows = [["frames", *(str(len(encode.numbers)) for encode in encodes)]]
    rows += [[escape(name.replace("_", " ")), *(f"{encode.pairing.get(name, '–')}" for encode in encodes)] for name in names]
    rows += [[escape(name), *(_run_cell(encode, name) for encode in encodes)] for name in ("version", "backend", "device", "cpu", "threads", "n_subsample")]
    filled = [row for row in rows if any(cell != "–" for cell in row[1:])]
    return table(["", *(key_of(place) + escape(encode.name) for place, encode in enumerate(encodes))], filled)


def _run_cell(encode: Encode, name: str) -> str:
    value = encode.run.get(name)
    if isinstance(value, dict):
        value = ", ".join(dict.fromkeys(map(str, value.values())))
    return "–" if value in (None, "null", "") else escape(str(value))
