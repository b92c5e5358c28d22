"""Prints the NVIDIA GPUs of the machine as JSON, with the number of their decoders: [[0, "0000:01:00.0", 7], …].

This file runs as a program of its own, since a driver may hang or end it.
"""

import ctypes
import json

H264, CHROMA_420 = 4, 1
NAME_BYTES = 16


class Capabilities(ctypes.Structure):
    """CUVIDDECODECAPS of NVIDIA's Video Codec SDK."""

    _fields_ = [
        ("codec", ctypes.c_int),
        ("chroma", ctypes.c_int),
        ("depth_minus_8", ctypes.c_uint),
        ("reserved1", ctypes.c_uint * 3),
        ("is_supported", ctypes.c_ubyte),
        ("decoders", ctypes.c_ubyte),
        ("formats", ctypes.c_ushort),
        ("most_width", ctypes.c_uint),
        ("most_height", ctypes.c_uint),
        ("most_blocks", ctypes.c_uint),
        ("least_width", ctypes.c_ushort),
        ("least_height", ctypes.c_ushort),
        ("reserved2", ctypes.c_uint * 16),  # more than any version has
    ]


def gpus() -> "list[tuple[int, str, int]]":
    cuda = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = []
    for index in range(count.value):
        name = ctypes.create_string_buffer(NAME_BYTES)
        if not cuda.cuDeviceGetPCIBusId(name, NAME_BYTES, index):
            found.append((index, name.value.decode().lower(), _decoders(cuda, index)))
    return found


def _decoders(cuda: ctypes.CDLL, index: int) -> int:
    """Returns the number of decoders for H.264; at least one."""
    context = ctypes.c_void_p()
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), index) or cuda.cuCtxSetCurrent(context):
        return 1
    try:
        asked = Capabilities(codec=H264, chroma=CHROMA_420)
        status = ctypes.CDLL("libnvcuvid.so.1").cuvidGetDecoderCaps(ctypes.byref(asked))
    except (OSError, AttributeError):
        return 1
    return 1 if status else max(1, int(asked.decoders))


if __name__ == "__main__":
    print(json.dumps(gpus()))
