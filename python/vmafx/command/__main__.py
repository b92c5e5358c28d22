"""Scores videos with ffmpeg and its filter vmafx, and shows the scores."""

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType, ModuleType

from .. import _header
from ._terminal import Failure

SUBCOMMANDS = "score", "report", "compare", "merge", "library"  # a module of this folder each, with add_arguments(parser) and run(arguments)


def main(words: Sequence[str] | None = None) -> int:
    """The exit status."""
    signal.signal(signal.SIGTERM, _end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be text
    words = sys.argv[1:] if words is None else words
    called = [name for name in words[:1] if name in SUBCOMMANDS]
    arguments = _parser(called or SUBCOMMANDS).parse_args(words)
    try:
        status: int = arguments.run(arguments)
        return status
    except Failure as failure:
        print(f"vmafx {arguments.subcommand}: {failure}", file=sys.stderr)
        return failure.status
    except BrokenPipeError:  # who read the result has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        print(f"vmafx {arguments.subcommand}: stopped", file=sys.stderr)
        return 128 + signal.SIGINT


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """Only these subcommands are imported: all of them take longer than Python itself."""
    parser = argparse.ArgumentParser(prog="vmafx", description=__doc__)
    parser.add_argument("--version", action="version", version=f"vmafx {_header.version}")
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for name in names:
        module = importlib.import_module(f".{name}", __package__)
        about = _first_line(module)
        subparser = subparsers.add_parser(name, help=about, description=about)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def _first_line(module: ModuleType) -> str:
    return (module.__doc__ or "").partition("\n")[0]


def _end(number: int, _: FrameType | None) -> None:
    """SIGTERM unwinds the stack, so that what runs is ended and what is half written is removed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
