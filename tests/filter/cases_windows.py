"""Windows, gates, score lines and the file for Prometheus."""

import math
import re
import signal
import subprocess
import time

from support import FRAMES, Skip, case, check, check_equal
from cases_reports import printed_metadata

WINDOW = 8  # frames: 0.32 s at 25 a second
RANGES = [(0, 7), (8, 15), (16, 19)]


def means(frames, first, last):
    """Returns {key: mean of the frames' scores} from a report."""
    chosen = [frame["metrics"] for frame in frames[first : last + 1]]
    return {key: sum(scores[key] for scores in chosen) / len(chosen) for key in chosen[0]}


def check_pooled(got, frames, first, last):
    wanted = means(frames, first, last)
    check_equal(set(got), set(wanted), f"keys of frames {first} to {last}")
    for key, score in wanted.items():
        check(
            math.isclose(got[key], score, abs_tol=2e-6),
            f"{key} of frames {first} to {last}: {got[key]}, wanted {score}",
        )


@case
def windows_stand_in_all_reports_that_have_room(lab):
    for log_fmt in ("json", "xml", "ndjson"):
        lab.compare(f"vmafx=feature=name=psnr:window=0.32:log_path=log.{log_fmt}").score()
    report = lab.json("log.json")
    check_equal([(w["firstFrame"], w["lastFrame"]) for w in report["windows"]], RANGES, "windows")
    check_equal([w["time"] for w in report["windows"]], [0, 0.32, 0.64], "times")
    for window in report["windows"]:
        check_pooled(window["pooled"], report["frames"], window["firstFrame"], window["lastFrame"])
    lines = lab.json_lines("log.ndjson")
    check_equal(
        [line for line in lines if "window" in line],
        [{"window": i, **w} for i, w in enumerate(report["windows"])],
        "lines",
    )
    order = ["window" if "window" in line else line.get("frameNum") for line in lines[:-1]]
    check_equal(order, [*range(8), "window", *range(8, 16), "window", *range(16, 20), "window"], "order of the lines")
    check_equal(lines[-1]["windows"], report["windows"], "last line")
    for element, window in zip(lab.xml("log.xml").findall("windows/window"), report["windows"], strict=True):
        wanted = {
            "firstFrame": window["firstFrame"],
            "lastFrame": window["lastFrame"],
            "time": window["time"],
            **window["pooled"],
        }
        check_equal({key: float(value) for key, value in element.attrib.items()}, wanted, "element")


@case
def scores_of_frames_need_not_be_kept(lab):
    for pooled_only in (0, 1):
        lab.compare(
            f"vmafx=feature=name=psnr:window=0.32:pooled_only={pooled_only}:log_path={pooled_only}.ndjson:"
            f"openmetrics={pooled_only}.prom"
        ).score()
    kept, lines = lab.json_lines("0.ndjson"), lab.json_lines("1.ndjson")
    check_equal(lines[:-1], kept[:-1], "lines of frames and windows")
    check_equal(lines[-1]["pooled_metrics"], kept[-1]["pooled_metrics"], "pooled scores")
    check_equal(set(kept[-1]) - set(lines[-1]), {"pooled_statistics", "windows"}, "what needs the scores of all frames")
    check_equal((lab.folder / "1.prom").read_text(), (lab.folder / "0.prom").read_text(), "openmetrics")


@case
def without_windows_reports_are_as_before(lab):
    lab.compare("vmafx=log_path=log.json").score()
    check("windows" not in lab.json("log.json"), "windows that nobody asked for")


@case
def the_last_frame_of_a_window_has_its_scores(lab):
    lab.compare("vmafx=window=0.32:metadata=1:log_path=log.json,metadata=print:file=meta.txt").score()
    frames = printed_metadata(lab.folder / "meta.txt")
    check_equal(len(frames), FRAMES, "frames")
    with_window = {i: frame for i, frame in enumerate(frames) if "lavfi.vmafx.window.frames" in frame}
    check_equal(list(with_window), [last for _, last in RANGES], "frames with a window")
    for (first, last), window in zip(RANGES, lab.json("log.json")["windows"], strict=True):
        frame = with_window[last]
        check_equal(int(frame["lavfi.vmafx.window.frames"]), last - first + 1, "frames of the window")
        check_equal(frame["lavfi.vmafx.window.vmaf"], f"{window['pooled']['vmaf']:.6f}", "vmaf of the window")


@case
def keyframes_begin_windows(lab):
    lab.run("-i", lab.clips.ref, "-c:v mpeg4 -g 6 -q:v 20 -sc_threshold 1000000000 keys.mp4").succeeded()
    lab.compare("vmafx=window=keyframe:log_path=log.json", "keys.mp4").score()
    windows = [(w["firstFrame"], w["lastFrame"]) for w in lab.json("log.json")["windows"]]
    check_equal(windows, [(0, 5), (6, 11), (12, 17), (18, 19)], "windows")


@case
def low_windows_are_warned_of(lab):
    lab.compare("vmafx=log_path=log.json:window=0.32").score()
    lows = [window["pooled"]["vmaf"] for window in lab.json("log.json")["windows"]]
    least = (min(lows) + max(lows)) / 2
    outcome = lab.compare(f"vmafx=window=0.32:warn_below={least}")
    outcome.score()
    warned = [
        tuple(map(int, found))
        for found in re.findall(r"warn_below: from frame (\d+) \([\d.]+ s\) to frame (\d+), vmaf is", outcome.stderr)
    ]
    check_equal(warned, [where for where, low in zip(RANGES, lows) if low < least], "windows that were warned of")
    lab.compare("vmafx=warn_below=0").does_not_say("warn_below").score()
    lab.compare("vmafx=warn_below=101").says("warn_below: vmaf is ").score()


@case
def a_low_score_is_an_exit_status(lab):
    """A low score sets the exit status, after the score and the report."""
    outcome = lab.compare("vmafx=fail_below=101:log_path=log.json").failed("fail_below: vmaf is ", before_score=False)
    check_equal(len(outcome.scores), 1, "score lines")
    check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames in the report")
    lab.compare("vmafx=fail_below=1").score()
    lab.compare("vmafx=feature=name=psnr:fail_below=psnr_y=1|vmaf=1").score()
    lab.compare("vmafx=model='':feature=name=psnr:fail_below=psnr_y=99").failed("psnr_y is ")


@case
def windows_and_gates_that_are_none_are_refused(lab):
    for option, message in (
        ("window=2s", "window=2s: use a number of seconds"),
        ("window=0", "window=0: use a number of seconds"),
        ("fail_below=high", "fail_below=high: use a number"),
        ("warn_below=ssim=0.9", "warn_below: there is no score called ssim"),
        ("model='':feature=name=psnr:fail_below=30", "write KEY=30"),
        ("openmetrics=nowhere/metrics.prom", "nowhere/metrics.prom"),
        ("pooled_only=1:log_path=scores.json", "when this report is written; use log_fmt=ndjson"),
        ("pooled_only=1:pool=p5", "which pool=p5 needs; use mean, min, max or harmonic_mean"),
    ):
        lab.compare(f"vmafx={option}").failed(message)


@case
def each_feature_has_a_score_line(lab):
    """A feature's score stands last on its line, after those of models; the filter named libvmaf has libvmaf's lines
    only.
    """
    outcome = lab.compare("vmafx=feature='name=psnr|name=ssimulacra2|name=psnr_hvs':log_path=log.json")
    outcome.score()
    found = re.findall(r"^\[Parsed_vmafx_0 @ 0x[0-9a-f]+\] (?!VMAF)(\S+) score: (\S+)$", outcome.stderr, re.M)
    check_equal(sorted(key for key, _ in found), ["psnr_hvs", "psnr_y", "ssimulacra2"], "keys")
    pooled = lab.json("log.json")["pooled_metrics"]
    for key, score in found:
        check_equal(float(score), pooled[key]["mean"], key)
    check(
        outcome.stderr.index("VMAF score: ")
        < outcome.stderr.index(" score: ", outcome.stderr.index("VMAF score: ") + 8),
        "order",
    )
    alone = lab.compare("vmafx=model='':feature=name=psnr:pool=min:log_path=log.json").succeeded()
    check_equal(
        re.findall(r"psnr_y score: (\S+)$", alone.stderr, re.M),
        [f"{lab.json('log.json')['pooled_metrics']['psnr_y']['min']:.6f}"],
        "line",
    )
    lab.compare("vmafx=model='':feature=name=psnr", dist=lab.clips.ref).says("psnr_y score: ")
    lab.compare("libvmaf=feature=name=psnr").does_not_say("psnr_y score").score()


def metrics_of(text):
    """Returns {name{labels}: value} from a file in the OpenMetrics format, read by its grammar."""
    lines = text.split("\n")
    check_equal(lines[-2:], ["# EOF", ""], "end")
    types, values = {}, {}
    for line in lines[:-2]:
        if described := re.fullmatch(r"# (HELP|TYPE) (\w+) (.+)", line):
            if described[1] == "TYPE":
                types[described[2]] = described[3]
            continue
        sample = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\} (\S+)', line)
        check(sample and types.get(sample[1]) == "gauge", f"no sample: {line!r}")
        values[sample[1], sample[2]] = float(sample[3])
    return values


@case
def prometheus_finds_the_scores(lab):
    lab.compare("vmafx=feature=name=psnr:window=0.32:openmetrics=metrics.prom:log_path=log.json").score()
    report = lab.json("log.json")
    values = metrics_of((lab.folder / "metrics.prom").read_text())
    last = report["windows"][-1]["pooled"]
    wanted = {
        ("vmafx_frames", 'encode="0"'): FRAMES,
        ("vmafx_window_score", 'encode="0",feature="psnr_y",window_start="0.640000"'): last["psnr_y"],
        ("vmafx_window_score", 'encode="0",model="vmaf",window_start="0.640000"'): last["vmaf"],
        ("vmafx_score", 'encode="0",feature="psnr_y"'): report["pooled_metrics"]["psnr_y"]["mean"],
        ("vmafx_score", 'encode="0",model="vmaf"'): report["pooled_metrics"]["vmaf"]["mean"],
    }
    check_equal(values, wanted, "samples")
    lab.compare("vmafx=openmetrics=alone.prom").score()
    check_equal(len(metrics_of((lab.folder / "alone.prom").read_text())), 2, "samples without windows")


@case
def prometheus_own_parser_reads_the_file(lab):
    read = "import sys; from prometheus_client.openmetrics.parser import text_fd_to_metric_families as parse; "
    read += "print(*sorted(s.name for f in parse(sys.stdin) for s in f.samples))"
    if subprocess.run(["/usr/bin/python3", "-c", "import prometheus_client"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("Debian's python3-prometheus-client is not installed")
    lab.compare(
        "vmafx=model='version=vmaf_v0.6.1\\:name=a \"b\\ü':feature=name=psnr:window=0.32:openmetrics=metrics.prom"
    ).score()
    with (lab.folder / "metrics.prom").open() as text:
        done = subprocess.run(["/usr/bin/python3", "-c", read], stdin=text, capture_output=True, text=True, timeout=100)
    check_equal(done.returncode, 0, done.stderr)
    wanted = ["vmafx_frames"] + 2 * ["vmafx_score"] + 2 * ["vmafx_window_score"]
    check_equal(done.stdout.split(), wanted, "samples")


@case
def the_metrics_file_is_whole_at_any_time(lab):
    """The file is complete at any time, also when ffmpeg is killed."""
    process = lab.start_slowly("vmafx=window=0.08:openmetrics=metrics.prom")
    path, frames = lab.folder / "metrics.prom", set()
    for _ in range(400):
        if path.exists():
            frames.add(metrics_of(path.read_text())["vmafx_frames", 'encode="0"'])
        if len(frames) > 3:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    check(len(frames) > 3 and all(count % 2 == 0 for count in frames), f"frames seen: {frames}")
    metrics_of(path.read_text())


@case
def a_full_disk_does_not_end_the_scoring(lab):
    """The file for Prometheus is a by-product: its failure is reported, the score is there, the exit status says so."""
    outcome = lab.compare("vmafx=window=0.32:openmetrics=/dev/full:log_path=log.json")
    outcome.failed("/dev/full", before_score=False)
    if outcome.scores:  # the failure is noticed when the file is opened, or when it is written
        check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames in the report")


@case
def ndjson_goes_to_a_descriptor(lab):
    command = lab.command(
        "-hide_banner -nostdin -nostats -y -i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-lavfi",
        "vmafx=window=0.32:log_fmt=ndjson:log_path=pipe\\\\:3",
        "-f null -",
    )
    with (lab.folder / "out.ndjson").open("wb") as out:
        done = subprocess.run(
            ["bash", "-c", 'exec 3>&1 1>/dev/null; exec "$@"', "bash", *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=lab.folder,
            timeout=100,
        )
    check_equal(done.returncode, 0, done.stderr.decode()[-300:])
    lines = lab.json_lines("out.ndjson")
    check_equal(sum("frameNum" in line for line in lines), FRAMES, "frames")
    check("pooled_metrics" in lines[-1], "last line")
    lab.compare("vmafx=log_fmt=ndjson:log_path=pipe\\\\:77").failed("pipe:77")
