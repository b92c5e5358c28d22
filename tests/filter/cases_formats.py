"""Pixel formats: which are scored as they are, which mean the same, which are refused or converted with a message."""

import re
import subprocess
from array import array

from support import FPS, FRAMES, HEIGHT, SIZE, WIDTH, case, check, check_equal, slow_case

P_NAME = {420: "p0", 422: "p2", 444: "p4"}
BOTH = "[0]format={0}[d];[1]format={1}[r];[d][r]"


def planar(*depths):
    return [f"yuv{chroma}p{depth or ''}{'le' if depth else ''}" for chroma in (420, 422, 444) for depth in depths]


def score_as(lab, dist_format, ref_format, name="vmafx", **clips):
    return lab.compare(BOTH.format(dist_format, ref_format) + name, **clips)


def raw_input(lab, name, pix_fmt, samples):
    (lab.folder / name).write_bytes(samples.tobytes())
    return ("-f rawvideo -pix_fmt", pix_fmt, "-s", SIZE, "-r 25 -i", name)


def raw_samples(lab, clip, pix_fmt):
    lab.run("-i", clip, "-pix_fmt", pix_fmt, "-f rawvideo raw").succeeded()
    return array("H" if pix_fmt.endswith("le") else "B", (lab.folder / "raw").read_bytes())


def semi_planar(samples, chroma, shift):
    """Returns the frames with U and V interleaved and each sample shifted to the left."""
    luma = WIDTH * HEIGHT
    plane = luma * {420: 1, 422: 2, 444: 4}[chroma] // 4
    out = array(samples.typecode)
    for start in range(0, len(samples), luma + 2 * plane):
        u, v = start + luma, start + luma + plane
        pairs = array(samples.typecode, bytes(2 * plane * samples.itemsize))
        pairs[0::2], pairs[1::2] = samples[u:v], samples[v : v + plane]
        out += samples[start:u] + pairs
    return array(out.typecode, (sample << shift for sample in out)) if shift else out


@case
def planar_formats_are_scored_without_conversion(lab):
    for pix_fmt in planar(0, 9, 10, 12, 14, 16) + ["yuvj420p", "yuvj422p", "yuvj444p"]:
        outcome = score_as(lab, pix_fmt, pix_fmt)
        check(0 < float(outcome.score()) < 100, pix_fmt, outcome.scores)
        outcome.does_not_say("is converted")


@case
def gray_formats_are_scored_without_conversion(lab):
    for pix_fmt in ["gray"] + [f"gray{depth}le" for depth in (9, 10, 12, 14, 16)]:
        outcome = score_as(lab, pix_fmt, pix_fmt)
        check(0 < float(outcome.score()) < 100, pix_fmt, outcome.scores)
        outcome.does_not_say("is converted")


def check_layout(lab, planar_format, other, chroma, shift):
    """Checks that semi-planar frames score as planar ones, on both sides and mixed, and that their chroma is read
    right.
    """
    clips = {"dist": lab.clips.dist, "ref": lab.clips.ref}
    samples = {name: raw_samples(lab, clip, planar_format) for name, clip in clips.items()}
    inputs = {
        (name, pix_fmt): raw_input(lab, f"{name}.{pix_fmt}", pix_fmt, data)
        for name in clips
        for pix_fmt, data in ((planar_format, samples[name]), (other, semi_planar(samples[name], chroma, shift)))
    }
    frames = None
    for dist, ref in ((planar_format, planar_format), (other, other), (other, planar_format), (planar_format, other)):
        for name in ("vmafx", "libvmaf"):
            outcome = lab.run(
                *inputs["dist", dist],
                *inputs["ref", ref],
                "-lavfi",
                f"{name}=feature=name=psnr:log_fmt=json:log_path=log.json",
                "-f null -",
            )
            outcome.succeeded().does_not_say("is converted")
            report = lab.json("log.json")["frames"]
            frames = frames or report
            check_equal(report, frames, f"{name} of {dist} and {ref}")


@case
def layout_makes_no_difference_8_bit(lab):
    for planar_format, other, chroma in (("yuv420p", "nv12", 420), ("yuv422p", "nv16", 422), ("yuv444p", "nv24", 444)):
        check_layout(lab, planar_format, other, chroma, 0)


@case
def layout_makes_no_difference_10_bit(lab):
    for chroma in (420, 422, 444):
        check_layout(lab, f"yuv{chroma}p10le", P_NAME[chroma] + "10le", chroma, 6)


@case
def layout_makes_no_difference_16_bit(lab):
    for chroma in (420, 422, 444):
        check_layout(lab, f"yuv{chroma}p16le", P_NAME[chroma] + "16le", chroma, 0)


@case
def gray_scores_as_luma(lab):
    planes = "[0]extractplanes=y[d];[1]extractplanes=y[r];[d][r]vmafx"
    check_equal(lab.compare(planes).score(), lab.compare("vmafx").score(), "8 bit")
    ten = {"dist": lab.clips.dist10, "ref": lab.clips.ref10}
    check_equal(lab.compare(planes, **ten).score(), lab.compare("vmafx", **ten).score(), "10 bit")


@case
def odd_sizes(lab):
    for size in ("193:109", "97:51", "65:64"):
        for pix_fmt in ("yuv420p", "nv12", "yuv422p10le", "p010le", "gray"):
            graph = "[0]scale={0},format={1}[d];[1]scale={0},format={1}[r];[d][r]vmafx=feature=name=psnr".format(
                size, pix_fmt
            )
            check(0 < float(lab.compare(graph).score()) <= 100, size, pix_fmt)


@case
def negative_line_sizes(lab):
    """vflip turns the picture by its pointers alone; a copy of it lies the other way round and scores the same."""
    flipped = lab.compare(
        "[0]vflip[d];[1]vflip[r];[d][r]vmafx=feature=name=psnr:log_fmt=json:log_path=flip.json"
    ).score()
    copied = lab.compare(
        "[0]vflip,pad=iw:ih+2,crop=iw:ih-2:0:0[d];[1]vflip,pad=iw:ih+2,crop=iw:ih-2:0:0[r];"
        "[d][r]vmafx=feature=name=psnr:log_fmt=json:"
        "log_path=copy.json"
    ).score()
    check_equal(flipped, copied, "score")
    check_equal(lab.json("flip.json")["frames"], lab.json("copy.json")["frames"], "frames")
    mixed = lab.compare("[0]vflip[d];[1]vflip,format=nv12[r];[d][r]vmafx").score()
    check_equal(mixed, flipped, "score of a flipped and a copied picture")


@case
def mismatched_formats_are_refused(lab):
    for dist, ref in (
        ("yuv420p", "yuv422p"),
        ("yuv420p", "yuv420p10le"),
        ("gray", "yuv420p"),
        ("p010le", "nv12"),
        ("yuv444p12le", "yuv444p14le"),
    ):
        score_as(lab, dist, ref).failed("input pix_fmt must match.")


@case
def mismatched_sizes_are_refused(lab):
    for name in ("vmafx", "libvmaf"):
        wide = lab.compare(f"[0]scale={WIDTH * 2}:{HEIGHT}[d];[d][1]{name}").failed("input width must match.")
        wide.does_not_say("input height must match.")
        high = lab.compare(f"[0]scale={WIDTH}:{HEIGHT * 2}[d];[d][1]{name}").failed("input height must match.")
        high.does_not_say("input width must match.")


@case
def libvmaf_converts_the_reference_and_says_so(lab):
    for dist, ref in (("yuv420p", "yuv420p10le"), ("yuv422p10le", "yuv420p"), ("yuv444p", "gray")):
        outcome = score_as(lab, dist, ref, "libvmaf")
        outcome.score()
        outcome.says(f"The reference input is converted from {ref} to {dist} before it is scored.")


@case
def unknown_formats_are_converted_and_said_to_be(lab):
    outcome = score_as(lab, "rgb24", "gbrp")
    outcome.score()
    outcome.says("The main input is converted from rgb24 to ").says("The reference input is converted from gbrp to ")


def formats_of_frames(lab):
    """Returns [(name, depth of the deepest component)] of the formats that the scale filter reads and writes."""
    listed = subprocess.run(lab.command("-v error -pix_fmts"), stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = [line.split() for line in listed.split("-----")[-1].splitlines()]
    found = [(row[1], max(map(int, row[4].split("-")))) for row in rows if row and row[0].startswith("IO")]
    check(len(found) > 120, f"{len(found)} formats")
    return found


def wanted_of(name, depth):
    """Returns the format that an input must be converted to: of its depth, or of the next depth that is scored, without
    loss of chroma if there is such a format.
    """
    bits = next(bits for bits in (8, 9, 10, 12, 14, 16) if bits >= min(depth, 16))
    if name.startswith(("gray", "ya", "mono")):
        return f"gray{bits}le" if bits > 8 else "gray"
    chroma = 444
    if re.match(r"yuva?j?(420|410)|nv12|nv21|p01", name):
        chroma = 420
    elif re.match(r"yuva?j?(422|411)|nv16|nv20|uyvy422|uyyvyy411|yuyv422|yvyu422|p21|y21", name):
        chroma = 422
    start = "yuvj" if name.startswith("yuvj") else "yuv"
    return f"{start}{chroma}p{bits}le" if bits > 8 else f"{start}{chroma}p"


@case
@slow_case
def conversions_keep_depth_and_chroma(lab):
    """All formats of the scale filter as the main input and as the reference: an input that must be converted becomes
    what an explicit format filter makes of it, with its own depth. FFmpeg 5.1 alone would take 16 bits.
    """
    clip = (
        "-f lavfi -i",
        f"testsrc2=s=64x64:r={FPS}:d=0.08,format=yuv444p16",
        "-f lavfi -i",
        f"testsrc2=s=64x64:r={FPS}:d=0.08,boxblur=2,format=yuv444p16",
    )
    wrong = []

    def psnr(graph):
        outcome = lab.run(*clip, "-lavfi", f"{graph}vmafx=model='':feature=name=psnr,showinfo", "-f null -")
        if outcome.code:
            return None, None, outcome.tail()
        summary = outcome.summary()
        shown = re.search(r"fmt:(\w+)", outcome.stderr[outcome.stderr.index(" n:   0") :])[1]
        return shown, {key: values[0] for key, values in summary.items()}, outcome.stderr

    for name, depth in formats_of_frames(lab):
        wanted = wanted_of(name, depth)
        sides = f"[0]format={name}{{0}}[d];[1]format={name}{{0}}[r];[d][r]"
        shown, scores, text = psnr(sides.format(""))
        _, explicit, _ = psnr(sides.format(f",format={wanted}"))
        if scores is None or scores != explicit:
            wrong.append(f"{name}: {shown} {scores}, as {wanted} {explicit} {text if scores is None else ''}")
        elif planar_name(shown) != wanted:
            wrong.append(f"{name} became {shown}, not {wanted}")
        elif shown != name and f"is converted from {name} to {shown}" not in text:
            wrong.append(f"{name} became {shown} without a word")
    check(not wrong, f"{len(wrong)}:", "; ".join(wrong)[:3000])


def planar_name(name):
    """Returns the planar name of a format: nv12 is yuv420p, p010le is yuv420p10le."""
    for chroma, plain, start in ((420, "nv12", "p0"), (422, "nv16", "p2"), (444, "nv24", "p4")):
        if name == plain:
            return f"yuv{chroma}p"
        if found := re.fullmatch(start + r"(1\d)le", name):
            return f"yuv{chroma}p{found[1]}le"
    return name


@case
def conversions_behind_filters_keep_depth(lab):
    """Filters may stand between the source of a format and ours: filters that pass formats on, a scale filter, several
    inputs.
    """
    for between in (
        "[{0}]null",
        "[{0}]crop=256:216",
        "[{0}]scale=240:220",
        "[{0}]setpts=PTS,fps=25",
        "[{0}]split[x{0}][y{0}];[y{0}]nullsink;[x{0}]null",
        "[{0}]split[x{0}][y{0}];[x{0}][y{0}]hstack",
    ):
        sides = ""
        for i, pad in enumerate("dr"):
            sides += f"[{i}]scale=384:216,format=yuva444p10le[{i}in];{between.format(f'{i}in')}[{pad}];"
        for metric in ("psnr", "psnr_hvs", "cambi"):
            outcome = lab.compare(f"{sides}[d][r]vmafx=model='':feature=name={metric},showinfo")
            outcome.succeeded().says("fmt:yuv444p10le")


@case
def formats_that_differ_are_still_refused(lab):
    """Each input keeps its own depth: a necessary conversion does not make one depth of two."""
    for dist, ref in (("yuva444p10le", "yuv444p12le"), ("yuva420p", "yuva420p10le"), ("gray10be", "yuv420p10le")):
        score_as(lab, dist, ref).failed("input pix_fmt must match.")
    for dist, ref in (("yuva444p10be", "yuv444p10le"), ("yuva420p10le", "p010le"), ("yuv440p10le", "yuva444p10le")):
        check(0 < float(score_as(lab, dist, ref).score()) < 100, dist, ref)


@case
def range_matrix_transfer_and_primaries_are_compared(lab):
    lab.compare("[0]setparams=range=pc[d];[1]setparams=range=tv[r];[d][r]vmafx").says(
        "differ in color range (main pc, reference tv)"
    ).score()
    lab.compare("[0]setparams=colorspace=bt709[d];[1]setparams=colorspace=bt470bg[r];[d][r]vmafx").says(
        "differ in color matrix"
    ).score()
    lab.compare("[0]setparams=color_trc=bt709[d];[1]setparams=color_trc=smpte170m[r];[d][r]vmafx").says(
        "differ in color transfer"
    ).score()
    primaries = "setparams=color_primaries"
    lab.compare(f"[0]{primaries}=bt709[d];[1]{primaries}=smpte432[r];[d][r]vmafx").says(
        "differ in color primaries (main bt709, reference smpte432). zscale=primaries=... before one of them"
    ).score()
    for other in ("tv", "unknown"):
        lab.compare(f"[0]setparams=range=unknown[d];[1]setparams=range={other}[r];[d][r]vmafx").does_not_say(
            "differ"
        ).score()


@case
def full_range_against_limited_names_its_remedy(lab):
    """Equal samples with different ranges would score 100; converted they do not, without further messages."""
    source = lab.clips.ref
    graph = "[0]setparams=range=pc{0}[d];[1]setparams=range={1}[r];[d][r]vmafx"
    for other in ("tv", "unknown"):
        outcome = lab.compare(graph.format("", other), dist=source)
        outcome.says(
            f"The inputs differ in color range (main pc, reference {other}): equal samples are different pictures."
        )
        outcome.says(
            "scale=out_range=tv,format=yuv420p before the main input converts it; "
            "setparams=range=tv,format=yuv420p there"
        ).score()
        remedy = ",scale=out_range=tv,format=yuv420p"
        converted = lab.compare(graph.format(remedy, other), dist=source).does_not_say("differ")
        check(float(converted.score()) < float(outcome.score()) - 0.5, outcome.scores, converted.scores)
        tagged = lab.compare(graph.format(",setparams=range=tv,format=yuv420p", other), dist=source).does_not_say(
            "differ"
        )
        check_equal(tagged.score(), outcome.score(), "score with another tag")
    turned = lab.compare("[0]setparams=range=tv[d];[1]setparams=range=pc[r];[d][r]vmafx")
    turned.says("scale=out_range=tv,format=yuv420p before the reference input").score()


@case
def full_range_formats_name_their_remedy(lab):
    outcome = lab.compare("[0]format=yuvj420p[d];[1]setparams=range=tv[r];[d][r]vmafx")
    remedy = "scale=out_range=tv,format=yuv420p"
    outcome.says(f"{remedy} before the main input converts it").score()
    lab.compare(f"[0]format=yuvj420p,{remedy}[d];[1]setparams=range=tv[r];[d][r]vmafx").does_not_say("differ").score()


@case
def other_shapes_of_samples_are_warned_of(lab):
    sides = "[0]setsar={}[d];[1]setsar={}[r];[d][r]vmafx"
    message = "The inputs differ in sample aspect ratio (main 4:3, reference 1:1)"
    lab.compare(sides.format("4/3", "1")).says(message).says("setsar=1/1 before main").score()
    for same in (("4/3", "4/3"), ("4/3", "8/6"), ("0", "4/3"), ("1281/1280", "1"), ("12/11", "16/15")):
        lab.compare(sides.format(*same)).does_not_say("sample aspect ratio").score()


@case
def interlaced_against_progressive_is_warned_of(lab):
    sides = "[0]setfield={}[d];[1]setfield={}{}[r];[d][r]vmafx"
    outcome = lab.compare(sides.format("prog", "tff", ""))
    outcome.says("The reference input is interlaced and the main input is not").says(
        "If its pictures alone are combed, bwdif=send_frame before it"
    ).says("setfield=prog before it").score()
    check_equal(outcome.stderr.count("is interlaced and"), 1, "warnings")
    lab.compare(sides.format("bff", "prog", "")).says(
        "The main input is interlaced and the reference input is not"
    ).score()
    for same in (
        ("tff", "bff", ""),
        ("prog", "prog", ""),
        ("prog", "tff", ",bwdif=send_frame"),
        ("prog", "tff", ",setfield=prog"),
    ):
        lab.compare(sides.format(*same)).does_not_say("is interlaced").score()


@case
def pictures_much_smaller_than_the_models_are_warned_of(lab):
    scaled = "[0]scale={0}[d];[1]scale={0}[r];[d][r]vmafx"
    lab.compare(scaled.format("640:272")).says(
        "model vmaf_v0.6.1 is made for 1080p and these pictures are only 640x272: scale both inputs up to what is seen "
        "(scale=1920:816:flags=bicubic before each input)"
    ).score()
    for size in ("1920:816:flags=bicubic", "1280:720"):
        lab.compare(scaled.format(size)).does_not_say("is made for").score()
    lab.compare("vmafx=model='':feature=name=psnr").succeeded().does_not_say("is made for")


@case
def hdr_is_warned_of(lab):
    for transfer in ("smpte2084", "arib-std-b67"):
        hdr = f"setparams=color_trc={transfer}"
        lab.compare(f"[0]{hdr}[d];[1]{hdr}[r];[d][r]vmafx").says("SDR video only").score()
        lab.compare(f"[0]{hdr}[d];[1]{hdr}[r];[d][r]vmafx=model='':feature=name=psnr").succeeded().does_not_say("SDR")


def score_v1(lab, pix_fmt, options):
    """Scores pictures that are large enough for the models of v1."""
    sides = "".join(f"[{i}]scale=640:360,format={pix_fmt}[{pad}];" for i, pad in enumerate("dr"))
    return lab.compare(f"{sides}[d][r]vmafx=log_path=scores.json:log_fmt=json:model='version=vmaf_v1.0.16_{options}'")


@case
def models_that_do_not_suit_the_pictures_are_said_to_be(lab):
    score_v1(lab, "gray10le", "3d0h").failed("scores chroma, and these pictures are gray")
    score_v1(lab, "yuv420p", "3d0h").says("is made for 10 bits per sample").score()
    score_v1(lab, "yuv420p", r"3d0h\:cambi.enc_bitdepth=8").does_not_say("is made for 10 bits").score()
    score_v1(lab, "yuv420p10le", "3d0h").does_not_say("is made for 10 bits").score()
    score_v1(lab, "yuv420p10le", "3d0h_2160").says("vmaf_v1.0.16_3d0h would suit them better").score()


@case
def models_take_options_of_their_features(lab):
    score_v1(lab, "yuv420p10le", r"3d0h\:cambi.enc_width=320\:cambi.enc_height=180").score()
    keys = list(lab.json("scores.json")["frames"][1]["metrics"])
    check(any(key.startswith("cambi_") and "encw_320" in key and "ench_180" in key for key in keys), keys)


@case
def frame_rate_of_the_inputs_reaches_the_metrics(lab):
    def xpsnr(speed, option=""):
        sides = (
            "".join(f"[{i}]settb=1/100,setpts=PTS/{speed},fps={25 * speed}[{pad}];" for i, pad in enumerate("dr"))
            + "[d][r]"
        )
        lab.compare(
            sides + f"vmafx=model='':feature='name=xpsnr{option}':log_path=scores.json:log_fmt=json"
        ).succeeded()
        report = lab.json("scores.json")
        of_stream = {key.partition("_fps_")[0]: value for key, value in report["aggregate_metrics"].items()}
        return [list(frame["metrics"].values()) for frame in report["frames"]], of_stream

    slow, fast = xpsnr(1), xpsnr(2)
    check(slow != fast and {"axpsnr_y", "axpsnr"} <= set(slow[1]), slow)
    check_equal(xpsnr(1, r"\:fps=50"), fast, "with fps=50")
    check_equal(xpsnr(2, r"\:fps=25"), slow, "with fps=25")


@case
def mean_absolute_difference_is_ffmpegs(lab):
    """In all six digits of FFmpeg's metadata, with chroma whose odd sizes are rounded up, at 8 and at 10 bits."""
    for pix_fmt in ("yuv420p", "yuv422p10le"):
        sides = f"[0]crop=127:93:exact=1,format={pix_fmt}[d];[1]crop=127:93:exact=1,format={pix_fmt}[r];[d][r]"
        lab.compare(f"{sides}vmafx=model='':feature='name=msad':log_path=scores.json:log_fmt=json").succeeded()
        lab.compare(f"{sides}msad,metadata=print:file=msad.txt").succeeded()
        told = re.findall(r"^lavfi\.msad\.(\S+)=(\S+)$", (lab.folder / "msad.txt").read_text(), re.M)
        keys = {"msad": "msad_avg", "msad_y": "msad.Y", "msad_cb": "msad.U", "msad_cr": "msad.V"}
        for number, frame in enumerate(lab.json("scores.json")["frames"]):
            theirs = dict(told[4 * number : 4 * number + 4])
            for key, name in keys.items():
                difference = abs(frame["metrics"][key] - float(theirs[name]))
                check(difference < 1.01e-6, (pix_fmt, number, key, frame["metrics"][key], theirs))
        check(len(told) == 4 * len(lab.json("scores.json")["frames"]) > 0, told)


@case
def jods_of_a_stream(lab):
    """The frame rate is the inputs', the display that of their transfer; the score differs from the arithmetic mean,
    and a range has the scores of the whole stream.
    """

    def cvvdp(params="", option="", of_filter=""):
        sides = (
            "".join(f"[{i}]setparams={params or 'color_trc=bt709'}[{pad}];" for i, pad in enumerate("dr")) + "[d][r]"
        )
        run = f"vmafx=model='':feature='name=cvvdp{option}':log_path=scores.json:log_fmt=json{of_filter}"
        outcome = lab.compare(sides + run).succeeded()
        report = lab.json("scores.json")
        (pooled,) = (values["mean"] for key, values in report["pooled_metrics"].items() if key.startswith("cvvdp"))
        outcome.says(f" score: {pooled:.6f}")
        return pooled, [next(iter(frame["metrics"].values())) for frame in report["frames"]]

    score, frames = cvvdp()
    check(min(frames) < score < sum(frames) / len(frames), (score, frames))
    check(cvvdp("color_trc=smpte2084")[0] != score, "PQ is shown as SDR")
    check_equal(cvvdp(option=r"\:display=standard_4k")[0], score, "on the usual display")
    check(cvvdp(option=r"\:display=standard_phone")[0] != score, "on another one")
    check_equal(
        [round(one, 5) for one in cvvdp(of_filter=":range=4-5")[1]],
        [round(one, 5) for one in frames[4:6]],
        "in a range",
    )


@case
def colors_of_the_frames_reach_the_metrics(lab):
    """Full range scores otherwise than limited range; an unknown range is assumed, with a message."""

    def ssimulacra2(*params):
        sides = "".join(f"[{i}]setparams={side}[{pad}];" for i, (side, pad) in enumerate(zip(params, "dr"))) + "[d][r]"
        outcome = lab.compare(
            sides + "vmafx=model='':feature=name=ssimulacra2:log_path=scores.json:log_fmt=json"
        ).succeeded()
        return outcome, lab.json("scores.json")["frames"][1]["metrics"]["ssimulacra2"]

    limited, full = ("range=tv:colorspace=bt709",) * 2, ("range=pc:colorspace=bt709",) * 2
    outcome, of_limited = ssimulacra2(*limited)
    outcome.does_not_say("assumed")
    check(abs(ssimulacra2(*full)[1] - of_limited) > 1e-3, of_limited)
    outcome, _ = ssimulacra2(*("range=unknown:colorspace=unknown",) * 2)
    outcome.says("the matrix of BT.601 and limited range is assumed")
    ssimulacra2(limited[0], full[0])[0].says("differ in what they say of their colors (range)")


@case
def too_small_is_an_error(lab):
    tiny = "testsrc2=s=4x4:d=0.2"
    lab.run("-f lavfi -i", tiny, "-f lavfi -i", tiny, "-lavfi", "vmafx", "-f null -").failed("4x4")


@case
def output_is_main_unchanged(lab):
    """Pixels, timestamps and properties of main go through, whatever the reference is."""

    def hashes(graph):
        lab.run(
            "-i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", graph, "-c:v rawvideo -f framemd5 out.md5"
        ).succeeded()
        return (lab.folder / "out.md5").read_text()

    wanted = hashes("[1]nullsink;[0]null")
    check_equal(hashes("vmafx"), wanted, "frames")
    check_equal(hashes("vmafx=metadata=1"), wanted, "frames with metadata")
    check(wanted.count("\n0,") == FRAMES and SIZE in wanted, "framemd5")
