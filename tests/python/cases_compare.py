"""vmafx compare: the table, bit rates, BD-rates, hulls, scores that are computed and kept, the page."""

import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from random import Random
from types import SimpleNamespace

import av
from command import Done, environment, vmafx
from common import ALL, FRAMES, Skip, case, check, check_equal, slow_case, top
from pages import Content, in_chromium
from vmafx.command.comparison.bootstrap import interval_of_mean
from vmafx.command.comparison.comparison import Comparison
from vmafx.command.comparison.delta import INSTALL_LINE, METHODS, Measured, compare_curves
from vmafx.command.comparison.hull import leads, upper_hull
from vmafx.command.comparison.output import as_json, write_csv, write_differences
from vmafx.command.comparison.points import points_of
from vmafx.command.comparison.scores import take_scores
from vmafx.command.comparison.table import read_table
from vmafx.command.page.comparison import make_page, rate_axis

PSNR = "--model", "none", "--feature", "name=psnr:enable_chroma=false"
RATES = 400, 800, 1600, 3200


def write_table(lab, rows, name="table.jsonl"):
    (lab.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def report(lab, name, **scores):
    """Writes a report of two frames, each with these scores."""
    (lab.folder / name).write_text(
        f"Frame,{','.join(scores)},\n" + "".join(f"{i},{','.join(map(str, scores.values()))},\n" for i in range(2))
    )
    return name


def rows_of(lab, series, points, key="psnr_y", **more):
    """Returns rows of a table for (kbit/s, score), with a report for each."""
    names = [
        f"{'-'.join(map(str, (series, *more.values(), number)))}.csv".replace(" ", "_") for number in range(len(points))
    ]
    return [
        {"series": series, "bitrate": rate, "scores": report(lab, name, **{key: score}), **more}
        for name, (rate, score) in zip(names, points)
    ]


def compared(lab, *words, table="table.jsonl", **variables):
    """Returns (the result as JSON, the finished command)."""
    done = vmafx(lab, "compare", table, "--json", *words, **variables).succeeded()
    return json.loads(done.out), done


# -- The table ---------------------------------------------------------------------------------------------------------


@case
def compare_reads_tables(lab):
    """Tables are read as CSV from a spreadsheet and as lines of JSON; paths are relative to the table."""
    folder = lab.folder / "tables"
    folder.mkdir()
    for number in range(4):
        report(lab, f"tables/{number}.csv", psnr_y=30 + number, vmaf=80 + number)
    rows = [
        {"series": 'a, "b"', "bitrate": 100 * 2**number, "scores": f"{number}.csv", "label": f"é{number}"}
        for number in range(4)
    ]
    write_table(lab, rows, "tables/table.jsonl")
    text = io.StringIO()
    writer = csv.DictWriter(text, ["label", "series", "unused", "bitrate", "scores", "file"], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / "table.csv").write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode() + b",,,,,\r\n")
    result, _ = compared(lab, table="tables/table.jsonl")
    again, done = compared(lab, table="tables/table.csv")
    done.says("tables/table.csv: these columns are not used: unused")
    check_equal(again, result, "of CSV")
    check_equal(
        (result["schema"], result["anchor"], result["scores"], result["clips"]),
        (1, 'a, "b"', ["vmaf", "psnr_y"], [""]),
        "result",
    )
    wanted = [(f"é{number}", 100 * 2**number, {"vmaf": 80 + number, "psnr_y": 30 + number}) for number in range(4)]
    check_equal([(point["label"], point["bitrate"], point["values"]) for point in result["points"]], wanted, "points")
    check_equal((result["points"][0]["bytes"], result["points"][0]["frames"]), (None, 2), "size and frames")


@case
def compare_errors(lab):
    report(lab, "a.csv", vmaf=80, float_moment_ref1st=3)
    good = {"series": "s", "scores": "a.csv", "bitrate": 100}
    for row, text in (
        ({"scores": "a.csv", "bitrate": 100}, "table.jsonl, line 2: the series is missing"),
        (
            {"series": "s", "file": "x.mp4"},
            "line 2: give file and reference, which are then scored, or a report in scores",
        ),
        ({"series": "s", "scores": "a.csv"}, "line 2: give file or bitrate"),
        ({**good, "bitrate": "1M"}, "line 2: bitrate must be a number of kbit/s from 0.001 to 1e+09, not 1M"),
        ({**good, "bitrate": 0}, "line 2: bitrate must be a number of kbit/s from 0.001 to 1e+09, not 0"),
        ({**good, "series": ["s"]}, "line 2: series must be a text or a number"),
        (good, "table.jsonl, line 2 and table.jsonl, line 1 name the same encode"),
        ({**good, "scores": "b.csv"}, "cannot read b.csv: No such file"),
        ({**good, "encode": "x"}, "line 2: a.csv has the encodes a: name one of them in the column encode"),
        ({**good, "clip": "c"}, "line 1: the encode has neither clip nor reference, as others have"),
        (
            {"series": "s", "file": "none.mp4", "reference": str(lab.clips.ref), "clip": "c"},
            "line 1: the encode has neither clip nor reference",
        ),
    ):
        write_table(lab, [good, row])
        vmafx(lab, "compare", "table.jsonl", "-o", "page.html", "--csv", "points.csv").failed(1, text)
    for text, wanted in (
        ("", "table.csv has no column series"),
        ("series;file\n", "table.csv has no column series"),
        ("series,file,file\n", "names a column twice"),
        ("series,scores,bitrate\n", "the table table.csv names no encodes"),
        ("series,scores,bitrate\ns,a.csv\n", "line 2: 2 cells for 3 columns"),
        ('series,scores,bitrate\n"s,a.csv,100\n', "not CSV"),
        ('{"series": "s"\n', "line 1: the line is not JSON"),
        ('{"series": "s", "bitrate": 1, "scores": "a.csv"}\n[1]\n', "line 2: the line is not a JSON object"),
    ):
        (lab.folder / "table.csv").write_text(text)
        vmafx(lab, "compare", "table.csv").failed(1, wanted)
    write_table(lab, [{"series": "s", "file": "none.mp4", "reference": str(lab.clips.ref)}])
    vmafx(lab, "compare", "table.jsonl").failed(1, "cannot read none.mp4: No such file")
    write_table(lab, [good])
    for status, words, text in (
        (1, ("--score", "vmad"), "no encode has the score vmad: choose one of vmaf, float_moment_ref1st"),
        (1, ("--score", "float_moment_ref1st"), "float_moment_ref1st does not tell good pictures from bad ones"),
        (2, ("--anchor", "t"), "the table has no series t for --anchor: choose one of s"),
        (2, ("--pool", "p50"), "invalid choice: 'p50'"),
        (1, ("-o", "none/page.html"), "the folder none does not exist"),
        (1, ("--csv", "."), "it is a folder"),
    ):
        vmafx(lab, "compare", "table.jsonl", *words).failed(status, text)
    vmafx(lab, "compare", "none.csv").failed(1, "cannot read none.csv: No such file")
    check_equal([*lab.folder.glob("page*"), *lab.folder.glob("points*")], [], "files")


@case
def encode_of_a_report_of_several(lab):
    """An encode is found in a report of several by its name, else by the name of the file."""
    lines = [
        f"{number},{name},{frame},{score + frame},"
        for number, (name, score) in enumerate((("low.mp4", 50), ("high.mp4", 80)))
        for frame in range(3)
    ]
    (lab.folder / "both.csv").write_text("\n".join(["Encode,Name,Frame,vmaf,", *lines, ""]))
    both = {"series": "s", "scores": "both.csv"}
    write_table(
        lab, [{**both, "bitrate": 100, "file": "somewhere/high.mp4"}, {**both, "bitrate": 50, "encode": "low.mp4"}]
    )
    result, _ = compared(lab)
    check_equal([point["values"]["vmaf"] for point in result["points"]], [81, 51], "means")
    result, _ = compared(lab, "--pool", "min")
    check_equal(([point["values"]["vmaf"] for point in result["points"]], result["pool"]), ([80, 50], "min"), "minima")
    write_table(lab, [{**both, "bitrate": 100, "file": "other.mp4"}])
    vmafx(lab, "compare", "table.jsonl").failed(1, "both.csv has the encodes low.mp4, high.mp4: name one of them")


@case
def bit_rates_of_files(lab):
    """The bit rate is that of the video's own bytes over its duration."""
    lab.run("-f lavfi -i sine=d=2 -i", lab.clips.dist, "-map 0 -map 1 -c:v copy -c:a flac sound.mkv").succeeded()
    lab.run("-i", lab.clips.dist, "-c:v libx264 raw.h264").succeeded()
    report(lab, "a.csv", vmaf=80)
    write_table(lab, [{"series": "s", "scores": "a.csv", "file": "sound.mkv"}])
    result, _ = compared(lab)
    with av.open(str(lab.clips.dist)) as file:
        size = sum(packet.size for packet in file.demux(video=0))
    point = result["points"][0]
    check(abs(point["bytes"] - size) <= 64, f"{point['bytes']}, wanted {size}")
    check(abs(point["bitrate"] - 8e-3 * point["bytes"] / (FRAMES / 25)) < 0.01, point["bitrate"])
    write_table(lab, [{"series": "s", "scores": "a.csv", "file": "raw.h264"}])
    vmafx(lab, "compare", "table.jsonl").failed(
        1, "line 1: the bit rate of raw.h264 is not known, as its packets have no times: give it in the column bitrate"
    )


@case
def reports_of_other_files_are_told(lab):
    """A report of `vmafx score` knows the size of its encode."""
    for name, quality in (("low.mp4", 40), ("high.mp4", 20)):
        lab.run("-i", lab.clips.dist, "-c:v libx264 -preset ultrafast -crf", quality, name).succeeded()
    vmafx(lab, "score", "low.mp4", lab.clips.ref, *PSNR, "--log", "low.json").succeeded()
    for file, text in (("low.mp4", ""), ("high.mp4", "its scores in low.json are of low.mp4 with")):
        write_table(lab, [{"series": "s", "scores": "low.json", "file": file}])
        result, _ = compared(lab)
        told = [line for line in result["warnings"] if "its scores in" in line]
        check(len(told) == bool(text) and text in "".join(told), f"{file}: {result['warnings']}")


# -- Hulls -------------------------------------------------------------------------------------------------------------


@case
def hull_is_what_some_slope_prefers(lab):
    """A corner of the hull has a price of a bit at which no other point is better."""
    del lab
    random = Random(3)
    for _ in range(200):
        points = [(random.randint(1, 30), random.randint(0, 30)) for _ in range(random.randint(1, 12))]
        corners = upper_hull(points)
        places = [points[i] for i in corners]
        check_equal(places, sorted(set(places)), f"order of {points}")
        slopes = [(q2 - q1) / (r2 - r1) for r1, q1 in points for r2, q2 in points if r2 > r1]
        prices = sorted({0.0, 1e6, *(max(slope, 0.0) for slope in slopes)})
        prices += [(a + b) / 2 for a, b in zip(prices, prices[1:])]
        wanted = set()
        for price in prices:
            best = max(quality - price * rate for rate, quality in points)
            wanted.add(
                tuple(
                    sorted(
                        {
                            (rate, quality)
                            for rate, quality in points
                            if math.isclose(quality - price * rate, best, abs_tol=1e-6)
                        }
                    )
                )
            )
        alone = {ties[0] for ties in wanted if len(ties) == 1}
        check(alone <= set(places), f"{points}: {alone - set(places)} are not on the hull {places}")
        on_a_side = {place for ties in wanted for place in ties}
        check(set(places) <= on_a_side, f"{points}: {set(places) - on_a_side} are on the hull")


@case
def best_series_by_rate(lab):
    """Lines are drawn over the logarithm of the rate: 10 + 20 t and 40 t meet at t = 1/2, between 100 and 1000."""
    del lab
    one, other = [(100.0, 10.0), (1000.0, 30.0)], [(100.0, 0.0), (1000.0, 40.0), (2000.0, 41.0)]
    found = leads({"one": one, "other": other})
    check_equal(
        [(lead.series, lead.follows, lead.crosses) for lead in found],
        [("one", False, False), ("other", True, True)],
        "series",
    )
    wanted = [100, 100 * math.sqrt(10), 100 * math.sqrt(10), 2000]
    got = [end for lead in found for end in (lead.begin, lead.end)]
    check(all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(got, wanted)), got)
    found = leads({"one": one, "two": [(1000.0, 20.0), (4000.0, 50.0)], "far": [(9000.0, 1.0), (9900.0, 2.0)]})
    check_equal(
        [(lead.series, lead.follows, lead.crosses) for lead in found],
        [("one", False, False), ("two", True, False), ("far", False, False)],
        "series",
    )
    check_equal(leads({"one": one[:1]}), [], "of a single point")


@case
def hull_of_a_metric_whose_high_scores_are_worse(lab):
    write_table(
        lab,
        [
            *rows_of(lab, "a", zip_points([4, 3, 1, 2]), "cambi"),
            *rows_of(lab, "b", zip_points([3.5, 3.2, 3.1, 0]), "cambi"),
        ],
    )
    result, _ = compared(lab)
    check_equal(
        [point["bitrate"] for point in result["points"] if point["on_hull"] == ["cambi"]],
        [1600, 400, 3200],
        "rates on the hull",
    )
    check_equal(
        [(lead["series"], round(lead["begin"])) for lead in result["leads"]][0], ("b", 400), "best at the lowest rate"
    )


def zip_points(scores, rates=RATES):
    return list(zip(rates, scores))


# -- Many titles -------------------------------------------------------------------------------------------------------


@case
def intervals_of_means_by_bootstrap(lab):
    """Equal values leave no doubt, two values have three means, and many have the interval of the normal distribution.
    The same values have the same interval in every run.
    """
    del lab
    check_equal((interval_of_mean([]), interval_of_mean([3.0])), (None, None), "too few")
    check_equal(interval_of_mean([2.5] * 9), (2.5, 2.5), "equal values")
    check_equal(interval_of_mean([0.0, 1.0]), (0, 1), "means of 0, 1/2, 1 with 1/4, 1/2, 1/4")
    random = Random(7)
    values = [random.gauss(-20, 8) for _ in range(400)]
    mean = math.fsum(values) / 400
    half = 1.96 * math.sqrt(math.fsum((value - mean) ** 2 for value in values)) / 400
    low, high = interval_of_mean(values)
    check(abs((mean - low) / half - 1) < 0.05 and abs((high - mean) / half - 1) < 0.05, f"{low} {high} {mean} {half}")
    check_equal(interval_of_mean(values), (low, high), "again")


def compared_by_hand(lab):
    """Returns the comparison of three series over two clips, by a library that compares the lowest rates. The rates are
    1, 4/5 and 1/2 of the anchor's, or in the other clip 1, 3/5, 1/2.
    """
    rows = []
    for clip, parts in (("one", (1, 0.8, 0.5)), ("two", (1, 0.6, 0.5))):
        for series, part in zip(("a", "b", "c"), parts):
            points = zip_points([50, 65, 78, 88], [rate * part for rate in RATES])
            rows += rows_of(lab, series, points, "vmaf", clip=clip)
    write_table(lab, rows)
    points = points_of(read_table(lab.folder / "table.jsonl"), None)
    take_scores(points, None, None, "mean")
    library = SimpleNamespace(
        bd_rate=lambda one, _, other, *__, **___: 100 * (other[0] / one[0] - 1), bd_psnr=lambda *_, **__: 1.5
    )
    return Comparison(points, ["vmaf"], "a", "mean", "pchip", library)


@case
def many_titles_have_a_matrix_and_ladders(lab):
    """Means, intervals and ladders that can be computed by hand are in JSON, in CSV and on the page."""
    comparison = compared_by_hand(lab)
    result = as_json(comparison)
    wanted = {("a", "b"): -30, ("a", "c"): -50, ("b", "a"): (25 + 100 / 1.5) / 2, ("c", "a"): 100}
    wanted |= {("b", "c"): (-37.5 - 100 / 6) / 2, ("c", "b"): 40}
    got = {(cell["anchor"], cell["series"]): cell["bd_rate"] for cell in result["matrix"]}
    check_equal(set(got), set(wanted), "pairs")
    check(all(math.isclose(got[pair], wanted[pair]) for pair in wanted), f"{got}, wanted {wanted}")
    (mean, _), (low, high) = result["means"], result["means"][0]["bd_rate_interval"]
    check(math.isclose(mean["bd_rate"], -30) and math.isclose(low, -40) and math.isclose(high, -20), str(mean))
    check_equal(result["bootstrap"], {"draws": 10_000, "seed": 1, "confidence": 0.95}, "how")
    ladder = result["ladders"][0]
    check_equal((ladder["score"], ladder["clip"]), ("vmaf", "one"), "ladder")
    rungs = [(rung["series"], rung["bitrate"], rung["value"], rung["gain"]) for rung in ladder["rungs"]]
    check_equal(rungs, [("c", 200, 50, None), ("c", 400, 65, 15), ("c", 800, 78, 13), ("c", 1600, 88, 10)], "rungs")
    text = io.StringIO()
    write_differences(comparison, text)
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    check_equal(len(rows), 2 * 2 + 6, "lines of CSV")
    check_equal(
        [rows[4][name] for name in ("clip", "clips", "bd_rate", "bd_rate_low")],
        ["mean", "2", "-30.000000", "-40.000000"],
        "",
    )
    points = io.StringIO()
    write_csv(comparison, points)
    found = [row["vmaf_rung"] for row in csv.DictReader(io.StringIO(points.getvalue()))]
    check_equal(found[:12], [""] * 8 + ["1", "2", "3", "4"], "rungs in CSV")
    (lab.folder / "page.html").write_text(make_page(comparison))
    page = Content(lab.folder / "page.html")
    page.is_safe()
    page.has("Each against each", "Ladders of the clips", "-40.00 % to -20.00 %", "-30.00 %", "+100.00 %", "+15.000")


# -- BD-rates ----------------------------------------------------------------------------------------------------------


@case
def line_that_installs_the_library_is_documented(lab):
    documented = re.sub(r" \\\n +", " ", (top / "docs/command.md").read_text())
    check(f"\n    {INSTALL_LINE}\n" in documented, "docs/command.md has another line than delta.py")


WITH_LIBRARIES = "import sys; from vmafx.command.__main__ import main; sys.exit(main())"


def library_folder(lab):
    """Returns a folder with the package bjontegaard and all that it needs."""
    folder = lab.folder.parent / "bjontegaard"
    if find_spec("bjontegaard"):
        folder.mkdir(exist_ok=True)
    elif not folder.exists():
        if not ALL:
            raise Skip("the package bjontegaard is not installed; VMAFX_TEST_ALL=1 fetches it with pip")
        part = folder.with_suffix(".part")
        done = subprocess.run(
            [sys.executable, "-m", "pip", "-q", "install", "--target", part, "bjontegaard==1.3.0"],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Skip(f"pip cannot fetch the package bjontegaard: {done.stderr.strip().splitlines()[-1]}")
        part.rename(folder)
    return folder


def with_library(lab, *words):
    path = f"{library_folder(lab)}:{top / 'python'}"
    words = [sys.executable, "-c", WITH_LIBRARIES, "compare", "table.jsonl", *map(str, words)]
    settings = environment(lab, PYTHONPATH=path, MPLCONFIGDIR=lab.folder / "matplotlib")
    return Done(
        subprocess.run(
            words, cwd=lab.folder, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
    )


def deltas_of(lab, *words):
    """Returns ({(score, clip, series): delta}, the whole result)."""
    result = json.loads(with_library(lab, "--json", *words).succeeded().out)
    return {(delta["score"], delta["clip"], delta["series"]): delta for delta in result["deltas"]}, result


# JCTVC-E137, with the BD-rates of its own spreadsheet, as libvmaf's tests have them
# (python/test/bd_rate_calculator_test.py): in percent, by pchip.
JCTVC_E137 = (
    (
        [(108048.8736, 43.6471), (61279.976, 40.3953), (33905.6656, 37.247), (18883.6928, 34.2911)],
        [(108061.2784, 43.6768), (61299.9936, 40.4232), (33928.7472, 37.2761), (18910.912, 34.3147)],
        -0.465215420752807,
    ),
    (
        [(40433.8848, 37.5761), (7622.7456, 35.3756), (2394.488, 33.8977), (1017.6184, 32.0603)],
        [(40370.12, 37.5982), (7587.0024, 35.4025), (2390.0944, 33.9194), (1017.0984, 32.0822)],
        -1.8779823450567612,
    ),
)
# The results of the example in bjontegaard's README, by its release 1.3.0: {method: (BD-rate, BD-PSNR)}.
README = (
    [(9487.76, 40.037), (4593.60, 38.615), (2486.44, 36.845), (1358.24, 34.851)],
    [(9787.80, 40.121), (4469.00, 38.651), (2451.52, 36.970), (1356.24, 34.987)],
    {
        "cubic": (-4.4204627061, 0.1204094191),
        "pchip": (-4.4174853506, 0.1196927854),
        "akima": (-4.4252451570, 0.1194092703),
    },
)


@case
def bd_rates_that_were_published(lab):
    """Published BD-rates come out, whatever the order of points in the table."""
    rows = []
    for number, (anchor, test, _) in enumerate(JCTVC_E137):
        rows += rows_of(lab, "anchor", anchor, clip=f"clip{number}") + rows_of(
            lab, "test", test[::-1], clip=f"clip{number}"
        )
    write_table(lab, rows)
    deltas, result = deltas_of(lab)
    wanted = [rate for _, _, rate in JCTVC_E137]
    got = [deltas["psnr_y", f"clip{number}", "test"]["bd_rate"] for number in range(2)]
    check(all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(got, wanted)), f"{got}, wanted {wanted}")
    mean = result["means"][0]
    check_equal((mean["series"], mean["rate_clips"], mean["score_clips"]), ("test", 2, 2), "mean")
    check(math.isclose(mean["bd_rate"], sum(wanted) / 2, rel_tol=1e-9), mean)
    write_table(lab, rows_of(lab, "anchor", README[0]) + rows_of(lab, "test", README[1]))
    for method, (rate, psnr) in README[2].items():
        delta = deltas_of(lab, "--method", method)[0]["psnr_y", "", "test"]
        check(
            math.isclose(delta["bd_rate"], rate, rel_tol=1e-8) and math.isclose(delta["bd_score"], psnr, rel_tol=1e-8),
            f"{method}: {delta}",
        )


@case
def bd_rates_by_hand(lab):
    """Equal scores at 4/5 of the rates give -20 % by each method; scores that are 2 higher at equal rates give 2."""
    points = zip_points([50, 65, 78, 88])
    rows = rows_of(lab, "anchor", points, "vmaf") + rows_of(
        lab, "cheaper", [(0.8 * rate, score) for rate, score in points], "vmaf"
    )
    rows += rows_of(lab, "better", [(rate, score + 2) for rate, score in points], "vmaf")
    write_table(lab, rows)
    for method in METHODS:
        deltas, _ = deltas_of(lab, "--method", method)
        check(math.isclose(deltas["vmaf", "", "cheaper"]["bd_rate"], -20, rel_tol=1e-6), f"{method}: {deltas}")
        check(math.isclose(deltas["vmaf", "", "better"]["bd_score"], 2, rel_tol=1e-6), f"{method}: {deltas}")
    deltas, _ = deltas_of(lab, "--anchor", "cheaper")
    check(math.isclose(deltas["vmaf", "", "anchor"]["bd_rate"], 25, rel_tol=1e-6), deltas)
    banding = zip_points([9, 6, 4, 3])
    write_table(
        lab,
        rows_of(lab, "anchor", banding, "cambi")
        + rows_of(lab, "cheaper", [(0.8 * rate, score - 0.5) for rate, score in banding], "cambi"),
    )
    delta = deltas_of(lab)[0]["cambi", "", "cheaper"]
    check(delta["bd_rate"] < -20 and delta["bd_score"] < -0.5, f"less banding for less: {delta}")
    done = with_library(lab, "-o", "page.html").succeeded()
    check("BD-rate" in done.out and "against anchor, pchip" in done.out, done.out)
    Content(lab.folder / "page.html").has(
        "Against anchor", f"{delta['bd_rate']:+.2f} %", f"{delta['bd_score']:+.3f}", "BD-cambi"
    )


@case
def bd_rates_that_there_are_none(lab):
    del lab
    library = SimpleNamespace(bd_rate=lambda *_, **__: 1.0, bd_psnr=lambda *_, **__: 2.0)
    good = [Measured(rate, score, f"{rate}.mp4") for rate, score in zip_points([50, 65, 78, 88])]

    def tried(test, anchor=good, **settings):
        delta = compare_curves(library, anchor, test, "pchip", **settings)
        return delta.rate, delta.quality, " ".join(delta.problems), " ".join(delta.warnings)

    check_equal(tried(good), (1, 2, "", ""), "of good ones")
    check_equal(tried(good[:3])[:3], (None, None, "the series has 3 points, but at least 4 are needed"), "too few")
    check_equal(tried(good, [])[:3], (None, None, "the anchor has 0 points, but at least 4 are needed"), "none")
    check_equal(tried([*good, good[-1]])[2], "the series has two points of 3200 kbit/s (3200.mp4, 3200.mp4)", "twice")
    falling = [*good[:3], good[3]._replace(quality=77.5)]
    rate, quality, problem, _ = tried(falling)
    check_equal((rate, quality), (None, 2), "not monotonic")
    check_equal(
        problem,
        "the series is not monotonic: at 3200 kbit/s (3200.mp4) it is 77.5, not better than 78 at 1600 kbit/s "
        "(1600.mp4)",
        "not monotonic",
    )
    check(
        "not better than 65 at 800" in tried(good, worse_is_high=True)[2].replace("50 at 400", ""),
        tried(good, worse_is_high=True),
    )
    lower = [point._replace(quality=point.quality - 45) for point in good]
    rate, quality, problem, _ = tried(lower)
    check_equal(
        (rate, quality, problem),
        (None, 2, "the curves do not overlap: the scores of the anchor are 50 to 88, those of the series 5 to 43"),
        "scores apart",
    )
    dear = [point._replace(rate=point.rate * 10) for point in good]
    check_equal(
        tried(dear)[:3],
        (
            1,
            None,
            "the curves do not overlap: the rates of the anchor are 400 to 3200, those of the series 4000 to 32000",
        ),
        "rates apart",
    )
    half = [point._replace(quality=point.quality - 19) for point in good]
    check_equal(
        tried(half)[3],
        "the curves overlap by only 33 %: the scores of the anchor are 50 to 88, those of the series 31 to 69",
        "little in common",
    )


@case
def bd_rates_where_arithmetic_ends(lab):
    """A library that fails or finds no number is reported as a problem, as are curves that are too close for
    logarithms.
    """
    del lab
    good = [Measured(rate, score, f"{rate}.mp4") for rate, score in zip_points([50, 65, 78, 88])]

    def fail(*_, **__):
        raise ValueError("x must be strictly increasing")

    delta = compare_curves(SimpleNamespace(bd_rate=fail, bd_psnr=lambda *_, **__: math.nan), good, good, "pchip")
    told = [
        "the package bjontegaard computes an infinite difference",
        "the package bjontegaard cannot compute the difference: x must be strictly increasing",
    ]
    check_equal((delta.rate, delta.quality, delta.problems), (None, None, told), "a library that fails")
    rates = [1e9]
    for _ in range(3):
        rates.append(math.nextafter(rates[-1], math.inf))
    close = [Measured(rate, 50.0 + i, "x") for i, rate in enumerate(rates)]
    library = SimpleNamespace(bd_rate=lambda *_, **__: 1.0, bd_psnr=lambda *_, **__: 2.0)
    check_equal(
        compare_curves(library, close, close, "pchip").problems,
        ["the rates are too close to each other"],
        "close rates",
    )


@case
def hostile_tables_are_refused_or_compared(lab):
    """Rates and scores beyond all bounds, and cells that are not texts, are refused or compared."""
    good = rows_of(lab, "s", [(100, 30), (200, 40)], "vmaf")
    for name, value, text in (
        *(
            ("bitrate", rate, f"bitrate must be a number of kbit/s from 0.001 to 1e+09, not {rate}")
            for rate in ((1e-320, 1e308, -1, 0, 1e-4, 1.1e9, "nan", "inf", "-inf") if ALL else (0, 1.1e9, "nan"))
        ),
        ("bitrate", True, "bitrate must be a text or a number"),
        ("bitrate", 10**400, "bitrate must be a number of kbit/s from 0.001 to 1e+09, not 1000000"),
        *(
            (name, text, f"{name} must be a text of at most 4096 characters without NUL and halves of surrogate pairs")
            for name in (("series", "label", "clip", "scores") if ALL else ("series", "scores"))
            for text in ("a\0", "a\ud800")
        ),
        ("label", "x" * 5000, "label must be a text of at most 4096 characters"),
        ("clip", {}, "clip must be a text or a number"),
    ):
        write_table(lab, [good[0], {**good[1], "clip": "c", name: value}])
        vmafx(lab, "compare", "table.jsonl", "-o", "page.html").failed(1, "table.jsonl, line 2: ", text)
    for scores in (
        (1e308, -1e308, 1e308, 5),
        (1e-320, 2e-320, 3e-320, 4e-320),
        (1e15, 1e15, 1e15, 1e15),
        (-1e15, 1e15, 0, 1),
    ):
        write_table(lab, [row for series in "ab" for row in rows_of(lab, series, zip_points(scores), "vmaf")])
        result, done = compared(lab, "-o", "page.html", "--csv", "points.csv")
        values = [score if abs(score) <= 1e15 else None for score in scores] * 2
        check_equal([point["values"].get("vmaf") for point in result["points"]], values, f"values of {scores}")
        check(done.status == 0 and None not in values or "vmaf is infinite or missing" in done.err, done.err)
        Content(lab.folder / "page.html").is_safe()
    for rates in ((1e-3, 1e9), (1e-3, 0.0010000000000000002), (1e9, 999999999.9999999)):
        write_table(lab, rows_of(lab, "a", [(rate, 30 + i) for i, rate in enumerate(rates)], "vmaf"))
        result, _ = compared(lab, "-o", "page.html")
        check_equal([point["bitrate"] for point in result["points"]], list(rates), "rates")


@case
def compare_without_the_library(lab):
    """One line says that the library is missing; everything else is there."""
    write_table(
        lab,
        rows_of(lab, "a", zip_points([50, 65, 78, 88]), "vmaf")
        + rows_of(lab, "b", zip_points([52, 64, 79, 90]), "vmaf"),
    )
    done = vmafx(lab, "compare", "table.jsonl", "-o", "page.html", "--csv", "points.csv").succeeded()
    check_equal(done.err.count("\n"), 1, done.err)
    lacks_numpy = find_spec("bjontegaard") is not None  # these tests block it
    done.says(
        "BD-rates are left out: the package bjontegaard lacks numpy"
        if lacks_numpy
        else "BD-rates are left out: the Python package bjontegaard is not installed: run pip install"
    )
    check("BD-rate" not in done.out and re.search(r"^b +b-3\.csv +3200\.0 +90\.000\*$", done.out, re.M), done.out)
    page = Content(lab.folder / "page.html")
    page.has("vmaf", "Best series by rate", done.err.strip().removeprefix("vmafx: "))
    check("Against a" not in page.words, "differences on the page")
    rows = list(csv.DictReader(io.StringIO((lab.folder / "points.csv").read_text())))
    wanted = [("a", "50.000000", "0"), ("a", "65.000000", "1"), ("a", "78.000000", "0"), ("a", "88.000000", "0")]
    wanted += [("b", "52.000000", "1"), ("b", "64.000000", "0"), ("b", "79.000000", "1"), ("b", "90.000000", "1")]
    check_equal([(row["series"], row["vmaf"], row["vmaf_on_hull"]) for row in rows], wanted, "points")
    result, _ = compared(lab)
    check_equal([(delta["bd_rate"], delta["bd_score"]) for delta in result["deltas"]], [(None, None)], "differences")
    check(
        "BD-rates are left out" in result["deltas"][0]["problems"][0] and result["means"][0]["rate_clips"] == 0,
        result["deltas"],
    )


@case
def scores_that_are_infinite(lab):
    """Encodes with infinite scores are left out of the curve, and a warning names them."""
    rows = rows_of(lab, "a", zip_points([30, 33, 36, 39]))
    report(lab, "a-3.csv", psnr_y="inf", vmaf=99)
    write_table(lab, rows)
    result, done = compared(lab, "-o", "page.html")
    done.says("a-3.csv: psnr_y is infinite or missing in some frames: left out of that curve")
    done.says("a-0.csv, a-1.csv, a-2.csv: vmaf is missing: left out of that curve")
    check_equal([point["values"]["psnr_y"] for point in result["points"]], [30, 33, 36, None], "values")
    check_equal(
        [(point["on_hull"], point["values"]["vmaf"]) for point in result["points"]][2:],
        [(["psnr_y"], None), (["vmaf"], 99)],
        "hull",
    )
    check_equal(len(Content(lab.folder / "page.html").all("svg", **{"class": "point"})), 4, "points on the page")


@case
def encodes_of_other_lengths(lab):
    rows = rows_of(lab, "a", zip_points([30, 33, 36, 39]), clip="one") + rows_of(
        lab, "b", zip_points([30, 33, 36, 39]), clip="two"
    )
    with (lab.folder / rows[1]["scores"]).open("a") as file:
        file.write("2,33,\n")
    write_table(lab, rows)
    _, done = compared(lab)
    done.says(
        "a-one-0.csv, a-one-2.csv, a-one-3.csv: 2 frames have scores, but 3 frames of another encode of that clip"
    ).does_not_say("b-two")


# -- Scoring -----------------------------------------------------------------------------------------------------------


def counting(lab):
    """Writes an ffmpeg that adds a line to a file for each run of the filter."""
    (lab.folder / "ffmpeg").write_text(
        f'#!/bin/sh\ncase "$*" in *-progress*) echo "$*" >>"{lab.folder}/runs" ;; esac\nexec ' f'{lab.ffmpeg} "$@"\n'
    )
    (lab.folder / "ffmpeg").chmod(0o755)
    return lab.folder / "ffmpeg"


def runs(lab):
    """Returns how many encodes each run since the last call has scored."""
    path = lab.folder / "runs"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [line.count(" -i ") - 1 for line in lines]


def encode_ladder(lab, presets=("ultrafast", "medium"), crfs=(20, 26, 32, 38)):
    """Encodes a ladder and returns its rows of the table."""
    rows, encodes = [], []
    for preset in presets:
        for crf in crfs:
            name = f"{preset}-{crf}.mp4"
            encodes += [f"-c:v libx264 -preset {preset} -crf {crf}", name]
            rows.append(
                {"series": f"x264 {preset}", "file": name, "reference": str(lab.clips.ref), "label": f"crf {crf}"}
            )
    lab.run("-i", lab.clips.ref, *encodes).succeeded()
    return rows


@case
@slow_case
def ladder_that_is_scored(lab):
    """Scores agree with `vmafx score`, and need one run.

    Kept scores are used again, except those of a file that has changed.
    """
    rows = encode_ladder(lab, crfs=(20, 38))
    write_table(lab, rows)
    settings = {"VMAFX_FFMPEG": counting(lab)}
    words = *PSNR, "--scores", "kept", "-o", "page.html"
    result, done = compared(lab, *words, **settings)
    check_equal((runs(lab), result["clips"], result["scores"]), ([4], ["ref.mkv"], ["psnr_y"]), "runs, clips, scores")
    row, point = rows[-1], result["points"][-1]
    scored = json.loads(vmafx(lab, "score", row["file"], lab.clips.ref, *PSNR, "--json").succeeded().out)["encodes"][0]
    told = point["values"]["psnr_y"], point["frames"]
    check_equal(told, (scored["pooled"]["psnr_y"]["mean"], FRAMES), f"scores of {row['file']}")
    for curve in (result["points"][:2], result["points"][2:]):
        check(
            all(
                one["bitrate"] > other["bitrate"] and one["values"]["psnr_y"] > other["values"]["psnr_y"]
                for one, other in zip(curve, curve[1:])
            ),
            curve,
        )
    page = (lab.folder / "page.html").read_bytes()
    again, done = compared(lab, *words, **settings)
    done.says("4 of 4 encodes of", "were scored before")
    check_equal(
        (runs(lab), again, (lab.folder / "page.html").read_bytes() == page), ([], result, True), "the second time"
    )
    shutil.copy(lab.folder / "medium-20.mp4", lab.folder / "medium-38.mp4")
    changed, _ = compared(lab, *words, **settings)
    check_equal(
        (runs(lab), changed["points"][3]["values"]), ([1], result["points"][2]["values"]), "one file has changed"
    )
    compared(lab, *words, "--feature", "float_ssim", **settings)
    check_equal(runs(lab), [4], "other options")
    check_equal(len(list((lab.folder / "kept").iterdir())), 9, "reports that are kept")
    vmafx(
        lab, "report", *(lab.folder / "kept").glob("medium-38-*"), "-o", "report.html", "--score", "psnr_y"
    ).succeeded()
    compared(lab, *PSNR, **settings)
    check_equal((runs(lab), len(list((lab.folder / "kept").iterdir()))), ([4], 9), "without a folder")


@case
def encodes_are_made_alike_together(lab):
    """One encode of 10 bits makes the others be scored with 10 bits, too, whether or not in the same run."""
    rows = encode_ladder(lab, ("ultrafast",), (26, 32))
    deep = {"series": "deep", "file": str(lab.clips.dist10), "reference": str(lab.clips.ref)}
    settings = {"VMAFX_FFMPEG": counting(lab)}
    write_table(lab, [*rows, deep])
    result, done = compared(lab, *PSNR, "--scores", "kept", **settings)
    done.says("ultrafast-26.mp4 is yuv420p: scored as yuv420p10le")
    check_equal(runs(lab), [3], "runs")
    next((lab.folder / "kept").glob("ultrafast-26-*")).unlink()
    again, _ = compared(lab, *PSNR, "--scores", "kept", **settings)
    check_equal((runs(lab), again), ([1], result), "one of them again")
    check(any("scored as yuv420p10le" in warning for warning in result["warnings"]), result["warnings"])


@case
def comparison_that_is_interrupted(lab):
    """Scores made before an interrupt are kept: the second run is killed."""
    shutil.copy(lab.clips.ref, lab.folder / "other.mkv")
    rows = encode_ladder(lab, ("ultrafast",), (20, 38))
    write_table(lab, rows + [{**row, "reference": "other.mkv"} for row in rows])
    settings = {"VMAFX_FFMPEG": counting(lab)}
    script = (lab.folder / "ffmpeg").read_text()
    killed = 'case "$*" in *-progress*other.mkv*) kill -9 $$ ;; esac'
    (lab.folder / "ffmpeg").write_text(script.replace("exec ", f"{killed}\nexec "))
    vmafx(lab, "compare", "table.jsonl", *PSNR, "--scores", "kept", **settings).failed(
        137, "ffmpeg was killed by signal 9"
    )
    check_equal((runs(lab), len(list((lab.folder / "kept").iterdir()))), ([2, 2], 2), "kept reports of the first run")
    (lab.folder / "ffmpeg").write_text(script)
    result, _ = compared(lab, *PSNR, "--scores", "kept", **settings)
    check_equal((runs(lab), result["clips"]), ([2], ["ref.mkv", "other.mkv"]), "the rest")
    check_equal(
        [point["values"] for point in result["points"][:2]],
        [point["values"] for point in result["points"][2:]],
        "scores of equal references",
    )


@case
def more_encodes_than_the_filter_takes(lab):
    rows = encode_ladder(lab, ("ultrafast",), range(20, 37))
    write_table(lab, rows)
    result, done = compared(lab, *PSNR, VMAFX_FFMPEG=counting(lab))
    check_equal(runs(lab), [16, 1], "runs")
    done.says("scoring 1 to 16 of 17 encodes", "scoring 17 to 17 of 17 encodes")
    scores = [point["values"]["psnr_y"] for point in result["points"]]
    check(scores == sorted(scores, reverse=True) and len(set(scores)) == 17, scores)


# -- The page ----------------------------------------------------------------------------------------------------------


@case
def page_of_a_comparison(lab):
    """The page has every point of each score of each clip with its title, fetches nothing, and shows names as text."""
    evil = "<script>alert(1)</script>&\"'<!--"
    rows = []
    for clip in ("one", evil):
        for number, series in enumerate((evil, *(f"series {i}" for i in range(9)))):
            rows += rows_of(
                lab, f"s{number}", zip_points([50 + number, 65 + number, 78, 88]), "vmaf", clip=clip[:3].strip("<")
            )
            for row in rows[-4:]:
                row |= {"series": series, "clip": clip, "label": f"at {row['bitrate']}{evil}"}
    write_table(lab, rows)
    vmafx(lab, "compare", "table.jsonl", "-o", "page.html", "--title", evil).succeeded()
    page = Content(lab.folder / "page.html")
    page.is_safe()
    check_equal((page.scripts, page.all("img")), ([], []), "scripts and images")
    points = page.all("svg", **{"class": "point"})
    check_equal(len(points), 80, "points")
    page.has(
        f"series 3, at 800{evil}: 800.0 kbit/s, vmaf 69.000",
        f"series 8, at 400{evil}: 400.0 kbit/s, vmaf 59.000, on the hull",
        "Best series by rate",
    )
    marks = {(own["class"], own["d"]) for own in page.all("path") if own.get("class", "").startswith("mark ")}
    check_equal(len(marks), 10, "pairs of a color and a marker, of ten series")
    check(len(page.text) < 120_000, f"{len(page.text)} bytes")


@case
def axis_of_rates(lab):
    """The axis has some round numbers, wherever the rates are."""
    del lab
    for low, high in (
        (2.0, 2.001),
        (2.0, 2.3),
        (1.2, 3.7),
        (-1.5, 6.0),
        (3.3, 3.5),
        (2.6, 3.5),
        (0.0, 0.0),
        (3.98, 4.02),
        (2.95, 2.99),
    ):
        axis = rate_axis([low, high])
        check(axis.low < low and axis.high > high, f"{low} to {high}: {axis}")
        check(2 <= len(axis.ticks) <= 14, f"{low} to {high}: {axis.ticks}")
        for place, text in axis.ticks:
            check(math.isclose(10**place, float(text.replace(",", "")), rel_tol=1e-5), f"{text} at {10**place}")
            check(axis.low <= place <= axis.high, f"{text} is off the axis")


# Returns the places of the points, and whether one is outside of its plot.
LOOK = """
  const outside = [...document.querySelectorAll(".point")].filter((point) => {
    const own = point.querySelector("circle").getBoundingClientRect();
    const plot = point.closest(".plot").querySelector(".lines").getBoundingClientRect();
    const x = (own.left + own.right) / 2, y = (own.top + own.bottom) / 2;
    return x < plot.left - 1 || x > plot.right + 1 || y < plot.top - 1 || y > plot.bottom + 1 || own.width < 8;
  });
  const fills = new Set([...document.querySelectorAll(".point path")].map((mark) => getComputedStyle(mark).fill));
  document.title = JSON.stringify({points: document.querySelectorAll(".point").length, outside: outside.length, fills:
  fills.size,
    wide: document.documentElement.scrollWidth > innerWidth});"""


@case
def comparison_in_chromium(lab):
    """Every point is in its plot, and the series differ in color."""
    rows = []
    for clip in ("one", "two", "three"):
        for number in range(3):
            rows += rows_of(lab, f"series {number}", zip_points([50 + number, 65, 78 - number, 95]), "vmaf", clip=clip)
    write_table(lab, rows)
    vmafx(lab, "compare", "table.jsonl", "-o", "page.html").succeeded()
    for width, seen in in_chromium(lab, lab.folder / "page.html", LOOK):
        check_equal(seen, {"points": 36, "outside": 0, "fills": 3, "wide": False}, f"{width} wide")
