"""Kinds of damage, and what the look should say of each; and good pairs, of which it must say nothing.

Time and fields are damaged by a plan: for each picture of the encode (and, where the reference is another one than the
clip, of the reference) the pictures of the clip that it is made of. All else is a filter of ffmpeg or a function.
"""

from dataclasses import dataclass

import numpy as np
from clips import MARGIN


@dataclass(frozen=True)
class Near:
    """A number of a finding that is right within a part of it, or within so many units."""

    value: float
    relative: float = 0.25
    absolute: float = 0.0

    def fits(self, number):
        return number is not None and abs(number - self.value) <= max(abs(self.value) * self.relative, self.absolute)


def count(value):
    return Near(value, 0, 0.25)


@dataclass(frozen=True)
class Damage:
    name: str
    group: str
    # wants(clip): alternatives. Each is {kind: {evidence: Near}}, all of which must have been found
    wants: object
    filter: str = ""
    # plan(pairs): what each picture shows: a number, ("mix", a, b, part of b), ("weave", even rows of, odd rows of)
    plan: object = None
    reference: object = None  # a plan, too
    picture: object = None  # picture(planes, clip): planes
    also: tuple = ()  # kinds that are no mistake besides
    place: object = None  # place(pairs): the pair from which on it shows
    color: bool = False  # it does not show in a clip in black and white
    goal: bool = False  # 99 % are demanded
    other: str = ""  # the clip that is shown instead
    recolored: object = None  # recolored(means of Y, Cb and Cr, clip): what becomes of them


DAMAGES = {}


def add(name, group, wants, **more):
    static = wants
    DAMAGES[name] = Damage(name, group, wants if callable(wants) else lambda clip: static, **more)


# -- Time --------------------------------------------------------------------------------------------------------------

BEGIN, MIDDLE, END = (lambda pairs: 12), (lambda pairs: pairs // 2 + 1), (lambda pairs: pairs - 14)
PLACES = {"begin": BEGIN, "middle": MIDDLE, "end": END}
TIMES = ("dropped", "doubled", "frozen", "cadence", "offset")


def dropped(place, frames):
    return lambda pairs: [i if i < place(pairs) else i + frames for i in range(pairs)]


def doubled(place, frames):
    return lambda pairs: [i if i < place(pairs) else max(place(pairs) - 1, i - frames) for i in range(pairs)]


def frozen(place, frames):
    return lambda pairs: [place(pairs) - 1 if place(pairs) <= i < place(pairs) + frames else i for i in range(pairs)]


for _where, _place in PLACES.items():
    for _frames in (1,) if _where != "middle" else (1, 2, 3):
        add(
            f"dropped_{_frames}_{_where}",
            "time",
            [{"dropped": {"frames": count(_frames)}}],
            plan=dropped(_place, _frames),
            place=_place,
            goal=True,
        )
        add(
            f"doubled_{_frames}_{_where}",
            "time",
            [{"doubled": {"frames": count(_frames)}}] + [{"frozen": {}, "doubled": {}}] * (_frames > 1),
            plan=doubled(_place, _frames),
            also=("frozen",),
            place=_place,
            goal=True,
        )
add("replaced", "time", [{"frozen": {}}, {"doubled": {}}], plan=frozen(MIDDLE, 1), also=("dropped",), place=MIDDLE)
for _frames in 1, 2, 5, -1, -3:
    add(
        f"offset_{_frames:+d}",
        "time",
        [{"offset": {"frames": count(_frames)}}],
        plan=lambda pairs, frames=_frames: [i + frames for i in range(pairs)],
        goal=True,
    )
for _frames in -40, 60:
    add(
        f"offset_far_{_frames:+d}",
        "time",
        [{"offset": {"frames": count(_frames)}}, {"other_pictures": {}}],
        plan=lambda pairs, frames=_frames: [i + max(frames, 0) for i in range(pairs - abs(frames))],
        reference=lambda pairs, frames=_frames: [i + max(-frames, 0) for i in range(pairs - abs(frames))],
    )
for _frames in 5, 12:
    add(
        f"frozen_{_frames}",
        "time",
        [{"frozen": {}}],
        plan=frozen(MIDDLE, _frames),
        also=("doubled", "dropped"),
        place=MIDDLE,
    )
add(
    "pulldown_3_2",
    "time",
    [{"cadence": {"repeated": count(1), "of": count(5)}}],
    plan=lambda pairs: [i - (i % 5 == 4) for i in range(pairs)],
    also=TIMES,
)
add(
    "pulldown_2_2",
    "time",
    [{"cadence": {"repeated": count(1), "of": count(2)}}],
    plan=lambda pairs: [i - i % 2 for i in range(pairs)],
    also=TIMES,
)
add(
    "cadence_24_of_25",
    "time",
    [{"cadence": {"repeated": count(1), "of": count(25)}}, {"doubled": {"frames": count(1)}}],
    plan=lambda pairs: [i - i // 25 for i in range(pairs)],
    also=TIMES,
)
add(
    "blended_50_of_60",
    "time",
    [{"blended": {}}],
    plan=lambda pairs: [("mix", i * 6 // 5, i * 6 // 5 + 1, i * 6 % 5 / 5) for i in range(pairs * 5 // 6)],
    reference=lambda pairs: [i * 6 // 5 for i in range(pairs * 5 // 6)],
    also=("cadence",),
)
add(
    "blended_60_of_50",
    "time",
    [{"blended": {}}],
    plan=lambda pairs: [("mix", i * 5 // 6, i * 5 // 6 + 1, i * 5 % 6 / 6) for i in range(pairs)],
    reference=lambda pairs: [(i * 5 + 3) // 6 for i in range(pairs)],
    also=("cadence",),
)


def swapped(at):
    """Exchanges the pictures `at` and the next one, for all numbers that `at` accepts."""
    return lambda pairs: [i + at(i, pairs) - (i > 0 and at(i - 1, pairs)) for i in range(pairs)]


add("swapped_once", "time", [{"swapped": {}}], plan=swapped(lambda i, pairs: i == MIDDLE(pairs)), place=MIDDLE)
add("swapped_often", "time", [{"swapped": {}}], plan=swapped(lambda i, pairs: i % 10 == 5))
add("other_pictures", "time", [{"other_pictures": {}}], other="next")

# -- Geometry ----------------------------------------------------------------------------------------------------------


def degrees(value):
    return {"rotated": {"degrees": count(value)}}


BACK = "scale={w}:{h}:flags=bicubic"
add("mirrored", "geometry", [{"mirrored": {}}], filter="hflip", goal=True)
add("flipped", "geometry", [{"flipped": {}}], filter="vflip", goal=True)
add("rotated_90", "geometry", [degrees(90)], filter=f"transpose=clock,{BACK}", goal=True)
add("rotated_180", "geometry", [degrees(180), {"mirrored": {}, "flipped": {}}], filter="hflip,vflip", goal=True)
add("rotated_270", "geometry", [degrees(270)], filter=f"transpose=cclock,{BACK}", goal=True)
add(
    "transposed",
    "geometry",
    [{"mirrored": {}, **degrees(270)}, {"flipped": {}, **degrees(90)}],
    filter=f"transpose=cclock_flip,{BACK}",
    goal=True,
)


def sides(kind, left=0, top=0, right=0, bottom=0):
    at = {"left": left, "top": top, "right": right, "bottom": bottom}
    return [{kind: {side: Near(value, 0.25, 0.75) for side, value in at.items()}}]


for _samples, _one in (2, "left"), (4, "top"), (8, "right"):
    _all = {side: _samples for side in ("left", "top", "right", "bottom")}
    add(
        f"crop_{_samples}_all",
        "geometry",
        sides("cropped", **_all),
        filter=f"crop=iw-{2 * _samples}:ih-{2 * _samples},{BACK}",
        also=("scaled",),
        goal=True,
    )
    _cut = {"left": f"iw-{_samples}:ih:{_samples}:0", "top": f"iw:ih-{_samples}:0:{_samples}"}
    add(
        f"crop_{_samples}_{_one}",
        "geometry",
        sides("cropped", **{_one: _samples}),
        filter=f"crop={_cut.get(_one, f'iw-{_samples}:ih:0:0')},{BACK}",
        also=("scaled",),
        goal=True,
    )
add(
    "padded_8_rows",
    "geometry",
    lambda clip: sides("padded", bottom=8 * clip.height / (clip.height + 8)),
    filter=f"pad=iw:ih+8,{BACK}",
    also=("scaled",),
)
add(
    "letterbox",
    "geometry",
    lambda clip: sides("padded", top=clip.height // 8, bottom=clip.height // 8),
    filter="scale={w}:{h}-2*trunc({h}/8):flags=bicubic,pad={w}:{h}:0:trunc({h}/8)",
    also=("scaled",),
)
add(
    "pillarbox",
    "geometry",
    lambda clip: sides("padded", left=clip.width // 8, right=clip.width // 8),
    filter="scale={w}-2*trunc({w}/8):{h}:flags=bicubic,pad={w}:{h}:trunc({w}/8):0",
    also=("scaled",),
)
add(
    "bars_over_picture",
    "geometry",
    lambda clip: sides("padded", top=clip.height // 9 // 2 * 2, bottom=clip.height // 9 // 2 * 2),
    filter="crop={w}:{h}-2*trunc({h}/18)*2:0:trunc({h}/18)*2,pad={w}:{h}:0:trunc({h}/18)*2",
    also=("cropped",),
)


def moved(plane, right):
    """Moves a plane to the right, by any part of a sample, with a bicubic kernel; its edge goes on outside."""
    whole = int(np.floor(right))
    t = right - whole
    weights = [-0.5 * t**3 + t**2 - 0.5 * t, 1.5 * t**3 - 2.5 * t**2 + 1, -1.5 * t**3 + 2 * t**2 + 0.5 * t]
    weights.append(0.5 * t**3 - 0.5 * t**2)
    # the sample at x comes from x - right, which lies between x - whole - 1 and x - whole
    columns = np.arange(plane.shape[1])
    made = 0
    for weight, step in zip(weights, (1, 0, -1, -2)):
        made = made + weight * plane[:, np.clip(columns - whole + step, 0, plane.shape[1] - 1)].astype(np.float32)
    top = 1023 if plane.dtype == np.uint16 else 255
    return np.clip(np.round(made), 0, top).astype(plane.dtype)


def shifted(x, y):
    def picture(planes, clip):
        steps = ((x, y), (x / 2, y / 2), (x / 2, y / 2))
        return [moved(moved(plane, right).T, down).T for plane, (right, down) in zip(planes, steps)]

    return picture


for _name, _x, _y in ("half", 0.5, 0), ("half_down", 0, 0.5), ("1", 1, 0), ("2_down", 0, 2):
    add(
        f"shift_{_name}",
        "geometry",
        [{"shifted": {"x": Near(_x, 0.25, 0.25), "y": Near(_y, 0.25, 0.25)}}],
        picture=shifted(_x, _y),
    )
add(
    "scaled_across",
    "geometry",
    lambda clip: [{"scaled": {"x": Near((clip.width + 8) / clip.width, 0.0025)}}]
    + sides("cropped", *(4 * clip.width / (clip.width + 8) * side for side in (1, 0, 1, 0))),
    filter="scale={w}+8:{h}:flags=lanczos,crop={w}:{h}:4:0",
    also=("cropped", "scaled"),
)

# -- Levels ------------------------------------------------------------------------------------------------------------

NEUTRAL = "(minval+maxval)/2"


def gains(luma, low, high, chroma):
    """Returns a filter of samples that leaves tags as they are, so that nothing converts them back."""
    value = f"(val-{NEUTRAL})*{chroma}+{NEUTRAL}"
    return f"lutyuv=y='(val-{low})*{luma}+{high}':u='{value}':v='{value}'"


add(
    "full_as_limited",
    "levels",
    [{"range": {"gain": Near(255 / 219, 0.04)}}],
    filter=gains("255/219", "minval", "0", "255/224"),
    goal=True,
)
add(
    "limited_as_full",
    "levels",
    [{"range": {"gain": Near(219 / 255, 0.04)}}],
    filter=gains("219/255", "0", "minval", "224/255"),
    goal=True,
)
NUMBERS = {"bt601": 6, "bt709": 1, "bt2020": 9}


def matrix(other):
    """Demands the matrix of the clip and another one, in any order; 5 is 6, BT.601 with 625 lines."""

    def wants(clip):
        own = "bt2020" if clip.hdr else "bt709"
        pairs = [(NUMBERS[own], NUMBERS[other]), (NUMBERS[other], NUMBERS[own])]
        pairs += [tuple(5 if code == 6 else code for code in pair) for pair in pairs if 6 in pair]
        return [{"matrix": {"from": count(a), "to": count(b)}} for a, b in pairs]

    return wants


def matrix_filter(clip, other):
    own = "bt2020" if clip.hdr else "bt709"
    return f"scale=in_color_matrix={own}:out_color_matrix={other}:flags=bicubic+accurate_rnd+full_chroma_int"


COEFFICIENTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def from_rgb(name):
    """Returns H.273's matrix of R'G'B' to Y of 0 to 1, Cb and Cr of -1/2 to 1/2."""
    red, blue = COEFFICIENTS[name]
    green = 1 - red - blue
    luma = np.array([red, green, blue])
    return np.array([luma, (np.eye(3)[2] - luma) / (2 - 2 * blue), (np.eye(3)[0] - luma) / (2 - 2 * red)])


def in_matrix(other):
    """Returns a function that takes means of Y, Cb and Cr to another matrix."""

    def recolored(cells, clip):
        own = "bt2020" if clip.hdr else "bt709"
        size, zero = np.array([219, 224, 224])[:, None, None], np.array([16, 128, 128])[:, None, None]
        through = from_rgb(other(clip)) @ np.linalg.inv(from_rgb(own))
        return np.tensordot(through, (cells - zero) / size, 1) * size + zero

    return recolored


for _name, _other in ("601", lambda clip: "bt601"), ("709_2020", lambda clip: "bt709" if clip.hdr else "bt2020"):
    add(
        f"matrix_{_name}",
        "levels",
        lambda clip, other=_other: matrix(other(clip))(clip),
        filter=lambda clip, other=_other: matrix_filter(clip, other(clip)),
        recolored=in_matrix(_other),
        color=True,
        goal=True,
    )
add("chroma_swapped", "levels", [{"chroma_swapped": {}}], filter="shuffleplanes=0:2:1", color=True, goal=True)
add(
    "chroma_shifted",
    "levels",
    [{"chroma_shifted": {}}],
    picture=lambda planes, clip: [planes[0], moved(planes[1], 1), moved(planes[2], 1)],
    color=True,
)
add(
    "chroma_siting",
    "levels",
    [{"chroma_shifted": {}}],
    picture=lambda planes, clip: [planes[0], moved(planes[1], 0.25), moved(planes[2], 0.25)],
    color=True,
)
add("gray_u", "levels", [{"gray": {"plane": count(1)}}], filter=f"lutyuv=u={NEUTRAL}", color=True)
add("gray_both", "levels", [{"gray": {}}], filter=f"lutyuv=u={NEUTRAL}:v={NEUTRAL}", color=True)
BRIGHTER = "lutyuv=y='val+0.05*(maxval-minval)'"
CONTRAST = "lutyuv=y='(val-minval)*1.08+minval-0.02*(maxval-minval)'"
add("brighter", "levels", [{"brightness": {}}], filter=BRIGHTER)
add("contrast", "levels", [{"brightness": {}}], filter=CONTRAST)
add(
    "gamma", "levels", [{"transfer": {}}, {"brightness": {}}], filter="lutyuv=y='gammaval(1/1.1)'", also=("brightness",)
)


def curves(transfer):
    def chain(clip):
        own = ("smpte2084", "2020_ncl", "2020") if clip.hdr else ("709", "709", "709")
        same = f"tin={own[0]}:min={own[1]}:pin={own[2]}:rin=limited:m={own[1]}:p={own[2]}:r=limited"
        other = "709" if clip.hdr and transfer == "smpte2084" else transfer
        return f"zscale={same}:t={other}:npl=203:f=bilinear"

    return chain


for _name, _curve in ("pq", "smpte2084"), ("hlg", "arib-std-b67"):
    add(f"transfer_{_name}", "levels", [{"transfer": {}}], filter=curves(_curve), also=("primaries", "brightness"))


def primaries(clip):
    transfer, own = ("smpte2084", "2020_ncl:pin=2020") if clip.hdr else ("709", "709:pin=709")
    return f"zscale=tin={transfer}:t={transfer}:min={own}:rin=limited:m={own.split(':')[0]}:r=limited:p=smpte432"


add("primaries_p3", "levels", [{"primaries": {}}], filter=primaries, also=("transfer", "brightness"), color=True)

# -- Structure ---------------------------------------------------------------------------------------------------------

add(
    "interlaced",
    "structure",
    [{"combed": {}}],
    plan=lambda pairs: [("weave", 2 * i, 2 * i + 1) for i in range(pairs // 2)],
    reference=lambda pairs: [2 * i for i in range(pairs // 2)],
    also=("blended",),
)
add(
    "deinterlaced_reference_combed",
    "structure",
    [{"reference_combed": {}}],
    plan=lambda pairs: [2 * i for i in range(pairs // 2)],
    reference=lambda pairs: [("weave", 2 * i, 2 * i + 1) for i in range(pairs // 2)],
    also=("blended",),
)
add(
    "field_order",
    "structure",
    [{"field_order": {}}],
    plan=lambda pairs: [("weave", 2 * i + 1, 2 * i) for i in range(pairs // 2)],
    reference=lambda pairs: [("weave", 2 * i, 2 * i + 1) for i in range(pairs // 2)],
)
add(
    "field_dropped",
    "structure",
    [{"fields_dropped": {}}],
    filter="field=top,scale={w}:{h}:flags=bilinear",
    also=("shifted",),
)
TELECINE = (0, 0), (0, 1), (1, 2), (2, 2), (3, 3)
add(
    "telecined",
    "structure",
    [{"combed": {}}, {"cadence": {}}],
    plan=lambda pairs: [("weave", *(i // 5 * 4 + field for field in TELECINE[i % 5])) for i in range(pairs)],
    reference=lambda pairs: [i * 4 // 5 for i in range(pairs)],
    also=("cadence", "combed", "blended"),
)
add(
    "woven",
    "structure",
    [{"combed": {}}],
    plan=lambda pairs: [("weave", i, i + 1) for i in range(pairs)],
    also=("blended", "offset"),
)

# -- Good pairs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Good:
    """An encode that is as it should be: no finding may be said but those of `allowed`, of which one may be wanted."""

    name: str
    encoder: str
    filter: str = ""
    allowed: tuple = ()
    wanted: tuple = ()
    format: str = ""  # the format that is encoded, where it is not the clip's
    picture: object = None
    plan: object = None
    reference: object = None


X264 = "libx264 -preset veryfast"
GOOD = {}


def good(name, encoder=f"{X264} -crf 28", filter="", **more):
    GOOD[name] = Good(name, encoder, filter, **more)


for _crf in 0, 18, 24, 30, 36, 42, 47, 51:
    good(f"crf_{_crf}", f"{X264} -crf {_crf}")
good("100k", f"{X264} -b:v 100k -maxrate 100k -bufsize 100k")
good("40k", f"{X264} -b:v 40k -maxrate 60k -bufsize 100k")
good("ultrafast", "libx264 -preset ultrafast -crf 33")
good("slow", "libx264 -preset slow -tune film -crf 26")
good("animation", "libx264 -preset medium -tune animation -crf 30")
good("zerolatency", "libx264 -preset veryfast -tune zerolatency -crf 34")
good("long_gop", "libx264 -preset medium -bf 8 -g 300 -crf 38")
good("mpeg2", "mpeg2video -q:v 4 -bf 2")
good("mpeg2_bad", "mpeg2video -q:v 31")
good("mpeg4", "mpeg4 -q:v 5 -bf 2")
good("mpeg4_bad", "mpeg4 -q:v 31")
good("xvid", "libxvid -q:v 12")
good("mjpeg", "mjpeg -q:v 12 -pix_fmt yuvj420p", "scale=in_range=limited:out_range=full", format="yuvj420p")
good("vp9", "libvpx-vp9 -deadline realtime -cpu-used 8 -crf 36 -b:v 0")
good("vp9_bad", "libvpx-vp9 -deadline realtime -cpu-used 8 -crf 58 -b:v 0")
good("x265", "libx265 -preset ultrafast -crf 30 -x265-params log-level=none:pools=none:frame-threads=1")
good("x265_bad", "libx265 -preset ultrafast -crf 46 -x265-params log-level=none:pools=none:frame-threads=1")
good("av1", "libsvtav1 -preset 12 -rc 0 -qp 45")
good("film_grain", "libaom-av1 -cpu-used 8 -usage realtime -crf 40 -b:v 0 -denoise-noise-level 30")
good("blur", filter="gblur=sigma=0.8")
good("blur_much", filter="gblur=sigma=2")
good("denoised", filter="hqdn3d")
good("denoised_much", filter="hqdn3d=8:6:12:9")
good("grain_8", filter="noise=alls=8:allf=t:all_seed=7")
good("grain_20", filter="noise=alls=20:allf=t:all_seed=8")
good("sharp", filter="unsharp=5:5:0.6")
good("sharp_much", filter="unsharp=7:7:1.5:5:5:0.5")
for _scaler, _part in ("bicubic", "1/2"), ("lanczos", "2/3"), ("bilinear", "1/2"), ("spline", "3/4"), ("area", "1/3"):
    _small = f"scale=trunc({{w}}*{_part}/2)*2:trunc({{h}}*{_part}/2)*2:flags={_scaler}"
    good(f"scaled_{_scaler}", filter=f"{_small},scale={{w}}:{{h}}:flags={_scaler if _scaler != 'area' else 'bicubic'}")
good("ten_bits", format="yuv420p10le")
good("chroma_444", filter="scale=flags=bicubic,format=yuv444p")
good("logo", filter="drawbox=x=iw*0.82:y=ih*0.06:w=iw*0.12:h=ih*0.1:color=white@0.7:t=fill")
good(
    "subtitles",
    filter="drawbox=x=iw*0.25:y=ih*0.84:w=iw*0.5:h=ih*0.07:color=white:t=fill:enable='lt(mod(n,70),45)',"
    "drawbox=x=iw*0.27:y=ih*0.86:w=iw*0.46:h=ih*0.02:color=black:t=fill:enable='lt(mod(n,70),45)'",
)
good("deblocked", filter="deblock")
good("brighter", filter=BRIGHTER, allowed=("brightness",), wanted=("brightness",))
good("contrast", filter=CONTRAST, allowed=("brightness",), wanted=("brightness",))
good("saturated", filter=gains("1", "0", "0", "1.1"))
good(
    "both_interlaced",
    plan=lambda pairs: [("weave", 2 * i, 2 * i + 1) for i in range(pairs // 2)],
    reference=lambda pairs: [("weave", 2 * i, 2 * i + 1) for i in range(pairs // 2)],
    encoder=f"{X264} -crf 26 -flags +ilme+ildct -x264-params tff=1",
)
good(
    "both_telecined",
    plan=lambda pairs: [i * 4 // 5 for i in range(pairs)],
    reference=lambda pairs: [i * 4 // 5 for i in range(pairs)],
)

assert MARGIN >= 6
