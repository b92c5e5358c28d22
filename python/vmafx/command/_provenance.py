"""Says where scores come from, so that `vmafx verify` can compute them again: the inputs and how they were prepared,
the models, and the programs. `vmafx score` writes it as the key `provenance` of --json, and of a --log that has room.
"""

import json
import os
import re
import stat
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .. import _header
from . import _ffmpeg
from ._changes import AS_TAGGED, Box, Change, Turn
from ._names import REDACTED, redact
from ._packets import Hashed, ends_of
from ._scores import Encode
from ._scoring import Begin, Settings, TimeRange, Work

SCHEMA = 1
MOST_AT_ONCE = 4  # inputs that are read at the same time
FORMATS = ".json", ".ndjson"  # logs that have room for it
# The settings that change scores; those of models and of input options are told in another form.
OF_SCORES = "features", "scale", "window", "partial", "as_is", "hwaccel", "scale_on", "convert", "roi"
# Input options whose value is for nobody else.
SECRET = re.compile("auth|cookie|header|key|pass|proxy|secret|token|user", re.I)


Packets = list["Future[dict[str, Hashed]]"]  # hashes of each input's packets, the reference last


@contextmanager
def packets_beside(work: Work) -> Iterator[Packets]:
    """Hashes the inputs' packets beside the block. A block that fails does not wait for them."""
    options = [work.settings.dist_options] * len(work.dists) + [work.settings.ref_options]
    hashed: Packets = [Future() for _ in options]
    places = threading.Semaphore(MOST_AT_ONCE)

    def read(path: str, words: Sequence[str], found: "Future[dict[str, Hashed]]") -> None:
        try:
            with places:
                found.set_result(ends_of(work.settings.ffprobe, path, words))
        except BaseException as error:
            found.set_exception(error)

    for video, words, found in zip(work.videos, options, hashed):
        threading.Thread(target=read, args=(video.path, words, found), daemon=True).start()
    yield hashed


def provenance_of(
    work: Work, encodes: Sequence[Encode], log: Path, packets: Packets, time_range: TimeRange | None = None
) -> dict[str, Any]:
    """Returns where these scores come from, as JSON has it. `log`: the filter's report."""
    run, settings = encodes[0].run, work.settings
    return {
        "schema": SCHEMA,
        "command": _header.version,
        "library": run.get("version"),
        "ffmpeg": _ffmpeg.version_of(settings.ffmpeg),
        "cpu": run.get("cpu"),
        "device": run.get("device"),
        "models": run.get("model_sha256", {}),
        "settings": {
            "models": [text for group in work.groups for text in group.models],
            **{name: getattr(settings, name) for name in OF_SCORES},
            "input_options": _without_secrets(settings.dist_options),
            "ref_options": _without_secrets(settings.ref_options),
            "range": str(time_range) if time_range else None,
            "log": log.suffix.removeprefix("."),
        },
        "begins": [str(begin.later) for begin in work.begins] if work.begins else None,
        "inputs": inputs_of(work, packets),
    }


def inputs_of(work: Work, packets: Packets) -> list[dict[str, Any]]:
    """Returns what each input is and how it was prepared, the reference last."""
    chains = [*work.preparation.dist, work.preparation.ref]
    return [
        {
            "file": redact(video.path, [video.path]),
            "bytes": _size_of(video.path),
            "packets": hashed.result(),
            "change": _of_change(change),
            "filters": {"times": chain.times, "pictures": list(chain.pictures)},
        }
        for video, hashed, change, chain in zip(work.videos, packets, work.changes, chains)
    ]


def _size_of(path: str) -> int | None:
    """Returns the bytes of a file; None for a URL or a pattern of names."""
    try:
        found = os.stat(path.removeprefix("file:"))
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def scored_in_place_of(path: str, provenance: Any, number: int, ffprobe: str) -> str | None:
    """Returns the name of the input that was scored if a file is another one: neither its size nor its packets are that
    input's. None if it is that input, or where the provenance does not tell. `number`: the input's; -1 is the
    reference.
    """
    try:
        *dists, ref = provenance["inputs"]
        told = ref if number == -1 else dists[number]
        name, scored, packets = told["file"], told["bytes"], told["packets"]
        options = provenance["settings"]["ref_options" if number == -1 else "input_options"]
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    size = _size_of(path)
    if scored is None or size is None or scored == size:
        return None
    same = not options and ends_of(ffprobe, path) == packets  # packets of the scored one were read with the options
    return None if same else str(name)


def _without_secrets(words: Sequence[str]) -> list[str]:
    """Returns the words of input options, in pairs, with REDACTED for values that are secret."""
    pairs = zip(words[::2], words[1::2])
    return [word for name, value in pairs for word in (name, REDACTED if SECRET.search(name) else value)]


# -- Changes -----------------------------------------------------------------------------------------------------------


def _of_change(change: Change) -> dict[str, Any]:
    """Returns what is changed, without the reasons."""
    told = {
        "turn": [change.turn.quarters, change.turn.mirrored] if change.turn != AS_TAGGED.turn else None,
        "crop": str(change.crop) if change.crop else None,
        "full_range": change.full_range,
        "matrix": change.matrix,
        "cycle": change.cycle,
        "counted": change.counted or None,
        "later": str(change.later) if change.later else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _change_of(told: dict[str, Any]) -> Change:
    """Reads what _of_change() wrote. Raises ValueError."""
    return replace(
        AS_TAGGED,
        turn=Turn(*told["turn"]) if "turn" in told else AS_TAGGED.turn,
        crop=Box.parse(told["crop"]) if "crop" in told else None,
        full_range=told.get("full_range"),
        matrix=told.get("matrix"),
        cycle=told.get("cycle"),
        counted=told.get("counted", False),
        later=Fraction(told.get("later", "0")),
    )


def changes_of(provenance: dict[str, Any]) -> list[Change]:
    """Returns the changes of all inputs, the reference last. Raises ValueError."""
    return [_change_of(told["change"]) for told in provenance["inputs"]]


def begins_of(provenance: dict[str, Any]) -> list[Begin] | None:
    """Returns how the encodes begin, if the user has said that or asked for it. Raises ValueError."""
    told = provenance["begins"]
    return [Begin(Fraction(later), "begins as the report says") for later in told] if told else None


def settings_of(provenance: dict[str, Any], own: Settings) -> Settings:
    """Returns the settings that change scores from a report, and all others from `own`."""
    told = provenance["settings"]
    chosen: dict[str, Any] = {
        name: tuple(told[name]) if isinstance(told[name], list) else told[name] for name in OF_SCORES if name in told
    }
    return replace(own, models=tuple(told["models"]), **chosen)


# -- Logs --------------------------------------------------------------------------------------------------------------


def add_to_log(log: Path, provenance: dict[str, Any]) -> bytes:
    """Returns a report in JSON or NDJSON with its provenance as the last key of all."""
    content = log.read_bytes().rstrip()
    text = json.dumps(provenance, indent=2 if log.suffix == ".json" else None)
    lines = text.replace("\n", "\n  ")
    head = content.removesuffix(b"}").rstrip()
    if log.suffix == ".json":
        return head + f',\n  "provenance": {lines}\n}}\n'.encode()
    return head + f', "provenance": {lines}}}\n'.encode()
