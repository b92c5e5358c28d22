"""score one or several encodes of a video against the video

ffmpeg decodes and its filter vmafx scores; the command makes the inputs alike, shows how far it is, and prints what the filter reports.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import _ffmpeg, _jobs, _parts, _sync
from ._said import Said
from ._scores import Encode, read_scores
from ._scoring import Begin, Begins, Reach, Settings, Work, models_of, prepare, score
from ._statistics import pooled_values, worst_frames
from ._terminal import Failure, check_output, decimals_of, note, print_table, progress, time_text, whole_file
from .page.page import Page
from .page.pictures import Media
from .page.tables import number
from .report import add_page_arguments, find_dygraphs, write_page

LOG_FORMATS = "json", "ndjson", "csv", "xml"
MOST_SEARCH = 600  # seconds
SCHEMA = 1  # of --json
POOLED = {"mean": "mean", "harmonic_mean": "harmonic", "min": "min", "p5": "5 %"}
HEADS = *POOLED.values(), "worst frame", "at"  # of score_cells()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("videos", nargs="+", metavar="VIDEO", help="DISTORTED… REFERENCE: one or several encodes, the reference last")
    add("--window", metavar="WINDOW", help="also pool the scores of every so many seconds, or of each 'keyframe' interval, for reports")
    add("--json", action="store_true", help="print the result as JSON")
    add("--report", type=Path, metavar="FILE.html", help="also write the page that `vmafx report` makes, with pictures of the worst frames")
    add("--log", type=Path, metavar="FILE", help="also write the filter's report: .json, .ndjson, .csv or .xml")
    add("--device", type=_devices, default=[], metavar="DEVICE", help="the GPU: an index or a PCI address; several, with commas, score at the same time")
    add("--jobs", type=_job_number, metavar="N", help="score parts in so many runs of ffmpeg at once, 'auto': a run for four processors (default: 1)")
    help_sync = "find out how much later or earlier than the reference each encode begins, up to so many seconds (default: %(const)g), and skip that"
    add("--sync", type=_search, nargs="?", const=_sync.USUAL_SECONDS, metavar="SECONDS", help=help_sync)
    help_offset = "the encode begins so much later than the reference (-0.48: earlier), for all encodes or, repeated, for each of them; skip that"
    add("--offset", type=_offset, action="append", default=[], metavar="SECONDS", help=help_offset)
    add("--range", type=_range, metavar="RANGE", help="score this part alone: 60s-120s; `vmafx merge` joins logs of such parts")
    add_scoring_arguments(parser)
    add_page_arguments(parser)


def add_scoring_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of all subcommands that score."""
    add = parser.add_argument
    add("--model", action="append", metavar="MODEL", help="as the filter's option model; may be repeated; 'none' for features only (default: vmaf_v0.6.1)")
    add("--feature", action="append", default=[], metavar="FEATURE", help="as the filter's option feature (psnr, name=psnr:enable_chroma=false); may be repeated")
    add("--backend", choices=("auto", "cpu", "hip"), help="where the filter computes (default: auto)")
    add("--threads", type=int, metavar="N", help="threads of the filter (default: as many as the process may use)")
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; it needs the filter vmafx")


def _devices(text: str) -> list[str]:
    devices = [device.strip() for device in text.split(",")]
    if not all(devices):
        raise argparse.ArgumentTypeError(f"a GPU between the commas of '{text}' has no name")
    return devices


def _job_number(text: str) -> int:
    """0: as many as suit the machine."""
    if text == "auto":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of jobs: 1, 2, … or 'auto'")
    return int(text)


def _search(text: str) -> float:
    seconds = _number(text)
    if seconds is None or not 0 < seconds <= MOST_SEARCH:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds up to {MOST_SEARCH}; write --sync after the videos, or --sync=5")
    return seconds


def _offset(text: str) -> Begin:
    seconds = _number(text)
    if seconds is None or not math.isfinite(seconds):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return Begin(Fraction(seconds), f"begins {abs(seconds):g} s {'earlier' if seconds < 0 else 'later'} than the reference, as --offset says")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _range(text: str) -> Reach:
    try:
        return Reach.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: use 60s-120s, -60s or 60s-, in whole milliseconds") from None


def run(arguments: argparse.Namespace) -> int:
    _check_arguments(arguments)
    *dists, ref = arguments.videos
    settings = scoring_settings(arguments, arguments.window)
    work = prepare(settings, dists, ref, begins=_begins(arguments, settings))
    for line in work.notes:
        note(line)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / f"scores{arguments.log.suffix.lower() if arguments.log else '.json'}"
        said, facts = _score(arguments, work, log)
        for warning in said.warnings:
            note(warning)
        encodes = _read(log, work)
        for encode in encodes:
            encode.run = facts | encode.run
        if arguments.log:
            with whole_file(arguments.log) as path:
                path.write_bytes(log.read_bytes())
    result = Result(encodes, asked_keys(encodes[0], work, said.features), arguments.videos)
    if arguments.json:
        json.dump(result.as_json(), sys.stdout, indent=2)
        print()
    else:
        result.print_table()
    if arguments.report:
        starts = {video.path: zero for video, zero in zip(work.videos, work.zeros())}
        media = Media(work.settings.ffmpeg, dists, ref, starts)
        page = Page(encodes, result.keys, media, warnings=work.notes + said.warnings, scenes=arguments.scenes)
        write_page(arguments.report, page, arguments.dygraphs)
    return 0


def _score(arguments: argparse.Namespace, work: Work, log: Path) -> tuple[Said, dict[str, Any]]:
    """What ffmpeg said, and what the report does not say of the runs."""
    jobs = _job_count(arguments)
    parts = _jobs.cut_for(work, jobs) if jobs > 1 else []
    if len(parts) > 1:
        try:
            with progress() as shown:
                return _jobs.score_in_jobs(work, parts, log, jobs, arguments.device, shown.show)
        except _parts.Indivisible as failure:
            note(f"{failure}\n  All is scored in one run.")
    elif jobs > 1:
        note("the videos are too short for parts, or do not say how long they are: scored in one run")
    device = next(iter(arguments.device), None)
    with progress() as shown:
        if arguments.range:
            return _parts.score_part(work, arguments.range, log, device=device, show=shown.show)[0], {}
        return score(work, log, device=device, show=shown.show), {}


def _job_count(arguments: argparse.Namespace) -> int:
    if arguments.jobs == 0:
        return _jobs.usual_jobs(arguments.device)
    return arguments.jobs or (1 if arguments.range else max(1, len(arguments.device)))


def _begins(arguments: argparse.Namespace, settings: Settings) -> Begins | None:
    """As they are given, one for all encodes or one for each; or as they are found."""
    given: list[Begin] = arguments.offset
    if given:
        return lambda dists, ref: given * (len(dists) if len(given) == 1 else 1)
    if arguments.sync is None:
        return None
    return lambda dists, ref: [_sync.find_begin(settings, dist, ref, arguments.sync) for dist in dists]


def scoring_settings(arguments: argparse.Namespace, window: str | None = None, device: str | None = None) -> Settings:
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg)
    return Settings(
        ffmpeg,
        _ffmpeg.ffprobe_of(ffmpeg),
        models=models_of(arguments.model),
        features=tuple(arguments.feature),
        window=window,
        backend=arguments.backend,
        device=device,
        threads=arguments.threads,
    )


def _check_arguments(arguments: argparse.Namespace) -> None:
    if len(arguments.videos) < 2:
        raise Failure("at least two videos are needed: an encode, and the reference as the last one", 2)
    for path in (arguments.report, arguments.log):
        if path:
            check_output(path)
    find_dygraphs(arguments.dygraphs, quiet=True)
    if arguments.log and arguments.log.suffix.lower().removeprefix(".") not in LOG_FORMATS:
        raise Failure(f"the name of the log ends with .{', .'.join(LOG_FORMATS)}, and {arguments.log} does not", 2)
    if arguments.log and arguments.log.suffix.lower() == ".xml" and len(arguments.videos) > 2:
        raise Failure("a log in XML has no place for several encodes: use .json, .ndjson or .csv", 2)
    if arguments.sync and arguments.offset:
        raise Failure("--offset says what --sync would find: one of them is enough", 2)
    if len(arguments.offset) not in (0, 1, len(arguments.videos) - 1):
        raise Failure(f"--offset is given once for all encodes or once for each, and not {len(arguments.offset)} times for {len(arguments.videos) - 1}", 2)
    if arguments.range and arguments.jobs is not None:
        raise Failure("--range is a part of the stream already, which --jobs does not cut again", 2)
    if _job_count(arguments) > 1:
        if arguments.log and arguments.log.suffix.lower() == ".ndjson":
            raise Failure("a log in NDJSON grows frame by frame, which that of --jobs does not: use .json, .csv or .xml", 2)
        _parts.check_merge()


# -- The result ------------------------------------------------------------------------------------------------------------


def _read(log: Path, work: Work) -> list[Encode]:
    encodes = read_scores(log)
    for encode, name in zip(encodes, work.names):
        encode.name = name
        if encode.partial:
            note(f"{name}: {encode.warnings[0]}")
    return encodes


def asked_keys(encode: Encode, work: Work, features: Sequence[str]) -> list[str]:
    """Of the models, which are the last keys of a report, and of the features that were asked for."""
    keys = list(encode.scores)
    return keys[len(keys) - work.settings.model_count() :] + [key for key in features if key in encode.scores]


@dataclass
class Result:
    encodes: list[Encode]
    keys: list[str]  # that were asked for
    videos: list[str]

    def print_table(self) -> None:
        rows = [[encode.name, key, *self._cells(encode, key)] for encode in self.encodes for key in self.keys]
        print_table(["encode", "score", *HEADS], rows, texts=2)

    def _cells(self, encode: Encode, key: str) -> list[str]:
        return score_cells(pooled_values(encode, key), _frame_as_json(encode, key))

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


def score_cells(pooled: dict[str, float | None], worst: dict[str, Any] | None) -> list[str]:
    """A score in a table; `pooled` and `worst` as in --json."""
    decimals = decimals_of(pooled["max"] or 0)
    return [*(number(pooled[name], decimals) for name in POOLED), *([str(worst["frame"]), time_text(worst["time"])] if worst else ["–", "–"])]


def _frame_as_json(encode: Encode, key: str) -> dict[str, Any] | None:
    for i in worst_frames(encode, key, 1):
        score = encode.scores[key][i]
        return {"frame": encode.numbers[i], "time": encode.position(i), "score": score if math.isfinite(score) else None}
    return None
