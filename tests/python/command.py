"""Runs the command `vmafx` in tests."""

import os
import sys

import starts
from common import check, check_equal, top

# The small clips are not scaled to the size that models are made for: 1080p takes a hundred times as long.
AT_OWN_SIZE = "--scale", "reference"
WITHOUT_LIBRARIES = (
    "import sys; sys.modules.update(cffi=None, numpy=None, av=None); from vmafx.command.__main__ import main; "
    "sys.exit(main())"
)


def environment(lab, **variables):
    """Returns the environment for the command; None takes a variable away."""
    settings = {**os.environ, "PYTHONPATH": str(top / "python"), "VMAFX_FFMPEG": lab.ffmpeg} | variables
    return {name: str(value) for name, value in settings.items() if value is not None}


class Done:
    """A finished command and its output."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def succeeded(self):
        check_equal(self.status, 0, f"exit status; it said: {self.err}")
        return self

    def failed(self, status, *texts):
        """Checks that the command ended with this status, one error that has all of the texts, and no result."""
        check_equal(self.status, status, f"exit status; it said: {self.err}")
        check("Traceback" not in self.err and not self.out, f"{self.out}{self.err}")
        return self.says(*texts)

    def says(self, *texts):
        for text in texts:
            check(text in self.err, f"'{text}' is not in: {self.err}")
        return self

    def does_not_say(self, text):
        check(text not in self.err, f"'{text}' is in: {self.err}")
        return self


def command(*words):
    """Returns the command's words. It needs none of the libraries of the module vmafx."""
    return [sys.executable, "-c", WITHOUT_LIBRARIES, *map(str, words)]


def vmafx(lab, *words, **variables):
    return Done(starts.run(command(*words), lab.folder, environment(lab, **variables)))
