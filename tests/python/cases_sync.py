"""vmafx score --sync finds an encode that begins later or earlier, to the frame, or says that it is not sure."""

import json
import random

from cases_jobs import same_as_alone, scored, settings
from command import vmafx
from common import ALL, case, check, check_equal, slow_case
from vmafx.command import _ffmpeg, _sync
from vmafx.command._terminal import Failure

SECONDS = 24  # length of the sources
SOURCES = {
    "shapes": "testsrc2=s=192x108:r={0}:d={1}",
    "camera": (
        "testsrc=s=192x108:r={0}:d={1},zoompan=z=1.3:x='25+20*sin(on/17)+on/9':y='14+10*cos(on/23)':d=1:"
        "s=192x108:fps={0}"
    ),
    "zoom": "mandelbrot=s=192x108:r={0}:end_pts=200,trim=duration={1}",
    "life": "life=s=192x108:r={0}:mold=10:ratio=0.1:death_color=0xC83232:life_color=0x00ff00:seed=7,trim=duration={1}",
    "cells": "cellauto=s=192x108:r={0}:rule=110:seed=5,trim=duration={1}",
}
FILTERS = "", "scale=128:72", "boxblur=2", "eq=brightness=0.08:contrast=0.9", "drawbox=5:5:30:15:white:fill"


def source(lab, kind, rate):
    path = lab.folder.parent / f"{kind}-{rate.replace('/', '_')}.mkv"
    if not path.exists():
        lab.run(
            "-f lavfi -i",
            SOURCES[kind].format(rate, SECONDS),
            "-pix_fmt yuv420p -c:v libx264 -preset ultrafast -crf 5",
            path,
        ).succeeded()
    return path


def piece(lab, path, name, first, frames, filters="", codec="-c:v libx264 -preset ultrafast -crf 8"):
    graph = ",".join(
        filter(None, (f"trim=start_frame={first}:end_frame={first + frames},setpts=PTS-STARTPTS", filters))
    )
    lab.run("-i", path, "-vf", graph, codec, name).succeeded()
    return lab.folder / name


def random_codec(rng):
    lossy = f"-c:v libx264 -preset veryfast -crf {rng.randint(20, 46)}"
    return rng.choice((lossy, f"-c:v mpeg4 -q:v {rng.randint(3, 28)}")) + f" -bf {rng.randint(0, 3)}"


def found(lab, dist, ref, seconds=5.0):
    """Returns the offset in frames; None if it is not sure."""
    own = settings(lab)
    videos = [_ffmpeg.probe(own.ffprobe, str(path)) for path in (dist, ref)]
    try:
        return _sync.find_offset(own, *videos, seconds).frames
    except Failure as failure:
        check("--offset" in str(failure), failure)
        return None


@case
@slow_case
def random_offsets_are_found(lab):
    """Offsets are found in degraded and scaled encodes in any container; slow content that a low rate freezes may be
    unsure.

    The offset of moving pictures is always found.
    """
    rng = random.Random(11)
    sure = 0
    count = 50 if ALL else len(SOURCES)
    for number in range(count):
        kind, rate = list(SOURCES)[number % len(SOURCES)], ("25", "30000/1001", "24")[number % 3]
        fps = round(eval(rate))
        far, frames = int(4.9 * fps), int(rng.uniform(9, 10.5) * fps)
        offset, base = rng.randint(-far, far), rng.randint(0, 8 * fps)
        path = source(lab, kind, rate)
        ref = piece(lab, path, "ref.mkv", base + max(-offset, 0), frames)
        name = f"dist.{rng.choice(('mp4', 'mkv', 'ts'))}"
        dist = piece(
            lab,
            path,
            name,
            base + max(offset, 0),
            frames + rng.randint(-20, 20),
            rng.choice(FILTERS),
            random_codec(rng),
        )
        got = found(lab, dist, ref)
        check(got in (offset, None), f"{kind} at {rate}, {number}: {got} frames, not {offset}")
        check(got is not None or kind not in ("shapes", "camera"), f"{kind} at {rate}, {number}, {offset}: not sure")
        sure += got is not None
    check(sure >= count * 0.5, f"{sure} of {count} are sure")


@case
@slow_case
def the_same_pictures_are_compared(lab):
    """Times of the report count from the first common picture, in both directions, also in parts."""
    path = source(lab, "shapes", "25")
    ref = piece(lab, path, "ref.mkv", 60, 250)
    late, early = (
        piece(lab, path, *place, codec="-c:v libx264 -preset veryfast -crf 5 -bf 2")
        for place in (("late.ts", 90, 240), ("early.mkv", 17, 280))
    )  # not in MP4, whose last picture FFmpeg 7.1 would not show
    for name, words, frames, said in (
        (late, ("--sync",), 220, "late.ts begins 30 frames (1.200 s) later than the reference (correlation"),
        (early, ("--offset", "-1.72"), 237, "early.mkv begins 1.72 s earlier than the reference, as --offset says"),
    ):
        done = (
            scored(lab, name, ref, "--model", "none", "--feature", "psnr", "--json", "--log", "log.json", *words)
            .succeeded()
            .says(said)
        )
        encode = json.loads(done.out)["encodes"][0]
        check_equal((encode["frames"], encode["warnings"]), (frames, []), f"{name} {words}")
        check(encode["pooled"]["psnr_y"]["min"] > 38, encode["pooled"])
        check_equal(lab.json("log.json")["frames"][0]["time"], 0, "time of the first pair")
    same_as_alone(lab, late, early, ref, "--feature", "psnr", "--sync", "--json")
    done = scored(
        lab, late, early, ref, "--model", "none", "--feature", "psnr", "--offset", "1.2", "--offset", "-1.72", "--json"
    ).succeeded()
    check_equal([encode["frames"] for encode in json.loads(done.out)["encodes"]], [220, 207], "frames of both")


@case
def rates_of_which_one_is_a_multiple(lab):
    """Offsets are found to the frame of the video that has more frames."""
    path = source(lab, "camera", "50")
    for dist, ref, wanted in (
        ((101, "fps=50"), (60, "fps=25"), 41),
        ((60, "fps=25"), (101, "fps=50"), -41),
        ((60, "fps=25"), (71, "fps=25"), None),
    ):
        ours = piece(lab, path, "dist.mp4", dist[0], 500, dist[1], "-c:v libx264 -preset veryfast -crf 30")
        theirs = piece(lab, path, "ref.mp4", ref[0], 500, ref[1])
        if wanted is None:  # the videos are half a frame apart
            check(found(lab, ours, theirs) in (-5, -6, None), "half a frame")
        else:
            check_equal(found(lab, ours, theirs), wanted, "offset")


@case
@slow_case
def what_is_not_sure_is_an_error(lab):
    pieces = {
        "still": "color=gray:s=192x108:r=25:d=9",
        "flicker": "testsrc2=s=192x108:r=25:d=1,loop=8:25:0,setpts=N/25/TB",
        "other": "cellauto=s=192x108:r=25:rule=30:seed=9,trim=duration=9",
        "pause": "testsrc2=s=192x108:r=25:d=0.04,loop=224:1:0,setpts=N/25/TB,noise=alls=8:allf=t",
    }
    for name, graph in pieces.items():
        lab.run(
            "-f lavfi -i", graph, "-pix_fmt yuv420p -c:v libx264 -preset veryfast -crf 25", f"{name}.mp4"
        ).succeeded()
    ref = piece(lab, source(lab, "shapes", "25"), "ref.mkv", 0, 225)
    for name in pieces:
        lab.run("-i", f"{name}.mp4", "-c:v libx264 -preset veryfast -crf 35 -bf 2", f"{name}-dist.mp4").succeeded()
        pairs = (f"{name}-dist.mp4", f"{name}.mp4"), (f"{name}.mp4", ref)
        for dist, other in pairs[name == "other" :][: 2 if ALL else 1]:
            done = scored(lab, dist, other, "--sync", "--log", "log.json")
            done.failed(
                1,
                f"--sync cannot tell how much later or earlier {dist} begins",
                "Give the difference with --offset SECONDS",
            )
    away = piece(lab, source(lab, "shapes", "25"), "away.mkv", 300, 225)
    check_equal((found(lab, away, ref), found(lab, ref, away)), (None, None), "pictures that the other one has not")
    odd = piece(lab, source(lab, "shapes", "24"), "odd.mkv", 0, 200)
    scored(lab, odd, ref, "--sync").failed(
        1, "24 frames a second are neither a multiple nor a whole part of the reference's 25"
    )
    check(not (lab.folder / "log.json").exists(), "a log")


@case
def how_sync_is_asked_for(lab):
    clips = lab.clips.dist, lab.clips.ref
    vmafx(lab, "score", *clips, "--sync").failed(1, "--sync computes with NumPy", "apt-get install python3-numpy")
    for words, text in (
        (("--sync", *clips), "write --sync after the videos, or --sync=5"),
        ((*clips, "--sync", "0"), "'0' is not a number of seconds up to 600"),
        ((*clips, "--sync", "--offset", "1"), "leave one of them out"),
        ((*clips, "--offset", "x"), "'x' is not a number of seconds"),
        ((*clips, "--offset", "1", "--offset", "2"), "not 2 times for 1"),
    ):
        scored(lab, *words).failed(2, text)
    vmafx(lab, "score", *clips, "--offset", "90").failed(
        1, "ref.mkv ends before the others begin: ", "dist.mp4 begins 90 s later"
    )
