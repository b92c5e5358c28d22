"""The result of scoring encodes against a reference, as a table and as JSON."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._findings import doubt_text, doubts_of
from ._keys import Facts, stands_for
from ._models import metrics_of
from ._names import redact
from ._regions import whole_key
from ._scores import Encode
from ._scoring import TimeRange, Work
from ._statistics import has_harmonic, pooled_values, worst_frames, worst_tail_name, worst_value_name
from ._terminal import counted, decimals_of, emit, print_table, shown, time_text
from ._whole import Promise, promise_of

SCHEMA = 1  # version of the layout of --json
HEADS = "mean", "harmonic", "worst", "worst 5 %", "worst frame", "at"  # heads of the columns of score_cells()


@dataclass
class Result:
    """The scores of some encodes, and all that one must know about how they were made."""

    encodes: list[Encode]
    keys: list[str]  # scores that were asked for
    files: list[str]  # the encodes, the reference last
    models: dict[str, dict[str, Any]] = field(default_factory=dict)  # the models by the keys of their scores
    preparation: list[str] = field(default_factory=list)  # how the inputs were made alike
    promises: list[Promise] = field(default_factory=list)

    @classmethod
    def of(cls, work: Work, encodes: list[Encode], time_range: TimeRange | None = None) -> "Result":
        return cls(
            encodes,
            asked_keys(encodes[0], work),
            [redact(video.path, [video.path]) for video in work.videos],
            {key: model for group in work.groups for key, model in _models(work, group).items()},
            list(work.notes),
            [promise_of(work, number, time_range) for number in range(len(encodes))],
        )

    # -- As a table ----------------------------------------------------------------------------------------------------

    def print_table(self) -> None:
        rows = [[encode.name, key, *self._cells(encode, key)] for encode in self.encodes for key in self.keys]
        print_table(["encode", "score", *HEADS], rows, texts=2)
        emit("".join(f"{line}\n" for line in (*self.facts(), *self.doubts())))

    def _cells(self, encode: Encode, key: str) -> list[str]:
        return score_cells(encode.facts(key), pooled_values(encode, key), _frame_as_json(encode, key))

    @property
    def is_doubtful(self) -> bool:
        return any(doubts_of(encode) or encode.partial for encode in self.encodes)

    def facts(self) -> list[str]:
        """Returns lines of text: the models, how many frames were scored, and where."""
        lines = [
            f"{key}: model {model['model']}, pictures of {model['width']}x{model['height']}"
            for key, model in self.models.items()
        ]
        lines += list(dict.fromkeys(text for encode in self.encodes for text in _conversion_texts(encode)))
        places = [_place(encode) for encode in self.encodes]
        for encode, promise, place in zip(self.encodes, self.promises, places):
            name = f"{shown(encode.name)}: " if len(self.encodes) > 1 else ""
            frames = counted(len(encode.numbers), "frame")
            if promise.frames and promise.frames > len(encode.numbers):
                frames = f"{len(encode.numbers)} of {counted(promise.frames, 'frame')}"
            part = ", partial" if encode.partial else ""
            lines.append(f"{name}{frames}{part}{place}")
        return lines

    def doubts(self) -> list[str]:
        """Returns a line of text for each reason to doubt the scores."""
        return [
            f"{f'{shown(encode.name)}: ' if len(self.encodes) > 1 else ''}doubtful: {doubt_text(doubt)}"
            for encode in self.encodes
            for doubt in doubts_of(encode)
        ]

    # -- As JSON -------------------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "reference": self.files[-1],
            "scores": self.keys,
            "models": self.models,
            "preparation": self.preparation,
            "encodes": [self._encode_as_json(i, path) for i, path in enumerate(self.files[:-1])],
        }

    def _encode_as_json(self, number: int, path: str) -> dict[str, Any]:
        encode = self.encodes[number]
        promised = self.promises[number].frames if self.promises else None
        return {
            "name": encode.name,
            "file": path,
            "frames": len(encode.numbers),
            "frames_promised": promised,
            "partial": encode.partial,
            "pooled": {key: with_texts(pooled_values(encode, key)) for key in encode.scores},
            "aggregates": with_texts(encode.aggregates),
            "worst_frame": {key: _frame_as_json(encode, key) for key in self.keys},
            "pairing": encode.pairing,
            "doubts": encode.doubts,
            "backend": encode.run.get("backend", {}),
            "device": encode.run.get("device"),
            "conversion": encode.run.get("conversion"),
            "warnings": encode.warnings,
        }


def _conversion_texts(encode: Encode) -> list[str]:
    """Returns a line on each color space that the pictures were converted to."""
    told = encode.run.get("conversion") or []
    return [_conversion_text(one) for one in (told if isinstance(told, list) else [told])]


def _conversion_text(told: Mapping[str, Any]) -> str:
    names = f"{', '.join(told['models'])}: " if "models" in told else ""
    tones = f"; tones of HDR by the {told['tone_mapping']}" if "tone_mapping" in told else ""
    return f"{names}pictures were converted to {told['target']}, {told['bits']} bits, {told['chroma']}{tones}"


def _models(work: Work, group: Any) -> dict[str, dict[str, Any]]:
    size = work.size_of(group)
    return {key: {"model": name, "width": size.width, "height": size.height} for key, name in group.keys.items()}


def asked_keys(encode: Encode, work: Work) -> list[str]:
    """Returns the keys of the models' scores, and the main ones of the features that were asked for, also for CSV,
    which does not tell these; then those that regions have of models.
    """
    if "scores" in encode.run:
        features = [key for key in encode.scores if (facts := encode.facts(key)).main and facts.metric]
    else:
        metrics = metrics_of(work.settings.features)
        features = [key for key in encode.scores if any(stands_for(key, metric) for metric in metrics)]
    of_models = [key for key in encode.scores if whole_key(key, work.models)]
    return [key for key in (*work.models, *features, *of_models) if key in encode.scores]


def score_cells(facts: Facts, pooled: Mapping[str, Any], worst: Mapping[str, Any] | None) -> list[str]:
    """Returns the cells of a score in a table; `pooled` and `worst` are as in --json.

    The highest value is the worst one if high values of a score are bad.
    """
    if not has_harmonic(pooled.get("min")):
        pooled = {**pooled, "harmonic_mean": None}
    finite = [value for value in pooled.values() if isinstance(value, float | int) and math.isfinite(value)]
    decimals = decimals_of(max(finite, default=0))
    names = "mean", "harmonic_mean", worst_value_name(facts), worst_tail_name(facts)
    place = [str(worst["frame"]), time_text(worst["time"])] if worst else ["–", "–"]
    return [*(_number(pooled.get(name), decimals) for name in names), *place]


def _number(value: Any, decimals: int) -> str:
    if value is None:
        return "–"
    return f"{float(value):.{decimals}f}"


def with_texts(values: Mapping[str, float | None]) -> dict[str, Any]:
    """Replaces infinite values by texts, as JSON has no infinity."""
    return {name: value if value is None or math.isfinite(value) else str(value) for name, value in values.items()}


def _place(encode: Encode) -> str:
    """Returns words for the processors that the metrics ran on; "" if the report does not say."""
    backends = encode.run.get("backend") or {}
    if not backends:
        return ""
    on_cpu = [metric for metric, backend in backends.items() if backend != "hip"]
    cpu = f"the CPU ({encode.run['cpu']})" if encode.run.get("cpu") else "the CPU"
    if not encode.run.get("device") or len(on_cpu) == len(backends):
        return f", scored on {cpu}"
    device = f", scored on the GPU {encode.run['device']}"
    return f"{device}, {', '.join(on_cpu)} on {cpu}" if on_cpu else device


def _frame_as_json(encode: Encode, key: str) -> dict[str, Any] | None:
    for i in worst_frames(encode, key, 1):
        score = encode.scores[key][i]
        return {
            "frame": encode.numbers[i],
            "time": encode.position(i),
            "score": score if math.isfinite(score) else None,
        }
    return None
