"""A stream scored in parts: what comes of it is what a single run says, to the last bit."""

import json
import os
import pickle
from pathlib import Path

from cases_ranges import encode_pair
from common import case, check, check_equal
from vmafx.command import _ffmpeg, _parts
from vmafx.command._scoring import Reach, Settings, prepare, score
from vmafx.command.merge import Mismatch

ALL = bool(os.environ.get("VMAFX_TEST_ALL"))
TEMPORAL = "psnr", "float_motion", "speed_temporal", "name=motion:motion_five_frame_window=true:motion_moving_average=true"
OF_RUN = "fps", "vmafx"


def settings(lab, **options):
    return Settings(lab.ffmpeg, _ffmpeg.ffprobe_of(lab.ffmpeg), **options)


def long_pair(lab, container, codec="libx264", rate="25", frames=200):
    """Eight seconds, with open GOPs and B-frames; y4m: the decoded pictures of such a pair."""
    paths = encode_pair(lab, "mkv" if container == "y4m" else container, codec, rate, frames)
    if container != "y4m":
        return paths
    for path in paths:
        lab.run("-i", path, "-pix_fmt yuv420p", path.with_suffix(".y4m")).succeeded()
    return [path.with_suffix(".y4m") for path in paths]


def same_scores(got, wanted):
    """All that reports in JSON tell of the stream, in one order."""
    texts = [json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key not in OF_RUN}) for path in (got, wanted)]
    check_equal(len(texts[0]), len(texts[1]), "length of the report")
    check(texts[0] == texts[1], f"{got} and {wanted} differ")


def score_in_parts(lab, work, parts):
    """The joined report. Parts are scored again where seeks have gone wrong, at last from the beginning."""
    logs, earlies = {}, {}
    for number, reach in enumerate(parts):
        log = lab.folder / f"part{number}.json"
        logs[str(log)] = reach
        _, earlies[str(log)] = _parts.score_part(work, reach, log)
    while True:
        try:
            _parts.join(work, [Path(path) for path in logs], lab.folder / "joined.json")
            return lab.folder / "joined.json"
        except Mismatch as mismatch:
            path, early = _parts.seek_again(mismatch, earlies)
            _, earlies[path] = _parts.score_part(work, logs[path], Path(path), early)


@case
def parts_are_the_whole(lab):
    """In any container; what a scheduler sends to others goes through pickle and JSON."""
    for container, codec, rate in (("mp4", "libx264", "25"), ("mkv", "libx264", "24000/1001"), ("ts", "libx264", "30"), ("y4m", "libx264", "25")):
        dist, ref = long_pair(lab, container, codec, rate)
        sent = Settings.from_json(json.loads(json.dumps(settings(lab, features=TEMPORAL, window="1.5").as_json())))
        work = pickle.loads(pickle.dumps(prepare(sent, [str(dist)], str(ref))))
        score(work, lab.folder / "whole.json")
        parts = _parts.cut(work, parts=3)
        check_equal((len(parts), parts[0].begin, parts[-1].end), (3, None, None), "parts")
        same_scores(score_in_parts(lab, work, parts), lab.folder / "whole.json")


@case
def parts_of_inputs_that_differ(lab):
    """They start apart, have another rate, another size, are interlaced; several encodes of several lengths."""
    dist, ref = long_pair(lab, "mp4")
    lab.run("-f lavfi -i sine=d=6 -itsoffset 0.3 -i", dist, "-map 0 -map 1 -c:v copy -c:a aac late.ts").succeeded()
    lab.run("-i", dist, "-vf fps=30,scale=64:64 -c:v libx264 -bf 2 -t 7 rate.mp4").succeeded()
    lab.run("-i", dist, "-vf interlace -c:v libx264 -x264opts tff=1:bframes=2 -flags +ilme+ildct fields.mkv").succeeded()
    for names in (["late.ts"], ["rate.mp4"], ["fields.mkv"], ["rate.mp4", dist, "late.ts"]):
        work = prepare(settings(lab, features=("psnr", "motion"), models=()), [str(lab.folder / name) for name in names], str(ref))
        check(work.notes, "the inputs are alike")
        score(work, lab.folder / "whole.json")
        same_scores(score_in_parts(lab, work, _parts.cut(work, seconds=2)), lab.folder / "whole.json")


@case
def a_late_seek_is_no_other_score(lab):
    """Groups of pictures of ten seconds in MPEG-TS: a seek lands after the whole part."""
    for name, quality in (("dist.ts", 30), ("ref.ts", 10)):
        lab.run("-f lavfi -i", "testsrc2=s=96x96:r=25:d=24", f"-c:v libx264 -preset ultrafast -g 250 -keyint_min 250 -bf 2 -sc_threshold 0 -crf {quality}", name).succeeded()
    work = prepare(settings(lab), [str(lab.folder / "dist.ts")], str(lab.folder / "ref.ts"))
    score(work, lab.folder / "whole.json")
    parts = [Reach(None, 8000), Reach(8000, 9000), Reach(9000, None)]
    _, early = _parts.score_part(work, parts[1], lab.folder / "part.json")
    check(early > 2, f"the seek was {early} s early")
    same_scores(score_in_parts(lab, work, parts), lab.folder / "whole.json")


@case
def what_is_no_part_is_an_error(lab):
    dist, ref = long_pair(lab, "mp4")
    work = prepare(settings(lab), [str(dist)], str(ref))
    try:
        _parts.score_part(work, Reach(9000, 9500), lab.folder / "part.json")
    except _parts.Indivisible as failure:
        check("the part 9.000s-9.500s cannot be scored for itself" in str(failure), failure)
    else:
        raise AssertionError("a part after the end has scores")
    check_equal(_parts.cut(work, seconds=100), [Reach()], "parts")
    check_equal(len(_parts.cut(work, parts=1000)), 16, "parts of half a second")
