"""Files that others wrote, changed anywhere: what cannot be read is one error for the user, at once, and takes little
memory; what is read makes a page."""

import contextlib
import io
import json
import math
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import command_readers
from command import command, environment, vmafx
from common import case, check, check_equal, gray_pairs, long_case, score_pairs, top
from pages import Content
from vmafx.command import report as report_command
from vmafx.command._scores import MOST_GAPS, MOST_KEYS, Encode, read_scores
from vmafx.command._terminal import Failure
from vmafx.command.merge import merge
from vmafx.command.page.page import Page, make_page

# -- Inputs that are made of others (fuzz/command_readers.py) ----------------------------------------------------------


def hold_reader(reader, inputs):
    counts = command_readers.hold_inputs(inputs, only=reader)
    check(min(counts.values()) > inputs / 20, f"of {reader}: {counts}")


def hold(path, read, *allowed):
    """Checks that `read(path)` ends at once, with one line for the user if it fails, for any change in the file."""
    text = path.read_bytes()
    for number in range(MUTATIONS):
        path.write_bytes(command_readers.changed(b"\n" + text, random.Random(number)).partition(b"\n")[2])
        try:
            with command_readers.at_once(), contextlib.redirect_stderr(io.StringIO()):
                read(path)
        except (Failure, *allowed) as failure:
            told = str(failure)
            check(told.strip() and "\n" not in told, f"mutation {number} of {path.name}: {told[:300]!r}")
        except BaseException as error:
            said = f"{type(error).__name__}: {str(error)[:300]}"
            raise AssertionError(f"mutation {number} of {path}: {said}") from error


@case
def changed_reports_are_read_or_refused(lab):
    del lab
    hold_reader("report", 1500)


@case
def changed_parts_are_merged_or_refused(lab):
    del lab
    hold_reader("part", 600)


@case
def changed_tables_are_read_or_refused(lab):
    del lab
    hold_reader("table", 400)


@case
def changed_lists_are_read_or_refused(lab):
    del lab
    hold_reader("list", 400)


@case
def results_of_libraries_are_read_or_refused(lab):
    del lab
    hold_reader("results", 400)


@long_case
def many_changed_inputs(lab):
    """Runs the fuzz target on many inputs, in a process of its own with bounded memory."""
    done = subprocess.run(
        [sys.executable, top / "fuzz/command_readers.py", "--inputs", "100000", "--seed", "7"],
        cwd=lab.folder,
        capture_output=True,
        text=True,
    )
    check_equal(done.returncode, 0, done.stderr[-1000:])


@case
def what_is_not_escaped_is_seen(lab):
    """The fuzz target sees a page with anything that its templates lack."""
    del lab
    good = make_page(Page([encode_of(["vmaf"])], ["vmaf"]))
    command_readers.hold_page(good)
    for bad in (
        "<script>alert(1)</script>",
        "<img>",
        "<p onclick=1>",
        "<p style='color: red'>",
        "<!-- -->",
        "<b title=x>",
        '<path d="MNaN 0"/>',
        "\ud800",
        "\0",
    ):
        try:
            command_readers.hold_page(good.replace("</h1>", f"{bad}</h1>"))
        except AssertionError:
            continue
        raise AssertionError(f"{bad!r} was not seen")


# -- Each kind by itself -----------------------------------------------------------------------------------------------

MUTATIONS = 400  # changes tried on each file
FRAME = {"frameNum": 0, "time": 0.0, "metrics": {"vmaf": 50.0}}
SEEN = {"kind": "x", "text": "x", "remedies": [], "certainty": "sure", "from": 0, "to": 1, "evidence": {}}  # a doubt


def encode_of(keys):
    encode = Encode("e")
    for i in range(3):
        encode.add(i, i / 25, dict.fromkeys(keys, 50.0 + i))
    encode.finish()
    return encode


def frames_with(*changes):
    """Returns a report with this many frames, each with this change."""
    frames = [{"frameNum": i, "time": i / 25, "metrics": {"vmaf": 50.0 + i, "cambi": 1.0}} for i in range(len(changes))]
    return {"frames": [{**frame, **change} for frame, change in zip(frames, changes)]}


def scores(*values):
    return frames_with(*({"metrics": {"vmaf": value}} for value in values))


def with_summary(**summary):
    return {"frames": [FRAME], **summary}


PAGES = {
    "scores of 1e308": scores(1e308, -1e308, 1e308, 5),
    "of 1e308 alone": scores(1e308, 1e308),
    "of -1e308 and 1.7e308": scores(-1e308, 1.7e308),
    "of 1e-320": scores(1e-320, 2e-320),
    "of 1e15 and a bit more": scores(1e15, 1.0000001e15),
    "infinite ones": scores(math.inf, math.inf),
    "both infinities": scores(math.inf, -math.inf, 3),
    "infinity as a text": scores("inf", "-inf", "nan", "-nan"),
    "none": scores(None, None),
    "large integers": scores(10**300, -(10**300)),
    "frame numbers up to 2^53": frames_with({"frameNum": 0, "time": None}, {"frameNum": 2**53 - 1, "time": None}),
    "times of 3000 years": frames_with({"time": -1e11}, {"time": 1e11}),
    "equal times": frames_with({"time": 1}, {"time": 1}),
    "times that go back": frames_with({"time": 5.0}, {"time": 1.0}, {"time": 3.0}),
    "a frame without time": frames_with({}, {"time": None}),
    "empty frames": frames_with({"metrics": {}}, {}, {"metrics": {}}),
    "a key that is a number": {
        "frames": [{"frameNum": 0, "metrics": {"0": 1.5, "é": 2, "a b": 3, "<b>": 4, "{{x}}": 5}}]
    },
    "pooled values that are null": with_summary(pooled_metrics={"vmaf": {"mean": None}, "other": {"mean": 1}}),
    "pooled infinities": with_summary(pooled_metrics={"vmaf": {"mean": "inf", "max": math.inf}}),
    "a name with half a surrogate": {"encodes": [{"name": "a\ud800\0b\x1b[31m", "frames": [FRAME]}]},
    "facts of any kind": with_summary(
        vmafx={
            "version": [1],
            "backend": {"vif": {"deep": {}}, "adm": None},
            "device": {"a": "b"},
            "threads": -1,
            "cpu": "\ud800",
        }
    ),
    "a window without time": with_summary(windows=[{"firstFrame": 0, "lastFrame": 0, "pooled": {"vmaf": 3}}]),
    "windows without scores": with_summary(windows=[{"firstFrame": 0, "lastFrame": 0, "pooled": {}}]),
    "windows beyond all": with_summary(
        windows=[{"firstFrame": 2**53 - 1, "lastFrame": 0, "time": -1e11, "pooled": {"vmaf": 1e308, "x": None}}]
    ),
    "warnings": with_summary(warnings=["a\nb", "\0", ""]),
    "an encode twice": {"encodes": [{"name": "a", "frames": [FRAME]}, {"name": "a", "frames": [FRAME]}]},
}
ERRORS = (
    (scores(10**400), "frame 0: vmaf is 1000000"),
    (scores("abc"), "frame 0: vmaf is 'abc', and not a number"),
    (scores(True), "frame 0: vmaf is true, and not a number"),
    (scores([1]), "frame 0: vmaf is a list, and not a number"),
    (scores({}), "frame 0: vmaf is an object, and not a number"),
    (
        frames_with({"frameNum": 2**63}),
        "the number of a frame is 9223372036854775808, and not an integer from 0 to 9007199254740991",
    ),
    (frames_with({"frameNum": -(2**63)}), "the number of a frame is -9223372036854775808"),
    (frames_with({"frameNum": -1}), "the number of a frame is -1"),
    (frames_with({"frameNum": True}), "the number of a frame is true"),
    (frames_with({"frameNum": 0.5}), "the number of a frame is 0.5"),
    (frames_with({"frameNum": "0"}), "the number of a frame is '0'"),
    (frames_with({"frameNum": None}), "the number of a frame is null"),
    (frames_with({"frameNum": 3}, {"frameNum": 3}), "frame 3 comes after frame 3"),
    (frames_with({"frameNum": 3}, {"frameNum": 1}), "frame 1 comes after frame 3"),
    (frames_with({"time": math.nan}), "frame 0: its time is nan, and not a number of seconds up to 1e+11"),
    (frames_with({"time": math.inf}), "frame 0: its time is inf"),
    (frames_with({"time": 1e308}), "frame 0: its time is 1e+308"),
    (frames_with({"time": "1"}), "frame 0: its time is '1'"),
    (frames_with({"time": False}), "frame 0: its time is false"),
    (frames_with({"metrics": None}), "frame 0: its scores are null, and not an object"),
    (frames_with({"metrics": []}), "frame 0: its scores are a list"),
    (
        {"frames": [{"frameNum": 0, "metrics": {"": 1}}]},
        "a score is called '', and not by a text of 1 to 1024 characters",
    ),
    ({"frames": [{"frameNum": 0, "metrics": {"\ud800": 1}}]}, "a score is called '\\ud800'"),
    ({"frames": [{"frameNum": 0, "metrics": {"a\0": 1}}]}, "a score is called 'a\\x00'"),
    ({"frames": [{"frameNum": 0, "metrics": {"x" * 2000: 1}}]}, "a score is called 'xxx"),
    ({"frames": [{"metrics": {}}]}, "frames[0] has no frameNum"),
    ({"frames": [{"frameNum": 0}]}, "frames[0] has no metrics"),
    ({"frames": [1]}, "frames[0] is 1, and not an object"),
    ({"frames": {}}, "frames is an object, and not a list"),
    ({"frames": None}, "frames is null, and not a list"),
    ({"encodes": {}}, "'[' is expected at character"),
    ({"encodes": [1]}, "'{' is expected at character"),
    ({"encodes": [{"name": 3, "frames": [FRAME]}]}, "encodes[0].name is 3, and not a text"),
    ({"encodes": [{"name": "a" * 5000, "frames": [FRAME]}]}, "encodes[0].name is 'aaa"),
    ({"encodes": [{"frames": [FRAME]}] * 300}, "there are more than 256 encodes"),
    ({"encodes": []}, "has no scores"),
    (with_summary(vmafx=[]), "vmafx is a list, and not an object"),
    (with_summary(vmafx=None), "vmafx is null, and not an object"),
    (with_summary(vmafx={"scores": 3}), "vmafx.scores is 3, and not an object"),
    (with_summary(vmafx={"scores": {"vmaf": {"worse": "low", "main": True}}}), "vmafx.scores.vmaf has no metric"),
    (
        with_summary(vmafx={"scores": {"vmaf": {"metric": None, "worse": "up", "main": True}}}),
        "vmafx.scores.vmaf.worse is 'up', and not 'low', 'high' or 'neither'",
    ),
    (with_summary(doubts={}), "doubts is an object, and not a list"),
    (
        with_summary(doubts=[SEEN | {"certainty": "maybe"}]),
        "doubts[0].certainty is 'maybe', and not 'possible', 'likely' or 'sure'",
    ),
    (with_summary(doubts=[{key: SEEN[key] for key in SEEN if key != "evidence"}]), "doubts[0] has no evidence"),
    (with_summary(doubts=[SEEN | {"evidence": {"fit": "x"}}]), "doubts[0].evidence.fit is 'x', and not a number"),
    (with_summary(doubts=[{"kind": "x", "text": "x", "remedies": [3]}]), "doubts[0].remedies[0] is 3, and not a text"),
    (with_summary(pairing={"paired": "<script>"}), "pairing.paired is '<script>', and not a number"),
    (with_summary(pairing=3), "pairing is 3, and not an object"),
    (with_summary(pooled_metrics={"vmaf": {"mean": "abc"}}), "pooled_metrics.vmaf.mean is 'abc', and not a number"),
    (with_summary(pooled_metrics={"vmaf": {"mean": [1]}}), "pooled_metrics.vmaf.mean is a list"),
    (with_summary(pooled_metrics={"vmaf": {"mean": True}}), "pooled_metrics.vmaf.mean is true"),
    (with_summary(pooled_metrics={"vmaf": {"mean": 10**400}}), "a pooled score is 1000000"),
    (with_summary(pooled_metrics={"vmaf": 3}), "pooled_metrics.vmaf is 3, and not an object of scores"),
    (with_summary(pooled_statistics=[]), "pooled_statistics is a list, and not an object"),
    (with_summary(windows=3), "windows is 3, and not a list"),
    (with_summary(windows=[3]), "windows[0] is 3, and not an object"),
    (with_summary(windows=[{}]), "windows[0] has no firstFrame"),
    (
        with_summary(windows=[{"firstFrame": "0", "lastFrame": 1, "pooled": {}}]),
        "windows[0].firstFrame is '0', and not an integer",
    ),
    (
        with_summary(windows=[{"firstFrame": 0, "lastFrame": 2**63, "pooled": {}}]),
        "windows[0].lastFrame is 9223372036854775808",
    ),
    (
        with_summary(windows=[{"firstFrame": 0, "lastFrame": 1, "time": "x", "pooled": {}}]),
        "windows[0].time is 'x', and not a number of seconds",
    ),
    (
        with_summary(windows=[{"firstFrame": 0, "lastFrame": 1, "pooled": {"vmaf": "x"}}]),
        "windows[0].pooled.vmaf is 'x'",
    ),
    (with_summary(windows=[{"firstFrame": 0, "lastFrame": 1, "pooled": []}]), "windows[0].pooled is a list"),
    (with_summary(warnings="text"), "warnings is 'text', and not a list of at most 1000 texts"),
    (with_summary(warnings=[1]), "warnings[0] is 1, and not a text"),
    (with_summary(partial=[]), "partial is a list, and not true or false"),
)
TEXTS = (
    ('{"frames": [{"frameNum": 0, "metrics": {"vmaf": 1, "vmaf": 2}}]}', "an object has the key 'vmaf' twice"),
    ('{"frames": [], "frames": []}', "an object has the key 'frames' twice"),
    ('{"frameNum": 0, "frameNum": 1, "metrics": {}}\n', "line 1: an object has the key 'frameNum' twice"),
    (
        '{"frameNum": 0, "metrics": {"vmaf": 1}}\n{"frameNum": 0, "metrics": {"vmaf": 1}}\n',
        "line 2: frame 0 comes after frame 0",
    ),
    ('{"frameNum": 0, "metrics": {"vmaf": 1}}\nx\n', "line 2: Expecting value"),
    ('{"frameNum": 0, "metrics": {"vmaf": 1}}\n[]\n', "line 2 is a list, and not an object"),
    (
        '{"frameNum": 0, "encode": true, "metrics": {"vmaf": 1}}\n',
        "line 1: encode is true, and not an integer below 256",
    ),
    ('{"frameNum": 0, "encode": 1e999, "metrics": {"vmaf": 1}}\n', "line 1: encode is inf"),
    (
        '{"frameNum": 0, "metrics": {"vmaf": 1}}\n{"version": "1"}\n{"version": "1"}\n',
        "the end of the file is expected at character",
    ),
    ('{"frames": [{"frameNum": ' + "9" * 5000 + ', "metrics": {}}]}', "integer string conversion"),
    ("[" * 100000, "'{' is expected at character 0"),
    ('{"a": ' + "[" * 100000, "it nests too deep"),
    ('{"a": ' * 100000, "it nests too deep"),
    ('{"frames": [' + '{"a":' * 100000, "it nests too deep"),
    ('{"a": "' + "x" * (5 << 20) + '"}', "the value at character 6 has more than 4194304 characters"),
    (
        '{"frames": [{"frameNum": 0, "metrics": {"' + "x" * (2 << 20) + '": 1}}]}',
        "a value of more than 1048576 characters",
    ),
    ("{" + ",".join(f'"{i}": 1' for i in range(1001)) + "}", "an object has more than 1000 members"),
    ('{"frames": [}', "Expecting value at character 12"),
    ('{"frames" 3}', "':' is expected at character 10, not '3'"),
    ("Frame,vmaf,vmaf\n0,1,2\n", "its first line names a column twice"),
    ("Frame,vmaf\n0\n", "line 2: 1 cells, and 2 in the first line"),
    ("Frame,vmaf\n0,1,2\n", "line 2: 3 cells, and 2 in the first line"),
    ("Frame,vmaf\nx,1\n", "line 2: Frame is 'x', and not an integer"),
    ("Frame,vmaf\n1_0,1\n", "line 2: Frame is '1_0', and not an integer"),
    ("Frame,vmaf\n0,1_0\n", "line 2: vmaf is '1_0', and not a number"),
    ("Frame,vmaf\n0,abc\n", "line 2: vmaf is 'abc', and not a number"),
    ("Frame,Time,vmaf\n0,nan,1\n", "line 2: frame 0: its time is nan"),
    ("Frame,Time,vmaf\n0,1e308,1\n", "line 2: frame 0: its time is 1e+308"),
    ('Frame,vmaf\n0,"1\n', "unexpected end of data"),
    ('Frame,vmaf\n0,"' + "\n" * 2000, "a row goes on for more than 1000 lines: a quote is not closed"),
    ("Frame," + "x" * (2 << 20) + "\n", "a line has more than 1048576 characters"),
    ("Encode,Frame,vmaf\n" + "".join(f"{i},0,1\n" for i in range(300)), "there are more than 256 encodes"),
    (
        "Frame," + ",".join(f"k{i}" for i in range(MOST_KEYS + 1)) + "\n0" + ",1" * (MOST_KEYS + 1) + "\n",
        f"there are more than {MOST_KEYS} scores: k{MOST_KEYS} is one too many",
    ),
    ("a,b\n1,2\n", "there is no column Frame"),
    ("\n" * 5000, "it begins with nothing but blank lines"),
    ("", "there is no column Frame"),
    ("<VMAF><frames><frame vmaf='1'/></frames></VMAF>", "an element frame has no frameNum"),
    ("<VMAF><frames><frame frameNum='0' vmaf='abc'/></frames></VMAF>", "vmaf is 'abc', and not a number"),
    ("<VMAF><pooled_metrics><metric mean='1'/></pooled_metrics></VMAF>", "an element metric has no name"),
    ("<VMAF><windows><window firstFrame='0'/></windows></VMAF>", "an element window has no lastFrame"),
    ("<VMAF><pairing paired='x'/></VMAF>", "paired is 'x', and not an integer"),
    ("<a>" * 200, "it nests too deep"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><VMAF>&b;</VMAF>', "it has a document type (<!DOCTYPE), which a report has not"),
    ("<VMAF " + "x" * (4 << 20), "there are more than 1048576 characters without a tag, or in one"),
    ("<VMAF>" + "x" * (4 << 20), "there are more than 1048576 characters without a tag, or in one"),
)


def told_of(path):
    """Makes a page and returns the error, "" if there is none."""
    try:
        encodes = read_scores(path)
    except Failure as failure:
        check("\n" not in str(failure) and str(failure).isprintable() and str(path) in str(failure), f"{failure!r}")
        return str(failure)
    command_readers.hold_page(make_page(Page(encodes, report_command._usual_keys(encodes))))
    return ""


@case
def hostile_reports_make_pages(lab):
    """Odd content is shown, and breaks no plot."""
    path = lab.folder / "report.json"
    for what, content in PAGES.items():
        path.write_text(json.dumps(content))
        check_equal(told_of(path), "", what)
        lines = [*content.get("frames", []), {name: value for name, value in content.items() if name != "frames"}]
        if "frames" in content:
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            check_equal(told_of(path), "", f"{what}, as NDJSON")
    path.write_text(json.dumps(PAGES["times that go back"]))
    vmafx(lab, "report", path, "-o", "page.html").succeeded()
    Content(lab.folder / "page.html").has(
        "The times of the frames do not ascend: what is shown is over frame numbers.",
        "vmaf of each frame over frame numbers",
    )


@case
def hostile_reports_are_refused(lab):
    """The error names the file, the key, its value and what is expected."""
    path = lab.folder / "report.json"
    for content, text in (*((json.dumps(content), text) for content, text in ERRORS), *TEXTS):
        path.write_text(content, encoding="utf-8", errors="surrogatepass")
        told = told_of(path)
        check(text in told, f"'{text}' is not in '{told}', of {content[:100]}")
    vmafx(lab, "report", path, "-o", "page.html").failed(1, "vmafx report: ", str(path))


@case
def byte_order_marks_are_taken(lab):
    """A byte order mark is accepted in each format; a text in UTF-16 is reported as such."""
    reports = {
        path.name: path.read_bytes().partition(b"\n")[2] for path in (top / "fuzz/corpus/command").glob("report-*")
    }
    for name, content in reports.items():
        path = lab.folder / name
        path.write_bytes(content)
        plain = read_scores(path)
        path.write_bytes(b"\xef\xbb\xbf" + content)
        check_equal(
            [encode.scores.keys() for encode in read_scores(path)], [encode.scores.keys() for encode in plain], name
        )
        for encoding in ("utf-16", "utf-32"):
            path.write_text(content.decode(), encoding=encoding)
            check(f"it is a text in {encoding.upper()}: save it as UTF-8" in told_of(path), told_of(path))
        path.write_text(content.decode(), encoding="utf-16-le")
        check("it is not a text in UTF-8: it begins with zeros, as a text in UTF-16" in told_of(path), told_of(path))
    part = (top / "fuzz/corpus/command/part").read_bytes().partition(b"\n")[2]
    after = top / "fuzz/corpus/command/beside/after.json"
    (lab.folder / "part.json").write_bytes(b"\xef\xbb\xbf" + part)
    merge([str(lab.folder / "part.json"), str(after)], str(lab.folder / "merged.json"))
    (lab.folder / "part.json").write_text(part.decode(), encoding="utf-16")
    vmafx(lab, "merge", "part.json", after).failed(1, "part.json", "it is a text in UTF-16: save it as UTF-8")


# -- Memory ------------------------------------------------------------------------------------------------------------

MOST_MIB = 400  # address space, of which Python and its libraries take a part


def bounded(lab, *words, stdin=None, seconds=60):
    """Runs the command in little memory and returns its output."""
    limit = MOST_MIB << 20

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        command(*words),
        cwd=lab.folder,
        env=environment(lab),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        preexec_fn=bound,
    )
    check_equal((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
    return done.stderr


@case
def endless_files_are_refused(lab):
    for words in (("report", "-o", "page.html"), ("merge", "-o", "merged.json")):
        check("it begins with zeros" in bounded(lab, words[0], "/dev/zero", *words[1:]), words)
        check("/dev/urandom" in bounded(lab, words[0], "/dev/urandom", *words[1:]), words)
        for text in (
            "[",
            "{",
            '{"a":"',
            "x",
            "x\\n",
            "<a ",
            "<",
            '{"frames":[{"frameNum":0,"metrics":{"a":1,"',
            'Frame,vmaf\\n0,"\\n',
            "\\n",
        ):
            endless = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    f"printf '{text}'; yes '{text}' | tr -d '\\n'" if "\\n" not in text else f"yes '{text[:-2]}'",
                ],
                stdout=subprocess.PIPE,
            )
            said = bounded(lab, words[0], "/dev/stdin", *words[1:], stdin=endless.stdout)
            endless.stdout.close()
            endless.wait()
            check("/dev/stdin" in said and "not enough memory" not in said, said)


@case
def hostile_reports_take_little_memory(lab):
    """Reports that once took hundreds of megabytes, and others that would, take little."""
    keys = "".join(json.dumps({"frameNum": i, "metrics": {f"k{i}": 1.0}}) + "\n" for i in range(9000))
    check(len(keys) < 500_000, "as large as the one that was seen")
    (lab.folder / "keys.ndjson").write_text(keys)
    check(f"there are more than {MOST_KEYS} scores" in bounded(lab, "report", "keys.ndjson", "-o", "page.html"), "keys")
    gaps = "".join(
        json.dumps({"frameNum": i, "metrics": {f"k{i}": 1.0} if i < 1000 else {}}) + "\n"
        for i in range(2 * MOST_GAPS // 1000)
    )
    (lab.folder / "gaps.ndjson").write_text(gaps)
    check(
        "frames lack most of 1000 scores: is this one report?"
        in bounded(lab, "report", "gaps.ndjson", "-o", "page.html"),
        "gaps",
    )
    laughs = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    (lab.folder / "laughs.xml").write_text(f'<!DOCTYPE l [<!ENTITY l0 "l">{laughs}]><VMAF a="&l9;">&l9;</VMAF>')
    check("it has a document type" in bounded(lab, "report", "laughs.xml", "-o", "page.html"), "entities")
    for name, text in (
        ("lists", '{"a":[' + "[]," * (8 << 20)),
        ("objects", '{"frames":[' + '{"a":{}},' * (2 << 20)),
        ("texts", '{"a":["' + 'ab","' * (8 << 20)),
    ):
        (lab.folder / name).write_text(text)
        said = bounded(lab, "report", name, "-o", "page.html")
        check("not enough memory" not in said, said)


@case
def long_reports_take_little_memory(lab):
    """A report of 58 MB on one line takes little memory, and all scores are there."""
    with (lab.folder / "long.json").open("w") as file:
        file.write('{"frames":[')
        for i in range(40_000):
            scored = ",".join(f'"key_{k}":{i}.{k:02}{"0" * 40}' for k in range(25))
            file.write(f'{"," if i else ""}{{"frameNum":{i},"metrics":{{{scored}}}}}')
        file.write("]}")
    check(os.stat(lab.folder / "long.json").st_size > 50_000_000, "it is too short")
    program = (
        "import sys, re; from pathlib import Path; from vmafx.command._scores import read_scores; "
        "e = read_scores(Path(sys.argv[1]))[0]; "
        "most = re.search(r'VmHWM: *(\\d+)', Path('/proc/self/status').read_text().replace('\\t', ' '))[1]; "
        "print(len(e.numbers), e.scores['key_24'][39999], int(most) >> 10)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, lab.folder / "long.json"],
        env=environment(lab),
        capture_output=True,
        text=True,
        timeout=120,
    )
    frames, score, most = done.stdout.split()
    check_equal((frames, score), ("40000", "39999.24"), done.stderr)
    check(int(most) < 100, f"{most} MiB")


# -- Packages ----------------------------------------------------------------------------------------------------------


@case
def missing_packages_are_named(lab):
    """A missing package is named before any work, by its names in Debian and PyPI; parts that do without it work."""
    score_pairs(gray_pairs(), model="", feature="psnr", log_path=str(lab.folder / "scores.json"))
    (lab.folder / "table.csv").write_text("series,bitrate,scores\na,100,scores.json\n")
    for package, told in (
        ("jinja2", "apt-get install python3-jinja2, or pip install jinja2"),
        ("fastjsonschema", "apt-get install python3-fastjsonschema, or pip install fastjsonschema"),
    ):
        program = (
            f"import sys; sys.modules['{package}'] = None; from vmafx.command.__main__ import main; sys.exit(main())"
        )
        words = [sys.executable, "-c", program]
        for subcommand in (("report", "scores.json"), ("compare", "table.csv")):
            done = subprocess.run(
                [*words, *subcommand, "-o", "page.html"],
                cwd=lab.folder,
                env=environment(lab),
                capture_output=True,
                text=True,
            )
            check_equal((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            check(told in done.stderr and not Path(lab.folder / "page.html").exists(), done.stderr)
        done = subprocess.run([*words, "--help"], env=environment(lab), capture_output=True, text=True)
        check_equal(done.returncode, 0, done.stderr)
