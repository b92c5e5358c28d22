#!/usr/bin/env python3
"""The programs themselves, with our filter libvmaf in the ffmpeg that they call: what they print are libvmaf's numbers.

usage: programs.py FOLDER BIN [--only TEXT] [--libvmaf FFMPEG]

  FOLDER     has ffmpeg and ffprobe
  BIN        has the programs: that of a virtual environment
  --only     run the cases whose name contains TEXT
  --libvmaf  an ffmpeg with libvmaf itself, ffprobe beside it: with it the programs print the same

Prints one line per case and 'N passed, N failed, N skipped' at the end; exits 1 when something failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parents[1] / "filter"))
import support
from support import GoldenClip, Skip, check, check_equal

HD, DEEP, UHD = "1920x1080_8b_420_k1_s9", "1920x1080_10b_420_k5_s10", "3840x2160_8b_420_k1_s11"
cases = []


def case(function):
    """Registers a test that gets a Desk of its own."""
    cases.append(function)
    return function


class Desk(support.Lab):
    """A place to run a program in."""

    def __init__(self, arguments, folder, clips=None):
        super().__init__(Path(arguments.folder).resolve() / "ffmpeg", folder, clips)
        self.programs = Path(arguments.bin).resolve()
        self.libvmaf = arguments.libvmaf

    def program(self, name, *arguments, ffmpeg=None):
        """Runs a program and returns its output. The program finds our ffmpeg and ffprobe in PATH before any other."""
        folder = Path(ffmpeg or self.ffmpeg).resolve().parent
        environment = {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "COLUMNS": "200",
            "FFMPEG": "",
            "FFPROBE": "",
        }
        for variable in "FFMPEG", "FFPROBE":
            del environment[variable]
        command = [str(word) for word in (self.programs / name, *arguments)]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=environment,
            timeout=300,
        )
        check(
            done.returncode == 0,
            f"{name} ended with exit status {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}",
        )
        return done.stdout


# -- easyVmaf ----------------------------------------------------------------------------------------------------------


def easyvmaf(desk, dist, ref, *options, ffmpeg=None):
    """Returns {name: score} as printed, and checks that its summary has the same."""
    printed = desk.program("easyvmaf", "-d", dist, "-r", ref, *options, ffmpeg=ffmpeg)
    scores = dict(re.findall(r"^(vmaf\w+) +([0-9.]+)  \[", printed, re.M))
    check(scores, f"no score in: {printed}")
    summary = json.loads(Path(desk.folder, re.search(r"^Summary file path:  (.*)$", printed, re.M)[1]).read_text())
    check_equal(
        {name: f"{score:.6f}" for name, score in summary["vmaf"]["scores"].items()}, scores, "scores of the summary"
    )
    return scores


def means(clip, **models):
    """Returns {name: score} of those models, as easyVmaf computes them from a report's frames."""
    return {name: f"{mean(clip.frames(model)):.6f}" for name, model in models.items()}


@case
def easyvmaf_by_default(desk):
    """easyVmaf uses VMAF v1 at 10 bits, from two distances, by default."""
    clip = GoldenClip(desk, DEEP)
    wanted = means(clip, vmaf_v1_hd="vmaf_v1.0.16_3d0h", vmaf_v1_phone="vmaf_v1.0.16_5d0h")
    check_equal(easyvmaf(desk, clip.dist, clip.ref), wanted, "scores")


@case
def easyvmaf_of_both_generations(desk):
    clip = GoldenClip(desk, DEEP)
    scores = easyvmaf(
        desk, clip.dist, clip.ref, "--vmaf-version", "1", "0.6", "--bitdepth", "10", "--hfr", "on", "--view", "3h"
    )
    wanted = means(clip, vmaf_v1_hd="vmaf_v1.0.16_hfr_3d0h", vmaf_hd="vmaf_v0.6.1", vmaf_hd_neg="vmaf_v0.6.1neg")
    phone = desk.compare(
        "vmafx=model=version=vmaf_v0.6.1\\\\:enable_transform=true:log_path=phone.json", clip.dist, clip.ref
    )
    phone.succeeded()
    frames = [frame["metrics"]["vmaf"] for frame in desk.json("phone.json")["frames"]]
    check_equal(scores, {**wanted, "vmaf_hd_phone": f"{mean(frames):.6f}"}, "scores")


@case
def easyvmaf_of_2160p(desk):
    clip = GoldenClip(desk, UHD)
    scores = easyvmaf(desk, clip.dist, clip.ref, "--display", "4k", "--vmaf-version", "0.6")
    check_equal(scores, means(clip, vmaf_4k="vmaf_4k_v0.6.1"), "scores")


@case
def easyvmaf_from_each_format(desk):
    """Frames have 17 digits in CSV."""
    clip = GoldenClip(desk, HD)
    wanted = means(clip, vmaf_hd="vmaf_v0.6.1", vmaf_hd_neg="vmaf_v0.6.1neg")
    for log_fmt in "json", "xml", "csv":
        scores = easyvmaf(desk, clip.dist, clip.ref, "--vmaf-version", "0.6", "--output-format", log_fmt)
        for name, score in wanted.items():
            check(
                abs(float(scores[name]) - float(score)) < 1.1e-6,
                f"{name} from {log_fmt}: {scores[name]}, wanted {score}",
            )


@case
def easyvmaf_of_a_range_of_frames(desk):
    """easyVmaf seeks, scores some more frames, and drops them."""
    clip = GoldenClip(desk, HD)
    for start, count in (1, 1), (1, 2):
        scores = easyvmaf(
            desk, clip.dist, clip.ref, "--vmaf-version", "0.6", "--start-frame", start, "--frame-count", count
        )
        frames = clip.frames("vmaf_v0.6.1")[start : start + count]
        check_equal(scores["vmaf_hd"], f"{mean(frames):.6f}", f"{count} frames from {start}")


@case
def easyvmaf_with_sync_search_and_heatmaps(desk):
    """The distorted clip lacks the first three frames of the reference."""
    late = desk.folder / "late.mkv"
    desk.run(
        "-i", desk.clips.ref, "-vf", "trim=start_frame=3,setpts=PTS-STARTPTS,boxblur=1", "-c:v ffv1", late
    ).succeeded()
    printed = desk.program("easyvmaf", "-d", late, "-r", desk.clips.ref, "--sync-window", "0.4", "--cambi-heatmap")
    check("offset:  0.12 " in printed, f"no offset of three frames in: {printed}")
    check(list(desk.folder.glob("late_cambi_heatmap/cambi_heatmap_scale_0*.gray")), "no heatmaps")


# -- ffmpeg-quality-metrics --------------------------------------------------------------------------------------------


def quality_metrics(desk, clip, *options, ffmpeg=None):
    return json.loads(desk.program("ffmpeg-quality-metrics", clip.dist, clip.ref, *options, ffmpeg=ffmpeg))


@case
def ffmpeg_quality_metrics(desk):
    """The program names its own model files by path."""
    for name, model, options in (
        (HD, "vmaf_v0.6.1", ()),
        (HD, "vmaf_v0.6.1neg", ("--vmaf-model-path", "vmaf_v0.6.1neg.json")),
        (DEEP, "vmaf_v1.0.16_3d0h", ("--vmaf-model-path", "vmaf_v1.0.16_3d0h.json", "--vmaf-10bit")),
        (UHD, "vmaf_4k_v0.6.1", ("--vmaf-model-path", "vmaf_4k_v0.6.1.json")),
    ):
        clip = GoldenClip(desk, name)
        said = quality_metrics(desk, clip, "-m", "vmaf", *options)
        frames = clip.frames(model)
        check_equal(
            [(frame["n"], frame["vmaf"]) for frame in said["vmaf"]], list(enumerate(frames, 1)), f"{model} of {name}"
        )
        check_equal(said["global"]["vmaf"]["vmaf"]["average"], round(mean(frames), 3), "average")


@case
def ffmpeg_quality_metrics_with_features(desk):
    """The program runs FFmpeg's own metrics in the same run."""
    clip = GoldenClip(desk, HD)
    frames = quality_metrics(desk, clip, "-m", "psnr", "vmaf", "--vmaf-features", "psnr", "ciede")["vmaf"]
    for feature, key in ("psnr", "psnr_y"), ("ciede", "ciede2000"):
        wanted = [frame[key] for frame in clip.clip.golden["features"][feature]["frames"]]
        largest = max(abs(frame[key] - value) for frame, value in zip(frames, wanted))
        check(len(frames) == len(wanted) and largest < 1e-4, f"{key} differs by {largest}")


# -- ffvm --------------------------------------------------------------------------------------------------------------


@case
def ffvm(desk):
    """The program encodes with x264 and scores."""
    if "libx264" not in subprocess.run(desk.command("-hide_banner -encoders"), capture_output=True, text=True).stdout:
        raise Skip("this ffmpeg has no x264")
    printed = desk.program("ffvm", "encode", desk.clips.ref, "out.mp4", "--crf", "38", "--compare")
    score = float(desk.compare("vmafx", desk.folder / "out.mp4").score())
    check(re.search(rf"\b{score:.2f}\b", printed), f"{score:.2f} is not in: {printed}")


# -- With libvmaf itself -----------------------------------------------------------------------------------------------


@case
def the_programs_print_the_same_with_libvmaf_itself(desk):
    """The programs print the same with libvmaf, also for scaled videos and models without golden scores."""
    if not desk.libvmaf:
        raise Skip("no ffmpeg with libvmaf itself was given (VMAFX_LIBVMAF_FFMPEG)")
    small = desk.folder / "small.mkv"
    desk.run("-f lavfi -i testsrc2=s=640x360:r=25:d=0.4 -c:v ffv1", small).succeeded()
    blurred = desk.folder / "blurred.mkv"
    desk.run("-i", small, "-vf boxblur=1,scale=480x270 -c:v mpeg4 -q:v 8", blurred).succeeded()
    for options in (
        (),
        ("--vmaf-version", "1", "0.6"),
        ("--display", "4k", "--subsample", "2"),
        ("--fps", "20", "--output-format", "csv"),
    ):
        ours, theirs = (easyvmaf(desk, blurred, small, *options, ffmpeg=ffmpeg) for ffmpeg in (None, desk.libvmaf))
        check_equal(ours, theirs, f"easyvmaf {' '.join(options)}")
    for options in (
        (),
        ("--vmaf-model-path", "vmaf_v1.0.16_5d0h.json", "--vmaf-10bit"),
        ("--vmaf-features", "psnr", "float_ssim"),
    ):
        text = ("ffmpeg-quality-metrics", blurred, small, "-m", "vmaf", *options)
        ours, theirs = (json.loads(desk.program(*text, ffmpeg=ffmpeg)) for ffmpeg in (None, desk.libvmaf))
        check_equal(ours, theirs, f"ffmpeg-quality-metrics {' '.join(options)}")


# ----------------------------------------------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("bin")
    parser.add_argument("--only", default="")
    parser.add_argument("--libvmaf")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.libvmaf and not os.access(arguments.libvmaf, os.X_OK):
        raise SystemExit(f"programs.py: {arguments.libvmaf} is not a program")
    chosen = [function for function in cases if arguments.only in function.__name__]
    with tempfile.TemporaryDirectory(prefix="vmafx-clients-") as folder:
        folder = Path(folder)
        clips = Desk(arguments, folder / "clips").clips
        outcomes = (
            support.run_case(function, Desk(arguments, folder / function.__name__, clips)) for function in chosen
        )
        return support.report_cases(chosen, outcomes)


if __name__ == "__main__":
    sys.exit(main())
