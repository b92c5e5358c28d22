"""encode a video so that it just reaches a score, and verify the encode

The quantizer is found on samples, the whole is scored while it is encoded, and the output appears under its name only
when it is complete.
"""

import argparse
from pathlib import Path

from .._identity import files_of_models
from .._system import signals, signals_held
from ..tuning import output, scenes
from ._ffmpeg import programs
from ._outputs import ENCODE, Output, add_force, check_outputs
from ._terminal import Failure
from .crf import USUAL_TARGET, add_encoder, add_search, check_arguments, check_packages, look_beside_ffmpeg
from .score import MOST_THREADS

# -- The command line --------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("input", metavar="INPUT", help="the video to encode")
    add("-o", "--output", type=Path, required=True, metavar="OUT", help="the encode, in the format of its name")
    add("--crf", type=float, metavar="Q", help="encode with this quantizer, and search none")
    add_search(parser)
    add("--threads", type=int, metavar="N", help="the number of threads that score the whole")
    add_encoder(parser)
    help_input = "an option for ffmpeg before the source, such as hwaccel=cuda; may be repeated"
    add("--input-option", action="append", default=[], metavar="NAME=VALUE", help=help_input)
    _add_streams(parser)
    help_scenes = (
        "give each scene a quantizer of its own, so that each reaches the targets: 'zones' in one encode (libx264, "
        "libx265), or 'chunks', an encode of each scene, which are joined (default: zones where the encoder has them)"
    )
    add("--per-scene", nargs="?", const="auto", choices=("auto", "zones", "chunks"), help=help_scenes)
    help_cut = "how much pictures change where a scene begins, in percent, as for FFmpeg's scdet (default: %(default)g)"
    add("--scene-threshold", type=float, default=scenes.THRESHOLD, metavar="PERCENT", help=help_cut)
    add("--partial", action="store_true", help="encode what can be decoded of a damaged source")
    add("--json", action="store_true", help="print the result as JSON, a line for each probe and one for the encode")
    add_force(parser)


def _add_streams(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--acodec", default="copy", metavar="CODEC", help="FFmpeg's audio encoder, such as libopus (default: copy)")
    help_audio = "an option of the audio encoder, such as b=128k; may be repeated"
    add("--audio-option", action="append", default=[], metavar="NAME=VALUE", help=help_audio)
    add("--downmix-to-stereo", action="store_true", help="mix audio of more than three channels down to two")
    help_without = "leave these out; may be repeated"
    add("--without", action="append", default=[], choices=output.KINDS, help=help_without)
    add("--video-only", action="store_true", help="write the video stream alone")


def run(arguments: argparse.Namespace) -> int:
    read = [arguments.input, *files_of_models([arguments.model or ""]), *programs(arguments.ffmpeg)]
    guard = check_outputs(read, [Output("-o", arguments.output, ENCODE)], arguments.force)
    check_arguments(arguments)
    check_packages()
    if not arguments.target and arguments.crf is None:
        arguments.target = [USUAL_TARGET]
    if arguments.per_scene and arguments.crf is not None:
        raise Failure("--per-scene searches a quantizer for each scene, and --crf sets one: leave one of them out", 2)
    if arguments.per_scene and arguments.bit_rate:
        raise Failure("--per-scene searches quantizers, and --bit-rate bit rates: leave one of them out", 2)
    if arguments.threads is not None and not 1 <= arguments.threads <= MOST_THREADS:
        raise Failure(f"--threads {arguments.threads}: give a number from 1 up to {MOST_THREADS}", 2)
    if not 0 <= arguments.scene_threshold <= 100:
        raise Failure(f"--scene-threshold {arguments.scene_threshold:g}: give a number from 0 to 100", 2)
    # Modules in C that are loaded drop the exception by which a signal ends the command.
    with signals_held(signals("SIGINT", "SIGTERM", "SIGHUP")):
        from ..tuning import encoding

        look_beside_ffmpeg(arguments)
    return encoding.run(arguments, guard)
