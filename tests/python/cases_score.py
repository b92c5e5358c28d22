"""vmafx score: the result, inputs that differ, errors, how it ends."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from command import command, environment, vmafx
from common import FRAMES, HEIGHT, WIDTH, alive, case, check, check_equal, raises, top
from vmafx.command import _ffmpeg
from vmafx.command._models import Size
from vmafx.command._regions import scaled
from vmafx.command._said import Said
from vmafx.command._terminal import Failure

OLD_REPORT = '{"version": "1", "fps": 0, "frames": []}'  # a new report may replace it


def scored(lab, *words, scale="reference", **variables):
    """Returns (the result as JSON, the finished command); pictures are not scaled to a model's size, as the clips are
    small.
    """
    done = vmafx(lab, "score", *words, "--json", "--scale", scale, **variables).succeeded()
    return json.loads(done.out), done


def psnr_of(lab, dist, ref):
    """Returns (mean PSNR of luma, the finished command)."""
    result, done = scored(lab, dist, ref, "--model", "none", "--feature", "psnr")
    check_equal(result["encodes"][0]["frames"], FRAMES, "frames")
    return result["encodes"][0]["pooled"]["psnr_y"]["mean"], done


def made(lab, name, *words):
    """Makes a clip from the reference."""
    lab.run("-i", lab.clips.ref, *words, name).succeeded()
    return lab.folder / name


# -- The result --------------------------------------------------------------------------------------------------------


@case
def command_scores_as_the_filter(lab):
    lab.compare("vmafx=feature=psnr:window=0.4:log_path=filter.json").succeeded()
    wanted = lab.json("filter.json")
    result, done = scored(lab, lab.clips.dist, lab.clips.ref, "--feature", "psnr")
    check_equal(
        (result["schema"], result["scores"], result["reference"]), (1, ["vmaf", "psnr_y"], str(lab.clips.ref)), "result"
    )
    encode = result["encodes"][0]
    for key in wanted["pooled_metrics"]:
        check_equal(
            encode["pooled"][key],
            encode["pooled"][key] | wanted["pooled_metrics"][key] | wanted["pooled_statistics"][key],
            key,
        )
    worst = min(wanted["frames"], key=lambda frame: frame["metrics"]["vmaf"])
    check_equal(
        encode["worst_frame"]["vmaf"],
        {"frame": worst["frameNum"], "time": worst["time"], "score": worst["metrics"]["vmaf"]},
        "worst frame",
    )
    check_equal(encode["pairing"]["paired"], FRAMES, "pairs")
    done.says("is made for 1080p")


@case
def command_prints_a_table(lab):
    words = lab.clips.dist, lab.clips.ref, lab.clips.ref, "--feature", "psnr", "--scale", "reference"
    done = vmafx(lab, "score", *words).succeeded()
    heads, *rows = done.out.splitlines()
    rows, facts = rows[:4], rows[4:]
    check_equal(facts[0], f"vmaf: model vmaf_v0.6.1, pictures of {WIDTH}x{HEIGHT}", "model")
    check(facts[1].startswith(f"dist.mp4: {FRAMES} frames, scored on the CPU ("), facts)
    check(heads.startswith("encode") and "harmonic" in heads and "worst frame" in heads, heads)
    check_equal(
        [row.split()[:2] for row in rows],
        [[name, key] for name in ("dist.mp4", "ref.mkv") for key in ("vmaf", "psnr_y")],
        "rows",
    )
    check_equal(rows[3].split()[2:6], ["60.000"] * 4, "PSNR of equal pictures")


@case
def command_scores_several_encodes_and_models(lab):
    """Files in different folders may have one name; the models have the names of their versions."""
    other = lab.folder / "other"
    other.mkdir()
    shutil.copy(lab.clips.ref, other / lab.clips.dist.name)
    result, _ = scored(
        lab,
        lab.clips.dist,
        other / lab.clips.dist.name,
        lab.clips.ref,
        "--model",
        "vmaf_v0.6.1",
        "--model",
        "version=vmaf_v0.6.1neg",
    )
    check_equal(result["scores"], ["vmaf_v0.6.1", "vmaf_v0.6.1neg"], "scores")
    check_equal(
        [encode["name"] for encode in result["encodes"]],
        [f"{path.parent.name}/dist.mp4" for path in (lab.clips.dist, other / "x")],
        "names",
    )
    low, equal = (encode["pooled"]["vmaf_v0.6.1neg"]["mean"] for encode in result["encodes"])
    check(low < 90 < equal, f"{low}, {equal}")


@case
def command_writes_the_log(lab):
    """The log is written in each format; it replaces an older one, and nothing else is left."""
    clips = lab.clips.dist, lab.clips.ref
    for name in ("log.json", "log.ndjson", "log.csv", "log.xml"):
        (lab.folder / name).write_text(OLD_REPORT)
        result, _ = scored(lab, *clips, "--log", name, "--window", "0.4")
        check("frameNum" in (lab.folder / name).read_text() or name == "log.csv", name)
        check(
            abs(result["encodes"][0]["pooled"]["vmaf"]["p5"] - scored_p5(lab)) < 1e-6,
            f"{name}: {result['encodes'][0]['pooled']['vmaf']}",
        )
    check_equal(len(lab.json("log.json")["windows"]), 2, "windows")
    check_equal(
        sorted(path.name for path in lab.folder.iterdir()), ["log.csv", "log.json", "log.ndjson", "log.xml"], "files"
    )


@case
def regions_have_scores(lab):
    """Regions stand in the table and in JSON, and rectangles follow the size at which pictures are scored."""
    words = lab.clips.dist, lab.clips.ref, "--feature", "psnr", "--roi", f"half={WIDTH // 2}x{HEIGHT}+0+0"
    words = *words, "--roi", "center|active"
    result, _ = scored(lab, *words)
    names = "half", "center", "active"
    wanted = ["vmaf", "psnr_y", *(f"psnr_y.{name}" for name in names), *(f"vmaf.{name}" for name in names)]
    check_equal(result["scores"], wanted, "scores")
    pooled = result["encodes"][0]["pooled"]
    check(pooled["psnr_y.half"]["mean"] != pooled["psnr_y"]["mean"], "the half has the picture's score")
    done = vmafx(lab, "score", *words, "--scale", f"{2 * WIDTH}x{2 * HEIGHT}", "--log", "large.csv").succeeded()
    check_equal([row.split()[1] for row in done.out.splitlines()[1:9]], wanted, "scores of the table")
    vmafx(lab, "score", *words, "--scale", f"{2 * WIDTH}x{2 * HEIGHT}", "--log", "large.json").succeeded()
    told = lab.json("large.json")["vmafx"]["options"]["roi"]
    check_equal(told, f"half={WIDTH}x{2 * HEIGHT}+0+0|center|active", "regions of larger pictures")
    check_equal(scaled("3x2+2+1|m=m.pgm", Size(5, 3), Size(4, 2)), "2x1+2+1|m=m.pgm", "rounded edges")
    vmafx(lab, "score", lab.clips.dist, lab.clips.ref, "--roi", "face").failed(1, "roi=face: it is no region")


def scored_p5(lab):
    return lab.json("log.json")["pooled_statistics"]["vmaf"]["p5"]


@case
def command_keeps_links_and_modes(lab):
    (lab.folder / "real.csv").write_text(OLD_REPORT)
    (lab.folder / "real.csv").chmod(0o640)
    (lab.folder / "link.csv").symlink_to("real.csv")
    scored(lab, lab.clips.dist, lab.clips.ref, "--log", "link.csv")
    check(
        (lab.folder / "link.csv").is_symlink() and (lab.folder / "real.csv").read_text().startswith("Frame,"),
        "the link's file is the log",
    )
    check_equal((lab.folder / "real.csv").stat().st_mode & 0o777, 0o640, "mode")


@case
def damaged_file_does_not_flood(lab):
    del lab
    said = Said([*(f"[h264 @ 0x55d0] [error] damage {i}" for i in range(50)), "[info] x"])
    check_equal(
        (len(said.warnings), said.warnings[0], said.warnings[-1]),
        (21, "damage 0", "ffmpeg has said 30 lines more of errors"),
        "warnings",
    )


@case
def command_takes_any_name(lab):
    """A name may have characters that mean something to ffmpeg, to its filters and to printf."""
    name = "a:b, [it's]; 100%d|\\.mkv"
    shutil.copy(lab.clips.ref, lab.folder / name)
    result, _ = scored(
        lab,
        name,
        "./-.mkv" if shutil.copy(lab.clips.ref, lab.folder / "-.mkv") else "",
        lab.clips.ref,
        "--log",
        "a:b, [it's].csv",
    )
    check_equal([encode["name"] for encode in result["encodes"]], [name.replace("|", "_"), "-.mkv"], "names")
    check((lab.folder / "a:b, [it's].csv").read_text().startswith("Encode,Name,"), "log")


# -- Inputs that differ ------------------------------------------------------------------------------------------------


@case
def inputs_of_other_sizes_and_depths(lab):
    small = made(lab, "small.mkv", f"-vf scale={WIDTH // 2}:{HEIGHT // 2}:flags=bicubic -pix_fmt yuv420p10le -c:v ffv1")
    psnr, done = psnr_of(lab, small, lab.clips.ref)
    done.says(
        f"small.mkv is {WIDTH // 2}x{HEIGHT // 2}: scaled to the reference's {WIDTH}x{HEIGHT} (bicubic)",
        "ref.mkv is yuv420p: scored as yuv420p10le",
    )
    check(20 < psnr < 40, psnr)
    anamorphic = made(lab, "anamorphic.mkv", f"-vf scale={WIDTH // 2}:{HEIGHT}:flags=bicubic,setsar=2 -c:v ffv1")
    psnr_of(lab, anamorphic, lab.clips.ref)[1].says(f"scaled to the reference's {WIDTH}x{HEIGHT}").does_not_say(
        "aspect"
    )
    tagged = made(lab, "tagged.mkv", "-vf setsar=4/3 -c:v ffv1")
    psnr, done = psnr_of(lab, tagged, lab.clips.ref)
    check_equal(psnr, 60, "PSNR of the same samples")
    done.says("tagged.mkv has samples of 4:3, the reference of 1:1: treated as if they were the same").does_not_say(
        "The inputs differ"
    )


@case
def inputs_of_other_ranges(lab):
    """Samples that are converted there and back are what they were."""
    full = made(lab, "full.mkv", "-vf scale=out_range=pc,format=yuv420p -color_range pc -c:v ffv1")
    psnr, done = psnr_of(lab, full, lab.clips.ref)
    check(psnr > 55, psnr)
    done.says("full.mkv has full range, the reference limited: converted").does_not_say("The inputs differ")
    psnr, done = psnr_of(lab, lab.clips.ref, full)
    check(psnr > 55, psnr)
    done.says("ref.mkv has limited range, the reference full: converted").does_not_say("The inputs differ")


@case
def damaged_times_are_those_of_an_input(lab):
    """The filter's report has times that none can have: the error names the inputs, and what goes without times."""
    lab.run("-i", lab.clips.dist, "-frames:v 8 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 whole.ivf").succeeded()
    data, place = bytearray((lab.folder / "whole.ivf").read_bytes()), 32  # behind the header
    for _ in range(5):
        place += 12 + int.from_bytes(data[place : place + 4], "little")
    data[place + 4 : place + 12] = (-(2**62)).to_bytes(8, "little", signed=True)
    (lab.folder / "damaged.ivf").write_bytes(data)
    words = "score", "damaged.ivf", "whole.ivf", "--model", "none", "--feature", "psnr"
    told = vmafx(lab, *words).failed(1, "the scores of damaged.ivf, whole.ivf are not those of a video")
    told.says("--pair-by number").does_not_say("scores.json")
    vmafx(lab, *words, "--pair-by", "number").succeeded()


@case
def full_range_of_other_formats(lab):
    """Samples of full range stay what they are where the format changes, also if FFmpeg has its own name for it."""
    full = made(lab, "full8.mkv", "-vf scale=out_range=pc,format=yuvj420p -c:v libx264 -qp 0 -preset ultrafast")
    for name, pix_fmt in (("full10.mkv", "yuv420p10le"), ("full444.mkv", "yuv444p"), ("gray.mkv", "gray")):
        filters = f"scale=in_range=pc:out_range=pc,format={pix_fmt}"
        lab.run("-i", full, "-vf", filters, "-color_range pc -c:v ffv1", name).succeeded()
        for pair in ((full, lab.folder / name), (lab.folder / name, full)):
            psnr, done = psnr_of(lab, *pair)
            check(psnr > 55, f"{pair}: {psnr}")
            done.does_not_say("the luma of main")


@case
def inputs_of_other_colors(lab):
    told = "-color_range tv -c:v ffv1 -colorspace"
    sd = made(
        lab,
        "sd.mkv",
        "-vf scale=in_color_matrix=bt601:out_color_matrix=bt601,setparams=colorspace=smpte170m -pix_fmt yuv444p",
        f"{told} smpte170m",
    )
    lab.run(
        "-i",
        sd,
        "-vf scale=in_color_matrix=bt601:out_color_matrix=bt709,setparams=colorspace=bt709",
        f"{told} bt709 hd.mkv",
    ).succeeded()
    psnr, done = psnr_of(lab, lab.folder / "hd.mkv", sd)
    done.says("hd.mkv has the color matrix bt709, the reference smpte170m: converted").does_not_say("The inputs differ")
    check(psnr > 42, psnr)
    pal = made(lab, "pal.mkv", "-vf setparams=colorspace=bt470bg -pix_fmt yuv444p", f"{told} bt470bg")
    psnr, done = psnr_of(lab, pal, sd)
    check_equal(psnr, 60, "PSNR of one matrix by two names")
    done.does_not_say("convert").does_not_say("The inputs differ")
    rgb = made(lab, "rgb.mkv", "-pix_fmt gbrp -c:v ffv1")
    psnr, done = psnr_of(lab, rgb, lab.clips.ref)
    check(psnr > 40, psnr)
    done.says("scored as yuv420p").does_not_say("The inputs differ")


@case
def inputs_of_other_transfers(lab):
    gamma = made(
        lab,
        "gamma.mkv",
        "-vf format=yuv444p12le,zscale=matrixin=170m:matrix=170m:primariesin=709:primaries=709:transferin=709:"
        "transfer=iec61966-2-1 -color_trc iec61966-2-1 -c:v ffv1",
    )
    video = made(lab, "video.mkv", "-pix_fmt yuv444p12le -vf setparams=color_trc=bt709 -color_trc bt709 -c:v ffv1")
    psnr, done = psnr_of(lab, gamma, video)
    done.says("gamma.mkv has the color transfer iec61966-2-1, the reference bt709: converted").does_not_say(
        "The inputs differ"
    )
    check(psnr > 40, psnr)
    hdr = made(lab, "hdr.mkv", "-vf setparams=color_trc=smpte2084 -color_trc smpte2084 -c:v ffv1")
    vmafx(lab, "score", hdr, video).failed(1, "hdr.mkv is PQ and", "video.mkv is SDR", "tonemap")
    vmafx(lab, "score", lab.clips.dist, hdr).succeeded().says(
        "dist.mp4 does not say its color transfer: treated as PQ, like "
    )


@case
def inputs_in_a_color_space_that_is_asked_for(lab):
    """--convert: HDR against SDR, with tags that one of them lost; the result, the table and the log say so, and verify
    does it again.
    """
    sdr = "setparams=color_trc=bt709:color_primaries=bt709:colorspace=bt709"
    tags = "-color_trc {} -color_primaries {} -colorspace {} -c:v ffv1"
    pale = f"format=yuv444p,boxblur=4,hue=s=0.2,{sdr}"  # colors that RGB has
    video = made(lab, "video.mkv", "-vf", pale, *tags.format("bt709", "bt709", "bt709").split())
    to_pq = "primaries=2020:matrix=2020_ncl:transfer=smpte2084:npl=203,format=yuv444p10le"
    from_sdr = "primariesin=709:matrixin=709:transferin=709:rangein=limited:range=limited"
    chain = f"{pale},zscale={from_sdr}:{to_pq}"
    hdr = made(lab, "hdr.mkv", "-vf", chain, *tags.format("smpte2084", "bt2020", "bt2020nc").split())
    words = "--convert", "bt709:tones=clip:bits=10", "--model", "none", "--feature", "psnr"
    result, done = scored(lab, hdr, video, *words, "--log", "log.json")
    (encode,) = result["encodes"]
    check(encode["pooled"]["psnr_y"]["min"] > 50, encode["pooled"])
    check_equal((encode["conversion"]["target"], encode["conversion"]["bits"]), ("bt709", 10), "conversion")
    (line,) = result["preparation"]
    check(line.startswith("all are converted to bt709:tones=clip:bits=10 before they are scored, as --convert"), line)
    check("hdr.mkv from bt2020nc/smpte2084/bt2020" in line and "video.mkv from bt709/bt709/bt709" in line, line)
    run = lab.json("log.json")["vmafx"]
    check_equal((run["options"]["convert"], run["conversion"]["target"]), (words[1], "bt709"), "facts of the log")
    check_equal(result["provenance"]["settings"]["convert"], words[1], "the setting")
    verified = vmafx(lab, "verify", "log.json").succeeded()
    check(verified.out.startswith("equal:"), verified.out)
    untagged = made(lab, "untagged.mkv", "-vf", f"{chain},setparams=color_trc=unknown", "-c:v", "ffv1")
    done = vmafx(lab, "score", untagged, hdr, "--convert", "bt709", "--model", "none", "--feature", "psnr").succeeded()
    done.says("untagged.mkv does not say its color", "transfer (taken for smpte2084)")
    said = "pictures were converted to bt709, 10 bits, 4:4:4; tones of HDR by the BT.2390 EETF, 1000 to 203 cd/m2"
    check(said in done.out, done.out)
    vmafx(lab, "score", hdr, video, "--convert", "srgb").failed(1, "there is no convert=srgb; use one of bt709, bt2020")


@case
def models_in_color_spaces_of_their_own(lab):
    """Models whose files have a conversion_target are scored beside others, each on its pictures."""
    spaces = {"ictcp": "ictcp", "pq": "bt2020nc"}
    svm = "svm_type nu_svr\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 1\nrho -50\nSV\n1 1:1 \n"
    model = {"model_type": "LIBSVMNUSVR", "norm_type": "none", "model": svm}
    model["feature_names"] = ["VMAF_integer_feature_adm2_score"]
    texts = ["path=plain.json:name=plain"]
    (lab.folder / "plain.json").write_text(json.dumps({"model_dict": model}))
    for name, matrix in spaces.items():
        space = {"range": "limited", "primaries": "bt2020", "trc": "smpte2084", "matrix": matrix}
        own = {**model, "conversion_target": {"colorspace": space}}
        (lab.folder / f"{name}.json").write_text(json.dumps({"model_dict": own}))
        texts.append(f"path={name}.json:name={name}")
    tags = "setparams=range=tv:color_trc=bt709:color_primaries=bt709:colorspace=bt709"
    told = "-color_range tv -color_trc bt709 -color_primaries bt709 -colorspace bt709 -c:v ffv1".split()
    clips = [
        made(lab, f"tagged{number}.mkv", "-vf", f"{own}{tags}", *told) for number, own in enumerate(("boxblur=2,", ""))
    ]
    options = [word for text in texts for word in ("--model", text)]
    result, done = scored(lab, *clips, *options)
    (encode,) = result["encodes"]
    together = {key: encode["pooled"][key]["mean"] for key in ("plain", *spaces)}
    alone = {}
    for key, text in zip(together, texts):
        alone[key] = scored(lab, *clips, "--model", text)[0]["encodes"][0]["pooled"][key]["mean"]
    check_equal(together, alone, "scores in one run and each alone")
    check_equal(len(set(together.values())), 3, "scores of three color spaces")
    check_equal([own["models"] for own in encode["conversion"]], [["ictcp"], ["pq"]], "the models of conversions")


@case
def inputs_of_other_rates_and_lengths(lab):
    fast = made(lab, "fast.mkv", "-vf fps=50 -c:v ffv1")
    psnr, done = psnr_of(lab, fast, lab.clips.ref)
    done.says("fast.mkv has 50 frames a second, the reference 25")
    check_equal(psnr, 60, "PSNR of repeated frames")
    short = made(lab, "short.mkv", "-frames:v 12 -c:v ffv1")
    result, done = scored(lab, short, lab.clips.ref, "--model", "none", "--feature", "psnr")
    check_equal(
        (result["encodes"][0]["frames"], result["encodes"][0]["warnings"]), (12, []), "frames of a short encode"
    )
    done.says("the first 0.48 s are compared")
    result, done = scored(lab, lab.clips.ref, short, "--model", "none", "--feature", "psnr")
    check_equal(
        (result["encodes"][0]["frames"], result["encodes"][0]["pooled"]["psnr_y"]["min"]),
        (12, 60),
        "frames to a short reference",
    )


@case
def inputs_that_start_later(lab):
    """The sound starts at once, the picture after half a second."""
    lab.run(
        "-f lavfi -i sine=d=1 -itsoffset 0.5 -i", lab.clips.ref, "-map 0 -map 1 -c:v ffv1 -c:a flac late.mkv"
    ).succeeded()
    psnr, done = psnr_of(lab, lab.folder / "late.mkv", lab.clips.ref)
    done.says(
        "the pictures start at different times", "late.mkv at 0.5", "all are taken from their first frame"
    ).does_not_say("doubtful")
    check_equal(psnr, 60, "PSNR of the same frames")


@case
def inputs_of_which_one_is_interlaced(lab):
    fields = "-vf interlace -c:v libx264 -x264opts tff=1:qp=10 -flags +ilme+ildct"
    lab.run("-f lavfi -i testsrc2=s=192x108:r=50:d=0.8", fields, "fields.mkv").succeeded()
    vmafx(lab, "score", "fields.mkv", lab.clips.ref).succeeded().says(
        "fields.mkv is interlaced, another input is not: deinterlaced"
    ).does_not_say("bwdif")


@case
def inputs_of_other_shapes(lab):
    crop = made(lab, "crop.mkv", f"-vf crop={WIDTH}:{HEIGHT - 28} -c:v ffv1")
    vmafx(lab, "score", lab.clips.ref, crop, lab.clips.ref).failed(
        1, f"crop.mkv ({WIDTH}x{HEIGHT - 28}) and", "have different shapes", "crop or pad one of them first"
    )


# -- Errors ------------------------------------------------------------------------------------------------------------


@case
def command_errors(lab):
    clips = lab.clips.dist, lab.clips.ref
    (lab.folder / "text.mp4").write_text("no video")
    lab.run("-f lavfi -i sine=d=0.1 sound.wav").succeeded()
    for status, words, texts in (
        (2, (lab.clips.dist,), ("at least two videos",)),
        (2, (lab.clips.dist,) * 18, ("at most 16 encodes at once, not 17",)),
        (1, ("none.mp4", lab.clips.ref), ("cannot read none.mp4: No such file",)),
        (1, ("text.mp4", lab.clips.ref), ("cannot read text.mp4: Invalid data",)),
        (1, ("sound.wav", lab.clips.ref), ("sound.wav has no video stream",)),
        (
            2,
            (*clips, "--log", "log.txt"),
            ("cannot tell the format of the log log.txt: use .json, .ndjson, .csv, .xml",),
        ),
        (2, (*clips, lab.clips.ref, "--log", "log.xml"), ("a log in XML cannot hold several encodes",)),
        (1, (*clips, "--log", "none/log.json"), ("cannot write none/log.json: the folder none does not exist",)),
        (1, (*clips, "--ffmpeg", "none"), ("cannot find the program none: name another with --ffmpeg",)),
        (1, (*clips, "--ffmpeg", "/usr/bin/ffmpeg"), ("/usr/bin/ffmpeg has no filter vmafx",)),
        (2, (*clips, "--backend", "gpu"), ("invalid choice: 'gpu'",)),
    ):
        vmafx(lab, "score", *words).failed(status, *texts)
    check_equal(list(lab.folder.glob("log*")), [], "logs")


@case
def errors_of_ffmpeg_are_passed_on(lab):
    done = vmafx(lab, "score", lab.clips.dist, lab.clips.ref, "--feature", "nonsense", "--log", "log.json")
    done.failed(done.status, "ffmpeg ended with status", "nonsense")
    check(done.status > 0 and not list(lab.folder.iterdir()), f"{done.status}, {list(lab.folder.iterdir())}")


@case
def ffmpeg_is_found(lab):
    """ffmpeg is found beside the command, else in PATH, by either name; else the error says what to do.

    An ffmpeg without the filter does not count.
    """
    clips = lab.clips.dist, lab.clips.ref
    places = {name: lab.folder / name for name in ("beside", "path", "empty")}
    for place in places.values():
        place.mkdir()
    (places["beside"] / "ffmpeg").symlink_to(lab.ffmpeg)
    (places["path"] / "ffmpeg").symlink_to("/usr/bin/ffmpeg")
    (places["path"] / "ffprobe").symlink_to("/usr/bin/ffprobe")
    (places["path"] / "vmafx-ffmpeg").symlink_to(lab.ffmpeg)
    find = (
        "import sys; from vmafx.command import _ffmpeg; from pathlib import Path; _ffmpeg.TREE = "
        "Path('/nowhere'); print(_ffmpeg.find_ffmpeg())"
    )

    def found(place, **variables):
        program = find.replace("import sys;", f"import sys; sys.argv[0] = '{place}/vmafx';")
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment(lab, VMAFX_FFMPEG=None, **variables),
            capture_output=True,
            text=True,
        )
        return done.stdout.strip() or done.stderr

    everywhere = f"{places['path']}:/usr/bin:/bin"
    check_equal(found(places["beside"], PATH=everywhere), str(places["beside"] / "ffmpeg"), "beside the command")
    check_equal(found(places["empty"], PATH=everywhere), str(places["path"] / "vmafx-ffmpeg"), "in PATH")
    said = found(places["empty"], PATH="/usr/bin:/bin")
    check(
        "cannot find an ffmpeg with the filter vmafx (/usr/bin/ffmpeg lacks it)" in said and "quickstart build" in said,
        said,
    )
    vmafx(lab, "score", *clips, VMAFX_FFMPEG="/usr/bin/ffmpeg").failed(1, "has no filter vmafx")


@case
def ffmpeg_of_quickstart_is_not_asked(lab):
    """Its script tells that it has the filter, but not once another ffmpeg is installed or a library is missing."""
    script, libraries = lab.folder / "prefix/bin/ffmpeg", lab.folder / "prefix/lib/vmafx"
    script.parent.mkdir(parents=True)
    libraries.mkdir(parents=True)
    # Asked, it would say that it has no filter.
    script.write_text("#!/bin/sh\n# vmafx: runs the distribution's own ffmpeg with more\n# Made by `quickstart`\n")
    script.chmod(0o755)
    names = "libavfilter.so.9", "libvmafx.so.0", "built-for"
    for name in names:
        (libraries / name).touch()
    (lab.folder / "ffmpeg").symlink_to(script)
    installed = lab.folder / "ffmpeg.list"
    installed.touch()
    os.utime(installed, (0, 0))
    with mock.patch.object(_ffmpeg, "PACKAGE_LIST", installed):
        for path in script, lab.folder / "ffmpeg":
            check_equal(_ffmpeg.find_ffmpeg(str(path)), str(path), "the program")
        for name in names:
            (libraries / name).rename(libraries / "away")
            with raises(Failure, "has no filter vmafx"):
                _ffmpeg.find_ffmpeg(str(script))
            (libraries / "away").rename(libraries / name)
        os.utime(installed, (1 << 32, 1 << 32))
        with raises(Failure, "has no filter vmafx"):
            _ffmpeg.find_ffmpeg(str(script))
    head = "".join(
        line for line in (top / "tools/ffmpeg.in").read_text().splitlines(True) if not line.startswith("#if")
    )
    check(_ffmpeg.MADE_BY_QUICKSTART.search(head[: _ffmpeg.HEAD].encode()), "the script's own lines")


# -- How it ends -------------------------------------------------------------------------------------------------------


def start_long(lab, **settings):
    """Starts a run of some minutes, and waits for its first frames."""
    lab.run("-f lavfi -i testsrc2=s=640x480:r=25:d=4 -c:v mpeg4 -q:v 2 long.mkv").succeeded()
    (lab.folder / "tmp").mkdir()
    (lab.folder / "ffmpeg").write_text(
        f'#!/bin/sh\necho $$ >"{lab.folder}/pid"\ncase "$*" in *vmafx=*) set -- -readrate 0.02 '
        f'"$@" ;; esac\nexec {lab.ffmpeg} "$@"\n'
    )
    (lab.folder / "ffmpeg").chmod(0o755)
    (lab.folder / "log.json").write_text(OLD_REPORT)
    variables = environment(lab, VMAFX_FFMPEG=lab.folder / "ffmpeg", TMPDIR=lab.folder / "tmp")
    process = subprocess.Popen(
        command("score", "long.mkv", "long.mkv", "--log", "log.json"), cwd=lab.folder, env=variables, **settings
    )
    deadline = time.monotonic() + 20
    while not list((lab.folder / "tmp").glob("*/*")):
        check(time.monotonic() < deadline and process.poll() is None, "no report was begun")
        time.sleep(0.02)
    return process


def check_nothing_is_left(lab):
    check_equal(list((lab.folder / "tmp").iterdir()), [], "temporary files")
    check_equal((lab.folder / "log.json").read_text(), OLD_REPORT, "log")
    check(not Path(f"/proc/{(lab.folder / 'pid').read_text().strip()}").exists(), "ffmpeg still runs")


@case
def command_ends_ffmpeg(lab):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        status = 128 + number
        lab.folder = lab.folder / number.name
        lab.folder.mkdir()
        process = start_long(lab, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.send_signal(number)
        out, said = process.communicate(timeout=20)
        check_equal((process.returncode, out), (status, ""), f"end by {number.name}, after {said}")
        check("Traceback" not in said, said)
        check_nothing_is_left(lab)


SIGNAL_IN_DEL = """
import os, sys, time
from vmafx.command import __main__ as command
command._take_signals()
class Last:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0.05)
Last()
time.sleep(20)
"""


@case
def signals_are_not_lost(lab):
    """Python drops what is raised in __del__(), where a signal may come."""
    for number, status in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, -signal.SIGINT)):
        line = sys.executable, "-c", SIGNAL_IN_DEL, str(int(number))
        done = subprocess.run(line, env=environment(lab), capture_output=True, text=True, timeout=40)
        check_equal((done.returncode, "ignored" in done.stderr), (status, False), f"{number.name}: {done.stderr}")


@case
def a_command_that_is_killed_leaves_no_ffmpeg(lab):
    process = start_long(lab, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    ffmpeg = (lab.folder / "pid").read_text().strip()
    check(alive(ffmpeg), "ffmpeg does not run")
    process.kill()
    process.wait(20)
    deadline = time.monotonic() + 20
    while alive(ffmpeg):
        check(time.monotonic() < deadline, "ffmpeg still runs")
        time.sleep(0.02)
    check_equal((lab.folder / "log.json").read_text(), OLD_REPORT, "log")


@case
def ffmpeg_is_killed(lab):
    process = start_long(lab, stderr=subprocess.PIPE, text=True)
    os.kill(int((lab.folder / "pid").read_text()), signal.SIGKILL)
    _, said = process.communicate(timeout=20)
    check_equal(process.returncode, 128 + signal.SIGKILL, "exit status")
    check("ffmpeg was killed by signal 9" in said, said)
    check_nothing_is_left(lab)


@case
def progress_is_shown_on_a_terminal(lab):
    """Progress is shown with and without rich."""
    for blocked in ("", "rich=None"):
        program = (
            f"import sys; sys.modules.update(cffi=None, {blocked}); from vmafx.command.__main__ import main; "
            "sys.exit(main())"
        )
        words = [sys.executable, "-c", program, "score", str(lab.clips.dist), str(lab.clips.ref)]
        seen = seen_on_a_terminal(lab, words)
        check(f"{FRAMES} frames, " in seen and " %, 0:00 left" in seen, f"{blocked}: {seen!r}")
        check("worst frame" in seen and "dist.mp4" in seen, f"{blocked}: {seen!r}")


def seen_on_a_terminal(lab, words, **variables):
    """Runs the words on a terminal of 100 columns, and returns all that appears there."""
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(read_all, ours)  # reads meanwhile: a terminal that is full would stop the program
        try:
            subprocess.run(
                words,
                env=environment(lab, TERM="xterm", COLUMNS="100", **variables),
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                timeout=60,
            )
        finally:
            os.close(theirs)
        return seen.result()


def read_all(descriptor):
    seen = b""
    try:
        while part := os.read(descriptor, 4096):
            seen += part
    except OSError:  # raised when the other end is closed
        pass
    os.close(descriptor)
    return seen.decode()
