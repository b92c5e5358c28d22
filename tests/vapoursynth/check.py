#!/usr/bin/env python3
"""Compares what the plugins and Vship's C interface score with a session of the Python module.

check.py BUILD vship PROGRAM             the C interface, by a small program
check.py BUILD vapoursynth PYTHON PLUGIN…  the plugins, by a Python that has VapourSynth
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "python")]
import vmafx  # noqa: E402

FRAMES, WIDTH, HEIGHT, FPS = 9, 224, 192, 24
METRICS = (
    "name=vif|name=adm|name=motion|name=psnr|name=float_vif|name=float_adm|name=float_motion|name=float_ansnr"
    "|name=float_moment|name=float_ssim|name=float_ms_ssim|name=cambi|name=ciede|name=psnr_hvs|name=speed_chroma"
    "|name=speed_temporal|name=ssimulacra2|name=xpsnr|name=butteraugli|name=cvvdp"
)
UP_TO_16_BITS = METRICS.replace("|name=cambi", "").replace("|name=psnr_hvs", "")
LUMA = "name=vif|name=adm|name=motion|name=psnr:enable_chroma=false|name=float_ssim|name=ssimulacra2|name=cvvdp"
OTHER_NAMES = {
    "ssimulacra2": ("SSIMULACRA2", "_SSIMULACRA2"),
    "butteraugli": ("_BUTTERAUGLI_INFNorm",),
    "butteraugli_pnorm": ("_BUTTERAUGLI_3Norm",),
    "xpsnr_y": ("XPSNR_Y",),
    "xpsnr_cb": ("XPSNR_U",),
    "xpsnr_cr": ("XPSNR_V",),
}

cases = []


def case(function):
    cases.append(function)
    return function


# -- Clips and what a session says of them -----------------------------------------------------------------------------


class Clip:
    """Frames of noise that moves, and a coarser copy of them, as lists of planes."""

    def __init__(self, folder, name, bits=8, sub=(1, 1), planes=3, floats=False):
        self.bits, self.paths = bits, []
        dtype = np.float32 if floats else np.uint8 if bits == 8 else np.uint16
        noise = np.random.default_rng(len(name) + bits)
        texture = [noise.integers(16, 236, (HEIGHT >> (p and sub[1]), WIDTH >> (p and sub[0]))) for p in range(planes)]
        self.frames = []
        for distorted in False, True:
            frames = []
            for n in range(FRAMES):
                moved = [np.roll(plane // 2 + np.indices(plane.shape)[1] % 110, n * 3, 1) for plane in texture]
                if distorted:
                    moved = [plane // (5 + n) * (5 + n) for plane in moved]
                samples = [plane / 255 if floats else plane << (bits - 8) for plane in moved]
                frames.append([np.ascontiguousarray(plane, dtype) for plane in samples])
            self.paths.append(str(Path(folder, f"{name}.{'dist' if distorted else 'ref'}")))
            Path(self.paths[-1]).write_bytes(b"".join(plane.tobytes() for planes in frames for plane in planes))
            self.frames.append(frames)


def read_444(path):
    words = np.fromfile(path, np.uint16).reshape(FRAMES, 3, HEIGHT, WIDTH)
    return [[np.ascontiguousarray(plane) for plane in frame] for frame in words]


def session_scores(frames, bits, color=vmafx.Color(), fps=FPS, **options):
    """Returns the scores of each frame, by their keys."""
    scores = {}
    with vmafx.Session(backend="cpu", check="off", fps=fps, **options) as session:
        for ref, dist in zip(*frames):
            pair = [vmafx.Picture(planes, bits=bits if bits > 8 else None, color=color) for planes in (ref, dist)]
            session.submit(*pair)
        session.finish()
        for frame in session.frames():
            scores[frame.number] = dict(frame.scores)
    return scores


def equal(got, wanted, what):
    assert got == wanted or (got != got and wanted != wanted), f"{what}: got {got}, wanted {wanted}"


# -- The plugin vmafx --------------------------------------------------------------------------------------------------


class VapourSynth:
    def __init__(self, python, *plugins):
        self.command = [python, str(HERE / "play.py"), *plugins]

    def play(self, *jobs):
        result = subprocess.run(self.command, input=json.dumps(jobs), capture_output=True, text=True)
        assert result.returncode == 0, result.stderr.strip()
        self.log = result.stderr
        return json.loads(result.stdout)


def job_of(clip, format, *calls, **more):
    size = {"width": WIDTH, "height": HEIGHT, "frames": FRAMES, "fps": FPS}
    return {"ref": clip.paths[0], "dist": clip.paths[1], "format": format, "calls": calls, **size, **more}


def score(order="all", plugin="vmafx", function="Score", ref="", dist="", **arguments):
    call = {"plugin": plugin, "function": function, "order": order, "ref": ref, "dist": dist}
    return {**call, "arguments": {"backend": "cpu", **arguments} if plugin == "vmafx" else arguments}


def property_of(key):
    return "".join(c if c.isalnum() else "_" for c in key)


def check_frames(result, wanted):
    assert "error" not in result, result.get("error")
    assert len(result["frames"]) == FRAMES, f"{len(result['frames'])} frames"
    for n, scores in result["frames"].items():
        expected = {}
        for key, value in wanted[int(n)].items():
            for name in property_of(key), *OTHER_NAMES.get(key, ()):
                expected[name] = value
        assert scores.keys() == expected.keys(), f"frame {n}: {sorted(scores.keys() ^ expected.keys())}"
        for name, value in expected.items():
            equal(scores[name], value, f"frame {n}, {name}")


def orders():
    shuffled = list(range(FRAMES))
    random.Random(1).shuffle(shuffled)
    return "all", list(range(FRAMES - 1, -1, -1)), shuffled


@case
def scores_are_those_of_a_session(vapoursynth, folder):
    formats = {
        "YUV420P8": (8, (1, 1), METRICS),
        "YUV422P10": (10, (1, 0), METRICS),
        "YUV444P12": (12, (0, 0), METRICS),
        "YUV420P16": (16, (1, 1), UP_TO_16_BITS),
    }
    for format, (bits, sub, feature) in formats.items():
        clip = Clip(folder, format, bits, sub)
        wanted = session_scores(clip.frames, bits, model="vmaf_v0.6.1", feature=feature)
        calls = [score(order, feature=feature) for order in (orders() if bits in (8, 10) else orders()[:1])]
        for result in vapoursynth.play(job_of(clip, format, *calls))[0]:
            check_frames(result, wanted)


@case
def gray_has_no_chroma(vapoursynth, folder):
    clip = Clip(folder, "gray", planes=1)
    wanted = session_scores(clip.frames, 8, model="", feature=LUMA)
    check_frames(vapoursynth.play(job_of(clip, "GRAY8", score(model="", feature=LUMA)))[0][0], wanted)


@case
def rgb_and_floats_are_converted(vapoursynth, folder):
    clips = {
        "RGB24": (Clip(folder, "rgb24", sub=(0, 0)), 12, METRICS),
        "RGB48": (Clip(folder, "rgb48", 16, sub=(0, 0)), 16, UP_TO_16_BITS),
        "RGBS": (Clip(folder, "rgbs", sub=(0, 0), floats=True), 16, UP_TO_16_BITS),
    }
    for format, (clip, bits, feature) in clips.items():
        call = score(model="", feature=feature)
        result = vapoursynth.play(job_of(clip, format, call, converted=f"YUV444P{bits}"))[0][0]
        frames = [read_444(path + ".converted") for path in clip.paths]
        color = vmafx.Color(matrix=1, range=1)
        check_frames(result, session_scores(frames, bits, color, model="", feature=feature))


@case
def colors_are_those_of_the_first_frames(vapoursynth, folder):
    clip = Clip(folder, "colors")
    properties = {"_Matrix": 9, "_Transfer": 1, "_Primaries": 9, "_ColorRange": 0, "_ChromaLocation": 2}
    color = vmafx.Color(matrix=9, transfer=1, primaries=9, range=2, chroma_location=3)
    wanted = session_scores(clip.frames, 8, color, model="", feature="name=ssimulacra2|name=cvvdp")
    plain = session_scores(clip.frames, 8, model="", feature="name=ssimulacra2|name=cvvdp")
    assert wanted[1]["ssimulacra2"] != plain[1]["ssimulacra2"], "colors change nothing"
    call = score(model="", feature="name=ssimulacra2|name=cvvdp")
    check_frames(vapoursynth.play(job_of(clip, "YUV420P8", call, properties=properties))[0][0], wanted)


@case
def what_cannot_be_scored_is_told(vapoursynth, folder):
    clip = Clip(folder, "wrong")
    wrong = {
        "reference has 9 frames and distorted 8; trim them": score(dist="shorter"),
        "reference is 224x192 YUV420P8 and distorted 208x192 YUV420P8": score(dist="smaller"),
        "distorted 224x192 YUV420P10; give both one size and format": score(dist="10 bits"),
        "distorted has frames of several formats or sizes": score(dist="variable"),
        "reference is 224x192 YUV440P8; convert it": score(ref="4:4:0", dist="4:4:0"),
        "reference is 224x192 YUV411PS; convert it": score(ref="4:1:1", dist="4:1:1"),
        "vmaf_v9": score(model="vmaf_v9"),
        "no_metric": score(feature="name=no_metric"),
        "heat maps are of whole streams": score(feature="name=cambi:heatmaps_path=/tmp"),
        "backend": score(backend="gpu"),
    }
    for (text, call), result in zip(wrong.items(), vapoursynth.play(job_of(clip, "YUV420P8", *wrong.values()))[0]):
        assert "error" in result, f"{call} is taken"
        assert (
            result["error"].startswith("Score: ") and text in result["error"]
        ), f"'{text}' is not in {result['error']}"
        assert result["error"].count("\n") == 0, result["error"]


# -- Vship's plugin ----------------------------------------------------------------------------------------------------


def vship(function, order="all", **arguments):
    return score(order, "vship", function, **arguments)


@case
def av1an_reads_its_scores(vapoursynth, folder):
    """The calls of measure_ssimulacra2() and measure_butteraugli() of av1an-core/src/vapoursynth.rs."""
    clip = Clip(folder, "av1an", 10)
    in_order = list(range(FRAMES))
    feature = "name=ssimulacra2|name=butteraugli:intensity_target=203"
    wanted = session_scores(clip.frames, 10, model="", feature=feature)
    ssimulacra2, butteraugli, xpsnr = vapoursynth.play(
        job_of(
            clip,
            "YUV420P10",
            vship("SSIMULACRA2", in_order, numStream=4),
            vship("BUTTERAUGLI", in_order, distmap=1, intensity_multiplier=203.0, numStream=4),
            score(in_order, model="", feature="name=xpsnr"),
        )
    )[0]
    xpsnrs = session_scores(clip.frames, 10, model="", feature="name=xpsnr")
    for n in in_order:
        equal(ssimulacra2["frames"][str(n)]["_SSIMULACRA2"], wanted[n]["ssimulacra2"], f"frame {n}")
        for name, key in ("INF", "butteraugli_it_203"), ("3", "butteraugli_pnorm_it_203"):
            equal(butteraugli["frames"][str(n)][f"_BUTTERAUGLI_{name}Norm"], wanted[n][key], f"frame {n}, {name}")
        for name, key in zip("YUV", ("xpsnr_y", "xpsnr_cb", "xpsnr_cr")):
            equal(xpsnr["frames"][str(n)][f"XPSNR_{name}"], xpsnrs[n][key], f"frame {n}, {name}")
    assert butteraugli["format"] == "GrayS", butteraugli["format"]
    assert "makes no map of distances" in vapoursynth.log, vapoursynth.log


@case
def cvvdp_of_a_frame_is_that_of_all_until_it(vapoursynth, folder):
    clip = Clip(folder, "cvvdp")
    feature = "name=cvvdp:display=standard_fhd"
    scores = session_scores(clip.frames, 8, model="", feature=feature)
    jods = [scores[n]["cvvdp_display_standard_fhd"] for n in range(FRAMES)]
    calls = [vship("CVVDP", order) for order in (*orders(), [FRAMES - 1, 0])]
    for result in vapoursynth.play(job_of(clip, "YUV420P8", *calls))[0]:
        for n, values in result["frames"].items():
            wanted = vmafx.pool("mean", jods[: int(n) + 1], "cvvdp")
            equal(values["_CVVDP"], wanted, f"frame {n}")


@case
def vship_says_what_it_has_not(vapoursynth, folder):
    clip = Clip(folder, "vship")
    resized, display, norm = vapoursynth.play(
        job_of(
            clip,
            "YUV420P8",
            vship("CVVDP", resizeToDisplay=1),
            vship("CVVDP", model_name="a_wall"),
            vship("BUTTERAUGLI", qnorm=99),
        )
    )[0]
    assert "does not resize" in resized["error"], resized
    assert "a_wall" in display["error"], display
    assert "norm" in norm["error"], norm


# -- Vship's C interface -----------------------------------------------------------------------------------------------

c_cases = []


def c_case(function):
    c_cases.append(function)
    return function


class Program:
    def __init__(self, path):
        self.path = path

    def run(self, *words):
        result = subprocess.run([self.path, *map(str, words)], capture_output=True, text=True)
        assert result.returncode == 0, f"{result.stderr.strip()} {result.stdout}"
        return [list(map(float, line.split())) for line in result.stdout.splitlines()]

    def scores(self, metric, clip, sample, sub=(1, 1), rgb=0):
        return self.run(metric, WIDTH, HEIGHT, sample, *sub, rgb, FPS, FRAMES, *clip.paths)


def yuv_of_rgb(frames, most):
    """Returns BT.709 in full range and 16 bits."""
    converted = []
    for frame in frames:
        r, g, b = (np.clip(plane.astype(np.float64) / most, 0, 1) for plane in frame)
        y = 0.2126 * r + (1 - 0.2126 - 0.0722) * g + 0.0722 * b
        planes = y, (b - y) / (2 - 2 * 0.0722) + 32768 / 65535, (r - y) / (2 - 2 * 0.2126) + 32768 / 65535
        converted.append([np.rint(np.clip(plane, 0, 1) * 65535).astype(np.uint16) for plane in planes])
    return converted


SAMPLE = {"float": 0, "half": 1, 8: 2, 9: 3, 10: 5, 12: 7, 14: 9, 16: 11}
BT709 = {"matrix": 1, "transfer": 1, "primaries": 1, "chroma_location": 1}
LIMITED, FULL = vmafx.Color(range=1, **BT709), vmafx.Color(range=2, **BT709)
STILLS = "name=ssimulacra2|name=butteraugli:intensity_target=203|name=butteraugli:intensity_target=203:norm=2"


@c_case
def integers_of_each_depth(program, folder):
    for bits, sub in (8, (1, 1)), (10, (1, 0)), (12, (0, 0)), (16, (1, 1)):
        clip = Clip(folder, f"c{bits}", bits, sub)
        wanted = session_scores(clip.frames, bits, LIMITED, model="", feature=STILLS)
        for n, (value,) in enumerate(program.scores("ssimu2", clip, SAMPLE[bits], sub)):
            equal(value, wanted[n]["ssimulacra2"], f"{bits} bits, frame {n}")
        for n, values in enumerate(program.scores("butteraugli", clip, SAMPLE[bits], sub)):
            keys = "butteraugli_pnorm_it_203_p_2", "butteraugli_pnorm_it_203", "butteraugli_it_203"
            for value, key in zip(values, keys):
                equal(value, wanted[n][key], f"{bits} bits, frame {n}, {key}")


@c_case
def rgb_of_integers_and_floats(program, folder):
    rgb = Clip(folder, "rgb", sub=(0, 0), floats=True)
    half = Clip(folder, "half", sub=(0, 0), floats=True)
    for path, frames in zip(half.paths, half.frames):
        Path(path).write_bytes(b"".join(plane.astype(np.float16).tobytes() for frame in frames for plane in frame))
    half.frames = [[[plane.astype(np.float16) for plane in frame] for frame in frames] for frames in half.frames]
    whole = Clip(folder, "whole", sub=(0, 0))
    for clip, sample, most in (rgb, "float", 1), (half, "half", 1), (whole, 8, 255):
        frames = [yuv_of_rgb(each, most) for each in clip.frames]
        wanted = session_scores(frames, 16, FULL, model="", feature="name=ssimulacra2")
        for n, (value,) in enumerate(program.scores("ssimu2", clip, SAMPLE[sample], (0, 0), 1)):
            equal(value, wanted[n]["ssimulacra2"], f"{sample}, frame {n}")


@c_case
def cvvdp_goes_on_and_begins_again(program, folder):
    """The program scores all frames, then loads the first 6 of them after a reset and scores the others."""
    clip = Clip(folder, "cvvdp")
    options = {"model": "", "feature": "name=cvvdp:display=standard_fhd"}
    scores = session_scores(clip.frames, 8, LIMITED, **options)
    jods = [scores[n]["cvvdp_display_standard_fhd"] for n in range(FRAMES)]
    still = session_scores([frames[:1] for frames in clip.frames], 8, LIMITED, **options)
    lines = [value for (value,) in program.scores("cvvdp", clip, SAMPLE[8])]
    equal(lines[0], still[0]["cvvdp_display_standard_fhd"], "the first frame")
    for n in range(1, FRAMES):
        equal(lines[n], vmafx.pool("mean", jods[: n + 1], "cvvdp"), f"frame {n}")
    for n in range(6, FRAMES):
        equal(lines[FRAMES + n - 6], vmafx.pool("mean", jods[6 : n + 1], "cvvdp"), f"frame {n} after a reset")


@c_case
def errors_have_numbers_and_words(program, folder):
    program.run("errors")


def main():
    kind, *rest = sys.argv[2:]
    subject = Program(*rest) if kind == "vship" else VapourSynth(*rest)
    passed = failed = 0
    for function in c_cases if kind == "vship" else cases:
        name = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="vmafx-vapoursynth-") as folder:
            try:
                function(subject, folder)
                passed += 1
                print(f"PASS {name}")
            except (AssertionError, vmafx.Error, KeyError, ValueError) as error:
                failed += 1
                print(f"FAIL {name}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
