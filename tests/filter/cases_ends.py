"""How streams end: in full, early, by an interrupt, by a change, by an error; and what is said and left then."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import time

from support import FPS, FRAMES, SIZE, Skip, case, check, check_equal


@case
def good_run_is_silent_at_loglevel_error(lab):
    for options in ("", "=metadata=1:log_path=log.xml:feature=name=psnr", "=pool=Mean"):
        for name in ("vmafx", "libvmaf"):
            outcome = lab.run(
                "-loglevel", "error", "-i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", name + options, "-f null -"
            )
            check_equal(outcome.succeeded().stderr, "", "output")


@case
def score_comes_last_and_once(lab):
    outcome = lab.compare("libvmaf")
    lines = [line for line in outcome.stderr.splitlines() if "libvmaf_0" in line]
    check_equal(lines[-1].split("VMAF score: ")[1], outcome.score(), "end of the last line")


def shown_on_a_terminal(lab, name):
    """What ffmpeg writes there, without colors."""
    ours, theirs = pty.openpty()
    command = lab.command("-hide_banner -nostdin -y -i", lab.clips.dist, "-i", lab.clips.ref, f"-lavfi {name} -f null -")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # at the end of the terminal
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    check_equal(process.returncode, 0, "exit status")
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


@case
def scores_begin_a_line_on_a_terminal(lab):
    """ffmpeg's progress ends with \\r there, and what comes next would be written over it. A pipe gets nothing more."""
    for name, first in (("libvmaf", "VMAF score: "), ("vmafx", "vmaf: mean ")):
        lines = shown_on_a_terminal(lab, name).split("\n")
        line = next(line for line in lines if first in line)
        check("\r" not in line.rstrip("\r"), f"written over another: {line!r}")
        check("VMAF score: " in "".join(lines[lines.index(line) :]), "the score is not there")
        piped = lab.compare(name).stderr
        check("\n\n" not in piped[piped.index(f"[Parsed_{name}") :], "an empty line", piped[-500:])


@case
def frames_v_scores_what_came_out(lab):
    for count in (1, 7, FRAMES - 1):
        outcome = lab.compare("vmafx=log_fmt=json:log_path=log.json", output=("-frames:v", count)).does_not_say(
            "doubtful"
        )
        score = outcome.score()
        report = lab.json("log.json")
        if lab.version() < (7, 0):  # later ones run ahead of their outputs
            check_equal(report["pairing"]["paired"], count, "pairs")
        check_equal(report["partial"], True, "partial")
        check(abs(report["pooled_metrics"]["vmaf"]["mean"] - float(score)) < 1e-6, score)


@case
def duration_scores_what_came_out(lab):
    outcome = lab.compare("vmafx=log_fmt=json:log_path=log.json", output=("-t", "0.4")).does_not_say("doubtful")
    outcome.score()
    check(10 <= lab.json("log.json")["pairing"]["paired"] <= 12, lab.json("log.json")["pairing"])
    outcome = lab.compare("vmafx=metadata=1,trim=end_frame=5").does_not_say("doubtful")
    outcome.score()


@case
def interrupt_leaves_a_partial_report(lab):
    """ffmpeg ends its inputs, at different frames; no pair must come of that. Decoders that hold frames back show it."""
    if lab.version() >= (7, 0):
        raise Skip("this ffmpeg ends its streams on an interrupt as at their end")
    if lab.run("-f lavfi -i", f"testsrc2=s={SIZE}:r={FPS}:d=6", "-c:v libx264 long.mp4").code:
        raise Skip("this ffmpeg has no encoder with B-frames")
    clip = ("-re -i", "long.mp4")
    for log_fmt in ("json", "ndjson"):
        process = lab.start(*clip, *clip, "-lavfi", f"vmafx=log_fmt={log_fmt}:log_path=log.{log_fmt}", "-f null -")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        text = process.communicate()[1].decode()
        check_equal(process.returncode, 255, "exit status")
        check("doubtful" not in text, text[-400:])
        report = lab.json("log.json") if log_fmt == "json" else lab.json_lines("log.ndjson")[-1]
        check_equal(report["partial"], True, "partial")
        check(3 < report["pairing"]["paired"] < 100, report["pairing"])
        check_equal(report["pairing"]["repeated_reference"], 0, "repeated reference frames")


@case
def killed_run_leaves_the_old_report(lab):
    (lab.folder / "log.json").write_text("{}")
    process = lab.start_slowly("vmafx=log_fmt=json:log_path=log.json")
    time.sleep(0.3)
    process.kill()
    process.communicate()
    check_equal((lab.folder / "log.json").read_text(), "{}", "report")


def two_sizes(lab):
    """A stream that changes its size half-way."""
    for name, size in (("a.ts", SIZE), ("b.ts", "96x54")):
        made = lab.run("-f lavfi -i", f"testsrc2=s={size}:r={FPS}:d=0.4", "-c:v mpeg4 -q:v 3 -f mpegts", name)
        if made.code:
            raise Skip("this ffmpeg makes no MPEG transport streams")
    (lab.folder / "two.ts").write_bytes((lab.folder / "a.ts").read_bytes() + (lab.folder / "b.ts").read_bytes())
    return lab.folder / "two.ts"


@case
def size_change_is_an_error(lab):
    clip = two_sizes(lab)
    message = "An input changed its size or format in mid-stream"
    silent = lab.version() < (7, 0)  # later ones free the first graph as they do at -frames:v, which gives a score
    for name in ("vmafx", "libvmaf"):
        lab.compare(f"{name}=log_fmt=json:log_path=log.json", dist=clip).failed(message, before_score=silent)
        check_equal(lab.json("log.json")["partial"], True, "partial")
        lab.compare(name, ref=clip).failed(message, before_score=silent)
        lab.compare(
            f"[0]split[a][b];[1]split[x][y];[a][x]{name}[o];[b][y]{name}", dist=clip, output=("-map [o]", "-f null -")
        ).failed(message, before_score=False)
        lab.compare(f"[0]scale={SIZE.replace('x', ':')}[d];[d][1]{name}", dist=clip).failed(
            message, before_score=silent
        )


@case
def size_change_without_a_new_graph(lab):
    clip = two_sizes(lab)
    keep = ("-reinit_filter", "0")
    lab.compare("vmafx", dist=clip, before=keep).failed("The main input changed in mid-stream from 192x108")
    outcome = lab.compare(f"[0]scale={SIZE.replace('x', ':')}[d];[d][1]vmafx", dist=clip, before=keep)
    check(0 < float(outcome.score()) < 100, outcome.scores)


@case
def errors_after_the_last_frame_are_exit_statuses(lab):
    """The report cannot be written: known only when all is over."""
    full = "log_path=/dev/full"
    lab.compare(f"vmafx={full}", dist=lab.clips.ref, ref=lab.clips.dist).failed("No space left")
    lab.compare(f"vmafx=metadata=1:{full}").failed("No space left")
    lab.compare(f"[0]trim=end_frame=9[d];[d][1]vmafx={full}").failed("No space left")
    lab.compare(f"[1]trim=end_frame=9[r];[0][r]vmafx=shortest=1:{full}").failed("No space left")


@case
def three_filters_in_one_process(lab):
    graph = (
        "[0]split=3[a][b][c];[1]split=3[x][y][z];[a][x]vmafx=log_fmt=json:log_path=1.json[o];[b][y]vmafx=n_threads=1:log_fmt=json:log_path=2.json[p];"
        "[c][z]libvmaf=metadata=1:log_fmt=json:log_path=3.json[q]"
    )
    outcome = lab.run(
        "-i", lab.clips.dist, "-i", lab.clips.ref, "-filter_complex", graph, "-map [o] -map [p] -map [q]", "-f null -"
    )
    outcome.succeeded()
    check_equal(outcome.scores, lab.compare("vmafx").scores * 3, "scores")
    frames = [lab.json(f"{i}.json")["frames"] for i in (1, 2, 3)]
    check(frames[0] == frames[1] == frames[2], "the reports differ")


@case
def filters_one_after_the_other(lab):
    """main goes through: it can be scored twice in a row, and encoded."""
    outcome = lab.run(
        "-i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-filter_complex",
        "[1]split[x][y];[0][x]vmafx[a];[a][y]vmafx=metadata=1",
        "-c:v ffv1 out.mkv",
    )
    outcome.succeeded()
    check_equal(outcome.scores, lab.compare("vmafx").scores * 2, "scores")
    check_equal(
        lab.compare("vmafx", dist=lab.folder / "out.mkv").scores, outcome.scores[:1], "score of what was encoded"
    )


@case
def error_elsewhere_leaves_a_partial_report(lab):
    """The muxer fails; the pairs scored so far are kept. (Since 7.0 ffmpeg then ends its inputs as if they had ended.)"""
    outcome = lab.run(
        "-stream_loop 200 -i",
        lab.clips.dist,
        "-stream_loop 200 -i",
        lab.clips.ref,
        "-lavfi",
        "vmafx=log_fmt=json:log_path=log.json",
        "-c:v rawvideo -f rawvideo /dev/full",
    )
    outcome.says("No space left on device")
    report = lab.json("log.json")
    check(0 < report["pairing"]["paired"] < 200 * FRAMES, report["pairing"])
    if lab.version() < (7, 0):
        check_equal(report["partial"], True, "partial")


@case
def many_small_runs(lab):
    """Starting and stopping is not left to chance."""
    graph = "[0]trim=end_frame=3[d];[1]trim=end_frame=3[r];[d][r]vmafx=n_threads=3"
    scores = {lab.compare(graph).score() for _ in range(10)}
    check_equal(len(scores), 1, f"scores {scores}")
