"""Shared parts of the tests of the Python module."""

import contextlib
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import support
import vmafx
from support import FRAMES, HEIGHT, WIDTH, Lab, Skip, check, check_equal, report_cases, run_case, slow_case

top = Path(__file__).resolve().parents[2]
ALL = bool(os.environ.get("VMAFX_TEST_ALL"))  # whether cases try all combinations, as tests/run --long wants
logging.getLogger("vmafx").addHandler(logging.NullHandler())

cases = []
long_cases = []


def case(function):
    """Registers a test: its name is the function's, it gets a Lab of its own, and fails by an exception."""
    cases.append(function)
    return function


def long_case(function):
    long_cases.append(function)
    return case(function)


@contextlib.contextmanager
def raises(kind, text="", number=None):
    """Checks that the block raises an error of this kind, with this text and number."""
    try:
        yield
    except kind as error:
        check(text in str(error), f"'{text}' is not in: {error}")
        check(number is None or error.errno == number, f"errno is {getattr(error, 'errno', None)}, wanted {number}")
        return
    raise AssertionError(f"no {kind.__name__} '{text}'")


class Listener(logging.Handler):
    """A handler that gets all messages of the library while it is in use."""

    def __enter__(self):
        logger = logging.getLogger("vmafx")
        self.level_before = logger.level
        logger.addHandler(self)
        logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_):
        logger = logging.getLogger("vmafx")
        logger.removeHandler(self)
        logger.setLevel(self.level_before)


class Messages(Listener):
    """Keeps the messages of the library: [(level, text)]."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append((record.levelno, record.getMessage()))

    def check(self, level, text):
        check(any(level == said[0] and text in said[1] for said in self.said), f"'{text}' is not in {self.said}")


def noise(height=72, width=96, seed=0, high=256, dtype=np.uint8):
    return np.random.default_rng(seed).integers(0, high, (height, width), dtype=dtype)


def gray_pairs(frames=4):
    """Yields pairs of pictures of luma only, at 25 frames a second."""
    for i in range(frames):
        ref = noise(seed=i)
        yield vmafx.Picture(ref, time=i / 25), vmafx.Picture(ref // 2 + 30, time=i / 25)


def score_pairs(pairs, **options):
    """Returns (the scores of each frame, the pooled ones)."""
    with vmafx.Session(backend="cpu", **options) as session:
        return [frame.scores for frame in session.run(pairs)], session.scores


def alive(pid):
    """Returns whether a process runs; one that has ended but was not waited for does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0]
    except OSError:
        return False


def run_python(program, *arguments, **settings):
    """Runs a program in a Python of its own and returns (exit status, output)."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=60, **settings
    )
    return done.returncode, done.stdout + done.stderr
