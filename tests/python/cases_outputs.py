"""The command never overwrites a file that it reads, never writes one file twice, and replaces files of another kind
only with --force.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import vmafx as module
from command import Done, environment, vmafx
from common import ALL, Skip, case, check, check_equal, raises, slow_case
from vmafx import _identity
from vmafx.command import merge
from vmafx.command.__main__ import SUBCOMMANDS, _parser
from vmafx.command._outputs import DIFFERENCES, KEPT_SCORES, PAGE, POINTS, REPORT, RESULTS, Output, check_outputs
from vmafx.command._scores import read_scores
from vmafx.command._terminal import Failure, whole_file
from vmafx.command.fleet.summary import Summary, write_summary
from vmafx.command.page.page import Page
from vmafx.command.page.pictures import Media
from vmafx.command.report import write_page

# All options of each subcommand that take a value, by argparse's names. An input has the names of the files that may be
# given, and the words that give them; an output has the words that give it.
VALUES = "model feature backend threads window device jobs sync offset range scenes worst title score anchor pool"
VALUES += " method log_fmt score_fmt together piece attempts stall scheduler workers worker_ttl resource"
VALUES += " scale input_option ref_option crop rotate range_of matrix_of pair_by"
VALUES += " target min_crf max_crf confidence samples memory encoder preset enc vfilter pix_format keyint"
VALUES += " encoder_device crf acodec audio_option without per_scene scene_threshold"
VALUES += " hwaccel scale_on port frame convert map"
SCORING = {
    "model": (["m.json", "n.json"], ["--model", "path=m.json", "--model", "version=x:name=y|name=z:path=n.json"])
}
FFMPEG = {"ffmpeg": (["ffmpeg", "ffprobe"], ["--ffmpeg", "./ffmpeg"])}
DYGRAPHS = {"dygraphs": (["dygraph.min.js", "dygraph.min.css"], ["--dygraphs", "."])}
REGIONS = {"roi": (["logo.pgm", "face.pgm"], ["--roi", "logo.pgm|center", "--roi", "a=face.pgm"])}
INPUTS = {
    "score": {
        "videos": (["low.mp4", "high.mkv", "ref.y4m"], ["low.mp4", "high.mkv", "ref.y4m"]),
        **SCORING,
        **FFMPEG,
        **REGIONS,
        **DYGRAPHS,
    },
    "report": {
        "scores": (["s.json", "t.csv"], ["s.json", "t.csv"]),
        "media": (["low.mp4", "high.mkv"], ["--media", "low.mp4", "high.mkv"]),
        "reference": (["ref.y4m"], ["--reference", "ref.y4m"]),
        "maps": (["vmaf_60x34_f32.gray"], ["--maps", "."]),
        **FFMPEG,
        **DYGRAPHS,
    },
    "compare": {"table": (["lad.csv", "low.mp4", "ref.y4m", "s.json"], ["lad.csv"]), **SCORING, **REGIONS, **FFMPEG},
    "merge": {"parts": (["a.json", "b.json"], ["a.json", "b.json"])},
    "library": {
        "list": (["list.jsonl", "low.mp4", "ref.y4m", "own.json"], ["list.jsonl"]),
        "scheduler_file": (["scheduler.json"], ["--scheduler-file", "scheduler.json"]),
        **SCORING,
        **REGIONS,
        **FFMPEG,
    },
    "verify": {
        "report": (["s.json"], ["s.json"]),
        "videos": (["low.mp4", "ref.y4m"], ["low.mp4", "ref.y4m"]),
        **FFMPEG,
    },
    "view": {
        "videos": (["low.mp4", "high.mkv", "ref.y4m"], ["low.mp4", "high.mkv", "ref.y4m"]),
        "scores": (["s.json"], ["--scores", "s.json"]),
        **SCORING,
        **REGIONS,
        **FFMPEG,
    },
    "crf": {"input": (["film.mp4"], ["film.mp4"]), **SCORING, **FFMPEG},
    "encode": {"input": (["film.mp4"], ["film.mp4"]), "model": (["m.json"], ["--model", "path=m.json"]), **FFMPEG},
}
READ_ONLY = {"doctor", "models", "metrics"}  # subcommands that write no file
READ_ONLY_VALUES = {"backend", "limit", "ffmpeg"}
OUTPUTS = {
    "score": {"report": ["--report"], "log": ["--log"], "maps": ["--maps"]},
    "report": {"output": ["-o"]},
    "compare": {"output": ["-o"], "csv": ["--csv"], "differences": ["--differences"], "scores": ["--scores"]},
    "merge": {"output": ["-o"], "heatmaps": ["--heatmaps"], "maps": ["--maps"]},
    "library": {"output": ["-o"], "report": ["--report"]},
    "encode": {"output": ["-o"]},
}
FOLDERS = {
    ("compare", "scores"),
    ("merge", "heatmaps"),
    ("merge", "maps"),
    ("score", "maps"),
}  # these outputs are folders
FILES = [(name, option) for name, options in OUTPUTS.items() for option in options if (name, option) not in FOLDERS]
NEEDED = {"report": {"output": ["-o", "new.html"]}, "library": {"output": ["-o", "new.jsonl"]}}
NEEDED["encode"] = {"output": ["-o", "new.mkv"]}

# Runs the command several times. The word "fd:FILE" stands for a descriptor of that file.
RUNS = """
import contextlib, io, json, os, sys
from vmafx.command.__main__ import main
for words in json.load(sys.stdin):
    descriptors = [os.open(word[3:], os.O_RDWR) for word in words if word.startswith("fd:")]
    opened = iter(descriptors)
    said, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(out):
        try:
            status = main([f"/proc/self/fd/{next(opened)}" if word.startswith("fd:") else word for word in words])
        except SystemExit as end:
            status = end.code
    for descriptor in descriptors:
        os.close(descriptor)
    print(json.dumps([status, out.getvalue(), said.getvalue()]), flush=True)
"""


def run_all(lab, folder, commands):
    """Runs commands in one Python, in this folder, and returns what each has written."""
    done = subprocess.run(
        [sys.executable, "-c", RUNS],
        cwd=folder,
        env=environment(lab),
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=300,
    )
    check_equal((done.returncode, done.stderr), (0, ""), "exit status and messages")
    results = [Done(subprocess.CompletedProcess([], *json.loads(line))) for line in done.stdout.splitlines()]
    check_equal(len(results), len(commands), "commands that ended")
    return results


def options_of(name):
    """Returns the options that take a value, by argparse's names."""
    subparsers = next(action for action in _parser([name])._actions if isinstance(action, argparse._SubParsersAction))
    return [action.dest for action in subparsers.choices[name]._actions if action.nargs != 0]


def digests(folder):
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def folder_of_inputs(lab, name):
    """Makes files that need not be readable: outputs are checked before any input but tables and lists."""
    folder = lab.folder / name
    (folder / "inside").mkdir(parents=True)
    for files, _ in INPUTS[name].values():
        for file in files:
            (folder / file).write_text(f"This is {file}.")
            (folder / file).chmod(0o755)
    (folder / "lad.csv").write_text("series,file,reference,scores,bitrate\na,low.mp4,ref.y4m,,\nb,,,s.json,1\n")
    row = {"distorted": "low.mp4", "reference": "ref.y4m", "models": ["path=own.json"]}
    (folder / "list.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def ways_to(folder, file):
    """Returns names of one file; those that end with .jsonl are for `library -o`, which takes no others."""
    for link, make in (("soft", os.symlink), ("hard", os.link)):
        for suffix in ("", ".jsonl"):
            name = f"{link}-{file}{suffix}"
            if not (folder / name).exists():
                make(folder / file, folder / name)
            yield name
    if not (folder / "folder").exists():
        (folder / "folder").symlink_to(".")
    yield from (file, f"inside/../{file}", str(folder / file), f"folder/{file}", f"fd:{file}")


# -- All outputs, all inputs -------------------------------------------------------------------------------------------


@case
def every_option_is_an_input_an_output_or_a_value(lab):
    """A new option must be put into the table above, and with that into the tests below."""
    check_equal(set(INPUTS) | READ_ONLY, set(SUBCOMMANDS), "subcommands")
    for name in READ_ONLY:
        check_equal(set(options_of(name)) - READ_ONLY_VALUES, set(), f"options of {name} that are not known here")
    for name in INPUTS:
        outputs = OUTPUTS.get(name, {})
        values = set(VALUES.split()) - ({"scores", "score"} & outputs.keys())
        known = INPUTS[name].keys() | outputs.keys() | values
        check_equal(
            [option for option in options_of(name) if option not in known],
            [],
            f"options of {name} that are not known here",
        )
        gone = (INPUTS[name].keys() | outputs.keys()) - set(options_of(name))
        check_equal(gone, set(), f"options that {name} does not have")
        has_force = "force" in vars(_parser([name]).parse_args(words_of(name)))
        check_equal(has_force, bool(outputs), f"{name} has --force")


def words_of(name, without_outputs=(), without_inputs=()):
    """Returns a command with all inputs, and the outputs that it needs."""
    outputs = [
        word for option, words in NEEDED.get(name, {}).items() if option not in without_outputs for word in words
    ]
    inputs = [words for option, (_, words) in INPUTS[name].items() if option not in without_inputs]
    inputs.sort(key=lambda words: words[0].startswith("-"))
    return [name, *(word for words in inputs for word in words), *outputs]


@case
def no_output_is_an_input(lab):
    """An output is never an input, not even by another name or with --force."""
    for name in OUTPUTS:
        folder = folder_of_inputs(lab, name)
        commands = []
        for option, words in OUTPUTS[name].items():
            for file in [file for files, _ in INPUTS[name].values() for file in files]:
                for way in ways_to(folder, file):
                    commands += [[*words_of(name, [option]), *words, way, *force] for force in ([], ["--force"])]
        before = digests(folder)
        for words, done in zip(commands, run_all(lab, folder, commands)):
            what = " ".join(words)
            results = words[words.index("-o") + 1] if name == "library" else ""
            is_other_name = results.startswith("fd:") or not results.endswith(("", ".jsonl")[name == "library"])
            wanted = "cannot tell the format of the results" if is_other_name else "which is never overwritten"
            check_equal((done.status, done.out), (2, ""), f"{what}: status and output, with {done.err}")
            check(wanted in done.err and len(done.err.splitlines()) == 1, f"{what}: {done.err}")
        check(digests(folder) == before, f"{name} has changed a file")
        check(len(commands) > 30, f"only {len(commands)} commands")


@case
def no_output_is_another(lab):
    for name in OUTPUTS:
        folder = folder_of_inputs(lab, name)
        commands = []
        for one, its in OUTPUTS[name].items():
            for other, others in OUTPUTS[name].items():
                if one < other:
                    words = words_of(name, [one, other])
                    commands += [
                        [*words, *its, "x.jsonl", *others, path]
                        for path in ("x.jsonl", "./x.jsonl", "inside/../x.jsonl")
                    ]
        commands += [
            [*words_of(name, ["output"]), "-o", "r.jsonl", "--report", f"r.jsonl.ranges{end}"]
            for end in ("", "/x")
            if name == "library"
        ]
        kept = "inside/low-0123456789abcdef0123.ndjson"
        commands += [
            [*words_of(name), "--scores", "inside", option, kept] for option in ("-o", "--csv") if name == "compare"
        ]
        before = digests(folder)
        for words, done in zip(
            commands, run_all(lab, folder, [*commands, *([*words, "--force"] for words in commands)])
        ):
            check(
                "would overwrite each other: name two files" in done.err and done.status == 2,
                f"{' '.join(words)}: {done.err}",
            )
        check(digests(folder) == before, f"{name} has changed a file")


@case
def names_for_ffmpeg_are_inputs(lab):
    """Protocols, patterns, playlists: none of the files behind them is overwritten."""
    folder = lab.folder
    for file in ("a.mp4", "b.mp4", "picture01.png", "part0.ts", "part1.ts", "key.bin", "own.ts"):
        (folder / file).write_text(file)
    (folder / "list.m3u8").write_text(
        '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="key.bin"\n\n#EXTINF:1,\npart0.ts\npart1.ts\n'
    )
    (folder / "list.ffconcat").write_text("ffconcat version 1.0\nfile part0.ts\nfile 'own.ts'\n")
    names = {
        "a.mp4": ("file:a.mp4", "cache:file:a.mp4", "subfile,,start,0,end,0,,:a.mp4", f"concat:{folder}/a.mp4|b.mp4"),
        "b.mp4": ("concat:a.mp4|b.mp4",),
        "picture01.png": ("picture%02d.png", "file:picture%d.png"),
        "part1.ts": ("list.m3u8", "concat:list.m3u8"),
        "key.bin": ("list.m3u8",),
        "part0.ts": ("list.ffconcat",),
        "own.ts": ("list.ffconcat",),
    }
    commands = [
        ["score", name, "ref.mp4", "--report", file, "--force"] for file, given in names.items() for name in given
    ]
    for words, done in zip(commands, run_all(lab, folder, commands)):
        done.failed(2, f"--report {words[-2]} is the same file as the input {words[1]}")


@case
def standard_output_is_no_input(lab):
    """An input is not overwritten if a shell has opened it as standard output."""
    dist = shutil.copy(lab.clips.dist, lab.folder / "dist.mkv")
    before = Path(dist).read_bytes()
    words = [sys.executable, "-m", "vmafx.command", "score", "dist.mkv", str(lab.clips.ref), "--force"]
    for stream, other in (("stdout", "stderr"), ("stderr", "stdout")):
        with open(dist, "ab") as file:
            done = subprocess.run(words, cwd=lab.folder, env=environment(lab), **{stream: file, other: subprocess.PIPE})
        check_equal(done.returncode, 2, f"exit status with {stream}")
    check_equal(Path(dist).read_bytes()[: len(before)], before, "the input")
    with open(lab.folder / "log.json", "w") as file:
        done = subprocess.run(
            [*words, "--log", "log.json"],
            cwd=lab.folder,
            env=environment(lab),
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
        )
    check("--log log.json is also standard output" in done.stderr and done.returncode == 2, done.stderr)


# -- Files that are there ----------------------------------------------------------------------------------------------


SAMPLES = {
    "text": b"Frame of reference\n",
    "frames": b"Frame,x,y\n1,2,3\n",
    "video": b"\0\0\0 ftypisom" + bytes(range(256)),
    "package": b'{"name": "x", "version": "1.0.0", "dependencies": {"fps": "^1.0"}}',
    "table": b"series,file,reference\na,b,c\n",
    "svg": b'<?xml version="1.0"?>\n<!-- <html> --><svg/>',
    "records": b'{"schema": 2, "id": "x"}\n',
    "page": b"\xef\xbb\xbf\n<!-- a page -->\n<!DOCTYPE html>\n<html></html>",
    "old page": b"<HTML><BODY>",
    "json": b'{\n  "version": "3.0.0",\n  "fps": 35.04,\n  "frames": [\n',
    "sorted": b'{"aggregate_metrics": {}, "fps": 1, "frames": [{"frameNum": 0}]}',
    "ndjson": b'{"encode": 0, "name": "x", "frameNum": 0, "time": 0}\n',
    "csv": b"Frame,Time,vmaf,\n0,0,1,\n",
    "csv of several": b"Encode,Name,Frame,vmaf,\n",
    "xml": b'<VMAF version="3.0.0">\n',
    "sub": b"{0}{1}frame: 0|vmaf: 1|\n",
    "range": b'{"version": "1", "fps": 1, "frames": [{"frameNum": 0}], "range": {"given": "1-2"}}',
    "differences": b"score,anchor,series,clip,clips,bd_rate,bd_score,bd_rate_low\n",
    "points": b"clip,series,label,file,bitrate,bytes,frames,vmaf,vmaf_on_hull\n",
    "results": b'{"schema": 1, "id": "x", "stamp": "y", "error": null, "pooled": {}, "warnings": []}\n',
    "torn": b'{"schema": 1, "id"',
    "empty": b"",
}
REPORTS = {"json", "sorted", "ndjson", "csv", "csv of several", "xml", "sub", "empty"}
GOOD = {
    ("score", "report"): {"page", "old page", "empty"},
    ("score", "log"): REPORTS | {"range"},
    ("report", "output"): {"page", "old page", "empty"},
    ("compare", "output"): {"page", "old page", "empty"},
    ("compare", "csv"): {"points", "empty"},
    ("compare", "differences"): {"differences", "empty"},
    ("merge", "output"): REPORTS,
    ("library", "output"): {"results", "torn", "empty"},
    ("library", "report"): {"page", "old page", "empty"},
    ("encode", "output"): {"empty"},
}


@case
def no_output_is_of_another_kind(lab):
    """Files of another kind stay without --force. Commands that pass the guard fail, as inputs are nonsense."""
    check_equal(set(GOOD), set(FILES), "outputs")
    for name in OUTPUTS:
        folder = folder_of_inputs(lab, name)
        for sample, content in SAMPLES.items():
            (folder / f"{sample}.jsonl").write_bytes(content)
        database = sqlite3.connect(folder / "foreign.db")
        database.execute("CREATE TABLE places (id)")
        database.commit()
        cases = [
            (option, sample, f"{sample}.jsonl")
            for option in OUTPUTS[name]
            if (name, option) in GOOD
            for sample in SAMPLES
        ]
        cases += [(option, "foreign database", "foreign.db") for option in OUTPUTS[name] if (name, option) in GOOD]
        refused = [(option, path) for option, sample, path in cases if sample not in GOOD[name, option]]
        taken = [(option, path) for option, sample, path in cases if sample in GOOD[name, option]]
        words_with = lambda option, path: [*words_of(name, [option], ["scheduler_file"]), *OUTPUTS[name][option], path]
        before = digests(folder)
        for (option, path), done in zip(refused, run_all(lab, folder, [words_with(*one) for one in refused])):
            named = f"{OUTPUTS[name][option][0]} {path}: this file exists" + " and has no " * (name != "encode")
            done.failed(1, named, "Name another file, or add --force to replace it\n")
        for (option, path), done in zip(taken, run_all(lab, folder, [words_with(*one) for one in taken])):
            check(done.status and "--force" not in done.err, f"{name} {option} {path}: {done.err}")
        for (option, path), done in zip(
            refused, run_all(lab, folder, [[*words_with(*one), "--force"] for one in refused])
        ):
            check(done.status and "--force" not in done.err, f"{name} {option} {path} --force: {done.err}")
        check(digests(folder) == before, f"{name} has changed a file before it had anything to write")


@case
def names_of_videos_are_no_outputs(lab):
    """The name of the output was forgotten, and the first video does not exist."""
    commands = [
        [*words_of(name, [option]), *OUTPUTS[name][option], "new.MP4"]
        for name, option in FILES
        if (name, option) not in (("library", "output"), ("encode", "output"))
    ]
    for name in OUTPUTS:
        folder = folder_of_inputs(lab, name)
        own = [words for words in commands if words[0] == name]
        for words, done in zip(own, run_all(lab, folder, own)):
            done.failed(
                2,
                f"{words[-2]} new.MP4: the name ends like that of a video",
                f"Name the output after {words[-2]}, or add --force",
            )
        for words, done in zip(own, run_all(lab, folder, [[*words, "--force"] for words in own])):
            check(done.status and "--force" not in done.err, f"{' '.join(words)} --force: {done.err}")


@case
def folders_and_broken_names_are_no_outputs(lab):
    loop = lab.folder / "loop"
    loop.symlink_to("loop")
    (lab.folder / "lost").symlink_to("none/x.html")
    for path, texts in {
        ".": ("it is a folder",),
        "none/x.html": ("the folder none does not exist",),
        "lost": ("the folder ", "/none does not exist"),
        "loop": ("cannot write loop: ",),
        "x" * 300: ("File name too long",),
        "/dev/fd/77": ("the descriptor 77 is not open",),
        "/dev/stdin": ("open for reading only",),
    }.items():
        for force in ([], ["--force"]):
            done = vmafx(lab, "score", lab.clips.dist, lab.clips.ref, "--report", path, *force)
            if path == "/dev/stdin":  # this is /dev/null here, a device
                continue
            done.failed(1, *texts)


@case
def outputs_are_written_again(lab):
    """Outputs replace older ones of the same command and empty files, also through links, and anything with --force."""
    words = ["score", lab.clips.dist, lab.clips.ref, "--model", "none", "--feature", "psnr"]
    other = lab.folder / "folder"
    other.mkdir()
    (lab.folder / "page.html").symlink_to("folder/page")  # the link's target is made
    for format in ("json", "ndjson", "csv", "xml"):
        log = lab.folder / f"log.{format}"
        log.touch()
        page = ("--report", "page.html") if format == "json" else ()
        for _ in range(2 if page or ALL else 1):
            vmafx(lab, *words, *page, "--log", log).succeeded()
            check("psnr_y" in log.read_text(), f"{log}")
    vmafx(lab, "report", "log.json", "-o", "page.html").succeeded()
    check(
        (lab.folder / "page.html").is_symlink() and (other / "page").read_text().startswith("<!DOCTYPE html>"),
        "the page is not where the link leads",
    )
    table = [
        {"series": "a", "bitrate": 1 + number, "scores": f"log.{kind}"} for number, kind in enumerate(("json", "csv"))
    ]
    (lab.folder / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    for _ in range(2):
        vmafx(lab, "compare", "table.jsonl", "-o", "compared.html", "--csv", "points.csv").succeeded()
    for option, path in (("-o", "points.csv"), ("--csv", "compared.html")):
        vmafx(lab, "compare", "table.jsonl", option, path).failed(1, "--force")
        vmafx(lab, "compare", "table.jsonl", option, path, "--force").succeeded()
    check((lab.folder / "points.csv").read_text().startswith("<!DOCTYPE html>"), "the page")
    check((lab.folder / "compared.html").read_text().startswith("clip,series"), "the points")
    check_equal([path.name for path in lab.folder.glob("**/*.part*")], [], "parts that are left")


@case
def names_of_streams_need_no_links(lab):
    """A container may lack /dev/stdout: writing to it makes no file of that name."""
    (lab.folder / "link").symlink_to("/dev/fd/7")
    with mock.patch("os.path.realpath", os.path.abspath):
        names = "/dev/stdout", "/dev/../dev/stderr", "/dev/fd/5", "/proc/self/fd/6", lab.folder / "link", "/dev/null"
        check_equal([_identity.descriptor_of(name) for name in names], [1, 2, 5, 6, 7, None], "descriptors")
    with mock.patch("os.stat", side_effect=FileNotFoundError):
        check(_identity.state("/dev/stdout") == os.fstat(1), "the state of standard output")
        check_equal(_identity.state("/dev/fd/1000"), None, "the state of a descriptor that is not open")


@case
@slow_case
def streams_and_devices_are_written_as_they_are(lab):
    words = [sys.executable, "-m", "vmafx.command", "score", str(lab.clips.dist), str(lab.clips.ref), "--report"]
    settings = {"cwd": lab.folder, "env": environment(lab), "stderr": subprocess.PIPE}
    target = lab.folder / "out"
    for mode, path in (("w", "/dev/stdout"), ("a", "/proc/self/fd/1"), ("r+", "/dev/fd/1")):
        target.write_text("before\n")
        with open(target, mode) as file:
            done = subprocess.run([*words, path], stdout=file, **settings)
        text = target.read_text()
        if mode == "r+":  # writing would begin at the start of another file
            check(done.returncode == 1 and b"--force" in done.stderr and text == "before\n", done.stderr)
            continue
        check_equal(done.returncode, 0, f"exit status: {done.stderr}")
        check(text.startswith("before\nencode " if mode == "a" else "encode "), text[:100])
        check(
            "<!DOCTYPE html>" in text and text.endswith("</html>\n"), f"no whole page behind the table: {text[-100:]}"
        )
    piped = subprocess.run([*words, "/dev/stdout"], stdout=subprocess.PIPE, **settings)
    check(piped.stdout.startswith(b"encode ") and piped.stdout.endswith(b"</html>\n"), "no page in the pipe")
    vmafx(lab, *words[3:], "/dev/null").succeeded()
    done = subprocess.run([*words, "/dev/full"], stdout=subprocess.PIPE, **settings)
    told = done.stderr.decode()
    check(
        done.returncode == 1 and "cannot write /dev/full: No space left on device" in told and "Traceback" not in told,
        told,
    )
    os.mkfifo(lab.folder / "pipe")
    with open(lab.folder / "read.html", "wb") as file:
        reader = subprocess.Popen(["cat", lab.folder / "pipe"], stdout=file)
        vmafx(lab, *words[3:], "pipe").succeeded()
        check_equal(reader.wait(60), 0, "exit status of cat")
    check((lab.folder / "read.html").read_text().endswith("</html>\n"), "no page in the FIFO")
    check((lab.folder / "pipe").is_fifo(), "the FIFO was replaced")


@case
def devices_are_for_all_users(lab):
    """Nobody can make files in /dev, but all may write to /dev/null. A file that cannot be read is of no known kind."""
    program = """
import os, sys
from pathlib import Path
from vmafx.command._outputs import PAGE, Output, check_outputs
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os.umask(0o555)  # a new file can be written and not read
check_outputs([], [Output("-o", Path("/dev/null"), PAGE)], False)
folder = Path(os.popen("mktemp -d").read().strip())
folder.chmod(0o700)
(folder / "page.html").write_text("<html>")
try:
    check_outputs([], [Output("-o", folder / "page.html", PAGE)], False)
except Exception as failure:
    print(failure)
(folder / "page.html").unlink()
folder.rmdir()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd="/", env=environment(lab), capture_output=True, text=True
    )
    check(done.returncode == 0 and "--force" in done.stdout, done.stdout + done.stderr)


@case
def outputs_are_checked_again(lab):
    """Outputs are checked again when a file is put in place: its name may be another's by then."""
    page, victim, other = lab.folder / "page.html", lab.folder / "in.mp4", lab.folder / "other.txt"
    other.write_text("other")
    changes = {
        "which is never overwritten": (
            lambda: os.link(victim, page),
            lambda: page.symlink_to(victim),
            lambda: os.rename(victim, page),
        ),
        "this file exists and has no HTML page in it": (
            lambda: page.write_text("mine"),
            lambda: page.symlink_to(other),
        ),
        "it has become a link to another file": (lambda: page.symlink_to("new.html"),),
        "would overwrite each other": (lambda: os.link(lab.folder / "log.json", page),),
    }
    for text, kinds in changes.items():
        for change in kinds:
            page.unlink(missing_ok=True)
            victim.write_text("input")
            (lab.folder / "log.json").write_bytes(SAMPLES["json"])
            guard = check_outputs(
                [victim], [Output("-o", page, PAGE), Output("--log", lab.folder / "log.json", REPORT)], force=False
            )
            with raises(Failure, text):
                with whole_file(page, guard) as part:
                    part.write_text("<html>")
                    change()
            check_equal(
                sorted(path.name for path in lab.folder.iterdir() if ".part" in path.name), [], "parts that are left"
            )
            contents = [path.read_text() for path in (page, victim) if path.exists()]
            check("<html>" not in contents and other.read_text() == "other", f"{text}: written all the same")


@case
def parts_are_new_files(lab):
    """A file that has the temporary name already stays, and long names leave room for it."""
    page = lab.folder / "page.html"
    first, second = (lab.folder / f"page.html.{os.getpid()}{end}.part" for end in ("", ".1"))
    first.write_text("mine")
    second.symlink_to("none")
    accept = lambda path: None
    with whole_file(page, accept) as part:
        check(part not in (first, second) and not part.is_symlink(), part)
        part.write_text("new")
    check_equal((page.read_text(), first.read_text(), second.is_symlink()), ("new", "mine", True), "files")
    check(not (lab.folder / "none").exists(), "the link was followed")
    long = lab.folder / ("ä" * 125 + ".html")
    with whole_file(long, accept) as part:
        part.write_text("new")
    check_equal(long.read_text(), "new", "the file with a long name")


# -- Folders -----------------------------------------------------------------------------------------------------------


@case
def kept_scores_follow_no_links(lab):
    shutil.copy(lab.clips.dist, lab.folder / "dist.mkv")
    (lab.folder / "table.csv").write_text(f"series,file,reference\na,dist.mkv,{lab.clips.ref}\n")
    words = "compare", "table.csv", "--scores", "kept", "--model", "none", "--feature", "psnr"
    vmafx(lab, *words).succeeded()
    (report,) = (lab.folder / "kept").iterdir()
    check(KEPT_SCORES.files(report.name), report.name)
    report.unlink()
    report.symlink_to("../made")
    vmafx(lab, *words).failed(1, f"kept/{report.name} exists and has no report of vmafx in it")
    check(not (lab.folder / "made").exists(), "the link was followed")
    report.unlink()
    vmafx(lab, *words, "--csv", f"kept/{report.name}", "--force").failed(2, "would overwrite each other")


@case
def heatmaps_are_no_inputs(lab):
    dist = shutil.copy(lab.clips.dist, lab.folder / "dist.mkv")
    before = Path(dist).read_bytes()
    (lab.folder / "maps").mkdir()
    (lab.folder / "maps/cambi_heatmap_scale_0_192x108_16b.gray").symlink_to("../dist.mkv")
    for words in (
        ("--feature", "name=cambi:heatmaps_path=maps"),
        ("--model", "version=vmaf_v0.6.1:cambi.heatmaps_path=maps"),
    ):
        vmafx(lab, "score", "dist.mkv", lab.clips.ref, *words, "--force").failed(
            2, "is the same file as the input dist.mkv"
        )
    with raises(module.Error, "is the input"):
        module.score(lab.clips.ref, dist, feature=f"cambi:heatmaps_path={lab.folder}/maps")
    (lab.folder / "maps/psnr_y_12x7_f32.gray").symlink_to("../dist.mkv")
    with raises(module.Error, "is the input"):
        module.score(lab.clips.ref, dist, feature="psnr", maps=f"{lab.folder}/maps", overwrite=True)
    check_equal(Path(dist).read_bytes(), before, "the input")


# -- Libraries ---------------------------------------------------------------------------------------------------------


@case
def results_replace_nothing(lab):
    """Results are added to results; --force makes way for them."""
    if find_spec("distributed") is None:
        raise Skip("Debian's python3-distributed is not installed")
    (lab.folder / "list.csv").write_text(f"distorted,reference\n{lab.clips.dist},{lab.clips.ref}\n")
    words = [
        sys.executable,
        "-m",
        "vmafx.command",
        "library",
        "list.csv",
        "--workers",
        "1",
        "--model",
        "none",
        "--feature",
        "psnr",
    ]
    run = lambda *more: Done(
        subprocess.run(
            [*words, *more], cwd=lab.folder, env=environment(lab), capture_output=True, text=True, timeout=240
        )
    )
    (lab.folder / "r.jsonl").write_text("mine\n")
    run("-o", "r.jsonl").failed(1, "-o r.jsonl: this file exists and has no results of vmafx library in it", "--force")
    check_equal((lab.folder / "r.jsonl").read_text(), "mine\n", "the file")
    run("-o", "r.jsonl", "--force", "--report", "page.html").succeeded()
    check_equal(
        [json.loads(line)["error"] for line in (lab.folder / "r.jsonl").read_text().splitlines()], [None], "results"
    )
    run("-o", "r.jsonl", "--force", "--report", "page.html").succeeded().says("1 of 1 pairs were scored before")
    (lab.folder / "page.html").write_text("mine")
    run("-o", "r.jsonl", "--report", "page.html").failed(
        1, "--report page.html: this file exists and has no HTML page in it"
    )


# -- Calls in Python ---------------------------------------------------------------------------------------------------


def ranges_of(lab):
    paths = [lab.folder / "a.json", lab.folder / "b.json"]
    for path, reach in zip(paths, ("-0.4s", "0.4s-")):
        lab.compare(f"vmafx=model=:feature=psnr:range={reach}:log_path={path}").succeeded()
    return list(map(str, paths))


@contextlib.contextmanager
def unchanged(*paths):
    before = [Path(path).read_bytes() for path in paths]
    yield
    check_equal([Path(path).read_bytes() for path in paths], before, f"what is in {paths}")


@case
def merging_in_python_overwrites_no_part(lab):
    parts, text, link = ranges_of(lab), lab.folder / "mine.txt", lab.folder / "link"
    text.write_text("mine")
    link.symlink_to("a.json")
    for force in (False, True):
        with unchanged(*parts, text):
            for output in (parts[0], str(link)):
                with raises(Failure, "which is never overwritten"):
                    merge.merge(parts, output, merge.Form(force=force))
                with raises(Failure, "which is never overwritten"):
                    merge.write_report(merge.streams_of(parts)[0], output, merge.Form(force=force))
    with unchanged(*parts, text):
        for other in (str(text), parts[1]):  # the user forgot that this file is a part
            with raises(Failure, "--force"):
                merge.merge(parts[:1], other, merge.Form(partial=True))
        descriptor = os.open(parts[0], os.O_RDWR)
        with raises(Failure, "which is never overwritten"):
            merge.merge(parts, f"pipe:{descriptor}")
        os.close(descriptor)
    for format in ("json", "csv", "xml", "sub"):
        for _ in range(2):
            merge.merge(parts, str(lab.folder / f"whole.{format}"))
    merge.merge(parts, str(text), merge.Form(force=True))
    check("<VMAF" in text.read_text(), "--force")


@case
def merging_several_encodes_overwrites_no_part(lab):
    """In the name of the output, %d stands for the number of each encode."""
    graph = "[0:v]split[a][b];[a][b][1:v]vmafx=model=:feature=psnr:encodes=2:range=-:log_path=1.json[c][d]"
    lab.run(
        "-i", lab.clips.dist, "-i", lab.clips.ref, "-filter_complex", graph, "-map [c] -f null - -map [d] -f null -"
    ).succeeded()
    path = str(lab.folder / "1.json")
    with unchanged(path), raises(Failure, "which is never overwritten"):
        merge.merge([path], str(lab.folder / "%d.json"))
    check(not (lab.folder / "0.json").exists(), "a report was written before all were checked")
    for _ in range(2):
        merge.merge([path], str(lab.folder / "own%d.json"))


@case
def pages_in_python_overwrite_no_video(lab):
    dist = shutil.copy(lab.clips.dist, lab.folder / "dist.mkv")
    lab.compare("vmafx=log_path=scores.json").succeeded()
    encodes = read_scores(lab.folder / "scores.json")
    media = Media(str(lab.ffmpeg), [str(dist)], str(lab.clips.ref))
    with unchanged(dist, lab.folder / "scores.json"):
        with raises(Failure, "which is never overwritten"):
            write_page(Path(dist), Page(encodes, ["vmaf"], media), None)
        with raises(Failure, "has no HTML page in it"):
            write_page(lab.folder / "scores.json", Page(encodes, ["vmaf"]), None)
        with raises(Failure, "has no HTML page in it"):
            write_summary(lab.folder / "scores.json", Summary([]), "title", 1)
    for _ in range(2):
        write_page(lab.folder / "page.html", Page(encodes, ["vmaf"], media), None)
        write_summary(lab.folder / "summary.html", Summary([]), "title", 1)


@case
def scores_in_python_overwrite_no_video(lab):
    dist, ref = shutil.copy(lab.clips.dist, lab.folder / "dist.mkv"), lab.clips.ref
    os.link(dist, lab.folder / "hard.json")
    with unchanged(dist, ref):
        for option, path in (
            ("log_path", dist),
            ("log_path", ref),
            ("log_path", lab.folder / "hard.json"),
            ("openmetrics", dist),
        ):
            with raises(module.Error, "is never overwritten", 22):
                module.score(ref, dist, **{option: path})
    check(module.score(ref, dist, model="", feature=["psnr"], log_path=lab.folder / "new.json").frames, "no scores")


@case
def kinds_are_what_is_written(lab):
    """Each kind recognizes the command's outputs of that kind, which other tests write, and no others."""
    for kind, own in (
        (PAGE, {"page", "old page"}),
        (POINTS, {"points"}),
        (DIFFERENCES, {"differences"}),
        (RESULTS, {"results", "torn", "empty"}),
        (REPORT, REPORTS - {"empty"} | {"range"}),
    ):
        known = {name for name, content in SAMPLES.items() if kind.is_in(content.decode("utf-8-sig", "replace"), "")}
        check_equal(known, own, kind.name)
