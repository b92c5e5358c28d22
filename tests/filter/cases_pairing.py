"""Which reference frame meets which frame of main, and what is said when that is doubtful."""

from support import FPS, FRAMES, SIZE, case, check, check_equal

DOUBTFUL = "The score is doubtful"


def psnr_of_pairs(lab, graph):
    """psnr_y of each pair; with the reference compared with itself it is 60 dB where a frame meets itself."""
    outcome = lab.compare(
        graph.format("vmafx=model='':feature=name=psnr:log_fmt=json:log_path=log.json"), dist=lab.clips.ref
    ).succeeded()
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


@case
def default_takes_the_last_frame_not_later(lab):
    psnr, pairing, outcome = psnr_of_pairs(lab, "[1]setpts=PTS+0.01/TB[r];[0][r]{}")
    check(all(value < 60 for value in psnr[:-1]), "a frame meets the one before it")
    check_pairing(pairing, unmatched_distorted=1, repeated_distorted=1)
    check(abs(pairing["max_time_difference"] - 0.03) < 0.001, pairing)
    outcome.says(DOUBTFUL).says("frames of main without a reference frame: 1")


@case
def nearest_takes_the_nearest_frame(lab):
    psnr, pairing, _ = psnr_of_pairs(lab, "[1]setpts=PTS+0.01/TB[r];[0][r]{}:ts_sync_mode=nearest")
    check_equal(psnr, [60.0] * (FRAMES - 1), "psnr_y")  # at the first frame of main there is no reference yet
    check_pairing(pairing, paired=FRAMES - 1, unmatched_distorted=1, unmatched_reference=1)
    check(abs(pairing["max_time_difference"] - 0.01) < 0.001, pairing)

    psnr, pairing, _ = psnr_of_pairs(lab, "[1]setpts=PTS-0.01/TB[r];[0][r]{}:ts_sync_mode=nearest")
    check_equal(psnr, [60.0] * FRAMES, "psnr_y")
    check_pairing(pairing)


@case
def nearest_takes_the_earlier_of_two(lab):
    psnr, _, _ = psnr_of_pairs(lab, "[0]settb=1/1000[d];[1]settb=1/1000,setpts=PTS+20[r];[d][r]{}:ts_sync_mode=nearest")
    check(all(value < 60 for value in psnr[:-1]), psnr)


@case
def nearest_with_twice_the_frame_rate(lab):
    """Reference at 50 fps, every second frame of it 5 ms off main's."""
    psnr, pairing, _ = psnr_of_pairs(
        lab, "[1]fps=50,settb=1/1000,setpts=PTS+5[r];[0]settb=1/1000[d];[d][r]{}:ts_sync_mode=nearest:shortest=1"
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
