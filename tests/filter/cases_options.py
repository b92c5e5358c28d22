"""Options: which are refused, which are repaired with a warning, which have an effect."""

import json
import os
import re
import subprocess
from pathlib import Path

from support import FRAMES, case, check, check_equal

top = Path(__file__).resolve().parents[2]


@case
def bad_options_are_errors(lab):
    broken = lab.folder / "broken.json"
    broken.write_text('{"model_dict": [')
    cases = {
        "backend=fast": "there is no backend 'fast'",
        "model=version=vmaf_v9": "vmaf_v9",
        "model=path=/nonexistent/model.json": "/nonexistent/model.json",
        f"model=path={broken}": "broken.json",
        "model=name=x": "model",
        r"model='version=vmaf_v0.6.1\:adm.no_such=1'": "has no option 'no_such'",
        "model='':feature=": "nothing to score",
        "model=version=vmaf_v0.6.1|version=vmaf_v0.6.1": "two models are called 'vmaf'",
        "feature=name=no_such": "could not initialize feature extractor no_such",
        r"feature='name=psnr\:no_such=1'": "psnr has no option 'no_such'",
        r"feature='name=psnr\:enable_chroma=maybe'": "'maybe' is not a value for enable_chroma",
        "feature=enable_chroma=false": "is missing",
        "score_fmt=%s": "score_fmt",
        "score_fmt=%n%f": "score_fmt",
        "no_such=1": "no_such",
        "n_threads=-1": "n_threads",
        "n_subsample=0": "n_subsample",
        "metadata=maybe": "metadata",
        "ts_sync_mode=never": "ts_sync_mode",
        "eof_action=never": "eof_action",
    }
    for options, message in cases.items():
        for name in ("vmafx", "libvmaf"):
            outcome = lab.compare(f"{name}={options}")
            check(outcome.code, f"{options} is accepted")
            outcome.failed(message)


@case
def a_metric_that_is_not_there(lab):
    """The message guesses the metric that was meant, or lists all by name in order, without their twins on a GPU."""
    for given, meant in (("PSNR", "psnr"), ("ssim", "float_ssim"), ("cambii", "cambi")):
        lab.compare(f"vmafx=feature={given}").failed(
            f"feature extractor {given}: there is no such metric; did you mean {meant}?"
        )
    outcome = lab.compare("vmafx=feature=nonsense").failed(
        "there is no such metric; there are: adm, butteraugli, cambi, "
    )
    names = re.search(r"there are: (.*)", outcome.stderr)[1].split(", ")
    check(names == sorted(names) and len(names) == 23 and "adm_hip" not in names, names)


@case
def the_report_names_the_models(lab):
    """The report names models by the keys of their scores; models from files by the file."""
    path = lab.write_model("mine.json")
    lab.compare(f"vmafx=model='vmaf_v0.6.1\:name=hd|path={path}\:name=own':log_path=log.json").succeeded()
    check_equal(lab.json("log.json")["vmafx"]["models"], {"hd": "vmaf_v0.6.1", "own": "mine"}, "models")


@case
def bad_log_paths_fail_in_the_first_second(lab):
    """The clip would last ten seconds."""
    for path, named in (("/nonexistent/folder/log.xml", "/nonexistent/folder/log.xml"), (".", ".")):
        outcome = lab.run(
            "-stream_loop -1 -re -i",
            lab.clips.ref,
            "-stream_loop -1 -re -i",
            lab.clips.ref,
            "-t",
            "10",
            "-lavfi",
            f"vmafx=log_path={path}",
            "-f null -",
        ).failed(named)
        check(outcome.seconds < 2, f"took {outcome.seconds:.1f} s")


ADM_OF_V1 = r"adm\:adm_csf_mode=2\:adm_dlm_weight=0.7\:adm_enhn_gain_limit=1\:adm_min_val=0.5\:adm_noise_weight=0.02"
BLURRED = "testsrc2=s=320x240:r=10:d=0.5,format=yuv420p10le,split[r][b];[b]gblur=sigma=1.2[d];[d][r]"


@case
def features_do_not_change_a_models_score(lab):
    """adm_skip_aim is not part of the key that the model's adm3 has."""

    def score(options):
        outcome = lab.run("-filter_complex", BLURRED + options, "-f null -")
        return outcome, re.findall(r"VMAF score: (\S+)$", outcome.stderr, re.M)

    model = "model=version=vmaf_v1.0.16_3d0h"
    alone = score(f"vmafx={model}")[1]
    check_equal(len(alone), 1, "score lines")
    check_equal(score(f"vmafx={model}:feature='{ADM_OF_V1}'")[1], alone, "score beside the same adm")
    outcome, _ = score(f"vmafx={model}:feature='{ADM_OF_V1}\\:adm_skip_aim=true'")
    key = "integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02"
    outcome.failed(f"two requests with different options write the key {key}: model vmaf (adm:")
    outcome.says("which differ in adm_skip_aim. Give both the same options")
    outcome, scores = score(f"libvmaf={model}:feature='{ADM_OF_V1}\\:adm_skip_aim=true'")
    outcome.succeeded().says("which differ in adm_skip_aim; the first one is reported")
    check_equal(scores, alone, "score under the name libvmaf")
    other = r"version=vmaf_v1.0.16_3d0h\:name=b\:adm.adm_skip_aim=true"
    skipping = score(f"vmafx=model='{other}'")[1]
    check(skipping != alone, f"adm_skip_aim has no effect: {skipping}")
    outcome, scores = score(f"libvmaf={model}|{other}".replace("model=", "model='", 1) + "'")
    outcome.succeeded()
    check_equal(scores, alone + skipping, "scores of two models that ask for one key")


@case
def two_requests_for_one_key_are_refused(lab):
    """The filter named libvmaf reports the first of the requests instead."""
    for first, second, key in (
        ("float_ssim", r"float_ssim\:enable_db=true", "float_ssim"),
        ("psnr", r"psnr\:min_sse=0.5", "psnr_y"),
        ("xpsnr", r"xpsnr\:enable_chroma=false", "axpsnr"),
        (r"adm\:adm_skip_aim=true", "adm", "integer_aim"),
    ):

        def values(name, features):
            outcome = lab.compare(f"{name}=model=:feature='{features}':log_fmt=json:log_path=log.json")
            if outcome.code:
                return outcome, None
            report = lab.json("log.json")
            of_frames = [frame["metrics"].get(key) for frame in report["frames"]]
            return outcome, report["aggregate_metrics"].get(key, of_frames)

        for requests in ((first, second), (second, first)):
            outcome, _ = values("vmafx", "|".join(requests))
            outcome.failed("two requests with different options write the key ")
            outcome, got = values("libvmaf", "|".join(requests))
            outcome.succeeded().says("the first one is reported")
            check_equal(got, values("vmafx", requests[0])[1], f"{key} of {requests}")
    lab.compare(r"vmafx=model=:feature='psnr|psnr\:enable_mse=true\:min_sse=0'").succeeded()


@case
def model_files_are_read_as_a_whole(lab):
    """Unknown keys of a model are refused, as they may be part of its meaning."""
    svm = r"svm_type nu_svr\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 1\nrho -50\nSV\n1 1:1 \n"
    part = (
        '"model_type": "LIBSVMNUSVR", "norm_type": "none", "feature_names": ["VMAF_integer_feature_adm2_score"], '
        f'"model": "{svm}"'
    )
    target = '"colorspace": {"range": "limited", "primaries": "bt2020", "trc": "smpte2084", "matrix": "ictcp"}'
    for name, top, more, message in (
        ("good", '"param_dict": {"C": 4.0}, ', ', "feature_dict": {}', None),
        ("top", '"conversion_target": {}, ', "", "conversion_target is a key that"),
        ("twice", "", ', "norm_type": "none"', "model_dict.norm_type is given twice"),
        ("option", "", ', "feature_opts_dicts": [{"no_such": 1}]', "adm has no option 'no_such'"),
    ):
        path = lab.folder / f"{name}.json"
        path.write_text(f'{{{top}"model_dict": {{{part}{more}}}}}')
        for filter_name in ("vmafx", "libvmaf"):
            outcome = lab.compare(f"{filter_name}=model=path={path}")
            if message is None:
                outcome.score()
            else:
                outcome.failed(message)
                outcome.says(f"model file '{path}': ")
    path = lab.folder / "target.json"
    path.write_text(f'{{"model_dict": {{{part}, "conversion_target": {{{target}}}}}}}')
    lab.compare(f"vmafx=model=path={path}").failed("cannot be converted to the model's color space: its matrix is not")


@case
def barten_of_the_integer_adm_is_that_of_the_floating_point_one(lab):
    """libvmaf's fixed point overflows with this option."""
    for more in ("", r"\:adm_csf_scale=2.5", r"\:adm_csf_scale=50\:adm_csf_diag_scale=50"):
        options = "adm_csf_mode=1" + more
        means = {}
        for name in ("adm", "float_adm"):
            lab.compare(rf"vmafx=model=:feature='{name}\:{options}':log_fmt=json:log_path=log.json").succeeded()
            report = lab.json("log.json")
            check("excluded_scores" not in report, report.get("excluded_scores"))
            pooled = report["pooled_metrics"].items()
            means[name] = [values["mean"] for key, values in pooled if "adm2" in key or "adm_scale" in key]
        for integer, floating in zip(means["adm"], means["float_adm"], strict=True):
            check(abs(integer - floating) < 2e-4, options, means)


@case
def pools(lab):
    mean = lab.compare("vmafx").score()
    fallback = lab.compare("vmafx=pool=Mean")
    check_equal(fallback.score(), mean, "pool=Mean")
    fallback.says("pool=Mean is unknown")
    lab.compare("vmafx=log_fmt=json:log_path=log.json").score()
    values = sorted(frame["metrics"]["vmaf"] for frame in lab.json("log.json")["frames"])
    pooled = lab.json("log.json")["pooled_metrics"]["vmaf"]
    for pool, wanted in {
        "mean": pooled["mean"],
        "min": values[0],
        "max": values[-1],
        "harmonic_mean": pooled["harmonic_mean"],
        "median": (values[FRAMES // 2 - 1] + values[FRAMES // 2]) / 2,
    }.items():
        outcome = lab.compare(f"vmafx=pool={pool}").does_not_say("is unknown")
        check(abs(float(outcome.score()) - wanted) < 2e-6, pool, outcome.scores, wanted)
    for pool in ("stddev", "p5", "perc95"):
        outcome = lab.compare(f"vmafx=pool={pool}").does_not_say("is unknown")
        check(0 < float(outcome.score()) <= values[-1] + 1e-6, pool, outcome.scores)


@case
def unknown_log_fmt_is_xml(lab):
    lab.compare("vmafx=log_fmt=yaml:log_path=log").says("log_fmt=yaml is unknown, xml is used").score()
    check_equal(lab.xml("log").tag, "VMAF", "root")


@case
def aliases(lab):
    lab.compare("vmafx=threads=1:subsample=5:log_fmt=json:log_path=a.json").score()
    lab.compare("vmafx=n_threads=1:n_subsample=5:log_fmt=json:log_path=b.json").score()
    check_equal(lab.json("a.json")["frames"], lab.json("b.json")["frames"], "frames")
    check_equal([frame["frameNum"] for frame in lab.json("a.json")["frames"]], list(range(0, FRAMES, 5)), "frameNum")


@case
def threads_make_no_difference(lab):
    scores = {threads: lab.compare(f"vmafx=n_threads={threads}").score() for threads in (0, 1, 2, 7)}
    check_equal(len(set(scores.values())), 1, f"different scores in {scores}")


@case
def defaults_are_those_of_libvmaf(lab):
    lab.compare("libvmaf=log_path=log.xml").score()
    root = lab.xml("log.xml")
    check("vmaf" in root.find("frames/frame").attrib, "model vmaf_v0.6.1")
    check_equal(
        lab.compare("vmafx=model=version=vmaf_v0.6.1:pool=mean:n_subsample=1").score(),
        lab.compare("libvmaf").score(),
        "score",
    )


@case
def several_models_in_one_pass(lab):
    models = {
        "vmaf": "version=vmaf_v0.6.1",
        "neg": r"version=vmaf_v0.6.1neg\:name=neg",
        "big": r"version=vmaf_4k_v0.6.1\:name=big",
        "phone": r"version=vmaf_v0.6.1\:name=phone\:enable_transform=true",
    }
    outcome = lab.compare(f"vmafx=model='{'|'.join(models.values())}':log_fmt=json:log_path=log.json").succeeded()
    pooled = lab.json("log.json")["pooled_metrics"]
    check_equal(outcome.scores, [f"{pooled[name]['mean']:.6f}" for name in models], "score lines")
    for (name, model), score in zip(models.items(), outcome.scores):
        check_equal(lab.compare(f"vmafx=model='{model}'").score(), score, f"{name} alone")


@case
def score_lines_of_several_models_have_names(lab):
    """Score lines have names, except the first, which looks as for a single model.

    Programs take the first, the last or all numbers after "VMAF score: ".
    """
    models = r"version=vmaf_v0.6.1\:name=hd|version=vmaf_v0.6.1neg\:name=neg|version=vmaf_4k_v0.6.1\:name=4k"
    for name in ("vmafx", "libvmaf"):
        outcome = lab.compare(f"{name}=model='{models}'").succeeded()
        lines = [line.split("] ", 1)[1] for line in outcome.stderr.splitlines() if "VMAF score: " in line]
        check_equal(
            [line.rsplit(" ", 1)[0] for line in lines], ["VMAF score:", "neg: VMAF score:", "4k: VMAF score:"], name
        )
        check_equal([line.rsplit(" ", 1)[1] for line in lines], outcome.scores, name)
    alone = lab.compare(r"vmafx=model=version=vmaf_v0.6.1\\:name=hd")
    check("] VMAF score: " in alone.stderr, alone.tail())


@case
def a_model_may_be_given_by_its_name_alone(lab):
    for name in ("vmafx", "libvmaf"):
        check_equal(
            lab.compare(f"{name}=model=vmaf_v0.6.1neg").score(),
            lab.compare(f"{name}=model=version=vmaf_v0.6.1neg").score(),
        )
    outcome = lab.compare(r"vmafx=model='vmaf_v0.6.1|vmaf_v0.6.1neg\:name=neg'").succeeded()
    check_equal(len(outcome.scores), 2, "scores")
    lab.compare("vmafx=model=vmaf_v9").failed("could not load libvmaf model with version: vmaf_v9")


@case
def a_models_name_is_no_reports_name(lab):
    """The first option is log_path, as in libvmaf."""
    message = "The report's name, log_path=vmaf_v0.6.1neg, is that of a model: model=vmaf_v0.6.1neg scores with it."
    lab.compare("vmafx=vmaf_v0.6.1neg").failed(message)
    check(not (lab.folder / "vmaf_v0.6.1neg").exists(), "a report was written")
    lab.compare("libvmaf=vmaf_v0.6.1neg").says(message).score()
    check_equal(lab.xml("vmaf_v0.6.1neg").tag, "VMAF", "root")
    for path in ("./vmaf_v0.6.1", "vmaf_v0.6.1.xml"):
        lab.compare(f"vmafx={path}").does_not_say("is that of a model").score()
        check_equal(lab.xml(path).tag, "VMAF", "root")


@case
def features_without_a_model(lab):
    outcome = lab.compare("vmafx=model='':feature=name=psnr:log_fmt=json:log_path=log.json").succeeded()
    check_equal(outcome.scores, [], "score lines")
    metrics = lab.json("log.json")["frames"][0]["metrics"]
    check("psnr_y" in metrics and "vmaf" not in metrics, metrics)


@case
def backend_hip_says_why_it_cannot(lab):
    outcome = lab.compare("vmafx=backend=hip")
    if outcome.code == 0:
        outcome.score()  # this machine has a GPU
    else:
        outcome.failed("backend=hip cannot run: ")


@case
def backend_auto_says_why_it_is_the_cpu(lab):
    if lab.compare("vmafx=backend=hip").code:
        at_once = {"VMAFX_HIP_DELAY": "0"}  # a stream as short as this one would not look for a GPU
        lab.compare("vmafx=backend=auto").does_not_say("backend=")
        outcome = lab.compare("vmafx=backend=auto", env=at_once)
        check_equal(outcome.score(), lab.compare("vmafx=backend=cpu").score(), "score")
        check(
            outcome.stderr.count("backend=auto runs on the CPU: ") <= 1,
            "one line says so, or the clip ended before it was known",
        )
        verbose = lab.compare("vmafx", before=["-v verbose"], env=at_once)
        if "there is no libamdhip64.so.7" in verbose.stderr and "there is no libcuda.so.1" in verbose.stderr:
            lines = [line.split("] ", 1)[1] for line in outcome.stderr.splitlines() if "backend=auto" in line]
            check_equal(lines, ["backend=auto runs on the CPU: no GPU runtime was found"], "one short line")
            outcome.does_not_say("libamdhip64")
        named = lab.compare("vmafx", env={**at_once, "VMAFX_HIP_RUNTIME": "/nonexistent/libamdhip64.so"})
        named.says(
            "backend=auto runs on the CPU: no HIP runtime library: there is no /nonexistent/libamdhip64.so"
        ).score()
    lab.compare("vmafx=backend=cpu").does_not_say("backend=").score()


def options_in_help(lab):
    """Returns {name: default}; "" for none."""
    shown = subprocess.run(lab.command("-hide_banner -h filter=vmafx"), stdout=subprocess.PIPE).stdout.decode()
    check_equal(shown.count("dynamic (depending on the options)"), 2, "kinds of pads")
    lines = re.findall(r"^   (\w+) +<\w+>(.*)", shown, re.M)
    return {name: "".join(re.findall(r'\(default "?([^")]*)"?\)$', rest)) for name, rest in lines}


def options_in_docs():
    """Returns {name: text of docs/filter.md on it}."""
    text = (top / "docs/filter.md").read_text().split("\n## Options\n")[1].split("\n## ")[0]
    entries = re.findall(r"^((?:`\w+`(?:, )?)+)\n: (.*?)(?=^`|\n\n[^ ]|\Z)", text, re.M | re.S)
    return {name: " ".join(said.split()) for names, said in entries for name in re.findall(r"\w+", names)}


def options_of_library(lab):
    """Returns {name: default} of the options that vmafx_option() gives for the filter; "" where there is none."""
    program = "import json; from vmafx._options import options; print(json.dumps(options()))"
    options = json.loads(lab.python("-c", program).stdout)
    return {
        name: "" if default is None else str(default) for name, (default, *_, in_filter) in options.items() if in_filter
    }


@case
def options_are_the_same_in_library_help_and_docs(lab):
    shown, said, library = options_in_help(lab), options_in_docs(), options_of_library(lab)
    check_equal(sorted(shown), sorted(said), "options of the help and of docs/filter.md")
    check_equal(list(library), [name for name in shown if name in library], "options of the library, and their order")
    check(len(library) > 10, "the table was not found")
    for name, default in library.items():
        check_equal(
            {"true": "1", "false": "0", "%f": ""}.get(shown[name], shown[name]),
            default,
            f"default of {name} in the help",
        )
        ways = [f"Default {default}", f"Default `{default}`", f"{default} (default)", f"`{default}` (default)"]
        check(
            any(way in said[name] for way in (ways if default else ["Default"])), f"docs/filter.md: default of {name}"
        )


@case
def help_tells_the_default_pairing(lab):
    for name, default in (("vmafx", "nearest"), ("libvmaf", "default")):
        shown = subprocess.run(lab.command(f"-hide_banner -h filter={name}"), stdout=subprocess.PIPE).stdout.decode()
        lines = [line for line in shown.splitlines() if line.startswith("   ts_sync_mode ")]
        check_equal([line.split("(default ")[1] for line in lines], [default + ")"], f"default of {name}")


@case
def model_files_write_nothing(lab):
    """A user keeps his files when he runs somebody else's model; his own options may write."""
    path = lab.write_model("model.json")
    model = json.loads(path.read_text())
    model["model_dict"]["feature_names"] = ["Cambi_feature_cambi_score", "VMAF_integer_feature_motion2_score"]
    graph = "[0]scale=320:240[d];[1]scale=320:240[r];[d][r]vmafx=model='path=model.json{}'"
    for folder in ("maps", "maps\0x"):
        model["model_dict"]["feature_opts_dicts"] = [{"heatmaps_path": folder}, {}]
        path.write_text(json.dumps(model))
        lab.compare(graph.format("")).failed("model file 'model.json': ")
    check_equal(os.listdir(lab.folder), ["model.json"], "files")
    del model["model_dict"]["feature_opts_dicts"]
    path.write_text(json.dumps(model))
    lab.compare(graph.format(r"\:cambi.heatmaps_path=mine")).score()
    check_equal(len(os.listdir(lab.folder / "mine")), 5, "heatmaps")
