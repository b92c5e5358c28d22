"""Ends of streams: complete, early, by an interrupt, a change or an error; the messages and reports at each."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

from support import FPS, FRAMES, SIZE, Lab, Outcome, Skip, case, check, check_equal, compiled, compiled_program


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
    """Returns ffmpeg's output on a terminal, without colors."""
    ours, theirs = pty.openpty()
    command = lab.command(
        "-hide_banner -nostdin -y -i", lab.clips.dist, "-i", lab.clips.ref, f"-lavfi {name} -f null -"
    )
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # raised at the end of the terminal
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    check_equal(process.returncode, 0, "exit status")
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


@case
def scores_begin_a_line_on_a_terminal(lab):
    r"""ffmpeg's progress ends with \r on a terminal, and the next text would overwrite it. A pipe gets nothing more."""
    for name, first in (("libvmaf", "VMAF score: "), ("vmafx", "vmaf: mean ")):
        lines = shown_on_a_terminal(lab, name).split("\n")
        line = next(line for line in lines if first in line)
        check("\r" not in line.rstrip("\r"), f"written over another: {line!r}")
        check("VMAF score: " in "".join(lines[lines.index(line) :]), "the score is not there")
        piped = lab.compare(name).stderr
        check("\n\n" not in piped[piped.index(f"[Parsed_{name}") :], "an empty line", piped[-500:])


PSNR = "vmafx=model='':feature=name=psnr:log_fmt=json:log_path=log.json"


def reordered_clips(lab):
    """Makes both clips with B-frames: frames that a decoder gives when it is flushed need not be the next ones."""
    lab.run("-i", lab.clips.ref, "-c:v libx264 -crf 10 -bf 3 ref.mp4")
    lab.run("-i", lab.clips.ref, "-vf hflip -c:v libx264 -crf 30 -bf 2 dist.mp4")
    if not (lab.folder / "ref.mp4").exists():
        raise Skip("this ffmpeg has no encoder with B-frames")
    lab.compare(PSNR, "dist.mp4", "ref.mp4").succeeded()
    return lab.json("log.json")["frames"]


def cut(lab, wanted, threads, *output):
    """Returns how many pairs were scored before the end; each is scored as in the whole."""
    outcome = lab.run(threads, "-i dist.mp4", threads, "-i ref.mp4", "-lavfi", PSNR, *output, "-f null -").succeeded()
    report = lab.json("log.json")
    count = report["pairing"]["paired"]
    check_equal(report["frames"], wanted[:count], f"frames with {output} and {threads}")
    outcome.does_not_say("doubtful")
    if count < FRAMES:  # a run that scored all frames may have seen the end
        check_equal(report.get("partial"), True, "partial")
        outcome.says(f"Stopped before the end of the inputs: the scores are of the {count} pairs up to there.")
    return count


@case
def frames_v_scores_what_came_out(lab):
    wanted = reordered_clips(lab)
    ahead = (
        1 if lab.version() >= (8, 0) else 0
    )  # these releases ask for one more frame before they notice that they have enough
    for threads in ("-threads 1", "-threads 3"):
        for frames in (1, 2, 3, 5, 7, 8, 13, FRAMES - 1):
            count = cut(lab, wanted, threads, "-frames:v", frames)
            check(frames <= count <= frames + ahead, f"{count} pairs with -frames:v {frames} and {threads}")


@case
def duration_scores_one_pair_more(lab):
    """The trim filter that -t puts behind the filter sees the end at the frame after it."""
    wanted = reordered_clips(lab)
    for threads in ("-threads 1", "-threads 3"):
        for frames in (1, 3, 7, 12):
            check_equal(
                cut(lab, wanted, threads, "-t", f"{frames / FPS:.2f}"), frames + 1, f"pairs with -t of {frames} frames"
            )


@case
def trim_behind_the_filter(lab):
    outcome = lab.compare("vmafx=metadata=1,trim=end_frame=5").does_not_say("doubtful")
    outcome.score()


@case
def several_outputs_get_what_they_ask_for(lab):
    wanted = reordered_clips(lab)
    ahead = 1 if lab.version() >= (8, 0) else 0
    split = "[0]split[a][b];[1]split[x][y];[a][x]{0}[p];[b][y]{0}[q]".format(PSNR)
    for first, second in ((5, 9), (9, 9), (9, 5)):
        outcome = lab.run(
            "-i dist.mp4 -i ref.mp4 -filter_complex",
            PSNR + ",split[p][q]",
            "-map [p] -frames:v",
            first,
            "-f null - -map [q] -frames:v",
            second,
            "-f null -",
        )
        outcome.succeeded().does_not_say("doubtful")
        count = lab.json("log.json")["pairing"]["paired"]
        check(9 <= count <= 9 + ahead, f"{count} pairs")
        check_equal(lab.json("log.json")["frames"], wanted[:count], "frames")
        outcome = lab.run(
            "-i dist.mp4 -i ref.mp4 -filter_complex",
            split,
            "-map [p] -frames:v",
            first,
            "-f null - -map [q] -frames:v",
            second,
            "-f null -",
        )
        outcome.succeeded().does_not_say("doubtful")
        check_equal(outcome.stderr.count("Stopped before the end of the inputs"), 2, "filters that say so")


@case
def no_pair_before_the_end_is_said(lab):
    """The filter learns only when it is freed that the output has enough: it logs an error then, without an exit
    status.
    """
    outcome = lab.run(
        "-i", lab.clips.dist, "-itsoffset 10 -i", lab.clips.ref, "-lavfi vmafx=log_path=log.xml -frames:v 5 -f null -"
    )
    outcome.says("No frames were scored: ").says("setpts=PTS-STARTPTS before each input")
    check_equal((outcome.scores, (lab.folder / "log.xml").exists()), ([], False), "scores and report")
    outcome = lab.run("-i", lab.clips.dist, "-itsoffset 10 -i", lab.clips.ref, "-lavfi vmafx=shortest=1 -f null -")
    outcome.failed("No frames were scored: ")


@case
def interrupt_leaves_a_partial_report(lab):
    """ffmpeg ends its inputs at different frames; these must not become a pair. Decoders that hold frames back show it
    up to 6.1; later ones end their streams as at their end.
    """
    tells = lab.version() < (7, 0)
    if lab.run("-f lavfi -i", f"testsrc2=s={SIZE}:r={FPS}:d=6", "-c:v libx264 long.mp4").code:
        raise Skip("this ffmpeg has no encoder with B-frames")
    clip = ("-re -i", "long.mp4")
    for log_fmt in ("json", "ndjson"):
        process = lab.start(*clip, *clip, "-lavfi", f"vmafx=log_fmt={log_fmt}:log_path=log.{log_fmt}", "-f null -")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        text = process.communicate()[1].decode()
        check_equal(process.returncode, 255, "exit status")
        report = lab.json("log.json") if log_fmt == "json" else lab.json_lines("log.ndjson")[-1]
        check(3 < report["pairing"]["paired"] < 100, report["pairing"])
        if tells:
            check_equal(report["partial"], True, "partial")
            check_equal(report["pairing"]["repeated_reference"], 0, "repeated reference frames")
            check("doubtful" not in text, text[-400:])
            check_equal(
                text.count("VMAF score: "), text.count("Stopped before the end of the inputs"), "scores of a part"
            )


@case
def killed_run_leaves_the_old_report(lab):
    old = "Frame,old,\n"
    (lab.folder / "log.json").write_text(old)
    process = lab.start_slowly("vmafx=log_fmt=json:log_path=log.json")
    time.sleep(0.3)
    process.kill()
    process.communicate()
    check_equal((lab.folder / "log.json").read_text(), old, "report")


def with_short_files(lab):
    """Returns the same ffmpeg with files of at most 512 bytes: a report fails when it is written, at the very end.

    The signal that tells it, SIGXFSZ, ends a program by default.
    """
    path = lab.folder / "ffmpeg"
    path.write_text(f"#!/bin/sh\nulimit -f 1\nexec '{lab.ffmpeg}' \"$@\"\n")
    path.chmod(0o755)
    return Lab(path, lab.folder, lab.clips)


@case
def errors_after_the_last_frame_are_exit_statuses(lab):
    """A report that cannot be written is noticed when everything is over and the scores are out."""
    lab = with_short_files(lab)
    for report in ("log_path=log.xml", "log_path=log.json:log_fmt=json:metadata=1"):
        for graph in (
            "vmafx={0}",
            "[0]trim=end_frame=9[d];[d][1]vmafx={0}",
            "[1]trim=end_frame=9[r];[0][r]vmafx=shortest=1:{0}",
        ):
            failed_after_the_score(lab.compare(graph.format(report)))
        failed_after_the_score(lab.compare(f"vmafx={report}", dist=lab.clips.ref, ref=lab.clips.dist))


def failed_after_the_score(outcome):
    outcome.failed("File too large", before_score=False)
    check_equal(len(outcome.scores), 1, "score lines")


@case
def errors_after_enough_are_said(lab):
    """An error after the output has enough cannot become an exit status, so it is logged."""
    outcome = with_short_files(lab).compare("vmafx=log_path=log.xml", output=("-frames:v", 5)).succeeded()
    outcome.says("report 'log.xml' (the path as received): File too large")
    check_equal(len(outcome.scores), 1, "score lines")


@case
def errors_of_each_of_several_filters_are_exit_statuses(lab):
    lab = with_short_files(lab)
    split = "[0]split[a][b];[1]split[x][y];[a][x]vmafx{0}[p];[b][y]vmafx{1}[q]"
    report = "=log_path=log.xml"
    for graph in (split.format(report, ""), split.format("", report)):
        for maps in (
            "-map [p] -f null - -map [q] -f null -",
            "-map [q] -f null - -map [p] -f null -",
            "-map [p] -map [q] -f null -",
        ):
            outcome = lab.run("-i", lab.clips.dist, "-i", lab.clips.ref, "-filter_complex", graph, maps)
            outcome.failed("File too large", before_score=False)


def with_few_threads(lab, threads, graph):
    library = compiled(lab, "refuse_threads", "-shared", "-fPIC", "-ldl")
    return lab.compare(graph, env={"LD_PRELOAD": str(library), "REFUSE_THREADS": str(threads)})


@case
def threads_that_cannot_start_are_no_endless_wait(lab):
    """The system's EAGAIN would make ffmpeg ask again for ever."""
    wanted = lab.compare("vmafx").score()
    for name in ("vmafx", "libvmaf"):
        outcome = with_few_threads(lab, 0, f"{name}=n_threads=3").failed("cannot start a worker thread")
        outcome.says("Resource temporarily unavailable").says("the system or a limit allows no more threads")
    few = with_few_threads(
        lab, 2, "vmafx=n_threads=3"
    )  # one thread looks for a GPU, and has ended when the other starts
    check_equal(few.score(), wanted, "score with one thread of three")


@case
def three_filters_in_one_process(lab):
    graph = (
        "[0]split=3[a][b][c];[1]split=3[x][y][z];[a][x]vmafx=log_fmt=json:log_path=1.json[o];"
        "[b][y]vmafx=n_threads=1:log_fmt=json:log_path=2.json[p];"
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
    """The main input goes through: it can be scored twice in a row, and encoded."""
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
    """The muxer fails; the pairs scored so far are kept. (Since 7.0 ffmpeg then ends its inputs as if at their end.)"""
    outcome = lab.run(
        "-stream_loop 200 -i",
        lab.clips.dist,
        "-stream_loop 200 -i",
        lab.clips.ref,
        "-lavfi",
        "vmafx=log_fmt=json:log_path=log.json",
        "-c:v rawvideo -f rawvideo /dev/full",
    )
    outcome.failed("No space left on device", before_score=False)
    report = lab.json("log.json")
    check(0 < report["pairing"]["paired"] < 200 * FRAMES, report["pairing"])
    if lab.version() < (7, 0):
        check_equal(report["partial"], True, "partial")


FAILS = "fieldhint=hint=hints:mode=relative"  # fails at the first frame that has no line in its file


def run_graph(lab, graph):
    """Runs a program that goes on after an error of a filter before ours."""
    library = Path(lab.ffmpeg).parent.parent / "lib/vmafx"
    if not library.exists():
        raise Skip("this ffmpeg has no libavfilter beside it")
    program = compiled_program(lab, "failing_graph")
    done = subprocess.run(
        [program, graph],
        cwd=lab.folder,
        capture_output=True,
        timeout=60,
        env={**os.environ, "LD_LIBRARY_PATH": str(library)},
    )
    return Outcome([program, graph], done.returncode, done.stderr.decode(), 0)


SOURCE = f"testsrc2=s={SIZE}:r={FPS}:d=0.8"


def run_failing(lab, fails=""):
    """Runs a graph in which the input `fails` ends early. Its sources come first, so that our filter waits for it when
    it fails.
    """
    sides = {"main": f"{SOURCE},boxblur=3", "reference": SOURCE}
    order = sorted(sides, key=lambda side: side != fails)
    chains = ";".join(f"{sides[side]}{',' + FAILS if side == fails else ''}[{side}]" for side in order)
    return run_graph(lab, f"{chains};[main][reference]vmafx=log_path=log.json,buffersink")


@case
def an_input_that_ends_with_an_error_is_not_whole(lab):
    """The score is that of a part, which report and log say, and the run fails."""
    (lab.folder / "hints").write_text("0,0\n" * 7)
    whole = run_failing(lab).succeeded()
    check("partial" not in lab.json("log.json"), "the whole is partial")
    for name in ("main", "reference"):
        outcome = run_failing(lab, name)
        outcome.failed(f"The {name} input ended with an error after 7 frames: Invalid data found", before_score=False)
        check_equal(
            outcome.stderr.count("Invalid data found when processing input. The scores are of the part"), 1, "messages"
        )
        report = lab.json("log.json")
        check_equal((report["partial"], len(report["frames"])), (True, 7), "partial, frames")
        check(len(outcome.scores) == 1 and outcome.scores != whole.scores, outcome.scores)
        check(outcome.stderr.index("ended with an error") < outcome.stderr.index("VMAF score"), "the score comes first")


@case
def of_several_encodes_the_one_that_ends_with_an_error_is_partial(lab):
    (lab.folder / "hints").write_text("0,0\n" * 7)
    scorer = "[d0][d1][r]vmafx=encodes=2:log_path=log%d.json[o0][o1];[o0]buffersink;[o1]buffersink"
    graph = f"{SOURCE},{FAILS}[d0];{SOURCE},boxblur=2[d1];{SOURCE}[r];{scorer}"
    outcome = run_graph(lab, graph)
    outcome.failed("The main0 input ended with an error after 7 frames", before_score=False)
    reports = [lab.json(f"log{i}.json") for i in (0, 1)]
    check_equal([report.get("partial", False) for report in reports], [True, False], "partial")


def broken_clip(lab):
    """Makes a stream with damaged packets, from which the decoder makes pictures."""
    if lab.run("-i", lab.clips.ref, "-c:v libx264 -crf 20 -bf 0 -g 5 whole.mkv").code:
        raise Skip("this ffmpeg has no encoder whose decoder says what is damaged")
    lab.run("-i whole.mkv -c copy -bsf:v noise=amount=400 broken.mkv").succeeded()
    return lab.folder / "broken.mkv"


@case
def corrupt_frames_are_counted(lab):
    """Corrupt frames are counted in the log, the report and the frames' metadata, for each side."""
    broken = broken_clip(lab)
    for clips, key, word in (
        ({"dist": broken}, "corrupt_distorted", "main"),
        ({"ref": broken}, "corrupt_reference", "reference"),
    ):
        graph = "vmafx=metadata=1:log_path=log.json,metadata=print:file=meta.txt"
        outcome = lab.compare(graph, **clips).succeeded()
        pairing = lab.json("log.json")["pairing"]
        check(0 < pairing[key] <= pairing["paired"], pairing)
        check_equal(
            sum(pairing[other] for other in ("corrupt_distorted", "corrupt_reference")),
            pairing[key],
            "on the other side",
        )
        outcome.says(f"frames were decoded with errors: of {pairing['paired']} pairs").says(
            f"is corrupt in {pairing['corrupt_distorted']} "
        )
        marks = re.findall(r"^lavfi.vmafx.corrupt=(.*)$", (lab.folder / "meta.txt").read_text(), re.M)
        check_equal(marks, [word] * pairing[key], "metadata")
    lab.compare("vmafx=log_path=log.json").does_not_say("decoded with errors")
    pairing = lab.json("log.json")["pairing"]
    check_equal((pairing["corrupt_distorted"], pairing["corrupt_reference"]), (0, 0), "whole clips")


@case
def many_small_runs(lab):
    """Many small runs show races of starting and stopping."""
    graph = "[0]trim=end_frame=3[d];[1]trim=end_frame=3[r];[d][r]vmafx=n_threads=3"
    scores = {lab.compare(graph).score() for _ in range(10)}
    check_equal(len(scores), 1, f"scores {scores}")
