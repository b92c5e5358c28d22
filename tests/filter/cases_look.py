"""What the pictures say and timestamps and tags do not: warnings, doubts in reports, the exit status."""

from support import case, check, check_equal

TOLD = "The score is doubtful, the pictures show: "
EXCHANGED = f"{TOLD}Cb and Cr of main are exchanged"
REMEDY = "What helps: shuffleplanes=0:2:1 before main."
SOURCE = "testsrc2=s=256x144:r=25:d=6,format=yuv420p,split[a][r]"


def compare(lab, options, damage="shuffleplanes=0:2:1", name="vmafx"):
    return lab.run("-filter_complex", f"{SOURCE};[a]{damage}[d];[d][r]{name}={options}", "-f null -")


def kinds(report):
    return [doubt["kind"] for doubt in report.get("doubts", [])]


@case
def exchanged_planes_are_told(lab):
    """One warning with its remedy, and a doubt in each report that has room for it; the score is printed."""
    for log_fmt in ("json", "ndjson", "xml", "csv"):
        outcome = compare(lab, f"log_path=log.{log_fmt}")
        outcome.score()
        check_equal(outcome.stderr.count(EXCHANGED), 1, "warnings")
        outcome.says(REMEDY)
    check("chroma_swapped" in kinds(lab.json("log.json")), "the report has no doubt")
    check_equal(kinds(lab.json_lines("log.ndjson")[-1]), kinds(lab.json("log.json")), "doubts in NDJSON")
    found = [doubt.get("kind") for doubt in lab.xml("log.xml").iter("doubt")]
    check_equal(found, kinds(lab.json("log.json")), "doubts in XML")


@case
def good_pictures_raise_no_doubt(lab):
    outcome = compare(lab, "check=fail:log_path=log.json", damage="noise=alls=4:allf=t")
    outcome.does_not_say(TOLD).score()
    check_equal(kinds(lab.json("log.json")), [], "doubts")


@case
def a_doubt_is_an_exit_status_if_asked_for(lab):
    """After the score and the report, as fail_below; one line counts the findings."""
    for name, damage in (("ref", "null"), ("dis", "shuffleplanes=0:2:1")):
        lab.run(
            "-filter_complex", f"{SOURCE};[a]{damage}[d];[r]nullsink", "-map [d] -c:v ffv1", f"{name}.mkv"
        ).succeeded()
    outcome = lab.compare("vmafx=check=fail:log_path=log.json", dist="dis.mkv", ref="ref.mkv")
    outcome.failed("check=fail: the pictures raise ", before_score=False)
    check_equal(len(outcome.scores), 1, "score lines")
    check("chroma_swapped" in kinds(lab.json("log.json")), "the report has no doubt")
    compare(lab, "check=perhaps").failed("there is no check=perhaps")


@case
def scores_are_as_without_the_look(lab):
    blind = compare(lab, "check=off:log_path=off.json:score_fmt=%.17g")
    blind.does_not_say(TOLD).score()
    compare(lab, "log_path=on.json:score_fmt=%.17g").score()
    off, on = lab.json("off.json"), lab.json("on.json")
    for frame in on["frames"]:
        frame.pop("doubts", None)
    for key in ("frames", "pooled_metrics", "aggregate_metrics", "pooled_statistics"):
        check(off[key] == on[key], f"{key} changed")
    check_equal(list(on["vmafx"]["backend"]), list(off["vmafx"]["backend"]), "metrics")


@case
def the_name_libvmaf_warns_alone(lab):
    """Neither the report nor the exit status says more than without the look."""
    for check_option in ("", "check=fail:"):
        compare(lab, f"{check_option}log_fmt=json:log_path=on.json", name="libvmaf").says(EXCHANGED).score()
        check("doubts" not in lab.json("on.json") or "chroma_swapped" not in kinds(lab.json("on.json")), "a doubt")
    compare(lab, "check=off:log_fmt=json:log_path=off.json", name="libvmaf").does_not_say(TOLD).score()
    on, off = lab.json("on.json"), lab.json("off.json")
    check_equal(list(on), list(off), "keys of the report")
    check(on["frames"] == off["frames"], "scores changed")


@case
def parts_have_the_doubts_of_the_whole(lab):
    for part in ("0-74", "75-"):
        compare(lab, f"range={part}:log_path={part}.json").score()
    merged = lab.python("-m", "vmafx.command", "merge", "0-74.json", "75-.json", "-o", "whole.json")
    check(merged.returncode == 0, merged.stderr)
    compare(lab, "log_path=one.json").score()
    whole, one = (
        [doubt for doubt in lab.json(name)["doubts"] if doubt["kind"] == "chroma_swapped"]
        for name in ("whole.json", "one.json")
    )
    check_equal(len(whole), 1, "doubts of the merged report")
    check_equal(
        [(doubt["from"], doubt["to"]) for doubt in whole], [(doubt["from"], doubt["to"]) for doubt in one], "pairs"
    )
    check(any(EXCHANGED in text for text in lab.json("whole.json")["warnings"]), "no warning")


MOVING = (
    "mandelbrot=s=320x180:r=25:end_pts=150,trim=duration=8[back];testsrc2=s=160x90:r=25:d=8[front];"
    "[back][front]overlay=x='40+30*sin(n/9)':y='30+20*cos(n/13)':format=yuv420,format=yuv420p"
)
DAMAGES = {
    "hflip": "mirrored",
    "select='not(eq(n,60))',setpts=round(N/25/TB)": "dropped",
    "select='gte(n,3)',setpts=round(N/25/TB)": "offset",
    "hflip,vflip": "rotated",
    "scale=in_range=tv:out_range=pc,setparams=range=tv": "range",
    "scale=in_color_matrix=bt601:out_color_matrix=bt709": "matrix",
    "crop=312:174:4:2,scale=320:180": "cropped",
    "pad=320:188,scale=320:180": "padded",
    "shuffleplanes=0:2:1": "chroma_swapped",
}
MEASURED = {"frames", "degrees", "repeated", "of", "plane"}  # evidence that is counted, not measured


def moving(lab, damage, options, *words, source=MOVING):
    if not (lab.folder / "moving.mkv").exists():
        lab.run("-filter_complex", source, "-c:v ffv1", "moving.mkv").succeeded()
    graph = f"[0]split[a][r];[a]{damage}[d];[d][r]vmafx=feature=name=psnr:model=:{options}"
    return lab.run("-i", "moving.mkv", "-filter_complex", graph, *words, "-f null -")


def told(report):
    """Returns what the sure doubts about pictures say, without the numbers that are measured."""
    return [
        (
            doubt["kind"],
            doubt["certainty"],
            doubt["from"],
            doubt["to"],
            {name: value for name, value in doubt["evidence"].items() if name in MEASURED},
        )
        for doubt in report.get("doubts", [])
        if doubt.get("certainty") == "sure"
    ]


@case
def parts_find_what_one_run_finds(lab):
    """Kinds, pairs and counts of merged reports are those of one run, for each sort of finding."""
    for damage, wanted in DAMAGES.items():
        moving(lab, damage, "log_path=one.json").succeeded()
        one = told(lab.json("one.json"))
        check(wanted in [kind for kind, *_ in one], f"{damage}: {one}")
        parts = []
        for part in ("0-99", "100-149", "150-"):
            moving(lab, damage, f"range={part}:log_path={part}.json").succeeded()
            parts.append(f"{part}.json")
        merged = lab.python("-m", "vmafx.command", "merge", *parts, "-o", "whole.json", "--force")
        check(merged.returncode == 0, merged.stderr)
        check_equal(told(lab.json("whole.json")), one, damage)


@case
def parts_find_where_it_begins_and_ends(lab):
    """Also where a part has too few pairs of it to find it, or where the border lies there."""
    longer, parts = MOVING.replace("duration=8", "duration=16").replace("d=8", "d=16"), ("0-199", "200-")
    for damage, kind, first, last in (
        ("hflip=", "mirrored", 160, 399),
        ("hflip=", "mirrored", 0, 229),
        ("shuffleplanes=0:2:1:", "chroma_swapped", 144, 287),
    ):
        damaged = f"{damage}enable='between(n,{first},{last})'"
        for part in ("", *parts):
            options = f"{part and f'range={part}:'}log_path={part or 'one'}.json:overwrite=1"
            moving(lab, damaged, options, source=longer).succeeded()
        names = (f"{part}.json" for part in parts)
        merged = lab.python("-m", "vmafx.command", "merge", *names, "-o", "whole.json", "--force")
        check(merged.returncode == 0, merged.stderr)
        for name in ("one.json", "whole.json"):
            places = [(kind, *places) for kind, _, *places, _ in told(lab.json(name))]
            check_equal(places, [(kind, first, last)], f"{name}, of {first} to {last}")


@case
def frames_say_what_is_sure(lab):
    """In a report all pairs that a sure finding is of; while the stream runs those after the pairs that show it."""
    print_doubts = "metadata=print:key=lavfi.vmafx.doubts:file=frames.txt"
    for damage in "hflip", "select='not(eq(n,60))',setpts=round(N/25/TB)":
        for log_fmt in ("json", "xml", "csv"):
            moving(lab, damage, f"metadata=1:log_path=log.{log_fmt}:overwrite=1,{print_doubts}").succeeded()
        wanted = {}
        for kind, _, first, last, _ in told(lab.json("log.json")):
            for pair in range(first, last + 1):
                wanted[pair] = [*wanted.get(pair, []), *([] if kind in wanted.get(pair, []) else [kind])]
        frames = lab.json("log.json")["frames"]
        check_equal({frame["frameNum"]: frame["doubts"] for frame in frames if "doubts" in frame}, wanted, "JSON")
        found = {
            int(own.get("frameNum")): own.get("doubts").split()
            for own in lab.xml("log.xml").iter("frame")
            if own.get("doubts")
        }
        check_equal(found, wanted, f"XML: {damage}")
        heads, *rows = (row.split(",") for row in (lab.folder / "log.csv").read_text().splitlines())
        place = heads.index("Doubts")
        check_equal({int(row[0]): row[place].split() for row in rows if row[place]}, wanted, f"CSV: {damage}")
        lines = (lab.folder / "frames.txt").read_text().split()
        early = [int(word.removeprefix("frame:")) for word in lines if word.startswith("frame:")]
        check_equal((early[0] % 48, early[-1]), (0, max(wanted)), f"{damage}: frames with metadata")
        check(early[0] > min(wanted), f"{damage}: frame {early[0]} has metadata, and {min(wanted)} is the first wrong")
        kinds_of_frames = {word.removeprefix("lavfi.vmafx.doubts=") for word in lines if word.startswith("lavfi")}
        check(DAMAGES[damage] in kinds_of_frames, f"{damage}: {kinds_of_frames}")
    outcome = moving(lab, "null", f"metadata=1:log_path=log.csv:overwrite=1,{print_doubts}")
    outcome.succeeded().does_not_say("The pictures show so far")
    check_equal((lab.folder / "frames.txt").read_text(), "", "metadata of good pairs")
    check("Doubts" not in (lab.folder / "log.csv").read_text(), "a column of doubts")


@case
def a_stream_is_warned_of_while_it_runs(lab):
    """With lines that are written early, and where scores are not kept."""
    for options in ("log_path=log.ndjson", "pooled_only=1", "metadata=1"):
        outcome = moving(lab, "hflip", options).succeeded()
        check_equal(outcome.stderr.count("The pictures show so far: main is mirrored"), 1, options)
        outcome.says(f"{TOLD}main is mirrored")
    lines = lab.json_lines("log.ndjson")
    check_equal([line["frameNum"] for line in lines[:-1] if "doubts" in line][0] % 48, 0, "the first line")
    moving(lab, "hflip", "log_path=log.json").does_not_say("so far")
