"""Options, results, errors, the log, windows and reports of sessions."""

import contextlib
import errno
import inspect
import io
import json
import logging
import math
import re
import subprocess
import sys

import numpy as np
import vmafx
from common import Messages, case, check, check_equal, gray_pairs, noise, raises, score_pairs, top
from vmafx._library import library, text_of

# -- Maps --------------------------------------------------------------------------------------------------------------


@case
def maps_are_arrays(lab):
    """They are copies, whose sum is what the score is made of."""
    del lab
    with vmafx.Session(backend="cpu", model="", feature="psnr:enable_mse=true", result_maps=True) as session:
        frames = list(session.run(gray_pairs()))
    for frame in frames:
        luma = frame.maps["psnr_y"]
        h, w = noise(seed=0).shape
        check_equal(luma.values.shape, (math.ceil(h / 16), math.ceil(w / 16)), "blocks")
        check_equal((luma.values.dtype, luma.unit, luma.block), (np.float64, "squared error", (16, 16)), "the map")
        check_equal(luma.values.sum() / (w * h), frame.scores["mse_y"], "the mean squared error")
    check(frames[0].maps["psnr_y"].values is not frames[1].maps["psnr_y"].values, "one array for two frames")
    with vmafx.Session(backend="cpu", model="", feature="psnr") as session:
        check_equal([frame.maps for frame in session.run(gray_pairs())], [{}] * 4, "maps that nobody asked for")


# -- Options -----------------------------------------------------------------------------------------------------------


@case
def options_are_those_of_the_library(lab):
    del lab
    options, nth = vmafx.options(), 0
    while option := library().vmafx_option(nth):
        found = options[text_of(option.name)]
        check_equal((found.help, found.in_filter), (text_of(option.help), bool(option.in_filter)), found)
        check(found.default in (None, "") or found.least is None or found.least <= found.default <= found.most, found)
        nth += 1
    check(nth > 20, f"{nth} options")
    check_equal(len(options), nth, "options")
    check_equal(
        [options[name].default for name in ("model", "pool", "log_path", "n_subsample", "report_times")],
        ["version=vmaf_v0.6.1", "mean", None, 1, 1],
        "defaults",
    )
    types = {name: options[name][2:] for name in ("window", "encodes", "summary")}
    check_equal(
        types,
        {"window": ("text", None, None, True), "encodes": ("int", 1, 16, True), "summary": ("flag", 0, 1, False)},
        "types",
    )


@case
def options_are_arguments(lab):
    """For shells that complete them, and help()."""
    del lab
    arguments = inspect.signature(vmafx.Session).parameters
    check_equal(list(arguments)[:2], ["reference", "fps"], "first arguments")
    check_equal(
        {name.removesuffix("_"): argument.default for name, argument in list(arguments.items())[2:]},
        {name: option.default for name, option in vmafx.options().items()},
        "arguments",
    )


@case
def options_are_in_the_document(lab):
    del lab
    done = subprocess.run([sys.executable, top / "tools/make_options.py", "--check"], capture_output=True, text=True)
    check_equal((done.returncode, done.stderr), (0, ""), "tools/make_options.py --check")


@case
def all_defaults_may_be_given(lab):
    del lab
    defaults = {name: option.default for name, option in vmafx.options().items()}
    with vmafx.Session(**defaults) as session:
        given = list(session.run(gray_pairs()))
    with vmafx.Session() as session:
        check_equal(list(session.run(gray_pairs())), given, "scores")


@case
def options_of_other_types(lab):
    del lab
    frames, _ = score_pairs(
        gray_pairs(), model="", feature=["psnr", "name=float_ssim"], n_subsample=True, window=0.08, score_fmt=None
    )
    check_equal(set(frames[0]), {"psnr_y", "float_ssim"}, "features")
    with raises(TypeError, "there is no option modle; there are log_path, log_fmt"):
        vmafx.Session(modle="vmaf_v0.6.1")
    with raises(TypeError, "there is no option log_cookie"):
        vmafx.Session(log_cookie=1)
    with raises(TypeError, "model is a text, not bool"):
        vmafx.Session(model=True)
    with raises(TypeError):
        vmafx.Session(n_threads="2")
    with raises(ValueError, "zero byte"):
        vmafx.Session(model="a\0b")
    with raises(OverflowError):
        vmafx.Session(n_threads=1 << 40)
    with raises(vmafx.Error, "there is no import=away; use auto, device or host", errno.EINVAL):
        vmafx.Session(import_="away")


def moving_planes(number, exchanged=False):
    """Returns Y, Cb and Cr of a picture of waves that move."""
    y, x = np.mgrid[0:144, 0:192]
    luma = 120 + 40 * np.sin((x + 3 * number) / 17) + 30 * np.sin((y + 2 * number) / 11 + x / 40)
    y, x = np.mgrid[0:72, 0:96]
    chroma = [110 + 60 * np.sin(x / 19 + number / 25), 150 + 60 * np.cos(y / 9 - number / 35)]
    return [plane.astype(np.uint8) for plane in (luma, *(reversed(chroma) if exchanged else chroma))]


@case
def findings(lab):
    """What the pictures say is data, and an error with check=fail."""
    del lab
    pairs = [(moving_planes(number), moving_planes(number, True)) for number in range(100)]
    with vmafx.Session() as session:
        with raises(vmafx.Error, "there are no findings before finish()", errno.EINVAL):
            session.findings
        list(session.run(pairs))
    (found,) = session.findings
    check_equal((found.kind, found.certainty), ("chroma_swapped", "sure"), "finding")
    check(0 <= found.pairs.start < found.pairs.stop <= 100 and found.evidence, found)
    check_equal(
        (found.text, found.remedies), ("Cb and Cr of main are exchanged", ["shuffleplanes=0:2:1 before main"]), "words"
    )
    check_equal(session.encode_findings, [[found]], "findings of encodes")
    with vmafx.Session(check="fail") as session:
        with raises(vmafx.Error, "check=fail: the pictures raise 1 doubt ", errno.EILSEQ):
            list(session.run(pairs))
        check_equal(session.findings, [found], "finding")
        check(session.scores.models["vmaf"] > 0, session.scores)
    with vmafx.Session(check="off") as session:
        list(session.run(pairs))
    check_equal(session.findings, [], "findings")


@case
def frame_rate(lab):
    del lab
    found = []
    for fps, feature in ((25, "xpsnr"), (0, "xpsnr"), (0, "xpsnr:fps=50"), (50, "xpsnr")):
        with vmafx.Session(model="", feature=feature, fps=fps) as session:
            found.append([list(frame.scores.values()) for frame in session.run(gray_pairs())])
    slow, unknown, by_option, fast = found
    check(slow == unknown and fast == by_option and slow != fast, found)


@case
def errors_of_options(lab):
    with raises(vmafx.Error, "could not load libvmaf model with version: nonsense", errno.EINVAL):
        vmafx.Session(model="version=nonsense")
    with raises(vmafx.Error, "nonsense", errno.EINVAL):
        vmafx.Session(feature="nonsense")
    with raises(OSError, "", errno.ENOENT):
        vmafx.Session(log_path=lab.folder / "none/report.json")
    with raises(vmafx.Error, "encodes=2: score() takes one distorted file", errno.EINVAL):
        vmafx.score("ref.mp4", "dis.mp4", encodes=2)
    with raises(vmafx.Error, "encodes=17", errno.EINVAL):
        vmafx.Session(encodes=17)
    with raises(vmafx.Error, "", errno.EINVAL):
        vmafx.Session(n_threads=-1)


@case
def reports_replace_reports_alone(lab):
    path = lab.folder / "report.json"
    for foreign in (b"\0\0\0\x20ftypisom", b"mine"):
        path.write_bytes(foreign)
        for option in ("log_path", "openmetrics"):
            with raises(vmafx.Error, f"{option}={path}: this file exists", errno.EEXIST):
                vmafx.Session(**{option: path})
            check_equal(path.read_bytes(), foreign, "content")
        vmafx.Session(log_path=path, overwrite=1).close()
        check_equal(path.read_bytes(), foreign, "content after a session without frames")
    path.write_text("")
    for _ in range(2):
        score_pairs(gray_pairs(2), feature="psnr", model="", log_path=path)


# -- Results -----------------------------------------------------------------------------------------------------------


@case
def step_by_step(lab):
    del lab
    with vmafx.Session(model="", feature="psnr") as session:
        check_equal(list(session.frames(wait=True)), [], "frames before the first")
        found = []
        for pair in gray_pairs(5):
            session.submit(*pair)
            found += session.frames(wait=True)
        check_equal([frame.number for frame in found], [0, 1, 2, 3, 4], "frames")
        check_equal(session.finish(), session.scores, "scores")
        check_equal(list(session.frames()), [], "frames left")
    check_equal(found, list(run_all(gray_pairs(5), model="", feature="psnr")), "the same by run()")
    check_equal([round(frame.time * 25) for frame in found], [0, 1, 2, 3, 4], "times")
    mean = sum(frame.scores["psnr_y"] for frame in found) / 5
    check(abs(session.scores.features["psnr_y"] - mean) < 1e-9, "mean")


def run_all(pairs, **options):
    with vmafx.Session(**options) as session:
        return list(session.run(pairs))


@case
def frames_that_are_left_out(lab):
    del lab
    frames = run_all(gray_pairs(6), model="", feature="psnr", n_subsample=3)
    check_equal([bool(frame.scores) for frame in frames], [True, False, False] * 2, "frames with scores")


@case
def several_models_and_pools(lab):
    del lab
    models = ["vmaf_v0.6.1", "version=vmaf_v0.6.1neg:name=neg"]
    frames, scores = score_pairs(gray_pairs(), model=models, pool="min")
    check_equal(scores.models, {name: min(frame[name] for frame in frames) for name in ("vmaf", "neg")}, "models")


@case
def perfect_match(lab):
    del lab
    planes = [noise(seed=seed) for seed in range(3)]
    _, scores = score_pairs([(planes, planes)], model="", feature="ciede|psnr")
    check(math.isinf(scores.features["ciede2000"]), "ciede2000 of equal pictures")


@case
def stream_without_frames(lab):
    del lab
    with raises(vmafx.Error, "", errno.EINVAL):
        list(run_all([]))


@case
def error_in_the_source(lab):
    """An error of the source comes through; the report has the frames before it and is marked partial."""

    def broken():
        yield from gray_pairs(3)
        raise KeyError("source")

    with raises(KeyError, "source"):
        run_all(broken(), log_path=lab.folder / "report.json")
    report = lab.json("report.json")
    check(report["partial"], "not partial")
    check_equal(len(report["frames"]), 3, "frames")


# -- Windows, gates, reports -------------------------------------------------------------------------------------------


@case
def windows_of_seconds(lab):
    del lab
    frames = run_all(gray_pairs(10), model="", feature="psnr", window="0.16")
    windows = [frame.window for frame in frames if frame.window]
    check_equal(
        [(window.number, window.first_frame, window.last_frame) for window in windows],
        [(0, 0, 3), (1, 4, 7), (2, 8, 9)],
        "windows",
    )
    check_equal([frame.number for frame in frames if frame.window], [3, 7, 9], "frames that end one")
    check_equal([window.time for window in windows], [0, 4 / 25, 8 / 25], "times")
    first = sum(frame.scores["psnr_y"] for frame in frames[:4]) / 4
    check(abs(windows[0].scores["psnr_y"] - first) < 1e-9, "pooled score of the first")


@case
def windows_of_key_frames(lab):
    del lab
    pairs = [(noise(seed=i), vmafx.Picture(noise(seed=i + 9), keyframe=i in (0, 3))) for i in range(5)]
    windows = [frame.window for frame in run_all(pairs, model="", feature="psnr", window="keyframe") if frame.window]
    check_equal(
        [(window.first_frame, window.last_frame, window.time) for window in windows],
        [(0, 2, None), (3, 4, None)],
        "windows",
    )


@case
def scores_below_a_limit(lab):
    del lab
    with Messages() as messages, vmafx.Session(
        model="", feature="psnr", fail_below="psnr_y=90", warn_below="psnr_y=95"
    ) as session:
        frames = []
        with raises(vmafx.Error, "psnr_y is ", errno.ERANGE):
            frames.extend(session.run(gray_pairs()))
    check_equal(session.scores.features.keys(), {"psnr_y"}, "scores in spite of the error")
    messages.check(logging.WARNING, "psnr_y")


@case
def frames_come_before_the_limits_error(lab):
    del lab
    found = []
    with raises(vmafx.Error, "", errno.ERANGE), vmafx.Session(fail_below=101) as session:
        for frame in session.run(gray_pairs()):
            found.append(frame)
    check_equal(len(found), 4, "frames")


@case
def report(lab):
    path = lab.folder / "report.json"
    with vmafx.Session(log_path=path, score_fmt="%.17g", feature="psnr") as session:
        frames = list(session.run(gray_pairs()))
        session.close()
    report = json.loads(path.read_text())
    check_equal([frame["metrics"] for frame in report["frames"]], [frame.scores for frame in frames], "scores")
    check("partial" not in report, "partial")


@case
def pairing_in_the_report(lab):
    with vmafx.Session(log_path=lab.folder / "report.json") as session:
        for pair in gray_pairs():
            session.submit(*pair)
        session.set_pairing(paired=4, unmatched_reference=1)
        session.finish()
    pairing = lab.json("report.json")["pairing"]
    check_equal((pairing["paired"], pairing["unmatched_reference"]), (4, 1), "pairing")


# -- The log -----------------------------------------------------------------------------------------------------------


@case
def messages_of_the_library(lab):
    del lab
    with Messages() as messages:
        run_all(gray_pairs(), summary=1, feature="psnr", backend="cpu")
        with raises(vmafx.Error):
            vmafx.Session(model="nonsense")
    messages.check(logging.WARNING, "is made for 1080p")
    messages.check(logging.INFO, "psnr_y: mean")
    messages.check(logging.DEBUG, "on cpu")
    messages.check(logging.ERROR, "nonsense")


@case
def handler_that_fails(lab):
    """The exception of a log handler does not leave it; the scores are there."""
    del lab

    class Broken(logging.Handler):
        def emit(self, record):
            raise RuntimeError("handler")

    broken = Broken()
    logging.getLogger("vmafx").addHandler(broken)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            check_equal(len(run_all(gray_pairs())), 4, "frames")
    finally:
        logging.getLogger("vmafx").removeHandler(broken)


# -- Discovery ---------------------------------------------------------------------------------------------------------


@case
def discovery(lab):
    del lab
    check_equal(vmafx.models()[0], "vmaf_v0.6.1", "first model")
    check({"vif", "adm", "psnr", "ssimulacra2"} <= set(vmafx.extractors()), "extractors")
    check_equal(text_of(library().vmafx_version()), vmafx.version(), "version")


@case
def versions(lab):
    del lab
    base, _, commit = vmafx.version().partition("-")
    check_equal(base, vmafx.__version__, "version of the library")
    check(re.fullmatch(r"(g[0-9a-f]{7,}(-dirty)?|git)?", commit), f"the library's commit is {commit}")
