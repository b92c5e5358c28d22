"""Files as users have them: `vmafx score` gives the right score or a doubt, and the filter, with the graph that a user
would write, the right score, a doubt, a warning or an error. docs/reliability.md has the table.
"""

import subprocess
from dataclasses import dataclass
from typing import Any

from cases_inputs import FIELDS, LOSSLESS, NEAR, made, scored, source
from common import case, check, check_equal, long_case

SIZE = "320x180"
NONE = "model=:feature=psnr:log_path=filter.json:overwrite=1"


@dataclass(frozen=True)
class File:
    """An encode that make() makes beside its reference. `least`: the worst PSNR of right pairs; `refused`: the error of
    the filter alone; `graph`: filters before it; `says`, `kinds`: lines of its log, and its doubts; `right`: whether
    it pairs the right pictures.
    """

    make: Any
    frames: int
    least: float
    dist: str = "dist.mkv"
    refused: str = ""
    graph: str = ""
    says: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    right: bool = False
    long: bool = False


def drawn(lab, damage="null", words=NEAR, name="dist.mkv", **settings):
    source(lab, "ref.mkv", **{"size": SIZE} | settings)
    made(lab, "ref.mkv", name, "-vf", damage, words)


def late_sound(lab):
    drawn(lab, codec=LOSSLESS, seconds=2)
    lab.run("-itsoffset 0.02 -i ref.mkv -f lavfi -i sine=d=2 -c:v copy -copyts late.mkv").succeeded()
    (lab.folder / "late.mkv").rename(lab.folder / "ref.mkv")


def rounded_durations(lab):
    drawn(lab, "settb=1001/24000,setpts=N", f"-r 24000/1001 {LOSSLESS}", codec=LOSSLESS, rate="500/21", seconds=60)
    lab.run("-i ref.mkv -c copy -bsf:v setts=ts=round(N*1001/24):duration=42 old.mkv").succeeded()
    (lab.folder / "old.mkv").rename(lab.folder / "ref.mkv")


def display_p3(lab):
    tags = "-c:v ffv1 -colorspace bt709 -color_trc bt709 -color_range tv -color_primaries"
    graph = "zscale=min=709:pin={}:tin=709:m=709:p={}:t=709,format=yuv444p12le"
    first = "format=yuv444p12le,setparams=range=tv," + graph.format("bt709", "smpte432")
    drawn(lab, graph.format("smpte432", "bt709"), f"{tags} bt709", filters=first, codec=f"{tags} smpte432")


def fields(lab):
    source(lab, "ref.ts", rate=50, size="160x96", filters="boxblur=2,interlace=lowpass=0", codec=FIELDS)
    lab.run("-i ref.ts -c copy ref.mkv").succeeded()
    made(lab, "ref.ts", "dist.mp4", NEAR)


def pulldown(lab):
    source(lab, "film.mkv", rate="24000/1001", seconds=4, size=SIZE)
    video = "-c:v mpeg2video -q:v 2 -flags +ilme+ildct -top 1 -field_order tt -f mpeg"
    made(lab, "film.mkv", "ref.mkv", "-vf telecine=pattern=23", video)
    made(lab, "film.mkv", "dist.mkv", NEAR)


def two_recordings(lab):
    drawn(lab, name="dist.mp4", words=f"{NEAR} -g 25 -bf 0", seconds=40)
    lab.run("-t 20 -i dist.mp4 -c copy 1.ts").succeeded()
    lab.run("-ss 20 -i dist.mp4 -c copy 2.ts").succeeded()
    (lab.folder / "ref.mkv").write_bytes(b"".join((lab.folder / name).read_bytes() for name in ("1.ts", "2.ts")))


SIZES = "scale=320:180:flags=bicubic"
HEIGHT_DIFFERS, FORMAT_DIFFERS = "input height must match", "input pix_fmt must match"
STARTS = "The score is doubtful, the inputs do not go together frame by frame"
FILES = {
    "rows_of_padding": File(
        lambda lab: drawn(lab, "pad=320:188"), 25, 45, refused=HEIGHT_DIFFERS, graph=SIZES, kinds=("padded",)
    ),
    "two_rows_of_padding": File(
        lambda lab: drawn(lab, "pad=320:182", seconds=4),
        100,
        45,
        refused=HEIGHT_DIFFERS,
        graph=SIZES,
        kinds=("padded",),
        long=True,
    ),
    "a_small_crop": File(
        lambda lab: drawn(lab, "crop=316:176:2:2", seconds=4),
        100,
        45,
        refused=HEIGHT_DIFFERS,
        graph=SIZES,
        kinds=("cropped",),
    ),
    "sound_before_the_pictures": File(late_sound, 50, 45, says=(STARTS,), kinds=("offset",)),
    "b_frames_in_avi": File(
        lambda lab: drawn(lab, words=f"{NEAR} -preset veryfast -bf 3", name="dist.avi", seconds=2),
        50,
        45,
        dist="dist.avi",
        says=(STARTS,),
        kinds=("offset",),
        long=True,
    ),
    "b_frames_of_a_raw_stream": File(
        lambda lab: drawn(lab, words="-c:v mpeg2video -q:v 2 -bf 2", name="dist.m2v", seconds=2),
        50,
        35,
        dist="dist.m2v",
        says=(STARTS,),
        kinds=("offset",),
        long=True,
    ),
    "a_raw_stream_of_60": File(
        lambda lab: drawn(lab, words="-c:v mjpeg -q:v 1 -f mjpeg", name="dist.mjpeg", rate=60),
        60,
        30,
        dist="dist.mjpeg",
        graph="format=yuv420p",
        says=(STARTS,),
        kinds=("time_difference",),
        long=True,
    ),
    "a_picture_sequence_of_60": File(
        lambda lab: drawn(lab, words="-start_number 1", name="%03d.png", rate=60),
        60,
        40,
        dist="%03d.png",
        refused=FORMAT_DIFFERS,
        graph="format=yuv420p",
        says=(STARTS,),
        kinds=("time_difference",),
        long=True,
    ),
    "rounded_default_durations": File(rounded_durations, 1429, 60, right=True, long=True),
    "rgb_of_an_untagged_encode": File(
        lambda lab: drawn(lab, words=f"-pix_fmt yuv420p {NEAR}", size="1280x720", filters="format=gbrp", seconds=0.2),
        5,
        50,
        refused=FORMAT_DIFFERS,
        graph="format=yuv444p;format=yuv444p",
        right=True,
        long=True,
    ),
    "other_primaries": File(display_p3, 25, 70, says=("The inputs differ in color primaries",), long=True),
    "fields_that_were_kept": File(
        fields, 25, 40, dist="dist.mp4", says=("If its pictures alone are combed",), right=True
    ),
    "film_with_pulldown": File(
        pulldown, 96, 35, says=(STARTS, "If its pictures alone are combed"), kinds=("unmatched_reference",), long=True
    ),
    "two_recordings_in_one": File(two_recordings, 1000, 60, dist="dist.mp4", right=True, long=True),
    "depths_of_which_one_is_tagged": File(
        lambda lab: drawn(
            lab, "format=yuv420p10le,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709", "-c:v ffv1"
        ),
        25,
        72,
        refused=FORMAT_DIFFERS,
        graph="null;format=yuv420p10le",
        right=True,
    ),
}


def through_the_command(lab, file):
    (encode,), done = scored(lab, file.dist, "ref.mkv")
    check_equal((encode["frames"], encode["doubts"]), (file.frames, []), f"pairs and doubts; it said: {done.err}")
    worst = encode["pooled"]["psnr_y"]["min"]
    check(worst >= file.least, f"the worst PSNR is {worst}; it said: {done.err}")


def through_the_filter(lab, file):
    run = lambda graph: lab.run("-i", file.dist, "-i ref.mkv -lavfi", f"{graph}vmafx={NONE}", "-f null -")
    if file.refused:
        run("[0:v][1:v]").failed(file.refused)
    of_dist, _, of_ref = file.graph.partition(";")
    outcome = run(f"[0:v]{of_dist or 'null'}[d];[1:v]{of_ref or 'null'}[r];[d][r]").succeeded()
    for text in file.says:
        outcome.says(text)
    report = lab.json("filter.json")
    kinds = [doubt["kind"] for doubt in report["doubts"]]
    check(set(file.kinds) <= set(kinds) and not (file.right and kinds), f"doubts: {kinds}, wanted {file.kinds}")
    worst = report["pooled_metrics"]["psnr_y"]["min"]
    check((worst >= file.least) == file.right, f"the worst PSNR is {worst}, with right pairs {file.least}")


def register(name, file):
    def both_ways(lab):
        file.make(lab)
        through_the_command(lab, file)
        through_the_filter(lab, file)

    both_ways.__name__ = f"file_with_{name}"
    (long_case if file.long else case)(both_ways)


for name, file in FILES.items():
    register(name, file)


@case
def a_pipe_is_for_the_filter_alone(lab):
    """The command reads its inputs several times, and says so; the filter reads them once."""
    drawn(lab)
    program = f"'{lab.ffmpeg}' -v error -i dist.mkv -f yuv4mpegpipe - | '{lab.ffmpeg}' -i - -i ref.mkv"
    graph = f"-lavfi '[0:v][1:v]vmafx={NONE}' -f null -"
    subprocess.run(f"{program} {graph}", shell=True, cwd=lab.folder, check=True, capture_output=True)
    check_equal((len(lab.json("filter.json")["frames"]), lab.json("filter.json")["doubts"]), (25, []), "of a pipe")
