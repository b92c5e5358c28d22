"""The name xpsnr in releases of FFmpeg that have no such filter: it writes what FFmpeg's own filter writes.

xpsnr.json holds the output of FFmpeg 8.0.1, and for odd sizes that of 7.1.5. `cases_xpsnr.py FFMPEG >xpsnr.json`
records it anew. With an FFmpeg that has the filter, these cases test the recordings.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from cases_graphs import CHANGED, threads_came_first, two_sizes
from support import GOLDEN, PREFIX, Lab, Skip, case, check, check_equal, compiled, slow_case

RECORDED = Path(__file__).with_name("xpsnr.json")
LINE = re.compile(PREFIX.replace("libvmaf", "xpsnr") + r"(XPSNR  .*)$", re.M)
FRAMES = 5

# pixel format: (as make_clip writes it, width, height, frames per second, distortion, how many frames one of
# make_clip's is). Wide rows without padding: FFmpeg's filter reads others wrongly above 8 bits.
FORMATS = {
    "yuv420p": ("8 420", 192, 108, 25, 1, 1),
    "yuv422p": ("8 422", 704, 480, 30, 2, 1),
    "yuv444p": ("8 444", 192, 108, 60, 3, 1),
    "yuv420p10le": ("10 420", 256, 144, 50, 1, 1),
    "yuv444p12le": ("12 444", 192, 108, 24, 2, 1),
    "gray": ("8 444", 192, 108, 25, 1, 3),
    "gray10le": ("10 444", 192, 108, 25, 1, 3),
    "gbrp": ("8 444", 192, 108, 25, 1, 1),
    "gbrp10le": ("10 444", 192, 108, 25, 2, 1),
}


def has_filter(lab):
    listing = subprocess.run(
        lab.command("-hide_banner -filters"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout.decode()
    return re.search(r"^ \S+ xpsnr ", listing, re.M) is not None


def needs_xpsnr(lab):
    if not has_filter(lab):
        raise Skip("this ffmpeg has no filter xpsnr")


def needs_ours(lab):
    needs_xpsnr(lab)
    if not is_ours(lab):
        raise Skip("FFmpeg has its own filter xpsnr")


def is_ours(lab):
    return lab.version() < (7, 1)


def clip_inputs(lab, pix_fmt, frames=(FRAMES, FRAMES), fps=None, kind=None, before="", size=None):
    """Returns ffmpeg's arguments for the two raw files, the original first; `before` is options for both."""
    made, width, height, rate, distortion, parts = FORMATS[pix_fmt]
    width, height = size or (width, height)
    paths = [lab.folder / f"{name}.yuv" for name in ("ref", "dist")]
    make_clip = compiled(lab, "make_clip", "-O2", folder=GOLDEN)
    subprocess.run(
        [
            make_clip,
            str(width),
            str(height),
            str(FRAMES),
            *made.split(),
            "5",
            str(distortion if kind is None else kind),
            *paths,
        ],
        check=True,
    )
    rates = fps or (rate, rate)
    form = f"{before}-f rawvideo -pix_fmt {pix_fmt} -s {width}x{height}"
    return [
        argument
        for path, n, r in zip(paths, frames, rates)
        for argument in (f"{form} -r {r} -t {n * parts / r:.9f} -i", path)
    ]


def written(lab, inputs, options=""):
    """Runs the filter and returns its log line, statistics file, standard output and metadata."""
    graph = f"xpsnr=stats_file=stats.log{options},metadata=print:file=meta.log"
    outcome = lab.run(*inputs, "-lavfi", graph, "-f null -").succeeded()
    lines = LINE.findall(outcome.stderr)
    check_equal(len(lines), 1, f"lines in {outcome.tail()}")
    to_stdout = lab.command("-v error -nostdin", *inputs, "-lavfi", f"xpsnr=f=-{options}", "-f null -")
    return {
        "log": lines[0],
        "stats": (lab.folder / "stats.log").read_text(),
        "stdout": subprocess.run(to_stdout, stdout=subprocess.PIPE, cwd=lab.folder, check=True).stdout.decode(),
        "metadata": re.findall(r"^lavfi\.xpsnr\.(xpsnr.*)$", (lab.folder / "meta.log").read_text(), re.M),
    }


def recordings(lab):
    """Returns {name: what is written}."""
    for pix_fmt in FORMATS:
        yield pix_fmt, written(lab, clip_inputs(lab, pix_fmt))
    yield "odd sizes", written(lab, clip_inputs(lab, "yuv420p", size=(353, 241)))
    yield "equal pictures", written(lab, clip_inputs(lab, "yuv420p", kind=0))
    for options in ("", ":shortest=1", ":eof_action=endall", ":repeatlast=0", ":eof_action=pass"):
        yield f"shorter encode{options}", written(lab, clip_inputs(lab, "yuv420p", frames=(5, 3)), options)
        yield f"shorter original{options}", written(lab, clip_inputs(lab, "yuv420p", frames=(3, 5)), options)
    yield "other frame rates", written(lab, clip_inputs(lab, "yuv420p", fps=(25, 50)))
    yield "other frame rates, the encode's is lower", written(lab, clip_inputs(lab, "yuv420p", fps=(50, 25)))


def names_of_planes(text):
    """FFmpeg's lines list the values of RGB in the order of planes, G, B, R, under r, g, b. Metadata do not."""
    value = r"(?P<{0}>(?:XPSNR )?){0}: (?P<{0}_value>\S+)"
    pair = re.compile("  ".join(value.format(name) for name in "rgb"))
    return pair.sub(r"\g<r>r: \g<b_value>  \g<g>g: \g<r_value>  \g<b>b: \g<g_value>", text)


@case
@slow_case
def xpsnr_writes_what_ffmpegs_filter_writes(lab):
    needs_xpsnr(lab)
    recorded = json.loads(RECORDED.read_text())
    got = dict(recordings(lab))
    check_equal(sorted(got), sorted(recorded), "recordings")
    for name, wanted in recorded.items():
        if is_ours(lab) and name.startswith("gbr"):
            check("r: " in wanted["log"] and names_of_planes(wanted["log"]) != wanted["log"], wanted["log"])
            wanted = {**wanted, "log": names_of_planes(wanted["log"]), "stats": names_of_planes(wanted["stats"])}
            wanted["stdout"] = (
                names_of_planes(wanted["stdout"].rsplit("  r: ")[0]) + "  " + re.search(r"r: \S+", wanted["log"])[0]
            )
        for part in wanted:
            check_equal(got[name][part], wanted[part], f"{name}: {part}")


@case
def xpsnr_takes_formats_of_one_meaning_as_they_are(lab):
    """Conversions are logged; the frames of the first input decide."""
    needs_ours(lab)
    inputs = clip_inputs(lab, "yuv420p")
    wanted = json.loads(RECORDED.read_text())["yuv420p"]["log"]

    def line(graph):
        outcome = lab.run(*inputs, "-lavfi", graph, "-f null -").succeeded()
        return outcome, LINE.findall(outcome.stderr)

    outcome, lines = line("[0]format=nv12[a];[1]copy[b];[a][b]xpsnr")
    check_equal(lines, [wanted], "of nv12")
    outcome.does_not_say("converted")
    outcome, lines = line("[1]format=yuv420p10le[b];[0][b]xpsnr")
    check_equal(len(lines), 1, "lines")
    outcome.says("The reference input is converted from yuv420p10le to yuv420p before it is scored.")
    _, lines = line("color=c=red:s=64x64:d=0.1[a];color=c=blue:s=64x64:d=0.1[b];[a][b]xpsnr")
    check(len(lines) == 1 and lines[0].startswith("XPSNR  y: "), f"sources that have a choice: {lines}")
    outcome, lines = line("[0]format=yuv444p[a];[1]format=gbrp[b];[a][b]xpsnr")
    outcome.says("The reference input is converted from gbrp to yuv444p before it is scored.")


@case
def xpsnr_errors_are_one_line(lab):
    needs_ours(lab)
    inputs = clip_inputs(lab, "yuv420p")
    for graph, message in (
        ("[1]scale=96:54[b];[0][b]xpsnr", "input width must match"),
        (
            "xpsnr=stats_file=/nonexistent/stats.log",
            "Could not open statistics file /nonexistent/stats.log: No such file",
        ),
        ("xpsnr=backend=fast", "there is no backend 'fast'"),
        ("xpsnr=stats_file=/dev/full", "Could not write statistics file /dev/full: No space left"),
    ):
        outcome = lab.run(*inputs, "-lavfi", graph, "-f null -").failed(message)
        check_equal(outcome.stderr.count(message), 1, message)
        check_equal(LINE.findall(outcome.stderr), [], f"lines in spite of: {message}")
    for option in ("model=", "log_path=x.json", "n_subsample=2", "encodes=2", "range=0-2", "metadata=1"):
        lab.run(*inputs, "-lavfi", f"xpsnr={option}", "-f null -").failed("Option not found")


@case
def xpsnr_of_what_was_wanted(lab):
    """-frames:v ends the stream: statistics and the line cover the same pairs, also those in flight."""
    needs_ours(lab)
    inputs = clip_inputs(lab, "yuv420p", frames=(1000, 1000), before="-stream_loop -1 ")
    outcome = lab.run(*inputs, "-lavfi", "xpsnr=stats_file=stats.log", "-frames:v 3 -f null -").succeeded()
    frames = int(re.search(r"the scores are of the (\d+) pairs up to there", outcome.stderr)[1])
    lines = (lab.folder / "stats.log").read_text().splitlines()
    wanted = json.loads(RECORDED.read_text())["yuv420p"]["stats"].splitlines()
    check(3 <= frames < 1000, frames)
    check_equal(lines[: min(frames, FRAMES)], wanted[: min(frames, FRAMES)], "statistics of frames")
    check_equal(lines[frames:], ["", f"XPSNR average, {frames} frames{LINE.findall(outcome.stderr)[0][5:]}"], "the end")


@case
def xpsnr_has_no_line_after_an_error(lab):
    """The size changes in mid-stream."""
    needs_ours(lab)
    outcome = lab.compare("xpsnr=stats_file=stats.log", dist=lab.clips.ref, ref=two_sizes(lab))
    if not threads_came_first(lab, outcome):
        outcome.failed(CHANGED)
    check_equal(LINE.findall(outcome.stderr), [], "lines")
    check("average" not in (lab.folder / "stats.log").read_text(), "there are averages")


@case
def xpsnr_has_its_own_options_and_few_of_ours(lab):
    needs_ours(lab)
    shown = subprocess.run(lab.command("-hide_banner -h filter=xpsnr"), stdout=subprocess.PIPE).stdout.decode()
    check_equal(
        re.findall(r"^   (\w+) +<", shown, re.M),
        (
            "stats_file f eof_action shortest repeatlast ts_sync_mode n_threads backend device import fallback verify "
            "verify_fail device_wait expected_frames overwrite"
        ).split(),
        "options",
    )
    outcome = lab.run(
        *clip_inputs(lab, "yuv420p"), "-lavfi", "xpsnr=n_threads=1:backend=cpu:verify=1", "-f null -"
    ).succeeded()
    check_equal(LINE.findall(outcome.stderr), [json.loads(RECORDED.read_text())["yuv420p"]["log"]], "line")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(dict(recordings(Lab(sys.argv[1], Path(folder) / "clips", clips=object()))), indent=1))
