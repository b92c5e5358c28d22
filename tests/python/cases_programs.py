"""score(), the examples of docs/python.md, and the programs in examples/."""

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


# -- examples/crf_search.py --------------------------------------------------------------------------------------------


def crf_search(lab, *arguments):
    program = [sys.executable, top / "examples/crf_search.py", *map(str, arguments)]
    return subprocess.run(program, cwd=lab.folder, env=environment, capture_output=True, text=True, timeout=100)


def searched(lab, *arguments):
    """Returns ({crf: score}, the CRF that was found)."""
    done = crf_search(lab, lab.clips.ref, *arguments)
    check_equal(done.returncode, 0, done.stderr)
    probes = {int(crf): float(score) for crf, score in re.findall(r"^crf +(\d+) .* score +(\S+) ", done.stdout, re.M)}
    decoded = re.search(r"^decoded: (\d+) frames of the reference, (\d+) of (\d+) probes$", done.stdout, re.M)
    check_equal(
        [int(count) for count in decoded.groups()], [FRAMES, FRAMES * len(probes), len(probes)], "decoded frames"
    )
    return probes, int(re.search(r"^found: crf (\d+), ", done.stdout, re.M)[1])


def largest_that_reaches(probes, found, target):
    check(probes[found] >= target, f"{probes[found]} of crf {found} is below {target}")
    check(probes[found + 1] < target, f"crf {found + 1} was not tried, or is as good")


@case
def crf_of_x264(lab):
    """The score is nearly that of ffmpeg's encode with this CRF: for small pictures x264 does not always write the same
    bits.
    """
    probes, found = searched(lab, "--target", 80, "--crf-range", "15:45")
    check(len(probes) <= 6, f"{len(probes)} probes")
    largest_that_reaches(probes, found, 80)
    lab.run("-i", lab.clips.ref, "-c:v libx264 -preset medium -crf", found, "encode.mp4").succeeded()
    by_ffmpeg = float(lab.compare("vmafx", dist="encode.mp4").score())
    check(abs(by_ffmpeg - probes[found]) < 1, f"ffmpeg's encode has the score {by_ffmpeg}, not {probes[found]}")


@case
def crf_of_svt_av1(lab):
    probes, found = searched(lab, "--target", 80, "--encoder", "libsvtav1", "--crf-range", "30:60", "--preset", 12)
    largest_that_reaches(probes, found, 80)


@case
def crf_of_a_part_in_10_bits(lab):
    done = crf_search(
        lab, lab.clips.ref10, "--frames", 5, "--crf-range", "20:24", "--target", 10, "--model", "vmaf_v0.6.1neg"
    )
    check_equal(done.returncode, 0, done.stderr)
    check("decoded: 5 frames of the reference" in done.stdout and "found: crf 24, " in done.stdout, done.stdout)


@case
def crf_searches_that_fail(lab):
    for arguments, text in (
        ((lab.clips.ref, "--crf-range", "40:45", "--target", 99), "no CRF of 40 to 45 reaches 99"),
        ((lab.folder / "none.mp4",), "No such file"),
        ((lab.clips.ref, "--model", "nonsense"), "could not load libvmaf model"),
        ((lab.clips.ref, "--crf-range", "45:40"), "45:40 is not FIRST:LAST"),
        ((lab.clips.ref, "--frames", "0"), "0 is not a number from 1 up"),
    ):
        done = crf_search(lab, *arguments)
        check(done.returncode != 0 and text in done.stderr, f"'{text}' is not in: {done.stderr}")
        check("Traceback" not in done.stderr, done.stderr)


@case
def crf_search_keeps_to_its_memory(lab):
    lab.run("-f lavfi -i testsrc2=s=640x480:r=25:d=1", "-c:v libx264 large.mp4").succeeded()
    done = crf_search(lab, "large.mp4", "--memory", 4)
    check(
        done.returncode == 1
        and re.search(
            "may take 4.0 MiB, and only [89] fit.* Allow more with --memory, or take fewer with --frames", done.stderr
        ),
        done.stderr,
    )
    fewer = crf_search(lab, "large.mp4", "--memory", 4, "--frames", 6, "--crf-range", "20:20", "--target", 1)
    check_equal(fewer.returncode, 0, "exit status with fewer")
