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
