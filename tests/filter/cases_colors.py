"""Colors that FFmpeg negotiates: equal samples score as equal whatever their tags, or a line says what changes them.

FFmpeg since 7.0 has the inputs of a filter agree on color space and range, since 8.1 on the alpha mode, too.
"""

import itertools
import re
from array import array

from support import Skip, case, check, check_equal, slow_case

SIDE = 64
MATRICES = ("unknown", "bt709", "smpte170m", "bt2020nc")
RANGES = ("unknown", "tv", "pc")
NO_MODEL = {"vmafx": ":model=''", "libvmaf": ""}  # libvmaf's old options have no such value

# Inputs of equal samples: the format of main, the filter that makes its samples those of the reference, and the same of
# the reference.
PAIRS = (
    ("yuv420p", "", "yuv420p", ""),
    ("yuv420p", ",format=yuv420p10le", "yuv420p10le", ""),
    ("yuv420p10le", "", "yuv420p", ",format=yuv420p10le"),
    ("yuva420p", "", "yuv420p", ""),
    ("yuv420p", "", "yuva420p", ""),
    ("yuv420p", ",format=yuv444p", "yuv444p", ""),
    ("yuv444p", "", "yuv420p", ",format=yuv444p"),
    ("yuva444p10le", "", "yuv420p", f",scale={SIDE}:{SIDE},format=yuv444p10le"),
    ("yuv420p", f",scale={SIDE}:{SIDE}", "nv12", f",scale={SIDE}:{SIDE}"),
)


def picture(pix_fmt):
    """Returns a ramp of luma in a saturated color, of which 10 bits are 8 and two zeros."""
    deep = pix_fmt.endswith("10le")
    luma = [16 + (x + 2 * y) % 220 for y in range(SIDE) for x in range(SIDE)]
    chroma = SIDE * SIDE // (1 if "444" in pix_fmt else 4)
    planes = [luma, [90, 170] * chroma] if pix_fmt == "nv12" else [luma, [90] * chroma, [170] * chroma]
    planes += [[255] * len(luma)] if "yuva" in pix_fmt else []
    samples = itertools.chain.from_iterable(planes)
    return array("H" if deep else "B", (value << 2 * deep for value in samples)).tobytes()


def raw_input(lab, pix_fmt):
    path = lab.folder / f"{pix_fmt}.raw"
    path.write_bytes(picture(pix_fmt) * 2)
    return ("-f rawvideo -pix_fmt", pix_fmt, "-s", f"{SIDE}x{SIDE}", "-i", path)


def tag(matrix, range_):
    return f"setparams=colorspace={matrix}:range={range_}"


def score_sides(lab, inputs, sides, name):
    """Scores pairs of filter chains in one ffmpeg. Returns [(lowest PSNR of a plane, lines of its log)] by pair."""
    count = len(sides)
    graph = [f"[{i}]split={count}{''.join(f'[{pad}{n}]' for n in range(count))}" for i, pad in enumerate("dr")]
    for n, (dist, ref) in enumerate(sides):
        run = f"{name}@t{n}=feature=name=psnr:n_threads=1:log_fmt=json:log_path=t{n}.json"
        # libavfilter asks filters in the order of the graph.
        parts = [f"[d{n}]{dist}[D{n}]", f"[r{n}]{ref}[R{n}]", f"[D{n}][R{n}]{run}{NO_MODEL[name]}[o{n}]"]
        graph += parts if n % 2 else reversed(parts)
    maps = [word for n in range(count) for word in ("-map", f"[o{n}]")]
    outcome = lab.run(*inputs, "-filter_complex", ";".join(graph), *maps, "-f null -").succeeded()
    lines = {}
    for found in re.finditer(r"\[\w+@t(\d+) @ \w+\] (.*)", outcome.stderr):
        lines.setdefault(int(found[1]), []).append(found[2])
    results = []
    for n in range(count):
        frames = [frame["metrics"] for frame in lab.json(f"t{n}.json")["frames"]]
        lowest = min(frame[f"psnr_{plane}"] for frame in frames for plane in ("y", "cb", "cr"))
        results.append((lowest, lines.get(n, [])))
    return results


def becomes_limited(pix_fmt, chain, range_):
    """Returns whether scale makes full range limited before FFmpeg 7.0, which it does unless out_range is given."""
    return range_ == "pc" and ("yuva" in pix_fmt or "format" in chain)


def sweep(lab, name, is_good):
    """Scores equal samples of all pairs of formats with all pairs of tags. Returns what is not good, as texts."""
    wrong = []
    limits = lab.version() < (7, 0)
    for dist, of_dist, ref, of_ref in PAIRS:
        tags = list(itertools.product(MATRICES, MATRICES, RANGES, RANGES))
        sides = [(tag(a, of_a) + of_dist, tag(b, of_b) + of_ref) for a, b, of_a, of_b in tags]
        results = score_sides(lab, raw_input(lab, dist) + raw_input(lab, ref), sides, name)
        for (a, b, of_a, of_b), (psnr, lines) in zip(tags, results):
            # More bits of a full range are not two zeros: up to 3 of 1023.
            highest = 72 if "10" in dist + of_dist else 60
            if "pc" in (of_a, of_b) and ("10" in dist) != ("10" in ref):
                highest = 50
            if limits and becomes_limited(dist, of_dist, of_a) != becomes_limited(ref, of_ref, of_b):
                good = (of_a, of_b) != ("pc", "pc") or any("differ in color range" in line for line in lines)
            else:
                good = is_good(psnr >= highest, lines)
            if not good:
                wrong.append(f"{dist} {a} {of_a}, {ref} {b} {of_b}: {psnr:.1f} dB {lines}")
    return wrong


@case
@slow_case
def equal_samples_score_as_equal_whatever_their_tags_are(lab):
    wrong = sweep(lab, "vmafx", lambda equal, lines: equal and not any("FFmpeg converts" in line for line in lines))
    check(not wrong, f"{len(wrong)}:", "; ".join(wrong)[:3000])


@case
@slow_case
def libvmaf_says_which_colors_are_converted(lab):
    """The name keeps the values of FFmpeg's own filter, and names what changed them."""
    wrong = sweep(lab, "libvmaf", lambda equal, lines: equal or any("FFmpeg converts" in line for line in lines))
    check(not wrong, f"{len(wrong)}:", "; ".join(wrong)[:3000])


@case
def full_range_formats_keep_their_samples(lab):
    for other in RANGES:
        for pair in (("yuvj420p", "yuv420p"), ("yuv420p", "yuvj420p")):
            sides = [",".join([tag("unknown", other if pix_fmt == "yuv420p" else "pc"), "null"]) for pix_fmt in pair]
            inputs = raw_input(lab, "yuvj420p") + raw_input(lab, "yuv420p")
            ((psnr, lines),) = score_sides(
                lab, inputs if pair[0] == "yuvj420p" else inputs[6:] + inputs[:6], [sides], "vmafx"
            )
            check_equal(psnr, 60, f"{pair} {other} {lines}")
            check(any("differ in color range" in line for line in lines) == (other != "pc"), lines)


@case
def what_is_asked_for_downstream_is_converted_behind_the_filter(lab):
    """Encoders and filters that take the frames of main ask for formats and colors. Scores are of main as it came."""
    wanted = ["format=yuv444p10le", "format=yuv420p,scale=32:32"]
    if lab.version() >= (7, 1):
        wanted += ["format=color_spaces=bt709", "format=color_ranges=pc", "format=yuv420p:color_spaces=bt2020nc"]
    inputs = raw_input(lab, "yuv420p") * 2
    for after, backwards in itertools.product(wanted, (False, True)):
        parts = ["[0][1]vmafx=model='':feature=name=psnr[x]", f"[x]{after},showinfo[y]"]
        graph = ";".join(reversed(parts) if backwards else parts)
        outcome = lab.run(*inputs, "-filter_complex", graph, "-map [y] -f null -")
        outcome.succeeded().does_not_say("FFmpeg converts").does_not_say("is converted")
        check_equal({values[0] for values in outcome.summary().values()}, {"60.000000"}, after)
        for value in re.findall(r"=(bt\w+|pc|yuv444p10le)\b", after):
            outcome.says(value)


def rgb_sides(matrix, before=""):
    """Returns a graph up to the filter's inputs: RGB, and the same pictures with a matrix."""
    return (
        f"[0]split[a][b];[a]null{before}[rgb];"
        f"[b]scale=out_color_matrix={matrix.removesuffix('nc')}:out_range=tv,format=yuv444p,"
        f"setparams=colorspace={matrix}:range=tv[yuv];"
    )


@case
def rgb_gets_the_matrix_of_the_other_input_or_a_line_says_that_it_does_not(lab):
    source = ("-f lavfi -i", f"testsrc2=s={SIDE}x{SIDE}:r=25:d=0.08,format=gbrp")

    def psnr(graph):
        outcome = lab.run(*source, "-lavfi", f"{graph}vmafx=model='':feature=name=psnr", "-f null -").succeeded()
        return min(float(values[0]) for values in outcome.summary().values()), outcome

    for matrix in ("bt709", "bt2020nc", "smpte170m"):
        for pads, name in (("[rgb][yuv]", "main"), ("[yuv][rgb]", "reference")):
            score, outcome = psnr(rgb_sides(matrix) + pads)
            outcome.says(f"The {name} input is converted from ")
            if lab.version() >= (7, 0) or matrix == "smpte170m":
                check_equal(score, 60, f"{matrix} {name}")
                outcome.does_not_say("by the matrix")
                continue
            check(score < 40, score)
            remedy = f"scale=out_color_matrix={matrix.removesuffix('nc')},format=yuv444p"
            outcome.says(f"FFmpeg converts the {name} input from RGB by the matrix of BT.601, and the ")
            outcome.says(f"{remedy} before the {name} input")
            score, outcome = psnr(rgb_sides(matrix, "," + remedy) + pads)
            check_equal(score, 60, f"{matrix} {name} with the remedy")
            outcome.does_not_say("FFmpeg converts")


@case
def the_remedy_of_a_conversion_under_the_name_libvmaf_keeps_the_samples(lab):
    for dist, ref in (
        ("bt709:range=tv", "unknown:range=tv"),
        ("unknown:range=unknown", "bt2020nc:range=tv"),
        ("bt709:range=pc", "bt709:range=unknown"),
    ):
        sides = [f"setparams=colorspace={of_side}" for of_side in (dist, ref)]
        inputs = raw_input(lab, "yuv420p") * 2
        ((psnr, lines),) = score_sides(lab, inputs, [sides], "libvmaf")
        if lab.version() < (7, 0):
            check_equal(psnr, 60, f"{dist} {ref}")
            continue
        line = "".join(line for line in lines if "FFmpeg converts" in line)
        if not line:
            check_equal((psnr, dist.startswith("unknown")), (60, True), "without a conversion, as up to 7.1 to unknown")
            continue
        found = re.fullmatch(
            r"FFmpeg converts the (\w+) input from color (?:matrix|range) \w+ to \w+ before it is scored, which "
            r"changes its samples. (setparams=\w+=\w+) as the first filter of that input keeps them, if its tag is "
            r"missing or wrong; the filter vmafx keeps them in any case.",
            line,
        )
        check(found and psnr < 40, line, psnr)
        sides["main reference".split().index(found[1])] += "," + found[2]
        ((psnr, lines),) = score_sides(lab, inputs, [sides], "libvmaf")
        check_equal(psnr, 60, f"{dist} {ref} with {found[2]}")
        check(not any("FFmpeg converts" in line for line in lines), lines)


@case
def alpha_modes_that_differ_change_no_sample(lab):
    if lab.version() < (8, 1):
        raise Skip("FFmpeg negotiates alpha modes since 8.1")
    sides = ["setparams=alpha_mode=premultiplied", "setparams=alpha_mode=straight"]
    inputs = raw_input(lab, "yuva420p") * 2
    for pair in (sides, sides[::-1]):
        ((psnr, lines),) = score_sides(lab, inputs, [pair], "vmafx")
        check(psnr == 60 and not any("FFmpeg" in line for line in lines), pair, psnr, lines)
        ((_, lines),) = score_sides(lab, inputs, [pair], "libvmaf")
        check(sum("FFmpeg multiplies or divides the samples" in line for line in lines) == 1, pair, lines)


@case
def hdr_is_converted_to_sdr(lab):
    """The tags of each input reach the library, whatever its depth; the report tells the conversion."""
    tags = "setparams=colorspace={}:color_trc={}:color_primaries={}:range=tv"
    hdr, sdr = tags.format("bt2020nc", "smpte2084", "bt2020"), tags.format("bt709", "bt709", "bt709")
    end = "[d][r]vmafx=model=:feature=psnr:log_fmt=json:log_path=log.json"
    graph = f"[0]format=yuv420p10le,{hdr}[d];[1]{sdr}[r];{end}"
    lab.compare(graph).failed("input pix_fmt must match.")
    lab.compare(graph + r":convert='bt709\:bits=8'").succeeded().says(
        "pictures are scored in bt709: reference stays, main from bt2020nc/smpte2084/bt2020; HDR's tones are mapped"
    )
    told = lab.json("log.json")["vmafx"]["conversion"]
    check_equal((told["target"], told["bits"], told["chroma"]), ("bt709", 8, "4:2:0"), "conversion")
    check_equal(told["tone_mapping"], "BT.2390 EETF, 1000 to 203 cd/m2, reference white of BT.2408", "tone mapping")
    lab.compare(f"[0]null[d];[1]{sdr}[r];{end}:convert=bt709").failed(
        "the main input cannot be converted to bt709: its matrix is not known"
    )
    lab.compare(graph + ":convert=rec709").failed("there is no convert=rec709; use one of bt709, bt2020, ")
