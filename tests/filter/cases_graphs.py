"""Graphs that ffmpeg rebuilds in mid-stream, and several graphs in one process."""

import fcntl
import os
import subprocess
import threading
import time
from pathlib import Path

from support import FPS, SIZE, Outcome, Skip, case, check, check_equal, compiled_program

CHANGED = "An input changed its size or format in mid-stream"
STOPPED = "Stopped before the end of the inputs: the scores are of the "
SCALE = f"[0]scale={SIZE.replace('x', ':')}[d];[d][1]"
KEEP = ("-reinit_filter", "0")


def two_sizes(lab):
    """Makes a stream that changes its size half-way."""
    for name, size in (("a.ts", SIZE), ("b.ts", "96x54")):
        made = lab.run("-f lavfi -i", f"testsrc2=s={size}:r={FPS}:d=0.4", "-c:v mpeg4 -q:v 3 -f mpegts", name)
        if made.code:
            raise Skip("this ffmpeg makes no MPEG transport streams")
    (lab.folder / "two.ts").write_bytes((lab.folder / "a.ts").read_bytes() + (lab.folder / "b.ts").read_bytes())
    return lab.folder / "two.ts"


def is_refused(lab, outcome, outputs=1):
    """Checks that a part gets no score without being called one."""
    outcome.failed(CHANGED, before_score=False)
    check_equal(outcome.stderr.count(STOPPED), len(outcome.scores), "score lines that say what they are of")
    if outputs == 1 and lab.version() < (
        8,
        0,
    ):  # later releases free the first graph as at -frames:v, which gives a score
        check_equal(outcome.scores, [], "scores of a part")


def threads_came_first(lab, outcome):
    """Since 7.0 the change may come before ffmpeg has built the graph, which then begins with the second size."""
    return lab.version() >= (7, 0) and CHANGED not in outcome.stderr


@case
def size_change_is_an_error(lab):
    clip = two_sizes(lab)
    both = "[0]split[a][b];[1]split[x][y];[a][x]{0}[o];[b][y]{0}"
    for name in ("vmafx", "libvmaf"):
        for options in ({"dist": clip}, {"ref": clip}):
            for graph, output in (
                (f"{name}=log_fmt=json:log_path=log.json", ()),
                (both.format(name), ("-map [o]", "-f null -")),
            ):
                outcome = lab.compare(graph, output=output, **options)
                if threads_came_first(lab, outcome):
                    outcome.failed("input width must match")
                    continue
                is_refused(lab, outcome, outputs=2 if output else 1)
                if not output:
                    check_equal(lab.json("log.json")["partial"], True, "partial")


@case
def size_change_before_a_scale_filter_is_an_error(lab):
    clip = two_sizes(lab)
    whole = lab.compare(SCALE + "vmafx", dist=clip, before=KEEP).score()
    for name in ("vmafx", "libvmaf"):
        outcome = lab.compare(f"{SCALE}{name}=log_fmt=json:log_path=log.json", dist=clip)
        if threads_came_first(lab, outcome):  # the scale filter makes both sizes equal: this is the score of the whole
            check_equal(outcome.does_not_say(STOPPED).score(), whole, "score")
            check_equal(
                (lab.json("log.json")["pairing"]["paired"], "partial" in lab.json("log.json")), (20, False), "pairs"
            )
        else:
            is_refused(lab, outcome)


@case
def size_change_without_a_new_graph(lab):
    clip = two_sizes(lab)
    outcome = lab.compare("vmafx", dist=clip, before=KEEP)
    early = (
        lab.version() >= (7, 0) and "input width must match" in outcome.stderr
    )  # here the graph began with the second size
    outcome.failed("input width must match" if early else "The main input changed in mid-stream from 192x108")
    outcome = lab.compare(SCALE + "vmafx", dist=clip, before=KEEP)
    check(0 < float(outcome.score()) < 100, outcome.scores)


@case
def size_change_behind_filters_that_start_anew(lab):
    """In the new graph, setpts counts from zero again and fps holds a frame back."""
    clip = two_sizes(lab)
    for prepare in ("setpts=PTS-STARTPTS", f"fps={FPS},setpts=PTS-STARTPTS,settb=AVTB"):
        graph = f"[0]scale={SIZE.replace('x', ':')},{prepare}[d];[1]{prepare}[r];[d][r]vmafx"
        outcome = lab.compare(graph, dist=clip)
        if threads_came_first(lab, outcome):
            whole = lab.compare(graph, dist=clip, before=KEEP).score()
            check_equal(outcome.does_not_say(STOPPED).score(), whole, "score")
        else:
            is_refused(lab, outcome)


class SlowReader:
    """A pipe that takes little, and is emptied only after some seconds: whoever writes a report to it closes slowly."""

    def __init__(self, path, seconds):
        os.mkfifo(path)
        self.pipe = os.open(path, os.O_RDWR)
        fcntl.fcntl(self.pipe, 1031, 4096)  # F_SETPIPE_SZ
        threading.Thread(target=self.read, args=(seconds,), daemon=True).start()

    def read(self, seconds):
        while not self.waiting():
            time.sleep(0.01)
        time.sleep(seconds)
        while os.read(self.pipe, 65536):
            pass

    def waiting(self):
        """Returns whether somebody has begun to write."""
        queued = fcntl.ioctl(self.pipe, 0x541B, b"\0" * 4)  # FIONREAD
        return queued != b"\0" * 4


@case
def size_change_is_noticed_after_a_long_close(lab):
    clip = two_sizes(lab)
    whole = lab.compare(SCALE + "vmafx", dist=clip, before=KEEP).score()
    SlowReader(lab.folder / "pipe", 2.5)
    outcome = lab.compare(SCALE + "vmafx=log_fmt=json:log_path=pipe", dist=clip)
    check(outcome.seconds > 2.5, f"took {outcome.seconds:.1f} s: the first graph did not close slowly")
    if threads_came_first(lab, outcome):
        check_equal(outcome.does_not_say(STOPPED).score(), whole, "score")
    else:
        is_refused(lab, outcome)


@case
def graphs_of_one_command_are_strangers(lab):
    """One graph ends early; another begins later, because its decoder takes longer."""
    big = "testsrc2=s=1280x720:r=25:d=0.4"
    lab.run("-f lavfi -i", big, "-c:v mpeg4 -q:v 2 big.mp4").succeeded()
    small = ("-i", lab.clips.dist, "-i", lab.clips.ref)
    graphs = ("-filter_complex", "[0][1]vmafx[a]", "-filter_complex", "[2][3]vmafx[b]")
    for _ in range(5):
        outcome = lab.run(
            *small,
            "-i",
            "big.mp4",
            "-i",
            "big.mp4",
            *graphs,
            "-map [a]",
            "-frames:v 1 -f null -",
            "-map [b]",
            "-f null -",
        )
        outcome.succeeded().does_not_say(CHANGED)
        check_equal(len(outcome.scores), 2, "scores")


def graphs(lab, *steps, options=""):
    """Builds graphs.c."""
    library = Path(lab.ffmpeg).parent.parent / "lib/vmafx"
    if not library.exists():
        raise Skip("this ffmpeg has no libavfilter beside it")
    command = [str(compiled_program(lab, "graphs")), f"vmafx=model='':feature=name=psnr:log_fmt=json{options}", *steps]
    done = subprocess.run(
        command,
        stderr=subprocess.PIPE,
        cwd=lab.folder,
        env={**os.environ, "LD_LIBRARY_PATH": str(library)},
        timeout=100,
    )
    return Outcome(command, done.returncode, done.stderr.decode(errors="replace"), 0)


@case
def graphs_of_other_programs_are_strangers(lab):
    """A graph is freed early, then another follows, with or without that size, with times that go on or not."""
    for size in ("96x64", "64x64"):
        for first in (0, 5, 7):
            outcome = graphs(
                lab, "own:64x64", "frames:0:5", f"own:{size}", f"frames:{first}:5", "end", options=":log_path=log.json"
            )
            outcome.succeeded().does_not_say(CHANGED)
            check_equal(lab.json("log.json")["pairing"]["paired"], 5, "pairs")
            check("partial" not in lab.json("log.json"), "the second report is called partial")


@case
def another_run_in_the_same_process_is_a_stranger(lab):
    """Graphs have the same names as before, but the inputs begin again."""
    outcome = graphs(lab, "ffmpeg:64x64", "frames:0:5", "ffmpeg:96x64", "frames:0:9", "end")
    outcome.succeeded().does_not_say(CHANGED)


@case
def a_graph_that_goes_on_is_refused(lab):
    for between in ((), ("ffmpeg:96x64",), ("own:96x64", "frames:0:5", "end")):
        outcome = graphs(lab, "ffmpeg:64x64", "frames:0:5", *between, "ffmpeg:96x64", "frames:5:5", "end")
        outcome.failed(CHANGED).says("frames:5:5 failed: Invalid argument")
