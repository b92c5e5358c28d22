"""Problems of a machine, and what the user can do about each."""

import errno
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A reason why something does not work."""

    kind: str  # its name in JSON
    text: str
    remedies: tuple[str, ...]
    stops: str = ""  # what does not work: "scoring", "gpu", "" for a part of the command

    def json(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text, "remedies": list(self.remedies), "stops": self.stops or None}


AMD, NVIDIA = "AMD", "NVIDIA"  # the remedies of one maker begin with its name

# The causes for which the library does not use a GPU (src/hip/device.h), by their errno, with what helps.
GPU_CAUSES: dict[int, tuple[str, tuple[str, ...]]] = {
    errno.ENOENT: (
        "no_runtime",
        (
            "AMD: install ROCm's HIP runtime, libamdhip64",
            "NVIDIA: install the driver's library, libcuda.so.1; start a container with --gpus all",
        ),
    ),
    errno.ELIBACC: (
        "runtime_does_not_load",
        ("install the library that the loader names, or install the runtime anew",),
    ),
    errno.ENOSYS: (
        "runtime_too_old",
        ("AMD: install the HIP runtime of ROCm 5 or later", "NVIDIA: install a driver for CUDA 12 or later"),
    ),
    errno.ENXIO: (
        "no_driver",
        (
            "AMD: run modprobe amdgpu; start a container with --device /dev/kfd --device /dev/dri",
            "NVIDIA: run modprobe nvidia; start a container with --gpus all",
        ),
    ),
    errno.EACCES: (
        "no_permission",
        (
            "AMD: run usermod -aG render,video USER, and log in again",
            "NVIDIA: let the user read and write /dev/nvidia*",
        ),
    ),
    errno.ENODEV: (
        "no_device",
        (
            "AMD: unset HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES, if they hide the GPU",
            "NVIDIA: unset CUDA_VISIBLE_DEVICES, if it hides the GPU",
            "install a release of the runtime that supports the GPU",
        ),
    ),
    errno.ENOTSUP: (
        "no_code",
        (
            "run ./quickstart build --gpu in vmafx's sources, which builds code for all GPUs",
            "AMD: HSA_OVERRIDE_GFX_VERSION selects the code of a closely related GPU",
        ),
    ),
    errno.EBADMSG: (
        "self_test_failed",
        (
            "do not use this GPU, which computes wrong results: update its driver, and run ./quickstart selftest",
            "score with --backend cpu meanwhile",
        ),
    ),
    errno.EBUSY: (
        "no_place",
        (
            "wait until other processes have ended, or choose another GPU with --device",
            "allow more processes with VMAFX_DEVICE_PLACES",
        ),
    ),
    errno.ENOMEM: ("no_memory", ("end other programs that use this GPU", "score with --backend cpu")),
}
HUNG = (
    "restart the machine, or reset the GPU, and update its driver",
    "score with --backend cpu meanwhile, which does not touch the GPU",
)
LOST = {errno.ETIMEDOUT: "does_not_answer", errno.ENODEV: "lost"}  # of a GPU that was there
OTHER = "update the GPU's driver and runtime, and run ./quickstart selftest"


def of_runtime(error: int, reason: str, library: str, named: bool) -> Problem:
    """Returns why a runtime has no GPU. `named`: the user has chosen it by VMAFX_HIP_RUNTIME."""
    kind, remedies = GPU_CAUSES.get(error, ("runtime_fails", (OTHER,)))
    if named and kind in ("no_runtime", "runtime_does_not_load", "runtime_too_old"):
        remedies = (f"correct VMAFX_HIP_RUNTIME, which is {library}, or unset it",)
    other = AMD if "cuda" in library else NVIDIA
    return Problem(kind, reason, tuple(remedy for remedy in remedies if not remedy.startswith(f"{other}:")), "gpu")


def of_trial(error: int, reason: str, platform: str) -> Problem:
    """Returns why a GPU that is there cannot be used."""
    if error in LOST:
        return Problem(LOST[error], reason, HUNG, "gpu")
    kind, remedies = GPU_CAUSES.get(error, ("gpu_fails", (OTHER,)))
    other = AMD if platform == "cuda" else NVIDIA
    return Problem(kind, reason, tuple(remedy for remedy in remedies if not remedy.startswith(f"{other}:")), "gpu")
