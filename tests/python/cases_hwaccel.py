"""Decoders of a GPU: which inputs they take, what their frames meet in its memory, and that scores stay the same."""

import json
import multiprocessing
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from cases_fleet import library, needs_dask, records, write_list
from command import Done, environment
from common import ALL, case, check, check_equal, raises, slow_case, top
from vmafx.command import _ffmpeg
from vmafx.command._inputs import Chain
from vmafx.command._said import Said
from vmafx.command._scoring import Settings, TimeRange, _is_of_decoders, prepare
from vmafx.command._terminal import Failure
from vmafx.command.decoders import chosen, decision, places, trial
from vmafx.command.decoders.decision import CPU, Decoder, Decoding, Gpu, Machine, Tried

NVIDIA, RADEON, NEITHER = Machine(True, False), Machine(False, True), Machine(False, False)
DOWN = "hwdownload,format=nv12,format=yuv420p"
# The command on a machine with an NVIDIA GPU.
WITH_GPU = """
import sys
from vmafx.command.decoders import chosen, trial
from vmafx.command.decoders.decision import Gpu, Machine
least, trial.LIMIT_S, decoders = float(sys.argv.pop(1)), 10.0, int(sys.argv.pop(1))
chosen.ALONE = chosen.Least(least, 0.0)
trial.machine = lambda: Machine(True, False)
trial.nvidia_gpus = lambda: (Gpu(0, "0000:01:00.0", decoders),)
from vmafx.command import _jobs
_jobs.LEAST_SECONDS_ON_GPU = 1.0
from vmafx.command.__main__ import main
sys.exit(main())
"""


# The same for all of Python's processes.
FOR_ALL = """
from vmafx.command.decoders import chosen, places, trial
from vmafx.command.decoders.decision import Gpu, Machine
chosen.OF_WORKER = chosen.Least(0.0, 0.0)
trial.machine = lambda: Machine(True, False)
trial.nvidia_gpus = lambda: (Gpu(0, "0000:01:00.0", 1),)
places.folder = lambda: {folder!r}
"""


def video(name="dis.mp4", pix_fmt="yuv420p", codec="h264", options=(), **facts):
    usual = {"container": "mov", "width": 1920, "height": 1080, "rate": Fraction(25), "start": 0.0, "duration": 60.0}
    usual |= {"frames": None, "aspect": None, "interlaced": False, "full_range": False, "matrix": None}
    return _ffmpeg.Video(path=name, pix_fmt=pix_fmt, codec=codec, options=options, **usual | {"transfer": None} | facts)


# -- Decisions ---------------------------------------------------------------------------------------------------------


@case
def methods_of_a_machine(lab):
    """auto tries what ffmpeg and the machine have, and nothing where the CPU scores."""
    del lab
    all_of_them = ["vdpau", "cuda", "vaapi", "vulkan"]
    for wanted, backend, offered, machine, tried in (
        ("auto", None, all_of_them, NVIDIA, ["cuda"]),
        ("auto", "hip", all_of_them, RADEON, ["vaapi", "vulkan"]),
        ("auto", None, all_of_them, NEITHER, []),
        ("auto", None, [], NVIDIA, []),
        ("auto", "cpu", all_of_them, NVIDIA, []),
        ("none", None, all_of_them, NVIDIA, []),
        ("cuda", "cpu", all_of_them, NEITHER, ["cuda"]),
    ):
        got = decision.methods_to_try(wanted, backend, offered, machine)
        check_equal(got, tried, f"methods of {wanted}, {backend}, {machine}")
    with raises(Failure, "no decoders by 'vaapi' (it has cuda)"):
        decision.methods_to_try("vaapi", None, ["cuda", "vdpau"], NVIDIA)
    with raises(Failure, "it has none"):
        decision.methods_to_try("cuda", None, ["vdpau"], NVIDIA)
    check(decision.lacks_decoders("auto", None, ["vaapi"], NVIDIA), "an ffmpeg without NVIDIA's decoders")
    check(not decision.lacks_decoders("auto", "cpu", [], NVIDIA), "the CPU scores")
    check(not decision.lacks_decoders("auto", None, [], RADEON), "no GPU of NVIDIA")


@case
def inputs_that_are_too_short(lab):
    """The container's count of frames goes before duration and rate; many short inputs do not count as a long one."""
    del lab
    alone, of_worker = decision.ALONE, decision.OF_WORKER
    small = {"width": 640, "height": 360}
    for videos, least, line in (
        ([video(frames=4000)] * 2, alone, ""),
        ([video(frames=3999)] * 2, alone, "8,000 frames of 1080p on, of which the inputs have 7,998 together"),
        ([video(frames=999)] * 17, alone, "1,000 frames of 1080p on, of which the longest input has 999"),
        ([*[video(frames=999)] * 17, video(frames=1000)], alone, ""),
        ([video(duration=159.0)] * 2, alone, "7,950 together"),
        ([video(duration=160.0)] * 2, alone, ""),
        ([video(rate=None, frames=120)] * 2, alone, "240 together"),
        ([video(duration=None)] * 2, alone, "less than one together"),
        ([video(frames=2000, **small)] * 2, alone, "444 together"),
        ([video(frames=1000)] * 3, of_worker, "4,000 frames of 1080p on, of which the inputs have 3,000 together"),
        ([video(frames=100)] * 40, of_worker, ""),
        ([video(frames=20000, **small)] * 2, of_worker, ""),
    ):
        got = decision.too_short(videos, least)
        check((line in got) if line else not got, f"{len(videos)} of {videos[0].frames}, {least}: {got}")
    for text, line in (
        ("-", ""),
        ("1000s-", ""),
        ("3900s-", "5,000 together"),
        ("10s-12s", "100 together"),
        ("5000s-", "less than one together"),
    ):
        got = decision.too_short([video(frames=100_000)] * 2, alone, *TimeRange.parse(text).seconds())
        check((line in got) if line else not got, f"{text} of 4,000 s: {got}")


@case
def decoders_of_inputs(lab):
    """Each reason for which an input is decoded in another way than hoped for has its line, or none."""
    del lab
    same, scaled = Chain("settb=AVTB,setpts=PTS-(40)", ("",)), Chain("", ("scale=1920:1080:flags=bicubic,setsar=1",))
    on_gpu = Decoder("cuda", (True,), "yuv420p")
    refused = Tried("No support for this profile")
    for own, chain, tried, wanted, decoder, text in (
        (video(), same, Tried(), "auto", on_gpu, ""),
        (video(), scaled, Tried(), "auto", Decoder("cuda", (False,), "yuv420p"), "downloaded for scale"),
        (video(), same, refused, "auto", CPU, "decoded on the CPU: the GPU's decoder (cuda) does not take it: No supp"),
        (video(), same, refused, "cuda", CPU, "does not take it"),
        (video(), same, Tried(same=False), "auto", CPU, "gives other pictures than the CPU's"),
        (video(), same, Tried(same=False), "cuda", on_gpu, "scores differ"),
        (video(), same, Tried(imported=False), "auto", CPU, "cannot read frames of cuda in the memory"),
        (video(), same, Tried(imported=False), "cuda", on_gpu, ""),
        (video(pix_fmt="yuv422p10le"), same, None, "auto", CPU, "decoders of GPUs do not give yuv422p10le"),
        (video(pix_fmt="yuv420p12le", codec="hevc"), same, None, "auto", CPU, "do not give yuv420p12le"),
        (video(codec="prores"), same, None, "auto", CPU, ""),
        (video(codec="rawvideo"), same, None, "cuda", CPU, ""),
        (video(options=("-c:v", "libdav1d")), same, None, "auto", CPU, ""),
        (video(options=("-hwaccel", "cuda")), same, None, "auto", CPU, ""),
    ):
        got, line = decision.decide(own, chain, "cuda", tried, wanted)
        check_equal(got, decoder, f"decoder of {own.pix_fmt}, {tried}, {wanted}")
        check((text in line) if text else not line, f"said: {line}")
    got, line = decision.decide(video(), scaled, "cuda", Tried(), "auto", scales=True)
    check_equal((got.stays, line), ((True,), ""), "scaled on the GPU")


@case
def filters_of_frames(lab):
    """Filters of times and tags stay on the GPU; all others get downloaded frames, in the samples of the CPU."""
    del lab
    for samples, chain, scales, wanted in (
        ("yuv420p", Chain("", ("",)), False, Chain("", ("",))),
        ("yuv420p", Chain("fps=25", ("setsar=1",)), False, Chain("fps=25", ("setsar=1",))),
        (
            "yuv420p",
            Chain("", ("format=yuv420p,setparams=colorspace=bt709",)),
            False,
            Chain("", ("setparams=colorspace=bt709",)),
        ),
        ("yuv420p", Chain("", ("format=yuv420p10le",)), False, Chain("", (f"{DOWN},format=yuv420p10le",))),
        (
            "yuv420p10le",
            Chain("fps=25", ("crop=2:2:0:0:exact=1",)),
            False,
            Chain("fps=25", ("hwdownload,format=p010le,format=yuv420p10le,crop=2:2:0:0:exact=1",)),
        ),
        ("yuv420p", Chain("bwdif=mode=send_frame", ("",)), False, Chain(f"{DOWN},bwdif=mode=send_frame", ("",))),
        (
            "yuv420p",
            Chain("fps=25", ("", "scale=1920:1080:flags=bicubic")),
            False,
            Chain("fps=25", ("", f"{DOWN},scale=1920:1080:flags=bicubic")),
        ),
        (
            "yuv420p",
            Chain("", ("scale=1920:1080:flags=bicubic",)),
            True,
            Chain("", ("scale_cuda=1920:1080:interp_algo=bicubic:param=0.6",)),
        ),
        (
            "yuv420p",
            Chain("", ("scale=in_range=pc:out_range=tv:flags=bicubic",)),
            True,
            Chain("", (f"{DOWN},scale=in_range=pc:out_range=tv:flags=bicubic",)),
        ),
        (
            "yuvj420p",
            Chain("", ("scale=64:64:flags=bicubic",)),
            False,
            Chain("", ("hwdownload,format=nv12,format=yuvj420p,scale=64:64:flags=bicubic",)),
        ),
    ):
        own = video(pix_fmt=samples)
        decoder = Decoder("cuda", decision.stays_of(own, chain, scales), samples, scales)
        check_equal(decision.chain_for(chain, decoder), wanted, f"filters of {samples}")
        check_equal(decision.chain_for(chain, CPU), chain, "filters of the CPU")


@case
def words_and_numbers(lab):
    """One GPU is opened for all inputs; jobs keep its decoders busy."""
    del lab
    decoding = Decoding("cuda", (Decoder("cuda", (True,), "yuv420p"), CPU, CPU), {"": "", "0000:0b:00.0": "1"})
    check_equal(decoding.words(None), ["-init_hw_device", "cuda=gpu"], "words")
    check_equal(decoding.words("0000:0b:00.0"), ["-init_hw_device", "cuda=gpu:1"], "words")
    check_equal((decoding.words_of(0)[:2], decoding.words_of(1)), (["-hwaccel", "cuda"], []), "words of inputs")
    check_equal((decoding.has("1"), decoding.streams, decoding.of([1]).streams), (False, 1, 0), "facts")
    numbers = [decision.jobs_for(streams, decoders) for streams, decoders in ((2, 7), (5, 7), (2, 1), (17, 1), (2, 14))]
    check_equal(numbers, [5, 2, 1, 1, 10], "jobs")
    check_equal(round(decision.frames_of([video(), video(width=3840, height=2160)])), 7500, "frames of 1080p")


@case
def failures_of_decoders(lab):
    """A failure is the decoders' if they complain or nobody does, and not if the filter alone has its reasons."""
    del lab
    filters, decoder = "[Parsed_vmafx_0 @ 0x1] [error] cannot open the model", "[h264 @ 0x1] [error] cuvidMap failed"
    generic = "[fc#0 @ 0x1] [error] Error while filtering: Invalid argument"
    for lines, wanted in (
        ([decoder], True),
        ([], True),
        ([filters, generic], False),
        ([filters, decoder], True),
        (["[AVHWFramesContext @ 0x1] [error] CUDA_ERROR_OUT_OF_MEMORY"], True),
    ):
        check_equal(_is_of_decoders(Said(lines)), wanted, f"{lines}")


@case
def formats_that_the_driver_refuses(lab):
    """They need no trial; where the driver says nothing, or the codec is new to us, there is one."""
    formats = frozenset([("h264", 8, "420"), ("hevc", 10, "420")])
    for seen, cause in (
        (video(), ""),
        (video(pix_fmt="yuv444p"), "no h264 of 8 bits in 4:4:4"),
        (video(codec="hevc", pix_fmt="yuv420p10le"), ""),
        (video(codec="av1", pix_fmt="yuv420p10le"), "no av1 of 10 bits in 4:2:0"),
        (video(codec="vvc"), ""),
    ):
        told = decision.lacks_format(seen, formats)
        check(told.endswith(cause) and bool(told) == bool(cause), f"{seen.codec} {seen.pix_fmt}: {told}")
        check_equal(decision.lacks_format(seen, frozenset()), "", "with a driver that says nothing")
    dis, ref = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mkv", "-c:v mpeg4 -q:v 2")
    program = WITH_GPU.replace("decoders),)", "decoders, frozenset([('mpeg4', 8, '420')])),)")
    done, commands = scored(lab, dis, ref, *FEATURES, program=program)
    done.succeeded().says("dis.mp4 is decoded on the CPU: the GPU's decoder (cuda) does not take it: the driver says")
    check_equal([words.count("-hwaccel") for words in commands], [1], "inputs that the GPU decodes")
    trials = [json.loads(line) for line in (lab.folder / "commands").read_text().splitlines()]
    tried = [words for words in trials if "framemd5" in words]
    check(len(tried) == 1 and "ref.mkv" in tried[0][tried[0].index("-i") + 1], f"trials: {tried}")


# -- The machine -------------------------------------------------------------------------------------------------------


@case
def gpus_of_the_driver(lab):
    """The program that asks the driver gives numbers, addresses and decoders; without a driver, nothing."""
    libcuda = """
    #include <string.h>
    int cuInit(unsigned flags) { return flags; }
    int cuDeviceGetCount(int *count) { *count = 2; return 0; }
    int cuDeviceGetPCIBusId(char *name, int size, int device) {
      strncpy(name, device ? "0000:0B:00.0" : "0000:01:00.0", size); return 0; }
    int cuDevicePrimaryCtxRetain(void **context, int device) { *context = context; return device ? 2 : 0; }
    int cuCtxSetCurrent(void *context) { return !context; }
    struct caps {
      int codec, chroma; unsigned depth_minus_8, zero1[3]; unsigned char is_supported, decoders; unsigned short formats;
      unsigned width, height, blocks; unsigned short least_width, least_height;
      unsigned char histogram, counter_bits; unsigned short bins; unsigned zero2[10]; };
    _Static_assert(sizeof(struct caps) == 88, "CUVIDDECODECAPS");
    int cuvidGetDecoderCaps(struct caps *caps) {
      static const struct caps none;
      if (memcmp(caps->zero1, none.zero1, 12) || memcmp(caps->zero2, none.zero2, 40)) return 1;
      if (caps->codec < 0 || caps->codec > 11 || (caps->depth_minus_8 && caps->depth_minus_8 != 2)) return 1;
      if (caps->codec == 11 || (caps->chroma != 1 && caps->chroma != 3)) return 1;
      int is_h264 = caps->codec == 4, is_plain = caps->chroma == 1 && !caps->depth_minus_8;
      caps->formats = 0xffff, caps->width = caps->height = caps->blocks = ~0u;
      caps->least_width = caps->least_height = caps->bins = 0xffff, caps->histogram = caps->counter_bits = 0xff;
      caps->is_supported = is_h264 ? is_plain : caps->codec == 8, caps->decoders = is_h264 ? 7 : 3;
      return 0; }
    """
    program = Path(trial.__file__).with_name("nvidia.py")
    (lab.folder / "driver.c").write_text(libcuda)
    for name in ("libcuda.so.1", "libnvcuvid.so.1"):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", name, "driver.c"], cwd=lab.folder, check=True)
    done = subprocess.run(
        [sys.executable, program], env={"LD_LIBRARY_PATH": str(lab.folder)}, capture_output=True, check=True
    )
    formats = [["h264", 8, "420"], *(["hevc", bits, chroma] for bits in (8, 10) for chroma in ("420", "444"))]
    check_equal(json.loads(done.stdout), [[0, "0000:01:00.0", 7, formats], [1, "0000:0b:00.0", 1, []]], "GPUs")
    if not Path("/dev/nvidia0").exists():
        check_equal(trial.nvidia_gpus(), (), "GPUs of a machine without any")


@case
def names_of_gpus(lab):
    """FFmpeg counts NVIDIA's GPUs as the driver does, and knows those of others by their render nodes."""
    real = trial.nvidia_gpus, trial.DEVICES
    node = lab.folder / "dri/by-path/pci-0000:03:00.0-render"
    node.parent.mkdir(parents=True)
    (lab.folder / "dri/renderD129").touch()
    node.symlink_to("../renderD129")
    try:
        trial.nvidia_gpus, trial.DEVICES = lambda: (Gpu(0, "0000:01:00.0", 7), Gpu(1, "0000:0b:00.0", 7)), lab.folder
        for method, device, place in (
            ("cuda", "1", "1"),
            ("cuda", "0000:0B:00.0", "1"),
            ("cuda", "01:00.0", "0"),
            ("cuda", "0000:0c:00.0", None),
            ("vaapi", "0000:03:00.0", str(lab.folder / "dri/renderD129")),
            ("vaapi", "0", None),
            ("vulkan", "0000:03:00.0", None),
        ):
            check_equal(trial.place_of(method, device), place, f"{method} {device}")
        check_equal(trial.machine(), RADEON, "machine")
        check_equal([chosen.decoders_of(own) for own in ({""}, {"1"}, {"0", "1"}, {"9"})], [7, 7, 14, 1], "decoders")
    finally:
        trial.nvidia_gpus, trial.DEVICES = real


def hold_place(pipe, folder):
    places.folder = lambda: folder
    with places.held(2) as number:
        pipe.send(number)
        pipe.recv()
        os._exit(1)  # no lock is given back by hand


@case
def places_are_shared(lab):
    """Each process has another place; the one of a process that has died is free, whatever it left."""
    folder, real = str(lab.folder / "places"), places.folder
    places.folder = lambda: folder
    context = multiprocessing.get_context("fork")
    try:
        pipe, others = context.Pipe()
        process = context.Process(target=hold_place, args=(others, folder))
        process.start()
        check_equal(pipe.recv(), 0, "place of the other process")
        with places.held(2) as one, places.held(2) as none, places.held(0) as zero:
            check_equal((one, none, zero), (1, None, None), "places")
        pipe.send("end")
        process.join()
        with places.held(2) as one:
            check_equal(one, 0, "place that is free again")
        os.rename(folder, f"{folder}.old")
        os.symlink(f"{folder}.old", folder)  # another user's
        with places.held(2) as none:
            check_equal(none, None, "place behind a link")
    finally:
        places.folder = real


# -- Scoring -----------------------------------------------------------------------------------------------------------


def clip(lab, name, words="", size="96x96", seconds=1):
    source = f"testsrc2=s={size}:r=25:d={seconds}"
    lab.run("-f lavfi -i", source, f"-c:v libx264 -preset ultrafast -g 25 {words}".strip(), name).succeeded()
    return name


def scored(lab, *words, fault="", least=0, decoders=1, program=WITH_GPU, **variables):
    """Scores with the fake GPU; returns what was done and the commands that used the GPU."""
    log = lab.folder / "commands"
    log.unlink(missing_ok=True)
    own = {"FAKE_FFMPEG": lab.ffmpeg, "FAKE_LOG": log, "FAKE_FAULT": fault}
    own |= {"VMAFX_FFMPEG": top / "tests/python/fake_gpu.py"} | variables
    words = [sys.executable, "-c", program, least, decoders, "score", *words, "--json"]
    done = subprocess.run(
        list(map(str, words)),
        cwd=lab.folder,
        env=environment(lab, **own),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    commands = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return Done(done), [words for words in commands if "framemd5" not in words]


def scores(done):
    return [encode["pooled"] for encode in json.loads(done.succeeded().out)["encodes"]]


FEATURES = "--model", "none", "--feature", "psnr"


@case
def the_gpu_decodes(lab):
    """Frames stay on the GPU where they can; scores are those of the CPU's decoders."""
    dis, ref = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mp4", "-crf 10")
    small = clip(lab, "small.mp4", "-crf 30", "64x64")
    slow = clip(lab, "slow.mp4", "-r 5 -crf 20")
    alone, commands = scored(lab, dis, small, slow, ref, *FEATURES, "--hwaccel", "none")
    check_equal(commands, [], "commands with a GPU")
    done, commands = scored(lab, dis, small, slow, ref, *FEATURES)
    check_equal(scores(done), scores(alone), "scores")
    done.says("the GPU decodes (cuda)", "small.mp4 is decoded by the GPU (cuda), and downloaded for scale")
    done.does_not_say("on the CPU")
    check_equal([words.count("-hwaccel") for words in commands], [4], "inputs that the GPU decodes")
    graph = commands[0][commands[0].index("-filter_complex") + 1]
    check_equal(graph.count("hwdownload"), 1, "downloads")
    check("[2:V:0]fps=25" in graph, graph)
    check_equal(commands[0][commands[0].index("-init_hw_device") + 1], "cuda=gpu", "GPU")


@case
@slow_case
def what_decoders_refuse(lab):
    """Each fault leaves the scores as they are, and one line says what was done."""
    dis, ref = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mp4", "-crf 10")
    alone = scores(scored(lab, dis, ref, *FEATURES, "--hwaccel", "none")[0])
    for fault, runs, line in (
        ("refuses=dis.mp4", 1, "dis.mp4 is decoded on the CPU: the GPU's decoder (cuda) does not take it: No support"),
        ("no backend", 0, ""),
        ("other device", 0, "the filter cannot read frames of cuda in the memory of its GPU"),
        ("other pictures=ref.mp4", 1, "ref.mp4 is decoded on the CPU: the GPU's decoder (cuda) gives other pictures"),
        ("dies", 1, "have failed: all was decoded and scored once more on the CPU (ffmpeg was killed by signal 9"),
        ("complains", 1, "once more on the CPU (No decoder surfaces left)"),
        ("refuses", 0, "ref.mp4 is decoded on the CPU"),
        ("breaks", 1, "the GPU's decoders (cuda) have failed: all was decoded and scored once more on the CPU"),
    )[: 8 if ALL else 6]:
        done, commands = scored(lab, dis, ref, *FEATURES, fault=fault)
        check_equal(scores(done), alone, f"scores with '{fault}'")
        check_equal(len(commands), runs, f"runs with '{fault}'")
        lines = [text for text in done.err.splitlines() if "decode" in text and "the GPU decodes" not in text]
        check_equal(len(set(lines)) - (fault in ("refuses", "other device")), bool(line), f"lines: {done.err}")
        done.says(line)


@case
@slow_case
def samples_of_the_gpu(lab):
    """10 bits, full range and 4:2:2 beside 8 bits: what must be converted is downloaded, or decoded on the CPU."""
    deep, ref = clip(lab, "deep.mp4", "-pix_fmt yuv420p10le -crf 30"), clip(lab, "ref.mp4", "-crf 10")
    wide = clip(lab, "wide.mp4", "-pix_fmt yuv422p -crf 30")
    for dis, refs, samples, texts, streams in (
        (deep, deep, "yuv420p10le", [], 2),
        (wide, ref, "yuv420p", ["wide.mp4 is decoded on the CPU: decoders of GPUs do not give yuv422p"], 1),
    ):
        alone, _ = scored(lab, dis, refs, *FEATURES, "--hwaccel", "none")
        done, commands = scored(lab, dis, refs, *FEATURES, FAKE_SAMPLES=samples)
        check_equal(scores(done), scores(alone), f"scores of {dis}")
        check_equal(commands[0].count("-hwaccel"), streams, f"inputs of {dis} that the GPU decodes")
        done.says(*texts)


@case
def short_inputs_are_left_to_the_cpu(lab):
    """One line says so, where a GPU would have decoded longer ones; a decoder that is named decodes them."""
    dis, ref = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mp4", "-crf 10")
    plain = clip(lab, "ref.mkv", "-c:v ffv1")
    line = "a GPU's decoders pay from 2,000 frames of 1080p on, of which the inputs have less than one together"
    for inputs, own, words, said in (
        ((dis, ref), {"least": 2000}, (), line),
        ((dis, ref), {"least": 2000}, ("--backend", "cpu"), ""),
        ((plain, plain), {"least": 2000}, (), ""),
        ((dis, ref), {"least": 2000, "FAKE_METHODS": "vdpau"}, (), ""),
        ((dis, ref), {"FAKE_METHODS": "vdpau"}, (), "built without NVIDIA's decoders"),
    ):
        done, commands = scored(lab, *inputs, *FEATURES, *words, **own)
        scores(done)
        check_equal(commands, [], "commands with a GPU")
        done.says(said) if said else done.does_not_say("decode")
        check_equal(done.err.count("the CPU decodes"), int(said == line), f"lines: {done.err}")
    done, commands = scored(lab, dis, ref, *FEATURES, "--hwaccel", "cuda", least=2000)
    done.succeeded().says("the GPU decodes (cuda)")
    check_equal([words.count("-hwaccel") for words in commands], [2], "inputs that the GPU decodes")
    done, _ = scored(lab, dis, ref, *FEATURES, "--hwaccel", "vaapi")
    done.failed(1, "this ffmpeg has no decoders by 'vaapi' (it has cuda)")


@case
@slow_case
def decoders_have_jobs(lab):
    """Without --jobs, as many parts are scored at once as keep the decoders busy."""
    dis, ref = clip(lab, "dis.mp4", "-crf 40", seconds=8), clip(lab, "ref.mp4", "-crf 10", seconds=8)
    alone, _ = scored(lab, dis, ref, *FEATURES, "--hwaccel", "none")
    done, commands = scored(lab, dis, ref, *FEATURES, decoders=4, fault="breaks=none")
    check_equal(scores(done), scores(alone), "scores")
    check_equal(len(commands), 3, "runs")
    done, commands = scored(lab, dis, ref, *FEATURES, decoders=4, fault="complains")
    check_equal(scores(done), scores(alone), "scores of parts that were decoded once more")
    done.says("once more on the CPU")
    xpsnr = "--model", "none", "--feature", "xpsnr"
    alone, _ = scored(lab, dis, ref, *xpsnr, "--hwaccel", "none")
    done, commands = scored(lab, dis, ref, *xpsnr, decoders=4, fault="breaks=none")
    check_equal((scores(done), len(commands)), (scores(alone), 3), "scores and runs of a feature of the whole")


@case
def workers_share_decoders(lab):
    """A worker of a library has the GPU's decoders while it holds a place, and else those of the CPU."""
    dis, ref = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mp4", "-crf 10")
    real = trial.machine, trial.nvidia_gpus, trial.methods, trial.tried, places.folder
    folder, seen, least = str(lab.folder / "places"), [], decision.Least(0.0, 0.0)
    settings = Settings(lab.ffmpeg, _ffmpeg.ffprobe_of(lab.ffmpeg), models=(), features=("psnr",), hwaccel="auto")
    work = prepare(settings, [str(lab.folder / dis)], str(lab.folder / ref))

    def tried(ffmpeg, own, method, place, device):
        seen.append(place)
        return Tried()

    try:
        trial.machine, trial.methods, trial.tried = (lambda: NVIDIA), (lambda ffmpeg: ("cuda",)), tried
        trial.nvidia_gpus, places.folder = (lambda: (Gpu(0, "a", 1), Gpu(1, "b", 1))), (lambda: folder)
        with chosen.shared_decoders(work, least) as one, chosen.shared_decoders(work, least) as two:
            with chosen.shared_decoders(work, least) as three:
                check_equal(
                    [own.decoding and own.decoding.places for own in (one, two, three)],
                    [{"": "0"}, {"": "1"}, None],
                    "GPUs",
                )
        check_equal(seen, ["0", "1"], "trials, one for inputs that are alike")
        with chosen.shared_decoders(work) as short:
            check_equal(short.decoding, None, "decoders of a short pair")
            check("from 4,000 frames of 1080p on" in short.notes[-1], f"notes of a short pair: {short.notes}")
        check_equal(chosen.decoders_here(), 2, "workers more")
    finally:
        trial.machine, trial.nvidia_gpus, trial.methods, trial.tried, places.folder = real


@case
@slow_case
def a_library_has_decoders(lab):
    """Results are those of the CPU's decoders; runs that hold the place have the GPU's, and none is left behind."""
    needs_dask()
    dis, ref, deep = clip(lab, "dis.mp4", "-crf 40"), clip(lab, "ref.mp4", "-crf 10"), clip(lab, "a.mp4", "-crf 30")
    folder = str(lab.folder / "places")
    (lab.folder / "site").mkdir()
    (lab.folder / "site/sitecustomize.py").write_text(FOR_ALL.format(folder=folder))
    listed = write_list(lab, [(dis, ref, "one", "none", "psnr"), (deep, ref, "two", "none", "psnr")])
    own = {
        "FAKE_FFMPEG": lab.ffmpeg,
        "FAKE_LOG": lab.folder / "commands",
        "PYTHONPATH": f"{lab.folder / 'site'}:{top / 'python'}",
    }
    own |= {"VMAFX_FFMPEG": top / "tests/python/fake_gpu.py"}
    pooled, notes = [], []
    for way in ("none", "auto"):
        words = "-o", f"{way}.jsonl", "--hwaccel", way, "--together", 1, "--workers", 1
        library(lab, listed, *words, **own).succeeded()
        found = sorted(records(lab.folder / f"{way}.jsonl"), key=lambda record: record["id"])
        pooled.append([record["pooled"] for record in found])
        notes.append(["the GPU decodes (cuda)" in record["notes"] for record in found])
    check_equal(pooled[1], pooled[0], "scores")
    check_equal(notes, [[False, False], [True, True]], "pairs that the GPU decodes")
    commands = [json.loads(line) for line in (lab.folder / "commands").read_text().splitlines()]
    check_equal(len(commands), 3, "runs with the GPU: a trial of inputs that are alike, and two pairs")
    with places.held(0) as none:
        check_equal((none, os.listdir(folder)), (None, ["0"]), "places")
