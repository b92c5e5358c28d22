"""vmafx doctor, models and metrics: what they tell of machines with and without GPUs, in each way to be broken."""

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import vmafx as module
from command import command, environment, vmafx
from common import Skip, case, check, check_equal, top
from support import compiled
from vmafx.command._known_models import MODELS
from vmafx.command._known_scores import KNOWN
from vmafx.command.machine import gpus, programs
from vmafx.command.machine.problems import GPU_CAUSES

HERE = Path(__file__).resolve().parent
NO_GPU = {"VMAFX_HIP_RUNTIME": None, "VMAFX_HIP_EMULATOR_FAIL": None}
LIMIT_S = 20


def emulator(lab, **faults):
    """Returns variables that make the emulator the GPU, with its faults."""
    library = Path(lab.ffmpeg).parent.parent / "lib/libvmafx_hip_emulator.so"
    if not library.exists():
        raise Skip("the emulator is missing: `make emulator` builds it")
    variables = {f"VMAFX_HIP_EMULATOR_{name}": value for name, value in faults.items()}
    return {"VMAFX_HIP_RUNTIME": str(library), "VMAFX_DEVICE_PLACE_DIR": str(places(lab)), **variables}


def places(lab):
    folder = lab.folder / "places"
    folder.mkdir(exist_ok=True)
    return folder


def broken(lab, way):
    """Returns variables that make broken_gpu.c the runtime."""
    library = compiled(lab, "broken_gpu", "-shared", "-fPIC", "-ldl", folder=HERE)
    return {"LD_PRELOAD": str(library), "VMAFX_HIP_RUNTIME": str(library), "BROKEN": way}


@contextlib.contextmanager
def variables(changed):
    before = {name: os.environ.get(name) for name in changed}
    try:
        for name, value in changed.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: str(value)})
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def examined(lab, changed, limit_s=LIMIT_S, pci=None):
    with variables(changed):
        return gpus.examine(lab.ffmpeg, limit_s, pci or lab.folder / "no-slots")


def check_problem(seen, kind, text, remedy):
    """Checks that this is the only problem, with this text and remedy, and that no GPU counts as one that works."""
    check_equal([problem.kind for problem in seen.problems], [kind], f"problems: {seen.problems}")
    problem = seen.problems[0]
    check(text in problem.text, f"'{text}' is not in: {problem.text}")
    check(any(remedy in said for said in problem.remedies), f"'{remedy}' is not in: {problem.remedies}")
    check_equal(problem.stops, "gpu", "what the problem stops")
    check_equal([*seen.usable()], [], "GPUs that work")


def slots(lab, *vendors):
    """Makes a folder like that of Linux with GPUs of these makers in PCI slots."""
    folder = lab.folder / f"slots{len(list(lab.folder.iterdir()))}"
    for number, vendor in enumerate(vendors):
        device = folder / f"0000:0{number}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text("0x030000\n")
    return folder


# -- Each way to be without a GPU --------------------------------------------------------------------------------------


@case
def no_gpu_is_no_problem(lab):
    seen = examined(lab, NO_GPU)
    check_equal([problem.kind for problem in seen.problems if problem.kind == "no_runtime"], [], "problems")
    check(seen.cpu["level"] in seen.cpu["levels"] and seen.cpu["threads"] >= 1, f"processor {seen.cpu}")
    check_equal(seen.library["version"], module.version(), "version of the library")
    check(("GPU", "none") in [*gpus.lines(seen, lab.folder / "no-slots")] or seen.gpus, "the line of the GPU")


@case
def gpu_without_a_runtime(lab):
    """A GPU is in a slot, and no runtime is installed: only the maker's own remedy helps."""
    hidden = {**NO_GPU, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH")}
    seen = examined(lab, hidden, pci=slots(lab, "0x1002", "0x8086"))
    if any(not runtime["error"] for runtime in seen.runtimes):
        raise Skip("this machine has a GPU that works")
    ours = [problem for problem in seen.problems if "libamdhip64" in problem.text]
    check(ours and not any("NVIDIA" in remedy for remedy in ours[0].remedies), f"problems {seen.problems}")
    said = dict(gpus.lines(seen, slots(lab, "0x1002", "0x8086")))
    check_equal(said["GPU"], "none that can be used; in the slots: AMD at 0000:00:00.0", "the line of the GPU")


@case
def drivers_are_found(lab):
    root = lab.folder / "root"
    for name in "sys/module/amdgpu", "proc/driver/nvidia":
        (root / name).mkdir(parents=True)
    check_equal(gpus.drivers(root), ["amdgpu of the kernel"], "drivers")
    (root / "sys/module/amdgpu/version").write_text("6.12.12\n")
    text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue May 12 2026\nGCC version:  gcc 12.2.0\n"
    (root / "proc/driver/nvidia/version").write_text(text)
    check_equal(gpus.drivers(root), ["amdgpu 6.12.12", "nvidia 580.159.03"], "drivers with versions")
    check_equal(gpus.drivers(lab.folder / "nothing"), [], "drivers of nothing")


@case
def runtime_that_is_not_there(lab):
    seen = examined(lab, {"VMAFX_HIP_RUNTIME": "libno_such_runtime.so.1"})
    check_problem(seen, "no_runtime", "there is no libno_such_runtime.so.1", "correct VMAFX_HIP_RUNTIME")


@case
def runtime_that_does_not_load(lab):
    file = lab.folder / "libtext.so"
    file.write_text("This is a text.")
    seen = examined(lab, {"VMAFX_HIP_RUNTIME": file})
    check_problem(seen, "runtime_does_not_load", "cannot be loaded", "correct VMAFX_HIP_RUNTIME")


@case
def runtime_that_lacks_functions(lab):
    seen = examined(lab, {"VMAFX_HIP_RUNTIME": "libm.so.6"})
    check_problem(seen, "runtime_too_old", "has no function hipInit", "correct VMAFX_HIP_RUNTIME")


@case
def driver_that_is_not_there(lab):
    seen = examined(lab, broken(lab, "driver"))
    check_problem(seen, "no_driver", "/dev/kfd is missing", "run modprobe amdgpu")


@case
def device_that_may_not_be_opened(lab):
    seen = examined(lab, broken(lab, "permission"))
    check_problem(seen, "no_permission", "no permission to open /dev/kfd", "usermod -aG render,video USER")


@case
def driver_without_a_device(lab):
    for changed in broken(lab, "device"), emulator(lab, DEVICES="none"):
        seen = examined(lab, changed)
        check_problem(seen, "no_device", "has no device", "unset HIP_VISIBLE_DEVICES")


@case
def device_without_code(lab):
    seen = examined(lab, {**broken(lab, "code"), "VMAFX_DEVICE_PLACE_DIR": places(lab)})
    check_problem(seen, "no_code", "no code object for Broken (0000:03:00.0, unknown", "./quickstart build --gpu")
    check_equal(seen.gpus[0]["works"], False, "whether the GPU works")
    check("Broken (0000:03:00.0, unknown architecture), 8 GiB; 0 of 8 places taken; no code" in said_of(seen), "line")


def said_of(seen):
    return "\n".join(text for heading, text in gpus.lines(seen) if heading.startswith("GPU"))


@case
def device_that_computes_wrongly(lab):
    seen = examined(lab, {**broken(lab, "wrong"), "VMAFX_DEVICE_PLACE_DIR": places(lab)})
    check_problem(seen, "self_test_failed", "the self-test failed: word ", "do not use this GPU")


@case
def calls_that_fail(lab):
    for fault, kind, text in (
        ("hipModuleLoadData:memory", "no_memory", "hipModuleLoadData failed"),
        ("hipModuleLaunchKernel:lost", "gpu_fails", "hipModuleLaunchKernel failed"),
        ("hipModuleLoadData:209", "gpu_fails", "hipModuleLoadData failed"),
    ):
        seen = examined(lab, emulator(lab, FAIL=fault))
        check_problem(seen, kind, text, "")
        check(seen.gpus[0]["name"].startswith("emulator"), "the GPU is told")


@case
def device_that_does_not_answer(lab):
    seen = examined(lab, {**emulator(lab, HANG="hipModuleLaunchKernel"), "VMAFX_HIP_DEADLINE": "100"})
    check_problem(seen, "does_not_answer", "did not answer within 100 ms", "restart the machine")


@case
def call_that_does_not_come_back(lab):
    """The examination ends with its time, and tells how far it came; the facts before are kept."""
    for call, step in (("hipModuleLaunchKernel", "open emulator 0"), ("hipInit", "list the GPUs of")):
        seen = examined(lab, emulator(lab, BLOCK=call), 2)
        check_problem(seen, "hangs", f"after 2 s it had not come to an end of: {step}", "restart the machine")
        check(seen.cpu and seen.library["version"], "the facts before")


@case
def runtime_that_crashes(lab):
    seen = examined(lab, broken(lab, "crash"))
    check_problem(seen, "crashes", "list the GPUs of", "update its driver")


@case
def places_are_counted(lab):
    """Another process has the only place: this is told, and the GPU is not tried."""
    address = examined(lab, emulator(lab)).gpus[0]["pci_address"]
    with open(places(lab) / f"{address}.0", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        seen = examined(lab, {**emulator(lab), "VMAFX_DEVICE_PLACES": "1"})
        check_problem(seen, "no_place", "other processes use it", "VMAFX_DEVICE_PLACES")
        check("; 1 of 1 places taken; no place" in said_of(seen), said_of(seen))
    seen = examined(lab, {**emulator(lab), "VMAFX_DEVICE_PLACES": "1"})
    check_equal((seen.gpus[0]["places_taken"], seen.gpus[0]["works"]), (0, True), "without that process")


@case
def every_cause_has_a_remedy(lab):
    kinds = [kind for kind, _ in GPU_CAUSES.values()]
    check_equal(len(kinds), len(set(kinds)), "kinds of causes")
    for kind, remedies in GPU_CAUSES.values():
        check(remedies, f"{kind} has no remedy")


@case
def variables_that_are_wrong(lab):
    seen = examined(lab, {**emulator(lab), "VMAFX_HIP_DEADLINE": "soon"})
    check_problem(seen, "settings", "VMAFX_HIP_DEADLINE=soon is not a number", "correct or unset")


# -- The screen, JSON and the exit status ------------------------------------------------------------------------------


def doctor(lab, *words, **changed):
    return vmafx(lab, "doctor", *words, **changed)


@case
def screen_of_a_gpu_that_works(lab):
    done = doctor(lab, "--backend", "hip", **emulator(lab)).succeeded()
    for text in (
        "ffmpeg     ",
        "because VMAFX_FFMPEG names it",
        "libvmafx_hip_emulator.so",
        "; self-test passed",
        "pairs on CPU in",
        "pairs on emulator 0 (",
        "Scoring works on the CPU and on the GPU",
        "cffi (merge, --jobs, the module vmafx): apt-get install python3-cffi",
    ):
        check(text in done.out, f"'{text}' is not in: {done.out}")
    found = json.loads(doctor(lab, "--json", **emulator(lab)).succeeded().out)
    check_equal((found["schema"], found["scoring"], found["scoring_on_gpu"]), (1, True, True), "verdict")
    of_cpu, of_gpu = found["trials"]
    check_equal((of_gpu["backend"], of_gpu["vmaf"]), ("hip", of_cpu["vmaf"]), "scores of the GPU")
    check(found["ffmpeg"]["path"] == str(lab.ffmpeg) and "h264" in found["decoders"], f"{found['ffmpeg']}")


@case
def gpu_that_fails_leaves_the_cpu(lab):
    changed = emulator(lab, DEVICES="none")
    done = doctor(lab, **changed).succeeded()
    check("problem: the emulator has no device\n  remedy: " in done.out, done.out)
    check(done.out.endswith("Scoring works on the CPU.\n"), done.out)
    strict = doctor(lab, "--backend", "hip", "--json", **changed)
    found = json.loads(strict.out)
    check_equal((strict.status, found["scoring"], found["scoring_on_gpu"]), (1, True, False), "with --backend hip")
    check_equal([problem["kind"] for problem in found["problems"]], ["no_device"], "problems")


@case
def ffmpeg_without_the_filter(lab):
    plain = lab.folder / "ffmpeg"
    plain.write_text("#!/bin/sh\nexit 0\n")
    plain.chmod(0o755)
    for words, changed in ((["--ffmpeg", plain], {}), ([], {"VMAFX_FFMPEG": plain})):
        done = doctor(lab, "--backend", "cpu", *words, **changed)
        check_equal(done.status, 1, "exit status")
        check(f"{plain}, the only ffmpeg that may be used, cannot score: it has no filter vmafx" in done.out, done.out)
        check("remedy: run ./quickstart build" in done.out and "Scoring does not work." in done.out, done.out)
    done = doctor(lab, "--ffmpeg", "no-such", "--backend", "cpu")
    check("no-such, the only ffmpeg that may be used, cannot score: there is no such program" in done.out, done.out)


@case
def ffmpeg_that_draws_no_pictures(lab):
    """A small ffmpeg may lack the input format lavfi, or what decodes its pictures, and score files nevertheless."""
    small = lab.folder / "small-ffmpeg"
    said = "[fatal] Unknown input format: 'lavfi'"
    small.write_text(f'#!/bin/sh\ncase "$*" in *lavfi*) echo "{said}" >&2; exit 234 ;; esac\nexec {lab.ffmpeg} "$@"\n')
    small.chmod(0o755)
    done = doctor(lab, "--ffmpeg", small, **emulator(lab))
    check_equal(done.status, 1, "exit status")
    check(f"this ffmpeg cannot draw pictures: {said}" in done.out and "trial      not made\n" in done.out, done.out)
    check(done.out.endswith("Scoring was not tried.\n"), done.out)
    found = json.loads(doctor(lab, "--ffmpeg", small, "--json", **emulator(lab)).out)
    check_equal([run["works"] for run in found["trials"]], [False], "trials")
    check("trial_not_made" in [problem["kind"] for problem in found["problems"]], f"{found['problems']}")


@case
def ffmpeg_that_hangs(lab):
    """The trial ends with its time."""
    slow = lab.folder / "slow-ffmpeg"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *-filter_complex*) sleep 100 ;; esac\nexec {lab.ffmpeg} "$@"\n')
    slow.chmod(0o755)
    done = doctor(lab, "--backend", "cpu", "--ffmpeg", slow, "--limit", 3)
    check_equal(done.status, 1, "exit status")
    check("problem: scoring did not end within 3 s" in done.out, done.out)


@case
def instruction_set_that_is_wrong(lab):
    done = doctor(lab, VMAFX_CPU="mmx", **NO_GPU)
    check_equal(done.status, 1, "exit status")
    check("mmx" in done.out and "remedy: correct or unset VMAFX_CPU" in done.out, done.out)


@case
def library_that_is_not_there(lab):
    """ffmpeg brings its own library: scoring works, and what needs the library is told."""
    done = doctor(lab, VMAFX_LIBRARY=lab.folder / "none.so").succeeded()
    check("the library cannot be loaded" in done.out and "set VMAFX_LIBRARY" in done.out, done.out)


@case
def packages_that_are_missing(lab):
    program = "import sys; sys.modules.update(fastjsonschema=None); from vmafx.command.__main__ import main; "
    done = subprocess.run(
        [sys.executable, "-c", f"{program}sys.exit(main(['doctor', '--backend', 'cpu']))"],
        env=environment(lab),
        capture_output=True,
        text=True,
    )
    check_equal(done.returncode, 1, done.stderr)
    check(
        "remedy: run apt-get install python3-fastjsonschema, or pip install fastjsonschema" in done.stdout, done.stdout
    )


@case
def doctor_limits(lab):
    for limit in ("0", "-1", "soon", "1e9", "nan"):
        vmafx(lab, "doctor", f"--limit={limit}").failed(2, "is not a time limit")


@case
def encoders_and_decoders_are_found(lab):
    seen = programs.look(str(lab.ffmpeg), LIMIT_S)
    check("libx264" in seen.encoders and "hevc" in seen.decoders, f"{seen.encoders}, {seen.decoders}")
    packages = {module: "1.0" for module, *_ in programs.PACKAGES}
    said = dict(programs.lines(replace(seen, packages=packages, encoders=["libx264"], decoders=[])))
    check(said["encoders"].startswith("libx264; none for HEVC,"), said["encoders"])
    check(said["decoders"].startswith("none for H.264,"), said["decoders"])
    check(seen.versions["FFmpeg"] != "unknown" and seen.versions["ffprobe"] != "unknown", f"{seen.versions}")


# -- Models and metrics ------------------------------------------------------------------------------------------------


@case
def models_are_those_of_the_library(lab):
    check_equal([model.name for model in MODELS], in_order(module.models()), "models")
    listed = json.loads(vmafx(lab, "models", "--json").succeeded().out)["models"]
    check_equal({model["name"] for model in listed}, set(module.models()), "models in JSON")
    check_equal(
        {model["name"] for model in listed if model["auto"]}, {"vmaf_v0.6.1", "vmaf_4k_v0.6.1"}, "models of auto"
    )
    built_in = (top / "models/builtin.inc").read_text()
    clips = dict(re.findall(r'\{"(vmaf\w[^"]*)",\s+"\w{64}",\s+kVmaf[^;]*?\{0, (\d+)\},', built_in))
    check_equal({model.name: str(model.most) for model in MODELS}, clips, "the highest scores")
    said = vmafx(lab, "models").succeeded().out
    check(re.search(r"^vmaf_4k_v0.6.1 +2160 rows +1.5 heights +0 to 100 +vif, adm, motion$", said, re.M), said)


def in_order(names):
    """Returns the names in the order of the list, which has the integer models before those in floating point."""
    order = [model.name for model in MODELS]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


@case
def models_have_the_features_that_they_read(lab):
    from vmafx._library import ffi, library, text_of

    for model in MODELS:
        opened = ffi.new("VmafxPredictor **")
        check_equal(library().vmafx_predictor_open(opened, model.name.encode(), ffi.NULL, ffi.NULL), 0, model.name)
        read = text_of(library().vmafx_predictor_feature(opened[0]))
        library().vmafx_predictor_close(opened)
        metrics = {re.match(r"name=(\w+)", part)[1] for part in read.split("|")}
        check_equal(set(model.features.split(", ")), metrics, f"features of {model.name}")


@case
def metrics_are_those_of_the_library(lab):
    listed = json.loads(vmafx(lab, "metrics", "--json").succeeded().out)["metrics"]
    names = [name for name in module.extractors() if not name.endswith("_hip")]
    check_equal([metric["name"] for metric in listed], names, "metrics")
    for metric in listed:
        keys = {score["key"] for score in metric["scores"]}
        check_equal(keys, {key for key, facts in KNOWN.items() if facts[0] == metric["name"]}, metric["name"])
        check(metric["main_score"] in keys and metric["range"] and metric["about"], f"{metric}")
    said = vmafx(lab, "metrics").succeeded().out
    check(re.search(r"^psnr +psnr_y +higher +dB +0 to 60 at 8 bits, 72 at 10, 84 at 12 +yes ", said, re.M), said)
    check(re.search(r"^cambi +cambi +lower +– ", said, re.M), said)


@case
def table_of_models_is_made(lab):
    done = subprocess.run([sys.executable, top / "tools/make_models.py", "--check"], capture_output=True, text=True)
    check_equal((done.returncode, done.stderr), (0, ""), "tools/make_models.py")
