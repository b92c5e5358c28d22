"""Several encodes of one reference (encodes=N): the scores of each are those of its own run."""

import re

from support import FRAMES, SIZE, case, check, check_equal
from cases_graphs import two_sizes
from cases_reports import printed_metadata

OUTPUTS = "[o0][o1][o2]"


def make_encodes(lab):
    """Makes three encodes of different lengths and containers, whose times are rounded differently."""
    paths = []
    for name, q, frames in (("a.mp4", 6, FRAMES), ("b.mkv", 15, 12), ("c.ts", 31, FRAMES)):
        paths.append(lab.folder / name)
        codec = "-c:v mpeg2video" if name.endswith(".ts") else "-c:v mpeg4"
        lab.run("-i", lab.clips.ref, f"-frames:v {frames} {codec} -q:v {q}", paths[-1]).succeeded()
    return paths


def together(lab, paths, options="", name="vmafx", before="", outputs=None):
    inputs = [word for path in [*paths, lab.clips.ref] for word in ("-i", path)]
    pads = "".join(f"[{i}:v]" for i in range(len(paths) + 1))
    outs = "".join(f"[o{i}]" for i in range(len(paths)))
    maps = [word for i in range(len(paths)) for word in (f"-map [o{i}]", *(outputs or ["-f null -"]))]
    graph = f"{before}{pads}{name}=encodes={len(paths)}{':' if options else ''}{options}{outs}"
    return lab.run(*inputs, "-filter_complex", graph, *maps)


def scores_by_name(outcome):
    return dict(re.findall(r"^\[\S+ @ 0x[0-9a-f]+\] (\S+): VMAF score: (\S+)$", outcome.stderr, re.M))


@case
def encodes_have_the_scores_of_runs_of_their_own(lab):
    paths = make_encodes(lab)
    for name in ("vmafx", "libvmaf"):
        options = "feature=name=psnr:score_fmt=%.17g:log_path="
        outcome = together(lab, paths, options + "all.json:log_fmt=json", name).succeeded()
        report = lab.json("all.json")
        for i, path in enumerate(paths):
            alone = lab.compare(f"{name}={options}one.json:log_fmt=json", dist=path)
            wanted, got = lab.json("one.json"), report["encodes"][i]
            check_equal((got["encode"], got["name"]), (i, f"main{i}"), "label")
            check_equal(
                [f["metrics"] for f in got["frames"]], [f["metrics"] for f in wanted["frames"]], f"{name}, encode {i}"
            )
            check_equal(got["pooled_metrics"], wanted["pooled_metrics"], "pooled")
            check_equal(got["pairing"], wanted["pairing"], "pairing")
            check_equal(scores_by_name(outcome)[f"main{i}"], alone.score(), "score line")


@case
def each_encode_has_a_report_where_the_path_says_so(lab):
    paths = make_encodes(lab)
    together(lab, paths, "log_path=log%d.xml").succeeded()
    for i, path in enumerate(paths):
        lab.compare("vmafx=log_path=one.xml", dist=path).succeeded()
        frames = [[frame.attrib for frame in lab.xml(name).iter("frame")] for name in (f"log{i}.xml", "one.xml")]
        check_equal(frames[0], frames[1], f"encode {i}")
    together(lab, paths, "log_path=log.xml").failed("log_fmt=xml has no place for several encodes")
    together(lab, paths, "log_path=log.json", "libvmaf").failed("log_fmt=xml has no place for several encodes")


@case
def encodes_have_names(lab):
    paths = make_encodes(lab)
    outcome = together(lab, paths, "encode_names=low|mid:log_path=log.csv:warn_below=101").succeeded()
    check_equal(list(scores_by_name(outcome)), ["low", "mid", "main2"], "names")
    check_equal({row["Name"] for row in lab.csv("log.csv")}, {"low", "mid", "main2"}, "names")
    check_equal(len(lab.csv("log.csv")), 3 * FRAMES, "rows")
    outcome.says("mid: warn_below: vmaf is ").says("low: vmaf: mean ")
    together(lab, paths, "encode_names=a|a").failed("two encodes are called 'a'")


@case
def frames_of_all_encodes_have_their_scores(lab):
    paths = make_encodes(lab)
    inputs = [word for path in [*paths, lab.clips.ref] for word in ("-i", path)]
    graph = "[0:v][1:v][2:v][3:v]vmafx=encodes=3:metadata=1:log_path=all.json:log_fmt=json[a][b][c]"
    prints = "".join(f";[{pad}]metadata=print:file={pad}.txt[{pad}o]" for pad in "abc")
    maps = [word for pad in "abc" for word in (f"-map [{pad}o]", "-f null -")]
    lab.run(*inputs, "-filter_complex", graph + prints, *maps).succeeded()
    for encode, pad in zip(lab.json("all.json")["encodes"], "abc", strict=True):
        printed = [float(frame["lavfi.vmafx.vmaf"]) for frame in printed_metadata(lab.folder / f"{pad}.txt")]
        check_equal(printed, [frame["metrics"]["vmaf"] for frame in encode["frames"]], f"encode {pad}")


@case
def a_broken_encode_leaves_the_others_their_scores(lab):
    paths = make_encodes(lab)
    wanted = scores_by_name(together(lab, [paths[0], paths[2]]).succeeded())
    inputs = ["-i", paths[0], "-reinit_filter 0 -i", two_sizes(lab), "-i", paths[2], "-i", lab.clips.ref]
    maps = [word for i in range(3) for word in (f"-map [o{i}]", "-f null -")]
    outcome = lab.run(*inputs, "-filter_complex", f"[0:v][1:v][2:v][3:v]vmafx=encodes=3{OUTPUTS}", *maps)
    check(outcome.code not in (0, None), f"exit status {outcome.code}: {outcome.tail()}")
    if lab.version() >= (7, 0) and "input width must match" in outcome.stderr:
        return  # ffmpeg's threads were faster: the graph began with the second size
    outcome.says(f"The main1 input changed in mid-stream from {SIZE}")
    check(
        re.search(r"main1: This encode is scored up to here, after \d+ pairs; the others go on", outcome.stderr),
        outcome.tail(),
    )
    got = scores_by_name(outcome)
    check_equal((got["main0"], got["main2"]), (wanted["main0"], wanted["main1"]), "scores of the others")


@case
def an_output_that_has_enough_stops_no_other(lab):
    paths = make_encodes(lab)
    wanted = scores_by_name(together(lab, paths).succeeded())
    inputs = [word for path in [*paths, lab.clips.ref] for word in ("-i", path)]
    maps = ["-map [o0]", "-frames:v 3 -f null -", "-map [o1]", "-f null -", "-map [o2]", "-f null -"]
    outcome = lab.run(*inputs, "-filter_complex", f"[0:v][1:v][2:v][3:v]vmafx=encodes=3{OUTPUTS}", *maps).succeeded()
    check_equal(scores_by_name(outcome), wanted, "scores")


@case
def an_encode_without_frames_is_an_error_of_its_own(lab):
    paths = make_encodes(lab)
    wanted = scores_by_name(together(lab, [paths[0], paths[2]]).succeeded())
    inputs = [word for path in [paths[0], paths[2], lab.clips.ref] for word in ("-i", path)]
    graph = (
        "color=s=192x108:d=0.04,trim=end_frame=1,select=0,format=yuv420p[none];[0:v][none][1:v][2:v]vmafx=encodes=3"
        + OUTPUTS
    )
    maps = [word for i in range(3) for word in (f"-map [o{i}]", "-f null -")]
    outcome = lab.run(*inputs, "-filter_complex", graph, *maps)
    check(outcome.code not in (0, None), f"exit status {outcome.code}: {outcome.tail()}")
    outcome.says("main1: no frames were scored")
    got = scores_by_name(outcome)
    check_equal((got["main0"], got["main2"]), (wanted["main0"], wanted["main1"]), "scores of the others")


@case
def the_number_of_encodes_has_a_limit(lab):
    lab.compare("vmafx=encodes=17").failed("encodes")


@case
def prometheus_is_told_of_all_encodes(lab):
    paths = make_encodes(lab)
    together(lab, paths, "openmetrics=all.prom:window=0.32:encode_names=a|b|c").succeeded()
    text = (lab.folder / "all.prom").read_text()
    check_equal(re.findall(r'vmafx_score\{encode="(\w)",model="vmaf"\}', text), ["a", "b", "c"], "encodes")
    check_equal(text.count("# TYPE vmafx_score gauge"), 1, "families")
