"""encode a video so that it just reaches a score, and verify the encode

The quantizer is found on samples, the whole is scored while it is encoded, and the output appears under its name only
when it is complete.
"""

import argparse
from pathlib import Path

from ..tuning import encoders, output, scenes
from ._outputs import add_force
from ._terminal import Failure
from .score import scale_word

USUAL_TARGET = "vmaf=95"
USUAL_ENCODER = "libx264"


# -- The command line --------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("input", metavar="INPUT", help="the video to encode")
    add("-o", "--output", type=Path, required=True, metavar="OUT", help="the encode, in the format of its name")
    _add_search(parser)
    _add_encoder(parser)
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


def _add_search(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_target = (
        "a score to reach, [POOLING:]SCORE=VALUE such as ssimulacra2=80 or p5:vmaf=90; may be repeated: all are "
        f"reached (default: {USUAL_TARGET})"
    )
    add("--target", action="append", default=[], metavar="TARGET", help=help_target)
    add("--crf", type=float, metavar="Q", help="encode with this quantizer, and search none")
    add("--min-crf", type=float, metavar="Q", help="the smallest quantizer to search")
    add("--max-crf", type=float, metavar="Q", help="the largest quantizer to search")
    help_confidence = "how sure the search is that the whole is within its interval, in percent (default: %(default)g)"
    add("--confidence", type=float, default=95.0, metavar="PERCENT", help=help_confidence)
    add("--samples", type=int, metavar="N", help="search on so many samples (default: as many as the confidence asks)")
    add("--no-cache", action="store_true", help="neither read nor keep results of probes")
    add("--model", metavar="MODEL", help="the model of VMAF, as in the filter's option model (default: by the size)")
    help_scale = "the size at which pictures are scored: model (default), reference, or WIDTHxHEIGHT"
    add("--scale", type=scale_word, default="model", metavar="SCALE", help=help_scale)
    add("--backend", choices=("auto", "cpu", "hip"), help="where scores are computed (default: auto)")
    add("--device", metavar="DEVICE", help="the GPU that scores: an index or a PCI address")
    add("--threads", type=int, metavar="N", help="the number of threads that score")
    add(
        "--jobs", type=int, metavar="N", help="encodes at a time in the search (default: one for every four processors)"
    )
    add("--ffmpeg", metavar="PROGRAM", help="the ffmpeg to use; it must have the filter vmafx")


def _add_encoder(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    help_encoder = f"FFmpeg's name of the encoder: {', '.join(encoders.ENCODERS)} (default: %(default)s)"
    add("-e", "--encoder", default=USUAL_ENCODER, metavar="ENCODER", help=help_encoder)
    add("--preset", metavar="PRESET", help="the encoder's preset")
    help_enc = "an option of the encoder, such as tune=film or x265-params=aq-mode=3; may be repeated"
    add("--enc", action="append", default=[], metavar="NAME=VALUE", help=help_enc)
    help_input = "an option for ffmpeg before the source; may be repeated"
    add("--input-option", action="append", default=[], metavar="NAME=VALUE", help=help_input)
    help_filter = "FFmpeg's filters before the encoder; scores compare with the filtered source"
    add("--vfilter", default="", metavar="FILTERS", help=help_filter)
    add("--pix-format", metavar="FORMAT", help="the encode's pixel format (default: the source's, or the nearest one)")
    add("--keyint", metavar="N", help="the most frames from one key frame to the next, or seconds, such as 10s")
    add("--encoder-device", metavar="DEVICE", help="the GPU that encodes, for VAAPI: /dev/dri/renderD128")


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
    _check_arguments(arguments)
    try:
        from ..tuning import encoding
    except ImportError as error:
        raise Failure(f"encode needs one package more ({error}): install Debian's python3-av, or PyPI's av") from None
    return encoding.run(arguments)


def _check_arguments(arguments: argparse.Namespace) -> None:
    if not arguments.target and arguments.crf is None:
        arguments.target = [USUAL_TARGET]
    if arguments.per_scene and arguments.crf is not None:
        raise Failure("--per-scene searches a quantizer for each scene, and --crf sets one: leave one of them out", 2)
    if not 50 <= arguments.confidence < 100:
        raise Failure(f"--confidence {arguments.confidence:g}: give a number from 50 up to less than 100", 2)
    for name in ("samples", "threads", "jobs"):
        if (value := getattr(arguments, name)) is not None and value < 1:
            raise Failure(f"--{name} {value}: give a number from 1 up", 2)
    if arguments.backend == "cpu" and arguments.device:
        raise Failure("--device names a GPU, and --backend cpu uses none: leave one of them out", 2)
