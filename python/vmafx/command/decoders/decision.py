"""Decides how an input is decoded, and which of its filters its frames meet in a GPU's memory: pure functions of what
the inputs are, what ffmpeg has, what the machine has, and what a trial has shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .._ffmpeg import Video
from .._inputs import Chain, samples_of
from .._terminal import Failure
from . import nvidia

AUTO, NONE = "auto", "none"
METHODS = "cuda", "vaapi", "vulkan"  # whose frames the filter takes; auto tries them in this order
FULL_HD = 1920 * 1080
# Streams at once for each decoder of a GPU: one that waits for its partner leaves its decoder to another.
STREAMS_PER_DECODER = 1.5

# Codecs that decoders of GPUs know. Inputs of others are left to the CPU, and nothing is said.
CODECS = {"h264", "hevc", "av1", "vp9", "vp8", "mpeg2video", "mpeg1video", "mpeg4", "vc1", "wmv3", "mjpeg", "vvc"}
# The CPU's samples, and the same as decoders of GPUs lay them out. Other samples are left to the CPU: 12 and 16 bits
# come as 16 bits, which have other scores, and 4:2:2 comes as 4:2:0 or not at all.
LAYOUTS = {
    "yuv420p": "nv12",
    "yuvj420p": "nv12",
    "yuv420p10le": "p010le",
    "nv12": "nv12",
    "p010le": "p010le",
    "yuv444p": "yuv444p",
    "yuvj444p": "yuv444p",
}
# These options of an input choose its decoder.
CHOOSING = {"c", "codec", "vcodec", "hwaccel", "hwaccel_device", "hwaccel_output_format"}
# Filters that change times and tags of frames, wherever these lie.
ANYWHERE = {"settb", "setpts", "trim", "fps", "setparams", "setsar", "null"}
# swscale's bicubic has this parameter, and FFmpeg's scale_cuda the same formula.
SCALE_CUDA = "scale_cuda={}:interp_algo=bicubic:param=0.6"
LEFT_TO_CPU = "the CPU decodes: a GPU's decoders pay from {:,.0f} frames of 1080p on, of which {}"


class Least(NamedTuple):
    """Frames of 1080p below which auto leaves inputs to the CPU."""

    together: float  # of all inputs
    longest: float  # of the longest one


# Trials and the GPU's opening take 2.6 s longer on an H200 than a start on the CPU, and a pair takes 0.6 ms less there
# (docs/gpu-results.md). Each input has a trial of its own, so that many short ones do not count as a long one.
ALONE = Least(8000.0, 1000.0)
# A worker beside others has one processor, inputs that are alike share a trial, and the GPU is opened once for all
# inputs of a run. With runs of 1,500 frames a library was slower than on the CPU.
OF_WORKER = Least(4000.0, 0.0)


class Machine(NamedTuple):
    """The kinds of GPUs that the machine shows."""

    nvidia: bool
    render: bool  # DRM render nodes, as of AMD's and Intel's drivers


class Tried(NamedTuple):
    """The outcome of decoding the first pictures of an input with a GPU."""

    cause: str = ""  # why there are none; empty: there are
    backend: bool = True  # whether the filter has the GPU
    same: bool = True  # whether the pictures are those of the CPU's decoder
    imported: bool = True  # whether the filter reads them in the GPU's memory


Format = tuple[str, int, str]  # FFmpeg's name of a codec, bits, the layout of chroma: "420"


class Gpu(NamedTuple):
    """An NVIDIA GPU as its driver numbers it."""

    number: int
    pci: str
    decoders: int
    formats: frozenset[Format] = frozenset()  # that they decode; empty: the driver does not say


@dataclass(frozen=True)
class Decoder:
    """The decoder of an input, and where the filters of each size find its frames."""

    method: str = ""  # FFmpeg's name of the GPU's decoders; empty: the CPU decodes
    stays: tuple[bool, ...] = ()  # for each size: whether the frames stay in the GPU's memory
    samples: str = ""  # the samples as the CPU's decoder lays them out
    scales: bool = False  # whether the GPU may scale


CPU = Decoder()


@dataclass(frozen=True)
class Decoding:
    """The decoders of all inputs, the reference last."""

    method: str
    inputs: tuple[Decoder, ...]
    places: dict[str, str]  # FFmpeg's name of each GPU that --device names; of the usual one under ""

    @property
    def streams(self) -> int:
        """The number of inputs that the GPU decodes."""
        return sum(bool(decoder.method) for decoder in self.inputs)

    def of(self, numbers: Sequence[int]) -> "Decoding":
        return replace(self, inputs=tuple(self.inputs[number] for number in (*numbers, -1)))

    def has(self, device: str | None) -> bool:
        return (device or "") in self.places

    def words(self, device: str | None) -> list[str]:
        """Returns the words with which ffmpeg opens the GPU, once for all inputs: their frames share a context."""
        place = self.places[device or ""]
        return ["-init_hw_device", f"{self.method}=gpu" + (f":{place}" if place else "")]

    def words_of(self, number: int) -> list[str]:
        """Returns the words before an input."""
        return words_of(self.method) if self.inputs[number].method else []


def words_of(method: str) -> list[str]:
    return ["-hwaccel", method, "-hwaccel_device", "gpu", "-hwaccel_output_format", method]


# -- Which decoders ----------------------------------------------------------------------------------------------------


def methods_to_try(wanted: str, backend: str | None, offered: Iterable[str], machine: Machine) -> list[str]:
    """Returns the methods that are worth a trial. Raises Failure if the wanted one cannot be had."""
    known = [method for method in METHODS if method in set(offered)]
    if wanted == NONE:
        return []
    if wanted != AUTO:
        if wanted not in known:
            have = f"it has {', '.join(known)}" if known else "it has none whose frames the filter takes"
            raise Failure(
                f"this ffmpeg has no decoders by '{wanted}' ({have}): name another with --hwaccel, or another ffmpeg"
            )
        return [wanted]
    if backend == "cpu":
        return []
    return [method for method in known if (machine.nvidia if method == "cuda" else machine.render)]


def lacks_decoders(wanted: str, backend: str | None, offered: Iterable[str], machine: Machine) -> bool:
    """Returns whether auto finds a GPU for whose decoders this ffmpeg was not built."""
    return wanted == AUTO and backend != "cpu" and machine.nvidia and "cuda" not in set(offered)


def too_short(videos: Sequence[Video], least: Least, begin: float = 0.0, end: float | None = None) -> str:
    """Returns the line that says why auto leaves these inputs to the CPU; empty: they are long enough. Inputs whose
    length is not known count as short. `begin`, `end`: of what is scored of them, in seconds; None: all is to the end.
    """
    frames = [frames_of([video]) * _part_of(video, begin, end) for video in videos]
    if sum(frames) < least.together:
        return LEFT_TO_CPU.format(least.together, f"the inputs have {_rounded(sum(frames))} together")
    if max(frames) < least.longest:
        return LEFT_TO_CPU.format(least.longest, f"the longest input has {_rounded(max(frames))}")
    return ""


def _part_of(video: Video, begin: float, end: float | None) -> float:
    """Returns the part of a video between two times; 1 where its length is not known."""
    seconds = _pictures(video) / float(video.rate or 25)
    if not seconds:
        return 1.0
    return max(min(seconds if end is None else end, seconds) - begin, 0.0) / seconds


def _rounded(frames: float) -> str:
    return f"{int(frames):,}" if frames >= 1 else "less than one"


def can_be_tried(video: Video) -> bool:
    """Returns whether a GPU may decode the input as the CPU does."""
    names = {word[1:].partition(":")[0] for word in video.options if word.startswith("-")}
    return video.codec in CODECS and video.pix_fmt in LAYOUTS and not names & CHOOSING


def lacks_format(video: Video, formats: frozenset[Format]) -> str:
    """Returns why a GPU does not decode the input, if its driver says what it decodes, else an empty text."""
    bits, chroma = 10 if "10" in video.pix_fmt else 8, "444" if "444" in video.pix_fmt else "420"
    if not formats or video.codec not in nvidia.CODECS or (video.codec, bits, chroma) in formats:
        return ""
    return f"the driver says that this GPU decodes no {video.codec} of {bits} bits in {':'.join(chroma)}"


def decide(
    video: Video, chain: Chain, method: str, tried: Tried | None, wanted: str, scales: bool = False
) -> tuple[Decoder, str]:
    """Returns the decoder of an input, and a line on it if it is not the one that was hoped for; `tried`: the outcome
    of the trial; `scales`: whether the GPU may scale.
    """
    if not can_be_tried(video) or tried is None:
        known = video.codec in CODECS and video.pix_fmt not in LAYOUTS
        return CPU, f"{_on_cpu(video)}: decoders of GPUs do not give {video.pix_fmt}" if known else ""
    if tried.cause:
        return CPU, f"{_on_cpu(video)}: the GPU's decoder ({method}) does not take it: {tried.cause}"
    if not tried.same and wanted == AUTO:
        return CPU, f"{_on_cpu(video)}: the GPU's decoder ({method}) gives other pictures than the CPU's"
    if not tried.imported and wanted == AUTO:
        return CPU, f"{_on_cpu(video)}: the filter cannot read frames of {method} in the memory of its GPU"
    decoder = Decoder(method, stays_of(video, chain, scales), video.pix_fmt, scales)
    if not tried.same:
        return decoder, f"{video.name}: the GPU's decoder ({method}) gives other pictures than the CPU's: scores differ"
    if not all(decoder.stays):
        names = dict.fromkeys(name for place in range(len(chain.pictures)) for name in on_cpu(video, chain, place))
        return decoder, f"{video.name} is decoded by the GPU ({method}), and downloaded for {', '.join(names)}"
    return decoder, ""


def _on_cpu(video: Video) -> str:
    return f"{video.name} is decoded on the CPU"


# -- The filters -------------------------------------------------------------------------------------------------------


def stays_of(video: Video, chain: Chain, scales: bool = False) -> tuple[bool, ...]:
    """Returns for each size whether all filters of the input can be met in the GPU's memory."""
    return tuple(not on_cpu(video, chain, place, scales) for place in range(len(chain.pictures)))


def on_cpu(video: Video, chain: Chain, place: int, scales: bool = False) -> list[str]:
    """Returns the names of the filters that need the CPU's memory."""
    filters = [*_filters(chain.times), *_filters(chain.pictures[place])]
    return [_name(text) for text in filters if not _is_anywhere(text, video.pix_fmt, scales)]


def chain_for(chain: Chain, decoder: Decoder) -> Chain:
    """Returns the filters of an input for frames that its decoder gives."""
    if not decoder.method:
        return chain
    down = f"hwdownload,format={LAYOUTS[decoder.samples]},format={decoder.samples}"
    if not all(_is_anywhere(text, decoder.samples) for text in _filters(chain.times)):
        return Chain(f"{down},{chain.times}", chain.pictures)
    pictures = [
        _there(text, decoder) if stays else ",".join(filter(None, (down, text)))
        for text, stays in zip(chain.pictures, decoder.stays)
    ]
    return Chain(chain.times, tuple(pictures))


def _there(text: str, decoder: Decoder) -> str:
    """Returns the filters for frames in the GPU's memory: a format that the frames have is left out."""
    filters = (
        SCALE_CUDA.format(size) if (size := _size_of(one)) else one
        for one in _filters(text)
        if one != f"format={plain(decoder.samples)}"
    )
    return ",".join(filters)


def _is_anywhere(text: str, samples: str, scales: bool = False) -> bool:
    return _name(text) in ANYWHERE or text == f"format={plain(samples)}" or (scales and bool(_size_of(text)))


def plain(samples: str) -> str:
    """Returns the format that _inputs names for these samples."""
    return samples_of(samples).pix_fmt


def _size_of(text: str) -> str:
    """Returns the size of a filter scale that changes nothing else; else an empty text."""
    words = text.removeprefix("scale=").split(":")
    plain_words = text.startswith("scale=") and len(words) == 3 and words[2] == "flags=bicubic"
    return ":".join(words[:2]) if plain_words and all(word.isdecimal() for word in words[:2]) else ""


def _filters(chain: str) -> list[str]:
    return [text for text in chain.split(",") if text]


def _name(text: str) -> str:
    return text.partition("=")[0]


# -- How many at once --------------------------------------------------------------------------------------------------


def frames_of(videos: Iterable[Video]) -> float:
    """Returns the frames of all videos, a larger picture for more than one of 1080p."""
    return sum(_pictures(video) * video.width * video.height / FULL_HD for video in videos)


def _pictures(video: Video) -> float:
    """Returns the number that the container tells, or else that of the duration; 0: neither is known."""
    return video.frames or (video.duration or 0.0) * float(video.rate or 25)


def jobs_for(streams: int, decoders: int) -> int:
    """Returns how many runs of ffmpeg at once keep the decoders of GPUs busy."""
    return max(1, round(STREAMS_PER_DECODER * decoders / max(streams, 1)))
