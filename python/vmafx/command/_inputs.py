"""Makes inputs alike before they are scored, as docs/filter.md advises, and says how: sizes, rates, starts, ranges,
colors, sample formats.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from ._ffmpeg import Video
from ._models import Size
from ._terminal import Failure

LIKE_ASPECTS = 0.03  # shapes that differ less are alike, also for the filter
LIKE_RATES = Fraction(1, 5000)  # takes 29.97 for 30000/1001, but not 24 for 24000/1001
DEPTHS = 8, 9, 10, 12, 14, 16  # bits that the filter scores

HDR = {"smpte2084": "PQ", "arib-std-b67": "HLG"}
# ffprobe's name of a matrix: the name that the filter scale has for it.
SCALE_MATRICES = {
    "bt709": "bt709",
    "smpte170m": "smpte170m",
    "bt470bg": "bt470",
    "smpte240m": "smpte240m",
    "fcc": "fcc",
    "bt2020nc": "bt2020",
}
# Two names of one formula.
SAME_MATRIX = {"bt470bg": "smpte170m"}
ZSCALE_PRIMARIES = {
    *("bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431", "smpte432"),
    "ebu3213",
}
SAME_PRIMARIES = {"smpte240m": "smpte170m"}
ZSCALE_TRANSFERS = {
    "bt709",
    "smpte170m",
    "bt470m",
    "bt470bg",
    "linear",
    "log100",
    "log316",
    "iec61966-2-1",
    "iec61966-2-4",
    "bt2020-10",
    "bt2020-12",
}
SAME_TRANSFER = {"smpte170m": "bt709", "bt2020-10": "bt709", "bt2020-12": "bt709"}


class ShapesDiffer(Failure):
    """Raised if an encode and the reference do not show the same part of a picture."""


class Samples(NamedTuple):
    """The meaning of a pixel format's samples, wherever they lie in memory."""

    chroma: str  # "420", "422", "444", "gray", "rgb"
    depth: int

    @property
    def pix_fmt(self) -> str:
        depth = min(known for known in DEPTHS if known >= min(self.depth, DEPTHS[-1]))
        suffix = "" if depth == 8 else f"{depth}le"
        return f"gray{suffix}" if self.chroma == "gray" else f"yuv{self.chroma}p{suffix}"


INTERLEAVED = {"p0": "420", "p2": "422", "p4": "444", "y2": "422"}  # a name goes on with the number of bits
INTERLEAVED_8 = {
    "nv12": "420",
    "nv21": "420",
    "nv16": "422",
    "nv24": "444",
    "nv42": "444",
    "yuyv422": "422",
    "uyvy422": "422",
    "yvyu422": "422",
}
NEAREST = {"440": "444", "411": "422", "410": "420"}


def samples_of(pix_fmt: str) -> Samples:
    """Returns the samples of a format; a format that the filter does not score becomes the nearest that it does."""
    if found := re.fullmatch(r"yuv[aj]?(\d{3})p(\d*)(?:le|be)?", pix_fmt):
        return Samples(NEAREST.get(found[1], found[1]), int(found[2] or 8))
    if found := re.fullmatch(r"(gray)(\d*)(?:le|be)?", pix_fmt):
        return Samples(found[1], int(found[2] or 8))
    if found := re.fullmatch(r"(p0|p2|p4|y2)(\d\d)(?:le|be)?", pix_fmt):
        return Samples(INTERLEAVED[found[1]], int(found[2]))
    if pix_fmt in INTERLEAVED_8:
        return Samples(INTERLEAVED_8[pix_fmt], 8)
    deep = re.search(r"(9|10|12|14|16)(?:le|be)$|(?:48|64)(?:le|be)$", pix_fmt)
    return Samples("rgb", int(deep[1] or 16) if deep else 8)


class Chain(NamedTuple):
    """The filters of an input, joined by commas; an empty text stands for none."""

    times: str  # filters that choose the pictures and their times
    pictures: tuple[str, ...]  # filters that change how pictures look, for each size that is scored

    def whole(self, place: int) -> str:
        return ",".join(filter(None, (self.times, self.pictures[place]))) or "null"


@dataclass(frozen=True)
class Preparation:
    """The filters for each encode and for the reference, and a line on each change that they make."""

    dist: list[Chain]
    ref: Chain
    notes: list[str]
    zeros: list[int] | None  # each input's time that becomes 0, the reference last, in microseconds; None: its start


def start_apart(dists: list[Video], ref: Video) -> bool:
    """Returns whether times must be counted from the first picture of each input.

    From half a frame on, the nearest picture is another one; times may be rounded, so less is taken for apart.
    """
    return any(abs(video.start - ref.start) > min(map(half_a_frame, (video, ref))) / 2 for video in dists)


def make_alike(
    dists: list[Video],
    ref: Video,
    zeros: list[int] | None = None,
    cut: bool = False,
    sizes: Sequence[Size | None] = (None,),
    converts: bool = False,
) -> Preparation:
    """Returns the filters that make the inputs alike.

    `zeros`: the times of the first pictures, if they are apart; or the times to begin with, if earlier pictures are to
    be `cut` off. `sizes`: the sizes at which pictures are scored; None stands for the reference's. `converts`: the
    filter vmafx converts colors and samples itself, and these filters only tell it the colors. Raises Failure.
    """
    if not converts:
        refuse_light(dists, ref)
    _refuse_shapes(dists, ref)
    notes: list[str] = []
    if zeros and not cut:
        starts = ", ".join(f"{video.name} at {video.start:.3f} s" for video in (*dists, ref))
        notes.append(f"the pictures start at different times ({starts}): all are taken from their first frame")
    chains = chains_of(dists, ref, notes, zeros, cut, sizes, converts)
    if not cut:
        notes += _lengths(dists, ref)
    return Preparation(chains[:-1], chains[-1], list(dict.fromkeys(notes)), zeros)


def chains_of(
    dists: list[Video],
    ref: Video,
    notes: list[str],
    zeros: list[int] | None = None,
    cut: bool = False,
    sizes: Sequence[Size | None] = (None,),
    converts: bool = False,
) -> list[Chain]:
    """Returns the filters of the encodes and of the reference, and adds notes on them. Raises Failure.

    The arguments are those of make_alike().
    """
    seen = [_in_colors_of(ref, video) if converts else video for video in dists]
    target = _target(seen, ref)
    chains = []
    for video, own, zero in zip((*dists, ref), (*seen, ref), zeros or [0] * (len(dists) + 1)):
        times = [f"settb=AVTB,setpts=PTS-({zero})"] if zeros else []
        if cut:
            times.append(f"trim=start_pts={-round(1e6 * half_a_frame(video))}")
        if video.fields:
            times.append(video.fields)
        times += _rate(video, ref, notes)
        tags = [_tags(video)] if converts else []
        pictures = [",".join([*_picture(own, ref, target, size, notes), *tags]) for size in sizes]
        chains.append(Chain(",".join(times), tuple(pictures)))
    return chains


def same_rate(video: Video, ref: Video) -> bool:
    return video.rate is not None and ref.rate is not None and abs(video.rate / ref.rate - 1) <= LIKE_RATES


def is_rgb(video: Video) -> bool:
    return samples_of(video.pix_fmt).chroma == "rgb"


def primaries_differ(video: Video, ref: Video) -> bool:
    own, wanted = (SAME_PRIMARIES.get(one.primaries or "", one.primaries) for one in (video, ref))
    return bool(own and wanted) and own != wanted


def lights_differ(video: Video, ref: Video) -> bool:
    """Returns whether one is HDR and the other is not, or another kind of it."""
    return bool(video.transfer and ref.transfer) and HDR.get(video.transfer or "") != HDR.get(ref.transfer or "")


def same_size(video: Video, ref: Video) -> bool:
    return (video.width, video.height) == (ref.width, ref.height)


# -- What cannot be handled --------------------------------------------------------------------------------------------


def _refuse_shapes(dists: list[Video], ref: Video) -> None:
    for video in dists:
        if _shape(video) and not same_shape(video, ref):
            raise ShapesDiffer(
                f"{video.name} ({_size(video)}) and {ref.name} ({_size(ref)}) have different shapes, so they do not "
                "show the same part of the picture: crop or pad one of them first (--crop, or ffmpeg's filters)"
            )


def refuse_light(dists: list[Video], ref: Video) -> None:
    for video in dists:
        if lights_differ(video, ref):
            own, wanted = (HDR.get(one.transfer or "", "SDR") for one in (video, ref))
            raise Failure(
                f"{video.name} is {own} and {ref.name} is {wanted}: "
                "map the tones of one of them first (ffmpeg's filters zscale and tonemap), or have both "
                "converted (--convert bt709)"
            )


def same_shape(video: Video, ref: Video) -> bool:
    """Returns whether the shapes agree as shown, or as stored if only a tag is wrong."""
    as_shown = _shape(video) / _shape(ref)
    as_stored = Fraction(video.width * ref.height, video.height * ref.width)
    return min(abs(as_shown - 1), abs(as_stored - 1)) <= LIKE_ASPECTS


def _shape(video: Video) -> Fraction:
    return Fraction(video.width, video.height) * (video.aspect or 1)


def _size(video: Video) -> str:
    return f"{video.width}x{video.height}" + (
        f", samples {_ratio(video.aspect)}" if video.aspect not in (None, 1) else ""
    )


def _ratio(aspect: Fraction | None) -> str:
    return f"{aspect.numerator}:{aspect.denominator}" if aspect else "unknown"


# -- Time --------------------------------------------------------------------------------------------------------------


def half_a_frame(video: Video) -> float:
    return float(1 / video.rate / 2) if video.rate else 0.02


def _rate(video: Video, ref: Video, notes: list[str]) -> list[str]:
    if video is ref:
        return []
    if not video.rate or not ref.rate:
        which = video.name if not video.rate else ref.name
        notes.append(
            f"the frame rate of {which} varies or is not known: each frame is compared with the reference's frame that "
            "is nearest in time"
        )
        return []
    if same_rate(video, ref):
        return []
    notes.append(
        f"{video.name} has {float(video.rate):.6g} frames a second, the reference {float(ref.rate):.6g}: frames are "
        "repeated or left out to match it"
    )
    return [f"fps={ref.rate}"]


def lengths_differ(dists: list[Video], ref: Video) -> bool:
    return any(_longer_apart(video, ref) for video in dists)


def _longer_apart(video: Video, ref: Video) -> bool:
    """Returns whether the lengths of two videos differ by more than some frames."""
    if not video.duration or not ref.duration:
        return False
    return abs(video.duration - ref.duration) > max(0.2, 5 * half_a_frame(ref))


def _lengths(dists: list[Video], ref: Video) -> list[str]:
    notes = [
        f"the times of {video.name} begin anew in mid-stream: it was put together of {video.restarts + 1} recordings, "
        "whose pictures are taken one after another"
        for video in (*dists, ref)
        if video.restarts
    ]
    for video in dists:
        if _longer_apart(video, ref):
            shorter = min(video.duration or 0, ref.duration or 0)
            notes.append(
                f"{video.name} lasts {video.duration:.2f} s, the reference {ref.duration:.2f} s: the first "
                f"{shorter:.2f} s are compared (if one of them lacks its first pictures, give --sync)"
            )
    return notes


# -- The picture -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """The samples that all inputs are converted to before they are scored."""

    samples: Samples
    range: str
    matrix: str  # the matrix for inputs in RGB, which have none


RANGES = {"tv": "limited", "pc": "full"}


def _target(dists: list[Video], ref: Video) -> Target:
    """Returns the reference's chroma with the most bits of all, so that no input loses any."""
    videos = [ref, *dists]
    chroma = samples_of(ref.pix_fmt).chroma
    depth = max(samples_of(video.pix_fmt).depth for video in videos)
    matrices = [video.matrix for video in videos if video.matrix and video.matrix != "gbr"]
    return Target(
        Samples("444" if chroma == "rgb" else chroma, depth), _range(ref), next(iter(matrices), usual_matrix(ref))
    )


def colors_of(dists: list[Video], ref: Video) -> tuple[str, str]:
    """Returns the color matrix and the range of all inputs once they are alike, in the words of the filter scale."""
    target = _target(dists, ref)
    matrix = ref.matrix if ref.matrix and not is_rgb(ref) else target.matrix
    return SCALE_MATRICES.get(matrix, "bt709"), target.range


def usual_matrix(video: Video) -> str:
    return "bt709" if video.height > 576 else "smpte170m"


def _picture(video: Video, ref: Video, target: Target, size: Size | None, notes: list[str]) -> list[str]:
    """Returns the filters scale, format, setparams and setsar of an input.

    With older FFmpeg, frames after scale do not tell other filters their range and colors, so setparams does.
    """
    samples = samples_of(video.pix_fmt)
    scale, told = [], []
    wanted = size or Size(ref.width, ref.height)
    if (video.width, video.height) != wanted:
        scale.append(f"{wanted.width}:{wanted.height}")
        if size is None:
            notes.append(f"{video.name} is {video.width}x{video.height}: scaled to the reference's {wanted} (bicubic)")
    if is_rgb(video):
        scale.append(f"out_range={target.range}:out_color_matrix={SCALE_MATRICES.get(target.matrix, 'bt709')}")
        told.append(f"range={target.range}:colorspace={target.matrix}")
    else:
        if _range(video) != target.range:
            notes.append(
                f"{video.name} has {RANGES[_range(video)]} range, the reference {RANGES[target.range]}: converted"
            )
            scale.append(f"in_range={_range(video)}:out_range={target.range}")
            told.append(f"range={target.range}")
        elif samples != target.samples and target.range == "pc":  # else ffmpeg makes limited range of some formats
            scale.append("in_range=pc:out_range=pc")
            told.append("range=pc")
        _matrix(video, ref, scale, told, notes)
    chain = [video.changed] if video.changed else []
    if video.corner:
        chain.append(f"crop={video.width}:{video.height}:{video.corner[0]}:{video.corner[1]}:exact=1")
    chain += _light(video, ref, notes) + ([f"scale={':'.join([*scale, 'flags=bicubic'])}"] if scale else [])
    if samples != target.samples:
        notes.append(f"{video.name} is {video.pix_fmt}: scored as {target.samples.pix_fmt}")
    if samples != target.samples or told:
        chain.append(f"format={target.samples.pix_fmt}")
    if told:
        chain.append(f"setparams={':'.join(told)}")
    return chain + _aspect(video, ref, size, notes)


def _aspect(video: Video, ref: Video, size: Size | None, notes: list[str]) -> list[str]:
    """Returns the filter that sets the shape of the samples: after scale the reference's, whatever the tags were, or
    square for a display.
    """
    if size is not None and size != (ref.width, ref.height):
        return ["setsar=1"]
    if same_size(video, ref) and (not video.aspect or not ref.aspect or video.aspect == ref.aspect):
        return []
    if same_size(video, ref):
        notes.append(
            f"{video.name} has samples of {_ratio(video.aspect)}, the reference of {_ratio(ref.aspect)}: treated as "
            "if they were the same"
        )
    return [f"setsar={ref.aspect or 1}"]


def _range(video: Video) -> str:
    """Returns the range of the samples after conversion: RGB is always full, which says nothing of the result."""
    return "pc" if video.full_range and not is_rgb(video) else "tv"


def _matrix(video: Video, ref: Video, scale: list[str], told: list[str], notes: list[str]) -> None:
    if not video.matrix or not ref.matrix or video.matrix == ref.matrix or "gbr" in (video.matrix, ref.matrix):
        return
    told.append(f"colorspace={ref.matrix}")
    if SAME_MATRIX.get(video.matrix, video.matrix) == SAME_MATRIX.get(ref.matrix, ref.matrix):
        return
    if not {video.matrix, ref.matrix} <= SCALE_MATRICES.keys():
        raise Failure(
            f"{video.name} has the color matrix {video.matrix}, {ref.name} has {ref.matrix}: convert one of them "
            "first (ffmpeg's filter zscale)"
        )
    notes.append(f"{video.name} has the color matrix {video.matrix}, the reference {ref.matrix}: converted")
    scale.append(f"in_color_matrix={SCALE_MATRICES[video.matrix]}:out_color_matrix={SCALE_MATRICES[ref.matrix]}")


def _light(video: Video, ref: Video, notes: list[str]) -> list[str]:
    """Returns the filters that convert the color transfer and primaries.

    zscale goes through linear light, for which it must know all the colors: unknown ones are taken for the usual ones.
    """
    if bool(video.transfer) != bool(ref.transfer) and (video.transfer or ref.transfer) in HDR:
        unknown, known = (video, ref) if ref.transfer else (ref, video)
        notes.append(
            f"{unknown.name} does not say its color transfer: treated as {HDR[known.transfer or '']}, like {known.name}"
        )
    told = []
    if video.transfer and ref.transfer and video.transfer != ref.transfer:
        told.append(f"color_trc={ref.transfer}")
    if video.primaries and ref.primaries and video.primaries != ref.primaries:
        told.append(f"color_primaries={ref.primaries}")
    words = [*_transfer_words(video, ref, notes), *_primaries_words(video, ref, notes)]
    filters = []
    if words:
        matrix = video.matrix or usual_matrix(video)
        filters = [f"zscale=matrixin={matrix}:matrix={matrix}:{':'.join(words)}"]
    return filters + ([f"setparams={':'.join(told)}"] if told else [])


def with_known_colors(videos: Sequence[Video], notes: list[str]) -> list[Video]:
    """Returns the inputs with all colors known, as a conversion needs them: what one does not tell is taken from
    another one, the reference first, which is the last of them, or is the usual for SDR.
    """
    known = []
    for video in videos:
        others = (videos[-1], *videos[:-1])
        told: dict[str, Any] = {}
        for name, usual in (("matrix", usual_matrix(video)), ("transfer", "bt709"), ("primaries", "bt709")):
            if not getattr(video, name) and not (name == "matrix" and is_rgb(video)):
                values = (getattr(other, name) for other in others)
                told[name] = next((value for value in values if value and value != "gbr"), usual)
        if told:
            taken = ", ".join(f"color {name} (taken for {value})" for name, value in told.items())
            notes.append(f"{video.name} does not say its {taken}")
        known.append(replace(video, **told))
    return known


def colors_text(video: Video) -> str:
    return f"{video.matrix}/{video.transfer}/{video.primaries}"


def _in_colors_of(ref: Video, video: Video) -> Video:
    """Returns the video as if it had the colors and samples of the reference. RGB, which the filter does not score,
    stays RGB.
    """
    if is_rgb(video) or is_rgb(ref):
        return replace(video, transfer=ref.transfer, primaries=ref.primaries)
    return replace(
        video,
        matrix=ref.matrix,
        transfer=ref.transfer,
        primaries=ref.primaries,
        full_range=ref.full_range,
        pix_fmt=ref.pix_fmt,
    )


def _tags(video: Video) -> str:
    """Returns the filter that tells the colors of a video, whose frames may have lost them; those of RGB, which others
    tell, without its matrix and range.
    """
    words = [f"color_trc={video.transfer}", f"color_primaries={video.primaries}"]
    if not is_rgb(video):
        words = [f"range={_range(video)}", f"colorspace={video.matrix}", *words]
    return f"setparams={':'.join(words)}"


def _transfer_words(video: Video, ref: Video, notes: list[str]) -> list[str]:
    """Returns zscale's words for the transfers, if it is needed."""
    own, wanted = video.transfer or ref.transfer or "bt709", ref.transfer or video.transfer or "bt709"
    if SAME_TRANSFER.get(own, own) == SAME_TRANSFER.get(wanted, wanted):
        return [f"transferin={own}:transfer={own}"] if primaries_differ(video, ref) else []
    if not {own, wanted} <= ZSCALE_TRANSFERS:
        raise Failure(
            f"{video.name} has the color transfer {own}, {ref.name} has {wanted}: convert one of them "
            "first (ffmpeg's filter zscale)"
        )
    notes.append(f"{video.name} has the color transfer {own}, the reference {wanted}: converted")
    same = [] if primaries_differ(video, ref) else ["primariesin=bt709:primaries=bt709"]
    return [f"transferin={own}:transfer={wanted}", *same]


def _primaries_words(video: Video, ref: Video, notes: list[str]) -> list[str]:
    if not primaries_differ(video, ref):
        return []
    own, wanted = video.primaries or "", ref.primaries or ""
    said = f"{video.name} has the color primaries {own}, the reference {wanted}"
    if not {own, wanted} <= ZSCALE_PRIMARIES:
        raise Failure(f"{said}: convert one of them first (ffmpeg's filter zscale)")
    notes.append(f"{said}: converted")
    return [f"primariesin={own}:primaries={wanted}"]
