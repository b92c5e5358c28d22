"""What the tests of the Python module share."""

import contextlib
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import vmafx
from support import FRAMES, HEIGHT, WIDTH, Lab, Skip, check, check_equal, report_cases, run_case

top = Path(__file__).resolve().parents[2]
logging.getLogger("vmafx").addHandler(logging.NullHandler())

cases = []
long_cases = []


def case(function):
    """A test: its name is the function's, it gets a Lab of its own, and fails by an exception."""
    cases.append(function)
    return function


def long_case(function):
    long_cases.append(function)
    return case(function)


@contextlib.contextmanager
def raises(kind, text="", number=None):
    """What is done in here raises this."""
    try:
        yield
    except kind as error:
        check(text in str(error), f"'{text}' is not in: {error}")
        check(number is None or error.errno == number, f"errno is {getattr(error, 'errno', None)}, wanted {number}")
        return
    raise AssertionError(f"no {kind.__name__} '{text}'")


class Messages(logging.Handler):
    """What the library said while this was in use: [(level, text)]."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append((record.levelno, record.getMessage()))

    def __enter__(self):
        logging.getLogger("vmafx").addHandler(self)
        logging.getLogger("vmafx").setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_):
        logging.getLogger("vmafx").removeHandler(self)

    def check(self, level, text):
        check(any(level == said[0] and text in said[1] for said in self.said), f"'{text}' is not in {self.said}")


def noise(height=72, width=96, seed=0, high=256, dtype=np.uint8):
    return np.random.default_rng(seed).integers(0, high, (height, width), dtype=dtype)


def gray_pairs(frames=4):
    """Pairs of luma alone, a frame of 25 a second after the other."""
    for i in range(frames):
        ref = noise(seed=i)
        yield vmafx.Picture(ref, time=i / 25), vmafx.Picture(ref // 2 + 30, time=i / 25)


def score_pairs(pairs, **options):
    """(the scores of each frame, the pooled ones)"""
    with vmafx.Session(backend="cpu", **options) as session:
        return [frame.scores for frame in session.run(pairs)], session.scores


def alive(pid):
    """What has ended and was not waited for, by a first process of a container, say, is not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0]
    except OSError:
        return False


def run_python(program, *arguments, **settings):
    """A Python of its own: (exit status, what it said)."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=60, **settings
    )
    return done.returncode, done.stdout + done.stderr
