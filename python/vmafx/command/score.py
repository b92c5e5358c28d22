"""score one or several encodes of a video against the video

ffmpeg decodes and its filter vmafx scores; the command makes the inputs alike, shows how far it is, and prints what the filter reports.
"""

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _ffmpeg, _inputs
from ._run import Said, fail, run_ffmpeg
from ._scores import Encode, read_scores
from ._statistics import pooled_values, worst_frames
from ._terminal import Failure, check_output, decimals_of, note, print_table, time_text, whole_file
from .page.page import Page
from .page.pictures import Media
from .report import add_page_arguments, find_dygraphs, write_page

LOG_FORMATS = "json", "ndjson", "csv", "xml"
MOST_ENCODES = 16
SCHEMA = 1  # of --json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("videos", nargs="+", metavar="VIDEO", help="DISTORTED… REFERENCE: one or several encodes, the reference last")
    add("--model", action="append", metavar="MODEL", help="as the filter's option model; may be repeated; 'none' for features only (default: vmaf_v0.6.1)")
    add("--feature", action="append", default=[], metavar="FEATURE", help="as the filter's option feature (psnr, name=psnr:enable_chroma=false); may be repeated")
    add("--window", metavar="WINDOW", help="also pool the scores of every so many seconds, or of each 'keyframe' interval, for reports")
    add("--json", action="store_true", help="print the result as JSON")
    add("--report", type=Path, metavar="FILE.html", help="also write the page that `vmafx report` makes, with pictures of the worst frames")
    add("--log", type=Path, metavar="FILE", help="also write the filter's report: .json, .ndjson, .csv or .xml")
    add("--backend", choices=("auto", "cpu", "hip"), help="where the filter computes (default: auto)")
    add("--device", metavar="DEVICE", help="the GPU: an index or a PCI address")
    add("--threads", type=int, metavar="N", help="threads of the filter (default: as many as the process may use)")
    add_page_arguments(parser)
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; it needs the filter vmafx")


def run(arguments: argparse.Namespace) -> int:
    _check_arguments(arguments)
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg)
    ffprobe = _ffmpeg.ffprobe_of(ffmpeg)
    *dists, ref = [_ffmpeg.probe(ffprobe, path) for path in arguments.videos]
    plan = _inputs.make_alike(dists, ref)
    for line in plan.notes:
        note(line)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / f"scores{arguments.log.suffix.lower() if arguments.log else '.json'}"
        options = _filter_options(arguments, dists, log)
        said = run_ffmpeg(_command(ffmpeg, dists, ref, plan, options), _length(dists, ref))
        encodes = _read(log, dists, said)
        if arguments.log:
            with whole_file(arguments.log) as path:
                path.write_bytes(log.read_bytes())
    result = Result(encodes, _keys(encodes[0], arguments, said), arguments.videos)
    if arguments.json:
        json.dump(result.as_json(), sys.stdout, indent=2)
        print()
    else:
        result.print_table()
    if arguments.report:
        starts = {video.path: video.start for video in (*dists, ref)} if plan.zero_starts else {}
        media = Media(ffmpeg, [video.path for video in dists], ref.path, starts)
        write_page(arguments.report, Page(encodes, result.keys, media, warnings=plan.notes + said.warnings), arguments.dygraphs)
    return 0


def _check_arguments(arguments: argparse.Namespace) -> None:
    if len(arguments.videos) < 2:
        raise Failure("at least two videos are needed: an encode, and the reference as the last one", 2)
    if len(arguments.videos) > MOST_ENCODES + 1:
        raise Failure(f"the filter scores up to {MOST_ENCODES} encodes at once, not {len(arguments.videos) - 1}", 2)
    for path in (arguments.report, arguments.log):
        if path:
            check_output(path)
    find_dygraphs(arguments.dygraphs, quiet=True)
    if arguments.log and arguments.log.suffix.lower().removeprefix(".") not in LOG_FORMATS:
        raise Failure(f"the name of the log ends with .{', .'.join(LOG_FORMATS)}, and {arguments.log} does not", 2)
    if arguments.log and arguments.log.suffix.lower() == ".xml" and len(arguments.videos) > 2:
        raise Failure("a log in XML has no place for several encodes: use .json, .ndjson or .csv", 2)


# -- The command line of ffmpeg --------------------------------------------------------------------------------------------


def _filter_options(arguments: argparse.Namespace, dists: Sequence[_ffmpeg.Video], log: Path) -> str:
    options: dict[str, Any] = {
        "model": _models(arguments.model),
        "feature": "|".join(arguments.feature) or None,
        "window": arguments.window,
        "backend": arguments.backend,
        "device": arguments.device,
        "n_threads": arguments.threads,
        "log_path": log,
        "shortest": 1,
    }
    if len(dists) > 1:
        options |= {"encodes": len(dists), "encode_names": "|".join(_names([video.path for video in dists]))}
    return ":".join(f"{name}={_escape(str(value))}" for name, value in options.items() if value is not None)


def _models(models: Sequence[str] | None) -> str | None:
    """Several of them need names: those that have none are called by their version or file."""
    if models is None:
        return None
    if models == ["none"]:
        return ""
    texts = [text for model in models for text in model.split("|")]
    if len(texts) == 1:
        return texts[0]
    return "|".join(text if re.search(r"(?:^|:)name=", text) else f"{text}:name={_name_of_model(text)}" for text in texts)


def _name_of_model(text: str) -> str:
    first = text.split(":")[0]
    return Path(first.removeprefix("path=")).stem if first.startswith("path=") else first.removeprefix("version=")


def _names(paths: Sequence[str]) -> list[str]:
    """The names of the files, or as much of their paths as tells them apart; | separates names in the filter."""
    parts = [Path(path).parts[::-1] for path in paths]
    count = 1
    while len({part[:count] for part in parts}) < len(parts) and count < max(map(len, parts)):
        count += 1
    names = ["/".join(part[:count][::-1]).replace("|", "_") for part in parts]
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _escape(value: str) -> str:
    """Once for the list of options, once for the graph."""
    option = re.sub(r"([\\':])", r"\\\1", value)
    return re.sub(r"([\\'\[\],;])", r"\\\1", option)


def _command(ffmpeg: str, dists: Sequence[_ffmpeg.Video], ref: _ffmpeg.Video, plan: _inputs.Plan, options: str) -> list[str]:
    """[0:V]…[d0]; … [d0][d1][r]vmafx[s0][s1]: an input and an output for each encode. V: videos, but no cover pictures."""
    chains = [f"[{number}:V:0]{chain}[{label}]" for number, (chain, label) in enumerate(zip([*plan.dist, plan.ref], [*_labels("d", dists), "r"]))]
    inputs = "".join(f"[{label}]" for label in [*_labels("d", dists), "r"])
    outputs = "".join(f"[{label}]" for label in _labels("s", dists))
    graph = ";".join([*chains, f"{inputs}vmafx={options}{outputs}"])
    files = [word for video in (*dists, ref) for word in ("-i", _ffmpeg.input_name(video.path))]
    sinks = [word for label in _labels("s", dists) for word in ("-map", f"[{label}]", "-f", "null", "-")]
    return [ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info", "-progress", "pipe:1", *files, "-filter_complex", graph, *sinks]


def _labels(letter: str, dists: Sequence[_ffmpeg.Video]) -> list[str]:
    return [f"{letter}{number}" for number in range(len(dists))]


# -- The result ------------------------------------------------------------------------------------------------------------


def _length(dists: Sequence[_ffmpeg.Video], ref: _ffmpeg.Video) -> float | None:
    """How long the scoring goes on, in seconds of video."""
    lengths = [min(video.duration, ref.duration) for video in dists if video.duration and ref.duration]
    return max(lengths, default=None)


def _read(log: Path, dists: Sequence[_ffmpeg.Video], said: Said) -> list[Encode]:
    if not log.exists():  # FFmpeg up to 6.1 may end with status 0 all the same
        fail(1, said)
    encodes = read_scores(log)
    for encode, name in zip(encodes, _names([video.path for video in dists])):
        encode.name = name
        if encode.partial:
            note(f"{name}: {encode.warnings[0]}")
    return encodes


def _keys(encode: Encode, arguments: argparse.Namespace, said: Said) -> list[str]:
    """Of the models, which are the last keys of a report, and of the features that were asked for."""
    models = 0 if arguments.model == ["none"] else len((_models(arguments.model) or "vmaf").split("|"))
    keys = list(encode.scores)
    return keys[len(keys) - models :] + [key for key in said.features if key in encode.scores]


@dataclass
class Result:
    encodes: list[Encode]
    keys: list[str]  # that were asked for
    videos: list[str]

    def print_table(self) -> None:
        heads = ["encode", "score", "mean", "harmonic", "min", "5 %", "worst frame", "at"]
        rows = [[encode.name, *self._row(encode, key)] for encode in self.encodes for key in self.keys]
        print_table(heads, rows, texts=2)

    def _row(self, encode: Encode, key: str) -> list[str]:
        values = pooled_values(encode, key)
        decimals = decimals_of(values["max"] or 0)
        shown = ["–" if (value := values[name]) is None else f"{value:.{decimals}f}" for name in ("mean", "harmonic_mean", "min", "p5")]
        worst = worst_frames(encode, key, 1)
        return [key, *shown, *([str(encode.numbers[worst[0]]), time_text(encode.position(worst[0]))] if worst else ["–", "–"])]

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "reference": self.videos[-1],
            "scores": self.keys,
            "encodes": [self._encode_as_json(encode, path) for encode, path in zip(self.encodes, self.videos)],
        }

    def _encode_as_json(self, encode: Encode, path: str) -> dict[str, Any]:
        return {
            "name": encode.name,
            "file": path,
            "frames": len(encode.numbers),
            "pooled": {key: pooled_values(encode, key) for key in encode.scores},
            "worst_frame": {key: _frame_as_json(encode, key) for key in self.keys},
            "pairing": encode.pairing,
            "backend": encode.run.get("backend", {}),
            "warnings": encode.warnings,
        }


def _frame_as_json(encode: Encode, key: str) -> dict[str, Any] | None:
    for i in worst_frames(encode, key, 1):
        score = encode.scores[key][i]
        return {"frame": encode.numbers[i], "time": encode.position(i), "score": score if math.isfinite(score) else None}
    return None
