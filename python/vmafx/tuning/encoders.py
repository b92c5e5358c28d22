"""The video encoders of FFmpeg: what sets their quality, and the words with which ffmpeg is told.

settings = Settings(ENCODERS["libx264"], preset="slow", options=(("tune", "film"),))
command = [ffmpeg, *settings.global_arguments(), "-i", name, *settings.arguments(23.5), "out.mkv"]
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from ..command._ffmpeg import Video
from ..command._inputs import is_rgb, samples_of
from ..command._run import ask
from ..command._terminal import Failure

Pairs = tuple[tuple[str, str], ...]  # options and values, without the hyphen

X26X_PRESETS = "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo".split()
NVENC_PRESETS = [f"p{i}" for i in range(1, 8)]
QSV_PRESETS = "veryfast faster fast medium slow slower veryslow".split()
VVENC_PRESETS = "faster fast medium slow slower".split()
PLANAR_8, PLANAR_10, PLANAR_12 = (
    tuple(f"yuv{chroma}p{depth}" for chroma in ("420", "422", "444")) for depth in ("", "10le", "12le")
)
FIRST_DEVICE = "/dev/dri/renderD128"  # the first GPU of the machine, for VAAPI
BIT_RATES = 50.0, 200000.0  # kbit/s that a search for a bit rate looks at
MOST_KEYINT = (1 << 31) - 1  # frames: FFmpeg's option g is an int
SEEKING_S = 10.0  # seconds between key frames for encoders whose own choice makes a file that players cannot seek in


@dataclass(frozen=True)
class Encoder:
    """An encoder of FFmpeg, and the option that sets its quality."""

    name: str
    codec: str  # FFmpeg's name of the format that it writes
    quantizer: str  # the option that takes the quantizer, without the hyphen
    first: float  # the smallest quantizer
    last: float
    step: float  # the smallest difference of two quantizers that the encoder tells apart
    default_preset: str | None
    presets: tuple[str, ...]  # from fast to slow
    pix_fmts: tuple[str, ...]  # formats that it takes, the preferred ones of equal depth first
    preset_option: str = "preset"
    fixed: Pairs = ()  # options without which the quantizer does not set the quality
    higher_is_worse: bool = True
    unit: str = ""  # stands behind the quantizer's number
    steepness: float = 1.0  # how much scores fall over all quantizers, by what they do over those of x264, roughly
    params: str | None = None  # the option for the encoder's own options: KEY=VALUE, with colons between
    zones: bool = False  # whether params takes zones: frames with a multiple of the bit rate
    closed: Pairs = ()  # options that keep pictures from reading others of the GOP before
    key_seconds: float | None = None  # seconds between key frames; None: the encoder's own choice
    grain: tuple[str, ...] = ()  # options, also those in params, that make the decoder add film grain
    device: str | None = None  # the kind of device that pictures are uploaded to

    @property
    def counts_in_whole_numbers(self) -> bool:
        return self.step == int(self.step)

    def number(self, quantizer: float) -> str:
        """Returns the quantizer as the encoder takes it."""
        return f"{round(quantizer):d}" if self.counts_in_whole_numbers else f"{round(quantizer, 4):g}"

    def rounded(self, quantizer: float) -> float:
        """Returns the nearest quantizer that the encoder takes."""
        steps = round((quantizer - self.first) / self.step)
        return round(min(max(self.first + steps * self.step, self.first), self.last), 6)

    def format_for(self, pix_fmt: str) -> str:
        """Returns the format in which pictures of another one are encoded: no less deep and no coarser in colour,
        where the encoder has such a one.
        """
        if pix_fmt in self.pix_fmts:
            return pix_fmt
        depth, chroma = depth_of(pix_fmt), _chroma_of(pix_fmt)
        least = [(abs(depth_of(name) - depth) + 8 * (depth_of(name) < depth), name) for name in self.pix_fmts]
        finer = [(cost, name) for cost, name in least if _chroma_of(name) >= chroma] or least
        best = min(cost for cost, _ in finer)
        return min((name for cost, name in finer if cost == best), key=lambda name: (_chroma_of(name), name != "nv12"))


def _software() -> Iterable[Encoder]:
    deep = PLANAR_8 + PLANAR_10 + PLANAR_12
    x26x = tuple(X26X_PRESETS)
    yield Encoder(
        "libx264",
        *("h264", "crf", 1, 51, 0.1, "medium", x26x, PLANAR_8 + PLANAR_10),
        params="x264-params",
        zones=True,
        closed=(("flags", "+cgop"), ("x264-params", "stitchable=1")),
    )
    yield Encoder(
        "libx265",
        *("hevc", "crf", 1, 51, 0.1, "medium", x26x, deep),
        params="x265-params",
        zones=True,
        closed=(("x265-params", "open-gop=0"),),
    )
    yield Encoder(
        "libsvtav1",
        *("av1", "crf", 1, 63, 1, "8", _numbers(13, 0), PLANAR_8[:1] + PLANAR_10[:1]),
        params="svtav1-params",
        steepness=0.65,
        closed=(("svtav1-params", "irefresh-type=2"),),
        key_seconds=SEEKING_S,
        grain=("film-grain", "fgs-table", "film_grain"),
    )
    yield Encoder(
        "libaom-av1",
        *("av1", "crf", 1, 63, 1, "4", _numbers(8, 0), deep, "cpu-used", (("b:v", "0"), ("row-mt", "1"))),
        params="aom-params",
        key_seconds=SEEKING_S,
        grain=("denoise-noise-level", "film-grain-test", "film-grain-table"),
    )
    yield Encoder(
        "libvpx-vp9",
        *("vp9", "crf", 1, 63, 1, "2", _numbers(5, 0), deep, "cpu-used", (("b:v", "0"), ("row-mt", "1"))),
        key_seconds=SEEKING_S,
    )
    yield Encoder(
        "libvvenc", *("vvc", "qp", 1, 63, 1, "medium", tuple(VVENC_PRESETS), ("yuv420p10le",)), params="vvenc-params"
    )


def _numbers(first: int, last: int) -> tuple[str, ...]:
    return tuple(map(str, range(first, last - 1, -1)))


def _hardware() -> Iterable[Encoder]:
    deep_nvenc = "yuv420p", "p010le", "yuv444p", "yuv444p16le"
    for codec, last in ("h264", 51), ("hevc", 51), ("av1", 51):
        formats = deep_nvenc[::2] if codec == "h264" else deep_nvenc[:2] if codec == "av1" else deep_nvenc
        yield Encoder(
            f"{codec}_nvenc",
            *(codec, "cq", 1, last, 1, "p5", tuple(NVENC_PRESETS), formats),
            fixed=(("rc", "vbr"), ("b:v", "0")),
            closed=(("forced-idr", "1"), ("strict_gop", "1")),
        )
    for codec, option, last in ("h264", "qp", 51), ("hevc", "qp", 51), ("av1", "global_quality", 255):
        yield Encoder(
            f"{codec}_vaapi",
            *(codec, option, 1, last, 1, None, _numbers(7, 1)),
            ("nv12",) if codec == "h264" else ("nv12", "p010le"),
            "compression_level",
            (("rc_mode", "CQP"),),
            device="vaapi",
        )
        yield Encoder(
            f"{codec}_qsv",
            *(codec, "global_quality", 1, 51, 1, "medium", tuple(QSV_PRESETS)),
            ("nv12",) if codec == "h264" else ("nv12", "p010le"),
            closed=(("forced_idr", "1"),),
        )


ENCODERS = {encoder.name: encoder for encoder in (*_software(), *_hardware())}


def encoder_of(name: str) -> Encoder:
    """Returns the encoder with this name. Raises Failure."""
    if name not in ENCODERS:
        raise Failure(f"vmafx does not know how to set the quality of {name}: choose of {', '.join(ENCODERS)}", 2)
    return ENCODERS[name]


def by_bit_rate(encoder: Encoder) -> Encoder:
    """Returns the encoder with its bit rate, in kbit/s, in place of the quantizer."""
    fixed: Pairs = tuple(pair for pair in encoder.fixed if pair[0] not in ("b:v", "rc_mode"))
    if encoder.device == "vaapi":
        fixed = (*fixed, ("rc_mode", "VBR"))
    first, last = BIT_RATES
    return replace(
        encoder, quantizer="b:v", first=first, last=last, step=1, unit="k", higher_is_worse=False, fixed=fixed
    )


def available(ffmpeg: str) -> set[str]:
    """Returns the names of those encoders that an ffmpeg was built with. A GPU's may still fail without the GPU."""
    said = ask([ffmpeg, "-hide_banner", "-encoders"]).text
    return ENCODERS.keys() & set(re.findall(r"^ V\S+ (\S+) ", said, re.M))


def check_available(ffmpeg: str, encoder: Encoder) -> None:
    """Raises Failure if an ffmpeg lacks the encoder."""
    found = available(ffmpeg)
    if encoder.name not in found:
        others = ", ".join(name for name in ENCODERS if name in found) or "none that vmafx knows"
        raise Failure(f"{ffmpeg} has no encoder {encoder.name}: name another ffmpeg with --ffmpeg, or take of {others}")


# -- Formats -----------------------------------------------------------------------------------------------------------


def depth_of(pix_fmt: str) -> int:
    """Returns the bits of a sample of a format of FFmpeg."""
    if found := re.search(r"p0?(9|1[0246])(?:le|be)?$", pix_fmt):
        return int(found[1])
    found = re.search(r"gray(9|1[0246])|(?:x2rgb|x2bgr|y2)(10)|(48)|(64)", pix_fmt)
    return (int(found[1] or found[2] or 16)) if found else 8


def has_alpha(pix_fmt: str) -> bool:
    """Returns whether pictures of a format have transparency; palettes may have, and do not count."""
    return bool(re.match(r"yuva|ayuv|vuya|ya\d|rgba|bgra|argb|abgr|gbrap", pix_fmt))


def _chroma_of(pix_fmt: str) -> int:
    """Returns how fine the colour of a format is: 0 for 4:2:0 and grey, 1 for 4:2:2, 2 for all samples."""
    if re.search(r"444|gbr|rgb|bgr", pix_fmt):
        return 2
    return int(bool(re.search(r"422|440|yuyv|uyvy|nv16|nv20|p210|y210", pix_fmt)))


# -- What HDR video says of itself -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mastering:
    """The display on which a video was made: chromaticities, and luminance in cd/m²."""

    red: tuple[Fraction, Fraction]
    green: tuple[Fraction, Fraction]
    blue: tuple[Fraction, Fraction]
    white: tuple[Fraction, Fraction]
    least: Fraction
    most: Fraction

    def as_x265(self) -> str:
        """Returns it in the units of HEVC: 0.00002 and 0.0001 cd/m²."""
        points = zip("GBR", (self.green, self.blue, self.red))
        colours = [f"{name}({round(x * 50000)},{round(y * 50000)})" for name, (x, y) in (*points, ("WP", self.white))]
        return f"{''.join(colours)}L({round(self.most * 10000)},{round(self.least * 10000)})"

    def as_svtav1(self) -> str:
        points = zip("GBR", (self.green, self.blue, self.red))
        colours = [f"{name}({float(x):.5f},{float(y):.5f})" for name, (x, y) in (*points, ("WP", self.white))]
        return f"{''.join(colours)}L({float(self.most):.4f},{float(self.least):.4f})"


@dataclass(frozen=True)
class Hdr:
    mastering: Mastering | None = None
    light: tuple[int, int] | None = None  # the brightest sample and the brightest mean of a frame, in cd/m²


def _hdr_params(encoder: Encoder, hdr: Hdr) -> Pairs:
    """Returns the encoder's own options that write HDR metadata into the stream. Other encoders have none: there the
    container keeps them.
    """
    if hdr == Hdr():
        return ()
    light = f"{hdr.light[0]},{hdr.light[1]}" if hdr.light else ""
    if encoder.name == "libx265":
        mastering = hdr.mastering.as_x265() if hdr.mastering else ""
        pairs = ("master-display", mastering), ("max-cll", light)
        return tuple(pair for pair in (*pairs, ("hdr10", "1"), ("repeat-headers", "1")) if pair[1])
    if encoder.name == "libx264":
        mastering = hdr.mastering.as_x265() if hdr.mastering else ""
        pairs = ("mastering-display", mastering), ("cll", light)
        return tuple(pair for pair in pairs if pair[1])
    if encoder.name == "libsvtav1":
        mastering = hdr.mastering.as_svtav1() if hdr.mastering else ""
        pairs = ("mastering-display", mastering), ("content-light", light)
        return tuple(pair for pair in pairs if pair[1])
    return ()


# -- Settings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """An encoder with all that is chosen beside its quantizer."""

    encoder: Encoder
    preset: str | None = None  # None: the encoder's default_preset
    options: Pairs = ()  # the user's own options of the encoder; they come last, and so win
    pix_fmt: str | None = None  # None: ffmpeg chooses
    vfilter: str = ""  # filters before encoding
    conversion: str = ""  # the filter behind these that makes pix_fmt where ffmpeg's own would change the range
    keyint: int | None = None  # the most frames from one key frame to the next; None: the encoder's own
    colour: Pairs = ()  # tags: color_range, color_primaries, color_trc, colorspace
    hdr: Hdr = Hdr()
    threads: int | None = None
    device: str | None = None  # the GPU that pictures are uploaded to; None: the first
    closed: bool = False  # whether each key frame begins anew, so that encodes can be joined
    zones: tuple[tuple[int, int, float], ...] = ()  # first frame, last frame, multiple of the bit rate

    @property
    def filters(self) -> str:
        """The filters before the encoder, with the upload to its device; empty without any."""
        device = self.encoder.device
        made = f"format={self.pix_fmt or 'nv12'}" if device or self.conversion else ""
        return ",".join(filter(None, (self.vfilter, self.conversion, made, "hwupload" if device else "")))

    def encoded(self, pictures: Video) -> Video:
        """Returns the facts of the encoded pictures, by those of the pictures that reach the conversion."""
        tags = dict(self.colour) if self.conversion else {}
        return replace(
            pictures,
            pix_fmt=self.pix_fmt or pictures.pix_fmt,
            full_range=tags["color_range"] == "pc" if tags else pictures.full_range,
            matrix=tags.get("colorspace", pictures.matrix),
        )

    @property
    def writes_hdr(self) -> bool:
        """Whether the encoder writes HDR metadata into its stream."""
        return bool(_hdr_params(self.encoder, Hdr(light=(1, 1))))

    @property
    def film_grain(self) -> str | None:
        """The option that has the decoder add film grain, which scores leave out; None without one."""
        names = self.encoder.grain
        for name, value in (*self.options, *self._own_params()):
            if name in names and value not in ("0", ""):
                return f"{name}={value}"
        return None

    def decoding(self) -> list[str]:
        """Returns ffmpeg's words before the -i of an encode that is scored: without the grain that decoders add."""
        return ["-export_side_data", "film_grain"] if self.film_grain else []

    def global_arguments(self) -> list[str]:
        """Returns ffmpeg's words before all inputs: the device of the encoder."""
        if not self.encoder.device:
            return []
        device = f"{self.encoder.device}=encoder:{self.device or FIRST_DEVICE}"
        return ["-init_hw_device", device, "-filter_hw_device", "encoder"]

    def arguments(self, quantizer: float) -> list[str]:
        """Returns ffmpeg's output options of the video stream, without the filters."""
        encoder = self.encoder
        pairs = [("c:v", encoder.name)]
        if preset := self.preset or encoder.default_preset:
            pairs.append((encoder.preset_option, preset))
        pairs += encoder.fixed
        pairs.append((encoder.quantizer, encoder.number(quantizer) + encoder.unit))
        if self.pix_fmt and not encoder.device:
            pairs.append(("pix_fmt", self.pix_fmt))
        if self.keyint is not None:
            pairs.append(("g", str(self.keyint)))
        if self.threads is not None:
            pairs.append(("threads:v", str(self.threads)))
        pairs += self.colour
        if self.closed:
            pairs += [pair for pair in encoder.closed if pair[0] != encoder.params]
        pairs += [pair for pair in self.options if pair[0] != encoder.params]
        if params := self._own_params():
            pairs.append((str(encoder.params), ":".join(f"{name}={value}" for name, value in params)))
        return [word for name, value in pairs for word in (f"-{name}", value)]

    def _own_params(self) -> list[tuple[str, str]]:
        """Returns what the option `params` of the encoder is given: one value of all its sources, the user's last."""
        name = self.encoder.params
        if name is None:
            return []
        params = [*_hdr_params(self.encoder, self.hdr)]
        if self.closed:
            params += _split(value for option, value in self.encoder.closed if option == name)
        if self.zones:
            zones = "/".join(f"{first},{last},b={factor:.4f}" for first, last, factor in self.zones)
            params.append(("zones", zones))
        params += _split(value for option, value in self.options if option == name)
        return params

    def described(self) -> str:
        """Returns the settings for a line of text and for a cache: all that changes the encode beside the quantizer."""
        words = self.arguments(self.encoder.first)
        place = words.index(f"-{self.encoder.quantizer}")
        filters = ["-vf", self.filters] if self.filters else []
        return shlex.join([*words[:place], *words[place + 2 :], *filters])


def _split(values: Iterable[str]) -> list[tuple[str, str]]:
    """Returns KEY=VALUE:KEY=VALUE as pairs; a key alone is switched on."""
    words = [word for value in values for word in value.split(":") if word]
    return [(name, value if equals else "1") for name, equals, value in (word.partition("=") for word in words)]


def conversion_of(pictures: Video, pix_fmt: str, colour: Pairs) -> tuple[str, Pairs]:
    """Returns the filter that brings pictures into a format of an encoder, and the tags of color behind it. ffmpeg
    alone makes limited range of full range where the format changes, and its tags still say full; and it gives RGB the
    matrix of BT.601, whatever the size. The filter is empty where ffmpeg changes no range.
    """
    before = f"format={pictures.pix_fmt},"  # else a filter before may convert
    tags = {name: "rgb" if value == "gbr" else value for name, value in colour}  # as ffmpeg's options call it
    rgb_before, rgb_behind = is_rgb(pictures), samples_of(pix_fmt).chroma == "rgb"
    if rgb_before and not rgb_behind:
        matrix = "bt2020" if pictures.primaries == "bt2020" else "bt709"
        tags |= {"color_range": "tv", "colorspace": "bt2020nc" if matrix == "bt2020" else matrix}
        return f"{before}scale=out_range=tv:out_color_matrix={matrix}", tuple(tags.items())
    if pictures.full_range and not rgb_before and not rgb_behind and pix_fmt != pictures.pix_fmt:
        return f"{before}scale=in_range=pc:out_range=pc", tuple((tags | {"color_range": "pc"}).items())
    return "", tuple(tags.items())


def key_interval(encoder: Encoder, text: str | None, rate: Fraction | None) -> int | None:
    """Returns the most frames between key frames: `text` is frames, or seconds as 5s; None is the encoder's default.
    Raises Failure.
    """
    if text is None:
        seconds = encoder.key_seconds
        return round(seconds * rate) if seconds and rate else None
    found = re.fullmatch(r"(\d{1,10}(?:\.\d{1,9})?)s", text)
    frames = int(text) if re.fullmatch(r"\d{1,10}", text) else 0
    if not found and 0 < frames <= MOST_KEYINT:
        return frames
    if not found or float(found[1]) <= 0:
        raise Failure(f"--keyint {text}: write frames, such as 250, or seconds, such as 10s", 2)
    if not rate:
        raise Failure(f"--keyint {text}: the input has no constant frame rate: give frames instead of seconds", 2)
    return min(max(round(float(found[1]) * rate), 1), MOST_KEYINT)


# Options that the command sets itself: with others the result would be that of another encode than it says.
OWN_QUALITY = {"crf", "cq", "qp", "q", "qscale", "global_quality", "b", "pass", "passlogfile"}
OWN_PARAMS = {"crf", "qp", "bitrate", "tbr", "rc", "cq-level", "end-usage", "pass", "passes", "stats"}
# Switches of ffmpeg, of all releases from 6.1 to 8.1: they take no value, so that ffmpeg would write into a file with
# the value's name.
SWITCHES = """accurate_seek auto_conversion_filters autorotate autoscale benchmark benchmark_all bitexact bsfs buildconf
    codecs colors copy_unknown copyinkf debug_ts decoders demuxers devices display_hflip display_vflip dispositions dump
    encoders filters find_stream_info fix_sub_duration fix_sub_duration_heartbeat force_fps formats h help hex
    hide_banner hwaccels ignore_unknown layouts license muxers pix_fmts print_graphs protocols psnr qphist re
    recast_media report sample_fmts shortest start_at_zero stats stdin version vstats xerror""".split()
OWN_OPTIONS = {
    **dict.fromkeys(SWITCHES, "it is a switch of ffmpeg's, not an option of the encoder"),
    **dict.fromkeys(("c", "codec", "vcodec"), "--encoder names it"),
    **dict.fromkeys(("vf", "filter", "filter_complex", "lavfi", "s", "r", "aspect"), "--vfilter takes filters"),
    **dict.fromkeys(OWN_QUALITY, "the command sets the quality, in one pass (vmafx encode has --crf)"),
    **dict.fromkeys(("map", "i", "f", "y", "n", "an", "sn", "dn", "vn"), "the command chooses streams and files"),
    **dict.fromkeys(("ss", "t", "to", "frames", "fs", "vframes"), "the command encodes the whole input"),
    **dict.fromkeys(("vsync", "fps_mode", "copyts"), "the command keeps the times of pictures"),
    "pix_fmt": "--pix-format names it",
}


def own_option(text: str, encoder: Encoder) -> tuple[str, str]:
    """Returns KEY=VALUE of --enc as a pair. Raises Failure, also for options that the command sets itself."""
    name, value = option_pair(text)
    own = name.partition(":")[0]
    if why := OWN_OPTIONS.get(own) or OWN_OPTIONS.get(own.removeprefix("no")):
        raise Failure(f"--enc {text}: leave out {name}: {why}", 2)
    if name == encoder.params and (taken := [own for own, _ in _split([value]) if own in OWN_PARAMS]):
        raise Failure(f"--enc {text}: leave out {taken[0]}: {OWN_OPTIONS['crf']}", 2)
    return name, value


def option_pair(text: str) -> tuple[str, str]:
    """Returns KEY=VALUE of --enc as a pair; KEY alone has an empty value. Raises Failure."""
    name, equals, value = text.lstrip("-").partition("=")
    if not name or any(character.isspace() for character in name):
        raise Failure(f"--enc {text}: write KEY=VALUE, such as tune=film or x265-params=aq-mode=3", 2)
    return name, value if equals else "1"
