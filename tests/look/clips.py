"""Clips for the matrix of damage: painted with seeds, so that they are equal on all machines, and a few real ones.

A clip has MARGIN pictures more at both ends than a pair has, so that an offset shows pictures that were there.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MARGIN = 8
FRAMES = 216
FFMPEG = ["ffmpeg"]  # decodes real clips
REAL_FOLDERS = "/usr/share/doc/opencv-doc/examples/data", "/usr/share/doc/opencv-doc/examples"


@dataclass
class Clip:
    """The pictures of a clip: one row of bytes each, as ffmpeg's rawvideo has them."""

    name: str
    width: int
    height: int
    bits: int
    pictures: np.ndarray
    gray: bool = False
    hdr: bool = False
    cells: np.ndarray = field(default=None, repr=False)

    @property
    def pix_fmt(self):
        return "yuv420p10le" if self.bits == 10 else "yuv420p"

    @property
    def pairs(self):
        return len(self.pictures) - 2 * MARGIN

    def planes(self, number):
        """Returns luma and both chroma planes of a picture, as arrays of samples."""
        samples = self.pictures[number].view(np.uint16 if self.bits == 10 else np.uint8)
        luma, chroma = self.width * self.height, self.width * self.height // 4
        shape = self.height // 2, self.width // 2
        return [
            samples[:luma].reshape(self.height, self.width),
            samples[luma : luma + chroma].reshape(shape),
            samples[luma + chroma :].reshape(shape),
        ]

    def cell_means(self):
        """Returns the means of 32x18 cells of luma of all pictures, in levels of 8 bits."""
        if self.cells is None:
            scale = 4 if self.bits == 10 else 1
            self.cells = np.array([means(self.planes(i)[0], 32, 18) / scale for i in range(len(self.pictures))])
        return self.cells

    def color_means(self, number):
        """Returns the means of 32x18 cells of Y, Cb and Cr of a picture, in levels of 8 bits."""
        scale = 4 if self.bits == 10 else 1
        return np.array([means(plane, 32, 18) / scale for plane in self.planes(number)])


def means(plane, columns, rows):
    height, width = plane.shape
    plane = plane[: height // rows * rows, : width // columns * columns].astype(np.float32)
    return plane.reshape(rows, height // rows, columns, width // columns).mean((1, 3))


# -- Painting: pictures are linear arrays of height x width x 3, 0 … 1, of R'G'B' -------------------------------------


def texture(rng, height, width, slope=1.6):
    """Returns noise whose spectrum falls like that of photographs: mean 0, deviation 1."""
    y, x = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    frequency = np.maximum(np.hypot(x, y), 1 / max(width, height))
    phase = np.exp(2j * np.pi * rng.random(frequency.shape))
    noise = np.fft.irfft2(frequency**-slope * phase, (height, width))
    return ((noise - noise.mean()) / noise.std()).astype(np.float32)


def ellipse(height, width, y, x, tall, wide, soft=1.0):
    """Returns how far each sample is covered, 0 … 1."""
    rows, columns = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)[None, :]
    distance = np.sqrt(((rows - y) / tall) ** 2 + ((columns - x) / wide) ** 2)
    return np.clip((1 - distance) * min(tall, wide) / soft, 0, 1)[..., None]


def colors(rng, count, saturation=0.45):
    """Returns colors that are about as saturated as those of photographs."""
    made = rng.uniform(0.03, 0.97, (count, 3)).astype(np.float32)
    level = made.mean(-1, keepdims=True)
    return level + np.float32(saturation) * (made - level)


def landscape(rng, height, width, shapes=14, detail=0.09):
    """Paints a still that is larger than the picture, to be moved across: regions of color with texture."""
    base = colors(rng, 1)[0] * 0.5 + 0.2
    tint = np.stack([texture(rng, height, width, 2.2) for _ in range(3)], -1) * 0.07
    image = base + tint
    for _ in range(shapes):
        cover = ellipse(
            height,
            width,
            rng.uniform(0, height),
            rng.uniform(0, width),
            rng.uniform(0.05, 0.35) * height,
            rng.uniform(0.04, 0.25) * width,
        )
        image = image + cover * (colors(rng, 1)[0] - image)
    return np.clip(image + texture(rng, height, width, 1.3)[..., None] * detail, 0.02, 0.98).astype(np.float32)


def window(canvas, height, width, y, x):
    """Cuts the picture at (y, x), which may lie between samples, out of a canvas that repeats itself."""
    top, left = int(np.floor(y)), int(np.floor(x))
    rows = np.arange(top, top + height + 1) % canvas.shape[0]
    columns = np.arange(left, left + width + 1) % canvas.shape[1]
    cut = canvas[np.ix_(rows, columns)]
    down, right = np.float32(y - top), np.float32(x - left)
    cut = cut[:-1] * (1 - down) + cut[1:] * down
    return cut[:, :-1] * (1 - right) + cut[:, 1:] * right


def actor(picture, color, y, x, tall, wide):
    """Returns the picture with an ellipse on it."""
    top, left = max(0, int(y - tall) - 1), max(0, int(x - wide) - 1)
    bottom, right = int(y + tall) + 2, int(x + wide) + 2
    picture = picture.copy()
    part = picture[top : max(top, bottom), left : max(left, right)]
    part += ellipse(part.shape[0], part.shape[1], y - top, x - left, tall, wide, 1.5) * (color - part)
    return picture


class Film:
    """A moving camera, two actors, a cut every so often."""

    def __init__(self, rng, height, width, speed=1.0, scene=80, grain=0.006):
        self.rng, self.height, self.width, self.speed, self.scene, self.grain = rng, height, width, speed, scene, grain
        self.canvas = None

    def begin(self):
        rng = self.rng
        self.canvas = landscape(rng, self.height * 3 // 2, self.width * 3 // 2)
        self.phase = rng.uniform(0, 6, 6)
        self.pace = rng.uniform(0.5, 1.2, 2) * rng.choice([-1, 1], 2)
        self.colors = colors(rng, 2)

    def picture(self, number):
        if self.canvas is None or number % self.scene == 0:
            self.begin()
        t, unit = number % self.scene, self.height / 180 * self.speed
        y = unit * (self.pace[0] * 0.4 * t + 4 * np.sin(t / 17 + self.phase[0]))
        x = unit * (self.pace[1] * t + 9 * np.sin(t / 23 + self.phase[1]))
        image = window(self.canvas, self.height, self.width, y, x)
        for i, color in enumerate(self.colors):
            a, b = self.phase[2 + 2 * i : 4 + 2 * i]
            image = actor(
                image,
                color,
                self.height * (0.55 + 0.2 * np.sin(t / 9 * self.speed + a)),
                self.width * (0.5 + 0.3 * np.sin(t / 14 * self.speed + b)),
                self.height * 0.17,
                self.height * 0.09,
            )
        return image + self.rng.normal(0, self.grain, image.shape[:2] + (1,)).astype(np.float32)


def film(rng, height, width, count):
    scene = Film(rng, height, width)
    return (scene.picture(i) for i in range(count))


def anime(rng, height, width, count):
    """Flat colors and lines; what moves does so on every second picture, and stands still at times."""
    canvas = np.round(landscape(rng, height * 3 // 2, width * 3 // 2, 30, 0) * 6) / 6
    shades = colors(rng, 4, 0.9)
    phase = rng.uniform(0, 6, 8)
    for number in range(count):
        t = number // 2 * 2
        image = window(canvas, height, width, 0, np.round(max(0, t - 60) * 0.5 if t < 140 else 40 + (t - 140) * 0.25))
        for i, color in enumerate(shades):
            y = height * (0.5 + 0.25 * np.sin(t / 11 + phase[i]))
            x = width * (0.2 + 0.2 * i + 0.08 * np.sin(t / 7 + phase[4 + i]))
            image = actor(image, np.float32(0.03), y, x, height * 0.15, height * 0.1)
            image = actor(image, color, y, x, height * 0.135, height * 0.085)
        yield image


def screen(rng, height, width, count):
    """A page of text that is scrolled now and then, and a pointer."""
    rows, columns = height * 3, width
    page = np.full((rows, columns, 3), 0.96, np.float32)
    for line in range(8, rows - 16, 14):
        if rng.random() < 0.15:
            continue
        color = rng.uniform(0, 0.5, 3).astype(np.float32) if rng.random() < 0.2 else np.float32(0.1)
        for x in range(12, 12 + int(rng.uniform(0.3, 0.93) * (width - 24)) // 7 * 7, 7):
            if rng.random() > 0.17:
                page[line : line + 8, x : x + 5][rng.random((8, 5)) < 0.45] = color
    picture = landscape(rng, height // 3, width // 3)
    page[height // 2 : height // 2 + picture.shape[0], width // 2 : width // 2 + picture.shape[1]] = picture
    y = 0
    for number in range(count):
        y += {0: 0, 1: 3, 2: 0, 3: 6, 4: 0, 5: -2}[number // 24 % 6] if number % 24 < 14 else 0
        image = window(page, height, width, y, 0).copy()
        at = int(height * 0.3 + number * 0.4), int(width * 0.6 + 30 * np.sin(number / 12))
        if number // 36 % 2 == 0:
            image[at[0] : at[0] + 12, at[1] : at[1] + 8] = 0.05
        yield image


def sport(rng, height, width, count):
    """A fast pan over a field with lines and players."""
    canvas = np.empty((height, width * 3, 3), np.float32)
    canvas[:] = np.array([0.2, 0.5, 0.18], np.float32)
    canvas[: height // 3] = landscape(rng, height // 3, width * 3, 200, 0.14)
    canvas[height // 3 :] += texture(rng, height - height // 3, width * 3, 1.0)[..., None] * 0.05
    for x in range(0, width * 3, width // 4):
        canvas[height // 3 :, x : x + 4] = 0.9
    shades, phase = colors(rng, 8, 0.8), rng.uniform(0, 6, 16)
    x = 0.0
    for number in range(count):
        x += height / 180 * (5 * np.sin(number / 31) + 2.5 * np.sin(number / 11))
        image = window(canvas, height, width, 3 * np.sin(number / 13), x)
        for i, color in enumerate(shades):
            at = width * (0.5 + 0.6 * np.sin(number / 25 + phase[i]))
            image = actor(image, color, height * (0.45 + 0.06 * i), at, height * 0.06, height * 0.025)
        yield image


def dark(rng, height, width, count):
    scene = Film(rng, height, width, 0.8, 1000, 0)
    noise = lambda: rng.normal(0, 0.008, (height, width, 1)).astype(np.float32)
    return (scene.picture(i) * 0.16 + noise() for i in range(count))


def grain(rng, height, width, count):
    scene = Film(rng, height, width, 0.9, 110, 0.045)
    return (scene.picture(i) for i in range(count))


def slideshow(rng, height, width, count):
    """Stills that are shown for 38 pictures each; every second change is a dissolve."""
    stills = [window(landscape(rng, height, width), height, width, 0, 0) for _ in range(count // 38 + 2)]
    for number in range(count):
        i, t = divmod(number, 38)
        mixed = np.float32(max(0, t - 30) / 8 if i % 2 else 0)
        yield stills[i] * (1 - mixed) + stills[i + 1] * mixed


def fades(rng, height, width, count):
    """Scenes that fade to black and up again, or into one another."""
    first, second = Film(rng, height, width, 0.7, 1000), Film(rng, height, width, 0.7, 1000)
    for number in range(count):
        t = number % 96
        level = np.clip(abs(t - 24) / 20, 0.03, 1)
        mixed = np.clip((t - 52) / 24, 0, 1) if number % 192 < 96 else 1 - np.clip((t - 52) / 24, 0, 1)
        yield np.float32(level) * (
            first.picture(number + 1) * np.float32(1 - mixed) + second.picture(number + 1) * np.float32(mixed)
        )


def static(rng, height, width, count):
    """A camera that stands: small figures pass, the sensor has noise."""
    canvas = landscape(rng, height, width, 25)
    shades, phase = colors(rng, 3), rng.uniform(0, 6, 3)
    for number in range(count):
        image = canvas
        for i, color in enumerate(shades):
            x = width * (0.5 + 0.55 * np.sin(number / 60 + phase[i]))
            image = actor(image, color, height * (0.5 + 0.12 * i), x, height * 0.1, height * 0.035)
        yield image + rng.normal(0, 0.008, (height, width, 1)).astype(np.float32)


def low(rng, height, width, count):
    """Little moves: a slow drift of a tenth of a sample a picture, and a head that nods."""
    canvas = landscape(rng, height * 5 // 4, width * 5 // 4)
    for number in range(count):
        image = window(canvas, height, width, number * 0.03, number * 0.1)
        y = height * (0.5 + 0.012 * np.sin(number / 8))
        yield actor(image, np.float32([0.75, 0.55, 0.45]), y, width * 0.5, height * 0.25, height * 0.17)


def bw(rng, height, width, count):
    scene = Film(rng, height, width, 1.0, 100, 0.012)
    return (np.repeat(scene.picture(i).mean(-1, keepdims=True), 3, -1) for i in range(count))


def hdr(rng, height, width, count):
    """Linear light with highlights of 1000 cd/m2, with the curve of SMPTE ST 2084."""
    scene, lamp = Film(rng, height, width, 1.0, 90, 0.003), rng.uniform(0.2, 0.8, 2)
    for number in range(count):
        light = np.clip(scene.picture(number), 0, 1) ** 2.4 * 203
        cover = ellipse(height, width, lamp[0] * height, (lamp[1] * width + number * 0.7) % width, 12, 12, 8)
        power = (np.maximum(light, cover * 1000) / 10000) ** 0.1593017578125
        yield ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375


# name: painter, size, seed
PAINTED = {
    "film": (film, 640, 360, 1),
    "anime": (anime, 640, 360, 2),
    "screen": (screen, 640, 360, 3),
    "sport": (sport, 640, 360, 4),
    "dark": (dark, 320, 180, 5),
    "grain": (grain, 320, 180, 6),
    "slideshow": (slideshow, 320, 180, 7),
    "fades": (fades, 320, 180, 8),
    "static": (static, 320, 180, 9),
    "low": (low, 640, 360, 10),
    "bw": (bw, 320, 180, 11),
    "hdr": (hdr, 640, 360, 12),
}
REAL = {"megamind": "Megamind.avi", "vtest": "vtest.avi", "tree": "tree.avi"}
LUMA = {False: (0.2126, 0.7152, 0.0722), True: (0.2627, 0.678, 0.0593)}  # BT.709, BT.2020


def to_yuv(image, bits, wide):
    """Returns the bytes of a picture in 4:2:0, limited range, chroma in the middle of its four samples."""
    red, green, blue = LUMA[wide]
    image = np.clip(image, 0, 1)
    luma = image @ np.array((red, green, blue), np.float32)
    small = image.reshape(image.shape[0] // 2, 2, image.shape[1] // 2, 2, 3).mean((1, 3))
    level = small @ np.array((red, green, blue), np.float32)
    planes = [16 + 219 * luma]
    planes += [
        128 + 224 * (small[..., 2] - level) / (2 - 2 * blue),
        128 + 224 * (small[..., 0] - level) / (2 - 2 * red),
    ]
    scale, kind = (4, np.uint16) if bits == 10 else (1, np.uint8)
    return b"".join(np.round(plane * scale).astype(kind).tobytes() for plane in planes)


def paint(name, pairs, path, small, other_seed):
    painter, width, height, seed = PAINTED[name]
    if small:
        width, height = 320, 180
    bits, count = (10 if name == "hdr" else 8), pairs + 2 * MARGIN
    with open(path, "wb") as file:
        for image in painter(np.random.default_rng(seed + other_seed), height, width, count):
            file.write(to_yuv(image, bits, name == "hdr"))
    return {"width": width, "height": height, "bits": bits, "gray": name == "bw", "hdr": name == "hdr"}


def real_file(name, folders):
    """Returns where a real clip is, or None."""
    for folder in folders:
        for path in sorted(Path(folder).glob(REAL[name] + "*")):
            return path
    return None


def fetch_real(folder):
    """Takes the real clips out of Debian's package, which is not installed by this. Leaves none where that fails."""
    try:
        command = ["apt-get", "download", "-q", "opencv-doc"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=120)
        package = next(Path(folder).glob("opencv-doc*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, folder], capture_output=True, check=True)
        package.unlink()
    except (OSError, StopIteration, subprocess.SubprocessError):
        pass
    return Path(folder) / REAL_FOLDERS[0].lstrip("/")


def decode(name, source, pairs, path):
    """Writes the beginning of a real clip as raw pictures of sides that are multiples of 8."""
    told = subprocess.run([*FFMPEG, "-hide_banner", "-nostdin", "-i", source], capture_output=True, text=True).stderr
    width, height = map(int, re.search(r"Video: .*?\b(\d{2,5})x(\d{2,5})\b", told).groups())
    width, height = min(width, 640) // 8 * 8, min(height, 480) // 8 * 8
    command = f"-f rawvideo -pix_fmt yuv420p -frames:v {pairs + 2 * MARGIN} -vf crop={width}:{height} -y".split()
    # some AVI files have pictures that are shown twice by their times: the pictures as they come count here
    subprocess.run(
        [*FFMPEG, "-v", "error", "-nostdin", "-i", source, "-fps_mode", "passthrough", *command, path], check=True
    )
    return {"width": width, "height": height, "bits": 8, "gray": False, "hdr": False}


def load(name, folder, pairs=FRAMES, real_folders=REAL_FOLDERS, small=False, seed=0):
    """Returns a clip, which is painted where `folder` does not have it yet; None: a real one that is not here.

    `seed` other than 0 paints others of the same kinds.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{pairs}" + (f"-{seed}" if seed else "") + ("-small" if small else "")
    path, facts = folder / f"{stem}.yuv", folder / f"{stem}.json"
    if not facts.exists():
        if name in REAL:
            source = real_file(name, real_folders)
            if not source:
                return None
            made = decode(name, source, pairs, path)
        else:
            made = paint(name, pairs, path, small, seed)
        facts.write_text(json.dumps(made))
    made = json.loads(facts.read_text())
    size = made["width"] * made["height"] * 3 // 2 * (2 if made["bits"] == 10 else 1)
    pictures = np.memmap(path, np.uint8, "r").reshape(-1, size)
    return Clip(name=name, pictures=pictures, **made)
