"""What vmafx score does with what is seen in the pictures: what is sure is followed, the rest is a doubt."""

import csv
import json
import sys
from fractions import Fraction

from cases_fleet import library, needs_dask, records, write_list
from cases_jobs import settings
from command import vmafx
from common import FRAMES, HEIGHT, WIDTH, case, check, check_equal, slow_case
from pages import Content
from vmafx.command import _look, _scoring
from vmafx.command._changes import Turn
from vmafx.command._corrections import decide
from vmafx.command._findings import NOTES, Finding, Piece
from vmafx.command._scores import read_scores

EXPANDED, COMPRESSED = 255 / 219, 219 / 255
LOSSLESS = "-c:v ffv1"
PSNR = "--model", "none", "--feature", "psnr", "--scale", "reference"


def sure(kind, certainty="sure", pairs=FRAMES, **evidence):
    return Finding(kind, certainty, pairs, {name.rstrip("_"): value for name, value in evidence.items()})


def damaged(lab, filters, words="", name="dist.mkv", source=None):
    lab.run("-i", source or lab.clips.ref, "-vf", filters, f"{LOSSLESS} {words}".strip(), name).succeeded()
    return str(lab.folder / name)


def prepared(lab, *dists, ref=None, **options):
    own = settings(lab, models=(), features=("psnr",), **options)
    return _scoring.prepare(own, list(dists), str(ref or lab.clips.ref))


def psnr_of(lab, work, key="psnr_y"):
    log = lab.folder / "scores.json"
    _scoring.score(work, log)
    scores = read_scores(log)[0].scores[key]
    return sum(scores) / len(scores)


def followed(lab, work, *findings):
    changes = decide(work, [[Piece(FRAMES, findings)]])
    check(changes is not None, f"{findings} are not followed")
    return _scoring.prepare_again(work, changes)


def is_repaired(lab, dist, *findings, least=59.0, ref=None, key="psnr_y", worst=45.0, says="", **options):
    """Checks that the pictures of a clip differ, and that they do not once the findings are followed."""
    before = prepared(lab, dist, ref=ref, **options)
    check(psnr_of(lab, before, key) < worst, f"{findings}: {psnr_of(lab, before, key)} before")
    after = followed(lab, before, *findings)
    check(psnr_of(lab, after, key) >= least, f"{findings}: {psnr_of(lab, after, key)} after: {after.notes}")
    check(any(says in note and "as the pictures show" in note for note in after.notes), after.notes)
    return after


# -- Each kind ---------------------------------------------------------------------------------------------------------


@case
@slow_case
def pictures_that_are_turned_are_turned_back(lab):
    square = damaged(lab, "crop=104:104", name="square.mkv")
    for filters, kinds in {
        "hflip": {"mirrored": {}},
        "vflip": {"flipped": {}},
        "hflip,vflip": {"rotated": {"degrees": 180}},
        "transpose=clock": {"rotated": {"degrees": 90}},
        "transpose=cclock": {"rotated": {"degrees": 270}},
        "hflip,transpose=clock": {"mirrored": {}, "rotated": {"degrees": 90}},
        "hflip,transpose=cclock": {"mirrored": {}, "rotated": {"degrees": 270}},
    }.items():
        dist = damaged(lab, filters, source=square)
        findings = [sure(kind, **evidence) for kind, evidence in kinds.items()]
        is_repaired(lab, dist, *findings, ref=square, says="dist.mkv is turned or mirrored")


@case
@slow_case
def turns_are_a_group(lab):
    """Two turns after each other are the turn that their filters make together."""
    turns = [Turn(quarters, mirrored) for quarters in range(4) for mirrored in (False, True)]
    square = damaged(lab, "crop=64:64:9:5", name="square.mkv")

    def hash_of(filters):
        words = ("-vf", ",".join(filters)) if filters else ()
        return lab.run("-v error -i", square, *words, "-frames:v 1 -f md5 -").succeeded()

    for number, one in enumerate(turns):
        other = turns[(3 * number + 2) % len(turns)]
        both = damaged(lab, ",".join([*one.filters, *other.filters]) or "null", name="both.mkv", source=square)
        once = damaged(lab, ",".join(one.then(other).filters) or "null", name="once.mkv", source=square)
        same = prepared(lab, both, ref=once)
        check_equal(psnr_of(lab, same), 60.0, f"{one}, then {other}")
    check_equal(Turn.parse("hflip+90"), Turn(0, True).then(Turn(1)), "parsed")


@case
@slow_case
def parts_of_pictures_are_compared(lab):
    cut = {"left": 4, "top": 2, "right": 2, "bottom": 2}
    after = is_repaired(lab, damaged(lab, "crop=186:104:4:2"), sure("cropped", **cut), says="crop=186:104:4:2")
    check_equal((after.ref.width, after.ref.height), (186, 104), "the reference's size")
    after = is_repaired(
        lab, damaged(lab, f"crop=186:104:4:2,scale={WIDTH}:{HEIGHT}"), sure("cropped", **cut), least=28.0, worst=24.0
    )
    check(any("scaled to the reference's 186x104" in note for note in after.notes), after.notes)
    borders = sure("padded", left=2.1, right=4, top=2, bottom=1.9)
    dist = damaged(lab, "crop=186:104:4:2,pad=192:108:2:2")
    is_repaired(lab, dist, sure("cropped", **cut), borders, says="cut off (crop=186:104:2:2)")
    moved = damaged(lab, "crop=190:104:0:4,pad=192:108:2:0")
    is_repaired(lab, moved, sure("shifted", x=2, y=-4), says="crop=190:104:2:0")
    check_equal(decide(prepared(lab, moved), [[Piece(FRAMES, [sure("shifted", x=0.5, y=0)])]]), None, "half a sample")


@case
@slow_case
def levels_are_those_of_the_pictures(lab):
    to_full, to_limited = "scale=in_range=tv:out_range=pc", "scale=in_range=pc:out_range=tv"
    dist = damaged(lab, f"{to_full},setparams=range=tv", "-color_range tv")
    is_repaired(lab, dist, sure("range", gain=EXPANDED), least=48.0, says="dist.mkv has samples of full range")
    dist = damaged(lab, "setparams=range=pc", "-color_range pc")
    is_repaired(lab, dist, sure("range", gain=COMPRESSED), says="dist.mkv has samples of limited range")
    dist = damaged(lab, f"{to_limited},setparams=range=tv", "-color_range tv")
    is_repaired(lab, dist, sure("range", gain=COMPRESSED), least=48.0, says="ref.mkv has samples of full range")
    # A format that means the full range.
    lab.run(
        "-i",
        lab.clips.ref,
        "-vf",
        "format=yuvj420p,setparams=range=pc",
        "-c:v mjpeg -q:v 1 -color_range pc",
        "dist.mkv",
    ).succeeded()
    work = prepared(lab, str(lab.folder / "dist.mkv"))
    high = psnr_of(lab, work)
    wrong = followed(lab, work, sure("range", gain=COMPRESSED))
    check(psnr_of(lab, wrong) < high - 10, f"{psnr_of(lab, wrong)}, {high}: the samples stay as they are")
    dist = damaged(lab, "scale=in_color_matrix=smpte170m:out_color_matrix=bt709")
    is_repaired(
        lab, dist, sure("matrix", from_=6, to=1), key="psnr_cr", least=44.0, worst=40.0, says="the color matrix bt709"
    )


@case
def times_are_those_of_the_pictures(lab):
    late = damaged(lab, "trim=start_frame=3,setpts=PTS-STARTPTS")
    after = is_repaired(lab, late, sure("offset", frames=3), says="begins 3 frames (0.120 s) later")
    check_equal(after.changes[0].later, Fraction(3, 25), "offset")
    early = damaged(lab, "tpad=start=2:color=black")
    after = is_repaired(lab, early, sure("offset", frames=-2), says="begins 2 frames (0.080 s) earlier")
    back = followed(lab, after, sure("offset", frames=2))
    check_equal(back.changes[0].later, 0, "an offset that adds up to none")


@case
def frames_are_paired_by_number_or_decimated(lab):
    # Where frames are repeated evenly, the rates alone lead to the right ones: pictures need not differ before.
    cadence, ref = sure("cadence", repeated=1, of=6), lab.clips.ref
    repeated = damaged(lab, "fps=30:round=up", "-r 30")
    after = is_repaired(lab, repeated, cadence, worst=61.0, says="repeats one of 6 frames")
    check(after.preparation.dist[0].times.endswith("decimate=cycle=6"), after.preparation)
    check(not after.dists[0].can_seek, "a part may be scored by itself")
    after = is_repaired(lab, str(ref), cadence, ref=repeated, worst=61.0, says="dist.mkv repeats one of 6")
    check_equal(after.ref.rate, 25, "the reference's rate")
    fast = damaged(lab, "settb=1/50,setpts=N", "-r 50", "fast.mkv")
    is_repaired(lab, fast, sure("other_pictures"), worst=55.0, says="paired by number", as_is=True)


# -- What is not followed ----------------------------------------------------------------------------------------------


@case
def what_is_not_sure_of_all_pairs_stays_a_doubt(lab):
    dist, ref = str(lab.clips.dist), lab.clips.ref
    work = prepared(lab, dist)
    crops = [sure("cropped", left=left) for left in (2, 6)]
    turned = sure("mirrored")
    for what, pieces in {
        "nothing": [[]],
        "likely": [[sure("mirrored", certainty="likely")]],
        "a segment": [[sure("mirrored", pairs=FRAMES)], [], []],
        "pieces that disagree": [[crops[0]], [crops[1]], [crops[0]]],
        "a kind that nothing can be done about": [[sure("dropped", frames=1), sure("chroma_swapped"), sure("bars")]],
    }.items():
        check_equal(decide(work, [[Piece(FRAMES, findings) for findings in pieces]]), None, what)
    some = Piece(500, [sure("mirrored", pairs=300)])
    check_equal(decide(work, [[some]]), None, "300 pairs of 500")
    most = [[turned], [turned], []]
    check(decide(work, [[Piece(FRAMES, findings) for findings in most]]), "two pieces of three")
    both = prepared(lab, dist, str(ref))
    check_equal(decide(both, [[Piece(FRAMES, [crop])] for crop in crops]), None, "two encodes with other crops")
    changes = decide(both, [[Piece(FRAMES, [crops[0]])]] * 2)
    check_equal(changes[-1].crop, (WIDTH - 2, HEIGHT, 2, 0), "two encodes with one crop")
    changes = decide(both, [[Piece(FRAMES, [turned])], [Piece(FRAMES, [crops[0]])]])
    check_equal([change.turn for change in changes], [Turn(0, True), Turn(), Turn()], "one encode is turned alone")


@case
def options_by_hand_stay(lab):
    """What an option has set is not changed again."""
    dist = damaged(lab, "hflip")
    for words, kind in (
        (("--rotate", "180"), sure("mirrored")),
        (("--crop", "180:100:0:0"), sure("padded", left=2)),
        (("--range-of", "limited"), sure("range", gain=EXPANDED)),
        (("--matrix-of", "bt601"), sure("matrix", from_=6, to=1)),
    ):
        work = by_hand(lab, dist, *words)
        asked = decide(work, [[Piece(FRAMES, [kind])]])
        check(asked is None or asked[0] == work.changes[0], f"{words}: {asked}")


def by_hand(lab, dist, *words):
    import argparse

    from vmafx.command import score

    parser = argparse.ArgumentParser()
    score.add_arguments(parser)
    changes = score.changes_by_hand(parser.parse_args([dist, str(lab.clips.ref), *words]), 1)
    return _scoring.prepare(settings(lab), [dist], str(lab.clips.ref), changes=changes)


# -- The command -------------------------------------------------------------------------------------------------------

FAKE = """#!{python}
import json, re, subprocess, sys
graph = sys.argv[sys.argv.index("-filter_complex") + 1] if "-filter_complex" in sys.argv else ""
words = [word.replace(":check=off", "") if {old} else word for word in sys.argv[1:]]
done = subprocess.run([{ffmpeg!r}, *words])
found = re.search("log_path=([^:\\[]+)", graph)
if found and not done.returncode:
    with open({calls!r}, "a") as calls:
        print(graph, file=calls)
    if {unless!r} not in graph and found[1].endswith(".json"):
        with open(found[1]) as file:
            report = json.load(file)
        for encode in report.get("encodes", [report]):
            last = encode["frames"][-1]["frameNum"]
            encode["doubts"] = [*encode.get("doubts", []), *({{"to": last, **doubt}} for doubt in {doubts!r})]
        with open(found[1], "w") as file:
            json.dump(report, file)
sys.exit(done.returncode)
"""


def faking(lab, *doubts, unless="no filter"):
    """Makes an ffmpeg whose reports have these doubts, unless its graph has a filter; returns it and the file that gets
    each graph.
    """
    path, calls = lab.folder / "faking-ffmpeg", lab.folder / "calls"
    own = [
        {"kind": "mirrored", "certainty": "sure", "from": 0, "text": "a text", "remedies": ["a remedy"], "evidence": {}}
        | doubt
        for doubt in doubts
    ]
    old = " check " not in lab.run("-hide_banner -h filter=vmafx").stderr
    path.write_text(
        FAKE.format(python=sys.executable, old=old, ffmpeg=lab.ffmpeg, calls=str(calls), unless=unless, doubts=own)
    )
    path.chmod(0o755)
    return {"VMAFX_FFMPEG": path}, calls


@case
def short_inputs_are_looked_at_while_they_are_scored(lab):
    """Nothing is run besides where nothing is seen; what is sure makes a second run."""
    dist = damaged(lab, "hflip")
    fake, calls = faking(lab, unless="hflip")
    vmafx(lab, "score", dist, lab.clips.ref, *PSNR, **fake).succeeded()
    check_equal(len(calls.read_text().splitlines()), 1, "runs")
    fake, calls = faking(lab, {}, unless="hflip")
    done = vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--json", "--strict", "--log", "log.json", **fake)
    done.succeeded().says("dist.mkv is turned or mirrored, as the pictures show: turned back (hflip)", "--as-is")
    encode = json.loads(done.out)["encodes"][0]
    check_equal((encode["pooled"]["psnr_y"]["mean"], encode["doubts"]), (60.0, []), "scores")
    check(any("hflip" in note for note in json.loads(done.out)["preparation"]), done.out)
    check_equal(len(calls.read_text().splitlines()), 3, "runs")
    check_equal(lab.json("log.json")["frames"][0]["metrics"]["psnr_y"], 60.0, "the log is that of the last run")
    done = vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--json", "--as-is", **fake).succeeded()
    check(json.loads(done.out)["encodes"][0]["pooled"]["psnr_y"]["mean"] < 30, done.out)
    check("check=off" in calls.read_text().splitlines()[-1], calls.read_text())


@case
def a_csv_log_has_no_findings(lab):
    """So the pictures are looked at before."""
    dist = damaged(lab, "hflip")
    fake, calls = faking(lab, {}, unless="hflip")
    vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--log", "log.csv", **fake).succeeded()
    with open(lab.folder / "log.csv", newline="") as file:
        check_equal([row["psnr_y"] for row in csv.DictReader(file)], ["60.000000"] * FRAMES, "scores")
    graphs = calls.read_text().splitlines()
    check_equal(["scores.csv" in graph for graph in graphs], [False, False, True], graphs)


@case
@slow_case
def long_inputs_are_looked_at_before(lab):
    """Three pieces are looked at, and all is scored once."""
    for name, filters in (("ref.mkv", "null"), ("dist.mkv", "vflip")):
        source = f"testsrc2=s=96x54:r=25:d=50,{filters}"
        lab.run("-f lavfi -i", source, "-c:v libx264 -preset ultrafast -qp 0 -g 25", name).succeeded()
    fake, calls = faking(lab, {"kind": "flipped"}, unless="vflip")
    done = vmafx(lab, "score", "dist.mkv", "ref.mkv", *PSNR, "--json", **fake).succeeded()
    check_equal(json.loads(done.out)["encodes"][0]["pooled"]["psnr_y"]["mean"], 60.0, "scores")
    graphs = calls.read_text().splitlines()
    check_equal(len(graphs), 7, graphs)
    ranges = [graph.partition(":range=")[2].partition("[")[0].partition(":")[0] for graph in graphs[:3]]
    check_equal(ranges, ["-3.400s", "23.050s-26.450s", "46.100s-49.500s"], "times")
    check("range=" not in graphs[-1] and "vflip" in graphs[-1], graphs[-1])
    fake, calls = faking(lab)
    calls.unlink()
    vmafx(lab, "score", "dist.mkv", "ref.mkv", *PSNR, "--as-is", **fake).succeeded()
    check_equal(len(calls.read_text().splitlines()), 1, "runs with --as-is")


@case
def doubts_are_shown(lab):
    """Doubts are in the table's last lines, in the JSON and on the page, and --strict ends with a status of its own."""
    dropped = {
        "kind": "dropped",
        "from": 7,
        "to": 7,
        "text": "main lacks 1 frame of the reference",
        "remedies": ["encode again"],
        "evidence": {"frames": 1},
    }
    bars = {"kind": "bars", "text": "both have black bars"}
    clips = lab.clips.dist, lab.clips.ref
    fake, _ = faking(lab, dropped, bars)
    words = *PSNR, "--report", "page.html", "--log", "log.json"
    done = vmafx(lab, "score", *clips, *words, "--strict", **fake)
    check_equal(done.status, 3, done.err)
    check_equal(
        done.out.splitlines()[-1],
        "doubtful: main lacks 1 frame of the reference (sure, pair 7)",
        "the table's last line",
    )
    for page in (lab.folder / "page.html", report_of(lab, "log.json")):
        content = Content(page)
        content.is_safe(len(content.scripts) - bool(len(content.scripts)))
        for word in ("Doubts", "main lacks 1 frame of the reference", "sure", "pair 7", "encode again"):
            check(word in content.words, f"{word}: {content.words}")
        check("both have black bars" not in content.words, "a note")
        check(any("pairs that are sure to be wrong are shaded" in word for word in content.words), content.words)
        check(page.read_text().count('<path class="wrong" d="M') == 1, "the chart of the one score")
    vmafx(lab, "score", *clips, *words, **fake).succeeded()
    done = vmafx(lab, "score", *clips, *PSNR, "--json", "--strict", **fake)
    check_equal(done.status, 3, done.err)
    doubts = json.loads(done.out)["encodes"][0]["doubts"]
    check_equal([doubt["kind"] for doubt in doubts], ["dropped", "bars"], "doubts")
    fake, _ = faking(lab, bars)
    vmafx(lab, "score", *clips, *PSNR, "--strict", **fake).succeeded()


def report_of(lab, log):
    vmafx(lab, "report", log, "-o", "report.html").succeeded()
    return lab.folder / "report.html"


@case
@slow_case
def a_library_records_doubts(lab):
    """A pair that is mirrored is scored as its pictures show, alone; doubts are in the results, and --strict tells."""
    needs_dask()
    damaged(lab, "hflip")
    text = "a plane is gray"
    fake, _ = faking(lab, {}, {"kind": "gray", "text": text, "certainty": "likely"}, unless="hflip")
    rows = [["dist.mkv", lab.clips.ref, "", "none", "psnr"], [lab.clips.dist, lab.clips.ref, "other", "none", "psnr"]]
    listed = write_list(lab, rows)
    words = listed, "-o", "results.jsonl", "--workers", 1, "--scale", "reference", "--strict", "--report", "page.html"
    library(lab, *words, **fake).succeeded()
    first, second = sorted(records(lab.folder / "results.jsonl"), key=lambda record: record["id"])
    check_equal(first["pooled"]["psnr_y"]["mean"], 60.0, "a mirrored encode")
    check(any("hflip" in note for note in first["notes"]) and not first["doubts"], first)
    # The fake reports doubts of whatever is not mirrored back, so this one is mirrored, too.
    check(second["pooled"]["psnr_y"]["mean"] < 20, second["pooled"])
    fake, _ = faking(lab, {"kind": "gray", "text": text, "certainty": "likely"})
    done = library(lab, listed, "-o", "doubts.jsonl", "--workers", 1, "--strict", "--report", "page.html", **fake)
    check_equal(done.status, 3, done.err)
    check("2 scored, 0 failed" in done.out and "2 doubtful" in done.out, done.out)
    for record in records(lab.folder / "doubts.jsonl"):
        check_equal([doubt["kind"] for doubt in record["doubts"]], ["gray"], record["id"])
    check(any(text in word for word in Content(lab.folder / "page.html").words), "the page")
    done = library(lab, listed, "-o", "tags.jsonl", "--workers", 1, "--as-is", **fake).succeeded()
    check_equal(len(records(lab.folder / "tags.jsonl")), 2, "results")


@case
def reports_call_kinds_as_the_library_does(lab):
    """The merge finds the enumerators of kinds and certainties by the words of reports."""
    from vmafx._enums import names_of, values_of
    from vmafx._library import ffi, library

    kinds, certainties = names_of("VmafxFindingKind"), names_of("VmafxCertainty")
    check_equal(certainties, {0: "possible", 1: "likely", 2: "sure"}, "certainties")
    check_equal(values_of("VmafxWorse"), {"low": 0, "high": 1, "neither": 2}, "worse scores")
    findings = ffi.new("VmafxFinding[]", [{"kind": kind, "certainty": kind % 3, "from": 0, "end": 1} for kind in kinds])
    of_pairs = names_of("VmafxDoubtKind")
    doubts = ffi.new("VmafxDoubt[]", [{"kind": kind, "end": 1} for kind in of_pairs])
    pairing = ffi.new("VmafxPairing *", {"paired": 1, "doubts": doubts, "n_doubts": len(of_pairs)})
    key, path = ffi.new("char[]", b"vmaf"), ffi.new("char[]", bytes(lab.folder / "kinds.json"))
    scores = ffi.new("VmafxScore[]", [{"key": key, "value": 90.0}])
    frames = ffi.new("VmafxFrameResult[]", [{"n_scores": 1, "scores": scores}])
    told = {"pairing": pairing, "findings": findings, "n_findings": len(kinds)}
    stream = ffi.new("VmafxReportStream *", told)
    report = ffi.new("VmafxReport *", {"path": path, "n_frames": 1, "frames": frames, "stream": stream})
    check_equal(library().vmafx_write_report(report), 0, "status")
    doubts_told = lab.json("kinds.json")["doubts"]
    wanted = [(name, None) for name in of_pairs.values()]
    wanted += [(name, certainties[kind % 3]) for kind, name in kinds.items() if name not in NOTES]
    check_equal([(doubt["kind"], doubt.get("certainty")) for doubt in doubts_told], wanted, "kinds and certainties")


# -- What the filter sees ----------------------------------------------------------------------------------------------

MOVING = (
    "mandelbrot=s=320x180:r=25:end_pts=150,trim=duration=4[back]",
    "testsrc2=s=160x90:r=25:d=4[front]",
    "[back][front]overlay=x='40+30*sin(n/9)':y='30+20*cos(n/13)':format=yuv420,format=yuv420p",
)
ENCODED = "-c:v libx264 -preset ultrafast -crf 20"


def moving(lab):
    lab.run("-filter_complex", ";".join(MOVING), "-t 4 -c:v libx264 -preset ultrafast -qp 0", "moving.mkv").succeeded()
    return lab.folder / "moving.mkv"


def encode_scored(lab, ref, filters, *words, codec=ENCODED):
    """Returns the finished command and the encode's result."""
    lab.run("-i", ref, "-vf", filters, codec, "dist.mkv").succeeded()
    done = vmafx(lab, "score", "dist.mkv", ref, *PSNR, "--json", *words)
    return done, json.loads(done.out)["encodes"][0]


@case
def what_the_filter_is_sure_of_is_followed(lab):
    ref = moving(lab)
    for filters, codec, says, least in (
        ("hflip", "", "is turned or mirrored, as the pictures show: turned back (hflip)", 40),
        ("scale=in_range=tv:out_range=pc,setparams=range=tv", "-color_range tv", "has samples of full range", 40),
        ("trim=start_frame=3,setpts=PTS-STARTPTS", "", "begins 3 frames (0.120 s) later than the reference", 40),
        ("crop=312:174:4:2,scale=320:180", "", "crop=312:174:4:2", 33),
    ):
        done, encode = encode_scored(lab, ref, filters, "--strict", codec=f"{ENCODED} {codec}".strip())
        done.succeeded().says(says)
        check(encode["pooled"]["psnr_y"]["mean"] > least, f"{filters}: {encode['pooled']['psnr_y']}")
        check_equal(encode["doubts"], [], filters)


@case
def what_cannot_be_followed_is_a_doubt(lab):
    ref = moving(lab)
    for filters, kind in (
        ("shuffleplanes=0:2:1", "chroma_swapped"),
        ("select='not(eq(n,50))',setpts=N/25/TB", "dropped"),
        ("null", None),
    ):
        done, encode = encode_scored(lab, ref, filters, "--strict", codec=f"{ENCODED} -r 25")
        check_equal(done.status, 3 if kind else 0, f"{filters}: {done.err}")
        check_equal([doubt["kind"] for doubt in encode["doubts"]], [kind] if kind else [], filters)


# -- Options -----------------------------------------------------------------------------------------------------------


@case
@slow_case
def changes_by_hand_are_made(lab):
    for filters, words, least in (
        ("hflip", ("--rotate", "hflip"), 60),
        ("hflip,vflip", ("--rotate", "180"), 60),
        ("crop=186:104:4:2", ("--crop", "reference=186:104:4:2"), 60),
        ("pad=192:110", ("--crop", "192:108:0:0"), 60),
        ("scale=in_range=tv:out_range=pc,setparams=range=tv", ("--range-of", "full"), 48),
        ("settb=1/50,setpts=N", ("--pair-by", "number"), 60),
    ):
        dist = damaged(lab, filters, "-r 50" if "N" in filters else "")
        done = vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--json", *words).succeeded()
        encode = json.loads(done.out)["encodes"][0]
        check(encode["pooled"]["psnr_y"]["min"] >= least, f"{words}: {encode['pooled']['psnr_y']}")
        check_equal((encode["frames"], encode["doubts"]), (FRAMES, []), f"{words}")
    dist = damaged(lab, "scale=in_color_matrix=smpte170m:out_color_matrix=bt709")
    words = "--matrix-of", "bt709", "--matrix-of", "reference=bt601"
    done = vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--json", *words).succeeded()
    check(json.loads(done.out)["encodes"][0]["pooled"]["psnr_cr"]["mean"] >= 44, done.out)


@case
def wrong_options_are_named(lab):
    clips = lab.clips.dist, lab.clips.ref
    for words, text in (
        (("--crop", "10"), "'10' is not a part of a picture: use WIDTH:HEIGHT:LEFT:TOP"),
        (("--crop", "0:10:0:0"), "the part 0:10:0:0 is empty"),
        (("--crop", f"{WIDTH}:{HEIGHT}:2:0"), f"dist.mp4 is {WIDTH}x{HEIGHT}: the part {WIDTH}:{HEIGHT}:2:0 does not"),
        (("--rotate", "45"), "'45' is not a rotation: use 90, 180, 270, hflip, vflip"),
        (("--range-of", "wide"), "'wide' is not known here: use one of limited, tv, full, pc"),
        (("--matrix-of", "reference=rgb"), "'rgb' is not known here"),
        (("--pair-by", "hand"), "invalid choice"),
        (("--crop", "9:9:0:0", "--crop", "9:9:0:0"), "give --crop once for all encodes or once for each, not 2"),
        (("--rotate", "reference=90", "--rotate", "reference=90"), "give --rotate once for the reference"),
    ):
        vmafx(lab, "score", *clips, *words).failed(2, text)


@case
@slow_case
def a_picture_on_its_side_is_turned(lab):
    """A phone's picture whose rotation was lost is turned the right way round, or refused if nothing tells how."""
    for filters, degrees in (("transpose=cclock", 90), ("transpose=clock", 270)):
        dist = damaged(lab, filters)
        done = vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--json").succeeded()
        done.says(f"dist.mkv lies on its side, as the pictures show: turned by {degrees} degrees")
        check_equal(json.loads(done.out)["encodes"][0]["pooled"]["psnr_y"]["mean"], 60.0, filters)
    vmafx(lab, "score", dist, lab.clips.ref, *PSNR, "--as-is").failed(1, "have different shapes")
    other = damaged(lab, "transpose=clock,geq=lum=128:cb=128:cr=128", name="gray.mkv")
    vmafx(lab, "score", other, lab.clips.ref, *PSNR).failed(1, "gray.mkv (108x192) and", "have different shapes")
