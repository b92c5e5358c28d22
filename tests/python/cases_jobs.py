"""A stream scored in parts has the scores of a single run, to the last bit."""

import ctypes
import json
import os
import pickle

import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import starts
import vmafx as vmafx_module
from cases_ranges import encode_pair
from cases_score import OLD_REPORT, seen_on_a_terminal
from command import AT_OWN_SIZE, Done, environment, vmafx
from common import ALL, case, check, check_equal, gray_pairs, raises, slow_case, top
from vmafx.command import _ffmpeg, _map_files, _parts
from vmafx.command._heatmaps import HEAT, Folder, of_ranges
from vmafx.command._known_metrics import METRICS
from vmafx.command._map_files import renewed
from vmafx.command._said import Said
from vmafx.command._scoring import TimeRange, Settings, prepare, score
from vmafx.command._terminal import Failure
from vmafx.command.merge import Mismatch

TEMPORAL = (
    "psnr",
    "float_motion",
    "speed_temporal",
    "name=motion:motion_five_frame_window=true:motion_moving_average=true",
)
ROI = "face=40x30+10+8|active|center"
OF_RUN = "fps", "vmafx", "provenance"


def settings(lab, **options):
    return Settings(lab.ffmpeg, _ffmpeg.ffprobe_of(lab.ffmpeg), **{"scale": "reference"} | options)


def long_pair(lab, container, codec="libx264", rate="25", frames=200):
    """Makes a pair of eight seconds, with open GOPs and B-frames; y4m has the decoded pictures of such a pair."""
    paths = encode_pair(lab, "mkv" if container == "y4m" else container, codec, rate, frames)
    if container != "y4m":
        return paths
    for path in paths:
        lab.run("-i", path, "-pix_fmt yuv420p", path.with_suffix(".y4m")).succeeded()
    return [path.with_suffix(".y4m") for path in paths]


def same_scores(got, wanted):
    """Checks that two reports in JSON say the same of the stream, in the same order."""
    texts = [
        json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key not in OF_RUN})
        for path in (got, wanted)
    ]
    check_equal(len(texts[0]), len(texts[1]), "length of the report")
    check(texts[0] == texts[1], f"{got} and {wanted} differ")


def score_in_parts(lab, work, parts):
    """Returns the joined report. Parts are scored again after a wrong seek, in the end from the beginning."""
    logs, earlies = {}, {}
    for number, time_range in enumerate(parts):
        log = lab.folder / f"part{number}.json"
        logs[str(log)] = time_range
        _, earlies[str(log)] = _parts.score_part(work, time_range, log)
    while True:
        try:
            _parts.join(work, [Path(path) for path in logs], lab.folder / "joined.json")
            return lab.folder / "joined.json"
        except Mismatch as mismatch:
            path, early = _parts.seek_again(mismatch, earlies)
            _, earlies[path] = _parts.score_part(work, logs[path], Path(path), early)


@case
def parts_are_the_whole(lab):
    """Parts equal the whole in any container; values that go to other machines survive pickle and JSON."""
    for container, codec, rate in (
        ("mp4", "libx264", "25"),
        ("mkv", "libx264", "24000/1001"),
        ("ts", "libx264", "30"),
        ("y4m", "libx264", "25"),
    ):
        dist, ref = long_pair(lab, container, codec, rate)
        sent = Settings.from_json(
            json.loads(json.dumps(settings(lab, features=TEMPORAL, window="1.5", roi=ROI).as_json()))
        )
        work = pickle.loads(pickle.dumps(prepare(sent, [str(dist)], str(ref))))
        score(work, lab.folder / "whole.json")
        parts = _parts.cut(work, parts=3)
        check_equal((len(parts), parts[0].begin, parts[-1].end), (3, None, None), "parts")
        same_scores(score_in_parts(lab, work, parts), lab.folder / "whole.json")


@case
@slow_case
def parts_of_inputs_that_differ(lab):
    """Inputs start apart, have another rate or size, or are interlaced; encodes have several lengths."""
    dist, ref = long_pair(lab, "mp4")
    lab.run("-f lavfi -i sine=d=6 -itsoffset 0.3 -i", dist, "-map 0 -map 1 -c:v copy -c:a aac late.ts").succeeded()
    lab.run("-i", dist, "-vf fps=30,scale=64:64 -c:v libx264 -bf 2 -t 7 rate.mp4").succeeded()
    lab.run(
        "-i", dist, "-vf interlace -c:v libx264 -x264opts tff=1:bframes=2 -flags +ilme+ildct fields.mkv"
    ).succeeded()
    for names in (["late.ts"], ["rate.mp4"], ["fields.mkv"], ["rate.mp4", dist, "late.ts"]):
        work = prepare(
            settings(lab, features=("psnr", "motion"), models=()), [str(lab.folder / name) for name in names], str(ref)
        )
        # Without its sound, ffmpeg counts the times of MPEG-TS from the first picture.
        check(work.notes or names == ["late.ts"], "the inputs are alike")
        score(work, lab.folder / "whole.json")
        same_scores(score_in_parts(lab, work, _parts.cut(work, seconds=2)), lab.folder / "whole.json")


@case
def a_late_seek_is_no_other_score(lab):
    """In MPEG-TS with groups of pictures of ten seconds, a seek lands after the whole part."""
    codec = "-c:v libx264 -preset ultrafast -g 250 -keyint_min 250 -bf 2 -sc_threshold 0 -crf"
    for name, quality in (("dist.ts", 30), ("ref.ts", 10)):
        lab.run("-f lavfi -i", "testsrc2=s=96x96:r=25:d=24", f"{codec} {quality}", name).succeeded()
    work = prepare(settings(lab), [str(lab.folder / "dist.ts")], str(lab.folder / "ref.ts"))
    score(work, lab.folder / "whole.json")
    parts = [TimeRange(None, 8000), TimeRange(8000, 9000), TimeRange(9000, None)]
    _, early = _parts.score_part(work, parts[1], lab.folder / "part.json")
    check(early > 2, f"the seek was {early} s early")
    same_scores(score_in_parts(lab, work, parts), lab.folder / "whole.json")


@case
def complaints_of_a_seek_are_forgotten(lab):
    """Messages of a decoder before the first frame is out are forgotten, but not later damage, nor the filter's, and
    none if no frame comes out.
    """
    del lab
    early, begin, late = (
        "[h264 @ 0x1] [error] no keyframe",
        "[info] Output #0, null, to 'pipe:':",
        "[h264 @ 0x1] [error] damage",
    )
    filters = "[Parsed_vmafx_2 @ 0x2] [warning] psnr_y is low"
    for lines, wanted in (
        ([early, filters, begin, late], ["psnr_y is low", "damage"]),
        ([early, late], ["no keyframe", "damage"]),
        ([], []),
    ):
        said = Said(lines)
        said.forget_seek()
        check_equal(said.warnings, wanted, "warnings")


@case
def what_is_no_part_is_an_error(lab):
    dist, ref = long_pair(lab, "mp4")
    work = prepare(settings(lab), [str(dist)], str(ref))
    try:
        _parts.score_part(work, TimeRange(9000, 9500), lab.folder / "part.json")
    except _parts.Indivisible as failure:
        check("cannot score the part 9.000s-9.500s by itself" in str(failure), failure)
    else:
        raise AssertionError("a part after the end has scores")
    check_equal(_parts.cut(work, seconds=100), [TimeRange()], "parts")
    check_equal(len(_parts.cut(work, parts=1000)), 16, "parts of half a second")


# -- The command -------------------------------------------------------------------------------------------------------


def library_command(*words):
    """Returns the command with the libraries that merge parts."""
    return [sys.executable, "-m", "vmafx.command", *map(str, words)]


def scored(lab, *words, **variables):
    line = library_command("score", *words, *AT_OWN_SIZE)
    return Done(starts.run(line, lab.folder, environment(lab, **variables), timeout=100))


def same_as_alone(lab, *words, jobs=2, log="json"):
    """Checks that output, warnings and log equal those of one run. Reports in JSON do not tell how parts were run."""
    alone = scored(lab, *words, "--log", f"alone.{log}").succeeded()
    together = scored(lab, *words, "--jobs", jobs, "--log", f"jobs.{log}").succeeded()
    check_equal(together.out, alone.out, "result")
    check_equal(together.err, alone.err, "what is said")
    if log == "json":
        same_scores(lab.folder / "jobs.json", lab.folder / "alone.json")
    else:
        check(
            without_run(lab.folder / f"jobs.{log}") == without_run(lab.folder / f"alone.{log}"),
            f"the logs differ, {log}",
        )


def without_run(path):
    """Returns a report in CSV or XML without the facts of its run."""
    text = re.sub(r'fps="[^"]*"|<vmafx\b.*?</vmafx>\s*', "", path.read_text(), flags=re.S)
    return re.sub(r"\s*<fyi .*?/>", "", text)


@case
def jobs_score_as_one(lab):
    """Table, JSON and logs are alike for several containers, models, features and encodes, with windows."""
    long = {container: long_pair(lab, container, frames=300) for container in ("mp4", "ts", "mkv")}
    features = [word for feature in TEMPORAL for word in ("--feature", feature)]
    same_as_alone(lab, *long["ts"], "--model", "vmaf_v0.6.1", "--model", "vmaf_v0.6.1neg", jobs=3, log="xml")
    several = [long["mp4"][0], long["ts"][0], long["mkv"][0], long["mkv"][1]]
    same_as_alone(lab, *several, "--model", "none", *features, "--window", "keyframe", "--json")
    if ALL:
        same_as_alone(lab, *long["mp4"], *features, "--window", "2.5", "--json")
        same_as_alone(lab, *several, log="csv")


@case
def jobs_doubt_as_one(lab):
    """If frames are missing here and there, the counts are those of the whole stream."""
    lab.run("-f lavfi -i testsrc2=s=96x96:r=25:d=14 -c:v libx264 -bf 2 ref.mkv").succeeded()
    lab.run(
        "-i ref.mkv -vf select=not(eq(mod(n\\,90)\\,41)) -fps_mode passthrough -c:v libx264 -bf 2 -crf 40 holes.mkv"
    ).succeeded()
    words = "holes.mkv", "ref.mkv", "--json"
    alone, together = (scored(lab, *words, *more).succeeded() for more in ((), ("--jobs", "2")))
    check_equal(json.loads(together.out), json.loads(alone.out), "result")
    doubts = [line for line in alone.err.splitlines() if "doubtful" in line]
    check_equal([line for line in together.err.splitlines() if "doubtful" in line], doubts, "doubts")
    check("reference frames not used: 4" in together.err, together.err)


@case
@slow_case
def jobs_report_as_one(lab):
    dist, ref = long_pair(lab, "mp4", frames=300)
    for name, more in (("alone.html", ()), ("jobs.html", ("--jobs", "2", "--threads", "2"))):
        scored(lab, dist, ref, "--threads", "2", "--report", name, *more).succeeded()
    check((lab.folder / "alone.html").read_text() == (lab.folder / "jobs.html").read_text(), "the pages differ")


@case
@slow_case
def a_range_is_scored_and_merged(lab):
    dist, ref = long_pair(lab, "ts")
    whole = scored(lab, dist, ref, "--json", "--log", "whole.json").succeeded()
    for number, part in enumerate(("-3s", "3s-5.04s", "5.04s-")):
        found = scored(lab, dist, ref, f"--range={part}", "--json", "--log", f"{number}.json").succeeded()
        check(json.loads(found.out)["encodes"][0]["frames"] < json.loads(whole.out)["encodes"][0]["frames"], found.out)
    subprocess.run(
        library_command("merge", "0.json", "1.json", "2.json", "-o", "merged.json"),
        cwd=lab.folder,
        env=environment(lab),
        check=True,
    )
    same_scores(lab.folder / "merged.json", lab.folder / "whole.json")


@case
def devices_share_the_parts(lab):
    """Each ffmpeg gets one of the devices, and its share of the processors."""
    dist, ref = long_pair(lab, "mp4", frames=450)
    on_cpu = 'for word; do set -- "$@" "$(printf %s "$word" | sed s/backend=hip/backend=cpu/)"; shift; done'
    wrap_ffmpeg(lab, f'case "$*" in *range=*) echo "$*" >>"{lab.folder}/calls" ;; esac\n{on_cpu}')
    scored(lab, dist, ref, "--device", "0,1", VMAFX_FFMPEG=lab.folder / "ffmpeg").succeeded()
    calls = (lab.folder / "calls").read_text().splitlines()
    found = {re.search(r"device=(\d+)", call)[1] for call in calls}
    check_equal((found, len(calls) > 2), ({"0", "1"}, True), f"devices of {len(calls)} runs")
    check(all(f"n_threads={max(1, len(os.sched_getaffinity(0)) // 2)}:" in call for call in calls), calls)


def wrap_ffmpeg(lab, script):
    """Writes an ffmpeg that does something before it starts."""
    (lab.folder / "ffmpeg").write_text(f'#!/bin/sh\n{script}\nexec {lab.ffmpeg} "$@"\n')
    (lab.folder / "ffmpeg").chmod(0o755)
    (lab.folder / "ffprobe").unlink(missing_ok=True)
    (lab.folder / "ffprobe").symlink_to(_ffmpeg.ffprobe_of(lab.ffmpeg))


def slow_jobs(lab, failing=""):
    """Starts a command whose parts take minutes, except one that fails after some time."""
    dist, ref = long_pair(lab, "mp4", frames=450)
    (lab.folder / "tmp").mkdir()
    slow = f'*range=*) echo $$ >>"{lab.folder}/pids"; set -- -readrate 0.02 "$@" ;;'
    fail = (
        f'*range={failing}*) while [ $(wc -l <"{lab.folder}/pids") -lt 2 ]; do sleep 0.05; done; echo "[error] '
        'it broke" >&2; exit 3 ;;'
        if failing
        else ""
    )
    wrap_ffmpeg(lab, f'case "$*" in {fail} {slow} esac')
    (lab.folder / "log.json").write_text(OLD_REPORT)
    variables = environment(lab, VMAFX_FFMPEG=lab.folder / "ffmpeg", TMPDIR=lab.folder / "tmp")
    words = library_command("score", dist, ref, *AT_OWN_SIZE, "--jobs", "3", "--log", "log.json")
    return subprocess.Popen(
        words,
        cwd=lab.folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def running(lab):
    try:
        pids = (lab.folder / "pids").read_text().split()
    except FileNotFoundError:
        return []
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def check_end(lab, process, status):
    out, said = process.communicate(timeout=30)
    check_equal((process.returncode, out), (status, ""), f"end, after {said}")
    check("Traceback" not in said, said)
    check_equal(
        (running(lab), list((lab.folder / "tmp").iterdir()), (lab.folder / "log.json").read_text()),
        ([], [], OLD_REPORT),
        "what is left",
    )
    return said


def wait_for_three(lab, process):
    deadline = time.monotonic() + 30
    while len(running(lab)) < 3:
        check(time.monotonic() < deadline and process.poll() is None, "not three runs at a time")
        time.sleep(0.02)


@case
def all_jobs_end_with_the_command(lab):
    for number, status in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 128 + signal.SIGINT)):
        lab.folder = lab.folder / number.name
        lab.folder.mkdir()
        process = slow_jobs(lab)
        wait_for_three(lab, process)
        process.send_signal(number)
        check_end(lab, process, status)


@case
def all_jobs_end_with_a_signal_to_another_thread(lab):
    """Such a signal does not interrupt the wait of the main thread, like one that comes right before the wait."""
    process = slow_jobs(lab)
    wait_for_three(lab, process)
    others = [int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir() if int(task.name) != process.pid]
    check_equal(ctypes.CDLL(None).tgkill(process.pid, others[0], signal.SIGTERM), 0, "tgkill")
    check_end(lab, process, 128 + signal.SIGTERM)


@case
def all_jobs_end_with_one_that_fails(lab):
    said = check_end(lab, slow_jobs(lab, failing="4.500s-"), 3)
    check("the part 4.500s-9.000s: ffmpeg ended with status 3:\n  it broke" in said, said)


def drawn_pair(lab, size, seconds, rate=25):
    """Makes a pair of this size."""
    codec = "-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p -crf"
    for name, quality in (("drawn_dist.mp4", 32), ("drawn_ref.mp4", 8)):
        source = f"testsrc2=s={size}:r={rate}:d={seconds}"
        lab.run("-f lavfi -i", source, f"{codec} {quality}", name).succeeded()
    return lab.folder / "drawn_dist.mp4", lab.folder / "drawn_ref.mp4"


@case
def every_metric_is_the_same_in_parts(lab):
    """Scores of frames, values of the whole stream, pooled scores with means of their own: all with all digits."""
    dist, ref = drawn_pair(lab, "216x176", 4, rate=10)
    special = {"psnr": "psnr:enable_apsnr=true", "xpsnr": "xpsnr:fps=50", "cvvdp": "cvvdp:fps=10"}
    features = [special.get(name, name) for name in METRICS]
    work = prepare(settings(lab, features=(*features, "xpsnr"), models=()), [str(dist)], str(ref))
    score(work, lab.folder / "whole.json")
    wanted = json.loads((lab.folder / "whole.json").read_text())["aggregate_metrics"]
    check({"apsnr_y", "axpsnr", "axpsnr_fps_50"} <= set(wanted), wanted)
    joined = score_in_parts(lab, work, _parts.cut(work, parts=3))
    same_scores(joined, lab.folder / "whole.json")
    changed = json.loads((lab.folder / "part1.json").read_text())
    changed["range"]["sums"]["apsnr_y"][0]["samples"] = "7"
    (lab.folder / "part1.json").write_text(json.dumps(changed))
    parts = sorted(lab.folder.glob("part?.json"))
    vmafx_merged(lab, *parts).failed(1, "the sums of apsnr_y do not belong together")


@case
@slow_case
def values_of_whole_streams_are_those_of_one_run(lab):
    """Whether the log is of JSON or XML; and vmafx verify, which scores in one run, finds them again."""
    pair = long_pair(lab, "mp4")
    words = *pair, "--model", "none", "--feature", "name=xpsnr|name=siti|name=msad|name=psnr:enable_apsnr=true"
    same_as_alone(lab, *words)
    same_as_alone(lab, *words, "--json", log="xml")
    values = json.loads((lab.folder / "jobs.json").read_text())["aggregate_metrics"]
    check({"apsnr_y", "axpsnr_cb", "axpsnr"} <= set(values), values)
    vmafx(lab, "verify", "jobs.json").succeeded()


def vmafx_merged(lab, *words):
    return Done(starts.run(library_command("merge", *words), lab.folder, environment(lab), timeout=100))


def maps_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@case
@slow_case
def heat_maps_of_jobs_are_joined(lab):
    """The files are those of one run, and nothing else is there, also after a failure. So are maps."""
    pair = drawn_pair(lab, "216x144", 9, rate=5)

    def features(folder):
        heat = f"name=cambi:heatmaps_path={folder}|name=butteraugli:heatmaps_path={folder}"
        return "--feature", f"{heat}|name=psnr:enable_chroma=false", "--maps", f"{folder}-maps"

    words = *pair, "--model", "none", "--as-is"
    scored(lab, *words, *features("alone")).succeeded()
    wanted = maps_in(lab.folder / "alone")
    check_equal(len(wanted), 6, "files of heat maps")
    maps = maps_in(lab.folder / "alone-maps")
    check_equal(list(maps), ["psnr_y_14x9_f32.gray"], "files of maps")
    same = [scored(lab, *words, *features("jobs"), "--jobs", 2).succeeded() for _ in range(2)]  # the second replaces
    check("in one run" not in same[0].err, same[0].err)
    check(maps_in(lab.folder / "jobs") == wanted, "the heat maps differ")
    check(maps_in(lab.folder / "jobs-maps") == maps, "the maps differ")
    (lab.folder / "jobs/range_-4.500s").mkdir()
    scored(lab, *words, *features("jobs"), "--jobs", 2).failed(1, "range_-4.500s is there from another run")
    (lab.folder / "jobs/range_-4.500s").rmdir()
    name = next(iter(wanted))
    (lab.folder / "jobs" / name).write_bytes(b"other")
    kept = maps_in(lab.folder / "jobs")
    scored(lab, *words, *features("jobs"), "--jobs", 2).failed(1, "exists and is not a file of heat maps of this size")
    check(maps_in(lab.folder / "jobs") == kept, "a failure left something behind, or replaced something")
    for number, time_range in enumerate(("-4.5s", "4.5s-")):
        log = "--log", f"{number}.json"
        scored(lab, *words, *features("ranges"), f"--range={time_range}", *log).succeeded()
    vmafx_merged(lab, "0.json", "1.json", "-o", "merged.json", "--maps", "ranges-maps").succeeded()
    check({name: (lab.folder / "ranges-maps" / name).read_bytes() for name in maps} == maps, "the merged maps differ")
    words = "0.json", "1.json", "-o", "merged.json", "--heatmaps"
    own, other = sorted((lab.folder / "ranges").iterdir())
    other.rename(lab.folder / "away")
    vmafx_merged(lab, *words, "ranges").failed(1, f"ranges/{other.name}/", "is missing")
    check_equal(list((lab.folder / "ranges").iterdir()), [own], "what a failure leaves")
    (lab.folder / "away").rename(other)
    vmafx_merged(lab, *words, "ranges").succeeded()
    made = {path.name: path.read_bytes() for path in (lab.folder / "ranges").iterdir() if path.is_file()}
    check(made == wanted, "the merged heat maps differ")
    check_equal(len(list((lab.folder / "ranges").iterdir())), 6 + 2, "files and the ranges' folders")
    heat_maps_that_are_missing(lab, wanted, name)


def heat_maps_that_are_missing(lab, wanted, name):
    """No heat maps of a part are taken for blank ones, and no link is followed where files are made."""
    words = "0.json", "1.json", "-o", "merged.json", "--heatmaps"
    vmafx_merged(lab, *words, "elsewhere").failed(1, "there are no heat maps in elsewhere/range_-4.500s")
    part = lab.folder / "ranges/range_4.500s-" / name
    kept = part.read_bytes()
    part.write_bytes(kept[: len(kept) // 2])
    vmafx_merged(lab, *words, "ranges").failed(1, "has not the pictures of its range")
    part.unlink()
    vmafx_merged(lab, *words, "ranges").failed(1, f"{name} is missing")
    part.write_bytes(kept)
    (lab.folder / "other").write_bytes(b"other")
    (lab.folder / "ranges" / f".{name}.part").symlink_to("../other")
    vmafx_merged(lab, *words, "ranges").succeeded()
    check_equal((lab.folder / "other").read_bytes(), b"other", "a file that a link leads to")
    check((lab.folder / "ranges" / name).read_bytes() == wanted[name], "the merged heat maps differ")


@case
def maps_of_a_run_replace_those_of_another(lab):
    """A folder has the maps of one name of the last run alone, whatever their size; files of others stay, and a failure
    changes nothing.
    """
    folder = lab.folder / "maps"
    others = {"note.txt": b"own", "ssim_2x1_f32.gray": b"12345678", "psnr_y_14x9_f32.gray.bak": b"own"}
    once = *drawn_pair(lab, "216x144", 2, rate=5), "--model", "none", "--as-is", "--feature", "psnr:enable_chroma=false"
    scored(lab, *once, "--maps", folder).succeeded()
    check_equal(list(maps_in(folder)), ["psnr_y_14x9_f32.gray"], "the first run's")
    for name, content in {**others, "psnr_y_encode1_2x1_f32.gray": b"12345678"}.items():
        (folder / name).write_bytes(content)
    kept = maps_in(folder)
    with raises(Failure, "no more"), renewed(folder, lambda path: None) as new:
        (new / "psnr_y_1x1_f32.gray").write_bytes(b"1234")
        raise Failure("no more")
    check(maps_in(folder) == kept, "a failure has changed the folder")
    twice = *drawn_pair(lab, "192x108", 2, rate=5), *once[2:]
    scored(lab, *twice, "--maps", folder).succeeded()
    check_equal(set(maps_in(folder)), {"psnr_y_12x7_f32.gray", *others}, "files after another run")
    (folder / "psnr_y_2x2_f32.gray").write_bytes(b"123")
    scored(lab, *twice, "--maps", folder).failed(1, "psnr_y_2x2_f32.gray exists and is not a file of whole maps")
    scored(lab, *twice, "--maps", folder, "--force").succeeded()
    check_equal(set(maps_in(folder)), {"psnr_y_12x7_f32.gray", *others}, "files after a run with --force")
    check({name: (folder / name).read_bytes() for name in others} == others, "another file has changed")


@case
def folders_of_killed_runs_go_away(lab):
    """The next run removes what a run ended by SIGKILL has left in a folder of maps; the folder of a run that lives,
    links and other files stay.
    """
    folder = lab.folder / "maps"
    killed = os.fork()
    if not killed:
        with renewed(folder, lambda path: None) as new:
            (new / "psnr_y_1x1_f32.gray").write_bytes(b"1234")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(killed, 0)
    check_equal(len(list(folder.glob(".maps-*.part"))), 1, "what a killed run leaves")
    killed = os.fork()
    if not killed:
        _map_files._lock_of = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        with renewed(folder, lambda path: None):
            os._exit(1)
    os.waitpid(killed, 0)
    check_equal(len(list(folder.glob(".maps-*.begun"))), 1, "what a run leaves that is killed before it has its lock")
    (lab.folder / "elsewhere").mkdir()
    (folder / ".maps-link.part").symlink_to(lab.folder / "elsewhere")
    (folder / ".maps-file.part").write_text("own")
    with renewed(folder, lambda path: None) as living:
        (living / "file").write_text("its own")
        with renewed(folder, lambda path: None) as other:
            check(living.is_dir() and (living / "file").exists() and other != living, "the folder of a run that lives")
            names = {".maps-link.part", ".maps-file.part", living.name, other.name}
            check_equal({path.name for path in folder.iterdir()}, names, "folders while two runs live")
    check_equal({path.name for path in folder.iterdir()}, {".maps-link.part", ".maps-file.part", "file"}, "at the end")
    check((lab.folder / "elsewhere").is_dir(), "a link's folder is gone")


@case
def folders_that_others_take_are_made_again(lab):
    """A run whose folder another run has removed or locked, before it was locked, makes another one, and locks it."""
    folder, made = lab.folder / "maps", _map_files._lock_of
    others = []

    @contextmanager
    def removed(begun):
        others.append(begun)
        begun.rmdir()
        with made(begun) as is_locked:
            yield is_locked
        _map_files._lock_of = locked

    @contextmanager
    def locked(begun):
        others.append(begun)
        with made(begun), made(begun) as is_locked:
            yield is_locked
        _map_files._lock_of = made

    _map_files._lock_of = removed
    try:
        with renewed(folder, lambda path: None) as new:
            check_equal((len(others), _map_files._lock_of), (2, made), "folders that others have taken")
            check_equal(list(folder.iterdir()), [new], "folders")
            with made(new) as is_free:
                check(not is_free, "the folder has no lock")
    finally:
        _map_files._lock_of = made


@case
def runs_share_no_folder_of_a_range(lab):
    """Of two runs that begin together, one has the folder of a range, and the other removes nothing of it."""
    folder = lab.folder / "maps"
    with of_ranges([Folder(HEAT, folder)], ["-4s", "4s-"]):
        (folder / "range_4s-" / "file").write_text("its own")
        try:
            with of_ranges([Folder(HEAT, folder)], ["4s-", "-4s"]):
                raise AssertionError("two runs have one folder")
        except Failure as failure:
            check("range_4s- is there from another run" in str(failure), failure)
        check_equal((folder / "range_4s-" / "file").read_text(), "its own", "the first run's file")
    check(not folder.exists(), "the folder stays")


@case
def one_bar_shows_all_jobs(lab):
    dist, ref = long_pair(lab, "mp4", frames=450)
    seen = seen_on_a_terminal(lab, library_command("score", dist, ref, *AT_OWN_SIZE, "--jobs", "2"))
    check(" %, 0:00 left" in seen and "worst frame" in seen, repr(seen))


@case
def library_that_jobs_need(lab):
    """Jobs use the library of their ffmpeg, and need none if nothing is merged."""
    pair = long_pair(lab, "mp4")
    vmafx(lab, "score", lab.clips.dist, lab.clips.ref, "--jobs", "2").succeeded().says("too short for parts")
    vmafx(lab, "score", *pair, "--jobs", "2").failed(1, "for which Python needs cffi", "apt-get install python3-cffi")
    options = {"model": "", "feature": "psnr", "backend": "cpu", "log_path": lab.folder / "part.json", "range": "0-"}
    with vmafx_module.Session(**options) as session:
        list(session.run(gray_pairs()))
    vmafx(lab, "merge", "part.json").failed(1, "for which Python needs cffi")
    module = lab.folder / "alone/vmafx"  # a place without a build beside it
    shutil.copytree(top / "python/vmafx", module, ignore=shutil.ignore_patterns("__pycache__"))
    nothing = {"VMAFX_LIBRARY": None, "PYTHONPATH": module.parent, "PATH": "/usr/bin:/bin"}
    wanted = scored(lab, *pair).succeeded().out
    check_equal(scored(lab, *pair, "--jobs", "2", **nothing).succeeded().out, wanted, "by VMAFX_FFMPEG")
    chosen = scored(lab, *pair, "--jobs", "2", "--ffmpeg", lab.ffmpeg, **nothing, VMAFX_FFMPEG=None)
    check_equal(chosen.succeeded().out, wanted, "by --ffmpeg")
    (lab.folder / "bin").mkdir()
    script = lab.folder / "bin/ffmpeg"
    script.write_text(f'#!/bin/sh\nexec "{lab.ffmpeg}" "$@"\n')
    script.chmod(0o755)
    nothing["LD_LIBRARY_PATH"] = "/nowhere"
    without = scored(lab, *pair, "--jobs", "2", **nothing, VMAFX_FFMPEG=script)
    without.failed(1, f"{lab.folder}/lib/vmafx/libvmafx.so.0 (not there)", "Set VMAFX_LIBRARY")


@case
def jobs_that_cannot_be(lab):
    """Each impossible request gives one error, or one run if the result is the same."""
    clips = lab.clips.dist, lab.clips.ref
    for words, texts in (
        (("--jobs", "0"), ("'0' is not a number of jobs: give 1, 2, … or 'auto'",)),
        (("--jobs", "2", "--range", "1s-"), ("which --jobs cannot cut again: leave one",)),
        (("--jobs", "auto", "--range", "1s-"), ("which --jobs cannot cut again: leave one",)),
        (("--jobs", "2", "--log", "log.ndjson"), ("grows frame by frame",)),
        (("--device", "0,"), ("has an empty name between its commas",)),
        (("--range", "1.0005s-"), ("1.0005s- is not a range of times: use 60s-120s",)),
        (("--range", "2s-1s"), ("the range 2s-1s is empty: use 60s-120s",)),
    ):
        scored(lab, *clips, *words).failed(2, *texts)
    scored(lab, *clips, "--range", "4s-5s").failed(
        1 if lab.version() < (7, 0) else 234, "cannot score the part 4.000s-5.000s by itself"
    )
    alone, together, usual = (
        scored(lab, *clips, *more).succeeded() for more in ((), ("--jobs", "2"), ("--jobs", "auto"))
    )
    together.says("too short for parts")
    check_equal((together.out, usual.out), (alone.out, alone.out), "result")
