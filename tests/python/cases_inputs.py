"""vmafx score: inputs whose headers, tags or times say something else than their pictures."""

import json
import struct

from command import vmafx
from common import ALL, case, check, check_equal, slow_case

WIDTH, HEIGHT, SECONDS = 160, 90, 1
NEAR = "-c:v libx264 -crf 5 -preset ultrafast"
LOSSLESS = "-c:v libx264 -qp 0 -preset ultrafast -bf 0"
FIELDS = "-c:v libx264 -qp 5 -flags +ilme+ildct -x264opts tff=1"


def source(lab, name, rate=25, seconds=SECONDS, size=f"{WIDTH}x{HEIGHT}", filters="null", codec="-c:v ffv1"):
    lab.run(f"-f lavfi -i testsrc2=s={size}:r={rate}:d={seconds}", "-vf", filters, codec, name).succeeded()
    return name


def made(lab, before, name, *words):
    lab.run("-i", before, *words, name).succeeded()
    return name


def scored(lab, *words):
    """Returns the encodes of the result, and the finished command."""
    done = vmafx(lab, "score", *words, "--model", "none", "--feature", "psnr", "--json").succeeded()
    return json.loads(done.out)["encodes"], done


def check_psnr(lab, dist, ref, least, frames):
    """Checks that all pairs of an encode are of equal pictures, but for the loss of the encoder."""
    (encode,), done = scored(lab, dist, ref)
    check_equal((encode["frames"], encode["doubts"]), (frames, []), f"pairs of {dist} with {ref}, said: {done.err}")
    worst = encode["pooled"]["psnr_y"]["min"]
    check(worst >= least, f"the worst PSNR of {dist} with {ref} is {worst}; it said: {done.err}")
    return done


# -- Sizes -------------------------------------------------------------------------------------------------------------


@case
def padding_of_coded_sizes(lab):
    source(lab, "ref.mkv")
    made(lab, "ref.mkv", "rows.mkv", f"-vf pad={WIDTH}:{HEIGHT + 6}", NEAR)
    check_psnr(lab, "rows.mkv", "ref.mkv", 45, 25).says("rows.mkv is cropped to 160x90 at 0,0, not scaled")
    made(lab, "ref.mkv", "both.mkv", f"-vf pad={WIDTH + 8}:{HEIGHT + 6}:4:2", NEAR)
    check_psnr(lab, "both.mkv", "ref.mkv", 45, 25).says("both.mkv is cropped to 160x90 at 4,")
    check_psnr(lab, "ref.mkv", "rows.mkv", 45, 25).says("the reference is cropped to 160x90 at 0,0")


@case
def crops_of_a_few_samples(lab):
    source(lab, "ref.mkv")
    made(lab, "ref.mkv", "crop.mkv", f"-vf crop={WIDTH - 4}:{HEIGHT - 4}:2:2", NEAR)
    check_psnr(lab, "crop.mkv", "ref.mkv", 45, 25).says("the reference is cropped to 156x86 at 2,2")
    made(lab, "ref.mkv", "whole.mkv", NEAR)
    encodes, done = scored(lab, "whole.mkv", "crop.mkv", "ref.mkv")  # one reference for both
    worst = [encode["pooled"]["psnr_y"]["min"] for encode in encodes]
    check(min(worst) > 45, f"{worst}, said: {done.err}")
    made(lab, "ref.mkv", "other.mkv", f"-vf crop={WIDTH - 8}:{HEIGHT - 4}:4:2", NEAR)
    vmafx(lab, "score", "crop.mkv", "other.mkv", "ref.mkv").failed(1, "different ways", "score them in separate runs")


@case
def sizes_that_are_scaled(lab):
    """A slightly smaller size is not always a crop."""
    source(lab, "ref.mkv")
    made(lab, "ref.mkv", "small.mkv", f"-vf scale={WIDTH - 8}:{HEIGHT - 4}:flags=bicubic", NEAR)
    (encode,), done = scored(lab, "small.mkv", "ref.mkv")
    done.says("small.mkv is 152x86: scaled to the reference's 160x90").does_not_say("cropped")
    check_equal(encode["frames"], 25, "frames")


@case
def orientation_of_a_photo(lab):
    lab.run("-f lavfi -i testsrc2=s=160x90 -frames:v 1 -q:v 1 flat.jpg").succeeded()
    photo = (lab.folder / "flat.jpg").read_bytes()
    tags = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0)
    segment = b"\xff\xe1" + struct.pack(">H", len(tags) + 8) + b"Exif\0\0" + tags
    (lab.folder / "turned.jpg").write_bytes(photo[:2] + segment + photo[2:])
    made(lab, "turned.jpg", "turned.png")
    check_psnr(lab, "turned.png", "turned.jpg", 40, 1)


@case
@slow_case
def rotation_of_a_phone(lab):
    """Tags of rotation are followed, and one that an encode has lost is found."""
    source(lab, "ref.mkv", size="320x180")
    made(lab, "ref.mkv", "lying.mp4", NEAR)
    lab.run("-i lying.mp4 -c copy -metadata:s:v rotate=90 phone.mp4").succeeded()
    made(lab, "phone.mp4", "upright.mp4", NEAR)
    check_psnr(lab, "upright.mp4", "phone.mp4", 45, 25)
    check_psnr(lab, "phone.mp4", "upright.mp4", 45, 25)
    done = check_psnr(lab, "lying.mp4", "phone.mp4", 45, 25)
    done.says("lying.mp4 lies on its side, as the pictures show: turned by ")
    lab.run("-i lying.mp4 -c copy -metadata:s:v rotate=180 down.mp4").succeeded()
    done = check_psnr(lab, "lying.mp4", "down.mp4", 45, 25)
    done.says("lying.mp4 is turned or mirrored, as the pictures show: turned back")


def with_aperture(movie, width, height, coded):
    """Returns an MP4 with a box clap that shows the upper left part of the coded pictures."""
    off = [(size - whole) & 0xFFFFFFFF for size, whole in zip((width, height), coded)]  # of the middles, in halves
    clap = struct.pack(">I4s8I", 40, b"clap", width, 1, height, 1, off[0], 2, off[1], 2)
    changed, place = bytearray(movie), 0
    for name in b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1":
        place = movie.index(name, place) - 4
        size = int.from_bytes(movie[place : place + 4], "big")
        changed[place : place + 4] = struct.pack(">I", size + len(clap))
    end = place + size
    return bytes(changed[:end] + clap + changed[end:])


def with_crop_below(matroska, rows):
    """Returns a Matroska file with PixelCropBottom in the place of the tags of colors, and a void for the rest."""
    place = matroska.index(b"\x55\xb0")  # Colour
    size = 3 + (matroska[place + 2] & 0x7F)
    crop = b"\x54\xaa\x81" + bytes([rows])
    void = size - len(crop) - 2
    return matroska[:place] + crop + b"\xec" + bytes([0x80 | void]) + bytes(void) + matroska[place + size :]


@case
def crops_that_containers_tell(lab):
    """Some releases of FFmpeg crop the pictures by them, and some do not."""
    source(lab, "ref.mkv")
    padded = f"-vf pad={WIDTH}:{HEIGHT + 6}", NEAR
    made(lab, "ref.mkv", "coded.mp4", *padded)
    made(lab, "ref.mkv", "coded.mkv", *padded, "-colorspace bt709 -color_primaries bt709 -color_trc bt709")
    movie, matroska = ((lab.folder / f"coded.{ending}").read_bytes() for ending in ("mp4", "mkv"))
    (lab.folder / "crop.mp4").write_bytes(with_aperture(movie, WIDTH, HEIGHT, (WIDTH, HEIGHT + 6)))
    (lab.folder / "crop.mkv").write_bytes(with_crop_below(matroska, 6))
    for name in "crop.mp4", "crop.mkv":
        check_psnr(lab, name, "ref.mkv", 45, 25)
        check_psnr(lab, "ref.mkv", name, 45, 25)


# -- Times -------------------------------------------------------------------------------------------------------------


@case
def pictures_that_begin_half_a_frame_late(lab):
    source(lab, "ref.mkv", codec=LOSSLESS)
    lab.run("-itsoffset 0.02 -i ref.mkv -f lavfi -i sine=d=1 -c:v copy -copyts late.mkv").succeeded()
    check_psnr(lab, "ref.mkv", "late.mkv", 60, 25).says("late.mkv at 0.02", "taken from their first frame")


@case
def containers_without_times_of_pictures(lab):
    """Decoders hold pictures back, and AVI and raw streams do not tell how many."""
    source(lab, "ref.mkv", seconds=2)
    made(lab, "ref.mkv", "late.avi", NEAR, "-preset veryfast -bf 3")
    check_psnr(lab, "late.avi", "ref.mkv", 45, 50)
    made(lab, "ref.mkv", "late.m2v", "-c:v mpeg2video -q:v 2 -bf 2")
    check_psnr(lab, "late.m2v", "ref.mkv", 35, 50)
    check_psnr(lab, "ref.mkv", "late.m2v", 35, 50)


@case
def a_stream_captured_in_a_group_of_pictures(lab):
    source(lab, "whole.ts", seconds=2, codec="-c:v libx264 -crf 5 -g 15 -bf 0 -x264opts scenecut=0 -bsf:v dump_extra")
    packets = (lab.folder / "whole.ts").read_bytes()
    (lab.folder / "part.ts").write_bytes(packets[len(packets) // 188 // 5 * 188 :])
    made(lab, "part.ts", "encode.mp4", NEAR)
    (encode,), done = scored(lab, "encode.mp4", "part.ts")
    check(encode["frames"] >= 30 and encode["pooled"]["psnr_y"]["min"] > 40, f"{encode}, said: {done.err}")


@case
def rates_that_nobody_said(lab):
    source(lab, "ref.mkv", rate=60)
    made(lab, "ref.mkv", "raw.h264", NEAR, "-bsf:v h264_metadata=delete_filler=1:tick_rate=0")
    lab.run("-i ref.mkv -c:v mjpeg -q:v 1 -f mjpeg raw.mjpeg").succeeded()
    check_psnr(lab, "raw.mjpeg", "ref.mkv", 30, 60).says("raw.mjpeg has no times of its own: its pictures are counted")
    made(lab, "ref.mkv", "%03d.png")
    check_psnr(lab, "%03d.png", "ref.mkv", 40, 60).says("%03d.png has no times of its own", "at 60 a second")
    check_psnr(lab, "ref.mkv", "%03d.png", 40, 60)
    check_psnr(lab, "raw.mjpeg", "%03d.png", 30, 60)


@case
def a_raw_stream_of_half_the_rate(lab):
    """The rate of a raw stream counts where its pictures fit the times of that rate."""
    source(lab, "ref.mkv", rate=50, seconds=2)
    made(lab, "ref.mkv", "half.m2v", "-r 25 -c:v mpeg2video -q:v 2")
    (encode,), done = scored(lab, "half.m2v", "ref.mkv")
    done.says("half.m2v has 25 frames a second, the reference 50").does_not_say("counted")
    check(encode["pooled"]["psnr_y"]["max"] > 35, encode)


@case
def a_rate_of_rounded_durations(lab):
    """Old muxers wrote 42 ms for 24000/1001 frames a second."""
    source(lab, "first.mkv", rate="500/21", seconds=8, codec=LOSSLESS)
    lab.run("-i first.mkv -c copy -bsf:v setts=ts=round(N*1001/24):duration=42 old.mkv").succeeded()
    made(lab, "first.mkv", "new.mp4", "-vf settb=1001/24000,setpts=N -r 24000/1001", LOSSLESS)
    frames = len(range(0, 8 * 500, 21))
    check_psnr(lab, "new.mp4", "old.mkv", 60, frames).does_not_say("frames a second")
    check_psnr(lab, "old.mkv", "new.mp4", 60, frames)


@case
@slow_case
def rates_of_an_encode_that_was_renumbered(lab):
    """As many frames at another rate are those of the reference by number, if its first ones are."""
    source(lab, "ref.mkv", rate=60, seconds=2)
    made(lab, "ref.mkv", "fast.avi", NEAR, "-bf 2 -preset veryfast")
    text = (
        "has as many frames as the reference at another rate, and other times, as the pictures show: frames are paired"
    )
    lab.run("-r 25 -i fast.avi -c copy slow.avi").succeeded()
    lab.run("-r 25 -i ref.mkv", NEAR, "slow.mp4").succeeded()
    for name in "slow.avi", "slow.mp4":
        check_psnr(lab, name, "ref.mkv", 45, 120).says(f"{name} {text}")
    check_psnr(lab, "ref.mkv", "slow.mp4", 45, 120).says(f"ref.mkv {text}")
    source(lab, "film.mkv", rate=24, seconds=3)
    lab.run("-r 25 -i film.mkv", NEAR, "video.mp4").succeeded()  # 4 % faster: a frame apart after 24
    check_psnr(lab, "video.mp4", "film.mkv", 45, 72).says(f"video.mp4 {text}")
    for words in (("--pair-by", "time"), ("--as-is",))[: 2 if ALL else 1]:
        scored(lab, "video.mp4", "film.mkv", *words)[1].does_not_say(text)
    made(lab, "ref.mkv", "other.mkv", "-vf hue=H=0.3*n,setpts=2*PTS -r 30 -frames:v 120", NEAR)
    scored(lab, "other.mkv", "ref.mkv")[1].does_not_say(text)


@case
def edit_lists_and_starts_of_movies(lab):
    """Pictures that an edit list hides are not compared; an empty edit shows nothing."""
    source(lab, "ref.mkv", seconds=4)
    made(lab, "ref.mkv", "whole.mp4", NEAR, "-preset veryfast -bf 3 -g 50")
    lab.run("-ss 1.52 -i whole.mp4 -c copy hidden.mp4").succeeded()
    lab.run("-ss 1.52 -i ref.mkv -c:v ffv1 rest.mkv").succeeded()
    check_psnr(lab, "hidden.mp4", "rest.mkv", 45, 62)
    check_psnr(lab, "rest.mkv", "hidden.mp4", 45, 62)
    sound = "-f lavfi -i sine=d=4 -map 0:v -map 1:a -c:v copy"
    lab.run("-itsoffset 0.5 -i whole.mp4", sound, "late.mp4").succeeded()
    check_psnr(lab, "late.mp4", "ref.mkv", 45, 100).says("late.mp4 at 0.500 s", "taken from their first frame")
    for name, words in ("without.mp4", "-use_editlist 0"), ("pieces.mp4", "-movflags +frag_keyframe+empty_moov"):
        lab.run("-i whole.mp4 -c copy", words, name).succeeded()
        check_psnr(lab, name, "ref.mkv", 45, 100)


@case
def recordings_put_together(lab):
    """One run and jobs pair the same pictures."""
    source(lab, "ref.mp4", seconds=24, codec=f"{LOSSLESS} -g 25")
    for part, words in (("1.ts", "-t 12 -i ref.mp4"), ("2.ts", "-ss 12 -i ref.mp4")):
        lab.run(words, "-c copy", part).succeeded()
    (lab.folder / "both.ts").write_bytes(b"".join((lab.folder / part).read_bytes() for part in ("1.ts", "2.ts")))
    (once,), done = scored(lab, "ref.mp4", "both.ts")
    done.says("the times of both.ts begin anew in mid-stream: it was put together of 2 recordings")
    (jobs,), done = scored(lab, "ref.mp4", "both.ts", "--jobs", "2")
    done.says("all is scored in one run")
    check_equal((once["frames"], once["frames_promised"]), (600, 600), "frames")
    check_equal((jobs["frames"], jobs["pooled"]), (600, once["pooled"]), "with --jobs")
    vmafx(lab, "score", "both.ts", "both.ts", "--range", "1s-2s").failed(1, "both.ts begin anew", "without --range")
    (part,), done = scored(lab, "1.ts", "both.ts")  # files whose lengths seem to be equal
    done.says("the times of both.ts begin anew", "1.ts lasts 12.00 s, the reference 24.00 s")
    check_equal((part["frames"], part["pooled"]["psnr_y"]["min"]), (300, 60), "pairs of the first recording")
    (both,), done = scored(lab, "both.ts", "both.ts")
    check_equal((both["frames"], both["frames_promised"]), (600, 600), "pairs of equal files")


@case
def files_that_were_cut_short(lab):
    """Half of a file is an error, or, where nothing says how long it was, a note on the lengths."""
    source(lab, "ref.mkv", seconds=8)
    for name in "cut.avi", "cut.mkv", "cut.flv", "cut.mov":
        made(lab, "ref.mkv", name, NEAR, *(["-movflags +faststart"] if name == "cut.mov" else []))
        whole = (lab.folder / name).read_bytes()
        (lab.folder / name).write_bytes(whole[: len(whole) // 2])
        vmafx(lab, "score", name, "ref.mkv", "--model", "none", "--feature", "psnr").failed(1, name, "--partial")
    made(lab, "ref.mkv", "cut.ts", NEAR)
    whole = (lab.folder / "cut.ts").read_bytes()
    (lab.folder / "cut.ts").write_bytes(whole[: len(whole) // 2])
    (encode,), done = scored(lab, "cut.ts", "ref.mkv")
    done.says("cut.ts lasts ", "the reference 8.00 s: the first ")
    check(80 < encode["frames"] < 120, f"{encode['frames']} frames")


@case
def a_y4m_that_ends_inside_a_picture(lab):
    """ffmpeg leaves such a picture out and says nothing, so that what is left looks whole, also beside itself."""
    source(lab, "ref.mkv")
    for pix_fmt, head in ("yuv420p", "FRAME Ip"), ("yuv422p10le", "FRAME"), ("gray", "FRAME"):
        lab.run(f"-i ref.mkv -pix_fmt {pix_fmt} -strict -1 whole.y4m").succeeded()
        whole = (lab.folder / "whole.y4m").read_bytes().replace(b"\nFRAME\n", f"\n{head}\n".encode(), 1)
        only = ("--model", "none", "--feature", "psnr")
        for name, content in ("whole.y4m", whole), ("cut.y4m", whole[:-1000]):
            (lab.folder / name).write_bytes(content)
        said = "cut.y4m lacks the last 1000 bytes of those that it promises", "--partial"
        vmafx(lab, "score", "whole.y4m", "whole.y4m", *only).succeeded()
        vmafx(lab, "score", "cut.y4m", "whole.y4m", *only).failed(1, *said)
        vmafx(lab, "score", "cut.y4m", "cut.y4m", *only).failed(1, *said)
        vmafx(lab, "score", "cut.y4m", "whole.y4m", "--partial", *only).succeeded()


@case
def files_put_together(lab):
    """ffmpeg reads the first of several MP4 and FLV files, and gives the pictures of several Matroska and NUT files
    wrong times.
    """
    source(lab, "ref.mkv")
    for name in "encode.mp4", "encode.mkv", "encode.flv", "encode.nut":
        made(lab, "ref.mkv", name, NEAR)
        whole = (lab.folder / name).read_bytes()
        (lab.folder / f"two-{name}").write_bytes(whole + whole)
        vmafx(lab, "score", f"two-{name}", "ref.mkv").failed(1, f"two-{name} has 2 files, one after another", "concat")
    encodes, _ = scored(lab, "two-encode.mp4", "encode.mkv", "ref.mkv", "--partial")
    check_equal([encode["frames"] for encode in encodes], [25, 25], "frames")


# -- Colors ------------------------------------------------------------------------------------------------------------


@case
def rgb_against_an_untagged_encode(lab):
    """ffmpeg makes BT.601 of RGB, whatever the size, and tells nobody."""
    source(lab, "rgb.mkv", size="1280x720", seconds=0.2, filters="format=gbrp")
    made(lab, "rgb.mkv", "encode.mp4", "-pix_fmt yuv420p", NEAR)
    check_psnr(lab, "encode.mp4", "rgb.mkv", 50, 5).says("encode.mp4 does not say its color matrix", "smpte170m")
    made(lab, "rgb.mkv", "right.mkv", "-vf scale=out_color_matrix=bt709,format=yuv420p", NEAR)
    check_psnr(lab, "right.mkv", "rgb.mkv", 50, 5).does_not_say("does not say its color matrix")


@case
def primaries(lab):
    tags = "-c:v ffv1 -colorspace bt709 -color_trc bt709 -color_range tv -color_primaries"
    graph = "zscale=min=709:pin={}:tin=709:m=709:p={}:t=709,format=yuv444p12le"
    source(
        lab,
        "p3.mkv",
        seconds=0.2,
        filters="format=yuv444p12le,setparams=range=tv," + graph.format("bt709", "smpte432"),
        codec=f"{tags} smpte432",
    )
    made(lab, "p3.mkv", "bt709.mkv", "-vf", graph.format("smpte432", "bt709"), f"{tags} bt709")
    check_psnr(lab, "bt709.mkv", "p3.mkv", 70, 5).says("the color primaries bt709, the reference smpte432: converted")
    made(lab, "p3.mkv", "wrong.mkv", f"{tags} bt709")  # only the tag differs
    check_psnr(lab, "wrong.mkv", "p3.mkv", 80, 5).says("smpte432: not converted, as the pictures are the same")


# -- Fields ------------------------------------------------------------------------------------------------------------


@case
def fields_that_were_kept(lab):
    """A tag of the container does not tell whether pictures have combs."""
    filters = "boxblur=2,interlace=lowpass=0"  # sharp drawings look combed by themselves
    source(lab, "fields.ts", rate=50, seconds=2, size="160x96", filters=filters, codec=FIELDS)
    for name in "kept.mkv", "kept.mp4":
        made(lab, "fields.ts", name, NEAR)
        check_psnr(lab, name, "fields.ts", 40, 50).does_not_say("deinterlaced")
    made(lab, "fields.ts", "frames.mp4", "-vf bwdif=mode=send_frame", NEAR)
    for name in "fields.ts", "kept.mkv", "kept.mp4":
        check_psnr(lab, "frames.mp4", name, 33, 50).says(f"{name} is interlaced, another input is not: deinterlaced")


@case
def film_with_pulldown(lab):
    source(lab, "film.mkv", rate="24000/1001", seconds=3)
    video = "-c:v mpeg2video -q:v 2 -flags +ilme+ildct -top 1 -field_order tt"
    made(lab, "film.mkv", "video.mpg", "-vf telecine=pattern=23", video)
    made(lab, "film.mkv", "encode.mkv", NEAR)
    (encode,), done = scored(lab, "encode.mkv", "video.mpg")
    done.says("video.mpg is film with 3:2 pulldown: made film again")
    check(encode["frames"] >= 71 and encode["pooled"]["psnr_y"]["mean"] > 35, f"{encode}, said: {done.err}")
