"""vmafx verify, and what reports say of where their scores come from."""

import copy
import hashlib
import json
import shutil
import subprocess
from fractions import Fraction

import vmafx as module
from command import vmafx
from common import FRAMES, case, check, check_equal, slow_case
from vmafx.command import _ffmpeg
from vmafx.command._packets import ends_of

SCALE = "--scale", "reference"


def clips(lab):
    """Copies the clips into the case's folder, and returns their names."""
    names = "dist.mp4", "ref.mkv"
    for name, path in zip(names, (lab.clips.dist, lab.clips.ref)):
        shutil.copy(path, lab.folder / name)
    return names


def scored(lab, *words, log="log.json"):
    """Scores, and writes the result and the log. Returns the result."""
    result = json.loads(vmafx(lab, "score", *words, *SCALE, "--json", "--log", log).succeeded().out)
    (lab.folder / "result.json").write_text(json.dumps(result))
    return result


def verified(lab, report, *words, status=0):
    """Returns what `vmafx verify --json` says."""
    done = vmafx(lab, "verify", report, *words, "--json")
    check_equal(done.status, status, f"exit status; it said: {done.err}")
    return json.loads(done.out)


def kinds(found):
    return [difference["kind"] for difference in found["differences"]]


def refused(lab, content, *texts, words=(), status=1):
    """Checks that a report with this content cannot be verified."""
    (lab.folder / "refused.json").write_text(content if isinstance(content, str) else json.dumps(content))
    vmafx(lab, "verify", "refused.json", *words).failed(status, *texts)


def packet_hashes(lab, path):
    """Returns the lines that the documents tell of, of all packets."""
    ffprobe = _ffmpeg.ffprobe_of(lab.ffmpeg)
    words = "-select_streams V:0 -show_data_hash sha256 -show_entries packet=data_hash -of default=nw=1:nk=1".split()
    told = subprocess.run([ffprobe, "-v", "error", *words, path], capture_output=True, text=True, check=True)
    return [f"{line}\n" for line in told.stdout.split()]


# -- What reports say --------------------------------------------------------------------------------------------------


@case
def packets_are_hashed_as_documented(lab):
    """The first and the last eight packets, in containers of several kinds; the last ones not without an index."""
    ffprobe = _ffmpeg.ffprobe_of(lab.ffmpeg)
    made = {name: lab.folder / name for name in ("a.mp4", "a.mkv", "a.ts", "a.y4m", "a.h264")}
    for name, path in made.items():
        codec = "wrapped_avframe" if name == "a.y4m" else "libx264"
        lab.run("-i", lab.clips.ref, "-t 0.7 -pix_fmt yuv420p -c:v", codec, "-f", _format(name), path).succeeded()
    for name, path in made.items():
        lines = packet_hashes(lab, path)
        check(len(lines) > 16, name, len(lines))
        wanted = [hashlib.sha256("".join(part).encode()).hexdigest() for part in (lines[:8], lines[-8:])]
        found = ends_of(ffprobe, str(path))
        check_equal(found["first"], {"packets": 8, "sha256": wanted[0]}, f"{name}: the first packets")
        last = None if name == "a.h264" else {"packets": 8, "sha256": wanted[1]}
        check_equal(found["last"], last, f"{name}: the last packets")


def _format(name):
    return {"a.ts": "mpegts", "a.y4m": "yuv4mpegpipe", "a.mkv": "matroska"}.get(name, name.removeprefix("a."))


@case
def reports_say_where_scores_come_from(lab):
    """The command's report has what the filter's has, and the inputs with their preparation."""
    dist, ref = clips(lab)
    model = module.Session(model="vmaf_v0.6.1:name=hd", feature="psnr", backend="cpu")
    check_equal(list(model.model_sha256), ["hd"], "models of a session")
    words = dist, ref, "--rotate", "hflip", "--rotate", "reference=hflip", "--offset=-0.08", "--input-option", "r=25"
    result = scored(lab, *words, "--model", "vmaf_v0.6.1:name=hd", "--feature", "psnr")
    own, report = result["provenance"], lab.json("log.json")
    check_equal(own, report["provenance"], "provenance in the log")
    check_equal(own["models"], model.model_sha256, "models")
    model.close()
    check_equal(report["vmafx"]["model_sha256"], own["models"], "models by the filter")
    check_equal((own["library"], own["cpu"]), (report["vmafx"]["version"], report["vmafx"]["cpu"]), "library, CPU")
    check_equal(report["vmafx"]["options"]["model"], "vmaf_v0.6.1:name=hd", "option model")
    check_equal(own["ffmpeg"], _ffmpeg.version_of(lab.ffmpeg), "version of FFmpeg")
    check_equal([told["file"] for told in own["inputs"]], [dist, ref], "files")
    check_equal([told["bytes"] for told in own["inputs"]], [(lab.folder / name).stat().st_size for name in (dist, ref)])
    check_equal([told["change"] for told in own["inputs"]], [{"turn": [0, True]}] * 2, "changes")
    check("hflip" in own["inputs"][0]["filters"]["pictures"][0], own["inputs"][0]["filters"])
    check_equal([float(Fraction(later)) for later in own["begins"]], [-0.08], "offset")
    check_equal(own["settings"]["input_options"], ["-r", "25"], "input options")
    check_equal(verified(lab, "log.json")["differences"], [], "differences")


# -- Verifying ---------------------------------------------------------------------------------------------------------


@case
@slow_case
def verify_says_equal(lab):
    """The result, the log in JSON and in NDJSON, of two encodes and two sizes; the inputs may have moved."""
    dist, ref = clips(lab)
    scored(lab, dist, ref, ref, "--feature", "psnr")
    for report, compared in (("log.json", "frames"), ("result.json", "pooled")):
        found = verified(lab, report)
        check_equal((found["equal"], found["compared"], found["notes"]), (True, compared, []), report)
        check_equal([encode["frames"] for encode in found["encodes"]], [FRAMES] * 2, "frames")
    scored(lab, dist, ref, "--range=0.2s-0.6s", log="range.json")
    check(verified(lab, "range.json")["equal"], "range")
    vmafx(lab, "score", dist, ref, "--scale", "model", "--feature", "psnr", "--log", "log.ndjson").succeeded()
    run = json.loads((lab.folder / "log.ndjson").read_text().splitlines()[-1])["vmafx"]
    check_equal((run["options"]["feature"], list(run["model_sha256"])), ("psnr", ["vmaf"]), "facts of both sizes")
    moved = lab.folder / "moved"
    moved.mkdir()
    for name in (dist, ref):
        (lab.folder / name).rename(moved / name)
    vmafx(lab, "verify", "log.ndjson").failed(1, "cannot find dist.mp4", "name the inputs after the report")
    done = vmafx(lab, "verify", "log.ndjson", moved / dist, moved / ref, "--threads", "1").succeeded()
    check(done.out.startswith("equal: ") and f"dist.mp4: {FRAMES} frames" in done.out, done.out)


@case
def verify_finds_another_input(lab):
    dist, ref = clips(lab)
    scored(lab, dist, ref, "--model", "none", "--feature", "psnr")
    lab.run("-i", lab.clips.ref, "-c:v libx264 -qp 45", dist).succeeded()
    found = verified(lab, "log.json", status=3)
    what = [own["what"] for own in found["differences"] if own["kind"] == "input"]
    check_equal((what, found["equal"]), (["bytes", "first_packets", "last_packets"], False), "inputs")
    scores = next(own for own in found["differences"] if own["kind"] == "score" and own["key"] == "psnr_y")
    check_equal((scores["count"], len(scores["frames"])), (FRAMES, FRAMES), "frames")
    check("pooled" in kinds(verified(lab, "result.json", status=3)), "pooled scores")
    ends = ends_of(_ffmpeg.ffprobe_of(lab.ffmpeg), str(lab.folder / "none.mp4"))
    check_equal(ends, {"first": None, "last": None}, "packets of no file")
    done = vmafx(lab, "verify", "log.json")
    check_equal(done.status, 3, "exit status")
    check("differs: the first packets of dist.mp4 are not those of the report" in done.out, done.out)


@case
def verify_finds_another_model(lab):
    dist, ref = clips(lab)
    path = lab.folder / "m.json"
    svm = "svm_type nu_svr\nkernel_type rbf\ngamma 0\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n40 1:1 \n"
    content = {"model_type": "LIBSVMNUSVR", "norm_type": "none", "feature_names": ["psnr_y"], "model": svm}
    path.write_text(json.dumps({"model_dict": content}))
    result = scored(lab, dist, ref, "--model", f"path=m.json")
    check_equal(result["provenance"]["models"]["vmaf"], hashlib.sha256(path.read_bytes()).hexdigest(), "hash")
    path.write_text(json.dumps({"model_dict": content | {"model": svm.replace("40", "41")}}))
    found = verified(lab, "log.json", status=3)
    check_equal(kinds(found)[0], "model", "first difference")
    check_equal(found["differences"][0]["now"], hashlib.sha256(path.read_bytes()).hexdigest(), "hash now")
    scores = [own for own in found["differences"] if own["kind"] == "score"]
    check_equal([(own["key"], own["count"], own["largest"]) for own in scores], [("vmaf", FRAMES, 1.0)], "scores")


@case
def verify_finds_changed_scores(lab):
    """A score that somebody has changed, a frame and a key that are gone; another version is a note."""
    dist, ref = clips(lab)
    scored(lab, dist, ref, "--model", "none", "--feature", "name=psnr:enable_chroma=false")
    report = lab.json("log.json")
    changed = copy.deepcopy(report)
    changed["frames"][3]["metrics"]["psnr_y"] += 0.5
    changed["frames"].pop()
    changed["pooled_metrics"]["psnr_y"]["mean"] += 0.25
    changed["provenance"]["library"] = "0.0.1"
    (lab.folder / "changed.json").write_text(json.dumps(changed))
    found = verified(lab, "changed.json", status=3)
    frames, score, pooled = found["differences"]
    check_equal((frames["kind"], frames["count"], frames["first"]), ("frames", 1, FRAMES - 1), "frames")
    check_equal((score["key"], [own["frame"] for own in score["frames"]]), ("psnr_y", [3]), "score")
    check(abs(score["largest"] - 0.5) < 1e-9, score)
    check_equal((pooled["kind"], pooled["key"]), ("pooled", "psnr_y"), "pooled score")
    check_equal(len(found["notes"]), 1, found["notes"])
    check(found["notes"][0].endswith("and 0.0.1 in the report"), found["notes"])


@case
def verify_compares_values_of_the_stream(lab):
    """Of the log and of the result: one that somebody has changed, and one that is gone. Decoders may be others."""
    dist, ref = clips(lab)
    words = dist, ref, "--model", "none", "--feature", "name=psnr:enable_apsnr=true:enable_chroma=false"
    result = scored(lab, *words, "--feature", "name=xpsnr:enable_chroma=false")
    report = lab.json("log.json")
    values = result["encodes"][0]["aggregates"]
    check_equal(values, report["aggregate_metrics"], "values of the stream")
    check_equal(list(values), ["apsnr_y", "axpsnr_y", "axpsnr"], "their keys")
    for name, own, group in (
        ("changed.json", copy.deepcopy(report), lambda own: own["aggregate_metrics"]),
        ("changed_result.json", copy.deepcopy(result), lambda own: own["encodes"][0]["aggregates"]),
    ):
        group(own)["apsnr_y"] += 0.25
        del group(own)["axpsnr"]
        own["provenance"]["settings"]["hwaccel"] = "cuda"
        (lab.folder / name).write_text(json.dumps(own))
        found = verified(lab, name, "--hwaccel", "none", status=3)["differences"]
        check_equal(
            [(told["kind"], told["key"]) for told in found], [("aggregate", "apsnr_y"), ("aggregate", "axpsnr")]
        )
        check_equal((found[0]["now"], found[1]["report"]), (values["apsnr_y"], None), name)
    check(verified(lab, "result.json")["equal"], "result")
    del result["encodes"][0]["aggregates"]  # as earlier versions have written it
    (lab.folder / "earlier.json").write_text(json.dumps(result))
    check(verified(lab, "earlier.json")["equal"], "a result of an earlier version")


@case
def verify_refuses_what_it_cannot_compute(lab):
    """Each has one error that says what is wrong: reports of others, of other formats, changed ones."""
    dist, ref = clips(lab)
    result = scored(lab, dist, ref, "--model", "none", "--feature", "name=psnr:enable_chroma=false", log="log.csv")
    lacking = "does not say where its scores come from, as the key provenance is missing"
    libvmaf = '{"version": "3.2.1", "fps": 1, "frames": [{"frameNum": 0, "metrics": {"vmaf": 90}}]}'
    refused(lab, libvmaf, lacking, "libvmaf")
    vmafx(lab, "verify", "log.csv").failed(1, lacking)
    refused(lab, {key: value for key, value in result.items() if key != "provenance"}, lacking)
    for content in ("", "{", "[]", '{"schema": 1, "provenance": 1}', '{"schema": 1, "schema": 1}'):
        refused(lab, content, "refused.json")
    vmafx(lab, "verify", "none.json").failed(1, "cannot read none.json: No such file")
    vmafx(lab, "verify", "result.json", dist).failed(2, "name 2 videos, not 1")
    for place, value, text in (
        (["settings", "features"], ["name=cambi:heatmaps_path=x"], "may name a file to write"),
        (["settings", "input_options"], ["-graph_file", "x"], "the input option graph_file"),
        (["settings", "input_options"], ["-f", "lavfi"], "the input option f"),
        (["settings", "range"], "x", "x is not a range of times"),
        (["settings", "scale"], "x", "is not a scale"),
        (["settings", "log"], "sub", "provenance.settings.log is"),
        (["schema"], 2, "provenance.schema is"),
        (
            ["inputs"],
            result["provenance"]["inputs"] + result["provenance"]["inputs"][:1],
            "has scores of 1 encodes, and names 2",
        ),
        (["inputs", 0, "file"], "http://user:secret@host/a.mp4", "name the inputs"),
        (["inputs", 0, "file"], "gone.mp4", "cannot find gone.mp4"),
        (["inputs", 0, "packets"], {}, "has no first"),
        (["inputs", 0, "change"], {"crop": "0:0:0:0"}, "the part 0:0:0:0 is empty"),
        (["begins"], ["1", "2"], "beginnings"),
    ):
        changed = copy.deepcopy(result)
        *way, last = place
        target = changed["provenance"]
        for step in way:
            target = target[step]
        target[last] = value
        refused(lab, changed, text)


@case
def verify_takes_input_options_anew(lab):
    """A secret option is not in the report, and must be given again."""
    dist, ref = clips(lab)
    secret = "--input-option", "decryption_key=00112233445566778899aabbccddeeff"
    result = scored(lab, dist, ref, "--model", "none", "--feature", "psnr", *secret)
    check("0011" not in json.dumps(result), "a secret is in the report")
    vmafx(lab, "verify", "log.json").failed(1, "the input option decryption_key", "--input-option")
    check(verified(lab, "log.json", *secret)["equal"], "equal")
