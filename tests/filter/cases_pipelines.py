"""The commands of docs/pipelines.md, run as they stand there; the files that they write are scored again."""

import re
from pathlib import Path

from support import HEIGHT, WIDTH, Skip, case, check, check_equal
from cases_examples import fits, in_shell, indented_blocks, lay_out

DOCUMENT = "docs/pipelines.md"
TESTED = (
    "One encode",
    "Filters before the encoder",
    "A ladder of encodes",
    "Segments of a live stream",
    "A pipe between two commands",
    "Delay and memory",
)
FRAMES, FPS = 130, 25
SEGMENTS = [(0, 49), (50, 99), (100, 129)]  # first and last frames of segments of two seconds


def recipes(lab, heading):
    """Returns the commands below a heading, and the files that they read."""
    blocks = indented_blocks(DOCUMENT, heading)
    if not all(fits(block, lab.version()) for block in blocks):
        raise Skip("loopback decoders came with FFmpeg 7.0, scale=rw:rh with 7.1")
    lay_out(lab)
    source = f"testsrc2=s={WIDTH}x{HEIGHT}:r={FPS},trim=end_frame={FRAMES},format=yuv420p"
    lab.run("-f lavfi -i", source, "-c:v libx264 -qp 0", "ref.mp4").succeeded()
    return blocks


def score_after(lab, encoded, filters=f"scale={WIDTH}:{HEIGHT}:flags=bicubic"):
    """Scores an encoded file; both inputs go through the filters."""
    graph = (
        f"[0:v]{filters},settb=AVTB,setpts=PTS-STARTPTS[d];[1:v]{filters},settb=AVTB,setpts=PTS-STARTPTS[r];"
        "[d][r]vmafx=log_path=after.json"
    )
    score = lab.run("-i", encoded, "-i ref.mp4 -lavfi", graph, "-f null -").score()
    check_whole(lab, "after.json")
    return score


def check_whole(lab, name):
    report = lab.json(name)
    for scores in report.get("encodes", [report]):
        check_equal(len(scores["frames"]), FRAMES, f"frames in {name}")
        check("partial" not in scores, f"{name} is partial")


def check_segments(lab, report):
    windows = [line for line in lab.json_lines(report) if "window" in line]
    check_equal([(window["firstFrame"], window["lastFrame"]) for window in windows], SEGMENTS, "windows")


def check_playlist(lab, name):
    lengths_s = [float(length) for length in re.findall(r"#EXTINF:([\d.]+)", (lab.folder / name).read_text())]
    check_equal(
        [round(length * FPS) for length in lengths_s],
        [last - first + 1 for first, last in SEGMENTS],
        "frames of the segments",
    )


@case
def pipelines_untested_say_so(lab):
    text = (Path(__file__).resolve().parents[2] / DOCUMENT).read_text()
    for section in text.split("\n## ")[1:]:
        heading, body = section.split("\n", 1)
        if re.search(r"^    \S", body, re.M):
            check(heading in TESTED or "have not been run" in body, f"commands under '{heading}' that no test runs")


@case
def pipelines_of_one_encode(lab):
    (command,) = recipes(lab, "One encode")
    check_equal([score for _, score in in_shell(lab, command)], [score_after(lab, "enc.mp4")])
    check_whole(lab, "enc.json")


@case
def pipelines_that_read_twice(lab):
    """The frames of the second input do not wait for the encoder."""
    (command,) = recipes(lab, "Delay and memory")
    if lab.version() >= (8, 1):
        command = command.replace("ffmpeg ", "ffmpeg -filter_buffered_frames 20 ", 1)
    check_equal([score for _, score in in_shell(lab, command)], [score_after(lab, "enc.mp4")])


@case
def pipelines_hold_no_more_than_the_encoders_delay(lab):
    (command,) = recipes(lab, "One encode")
    if lab.version() < (8, 0):
        raise Skip("-filter_buffered_frames came with FFmpeg 8.0")
    in_shell(lab, command.replace("ffmpeg ", "ffmpeg -filter_buffered_frames 100 ", 1))


@case
def pipelines_with_filters(lab):
    (command,) = recipes(lab, "Filters before the encoder")
    check_equal([score for _, score in in_shell(lab, command)], [score_after(lab, "enc.mp4", "scale=160:90")])


@case
def pipelines_of_a_ladder(lab):
    (command,) = recipes(lab, "A ladder of encodes")
    scores = dict(in_shell(lab, command))
    check_equal(scores, {name: score_after(lab, f"{name}.mp4") for name in ("high", "mid", "low")})
    check_equal(
        [encode["name"] for encode in lab.json("scores.json")["encodes"]],
        ["high", "mid", "low"],
        "encodes in the report",
    )
    check_whole(lab, "scores.json")


@case
def pipelines_of_segments(lab):
    seconds, keyframes = recipes(lab, "Segments of a live stream")
    check_equal([score for _, score in in_shell(lab, seconds)], [score_after(lab, "live.m3u8")])
    check_segments(lab, "scores.ndjson")
    check_playlist(lab, "live.m3u8")
    check_equal(len(in_shell(lab, keyframes)), 1, "score lines")
    check_segments(lab, "segments.ndjson")
    check_equal(len(list(lab.folder.glob("chunk-stream0-*"))), len(SEGMENTS), "segments")


@case
def pipelines_with_a_pipe(lab):
    read_twice, read_once, segments = recipes(lab, "A pipe between two commands")
    for command in (read_twice, read_once):
        check_equal([score for _, score in in_shell(lab, command)], [score_after(lab, "enc.mp4")], command)
        check_whole(lab, "enc.json")
        (lab.folder / "enc.mp4").unlink()
    check_equal([score for _, score in in_shell(lab, segments)], [score_after(lab, "live.m3u8")], segments)
    check_segments(lab, "scores.ndjson")
    check_playlist(lab, "live.m3u8")


@case
def pipelines_keep_the_encode_when_the_scorer_dies(lab):
    for command in recipes(lab, "A pipe between two commands")[:2]:
        encoder, _ = command.rsplit("|", 1)
        in_shell(lab, f"{encoder} | head -c 1000 >begin")
        score_after(lab, "enc.mp4")
        (lab.folder / "enc.mp4").unlink()


@case
def pipelines_fail_below_after_the_encode(lab):
    """The exit status tells of the low score, the encode is whole."""
    (command,) = recipes(lab, "One encode")
    options = command.replace("vmafx=", "vmafx=fail_below=101:").replace("\\\n", " ").replace('"', "").split()[1:]
    outcome = lab.run_verbatim("-nostdin -y", *options)
    outcome.failed("fail_below: vmaf is ", before_score=False)
    check_equal(len(outcome.scores), 1, "score lines")
    score_after(lab, "enc.mp4")
