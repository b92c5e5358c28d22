"""Vulkan frames: Mesa's Vulkan on the CPU (lavapipe) exports memory, the emulator imports it.

A layer (vulkan_layer.c) counts copies and what is left on the device, and makes calls of Vulkan fail.
"""

import json
import os
import re
import subprocess
from pathlib import Path

from cases_hardware import counts, scores
from support import FRAMES, Outcome, Skip, case, check, check_equal, compiled

IMPORTED, UPLOADED = counts(imported=FRAMES), counts(uploaded=FRAMES)
DOWNLOADED = counts(uploaded=FRAMES, downloaded=FRAMES)
LAYER = "VK_LAYER_VMAFX_test"
FEATURES = "model='':feature=name=psnr:score_fmt=%.17g:log_fmt=json"


def layer(lab):
    """Builds the layer, and returns the variables that put it under ffmpeg."""
    try:
        library = compiled(lab, "vulkan_layer", "-shared", "-fPIC")
    except Exception as reason:
        raise Skip("Vulkan's headers are not installed") from reason
    functions = {"vkGetInstanceProcAddr": "layer_get_instance", "vkGetDeviceProcAddr": "layer_get_device"}
    facts = {
        "name": LAYER,
        "type": "GLOBAL",
        "library_path": str(library),
        "api_version": "1.3.0",
        "implementation_version": "1",
        "description": "counts",
        "functions": functions,
    }
    (lab.folder / "layer.json").write_text(json.dumps({"file_format_version": "1.0.0", "layer": facts}))
    return {"VK_LAYER_PATH": str(lab.folder), "VK_INSTANCE_LAYERS": LAYER}


def environment(lab, **variables):
    library = Path(lab.ffmpeg).parent.parent / "lib/libvmafx_hip_emulator.so"
    if not library.exists():
        raise Skip("this ffmpeg has no emulator beside it")
    return {"VMAFX_HIP_RUNTIME": str(library), "VMAFX_HIP_EMULATOR_THREADS": "1", **layer(lab), **variables}


def run(lab, graph, *inputs, report="report.json", options="", device="vulkan=gpu", **variables):
    """Runs a graph that makes [d] and [r], with the GPU's metrics behind it."""
    outcome = lab.run(
        "-v verbose -init_hw_device",
        device,
        "-filter_hw_device gpu",
        *(inputs or ("-i", lab.clips.dist, "-i", lab.clips.ref)),
        "-lavfi",
        f"{graph};[d][r]vmafx=backend=hip:{FEATURES}:log_path={report}{options}",
        "-f null -",
        env=environment(lab, **variables),
    )
    if re.search("Device creation failed|No device could be found|Cannot load libvulkan", outcome.stderr):
        raise Skip("this machine has no Vulkan device")
    return outcome


def both(samples, after=""):
    return f"[0]{samples}format={{0}},hwupload{after}[d];[1]{samples}format={{0}},hwupload{after}[r]"


def on_the_host(lab, samples, pix_fmt, *inputs):
    """Scores the frames in host memory."""
    run(
        lab, f"[0]{samples}format={pix_fmt}[d];[1]{samples}format={pix_fmt}[r]", *inputs, report="host.json"
    ).succeeded()
    return scores(lab, "host.json")


def copies(outcome):
    """The number of planes that were copied to the host, and on the device."""
    found = re.search(r"vulkan: (\d+) copies to the host, (\d+) on the device", outcome.stderr)
    check(found, f"the layer says nothing: {outcome.tail()}")
    return int(found[1]), int(found[2])


def left_nothing(outcome):
    outcome.does_not_say(" left\n").does_not_say("not given back")
    return outcome


@case
def vulkan_frames_are_read_without_a_download(lab):
    """Also of odd sizes and other depths; the first frame of each input alone is downloaded, to be compared."""
    formats = (("", "yuv420p", 3), ("", "nv12", 2), ("crop=187:101:0:0:exact=1,", "yuv420p", 3))
    deep = (("", "yuv420p10le", 3), ("", "p010le", 2), ("", "yuv444p16le", 3), ("", "gray16le", 1))
    for samples, pix_fmt, planes in formats + deep:
        wanted = on_the_host(lab, samples, pix_fmt)
        outcome = run(lab, both(samples).format(pix_fmt), options=":import=device")
        left_nothing(outcome.succeeded())
        check_equal(scores(lab), wanted, f"{samples}{pix_fmt}")
        check_equal(lab.json("report.json")["vmafx"]["frames"], {"reference": IMPORTED, "distorted": IMPORTED}, pix_fmt)
        check_equal(copies(outcome), (2 * planes, 2 * planes * FRAMES), pix_fmt)


@case
def planes_that_no_metric_reads_are_not_copied(lab):
    graph = both("").format("yuv420p")
    outcome = lab.run(
        "-init_hw_device vulkan=gpu -filter_hw_device gpu -i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-lavfi",
        f"{graph};[d][r]vmafx=backend=hip:model='':feature=name=motion:import=device",
        "-f null -",
        env=environment(lab),
    )
    if "vulkan: " not in outcome.stderr:
        raise Skip("this machine has no Vulkan device")
    check_equal(copies(outcome.succeeded()), (2 * 3, 2 * FRAMES))


@case
def vulkan_and_host_frames_go_together(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    for graph, dist, ref in (
        ("[0]format=yuv420p,hwupload[d];[1]format=yuv420p[r]", IMPORTED, UPLOADED),
        ("[0]format=yuv420p[d];[1]format=nv12,hwupload[r]", UPLOADED, IMPORTED),
    ):
        left_nothing(run(lab, graph).succeeded())
        check_equal(scores(lab), wanted)
        check_equal(lab.json("report.json")["vmafx"]["frames"], {"reference": ref, "distorted": dist})


@case
def several_encodes_share_the_copies_of_the_reference(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    uploads = ";".join(f"[{i}]format=yuv420p,hwupload[{name}]" for i, name in ((0, "d"), (1, "e"), (2, "r")))
    outcome = lab.run(
        "-v verbose -init_hw_device vulkan=gpu -filter_hw_device gpu -i",
        lab.clips.dist,
        "-i",
        lab.clips.dist,
        "-i",
        lab.clips.ref,
        "-lavfi",
        f"{uploads};[d][e][r]vmafx=backend=hip:{FEATURES}:encodes=2:log_path=log%d.json:import=device[a][b]",
        "-map [a] -f null - -map [b] -f null -",
        env=environment(lab),
    )
    left_nothing(outcome.succeeded())
    check_equal(copies(outcome), (9, 9 * FRAMES))
    reports = sorted(lab.folder.glob("log*.json"))
    check_equal(len(reports), 2, reports)
    for report in reports:
        check_equal(scores(lab, report.name), wanted, report.name)


@case
def vulkan_frames_of_another_device_are_downloaded(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    same = run(lab, both("").format("yuv420p"), VULKAN_PCI="0000:03:00.0", options=":import=device")
    left_nothing(same.succeeded())
    outcome = run(lab, both("").format("yuv420p"), VULKAN_PCI="0000:0a:00.0")
    left_nothing(outcome.succeeded()).says(
        "the distorted frames are downloaded from the GPU: they are on another device (0000:0a:00.0, the metrics run "
        "on 0000:03:00.0)"
    )
    check_equal(scores(lab), wanted)
    check_equal(lab.json("report.json")["vmafx"]["frames"], {"reference": DOWNLOADED, "distorted": DOWNLOADED})
    check_equal(copies(outcome)[1], 0, "copies on the device")


@case
def vulkan_frames_that_cannot_be_exported_are_downloaded(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    outcome = run(lab, both("").format("yuv420p"), VULKAN_NO_EXPORT="1")
    left_nothing(outcome.succeeded()).says(
        "The Vulkan frames of the main input cannot be copied on their device: the driver exports no buffers as opaque "
        "descriptors"
    ).says("frames are downloaded from the GPU: ")
    check_equal(scores(lab), wanted)
    check_equal(lab.json("report.json")["vmafx"]["frames"], {"reference": DOWNLOADED, "distorted": DOWNLOADED})


@case
def calls_of_vulkan_that_fail_lead_to_downloads(lab):
    """The k-th call of each kind fails: the filter's, or FFmpeg's own, whose error ends the stream."""
    wanted = on_the_host(lab, "", "yuv420p")
    graph = both("").format("yuv420p")
    told = 0
    for name, attempts in (
        ("vkGetMemoryFdKHR", (1, 2)),
        ("vkAllocateCommandBuffers", (7, 8, 9, 10)),
        ("vkCreateCommandPool", (7, 8)),
        ("vkBeginCommandBuffer", (5, 6, 7)),
        ("vkAllocateMemory", (13, 16)),
    ):
        for k in attempts:
            outcome = run(lab, graph, VULKAN_FAIL=f"{name}:{k}")
            ours = "cannot be copied on their device" in outcome.stderr or "Vulkan cannot copy" in outcome.stderr
            told += ours
            if not ours and outcome.code:
                continue
            left_nothing(outcome.succeeded())
            check_equal(scores(lab), wanted, f"{name}:{k}")
    check(told >= 5, f"only {told} failures met the filter's own calls")


@case
def failing_imports_of_vulkan_memory_lead_to_downloads(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    for call in ("hipImportExternalMemory", "hipExternalMemoryGetMappedBuffer"):
        outcome = run(lab, both("").format("yuv420p"), VMAFX_HIP_EMULATOR_FAIL=f"{call}:801")
        left_nothing(outcome.succeeded()).says(f"frames are downloaded from the GPU: {call} failed")
        check_equal(scores(lab), wanted, call)


@case
def a_gpu_that_fails_leaves_vulkan_frames_to_the_cpu(lab):
    wanted = on_the_host(lab, "", "yuv420p")
    outcome = run(lab, both("").format("yuv420p"), options=":backend=auto", VMAFX_HIP_EMULATOR_FAIL="300:lost")
    left_nothing(outcome.succeeded()).says("the CPU scores from there on")
    check_equal(scores(lab), wanted)


@case
def descriptors_stay_few_over_many_vulkan_frames(lab):
    """Six hundred frames, and not so many descriptors."""
    loop = "format=gray,scale=64:64,loop=29:size=20,hwupload"
    inputs = lab.command("-i", lab.clips.dist, "-i", lab.clips.ref)[1:]
    graph = f"[0]{loop}[d];[1]{loop}[r];[d][r]vmafx=backend=hip:{FEATURES}:log_path=report.json:import=device"
    words = "-v verbose -nostdin -nostats -init_hw_device vulkan=gpu -filter_hw_device gpu".split()
    done = subprocess.run(
        ["prlimit", "--nofile=200", lab.ffmpeg, *words, *inputs, "-lavfi", graph, "-f", "null", "-"],
        stderr=subprocess.PIPE,
        cwd=lab.folder,
        env={**os.environ, **environment(lab)},
        timeout=100,
    )
    outcome = Outcome([], done.returncode, done.stderr.decode(errors="replace"), 0)
    if "vulkan: " not in outcome.stderr:
        raise Skip("this machine has no Vulkan device")
    left_nothing(outcome.succeeded())
    check_equal(lab.json("report.json")["vmafx"]["frames"]["distorted"], counts(imported=600))
    check_equal(copies(outcome), (2, 1200))
