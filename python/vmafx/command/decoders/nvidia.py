"""Prints the NVIDIA GPUs of the machine as JSON, with the number of their decoders and what these decode, by FFmpeg's
names of codecs, bits and the layout of chroma: [[0, "0000:01:00.0", 7, [["h264", 8, "420"], …]], …].

This file runs as a program of its own, since a driver may hang or end it.
"""

import ctypes
import itertools
import json

# cudaVideoCodec and cudaVideoChromaFormat of NVIDIA's Video Codec SDK.
CODECS = {
    "mpeg1video": 0,
    "mpeg2video": 1,
    "mpeg4": 2,
    "vc1": 3,
    "wmv3": 3,
    "h264": 4,
    "mjpeg": 5,
    "hevc": 8,
    "vp8": 9,
    "vp9": 10,
    "av1": 11,
}
CHROMA = {"420": 1, "444": 3}
BITS = 8, 10
NAME_BYTES = 16


class Capabilities(ctypes.Structure):
    """CUVIDDECODECAPS of NVIDIA's Video Codec SDK 13.0, which has 88 bytes."""

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
        ("histogram", ctypes.c_ubyte * 4),
        ("reserved2", ctypes.c_uint * 10),
        ("to_spare", ctypes.c_uint * 5),  # for a later version that needs more
    ]


def gpus() -> "list[tuple[int, str, int, list[tuple[str, int, str]]]]":
    cuda = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = []
    for index in range(count.value):
        name = ctypes.create_string_buffer(NAME_BYTES)
        if not cuda.cuDeviceGetPCIBusId(name, NAME_BYTES, index):
            found.append((index, name.value.decode().lower(), *_decoders(cuda, index)))
    return found


def _decoders(cuda: ctypes.CDLL, index: int) -> "tuple[int, list[tuple[str, int, str]]]":
    """Returns the number of decoders for H.264, at least one, and all that they decode; nothing if nobody says."""
    context = ctypes.c_void_p()
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), index) or cuda.cuCtxSetCurrent(context):
        return 1, []
    try:
        ask = ctypes.CDLL("libnvcuvid.so.1").cuvidGetDecoderCaps
    except (OSError, AttributeError):
        return 1, []
    count, formats = 1, []
    for codec, bits, chroma in itertools.product(CODECS, BITS, CHROMA):
        asked = Capabilities(codec=CODECS[codec], chroma=CHROMA[chroma], depth_minus_8=bits - 8)
        if ask(ctypes.byref(asked)) or not asked.is_supported:
            continue
        formats.append((codec, bits, chroma))
        if (codec, bits, chroma) == ("h264", 8, "420"):
            count = max(1, int(asked.decoders))
    return count, formats


if __name__ == "__main__":
    print(json.dumps(gpus()))
