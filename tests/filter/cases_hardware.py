"""Frames in a GPU's memory: DRM PRIME frames made of memory files (hardware.c), the GPU an emulator."""

import os
import re
import subprocess
from pathlib import Path

from support import Outcome, Skip, case, check, check_equal, compiled, compiled_program, slow_case

FRAMES = 12  # frames that hardware.c makes


def run(lab, main, reference, options="", report="report.json", env=None, **variables):
    """Runs the filter on two inputs, described as hardware.c wants them."""
    library = Path(lab.ffmpeg).parent.parent / "lib"
    emulator = library / "libvmafx_hip_emulator.so"
    if not emulator.exists() or not (library / "vmafx").exists():
        raise Skip("this ffmpeg has no emulator beside it")
    graph = f"vmafx=backend=hip:feature=name=psnr:score_fmt=%.17g:log_fmt=json:log_path={report}{options}"
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library / "vmafx"),
        "VMAFX_HIP_RUNTIME": str(emulator),
        "VMAFX_HIP_EMULATOR_THREADS": "1",
        **{f"VMAFX_HIP_EMULATOR_{name}": value for name, value in variables.items()},
        **(env or {}),
    }
    command = [str(compiled_program(lab, "hardware")), graph, main, reference]
    done = subprocess.run(command, stderr=subprocess.PIPE, cwd=lab.folder, env=environment, timeout=100)
    return Outcome(command, done.returncode, done.stderr.decode(errors="replace"), 0)


def scores(lab, report="report.json"):
    return [frame["metrics"] for frame in lab.json(report)["frames"]]


def scored_like_host_frames(lab, outcome, report="report.json"):
    """Frames score as in host memory, to the last bit, pass through, and leave no descriptor open."""
    outcome.succeeded()
    outcome.says(f"{FRAMES} frames came out as they went in, 0 descriptors more than before")
    run(lab, "host", "host", report="host.json").succeeded()
    check_equal(scores(lab, report), scores(lab, "host.json"), "scores")
    check_equal(len(scores(lab, report)), FRAMES, "frames")
    return lab.json(report)["vmafx"]["frames"]


def counts(imported=0, uploaded=0, downloaded=0):
    return {"imported": imported, "uploaded": uploaded, "downloaded": downloaded}


IMPORTED, UPLOADED = counts(imported=FRAMES), counts(uploaded=FRAMES)
DOWNLOADED = counts(uploaded=FRAMES, downloaded=FRAMES)


@case
@slow_case
def linear_frames_are_imported(lab):
    for main, reference in (("drm", "drm"), ("drm", "host"), ("host", "drm"), ("big", "drm")):
        for lanes in ("32", "64"):
            outcome = run(lab, main, reference, LANES=lanes)
            frames = scored_like_host_frames(lab, outcome)
            check_equal(frames["distorted"], UPLOADED if main == "host" else IMPORTED, f"{main} as main")
            check_equal(frames["reference"], UPLOADED if reference == "host" else IMPORTED, f"{reference} as reference")
            outcome.does_not_say("downloaded from the GPU").says("frames: reference: ")


@case
def tiled_frames_are_downloaded(lab):
    outcome = run(lab, "tiled", "drm")
    frames = scored_like_host_frames(lab, outcome)
    check_equal(frames, {"reference": IMPORTED, "distorted": DOWNLOADED})
    check_equal(
        outcome.stderr.count("the distorted frames are downloaded from the GPU: they are not linear"), 1, "reasons"
    )


@case
def frames_of_another_device_are_downloaded(lab):
    outcome = run(lab, "drm", "foreign")
    frames = scored_like_host_frames(lab, outcome)
    check_equal(frames, {"reference": DOWNLOADED, "distorted": IMPORTED})
    outcome.says(
        "the reference frames are downloaded from the GPU: they are on another device (0000:0a:00.0, the metrics "
        "run on "
    )
    same = run(lab, "drm", "foreign", DEVICES="discrete@0000:0a:00.0")
    check_equal(scored_like_host_frames(lab, same)["reference"], IMPORTED)


@case
def frames_whose_import_fails_are_downloaded(lab):
    outcome = run(lab, "drm", "drm", FAIL="hipImportExternalMemory:801")
    frames = scored_like_host_frames(lab, outcome)
    check_equal(frames, {"reference": DOWNLOADED, "distorted": DOWNLOADED})
    outcome.says("frames are downloaded from the GPU: hipImportExternalMemory failed: operation not supported (801)")


@case
def import_device_refuses_downloads(lab):
    check_equal(scored_like_host_frames(lab, run(lab, "drm", "drm", ":import=device"))["distorted"], IMPORTED)
    for kind, reason in (("tiled", "they are not linear"), ("foreign", "they are on another device")):
        run(lab, kind, "drm", ":import=device").failed(
            f"import=device, but the distorted frames cannot be read where they lie: {reason}"
        )
    run(lab, "drm", "drm", ":import=sometimes").failed("there is no import=sometimes; use auto, device or host")


@case
def cuda_contexts_are_handed_in_whatever_the_options_say(lab):
    """The library, not the filter, knows the contexts' device: here none of the runtime's devices."""
    for options in (":device=0", ":device=0000\\:03\\:00.0", ":device=0:backend=auto"):
        outcome = run(lab, "cuda", "host", f"{options}:import=device")
        if "a libavutil without CUDA" in outcome.stderr:
            raise Skip("this libavutil knows no CUDA frames")
        outcome.failed("the runtime in use does not belong to the platform of the given context")
        outcome.does_not_say("no device context was handed in")


@case
def import_host_downloads_always(lab):
    outcome = run(lab, "drm", "drm", ":import=host")
    check_equal(scored_like_host_frames(lab, outcome), {"reference": DOWNLOADED, "distorted": DOWNLOADED})
    outcome.says("the distorted frames are downloaded from the GPU: import=host")


@case
def the_cpu_gets_downloaded_frames(lab):
    outcome = run(lab, "drm", "host", ":backend=cpu")
    frames = scored_like_host_frames(lab, outcome)
    check_equal(frames, {"reference": counts(), "distorted": counts(downloaded=FRAMES)})
    check_equal(
        len(re.findall("the distorted frames are downloaded from the GPU: .* runs on the CPU", outcome.stderr)),
        1,
        "reasons",
    )


@case
def the_gpu_may_fail_with_frames_on_it(lab):
    outcome = run(lab, "drm", "drm", ":backend=auto", FAIL="250:lost")
    scored_like_host_frames(lab, outcome)
    outcome.says("the CPU scores from there on")
    check(lab.json("report.json")["vmafx"]["frames"]["distorted"]["downloaded"] > 0, "no frame was downloaded")


@case
def a_thread_for_the_gpu_that_cannot_start_is_an_error(lab):
    """The first thread opens the GPU, the second is the CPU's; the third would drive the GPU."""
    library = compiled(lab, "refuse_threads", "-shared", "-fPIC", "-ldl")
    few = {"LD_PRELOAD": str(library), "REFUSE_THREADS": "2"}
    outcome = run(lab, "host", "host", ":n_threads=1", env=few)
    outcome.failed("cannot start the thread that drives the GPU").says("Cannot allocate memory")
