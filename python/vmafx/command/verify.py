"""compute the scores of a report again, and tell whether they are equal

The report says which inputs, models and filters its scores come from. The exit status is 0 if all is equal, 3 if
something differs, and 1 if it cannot be computed again.
"""

import argparse
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._identity import files_of_models
from . import _ffmpeg, _json
from ._differences import Difference, of_aggregates, of_frames, of_inputs, of_models, of_pooled, of_programs
from ._models import Scale
from ._names import FILES_ONLY, REDACTED, redact, why_refused, why_writing
from ._outputs import check_outputs
from ._provenance import begins_of, changes_of, packets_beside, provenance_of, settings_of
from ._reading import MOST_VALUE, Wrong, open_text
from ._result import Result, with_texts
from ._schemas import check_packages, check_provenance, check_result
from ._scores import Encode, read_scores
from ._scoring import Settings, TimeRange, Work, prepare
from ._terminal import Failure, counted, emit, shown
from ._whole import check_whole
from .decoders.chosen import with_decoders
from .decoders.decision import AUTO, METHODS, NONE
from .score import add_input_options, add_places, input_option, read_log, score_in_one_run

SCHEMA = 1  # version of the layout of --json
DIFFERS = 3  # exit status
BEGINNING = 1 << 16  # characters that tell the result of `vmafx score --json` from a report
AGAIN = "name the inputs after the report: vmafx verify REPORT DISTORTED… REFERENCE"
# Input options that a report may set: they tell how samples and times are read, and name no file.
FROM_REPORTS = {
    *("r", "framerate", "f", "s", "video_size", "pix_fmt", "pixel_format", "c", "codec", "vcodec", "export_side_data"),
    *("apply_cropping", "autorotate", "noautorotate", "start_number", "thread_queue_size"),
}
NOT_FORMATS = {"lavfi", "concat", "ffmetadata"}  # demuxers that open what they read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_report = "what `vmafx score` has printed with --json or written with --log, in JSON or NDJSON"
    add("report", type=Path, metavar="REPORT", help=help_report)
    help_videos = "the inputs, if they are no longer where the report says: DISTORTED… REFERENCE"
    add("videos", nargs="*", metavar="VIDEO", help=help_videos)
    add("--json", action="store_true", help="print what was found as JSON")
    add("--device", metavar="DEVICE", help="the GPU to use: an index or a PCI address")
    help_hwaccel = "who decodes, as in vmafx score: 'auto', 'none' or a GPU's decoders (default: as the report says)"
    add("--hwaccel", choices=(AUTO, NONE, *METHODS), metavar="DECODERS", help=help_hwaccel)
    add_input_options(parser)
    add_places(parser)


def run(arguments: argparse.Namespace) -> int:
    check_packages()
    if arguments.backend == "cpu" and arguments.device:
        raise Failure("--device names a GPU, and --backend cpu uses none: leave one of them out", 2)
    report = Report.read(arguments.report)
    names = _names(arguments, report)
    models = files_of_models(report.provenance["settings"]["models"])
    check_outputs([arguments.report, *names, *models, *_ffmpeg.programs(arguments.ffmpeg)], [], force=False)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / f"scores.{report.format}"
        work = with_decoders(_prepared(arguments, report, names), [arguments.device] if arguments.device else [])
        with packets_beside(work) as packets:
            said = score_in_one_run(work, report.time_range, log, arguments.device)
        encodes = read_log(log, work, said)
        result = Result.of(work, encodes, report.time_range)
        check_whole(work, said, encodes, result.keys, report.time_range)
        found = Findings.of(report, provenance_of(work, encodes, log, packets, report.time_range), result)
    emit(json.dumps(found.as_json(), indent=2) + "\n" if arguments.json else "".join(found.screen()))
    return DIFFERS if found.differences else 0


# -- The report --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    path: Path
    provenance: dict[str, Any]
    names: list[str]  # of the encodes
    encodes: list[Encode] | None  # None: the report has pooled scores alone
    pooled: list[dict[str, Any]]
    aggregates: list[dict[str, Any] | None]  # None: the report does not say them
    counts: list[int]  # of frames
    time_range: TimeRange | None

    @property
    def format(self) -> str:
        """The format of the filter's report: pooled scores have other digits in CSV, which has no pooled ones."""
        return str(self.provenance["settings"]["log"])

    @classmethod
    def read(cls, path: Path) -> "Report":
        """Reads the result of `vmafx score --json`, or its log. Raises Failure."""
        try:
            with open_text(path) as file:
                begin = file.read(BEGINNING)
                is_result = _is_result(begin)
                text = begin + file.read(MOST_VALUE) if is_result else ""
            report = cls._of_result(path, text) if is_result else cls._of_log(path)
            _check_settings(report.provenance["settings"])
        except OSError as error:
            raise Failure(f"cannot read {shown(path)}: {error.strerror}") from error
        except Wrong as error:
            raise Failure(f"cannot take {shown(path)} for a report: {error}") from error
        except ValueError as error:
            raise Failure(f"{shown(path)} is not a report that vmafx score has written: {shown(error)}") from error
        count = len(report.provenance["inputs"]) - 1
        if len(report.names) != count:
            told = f"it has scores of {len(report.names)} encodes, and names {count}"
            raise Failure(f"cannot take {shown(path)} for a report: {told}")
        return report

    @classmethod
    def _of_result(cls, path: Path, text: str) -> "Report":
        content = _json.parse(text, object_pairs_hook=_json.unique)
        if isinstance(content, dict) and "provenance" not in content:
            raise _lacks(path)
        check_result(content)
        own, encodes = content["provenance"], content["encodes"]
        names = [encode["name"] for encode in encodes]
        pooled = [encode["pooled"] for encode in encodes]
        aggregates = [encode.get("aggregates") for encode in encodes]
        counts = [encode["frames"] for encode in encodes]
        return cls(path, own, names, None, pooled, aggregates, counts, _range_of(own))

    @classmethod
    def _of_log(cls, path: Path) -> "Report":
        encodes = read_scores(path)
        own = encodes[0].provenance
        if own is None:
            raise _lacks(path)
        check_provenance(own, "provenance")
        # The log of one encode has no name of it.
        names = [encode.name for encode in encodes] if len(encodes) > 1 else [Path(own["inputs"][0]["file"]).name]
        pooled = [{key: with_texts(values) for key, values in encode.pooled.items()} for encode in encodes]
        aggregates: list[dict[str, Any] | None] = [with_texts(encode.aggregates) for encode in encodes]
        counts = [len(encode.numbers) for encode in encodes]
        return cls(path, own, names, encodes, pooled, aggregates, counts, _range_of(own))


def _is_result(begin: str) -> bool:
    return begin.lstrip().startswith("{") and '"frameNum"' not in begin and bool(re.search(r'"schema"\s*:', begin))


def _check_settings(settings: dict[str, Any]) -> None:
    """Checks what the schema cannot. Raises ValueError."""
    Scale.parse(settings["scale"])
    if settings["hwaccel"] not in (AUTO, NONE, *METHODS):
        raise Wrong(f"its decoders are {shown(settings['hwaccel'])}, which this version does not know")


def _range_of(provenance: dict[str, Any]) -> TimeRange | None:
    text = provenance["settings"]["range"]
    return None if text is None else TimeRange.parse(text)


def _lacks(path: Path) -> Failure:
    return Failure(
        f"{shown(path)} does not say where its scores come from, as the key provenance is missing: libvmaf, ffmpeg's "
        "filter alone, or an older version has written it, or it is in CSV or XML. Score with `vmafx score --json`, or "
        "with --log in JSON or NDJSON"
    )


# -- Computing again ---------------------------------------------------------------------------------------------------


def _names(arguments: argparse.Namespace, report: Report) -> list[str]:
    """Returns the names of the inputs: those of the command line, else the report's. Raises Failure."""
    told = [own["file"] for own in report.provenance["inputs"]]
    if arguments.videos:
        if len(arguments.videos) != len(told):
            count = f"{len(told) - 1} encode{'s' if len(told) > 2 else ''} and the reference"
            raise Failure(f"{shown(report.path)} has {count}: name {len(told)} videos, not {len(arguments.videos)}", 2)
        return list(arguments.videos)
    for name in told:
        if REDACTED in name and not os.path.exists(name):
            raise Failure(f"{shown(report.path)} has no secrets of {shown(name)}: {AGAIN}")
        if why := why_refused(name, "."):
            raise Failure(f"{shown(report.path)}: {why.partition(': a list')[0]}: {AGAIN}")
        if not os.path.exists(name) and "%" not in name:
            raise Failure(f"cannot find {shown(name)}, which {shown(report.path)} names: {AGAIN}")
    return told


def _prepared(arguments: argparse.Namespace, report: Report, names: Sequence[str]) -> Work:
    """Returns the work, prepared as the report says. Raises Failure."""
    told = report.provenance
    settings = settings_of(told, _own_settings(arguments, report))
    if arguments.hwaccel:
        settings = replace(settings, hwaccel=arguments.hwaccel)
    if why_writing(settings.models or (), settings.features):
        raise Failure(
            f"a model or a feature in {shown(report.path)} sets an option that may name a file to write, which a "
            "report cannot: score again with vmafx score"
        )
    try:
        changes, begins = changes_of(told), begins_of(told)
    except ValueError as error:
        raise Failure(f"cannot take {shown(report.path)} for a report: {shown(error)}") from error
    if begins and len(begins) != len(names) - 1:
        raise Failure(f"cannot take {shown(report.path)} for a report: it has {len(begins)} beginnings of encodes")
    again = (lambda dists, ref: begins) if begins else None
    return prepare(settings, names[:-1], names[-1], begins=again, changes=changes)


def _own_settings(arguments: argparse.Namespace, report: Report) -> Settings:
    """Returns the settings that change no score, and the input options."""
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg)
    files_only = () if arguments.videos else FILES_ONLY
    return Settings(
        ffmpeg,
        _ffmpeg.ffprobe_of(ffmpeg),
        backend="hip" if arguments.device else arguments.backend,
        device=arguments.device,
        threads=arguments.threads,
        dist_options=_options(arguments.input_option, report, "input_options", "--input-option") + files_only,
        ref_options=_options(arguments.ref_option, report, "ref_options", "--ref-option") + files_only,
    )


def _options(given: Sequence[tuple[str, str]], report: Report, key: str, option: str) -> tuple[str, ...]:
    """Returns the words of input options: those of the command line, else the report's that name no file."""
    if given:
        return tuple(word for words in given for word in words)
    words = report.provenance["settings"][key]
    for name, value in zip(words[::2], words[1::2]):
        own = name.removeprefix("-").partition(":")[0]
        if own not in FROM_REPORTS or REDACTED in value or (own == "f" and value in NOT_FORMATS):
            raise Failure(
                f"the input option {shown(own)} of {shown(report.path)} is not taken from a report: give all options "
                f"with {option}"
            )
        try:
            input_option(f"{name}={value}")
        except argparse.ArgumentTypeError as error:
            raise Failure(f"cannot take {shown(report.path)} for a report: {error}") from error
    return tuple(words[: len(words) // 2 * 2])


# -- What is found -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    report: Report
    differences: list[Difference]
    notes: list[str]

    @classmethod
    def of(cls, report: Report, now: dict[str, Any], result: Result) -> "Findings":
        was = report.provenance
        differences = [*of_inputs(was["inputs"], now["inputs"]), *of_models(was["models"], now["models"])]
        told = result.as_json()["encodes"]
        for number, (name, encode) in enumerate(zip(map(shown, report.names), result.encodes)):
            if report.encodes:
                differences += of_frames(name, report.encodes[number], encode)
                pooled = {key: with_texts(values) for key, values in encode.pooled.items()}
            else:
                pooled = told[number]["pooled"]
                if report.counts[number] != told[number]["frames"]:
                    text = (
                        f"{name}: {counted(told[number]['frames'], 'frame')}, and {report.counts[number]} in the report"
                    )
                    differences.append(Difference("frames", text, {"encode": name}))
            differences += of_pooled(name, report.pooled[number], pooled)
            if (aggregates := report.aggregates[number]) is not None:
                differences += of_aggregates(name, aggregates, with_texts(encode.aggregates))
        return cls(report, differences, of_programs(was, now))

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "report": redact(str(self.report.path)),
            "equal": not self.differences,
            "compared": "frames" if self.report.encodes else "pooled",
            "encodes": [
                {"name": name, "frames": count, "scores": list(pooled)}
                for name, count, pooled in zip(self.report.names, self.report.counts, self.report.pooled)
            ],
            "differences": [difference.as_json() for difference in self.differences],
            "notes": self.notes,
        }

    def screen(self) -> list[str]:
        lines = [f"differs: {difference.text}\n" for difference in self.differences]
        if not lines:
            what = "the scores of all frames" if self.report.encodes else "the pooled scores"
            frames = ", ".join(f"{shown(name)}: {counted(count, 'frame')}" for name, count in self._counts())
            lines = [f"equal: the inputs, the models and {what} are those of the report ({frames})\n"]
        return [*lines, *(f"note: {text}\n" for text in self.notes)]

    def _counts(self) -> list[tuple[str, int]]:
        return list(zip(self.report.names, self.report.counts))
