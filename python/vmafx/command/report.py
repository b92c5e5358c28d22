"""make a page of scores: curves, distributions, the worst frames and scenes

The scores are those of reports, of the filter or of libvmaf; the page is one HTML file that needs nothing else.
"""

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import _ffmpeg
from ._map_files import is_map
from ._provenance import scored_in_place_of
from ._schemas import MOST_TIME, check_packages
from ._scores import Encode, read_scores
from ._outputs import PAGE, Guard, Output, add_force, check_outputs
from ._terminal import Failure, note, shown, whole_file
from .page import USUAL_SCENES

if TYPE_CHECKING:  # `vmafx score` takes options and functions from here, and makes a page only with --report
    from .page.maps import Maps
    from .page.page import Page
    from .page.pictures import Media
    from .page.worst import Place

MOST_KEYS = 4  # scores that are shown without --score
MOST_WORST = 1000
MOST_DIGITS = 15  # of a frame's number
DYGRAPHS = Path("/usr/share/javascript/dygraphs"), Path("/usr/share/nodejs/dygraphs/dist")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "scores",
        nargs="+",
        type=Path,
        metavar="SCORES",
        help="reports in JSON, NDJSON, CSV or XML; the page shows all encodes of a report",
    )
    add("-o", "--output", type=Path, required=True, metavar="FILE.html", help="the page to write")
    add(
        "--score",
        action="append",
        metavar="KEY",
        help="a score to show, by its key in the report; may be repeated (default: models and main features)",
    )
    add(
        "--media",
        nargs="+",
        default=[],
        metavar="DISTORTED",
        help="the encodes, in the order of their scores, to show bit rates and scenes",
    )
    add(
        "--reference",
        metavar="REFERENCE",
        help="the reference, to show pictures of the worst frames too; needs --media",
    )
    add(
        "--worst",
        type=_count,
        default=4,
        metavar="N",
        help="how many of the worst frames of each encode to show (default: %(default)s)",
    )
    help_frame = "a frame to show pictures of, by its number (307) or time (12.3s); needs --reference; may be repeated"
    add("--frame", action="append", type=_frame, default=[], metavar="PLACE", help=help_frame)
    help_maps = "the folder of the maps of each report, which the filter's option `maps` has written; needs --reference"
    add("--maps", nargs="+", type=Path, default=[], metavar="FOLDER", help=help_maps)
    add("--map", metavar="NAME", help="the map to show over pictures (default: that of the first score)")
    add("--title", default="", metavar="TEXT", help="the title of the page (default: the names of the encodes)")
    add_page_arguments(parser)
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use, for pictures and scenes")
    add_force(parser)


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `score` has, too."""
    told = (
        "how much a picture must differ from the one before to begin a scene, as in FFmpeg's scdet, up to 100; 0 "
        "leaves out the table of scenes (default: %(default)g)"
    )
    parser.add_argument("--scenes", type=_threshold, default=USUAL_SCENES, metavar="THRESHOLD", help=told)
    parser.add_argument(
        "--dygraphs",
        type=Path,
        metavar="FOLDER",
        help="the folder of dygraph.min.js (default: where Debian's libjs-dygraphs puts it)",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST_WORST):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of frames: give 0 to {MOST_WORST}")
    return int(text)


def _frame(text: str) -> "Place":
    from .page.worst import Place

    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS:
        return Place(number=int(text))
    seconds = _ffmpeg.number_in(text.removesuffix("s")) if text.endswith("s") else None
    if seconds is None or not 0 <= seconds <= MOST_TIME:
        raise argparse.ArgumentTypeError(f"'{text}' is not a frame: give its number, 307, or its time, 12.3s")
    return Place(time=seconds)


def _threshold(text: str) -> float:
    try:
        threshold = float(text)
    except ValueError:
        threshold = -1.0
    if not 0 <= threshold <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a threshold: give a number from 0 to 100")
    return threshold


def run(arguments: argparse.Namespace) -> int:
    from .page.document import check_templates
    from .page.page import Page

    inputs = [
        *arguments.scores,
        *_files_of_maps(arguments.maps),
        *arguments.media,
        arguments.reference,
        *_ffmpeg.programs(arguments.ffmpeg),
    ]
    inputs += dygraphs_files(arguments.dygraphs)
    guard = check_outputs(inputs, [Output("-o", arguments.output, PAGE)], arguments.force)
    check_packages()
    check_templates()
    reports = [read_scores(path) for path in arguments.scores]
    encodes = [encode for report in reports for encode in report]
    keys = arguments.score or _usual_keys(encodes)
    for key in keys:
        if not any(key in encode.scores for encode in encodes):
            raise Failure(f"no report has the score {key}: choose one of {', '.join(encodes[0].scores)}")
    if arguments.frame and not arguments.reference:
        raise Failure("--frame shows pictures, which need the files: name them with --media and --reference", 2)
    media = _media(arguments, reports)
    page = Page(
        encodes,
        keys,
        media,
        title=arguments.title,
        worst=arguments.worst,
        frames=arguments.frame,
        scenes=arguments.scenes,
        maps=_maps(arguments, media, reports, keys[0]),
    )
    write_page(arguments.output, page, arguments.dygraphs, guard)
    return 0


def write_page(path: Path, page: "Page", dygraphs: Path | None, guard: Guard | None = None) -> None:
    """Writes the page. Without a guard, `path` must be new or an HTML page, and not a file that the page shows. Raises
    Failure.
    """
    from .page.page import make_page

    if guard is None:
        files = [*page.media.dists, page.media.ref] if page.media else []
        guard = check_outputs([*files, *dygraphs_files(dygraphs)], [Output("the page", path, PAGE)], force=False)
    page.dygraphs = find_dygraphs(dygraphs)
    text = make_page(page)
    with whole_file(path, guard) as part:
        part.write_text(text, encoding="utf-8")


def _usual_keys(encodes: list[Encode]) -> list[str]:
    return list(dict.fromkeys(key for encode in encodes for key in encode.main_keys()))[:MOST_KEYS]


def _files_of_maps(folders: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for folder in folders:
        with contextlib.suppress(OSError):  # find_maps() tells what cannot be read
            files += [path for path in folder.iterdir() if is_map(path.name)]
    return files


def _maps(
    arguments: argparse.Namespace, media: "Media | None", reports: Sequence[Sequence[Encode]], key: str
) -> "Maps | None":
    """Returns the maps of all encodes. Raises Failure."""
    from .page.maps import find as find_maps

    if not arguments.maps:
        if arguments.map:
            raise Failure("--map names one of the maps of --maps: name their folder, too", 2)
        return None
    if not media or not media.ref:
        raise Failure("--maps lays maps over pictures, which need the files: name them with --media and --reference", 2)
    if len(arguments.maps) != len(reports):
        raise Failure(f"--maps names {len(arguments.maps)} folders for {len(reports)} reports: name one for each", 2)
    folders = [
        (folder, number if len(report) > 1 else None)
        for folder, report in zip(arguments.maps, reports)
        for number in range(len(report))
    ]
    ref = _ffmpeg.probe(_ffmpeg.ffprobe_of(media.ffmpeg), media.ref)
    encodes = [encode for report in reports for encode in report]
    return find_maps(folders, encodes, arguments.map or key, (ref.width, ref.height))


def _media(arguments: argparse.Namespace, reports: Sequence[Sequence[Encode]]) -> "Media | None":
    if not arguments.media:
        if arguments.reference:
            raise Failure("--reference needs the encodes, too: name them with --media", 2)
        return None
    inputs = [(number, encode) for report in reports for number, encode in enumerate(report)]
    if len(arguments.media) != len(inputs):
        raise Failure(f"--media names {len(arguments.media)} files for {len(inputs)} encodes: name one for each", 2)
    ffmpeg = _ffmpeg.find_any_ffmpeg(arguments.ffmpeg)
    ffprobe = _ffmpeg.ffprobe_of(ffmpeg)
    for (number, encode), path in zip(inputs, arguments.media):
        video = _ffmpeg.probe(ffprobe, path)
        _check_scored(encode, number, video, ffprobe, "--media")
        if not encode.times and video.rate:
            encode.set_rate(float(video.rate))
    if arguments.reference:
        video = _ffmpeg.probe(ffprobe, arguments.reference)
        for report in reports:
            _check_scored(report[0], -1, video, ffprobe, "--reference")
    from .page.pictures import Media

    return Media(ffmpeg, arguments.media, arguments.reference)


def _check_scored(encode: Encode, number: int, video: _ffmpeg.Video, ffprobe: str, option: str) -> None:
    """Refuses pictures of a file that the scores are not of. Raises Failure."""
    if scored := scored_in_place_of(video.path, encode.provenance, number, ffprobe):
        raise Failure(
            f"{video.name} is another file than {shown(scored)}, which was scored: its size and packets differ (name "
            f"that one with {option})"
        )


def dygraphs_files(chosen: Path | None) -> list[Path]:
    return [folder / f"dygraph.min.{kind}" for folder in (chosen, *DYGRAPHS) if folder for kind in ("js", "css")]


def find_dygraphs(chosen: Path | None, quiet: bool = False) -> Path | None:
    for folder in [chosen] if chosen else DYGRAPHS:
        if (folder / "dygraph.min.js").is_file() and (folder / "dygraph.min.css").is_file():
            return folder
    if chosen:
        raise Failure(
            f"{chosen} lacks dygraph.min.js or dygraph.min.css: name the folder that has both with --dygraphs"
        )
    if not quiet:
        note("the page cannot zoom: install Debian's package libjs-dygraphs, or name its folder with --dygraphs")
    return None
