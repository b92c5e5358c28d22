"""Scores do not depend on the way that pictures take: NumPy arrays and PyAV's frames get the scores of libvmaf and the
filter.
"""

import math
import os
import subprocess
from pathlib import Path

import av
import check as golden
import numpy as np
import vmafx
from common import FRAMES, HEIGHT, WIDTH, Skip, case, check, check_equal, noise, raises, run_python, score_pairs, top
from vmafx._library import ffi
from vmafx._pictures import lend

ALL = {"model": "", "feature": ["psnr", "float_ssim"]}


# -- Spatial and temporal information ----------------------------------------------------------------------------------


def information(luma, before, bits):
    """Returns SI and TI as ITU-T P.910 defines them on code values, on the scale of 8 bit, in doubles; and how far off
    the square of SI may be, where magnitudes are floats.
    """
    f = luma.astype(np.float64)
    across = f[:, 2:] - f[:, :-2]
    down = f[2:] - f[:-2]
    across = across[:-2] + 2 * across[1:-1] + across[2:]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    magnitudes = np.hypot(across, down) / 2 ** (bits - 8)
    temporal = 0.0 if before is None else (f - before).std() / 2 ** (bits - 8)
    return magnitudes.std(), temporal, magnitudes.mean() ** 2 * 2**-22 + magnitudes.mean() * 2**-20 + 1e-12


@case
def spatial_and_temporal_information(lab):
    """The scores are those of NumPy, of pictures with noise, shapes and little detail, at all kinds of depths."""
    del lab
    rows, columns = np.mgrid[0:61, 0:133]
    for bits in (8, 10, 14, 16):
        most, kind = 2**bits - 1, np.uint8 if bits == 8 else np.uint16
        random = np.random.default_rng(bits)
        refs = [
            random.integers(0, most + 1, rows.shape),
            (np.sin(columns / 9) + np.cos(rows / 5) + 2) * most / 4.1,
            (columns + rows) * most // 400,
            np.where((columns // 8 + rows // 8) % 2, most, 0),
        ]
        refs = [ref.astype(kind) for ref in refs]
        dists = [(ref // 3 + (columns % 7)).astype(kind) for ref in refs]
        pairs = [(vmafx.Picture([ref], bits=bits), vmafx.Picture([dist], bits=bits)) for ref, dist in zip(refs, dists)]
        frames, _ = score_pairs(pairs, model="", feature="siti")
        for n, scores in enumerate(frames):
            for side, lumas in (("reference", refs), ("distorted", dists)):
                spatial, temporal, off = information(lumas[n], lumas[n - 1] if n else None, bits)
                got = scores[f"si_{side}"]
                check(abs(got**2 - spatial**2) <= off, (bits, n, side, got, spatial))
                check(n != 1 or abs(got - spatial) <= 3e-6 * spatial, (bits, side, got, spatial))
                got = scores[f"ti_{side}"]
                check(math.isclose(got, temporal, rel_tol=1e-9), (bits, n, side, got, temporal))


# -- libvmaf's scores --------------------------------------------------------------------------------------------------


def planes_of(file, width, height, bits):
    """Reads the pictures of a raw file in 4:2:0, three arrays each."""
    samples = np.fromfile(file, np.uint8 if bits == 8 else np.uint16)
    shapes = (height, width), (-(-height // 2), -(-width // 2)), (-(-height // 2), -(-width // 2))
    at = 0
    while at < samples.size:
        planes = []
        for rows, columns in shapes:
            planes.append(samples[at : at + rows * columns].reshape(rows, columns))
            at += rows * columns
        yield vmafx.Picture(planes, bits=bits)


def equals_libvmaf(lab, name):
    clip = golden.Clip(top / f"tests/golden/{name}.json")
    subprocess.run(["cc", "-O2", "-o", lab.folder / "make_clip", top / "tests/golden/make_clip.c"], check=True)
    clip.write(lab.folder / "make_clip", lab.folder)
    width, height, _, bits = map(int, clip.golden["make_clip"][:4])
    pairs = lambda: zip(*(planes_of(file, width, height, bits) for file in (clip.ref, clip.dist)), strict=True)
    for wanted in clip.cases():
        if wanted.name in ("psnr", "cambi", "float_ms_ssim", "vmaf_v0.6.1"):
            what = (
                {"model": f"version={wanted.name}"}
                if wanted.is_model
                else {"model": "", "feature": f"name={wanted.name}"}
            )
            frames, pooled = score_pairs(pairs(), **what)
            comparison = golden.Comparison(wanted.name)
            for number, (frame, scores) in enumerate(zip(wanted.golden["frames"], frames, strict=True)):
                comparison.scores(f"frame {number}", frame, scores)
            if wanted.is_model:
                comparison.scores("pooled", {"vmaf": wanted.golden["pooled"]["vmaf"]["mean"]}, pooled.models)
            check(not comparison.complaint, comparison.complaint)


@case
def arrays_have_libvmafs_scores(lab):
    equals_libvmaf(lab, "64x48_8b_420_k2_s13")


@case
def arrays_of_10_bits_have_libvmafs_scores(lab):
    equals_libvmaf(lab, "416x234_10b_420_k8_s21")


# -- The filter's scores -----------------------------------------------------------------------------------------------


def equals_the_filter(lab, ref, dist):
    lab.compare("vmafx=feature=psnr:log_path=report.json:score_fmt=%.17g", dist=dist, ref=ref).succeeded()
    report = lab.json("report.json")
    scores = vmafx.score(ref, dist, feature="psnr")
    check_equal(len(scores.frames), FRAMES, "frames")
    for frame, wanted in zip(scores.frames, report["frames"], strict=True):
        check_equal((frame.number, frame.scores), (wanted["frameNum"], wanted["metrics"]), "scores")
        check(abs(frame.time - wanted["time"]) < 1e-6, f"time {frame.time}, not {wanted['time']}")
    check_equal(scores.models, {"vmaf": report["pooled_metrics"]["vmaf"]["mean"]}, "model")
    check_equal(scores.features, {"psnr_y": report["pooled_metrics"]["psnr_y"]["mean"]}, "feature")


@case
def files_have_the_filters_scores(lab):
    equals_the_filter(lab, lab.clips.ref, lab.clips.dist)


@case
def files_of_10_bits_have_the_filters_scores(lab):
    equals_the_filter(lab, lab.clips.ref10, lab.clips.dist10)


# -- One picture in all its forms --------------------------------------------------------------------------------------


def decoded(file):
    with av.open(str(file)) as container:
        return list(container.decode(video=0))


def as_frames(lab, formats, deep=False):
    """Returns the scores of pairs whose frames have these formats, reference and distorted."""
    clips = (lab.clips.ref10, lab.clips.dist10) if deep else (lab.clips.ref, lab.clips.dist)
    pair = [[frame.reformat(format=name) for frame in decoded(clip)] for clip, name in zip(clips, formats)]
    return score_pairs(zip(*pair), **ALL)


@case
def layouts_of_frames(lab):
    check_equal(as_frames(lab, ("nv12", "yuv420p")), as_frames(lab, ("yuv420p", "yuv420p")), "nv12")
    check_equal(
        as_frames(lab, ("p010le", "yuv420p10le"), deep=True),
        as_frames(lab, ("yuv420p10le", "yuv420p10le"), deep=True),
        "p010",
    )


@case
def formats_of_frames(lab):
    for name in "yuv422p", "yuv444p12le", "gray", "gray10le", "yuvj420p":
        scores, _ = as_frames(lab, (name, name))
        check_equal(len(scores), FRAMES, name)
    check("psnr_cb" not in as_frames(lab, ("gray", "gray"))[0][0], "chroma of gray")
    with raises(ValueError, "vmafx cannot score the format rgb24"):
        as_frames(lab, ("rgb24", "rgb24"))


def array_of(plane, dtype, columns):
    """Returns a plane of a frame, with its padding."""
    rows = np.frombuffer(plane, dtype).reshape(plane.height, -1)
    return rows[:, :columns]


@case
def arrays_equal_frames(lab):
    """Arrays score as frames do, in all layouts that arrays can have."""
    wanted = as_frames(lab, ("yuv420p", "yuv420p"))
    half = WIDTH // 2, HEIGHT // 2

    def pictures(clip, kind):
        for frame in decoded(clip):
            if kind == "planar":
                yield [
                    array_of(plane, np.uint8, columns) for plane, columns in zip(frame.planes, (WIDTH, *half[:1] * 2))
                ]
                continue
            frame = frame.reformat(format="nv12")
            luma, chroma = (array_of(plane, np.uint8, WIDTH) for plane in frame.planes)
            yield [luma, chroma if kind == "rows" else chroma.reshape(half[1], half[0], 2)]

    for kind in "planar", "rows", "pairs":
        pairs = zip(pictures(lab.clips.ref, kind), pictures(lab.clips.dist, kind))
        check_equal(score_pairs(pairs, **ALL), wanted, kind)


@case
def p010_in_arrays(lab):
    del lab
    planes = lambda shift: [noise(64, 96, 1, 1024, np.uint16) << shift, noise(32, 96, 2, 1024, np.uint16) << shift]
    shifted = vmafx.Picture(planes(6), bits=10, shift=6)
    plain = vmafx.Picture(planes(0), bits=10)
    frames, _ = score_pairs([(plain, shifted)], model="", feature="psnr")
    check_equal(frames, score_pairs([(plain, plain)], model="", feature="psnr")[0], "scores")


@case
def memory_of_arrays(lab):
    """A picture has one score, whichever way it lies in memory."""
    del lab
    ref, dist = noise(seed=1), noise(seed=2)
    wanted = score_pairs([(ref, dist)], model="", feature="psnr")
    wide = np.zeros((72, 200), np.uint8)
    wide[:, 50:146] = dist
    upside_down = np.ascontiguousarray(dist[::-1])[::-1]
    columns = np.asfortranarray(dist)
    read_only = dist.copy()
    read_only.flags.writeable = False
    for name, picture in {
        "a part": wide[:, 50:146],
        "rows": upside_down,
        "columns": columns,
        "read only": read_only,
    }.items():
        check_equal(score_pairs([(ref, picture)], model="", feature="psnr"), wanted, name)
    deep = [noise(seed=seed, high=4096, dtype=np.uint16) for seed in (1, 2)]
    swapped = [vmafx.Picture(picture.astype(">u2"), bits=12) for picture in deep]
    pair = [vmafx.Picture(picture, bits=12) for picture in deep]
    check_equal(
        score_pairs([swapped], model="", feature="psnr"), score_pairs([pair], model="", feature="psnr"), "byte order"
    )


@case
def rows_of_frames_in_reverse(lab):
    """FFmpeg's vflip gives negative line sizes."""

    def flipped(frames):
        graph = av.filter.Graph()
        source = graph.add_buffer(width=WIDTH, height=HEIGHT, format=frames[0].format, time_base=frames[0].time_base)
        flip, sink = graph.add("vflip"), graph.add("buffersink")
        source.link_to(flip)
        flip.link_to(sink)
        graph.configure()
        for frame in frames:
            source.push(frame)
            yield sink.pull()

    ref, dist = decoded(lab.clips.ref)[:3], decoded(lab.clips.dist)[:3]
    upright = lambda frames: [
        vmafx.Picture([array_of(plane, np.uint8, plane.width)[::-1] for plane in frame.planes]) for frame in frames
    ]
    wanted = score_pairs(zip(upright(ref), upright(dist)), **ALL)
    check_equal(score_pairs(zip(flipped(ref), flipped(dist)), **ALL), wanted, "scores")


def lent(picture):
    """Returns the addresses that the library is given."""
    out = ffi.new("VmafxPicture *")
    lend(out, picture)
    out.release(out.opaque)
    return [int(ffi.cast("uintptr_t", address)) for address in out.data if address]


@case
def nothing_is_copied(lab):
    planes = [noise(64, 96), noise(32, 96).reshape(32, 48, 2)]
    check_equal(lent(vmafx.Picture(planes)), [plane.ctypes.data for plane in planes], "arrays")
    frame = decoded(lab.clips.ref)[0]
    check_equal(lent(vmafx.Picture.from_frame(frame)), [plane.buffer_ptr for plane in frame.planes], "frame")


@case
def what_is_no_picture(lab):
    del lab
    with raises(TypeError, "uint8 or uint16, not float64"):
        vmafx.Picture(np.zeros((64, 64)))
    with raises(TypeError, "uint8 or uint16, not list"):
        vmafx.Picture([[1, 2], [3, 4]])
    with raises(ValueError, "not (64, 64, 3)"):
        vmafx.Picture(np.zeros((64, 64, 3), np.uint8))
    with raises(ValueError, "bits=10"):
        vmafx.Picture(np.zeros((64, 64), np.uint16))
    with raises(ValueError, "uint16, not uint8"):
        vmafx.Picture(np.zeros((64, 64), np.uint8), bits=10)
    with raises(ValueError, "are not 4:2:0, 4:2:2 or 4:4:4"):
        vmafx.Picture([noise(64, 64), noise(32, 31), noise(32, 32)])
    with raises(ValueError, "one, two or three planes of one type"):
        vmafx.Picture([])
    with raises(ValueError, "one, two or three planes of one type"):
        vmafx.Picture([noise(), noise(dtype=np.uint16), noise()])


@case
def formats_that_differ(lab):
    del lab
    with raises(vmafx.Error, "", 22):
        score_pairs([(noise(64, 64), noise(64, 66))])
    ten = vmafx.Picture(noise(dtype=np.uint16, high=1024), bits=10)
    with raises(vmafx.Error, "", 22):
        score_pairs([(noise(), ten)])
    with raises(vmafx.Error, "the distorted input changed from 96x72, 400, 8 bits to 64x64, 400, 8 bits", 22):
        score_pairs([(noise(), noise()), (noise(), noise(64, 64))])
    with raises(vmafx.Error, "", 22):
        score_pairs([(noise(8, 8), noise(8, 8))])


# -- On a GPU ----------------------------------------------------------------------------------------------------------

ON_A_GPU = """
import numpy as np, vmafx
scores = {}
for backend in "cpu", "hip":
    with vmafx.Session(model="", feature="psnr", backend=backend) as session:
        random = np.random.default_rng(0)
        scores[backend] = list(session.run((random.integers(0, 256, (2, 72, 96), np.uint8) for _ in range(5))))
assert scores["cpu"] == scores["hip"], scores
"""


@case
def scores_of_the_gpu(lab):
    """Scores in the emulator, whose threads give pictures back."""
    del lab
    emulator = Path(os.environ["VMAFX_LIBRARY"]).parent.parent / "lib/libvmafx_hip_emulator.so"
    if not emulator.exists():
        raise Skip("the emulator is missing: `make emulator` builds it")
    environment = {
        **os.environ,
        "PYTHONPATH": str(top / "python"),
        "VMAFX_HIP_RUNTIME": str(emulator),
        "VMAFX_HIP_DEADLINE": "600000",
    }
    code, said = run_python(ON_A_GPU, env=environment)
    check_equal(code, 0, said)
