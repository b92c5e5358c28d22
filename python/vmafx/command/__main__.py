"""Scores videos with ffmpeg and its filter vmafx, and shows the scores."""

import argparse
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Any

from .. import _header
from .._system import INTERRUPTED, PIPE_BROKEN, lacking, signals
from . import _completion
from ._terminal import Failure, complain, drop_output, emit, shown

SUBCOMMANDS = (
    "score",
    "verify",
    "report",
    "view",
    "compare",
    "merge",
    "library",
    "crf",
    "encode",
    "doctor",
    "models",
    "metrics",
)  # the modules of this folder that have add_arguments(parser) and run(arguments)
ALONE = "--version", "--print-completion"  # options that need no subcommand
SIGNED = "--range", "--offset"  # options whose value may begin with a minus sign
FAULT = 70  # EX_SOFTWARE of sysexits.h: a fault of this program
AGAIN_S = 0.01  # after which a signal that came to nothing is sent again
TRACEBACK = "VMAFX_TRACEBACK"  # environment variable


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status. Every error ends in one line of text."""
    _take_signals()
    _hold_descriptors()
    words = _joined(sys.argv[1:] if words is None else words)
    if _completion.is_asked():
        words = _completion.words_so_far()
    called = [name for name in words[:1] if name in SUBCOMMANDS]
    name = f"vmafx {called[0]}" if called else "vmafx"
    try:
        if called and (why := lacking(called[0])):
            raise Failure(why)
        parser = _parser(called or _subcommands_for(words))
        if _completion.is_asked():
            _completion.answer(parser)
        arguments = parser.parse_args(words)
        if sys.stdout is None:
            raise Failure("cannot write the result: standard output is closed")
        status: int = arguments.run(arguments)
        emit("")  # flushes the rest, which may not fit a full disk
        return status
    except Failure as failure:
        complain(f"{name}: {failure}")
        return failure.status
    except BrokenPipeError:  # the reader of the result has seen enough
        drop_output()
        return PIPE_BROKEN
    except KeyboardInterrupt:
        complain(f"{name}: stopped")
        return INTERRUPTED
    except SystemExit as end:
        return _flushed(name, end)
    except Exception as error:
        return _confess(name, error)


def _subcommands_for(words: Sequence[str]) -> list[str]:
    """Returns the subcommands that the parser must know for words that do not begin with one."""
    if not _completion.is_asked() and words and words[0].partition("=")[0] in ALONE:
        return []
    return [subcommand for subcommand in SUBCOMMANDS if not lacking(subcommand)]


def _flushed(name: str, end: SystemExit) -> int:
    """Returns the status of an end by --help, a wrong option or a signal, once the help is written."""
    try:
        emit("")
    except (Failure, BrokenPipeError) as failure:
        complain(f"{name}: {failure}")
        return 1
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def _confess(name: str, error: Exception) -> int:
    """Reports an error that nobody foresaw, and returns the exit status."""
    if os.environ.get(TRACEBACK):
        raise error
    if isinstance(error, OSError):
        complain(f"{name}: {error.strerror or error}" + (f": {shown(error.filename)}" if error.filename else ""))
        return 1
    hint = f"this is a fault of vmafx: please report it; {TRACEBACK}=1 shows where it happened"
    complain(f"{name}: {type(error).__name__}: {error} ({hint})")
    return FAULT


def _take_signals() -> None:
    """Makes SIGTERM, and SIGHUP of a terminal that goes away, unwind the stack, so that no process or file is left
    behind. A signal that nohup ignores stays ignored.
    """
    for number in signals("SIGTERM", "SIGHUP"):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    sys.unraisablehook = _send_again


class Ended(SystemExit):
    """A signal that ends the command."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _end(number: int, _: FrameType | None) -> None:
    """Unwinds the stack, so that running programs are ended and half-written files are removed."""
    raise Ended(number)


def _send_again(dropped: "sys.UnraisableHookArgs") -> None:
    """Sends a signal again whose exception Python has dropped, as it does in __del__() and in what a weak reference
    calls. It is sent by another thread: here it would be dropped once more.
    """
    error = dropped.exc_value
    if isinstance(error, Ended | KeyboardInterrupt):
        number = error.number if isinstance(error, Ended) else signal.SIGINT
        again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(dropped)


def _hold_descriptors() -> None:
    """Opens 0, 1 and 2 if the caller has closed them, so that no file opened later gets one of these numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be text


def _joined(words: Sequence[str]) -> list[str]:
    """Writes `--range -1s` as argparse wants it: `--range=-1s`."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in SIGNED and word.startswith("-") and not word.startswith("--"):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose messages cannot control the terminal, whatever words they repeat."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stderr or file is None:
            complain(message.rstrip("\n"))
        else:
            emit(message)


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """Makes the parser of these subcommands, and imports only them: importing all takes longer than Python's start."""
    parser = Parser(prog="vmafx", description=__doc__)
    parser.add_argument("--version", action="version", version=f"vmafx {_header.version}")
    help_completion = "print the code that makes this shell complete the command's words, and exit"
    parser.add_argument(
        "--print-completion", action=_completion.Print, choices=_completion.SHELLS, help=help_completion
    )
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


if __name__ == "__main__":
    sys.exit(main())
