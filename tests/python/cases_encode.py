"""`vmafx encode` reaches its target, keeps all streams, and leaves a whole output or none."""

import json
import signal
import subprocess
import sys
import time
from fractions import Fraction

import starts
from command import Done, environment
from common import ALL, Skip, case, check, check_equal, raises, slow_case
from vmafx.command import _ffmpeg, _scoring
from vmafx.command._terminal import Failure
from vmafx.tuning import encoders, scenes
from vmafx.tuning.encoders import ENCODERS, Hdr, Mastering, Settings
from vmafx.tuning.source import open_source
from vmafx.tuning.whole import Job, Part, encode_scored

FAST = "--preset", "ultrafast", "--scale", "reference", "--no-cache"
TWO_SCENES = (
    "testsrc2=s=160x90:r=25:d=1.2,noise=alls=25:allf=t:all_seed=3[a];mandelbrot=s=160x90:r=25,trim=end_frame=35,"
    "setpts=PTS-STARTPTS[b];[a][b]concat,format=yuv420p"
)
CHAPTERS = ";FFMETADATA1\ntitle=Film\n" + "".join(
    f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={begin}\nEND={begin + 500}\ntitle={title}\n"
    for begin, title in ((0, "One"), (500, "Two"))
)


def vmafx(lab, *words, status=0):
    """Runs the command with the libraries that a search needs."""
    command = [sys.executable, "-m", "vmafx.command", *map(str, words)]
    done = starts.run(command, lab.folder, environment(lab), timeout=90)
    check_equal(done.returncode, status, f"exit status of {' '.join(command)}; it said: {done.stdout}{done.stderr}")
    check("Traceback" not in done.stderr, done.stderr)
    parts = [path.name for path in lab.folder.glob("*.part")]
    check_equal(parts, [], "parts that are left")
    return Done(done)


def needs(lab, *names):
    missing = set(names) - encoders.available(lab.ffmpeg)
    if missing:
        raise Skip(f"this ffmpeg has no {', '.join(missing)}")


def make(lab, graph, name, *words):
    """Makes a clip from a graph of filters."""
    path = lab.folder / name
    lab.run("-f lavfi -i", graph, *(words or ("-c:v libx264 -preset ultrafast -qp 4",)), name).succeeded()
    return path


def probed(lab, path, entries, *words):
    command = [
        _ffmpeg.ffprobe_of(lab.ffmpeg),
        "-v",
        "error",
        *words,
        "-show_entries",
        entries,
        "-of",
        "json",
        str(path),
    ]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def frames_of(lab, path):
    """Returns the number of pictures that can be decoded, without an error."""
    video = _ffmpeg.probe(_ffmpeg.ffprobe_of(lab.ffmpeg), str(path))
    check_equal(_ffmpeg.decoding_errors(lab.ffmpeg, video), [], f"errors in {path}")
    told = probed(lab, path, "stream=nb_read_frames", "-count_frames", "-select_streams", "V:0")
    return int(told["streams"][0]["nb_read_frames"])


def score_of(lab, path, ref, key="psnr_y"):
    words = ["score", path, ref, "--model", "none", "--feature", "psnr", "--scale", "reference", "--json"]
    return json.loads(vmafx(lab, *words).out)["encodes"][0]["pooled"][key]["mean"]


# -- Encoders ----------------------------------------------------------------------------------------------------------


@case
def every_encoder_that_is_there_takes_its_words(lab):
    """Each encoder opens with the words of its settings, at both ends of its quantizer and with closed GOPs."""
    names = [name for name in encoders.available(lab.ffmpeg) if not name.endswith(("_vaapi", "_qsv", "_nvenc"))]
    check("libx264" in names, f"{names}")
    for name in names:
        encoder = ENCODERS[name]
        preset = encoder.presets[0]
        for quantizer in (encoder.first, encoder.last):
            settings = Settings(encoder, preset, pix_fmt=encoder.format_for("yuv420p10le"), closed=True, keyint=5)
            done = lab.run(
                "-f lavfi -i testsrc2=s=64x64:d=0.2 -pix_fmt yuv420p10le", *settings.arguments(quantizer), "-f null -"
            )
            done.succeeded()


@case
def formats_are_no_coarser(lab):
    for name, pix_fmt, wanted in (
        ("libx264", "yuv420p", "yuv420p"),
        ("libx264", "yuv422p12le", "yuv422p10le"),
        ("libsvtav1", "yuv444p12le", "yuv420p10le"),
        ("libx265", "gbrp", "yuv444p"),
        ("libx265", "nv12", "yuv420p"),
        ("libx265", "p010le", "yuv420p10le"),
        ("libvvenc", "yuv420p", "yuv420p10le"),
        ("h264_vaapi", "yuv420p10le", "nv12"),
        ("hevc_nvenc", "yuv420p10le", "p010le"),
    ):
        check_equal(ENCODERS[name].format_for(pix_fmt), wanted, f"{name} of {pix_fmt}")


@case
def words_of_encoders(lab):
    """The user's options come last, all options of one name are joined, and film grain is recognized."""
    own = ("x265-params", "aq-mode=3"), ("tune", "grain")
    settings = Settings(
        ENCODERS["libx265"], options=own, hdr=Hdr(light=(1000, 400)), zones=((0, 9, 1.5), (20, 29, 0.5))
    )
    words = settings.arguments(23.456)
    params = words[words.index("-x265-params") + 1]
    check_equal(
        params, "max-cll=1000,400:hdr10=1:repeat-headers=1:zones=0,9,b=1.5000/20,29,b=0.5000:aq-mode=3", "params"
    )
    check_equal(words.count("-x265-params"), 1, "number of -x265-params")
    check_equal(words[words.index("-crf") + 1], "23.456", "crf")
    vaapi = Settings(ENCODERS["hevc_vaapi"], pix_fmt="p010le", vfilter="crop=64:64")
    check_equal(vaapi.filters, "crop=64:64,format=p010le,hwupload", "filters")
    check("vaapi=encoder:/dev/dri/renderD128" in vaapi.global_arguments(), f"{vaapi.global_arguments()}")
    check("-pix_fmt" not in vaapi.arguments(20), "a format beside the upload")
    grain = Settings(ENCODERS["libsvtav1"], options=(("svtav1-params", "tune=0:film-grain=8"),))
    check_equal((grain.film_grain, grain.decoding()[:1]), ("film-grain=8", ["-export_side_data"]), "film grain")
    none = Settings(ENCODERS["libsvtav1"], options=(("svtav1-params", "film-grain=0"),))
    check_equal((none.film_grain, none.decoding()), (None, []), "no film grain")
    rate = Settings(encoders.by_bit_rate(ENCODERS["libaom-av1"])).arguments(1500)
    check_equal([rate[i + 1] for i, word in enumerate(rate) if word == "-b:v"], ["1500k"], "bit rates")


@case
def intervals_of_key_frames(lab):
    x264, av1 = ENCODERS["libx264"], ENCODERS["libsvtav1"]
    for encoder, text, rate, wanted in (
        (x264, None, Fraction(25), None),
        (av1, None, Fraction(25), 250),
        (av1, None, None, None),
        (x264, "48", None, 48),
        (x264, "2s", Fraction(24000, 1001), 48),
    ):
        check_equal(encoders.key_interval(encoder, text, rate), wanted, f"{encoder.name} {text} at {rate}")
    for text, rate, told in (("2s", None, "no constant frame rate"), ("0", None, "write frames"), ("x", None, "250")):
        with raises(Failure, told):
            encoders.key_interval(x264, text, rate)


# -- The whole ---------------------------------------------------------------------------------------------------------


@case
def target_is_reached(lab):
    """The whole has the score that was promised, which `vmafx score` confirms; its frames are the source's."""
    source = make(lab, TWO_SCENES, "in.mkv")
    told = vmafx(lab, "encode", source, "-o", "out.mp4", "--target", "psnr=36", *FAST, "--json").out.splitlines()
    result = json.loads(told[-1])["encode"]
    score = result["scores"]["psnr_y"]
    check(36 <= score["score"] < 36.5 and abs(score["low"] - score["score"]) < 1e-5, f"{score}")
    check_equal((result["missed"], result["frames"], frames_of(lab, lab.folder / "out.mp4")), ([], 65, 65), "result")
    check(abs(score_of(lab, lab.folder / "out.mp4", source) - score["score"]) < 1e-5, f"another score: {score}")
    tags = vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", result["quantizer"], *FAST).out
    check("65 frames" in tags, tags)
    check("libx264" in json.dumps(probed(lab, lab.folder / "out.mkv", "format_tags")), "no settings in the tags")


@case
def ranges_and_matrices_are_kept(lab):
    """Full range stays full where an encoder has other formats, RGB gets the matrix of its tag, and scores are true."""
    full = "scale=out_range=pc,format={}"
    for name, made, words, tags in (
        ("full8.mp4", f"{full.format('yuvj420p')}|-c:v libx264 -qp 0", (), ("pc", None)),
        (
            "full10.mkv",
            f"{full.format('yuv420p10le')}|-color_range pc -c:v ffv1",
            ("--pix-format", "yuv420p"),
            ("pc", None),
        ),
        ("gray.mkv", "format=gray|-color_range pc -c:v ffv1", (), ("pc", None)),
        ("rgb.mov", "format=rgb24|-c:v png", (), ("tv", "bt709")),
        ("gbr.mkv", "format=gbrp|-c:v ffv1 -colorspace rgb -color_range pc", (), ("tv", "bt709")),
    ):
        filters, _, codec = made.partition("|")
        source = make(lab, f"testsrc2=s=160x90:r=25:d=0.4,{filters}", name, codec)
        vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", 6, *words, *FAST, "--force")
        stream = probed(lab, lab.folder / "out.mkv", "stream=color_range,color_space")["streams"][0]
        got = stream.get("color_range"), stream.get("color_space")
        check_equal((got[0], got[1] if tags[1] else None), tags, f"tags of {name}")
        check(score_of(lab, lab.folder / "out.mkv", source) > 38, f"another picture: {name}")


@case
def alpha_that_is_left_out_is_told(lab):
    source = make(lab, "testsrc2=s=160x90:r=25:d=0.2,format=yuva420p", "alpha.mkv", "-c:v ffv1")
    told = vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", 30, *FAST)
    told.says("has alpha (yuva420p), and the encode does not (yuv420p)")


@case
def filtered_full_range_is_scored_as_it_is(lab):
    source = make(
        lab, "testsrc2=s=320x180:r=25:d=0.4,scale=out_range=pc,format=yuvj420p", "full8.mp4", "-c:v libx264 -qp 0"
    )
    words = "--vfilter", "scale=160:90", "--crf", 6, *FAST, "--json"
    told = json.loads(vmafx(lab, "encode", source, "-o", "out.mkv", *words).out.splitlines()[-1])["encode"]["scores"]
    lab.run("-i", source, "-vf scale=160:90,format=yuvj420p -c:v libx264 -qp 0 small.mp4").succeeded()
    vmaf = ["score", "out.mkv", "small.mp4", "--scale", "reference", "--json"]
    again = json.loads(vmafx(lab, *vmaf).out)["encodes"][0]["pooled"]["vmaf"]["mean"]
    check(abs(told["vmaf"]["score"] - again) < 1e-3 and again > 90, f"{told} and {again}")


@case
def covers_and_texts_of_other_formats_are_left_out(lab):
    (lab.folder / "s.srt").write_text("1\n00:00:00,100 --> 00:00:00,900\nhello\n")
    make(lab, "color=red:s=64x64", "cover.png", "-frames:v 1")
    make(lab, "testsrc2=s=160x90:r=25:d=0.4", "in.mp4")
    streams = "-map 0 -map 1 -map 2 -c:v copy -c:s mov_text -disposition:v:1 attached_pic"
    lab.run("-i in.mp4 -i cover.png -i s.srt", streams, "all.mp4").succeeded()
    for name, kinds in (("out.mov", ["cover"]), ("out.ts", ["cover", "subtitle"])):
        told = vmafx(lab, "encode", "all.mp4", "-o", name, "--crf", 30, *FAST)
        for kind in kinds:
            told.says(f"the {kind} stream")
        check(len(probed(lab, lab.folder / name, "stream=index")["streams"]) == 3 - len(kinds), f"streams of {name}")


@case
def raw_streams_can_be_decoded(lab):
    """Raw streams have their parameter sets, though the encode is kept in a format that has them in its header."""
    source = make(lab, "testsrc2=s=160x90:r=25:d=0.4", "in.mp4")
    for name, encoder in (
        ("out.h264", "libx264"),
        ("out.264", "libx264"),
        ("out.hevc", "libx265"),
        ("out.ts", "libx264"),
    ):
        if encoder in encoders.available(lab.ffmpeg):
            vmafx(lab, "encode", source, "-o", name, "-e", encoder, "--crf", 6, *FAST)
            check(score_of(lab, name, source) > 38, f"another picture: {name}")


@case
def streams_are_kept(lab):
    """Audio, subtitles, attachments, covers, chapters, languages and the begin of the pictures stay."""
    (lab.folder / "s.srt").write_text("1\n00:00:00,100 --> 00:00:00,900\nhello\n")
    (lab.folder / "chapters.txt").write_text(CHAPTERS)
    (lab.folder / "font.ttf").write_text("font")
    make(lab, "color=red:s=64x64", "cover.jpg", "-frames:v 1")
    words = "-f lavfi -i testsrc2=s=160x90:d=1 -f lavfi -i sine=d=1 -f lavfi -i sine=d=1 -i s.srt -i chapters.txt "
    words += "-map 0 -map 1 -map 2 -map 3 -map_metadata 4 -map_chapters 4 -metadata:s:v:0 language=deu -c:v libx264 "
    words += "-metadata:s:a:1 language=fra -c:a aac -ac 6 -c:s srt -attach font.ttf -qp 9 "
    words += "-metadata:s:t:0 mimetype=font/ttf"
    lab.run(words, "rich.mkv").succeeded()
    lab.run(
        "-i rich.mkv -i cover.jpg -map 0:v -map 0:a -map 0:s -map 1 -c copy -c:s mov_text",
        "-disposition:v:1 attached_pic",
        "rich.mp4",
    ).succeeded()
    start = probed(lab, lab.folder / "rich.mkv", "stream=start_time")["streams"][0]["start_time"]
    for source, target, own, wanted, chapters in (
        ("rich.mkv", "a.mkv", (), ["h264", "aac", "aac", "subrip", "attachment"], 2),
        ("rich.mkv", "b.mp4", (), ["h264", "aac", "aac", "mov_text"], 2),
        ("rich.mp4", "c.mkv", (), ["h264", "aac", "aac", "subrip", "mjpeg"], 2),
        ("rich.mkv", "d.mp4", ("--acodec", "ac3", "--downmix-to-stereo"), ["h264", "ac3", "ac3", "mov_text"], 2),
        ("rich.mkv", "e.mkv", ("--video-only",), ["h264"], 0),
        ("rich.mkv", "f.mkv", ("--without", "subtitle"), ["h264", "aac", "aac", "attachment"], 2),
    )[: 6 if ALL else 4]:
        vmafx(lab, "encode", source, "-o", target, "--crf", 40, *FAST, *own)
        entries = "stream=codec_name,codec_type,start_time,channels:stream_tags=language"
        told = probed(lab, lab.folder / target, entries, "-show_chapters")
        streams = [stream for stream in told["streams"] if stream["codec_type"] != "data"]
        names = [stream.get("codec_name", stream["codec_type"]) for stream in streams]
        check_equal(names, wanted, f"streams of {target}")
        check_equal(len(told["chapters"]), chapters, f"chapters of {target}")
        check_equal(streams[0]["tags"]["language"], "deu", f"the language of the pictures of {target}")
        if len(streams) > 2:
            check_equal(streams[2]["tags"]["language"], "fra", f"a language of {target}")
            check_equal(streams[1]["channels"], 2 if "ac3" in wanted else 6, f"channels of {target}")
            if target == "a.mkv":
                check_equal(streams[0]["start_time"], start, "when the pictures begin")
    done = vmafx(lab, "encode", "rich.mkv", "-o", "g.webm", "--crf", 40, *FAST, status=1)
    done.says("the format webm does not hold all streams", "--acodec")
    check(not (lab.folder / "g.webm").exists(), "an output that is not whole")


@case
def sources_of_all_kinds(lab):
    """Times that vary, odd sizes, one picture, filters: the encode has every picture at its time."""
    vary = "testsrc2=s=160x90:r=60:d=1,select='not(mod(n,3))+not(mod(n,7))'"
    for name, graph, words, own, frames in (
        ("vfr.mkv", vary, "-fps_mode vfr -c:v libx264 -qp 9", (), 26),
        ("odd.mkv", "testsrc2=s=161x91:d=0.4,format=yuv444p", "-c:v ffv1", (), 10),
        ("one.mkv", "testsrc2=s=160x90", "-frames:v 1 -c:v ffv1", (), 1),
        ("deep.mkv", "testsrc2=s=160x90:d=0.4,format=yuv420p10le", "-c:v ffv1", (), 10),
        ("crop.mkv", "testsrc2=s=161x91:d=0.4,format=yuv420p", "-c:v ffv1", ("--vfilter", "crop=128:64"), 10),
        ("half.mkv", "testsrc2=s=160x90:r=50:d=0.4", "-c:v ffv1", ("--vfilter", "fps=25"), 10),
    ):
        source = make(lab, graph, name, words)
        target = lab.folder / f"of-{name}.mp4"
        vmafx(lab, "encode", source, "-o", target, "--crf", 30, *FAST, *own)
        check_equal(frames_of(lab, target), frames, f"frames of {target}")
        if not own:
            ffprobe = _ffmpeg.ffprobe_of(lab.ffmpeg)
            times = [sorted(time for time, _ in _ffmpeg.packets(ffprobe, str(path))) for path in (source, target)]
            apart = [abs(a - b - (times[0][0] - times[1][0])) for a, b in zip(*times)]
            check(max(apart) < 0.0021, f"times of {name}: {apart}")
    told = probed(lab, lab.folder / "of-deep.mkv.mp4", "stream=pix_fmt")["streams"][0]
    check_equal(told["pix_fmt"], "yuv420p10le", "pixel format")
    done = vmafx(lab, "encode", "odd.mkv", "-o", "x.mp4", "--crf", 30, "--pix-format", "yuv420p", *FAST, status=1)
    done.says("not divisible by 2")


@case
def hdr_metadata_stays(lab):
    needs(lab, "libx265")
    params = "log-level=error:crf=9:hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
    params += ":master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400"
    graph = "testsrc2=s=160x90:d=0.3,format=yuv420p10le"
    source = make(lab, graph, "hdr.mkv", "-c:v libx265 -preset ultrafast -x265-params", params)
    seen = open_source(lab.ffmpeg, _ffmpeg.ffprobe_of(lab.ffmpeg), str(source))
    check_equal(seen.hdr.light, (1000, 400), "light levels")
    check_equal(seen.hdr.mastering and seen.hdr.mastering.most, 1000, "most light")
    entries = "stream=color_transfer,color_primaries,color_space:frame=side_data_list:frame_side_data"
    words = "-select_streams", "V:0", "-read_intervals", "%+#1"
    wanted = probed(lab, source, entries, *words)
    for encoder, preset in ("libx265", "ultrafast"), ("libsvtav1", "12"):
        if encoder not in encoders.available(lab.ffmpeg):
            continue
        target = lab.folder / f"{encoder}.mp4"
        vmafx(lab, "encode", source, "-o", target, "--crf", 30, "-e", encoder, *FAST, "--preset", preset)
        got = probed(lab, target, entries, *words)
        check_equal(got["streams"], wanted["streams"], f"tags of {encoder}")
        own, theirs = (_light(told["frames"][0]["side_data_list"]) for told in (got, wanted))
        check(own.keys() == theirs.keys() and len(own) == 12, f"{own} {theirs}")
        check(all(abs(own[name] - theirs[name]) < 1e-3 * max(theirs[name], 0.1) for name in own), f"{own} {theirs}")


def _light(sides):
    told = {}
    for side in sides:
        if side["side_data_type"] in ("Mastering display metadata", "Content light level metadata"):
            told |= {name: float(Fraction(value)) for name, value in side.items() if name != "side_data_type"}
    return told


@case
def words_for_mastering_displays(lab):
    point = Fraction(1, 4), Fraction(1, 2)
    display = Mastering(point, point, point, point, Fraction(1, 100), Fraction(1000))
    one = "({},{})"
    check_equal(display.as_x265(), "".join(f"{n}(12500,25000)" for n in ("G", "B", "R", "WP")) + "L(10000000,100)", one)
    check(display.as_svtav1().endswith("L(1000.0000,0.0100)"), display.as_svtav1())


# -- What goes wrong ---------------------------------------------------------------------------------------------------


@case
def misses_are_told(lab):
    """The exit status tells of a whole that is worse than its promise, which is kept, and of targets beyond reach."""
    source = make(lab, TWO_SCENES, "in.mkv")
    done = vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", 50, "--target", "psnr=36", *FAST, status=4)
    done.says("psnr_y is ", "the target is 36")
    check_equal(frames_of(lab, lab.folder / "out.mkv"), 65, "frames")
    done = vmafx(lab, "encode", source, "-o", "none.mkv", "--min-crf", 40, "--target", "psnr=60", *FAST, status=4)
    check("no quantizer reaches psnr_y=60" in done.out, done.out)
    check(not (lab.folder / "none.mkv").exists(), "an output that reaches no target")


@case
def damaged_sources_are_refused(lab):
    source = make(lab, "testsrc2=s=320x180:d=2,noise=alls=20:allf=t", "in.mkv")
    data = bytearray(source.read_bytes())
    for place in range(len(data) // 2, len(data) // 2 + 20000, 7):
        data[place] ^= 0x55
    (lab.folder / "bad.mkv").write_bytes(data)
    done = vmafx(lab, "encode", "bad.mkv", "-o", "out.mkv", "--crf", 40, *FAST, status=1)
    done.says("--partial")
    check(not (lab.folder / "out.mkv").exists(), "an output of a damaged source")
    vmafx(lab, "encode", "bad.mkv", "-o", "out.mkv", "--crf", 40, "--partial", *FAST)
    check((lab.folder / "out.mkv").stat().st_size > 1000, "no output")


@case
def wrong_words_end_before_the_search(lab):
    source = make(lab, "testsrc2=s=160x90:d=0.4", "in.mkv")
    for status, text, *words in (
        (1, "nonsense", "--enc", "tune=nonsense"),
        (2, "does not know how to set the quality of mjpeg", "-e", "mjpeg"),
        (2, "takes 1 to 51", "--crf", "99"),
        (2, "--per-scene", "--per-scene", "--crf", "20"),
        (2, "--threads 0", "--threads", "0"),
        (1, "/in.mkv with the filters nonsense: No such filter: 'nonsense'; ", "--vfilter", "nonsense"),
        (1, "/in.mkv comes through these filters: leave out what drops all", "--vfilter", "select=0"),
        (2, "cannot tell the format", "-o", "out.xyz"),
        (2, "--keyint", "--keyint", "often"),
        (2, "leave out crf: the command sets the quality", "--enc", "crf=10"),
        (2, "leave out crf: the command sets the quality", "--enc", "x264-params=aq-mode=3:crf=10"),
        (2, "leave out pass: the command sets the quality, in one pass", "--enc", "pass=1"),
        (2, "leave out vf: --vfilter", "--enc", "vf=hflip"),
        (2, "leave out shortest: it is a switch of ffmpeg's", "--enc", "shortest=out2.mkv"),
        (2, "leave out noautoscale: it is a switch of ffmpeg's", "--enc", "noautoscale=out2.mkv"),
        (2, "leave out b:v: the command", "--enc", "b:v=100k"),
        (2, "--keyint", "--keyint", "9" * 20),
        (2, "--threads 1025: give a number from 1 up to 1024", "--threads", "1025"),
        (2, "--scene-threshold nan: give a number from 0 to 100", "--scene-threshold", "nan"),
        (2, "--memory 99999999999: give a number from 1 up to ", "--memory", "9" * 11),
    ):
        begin = time.monotonic()
        target = () if "-o" in words else ("-o", "out.mkv")
        vmafx(lab, "encode", source, *target, *words, status=status).says(text)
        check(time.monotonic() - begin < 30, f"{words} took long")
        check(not (lab.folder / "out.mkv").exists(), f"{words}: an output")


@case
def sources_whose_pictures_change_are_named(lab):
    """Pictures of another size in mid-stream end the score: the error names the file and what helps, not the filter."""
    names = "large.h264", "small.h264"
    for name, size in zip(names, ("160x90", "96x54")):
        make(lab, f"testsrc2=s={size}:d=1,format=yuv420p", name, "-c:v libx264 -preset ultrafast -f h264")
    both = lab.folder / "both.h264"
    both.write_bytes(b"".join((lab.folder / name).read_bytes() for name in names))
    wanted = (
        "the pictures of both.h264 change in mid-stream (160x90 yuv420p, then 96x54 yuv420p)",
        "ffmpeg -i both.h264 -vf scale=160:90,format=yuv420p ",
    )
    vmafx(lab, "encode", both.name, "-o", "out.mkv", "--crf", 30, *FAST, status=1).says(*wanted)
    vmafx(lab, "score", names[0], both.name, "--scale", "reference", status=1).says(*wanted)


@case
def nothing_is_left_by_a_signal(lab):
    """SIGTERM and Ctrl-C in the midst of the encode leave neither file nor process."""
    make(lab, "testsrc2=s=320x180:d=12,noise=alls=9:allf=t", "in.mkv", "-c:v libx264 -preset ultrafast -qp 20")
    words = ["encode", "in.mkv", "-o", "out.mkv", "--crf", "20", "--preset", "slow", "--scale", "reference"]
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-m", "vmafx.command", *words],
            cwd=lab.folder,
            env=environment(lab),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 40
        while not any(path.stat().st_size > 0 for path in lab.folder.glob("*.part/video")):
            check(time.monotonic() < deadline and process.poll() is None, "the encode did not begin")
            time.sleep(0.05)
        process.send_signal(number)
        check_equal(process.wait(20), 128 + number, "exit status")
        check_equal(sorted(path.name for path in lab.folder.glob("out*")), [], "files")
        left = subprocess.run(["pgrep", "-s", str(process.pid), "-r", "R,S,D"], capture_output=True, text=True).stdout
        check_equal(left, "", "processes")


@case
def full_disks_are_told(lab):
    """An error of writing ends the encode and is the message. RLIMIT_FSIZE stands for a disk that is full."""
    make(lab, "testsrc2=s=320x180:d=3,noise=alls=30:allf=t", "in.mkv", "-c:v libx264 -preset ultrafast -qp 30")
    program = "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))\n"
    program += "sys.dont_write_bytecode = True  # it would be cut short, too\n"
    program += "from vmafx.command.__main__ import main\nsys.exit(main(sys.argv[1:]))"
    words = ["encode", "in.mkv", "-o", "out.mkv", "--crf", "5", *FAST]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=lab.folder, env=environment(lab), capture_output=True, text=True
    )
    check_equal(done.returncode, 1, f"exit status: {done.stderr}")
    check("cannot write" in done.stderr and "File too large" in done.stderr, done.stderr)
    check_equal(sorted(path.name for path in lab.folder.glob("out*")), [], "files")


@case
def existing_files_stay(lab):
    source = make(lab, "testsrc2=s=160x90:d=0.4", "in.mkv")
    (lab.folder / "out.mkv").write_text("mine")
    done = vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", 40, *FAST, status=1)
    done.says("this file exists", "--force")
    check_equal((lab.folder / "out.mkv").read_text(), "mine", "the file")
    vmafx(lab, "encode", source, "-o", "out.mkv", "--crf", 40, *FAST, "--force")
    check_equal(frames_of(lab, lab.folder / "out.mkv"), 10, "frames")


# -- Scenes ------------------------------------------------------------------------------------------------------------


@case
@slow_case
def every_scene_reaches_its_target(lab):
    """Zones and chunks: each scene by itself has the score, as `vmafx score` sees it, and no picture is lost."""
    source = make(lab, TWO_SCENES, "in.mkv")
    for mode in "zones", "chunks":
        words = "--target", "psnr=36", f"--per-scene={mode}", *FAST, "--json"
        lines = [
            json.loads(line) for line in vmafx(lab, "encode", source, "-o", f"{mode}.mp4", *words).out.splitlines()
        ]
        found = [line["scene"] for line in lines if "scene" in line]
        check_equal(sorted(scene["first_frame"] for scene in found), [0, 30], f"scenes of {mode}")
        check(len({scene["quantizer"] for scene in found}) == 2, f"{found}")
        check(lines[-1]["encode"]["scenes"]["saved_percent"] > 0, f"{lines[-1]}")
        target = lab.folder / f"{mode}.mp4"
        check_equal(frames_of(lab, target), 65, f"frames of {mode}")
        for scene in found:
            trim = f"trim=start_frame={scene['first_frame']}:end_frame={scene['last_frame'] + 1},setpts=PTS-STARTPTS"
            paths = []
            for name, path in ("e", target), ("r", source):
                paths.append(lab.folder / f"{mode}-{name}.mkv")
                lab.run("-i", path, "-vf", trim, "-c:v ffv1", paths[-1]).succeeded()
            score = score_of(lab, *paths)
            check(score >= 36 - 1e-3, f"{mode} {scene}: {score}")


@case
def scenes_are_cut(lab):
    """Short scenes belong to their neighbours, and all pictures belong to a scene, whatever their times."""
    times = [0.04 * number for number in range(100)]
    for begun, wanted in (([], [0]), ([50], [0, 50]), ([10, 50, 60, 90], [0, 50])):
        parts = scenes.scenes_of(times, begun, Fraction(25))
        check_equal([part.first for part in parts], wanted, f"scenes of {begun}")
        check_equal(sum(part.frames for part in parts), 100, "frames")
    parts = scenes.scenes_of([0.0], [], None)
    check_equal((len(parts), parts[0].frames), (1, 1), "one picture")


@case
def scenes_settle_on_the_best_quantizer(lab):
    """The search of a scene ends within its precision of the best quantizer, whatever the curve, in few encodes."""
    for name in "libx264", "libsvtav1":
        encoder = ENCODERS[name]
        for best in (encoder.first + 0.3, 17.3, 30.9, 44.4):
            for curve in (lambda x: x, lambda x: x**3 / 50, lambda x: max(min(x, 0.4), -0.4)):
                slacks = {}
                tried = encoder.rounded(26)
                while tried is not None:
                    slacks[tried] = curve(0.12 * (best - tried))
                    tried = scenes.next_quantizer(encoder, slacks)
                found = scenes.chosen(encoder, slacks)
                check(len(slacks) <= scenes.MOST_PROBES, f"{len(slacks)} probes")
                check(found <= best or best < encoder.first + 1, f"{name} {best}: {found} of {slacks}")
                check(best - found <= 5, f"{name} {best}: {found} of {slacks}")


@case
@slow_case
def parts_are_exact(lab):
    """A part of a clip that is found by its time has the pictures that counting finds."""
    source = make(lab, TWO_SCENES, "in.mkv", "-c:v libx264 -preset ultrafast -qp 4 -g 20 -bf 2")
    ffprobe = _ffmpeg.ffprobe_of(lab.ffmpeg)
    scoring = _scoring.Settings(lab.ffmpeg, ffprobe, models=(), features=("psnr",), scale="reference")
    job = Job(scoring, open_source(lab.ffmpeg, ffprobe, str(source)), Settings(ENCODERS["libx264"], "ultrafast"))
    for first, frames in ((0, 7), (13, 9), (28, 4), (64, 1)):
        part = Part(first, frames, first / 25, 0.04)
        encoded = encode_scored(job, 1, lab.folder / "part.nut", part=part)
        check_equal(encoded.frames, frames, "frames")
        counted = lab.folder / "counted.mkv"
        trim = f"trim=start_frame={first}:end_frame={first + frames},setpts=PTS-STARTPTS"
        lab.run("-i", source, "-vf", trim, "-c:v ffv1", counted).succeeded()
        lab.run("-i part.nut -c copy", "part.mkv").succeeded()
        check(score_of(lab, lab.folder / "part.mkv", counted) > 45, f"{first}: other pictures")
