"""score one or several encodes of a video against the original

ffmpeg decodes and its filter vmafx scores; the command makes the inputs alike, shows how far it is, and prints what the
filter reports.
"""

import argparse
import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .._identity import files_of_models
from . import _ffmpeg, _jobs, _look, _parts, _sync
from ._changes import AS_TAGGED, MATRICES, RANGES, Box, Change, Turn
from ._map_files import RANGE, renewed
from ._models import Scale
from ._outputs import MAPS, PAGE, REPORT, Guard, Output, add_force, check_outputs, heatmaps
from ._provenance import FORMATS, Packets, add_to_log, packets_beside, provenance_of
from ._reading import Wrong
from ._result import Result
from ._regions import masks_of
from ._said import Said
from ._schemas import MOST_TIME, check_packages
from ._scores import Encode, read_scores
from ._scoring import Begin, Begins, TimeRange, Settings, Work, models_of, score
from ._terminal import Failure, emit, note, progress, shown, whole_file
from ._whole import check_whole, heard_by_encode
from .decoders.chosen import trials_beside, usual_jobs, with_decoders
from .decoders.decision import AUTO, METHODS, NONE
from .report import add_page_arguments, dygraphs_files, find_dygraphs, write_page

if TYPE_CHECKING:  # imported only for --report: that would take a score a tenth of its time
    from .page.page import Page

LOG_FORMATS = "json", "ndjson", "csv", "xml"
MOST_SEARCH = 600  # seconds that --sync may search
MOST_THREADS = 1024
DOUBTFUL = 3  # the exit status for doubts with --strict
OF_REFERENCE = "reference="  # begins the value of an option that changes the reference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("videos", nargs="+", metavar="VIDEO", help="DISTORTED… REFERENCE: one or several encodes, then the reference")
    add(
        "--window",
        metavar="WINDOW",
        help="also pool the scores of windows, for --log and --report: a number of seconds, or 'keyframe'",
    )
    add("--json", action="store_true", help="print the result as JSON")
    add(
        "--report",
        type=Path,
        metavar="FILE.html",
        help="also write the page that `vmafx report` makes, with pictures of the worst frames",
    )
    help_maps = "also show on the page of --report where in the picture frames lose the first model's score"
    add("--report-maps", action="store_true", help=help_maps)
    add("--log", type=Path, metavar="FILE", help="also write the filter's report: .json, .ndjson, .csv or .xml")
    help_maps = "also write maps of where each frame loses its scores to files in this folder"
    add("--maps", type=Path, metavar="FOLDER", help=help_maps)
    add(
        "--device",
        type=_devices,
        default=[],
        metavar="DEVICE",
        help="the GPU to use: an index or a PCI address; several, separated by commas, share the work",
    )
    add(
        "--jobs",
        type=_job_number,
        metavar="N",
        help="score this many parts at once; 'auto': one for every four processors (default: 1 or one per GPU)",
    )
    add_begins(parser)
    add(
        "--range",
        type=_range,
        metavar="RANGE",
        help="score only this part, such as 60s-120s; `vmafx merge` joins the logs of parts",
    )
    add_changes(parser)
    add_regions(parser)
    help_strict = f"end with the status {DOUBTFUL} if anything makes the scores doubtful, after all outputs"
    add("--strict", action="store_true", help=help_strict)
    add_scoring_arguments(parser)
    add_page_arguments(parser)
    add_force(parser)


def add_begins(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say how encodes begin."""
    add = parser.add_argument
    help_sync = (
        "find how much later or earlier than the reference each encode begins, within this many seconds (default: "
        "%(const)g), and skip the difference"
    )
    add("--sync", type=_search, nargs="?", const=_sync.USUAL_SECONDS, metavar="SECONDS", help=help_sync)
    help_offset = (
        "skip the difference if the encodes begin this many seconds later than the reference (-0.48: earlier); may be "
        "repeated, once for each encode"
    )
    add("--offset", type=_offset, action="append", default=[], metavar="SECONDS", help=help_offset)


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Adds the options that set by hand what the pictures or the tags tell otherwise."""
    add = parser.add_argument
    each = "may be repeated, once for each encode; 'reference=…' changes the reference"
    help_as_is = "take the inputs as their tags say, and do not look whether their pictures belong together"
    add("--as-is", action="store_true", help=help_as_is)
    help_crop = f"crop the encodes to this part, WIDTH:HEIGHT:LEFT:TOP; {each}"
    add("--crop", type=_by_hand(Box.parse), action="append", default=[], metavar="PART", help=help_crop)
    help_rotate = f"turn the encodes clockwise by 90, 180 or 270 degrees, or mirror them: hflip, vflip; {each}"
    add("--rotate", type=_by_hand(Turn.parse), action="append", default=[], metavar="TURN", help=help_rotate)
    help_range = f"the range of the encodes' samples, whatever the tag says: limited or full; {each}"
    add("--range-of", type=_by_hand(_one_of(RANGES)), action="append", default=[], metavar="RANGE", help=help_range)
    help_matrix = f"the color matrix of the encodes, whatever the tag says: bt709, bt601, bt2020, …; {each}"
    add(
        "--matrix-of", type=_by_hand(_one_of(MATRICES)), action="append", default=[], metavar="MATRIX", help=help_matrix
    )
    help_pair = (
        "pair frames by their times, or by their number, for encodes that were renumbered or run faster (default: time)"
    )
    add("--pair-by", choices=("number", "time"), metavar="HOW", help=help_pair)


def regions_asked(arguments: argparse.Namespace) -> str | None:
    """Returns the value of the filter's option roi."""
    return "|".join(getattr(arguments, "roi", [])) or None


def add_regions(parser: argparse.ArgumentParser) -> None:
    help_roi = (
        "also score this region: WxH+X+Y in samples of the reference, a mask FILE.pgm, 'active' (inside black bars) or "
        "'center' (the middle counts most); with NAME= before it, its scores are called so; may be repeated"
    )
    parser.add_argument("--roi", action="append", default=[], metavar="REGION", help=help_roi)


def add_scoring_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of all subcommands that score."""
    add = parser.add_argument
    help_model = (
        "a model, as in the filter's option model; may be repeated; 'none': features only (default: vmaf_v0.6.1, or "
        "vmaf_4k_v0.6.1 for a reference of 1440 rows or more)"
    )
    help_scale = (
        "the size at which pictures are scored: 'model' (default), the size that each model is made for, and for "
        "features the reference's; 'reference', the reference's for all; WIDTHxHEIGHT; or 'none': nothing is scaled"
    )
    add("--model", action="append", metavar="MODEL", help=help_model)
    add(
        "--feature",
        action="append",
        default=[],
        metavar="FEATURE",
        help="a feature, as in the filter's option feature (psnr, name=psnr:enable_chroma=false); may be repeated",
    )
    add("--scale", type=scale_word, default="model", metavar="SCALE", help=help_scale)
    add_convert(parser)
    help_partial = "accept damaged or incomplete files, and score the part that can be read"
    add("--partial", action="store_true", help=help_partial)
    add_input_options(parser)
    add_places(parser)
    add_decoders(parser)


def add_convert(parser: argparse.ArgumentParser) -> None:
    help_convert = (
        "convert all inputs to this color space before they are scored, as the filter's option convert: bt709, "
        "bt2020-pq, …, with settings such as bt709:tones=clip"
    )
    parser.add_argument("--convert", metavar="TARGET", help=help_convert)


def add_input_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_input = "an option for ffmpeg before each encode (r=50, export_side_data=film_grain); may be repeated"
    add("--input-option", type=input_option, action="append", default=[], metavar="NAME=VALUE", help=help_input)
    help_ref = "an option for ffmpeg before the reference; may be repeated"
    add("--ref-option", type=input_option, action="append", default=[], metavar="NAME=VALUE", help=help_ref)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say where to compute, and with which program."""
    add = parser.add_argument
    add(
        "--backend",
        choices=("auto", "cpu", "hip"),
        help="where the filter computes (default: auto, or hip with --device)",
    )
    add(
        "--threads",
        type=_thread_number,
        metavar="N",
        help="the number of the filter's threads (default: as many as the process may use)",
    )
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; it must have the filter vmafx")


def add_decoders(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_hwaccel = (
        "who decodes: 'auto' (default), a GPU where that changes no score; 'none', the CPU; or FFmpeg's decoders of a "
        "GPU: cuda, vaapi, vulkan"
    )
    add("--hwaccel", choices=(AUTO, NONE, *METHODS), default=AUTO, metavar="DECODERS", help=help_hwaccel)
    help_scale_on = (
        "who scales what a GPU decodes: 'cpu' (default), or 'gpu' (cuda only), which changes scores a little"
    )
    add("--scale-on", choices=("cpu", "gpu"), default="cpu", help=help_scale_on)


def scale_word(text: str) -> str:
    """Checks the value of --scale, for argparse."""
    try:
        Scale.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


OF_TIME = {"ss", "sseof", "t", "to", "itsoffset", "itsscale", "stream_loop", "copyts", "start_at_zero"}
# These options belong to outputs or to the whole run, or write a file.
NOT_OF_INPUT = {
    *("i", "y", "n", "filter", "filter_complex", "filter_complex_script", "filter_script", "lavfi", "map", "vf", "v"),
    *("loglevel", "report", "stats", "progress", "vstats", "vstats_file", "print_graphs", "print_graphs_file"),
    *("dump", "dump_attachment", "sdp_file", "debug_ts", "init_hw_device", "filter_hw_device", "attach", "metadata"),
}


def input_option(text: str) -> tuple[str, str]:
    try:
        words = _ffmpeg.option_words(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    name = words[0][1:].partition(":")[0]
    if name in OF_TIME:
        raise argparse.ArgumentTypeError(
            f"{name} would change what is compared with what: use --offset, --sync or --range"
        )
    if name in NOT_OF_INPUT:
        raise argparse.ArgumentTypeError(f"{name} is not an option of an input: leave it out")
    return words


def _thread_number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of threads: give 1 to {MOST_THREADS}")
    return int(text)


def _devices(text: str) -> list[str]:
    devices = [device.strip() for device in text.split(",")]
    if not all(devices):
        raise argparse.ArgumentTypeError(f"'{text}' has an empty name between its commas: name a GPU there")
    return devices


def _job_number(text: str) -> int:
    """Returns the number of jobs; 0 stands for as many as suit the machine."""
    if text == "auto":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of jobs: give 1, 2, … or 'auto'")
    return int(text)


def _search(text: str) -> float:
    seconds = _ffmpeg.number_in(text)
    if seconds is None or not 0 < seconds <= MOST_SEARCH:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number of seconds up to {MOST_SEARCH}; write --sync after the videos, or --sync=5"
        )
    return seconds


def _offset(text: str) -> Begin:
    seconds = _ffmpeg.number_in(text)
    if seconds is None or not -MOST_TIME <= seconds <= MOST_TIME:
        raise argparse.ArgumentTypeError(
            f"'{shown(text)}' is not a number of seconds up to {MOST_TIME:g}: give one such as 0.48 or -0.48"
        )
    return Begin(
        Fraction(seconds),
        f"begins {abs(seconds):g} s {'earlier' if seconds < 0 else 'later'} than the reference, as --offset says",
    )


def _by_hand(parse: Callable[[str], Any]) -> Callable[[str], tuple[bool, str, Any]]:
    """Returns a parser of values, for argparse: (whether it is of the reference, the text, the value)."""

    def parsed(text: str) -> tuple[bool, str, Any]:
        own = text.removeprefix(OF_REFERENCE)
        try:
            return own != text, own, parse(own)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def _one_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if text not in values:
            raise ValueError(f"'{text}' is not known here: use one of {', '.join(values)}")
        return values[text]

    return parse


def _range(text: str) -> TimeRange:
    try:
        return TimeRange.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: use 60s-120s, -60s or 60s-, in whole milliseconds") from None


def run(arguments: argparse.Namespace) -> int:
    check_packages()
    if arguments.report:
        from .page.document import check_templates

        check_templates()
    guard = _check_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder:
        log = Path(folder) / f"scores{arguments.log.suffix.lower() if arguments.log else '.json'}"
        work = _prepared(arguments, log)
        is_told = arguments.json or (arguments.log and log.suffix in FORMATS)
        if arguments.report_maps:
            work = _with_maps(work, Path(folder) / "maps")
        with contextlib.ExitStack() as stack:
            packets: Packets = stack.enter_context(packets_beside(work)) if is_told else []
            with _maps_beside(arguments, work, guard) as with_maps:
                work, result = _scored(arguments, with_maps, log)
        told = provenance_of(work, result.encodes, log, packets, arguments.range) if is_told else None
        if arguments.log:
            content = add_to_log(log, told) if told and log.suffix in FORMATS else log.read_bytes()
            with whole_file(arguments.log, guard) as path:
                path.write_bytes(content)
        if arguments.json:
            emit(json.dumps({**result.as_json(), "provenance": told}, indent=2) + "\n")
        else:
            result.print_table()
        if arguments.report:
            write_page(arguments.report, _page(arguments, work, result), arguments.dygraphs, guard)
    return DOUBTFUL if arguments.strict and result.is_doubtful else 0


def _with_maps(work: Work, folder: Path) -> Work:
    """Returns the work whose filters write maps to this folder. Raises Failure."""
    if not work.models:
        raise Failure("--report-maps shows where frames lose a model's score: give a model with --model", 2)
    return replace(work, settings=replace(work.settings, maps=str(folder)))


@contextlib.contextmanager
def _maps_beside(arguments: argparse.Namespace, work: Work, guard: Guard) -> Iterator[Work]:
    """Yields the work whose filters write the maps of --maps, which have their places at the end. Raises Failure."""
    if not arguments.maps:
        yield work
        return
    with renewed(arguments.maps, guard) as folder:
        yield replace(work, settings=replace(work.settings, maps=str(folder)))


def _page(arguments: argparse.Namespace, work: Work, result: Result) -> "Page":
    from .page.maps import find as find_maps
    from .page.page import Page
    from .page.pictures import Media

    starts = {video.path: zero for video, zero in zip(work.videos, work.zeros())}
    options = {video.path: video.options for video in work.videos}
    filters = {video.path: video.changed for video in work.videos}
    *dists, ref = arguments.videos
    media = Media(work.settings.ffmpeg, dists, ref, starts, options, filters)
    maps = None
    if arguments.report_maps and (folder := arguments.maps or work.settings.maps):
        name = next(iter(work.models))
        size = next(work.size_of(group) for group in work.groups if name in group.keys)
        numbers = range(len(dists)) if len(dists) > 1 else (None,)
        maps = find_maps([(Path(folder), number) for number in numbers], result.encodes, name, size)
    lines = [*result.facts(), *work.notes]
    return Page(result.encodes, result.keys, media, said=lines, scenes=arguments.scenes, maps=maps)


def _prepared(arguments: argparse.Namespace, log: Path) -> Work:
    """Returns the work as tags, options and pictures prepare it, and says how."""
    *dists, ref = arguments.videos
    settings = scoring_settings(arguments, arguments.window)
    changes = changes_by_hand(arguments, len(dists))
    work = _look.prepared(settings, dists, ref, begins=begins_asked(arguments, settings), changes=changes)
    # CSV has no findings. So the pictures are looked at before, however short the inputs are.
    with trials_beside(work, arguments.device, arguments.range):
        work = _look.looked_at(work, arguments.range, whole=log.suffix == ".csv")
    _check_work(arguments, work)
    work = with_decoders(work, arguments.device, arguments.range)
    for line in work.notes:
        note(line)
    return work


def _scored(arguments: argparse.Namespace, work: Work, log: Path) -> tuple[Work, Result]:
    """Scores, and once more if the pictures of short inputs show that they must be prepared in another way."""
    runs = _look.MOST_RUNS if _look.is_short(work, arguments.range) else 1
    while True:
        said, facts = _score(arguments, work, log)
        encodes = read_log(log, work, said, facts)
        runs -= 1
        if not runs or (other := _look.as_shown(work, encodes)) is None:
            break
        other = with_decoders(other, arguments.device, arguments.range)
        note("the pictures show what the tags do not say: all is scored once more (--as-is keeps the tags)")
        for line in other.notes:
            if line not in work.notes:
                note(line)
        work = other
        log.unlink()
        if work.settings.maps:
            shutil.rmtree(work.settings.maps)
    result = Result.of(work, encodes, arguments.range)
    _warn(result)
    check_whole(work, said, result.encodes, result.keys, arguments.range)
    return work, result


def read_log(log: Path, work: Work, said: Said, facts: Mapping[str, Any] = MappingProxyType({})) -> list[Encode]:
    """Returns the encodes with their names, and with the warnings of the run. Raises Failure."""
    try:
        encodes = read_scores(log)
    except Failure as failure:
        if not isinstance(failure.__cause__, Wrong):
            raise
        told = f"the scores of {', '.join(video.name for video in work.videos)} are not those of a video"
        raise Failure(
            f"{told}: {failure.__cause__}. If the times of a file are damaged, --pair-by number goes without them"
        ) from failure
    for encode, name, heard in zip(encodes, work.names, heard_by_encode(work, said)):
        encode.name = name
        # CSV has no room for facts of the run: with --jobs they are left out, too.
        encode.run = {**facts, **encode.run} if log.suffix != ".csv" else {}
        # The report's own warnings are among these, in other words.
        heard = heard.redacted([video.path for video in work.videos])
        encode.warnings, encode.doubts = heard.warnings, [*encode.doubts, *heard.doubts]
    return encodes


def _warn(result: Result) -> None:
    """Says once what concerns all encodes, and under its name what concerns one."""
    of_all = [text for text in result.encodes[0].warnings if all(text in encode.warnings for encode in result.encodes)]
    for text in of_all:
        note(text)
    for encode in result.encodes:
        for text in encode.warnings:
            if text not in of_all:
                note(f"{shown(encode.name)}: {text}")


def _score(arguments: argparse.Namespace, work: Work, log: Path) -> tuple[Said, dict[str, Any]]:
    """Scores, and returns what ffmpeg said and the facts of the runs that the report lacks."""
    jobs, parts = _parts_of(arguments, work)
    if len(parts) > 1:
        _parts.check_merge(work)
        try:
            with progress() as bar:
                return _jobs.score_in_jobs(work, parts, log, jobs, arguments.device, bar.show)
        except _parts.Indivisible as failure:
            note(f"{failure}\n  So all is scored in one run.")
    elif jobs > 1:
        too_short = "the videos are too short for parts, do not say how long they are, or have times that begin anew"
        note(f"all is scored in one run: {too_short}")
    return score_in_one_run(work, arguments.range, log, next(iter(arguments.device), None)), {}


def score_in_one_run(work: Work, time_range: TimeRange | None, log: Path, device: str | None) -> Said:
    """Scores the whole stream or a range of it, shows how far it is, and returns what ffmpeg said. Raises Failure."""
    with progress() as bar:
        if time_range:
            return _parts.score_part(work, time_range, log, device=device, show=bar.show)[0]
        return score(work, log, device=device, show=bar.show)


def _parts_of(arguments: argparse.Namespace, work: Work) -> tuple[int, list[TimeRange]]:
    """Returns how many runs score at once, and what. Without --jobs, as many as keep a GPU's decoders busy: each of
    them decodes one stream at a time.
    """
    if arguments.report_maps:
        return 1, []
    jobs = _job_count(arguments)
    if arguments.jobs is None and not arguments.range and not _is_ndjson(arguments):
        wanted = usual_jobs(work, arguments.device)
        parts = _jobs.cut_for_decoders(work, wanted) if wanted > jobs else []
        if len(parts) > 1 and _parts.can_merge(work):
            return len(parts), parts
    return jobs, _jobs.cut_for(work, jobs) if jobs > 1 else []


def _is_ndjson(arguments: argparse.Namespace) -> bool:
    return bool(arguments.log and arguments.log.suffix.lower() == ".ndjson")


def _job_count(arguments: argparse.Namespace) -> int:
    if arguments.jobs == 0:
        return _jobs.usual_jobs(arguments.device)
    return arguments.jobs or (1 if arguments.range else max(1, len(arguments.device)))


def check_begins(arguments: argparse.Namespace) -> None:
    if arguments.sync and arguments.offset:
        raise Failure("--offset says what --sync would find: leave one of them out", 2)
    _check_count("--offset", len(arguments.offset), len(arguments.videos) - 1)


def begins_asked(arguments: argparse.Namespace, settings: Settings) -> Begins | None:
    """Returns how encodes begin as --offset says, once for all or for each; or as --sync finds it."""
    given: list[Begin] = arguments.offset
    if given:
        return lambda dists, ref: given * (len(dists) if len(given) == 1 else 1)
    if arguments.sync is None:
        return None
    return lambda dists, ref: [_sync.find_begin(settings, dist, ref, arguments.sync) for dist in dists]


def changes_by_hand(arguments: argparse.Namespace, dists: int) -> list[Change]:
    """Returns the changes of the inputs that options set, the reference last."""
    changes = [AS_TAGGED] * (dists + 1)
    for name, field, text in (
        ("rotate", "turn", "is turned (--rotate {})"),
        ("crop", "crop", "is cropped to {}, as --crop says"),
        ("range_of", "full_range", "has {} range, as --range-of says"),
        ("matrix_of", "matrix", "has the color matrix {}, as --matrix-of says"),
    ):
        for number, (word, value) in _values_by_hand(name, getattr(arguments, name), dists).items():
            changes[number] = changes[number].set_by_hand(text.format(word), **{field: value})
    if arguments.pair_by == "number":
        return [
            change.set_by_hand("is paired by the numbers of frames", counted=True, cycle=None) for change in changes
        ]
    if arguments.pair_by == "time":
        return [replace(change, by_hand=change.by_hand | {"counted", "cycle"}) for change in changes]
    return changes


def _values_by_hand(name: str, given: Sequence[tuple[bool, str, Any]], dists: int) -> dict[int, tuple[str, Any]]:
    """Returns the values of an option by the numbers of inputs."""
    of_ref, of_dists = ([own[1:] for own in given if own[0] == is_ref] for is_ref in (True, False))
    _check_count(f"--{name.replace('_', '-')}", len(of_dists), dists)
    if len(of_ref) > 1:
        raise Failure(f"give --{name.replace('_', '-')} once for the reference, not {len(of_ref)} times", 2)
    values = dict(enumerate(of_dists * (dists if len(of_dists) == 1 else 1)))
    return values | ({dists: of_ref[0]} if of_ref else {})


def _check_count(name: str, count: int, dists: int) -> None:
    if count not in (0, 1, dists):
        raise Failure(f"give {name} once for all encodes or once for each, not {count} times for {dists}", 2)


def scoring_settings(arguments: argparse.Namespace, window: str | None = None, device: str | None = None) -> Settings:
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg)
    return Settings(
        ffmpeg,
        _ffmpeg.ffprobe_of(ffmpeg),
        models=models_of(arguments.model),
        features=tuple(arguments.feature),
        window=window,
        backend=arguments.backend if arguments.backend == "cpu" or not (device or arguments.device) else "hip",
        device=device,
        threads=arguments.threads,
        scale=arguments.scale,
        dist_options=tuple(word for words in arguments.input_option for word in words),
        ref_options=tuple(word for words in arguments.ref_option for word in words),
        overwrite=getattr(arguments, "force", False),
        partial=arguments.partial,
        as_is=getattr(arguments, "as_is", False),
        hwaccel=arguments.hwaccel,
        scale_on=arguments.scale_on,
        convert=arguments.convert,
        roi=regions_asked(arguments),
    )


def _check_work(arguments: argparse.Namespace, work: Work) -> None:
    """Checks what only the files tell."""
    if arguments.range:
        for video in work.videos:
            if _ffmpeg.joined(work.settings.ffprobe, video).restarts:
                raise Failure(
                    f"the times of {video.name} begin anew in mid-stream: score it as a whole, without --range"
                )
    if arguments.range and len(work.groups) > 1:
        if len({group.target for group in work.groups}) > 1:
            raise Failure(
                "a range has pictures in one color space, but the models and features are of several: score them in "
                "separate runs",
                2,
            )
        sizes = " and ".join(str(work.size_of(group)) for group in work.groups)
        raise Failure(
            f"a range has pictures of one size, but these are scored at {sizes}: use --scale reference, "
            "or score models and features in separate runs",
            2,
        )


def read_for_scoring(arguments: argparse.Namespace) -> list[str]:
    """Returns the files that options of add_scoring_arguments() and add_regions() name."""
    files = [*files_of_models(arguments.model or []), *masks_of(getattr(arguments, "roi", []))]
    return [*files, *_ffmpeg.programs(arguments.ffmpeg)]


def _check_outputs(arguments: argparse.Namespace) -> Guard:
    outputs = [
        arguments.report and Output("--report", arguments.report, PAGE),
        arguments.log and Output("--log", arguments.log, REPORT),
        arguments.maps and Output("--maps", arguments.maps, MAPS),
        *(
            Output("--maps", arguments.maps / f"{RANGE}{reach}", MAPS)
            for reach in _reaches(arguments)
            if arguments.maps
        ),
        *heatmaps([*arguments.feature, *(arguments.model or [])]),
    ]
    return check_outputs(
        [*arguments.videos, *read_for_scoring(arguments), *dygraphs_files(arguments.dygraphs)], outputs, arguments.force
    )


def _reaches(arguments: argparse.Namespace) -> list[TimeRange]:
    """Returns the range of --range as the filter may get it: Work.reach() leaves its first end out at the beginning."""
    return [arguments.range, TimeRange(None, arguments.range.end)] if arguments.range else []


def _check_arguments(arguments: argparse.Namespace) -> Guard:
    if len(arguments.videos) < 2:
        raise Failure("score needs at least two videos: name the encodes, and the reference as the last one", 2)
    guard = _check_outputs(arguments)
    find_dygraphs(arguments.dygraphs, quiet=True)
    if arguments.log and arguments.log.suffix.lower().removeprefix(".") not in LOG_FORMATS:
        raise Failure(f"cannot tell the format of the log {arguments.log}: use .{', .'.join(LOG_FORMATS)}", 2)
    if arguments.log and arguments.log.suffix.lower() == ".xml" and len(arguments.videos) > 2:
        raise Failure("a log in XML cannot hold several encodes: use .json, .ndjson or .csv", 2)
    if arguments.backend == "cpu" and arguments.device:
        raise Failure("--device names a GPU, and --backend cpu uses none: leave one of them out", 2)
    check_begins(arguments)
    if arguments.range and arguments.jobs is not None:
        raise Failure("--range scores one part, which --jobs cannot cut again: leave one of them out", 2)
    if arguments.report_maps and not arguments.report:
        raise Failure("--report-maps shows maps on the page of --report: name the page, too", 2)
    if arguments.report_maps and _job_count(arguments) > 1:
        raise Failure("--report-maps needs one run, and --jobs and several devices are several: leave them out", 2)
    if _job_count(arguments) > 1 and _is_ndjson(arguments):
        raise Failure("--jobs cannot write a log in NDJSON, which grows frame by frame: use .json, .csv or .xml", 2)
    return guard
