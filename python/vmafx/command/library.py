"""score a library of videos on all processors of this machine, or on a cluster

Dask's distributed runs the tasks. Results are kept on the disk: the command, started again, goes on with the rest.
"""

import argparse
import contextlib
from pathlib import Path

from .._identity import files_of_models
from .._system import processors
from . import _ffmpeg
from ._names import FILES_ONLY
from ._outputs import PAGE, RANGES, RESULTS, Guard, Output, add_force, check_outputs, heatmaps, make_way
from ._regions import masks_of, with_whole_paths
from ._scoring import MOST_ENCODES, models_of
from ._terminal import Count, Failure, note, progress
from .decoders.chosen import decoders_here
from .decoders.decision import AUTO
from .fleet.campaign import Campaign, Options
from .fleet.engine import Place, Task, check_engine, open_engine
from .fleet.pairs import Pair, read_list
from .fleet.store import DATABASES, LINES, Ranges, Results, open_results
from .fleet.summary import Summary, write_summary
from .page.document import check_templates
from .score import DOUBTFUL, add_convert, add_decoders, add_regions, regions_asked, scale_word

PIECE = 15000  # frames of 1080p, which take one processor some minutes
STALL_S = 600.0
TTL_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "list",
        type=Path,
        metavar="LIST",
        help="pairs in CSV or JSONL: distorted, reference; optional: id, models, features",
    )
    add(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="RESULTS",
        help="the file to which results are added as they come: .jsonl, or a database: .sqlite, .db",
    )
    add(
        "--model",
        action="append",
        metavar="MODEL",
        help="a model, as in `vmafx score`, for the lines of the list that name none; may be repeated",
    )
    add(
        "--feature",
        action="append",
        default=[],
        metavar="FEATURE",
        help="a feature, as in `vmafx score`, for the lines of the list that name none; may be repeated",
    )
    add("--scale", type=scale_word, default="model", metavar="SCALE", help="as in `vmafx score` (default: model)")
    add_convert(parser)
    add_regions(parser)
    add(
        "--partial", action="store_true", help="accept damaged or incomplete files, and score the part that can be read"
    )
    add("--as-is", action="store_true", help="take the inputs as their tags say, and do not look at their pictures")
    add("--strict", action="store_true", help=f"end with the status {DOUBTFUL} if any pair is doubtful")
    add("--backend", choices=("auto", "cpu", "hip"), help="where the filter computes (default: auto)")
    add_decoders(parser)
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads of each filter (default: this machine's processors divided by its workers; 1 on a cluster)",
    )
    add(
        "--together",
        type=int,
        default=4,
        metavar="N",
        help=f"encodes of one reference that one run scores, at most {MOST_ENCODES} (default: %(default)s)",
    )
    add(
        "--piece",
        type=float,
        default=PIECE,
        metavar="FRAMES",
        help="cut a run into ranges above this many frames of 1080p; 0: never (default: %(default)s)",
    )
    add(
        "--attempts",
        type=int,
        default=3,
        metavar="N",
        help="tries for a task that a lost worker, a time-out or an I/O error has ended (default: %(default)s)",
    )
    add(
        "--stall",
        type=float,
        default=STALL_S,
        metavar="SECONDS",
        help="end an ffmpeg after this many seconds without progress (default: %(default)g)",
    )
    add("--worst", type=int, default=10, metavar="N", help="how many of the worst pairs to show (default: %(default)s)")
    add("--report", type=Path, metavar="FILE.html", help="also write a page about the whole library")
    add(
        "--allow-protocols",
        action="store_true",
        help="let the list name inputs that FFmpeg opens by a protocol (https: …), not only files",
    )
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; it must have the filter vmafx")
    add_force(parser)
    _add_place(parser)


def _add_place(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where the tasks run")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="the address of a Dask cluster: tcp://HOST:8786")
    where.add_argument(
        "--scheduler-file", type=Path, metavar="FILE", help="the file that `dask scheduler --scheduler-file` writes"
    )
    where.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes on this machine (default: one for each processor, and one for each decoder of its GPUs)",
    )
    group.add_argument(
        "--worker-ttl",
        type=float,
        default=TTL_S,
        metavar="SECONDS",
        help="give up a worker that says nothing for this long (default: %(default)g)",
    )
    group.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a worker's resource that each task takes, as in --resources of dask worker",
    )
    group.add_argument("--dashboard", action="store_true", help="show Dask's dashboard; it needs bokeh")


def run(arguments: argparse.Namespace) -> int:
    if arguments.report:
        check_templates()
    _check(arguments)
    pairs = read_list(arguments.list, models_of(arguments.model), tuple(arguments.feature), arguments.allow_protocols)
    guard = _check_outputs(arguments, pairs)
    place = Place(
        arguments.scheduler,
        arguments.scheduler_file,
        arguments.workers or processors() + _beside(arguments),
        arguments.worker_ttl,
        arguments.dashboard,
        tuple(arguments.resource),
    )
    check_engine()
    options = _options(arguments, place)
    with contextlib.ExitStack() as stack:
        ranges = stack.enter_context(Ranges(arguments.output))
        if arguments.force:
            make_way(arguments.output, RESULTS, guard)
        results = stack.enter_context(contextlib.closing(open_results(arguments.output)))
        campaign = Campaign(pairs, results, ranges, options)
        _score(campaign, place)
        ranges.clear()
        summary = _sum_up(arguments, pairs, results, guard)
    return 1 if summary.failed else DOUBTFUL if arguments.strict and summary.doubtful else 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.output.suffix not in (*LINES, *DATABASES):
        raise Failure(
            f"cannot tell the format of the results {arguments.output}: use {', '.join(LINES)}, "
            f"{' or '.join(DATABASES)}",
            2,
        )
    least = {"--together": arguments.together, "--attempts": arguments.attempts, "--workers": arguments.workers or 1}
    for name, value in least.items():
        if value < 1:
            raise Failure(f"{name} must be 1 or more, not {value}", 2)
    if arguments.together > MOST_ENCODES or arguments.piece < 0 or arguments.stall <= 0 or arguments.worker_ttl <= 0:
        raise Failure(
            f"--together must be at most {MOST_ENCODES}, --piece at least 0, --stall and --worker-ttl more than 0", 2
        )


def _check_outputs(arguments: argparse.Namespace, pairs: list[Pair]) -> Guard:
    videos = dict.fromkeys(name for pair in pairs for name in (pair.distorted, pair.reference))
    pairs = [pair for pair in pairs if pair.error is None]  # options of refused pairs reach no metric
    features = dict.fromkeys([*arguments.feature, *(feature for pair in pairs for feature in pair.features)])
    models = dict.fromkeys([*(arguments.model or []), *(model for pair in pairs for model in pair.models or ())])
    inputs = [arguments.list, arguments.scheduler_file, *videos, *files_of_models(models)]
    inputs += [*masks_of(arguments.roi), *_ffmpeg.programs(arguments.ffmpeg)]
    outputs = [
        Output("-o", arguments.output, RESULTS),
        Output("RESULTS.ranges", arguments.output.with_name(f"{arguments.output.name}.ranges"), RANGES),
        arguments.report and Output("--report", arguments.report, PAGE),
        *heatmaps([*features, *models]),
    ]
    return check_outputs(inputs, outputs, arguments.force)


def _beside(arguments: argparse.Namespace) -> int:
    """Returns how many workers more than processors there are, since those whose inputs a GPU decodes need little of
    one.
    """
    is_auto = arguments.hwaccel == AUTO and arguments.backend != "cpu"
    return decoders_here() if is_auto else 0


def _options(arguments: argparse.Namespace, place: Place) -> Options:
    regions = regions_asked(arguments)
    threads = arguments.threads or (max(1, processors() // place.workers) if place.is_here else 1)
    settings = {
        "backend": arguments.backend,
        "threads": threads,
        "scale": arguments.scale,
        "partial": arguments.partial,
        "as_is": arguments.as_is,
        "hwaccel": arguments.hwaccel,
        "scale_on": arguments.scale_on,
        "convert": arguments.convert,
        "roi": regions and with_whole_paths(regions),
    }
    if not arguments.allow_protocols:
        settings |= {"dist_options": FILES_ONLY, "ref_options": FILES_ONLY}
    # Each worker of a cluster finds its own ffmpeg.
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg) if place.is_here else arguments.ffmpeg
    return Options(settings, ffmpeg, arguments.together, arguments.piece, arguments.stall, arguments.attempts)


def _score(campaign: Campaign, place: Place) -> None:
    if campaign.known:
        note(f"{campaign.known} of {campaign.total} pairs were scored before")
    campaign.refuse()
    if campaign.done == campaign.total:
        return
    with open_engine(place) as engine, progress() as shown:

        def finish(task: Task, result: object) -> "list[Task]":
            next_ones = campaign.finish(task, result)
            shown.show(Count(campaign.done, campaign.total, campaign.failed))
            return next_ones

        shown.show(Count(campaign.done, campaign.total, campaign.failed))
        engine.run(campaign.tasks(), finish)


def _sum_up(arguments: argparse.Namespace, pairs: list[Pair], results: Results, guard: Guard) -> Summary:
    last = {record["id"]: record for record in results.all()}
    summary = Summary([last[pair.id] for pair in pairs])
    summary.show(arguments.worst)
    if arguments.report:
        write_summary(arguments.report, summary, f"Scores of {arguments.list.name}", arguments.worst, guard)
    return summary
