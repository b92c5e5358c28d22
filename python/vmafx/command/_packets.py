"""Hashes the first and the last packets of a video: they tell its content apart, and reading them takes no longer for a
long file than for a short one.

A hash is the SHA-256 of lines, one for each packet in the order of the file, as ffprobe writes them with
-show_data_hash sha256: "SHA256:", the hexadecimal digits of the packet's data, and the end of the line. So
`ffprobe -v error -select_streams V:0 -show_data_hash sha256 -show_entries packet=data_hash -of default=nw=1:nk=1
-read_intervals %+#8 FILE | sha256sum` prints that of the first packets.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

from . import _json
from ._ffmpeg import SEEKABLE, ask_ffprobe, fraction_in, number_in
from ._run import READING_S
from ._terminal import Failure

Hashed: TypeAlias = dict[str, Any] | None  # {"packets": how many, "sha256": their hash}; None: not read

MOST_PACKETS = 8  # hashed at either end
SPARE_PACKETS = 4  # that are read before the last ones, as times are rounded and pictures are out of order
USUAL_BACK_S = 1.0  # before the end, where no rate is known
HASH = "-show_data_hash", "sha256", "-of", "json", "-show_entries"
FACTS = ":stream=start_time,duration,avg_frame_rate:format=format_name,start_time,duration"


def ends_of(ffprobe: str, path: str, options: Sequence[str] = ()) -> dict[str, Hashed]:
    """Returns the hashes of the `first` and the `last` packets. The last ones are read only where ffprobe finds their
    place: in a container that has an index or times. None stands for what cannot be read: scores that are there do not
    depend on it. `options`: words for ffmpeg before -i.
    """
    told = _told(ffprobe, path, f"%+#{MOST_PACKETS}", f"packet=data_hash{FACTS}", options)
    hashes = {"first": _hashed(told, slice(MOST_PACKETS)), "last": None}
    if (place := _place_of_last(told)) is not None:
        last = _told(ffprobe, path, f"{place:.6f}%", "packet=data_hash", options)
        hashes["last"] = _hashed(last, slice(-MOST_PACKETS, None))
    return hashes


def _told(ffprobe: str, path: str, interval: str, entries: str, options: Sequence[str]) -> dict[str, Any]:
    words = "-read_intervals", interval, *HASH, entries
    try:
        told = _json.parse(ask_ffprobe(ffprobe, path, *words, options=options, limit_s=READING_S))
    except (Failure, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _hashed(told: dict[str, Any], which: slice) -> Hashed:
    lines = [f"{packet['data_hash']}\n" for packet in told.get("packets", []) if "data_hash" in packet][which]
    return {"packets": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()} if lines else None


def _place_of_last(told: dict[str, Any]) -> float | None:
    """Returns where reading must begin for the last packets, in the file's own time; None if it cannot be told."""
    container = told.get("format", {})
    if SEEKABLE.isdisjoint(str(container.get("format_name", "")).split(",")):
        return None
    stream: dict[str, Any] = next(iter(told.get("streams", [])), {})
    for part in (stream, container):
        begin, length = number_in(part.get("start_time")), number_in(part.get("duration"))
        if length is not None:
            rate = fraction_in(str(stream.get("avg_frame_rate", "")))
            back = float((MOST_PACKETS + SPARE_PACKETS) / rate) if rate and rate > 0 else USUAL_BACK_S
            return max((begin or 0.0) + length - back, begin or 0.0)
    return None
