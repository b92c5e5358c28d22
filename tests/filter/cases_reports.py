"""Reports and frame metadata, as programs see them."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from functools import partial

from support import FPS, FRAMES, Outcome, Skip, case, check, check_equal

OLD = "Frame,old,\n"  # an older report


def printed_metadata(path):
    """Returns [{key: value}] per frame, as the metadata filter printed them."""
    frames = []
    for line in path.read_text().splitlines():
        if line.startswith("frame:"):
            frames.append({})
        else:
            key, value = line.split("=", 1)
            frames[-1][key] = value
    return frames


@case
def all_formats_carry_the_same_scores(lab):
    scores = {}
    for log_fmt in ("json", "xml", "csv", "sub", "ndjson"):
        lab.compare(f"vmafx=feature=name=psnr:log_fmt={log_fmt}:log_path=log.{log_fmt}").score()
    scores["json"] = [frame["metrics"] for frame in lab.json("log.json")["frames"]]
    scores["ndjson"] = [line["metrics"] for line in lab.json_lines("log.ndjson") if "frameNum" in line]
    scores["xml"] = [
        {key: float(value) for key, value in frame.attrib.items() if key not in ("frameNum", "time")}
        for frame in lab.xml("log.xml").findall("frames/frame")
    ]
    scores["csv"] = [
        {key: round(float(value), 6) for key, value in row.items() if key and key not in ("Frame", "Time")}
        for row in lab.csv("log.csv")
    ]
    scores["sub"] = [
        {key: float(value) for key, value in re.findall(r"\|(\w+): ([\d.]+)", line)}
        for line in (lab.folder / "log.sub").read_text().splitlines()
    ]
    check_equal(len(scores["json"]), FRAMES, "frames")
    for log_fmt, frames in scores.items():
        check_equal(frames, scores["json"], log_fmt)


@case
def metadata_is_that_of_the_report(lab):
    lab.compare(
        "vmafx=feature=name=psnr:metadata=1:log_fmt=json:log_path=log.json,metadata=print:file=meta.txt"
    ).score()
    frames = printed_metadata(lab.folder / "meta.txt")
    wanted = [
        {f"lavfi.vmafx.{key}": f"{value:.6f}" for key, value in frame["metrics"].items()}
        for frame in lab.json("log.json")["frames"]
    ]
    check_equal(frames, wanted, "metadata")


@case
def metadata_in_score_fmt(lab):
    lab.compare("vmafx=metadata=1:score_fmt=%.2e,metadata=print:file=meta.txt").score()
    for frame in printed_metadata(lab.folder / "meta.txt"):
        check(re.fullmatch(r"\d\.\d\de[+-]\d\d", frame["lavfi.vmafx.vmaf"]), frame)


@case
def metadata_keys_are_whole(lab):
    """The filter select lets through only frames that have the key. FFmpeg up to 8.1 prints keys as long as this one to
    the log only: for a file, its metadata filter reads past a buffer of 128 bytes.
    """
    name = "n" * 300
    graph = (
        f"vmafx=model='version=vmaf_v0.6.1\\:name={name}':metadata=1,metadata=select:"
        f"key=lavfi.vmafx.{name},metadata=print"
    )
    printed = re.findall(r"\] frame:\d+ +pts:", lab.compare(graph).succeeded().stderr)
    check_equal(len(printed), FRAMES, "frames with that key")


@case
def metadata_with_subsampling_and_unmatched_frames(lab):
    lab.compare(
        "[1]trim=end_frame=12[r];[0][r]vmafx=metadata=1:n_subsample=5:repeatlast=0,metadata=print:file=meta.txt"
    ).score()
    numbers = [int(match) for match in re.findall(r"^frame:(\d+)", (lab.folder / "meta.txt").read_text(), re.M)]
    check_equal(numbers, [0, 5, 10], "frames with metadata")
    lab.run(
        "-i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-lavfi",
        "[1]trim=end_frame=12[r];[0][r]vmafx=metadata=1:n_subsample=5:repeatlast=0",
        "-f framemd5 out.md5",
    ).succeeded()
    check_equal((lab.folder / "out.md5").read_text().count("\n0,"), FRAMES, "frames of output")


@case
def no_metadata_unless_asked_for(lab):
    lab.compare("vmafx,metadata=print:file=meta.txt").score()
    check_equal((lab.folder / "meta.txt").read_text(), "", "metadata")


@case
def ndjson_grows_while_frames_are_scored(lab):
    process = lab.start_slowly("vmafx=log_fmt=ndjson:log_path=log.ndjson")
    seen = set()
    while process.poll() is None:
        time.sleep(0.02)
        if (lab.folder / "log.ndjson").exists():
            seen.add(len(lab.json_lines("log.ndjson")))
    check_equal(process.returncode, 0, process.stderr.read().decode()[-300:])
    process.stderr.close()
    check(len([count for count in seen if 0 < count < FRAMES]) >= 4, f"lines seen while it ran: {sorted(seen)}")
    lines = lab.json_lines("log.ndjson")
    check_equal([line["frameNum"] for line in lines[:-1]], list(range(FRAMES)), "frameNum")
    check("pooled_metrics" in lines[-1] and "frameNum" not in lines[-1], "last line")


@case
def report_appears_when_it_is_complete(lab):
    (lab.folder / "log.json").write_text(OLD)
    process = lab.start_slowly("vmafx=log_fmt=json:log_path=log.json")
    time.sleep(0.4)
    check_equal((lab.folder / "log.json").read_text(), OLD, "report while it runs")
    process.communicate()
    check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames")
    check_equal(sorted(os.listdir(lab.folder)), ["log.json"], "files")


@case
def extras_are_top_level_keys(lab):
    lab.compare("vmafx=log_fmt=json:log_path=log.json").score()
    report = lab.json("log.json")
    check_equal(list(report)[:5], ["version", "fps", "frames", "pooled_metrics", "aggregate_metrics"], "libvmaf's keys")
    check_equal(report["pairing"]["paired"], FRAMES, "pairing.paired")
    check("partial" not in report, "partial")
    check(report["vmafx"]["backend"], "backend of each feature")


KEYS_OF_V06 = (
    "integer_adm2 integer_aim integer_adm3 integer_adm_scale0 integer_adm_scale1 integer_adm_scale2 integer_adm_scale3 "
    "VMAF_integer_feature_motion_sad_score integer_vif_scale0 integer_vif_scale1 integer_vif_scale2 "
    "integer_vif_scale3 {}"
    "integer_motion2 integer_motion3 vmaf"
)


@case
def keys_stand_in_libvmafs_order(lab):
    """Keys stand in the order of libvmaf on one thread, which is FFmpeg's default."""
    wanted = KEYS_OF_V06.format("psnr_y psnr_cb psnr_cr float_ssim ").split()
    for name in ("vmafx", "libvmaf"):
        options = "feature=name=psnr|name=float_ssim:n_threads=2"
        lab.compare(f"{name}={options}:log_fmt=json:log_path=log.json").score()
        report = lab.json("log.json")
        check_equal(list(report["frames"][3]["metrics"]), wanted, f"{name}: keys of a frame")
        check_equal(list(report["pooled_metrics"]), wanted, f"{name}: pooled keys")
        lab.compare(f"{name}={options}:log_fmt=csv:log_path=log.csv").score()
        header = [key for key in lab.csv("log.csv")[0] if key not in ("Frame", "Time", "")]
        check_equal(header, wanted, f"{name}: columns")


@case
def debug_keys_beside_a_model_are_written(lab):
    """libvmaf leaves them out where a model needs the same metric."""
    lab.compare(r"vmafx=feature='name=motion\:debug=true':log_fmt=json:log_path=log.json").score()
    keys = list(lab.json("log.json")["frames"][3]["metrics"])
    wanted = KEYS_OF_V06.format("").split()
    wanted.insert(wanted.index("VMAF_integer_feature_motion_sad_score") + 1, "integer_motion")
    check_equal(keys, wanted, "keys")


@case
def infinite_metrics_keep_their_pooled_keys(lab):
    """ciede2000 of equal pictures is infinite: libvmaf writes null in JSON, inf in XML."""
    graph = "libvmaf=model='':feature=name=ciede|name=psnr:log_fmt={0}:log_path=log.{0}"
    for log_fmt in ("json", "xml"):
        lab.compare(graph.format(log_fmt), dist=lab.clips.ref).succeeded()
    pools = ("min", "max", "mean", "harmonic_mean")
    check_equal(lab.json("log.json")["pooled_metrics"]["ciede2000"], dict.fromkeys(pools), "json")
    check_equal(lab.json("log.json")["excluded_scores"], {"ciede2000": FRAMES}, "excluded_scores")
    pooled = {metric.attrib["name"]: metric.attrib for metric in lab.xml("log.xml").findall("pooled_metrics/metric")}
    check_equal(pooled["ciede2000"], {"name": "ciede2000", **dict.fromkeys(pools, "inf")}, "xml")
    check_equal(pooled["psnr_y"]["mean"], "60.000000", "finite metric")


@case
def frames_have_their_times(lab):
    """Scored frames have the times of main, whichever filter has moved them."""
    graph = "[0]setpts=PTS+2/TB[d];[1]setpts=PTS+2/TB[r];[d][r]vmafx=n_subsample=3:log_path=log.{0}"
    for log_fmt in ("json", "ndjson", "xml", "csv"):
        lab.compare(graph.format(log_fmt)).score()
    wanted = [f"{2 + n / FPS:.6f}" for n in range(0, FRAMES, 3)]
    in_json = lab.json("log.json")["frames"]
    check_equal([f"{frame['time']:.6f}" for frame in in_json], wanted, "json")
    check_equal(list(in_json[0]), ["frameNum", "time", "metrics"], "keys of a frame")
    lines = lab.json_lines("log.ndjson")[:-1]
    check_equal([f"{line['time']:.6f}" for line in lines], wanted, "ndjson")
    check_equal([frame.attrib["time"] for frame in lab.xml("log.xml").findall("frames/frame")], wanted, "xml")
    check_equal([row["Time"] for row in lab.csv("log.csv")], wanted, "csv")


@case
def times_are_no_scores_for_programs_that_know_libvmaf(lab):
    """Such programs take each attribute of XML and each column of CSV for a score (easyVmaf does); JSON has a separate
    place for times.
    """
    for log_fmt in ("json", "xml", "csv"):
        lab.compare(f"libvmaf=log_fmt={log_fmt}:log_path=log.{log_fmt}").score()
    frames = lab.json("log.json")["frames"]
    check_equal(frames[5]["time"], 5 / FPS, "time in json")
    keys = list(frames[5]["metrics"])
    check_equal(list(lab.xml("log.xml").find("frames/frame").attrib), ["frameNum", *keys], "attributes")
    check_equal([key for key in lab.csv("log.csv")[0] if key], ["Frame", *keys], "columns")


@case
def endings_tell_formats(lab):
    lab.compare("vmafx=log_path=log.json").does_not_say("log_fmt").score()
    check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames in json")
    lab.compare("vmafx=log_path=log.csv").score()
    check_equal(len(lab.csv("log.csv")), FRAMES, "rows")
    for options in ("log_path=log", "log_path=log.txt", "log_fmt=xml:log_path=log.json"):
        lab.compare(f"vmafx={options}").does_not_say("log_fmt").score()
        check_equal(lab.xml(options.split("log_path=")[1]).tag, "VMAF", options)


@case
def under_libvmafs_name_the_report_is_xml_unless_asked_otherwise(lab):
    outcome = lab.compare("libvmaf=log_path=log.json")
    outcome.says("The report log.json will hold XML, as libvmaf writes it unless asked otherwise: log_fmt=json").score()
    check_equal(lab.xml("log.json").tag, "VMAF", "root")
    for options in ("log_path=log.xml", "log_fmt=xml:log_path=log.json", "log_fmt=json:log_path=log.json"):
        lab.compare(f"libvmaf={options}").does_not_say("will hold XML").score()


@case
def a_format_without_a_report_is_told(lab):
    for name in ("vmafx", "libvmaf"):
        outcome = lab.compare(f"{name}=log_fmt=json")
        outcome.says("log_fmt=json is without effect: there is no report unless log_path=FILE names one").score()
        lab.compare(name).does_not_say("log_fmt").score()


@case
def a_report_on_standard_output(lab):
    for options in ("log_fmt=json", "log_fmt=ndjson"):
        graph = f"vmafx={options}:log_path=-"
        command = lab.command(
            "-v error -nostdin", "-i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", graph, "-f null -"
        )
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=lab.folder, check=True)
        check_equal(done.stderr, b"", "messages")
        if options == "log_fmt=json":
            check_equal(len(json.loads(done.stdout)["frames"]), FRAMES, "frames")
        else:
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            check_equal([line.get("frameNum") for line in lines], [*range(FRAMES), None], "frameNum")
    check_equal(os.listdir(lab.folder), [], "files")


def worst(values, frames, highest=False):
    """Returns the worst frames as the summary names them."""
    order = sorted(range(len(values)), key=lambda n: -values[n] if highest else values[n])[:3]
    return ", ".join(f"{frames[n]} ({frames[n] / FPS:.3f} s) {values[n]:.6f}" for n in order)


@case
def the_summary_is_that_of_the_report(lab):
    features = r"name=psnr\:enable_mse=true\:enable_chroma=false|name=float_moment"
    models = r"version=vmaf_v0.6.1|version=vmaf_v0.6.1neg\:name=neg"
    graph = f"vmafx=model='{models}':feature='{features}':n_subsample=2:log_path=log.json:score_fmt=%.17g"
    outcome = lab.compare(graph).succeeded()
    report = lab.json("log.json")
    summary = outcome.summary()
    wanted = [
        "psnr_y",
        "mse_y",
        *(f"float_moment_{key}" for key in ("ref1st", "dis1st", "ref2nd", "dis2nd")),
        "vmaf",
        "neg",
    ]
    check_equal(list(summary), wanted, "lines")
    frames = [frame["frameNum"] for frame in report["frames"]]
    for key, (mean, least, most, of_worst) in summary.items():
        pooled = report["pooled_metrics"][key]
        check_equal((mean, least, most), tuple(f"{pooled[pool]:.6f}" for pool in ("mean", "min", "max")), key)
        values = [frame["metrics"][key] for frame in report["frames"]]
        check_equal(
            of_worst, None if "moment" in key else worst(values, frames, key == "mse_y"), f"worst frames of {key}"
        )
    last = outcome.stderr[outcome.stderr.rindex("neg: mean") :]
    check(last.count("VMAF score: ") == 2, "the scores come after the summary:", last)


@case
def the_summary_of_features_alone(lab):
    outcome = lab.compare("vmafx=model='':feature=name=ciede|name=psnr", dist=lab.clips.ref).succeeded()
    summary = outcome.summary()
    check_equal(summary["ciede2000"], ("inf", "inf", "inf", None), "ciede2000 of equal pictures")
    check_equal(summary["psnr_y"], ("60.000000", "60.000000", "60.000000", None), "psnr_y of equal pictures")


@case
def there_is_no_summary_for_programs_that_know_libvmaf(lab):
    check_equal(lab.compare("libvmaf=feature=name=psnr").summary(), {}, "under the name libvmaf")
    lab.run("-loglevel error -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi vmafx=feature=name=psnr -f null -")
    quiet = lab.run("-loglevel warning -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi vmafx -f null -").succeeded()
    check_equal(quiet.summary(), {}, "at -loglevel warning")


@case
def full_disk_is_an_error(lab):
    lab.compare("vmafx=log_path=/dev/full").failed("No space left on device")
    lab.compare("[1]trim=end_frame=9[r];[0][r]vmafx=log_path=/dev/full").failed("No space left on device")
    lab.compare("vmafx=log_fmt=ndjson:log_path=/dev/full").failed("No space left on device")
    for output in (("-frames:v", 5), ("-t", 0.2)):
        lab.compare("vmafx=log_path=/dev/full", output=output).failed("No space left on device")
    lab.compare("vmafx=log_path=/dev/full,trim=end_frame=5").failed("No space left on device")


def mounting_prefix(folder):
    """Returns words to put before a command that mounts: none for root, also in a chroot; else a namespace, if
    possible.
    """
    for prefix in ([], ["unshare", "-rm"]):
        attempt = [*prefix, "sh", "-c", f"mount -t tmpfs none '{folder}' && umount '{folder}'"]
        if shutil.which(attempt[0]) and subprocess.run(attempt, stderr=subprocess.DEVNULL).returncode == 0:
            return prefix
    raise Skip("may not mount a small file system")


@case
def full_file_system_is_an_error(lab):
    """A full file system is an error even if the output has enough before the inputs end: the report's space is asked
    for while frames are scored.
    """
    for output in ("", f"-frames:v {FRAMES - 2}", f"-t {(FRAMES - 2) / FPS}"):
        on_full_file_system(lab, output)


def on_full_file_system(lab, output):
    small = lab.folder / "small"
    small.mkdir(exist_ok=True)
    script = (
        f"mount -t tmpfs -o size=4k none '{small}' && trap \"umount '{small}'\" EXIT && "
        f"'{lab.ffmpeg}' -hide_banner -nostdin -i '{lab.clips.dist}' -i '{lab.clips.ref}' "
        f"-lavfi vmafx=log_path='{small}/log.xml' {output} -f null -"
    )
    done = subprocess.run(
        [*mounting_prefix(small), "sh", "-c", script], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    check(done.returncode > 0, f"exit status {done.returncode}")
    text = done.stderr.decode()
    check("No space left on device" in text and "VMAF score" not in text, text[-400:])


@case
def a_report_that_fails_does_not_hide_the_score(lab):
    """The score is shown even if a growing report has no room for its end."""
    wanted = lab.compare("vmafx=feature=name=psnr:log_fmt=ndjson:log_path=whole").score()
    size = (lab.folder / "whole").read_bytes().rindex(b'{"version') - 10
    graph = "vmafx=feature=name=psnr:n_threads=4:log_fmt=ndjson:log_path=log"
    command = lab.command(
        "-hide_banner -nostdin -nostats -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", graph, "-f null -"
    )
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    done = subprocess.run(command, capture_output=True, cwd=lab.folder, preexec_fn=limit, timeout=100)
    outcome = Outcome(command, done.returncode, done.stderr.decode(), 0).failed("File too large", before_score=False)
    check_equal(outcome.scores, [wanted], "score")
    check("psnr_y" in outcome.summary(), "summary")


@case
def pipes_have_readers_or_are_errors(lab):
    os.mkfifo(lab.folder / "log.json")
    outcome = lab.compare("vmafx=log_path=log.json").failed("report 'log.json': nobody reads this pipe")
    check(outcome.seconds < 30, f"{outcome.seconds} s")
    reader = subprocess.Popen(["cat", lab.folder / "log.json"], stdout=subprocess.PIPE)
    lab.compare("vmafx=log_path=log.json").score()
    check_equal(len(json.loads(reader.communicate()[0])["frames"]), FRAMES, "frames")

    os.mkfifo(lab.folder / "log.xml.part")
    lab.compare("vmafx=log_path=log.xml").score()
    check_equal(lab.xml("log.xml").tag, "VMAF", "root")


@case
def a_pipe_without_a_reader_ends_at_a_signal(lab):
    os.mkfifo(lab.folder / "log.json")
    process = lab.start_slowly("vmafx=log_path=log.json")
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        check(False, "SIGTERM did not end it")
    check(process.returncode != 0, "exit status 0")


@case
def two_filters_with_one_report(lab):
    outputs = ("-map [x] -f null - -map [y]",)
    graph = "[0]split[a][b];[1]split[c][d];[a][c]vmafx=log_path={0}[x];[b][d]vmafx=log_path={0}[y]"
    lab.compare(graph.format("log.json"), output=outputs).succeeded()
    check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames")
    outcome = lab.compare(graph.format("log.ndjson"), output=outputs)
    outcome.failed("report 'log.ndjson': it is being written already, by another filter or program")
    check_equal([name for name in os.listdir(lab.folder) if name != "log.ndjson"], ["log.json"], "files")


@case
def private_reports_stay_private(lab):
    path = lab.folder / "log.json"
    path.write_text(OLD)
    path.chmod(0o600)
    lab.compare("vmafx=log_path=log.json").score()
    check_equal(path.stat().st_mode & 0o777, 0o600, "mode")
    check_equal(len(lab.json("log.json")["frames"]), FRAMES, "frames")
