"""Pairs of frames: which reference frame meets which frame of main, and the messages when that is doubtful."""

import itertools

from support import FPS, FRAMES, SIZE, Skip, case, check, check_equal

DOUBTFUL = "The score is doubtful"
VMAFX = "vmafx=model='':feature=name=psnr:log_fmt=json:log_path=log.json"
LIBVMAF = VMAFX.replace("vmafx", "libvmaf")


def psnr_of_pairs(lab, graph):
    """Returns psnr_y of each pair: 60 dB if a frame meets itself when the reference is compared with itself."""
    outcome = lab.compare(graph.format(VMAFX), dist=lab.clips.ref).succeeded()
    report = lab.json("log.json")
    return [frame["metrics"]["psnr_y"] for frame in report["frames"]], report["pairing"], outcome


def check_pairing(pairing, **wanted):
    complete = {
        "paired": FRAMES,
        "unmatched_distorted": 0,
        "unmatched_reference": 0,
        "repeated_reference": 0,
        "repeated_distorted": 0,
        **wanted,
    }
    check_equal({key: pairing[key] for key in complete}, complete, "pairing")


@case
def a_good_pair_is_not_doubtful(lab):
    psnr, pairing, outcome = psnr_of_pairs(lab, "{}")
    check_equal(psnr, [60.0] * FRAMES, "psnr_y")
    check_pairing(pairing)
    check_equal(pairing["max_time_difference"], 0, "largest time difference")
    outcome.does_not_say(DOUBTFUL)


LATER = "[0]settb=1/1000[d];[1]settb=1/1000,setpts=PTS+{0}[r];[d][r]{{}}"  # shifts the reference, in milliseconds


@case
def default_takes_the_last_frame_not_later(lab):
    """Containers round times by up to a millisecond; frames that lie further apart were meant to."""
    for graph in (LATER.format(2) + ":ts_sync_mode=default", LATER.format(10).replace("{}", LIBVMAF)):
        psnr, pairing, outcome = psnr_of_pairs(lab, graph)
        check(all(value < 60 for value in psnr[:-1]), "a frame meets the one before it")
        check_pairing(pairing, unmatched_distorted=1, repeated_distorted=1)
        check(abs(pairing["max_time_difference"] - (0.038 if "PTS+2[" in graph else 0.03)) < 0.001, pairing)
        outcome.says(DOUBTFUL).says("frames of main without a reference frame: 1")


@case
def default_takes_a_rounded_time_for_equal(lab):
    for shift in (-1, 1):
        for graph in (LATER.format(shift) + ":ts_sync_mode=default", LATER.format(shift).replace("{}", LIBVMAF)):
            for ending in ("", ":shortest=1", ":repeatlast=0", ":shortest=1:repeatlast=0", ":eof_action=endall"):
                psnr, pairing, outcome = psnr_of_pairs(lab, graph + ending)
                check_equal(psnr, [60.0] * FRAMES, f"psnr_y with {shift} ms and '{ending}'")
                check_pairing(pairing)
                outcome.does_not_say(DOUBTFUL)


@case
def time_bases_that_count_frames_round_nothing(lab):
    """One tick later is one frame later."""
    count = "[0]settb=1/25[d];[1]settb=1/25,setpts=PTS+1[r];[d][r]{}"
    psnr, pairing, _ = psnr_of_pairs(lab, count.replace("{}", LIBVMAF))
    check(all(value < 60 for value in psnr[:-1]), psnr)
    check_pairing(pairing, unmatched_distorted=1, repeated_distorted=1)


@case
def nearest_takes_the_nearest_frame(lab):
    for shift in (-19, -10, 10, 19):
        for mode in ("", ":ts_sync_mode=nearest"):
            psnr, pairing, outcome = psnr_of_pairs(lab, LATER.format(shift) + mode)
            check_equal(psnr, [60.0] * FRAMES, f"psnr_y with {shift} ms")
            check_pairing(pairing)
            check(abs(pairing["max_time_difference"] - abs(shift) / 1000) < 1e-6, pairing)
            outcome.does_not_say(DOUBTFUL)


@case
def nearest_at_the_ends(lab):
    """Before the reference's first frame and after its last, a frame half a frame away or more has no pair."""
    for shift, first in ((19, 60), (21, None)):
        psnr, pairing, _ = psnr_of_pairs(lab, LATER.format(shift) + ":shortest=1")
        check_equal(psnr[0] == 60, first == 60, "whether the first frames of both meet")
        check_equal(pairing["unmatched_distorted"], 0 if first else 1, "frames of main without one")
    for ending in ("shortest=1", "repeatlast=0"):
        psnr, pairing, _ = psnr_of_pairs(lab, f"{LATER.format(-19)}:{ending}")
        check_equal(psnr, [60.0] * FRAMES, f"psnr_y with {ending}")
    psnr, pairing, _ = psnr_of_pairs(lab, LATER.format(-41) + ":repeatlast=0")
    check_pairing(pairing, paired=FRAMES - 1, unmatched_distorted=1, unmatched_reference=1)


@case
def nearest_takes_the_earlier_of_two(lab):
    psnr, _, _ = psnr_of_pairs(lab, LATER.format(20))
    check(all(value < 60 for value in psnr[:-1]), psnr)


@case
def nearest_with_twice_the_frame_rate(lab):
    """The reference has 50 fps, with every second frame 5 ms off main's."""
    psnr, pairing, _ = psnr_of_pairs(
        lab, "[1]fps=50,settb=1/1000,setpts=PTS+5[r];[0]settb=1/1000[d];[d][r]{}:shortest=1"
    )
    check_equal(psnr, [60.0] * len(psnr), "psnr_y")
    check(pairing["unmatched_reference"] >= FRAMES - 2, pairing)


@case
def shorter_reference_is_repeated(lab):
    psnr, pairing, outcome = psnr_of_pairs(lab, "[1]trim=end_frame=12[r];[0][r]{}")
    check_equal((len(psnr), psnr[:12]), (FRAMES, [60.0] * 12), "pairs")
    check_pairing(pairing, repeated_reference=FRAMES - 12)
    check(abs(pairing["max_time_difference"] - (FRAMES - 12) / FPS) < 0.001, pairing)
    outcome.says(DOUBTFUL).says(f"pairs repeating a reference frame: {FRAMES - 12};")


@case
def shorter_main_is_repeated(lab):
    psnr, pairing, outcome = psnr_of_pairs(lab, "[0]trim=end_frame=12[d];[d][1]{}")
    check_equal((len(psnr), psnr[:12]), (FRAMES, [60.0] * 12), "pairs")
    check_pairing(pairing, repeated_distorted=FRAMES - 12)
    outcome.says(DOUBTFUL).says(f"pairs repeating a frame of main: {FRAMES - 12};")


@case
def shortest_and_endall_stop_at_the_shorter(lab):
    for option in ("shortest=1", "shortest=true", "eof_action=endall"):
        for graph in ("[1]trim=end_frame=12[r];[0][r]{}", "[0]trim=end_frame=12[d];[d][1]{}"):
            psnr, pairing, outcome = psnr_of_pairs(lab, f"{graph}:{option}")
            check_equal(psnr, [60.0] * 12, "psnr_y")
            check_pairing(pairing, paired=12)
            outcome.does_not_say(DOUBTFUL)


@case
def repeatlast_0_and_pass_leave_main_unmatched(lab):
    for option in ("repeatlast=0", "eof_action=pass"):
        psnr, pairing, outcome = psnr_of_pairs(lab, "[1]trim=end_frame=12[r];[0][r]{}:" + option)
        check_equal(psnr, [60.0] * 12, "psnr_y")
        check_pairing(pairing, paired=12, unmatched_distorted=FRAMES - 12)
        outcome.says(f"frames of main without a reference frame: {FRAMES - 12}")


@case
def skipped_reference_frames_are_counted(lab):
    _, pairing, outcome = psnr_of_pairs(lab, r"[0]select=not(mod(n\,2))[d];[d][1]{}:shortest=1")
    check_equal(pairing["paired"], FRAMES // 2, "pairs")
    check(FRAMES // 2 - 1 <= pairing["unmatched_reference"] <= FRAMES // 2, pairing)
    outcome.says(DOUBTFUL).says("reference frames not used: ")


@case
def zero_pairs_are_an_error(lab):
    lab.compare("[0]trim=start=50[d];[d][1]vmafx").failed("No frames were scored: 0 frames of main")
    lab.compare("[1]trim=start=50[r];[0][r]vmafx").failed("No frames were scored")
    lab.compare("[1]setpts=PTS+100/TB[r];[0][r]vmafx=shortest=1").failed("No frames were scored")
    lab.compare("vmafx=log_path=log.xml", before=("-ss", "100")).failed("No frames were scored")
    check(not (lab.folder / "log.xml").exists(), "an empty report was left")


@case
def one_frame_is_enough(lab):
    source = f"testsrc2=s={SIZE}:r=25,trim=end_frame=1"
    outcome = lab.run("-f lavfi -i", source, "-f lavfi -i", source, "-lavfi", "vmafx=metadata=1", "-f null -")
    check(float(outcome.score()) > 90, outcome.scores)
    outcome.does_not_say(DOUBTFUL)


@case
def inputs_of_one_file(lab):
    """Both streams end at once."""
    lab.run("-i", lab.clips.dist, "-i", lab.clips.ref, "-map 0:v -map 1:v -c copy both.mkv").succeeded()
    outcome = lab.run("-i", "both.mkv", "-lavfi", "[0:0][0:1]vmafx", "-f null -").does_not_say(DOUBTFUL)
    check_equal(outcome.score(), lab.compare("vmafx").score(), "score")


@case
def sources_inside_the_graph(lab):
    source = f"testsrc2=s={SIZE}:r=25:d=0.4"
    outcome = lab.run("-lavfi", f"{source}[a];{source},boxblur=3[b];[b][a]vmafx", "-f null -")
    check(0 < float(outcome.score()) < 90, outcome.scores)


@case
def doubts_name_what_helps(lab):
    zero = "settb=AVTB,setpts=PTS-STARTPTS before each input lets both start at zero"
    nearest = "ts_sync_mode=nearest pairs by the nearest time"
    rates = "the fps filter before an input gives both one frame rate"
    end = "shortest=1 ends with the shorter input"
    for graph, wanted in {
        "[1]trim=end_frame=12[r];[0][r]{}": {end},
        "[0]trim=end_frame=12[d];[d][1]{}": {end},
        "[1]trim=end_frame=12[r];[0][r]{}:repeatlast=0": {end},
        "[1]setpts=PTS+0.2/TB[r];[0][r]{}:shortest=1": {zero},
        "[0]setpts=PTS+0.2/TB[d];[d][1]{}:shortest=1": {zero},
        r"[0]select=not(mod(n\,2))[d];[d][1]{}:shortest=1": {rates},
        "[1]fps=12.5[r];[0][r]{}:shortest=1": {rates},
        LATER.format(-30) + ":ts_sync_mode=default": {nearest, zero},
        "[1]fps=12.5[r];[0][r]{}:ts_sync_mode=default:shortest=1": {nearest, rates},
    }.items():
        _, _, outcome = psnr_of_pairs(lab, graph)
        outcome.says(DOUBTFUL).says("What helps: ")
        said = {remedy for remedy in (zero, nearest, rates, end) if remedy in outcome.stderr}
        check_equal(said, wanted, f"what helps with {graph}")


@case
def doubts_are_data(lab):
    """Reports have the kind, count, place and remedies of doubts, and the words of the log, too."""

    def doubts_of(graph):
        _, pairing, outcome = psnr_of_pairs(lab, graph)
        report = lab.json("log.json")
        for text in report.get("warnings", []):
            outcome.says(text)
        doubts = [doubt for doubt in report["doubts"] if "certainty" not in doubt]  # all but what the pictures show
        for doubt in doubts:
            check(doubt["kind"] == "time_difference" or doubt["count"] == pairing[doubt["kind"]], doubt)
            check(doubt["text"] in " ".join(report["warnings"]) and doubt["remedies"], doubt)
        return {doubt["kind"]: (doubt["from"], doubt["to"]) for doubt in doubts}

    check_equal(doubts_of("{}"), {}, "doubts of good pairs")
    last = FRAMES - 1
    ended = {"repeated_reference": (12, last), "time_difference": (last, last)}
    check_equal(doubts_of("[1]trim=end_frame=12[r];[0][r]{}"), ended, "doubts of a reference that ended")
    holes = doubts_of(r"[0]select=not(eq(n\,5)+eq(n\,9))[d];[d][1]{}")
    check_equal(holes, {"unmatched_reference": (5, 8)}, "doubts of an encode with holes")
    early = doubts_of("[1]setpts=PTS+0.2/TB[r];[0][r]{}:shortest=1")
    check_equal(early["unmatched_distorted"], (0, 0), "frames before the first pair")


# -- Containers --------------------------------------------------------------------------------------------------------

CONTAINERS = ("mp4", "mkv", "webm", "ts")
RATES = {"23.976": "24000/1001", "24": 24, "25": 25, "29.97": "30000/1001", "30": 30, "50": 50, "60": 60, "vfr": 60}


def make_in_containers(lab, name, source, variable):
    """Makes the pictures in each container: copied, and encoded without loss for WebM, which takes few codecs."""
    vfr = "-fps_mode vfr" if variable else "-fps_mode cfr"
    for codec in ("-c:v libx264 -crf 20 -bf 2", "-c:v mpeg4 -q:v 3 -bf 2"):
        if lab.run("-f lavfi -i", source, codec, vfr, f"{name}.mp4").code == 0:
            break
    for container in ("mkv", "ts"):
        lab.run("-i", f"{name}.mp4", "-c copy", f"{name}.{container}").succeeded()
    webm = lab.run("-i", f"{name}.mp4", "-c:v libvpx-vp9 -lossless 1 -deadline realtime", vfr, f"{name}.webm")
    return CONTAINERS if webm.code == 0 else [container for container in CONTAINERS if container != "webm"]


def containers_make_no_difference(lab, rate):
    """Matroska rounds times to milliseconds, MPEG-TS to 1/90000 s.

    The same holds behind the graph that ffmpeg-quality-metrics writes.
    """
    source = f"testsrc2=s=64x64:r={RATES[rate]},trim=end_frame=40"
    if rate == "vfr":
        source += r",select=not(mod(n\,3))+not(mod(n\,7))"
    containers = make_in_containers(lab, "ref", source, rate == "vfr")
    make_in_containers(lab, "dist", source + ",hflip", rate == "vfr")
    psnr = "model='':feature=name=psnr:check=off:log_fmt=json:log_path="  # the pictures themselves are made to differ
    start = "settb=AVTB,setpts=PTS-STARTPTS"
    graph = (
        f"[0]split=3[a][b][c];[1]split=3[x][y][z];[a][x]vmafx={psnr}vmafx.json;[b][y]libvmaf={psnr}libvmaf.json;"
        f"[c]{start}[d];[z]{start}[r];[d][r]libvmaf={psnr}started.json:shortest=1:repeatlast=0"
    )
    wanted = None
    for dist, ref in itertools.product(containers, containers):
        outcome = lab.compare(graph, f"dist.{dist}", f"ref.{ref}").succeeded().does_not_say(DOUBTFUL)
        for name in ("vmafx", "libvmaf", "started"):
            report = lab.json(f"{name}.json")
            got = [frame["metrics"] for frame in report["frames"]]
            wanted = wanted or got
            check_equal(got, wanted, f"{name}, {dist} against {ref}")
            check(report["pairing"]["max_time_difference"] < 0.0011, report["pairing"])
    check(len({str(frame) for frame in wanted}) > 16, "the frames look alike")
    if "webm" not in containers:
        raise Skip("all but WebM: this ffmpeg has no encoder for VP9")


def register_rate(rate):
    def containers_of_rate(lab):
        containers_make_no_difference(lab, rate)

    containers_of_rate.__name__ = f"containers_make_no_difference_at_{rate}"
    case(containers_of_rate)


for each in RATES:
    register_rate(each)
