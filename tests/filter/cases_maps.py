"""Maps as video (map=NAME): pictures with the values of the files, one for each frame of main, in its order and time."""

import array

from support import FRAMES, HEIGHT, WIDTH, case, check, check_equal

BLOCK = 32  # of the map of a model
ACROSS, DOWN = -(-WIDTH // BLOCK), -(-HEIGHT // BLOCK)
LIGHT = "model='':feature='name=psnr\\:enable_chroma=false'"


def floats_in(path):
    return array.array("f", path.read_bytes())


def values_of_pictures(path, side=BLOCK, across=ACROSS, down=DOWN):
    """Returns the values of the blocks of each picture in a file of floats, which must be equal within a block."""
    samples, frames = floats_in(path), []
    for first in range(0, len(samples), WIDTH * HEIGHT):
        rows = [samples[at : at + WIDTH] for at in range(first, first + WIDTH * HEIGHT, WIDTH)]
        values = [rows[side * y][side * x] for y in range(down) for x in range(across)]
        wanted = [
            array.array("f", (values[y // side * across + x // side] for x in range(WIDTH))) for y in range(HEIGHT)
        ]
        check(rows == wanted, f"{path.name}: blocks of picture {len(frames)} have several values")
        frames.append(values)
    return frames


def times_in(lab, name):
    lines = (lab.folder / name).read_text().splitlines()
    return [line.split(",")[2].strip() for line in lines if not line.startswith("#")]


def outputs(*pads):
    """Returns ffmpeg's words for a raw file and the times of each pad, of which there are two."""
    return [
        word
        for pad in pads
        for word in (f"-map [{pad}0]", "-f rawvideo", f"{pad}.raw", f"-map [{pad}1]", "-f framecrc", f"{pad}.crc")
    ]


def compare(lab, graph, *words, dist=None):
    return lab.run("-i", dist or lab.clips.dist, "-i", lab.clips.ref, "-filter_complex", graph, *words)


@case
def a_map_has_the_values_of_its_file(lab):
    """In the order and at the times of the main output; and one command lays it over main."""
    graph = "vmafx=maps=maps:map=vmaf:map_format=values[o][m];[o]split[o0][o1];[m]split[m0][m1]"
    compare(lab, graph, *outputs("o", "m")).score()
    frames = values_of_pictures(lab.folder / "m.raw")
    check_equal(len(frames), FRAMES, "pictures")
    wanted = floats_in(lab.folder / f"maps/vmaf_{ACROSS}x{DOWN}_f32.gray")
    check(array.array("f", (value for frame in frames for value in frame)) == wanted, "the values are not the file's")
    check_equal(times_in(lab, "m.crc"), times_in(lab, "o.crc"), "times")
    graph = "vmafx=map=vmaf:metadata=1[out][map];[out][map]overlay"
    compare(lab, graph, "-f rawvideo", "-pix_fmt yuv420p", "over.raw").score()
    check_equal((lab.folder / "over.raw").stat().st_size, FRAMES * WIDTH * HEIGHT * 3 // 2, "bytes of the overlay")
    check((lab.folder / "over.raw").read_bytes() != (lab.folder / "o.raw").read_bytes(), "nothing was laid over main")


@case
def a_map_has_a_stated_scale(lab):
    """From 0 to map_max, in gray and by the palette."""
    graph = f"split=3[a][b][c];[1:v]split=3[r][s][t];[a][r]vmafx={LIGHT}:map=psnr_y:map_format=values[o0][v];"
    graph += f"[b][s]vmafx={LIGHT}:map=psnr_y:map_format=gray:map_max=3000[o1][g];"
    graph += f"[c][t]vmafx={LIGHT}:map=psnr_y:map_max=3000[o2][c0];[o0]nullsink;[o1]nullsink;[o2]nullsink"
    raw = [word for pad in ("v", "g", "c0") for word in (f"-map [{pad}]", "-f rawvideo", f"{pad}.raw")]
    compare(lab, "[0:v]" + graph, *raw).succeeded()
    values = floats_in(lab.folder / "v.raw")
    shades = bytes(round(255 * min(value / 3000, 1)) for value in values)
    gray, color = (lab.folder / "g.raw").read_bytes(), (lab.folder / "c0.raw").read_bytes()
    check(max(values) > 3000 > min(values), f"the scale cuts nothing: {min(values)} to {max(values)}")
    check(max(abs(one - other) for one, other in zip(gray, shades)) <= 1 and len(gray) == len(shades), "gray")
    of_shade = dict(zip(gray, zip(*[iter(color)] * 4)))
    check(all(of_shade[shade] == pixel for shade, pixel in zip(gray, zip(*[iter(color)] * 4))), "colors of one shade")
    check_equal((of_shade[0][:3], of_shade[255][:3]), ((0, 0x22, 0x4E), (0xFE, 0xE8, 0x38)), "ends of the palette")
    check_equal({pixel[3] for pixel in of_shade.values()}, {128}, "opacity")


@case
def frames_without_a_map_have_pictures_all_the_same(lab):
    """One that n_subsample leaves out has the one before it; one outside of the range an empty one."""
    graph = f"vmafx={LIGHT}:map=psnr_y:map_format=values:n_subsample=4:range=4-9[out][map];[out]nullsink"
    compare(lab, graph, "-map [map]", "-f rawvideo", "map.raw").succeeded()
    frames = values_of_pictures(lab.folder / "map.raw", 16, WIDTH // 16, -(-HEIGHT // 16))
    check(len(frames) >= 10, f"{len(frames)} pictures")
    check(not any(map(any, frames[:4])) and not any(map(any, frames[10:])), "maps outside of the range")
    check(frames[4] == frames[5] == frames[7] and frames[8] == frames[9] and any(frames[4]), "maps of skipped frames")
    check(frames[4] != frames[8], "maps of scored frames")


@case
def each_encode_has_its_own_map(lab):
    """Also when nobody reads one of the outputs, or one ends earlier than the others."""
    words = f"{LIGHT}:map=psnr_y:map_format=values"
    inputs = [word for path in (lab.clips.dist, lab.clips.ref, lab.clips.ref) for word in ("-i", path)]
    graph = f"[0:v][1:v][2:v]vmafx=encodes=2:{words}[a][b][c][d];[a]nullsink"
    maps = ["-map [b]", "-frames:v 3 -f null -", "-map [c]", "-f rawvideo", "c.raw", "-map [d]", "-f rawvideo", "d.raw"]
    lab.run(*inputs, "-filter_complex", graph, *maps).succeeded()
    graph = f"vmafx={words}[out][map];[out]nullsink"
    compare(lab, graph, "-map [map]", "-f rawvideo", "alone.raw").succeeded()
    check((lab.folder / "c.raw").read_bytes() == (lab.folder / "alone.raw").read_bytes(), "the first encode's maps")
    check_equal(len(floats_in(lab.folder / "d.raw")), FRAMES * WIDTH * HEIGHT, "samples of the second encode's maps")
    check(not any(floats_in(lab.folder / "d.raw")), "the second encode has no errors")
    graph = f"vmafx={words}[out][map];[map]nullsink"
    compare(lab, graph, "-map [out]", "-frames:v 3 -f null -").succeeded()


@case
def maps_that_are_not_there(lab):
    graph = "vmafx={}[out][map];[map]nullsink"
    for options, message in (
        (f"{LIGHT}:map=vmaf", "map=vmaf: there is no such map; there are psnr_y"),
        (f"{LIGHT}:map=psnr_y", "map=psnr_y has no usual scale: say with map_max which value is shown as its end"),
        ("model='':feature=name=motion:map=motion", "none of the metrics has maps"),
        (f"{LIGHT}:map=psnr_y:map_max=-1", "map_max"),
        (f"{LIGHT}:map=psnr_y:map_format=jet", "map_format"),
    ):
        compare(lab, graph.format(options), "-map [out]", "-f null -").failed(message)
