#!/usr/bin/env python3
"""Estimates the speed of each metric on two AMD GPUs from the instructions that its machine code runs: the tables of
docs/amd-estimates.md.

usage: amd_estimates.py [BUILD]     (default: build; it needs code objects for gfx1100 and gfx942, ffmpeg with the
filter, `make emulator`)

Some frames of 960x540 go through the filter on the runtime that interprets machine code, which counts the instructions
of each kernel (one for a wave of 32 or 64 lanes). A frame of 1920x1080 has four times as many. The floor is the time in
which the GPU can issue them, or move the bytes of two pictures once; the estimate is what an H200 reaches of the same
kind of floor. A second table has the kinds of instructions, and how many cycles conflicts of LDS banks add to an LDS
instruction (by the model in emulator/isa/instructions/local_memory.cpp).
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FRAMES = 8  # frames of this size that the engine launches at once
SCALE = 4  # pixels of 1920x1080 for each pixel of the counted size
PICTURES = 2 * 1920 * 1080 * 1.5  # bytes to read, in 8 bit 4:2:0
REACHED = 0.64  # vif on an H200 takes 44 us, its instructions 28 us (docs/gpu-results.md)


@dataclass(frozen=True)
class Gpu:
    name: str
    architecture: str
    lanes: int
    waves_a_second: float  # instructions of a wave that all units together issue
    bytes_a_second: float
    registers: int  # vector registers of a lane of a SIMD
    granule: int
    most_waves: int  # waves that a SIMD holds at most
    lds: int  # bytes for the blocks of a compute unit
    simds: int  # SIMDs that share these bytes


# 96 compute units of two SIMDs of 32 lanes at 2.3 GHz, 960 GB/s; 304 of four SIMDs of 16 lanes, on which a wave of 64
# takes four cycles, at 2.1 GHz, 5.3 TB/s.
GPUS = (
    Gpu("RX 7900 XTX", "gfx1100", 32, 96 * 2 * 2.3e9, 960e9, 1536, 24, 16, 65536, 2),
    Gpu("MI300X", "gfx942", 64, 304 * 2.1e9, 5.3e12, 512, 8, 8, 65536, 4),
)
FEATURES = (
    "vif",
    "adm",
    "motion",
    "psnr",
    "ciede",
    "float_ssim",
    "float_ms_ssim",
    "psnr_hvs",
    "cambi",
    "ssimulacra2",
    "butteraugli",
    "xpsnr",
)
MODELS = "vmaf_v0.6.1", "vmaf_v1.0.16_3d0h"
OPTIONS = {name: f"model=:feature=name={name}" for name in FEATURES} | {
    name: f"model=version={name}" for name in MODELS
}


@dataclass
class Counts:
    """The counts of all kernels of a metric, over all frames."""

    instructions: int = 0
    vector: int = 0
    scalar: int = 0
    memory: int = 0
    lds: int = 0
    control: int = 0
    conflicts: int = 0  # cycles that LDS takes longer because lanes need the same bank

    def cells(self) -> str:
        shares = (self.vector, self.scalar, self.memory, self.lds, self.control)
        return (
            "".join(f" {100 * n / self.instructions:.1f} |" for n in shares)
            + f" {self.conflicts / self.lds if self.lds else 0:.2f} |"
        )


def count(build: Path, gpu: Gpu, options: str) -> Counts:
    graph = f"format=yuv420p,split[r][x];[x]noise=alls=10:allf=t[d];[d][r]vmafx=backend=hip:n_threads=1:{options}"
    with tempfile.NamedTemporaryFile() as counts:
        environment = {
            **os.environ,
            "VMAFX_HIP_RUNTIME": str(build / "emulator/.libs/libvmafx_hip_amd.so"),
            "VMAFX_HIP_EMULATOR_ARCH": gpu.architecture,
            "VMAFX_HIP_EMULATOR_COUNTS": counts.name,
            "VMAFX_HIP_EMULATOR_CONFLICTS": "1",
            "VMAFX_HIP_DEADLINE": "3600000",
        }
        source = "-f", "lavfi", "-i", "testsrc2=s=960x540:r=25"
        command = [
            build / "bin/ffmpeg",
            "-v",
            "error",
            "-nostdin",
            *source,
            "-filter_complex",
            f"[0:v]{graph}",
            "-frames:v",
            str(FRAMES),
            "-f",
            "null",
            "-",
        ]
        subprocess.run(command, env=environment, check=True)
        lines = (line.split() for line in Path(counts.name).read_text().splitlines() if line.startswith("kernel "))
        kernels = [[int(number) for number in numbers[3:]] for _, name, *numbers in lines if name != "vmafx_self_test"]
        return Counts(*(sum(column) for column in zip(*kernels)))


def resources(build: Path, gpu: Gpu) -> dict[str, tuple[int, int, int]]:
    """Returns vector registers, bytes of LDS and most threads of a block, for each kernel."""
    notes = subprocess.run(
        ["llvm-readelf-19", "--notes", build / f"device_code/{gpu.architecture}.co"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {}
    for kernel in re.split(r"\n  - (?=\.)", notes)[1:]:
        fields = dict(re.findall(r"^ *(\.\w+): +(\S+)$", kernel, re.M))
        if ".vgpr_count" in fields:
            found[fields[".name"]] = tuple(
                int(fields[key]) for key in (".vgpr_count", ".group_segment_fixed_size", ".max_flat_workgroup_size")
            )
    return found


def waves_at_once(gpu: Gpu, registers: int, lds: int, threads: int) -> float:
    """Returns how many waves of a kernel a SIMD holds on average, by its registers and its blocks' LDS."""
    by_registers = gpu.registers // max(gpu.granule, -(-registers // gpu.granule) * gpu.granule)
    waves_of_block = -(-threads // gpu.lanes)
    by_lds = gpu.lds // lds * waves_of_block / gpu.simds if lds else gpu.most_waves
    return min(gpu.most_waves, by_registers, by_lds)


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    counted = {gpu: {name: count(build, gpu, options) for name, options in OPTIONS.items()} for gpu in GPUS}
    print(
        "| 1920x1080, 8 bit |"
        + "".join(f" {gpu.name}: million instructions | floor, us | estimate, us |" for gpu in GPUS)
    )
    print("| --- |" + " --- | --- | --- |" * len(GPUS))
    for name in OPTIONS:
        cells = []
        for gpu in GPUS:
            instructions = SCALE * counted[gpu][name].instructions / FRAMES
            floor = max(instructions / gpu.waves_a_second, PICTURES / gpu.bytes_a_second)
            cells.append(f" {instructions / 1e6:.2f} | {floor * 1e6:.1f} | {floor / REACHED * 1e6:.1f} |")
        print(f"| {name} |" + "".join(cells))
    kinds = " vector, % | scalar, % | memory, % | LDS, % | control, % | conflicts |"
    print("\n| instructions |" + "".join(f" {gpu.architecture}:{kinds}" for gpu in GPUS))
    print("| --- |" + " --- |" * 6 * len(GPUS))
    for name in OPTIONS:
        print(f"| {name} |" + "".join(counted[gpu][name].cells() for gpu in GPUS))
    for gpu in GPUS:
        of_kernel = resources(build, gpu)
        waves = sorted((waves_at_once(gpu, *needs), kernel, needs) for kernel, needs in of_kernel.items())
        fewest = (
            f"`{kernel}` {n:.2g} ({registers} registers, {lds} bytes of LDS)"
            for n, kernel, (registers, lds, _) in waves[:6]
        )
        print(f"\n{gpu.architecture}, of {gpu.most_waves} waves: {'; '.join(fewest)}")


if __name__ == "__main__":
    main()
