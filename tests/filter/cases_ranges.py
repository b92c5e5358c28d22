"""Ranges (range=…) and their merge: the merged report is that of a run over the whole stream, to the last bit, or there
is none.
"""

import json
import os
import random
import sys
from pathlib import Path

from support import FPS, FRAMES, TOP, GoldenClip, Skip, case, check, check_equal, slow_case
from cases_reports import printed_metadata

FEATURES = "feature=" + "|".join(
    (
        "name=psnr",
        r"name=cvvdp\\:fps=8",
        "name=float_motion|name=speed_temporal",
        r"name=motion\\:motion_five_frame_window=true\\:motion_moving_average=true",
    )
)
LATE = 2.0  # seconds: how much earlier than the range a seek goes, at most
ALL = bool(os.environ.get("VMAFX_TEST_ALL"))


def merge(lab, *words):
    """Runs `vmafx merge` and returns the finished process."""
    return lab.python("-m", "vmafx.command", "merge", *words)


def refused(lab, *words, why):
    done = merge(lab, *words, "-o", "refused.json")
    check(done.returncode == 1 and why in done.stderr, f"wanted '{why}', got {done.returncode}: {done.stderr}")
    check("Traceback" not in done.stderr, done.stderr)
    check(not (lab.folder / "refused.json").exists(), "a report in spite of the refusal")


def merged(lab, *parts, output="merged.json"):
    done = merge(lab, *parts, "-o", output, "--score-fmt=%.17g")
    check_equal((done.returncode, done.stderr), (0, ""), "merge")
    return lab.json(output) if output.endswith(".json") else None


def check_same(got, wanted, what):
    """Checks that two reports say the same of the stream, in the same order, without the facts of the run."""
    of_run = "fps", "vmafx"
    check_equal(
        [key for key in got if key not in of_run], [key for key in wanted if key not in of_run], f"keys, {what}"
    )
    for one, other in zip(got["frames"], wanted["frames"]):
        check_equal(json.dumps(one), json.dumps(other), f"frame, {what}")
    for key in got:
        if key not in of_run:
            check_equal(json.dumps(got[key]), json.dumps(wanted[key]), f"{key}, {what}")


def score(lab, clips, name, range="", seek=None, options=FEATURES, before=()):
    """Scores two clips, each from `seek` on."""
    dist, ref = clips
    start = [f"-ss {seek:.6f}"] if seek is not None else []
    form = f"range={range}" if range else "score_fmt=%.17g"
    inputs = [*start, "-i", dist, *start, "-i", ref]
    return lab.run(*before, "-copyts", *inputs, "-lavfi", f"vmafx=log_path={name}:{form}:{options}", "-f null -")


def encode_pair(lab, container, codec, rate, frames=60):
    """Makes two encodes with open GOPs and different numbers of B-frames, if the container allows that."""
    source = f"testsrc2=s=96x96:r={rate},trim=end_frame={frames},noise=alls=9:allf=t:all_seed=1"
    paths = []
    for name, gop, quality in (("dist", 11, 40), ("ref", 17, 20)):
        path = lab.folder / f"{name}-{len(list(lab.folder.iterdir()))}.{container}"
        if codec == "libx264":
            options = (
                f"-c:v libx264 -preset veryfast -threads 1 -g {gop} -bf 3 -crf {quality} -x264-params open-gop=1:"
                "scenecut=0"
            )
        else:
            options = f"-c:v {codec} -g {gop} -bf 2 -q:v {quality // 3}"
        if lab.run("-f lavfi -i", source, options, "-pix_fmt yuv420p", path).code:
            raise Skip(f"this ffmpeg does not encode with {codec}")
        paths.append(path)
    return paths


def random_cuts(rng, frames):
    """Returns one to three cuts; fewer for a short clip that has no room for more."""
    return sorted(rng.sample(range(1, frames), min(rng.randint(1, 3), frames - 1)))


def ends(cuts):
    return list(zip([None, *cuts], [*cuts, None]))


def text(begin, end, unit=""):
    first, last = ("" if bound is None else f"{bound}{unit}" for bound in (begin, end))
    return f"{first}-{last}"


def score_by_number(lab, clips, cuts, **more):
    names = []
    for begin, end in ends(cuts):
        names.append(f"n{begin}-{end}.json")
        score(lab, clips, names[-1], text(begin, None if end is None else end - 1), **more).succeeded()
    return names


def score_by_time(lab, clips, cuts, times, rng, earlier=0.0, **more):
    """Scores ranges that begin at frames of these times, each after a seek to any place before their context, or to one
    that much earlier.
    """
    names = []
    for begin, end in ends(cuts):
        names.append(f"t{begin}-{end}.json")
        seek = None
        if begin is not None and begin > 5:
            seek = max(0, times[begin - 5] - times[0] - 0.01 - earlier - rng.random() * rng.choice((0, LATE)))
        borders = [None if cut is None else f"{times[cut]:.6f}" for cut in (begin, end)]
        outcome = score(lab, clips, names[-1], text(*borders, unit="s"), seek, **more)
        while outcome.code and seek and clips[0].suffix == ".ts":
            check(
                "Seek to an earlier time" in outcome.stderr or "No frames were scored" in outcome.stderr, outcome.tail()
            )
            seek = max(0, seek - 0.5)
            outcome = score(lab, clips, names[-1], text(*borders, unit="s"), seek, **more)
        outcome.succeeded()
    rng.shuffle(names)
    return names


def check_cuts(lab, clips, rng, count, options=FEATURES, **more):
    score(lab, clips, "whole.json", options=options, **more).succeeded()
    whole = lab.json("whole.json")
    times = [frame["time"] for frame in whole["frames"]]
    for i in range(count):
        cuts = random_cuts(rng, len(times))
        if i % 2 or len(times) < 8:
            parts = score_by_number(lab, clips, cuts, options=options, **more)
        else:
            cuts = [cut for cut in cuts if cut > 4] or [5]  # a range of times needs its context before it
            parts = score_by_time(lab, clips, cuts, times, rng, options=options, **more)
            if (
                "seek to an earlier key frame" in merge(lab, *parts, "-o", "probe.json").stderr
            ):  # pictures are damaged, or the last one is lost
                parts = score_by_time(lab, clips, cuts, times, rng, earlier=1.5, options=options, **more)
        check_same(merged(lab, *parts), whole, f"cuts {cuts}, parts {parts}")


@case
@slow_case
def merged_ranges_are_the_whole_of_any_container(lab):
    rng = random.Random(7)
    for container, codec, rate in (
        ("mp4", "libx264", "25"),
        ("mkv", "libx264", "24000/1001"),
        ("ts", "libx264", "30"),
        ("ts", "mpeg2video", "25"),
    ):
        check_cuts(lab, encode_pair(lab, container, codec, rate), rng, 50 if ALL else 1)


@case
def merged_ranges_of_two_containers(lab):
    rng = random.Random(8)
    dist, _ = encode_pair(lab, "mkv", "libx264", "30000/1001")
    _, ref = encode_pair(lab, "mp4", "libx264", "30000/1001")
    check_cuts(lab, (dist, ref), rng, 20 if ALL else 2)


@case
def merged_ranges_of_golden_clips(lab):
    rng = random.Random(9)
    for name in (
        [path.stem for path in sorted((TOP / "tests/golden").glob("*.json"))] if ALL else ["576x324_8b_420_k1_s1"]
    ):
        clip = GoldenClip(lab, name)
        check_cuts(lab, (clip.dist, clip.ref), rng, 10 if ALL else 2, options="n_threads=2")


@case
@slow_case
def merged_ranges_on_the_emulator(lab):
    emulator = Path(lab.ffmpeg).parent.parent / "lib/libvmafx_hip_emulator.so"
    emulators = [emulator, *Path(lab.ffmpeg).parent.parent.glob("emulator/.libs/libvmafx_hip_emulator.so")]
    found = next((path for path in emulators if path.exists()), None)
    if not found:
        raise Skip("the emulator is not built")
    os.environ.setdefault("VMAFX_HIP_RUNTIME", str(found))
    check_cuts(
        lab,
        encode_pair(lab, "mp4", "libx264", "25", 16),
        random.Random(10),
        10 if ALL else 1,
        options=f"backend=hip:{FEATURES}",
    )


@case
def windows_and_subsampling_are_merged(lab):
    clips = lab.clips.dist, lab.clips.ref
    for options in ("window=0.3", "window=keyframe:pool=p25", "n_subsample=3"):
        score(lab, clips, "whole.json", options=options).succeeded()
        parts = score_by_number(lab, clips, [7, 11], options=options)
        check_same(merged(lab, *parts), lab.json("whole.json"), options)


@case
def ranges_without_scored_pairs_are_merged(lab):
    """The first, a middle or the last range has no pair whose number is a multiple of n_subsample."""
    clips, options = (lab.clips.dist, lab.clips.ref), "n_subsample=5:model=:feature=name=psnr\\\\:enable_apsnr=true"
    score(lab, clips, "whole.json", options=options).succeeded()
    for cuts in ([7, 9, 12], [6, 8]):
        check_same(merged(lab, *score_by_number(lab, clips, cuts, options=options)), lab.json("whole.json"), str(cuts))


@case
def other_formats_are_merged(lab):
    clips = lab.clips.dist, lab.clips.ref
    parts = score_by_number(lab, clips, [7])
    for form in ("xml", "csv", "sub"):
        score(lab, clips, f"whole.{form}", options="score_fmt=%.17g:" + FEATURES).succeeded()
        merged(lab, *parts, output=f"merged.{form}")
        lines = [
            [line for line in (lab.folder / name).read_text().splitlines() if "fps=" not in line]
            for name in (f"whole.{form}", f"merged.{form}")
        ]
        if form == "xml":  # facts of the run are in the last element, except the pairing
            lines[0] = [line for line in lines[0][: next(i for i, line in enumerate(lines[0]) if "<vmafx" in line)]]
            lines[1] = lines[1][: len(lines[0])]
        check_equal(lines[1], lines[0], form)


@case
def several_encodes_are_merged(lab):
    ref, dist = lab.clips.ref, lab.clips.dist
    graph = "[0:v][1:v][2:v]vmafx=encodes=2:log_path={0}:{1}[a][b]"

    def run(name, options):
        lab.run(
            "-i",
            dist,
            "-i",
            ref,
            "-i",
            ref,
            "-filter_complex",
            graph.format(name, options),
            "-map [a] -f null - -map [b] -f null -",
        ).succeeded()

    run("whole.json", "score_fmt=%.17g")
    for name, frames in (("1.json", "-7"), ("2.json", "8-")):
        run(name, f"range={frames}")
    refused(
        lab,
        "1.json",
        "2.json",
        why="1.json has 2 encodes, each of which gets its own report: put %d for their numbers in the name",
    )
    merged(lab, "2.json", "1.json", output="merged%d.xml")
    done = merge(lab, "1.json", "2.json", "-o", "merged%d.json", "--score-fmt=%.17g")
    check_equal((done.returncode, done.stderr), (0, ""), "merge")
    for encode in lab.json("whole.json")["encodes"]:
        got = lab.json(f"merged{encode['encode']}.json")
        for key in ("frames", "pooled_metrics", "pooled_statistics", "pairing"):
            check_equal(got[key], encode[key], key)


@case
def only_the_range_is_told(lab):
    options = (
        "window=0.2:openmetrics=m.prom:metadata=1:range=5-9:fail_below=1:log_path=part.{0},metadata=print:file=meta.txt"
    )
    lab.compare(f"vmafx={options.format('json')}").succeeded()
    report = lab.json("part.json")
    check_equal([frame["frameNum"] for frame in report["frames"]], [5, 6, 7, 8, 9], "frames")
    check_equal([(w["firstFrame"], w["lastFrame"]) for w in report["windows"]], [(5, 9)], "windows")
    check_equal(report["pairing"]["paired"], 5, "pairs")
    check('vmafx_frames{encode="0"} 5' in (lab.folder / "m.prom").read_text(), "OpenMetrics")
    frames = printed_metadata(lab.folder / "meta.txt")
    scores = [f"{frame['metrics']['vmaf']:.6f}" for frame in report["frames"]]
    check_equal([frame["lavfi.vmafx.vmaf"] for frame in frames], scores, "scores on frames")
    for form in ("xml", "csv", "sub", "ndjson"):
        lab.compare(f"vmafx=range=5-9:log_path=part.{form}").score()
    check_equal([row["Frame"] for row in lab.csv("part.csv")], list("56789"), "rows")
    check_equal([frame.get("frameNum") for frame in lab.xml("part.xml").iter("frame")], list("56789"), "elements")
    check_equal([line.get("frameNum") for line in lab.json_lines("part.ndjson")][:-1], [5, 6, 7, 8, 9], "lines")
    check_equal(lab.json_lines("part.ndjson")[-1]["range"]["frames"], 5, "last line")
    lab.compare("vmafx=range=5-9:fail_below=99.9").failed("fail_below: vmaf is ", before_score=False)


@case
def what_is_after_the_range_is_not_decoded(lab):
    source = "testsrc2=s=96x96:r=25"  # this source has no end
    done = lab.run("-f lavfi -i", source, "-f lavfi -i", source, "-lavfi vmafx=range=3-9:log_path=log.json -f null -")
    done.score()
    check_equal(len(lab.json("log.json")["frames"]), 7, "frames")
    done.does_not_say("rror").does_not_say("Stopped before the end")


@case
def a_seek_that_lands_late_is_an_error(lab):
    clips = encode_pair(lab, "mp4", "libx264", "25")
    score(lab, clips, "log.json", "1s-2s", 0.99).failed(
        "range=1s-2s: the first frame in it or after it, at 1.000000 s, has 0 before it, and 4 must come"
    )
    score(lab, clips, "log.json", "1s-2s", 1.5).failed("Seek to an earlier time (-ss before both inputs, with -copyts)")
    score(lab, clips, "log.json", "1s-2s", 2.2).failed("at 2.200000 s, has 0 before it")
    score(lab, clips, "log.json", "0s-1s").failed("if the stream begins there, leave out the range's first end")
    score(lab, clips, "log.json", "1s-2.4s").failed("leave out the range's second end")
    score(lab, clips, "log.json", "40-70").failed(
        "the inputs ended at frame 59 (2.360000 s), and 1 after the range must come"
    )
    score(lab, clips, "log.json", "70-").failed("none of 60 frame pairs lies in it")
    score(lab, clips, "log.json", "9-3").failed("range=9-3 has nothing in it; use FIRST-LAST")
    check(
        not (lab.folder / "log.json").exists() or lab.json("log.json")["partial"], "a report that is not marked partial"
    )
    long = lab.run(
        "-copyts -ss 3 -f lavfi -i",
        "testsrc2=s=96x96:r=25:d=9",
        "-ss 3 -f lavfi -i",
        "testsrc2=s=96x96:r=25:d=9",
        "-lavfi vmafx=range=2-3 -f null -",
    )
    long.says("range=2-3 counts from the first frame pair that comes, which is at 3.0")


@case
def wrong_merges_are_refused(lab):
    clips = lab.clips.dist, lab.clips.ref
    small = "model=:feature=psnr"
    for name, frames in (
        ("1.json", "-6"),
        ("2.json", "7-13"),
        ("3.json", "14-"),
        ("2b.json", "6-13"),
        ("2c.json", "8-13"),
    ):
        score(lab, clips, name, frames, options=small).succeeded()
    score(lab, clips, "t2.json", "0.28s-0.56s", options=small).succeeded()
    score(lab, clips, "options.json", "7-13", options=small + ":n_subsample=2").succeeded()
    score(lab, clips, "scores.json", "7-13", options="feature=psnr").succeeded()
    score(lab, clips, "plain.json", options=small).succeeded()
    score(lab, clips, "xml.xml", "7-13", options=small).succeeded()
    lab.run("-i", lab.clips.dist, "-c:v mpeg4 -q:v 2", "other.mp4").succeeded()
    score(lab, ("other.mp4", lab.clips.ref), "picture.json", "7-13", options=small).succeeded()
    shifted = [
        "-itsoffset 0.04 -i",
        lab.clips.dist,
        "-itsoffset 0.04 -i",
        lab.clips.ref,
        "-lavfi",
        f"vmafx=log_path=times.json:range=7-13:{small}",
    ]
    lab.run("-copyts", *shifted, "-f null -").succeeded()
    lab.run(
        "-i",
        lab.clips.dist10,
        "-i",
        lab.clips.ref10,
        "-lavfi",
        f"vmafx=log_path=bits.json:range=7-13:{small}",
        "-f null -",
    ).succeeded()
    lab.run(
        "-i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-frames:v 10 -lavfi",
        f"vmafx=log_path=cut.json:range=7-:{small}",
        "-f null -",
    )

    for name, frames, weight in (("model-1.json", "-6", 50.0), ("model-2.json", "7-", 60.0)):
        lab.write_model("model.json", weight)
        score(lab, clips, name, frames, options="model=path=model.json").succeeded()

    whole = lab.json("2.json")
    edits = {
        "version": lambda part: part.update(version="0.0.1"),
        "frame": lambda part: part["frames"].pop(3),
        "nan": lambda part: part["frames"][3]["metrics"].update(psnr_y=float("nan")),
        "null": lambda part: part["frames"][3]["metrics"].update(psnr_y=None),
        "key": lambda part: part["frames"][3]["metrics"].pop("psnr_y"),
        "pictures": lambda part: part["range"].update(pictures=part["range"]["pictures"][2:]),
        "range": lambda part: part.update(range=[]),
        "breaks": lambda part: part["range"]["look"].update(breaks=[{"pair": 7, "size": 1}] * 2000),
        "brief": lambda part: part["range"]["look"].pop("brief"),
    }
    for name, edit in edits.items():
        part = json.loads(json.dumps(whole))
        edit(part)
        (lab.folder / f"{name}.json").write_text(json.dumps(part))
    (lab.folder / "torn.json").write_text((lab.folder / "2.json").read_text()[:-300])

    check_same(merged(lab, "3.json", "1.json", "2.json"), lab.json("plain.json"), "the right one")
    refused(
        lab, "1.json", "3.json", why="a part is missing, from 7 to 14: between 1.json (range=-6) and 3.json (range=14-)"
    )
    refused(lab, "1.json", "2c.json", "3.json", why="a part is missing, from 7 to 8")
    refused(lab, "1.json", "2b.json", "3.json", why="two parts overlap: 1.json (range=-6) and 2b.json (range=6-13)")
    refused(lab, "1.json", "1.json", "2.json", "3.json", why="two parts overlap")
    refused(lab, "2.json", "3.json", why="the beginning of the stream is missing: the first part is 2.json")
    refused(lab, "1.json", "2.json", why="the end of the stream is missing: the last part is 2.json")
    refused(lab, "1.json", "t2.json", "3.json", why="the unit of the range of 1.json is frames, of t2.json seconds")
    refused(lab, "1.json", "options.json", "3.json", why="option n_subsample of 1.json is 1, of options.json 2")
    refused(
        lab, "1.json", "scores.json", "3.json", why="option model of 1.json is , of scores.json version=vmaf_v0.6.1"
    )
    refused(lab, "model-1.json", "model-2.json", why="option model_files of model-1.json is ['")
    refused(lab, "1.json", "plain.json", "3.json", why="plain.json is not the report of a range")
    refused(lab, "1.json", "xml.xml", "3.json", why="xml.xml is not a complete JSON report")
    refused(
        lab,
        "1.json",
        "picture.json",
        "3.json",
        why="the distorted picture of frame 6 differs between 1.json (range=-6) and picture.json (range=7-13)",
    )
    refused(
        lab,
        "1.json",
        "times.json",
        "3.json",
        why="the time of frame 0, from which its numbers count, of 1.json is 0.0, of times.json 0.04",
    )
    refused(lab, "1.json", "bits.json", "3.json", why="bits of 1.json is 8, of bits.json 10")
    refused(lab, "1.json", "cut.json", why="cut.json is partial: its run was cut short")
    refused(lab, "1.json", "version.json", "3.json", why="the version of vmafx of 1.json is")
    refused(lab, "1.json", "torn.json", "3.json", why="torn.json is not a complete JSON report")
    refused(lab, "1.json", "nan.json", "3.json", why="JSON has no number NaN")
    refused(lab, "1.json", "breaks.json", "3.json", why="range.look.breaks is a list, and not a list of at most 1000")
    for name in ("frame", "null", "key", "range", "brief"):
        refused(
            lab,
            "1.json",
            f"{name}.json",
            "3.json",
            why=f"{name}.json is not a complete report of a range, or was changed",
        )
    refused(lab, "1.json", "pictures.json", "3.json", why="nothing shows that these parts meet")
    refused(lab, "1.json", "none.json", why="No such file")
    done = merge(lab, "1.json", "2.json", "--partial", "-o", "-")
    check_equal((done.returncode, json.loads(done.stdout)["partial"]), (0, True), "--partial")
