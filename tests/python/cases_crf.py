"""`vmafx crf` and the package vmafx.tuning: the quantizer that is found, intervals, early ends, the cache, errors."""

import contextlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import av
import numpy as np
import starts
import vmafx as module
from command import Done, environment
from common import ALL, alive, case, check, check_equal, raises, slow_case
from vmafx._system import memory
from vmafx.command._terminal import Failure
from vmafx.tuning.axis import Axis
from vmafx.tuning.curve import Curve, t_quantile
from vmafx.tuning.encoders import ENCODERS, Settings, by_bit_rate
from vmafx.tuning.probe import Part, chosen_of
from vmafx.tuning.proposal import Proposer
from vmafx.tuning.scaling import LumaScaler, luma_of
from vmafx.tuning.search import Options, search, usual_memory
from vmafx.tuning.table import Table
from vmafx.tuning.targets import Target

FAST = {"libx264": "ultrafast", "libx265": "ultrafast", "libsvtav1": "12"}
NOISY = "testsrc2=s=160x90:r=24,noise=alls=9:allf=t:all_seed=5"
SCENES = (  # easy and hard ones, seconds each
    (6, "testsrc=s=160x90:r=24"),
    (5, "testsrc2=s=160x90:r=24,noise=alls=14:allf=t:all_seed=1"),
    (7, "mandelbrot=s=160x90:r=24:maxiter=99"),
    (6, "testsrc2=s=160x90:r=24"),
    (5, "testsrc2=s=160x90:r=24,noise=alls=5:allf=t:all_seed=2"),
    (6, "gradients=s=160x90:r=24:speed=0.05:seed=3"),
)


def words(*more):
    return [sys.executable, "-m", "vmafx.command", "crf", "--scale", "none", *map(str, more)]


def settings(lab, **variables):
    return environment(lab, XDG_CACHE_HOME=lab.folder / "cache", **variables)


def crf(lab, *more, **variables):
    return Done(starts.run(words(*more), lab.folder, settings(lab, **variables)))


def lines(done):
    """Returns (the probes, the result) of --json."""
    content = [json.loads(line) for line in done.out.splitlines()]
    return [line["probe"] for line in content if "probe" in line], content[-1].get("result")


def found(lab, *more, **variables):
    return lines(crf(lab, *more, "--json", **variables).succeeded())


def clip(lab, source=NOISY, seconds=1.5, name="clip.mkv", *more):
    codec = more or ("-c:v", "ffv1", "-pix_fmt", "yuv420p")
    lab.run("-y -f lavfi -i", source, "-t", seconds, *codec, name).succeeded()
    return name


def scenes(lab):
    """Makes a clip of scenes, twice, with key frames where they begin."""
    inputs = [word for seconds, source in SCENES for word in ("-f", "lavfi", "-t", str(seconds), "-i", source)]
    chain = "".join(f"[{i}]format=yuv420p[s{i}];" for i in range(len(SCENES)))
    chain += "".join(f"[s{i}]" for i in range(len(SCENES))) + f"concat=n={len(SCENES)}"
    lab.run("-y", *inputs, "-filter_complex", chain, "-c:v libx264 -preset ultrafast -crf 8 once.mp4").succeeded()
    lab.run("-y -stream_loop 1 -i once.mp4 -c copy scenes.mp4").succeeded()
    return "scenes.mp4"


def true_score(lab, source, result, quantizer=None):
    """Encodes the whole with ffmpeg and returns its score."""
    given = list(result["arguments"])
    if quantizer is not None:
        given[given.index("-crf") + 1] = str(quantizer)
    lab.run("-y -i", source, "-an", *given, "encode.mkv").succeeded()
    ref, dist = lab.folder / source, lab.folder / "encode.mkv"
    return module.score(ref, dist, check="off", backend="cpu").models["vmaf"]


# -- What is found -----------------------------------------------------------------------------------------------------


@case
def crf_is_the_largest_that_a_scan_finds(lab):
    """A short clip is encoded whole: its score is that of ffmpeg's own encode, and the next quantizers miss."""
    source = clip(lab)
    for encoder, preset in FAST.items():
        probes, result = found(lab, source, "-e", encoder, "--preset", preset, "--target", "vmaf=80", "--no-cache")
        check(result["reached"] and result["frames"] == result["of_frames"] == 36, result)
        told = result["scores"]["vmaf"]
        check_equal([told["low"], told["high"]], [told["value"]] * 2, "interval of a whole video")
        truth = true_score(lab, source, result)
        check(abs(truth - told["value"]) < 0.3 and told["value"] >= 80, f"{encoder}: {truth}, promised {told}")
        worse = true_score(lab, source, result, result["quantizer"] + 1)
        check(worse < 80, f"{encoder}: crf {result['quantizer']} + 1 has {worse}")
        check(len(probes) <= 6, f"{encoder}: {len(probes)} probes")
        true_score(lab, source, result)
        size = os.path.getsize(lab.folder / "encode.mkv")
        check(abs(result["predicted_bytes"] / size - 1) < 0.2, f"{result['predicted_bytes']} predicted, is {size}")


@case
@slow_case
def crf_of_samples_keeps_its_promise(lab):
    source = scenes(lab)
    total = 2 * 24 * sum(seconds for seconds, _ in SCENES)
    probes, result = found(lab, source, "--preset", "ultrafast", "--target", "vmaf=88")
    check_equal(result["of_frames"], total, "frames of the video")
    check(result["samples"] >= 8 and result["frames"] < total, result)
    told, truth = result["scores"]["vmaf"], true_score(lab, source, result)
    check(88 <= told["value"] and told["low"] < told["value"] < told["high"], told)
    check(told["low"] <= truth <= told["high"], f"the score is {truth}, promised was {told}")
    if not ALL:
        return
    widths = []
    for confidence in 60, 99:
        more = "--target", "vmaf=88", "--samples", 8, "--confidence", confidence
        told = found(lab, source, "--preset", "ultrafast", *more)[1]["scores"]["vmaf"]
        widths.append(told["high"] - told["low"])
    check(widths[0] < widths[1], f"intervals of 60 and 99 %: {widths}")


@case
@slow_case
def crf_reaches_several_targets(lab):
    source = clip(lab)
    targets = "--target", "vmaf=70", "--target", "p5:ssimulacra2=20", "--target", "butteraugli=9"
    _, result = found(lab, source, "--preset", "ultrafast", *targets)
    scores = {name: told["value"] for name, told in result["scores"].items()}
    check_equal(list(scores), ["vmaf", "p5:ssimulacra2", "butteraugli"], "scores")
    check(scores["vmaf"] >= 70 and scores["p5:ssimulacra2"] >= 20 and scores["butteraugli"] <= 9, scores)
    alone = [found(lab, source, "--preset", "ultrafast", *targets[i : i + 2])[1]["quantizer"] for i in (0, 2, 4)]
    check(abs(min(alone) - result["quantizer"]) <= 0.8, f"alone {alone}, together {result['quantizer']}")


@case
def crf_that_no_quantizer_reaches(lab):
    done = crf(lab, clip(lab), "--preset", "ultrafast", "--min-crf", 40, "--max-crf", 45, "--target", "vmaf=99.9")
    check_equal(done.status, 4, "exit status")
    check("no quantizer reaches vmaf=99.9: crf 40, the best, has vmaf " in done.out, done.out)
    _, result = lines(crf(lab, "clip.mkv", "--preset", "ultrafast", "--target", "vmaf=1", "--max-crf", 30, "--json"))
    check(result["reached"] and result["quantizer"] == 30, result)


@case
def crf_searches_a_bit_rate(lab):
    source = clip(lab, seconds=3)
    _, result = found(lab, source, "--preset", "ultrafast", "--bit-rate", "--target", "vmaf=85")
    check(result["reached"] and 50 < result["quantizer"] < 20000, result)
    check("-b:v" in result["arguments"] and "-crf" not in result["arguments"], result["arguments"])
    lower = crf(lab, source, "--preset", "ultrafast", "--bit-rate", "--target", "vmaf=85", "--max-crf", 60)
    check_equal(lower.status, 4, lower.out + lower.err)


# -- Early ends --------------------------------------------------------------------------------------------------------


@case
@slow_case
def probes_end_when_they_are_decided(lab):
    source = clip(lab, "testsrc2=s=320x180:r=24,noise=alls=20:allf=t:all_seed=5", 8)
    more = source, "--preset", "ultrafast", "--target", "xpsnr=38", "--no-cache"
    early, result = found(lab, *more)
    whole, other = found(lab, *more, "--all-frames")
    check(any(probe["frames"] < probe["of_frames"] for probe in early), early)
    check(all(probe["frames"] == probe["of_frames"] for probe in whole), whole)
    check_equal(early[-1]["frames"], 192, "frames of the probe that was found")
    check(abs(result["quantizer"] - other["quantizer"]) <= 0.8, f"{result['quantizer']}, {other['quantizer']}")


@case
def running_probes_tell_of_the_rest(lab):
    """The estimate of a probe's first frames has the rest within its interval, as often as the confidence says."""
    target, draw, wrong = Target.parse("vmaf=90"), random.Random(3), 0
    for _ in range(300):
        table = Table()
        table.samples = 8
        hard = [draw.uniform(70, 95) for _ in range(8)]
        steep = [draw.gauss(1, 0.15) for _ in range(8)]

        def part(number, shift, frames):
            # a quantizer changes each sample by its own amount, and frames by little
            scores = [hard[number] - shift * steep[number] + draw.gauss(0, 1.5) for _ in range(60)]
            return Part({"vmaf": scores[:frames]}, 1, frames, 1.0, frames == 60)

        table.parts[20.0] = {number: part(number, 0, 60) for number in range(8)}
        rest = {number: part(number, 6, 60) for number in range(8)}
        table.parts[26.0] = rest
        truth = table.estimate(26.0, target)[0]
        order = draw.sample(range(8), 3)
        table.parts[26.0] = {number: Part({"vmaf": rest[number].scores["vmaf"]}, 1, 60, 1.0, True) for number in order}
        value, error = table.estimate(26.0, target)
        wrong += abs(value - truth) > table.half(26.0, error, target, 0.95)
    check(wrong <= 22, f"{wrong} of 300 intervals of 95 % miss")


@case
def probes_beside_a_whole_one_end(lab):
    """A probe that differs from a whole one alike on all samples is known after a few of them; one that differs unlike
    is not. Its score, interval and bit rate are those of the whole one and the difference.
    """
    del lab
    target, axis = Target.parse("vmaf=90"), Axis(ENCODERS["libx264"], None, None)
    hard = [96, 84, 92, 88, 94, 80, 90, 86]

    def part(score, size):
        return Part({"vmaf": [score] * 60}, size, 60, 1.0, True)

    def loss(number, more):
        return target.score_of(target.loss(hard[number]) + more)

    for losses, wanted in ((0.055, 0.055, 0.056), True), ((0.01, 0.15, 0.3), False):
        table = Table()
        table.samples, table.covered = 8, 0.1
        table.parts[24.0] = {number: part(score, 1000 * (number + 1)) for number, score in enumerate(hard)}
        table.parts[24.5] = {n: part(loss(n, more), 900 * (n + 1)) for n, more in enumerate(losses)}
        proposer = Proposer(axis, table, [target], 0.95)
        check_equal((proposer.is_known(24.5), proposer.is_known(24.0)), (wanted, True), f"known by {losses}")
    table.parts[24.5] = {n: part(loss(n, 0.055), 900 * (n + 1)) for n in range(3)}
    base, other = (table.of_video(quantizer, target, 0.95) for quantizer in (24.0, 24.5))
    check(abs(other.value - target.score_of(target.loss(base.value) + 0.055)) < 1e-9, f"{other} beside {base}")
    widths = [target.loss(told.low) - target.loss(told.high) for told in (base, other)]
    check(widths[0] * 0.999 < widths[1] < widths[0] * 1.01, f"intervals of {widths}")
    check(abs(table.bits_per_frame(24.5) / table.bits_per_frame(24.0) - 0.9) < 1e-9, "bit rate")


@case
def long_videos_have_a_third_of_their_frames_scored(lab):
    """One of three frames is scored of a long video that is one sample, with the score that it has among all. The
    interval has the score of all frames, and is as wide as what is skipped leaves open. An option of motion that has it
    see more frames has all scored.
    """
    source = clip(lab, NOISY + ",fade=out:0:900", 25.5)
    one = source, "--preset", "ultrafast", "--min-crf", "30", "--max-crf", "30", "--target", "vmaf=10"
    _, skipped = found(lab, *one)
    kept = list((lab.folder / "cache").rglob("*.json"))
    _, whole = found(lab, *one, "--all-frames")
    others = [path for path in (lab.folder / "cache").rglob("*.json") if path not in kept]
    scores = [json.loads(path.read_text())["scores"]["vmaf"] for (path,) in (kept, others)]
    check_equal([len(scores[0]), len(scores[1])], [204, 612], "scored frames")
    numbers = [number for number in range(612) if scores[1][number] in scores[0]]
    check_equal([number // 3 for number in numbers], [*range(204)], "one of each three frames")
    check_equal(scores[0], [scores[1][number] for number in numbers], "scores of frames")
    told, truth = skipped["scores"]["vmaf"], whole["scores"]["vmaf"]
    check_equal([truth["low"], truth["high"]], [truth["value"]] * 2, "interval of all frames")
    check(0.05 < told["high"] - told["low"] < 3 and told["low"] <= truth["value"] <= told["high"], f"{told}, {truth}")
    check_equal(skipped["predicted_bytes"], whole["predicted_bytes"], "predicted size")
    _, wide = found(lab, *one, "--model", "version=vmaf_v0.6.1:motion.motion_five_frame_window=true")
    told = wide["scores"]["vmaf"]
    check_equal([told["low"], told["high"]], [told["value"]] * 2, "interval with motion over five frames")


@case
def frames_are_chosen_from_each_few(lab):
    """One of each few frames is chosen, at each place among these, otherwise in each video and equally each time."""
    del lab
    for count, every in (600, 3), (1000, 3), (997, 2), (961, 4), (1, 3):
        chosen = chosen_of(count, every, "a")
        check_equal(chosen[0], 0, "first frame")
        check_equal([number // every for number in chosen], [*range(len(chosen))], f"one of each {every}")
        check(count // every <= len(chosen) <= count // every + 1, f"{len(chosen)} of {count}")
        often = [sum(number % every == place for number in chosen) for place in range(every)]
        check(count == 1 or min(often) > 0.8 * count / every**2, f"places {often} of {count}")
        check_equal(chosen_of(count, every, "a"), chosen, "chosen again")
    check(chosen_of(600, 3, "b") != chosen_of(600, 3, "a"), "other videos have the same frames")


@case
def skipped_frames_leave_intervals_that_hold(lab):
    """Groups of scores tell how far the score of all frames is, for scores that go up and down with types of frames."""
    del lab
    draw, wrong = random.Random(4), 0
    for number in range(300):
        target = Target.parse(("vmaf=90", "p5:vmaf=80", "harmonic_mean:vmaf=90", "median:vmaf=90")[number % 4])
        level, types = draw.uniform(70, 95), [draw.gauss(0, 1.5) for _ in range(draw.choice((3, 4, 5, 6, 8, 16)))]
        scores = [level - 3 * math.sin(i / 90) + types[i % len(types)] + draw.gauss(0, 1) for i in range(960)]
        table = Table()
        table.samples, table.covered, table.every = 1, 1.0, 3
        table.parts[24.0] = {0: Part({"vmaf": [scores[i] for i in chosen_of(960, 3, str(number))]}, 1, 960, 1.0, True)}
        told = table.of_video(24.0, target, 0.95)
        wrong += not told.low <= target.pooled(scores) <= told.high
        check(told.high - told.low < 3, f"{target}: {told}")
    check(wrong <= 22, f"{wrong} of 300 intervals of 95 % miss")


@case
def luma_is_scaled_as_in_whole_pictures(lab):
    del lab
    draw = np.random.default_rng(1)
    for name in "gray", "yuv420p", "yuvj422p", "yuv444p", "yuv420p10le", "yuv422p12le", "yuv420p16le":
        for (width, height), size in ((320, 180), (1280, 720)), ((333, 277), (720, 540)), ((640, 360), (320, 180)):
            frame = av.VideoFrame(width, height, name)
            bits = frame.format.components[0].bits
            for plane in frame.planes:
                samples = np.frombuffer(plane, "u1" if bits == 8 else "<u2")
                samples[:] = draw.integers(0, 1 << bits, samples.size)
            format = module.Picture.from_frame(frame).format
            scaled = LumaScaler(format, size).scaled(luma_of(frame, format))
            whole = frame.reformat(*size, interpolation="BICUBIC")
            check(np.array_equal(scaled, luma_of(whole, format)), f"{name}, {width}x{height} to {size}")


@case
@slow_case
def crf_takes_models_that_read_chroma(lab):
    source = clip(lab, "testsrc2=s=384x216:r=24,noise=alls=9:allf=t:all_seed=5", 0.5)
    _, result = found(
        lab, source, "--preset", "ultrafast", "--model", "version=vmaf_v1.0.16_3d0h", "--target", "vmaf=60"
    )
    check(result["reached"], result)
    given = [*result["arguments"]]
    lab.run("-y -i", source, "-an", *given, "encode.mkv").succeeded()
    truth = module.score(
        lab.folder / source, lab.folder / "encode.mkv", model="version=vmaf_v1.0.16_3d0h", check="off", backend="cpu"
    ).models["vmaf"]
    told = result["scores"]["vmaf"]["value"]
    check(abs(truth - told) < 0.3, f"{truth}, promised {told}")


# -- The cache ---------------------------------------------------------------------------------------------------------


@case
@slow_case
def results_are_kept(lab):
    source = clip(lab)
    more = source, "--preset", "ultrafast", "--target", "vmaf=80", "--all-frames"
    first, result = found(lab, *more)
    again, other = found(lab, *more)
    check(not any(probe["from_cache"] for probe in first) and all(probe["from_cache"] for probe in again), again)
    check_equal({**other, "predicted_seconds": 0}, {**result, "predicted_seconds": 0}, "the result")
    check(not any(probe["from_cache"] for probe in found(lab, *more, "--no-cache")[0]), "--no-cache uses the cache")
    check(not any(probe["from_cache"] for probe in found(lab, *more, "--enc", "tune=grain")[0]), "other settings")
    for file in (lab.folder / "cache").rglob("*.json"):
        file.write_text('{"scores": {"vmaf": [1')
    damaged, other = found(lab, *more)
    check(not any(probe["from_cache"] for probe in damaged) and other["quantizer"] == result["quantizer"], damaged)
    check(not list((lab.folder / "cache").rglob(".*")), "half-written files are left")


@case
def processes_share_the_cache(lab):
    source = clip(lab)
    command = words(source, "--preset", "ultrafast", "--target", "vmaf=80", "--all-frames", "--json")
    options = {"cwd": lab.folder, "env": settings(lab), "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **options) for _ in range(3)]
    results = [json.loads(process.communicate(timeout=60)[0].splitlines()[-1])["result"] for process in running]
    check_equal(len({result["quantizer"] for result in results}), 1, "quantizers found")
    probes, _ = found(lab, *command[command.index(source) : -1])
    check(all(probe["from_cache"] for probe in probes), probes)


@case
def a_cache_that_cannot_be_written(lab):
    (lab.folder / "cache").write_text("a file")
    done = crf(lab, clip(lab), "--preset", "ultrafast", "--target", "vmaf=80").succeeded()
    done.says("cannot keep results in ", "Not a directory")
    with open("/dev/full", "w") as full:
        options = {"cwd": lab.folder, "env": settings(lab), "stderr": subprocess.PIPE, "text": True}
        ended = subprocess.run(words("clip.mkv", "--preset", "ultrafast", "--no-cache"), stdout=full, **options)
    check_equal(ended.returncode, 1, "exit status with a full disk")
    check("cannot write the result to standard output: No space left" in ended.stderr, ended.stderr)


# -- Ends --------------------------------------------------------------------------------------------------------------


def started(lab):
    """Starts a search that takes long, and waits until its encoder runs; returns (process, its children)."""
    source = clip(lab, "testsrc2=s=640x360:r=24,noise=alls=20:allf=t", 4)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = words(source, "--preset", "veryslow", "--no-cache", "--all-frames")
    process = subprocess.Popen(command, cwd=lab.folder, env=settings(lab, TMPDIR=lab.folder / "tmp"), **options)
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        children = [int(child) for child in _children(process.pid)]
        encoders = [child for child in children if b"-crf" in _command_line(child)]
        if encoders:
            return process, encoders
        time.sleep(0.05)
    process.kill()
    raise AssertionError("no encoder was started")


def _children(pid):
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            yield from Path(f"/proc/{pid}/task/{task}/children").read_text().split()


def _command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def check_all_gone(encoders, seconds):
    deadline = time.monotonic() + seconds
    while any(map(alive, encoders)) and time.monotonic() < deadline:
        time.sleep(0.05)
    check(not any(map(alive, encoders)), "an encoder outlives the search")


@case
def ctrl_c_leaves_nothing(lab):
    (lab.folder / "tmp").mkdir()
    before = {*os.listdir(lab.folder), "clip.mkv"}
    process, encoders = started(lab)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    check_equal(process.returncode, 130, said)
    check_equal(said.strip().splitlines()[-1], "vmafx crf: stopped", "the last line")
    check_all_gone(encoders, 1)
    check_equal(set(os.listdir(lab.folder)), before, "files")
    check_equal(os.listdir(lab.folder / "tmp"), [], "temporary files")


@case
def encoders_end_with_a_killed_search(lab):
    (lab.folder / "tmp").mkdir()
    process, encoders = started(lab)
    process.kill()
    process.communicate(timeout=20)
    check_all_gone(encoders, 10)
    check_equal(os.listdir(lab.folder / "tmp"), [], "temporary files")


# -- Inputs and errors -------------------------------------------------------------------------------------------------


@case
@slow_case
def crf_takes_unusual_videos(lab):
    lossless = "-c:v", "ffv1"
    clip(lab, "testsrc2=s=161x91:r=24", 0.5, "odd.mkv", "-pix_fmt", "yuv420p", *lossless)
    clip(lab, NOISY, 0.04, "one.mkv")
    clip(lab, f"{NOISY},select='mod(n,3)+lt(n,12)'", 1, "vfr.mkv", "-vsync", "vfr", "-pix_fmt", "yuv420p", *lossless)
    clip(lab, NOISY, 0.5, "deep.mkv", "-pix_fmt", "yuv422p10le", *lossless)
    for name, frames in ("odd.mkv", 12), ("one.mkv", 1), ("deep.mkv", 12):
        _, result = found(lab, name, "--preset", "ultrafast", "--target", "vmaf=80")
        check(result["reached"] and result["frames"] == frames, f"{name}: {result}")
    _, result = found(lab, "vfr.mkv", "--preset", "ultrafast", "--target", "vmaf=80")
    check(result["reached"] and 15 <= result["frames"] <= 22, result)
    check("yuv422p10le" in found(lab, "deep.mkv", "--preset", "ultrafast")[1]["arguments"], "bits are lost")


@case
def crf_compares_with_the_filtered_source(lab):
    source = clip(lab)
    _, plain = found(lab, source, "--preset", "ultrafast", "--target", "vmaf=80")
    _, blurred = found(lab, source, "--preset", "ultrafast", "--target", "vmaf=80", "--vfilter", "gblur=2,scale=128:72")
    check(blurred["bits_per_second"] < plain["bits_per_second"] / 2, f"{blurred}, {plain}")
    check(blurred["scores"]["vmaf"]["value"] >= 80, blurred)


@case
def crf_keeps_colour_and_says_what_is_left_out(lab):
    tags = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -x265-params log-level=error".split()
    clip(lab, NOISY, 0.5, "hdr.mkv", "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", *tags)
    more = "-e", "libsvtav1", "--preset", "12", "--enc", "svtav1-params=film-grain=8"
    done = crf(lab, "hdr.mkv", *more, "--target", "cvvdp=8", "--json").succeeded()
    done.says("scores are of pictures without the film grain that decoders add (film-grain=8)")
    given = lines(done)[1]["arguments"]
    for name, value in (("-color_trc", "smpte2084"), ("-color_primaries", "bt2020"), ("-pix_fmt", "yuv420p10le")):
        check_equal(given[given.index(name) + 1], value, name)


@case
def samples_have_the_tags_of_their_encode(lab):
    """From version 7.1 on, ffmpeg would convert samples without tags of colour to those of the encode, by some VMAF."""
    tags = "-color_range tv -color_primaries bt709 -color_trc bt709 -colorspace bt709".split()
    clip(lab, NOISY, 1, "tagged.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv420p", *tags)
    script = lab.folder / "telling"
    script.write_text(f'#!/bin/sh\necho "$@" >>told\nexec {lab.ffmpeg} "$@"\n')
    script.chmod(0o755)
    more = "--preset", "ultrafast", "--target", "vmaf=10", "--min-crf", 33, "--max-crf", 33, "--all-frames"
    _, result = found(lab, "tagged.mkv", *more, "--ffmpeg", script)
    told, truth = result["scores"]["vmaf"]["value"], true_score(lab, "tagged.mkv", result)
    check(abs(told - truth) < 0.01, f"the score is {truth}, of samples {told}")
    encodes = [line for line in (lab.folder / "told").read_text().splitlines() if line.endswith("-f nut pipe:1")]
    check(encodes and all(" ".join(tags[2:]) in line.partition(" -i ")[0] for line in encodes), encodes)


@case
@slow_case
def searches_convert_colours(lab):
    """The search scores in another color space as the filter does, which scores the whole encode; without it, a line
    says that models do not know HDR.
    """
    tags = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv".split()
    clip(lab, NOISY, 0.5, "hdr.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv420p10le", *tags)
    more = "--preset", "ultrafast", "--target", "vmaf=80", "--no-cache", "--json"
    crf(lab, "hdr.mkv", *more).succeeded().says("the VMAF models know SDR video only")
    crf(lab, "hdr.mkv", *more, "--convert", "nonsense").failed(1, "nonsense")
    command = [sys.executable, "-m", "vmafx.command", "encode", "hdr.mkv", "-o", "out.mkv", "--scale", "none", *more]
    options = {"cwd": lab.folder, "env": settings(lab), "capture_output": True, "text": True}
    done = Done(subprocess.run([*command, "--convert", "bt709"], **options)).succeeded()
    check("SDR video only" not in done.err, done.err)
    told = json.loads(done.out.splitlines()[-1])["encode"]["scores"]["vmaf"]
    check(80 <= told["low"] == told["high"] and abs(told["score"] - told["low"]) < 0.01, told)


@case
@slow_case
def crf_errors(lab):
    source = clip(lab, NOISY, 0.2)
    Path(lab.folder / "text.mp4").write_text("no video")
    for more, status, *texts in (
        (("-e", "libvvenc"), 1, "has no encoder libvvenc: name another ffmpeg with --ffmpeg, or take of libx264, "),
        (("-e", "foo"), 2, "does not know how to set the quality of foo: choose of libx264, "),
        (("--preset", "13"), 2, "libx264 has no preset 13: choose of ultrafast, "),
        (("--enc", "tune=nonsense"), 1, "libx264 cannot encode 160x90 yuv420p with crf "),
        (("--target", "vmaf"), 2, "--target vmaf: write SCORE=VALUE or POOLING:SCORE=VALUE"),
        (("--target", "vmaf=high"), 2, "--target vmaf=high: high is not a number"),
        (("--target", "min:vmaf=90"), 2, "pool by mean, harmonic_mean, median or pN"),
        (("--target", "nonsense=1"), 2, "the library does not know the score nonsense: choose of vmaf, "),
        (("--target", "motion=1"), 2, "the library does not know the score motion"),
        (("--confidence", "100"), 2, "--confidence 100: give a number from 50 up to less than 100"),
        (("--samples", "0"), 2, "--samples 0: give a number from 1 up"),
        (("--min-crf", "60"), 2, "crf of libx264 is 1 to 51, not 60 to 51"),
        (("--vfilter", "nonsense=1"), 1, "with the filters nonsense=1: ", "No such filter: 'nonsense'"),
        (("--vfilter", "select=0"), 1, "with the filters select=0: no picture of clip.mkv comes through these filters"),
        (("--model", "nonsense"), 1, "could not load libvmaf model"),
        (("--ffmpeg", "nonsense"), 1, "cannot find the program nonsense"),
    ):
        crf(lab, source, *more, "--no-cache").failed(status, *texts)
    crf(lab, "none.mp4").failed(1, "cannot read none.mp4: No such file or directory")
    crf(lab, "text.mp4").failed(1, "cannot read text.mp4: ")
    crf(lab, "-").failed(1, "standard input can be read only once")


@case
def ffmpeg_that_dies_is_told(lab):
    source = clip(lab, NOISY, 0.2)
    script = lab.folder / "ffmpeg"
    script.write_text(f'#!/bin/sh\ncase " $* " in *" framecrc "*) kill -SEGV $$ ;; esac\nexec {lab.ffmpeg} "$@"\n')
    script.chmod(0o755)
    crf(lab, source, "--ffmpeg", script).failed(1, "cannot decode clip.mkv: ffmpeg was killed by signal 11")


def cut(lab, name, path):
    data = (lab.folder / name).read_bytes()
    (lab.folder / path).write_bytes(data[: len(data) * 6 // 10])
    return path


@case
def damaged_sources_are_not_searched(lab):
    """Sources that were cut short, or that decode with errors, are refused, as by score and encode."""
    few = "--target", "vmaf=60", "--min-crf", 30, "--max-crf", 31, "--no-cache", "--preset", "ultrafast"
    for name, codec, cause in (
        ("clip.mkv", ("-c:v", "ffv1"), "File ended prematurely"),
        ("clip.mp4", ("-c:v", "mpeg4", "-movflags", "+faststart"), "partial file"),
        ("clip.avi", ("-c:v", "mpeg4"), "lacks the last "),
        ("clip.apng", ("-c:v", "apng", "-f", "apng"), "Invalid data found"),
    ):
        clip(lab, NOISY, 1, name, *codec)
        crf(lab, cut(lab, name, f"cut-{name}"), *few).failed(1, f"cut-{name}", cause, "--partial")
    done = crf(lab, "cut-clip.mkv", "--partial", "--json", *few).succeeded()
    check("cut-clip.mkv is damaged: " in done.err, done.err)
    check(0 < lines(done)[1]["frames"] < 20, lines(done)[1])
    (lab.folder / "two.mp4").write_bytes((lab.folder / "clip.mp4").read_bytes() * 2)
    crf(lab, "two.mp4", *few).failed(1, "two.mp4 has 2 files", "--partial")


@case
def sources_that_change_their_size_are_not_searched(lab):
    """ffmpeg would scale the pictures behind the change to the size of the first one, whatever is encoded later."""
    few = "--target", "psnr=20", "--min-crf", 30, "--max-crf", 31, "--no-cache", "--preset", "ultrafast"
    for size, then in (("161x91", "192x108"), ("192x108", "192x91")):
        parts = [clip(lab, f"testsrc2=r=24,scale={s}", 1, f"{s}.ts", "-c:v", "mpeg2video") for s in (size, then)]
        (lab.folder / "both.ts").write_bytes(b"".join((lab.folder / part).read_bytes() for part in parts))
        said = f"its pictures have another size than {size}, and a score is of one size"
        remedy = f"(ffmpeg -i both.ts -vf scale={size.replace('x', ':')},format=yuv420p -c:v ffv1 NEW.mkv)"
        crf(lab, "both.ts", "--partial", *few).failed(1, said, remedy)
        crf(lab, "both.ts", "--partial", "--vfilter", "scale=160:90", *few).succeeded()


@case
def sampled_sources_have_their_end(lab):
    """A sample that reaches the promised end and finds nothing there tells that the source was cut short."""
    clip(lab, "testsrc2=s=64x36:r=24", 24, "long.mkv", "-c:v", "mjpeg")
    few = "--samples", 2, "--target", "psnr=20", "--min-crf", 30, "--max-crf", 31, "--no-cache", "--preset", "ultrafast"
    crf(lab, "long.mkv", *few).succeeded()
    crf(lab, cut(lab, "long.mkv", "short.mkv"), *few).failed(1, "promises 24.000 s but can be read only to ")


@case
def encoders_that_are_not_monotone(lab):
    """An encoder whose scores rise and fall with its quantizer: the search ends, and what it finds reaches the
    target.
    """
    source = clip(lab)
    script = lab.folder / "ffmpeg"
    script.write_text(f"""#!{sys.executable}
import os, sys
words = sys.argv[1:]
if "-crf" in words:
    place = words.index("-crf") + 1
    quantizer = float(words[place])
    words[place] = str(min(max(quantizer + (9 if int(quantizer) % 3 == 0 else 0), 1), 51))
os.execv({str(lab.ffmpeg)!r}, [{str(lab.ffmpeg)!r}, *words])
""")
    script.chmod(0o755)
    done = crf(lab, source, "--ffmpeg", script, "--preset", "ultrafast", "--target", "vmaf=80", "--json", "--no-cache")
    probes, result = lines(done.succeeded())
    check(result["reached"] and result["scores"]["vmaf"]["value"] >= 80 and len(probes) <= 17, result)


@case
def samples_read_little_of_long_videos(lab):
    """Two hours: the search finds key frames and decodes samples without reading the rest."""
    clip(
        lab,
        "testsrc2=s=160x90:r=8,noise=alls=20:allf=t",
        10,
        "part.mkv",
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-crf",
        "18",
        "-g",
        "16",
    )
    lab.run("-y -stream_loop 719 -i part.mkv -c copy long.mkv").succeeded()
    program = f"""
import json, sys
from vmafx.command import _ffmpeg
from vmafx.tuning import samples
from vmafx.tuning.encoders import ENCODERS, Settings
ffmpeg, settings = {str(lab.ffmpeg)!r}, Settings(ENCODERS["libx264"])
def read():
    return next(int(line.split()[1]) for line in open("/proc/self/io") if line.startswith("rchar"))
before = read()
video = _ffmpeg.probe(_ffmpeg.ffprobe_of(ffmpeg), "long.mkv")
pictures = samples.look_at(ffmpeg, video, settings)
views = [samples.View(None, True)]
plan = samples.plan(video, pictures, views, 1 << 30, None)
taken = [samples.read_sample(ffmpeg, video, settings, pictures, place, views) for place in plan.places[:8]]
used = read() - before
small = samples.plan(video, pictures, views, 1 << 20, None)
told = [[s.place.lead, s.before, s.frames, s.tail, len(s.kept[views[0]])] for s in taken]
print(json.dumps([used, len(plan.places), [s.place.begin for s in taken], told, [plan.has_leads, small.has_leads]]))
"""
    options = {"cwd": lab.folder, "env": settings(lab), "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run([sys.executable, "-c", program], **options)
    check_equal(done.returncode, 0, done.stderr)
    read, places, begins, frames, has_leads = json.loads(done.stdout)
    size = os.path.getsize(lab.folder / "long.mkv")
    check(read < size / 4, f"{read} of {size} bytes were read")
    check(
        places == 48 and frames == [[60, 1, 20, 40, 21]] * 8, f"{places} places; lead, scored of it, frames: {frames}"
    )
    check_equal(has_leads, [True, False], "leads with enough memory, with little")
    check(min(begins) < 1800 and max(begins) > 5400, f"the first samples are at {begins}")
    os.unlink(lab.folder / "long.mkv")


# -- The parts ---------------------------------------------------------------------------------------------------------


@case
def curves_are_monotone(lab):
    del lab
    draw = random.Random(1)
    for _ in range(200):
        curve = Curve(50, 0.1)
        for position in draw.sample(range(50), draw.randint(1, 8)):
            curve.put(position, position / 10 + draw.gauss(0, 0.5), 0.5)
        values = [curve.at(position / 4) for position in range(-80, 280)]
        check(all(b >= a - 1e-9 for a, b in zip(values, values[1:])), f"{curve.points} gives a curve that falls")
        crossing = curve.crossing(2.5)
        if min(curve.points) - 17 < crossing < max(curve.points) + 17:  # else it is beyond where the model is believed
            check(curve.at(crossing) <= 2.5 + 1e-6 <= curve.at(crossing + 0.01) + 0.01, f"{crossing} of {curve.points}")
    curve = Curve(50, 0.1)
    for position, value in (10, 1.0), (20, 2.0), (30, 1.0), (40, 5.0):
        curve.put(position, value, 0.1)
    check_equal([round(value, 9) for value in curve.fitted()[1]], [1.0, 1.5, 1.5, 5.0], "adjacent violators pooled")


@case
def students_quantiles(lab):
    """Tables give these: two-sided, of 95 and 99 %."""
    del lab
    for freedom, at_95, at_99 in (1, 12.706, 63.657), (2, 4.303, 9.925), (5, 2.571, 4.032), (23, 2.069, 2.807):
        check(abs(t_quantile(0.95, freedom) / at_95 - 1) < 0.005, f"{freedom}: {t_quantile(0.95, freedom)}")
        check(abs(t_quantile(0.99, freedom) / at_99 - 1) < 0.02, f"{freedom}: {t_quantile(0.99, freedom)}")
    check(math.isinf(t_quantile(0.95, 0)), "no freedom")


@case
def positions_of_quantizers(lab):
    del lab
    axis = Axis(ENCODERS["libx264"], 20, 30)
    check_equal([axis.quantizer(position) for position in (0, 23.47, 99)], [20, 23.4, 30], "quantizers")
    rates = Axis(by_bit_rate(ENCODERS["libx264"]), 100, 10000)
    for rate in 100, 737, 10000:
        check_equal(rates.quantizer(rates.position(rate)), rate, "bit rate")
    check(rates.position(200) > rates.position(400), "a lower bit rate is worse")
    with raises(Failure, "not 30 to 20"):
        Axis(ENCODERS["libx264"], 30, 20)


@case
def targets_are_read(lab):
    del lab
    target = Target.parse("p5:vmaf=90")
    check_equal(
        (target.name, str(target), target.is_reached(90), target.is_reached(89.9)),
        ("p5:vmaf", "p5:vmaf=90", True, False),
        "the target",
    )
    check_equal(Target.parse("psnr=40").facts.key, "psnr_y", "the score that stands for psnr")
    check(Target.parse("butteraugli=2").is_reached(1.5) and not Target.parse("butteraugli=2").is_reached(2.5), "order")
    for text in "vmaf=90", "ssimulacra2=80", "cvvdp=9", "xpsnr=38", "butteraugli=2", "ciede2000=35":
        target = Target.parse(text)
        better = target.value * (1.01 if target.facts.high_is_good else 0.99)
        check(target.loss(better) < target.loss(target.value), f"{text}: the loss of a better score is larger")
        check(abs(target.score_of(target.loss(target.value)) - target.value) < 1e-6, f"{text}: score_of(loss)")


@case
def search_by_the_api(lab):
    source = lab.folder / clip(lab)
    tried = []
    options = Options(ffmpeg=str(lab.ffmpeg), cache=False, backend="cpu", jobs=4)
    outcome = search(
        str(source), Settings(ENCODERS["libx264"], "ultrafast"), [Target.parse("vmaf=80")], options, tried.append
    )
    check(outcome.reached and outcome.scores["vmaf"].value >= 80, outcome)
    check(outcome.probes == tried and len(tried) > 1, tried)
    check(len({result.quantizer for result in tried}) == len(tried), "a quantizer was tried twice")


@case
def probe_that_is_wanted_again_sees_all_frames(lab):
    """A probe that ended early, and whose quantizer is wanted all the same, would end again where it did."""
    source = lab.folder / clip(lab, NOISY, 25.5)
    options, tried = Options(ffmpeg=str(lab.ffmpeg), cache=False, backend="cpu", jobs=1), []
    with patch.object(Proposer, "is_decided", lambda *_: True), patch.object(Proposer, "_is_settled", lambda *_: False):
        target = Target.parse("vmaf=80")
        outcome = search(str(source), Settings(ENCODERS["libx264"], "ultrafast"), [target], options, tried.append)
    check(any(result.frames < result.of_frames for result in tried), f"no probe ended early: {tried}")
    for quantizer in {result.quantizer for result in tried}:
        frames = [result.frames for result in tried if result.quantizer == quantizer]
        check(len(frames) < 3 and frames[1:] in ([], [tried[0].of_frames]), f"{quantizer} was tried on {frames}")
    check_equal([result.frames for result in tried if result.quantizer == outcome.quantizer][-1], 612, "frames seen")


@case
def samples_take_part_of_the_memory(lab):
    """A quarter of it, 4 to 16 GiB; half of a small machine's; 4 GiB where the system does not tell."""
    del lab
    for has, wanted in (0, 4), (2, 1), (6, 3), (8, 4), (24, 6), (512, 16):
        with patch("vmafx.tuning.search.machine_memory", lambda has=has: has << 30):
            check_equal(usual_memory(), wanted << 30, f"memory of samples on {has} GiB")
    check(memory() >= 1 << 28, f"memory of this machine: {memory()}")
