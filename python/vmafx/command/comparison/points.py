"""The points of the curves: the bit rate and the scores of each encode."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .. import _ffmpeg
from .._keys import Facts
from .._names import FILES_ONLY
from .._scores import Encode, read_scores
from .._scoring import names_of
from .._statistics import pooled_values
from .._terminal import Failure, shown
from .table import LEAST_RATE, MOST_RATE, Row

MOST_SCORE = 1e15  # higher scores are treated as infinite


@dataclass(eq=False)
class Point:
    row: Row
    clip: str  # "" if there is only one
    bitrate: float  # in kbit/s
    size: int | None  # bytes of the video; None if the table gives the bit rate
    frames: int = 0
    values: dict[str, float | None] = field(default_factory=dict)  # pooled scores; None: not all are finite
    facts: dict[str, Facts] = field(default_factory=dict)  # facts of all scores
    keys: list[str] = field(default_factory=list)  # keys of the main scores
    warnings: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)  # their names, by the keys of their scores

    @property
    def series(self) -> str:
        return self.row.series

    @property
    def label(self) -> str:
        return self.row.label

    def take_scores(self, encode: Encode, pool: str) -> None:
        self.frames, self.keys = len(encode.numbers), encode.main_keys()
        self.warnings = [*encode.warnings, *_of_another(self.row, encode)]
        self.models = encode.models
        for key, scores in encode.scores.items():
            whole = all(-MOST_SCORE <= score <= MOST_SCORE for score in scores)
            self.facts[key] = encode.facts(key)
            self.values[key] = pooled_values(encode, key)[pool] if whole else None


def _of_another(row: Row, encode: Encode) -> Iterator[str]:
    """Yields a warning if the report says that its encode is of another size than the row's file. Only reports of
    `vmafx score` tell that.
    """
    try:
        inputs = encode.provenance["inputs"][:-1]
        told = next((one for one in inputs if one["file"] == encode.name), inputs[0])
        name, size = str(told["file"]), int(told["bytes"])
        here = row.file.stat().st_size if row.file else size
    except (TypeError, KeyError, IndexError, ValueError, OSError):
        return
    if here != size:
        yield f"its scores in {row.scores} are of {shown(name)} with {size:,} bytes: the file has {here:,}"


def points_of(rows: Sequence[Row], ffprobe: str | None) -> list[Point]:
    """Returns the points without scores. Bit rates that the table lacks are computed from the files."""
    clips = _clips(rows)
    points = []
    for row, clip in zip(rows, clips):
        size = None
        bitrate = row.bitrate
        if bitrate is None:
            assert row.file and ffprobe
            size, seconds = _size(ffprobe, row)
            bitrate = 8e-3 * size / seconds
            if not LEAST_RATE <= bitrate <= MOST_RATE:
                raise Failure(
                    f"{row.place}: the bit rate of {row.file}, {bitrate:g} kbit/s, cannot be right: "
                    "give it in the column bitrate"
                )
        points.append(Point(row, clip, bitrate, size))
    return points


def _clips(rows: Sequence[Row]) -> list[str]:
    """Returns the clips that the table names, else the names of the references."""
    references = list(dict.fromkeys(row.reference for row in rows if row.reference))
    names = dict(zip(references, names_of([str(path) for path in references])))
    clips = [row.clip or (names[row.reference] if row.reference else "") for row in rows]
    for row, clip in zip(rows, clips):
        if not clip and any(clips):
            raise Failure(f"{row.place}: the encode has neither clip nor reference, as others have: name its clip")
    return clips


def _size(ffprobe: str, row: Row) -> tuple[int, float]:
    """Returns the bytes of the video and its length: the last picture lasts as long as the others on average."""
    packets = list(_ffmpeg.packets(ffprobe, str(row.file), FILES_ONLY))
    times = [time for time, _ in packets]
    if len(times) < 2 or max(times) <= min(times):
        raise Failure(
            f"{row.place}: the bit rate of {row.file} is not known, as its packets have no times: give it in the "
            "column bitrate, in kbit/s"
        )
    return sum(size for _, size in packets), (max(times) - min(times)) * len(times) / (len(times) - 1)


def read_report(row: Row) -> Encode:
    """Returns the encode of a row from its report: the only one, the one that the row names, or the one named as the
    file.
    """
    assert row.scores
    encodes = read_scores(row.scores)
    wanted = row.encode or (row.file.name if row.file else None)
    if len(encodes) == 1 and not row.encode:
        return encodes[0]
    found = [encode for encode in encodes if encode.name == wanted]
    if len(found) != 1:
        names = ", ".join(encode.name for encode in encodes)
        raise Failure(f"{row.place}: {row.scores} has the encodes {names}: name one of them in the column encode")
    return found[0]
