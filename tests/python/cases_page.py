"""Pages in a browser, and what their first screen says in words."""

import base64
import hashlib
import json
import math
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import cases_view
import numpy as np
from browser import chromium
from command import vmafx
from common import Skip, case, check, check_equal, raises, top
from pages import Content
from vmafx.command._keys import Facts
from vmafx.command._scores import Encode
from vmafx.command._statistics import NAMES
from vmafx.command.comparison.comparison import Comparison
from vmafx.command.comparison.points import Point
from vmafx.command.comparison.table import Row
from vmafx.command.fleet.summary import Summary, write_summary
from vmafx.command._terminal import Failure
from vmafx.command.page import comparison as comparison_module
from vmafx.command.page import maps, pictures, worst
from vmafx.command.page import page as page_module
from vmafx.command.page.page import Page, make_page
from vmafx.command.page.document import broken
from vmafx.command.page.pictures import MOST_SAMPLES, MOST_TEXT, Media
from vmafx.command.page.plots import telling_names
from vmafx.command.page.tables import run_tables
from vmafx.command.page.view import View
from vmafx.command.page.verdict import verdict

DYGRAPHS = Path("/usr/share/javascript/dygraphs")
EVIL = '<img src=x onerror=alert(1)>"&'
LONG = "a_name_of_an_encode_with_47_characters_" + "x" * 8
LONGEST = "y" * 175
FRAMES, RATE = 60, 25
FILM = [f"Big.Film.Title.2026.Remastered.crf{crf}.mkv" for crf in (24, 33, 42)]


def encode_of(name, scores, model="vmaf_v0.6.1", **other):
    """Returns an encode whose vmaf is given, with other scores."""
    encode = Encode(name)
    for i, score in enumerate(scores):
        encode.add(i, i / RATE, {"vmaf": score, **{key: values[i] for key, values in other.items()}})
    encode.finish()
    encode.run = {"models": {"vmaf": model}}
    return encode


def waves(low, drop):
    """Returns scores of FRAMES frames; those of frame `drop` and its neighbors are far below the others."""
    return [low + 3 * math.sin(i / 5) - 40 * (abs(i - drop) < 2) for i in range(FRAMES)]


def texts_of(said):
    """Returns the sentences of a verdict by the titles of its parts."""
    text = lambda cell: cell if isinstance(cell, str) else cell.text
    return {part.title: [" ".join(map(text, line)) for line in part.lines] for part in said}


# -- In words ----------------------------------------------------------------------------------------------------------


@case
def the_first_screen_has_words(lab):
    """It says how good encodes are in the terms of the model, what is worst and where, and what is doubtful."""
    del lab
    encode = encode_of("e", [90.0] * 30 + [50.0] * 25 + [10.0] + [50.0] * 4, cambi=[0.5] * FRAMES)
    said = texts_of(verdict([encode], ["vmaf", "cambi"]))
    check_equal(said["How good"], ["vmaf is 69.33 on average, fair; 5 % of the frames have at most 50.00."], "goodness")
    check_equal(
        said["What is worst"],
        ["The worst is frame 55 at 0:02.200 with 10.00; the worst second begins at 0:01.240, with a mean of 48.40."],
        "the worst",
    )
    check_equal(said["What is doubtful"], ["The report has no doubts."], "doubts")
    model, metric = said["What scores mean"]
    for text in ("vmaf_v0.6.1", "0 to 100", "1080 rows", "3 times its height", "80 good", "At 95", "Higher is better."):
        check(text in model, f"'{text}' is not in {model}")
    check("Lower is better." in metric and "banding" in metric, metric)
    encode.times = [5e-324 * number for number in range(FRAMES)]
    check("second" not in texts_of(verdict([encode], ["vmaf"]))["What is worst"][0], "seconds of a report without any")


@case
def the_first_screen_knows_its_limits(lab):
    """Grades belong to models whose votes are known; doubts come with their pairs; many encodes are the best and the
    worst.
    """
    del lab
    later = encode_of("e", [109.0] * 9, model="vmaf_v1.0.16_3d0h_2160")
    said = texts_of(verdict([later], ["vmaf"]))
    check_equal(said["How good"], ["vmaf is 109.00 on average; 5 % of the frames have at most 109.00."], "no grade")
    check("0 to 110" in said["What scores mean"][0] and "votes" not in said["What scores mean"][0], str(said))
    own = texts_of(verdict([encode_of("e", [95.0] * 9, model="mine")], ["vmaf"]))
    check("the model mine, which is not built in" in own["What scores mean"][0], str(own))
    later.doubts = [{"kind": "offset", "text": "late", "remedies": [], "certainty": "sure", "from": 2, "to": 4}]
    doubts = texts_of(verdict([later], ["vmaf"]))["What is doubtful"]
    check_equal(doubts[0], "3 pairs are sure to be wrong: their scores do not tell of the encode.", "wrong pairs")
    check_equal(doubts[1], "late (sure, pairs 2 to 4).", "the doubt")
    many = texts_of(verdict([encode_of(f"e{i}", [50.0 + i] * 9) for i in range(9)], ["vmaf"]))["How good"]
    check_equal([line.split()[0] for line in many], ["e8", "e0"], "the best and the worst")
    nothing = verdict([encode_of("e", [math.nan] * 3)], ["vmaf"])
    check("nothing can be said" in texts_of(nothing)["How good"][0], str(nothing))


# -- Colors ------------------------------------------------------------------------------------------------------------

# How people without one kind of cones see linear red, green and blue (Machado, Oliveira, Fernandes 2009, severity 1).
SEEN = {
    "all": np.eye(3),
    "no L": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no M": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no S": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab_of(light):
    """Returns CIELAB of linear red, green and blue."""
    xyz = TO_XYZ @ np.clip(light, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@case
def colors_of_curves_are_told_apart(lab):
    """Each two colors differ for people of all kinds of cones, and from the paper, in both schemes."""
    del lab
    style = (top / "python/vmafx/command/page/style.css").read_text()
    for scheme in re.findall(r":root \{(.*?)\}", style, re.S)[:2]:
        colors = dict(re.findall(r"--(c\d|paper): (#\w{3,6})", scheme))
        paper = linear({"#fff": "#ffffff"}.get(colors["paper"], colors.pop("paper")))
        curves = [linear(color) for name, color in colors.items() if name != "paper"]
        check_equal(len(curves), 8, "colors")
        for color in curves:
            low, high = sorted((TO_XYZ[1] @ color, TO_XYZ[1] @ paper))
            check((high + 0.05) / (low + 0.05) >= 3, f"contrast of {color}")
        for kind, matrix in SEEN.items():
            seen = [lab_of(np.array(matrix) @ color) for color in curves]
            least = min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i])
            check(least > 10, f"two colors differ by {least:.1f} for people with {kind}")


# -- Other pages -------------------------------------------------------------------------------------------------------


def comparison_page(lab):
    """Makes the page of three series, two clips and two scores, one of which has no BD-rate."""
    points = [
        Point(
            Row("table", f"series {number}", Path(f"{number}-{i}.mkv"), None, None, None, rate, clip, f"crf {i}"),
            clip,
            rate * (1 + number / 4),
            1_000_000,
            frames=9,
            values={"vmaf": 50.0 + 10 * i + number, "cambi": [3.0, 1.0, 2.0, 1.5][i]},
            facts={"vmaf": Facts(None), "cambi": Facts("cambi", "high")},
            models={"vmaf": "vmaf_v0.6.1"},
        )
        for number in range(3)
        for clip in ("one", "two")
        for i, rate in enumerate((200.0, 400.0, 800.0, 1600.0))
    ]
    library = SimpleNamespace(
        bd_rate=lambda one, _, other, *__, **___: 100 * (other[0] / one[0] - 1), bd_psnr=lambda *_, **__: 1.5
    )
    comparison = Comparison(
        points, ["vmaf", "cambi"], "series 0", "mean", "pchip", library, [f"a note {i}" for i in range(9)]
    )
    path = lab.folder / "comparison.html"
    path.write_text(comparison_module.make_page(comparison))
    return path


def library_page(lab):
    """Makes the page of five pairs, one of which has failed, and one has a warning."""
    records = [
        {
            "id": name,
            "error": None,
            "pooled": {"vmaf": dict.fromkeys(NAMES, 95.0 - 20 * i)},
            "worst_frame": {"vmaf": {"frame": 7, "time": 0.28, "score": 1.5}},
            "models": {"vmaf": {"model": "vmaf_v0.6.1"}},
            "warnings": ["a warning"] * (i == 2),
        }
        for i, name in enumerate([*FILM, EVIL])
    ]
    path = lab.folder / "library.html"
    write_summary(path, Summary([*records, {"id": "bad", "error": "no such file"}]), "Scores of a list", 3)
    return path


@case
def other_pages_have_words_first(lab):
    """The page of a comparison says what a series costs, which encodes are worth having, what is doubtful, and what
    scores mean; that of a library how good the pairs are and which are the worst. Many warnings are folded.
    """
    page = Content(comparison_page(lab))
    page.is_safe()
    page.has(
        "What they cost",
        "needs 25.00 % more bits than series 0 for the same vmaf, as a mean of the clips.",
        "By vmaf, 10 of 24 encodes are on the convex hull of their clip: 8 of series 0, 2 of series 2.",
        "What is doubtful",
        "Over kbit/s, which are drawn by their logarithm. Lower is better.",
        "6 more warnings",
        "a note 8",
    )
    check(any("from 0 to 100, for a display of 1080 rows" in word for word in page.words), "what the model means")
    page = Content(library_page(lab))
    page.is_safe()
    page.has(
        "vmaf of the pairs is 65.00 on average, fair; half of them have at least 75.00.",
        f"{EVIL} has a mean of 35.00; its worst frame is 7, at 0:00.280.",
        "1 pair has failed: see below.",
        "1 pair has warnings: see below.",
        "4 pairs scored · 1 failed",
    )


# -- In a browser ------------------------------------------------------------------------------------------------------


def needs_dygraphs():
    if not DYGRAPHS.is_dir():
        raise Skip("Debian's libjs-dygraphs is not installed")


def page_with_pictures(lab, *more):
    """Makes a page of two encodes with pictures of their worst frames; the name of one tries to be HTML."""
    needs_dygraphs()
    plain = f"testsrc2=s=320x180:r={RATE}:d={FRAMES / RATE},format=yuv420p"
    for name, filters in (("ref", "null"), ("one", "boxblur=2"), ("two", "noise=alls=30")):
        lab.run("-f lavfi -i", f"{plain},{filters}", f"-c:v ffv1 {name}.mkv").succeeded()
    encodes = [
        {
            "name": name,
            "frames": [
                {"frameNum": i, "time": i / RATE, "metrics": {"vmaf": score}}
                for i, score in enumerate(waves(90 - 9 * number, 20 + 20 * number))
            ],
        }
        for number, name in enumerate((LONG, EVIL))
    ]
    (lab.folder / "both.json").write_text(json.dumps({"encodes": encodes}))
    words = "both.json", "-o", "page.html", "--media", "one.mkv", "two.mkv", "--reference", "ref.mkv", "--worst", 2
    vmafx(lab, "report", *words, "--scenes", 0, *more).succeeded()
    return lab.folder / "page.html"


BLOCKS = 10, 6  # of 32x32 samples in 320x180


def write_maps(lab, scores, folder="maps"):
    """Writes maps of two encodes whose means are what the scores lack to 100; all of it is lost in one block, which is
    another one in each frame.
    """
    (lab.folder / folder).mkdir()
    for number, own in enumerate(scores):
        maps = np.zeros((len(own), BLOCKS[0] * BLOCKS[1]), np.float32)
        for frame, score in enumerate(own):
            maps[frame, frame] = (100 - score) * maps.shape[1]
        maps.tofile(lab.folder / folder / f"vmaf_encode{number}_{BLOCKS[0]}x{BLOCKS[1]}_f32.gray")


def brightest_in(lab, address):
    """Returns the place of the brightest sample of a picture, in the order of rows."""
    (lab.folder / "map.png").write_bytes(base64.b64decode(address.split(",", 1)[1]))
    done = subprocess.run(
        [lab.ffmpeg, "-v", "error", "-i", "map.png", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
        cwd=lab.folder,
        capture_output=True,
    )
    check_equal(len(done.stdout), BLOCKS[0] * BLOCKS[1], "samples of a map")
    return done.stdout.index(max(done.stdout))


def seen_in(browser):
    """Returns a digest of what the browser shows."""
    return hashlib.sha256(browser.picture()).digest()


def is_silent(browser, page):
    check_equal((browser.complaints, browser.requests), ([], [f"file://{page}"]), "complaints and requests")


# Tells whether the pictures turn within more than a turn of flicker.
TURNS = """Promise.race([
  new Promise((done) => {
    new MutationObserver(() => done(true)).observe(document.querySelector(".scene"), {attributes: true});
  }),
  new Promise((done) => setTimeout(() => done(false), 800)),
])"""


@case
def page_pictures_are_compared_by_keys(lab):
    """The keyboard leads through wipe, difference, flicker, side by side and zoom, which all look different. Flicker
    turns by itself, unless people want less motion.
    """
    page = page_with_pictures(lab)
    content = Content(page)
    content.is_safe(scripts=4)
    content.has(f"{LONG[:19]}…{LONG[-19:]}")
    check(content.all("span", **{"class": "name", "title": LONG}), "the whole name of a picture")
    with chromium(lab.folder) as browser:
        browser.open(page, 1000, 700, reduced=True)
        browser.run("document.querySelector('.compare').focus()")
        status = lambda: browser.run("document.querySelector('.status').textContent")
        views = []
        for key, words in (
            ("Enter", f"Wipe: reference left, {LONG}"),
            ("]", "Wipe: "),
            ("d", "Difference of reference and "),
            ("g", "times 4"),
            ("f", "Flicker: reference; space"),
            (" ", f"Flicker: {LONG}"),
            ("s", "Side by side: "),
            ("+", "Side by side: "),
            ("ArrowRight", "Side by side: "),
            ("r", f"Side by side: reference left, {EVIL}"),
            ("n", "Side by side: reference left, "),
        ):
            browser.press(key)
            check(words in status(), f"after {key}: {status()}")
            views.append(seen_in(browser))
        check_equal(len(set(views)), len(views), "views that differ")
        zoom = browser.run("new DOMMatrix(document.querySelector('.layer img').style.transform).a")
        check(zoom > 1, f"zoom {zoom}")
        check_equal(
            browser.run("new Set([...document.querySelectorAll('.layer img')].map((i) => i.style.transform)).size"),
            1,
            "both in step",
        )
        check(re.fullmatch(r"#t=\d\.\d{3}&f=\d+", browser.run("location.hash")), browser.run("location.hash"))
        browser.press("Escape")
        check_equal(browser.run("document.activeElement.className"), "compare", "where the focus is afterwards")
        is_silent(browser, page)
        for reduced in (False, True):
            browser.open(page, 800, 600, reduced=reduced)
            browser.run("document.querySelector('.compare').click()")
            browser.press("f")
            check_equal(browser.run(TURNS), not reduced, f"whether flicker turns by itself, reduced: {reduced}")


@case
def page_curves_have_keys_links_and_a_legend(lab):
    """Keys go from frame to frame, Enter puts the place into the address, which the page opens at, and the legend hides
    a curve everywhere.
    """
    needs_dygraphs()
    encodes = [encode_of(f"e{i}", waves(90 - i, 30), psnr_y=[40.0] * FRAMES) for i in range(2)]
    page = lab.folder / "page.html"
    page.write_text(make_page(Page(encodes, ["vmaf", "psnr_y"], dygraphs=DYGRAPHS)))
    said = "[...document.querySelectorAll('.said')].map((own) => own.textContent)"
    with chromium(lab.folder) as browser:
        browser.open(page, 1000)
        browser.run("document.querySelector('.stage').focus()")
        browser.press("Home", "ArrowRight", "ArrowRight", "+", "Enter")
        check_equal(browser.run("location.hash"), "#t=0.080&f=2", "the address")
        check_equal(browser.run(said)[0].count("frame 2, 0:00.080"), 2, "what is said")
        buttons = "[...document.querySelectorAll('.bar button')].map((button) => button.hidden)"
        check_equal(browser.run(buttons), [False, False], "the way back from the zoom")
        browser.press("0")
        check_equal(browser.run(buttons), [True, True], "the whole length")
        browser.run("document.querySelector('.legend button').click()")
        pressed = "[...document.querySelectorAll('.legend button')].map((own) => own.getAttribute('aria-pressed'))"
        check_equal(browser.run(pressed), ["false", "true"] * 2, "curves that are shown")
        check_equal(browser.run(said)[0].count("frame 2, 0:00.080"), 1, "what is said of one curve")
        is_silent(browser, page)
        browser.open(page, 1000, place="#t=1.2&f=30")
        check_equal([text.count("frame 30, 0:01.200") for text in browser.run(said)], [2, 2], "at the place")
        browser.open(page, 1000, place="#t=x&f=1e999")
        check_equal(browser.run(said)[1], "", "a place that is not one")
        check_equal(browser.complaints, [], "complaints")


@case
def page_shows_chosen_frames(lab):
    """Frames that are named by number or time have pictures, once, and come first."""
    content = Content(page_with_pictures(lab, "--frame", 5, "--frame", "1.2s", "--frame", 30))
    content.has("Chosen frames")
    frames = [own["id"] for own in content.all("li", **{"class": "frame"})]
    check_equal(frames[:2], ["frame5", "frame30"], "frames with pictures")
    check_equal(len(set(frames)), len(frames), "frames that are there once")
    check_equal(len(content.all("img")), 3 * len(frames), "pictures of three files")
    words = "both.json", "-o", "none.html", "--media", "one.mkv", "two.mkv", "--reference", "ref.mkv"
    for status, place, text in (
        (2, "x", "'x' is not a frame"),
        (2, "-1s", "expected one argument"),
        (2, "1e99s", "'1e99s' is not a frame"),
        (1, "60", "no scored frame with the number 60: its last one is 59, at 2.360 s"),
        (1, "99s", "no scored frame at 99 s"),
    ):
        vmafx(lab, "report", *words, "--frame", place).failed(status, text)
    vmafx(lab, "report", "both.json", "-o", "none.html", "--frame", 1).failed(
        2, "name them with --media and --reference"
    )


@case
def page_lays_maps_over_pictures(lab):
    """Each picture of an encode has the map of its frame, cut where the picture ends; keys show it in all views and
    change how opaque it is. Maps of other scores, sizes and runs are refused.
    """
    scores = [waves(90 - 9 * number, 20 + 20 * number) for number in range(2)]
    write_maps(lab, scores)
    page = page_with_pictures(lab, "--maps", "maps")
    content = Content(page)
    content.is_safe(scripts=4)
    shown = content.all("img", **{"class": "map"})
    check_equal(len(shown), 2 * len(content.all("li", **{"class": "frame"})), "maps")
    for own in shown:
        check_equal(brightest_in(lab, own["src"]), int(re.search(r"frame (\d+)", own["alt"])[1]), own["alt"])
        check_equal((own["width"], own["height"]), ("100.0000%", "106.6667%"), "the extent of all blocks")
    with chromium(lab.folder) as browser:
        browser.open(page, 1000, 700, reduced=True)
        status = lambda: browser.run("document.querySelector('.status').textContent")
        are_shown = "[...document.querySelectorAll('.shot .map')].every((map) => map.checkVisibility())"
        check_equal(browser.run(are_shown), False, "maps before they are asked for")
        browser.run("document.querySelectorAll('details').forEach((fold) => fold.open = true)")
        browser.run("document.querySelector('#show-maps').click()")
        check_equal(browser.run(are_shown), True, "maps on the page")
        browser.run("document.querySelector('.compare').focus()")
        views = []
        for key, words in (
            ("Enter", "Wipe: reference left"),
            (".", "map at 70 %"),
            ("d", "map at 70 %"),
            (",", "map at 60 %"),
            ("f", "map at 60 %"),
            (" ", "map at 60 %"),
            ("s", "map at 60 %"),
            ("+", "map at 60 %"),
            ("o", "Side by side"),
        ):
            browser.press(key)
            check(words in status(), f"after {key}: {status()}")
            if key != "f":  # the reference, which has no map
                views.append(seen_in(browser))
        check_equal(len(set(views)), len(views), "views that differ")
        check("map" not in status() and browser.run("document.querySelector('#show-maps').checked") is False, status())
        browser.press("o")
        browser.run("document.querySelector('.viewer input').focus()")
        browser.press("ArrowRight", "ArrowRight")
        check("map at 70 %" in status(), f"by the arrows: {status()}")
        places = "[...document.querySelectorAll('.layer img')].map(({style}) => style.transform)"
        check_equal(len(set(browser.run(places))), 1, "pictures and maps in step")
        is_silent(browser, page)
    write_maps(lab, [own[:-1] for own in scores], "short")
    write_maps(lab, [own[::-1] for own in scores], "other")
    encodes = [encode_of(f"e{i}", own) for i, own in enumerate(scores)]
    for folder, name, size, text in (
        ("none", "vmaf", (320, 180), "cannot read the maps in"),
        ("maps", "psnr_y", (320, 180), "has no maps of psnr_y of e0: name one of vmaf with --map"),
        ("maps", "vmaf", (320, 384), "maps of 10x6 blocks do not fit pictures of 320x384"),
        ("short", "vmaf", (320, 180), "has maps of 59 frames, and the report has 60"),
    ):
        with raises(Failure, text):
            maps.find([(lab.folder / folder, number) for number in range(2)], encodes, name, size)
    other = maps.find([(lab.folder / "other", number) for number in range(2)], encodes, "vmaf", (320, 180))
    with raises(Failure, "the maps of vmaf are not those of the report"):
        maps.make(other, lab.ffmpeg, encodes, [maps.Place(0, 5), maps.Place(0, 20)])
    vmafx(lab, "report", "both.json", "-o", "none.html", "--maps", "maps").failed(2, "--media and --reference")


@case
def page_has_small_multiples(lab):
    """Of three encodes and more, each has its curve by itself, with the axes of all."""
    for count in (2, 3):
        encodes = [encode_of(f"e{i}", waves(90 - 20 * i, 30)) for i in range(count)]
        path = lab.folder / "page.html"
        path.write_text(make_page(Page(encodes, ["vmaf"])))
        labels = [own.get("aria-label", "") for own in Content(path).all("svg", role="img")]
        own = [label for label in labels if re.match(r"e\d: vmaf of each frame over time", label)]
        check_equal(len(own), count if count > 2 else 0, "curves by themselves")


@case
def page_of_large_pictures_stays_small(lab):
    """Pictures that are too large for a page get a lower quality, and then fewer samples, which a line says."""
    del lab
    encode, media = encode_of("e", waves(90, 30)), Media("ffmpeg", ["e"], "r")
    made = worst.picture, worst.compressed
    try:
        for each, quality, words in (
            (0.1, 3, ""),
            (0.4, 4, "quality 4: "),
            (0.55, 5, "quality 5: "),
            (0.7, 7, "quality 7: "),
            (2, 7, "quality 7, of "),
        ):
            used, decoded = [], []

            def fake(media, path, time, rate, samples):
                decoded.append((path, time))
                return b"picture"

            def fake_compressed(ffmpeg, picture, samples, quality):
                used.append(quality)
                part = samples / (MOST_SAMPLES // 12)
                return "x" * int(MOST_TEXT / 4 * each * part * {3: 1, 4: 0.75, 5: 0.6, 6: 0.5, 7: 0.4}[quality])

            worst.picture, worst.compressed = fake, fake_compressed
            (found,) = worst.Worst([encode], media, 6).lists("vmaf", True)
            count = sum(len(frame.pictures) for frame in found.frames)
            size = sum(len(own.data) for frame in found.frames for own in frame.pictures)
            check_equal(set(used[-count:]), {quality}, "quality")
            check_equal((len(decoded), len(set(decoded))), (count, count), "pictures that are decoded, each once")
            check(0 < size <= MOST_TEXT and (words in found.told) and bool(words) == bool(found.told), found.told)
    finally:
        worst.picture, worst.compressed = made


@case
def pictures_are_decoded_and_compressed(lab):
    """A picture that is compressed at the size of the file has its samples nearly; with fewer samples, it has the shape
    of it still. A lower quality takes fewer bytes.
    """
    lab.run(f"-f lavfi -i testsrc2=s=320x180:r={RATE}:d=1,format=yuv420p", "-c:v ffv1 ref.mkv").succeeded()
    media = Media(lab.ffmpeg, [], str(lab.folder / "ref.mkv"))
    decoded = pictures.picture(media, media.ref, 0.4, RATE, 320 * 180)
    sizes = []
    for samples, quality, wanted in ((320 * 180, 3, "320x180"), (320 * 180, 7, "320x180"), (160 * 90, 7, "160x90")):
        made = base64.b64decode(pictures.compressed(lab.ffmpeg, decoded, samples, quality).split(",", 1)[1])
        sizes.append(len(made))
        (lab.folder / "made.jpg").write_bytes(made)
        graph = f"[0]scale={wanted.replace('x', ':')},format=gray[a];[1]trim=start_frame=10,format=gray,"
        graph += f"scale={wanted.replace('x', ':')}[b];[a][b]psnr=stats_file=psnr.txt"
        lab.run("-i made.jpg -i ref.mkv", f"-lavfi {graph} -frames:v 1 -f null -").succeeded()
        psnr = float(re.search(r"psnr_avg:(\S+)", (lab.folder / "psnr.txt").read_text())[1])
        check(psnr > 28, f"{wanted} at quality {quality}: {psnr} dB")
    check(sizes[0] > sizes[1] > sizes[2], f"bytes: {sizes}")


# Returns the cells with numbers in which something else is seen, or which are beyond the window.
HIDDEN = """[...document.querySelectorAll("td.n")].filter((cell) => {
  cell.scrollIntoView({block: "center"});
  const range = document.createRange();
  range.selectNodeContents(cell);
  const box = range.getBoundingClientRect();
  const seen = document.elementFromPoint(box.right - 2, box.top + box.height / 2);
  return box.left < 0 || box.right > innerWidth || !cell.contains(seen);
}).map((cell) => cell.textContent)"""


@case
def page_numbers_are_seen_beside_long_names(lab):
    """Names of 47 and of 175 characters hide no number, on a telephone, on a screen, on paper."""
    encodes = [encode_of(name, waves(90, 30), cambi=[1.0] * FRAMES) for name in (LONG, LONGEST)]
    page = lab.folder / "page.html"
    page.write_text(make_page(Page(encodes, ["vmaf", "cambi"])))
    with chromium(lab.folder) as browser:
        for width in (390, 1280):
            browser.open(page, width)
            check_equal(browser.run("document.querySelectorAll('td.n').length > 40"), True, "numbers")
            check_equal(browser.run(HIDDEN), [], f"hidden numbers, {width} wide")
            check_equal(browser.run("document.documentElement.scrollWidth <= innerWidth"), True, f"{width} wide")
        browser.call("Emulation.setEmulatedMedia", media="print")
        browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
        browser.settle()
        check_equal(browser.run("document.documentElement.scrollWidth <= 718"), True, "the width of paper")
        check(browser.print().startswith(b"%PDF"), "no PDF")


@case
def page_breaks_names_and_no_options(lab):
    """Long names make no page wider than the window, wherever they stand; an option of a command stays on its line."""
    told = f"FFmpeg’s scdet=10 finds 2 cuts in {LONGEST}."
    encode = encode_of(LONGEST, waves(90, 30))
    encode.warnings = [f"{LONGEST}: score it with --sync, or <b>--offset</b> --evil<b>"]
    page = lab.folder / "page.html"
    nothing = SimpleNamespace(
        text=told, lists=[SimpleNamespace(label=None, key=LONGEST, told=LONGEST, worst=None, others=None)]
    )
    made = page_module.scenes_of_page
    page_module.scenes_of_page = lambda *_: nothing
    try:
        page.write_text(make_page(Page([encode], ["vmaf"], title=f"{LONGEST} --aq-mode", said=[LONGEST])))
    finally:
        page_module.scenes_of_page = made
    options = re.findall('<span class="option">(.*?)</span>', page.read_text())
    check_equal(sorted(set(options)), ["--aq-mode", "--evil", "--sync"], "options")
    check("&lt;b&gt;--offset&lt;/b&gt;" in page.read_text(), "HTML in a warning is a text")
    with chromium(lab.folder) as browser:
        for width in (390, 800, 1280, 1920):
            browser.open(page, width)
            check_equal(browser.run("document.documentElement.scrollWidth <= innerWidth"), True, f"{width} wide")
            lines = browser.run("[...document.querySelectorAll('.option')].map((own) => own.getClientRects().length)")
            check_equal(set(lines), {1}, f"lines of an option, {width} wide")


@case
def page_uses_wide_windows_and_fingers(lab):
    """A window of 1920 has wider charts than one of 1280; what is touched is as high as a finger; charts beside each
    other stand on one line, though their titles have several.
    """
    page = lab.folder / "page.html"
    encodes = [encode_of(name, waves(90, 30)) for name in (LONGEST, "short", LONG)]
    page.write_text(make_page(Page(encodes, ["vmaf"], dygraphs=DYGRAPHS if DYGRAPHS.is_dir() else None)))
    wide = "document.querySelector('main').getBoundingClientRect().width"
    bottoms = "[...document.querySelectorAll('.pair.small .plot')].map((own) => own.getBoundingClientRect().bottom)"
    touched = (
        "[...document.querySelectorAll('button:not([hidden]), summary, nav a')].filter((own) => own.checkVisibility())"
    )
    heights = f"{touched}.map((own) => own.getBoundingClientRect().height)"
    with chromium(lab.folder) as browser:
        found = []
        for width in (1280, 1920):
            browser.open(page, width)
            found.append(browser.run(wide))
            check_equal(len(set(browser.run(bottoms))), 1, f"charts on a line, {width} wide")
        check(found[0] < 1280 and found[1] > 1450, f"width of the page: {found}")
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        browser.open(page, 390)
        check_equal(browser.run("matchMedia('(pointer: coarse)').matches"), True, "a finger")
        check(min(browser.run(heights)) >= 44, f"heights: {browser.run(heights)}")


@case
def names_end_lines_at_their_dots(lab):
    """Lines end after dots and dashes of long names, not within the last letters; short words and options stay whole.
    What all names begin with is left out where there is little room.
    """
    check_equal(broken(FILM[0]), "Big.<wbr>Film.<wbr>Title.<wbr>2026.<wbr>Remastered.<wbr>crf24.<wbr>mkv", "a name")
    check_equal(broken("0.1.0-g17df358-dirty"), "0.1.0-<wbr>g17df358-<wbr>dirty", "a version")
    check_equal(broken("a <b>.c of 12.5 %, short.mkv"), "a &lt;b&gt;.c of 12.5 %, short.mkv", "short words")
    check_equal(telling_names(FILM), ["…crf24.mkv", "…crf33.mkv", "…crf42.mkv"], "names")
    view = View(names=FILM, reference="ref.mkv", width=1, height=1, start=0, rate=1, frames=1, keys=(), worse_high=())
    check_equal(view.for_script()["brief"], telling_names(FILM), "names in the view of whole files")
    check_equal(telling_names(FILM[:1]), FILM[:1], "one name")
    check_equal(telling_names(["a.b1", "a.b2"]), ["a.b1", "a.b2"], "short names")
    check_equal(telling_names(["long_name_", "long_name_2"]), ["long_name_", "long_name_2"], "all of a name")
    page = lab.folder / "page.html"
    page.write_text(make_page(Page([encode_of(name, waves(90 - 9 * i, 30)) for i, name in enumerate(FILM)], ["vmaf"])))
    content = Content(page)
    content.has(*FILM, "…crf24.mkv", "…crf42.mkv")
    card = next(word for word in content.words if word.startswith("worst\N{NO-BREAK SPACE}5"))
    check_equal([part.count(" ") for part in card.split(" · ")], [0, 0], "blanks in a value of a card")


@case
def page_of_several_encodes_folds(lab):
    """A page of three encodes and four scores is usable on a telephone: worst frames of all encodes but the first, and
    all but curve and pooled values of the other scores, are folded. Paper has them all. A link to a folded frame opens
    it, and facts that all encodes share stand there once.
    """
    others = {key: [30.0 + i % 7 for i in range(FRAMES)] for key in ("psnr_y", "cambi", "ciede2000")}
    encodes = [encode_of(name, waves(90 - 9 * i, 20 + 10 * i), **others) for i, name in enumerate(FILM)]
    for i, encode in enumerate(encodes):
        encode.run |= {"backend": "cpu", "threads": 2 + i}
    tables = run_tables(encodes)
    check_equal([list(table.rows[0]) for table in tables], [["frames", "60"], ["threads", "2", "3", "4"]], "facts")
    check_equal((len(run_tables(encodes[:1])), tables[0].heads[1]), (1, "all 3 encodes"), "tables of one encode")
    page = lab.folder / "page.html"
    page.write_text(make_page(Page(encodes, ["vmaf", *others])))
    Content(page).has("More of psnr_y", f"Worst frames of {FILM[2]}")
    folded = "[...document.querySelectorAll('details.printed-whole')]"
    heights = f"{folded}.map((own) => own.lastElementChild.getBoundingClientRect().height)"
    with chromium(lab.folder) as browser:
        browser.open(page, 390)
        check_equal(browser.run(f"{folded}.length"), 2 + 3, "what is folded")
        height = browser.run("document.documentElement.scrollHeight")
        check(height < 8500, f"height at 390: {height}")
        browser.call("Emulation.setEmulatedMedia", media="print")
        browser.settle()
        check(min(browser.run(heights)) > 20, f"heights on paper: {browser.run(heights)}")


@case
def pictures_of_a_frame_share_a_row_on_paper(lab):
    """The reference and three encodes stand in one row of a printed page; on a screen a link opens their list."""
    sample = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
    data = f"data:image/png;base64,{sample}"
    made = worst.picture, worst.compressed
    encodes = [encode_of(name, waves(90 - 9 * i, 20 + 10 * i)) for i, name in enumerate(FILM)]
    page = lab.folder / "page.html"
    try:
        worst.picture, worst.compressed = lambda *_: b"picture", lambda *_: data
        media, packets = Media("ffmpeg", FILM, "ref"), page_module._bit_rate
        page_module._bit_rate = lambda _: None
        page.write_text(make_page(Page(encodes, ["vmaf"], media, DYGRAPHS if DYGRAPHS.is_dir() else None, scenes=0)))
    finally:
        worst.picture, worst.compressed = made
        page_module._bit_rate = packets
    frames = [int(own["data-frame"]) for own in Content(page).all("li", **{"class": "frame"})]
    tops = "[...document.querySelector('.pictures').children].map((own) => own.getBoundingClientRect().top)"
    with chromium(lab.folder) as browser:
        browser.open(page, 800, place=f"#t={frames[-1] / RATE}&f={frames[-1]}")
        seen = f"document.getElementById('frame{frames[-1]}').checkVisibility()"
        check_equal(browser.run(seen), True, "a folded frame that the address names")
        browser.open(page, 800)
        check_equal(browser.run(seen), False, "a folded frame")
        browser.call("Emulation.setEmulatedMedia", media="print")
        browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
        browser.settle()
        check_equal((len(browser.run(tops)), len(set(browser.run(tops)))), (4, 1), "pictures and rows")
        check_equal(browser.run(seen), True, "a folded frame on paper")
        is_silent(browser, page)


@case
def page_of_one_frame(lab):
    """A page of one frame says so, and draws its score."""
    encode = encode_of("e", [94.0])
    said = texts_of(verdict([encode], ["vmaf"]))
    check_equal(said["How good"], ["vmaf is 94.00, excellent, of one frame."], "goodness")
    path = lab.folder / "page.html"
    path.write_text(make_page(Page([encode], ["vmaf"])))
    page = Content(path)
    page.has("1 frame")
    lines = [own["d"] for own in page.all("path", **{"class": "c0"})]
    dashes = [re.fullmatch(r"M([-\d.]+) [\d.]+H([\d.]+)", d) for d in lines]
    check(any(dash and float(dash[2]) - float(dash[1]) == 8 for dash in dashes), f"no point: {lines}")
    gaps = encode_of("e", [94.0, math.nan, 90.0, 91.0, math.nan])
    path.write_text(make_page(Page([gaps], ["vmaf"])))
    drawn = [own["d"] for own in Content(path).all("path", **{"class": "c0"})]
    check(any(d.count("H") == 1 and d.count("L") == 1 for d in drawn), f"a point and a line: {drawn}")


@case
def pages_have_landmarks_and_no_empty_heads(lab):
    """Each page has a main part, links to its sections, and tables whose heads say what is below."""
    path = lab.folder / "page.html"
    path.write_text(make_page(Page([encode_of("e", waves(90, 30), cambi=[1.0] * FRAMES)], ["vmaf", "cambi"])))
    page = Content(path)
    check_equal([len(page.all(tag)) for tag in ("main", "header", "nav", "h1")], [1, 1, 1, 1], "landmarks")
    targets = {own["id"] for _, own in page.elements if "id" in own}
    links = [own["href"][1:] for own in page.all("a") if not re.match("#(t|f)=", own["href"])]
    check(links and targets.issuperset(links), f"{links} of {targets}")
    check(not re.search(r"<th[^>]*></th>", page.text), "a head without words")
    page.has("Higher is better.", "Lower is better.")


@case
def pages_pass_axe(lab):
    """The checks of axe-core, contrast among them, find no fault in the page and in the view of pictures, in those of
    comparisons, of libraries and of whole files, light and dark, wide and narrow.
    """
    found = find_spec("axe_core_python")
    if not found or not found.origin:
        raise Skip("the package axe-core-python is not installed")
    checks = Path(found.origin).with_name("axe.min.js").read_text()
    told = "axe.run().then((found) => found.violations.map(({id, nodes}) => [id, nodes[0].html]))"
    unfold = "document.querySelectorAll('details').forEach((fold) => fold.open = true)"
    page = page_with_pictures(lab)
    shutil.copy(lab.folder / "ref.mkv", lab.folder / "other.mkv")
    # The view ends soon after its tab has gone elsewhere.
    pages = page, comparison_page(lab), library_page(lab)
    with chromium(lab.folder) as browser, cases_view.shown(lab, "one.mkv", "other.mkv", "ref.mkv") as (address, _):
        for own in (address, *pages):
            for width, dark in ((1280, False), (390, True), (390, False), (1280, True)):
                browser.open(own, width, dark=dark)
                browser.run(f"{checks};{unfold};0")
                name = f"{'the view' if own == address else own.name}, {width} wide, {'dark' if dark else 'light'}"
                check_equal(browser.run(told), [], f"faults of {name}")
                if own == page:
                    browser.run("document.querySelector('.compare').click()")
                    check_equal(browser.run(told), [], f"faults of the view of pictures of {name}")
                elif own == address:
                    browser.press("Escape")
                    check_equal(browser.run(told), [], f"faults of {name} without its view of pictures")
