"""vmafx report: what it reads, and that the page is complete, small and safe."""

import base64
import errno
import io
import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import av
import vmafx as module
from command import command, environment, vmafx
from common import FRAMES, Skip, case, check, check_equal, top
from pages import Content, in_chromium, opened_in_chromium
from vmafx.command._keys import known_facts, stands_for
from vmafx.command._known_scores import KNOWN
from vmafx.command._scores import Encode, read_scores
from vmafx.command._statistics import NAMES, pooled_values, worst_frames, worst_tail_name, worst_value_name
from vmafx.command.page import page as page_module
from vmafx.command.page import scenes
from vmafx.command.page.curves import MOST_PARTS, bit_rates, number_axis, position_axis
from vmafx.command.page.decimation import averages, extremes
from vmafx.command.page.document import render, whole
from vmafx.command.page.pictures import Media
from vmafx.command.page.links import Link
from vmafx.command.page.plots import Label
from vmafx.command.page.tables import Lines, Strong, Table
from vmafx.command.page.verdict import Said
from vmafx.command.page.worst import Picture, WorstFrame, WorstFrames

EVIL = "<script>alert(1)</script>&\"'<!--"
DYGRAPHS_BYTES = 131054, 1255  # script and style of Debian 12
FILM = 172_800  # frames: two hours at 24 a second


def dygraphs_in(lab):
    """Makes a folder with scripts as large as dygraphs'."""
    for name, size in zip(("dygraph.min.js", "dygraph.min.css"), DYGRAPHS_BYTES):
        (lab.folder / name).write_text(f"/*{'x' * (size - 4)}*/")
    return lab.folder


def page_of(lab, *words, dygraphs=None):
    vmafx(lab, "report", *words, "-o", "page.html", "--dygraphs", dygraphs or dygraphs_in(lab)).succeeded()
    return Content(lab.folder / "page.html")


def report_of(lab, name="scores.json", options="feature=psnr:window=0.4"):
    lab.compare(f"vmafx={options}:log_path={name}").succeeded()
    return lab.folder / name


def write_csv(path, encodes, frames, keys=("vmaf",), seed=6):
    """Writes noise in which one frame of each encode is far below all others, and returns these frames' numbers."""
    random, lowest = Random(seed), []
    with open(path, "w") as file:
        file.write(f"Encode,Name,Frame,Time,{','.join(keys)},\n")
        for encode in range(encodes):
            lowest.append(random.randrange(frames))
            for i in range(frames):
                score = 3.25 if i == lowest[-1] else 80 - 5 * encode + 10 * math.sin(i / 999) + random.random()
                file.write(f"{encode},encode {encode},{i},{i / 24:.6f},{','.join([f'{score:.6f}'] * len(keys))},\n")
    return lowest


# -- What it reads -----------------------------------------------------------------------------------------------------


@case
def page_of_each_format(lab):
    """Reports of one run in all formats give the same numbers. libvmaf's report has no times."""
    reports = [report_of(lab, f"scores.{suffix}") for suffix in ("json", "ndjson", "csv", "xml")]
    content = json.loads(reports[0].read_text())
    foreign = {key: content[key] for key in ("version", "fps", "pooled_metrics", "aggregate_metrics")}
    foreign["frames"] = [{"frameNum": frame["frameNum"], "metrics": frame["metrics"]} for frame in content["frames"]]
    reports.append(lab.folder / "libvmaf.json")
    reports[-1].write_text(json.dumps(foreign))
    mean = f"{content['pooled_metrics']['vmaf']['mean']:.2f}"
    for path in reports:
        page = page_of(lab, path, "--title", "T")
        page.has("T", "vmaf", "psnr_y", mean, f"{content['pooled_statistics']['vmaf']['p5']:.2f}")
        page.has(
            "Scenes", "Scores of scenes need a video: name it with --media, best also the reference with --reference."
        )
        check_equal(page.charts()[0]["time"], path.name != "libvmaf.json", f"{path.name}: it has times")
        curve = page.charts()[0]["curves"][0]
        check_equal(
            curve["y"], [round(frame["metrics"]["vmaf"] * 1000) for frame in content["frames"]], f"{path.name}: curve"
        )
        check_equal(sum(curve["frames"]), FRAMES - 1, f"{path.name}: frames")
        check_equal(
            "Windows" in page.words, path.suffix != ".csv" and path.name != "libvmaf.json", f"{path.name}: windows"
        )
    page_of(lab, reports[-1], "--media", lab.clips.dist).has("vmaf of each frame over time", "Bit rate")


@case
def page_of_several_encodes(lab):
    """A page shows several encodes of one report and of several."""
    encodes = "[0:v]split[a][b];[a][b][1:v]vmafx=encodes=2:encode_names=low|high:log_path=both.json[c][d]"
    lab.run(
        "-i", lab.clips.dist, "-i", lab.clips.ref, "-filter_complex", encodes, "-map [c] -f null - -map [d] -f null -"
    ).succeeded()
    page = page_of(lab, "both.json", report_of(lab, "third.csv", "backend=cpu"))
    page.has("Scores of low, high, third", "Worst frames of third")
    check_equal([curve["name"] for curve in page.charts()[0]["curves"]], ["low", "high", "third"], "curves")


@case
def page_of_a_run_that_ended_early(lab):
    content = report_of(lab, "scores.ndjson").read_text().splitlines(keepends=True)
    (lab.folder / "scores.ndjson").write_text("".join(content[:8]) + content[8][:30])
    page = page_of(lab, "scores.ndjson")
    page.has("The run was aborted: the report lacks its last line.", "8 frames · 0:00")
    partial = json.loads(report_of(lab).read_text())
    del partial["doubts"]  # as a report of a version that had none
    partial |= {"partial": "true", "pairing": {**partial["pairing"], "repeated_reference": 3}}
    (lab.folder / "partial.json").write_text(json.dumps(partial))
    page_of(lab, "partial.json").has(
        "The inputs were not read to their end: these are the scores up to there.",
        "The scores are doubtful, the inputs do not go together frame by frame: repeated reference 3.",
    )


@case
def scores_that_are_missing(lab):
    """null, inf and keys that some frames lack are gaps, not zeros."""
    lines = [
        {"frameNum": i, "time": i / 25, "metrics": {"vmaf": None if i == 2 else 50.0 + i} if i != 3 else {}}
        for i in range(6)
    ]
    (lab.folder / "gaps.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"version": "1"}\n')
    page = page_of(lab, "gaps.ndjson")
    check_equal(page.charts()[0]["curves"][0]["y"], [50000, 51000, None, None, 54000, 55000], "curve")
    page.has("50.00", "52.50")


def encode_of(**scores):
    """Returns an encode of 25 frames a second with the scores of each key."""
    length = len(next(iter(scores.values())))
    encode = Encode("encode")
    for i in range(length):
        encode.add(i, i / 25, {key: values[i] for key, values in scores.items()})
    encode.finish()
    return encode


@case
def pooled_values_are_the_librarys(lab):
    """Pooled values that a report lacks agree, to the last bit, with those of reports of library and module; scores of
    -1 and less have no harmonic mean.
    """
    del lab
    for key in ("vmaf", "cvvdp", "cambi"):
        for scores in (
            [9.1, 3.7, 9.9999, 7.25, 1e-7, 6.3, 8.8],
            [0.1] * 3,
            [97.42803] * 1000,
            [5.0],
            [1e308, -1e308, 1e308, 5.0],
            [1e-320, 2e-320],
            [math.inf, 40.0, 42.0],
        ):
            values = pooled_values(encode_of(**{key: scores}), key)
            wanted = {name: module.pool(name, scores, key) for name in NAMES}
            if min(scores) <= -1:
                wanted["harmonic_mean"] = math.nan
            check_equal(values, {name: None if math.isnan(value) else value for name, value in wanted.items()}, key)
    check_equal(pooled_values(encode_of(vmaf=[1.0, 2.0, 6.0]), "vmaf")["mean"], 3, "mean")
    equal = pooled_values(encode_of(xpsnr=[math.inf] * 4), "xpsnr")
    check_equal(equal, {name: None if name == "stddev" else math.inf for name in equal}, "of equal pictures")
    for scores in ([math.inf, -math.inf], [None, math.nan]):
        check_equal(set(pooled_values(encode_of(xpsnr=scores), "xpsnr").values()), {None}, "none")
    for arguments, number in ((("average", [1.0]), errno.EINVAL), (("mean", []), errno.EDOM)):
        try:
            module.pool(*arguments)
        except OSError as error:
            check_equal(error.errno, number, "what is wrong")
        else:
            raise AssertionError(f"{arguments} were pooled")


@case
def pooled_values_of_the_report_come_first(lab):
    """Pooled values come from the report first; without the library there are no others, which a line says."""
    encode = encode_of(vmaf=[1.0, 3.0])
    encode.pooled = {"vmaf": {"mean": 7.0}}
    values = pooled_values(encode, "vmaf")
    check_equal((values["mean"], values["max"]), (7, 3), "pooled values")
    (lab.folder / "scores.csv").write_text("Frame,vmaf,\n0,1.0,\n1,3.0,\n")
    words = command("report", "scores.csv", "-o", "page.html")
    words[2] = f"import vmafx._pooling; vmafx._pooling.found = lambda: None; {words[2]}"
    variables = environment(lab)
    done = subprocess.run(words, cwd=lab.folder, env=variables, capture_output=True, text=True, timeout=60)
    check_equal((done.returncode, done.stderr.count("libvmafx.so.0, which was not found")), (0, 1), done.stderr)


@case
def worst_sides_of_scores(lab):
    del lab
    facts = map(known_facts, ("vmaf", "integer_motion2", "cambi", "butteraugli_3norm"))
    names = [(worst_value_name(own), worst_tail_name(own)) for own in facts]
    check_equal(names, [("min", "p5")] * 2 + [("max", "p95")] * 2, "worst")


@case
def infinite_scores_on_the_page(lab):
    """A metric of equal pictures has the mean inf, in each format; the filter's JSON says for which scores null is
    infinity.
    """
    frames = [
        {"frameNum": i, "time": i / 25, "metrics": {"xpsnr": None, "psnr_y": 60.0, "vmaf": None if i else 97.0}}
        for i in range(3)
    ]
    nothing = {name: {} for name in ("pooled_metrics", "pooled_statistics")}
    pooled = {
        "pooled_metrics": {"xpsnr": {"mean": None, "min": None}},
        "pooled_statistics": {"xpsnr": {"p5": None, "stddev": None}},
    }
    windows = [{"firstFrame": 0, "lastFrame": 2, "time": 0.0, "pooled": {"xpsnr": None, "psnr_y": 60.0}}]
    summary = {
        "version": "1",
        **pooled,
        "excluded_scores": {"xpsnr": 3, "vmaf": 2},
        "infinite_scores": ["xpsnr"],
        "windows": windows,
    }
    (lab.folder / "equal.json").write_text(json.dumps({**summary, "frames": frames}))
    (lab.folder / "equal.ndjson").write_text("".join(json.dumps(line) + "\n" for line in (*frames, summary)))
    (lab.folder / "equal.csv").write_text(
        "Frame,Time,xpsnr,psnr_y,\n" + "".join(f"{i},{i / 25},inf,60.0,\n" for i in range(3))
    )
    metric = " ".join(f'{name}="inf"' for name in ("min", "mean"))
    window = '<windows><window firstFrame="0" lastFrame="2" time="0.0" xpsnr="inf" /></windows>'
    lines = "".join(f'<frame frameNum="{i}" time="{i / 25}" xpsnr="inf" />' for i in range(3))
    (lab.folder / "equal.xml").write_text(
        f'<VMAF><frames>{lines}</frames><pooled_metrics><metric name="xpsnr" {metric} /></pooled_metrics>'
        f"{window}</VMAF>"
    )
    for name in ("equal.json", "equal.ndjson", "equal.xml", "equal.csv"):
        encode = read_scores(lab.folder / name)[0]
        check_equal(encode.scores["xpsnr"].tolist(), [math.inf] * 3, f"{name}: scores")
        page = page_of(lab, name, "--score", "xpsnr")
        row = page.words[page.words.index("std. dev.") + 1 :][:13]
        check_equal(row, ["equal", *["inf"] * 11, "–"], f"{name}: pooled values")
        page.has(" · ".join(map(whole, ("worst 5 % inf", "worst inf"))))
        check(name == "equal.csv" or page.words.count("inf") == 13, f"{name}: the window: {page.words}")
    (lab.folder / "equal.json").write_text(json.dumps({**summary, **nothing, "infinite_scores": [], "frames": frames}))
    check(math.isnan(read_scores(lab.folder / "equal.json")[0].scores["xpsnr"][0]), "null is not infinity by itself")
    (lab.folder / "some.csv").write_text("Frame,xpsnr,\n0,inf,\n1,40,\n2,42,\n3,1e300,\n")
    page_of(lab, "some.csv").has(
        "Infinite scores that the pooled values leave out: 1.", "Scores beyond 1e+15 that the charts leave out: 1."
    )


@case
def worst_side_comes_first(lab):
    """The highest scores are the worst ones if less is better."""
    (lab.folder / "scores.csv").write_text(
        "Frame,vmaf,cambi,\n" + "".join(f"{i},{50 + i},{i / 10},\n" for i in range(41))
    )
    page = page_of(lab, "scores.csv", "--score", "cambi", "--score", "vmaf")
    page.has(" · ".join(map(whole, ("worst 5 % 3.80", "worst 4.00"))))
    heads = [page.words[i - 11 : i + 1] for i, word in enumerate(page.words) if word == "std. dev."]
    check_equal(
        heads[0],
        ["mean", "harmonic", "max", "99 %", "95 %", "90 %", "75 %", "50 %", "25 %", "5 %", "min", "std. dev."],
        "heads of cambi",
    )
    check_equal(
        heads[1],
        ["mean", "harmonic", "min", "1 %", "5 %", "10 %", "25 %", "50 %", "75 %", "95 %", "max", "std. dev."],
        "heads of vmaf",
    )
    row = page.words[page.words.index("std. dev.") + 2 :]
    check_equal((row[2], row[4], row[9], row[10]), ("4.00", "3.80", "0.20", "0.00"), "the pooled values of cambi")


# A slope that becomes bands, beside shapes and colors that move, so that scores differ from frame to frame; noise hides
# the bands of the reference.
SLOPE = (
    "nullsrc=s=320x240:r=25:d=0.32,format=yuv444p,geq=lum=60+(X+9*N)*(8+N)/80:cb=128+50*sin((X+Y)*(N+5)/90):"
    "cr=128+50*cos((X-Y)*(N+5)/90)"
)
BANDS = f"{SLOPE}[slope];testsrc2=s=96x96:r=25:d=0.32[shapes];[slope][shapes]overlay=format=yuv444"
DITHER = "noise=c0s=3:c0_seed=1:c0f=t"
COARSE = "lutyuv=y=floor(val/3)*3:u=floor(val/24)*24:v=floor(val/24)*24"
OPTIONS = {name: "debug=true" for name in ("vif", "adm", "motion", "float_vif", "float_adm", "float_motion")}
OPTIONS |= {"psnr": "enable_mse=true", "cambi": "full_ref=true"}
OPTIONS |= {name: "enable_lcs=true" for name in ("float_ssim", "float_ms_ssim")}


@case
def facts_are_those_of_the_library(lab):
    """For all scores of all metrics the worst frames agree with the filter's summary, the report has the facts of each
    score, and a report without them is read by the same facts.
    """
    names = [name for name in module.extractors() if not name.endswith("_hip")]
    features = "|".join(rf"name={name}\:{OPTIONS[name]}" if name in OPTIONS else name for name in names)
    graph = (
        f"[0:v]split[a][b];[a]{COARSE}[dist];[b]{DITHER}[ref];[dist][ref]vmafx=feature='{features}':log_path=all.json"
    )
    done = lab.run("-f lavfi -i", BANDS, "-lavfi", graph, "-f null -").succeeded()
    encode = read_scores(lab.folder / "all.json")[0]
    check_equal([key for key in encode.scores if encode.facts(key).metric is None], ["vmaf"], "keys of models")
    for key, (_, _, _, worst) in done.summary().items():
        check(len(set(encode.scores[key])) > 1 or key == "cambi_source", f"{key} is the same in all frames")
        wanted = re.findall(r"(\d+) \([\d.]+ s\) ([\d.-]+)", worst or "")
        check_equal(encode.facts(key).tells_quality, bool(wanted), f"whether {key} tells of quality")
        got = [f"{encode.scores[key][i]:.6f}" for i in worst_frames(encode, key, len(wanted))]
        check_equal(got, [score for _, score in wanted], key)
        check_equal(known_facts(key)._replace(main=False), encode.facts(key)._replace(main=False), f"facts of {key}")
    check_equal(done.summary().keys(), encode.scores.keys(), "keys of the summary")
    for key, (mean, *_) in done.summary().items():
        check(
            abs(pooled_values(replace(encode, pooled={}), key)["mean"] - float(mean)) < 2e-6, f"another mean of {key}"
        )
    main = {key for key in encode.scores if encode.facts(key).main} - {"vmaf"}
    check_equal(main, {key for key, (*_, stands, _) in KNOWN.items() if stands}, "main scores")
    check_equal(set(KNOWN) - set(encode.scores), set(), "known scores that there are not")
    check(stands_for("psnr_hvs", "psnr_hvs") and not stands_for("psnr_hvs_y", "psnr_hvs"), "psnr_hvs")
    check(known_facts("cambi_w_1").worse_is_high and known_facts("psnr_y_x").main, "keys with options")


@case
def known_scores_are_up_to_date(lab):
    del lab
    done = subprocess.run(
        [sys.executable, top / "tools/make_known_scores.py", "--check"], capture_output=True, text=True
    )
    check_equal((done.returncode, done.stderr), (0, ""), "tools/make_known_scores.py")


@case
def a_report_knows_its_scores_best(lab):
    """A model may be called as a metric."""
    told = {"metric": None, "worse": "low", "main": True, "unit": None}
    content = {
        "version": "1",
        "frames": [{"frameNum": i, "metrics": {"cambi": 50.0 + i, "psnr_y": 30.0}} for i in range(3)],
        "vmafx": {"scores": {"cambi": told, "psnr_y": told | {"metric": "psnr", "main": False}}},
        "doubts": [],
    }
    (lab.folder / "scores.json").write_text(json.dumps(content))
    encode = read_scores(lab.folder / "scores.json")[0]
    check_equal((encode.main_keys(), worst_frames(encode, "cambi", 1)), (["cambi"], [0]), "main scores, worst frame")


# -- Fewer points ------------------------------------------------------------------------------------------------------


@case
def lows_and_highs_are_kept(lab):
    del lab
    random = Random(5)
    for count in (1, 2, 3, 10, 999, 1000, 1001, 5000):
        values = [random.random() for _ in range(count)]
        values[random.randrange(count)], values[random.randrange(count)] = -5.0, 7.0
        kept = extremes(values, 100)
        check_equal(kept, sorted(set(kept)), "order")
        check(kept[0] == 0 and kept[-1] == count - 1 and len(kept) <= 102, f"{len(kept)} of {count}")
        check_equal(
            (min(values[i] for i in kept), max(values[i] for i in kept)), (min(values), max(values)), f"ends of {count}"
        )
        for part in range(50 if count > 100 else 0):
            own = range(part * count // 50, (part + 1) * count // 50)
            lowest = min(own, key=values.__getitem__)
            check(lowest in kept, f"the low of part {part} of {count} is gone")
    check_equal(extremes([math.nan] * 400, 100)[:3], [0, 8, 16], "nothing but gaps")
    gap = [1.0] * 200 + [math.nan] * 40 + [2.0] * 200
    check(any(math.isnan(gap[i]) for i in extremes(gap, 50)), "the gap is gone")
    check_equal(averages([0, 1, 2, 3], [1, 3, math.nan, 5], 2), ([0.5, 2.5], [2, 5]), "averages")


@case
def page_of_a_film(lab):
    """A page of two hours has less than a megabyte, and shows the lowest frame of each encode in curve and picture."""
    lowest = write_csv(lab.folder / "film.csv", 2, FILM, ("vmaf", "psnr_y"))
    page = page_of(lab, "film.csv")
    check(len(page.text) < 1_000_000, f"{len(page.text)} bytes")
    check(len(page.text) > 300_000, f"{len(page.text)} bytes: where are the curves?")
    for number, curve in enumerate(page.charts()[0]["curves"]):
        check_equal(min(curve["y"]), 3250, "lowest score")
        place = curve["y"].index(3250)
        check_equal(sum(curve["frames"][: place + 1]), lowest[number], "its frame")
        check_equal(sum(curve["x"][: place + 1]), round(lowest[number] / 24 * 1000), "its time")
        check(len(curve["y"]) > 5000 and len(curve["means"]["y"]) == 300, "points")
    low, high = page.charts()[0]["range"]
    drawn = f"{300 * (1 - (3.25 - low) / (high - low)):.1f}"
    faint = [path["d"] for path in page.all("path") if path.get("class", "").endswith(" faint")][:2]
    check(all(f" {drawn}" in path for path in faint) and len(faint) == 2, f"no {drawn} in the picture")


@case
def axes_of_all_spans(lab):
    """An axis has some ticks, in order and on the axis, however far apart or close the values are."""
    del lab
    for low, high in (
        (-1e15, 1e15),
        (0, 1e15),
        (1e15, 1e15),
        (0, 0),
        (0, 5e-324),
        (-5e-324, 5e-324),
        (99.9999999, 100),
        (-1e-7, 1e7),
        (1e7, 1e7 + 1),
    ):
        axis = number_axis([low, high])
        places = [place for place, _ in axis.ticks]
        room = 1e-8 * (axis.high - axis.low)
        check(axis.low <= low + room and axis.high >= high - room and axis.low < axis.high, f"{low} to {high}: {axis}")
        check(
            2 <= len(places) <= 14 and places == sorted(places) and all(len(text) < 14 for _, text in axis.ticks),
            f"{low} to {high}: {axis}",
        )
    for low, high in ((0, 0), (0, 0.04), (0, 7200), (0, 864_000), (-1e11, 1e11), (1e11, 1e11), (1e9, 1.0001e9)):
        axis = position_axis(low, high, in_time=True)
        check(
            len(axis.ticks) <= 10 and all(axis.low - 1e-4 <= place <= axis.high + 1e-4 for place, _ in axis.ticks),
            f"{low} to {high}: {axis}",
        )
        check(0 <= axis.part(low) <= 1, f"{low} to {high}: {axis}")
    for low, high in ((0, 0), (0, 2**53 - 1), (2**53 - 1, 2**53 - 1), (5, 7)):
        check(len(position_axis(low, high, in_time=False).ticks) <= 14, f"frames {low} to {high}")
    packets = [(0.0, 1000), (0.04, 500), (1e9, 300)]
    curve = bit_rates(["a"], [packets], position_axis(0, 10, in_time=True)).curves[0]
    check(
        len(curve.ys) <= MOST_PARTS + 3 and max(curve.ys) > 0,
        f"{len(curve.ys)} parts of a file whose last packet is years later",
    )


# -- What is on the page -----------------------------------------------------------------------------------------------


@case
def page_is_safe(lab):
    """Names and keys are shown as text, and nothing is fetched."""
    evil = EVIL
    frames = [{"frameNum": i, "time": i / 25, "metrics": {"vmaf<img src=x>": 50.0 + i, "vmaf": 3.0}} for i in range(3)]
    run = {name: evil for name in ("version", "device", "cpu", "threads", "n_subsample")} | {
        "backend": {"vif": evil, evil: evil}
    }
    encodes = [
        {"encode": i, "name": f"{evil}{i}", "frames": frames, "vmafx": run, "pairing": {evil: 1}, "warnings": [evil]}
        for i in range(2)
    ]
    windows = [{"firstFrame": 0, "lastFrame": 2, "time": 0.0, "pooled": {"vmaf<img src=x>": 1.0}}]
    (lab.folder / "evil.json").write_text(
        json.dumps({"encodes": [{**encode, "windows": windows} for encode in encodes]})
    )
    page = page_of(lab, "evil.json", "--title", evil)
    page.is_safe(scripts=3)
    check_equal(page.all("img"), [], "images")
    check_equal(page.charts()[0]["curves"][0]["name"], f"{evil}0", "name for the script")
    check(evil in "".join(page.words), "the title")
    encodes[0]["pairing"]["paired"] = evil
    (lab.folder / "evil.json").write_text(json.dumps({"encodes": encodes}))
    vmafx(lab, "report", "evil.json", "-o", "page.html").failed(
        1, "evil.json", "encodes[0].pairing.paired is '<script>alert(1)</script>&\"'<!--', and not a number from 0 on"
    )


@case
def pages_escape_all_texts(lab):
    """The templates escape each text that a page shows, not the readers of reports."""
    encode = read_scores(report_of(lab))[0]
    for name in (EVIL, EVIL.swapcase()):
        encode.scores[name] = encode.scores["vmaf"]
        encode.pooled[name] = encode.pooled["vmaf"]
    encode.name, encode.warnings = EVIL, [EVIL]
    encode.run, encode.pairing = {"version": EVIL, "backend": {EVIL: EVIL}}, {"paired": EVIL, EVIL: EVIL}
    encode.windows = [replace_pooled(window, EVIL) for window in encode.windows]
    evil_page = page_module.Page([encode, encode], [EVIL, "vmaf"], title=EVIL, warnings=[EVIL])
    picture = Picture(Label(EVIL, 1), EVIL, EVIL, EVIL, problem=EVIL, telling=EVIL)
    link = Link(EVIL, f"#{EVIL}")
    frame = WorstFrame(EVIL, link, EVIL, 0, 0.0, [picture, replace(picture, data=EVIL)], link)
    worst = WorstFrames(EVIL, True, [frame])  # folded where it is not the first
    found = scenes.Scenes(
        EVIL,
        [
            scenes.SceneList(
                Label(EVIL, 1),
                EVIL,
                EVIL,
                Table(
                    [EVIL],
                    [[EVIL], [Label(EVIL, 9)], [Lines([EVIL, EVIL])], [Strong(EVIL)], [link]],
                    intro=EVIL,
                    notes=[EVIL],
                ),
            )
        ],
    )
    sections = [replace(section, worst=[worst, worst]) for section in page_module._sections(evil_page)]
    texts = [
        page_module.make_page(evil_page),
        render_report(
            EVIL,
            sections=sections,
            scenes=found,
            cards_of=EVIL,
            facts=[EVIL],
            said=[EVIL],
            verdict=[Said(EVIL, [[EVIL, link]])],
        ),
    ]
    for number, text in enumerate(texts):
        path = lab.folder / f"{number}.html"
        path.write_text(text)
        page = Content(path)
        check(
            "<script" not in text and text.count("&lt;script&gt;alert(1)") > 20,
            "the texts are not there, or not as texts",
        )
        page.allows(scripts=0)
        check_equal([own["src"] for own in page.all("img")], [EVIL] * 4 * number, "pictures")
        page.has(EVIL, f"{EVIL} of each frame over time")
    templates = Path(page_module.__file__).parent / "templates"
    for path in templates.iterdir():
        check(
            not re.search(r"\|\s*safe|autoescape|Markup|style=", path.read_text()),
            f"{path.name} has something that is not escaped",
        )


def render_report(title, **values):
    """Makes a page of these parts only."""
    nothing = {
        "facts": [],
        "said": [],
        "warnings": [],
        "cards_of": "",
        "cards": [],
        "sections": [],
        "verdict": [],
        "bit_rate": None,
        "windows": [],
        "several": False,
        "runs": [Table([EVIL, EVIL], [[EVIL, EVIL]])],
        "doubts": None,
    }
    return render("report.html", title, **{**nothing, **values})


def replace_pooled(window, key):
    return window._replace(pooled={**window.pooled, key: 1.0})


@case
def policy_in_chromium(lab):
    """A foreign script is not run, even if it stands on the page."""
    write_csv(lab.folder / "scores.csv", 1, 50)
    page_of(lab, "scores.csv")
    path = lab.folder / "page.html"
    foreign = '<script>document.title = "run"</script><img src="x" onerror="document.title = 1">'
    foreign += '<p style="color: red">x</p>'
    path.write_text(path.read_text().replace("</h1>", f"</h1>{foreign}", 1))
    for width, said, document in opened_in_chromium(lab, path):
        check_equal(re.findall("<title>(.*?)</title>", document), ["Scores of encode 0"], f"title, {width} wide")
        for what in ("Executing inline script", "Executing inline event handler", "Applying inline style"):
            check(what in said, f"'{what}' is not in {said}")


@case
def page_without_dygraphs(lab):
    """The command says that the page cannot zoom; its curves are pictures, without a script."""
    write_csv(lab.folder / "scores.csv", 2, 50)
    program = (
        "import sys; from vmafx.command import report, __main__; report.DYGRAPHS = (); "
        "sys.exit(__main__.main(sys.argv[1:]))"
    )
    words = ["/usr/bin/python3", "-c", program, "report", "scores.csv", "-o", "page.html"]
    done = subprocess.run(words, cwd=lab.folder, env=environment(lab), capture_output=True, text=True)
    check_equal((done.returncode, len(done.stderr.splitlines())), (0, 1), done.stderr)
    check("the page cannot zoom: install Debian's package libjs-dygraphs" in done.stderr, done.stderr)
    page = Content(lab.folder / "page.html")
    check_equal(page.scripts, [], "scripts")
    check_equal(len([path for path in page.all("path") if path["d"].count("L") == 49]), 2, "curves of 50 points")
    page.has("0:00.0", "0:01.0", "encode 0")


@case
def pictures_are_of_the_worst_frames(lab):
    """Frame n of the reference has the luma 20 + 10 n; the encode is 60 brighter in frame 13."""
    plain = "nullsrc=s=64x48:r=25:d=0.8,format=gray,geq=lum="
    lab.run("-f lavfi -i", f"{plain}20+10*N", "-c:v ffv1 ref.mkv").succeeded()
    lab.run("-f lavfi -i", f"{plain}20+10*N+60*eq(N\\,13)", "-c:v ffv1 dist.mkv").succeeded()
    vmafx(
        lab,
        "score",
        "dist.mkv",
        "ref.mkv",
        "--model",
        "none",
        "--feature",
        "name=psnr:enable_chroma=false",
        "--report",
        "page.html",
        "--log",
        "scores.csv",
    ).succeeded()
    vmafx(
        lab, "report", "scores.csv", "-o", "again.html", "--media", "dist.mkv", "--reference", "ref.mkv", "--worst", 1
    ).succeeded()
    for name in ("page.html", "again.html"):
        page = Content(lab.folder / name)
        lumas = [luma_of(image["src"]) for image in page.all("img")]
        check_equal([round(luma / 5) for luma in lumas[:2]], [30, 42], f"luma of {name}: {lumas}")
        page.has("frame 13 at 0:00.520", "reference")


@case
def pictures_of_another_file_are_refused(lab):
    """The report tells the size and the packets of what was scored; the same packets in another container are that."""
    plain = "nullsrc=s=64x48:r=25:d=0.8,format=gray,geq=lum="
    for name, luma in ("ref.mkv", "20+10*N"), ("dist.mkv", "22+10*N"), ("other.mkv", "random(1)*200"):
        lab.run("-f lavfi -i", plain + luma, f"-c:v ffv1 {name}").succeeded()
    lab.run("-i dist.mkv -c copy moved.mov").succeeded()
    only = "--model", "none", "--feature", "name=psnr:enable_chroma=false"
    vmafx(lab, "score", "dist.mkv", "ref.mkv", *only, "--log", "scores.json").succeeded()
    page_of(lab, "scores.json", "--media", "dist.mkv", "--reference", "ref.mkv", "--worst", 1)
    page_of(lab, "scores.json", "--media", "moved.mov", "--reference", "ref.mkv", "--worst", 1)
    words = "report", "scores.json", "-o", "none.html", "--media"
    vmafx(lab, *words, "other.mkv").failed(
        1, "other.mkv is another file than dist.mkv, which was scored", "name that one with --media"
    )
    vmafx(lab, *words, "dist.mkv", "--reference", "other.mkv").failed(
        1, "other.mkv is another file than ref.mkv, which was scored", "name that one with --reference"
    )
    check(not (lab.folder / "none.html").exists(), "a page of another file")


def luma_of(uri):
    data = base64.b64decode(uri.removeprefix("data:image/jpeg;base64,"))
    with av.open(io.BytesIO(data)) as image:
        frame = next(image.decode(video=0))
        check_equal((frame.width, frame.height), (64, 48), "samples of a picture")
        return frame.to_ndarray(format="gray").mean()


@case
def bit_rates_are_those_of_the_file(lab):
    page = page_of(lab, report_of(lab), "--media", lab.clips.dist, "--scenes", 0)
    check("Scenes" not in page.words, "scenes that nobody wants")
    with av.open(str(lab.clips.dist)) as file:
        size = sum(packet.size for packet in file.demux(video=0))
    page.has("Bit rate", f"{8e-6 * size / (FRAMES / 25):.3f}")
    curve = page.charts()[-1]["curves"][0]
    check_equal((curve["y"], curve["x"]), ([round(8e-3 * size / (FRAMES / 25))] * 2, [0, FRAMES * 40]), "the only part")


@case
def windows_are_listed(lab):
    page = page_of(lab, report_of(lab))
    check_equal(
        len([words for words in page.words if re.match(r"frame \d+ at", words)]),
        9,
        "worst frames of two scores, and the one of the first screen",
    )
    page.has("Windows", "0–9", "10–19", "0:00.400")
    content = json.loads((lab.folder / "scores.json").read_text())
    content["windows"] = [
        {"firstFrame": i, "lastFrame": i, "time": i / 25, "pooled": {"vmaf": 90.0 - i % 50}} for i in range(100)
    ]
    (lab.folder / "many.json").write_text(json.dumps(content))
    page = page_of(lab, "many.json")
    page.has("The 60 windows with the worst vmaf of 100.", "99–99")
    check("0–0" not in page.words and page.text.count("–") < 200, "windows that are not among the worst")


def rows_of(page, heading):
    """Returns the rows of the table below a heading, as texts."""
    words = page.words[page.words.index(heading) :]
    cells = words[words.index("first frame") + 2 :]
    return [cells[i : i + 9] for i in range(0, len(cells) - 8, 9) if re.fullmatch(r"\d+:\d\d\.\d{3}", cells[i + 1])]


@case
def scenes_are_listed(lab):
    """Scenes are listed for cuts at frames 12 and 30.

    The encode is 4 brighter in the first scene, 8 in frame 20, and 2 in all other frames.
    """
    plain = "nullsrc=s=64x48:r=25:d=2,format=gray,geq=lum=60+120*between(N\\,12\\,29)+50*gt(N\\,29)"
    lab.run("-f lavfi -i", plain, "-c:v ffv1 ref.mkv").succeeded()
    lab.run("-f lavfi -i", f"{plain}+2+2*lt(N\\,12)+6*eq(N\\,20)", "-c:v ffv1 dist.mkv").succeeded()
    command = (
        "dist.mkv",
        "ref.mkv",
        "--model",
        "none",
        "--feature",
        "name=psnr:enable_chroma=false",
        "--log",
        "scores.json",
    )
    vmafx(lab, "score", *command, "--report", "page.html").succeeded()
    pages = [
        Content(lab.folder / "page.html"),
        page_of(lab, "scores.json", "--media", "dist.mkv", "--reference", "ref.mkv", "--worst", 1),
    ]
    of_2, of_4, of_8 = (20 * math.log10(255 / error) for error in (2, 4, 8))
    mean, harmonic = (17 * of_2 + of_8) / 18, 18 / (17 / (of_2 + 1) + 1 / (of_8 + 1)) - 1
    wanted = [
        ["1", "0:00.000", *[f"{of_4:.2f}"] * 3, "0:00.000", "0:00.480", "0", "12"],
        ["2", "0:00.480", f"{mean:.2f}", f"{harmonic:.2f}", f"{of_8:.2f}", "0:00.800", "0:00.720", "12", "18"],
        ["3", "0:01.200", *[f"{of_2:.2f}"] * 3, "0:01.200", "0:00.800", "30", "20"],
    ]
    for page in pages:
        check_equal(rows_of(page, "Scenes"), wanted, "scenes")
    pages[1].has("FFmpeg’s scdet=10 finds 2 cuts in ref.mkv.")
    one = page_of(lab, "scores.json", "--media", "dist.mkv", "--scenes", 90)
    one.has("FFmpeg’s scdet=90 finds no cuts in dist.mkv.")
    check_equal(
        [row[:2] + row[6:] for row in rows_of(one, "Scenes")],
        [["1", "0:00.000", "0:02.000", "0", "50"]],
        "scenes without cuts",
    )
    content = json.loads((lab.folder / "scores.json").read_text())
    (lab.folder / "part.json").write_text(json.dumps({**content, "frames": content["frames"][15:]}))
    part = page_of(lab, "part.json", "--media", "dist.mkv")
    part.has("FFmpeg’s scdet=10 finds 1 cut in dist.mkv.")
    check_equal(
        [[*row[:2], row[6], row[8]] for row in rows_of(part, "Scenes")],
        [["1", "0:00.600", "0:00.600", "15"], ["2", "0:01.200", "0:00.800", "20"]],
        "scenes of a range",
    )


@case
def many_scenes_are_folded(lab):
    """The worst scenes come first, then others in the order of time, as many as there is room for."""
    write_csv(lab.folder / "film.csv", 2, 12_000)
    encodes = read_scores(lab.folder / "film.csv")
    found, scenes._ffmpeg.cuts = scenes._ffmpeg.cuts, lambda *_: [0.4 + 6 * i / 24 for i in range(1, 2000)]
    try:
        text = render_report(
            "T", scenes=scenes.scenes_of_page(encodes, ["vmaf"], Media("ffmpeg", ["a", "b"], "r", {"r": 0.4}), 10)
        )
    finally:
        scenes._ffmpeg.cuts = found
    (lab.folder / "page.html").write_text(text)
    page = Content(lab.folder / "page.html")
    check_equal(["open" in own for own in page.all("details")], [True, False, False, False], "folded lists")
    page.has("FFmpeg’s scdet=10 finds 1999 cuts in r.", "encode 1", "The next 750; 1240 better ones are left out")
    worst, others = (
        rows[:size]
        for size, rows in (
            (10, rows_of(page, "encode 1")),
            (750, rows_of(page, "The next 750; 1240 better ones are left out")),
        )
    )
    means = [float(row[2]) for row in worst]
    check(means == sorted(means) and means[-1] <= min(float(row[2]) for row in others), "the worst are not first")
    numbers = [int(row[0]) for row in others]
    check(numbers == sorted(numbers) and {row[8] for row in worst + others} == {"6"}, "order")
    check(all(int(row[7]) == 6 * (int(row[0]) - 1) for row in worst + others), "the first frames")
    check(len(text) < 400_000, f"{len(text)} bytes")
    said = scenes.scenes_of_page(encodes, ["vmaf"], Media(lab.ffmpeg, ["none.mkv"], None), 10)
    check_equal(
        said,
        scenes.Scenes("cannot find the scenes of none.mkv: No such file or directory"),
        "of a file that is not there",
    )


@case
def report_errors(lab):
    good = report_of(lab)
    (lab.folder / "text.json").write_text("no report")
    (lab.folder / "list.json").write_text("[1, 2]")
    (lab.folder / "broken.json").write_text('{"frames": [')
    (lab.folder / "broken.xml").write_text("<VMAF><frames>")
    (lab.folder / "empty.json").write_text('{"frames": []}')
    shutil.copy(lab.clips.ref, lab.folder / "video.json")
    (lab.folder / "broken").mkdir()
    for name in ("dygraph.min.js", "dygraph.min.css"):
        (lab.folder / "broken" / name).write_bytes(b"\xff\xfe")
    for words, status, text in (
        (("none.json",), 1, "cannot read none.json: No such file"),
        *(
            ((name,), 1, f"{name} is not a report of vmafx or libvmaf")
            for name in ("text.json", "list.json", "broken.json", "broken.xml", "video.json")
        ),
        (("empty.json",), 1, "empty.json has no scores of frames"),
        ((good, "--score", "vmad"), 1, "no report has the score vmad: choose one of integer_adm2"),
        ((good, "--media", "a", "b"), 2, "--media names 2 files for 1 encodes"),
        ((good, "--reference", "a"), 2, "--reference needs the encodes, too"),
        ((good, "--media", "none.mp4"), 1, "cannot read none.mp4"),
        ((good, "--dygraphs", "/nowhere"), 1, "/nowhere lacks dygraph.min.js or dygraph.min.css"),
        *(
            ((good, "--worst", worst), 2, f"argument --worst: '{worst}' is not a number of frames: give 0 to 1000")
            for worst in ("-5", "x", "1001", "1e3")
        ),
        ((good, "--dygraphs", lab.folder / "broken"), 1, "broken/dygraph.min.css: it is not a text in UTF-8"),
        ((good, "--scenes", "101"), 2, "argument --scenes: '101' is not a threshold: give a number from 0 to 100"),
        ((good, "-o", "none/page.html"), 1, "cannot write none/page.html: the folder none does not exist"),
        ((good, "-o", "."), 1, "it is a folder"),
    ):
        vmafx(lab, "report", "-o", "page.html", *words).failed(status, text)
    check(not list(lab.folder.glob("page.html*")), "a page is left")


# -- In a browser ------------------------------------------------------------------------------------------------------

# Zooms by the mouse, points at a curve, and returns what the page shows there.
POINTER = """
  const stage = document.querySelector(".stage"), box = stage.getBoundingClientRect();
  const at = (kind, part) => new MouseEvent(kind, {bubbles: true, view: window, clientX: box.left + part * box.width,
  clientY: box.top + 50}); const canvas = stage.querySelectorAll("canvas")[1]; canvas.dispatchEvent(at("mousemove",
  0.5)); const whole = document.querySelector(".said").textContent; canvas.dispatchEvent(at("mousedown", 0.4));
  document.dispatchEvent(at("mousemove", 0.6)); document.dispatchEvent(at("mouseup", 0.6)); const buttons =
  [...document.querySelectorAll(".bar button")].map((button) => !button.hidden); document.title = JSON.stringify({whole,
  buttons, plots: [...document.querySelectorAll(".live .plot")].filter((plot) => plot.offsetHeight).length,
    stages: document.querySelectorAll(".stage").length,
    wide: document.documentElement.scrollWidth > innerWidth});"""


@case
def page_in_chromium(lab):
    """At two widths, light and dark, the page draws the curves, zooms all of them at once, and fits into the window."""
    dygraphs = Path("/usr/share/javascript/dygraphs")
    if not dygraphs.is_dir():
        raise Skip("Debian's libjs-dygraphs is not installed")
    write_csv(lab.folder / "scores.csv", 2, 3000, ("vmaf", "psnr_y"))
    page_of(lab, "scores.csv", dygraphs=dygraphs)
    for width, seen in in_chromium(lab, lab.folder / "page.html", POINTER):
        check_equal(
            (seen["plots"], seen["stages"], seen["buttons"], seen["wide"]), (0, 2, [True, True], False), f"{width} wide"
        )
        check(
            re.match(r"[\d.]+ frame 1[2-6]\d\d, [01]:\d\d\.\d{3}[\d.]+ frame 1[2-6]\d\d, [01]:", seen["whole"]),
            seen["whole"],
        )
