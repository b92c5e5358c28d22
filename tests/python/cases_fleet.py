"""vmafx library: lists, results, and what happens when workers or the command itself die.

The cases run with Dask, and as docs/scale.md does without it.
"""

import contextlib
import csv
import html
import http.server
import io
import itertools
import json
import math
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import starts
from cases_front import cut_file, damage_file, long_clips
from cases_hostile import hold
from command import AT_OWN_SIZE, Done, command, environment, vmafx
from common import ALL, FRAMES, Skip, alive, case, check, check_equal, long_case, raises, slow_case, top
from vmafx.command import _rows as rows
from vmafx.command._names import HARMLESS, redact, why_writing
from vmafx.command._rows import Lines, read_rows
from vmafx.command._statistics import NAMES
from vmafx.command._terminal import Failure
from vmafx.command.fleet.pairs import Pair, read_list
from vmafx.command.fleet.store import IN_RESULTS, Ranges, open_results
from vmafx.command.fleet.summary import Summary, write_summary

WITHOUT_DASK = (
    "import sys; sys.modules.update(dask=None, distributed=None); from vmafx.command.__main__ import main; "
    "sys.exit(main())"
)


def needs_dask():
    if find_spec("distributed") is None:
        raise Skip("Debian's python3-distributed is not installed")


def library(lab, listed, *words, **variables):
    line, settings = command("library", listed, *words, *AT_OWN_SIZE), environment(lab, **variables)
    return Done(starts.run(line, lab.folder, settings, timeout=240))


def write_list(lab, rows, name="list.csv"):
    """Writes rows of (distorted, reference, …) below their heads."""
    with open(lab.folder / name, "w", newline="") as file:
        csv.writer(file).writerows([["distorted", "reference", "id", "model", "feature"], *rows])
    return name


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def scored(lab, *words):
    """Returns the result of `vmafx score` for an encode."""
    return json.loads(vmafx(lab, "score", *words, *AT_OWN_SIZE, "--json").succeeded().out)["encodes"][0]


def check_equal_to_single(lab, record, *words):
    single = scored(lab, record["distorted"], record["reference"], *words)
    check_equal(record["frames"], single["frames"], f"frames of {record['id']}")
    for key, values in record["pooled"].items():
        check_equal(values, single["pooled"][key], f"{key} of {record['id']}")
    for name in ("worst_frame", "pairing", "backend"):
        check_equal(record[name], single[name], f"{name} of {record['id']}")
    check_equal(sorted(record["warnings"]), sorted(set(record["warnings"])), "warnings, each once")


@case
def videos_that_are_not_cut_need_no_library(lab):
    """A worker asks for the library that merges parts only if there are several parts."""
    program = """
import sys
sys.modules.update(cffi=None)
from vmafx.command import _ffmpeg
from vmafx.command._scoring import Settings, prepare
from vmafx.command.fleet import tasks
ffmpeg, dist, ref = sys.argv[1:]
work = prepare(Settings(ffmpeg, _ffmpeg.ffprobe_of(ffmpeg)), [dist], ref)
print(len(tasks._cut(work, 1e9)), len(tasks._cut(work, 0)))
type(work).spans = lambda self: [(0.0, 0.9)] * 2  # too short for the two parts that this piece asks for
print(len(tasks._cut(work, 0.1)))
type(work).spans = lambda self: [(0.0, 100.0)] * 2
try:
    tasks._cut(work, 0.1)
except tasks.Unfit as unfit:
    print(unfit)
"""
    words = [sys.executable, "-c", program, lab.ffmpeg, lab.clips.dist, lab.clips.ref]
    done = subprocess.run(words, env=environment(lab), capture_output=True, text=True)
    check_equal((done.returncode, done.stdout[:6]), (0, "1 1\n1\n"), done.stderr)
    check("cannot score: the library merges the reports of parts, for which Python" in done.stdout, done.stdout)


def ladder(lab):
    """Makes encodes of one reference, with different quality, bits and lengths."""
    ref = shutil.copy(lab.clips.ref, lab.folder / "ref.mkv")
    shutil.copy(lab.clips.dist, lab.folder / "high.mp4")
    for name, words in {
        "low.mp4": "-c:v libx264 -crf 45",
        "deep.mkv": "-pix_fmt yuv420p10le -c:v ffv1",
        "short.mkv": "-frames:v 11 -c:v ffv1",
    }.items():
        lab.run("-i", ref, *words.split(), name).succeeded()
    (lab.folder / "broken.mp4").write_text("no video")
    return "high.mp4", "low.mp4", "deep.mkv", "short.mkv"


def interlaced(lab):
    """Makes a reference and encodes, some with fields: scored beside progressive ones, interlaced ones would be
    deinterlaced.
    """
    fields = "-c:v libx264 -x264opts tff=1 -flags +ilme+ildct"
    lab.run("-f lavfi -i testsrc2=s=192x108:r=50:d=0.8", f"-vf interlace -qp 0 {fields} fields.mkv").succeeded()
    lab.run("-i fields.mkv", f"-crf 40 {fields} rough.mkv").succeeded()
    lab.run("-i fields.mkv", "-vf bwdif=mode=send_frame -c:v libx264 -crf 30 frames.mkv").succeeded()
    return [["frames.mkv", "fields.mkv", "", "", "psnr"], ["rough.mkv", "fields.mkv", "", "", "psnr"]]


# -- Lists and results, which need no Dask -----------------------------------------------------------------------------


@case
def lists_that_are_wrong(lab):
    needs_dask()  # the command checks for it before it reads the list
    texts = {
        "id\nx\n": "has no column distorted and no column reference",
        "distorted,reference\na,b\na,b\n": "list.csv, line 3: the id a occurs twice: give each line an id",
        "distorted,reference,id\na,b,1\n./a,b,2\n": "list.csv, line 3: 2 has the same files and options as 1",
        "distorted,reference\na\n": "list.csv, line 2: reference is missing",
        "\ndistorted,id,reference\n\na,b\n": "list.csv, line 4: reference is missing",
        "distorted,reference,id,id\n": "list.csv names a column twice",
        'distorted,reference\n"a,b\n': "not CSV",
        "distorted,reference\na,b,c\n": "list.csv, line 2: 3 cells for 2 columns",
        "distorted,reference\n": "the list list.csv names no videos",
        '{"distorted": "a", "reference": "b"}\n[1]\n': "list.csv, line 2: the line is not a JSON object",
        '{"distorted": "a", "reference": "b"}\n{"disto\n': "list.csv, line 2: the line is not JSON",
        '{"distorted": "a", "reference": "b", "models": 3}\n': (
            "list.csv, line 1: models must be a text or a list of texts"
        ),
    }
    for text, error in texts.items():
        (lab.folder / "list.csv").write_text(text)
        library(lab, "list.csv", "-o", "out.jsonl").failed(1, error)
    check_equal([path.name for path in lab.folder.iterdir()], ["list.csv"], "files")
    library(lab, "list.csv", "-o", "out.txt").failed(
        2, "cannot tell the format of the results out.txt: use .jsonl, .ndjson, .sqlite or .db"
    )


@case
def results_of_others_are_left_alone(lab):
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    for text in ("not mine\n", '{"schema": 7}\n', "not mine, and no line", '{"mine": 1}'):
        (lab.folder / "out.jsonl").write_text(text)
        library(lab, listed, "-o", "out.jsonl").failed(1, "has no results of vmafx library")
        check_equal((lab.folder / "out.jsonl").read_text(), text, "file")
        check_equal(sorted(path.name for path in lab.folder.iterdir()), ["list.csv", "out.jsonl"], "files")


@case
def lists_keep_blanks_in_quotes(lab):
    """Blanks around a cell are dropped, those in its quotes belong to the name of a file."""
    text = 'distorted , "reference",id\r\n " a.mp4" , b.mp4 ," two ""words"" "\r\n"c,\nd",e"f,\r\n'
    (lab.folder / "list.csv").write_bytes(text.encode())
    rows = [row.fields for row in read_rows(lab.folder / "list.csv", ("distorted", "reference", "id"), ("distorted",))]
    first = {"distorted": " a.mp4", "reference": "b.mp4", "id": ' two "words" '}
    check_equal(rows, [first, {"distorted": "c,\nd", "reference": 'e"f'}], "rows")
    pairs = read_list(lab.folder / "list.csv", None, ())
    check_equal(pairs[0].distorted, f"{lab.folder}/ a.mp4", "distorted")
    for wrong in ('"a"b,c\n', '"a,b\n', "a,b\n" + '"\n' * 1001):
        (lab.folder / "list.csv").write_text(f"distorted,reference\n{wrong}")
        with raises(Failure, "not CSV"):
            read_list(lab.folder / "list.csv", None, ())


@case
def lists_and_results_have_bounds(lab):
    """An endless list or results file is refused at once, and is not kept in memory."""
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    (lab.folder / "long.csv").write_text("distorted,reference\n" + "a" * 2_000_000 + ",b\n")
    os.truncate(shutil.copy(lab.folder / listed, lab.folder / "zeros.jsonl"), 1 << 40)
    for words in (("/dev/zero", "-o", "out.jsonl"), ("long.csv", "-o", "out.jsonl"), (listed, "-o", "zeros.jsonl")):
        line = ["prlimit", f"--as={1 << 30}", *command("library", *words)]
        done = Done(
            subprocess.run(line, cwd=lab.folder, env=environment(lab), capture_output=True, text=True, timeout=60)
        )
        done.failed(1).says(
            "is not a list, as it has more than" if words[0] != listed else "has no results of vmafx library"
        )
    vmafx(lab, "compare", "/dev/zero").failed(1, "is not a list")
    endless = itertools.cycle(["\n"])
    with mock.patch.object(rows, "MOST_LINES", 1000), raises(Failure, "more than 1,000 lines"):
        sum(1 for _ in Lines(Path("list"), SimpleNamespace(readline=lambda _: next(endless))))


@case
def lists_may_not_write(lab):
    """Lists may not set options that name a file to write, however they are spelled; they may set all others.

    The engine's tables of options tell which these are.
    """
    sources = "".join(path.read_text() for path in (top / "src/kernels").glob("*/*.*"))
    engine = set(re.findall(r'option<&\w+::(\w+)[^>]*>\(\s*"(\w+)"', sources))  # (field, name)
    named = lambda kind: {name for field, name in engine if re.search(rf"\b{kind} [^;()]*\b{field} =", sources)}
    writing = named("WritePath")
    check_equal(writing, {"heatmaps_path"}, "options that write")
    for name in writing:
        spelled = name, f"'{name}'", f"\\{name[0]}{name[1:-1]}\\{name[-1]}", f" {name} "
        for value in ("/tmp/x", "x", "1", "true", "'a'"):
            for key in spelled:
                check(why_writing((), (f"psnr|cambi:{key}={value}",)), f"feature with {key}={value}")
                check(why_writing((f"version=vmaf_v0.6.1:cambi.{key}={value}",), ()), f"model with {key}={value}")
    check(len(engine) > 50, f"options: {engine}")
    for name in {name for _, name in engine} - writing:
        for value in ("1", "-0.5", "true", "1e-3") if ALL else ("-0.5", "true"):
            check_equal(why_writing((f"vmaf_v0.6.1:a.{name}={value}",), (f"name=a:{name}={value}",)), None, name)
    texts = named("string_view")
    check_equal(texts, HARMLESS, "options with texts")
    for name in texts:
        check_equal(why_writing((), (f"a:{name}=x",)), None, name)
    check_equal(why_writing(("none",), ()), None, "no model")
    check_equal(why_writing(("path=/a/b.json:name=x|vmaf_v0.6.1neg",), ()), None, "model file")


@case
def secrets_of_urls_are_not_told(lab):
    urls = {
        "https://joe:pa55@wörd@host/x.mp4?token=tok3n&v=1#frag": "https://…@host/x.mp4?token=…&v=…#…",
        "http:joe:pa55@host/x": "http:…@host/x",
        "https://tok3n@host:8/": "https://…@host:8/",
        "subfile,,start,0,end,9,,:ftp://joe:pa55@host/x": "subfile,,start,0,end,9,,:ftp://…@host/x",
        "concat:http://a:pa55@b/c|http://e:tok3n@f/g?k=frag": "concat:http://…@b/c|http://…@f/g?k=…",
        "https://host/x?X-Amz-Signature=tok3n/+==&X-Amz-Date=frag": "https://host/x?X-Amz-Signature=…&X-Amz-Date=…",
        "https://host/x?tok3n": "https://host/x?…",
        "https://host/hdnts=exp=1~hmac=tok3n/x.m3u8": "https://host/hdnts=…~hmac=…/x.m3u8",
        "rtmp://host/app playpath=x token=tok3n": "rtmp://host/app playpath=… token=…",
        "srt://host:1?passphrase=pa55": "srt://host:1?passphrase=…",
        "data:video/mp4;base64,tok3n": "data:…",
    }
    for url, shown in urls.items():
        check_equal(redact(f"[in] {url}: failed", [url]), f"[in] {shown}: failed", url)
        check_equal(redact(redact(url, [url]), [url]), shown, f"{url}, twice")
        if "://" in url and " " not in url and "|" not in url:
            check_equal(redact(f"see {url}."), f"see {shown}.", f"{url}, not known")
    check_equal(
        redact("x.mp4?sig=tok3ntok3n: end", ["https://host/x.mp4?sig=tok3ntok3n"]),
        "x.mp4?sig=…: end",
        "a part of a name",
    )
    for plain in ("/a/b?c=d.mp4", "a@b.mp4", "http://host/x.mp4", "12:30 at 100 %", "file:a=b", "[vmafx @ 0x1] x: y@z"):
        check_equal(redact(plain, [plain]), plain, "what has no secrets")
    with raises(Failure, "https://…@host"):
        raise Failure("cannot read https://joe:pa55@host")
    first, second = (Pair("x", f"https://host/x?token={token}", "r", None, ()) for token in "ab")
    check(first.stamp([]) != second.stamp([]), "the stamp depends on the name with its secrets")


RECORD = {"id": "a", "distorted": "a", "reference": "b", "stamp": "s", "error": "e", "attempts": 1}


def line(**changed):
    return json.dumps({"schema": 1, **RECORD, **changed}).encode() + b"\n"


@case
def odd_results_are_refused(lab):
    """Odd results give one error, which names the line, and the file stays as before."""
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    good = dict(dict.fromkeys(NAMES, 1.0))
    scored = {
        "error": None,
        "pooled": {"vmaf": good},
        "worst_frame": {"vmaf": {"frame": 1, "time": 0.5}},
        "warnings": [],
    }
    odd = [
        b"\n",
        b"[1]\n",
        b"7\n",
        b"null\n",
        b"\xff\xfe\n",
        b"{\n",
        b"[" * 100000 + b"\n",
        b'{"schema": 1}\n',
        line(schema=2),
        line(id=3),
        line(error=3),
    ]
    odd += [
        line(**(scored | {"pooled": pooled}))
        for pooled in (None, [], {"vmaf": None}, {"vmaf": {"mean": 1}}, {"vmaf": good | {"max": "x"}})
    ]
    odd += [
        line(**(scored | {"worst_frame": worst}))
        for worst in (3, {"vmaf": []}, {"vmaf": {"frame": 1}}, {"vmaf": {"frame": 1, "time": math.inf}})
    ]
    odd += [
        line(**(scored | {"pooled": {"vmaf": good | {"mean": 10**400}}})),
        line(**(scored | {"warnings": "x"})),
        line(error=None),
    ]
    for text in odd:
        lines = line() + line(**scored) + text + line()
        (lab.folder / "out.jsonl").write_bytes(lines)
        with raises(Failure, "out.jsonl, line 3: not a"):
            all_of(lab.folder / "out.jsonl")
        check_equal((lab.folder / "out.jsonl").read_bytes(), lines, "file")
        make_database(lab.folder / "out.sqlite", text)
        before = (lab.folder / "out.sqlite").read_bytes()
        with raises(Failure, "out.sqlite, row 2 of results: not a"):
            all_of(lab.folder / "out.sqlite")
        check_equal((lab.folder / "out.sqlite").read_bytes(), before, "database")
    for name, place in (("out.jsonl", "line 3"), ("out.sqlite", "row 2 of results")):
        before = (lab.folder / name).read_bytes()
        library(lab, listed, "-o", name).failed(1, f"{name}, {place}: not a")
        check_equal((lab.folder / name).read_bytes(), before, name)


def all_of(path):
    with contextlib.closing(open_results(path)) as results:
        return list(results.all())


def make_database(path, text):
    """Makes results of one good record and this text."""
    path.unlink(missing_ok=True)
    with contextlib.closing(open_results(path)) as results:
        results.add(RECORD)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO results VALUES ('x', 'x', 'x', 1, NULL, ?)", [text])


@case
def changed_results_are_read_or_refused(lab):
    """Changed results are summed up, with a page, or refused in one line."""
    needs_dask()
    pooled = dict.fromkeys(NAMES, 90.5)
    scored = {
        "frames": 9,
        "pooled": {"vmaf": pooled, "psnr_y": pooled | {"mean": "inf"}},
        "warnings": ["x"],
        "error": None,
    }
    scored["models"] = {"vmaf": {"model": "vmaf_v0.6.1", "width": 1920, "height": 1080}}
    scored["worst_frame"] = {"vmaf": {"frame": 1, "time": 0.04, "score": 1.5}, "psnr_y": None}
    page = lab.folder / "page.html"

    def sum_up(path):
        with contextlib.closing(open_results(path)) as results:
            records = list(results.all())
        with contextlib.redirect_stdout(io.StringIO()):
            Summary(records).show(3)
        page.unlink(missing_ok=True)
        write_summary(page, Summary(records), "title", 3)

    for name, texts in {"one.jsonl": [line(**scored)], "two.jsonl": [line(), line(**scored)]}.items():
        (lab.folder / name).write_bytes(b"".join(texts))
        hold(lab.folder / name, sum_up)
    with contextlib.closing(open_results(lab.folder / "out.sqlite")) as results:
        results.add({**RECORD, "id": "b"})
        results.add({**RECORD, **scored})
    hold(lab.folder / "out.sqlite", sum_up)


@case
def databases_of_others_are_left_alone(lab):
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    path = lab.folder / "out.db"
    for statement in (
        "CREATE TABLE mine (x)",
        "CREATE TABLE results (x)",
        "CREATE VIEW results AS SELECT 1",
        f"CREATE TABLE results ({', '.join(IN_RESULTS)})",
    ):
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(statement)
        before = path.read_bytes()
        library(lab, listed, "-o", "out.db").failed(1, "out.db", "has no results of vmafx library")
        check_equal(path.read_bytes(), before, statement)
        path.unlink()
    path.write_text("no database at all")
    library(lab, listed, "-o", "out.db").failed(1, "has no results of vmafx library")
    path.write_bytes(b"SQLite format 3\0" + bytes(5000))
    library(lab, listed, "-o", "out.db").failed(1)
    path.unlink()
    (lab.folder / "out.db-journal").write_text("mine")
    library(lab, listed, "-o", "out.db").failed(1, "out.db-journal exists and is not a journal of SQLite")
    check_equal((lab.folder / "out.db-journal").read_text(), "mine", "file")


@case
def results_go_to_a_file(lab):
    """Results go to a file, also behind a link; a pipe or a device is refused at once."""
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    os.mkfifo(lab.folder / "pipe.jsonl")
    (lab.folder / "folder.jsonl").mkdir()
    (lab.folder / "loop.jsonl").symlink_to("loop.jsonl")
    (lab.folder / "lost.jsonl").symlink_to("nowhere/out.jsonl")
    for device in ("zero", "full", "null"):
        (lab.folder / f"{device}.jsonl").symlink_to(f"/dev/{device}")
        (lab.folder / f"{device}.db").symlink_to(f"/dev/{device}")
    names = sorted(path.name for path in lab.folder.iterdir() if path.suffix in (".jsonl", ".db"))
    check_equal(len(names), 10, "results")
    for name in names:
        library(lab, listed, "-o", name).failed(1, "cannot write")
    check_equal(sorted(path.name for path in lab.folder.iterdir()), sorted([listed, *names]), "files")


@case
def ranges_of_others_stay(lab):
    """The command follows no link and removes only what it has made."""
    needs_dask()
    victim, work = lab.folder / "victim", "0123456789abcdef01234567"
    (victim / work).mkdir(parents=True)
    for path in (victim / "mine", victim / work / "0.range", victim / work / "mine"):
        path.write_text("mine")
    before = snapshot(victim)
    listed, ranges = write_list(lab, [["a", "b"]]), lab.folder / "out.jsonl.ranges"
    for make in (
        lambda: ranges.symlink_to(victim),
        lambda: ranges.symlink_to("nowhere"),
        lambda: ranges.write_text("mine"),
        lambda: os.mkfifo(ranges),
    ):
        make()
        library(lab, listed, "-o", "out.jsonl").failed(1, "out.jsonl.ranges is ", "remove it, or name another file")
        check_equal((os.path.lexists(ranges), snapshot(victim)), (True, before), "what is there")
        check(not (lab.folder / "out.jsonl").exists(), "results were begun")
        ranges.unlink()

    shutil.copytree(victim, ranges)
    (ranges / work / "1.range").symlink_to(victim / "mine")
    (ranges / ("f" * 24)).symlink_to(victim / work)
    (ranges / ("e" * 24)).mkdir()
    (ranges / "other").mkdir()
    before = snapshot(ranges)
    with Ranges(lab.folder / "out.jsonl") as kept:
        check(
            not any(kept.has(name, number) for name in (work, "f" * 24) for number in (0, 1)),
            "others' files are taken for ranges",
        )
        for name, number in ((work, 0), (work, 1), ("f" * 24, 0)):
            with raises(Failure, "out.jsonl.ranges"):
                kept.put(name, number, b"report")
        kept.put(work, 2, b"report")
        kept.put("d" * 24, 0, b"report")
        check_equal((kept.get(work, 2), kept.has("d" * 24, 0)), (b"report", True), "range")
        kept.clear()
    del before["/" + "e" * 24]  # this folder is empty and named like the command's own
    check_equal(snapshot(ranges), before, "what others have there")
    check_equal(
        snapshot(victim), snapshot(victim) | {"/mine": "mine", f"/{work}/0.range": "mine"}, "what links lead to"
    )


def snapshot(folder):
    """Returns the content of a folder, without following links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = f"/{path.relative_to(folder)}"
        found[name] = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else None
    return found


@case
def ranges_are_kept_and_removed(lab):
    """A damaged range counts as missing; leftovers of a killed run are removed with the others."""
    path, work = lab.folder / "out.jsonl.ranges", "a" * 24
    with Ranges(lab.folder / "out.jsonl") as kept:
        check(not path.exists(), "a folder before it is needed")
        for number in range(3):
            kept.put(work, number, b"report" * 1000)
    check_equal(sorted(item.name for item in (path / work).iterdir()), ["0.range", "1.range", "2.range"], "kept")
    os.truncate(path / work / "1.range", 3000)
    (path / work / "3.77.part").write_bytes(b"vmafx ra")
    (lab.folder / "link.jsonl").symlink_to("out.jsonl")
    with Ranges(lab.folder / "link.jsonl") as kept:
        check_equal([kept.has(work, number) for number in range(4)], [True, False, True, False], "ranges")
        kept.put(work, 1, b"again")
        check_equal(kept.get(work, 1), b"again", "range")
        kept.clear()
    check_equal(sorted(item.name for item in lab.folder.iterdir()), ["link.jsonl"], "files")


@case
def one_run_for_each_file(lab):
    """A second run that writes the same file, by any name, is refused, also if the file is new."""
    needs_dask()
    listed = write_list(lab, [["a", "b"]])
    for ending in ("jsonl", "db"):
        path, link, hard = (lab.folder / f"{name}.{ending}" for name in ("out", "link", "hard"))
        link.symlink_to(path)
        for names in ((link, path), (path, link)):
            with contextlib.closing(open_results(names[0])) as results:
                if not hard.exists():
                    hard.hardlink_to(path)
                for name in (*names, hard):
                    library(lab, listed, "-o", name.name).failed(1, f"another vmafx library is writing {name.name}")
                results.add(RECORD)
            for name in (*names, hard):
                with contextlib.closing(open_results(name)) as results:
                    check_equal([record["id"] for record in results.all()], ["a"], "results")
            path.unlink()
            hard.unlink()


@case
@slow_case
def results_on_a_full_disk(lab):
    """A full disk gives one error and leaves no part of a line; a file that may not grow stands for it."""
    needs_dask()
    names = [shutil.copy(lab.clips.dist, lab.folder / f"{number}.mkv").name for number in range(6)]
    listed = write_list(lab, [[name, lab.clips.ref] for name in names])
    for result, limit in (("out.jsonl", 2500), ("out.db", 40960)):
        kept = []
        with contextlib.closing(open_results(lab.folder / result)) as results:
            for number in range(3 if ending_of(result) == "jsonl" else 20):
                results.add({**RECORD, "id": f"old{number}", "error": "x" * 300})
                kept.append(f"old{number}")
        size = (lab.folder / result).stat().st_size
        done = library_with_limit(lab, max(size + 100, limit), listed, "-o", result, "--together", 1)
        check_equal((done.status, done.err.count("\n")), (1, 1), f"status, lines; it said {done.err}")
        done.says(f"vmafx library: cannot write {result}: ")
        with contextlib.closing(open_results(lab.folder / result)) as results:
            check_equal([record["id"] for record in results.all()][: len(kept)], kept, "results")
        check(result != "out.jsonl" or (lab.folder / result).read_bytes().endswith(b"}\n"), "a line in part")
        library(lab, listed, "-o", result).succeeded()


def ending_of(name):
    return name.rpartition(".")[2]


def library_with_limit(lab, most_bytes, *words):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    done = subprocess.run(
        command("library", *words, *AT_OWN_SIZE),
        cwd=lab.folder,
        env=environment(lab, PYTHONDONTWRITEBYTECODE=1),  # a limit would cut kept bytecode short, too
        capture_output=True,
        text=True,
        timeout=240,
        preexec_fn=limit,
    )
    return Done(done)


@case
def files_that_name_no_scheduler(lab):
    needs_dask()
    listed = write_list(lab, [[lab.clips.dist, lab.clips.ref]])
    words = listed, "-o", "out.jsonl", "--scheduler-file"
    for content in (b"\xff\0", b"{}", b'{"address": 5}', b"[]"):
        (lab.folder / "cluster.json").write_bytes(content)
        library(lab, *words, "cluster.json").failed(1, "cluster.json does not tell the address", "--scheduler-file")
    library(lab, *words, "none.json").failed(1, "cannot find the file none.json", "--scheduler-file")


@case
def library_without_dask(lab):
    listed = write_list(lab, [["a", "b"]])
    line = [sys.executable, "-c", WITHOUT_DASK, "library", listed, "-o", "out.jsonl"]
    done = subprocess.run(line, cwd=lab.folder, env=environment(lab), capture_output=True, text=True)
    Done(done).failed(1, "apt-get install python3-distributed", "./python[library]", "docs/scale.md")
    check_equal([path.name for path in lab.folder.iterdir()], ["list.csv"], "files")


@case
@slow_case
def library_takes_no_part_for_the_whole(lab):
    """A truncated file is tried again, then fails with its cause; encodes beside it succeed.

    Ranges and compare behave alike.
    """
    long_clips(lab)
    short = cut_file(lab, "good.mp4")
    listed = write_list(lab, [["good.mkv", "ref.mp4", "", "none", "psnr"], [short, "ref.mp4", "", "none", "psnr"]])
    for words in ((), ("--piece", "0.1")):
        done = library(lab, listed, "-o", "out.jsonl", "--attempts", "2", "--workers", "1", *words)
        check_equal((done.status, done.out.splitlines()[-1]), (1, "1 scored, 1 failed, 0 with warnings"), done.err)
        good, bad = sorted(records(lab.folder / "out.jsonl"), key=lambda record: record["error"] is not None)[-2:]
        check_equal((good["frames"], good["frames_promised"], good["partial"]), (150, 150, False), "the whole one")
        check(bad["error"].startswith(f"not everything was scored: {short}: ") and bad["attempts"] == 2, bad)
        (lab.folder / "out.jsonl").unlink()
    library(lab, listed, "-o", "part.jsonl", "--partial", "--workers", "1").succeeded()
    found = {record["id"]: record for record in records(lab.folder / "part.jsonl")}
    check(
        found[short]["partial"] and any("were scored, up to" in text for text in found[short]["warnings"]), found[short]
    )
    (lab.folder / "table.csv").write_text(f"series,file,reference,bitrate\na,{short},ref.mp4,1\n")
    words = "compare", "table.csv", "--model", "none", "--feature", "psnr"
    vmafx(lab, *words, "--scores", "kept").failed(
        1, f"not everything was scored: {short}: ", "--partial accepts the scores"
    )
    check_equal(list((lab.folder / "kept").iterdir()), [], "kept scores of a part")
    done = vmafx(lab, *words, "--partial", "--json").succeeded()
    check("were scored, up to" in " ".join(json.loads(done.out)["warnings"]), done.out)


@case
def damage_is_of_its_pair(lab):
    """Decoders' errors of one encode are not counted for the encode beside it."""
    long_clips(lab)
    damage_file(lab, "good.ts", "bad.ts")
    listed = write_list(lab, [["good.mkv", "ref.mp4", "", "none", "psnr"], ["bad.ts", "ref.mp4", "", "none", "psnr"]])
    library(lab, listed, "-o", "out.jsonl", "--partial", "--workers", "1").succeeded()
    found = {record["id"]: record["warnings"] for record in records(lab.folder / "out.jsonl")}
    check(found["bad.ts"] and not found["good.mkv"], found)


# -- With Dask ---------------------------------------------------------------------------------------------------------


@case
def library_scores_as_score(lab):
    """Encodes of one reference are scored together, with the scores that each has alone; one of them is broken.

    A second run scores only what has changed.
    """
    needs_dask()
    names = ladder(lab)
    rows = [[name, "ref.mkv", "", "", "psnr"] for name in (*names, "broken.mp4")]
    rows += [["high.mp4", "ref.mkv", "neg", "vmaf_v0.6.1neg", ""], *interlaced(lab)]
    listed = write_list(lab, rows)
    done = library(lab, listed, "-o", "out.jsonl", "--together", 5, "--report", "page.html")
    check_equal(
        (done.status, done.out.splitlines()[-1]),
        (1, "7 scored, 1 failed, 7 with warnings"),
        f"ending; it said {done.err}",
    )
    done.says("broken.mp4: cannot read", "Invalid data")
    found = {record["id"]: record for record in records(lab.folder / "out.jsonl")}
    warnings = {text for record in found.values() for text in record.get("warnings") or ()}
    check(all("is made for 1080p" in text for text in warnings), f"warnings: {warnings}")
    for name in (*names, "frames.mkv", "rough.mkv") if ALL else ("high.mp4", "deep.mkv", "short.mkv", "rough.mkv"):
        check_equal_to_single(lab, found[name], "--feature", "psnr")
    check_equal_to_single(lab, found["neg"], "--model", "vmaf_v0.6.1neg")
    check_equal((found["broken.mp4"]["attempts"], found["short.mkv"]["frames"]), (1, 11), "attempts, frames")
    page = (lab.folder / "page.html").read_text()
    check("cannot read" in page and "Worst pairs" in page, "page")
    check('<th scope="col">library</th>' in page, "the head of the library's means")

    with open(lab.folder / "out.jsonl", "ab") as file:
        file.write(b'{"schema": 1, "id": "hi')  # a killed run leaves such a line
    os.utime(lab.folder / "low.mp4")
    library(lab, write_list(lab, [row for row in rows if row[0] != "broken.mp4"]), "-o", "out.jsonl").succeeded().says(
        "6 of 7 pairs were scored before"
    )
    check_equal([record["id"] for record in records(lab.folder / "out.jsonl")][8:], ["low.mp4"], "scored again")


@case
def conversions_do_not_depend_on_other_encodes(lab):
    """What inputs do not tell of their colors is taken as for each encode alone."""
    needs_dask()
    pq = "-color_trc smpte2084 -color_primaries bt2020 -colorspace bt2020nc"
    for name, damage, told in (("ref", "null", "-an"), ("pq", "noise=c0s=9", pq), ("plain", "noise=c0s=9", "-an")):
        source = f"testsrc2=s=176x144:d=0.2,format=yuv420p10le,{damage}"
        lab.run("-f lavfi -i", source, f"-c:v ffv1 {told} {name}.mkv").succeeded()
    listed = write_list(lab, [[name, "ref.mkv"] for name in ("pq.mkv", "plain.mkv")])
    words = "--convert", "bt709", "--model", "none", "--feature", "psnr", "--workers", 1, "--together"
    for together in (1, 2):
        library(lab, listed, "-o", f"{together}.jsonl", *words, together).succeeded()
    alone, both = ({record["id"]: record["pooled"] for record in records(lab.folder / f"{n}.jsonl")} for n in (1, 2))
    check_equal(both, alone, "scores of both together and of each alone")


@case
def regions_have_scores_of_their_own(lab):
    """--roi of a library and of a comparison: a mask that has changed gives other scores, not the kept ones."""
    needs_dask()
    lab.run("-f lavfi -i testsrc2=s=64x64:d=0.2 -c:v ffv1 ref.mkv").succeeded()
    lab.run("-i ref.mkv -vf drawbox=x=32:w=32:h=64:color=gray:t=fill -c:v ffv1 dist.mkv").succeeded()
    listed = write_list(lab, [["dist.mkv", "ref.mkv"]])
    (lab.folder / "table.csv").write_text("series,file,reference\na,dist.mkv,ref.mkv\n")
    words = "--roi", "corner=32x32+32+0", "--roi", "half=mask.pgm", "--model", "none", "--feature", "psnr"
    compared = "compare", "table.csv", "--json", "--scores", "kept", "--score", "psnr_y.half", *words
    found = []
    for first, second in ((255, 0), (0, 255)):  # without damage; with it
        row = bytes([first] * 32 + [second] * 32)
        (lab.folder / "mask.pgm").write_bytes(b"P5 64 64 255\n" + row * 64)
        library(lab, listed, "-o", "out.jsonl", "--workers", 1, *words).succeeded()
        pooled = records(lab.folder / "out.jsonl")[-1]["pooled"]
        check(pooled["psnr_y.corner"]["mean"] < pooled["psnr_y"]["mean"] < 60, pooled)
        [point] = json.loads(vmafx(lab, *compared).succeeded().out)["points"]
        found.append((pooled["psnr_y.half"]["mean"], round(point["values"]["psnr_y.half"], 6)))
    check(found[0] == (60, 60) and found[1][0] == found[1][1] < 30, found)
    check_equal(len(list((lab.folder / "kept").iterdir())), 2, "kept reports")


@case
def bad_lines_fail_alone(lab):
    """A line that cannot be scored fails with its cause; the others are scored."""
    needs_dask()
    good = {"distorted": str(lab.clips.dist), "reference": str(lab.clips.ref)}
    bad = [
        ({"distorted": "a\0b.mp4", "id": "nul"}, "cannot be the name of a file"),
        ({"distorted": "\ud800.mp4", "id": "surrogate"}, "cannot be the name of a file"),
        ({"distorted": "\udcff.mp4", "id": "byte"}, "No such file or directory"),
        ({"distorted": "", "id": "empty"}, "distorted is missing"),
        ({"reference": None, "id": "none"}, "reference is missing"),
        ({"reference": ["x"], "id": "list"}, "reference must be the name of a file"),
        ({"models": 3, "id": "models"}, "models must be a text"),
        ({"features": ["psnr", 1], "id": "features"}, "features must be a text"),
        ({"feature": "psnr\0", "id": "feature"}, "cannot be the name of a model or feature"),
        ({"model": "vmaf_\ud800", "id": "model"}, "cannot be the name of a model or feature"),
        ({"id": {"x": 1}}, "id must be a text or a number"),
        ({"distorted": "", "id": "good"}, "distorted is missing"),  # this line has the id of another
    ]
    rows = [{**good, "features": ["psnr"], **changed} for changed, _ in bad] + [
        {**good, "id": "good"},
        {**good, "id": "\ud800\0", "models": "none", "features": "psnr"},
    ]
    (lab.folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for results in ("out.jsonl", "out.sqlite"):
        done = library(lab, "list.jsonl", "-o", results, "--report", "page.html")
        check_equal(
            (done.status, done.out.splitlines()[-1].split(", ")[:2]),
            (1, ["2 scored", f"{len(bad)} failed"]),
            f"ending; it said {done.err}",
        )
        check("Traceback" not in done.err and "Traceback" not in done.out, f"{done.out}{done.err}")
        with contextlib.closing(open_results(lab.folder / results)) as opened:
            found = {record["id"]: record["error"] for record in opened.all()}
        for number, (changed, cause) in enumerate(bad, 1):
            name = (
                changed["id"]
                if changed["id"] != "good" and isinstance(changed["id"], str)
                else f"list.jsonl, line {number}"
            )
            if isinstance(changed["id"], dict):
                name = str(lab.clips.dist)
            check(cause in (found[name] or ""), f"{name}: {found[name]}")
        check_equal((found["good"], found["\\ud800\\0"]), (None, None), "errors of those that were scored")
    (lab.folder / "list.csv").write_text("distorted,reference\n,b\na,\n")
    library(lab, "list.csv", "-o", "none.jsonl").failed(1, "list.csv, line 2: distorted is missing")


@contextlib.contextmanager
def web_server(folder):
    """Yields (its port, the paths that were asked for)."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *_):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()


@case
def lists_name_files_only(lab):
    """Names and playlists open only files, and no option writes. A file may have any name."""
    needs_dask()
    ref = shutil.copy(lab.clips.ref, lab.folder / "ref.mkv")
    for name in ("x.mkv", "a:b.mkv", " a.mkv", "http:"):
        shutil.copy(lab.clips.dist, lab.folder / name)
    os.mkfifo(lab.folder / "pipe.mkv")
    with web_server(lab.folder) as (port, asked):
        url = f"http://127.0.0.1:{port}/x.mkv"
        (lab.folder / "x.m3u8").write_text(
            f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{url}?m3u8\n#EXT-X-ENDLIST\n"
        )
        (lab.folder / "x.ffconcat").write_text(f"ffconcat version 1.0\nfile {url}?concat\n")
        protocols = [
            f"subfile,,start,0,end,0,,:{ref}",
            f"subfile,,start,0,end,0,,:file://{ref}",
            url,
            url.replace("//", ""),
            "concat:x.mkv|x.mkv",
        ]
        protocols += [
            "data:video/mp4;base64,AAAA",
            "pipe:",
            "pipe:0",
            "fd:",
            "crypto:x.mkv",
            f"async:file://{ref}",
            f"cache:{url}",
            "unix:x",
            "x+y:z",
        ]
        rows = [[name, "ref.mkv", name, "", "psnr"] for name in protocols] + [
            ["x.mkv", protocols[0], "as reference", "", ""]
        ]
        rows += [["x.mkv", "ref.mkv", "feature", "", f"cambi:heatmaps_path={lab.folder}/heat"]]
        rows += [["x.mkv", "ref.mkv", "model", f"version=vmaf_v0.6.1:cambi.heatmaps_path={lab.folder}/heat", ""]]
        refused = len(rows)
        rows += [[name, "ref.mkv", name, "", ""] for name in ("x.m3u8", "x.ffconcat", "pipe.mkv", "/dev/zero", ".")]
        files = "x.mkv", "a:b.mkv", " a.mkv", "http:", "file:a:b.mkv"
        good = [
            [name, "ref.mkv", f"good {name}", "none", "psnr|ciede" if name.startswith("file:") else "psnr"]
            for name in files
        ]
        with open(lab.folder / "list.csv", "w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
                [["distorted", "reference", "id", "model", "feature"], *rows, *good]
            )
        done = library(lab, "list.csv", "-o", "out.jsonl")
        check_equal(
            (done.status, done.out.splitlines()[-1].split(", ")[:2]),
            (1, [f"{len(good)} scored", f"{len(rows)} failed"]),
            f"ending: {done.err}",
        )
        check_equal(
            (asked, (lab.folder / "heat").exists()), ([], False), "what was asked of the server, what was written"
        )
        found = {record["id"]: record for record in records(lab.folder / "out.jsonl")}
        for row in rows[:refused]:
            error = found[redact(row[2], [row[2]])]["error"]
            check(
                ("--allow-protocols" if row[2] not in ("feature", "model") else "heatmaps_path") in error,
                f"{row[2]}: {error}",
            )
            check_equal(found[redact(row[2], [row[2]])]["attempts"], 0, f"attempts of {row[2]}")
        write_list(
            lab, [[url, "ref.mkv", "url", "none", "psnr"], ["x.m3u8", "ref.mkv", "list", "none", "psnr"]], "urls.csv"
        )
        library(lab, "urls.csv", "-o", "urls.jsonl", "--allow-protocols")
        check(
            records(lab.folder / "urls.jsonl")[0]["error"] is None and "/x.mkv" in asked,
            f"with --allow-protocols: {asked}",
        )
        asked.clear()
        for name in (url, protocols[0], f"./{url}", "x.m3u8"):
            (lab.folder / "table.jsonl").write_text(
                json.dumps({"series": "a", "file": name, "reference": "ref.mkv"}) + "\n"
            )
            vmafx(lab, "compare", "table.jsonl").failed(1)
        check_equal(asked, [], "what compare has asked of the server")


@case
def secrets_of_urls_stay_out_of_results(lab):
    """One URL is scored, another is missing: results, page and output have no secrets of either."""
    needs_dask()
    shutil.copy(lab.clips.ref, lab.folder / "ref.mkv")
    lab.run("-i ref.mkv -c:v libx264 -crf 40 -g 5 x.mp4").succeeded()
    secrets = "pa55word", "tok3ntok3n", "fragm3nt"
    with web_server(lab.folder) as (port, asked):
        names = [
            f"http://joe:{secrets[0]}@127.0.0.1:{port}/{name}?token={secrets[1]}&v=1#{secrets[2]}"
            for name in ("x.mp4", "gone.mp4")
        ]
        listed = write_list(lab, [[name, "ref.mkv", "", "", ""] for name in names])
        for words in (("--piece", 0.1), ("--piece", 0)):
            done = library(lab, listed, "-o", "out.jsonl", "--allow-protocols", "--report", "page.html", *words)
            check_equal((done.status, "404" in done.err), (1, True), f"ending; it said {done.err}")
            texts = {"output": done.out + done.err} | {
                name: (lab.folder / name).read_text().replace("<wbr>", "") for name in ("out.jsonl", "page.html")
            }
            for name, text in texts.items():
                check(
                    not any(secret in text for secret in secrets)
                    and f"@127.0.0.1:{port}/x.mp4?token=" in html.unescape(text).replace("\\u2026", "…"),
                    f"{name}: {text}",
                )
            check(any(secrets[1] in path for path in asked), f"the server was asked for {asked}")
            (lab.folder / "out.jsonl").unlink()
        done = vmafx(lab, "score", "--json", names[0], "ref.mkv", "--report", "score.html").succeeded()
        texts = done.out, done.err, (lab.folder / "score.html").read_text().replace("<wbr>", "")
        check(not any(secret in text for secret in secrets for text in texts), f"score: {texts[:2]}")


@case
@slow_case
def library_cuts_long_files(lab):
    """A worker that is killed in mid-run takes its ffmpeg with it."""
    needs_dask()
    lab.run("-f lavfi -i testsrc2=s=320x180:r=25:d=24 -c:v ffv1 long.mkv").succeeded()
    lab.run("-i long.mkv -c:v libx264 -preset ultrafast -crf 35 -g 25 long.mp4").succeeded()
    listed = write_list(lab, [["long.mp4", "long.mkv"]])
    program = in_place_of_ffmpeg(lab, "*vmafx=*) [ -e slept ] || { touch slept; exec sleep 60; } ;;")
    with running(lab, listed, "-o", "out.sqlite", "--workers", 2, "--piece", 4, VMAFX_FFMPEG=program) as process:
        worker, ffmpeg = wait_for(lambda: next(scoring(process.pid, b"sleep"), None), "a worker that scores")
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: not alive(ffmpeg), "the end of the ffmpeg of a worker that was killed", 2)
        ended_well(lab, process, 60)
    with contextlib.closing(sqlite3.connect(lab.folder / "out.sqlite")) as database:
        (text,) = database.execute("SELECT record FROM results").fetchone()
        (mean,) = database.execute("SELECT mean FROM scores WHERE id = 'long.mp4' AND score = 'vmaf'").fetchone()
    record = json.loads(text)
    check_equal_to_single(lab, record)
    check_equal((mean, record["frames"]), (record["pooled"]["vmaf"]["mean"], 600), "mean, frames")
    check(not (lab.folder / "out.sqlite.ranges").exists(), "ranges are left")


@contextlib.contextmanager
def running(lab, listed, *words, **variables):
    """Runs the command with its output in a file: a frozen worker would hold a pipe open."""
    line, settings = command("library", listed, *words, *AT_OWN_SIZE), environment(lab, **variables)
    with open(lab.folder / "said", "w") as said:
        process = subprocess.Popen(
            line, cwd=lab.folder, env=settings, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def in_place_of_ffmpeg(lab, *cases):
    """Writes a program that acts by a shell's `case` on its command line in the test's folder, else runs ffmpeg."""
    program = lab.folder / "ffmpeg"
    program.write_text(
        "\n".join(["#!/bin/bash", f"cd {lab.folder}", 'case "$*" in', *cases, "esac", f'exec {lab.ffmpeg} "$@"', ""])
    )
    program.chmod(0o755)
    return program


def ended_well(lab, process, seconds):
    check_equal(process.wait(seconds), 0, f"exit status; it said {(lab.folder / 'said').read_text()}")


def wait_for(find, what, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := find():
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {what} within {seconds} s")


def processes():
    """Returns {number: (parent, command line)} of all processes."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found[int(folder.name)] = (
                int((folder / "stat").read_text().rsplit(")")[-1].split()[1]),
                (folder / "cmdline").read_bytes(),
            )
    return found


def workers_of(pid):
    return [number for number, (parent, line) in processes().items() if parent == pid and b"spawn_main" in line]


def scoring(pid, text=b"vmafx="):
    """Returns (worker, its ffmpeg)."""
    of_workers = workers_of(pid)
    return (
        (parent, number)
        for number, (parent, line) in processes().items()
        if parent in of_workers and text in line and b"setpriv" not in line
    )


@case
def library_tries_again_what_may_pass(lab):
    """One ffmpeg fails once as its file system is gone, one stands still, and one always crashes."""
    needs_dask()
    names = [shutil.copy(lab.clips.dist, lab.folder / f"{name}.mp4").name for name in ("eio", "still", "crash")]
    program = in_place_of_ffmpeg(
        lab,
        "*eio.mp4*vmafx=*) [ -e eio ] || { touch eio; echo '[error] eio.mp4: Input/output error' >&2; exit 251; } ;;",
        "*still.mp4*vmafx=*) [ -e still ] || { touch still; exec sleep 60; } ;;",
        "*crash.mp4*vmafx=*) echo crash >>crashes; kill -SEGV $$ ;;",
    )
    listed = write_list(lab, [[name, lab.clips.ref] for name in names])
    done = library(lab, listed, "-o", "out.jsonl", "--together", 1, "--stall", 2, VMAFX_FFMPEG=program)
    check_equal(done.status, 1, f"exit status; it said {done.err}")
    found = {record["id"]: record for record in records(lab.folder / "out.jsonl")}
    check_equal(
        {name: found[name]["attempts"] for name in names}, {"eio.mp4": 2, "still.mp4": 2, "crash.mp4": 1}, "attempts"
    )
    done.says("crash.mp4: ffmpeg was killed by signal 11")
    check_equal((lab.folder / "crashes").read_text(), "crash\n", "runs of what crashes")


def tree(pid):
    """Returns a process and all its descendants."""
    found, parents = {pid}, {number: parent for number, (parent, _) in processes().items()}
    while more := {number for number, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listening(pid):
    """Returns the sockets on which a process and its children listen: (protocol, address in hexadecimal, is it the
    process).
    """
    own = {}
    for number in tree(pid):
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(f"/proc/{number}/fd"):
                with contextlib.suppress(OSError):
                    own[os.readlink(descriptor.path)] = number
    found = set()
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            cells = line.split()
            if (cells[3] == "0A" or protocol.startswith("udp")) and f"socket:[{cells[9]}]" in own:
                found.add((protocol, cells[1].partition(":")[0], own[f"socket:[{cells[9]}]"] == pid))
    return found


@case
def library_listens_to_this_machine_alone(lab):
    """Scheduler, workers and nannies listen on this machine only, also for HTTP, with and without the dashboard."""
    needs_dask()
    listed = write_list(lab, [[lab.clips.dist, lab.clips.ref]])
    program = in_place_of_ffmpeg(lab, "*vmafx=*) sleep 1 ;;")
    loopback = {("tcp", "0100007F", True), ("tcp", "0100007F", False)}
    for words in ((), ("--dashboard",)) if find_spec("bokeh") else ((),):
        seen = set()
        with running(
            lab, listed, "-o", f"out{len(words)}.jsonl", "--workers", 2, *words, VMAFX_FFMPEG=program
        ) as process:
            while process.poll() is None:
                seen |= listening(process.pid)
                time.sleep(0.05)
            ended_well(lab, process, 1)
        check_equal(seen, loopback, f"sockets with {words}")


# A worker's Python does this before it becomes a worker.
AS_A_WORKER_STARTS = """
import os, sys, time
if any("spawn_main" in word for word in sys.orig_argv):
    {}
"""


@case
def workers_that_do_not_start(lab):
    """The command soon says that the workers do not start, with the cause if it is known."""
    needs_dask()
    listed = write_list(lab, [[lab.clips.dist, lab.clips.ref]])
    site = lab.folder / "site"
    site.mkdir()
    starts = {
        "os._exit(1)": "the workers",
        "os.kill(os.getpid(), 9)": "the workers",
        "sys.stderr.write('Traceback:\\n  x\\nMemoryError: none left\\n'); os._exit(1)": "MemoryError: none left",
    }
    for action, cause in starts.items():
        (site / "sitecustomize.py").write_text(AS_A_WORKER_STARTS.format(action))
        done = library(lab, listed, "-o", "out.jsonl", PYTHONPATH=f"{site}:{top / 'python'}")
        done.failed(1, "vmafx library: the workers ", cause)
        check_equal(done.err.count("\n"), 1, f"lines of {done.err}")
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        return
    line = [
        "unshare",
        "-m",
        "sh",
        "-c",
        'mount -t tmpfs -o ro none /dev/shm && exec "$@"',
        "sh",
        *command("library", listed, "-o", "out.jsonl"),
    ]
    done = subprocess.run(
        line, cwd=lab.folder, env=environment(lab), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    Done(done).failed(1, "the workers cannot start", "/dev/shm")


@case
@slow_case
def library_stops_while_it_starts(lab):
    """A signal to all processes, as by Ctrl-C in a terminal, gives at most one line and leaves nothing behind."""
    needs_dask()
    listed = write_list(lab, [[lab.clips.dist, lab.clips.ref]])
    program = in_place_of_ffmpeg(lab, "*vmafx=*) exec sleep 60 ;;")
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        # The number that have started: none, some, all.
        for workers in (
            (0, 1, 2, 3) if ALL else {signal.SIGINT: (0, 1, 3), signal.SIGTERM: (2,), signal.SIGHUP: (3,)}[number]
        ):
            with open(lab.folder / "said", "w+") as said:
                line = command("library", listed, "-o", "out.jsonl", "--workers", 3, *AT_OWN_SIZE)
                settings = environment(lab, VMAFX_FFMPEG=program)
                process = subprocess.Popen(
                    line,
                    cwd=lab.folder,
                    env=settings,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    start_new_session=True,
                )
                results = lab.folder / "out.jsonl"
                wait_for(lambda: results.exists() and len(workers_of(process.pid)) >= workers, f"{workers} workers")
                if workers == 3:
                    wait_for(lambda: next(scoring(process.pid, b"sleep"), None), "a worker that scores")
                started = tree(process.pid)
                os.killpg(process.pid, number)
                check_equal(process.wait(20), status, "exit status")
                wait_for(lambda: not any(map(alive, started)), "the end of what it had started", 3)
                said.seek(0)
                check_equal(
                    said.read(),
                    "vmafx library: stopped\n" if number == signal.SIGINT else "",
                    f"said, with {workers} workers",
                )
            results.unlink()


@long_case
def cluster_that_dies(lab):
    """The command ends in one line, whenever the scheduler goes away."""
    needs_dask()
    listed = write_list(lab, [[lab.clips.dist, lab.clips.ref]])
    settings = environment(lab, VMAFX_FFMPEG=in_place_of_ffmpeg(lab, "*vmafx=*) sleep 60 ;;"))
    address = lab.folder / "cluster.json"
    start = lambda *words: subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=lab.folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for seconds in (0, 0.5, 1, 1.5, 2, 4):
        with contextlib.ExitStack() as stack:
            daemons = {}
            for name, *words in (("scheduler", "--port", "0"), ("worker",)):
                file = "--scheduler-file", "cluster.json"
                daemons[name] = start(f"distributed.cli.dask_{name}", *file, "--no-dashboard", *words)
                stack.callback(daemons[name].wait)
                stack.callback(daemons[name].kill)
                wait_for(lambda: address.exists() and address.read_text().endswith("}"), "scheduler")
            with running(lab, listed, "-o", "out.jsonl", "--scheduler-file", "cluster.json", **settings) as process:
                time.sleep(seconds)
                daemons["scheduler"].kill()
                check_equal(process.wait(120), 1, "exit status")
                said = (lab.folder / "said").read_text()
                check(
                    said.startswith("vmafx library: ") and said.count("\n") == 1, f"after {seconds} s it said: {said}"
                )
        address.unlink()


@long_case
def library_stops(lab):
    """A signal stops the command without leftovers, and it can go on later."""
    needs_dask()
    lab.run("-f lavfi -i testsrc2=s=320x180:r=25:d=24 -c:v ffv1 long.mkv").succeeded()
    listed = write_list(lab, [["long.mkv", "long.mkv"]])
    with running(lab, listed, "-o", "out.jsonl", "--workers", 2, "--piece", 2) as process:
        wait_for(lambda: list((lab.folder / "out.jsonl.ranges").glob("*/*.range")), "a range")
        workers, ffmpegs = workers_of(process.pid), [number for _, number in scoring(process.pid)]
        done = library(lab, listed, "-o", "out.jsonl")
        done.failed(1, "another vmafx library is writing out.jsonl")
        process.send_signal(signal.SIGTERM)
        check_equal(process.wait(20), 143, "exit status")
    wait_for(lambda: not any(map(alive, workers + ffmpegs)), "the end of what it had started", 3)
    ranges = set((lab.folder / "out.jsonl.ranges").glob("*/*.range"))
    check(ranges, "no ranges are kept")
    program = in_place_of_ffmpeg(lab, "*range=*) echo range >>runs ;;")
    library(lab, listed, "-o", "out.jsonl", "--piece", 2, VMAFX_FFMPEG=program).succeeded()
    pieces = -(-600 * 320 * 180 // (1920 * 1080 * 2))
    check_equal(
        len((lab.folder / "runs").read_text().splitlines()), pieces - len(ranges), "ranges that were scored again"
    )


@long_case
def library_on_a_cluster(lab):
    """The command uses the scheduler and workers of `dask`; a task takes the resource that they offer."""
    needs_dask()
    names = ladder(lab)
    listed = write_list(lab, [[name, "ref.mkv"] for name in names])
    settings = environment(lab, PATH=f"{Path(lab.ffmpeg).parent}:{os.environ['PATH']}", VMAFX_FFMPEG=None)
    start = lambda *words: subprocess.Popen(
        [sys.executable, "-m", *map(str, words)],
        cwd=lab.folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with contextlib.ExitStack() as stack:
        for words in (("scheduler", "--port", 0), ("worker", "--nthreads", 1, "--resources", "GPU=1")):
            process = start(
                f"distributed.cli.dask_{words[0]}", "--scheduler-file", "cluster.json", "--no-dashboard", *words[1:]
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            wait_for((lab.folder / "cluster.json").exists, "scheduler")
        library(
            lab, listed, "-o", "out.jsonl", "--scheduler-file", "cluster.json", "--resource", "GPU=1", "--piece", 0.1
        ).succeeded()
        library(lab, listed, "-o", "none.jsonl", "--scheduler-file", "cluster.json", "--resource", "HAMSTER=1").failed(
            1, "no worker of", "HAMSTER"
        )
    for record in records(lab.folder / "out.jsonl"):
        check_equal_to_single(lab, record)


@long_case
def library_survives(lab):
    """One worker is killed, one frozen, and the command itself killed and started again: each result is there once, as
    of a single run.
    """
    needs_dask()
    lab.run("-f lavfi -i testsrc2=s=192x108:r=25:d=10 -c:v ffv1 ref.mkv").succeeded()
    crfs = 20, 28, 36, 44
    for crf in crfs:
        lab.run(f"-i ref.mkv -c:v libx264 -preset ultrafast -crf {crf} crf{crf}.mp4").succeeded()
    rows = []
    for number in range(40):
        shutil.copy(lab.folder / f"crf{crfs[number % 4]}.mp4", lab.folder / f"{number}.mp4")
        rows.append([f"{number}.mp4", "ref.mkv"])
    listed, out = write_list(lab, rows), lab.folder / "out.jsonl"
    words = listed, "-o", "out.jsonl", "--workers", 4, "--together", 1, "--worker-ttl", 5

    def have(count):
        return out.exists() and len(out.read_text().splitlines()) >= count

    with running(lab, *words) as process:
        wait_for(lambda: have(4), "4 results")
        killed, _ = wait_for(lambda: next(scoring(process.pid), None), "a worker that scores")
        os.kill(killed, signal.SIGKILL)
        frozen, _ = wait_for(
            lambda: next((found for found in scoring(process.pid) if found[0] != killed), None),
            "another worker that scores",
        )
        os.kill(frozen, signal.SIGSTOP)
        wait_for(lambda: have(16), "16 results", 60)
        workers = workers_of(process.pid)
        process.kill()
        process.wait()
    wait_for(
        lambda: not any(alive(worker) for worker in workers if worker != frozen),
        "the end of the workers of a client that was killed",
    )
    with contextlib.suppress(ProcessLookupError):
        os.kill(frozen, signal.SIGCONT)
    wait_for(lambda: not alive(frozen), "the end of the worker that was frozen")
    first = out.read_text()
    with running(lab, *words) as process:
        frozen, _ = wait_for(lambda: next(scoring(process.pid), None), "a worker that scores")
        os.kill(frozen, signal.SIGSTOP)
        wait_for(lambda: have(len(first.splitlines()) + 12), "12 results more", 60)
        with contextlib.suppress(ProcessLookupError):  # the newer Dask has ended it by now
            os.kill(frozen, signal.SIGCONT)  # the worker comes back with its late result
        ended_well(lab, process, 100)
    check(out.read_text().startswith(first[: first.rfind("\n") + 1]), "the results of the first run are there")
    found = records(out)
    check_equal(sorted(int(record["id"].removesuffix(".mp4")) for record in found), list(range(40)), "results")
    singles = {crf: scored(lab, f"crf{crf}.mp4", "ref.mkv") for crf in crfs}
    for record in found:
        single = singles[crfs[int(record["id"].removesuffix(".mp4")) % 4]]
        check_equal(
            (record["pooled"]["vmaf"], record["frames"]), (single["pooled"]["vmaf"], single["frames"]), record["id"]
        )


# -- Without Dask ------------------------------------------------------------------------------------------------------


def told_command(text):
    """Returns the line of docs/scale.md that has this text, with the lines that continue it."""
    lines = (top / "docs/scale.md").read_text().replace("\\\n", "").splitlines()
    return next(line.strip() for line in lines if line.startswith("    ") and text in line)


def prepared(lab):
    """Makes the files that the commands of docs/scale.md need: dis.mp4, ref.mp4, list.csv, part.sh and the programs."""
    lab.run("-f lavfi -i testsrc2=s=192x108:r=25:d=6 -c:v libx264 -preset ultrafast -qp 0 -g 50 ref.mp4").succeeded()
    lab.run("-i ref.mp4 -c:v libx264 -preset ultrafast -crf 35 -g 50 dis.mp4").succeeded()
    shutil.copy(top / "examples/part.sh", lab.folder)
    programs = lab.folder / "bin"
    programs.mkdir()
    (programs / "ffmpeg").symlink_to(lab.ffmpeg)
    (programs / "vmafx").write_text(f'#!/bin/sh\nPYTHONPATH={top}/python exec {sys.executable} -m vmafx.command "$@"\n')
    (programs / "vmafx").chmod(0o755)
    return environment(lab, PATH=f"{programs}:{os.environ['PATH']}")


def told(lab, text, settings, **replaced):
    """Runs a command of the document, with other numbers where the clip is shorter than the document's."""
    line = told_command(text)
    for old, new in replaced.values():
        check(old in line, f"'{old}' is not in: {line}")
        line = line.replace(old, new)
    done = subprocess.run(
        line,
        shell=True,
        executable="/bin/bash",
        cwd=lab.folder,
        env=settings,
        capture_output=True,
        text=True,
        timeout=60,
    )
    check_equal(done.returncode, 0, f"exit status of {line}: {done.stdout}{done.stderr}")


def check_merged(lab, settings):
    told(lab, "vmafx merge part*.json", settings)
    merged, single = lab.json("scores.json"), scored(lab, "dis.mp4", "ref.mp4")
    check_equal(merged["pooled_metrics"]["vmaf"]["mean"], single["pooled"]["vmaf"]["mean"], "mean")
    check_equal(len(merged["frames"]), 150, "frames")


@case
def gnu_parallel_as_told(lab):
    if not shutil.which("parallel"):
        raise Skip("Debian's parallel is not installed")
    settings = prepared(lab)
    told(lab, "parallel --joblog parts.log", settings, count=("{0..11}", "{0..2}"), length=(" 12 600 ", " 3 2 "))
    check_merged(lab, settings)
    (lab.folder / "list.csv").write_text(f"{lab.clips.dist},{lab.clips.ref}\n" * 2)
    (lab.folder / "results").mkdir()
    told(lab, "parallel --joblog pairs.log", settings)
    check_equal(json.loads((lab.folder / "results/2.json").read_text())["encodes"][0]["frames"], FRAMES, "frames")


@case
def slurm_as_told(lab):
    missing = [
        name
        for name in ("slurmctld", "slurmd", "munged", "sbatch")
        if not shutil.which(name, path="/usr/sbin:/usr/bin")
    ]
    if missing:
        raise Skip(f"Slurm is not installed (slurmctld, slurmd, slurm-client, munge): no {missing[0]}")
    if os.getuid():
        raise Skip("Slurm's daemons want to be started by root")
    if not any(Path("/sys/fs/cgroup").glob("*")):
        raise Skip("slurmd needs control groups, and /sys/fs/cgroup is empty")
    settings = prepared(lab)
    with slurm(lab) as configuration:
        told(
            lab,
            "sbatch --wait --array",
            settings | {"SLURM_CONF": str(configuration)},
            count=("0-11", "0-2"),
            length=(" 12 600 ", " 3 2 "),
        )
    check_merged(lab, settings)


@contextlib.contextmanager
def slurm(lab):
    """Starts a cluster of this machine only."""
    folder = lab.folder / "slurm"
    folder.mkdir()
    host = os.uname().nodename.split(".")[0]
    files = {name: folder / name for name in ("key", "socket", "munge.pid", "munge.log", "seed")}
    files["key"].write_bytes(os.urandom(1024))
    files["key"].chmod(0o400)
    daemons = [["munged", "--force", "--foreground", *(f"--{option}={files[name]}" for option, name in MUNGE.items())]]
    daemons += [[name, "-D", "-f", folder / "slurm.conf"] for name in ("slurmctld", "slurmd")]
    port = 20000 + os.getpid() % 10000
    processors = len(os.sched_getaffinity(0))
    (folder / "slurm.conf").write_text(
        SLURM.format(folder=folder, host=host, processors=processors, port=port, other_port=port + 10000)
    )
    settings = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    with contextlib.ExitStack() as stack:
        running = {}
        for name, *options in daemons:
            program = shutil.which(name, path="/usr/sbin:/usr/bin")
            with open(folder / f"{name}.said", "wb") as said:
                running[name] = subprocess.Popen([program, *map(str, options)], env=settings, stdout=said, stderr=said)
            stack.callback(running[name].wait)
            stack.callback(running[name].terminate)
            if name == "munged":
                wait_for(files["socket"].exists, "socket of munged")

        def is_ready():
            for name, process in running.items():
                check(process.poll() is None, f"{name} has ended: {(folder / f'{name}.said').read_text()[-500:]}")
            return b"idle" in subprocess.run(["sinfo"], env=settings, capture_output=True).stdout

        wait_for(is_ready, "idle node of Slurm")
        yield folder / "slurm.conf"


MUNGE = {"key-file": "key", "socket": "socket", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "seed"}
SLURM = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={other_port}
AuthInfo=socket={folder}/socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors}
PartitionName=all Nodes=ALL Default=YES
"""
