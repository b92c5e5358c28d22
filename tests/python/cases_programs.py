"""score(), and the examples of docs/python.md."""

import errno
import gc
import logging
import os
import re
import subprocess
import sys
import textwrap

import vmafx
from cases_examples import lay_out
from common import FRAMES, Messages, case, check, check_equal, raises, top

environment = {**os.environ, "PYTHONPATH": str(top / "python")}


# -- score() -----------------------------------------------------------------------------------------------------------


@case
def files_of_different_lengths(lab):
    shorter = lab.folder / "shorter.mkv"
    lab.run("-i", lab.clips.dist, "-frames:v 12 -c:v ffv1", shorter).succeeded()
    with raises(vmafx.Error, "the distorted video ends after 12 frames, the reference goes on", errno.EINVAL):
        vmafx.score(lab.clips.ref, shorter)
    with raises(vmafx.Error, "the reference ends after 12 frames", errno.EINVAL):
        vmafx.score(shorter, lab.clips.ref)
    check_equal(len(vmafx.score(str(lab.clips.ref), shorter, shortest=True).frames), 12, "frames")


@case
def files_that_drift_apart(lab):
    slower = lab.folder / "slower.mkv"
    lab.run("-i", lab.clips.dist, "-vf setpts=1.1*PTS -fps_mode passthrough -c:v ffv1", slower).succeeded()
    with Messages() as messages:
        vmafx.score(lab.clips.ref, slower)
    messages.check(logging.WARNING, "drift apart by")
    with Messages() as messages:
        vmafx.score(lab.clips.ref, lab.clips.dist)
    check(not any("drift" in text for _, text in messages.said), "files that do not drift")


@case
def file_that_is_not_there(lab):
    with raises(OSError, "", errno.ENOENT):
        vmafx.score(lab.clips.ref, lab.folder / "none.mp4")


@case
def file_without_video(lab):
    sound = lab.folder / "sound.wav"
    lab.run("-f lavfi -i sine=d=0.1", sound).succeeded()
    with raises(vmafx.Error, f"{sound} has no video", errno.EINVAL):
        vmafx.score(lab.clips.ref, sound)


@case
def files_left_while_threads_decode(lab):
    """A file is left while threads decode: PyAV hangs now and then if nobody waits for these threads."""
    large, small = lab.folder / "large.mp4", lab.folder / "small.mp4"
    lab.run("-f lavfi -i testsrc2=s=640x480:r=25:d=1 -c:v libx264", large).succeeded()
    lab.run("-f lavfi -i testsrc2=s=320x240:r=25:d=1 -c:v libx264", small).succeeded()
    for _ in range(8):
        with raises(vmafx.Error, "", errno.EINVAL):
            vmafx.score(large, small)
        gc.collect()


# -- The document ------------------------------------------------------------------------------------------------------


def programs(document):
    """Returns the indented texts that begin with an import, without the indentation."""
    blocks = re.findall(r"^(?:    .*\n(?:\n+(?=    ))?)+", (top / document).read_text(), re.M)
    return [textwrap.dedent(block) for block in blocks if block.startswith("    import ")]


@case
def examples_of_the_document(lab):
    lay_out(lab)
    blocks = programs("docs/python.md")
    check(len(blocks) >= 6, f"{len(blocks)} examples")
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block], cwd=lab.folder, env=environment, capture_output=True, text=True, timeout=60
        )
        check_equal(done.returncode, 0, f"{block}\n{done.stderr}")
        check(done.stdout, f"it prints nothing: {block}")
