"""vmafx score, from the inputs to the result: which inputs it refuses, the size of pictures, parts taken for the whole,
what is written.
"""

import errno
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

from cases_score import made, read_all, scored
from command import command, environment, vmafx
from common import ALL, FRAMES, HEIGHT, WIDTH, case, check, check_equal, slow_case
from support import compiled
from vmafx.command import _models, _scoring
from vmafx.command._models import Scale, Size, size_for

SECONDS = 6
SHORT = 8  # frames
FEATURES = "--model", "none", "--feature", "psnr"


def pooled(result, key, encode=0):
    return result["encodes"][encode]["pooled"][key]["mean"]


# -- The size of the pictures ------------------------------------------------------------------------------------------


@case
def models_are_scored_at_their_size(lab):
    """The score is that of the filter after scale; features beside it are scored at the reference's size, in their own
    run or in this one.
    """
    small = made(lab, "small.mkv", f"-vf scale={WIDTH // 2}:{HEIGHT // 2}:flags=bicubic -c:v ffv1")
    up = "scale=1920:1080:flags=bicubic"
    lab.run(
        "-i",
        small,
        "-i",
        lab.clips.ref,
        "-lavfi",
        f"[0:v]{up}[d];[1:v]{up}[r];[d][r]vmafx=log_path=wanted.json",
        "-f null -",
    ).succeeded()
    wanted = lab.json("wanted.json")["pooled_metrics"]["vmaf"]["mean"]
    result, done = scored(lab, small, lab.clips.ref, scale="model")
    check_equal(pooled(result, "vmaf"), wanted, "VMAF")
    check_equal(result["models"], {"vmaf": {"model": "vmaf_v0.6.1", "width": 1920, "height": 1080}}, "models")
    line = (
        "vmaf: model vmaf_v0.6.1; all are scaled to 1920x1080 (bicubic), the size that it is made for (--scale "
        f"reference: {WIDTH}x{HEIGHT})"
    )
    done.says(line).does_not_say("is made for 1080p")
    check_equal(result["preparation"], [line], "preparation")
    features, _ = scored(lab, small, lab.clips.ref, *FEATURES)
    both, done = scored(lab, small, lab.clips.ref, "--feature", "psnr", scale="model")
    check_equal(
        (pooled(both, "vmaf"), pooled(both, "psnr_y")), (wanted, pooled(features, "psnr_y")), "scores of both sizes"
    )
    check_equal(both["scores"], ["vmaf", "psnr_y"], "scores")
    done.says(line, f"small.mkv is {WIDTH // 2}x{HEIGHT // 2}: scaled to the reference's {WIDTH}x{HEIGHT} (bicubic)")


@case
@slow_case
def logs_of_two_sizes_are_one(lab):
    """Each format has one encode or two; of a feature that a model has, too, the one that was asked for counts."""
    clips = "dist.mkv", "ref.mkv"
    for clip, own in zip(clips, (lab.clips.dist, lab.clips.ref)):  # few frames, since each is scaled to 1080p
        lab.run("-i", own, f"-frames:v {SHORT} -c:v ffv1", clip).succeeded()
    words = "--feature", "psnr", "--feature", "vif", "--window", "0.2"
    alone, _ = scored(lab, *clips, "--model", "none", *words)
    for name in ("one.json", "one.ndjson", "one.csv", "one.xml"):
        result, _ = scored(lab, *clips, *words, "--log", name, scale="model")
        check(abs(pooled(result, "vmaf") - 22) < 20 and result["scores"][0] == "vmaf", f"{name}: {result['scores']}")
        for key in ("psnr_y", "integer_vif_scale0"):
            check(
                abs(pooled(result, key) - pooled(alone, key)) < 1e-6,
                f"{name}: {key} is {pooled(result, key)}, wanted {pooled(alone, key)}",
            )
        text = (lab.folder / name).read_text()
        check_equal((text.count("vmaf") > SHORT or name == "one.csv", "psnr_cb" in text), (True, True), name)
    check_equal(len(lab.json("one.json")["windows"]), 2, "windows")
    check("psnr_y" in lab.json("one.json")["windows"][0]["pooled"], "a window lacks a feature")
    check_equal(list(lab.json("one.json")["frames"][0]["metrics"])[-1], "vmaf", "the last score")
    for name in ("two.json", "two.ndjson", "two.csv"):
        result, _ = scored(lab, *clips, "ref.mkv", "--feature", "psnr", "--log", name, scale="model")
        check_equal((pooled(result, "psnr_y", 1), len(result["encodes"])), (60, 2), name)
        check(pooled(result, "vmaf", 0) < pooled(result, "vmaf", 1), name)


@case
def scale_is_chosen(lab):
    small = made(lab, "small.mkv", f"-vf scale={WIDTH // 2}:{HEIGHT // 2}:flags=bicubic -c:v ffv1")
    result, done = scored(lab, small, lab.clips.ref, "--feature", "psnr", scale="96x54")
    check_equal(result["models"]["vmaf"], {"model": "vmaf_v0.6.1", "width": 96, "height": 54}, "model")
    done.says("all are scaled to 96x54 (bicubic), as --scale says")
    vmafx(lab, "score", small, lab.clips.ref, "--scale", "none").failed(
        1, f"small.mkv is {WIDTH // 2}x{HEIGHT // 2} and", "--scale reference"
    )
    result, _ = scored(lab, lab.clips.dist, lab.clips.ref, scale="none")
    check_equal(result["models"]["vmaf"]["width"], WIDTH, "width")
    vmafx(lab, "score", *(lab.clips.ref,) * 2, "--scale", "big").failed(
        2, "'big' is not a scale: use model, reference, none, or a size"
    )


@case
def the_default_model_follows_the_size(lab):
    """The default model depends on the size; a named model is never changed."""
    lab.run("-f lavfi -i testsrc2=s=2560x1440:r=25 -frames:v 1 -c:v ffv1 large.mkv").succeeded()
    result, done = scored(lab, "large.mkv", "large.mkv", scale="model")
    check_equal(result["models"]["vmaf"], {"model": "vmaf_4k_v0.6.1", "width": 3840, "height": 2160}, "model")
    done.says(
        "vmaf: model vmaf_4k_v0.6.1, as the reference has 1440 rows (--model names another); all are scaled to "
        "3840x2160"
    )
    result, _ = scored(lab, "large.mkv", "large.mkv", "--model", "vmaf_v0.6.1", scale="model")
    check_equal(result["models"]["vmaf"], {"model": "vmaf_v0.6.1", "width": 1920, "height": 1080}, "named model")


@case
def models_of_several_sizes(lab):
    """Each model scores at its own size, in one run; the table names them."""
    words = "--model", "vmaf_v0.6.1", "--model", "vmaf_4k_v0.6.1", "--feature", "psnr"
    done = vmafx(lab, "score", lab.clips.dist, lab.clips.ref, *words).succeeded()
    check(
        "vmaf_v0.6.1: model vmaf_v0.6.1, pictures of 1920x1080\nvmaf_4k_v0.6.1: model vmaf_4k_v0.6.1, pictures "
        "of 3840x2160\n" in done.out,
        done.out,
    )
    check_equal(
        [line.split()[1] for line in done.out.splitlines()[1:4]], ["vmaf_v0.6.1", "vmaf_4k_v0.6.1", "psnr_y"], "rows"
    )


@case
def sizes_that_models_are_made_for(lab):
    """A picture that fills the display in one direction is not scaled, whatever its shape, even if turned."""
    for rows, size, aspect, wanted in (
        (1080, (640, 360), None, (1920, 1080)),
        (1080, (1920, 800), None, (1920, 800)),
        (1080, (1280, 720), None, (1920, 1080)),
        (1080, (2560, 1440), None, (1920, 1080)),
        (1080, (1080, 1920), None, (1080, 1920)),
        (1080, (720, 1280), None, (1080, 1920)),
        (1080, (720, 576), 16 / 15, (1440, 1080)),
        (2160, (1920, 1080), None, (3840, 2160)),
        (2160, (3840, 1600), None, (3840, 1600)),
    ):
        check_equal(size_for(rows, Size(*size), aspect), wanted, f"{size} at {rows} rows")
    for size, wanted in (
        ((1920, 1080), "vmaf_v0.6.1"),
        ((2560, 1440), "vmaf_4k_v0.6.1"),
        ((3840, 1392), "vmaf_4k_v0.6.1"),
        ((1080, 1920), "vmaf_v0.6.1"),
    ):
        check_equal(_models.chosen(_models.AUTO, Size(*size)), wanted, f"the model of {size}")
    for size, text in (((4001, 19), "4001 columns"), ((19, 4001), "4001 rows"), ((2560, 1440), "1440 rows")):
        check_equal(_models.many_text(Size(*size)), text, f"why the model of {size}")
    path = lab.write_model("mine.json")
    for text, rows in (
        ("vmaf_v0.6.1", 1080),
        ("version=vmaf_4k_v0.6.1:name=a", 2160),
        ("vmaf_v1.0.16_hfr_3d0h_2160", 2160),
        (f"path={path}", None),
    ):
        check_equal(_models.rows_of(text), rows, text)
    result, done = scored(lab, lab.clips.dist, lab.clips.ref, "--model", f"path={path}:name=mine", scale="model")
    check_equal(
        result["models"], {"mine": {"model": "mine", "width": WIDTH, "height": HEIGHT}}, "a model of unknown size"
    )
    done.says("the size that the model mine is made for is not known: --scale WxH sets one")
    check_equal(str(Scale.parse("1920x1080").size), "1920x1080", "scale")


@case
def the_page_says_how_it_was_scored(lab):
    """Models, sizes, frames, processor and preparation are on the page, but not among the warnings."""
    words = lab.clips.dist, lab.clips.ref, "--feature", "psnr", "--report", "page.html"
    vmafx(lab, "score", *words).succeeded()
    text = (lab.folder / "page.html").read_text()
    for line in (
        "vmaf: model vmaf_v0.6.1, pictures of 1920x1080",
        f"{FRAMES} frames, scored on the CPU",
        "all are scaled to",
    ):
        check(f"<li>{line}" in text or line in text.partition('class="told"')[2], f"the page lacks: {line}")
    check("all are scaled to" not in text.partition('class="told"')[0], "the preparation is a warning")


@case
def a_range_has_pictures_of_one_size(lab):
    words = lab.clips.dist, lab.clips.ref, "--feature", "psnr", "--range", "-0.4s", "--log", "part.json"
    for some in (words, words[:-2]):
        vmafx(lab, "score", *some).failed(
            2, f"a range has pictures of one size, but these are scored at 1920x1080 and {WIDTH}x{HEIGHT}"
        )
    vmafx(lab, "score", *words, "--scale", "reference").succeeded()
    check_equal(lab.json("part.json")["range"]["to"], 0.4, "end of the range")


# -- A part is not the whole -------------------------------------------------------------------------------------------


def long_clips(lab):
    """Makes an encode in several containers, and its reference."""
    source = f"testsrc2=s=96x64:r=25:d={SECONDS}"
    lab.run("-f lavfi -i", source, "-c:v libx264 -qp 0 -preset ultrafast -movflags +faststart ref.mp4").succeeded()
    lab.run("-i ref.mp4 -c:v libx264 -crf 20 -bf 2 -movflags +faststart good.mp4").succeeded()
    for name in ("good.mkv", "good.ts"):
        lab.run("-i good.mp4 -c copy", name).succeeded()


def cut_file(lab, name, part=0.6):
    path = lab.folder / f"cut-{name}"
    whole = (lab.folder / name).read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    return path.name


def damage_file(lab, name, damaged):
    """Changes some bytes in the middle of a file."""
    content = bytearray((lab.folder / name).read_bytes())
    for place in range(len(content) // 3, len(content) // 2, 997):
        content[place] ^= 0x55
    (lab.folder / damaged).write_bytes(content)


def failing_reads(lab, name, number=errno.EIO):
    """Returns variables that make ffmpeg's reads of a file fail in its middle."""
    library = compiled(lab, "read_error", "-shared", "-fPIC", "-ldl", folder=Path(__file__).resolve().parent)
    return {
        "LD_PRELOAD": library,
        "FAIL_FILE": name,
        "FAIL_AT": (lab.folder / name).stat().st_size // 2,
        "FAIL_ERRNO": int(number),
    }


def refused_as_part(lab, *words, **variables):
    done = vmafx(lab, "score", *words, *FEATURES, **variables)
    return done.failed(
        1, "not everything was scored: ", "the mean of these frames: psnr_y ", "--partial accepts the scores"
    )


@case
def a_truncated_file_is_not_the_whole(lab):
    long_clips(lab)
    for name in ("good.mkv", "good.mp4"):
        short = cut_file(lab, name)
        refused_as_part(lab, short, "ref.mp4").says(
            f"{short}: ", f" of {25 * SECONDS} frames were scored, up to 0:0", " of 0:06.000: "
        )
        if name == "good.mkv" and not ALL:
            continue
        refused_as_part(lab, "good.mp4", short, "ref.mp4", "--log", "log.json").says(f"{short}: ").does_not_say(
            f"\n  good.mp4: {25 * SECONDS}"
        )
        refused_as_part(lab, "good.mp4", short)  # the short file is the reference
        check(not (lab.folder / "log.json").exists(), "a log of a part")
    result, done = scored(lab, "cut-good.mp4", "ref.mp4", "--partial", *FEATURES)
    encode = result["encodes"][0]
    check_equal((encode["partial"], encode["frames_promised"]), (True, 25 * SECONDS), "partial, frames promised")
    check(encode["frames"] < 25 * SECONDS and any("were scored, up to" in text for text in encode["warnings"]), encode)


@case
def a_read_error_is_not_an_end(lab):
    """A read error is reported whatever the system says, in containers with a length and without one, also in jobs."""
    long_clips(lab)
    for name in ("good.mp4", "good.mkv", "good.ts"):
        refused_as_part(lab, name, "ref.mp4", **failing_reads(lab, name)).says("Input/output error")
    refused_as_part(lab, "good.mkv", "ref.mp4", **failing_reads(lab, "good.mkv", errno.ENOMEM)).says(
        "Cannot allocate memory"
    )
    refused_as_part(lab, "good.mkv", "good.mp4", "ref.mp4", **failing_reads(lab, "ref.mp4")).says("the reference: ")


@case
def a_file_that_is_whole_is_taken(lab):
    """Sound longer than the pictures, an encode shorter than the reference, and a range are allowed."""
    long_clips(lab)
    lab.run(f"-i good.mp4 -f lavfi -i sine=d={SECONDS + 2} -c:v copy -c:a flac sound.mkv").succeeded()
    lab.run("-i good.mp4 -t 2 -c:v libx264 -crf 20 short.mkv").succeeded()
    result, _ = scored(lab, "sound.mkv", "ref.mp4", *FEATURES)
    check_equal((result["encodes"][0]["frames"], result["encodes"][0]["warnings"]), (25 * SECONDS, []), "with sound")
    result, done = scored(lab, "short.mkv", "ref.mp4", *FEATURES)
    check_equal((result["encodes"][0]["frames"], result["encodes"][0]["frames_promised"]), (50, 50), "a short one")
    done.says("short.mkv lasts 2.00 s, the reference 6.00 s: the first 2.00 s are compared")
    result, _ = scored(lab, "good.ts", "ref.mp4", "--range", "1s-2s", *FEATURES)
    check_equal((result["encodes"][0]["frames"], result["encodes"][0]["partial"]), (25, False), "a range")


@case
def damage_is_told_of_its_encode(lab):
    """Damage in the middle of one of two encodes is reported for that one."""
    long_clips(lab)
    damage_file(lab, "good.ts", "bad.ts")
    result, done = scored(lab, "good.mkv", "bad.ts", "ref.mp4", "--partial", *FEATURES)
    good, bad = (encode["warnings"] for encode in result["encodes"])
    check_equal(good, [], "warnings of the good one")
    check(bad and all(f"bad.ts: {text}" in done.err for text in bad if text.isprintable()), f"{bad}: {done.err}")
    kinds = [{doubt["kind"] for doubt in encode["doubts"]} for encode in result["encodes"]]
    check("errors_distorted" in kinds[1] and not kinds[0], kinds)


@case
def errors_of_decoding_are_doubts(lab):
    """Errors of decoding are a doubt of that encode, or of the reference, also where ffmpeg marks no picture."""
    lab.run("-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v libx264 -qp 0 -preset ultrafast ref.mp4").succeeded()
    lab.run("-i ref.mp4 -c:v apng -f apng dist.apng -c:v mjpeg -f mjpeg dist.mjpeg").succeeded()
    result, _ = scored(lab, "dist.apng", "ref.mp4", "--strict", *FEATURES)
    check_equal(result["encodes"][0]["doubts"], [], "doubts of a whole file")
    short = cut_file(lab, "dist.apng")
    for words, kind, who in (
        ((short, "ref.mp4"), "errors_distorted", "the encode"),
        ((cut_file(lab, "dist.mjpeg"), "ref.mp4"), "errors_distorted", "the encode"),
        (("ref.mp4", short), "errors_reference", "the reference"),
    ):
        done = vmafx(lab, "score", *words, "--strict", "--json", *FEATURES)
        check_equal(done.status, 3, done.err)
        (doubt,) = json.loads(done.out)["encodes"][0]["doubts"]
        check(doubt["kind"] == kind and doubt["text"].startswith(f"{who} was decoded with errors: "), doubt)
    (lab.folder / "table.csv").write_text(f"series,file,reference,bitrate\na,{short},ref.mp4,100\n")
    vmafx(lab, "compare", "table.csv", "--scores", "kept", *FEATURES).succeeded().says("Invalid data found")
    (kept,) = (lab.folder / "kept").iterdir()
    check('"errors_distorted"' in kept.read_text(), kept)


# -- Inputs that cannot be read twice ----------------------------------------------------------------------------------


@case
def pipes_are_refused_at_once(lab):
    os.mkfifo(lab.folder / "pipe.y4m")
    for name, what in (
        ("pipe.y4m", "pipe.y4m is a pipe"),
        ("-", "standard input"),
        ("pipe:0", "pipe:0"),
        ("/dev/zero", "/dev/zero is a device"),
        ("/dev/stdin", "standard input"),
    ):
        for words in ((name, lab.clips.ref), (lab.clips.ref, name)):
            vmafx(lab, "score", *words).failed(1, what, "can be read only once", "-lavfi vmafx")
    vmafx(lab, "score", lab.folder, lab.clips.ref).failed(1, "it is a folder")
    bash = f'exec {" ".join(command()[:1])} -m vmafx.command score <(cat {lab.clips.dist}) {lab.clips.ref}'
    done = subprocess.run(
        ["bash", "-c", bash], cwd=lab.folder, env=environment(lab), capture_output=True, text=True, timeout=60
    )
    check_equal(done.returncode, 1, done.stderr)
    check("is a pipe, which can be read only once" in done.stderr and "Traceback" not in done.stderr, done.stderr)


@case
def an_ffprobe_that_is_broken(lab):
    """An ffprobe may be silent for ever, answer nonsense or crash, and is not asked again."""
    (lab.folder / "ffmpeg").write_text(f'#!/bin/sh\nexec {lab.ffmpeg} "$@"\n')
    (lab.folder / "ffmpeg").chmod(0o755)
    limits = (
        "from vmafx.command import _ffmpeg, _run; _run.ask.__defaults__ = (1.0,); "
        "_ffmpeg.ask_ffprobe.__kwdefaults__['limit_s'] = 1.0; "
    )
    program = limits + "import sys; from vmafx.command.__main__ import main; sys.exit(main())"
    for script, wanted in (
        ("sleep 1000", "timed out: ffprobe did not answer within 1 s"),
        ("echo garbage", "cannot understand ffprobe's answer"),
        ("""echo '{"streams": [{"width": "x", "pix_fmt": 3}]}'""", "cannot understand ffprobe's answer"),
        (
            """echo '{"streams": [{"width": 16, "height": 16, "pix_fmt": "gray", "side_data_list": [7]}], "format":
            {}}'""",
            "cannot understand ffprobe's answer",
        ),
        ("kill -9 $$", "cannot read"),
    ):
        (lab.folder / "ffprobe").write_text(f"#!/bin/sh\n{script}\n")
        (lab.folder / "ffprobe").chmod(0o755)
        words = [sys.executable, "-c", program, "score", "a.mp4", "b.mp4"]
        done = subprocess.run(
            words,
            cwd=lab.folder,
            env=environment(lab, VMAFX_FFMPEG="./ffmpeg"),
            capture_output=True,
            text=True,
            timeout=30,
        )
        check(
            done.returncode == 1 and wanted in done.stderr and "Traceback" not in done.stderr,
            f"{script}: {done.returncode}, {done.stderr}",
        )


# -- Options -----------------------------------------------------------------------------------------------------------


@case
def input_options_are_passed_on(lab):
    """Twice the rate of both inputs gives the same score; raw pictures get their size."""
    result, _ = scored(lab, lab.clips.dist, lab.clips.ref, *FEATURES)
    fast, done = scored(lab, lab.clips.dist, lab.clips.ref, *FEATURES, "--input-option", "r=50", "--ref-option=-r=50")
    check_equal(
        (pooled(fast, "psnr_y"), fast["encodes"][0]["frames_promised"]),
        (pooled(result, "psnr_y"), FRAMES),
        "at 50 frames a second",
    )
    done.does_not_say("frames a second")
    lab.run("-i", lab.clips.ref, "-f rawvideo -pix_fmt yuv420p raw.yuv").succeeded()
    raw = [
        f"--input-option={text}"
        for text in ("f=rawvideo", f"video_size={WIDTH}x{HEIGHT}", "pixel_format=yuv420p", "framerate=25")
    ]
    result, _ = scored(lab, "raw.yuv", lab.clips.ref, *FEATURES, *raw)
    check_equal(pooled(result, "psnr_y"), 60, "PSNR of raw samples")
    for option, wanted in (
        ("ss=1", "use --offset, --sync or --range"),
        ("i=x.mp4", "i is not an option of an input"),
        ("dump_attachment:t=ref.mkv", "dump_attachment is not an option of an input"),
        ("progress=ref.mkv", "progress is not an option of an input"),
        ("=1", "is not an input option"),
        ("", "is not an input option"),
    ):
        vmafx(lab, "score", *(lab.clips.ref,) * 2, f"--input-option={option}").failed(2, wanted)
    vmafx(lab, "score", *(lab.clips.ref,) * 2, "--input-option", "nonsense=1").failed(1, "nonsense")


@case
def options_are_checked_by_the_command(lab):
    clips = lab.clips.dist, lab.clips.ref
    for words, status, wanted in (
        (("--threads", "-5"), 2, "'-5' is not a number of threads: give 1 to 1024"),
        (("--threads", "0"), 2, "'0' is not a number of threads"),
        (("--device", "0", "--backend", "cpu"), 2, "--device names a GPU, and --backend cpu uses none"),
        (("--range", "-x"), 2, "-x is not a range of times"),
        (("--range=-0s",), 2, "the range -0s is empty"),
        ((f"--range={'9' * 19}s-",), 2, "goes beyond 1000000000 s"),
        (("--offset", "1e308"), 2, "'1e308' is not a number of seconds up to 1e+11: give one such as 0.48"),
        (("--offset=-1e12",), 2, "'-1e12' is not a number of seconds up to 1e+11"),
    ):
        vmafx(lab, "score", *clips, *words).failed(status, wanted)
    done = vmafx(lab, "score", *clips, "--device", "99", VMAFX_HIP_RUNTIME="/nowhere")
    check(done.status > 0 and "backend=hip" in done.err and not done.out, done.err)
    vmafx(lab, "score", *clips, "--feature", "vmaf").failed(2, "--feature vmaf: this is a model", "--model")
    vmafx(lab, "score", "--", "-none.mp4", clips[1]).failed(1, "cannot read -none.mp4: No such file")
    done = vmafx(lab, "score", *clips, "--range=0s-0.04s", *FEATURES).succeeded()
    check("\n1 frame, scored" in done.out, done.out)
    result, _ = scored(lab, *clips, "--range", "-0.4s", *FEATURES)
    check_equal(result["encodes"][0]["frames"], 10, "frames of a range that begins with a minus sign")
    for text, frames in (("0s-0.4s", 10), ("0s-", 20)):
        same, _ = scored(lab, *clips, f"--range={text}", *FEATURES)
        check_equal(same["encodes"][0]["frames"], frames, f"frames of {text}")


# -- What is written ---------------------------------------------------------------------------------------------------


@case
def outputs_that_cannot_be_written(lab):
    """An output that is closed, full or gone gives one line and a status."""
    clips = f"{lab.clips.ref} {lab.clips.ref} --model none --feature psnr"
    (lab.folder / "full.json").symlink_to("/dev/full")
    for words, redirection, wanted in (
        (f"score {clips}", ">&-", "cannot write the result: standard output is closed"),
        (f"score {clips} --json", ">&-", "standard output is closed"),
        (f"score {clips}", ">/dev/full", "cannot write the result to standard output: No space left on device"),
        (f"score {clips} --json", ">/dev/full", "No space left on device"),
        (f"score {clips} --report /dev/full", "", "cannot write /dev/full: No space left on device"),
        (f"score {clips} --log full.json", "", "cannot write full.json: No space left on device"),
        ("--help", ">/dev/full", "No space left on device"),
        ("--version", ">&-", "standard output is closed"),
    ):
        done = subprocess.run(
            f"{' '.join(map(str, command()[:1]))} -m vmafx.command {words} {redirection}",
            shell=True,
            cwd=lab.folder,
            env=environment(lab),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        check_equal(
            (done.returncode, "Traceback" in done.stderr, "Exception ignored" in done.stderr),
            (1, False, False),
            f"{words} {redirection}: {done.stderr}",
        )
        check(wanted in done.stderr, f"{words} {redirection}: {done.stderr}")
    for redirection in ("2>&-", "2>/dev/full", "<&-"):
        done = subprocess.run(
            f"{sys.executable} -m vmafx.command score {clips} {redirection}",
            shell=True,
            cwd=lab.folder,
            env=environment(lab),
            capture_output=True,
            text=True,
            timeout=60,
        )
        check_equal((done.returncode, "psnr_y" in done.stdout), (0, True), redirection)


@case
def names_cannot_control_the_terminal(lab):
    """Names are shown as a shell reads them."""
    name = "\033[31mred\n\u202e'.mkv"
    shutil.copy(lab.clips.ref, lab.folder / name)
    done = vmafx(lab, "score", name, lab.clips.ref, *FEATURES).succeeded()
    check("$'\\E[31mred\\n\\342\\200\\256\\'.mkv'" in done.out, done.out)
    for words in (
        (name, "none\033.mkv"),
        ("none\033\udcff.mkv", lab.clips.ref),
        (lab.clips.ref, lab.clips.ref, "--scale", "\033[2J"),
        (lab.clips.ref, "--\033[2J"),
    ):
        done = vmafx(lab, "score", *words)
        check(
            done.status in (1, 2) and "\033" not in done.err and "Traceback" not in done.err, f"{words}: {done.err!r}"
        )


@case
def a_narrow_terminal_shows_whole_names_and_numbers(lab):
    names = [f"A.Movie.With.A.Long.Name.2026.2160p.UHD.BluRay.x265.10bit.HDR.crf{crf}.mkv" for crf in (18, 22)]
    for name in names:
        shutil.copy(lab.clips.ref, lab.folder / name)
    for width in (80, 60):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        words = [sys.executable, "-m", "vmafx.command", "score", *names, str(lab.clips.ref), *FEATURES]
        variables = environment(lab, TERM="xterm", COLUMNS=None)
        subprocess.run(words, cwd=lab.folder, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, timeout=60)
        os.close(theirs)
        seen = re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", read_all(ours))
        check("…" not in seen and seen.count("60.000") == 8 and seen.count("0:00.000") == 2, f"{width}: {seen}")
        joined = re.sub(r"\s+", "", "".join(line.split("  ")[0] for line in seen.splitlines()))
        check("crf18.mkv" in joined and "crf22.mkv" in joined, f"{width}: {seen}")


@case
def settings_go_through_json(lab):
    del lab
    settings = _scoring.Settings("ffmpeg", "ffprobe", features=("psnr",), scale="96x54", dist_options=("-r", "50"))
    check_equal(_scoring.Settings.from_json(json.loads(json.dumps(settings.as_json()))), settings, "settings")
