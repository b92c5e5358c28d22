"""Command lines of the programs that drive ffmpeg's libvmaf, written and read as these programs do.

docs/clients.md names the versions whose sources were read.
"""

import json
import math
import re
import subprocess

from cases_xpsnr import RECORDED, clip_inputs, is_ours, needs_xpsnr
from support import FPS, FRAMES, HEIGHT, WIDTH, GoldenClip, case, check, check_equal, slow_case


def check_frames(report, *keys):
    """Checks that frames[].metrics[key] are numbers, one per frame, and that frameNum counts."""
    check_equal([frame["frameNum"] for frame in report["frames"]], list(range(FRAMES)), "frameNum")
    for frame in report["frames"]:
        for key in keys:
            check(
                isinstance(frame["metrics"][key], (int, float)), f"{key} of frame {frame['frameNum']} is not a number"
            )


# -- ab-av1 ------------------------------------------------------------------------------------------------------------


def ab_av1_score(stderr):
    r"""Returns the score from the last line with the text: the rest is trimmed and parsed as a float; lines end with \n
    or \r.
    """
    lines = [line for line in stderr.replace("\r", "\n").split("\n") if "VMAF score: " in line]
    return float(lines[-1].split("VMAF score: ")[1].strip())


def ab_av1(lab, dist, ref, scale="", arguments="", options="", pix_fmt="yuv420p"):
    """Runs ffmpeg as ab-av1 does; `arguments` are those of --vmaf, `options` the model that it picks itself."""
    outcome = lab.run_verbatim(
        "-r 25 -i",
        dist,
        "-r 25 -i",
        ref,
        "-filter_complex",
        f"[0:v]format={pix_fmt},{scale}setpts=PTS-STARTPTS,settb=AVTB[dis];"
        f"[1:v]format={pix_fmt},{scale}setpts=PTS-STARTPTS,settb=AVTB[ref];"
        f"[dis][ref]libvmaf=shortest=true:ts_sync_mode=nearest:{arguments}n_threads=2{options}",
        "-an -sn -dn -f null -",
    ).succeeded()
    check_equal(outcome.stderr.count("VMAF score: "), 1, "score lines")
    return outcome, ab_av1_score(outcome.stderr[-32768:])


def ab_av1_xpsnr_score(stderr):
    """Returns the score from the last line that has both texts, up to the first character other than digit, point or
    minus.
    """
    lines = [line for line in stderr.replace("\r", "\n").split("\n") if "XPSNR" in line and "minimum: " in line]
    rest = lines[-1].split("minimum: ")[1]
    return math.inf if rest.startswith("inf") else float(re.match(r"[-.\d]+", rest)[0])


def ab_av1_xpsnr(lab, inputs, graph):
    outcome = lab.run_verbatim(*inputs, "-filter_complex", graph, "-f null -").succeeded()
    return ab_av1_xpsnr_score(outcome.stderr[-32000:])


@case
def ab_av1_xpsnr_of_files(lab):
    """The reference comes first, as in FFmpeg's filter; --xpsnr-fps is 60 by default."""
    needs_xpsnr(lab)
    axpsnr = (
        "[0]format=yuv420p[ref];[1]format=yuv420p[dis];[dis][ref]vmafx=model='':feature=name=xpsnr:log_path=log.json"
    )
    for dist, ref in ((lab.clips.dist, lab.clips.ref), (lab.clips.dist10, lab.clips.ref)):
        inputs = "-r 60 -i", ref, "-r 60 -i", dist
        lab.run(*inputs, "-lavfi", axpsnr, "-f null -").succeeded()
        score = ab_av1_xpsnr(lab, inputs, "[0:v]format=yuv420p[ref];[1:v]format=yuv420p[dis];[ref][dis]xpsnr")
        check(abs(score - lab.json("log.json")["aggregate_metrics"]["axpsnr"]) < 5.1e-5, score, dist)
        outcome = lab.run_verbatim(*inputs, "-filter_complex", "[0:v][1:v]xpsnr", "-f null -").succeeded()
        converted = dist == lab.clips.dist10 and is_ours(lab)
        check_equal(
            "is converted from" in outcome.stderr, converted, f"whether a warning says that {dist} is converted"
        )


@case
def ab_av1_gets_the_numbers_of_ffmpegs_xpsnr(lab):
    """ab-av1 up to 0.11.1 asks for statistics on standard output, which it does not read."""
    needs_xpsnr(lab)
    wanted = ab_av1_xpsnr_score(json.loads(RECORDED.read_text())["yuv420p"]["log"])
    inputs = clip_inputs(lab, "yuv420p")
    for graph in (
        "[0:v][1:v]xpsnr",
        "[0:v]null[ref];[ref][1:v]xpsnr",
        "xpsnr=stats_file=-",
        "[0:v]null[ref];[ref][1:v]xpsnr=stats_file=-",
    ):
        check_equal(ab_av1_xpsnr(lab, inputs, graph), wanted, graph)
    check_equal(
        ab_av1_xpsnr(lab, clip_inputs(lab, "yuv420p", kind=0), "[0:v][1:v]xpsnr"), math.inf, "score of equal pictures"
    )


@case
def ab_av1_plain(lab):
    outcome, score = ab_av1(lab, lab.clips.dist, lab.clips.ref)
    check_equal(f"{score:.6f}", lab.compare("vmafx").score(), "score")
    progress = [line for line in outcome.stderr.replace("\r", "\n").split("\n") if line.startswith("frame=")][-1]
    check_equal(int(progress.split("=")[1].split()[0]), FRAMES, "frames in the progress line")
    outcome.does_not_say("doubtful")


@case
def ab_av1_scaled_up(lab):
    _, score = ab_av1(lab, lab.clips.dist, lab.clips.ref, scale="scale=1920:1080:flags=bicubic,")
    check(0 < score < 100, score)


@case
def ab_av1_4k_model_10_bit(lab):
    _, score = ab_av1(
        lab, lab.clips.dist10, lab.clips.ref, options=":model=version=vmaf_4k_v0.6.1", pix_fmt="yuv420p10le"
    )
    check(0 < score <= 100, score)


@case
@slow_case
def ab_av1_prints_libvmafs_numbers(lab):
    hd, deep, uhd = (
        GoldenClip(lab, f"{name}")
        for name in ("1920x1080_8b_420_k1_s9", "1920x1080_10b_420_k5_s10", "3840x2160_8b_420_k1_s11")
    )
    v1 = "vmaf_v1.0.16_3d0h"
    for clip, model, pix_fmt, texts in (
        (hd, "vmaf_v0.6.1", "yuv420p", {}),
        (hd, "vmaf_v0.6.1neg", "yuv420p", {"arguments": "model=version=vmaf_v0.6.1neg:"}),
        (deep, "vmaf_v0.6.1", "yuv420p10le", {}),
        (deep, v1, "yuv420p10le", {"arguments": f"model=version={v1}:"}),
        (uhd, "vmaf_4k_v0.6.1", "yuv420p", {"options": ":model=version=vmaf_4k_v0.6.1"}),
    ):
        _, score = ab_av1(lab, clip.dist, clip.ref, pix_fmt=pix_fmt, **texts)
        check_equal(f"{score:.6f}", clip.score(model), f"{model} of {clip.clip.name}")


# -- Av1an -------------------------------------------------------------------------------------------------------------


def av1an(lab, encoded, reference, graph, maps=()):
    """Runs ffmpeg as Av1an does: the source comes as y4m through a pipe, as from vspipe."""
    pipe = subprocess.Popen(
        lab.command("-v error -i", reference, "-strict -1 -f yuv4mpegpipe -"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with pipe.stdout:
        outcome = lab.run_verbatim(
            "-loglevel error -hide_banner -nostdin -y -thread_queue_size 1024 -r 25 -i",
            encoded,
            "-r 25 -i - -filter_complex",
            graph,
            *maps,
            "-f null -",
            stdin=pipe.stdout,
        )
    pipe.wait()
    check_equal(outcome.succeeded().stderr, "", "output at -loglevel error")


def av1an_graph(model, size=f"{WIDTH}x{HEIGHT}", every=1):
    """Returns Av1an's graph; `every` is its --probing-rate: the encode holds one frame of so many."""
    scale = f"scale={size}:flags=bicubic:force_original_aspect_ratio=decrease,setpts=PTS-STARTPTS,setsar=1"
    select = f"select=not(mod(n\\,{every})),setpts={1 / every:.4f}*PTS," if every > 1 else ""
    return (
        f"[0:v]{scale}[distorted];[1:v]{select}{scale}[ref];[distorted][ref]libvmaf=log_fmt='json':"
        "eof_action=endall:log_path=vmaf.json" + (f":model='{model}'" if model else "") + ":n_threads=2"
    )


def av1an_frames(lab, name="vmaf.json"):
    """Returns the values that Av1an deserializes: metrics.vmaf of each frame."""
    return [frame["metrics"]["vmaf"] for frame in lab.json(name)["frames"]]


@case
def av1an_detection(lab):
    """Av1an wants to see --enable-libvmaf in what `ffmpeg -h` prints on stderr."""
    lab.run_verbatim("-h").succeeded().says("--enable-libvmaf")


@case
def av1an_plain(lab):
    av1an(lab, lab.clips.dist, lab.clips.ref, av1an_graph("version=vmaf_v0.6.1"))
    check_frames(lab.json("vmaf.json"), "vmaf")


@case
def av1an_motion_force_zero(lab):
    av1an(lab, lab.clips.dist, lab.clips.ref, av1an_graph(r"version=vmaf_v0.6.1\:motion.motion_force_zero=true"))
    report = lab.json("vmaf.json")
    check_frames(report, "vmaf")
    motion = [value for key, value in report["frames"][5]["metrics"].items() if key.startswith("integer_motion2")]
    check_equal(motion, [0.0], "motion2")


@case
def av1an_10_bit_encode_of_8_bit_source(lab):
    """FFmpeg's libvmaf scores this in the format of main, and so does ours."""
    av1an(lab, lab.clips.dist10, lab.clips.ref, av1an_graph("version=vmaf_v0.6.1"))
    by_name = lab.json("vmaf.json")["pooled_metrics"]["vmaf"]["mean"]
    outcome = lab.compare("[1]format=yuv420p10le[r];[0][r]vmafx", dist=lab.clips.dist10)
    check(abs(by_name - float(outcome.score())) < 1e-5, by_name, outcome.scores)


@case
def av1an_gets_libvmafs_numbers(lab):
    clip = GoldenClip(lab, "1920x1080_8b_420_k1_s9")
    for model, text in (
        ("vmaf_v0.6.1", None),
        ("vmaf_v0.6.1neg", "version=vmaf_v0.6.1neg"),
        ("vmaf_4k_v0.6.1", "version=vmaf_4k_v0.6.1"),
        ("vmaf_4k_v0.6.1neg", "version=vmaf_4k_v0.6.1neg"),
    ):
        av1an(lab, clip.dist, clip.ref, av1an_graph(text, size="1920x1080"))
        check_equal(av1an_frames(lab), clip.frames(model), model)


@case
def av1an_probes_every_second_frame(lab):
    """The scores are those of the same frames without the other ones."""
    half = "[{0}:v]select=not(mod(n\\,2)),setpts=0.5*PTS[{1}];"
    sparse = lab.folder / "sparse.mkv"
    lab.run("-i", lab.clips.dist, "-vf", "select=not(mod(n\\,2)),setpts=0.5*PTS", "-r 25 -c:v ffv1", sparse).succeeded()
    av1an(lab, sparse, lab.clips.ref, av1an_graph("version=vmaf_v0.6.1", every=2))
    outcome = lab.compare(half.format(0, "d") + half.format(1, "r") + "[d][r]vmafx=log_fmt=json:log_path=all.json")
    outcome.succeeded()
    check_equal(len(av1an_frames(lab)), FRAMES // 2, "frames")
    check_equal(av1an_frames(lab), av1an_frames(lab, "all.json"), "scores")


@case
def av1an_model_by_path(lab):
    """Av1an takes --vmaf-path for a path unless it ends in .json; brackets and commas have one backslash."""
    folder = lab.folder / "a[b], c"
    folder.mkdir()
    lab.write_model("model").rename(folder / "model")
    av1an(lab, lab.clips.dist, lab.clips.ref, av1an_graph(rf"path={lab.folder}/a\[b\]\, c/model"))
    check_frames(lab.json("vmaf.json"), "vmaf")


@case
def av1an_weighted(lab):
    score = (
        "[dis_{0}][ref_{0}]libvmaf=log_path={0}.json:log_fmt=json:n_threads=2:n_subsample=1:"
        "model='version=vmaf_v0.6.1':eof_action=endall[vmaf_{0}_out]"
    )
    graph = (
        "[1:v]format=yuv420p[ref];[0:v]format=yuv420p[dis];[dis]extractplanes=y+u+v[dis_y][dis_u][dis_v];"
        "[ref]extractplanes=y+u+v[ref_y][ref_u][ref_v];" + ";".join(score.format(plane) for plane in "yuv")
    )
    av1an(
        lab,
        lab.clips.dist,
        lab.clips.ref,
        graph,
        ("-map", "[vmaf_y_out]", "-map", "[vmaf_u_out]", "-map", "[vmaf_v_out]", "-an", "-sn", "-dn"),
    )
    for plane in "yuv":
        check_frames(lab.json(f"{plane}.json"), "vmaf")
    weighted = [(4 * y + u + v) / 6 for y, u, v in zip(*(av1an_frames(lab, f"{plane}.json") for plane in "yuv"))]
    check(len(weighted) == FRAMES and all(0 < score <= 100 for score in weighted), weighted)
    luma = lab.json("y.json")["pooled_metrics"]["vmaf"]["mean"]
    check_equal(f"{luma:.6f}", lab.compare("vmafx").score(), "score of the luma planes")


# -- ffmpeg-quality-metrics --------------------------------------------------------------------------------------------


@case
def ffmpeg_quality_metrics(lab):
    listing = subprocess.run(lab.command("-filters"), stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()
    names = [line.strip().split(" ")[1] for line in listing.splitlines() if len(line.strip().split(" ")) > 1]
    check("libvmaf" in names, "libvmaf is not in the second column of -filters")

    model = lab.write_model("model.json")
    scale = "rw:rh" if lab.version() >= (7, 1) else f"{WIDTH}:{HEIGHT}"
    outcome = lab.run_verbatim(
        "-nostdin -nostats -y -threads 2 -r 25 -i",
        lab.clips.ref,
        "-r 25 -i",
        lab.clips.dist,
        "-filter_complex",
        fqm_graph(scale, model),
        "-an -f null /dev/null",
    )
    outcome.succeeded()
    check(outcome.stderr.strip(), "ffmpeg output is empty!")
    rows = [
        {"n": int(frame["frameNum"]) + 1, **{key: float(value) for key, value in frame["metrics"].items()}}
        for frame in lab.json("fqm_libvmaf.json")["frames"]
    ]
    check_equal([row["n"] for row in rows], list(range(1, FRAMES + 1)), "n")
    check(all("vmaf" in row and "psnr_y" in row for row in rows), rows[0])


def fqm_graph(scale, model):
    prepare = (
        "[0]settb=AVTB,setpts=PTS-STARTPTS[refaligned];[refaligned]split=2[refscale][refpts];"
        "[1]settb=AVTB,setpts=PTS-STARTPTS[distaligned];"
        "[distaligned][refscale]scale=rw:rh:flags=bicubic[distpts];"
    )
    if scale != "rw:rh":  # scale with a reference input came with 7.1
        prepare = (
            "[0]settb=AVTB,setpts=PTS-STARTPTS[refpts];[1]settb=AVTB,setpts=PTS-STARTPTS[distaligned];"
            f"[distaligned]scale={scale}:flags=bicubic[distpts];"
        )
    return (
        prepare + f"[distpts][refpts]libvmaf='model=path={model}:log_path=fqm_libvmaf.json:log_fmt=json:n_threads=0:"
        "n_subsample=1:shortest=1:repeatlast=0:feature=name=psnr'"
    )


# -- easyVmaf ----------------------------------------------------------------------------------------------------------


@case
def easyvmaf_probe(lab):
    """easyVmaf probes models with tiny sources; the text of the error tells a model that does not exist."""

    def probe(model):
        source = "nullsrc=s=64x64:r=1:d=0.1"
        return lab.run_verbatim(
            "-hide_banner -f lavfi -i",
            source,
            "-f lavfi -i",
            source,
            "-lavfi",
            f"libvmaf=model=version={model}",
            "-f null -",
        )

    for model in ("vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1"):
        probe(model).succeeded().does_not_say("could not load libvmaf model")
    probe("vmaf_v9").failed("could not load libvmaf model")


def easyvmaf(lab, log_fmt):
    prepare = (
        "{0}scale=1920:1080:flags=bicubic[{1}0];[{1}0]fps=fps=25[{1}1];[{1}1]trim=start=0:"
        "duration=0.4,setpts=PTS-STARTPTS[{1}];"
    )
    models = "|".join(
        (
            r"version=vmaf_v0.6.1\\:name=vmaf_hd",
            r"version=vmaf_v0.6.1neg\\:name=vmaf_hd_neg",
            r"version=vmaf_v0.6.1\\:name=vmaf_hd_phone\\:enable_transform=true",
        )
    )
    outcome = lab.run_verbatim(
        "-y -hide_banner -stats -loglevel info -i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-map 0:v -map 1:v -lavfi",
        prepare.format("[0:v]", "m")
        + prepare.format("[1:v]", "r")
        + (
            f"[m][r]libvmaf=log_fmt={log_fmt}:model={models}:n_subsample=1:log_path=easy.{log_fmt}:n_threads=2:"
            "shortest=0:feature=name=psnr"
        ),
        "-f null -",
    )
    check_equal(len(outcome.succeeded().scores), 3, "score lines")
    return outcome


@case
def easyvmaf_json_xml_csv(lab):
    names = ("vmaf_hd", "vmaf_hd_neg", "vmaf_hd_phone")
    for log_fmt in ("json", "xml", "csv"):
        easyvmaf(lab, log_fmt)
    from_json = [{name: frame["metrics"][name] for name in names} for frame in lab.json("easy.json")["frames"]]
    from_xml = [
        {name: float(frame.attrib[name]) for name in names} for frame in lab.xml("easy.xml").findall("frames/frame")
    ]
    from_csv = [{name: round(float(row[name]), 6) for name in names} for row in lab.csv("easy.csv")]
    check_equal(len(from_json), 10, "frames")
    check_equal(from_xml, from_json, "xml")
    check_equal(from_csv, from_json, "csv")


# -- FFmpeg's own filter -----------------------------------------------------------------------------------------------


@case
def unknown_keys_of_a_model_are_ignored(lab):
    """enable_conf_interval=true is the example in the help of ffmpeg-quality-metrics."""
    model = r"model='version=vmaf_v0.6.1\:enable_conf_interval=true\:no_such=1'"
    outcome = lab.compare(f"libvmaf={model}")
    check_equal(outcome.score(), lab.compare("libvmaf").score(), "score")
    outcome.says("no key 'enable_conf_interval'").says("no key 'no_such'")
    lab.compare(f"vmafx={model}").failed("no key 'enable_conf_interval'")
    lab.compare(r"libvmaf=model='version=vmaf_v0.6.1\:adm.no_such=1'").failed("has no option 'no_such'")


def first_metrics(lab, options, name="libvmaf"):
    """Returns the report's scores of the first frame; the pictures are large enough for five scales."""
    scale = "scale=320:240:flags=bicubic"
    outcome = lab.compare(f"[0]{scale}[d];[1]{scale}[r];[d][r]{name}={options}:log_fmt=json:log_path=log.json")
    outcome.succeeded()
    return lab.json("log.json")["frames"][0]["metrics"], outcome


@case
def old_options_mean_what_they_meant(lab):
    """Options that FFmpeg's libvmaf had up to 6.1, deprecated by then, have their meaning."""
    plain, _ = first_metrics(lab, "n_threads=1")
    for old, new in {
        "psnr=1": r"feature='name=psnr\:enable_chroma=false'",
        "ssim=1": "feature=name=float_ssim",
        "ms_ssim=1": "feature=name=float_ms_ssim",
        "psnr=1:ssim=1:ms_ssim=1": r"feature='name=psnr\:enable_chroma=false|name=float_ssim|name=float_ms_ssim'",
        "feature=name=ciede:psnr=1": r"feature='name=ciede|name=psnr\:enable_chroma=false'",
        "psnr=0": "n_threads=1",
        "phone_model=1": r"model='version=vmaf_v0.6.1\:enable_transform=true'",
        "enable_transform=1": r"model='version=vmaf_v0.6.1\:enable_transform=true'",
        r"model='version=vmaf_v0.6.1|version=vmaf_v0.6.1neg\:name=neg\:enable_transform=true':phone_model=1": (
            r"model='version=vmaf_v0.6.1\:enable_transform=true|"
            r"version=vmaf_v0.6.1neg\:name=neg\:enable_transform=true'"
        ),
    }.items():
        got, outcome = first_metrics(lab, old)
        wanted, _ = first_metrics(lab, new)
        check_equal(got, wanted, old)
        check_equal(got == plain, old == "psnr=0", f"whether {old} is without effect")
        if "=1" in old:
            outcome.says("is deprecated")


@case
def old_options_are_libvmafs_alone(lab):
    for old in (
        "model_path=x",
        "psnr=1",
        "ssim=1",
        "ms_ssim=1",
        "phone_model=1",
        "enable_transform=1",
        "enable_conf_interval=1",
    ):
        lab.compare(f"vmafx={old}").failed("Option not found")


@case
def old_options_for_models(lab):
    """Av1an's --vmaf-path came as model_path."""
    folder = lab.folder / "a: b"
    folder.mkdir()
    lab.write_model("model.json").rename(folder / "mine.json")
    quoted = r"'a\: b/mine.json'"
    by_path, outcome = first_metrics(lab, f"model_path={quoted}")
    outcome.says("is deprecated")
    check_equal(by_path["vmaf"], first_metrics(lab, r"model='path=a\\\: b/mine.json'")[0]["vmaf"], "vmaf")
    check(by_path["vmaf"] != first_metrics(lab, "n_threads=1")[0]["vmaf"], "the model by path is that by default")
    both, outcome = first_metrics(lab, f"model=version=vmaf_4k_v0.6.1:model_path={quoted}")
    outcome.says("model_path=a: b/mine.json is ignored")
    check_equal(both["vmaf"], first_metrics(lab, "model=version=vmaf_4k_v0.6.1")[0]["vmaf"], "vmaf")
    lab.compare("libvmaf=model_path=nowhere.json").failed("nowhere.json")
    outcome = lab.compare("libvmaf=model=version=vmaf_b_v0.6.3:enable_conf_interval=1:log_fmt=json:log_path=log.json")
    outcome.succeeded().says("enable_conf_interval does nothing: the report has a confidence")
    check(any("ci" in key for key in lab.json("log.json")["frames"][0]["metrics"]), lab.json("log.json")["frames"][0])


# -- others ------------------------------------------------------------------------------------------------------------


@case
def ease(lab):
    model = lab.write_model("model.json")
    lab.run_verbatim(
        "-hide_banner",
        "-i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-lavfi",
        f"libvmaf=n_subsample=1:log_path=ease.json:feature=name=psnr:log_fmt=json:model=path={model}:n_threads=2",
        "-f null -",
    ).succeeded()
    report = lab.json("ease.json")
    check(isinstance(report["version"], str), "version")
    check_frames(report, "vmaf", "psnr_y", "psnr_cb", "psnr_cr")
    for pooled in report["pooled_metrics"].values():
        check(all(isinstance(pooled[key], (int, float)) for key in ("min", "max", "mean", "harmonic_mean")), pooled)


@case
def video_quality_metrics(lab):
    model = lab.write_model("model.json")
    lab.run_verbatim(
        "-r 24 -i",
        lab.clips.ref,
        "-r 24 -i",
        lab.clips.dist,
        "-map 0:V -map 1:V -lavfi",
        "[0:V]setpts=PTS-STARTPTS[reference];[1:V]setpts=PTS-STARTPTS[distorted];[distorted][reference]"
        f"libvmaf=model=path={model}:log_fmt=json:log_path='vqm.json':n_subsample=1:n_threads=2:feature=name=psnr",
        "-f null -",
    ).succeeded()
    check_frames(lab.json("vqm.json"), "vmaf", "psnr_y")


@case
def ffmetrics_detection(lab):
    """FFMetrics compares one picture with itself at its start, for each model."""

    def probe(model):
        source = "color=c=black:s=640x480:d=1"
        return lab.run_verbatim("-hide_banner -f lavfi -i", source, "-lavfi", f"[0:v][0:v]libvmaf={model}", "-f null -")

    for model in ("vmaf_v0.6.1", "vmaf_4k_v0.6.1"):
        probe(f"model=version={model}").score()
    probe("model_path='nowhere.pkl'").failed("nowhere.pkl")


@case
def ffmetrics(lab):
    for dist, ref in ((lab.clips.dist, lab.clips.ref), (lab.clips.dist, lab.clips.ref10)):
        outcome = lab.run_verbatim(
            "-hide_banner -nostdin -r 25 -i",
            dist,
            "-r 25 -i",
            ref,
            "-lavfi",
            "[0:v]settb=AVTB,setpts=PTS-STARTPTS,format=yuv420p[main];[1:v]settb=AVTB,setpts=PTS-STARTPTS[ref];"
            "[main][ref]libvmaf=eof_action=endall:"
            f"log_fmt=json:log_path='{lab.folder}/ff.json':n_threads=15:pool=Mean:model=version=vmaf_v0.6.1",
            "-f null -",
        )
        outcome.score()
        outcome.says("pool=Mean is unknown")
        check_frames(lab.json("ff.json"), "vmaf")


@case
def grep_pipeline(lab):
    command = (
        f"'{lab.ffmpeg}' -i '{lab.clips.dist}' -i '{lab.clips.ref}' -filter_complex libvmaf -f null - 2>&1 | "
        "grep 'VMAF score' | "
        "tr ' ' '\\n' | tail -n1"
    )
    out = (
        subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=lab.folder)
        .stdout.decode()
        .strip()
    )
    check_equal(out, lab.compare("vmafx").score(), "score")
