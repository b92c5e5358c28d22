"""vmafx view: pictures as they are scored, who may ask for them, scores as they come, and the end."""

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from browser import chromium
from command import command, environment, vmafx
from common import alive, case, check, check_equal, slow_case
from pages import Content

RATE = 25
EVIL = "<img src=x onerror=alert(1)>\"&';$(touch evil).mkv"
LONGEST = 30  # seconds to wait for anything
FAST = "--scale", "reference", "--model", "none", "--feature", "name=psnr:enable_chroma=false"


def make_videos(lab):
    """Makes a reference, an encode of half its size, whose name tries to be HTML, and one that begins later."""
    plain = f"-f lavfi -i testsrc2=s=320x180:r={RATE}:d=2"
    lab.run(plain, "-c:v libx264 -preset ultrafast -crf 4 -pix_fmt yuv420p -bf 2 ref.mkv").succeeded()
    lab.run("-i ref.mkv", "-vf scale=160:90 -c:v libx264 -preset ultrafast -crf 30 low.mkv").succeeded()
    lab.run("-i ref.mkv", "-c:v libx264 -preset ultrafast -crf 40 -output_ts_offset 1.2 late.mp4").succeeded()
    (lab.folder / "low.mkv").rename(lab.folder / EVIL)


@contextmanager
def shown(lab, *words, scoring=FAST):
    """Yields (the address, the process) of a view, which is ended if it runs on."""
    folder = lab.folder / "temporary"
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        command("view", *words, "--no-browser", *scoring),
        cwd=lab.folder,
        env=environment(lab, TMPDIR=folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        check(re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), f"{address}: {process.poll()}")
        yield address, process
    finally:
        process.kill()
        process.communicate()


def asked(address, path, method="GET", **headers):
    """Returns (status, headers, content) of a request."""
    host = address.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=LONGEST)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": host} | headers).items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def path_of(address):
    return "/" + address.split("/", 3)[3]


def children(process):
    """Returns the processes that a process has started, and those that these have."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, parent = path.read_text().rsplit(")")[-1].split()[1], path.parent.name
        except OSError:
            continue
        if name == str(process):
            found += [int(parent), *children(parent)]
    return found


@contextmanager
def told(address):
    """Yields a reader of the next message that a tab is told."""
    host = address.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=LONGEST)
    connection.request("GET", f"{path_of(address)}events")
    answer = connection.getresponse()

    def read():
        while not (line := answer.readline()).startswith(b"data: "):
            check(line, "the server has ended the stream")
        return json.loads(line.removeprefix(b"data: "))

    try:
        yield read
    finally:
        answer.close()
        connection.close()


# -- Pictures ----------------------------------------------------------------------------------------------------------


def samples_of(lab, *words):
    """Returns the red, green and blue samples of a picture that ffmpeg decodes."""
    done = subprocess.run(
        [lab.ffmpeg, "-v", "error", *map(str, words), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        cwd=lab.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    check_equal((done.returncode, done.stderr), (0, b""), "ffmpeg")
    return done.stdout


@case
@slow_case
def view_shows_what_is_scored(lab):
    """At any frame, sought or next, back or ahead: the reference, an encode that is scaled up as for scoring, and one
    that begins later in its file.
    """
    make_videos(lab)
    seen = lab.folder / "seen.png"
    scaled = "scale=320:180:flags=bicubic,"
    to_rgb = "scale=in_color_matrix=smpte170m:in_range=tv:flags=bicubic,format=rgb24"
    with shown(lab, EVIL, "late.mp4", "ref.mkv", "--no-scores") as (address, _):
        for frame in (31, 3, 2, 49):
            for number, file, filters in ((0, EVIL, scaled), (1, "late.mp4", ""), (2, "ref.mkv", "")):
                path = f"{path_of(address)}picture/{number}/{frame * 1000000 // RATE}"
                status, headers, content = asked(address, path)
                check_equal((status, headers["Content-Type"]), (200, "image/png"), f"{path}: {content[:200]}")
                seen.write_bytes(content)
                wanted = samples_of(lab, "-i", f"file:{file}", "-vf", f"select=eq(n\\,{frame}),{filters}{to_rgb}")
                check(samples_of(lab, "-i", seen) == wanted, f"frame {frame} of input {number} is another picture")
        for path, status in (("picture/3/0", 404), ("picture/0/9000000", 404), ("picture/0/x", 404)):
            check_equal(asked(address, path_of(address) + path)[0], status, path)


# -- Who may ask -------------------------------------------------------------------------------------------------------


@case
def view_answers_nobody_else(lab):
    """Without the token, by another name of this machine, from another origin, by another method, for another file:
    refused, with nothing told.
    """
    make_videos(lab)
    with shown(lab, EVIL, "ref.mkv", "--no-scores") as (address, process):
        root, host = path_of(address), address.split("/")[2]
        port = host.split(":")[1]
        token = root.strip("/")
        status, headers, page = asked(address, root)
        check_equal(
            (status, headers["Cache-Control"], headers["Referrer-Policy"]), (200, "no-store", "no-referrer"), ""
        )
        for path in ("/", "/x/", f"/{token[:-1]}/", f"/{token}", f"/{token}x/", "/../", "/%00/"):
            status, _, content = asked(address, path)
            check_equal((status, len(content)), (403, len("Refused.\n")), path)
        for name in ("localhost", f"localhost:{port}", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.:{port}", None):
            check_equal(asked(address, root, Host=name)[0], 403, f"Host: {name}")
        for origin in ("http://evil.example", "null", f"http://localhost:{port}", f"https://{host}"):
            check_equal(asked(address, root, Origin=origin)[0], 403, f"Origin: {origin}")
        check_equal(asked(address, root, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0], 403, "another site")
        check_equal(asked(address, root, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")[0], 200, "its own")
        for method in ("POST", "PUT", "HEAD", "OPTIONS", "DELETE", "TRACE", "x"):
            check_equal(asked(address, root, method)[0], 405, method)
        for path in ("ref.mkv", "../ref.mkv", "picture/0/0/../../ref.mkv", "file:///etc/passwd", "picture/-1/0"):
            check_equal(asked(address, root + path)[0], 404, path)
        listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        own = [place for place in listening if place.endswith(f":{int(port):04X}")]
        check_equal({place.split(":")[0] for place in own}, {"0100007F"}, "where it listens")
        (lab.folder / "page.html").write_bytes(page)
        content = Content(lab.folder / "page.html")
        check_equal(content.policy()["connect-src"], ["'self'"], "policy")
        check_equal(content.policy()["default-src"], ["'none'"], "policy")
        check(not any("onerror" in own for _, own in content.elements), "the name is HTML")
        check(not (lab.folder / "evil").exists(), "the name is a command")


@case
def view_errors(lab):
    make_videos(lab)
    for status, words, text in (
        (2, ["ref.mkv"], "view needs at least two videos"),
        (2, ["late.mp4", "ref.mkv", "--port", "65536"], "'65536' is not a port"),
        (2, ["late.mp4", "ref.mkv", "--no-scores", "--scores", "s.json"], "leave one of them out"),
        (1, ["none.mp4", "ref.mkv"], "cannot read none.mp4"),
        (1, ["late.mp4", "ref.mkv", "--scores", "s.json"], "cannot read s.json"),
    ):
        vmafx(lab, "view", *words, "--no-browser").failed(status, text)
    with shown(lab, "late.mp4", "ref.mkv", "--no-scores") as (address, _):
        port = address.split("/")[2].split(":")[1]
        vmafx(lab, "view", "late.mp4", "ref.mkv", "--no-browser", "--port", port).failed(1, "Address already in use")


# -- Scores, and the end -----------------------------------------------------------------------------------------------


@case
@slow_case
def view_scores_while_it_is_looked_at(lab):
    """Scores come with the first tab, are those of `vmafx score`, and the page of `vmafx report` follows. When the last
    tab is gone it ends, and leaves no process and no file.
    """
    make_videos(lab)
    score = vmafx(lab, "score", EVIL, "late.mp4", "ref.mkv", *FAST, "--json", "--log", "scores.json").succeeded()
    wanted = json.loads(score.out)["encodes"]
    with shown(lab, EVIL, "late.mp4", "ref.mkv") as (address, process):
        check_equal(asked(address, f"{path_of(address)}report")[0], 404, "before there are scores")
        with told(address) as read:
            found = {}
            while (message := read()).get("state") != "done":
                check(message.get("state") != "failed", str(message))
                if "series" in message:
                    found.setdefault(message["encode"], []).extend(message["scores"])
        for number, encode in enumerate(wanted):
            mean = sum(found[number]) / len(found[number])
            check_equal(len(found[number]), encode["frames"], "frames")
            check(abs(mean - encode["pooled"]["psnr_y"]["mean"]) < 1e-3, f"{mean}, wanted {encode['pooled']}")
        status, _, page = asked(address, f"{path_of(address)}report")
        check(status == 200 and b"Worst frames of" in page, f"{status}: {page[:200]}")
        asked(address, f"{path_of(address)}picture/0/0")  # its ffmpeg waits for more
        running = children(process.pid)
        check(running, "no ffmpeg runs")
        check_equal(process.wait(LONGEST), 0, "status")
        check_equal([number for number in running if alive(number)], [], "processes that are left")
    check_equal(list((lab.folder / "temporary").iterdir()), [], "files that are left")


@case
def view_ends_with_an_interrupt(lab):
    """Ctrl-C ends it at once and without an error, with a tab, while it scores and decodes."""
    make_videos(lab)
    with shown(lab, "late.mp4", "ref.mkv") as (address, process), told(address) as read:
        check_equal(read()["state"], "running", "state")
        asked(address, f"{path_of(address)}picture/1/0")
        running = children(process.pid)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        check_equal(process.wait(LONGEST), 0, "status")
        check(time.monotonic() - begun < 10, "it took long")
        check("Traceback" not in process.stderr.read(), "errors")
        check_equal([number for number in running if alive(number)], [], "processes that are left")
    check_equal(list((lab.folder / "temporary").iterdir()), [], "files that are left")


@case
@slow_case
def view_lays_maps_over_pictures(lab):
    """With --maps pictures of encodes have the map of the model: bright where the encode is damaged, on a scale that
    does not change. The page lays it over them. Other inputs and frames have none, and no view without --maps. With
    --roi frames have the scores of regions, too.
    """
    lab.run(
        f"-f lavfi -i testsrc2=s=320x180:r={RATE}:d=0.4", "-c:v libx264 -qp 0 -preset ultrafast ref.mkv"
    ).succeeded()
    lab.run("-i ref.mkv", "-vf drawbox=x=208:y=84:w=112:h=96:color=gray:t=fill -c:v libx264 -qp 0 bad.mkv").succeeded()
    scoring = "--scale", "reference", "--model", "version=vmaf_v0.6.1", "--threads", "2"
    roi = "--roi", "corner=112x96+208+84"
    lowest = {}
    with shown(lab, "bad.mkv", "ref.mkv", "--maps", *roi, scoring=scoring) as (address, _), told(address) as read:
        while (message := read()).get("state") != "done":
            check(message.get("state") != "failed", str(message))
            if message.get("series"):
                lowest[message["key"]] = min(message["scores"])
        check(lowest["vmaf.corner"] < lowest["vmaf"], lowest)
        status, headers, content = asked(address, f"{path_of(address)}map/0/1")
        check_equal((status, headers["Content-Type"]), (200, "image/png"), f"{content[:200]}")
        (lab.folder / "seen.png").write_bytes(content)
        green = samples_of(lab, "-i", "seen.png")[1::3]
        check_equal(len(green), 10 * 6, "blocks")
        damaged = [green[10 * y + x] for y in range(3, 5) for x in range(7, 10)]
        whole = [green[10 * y + x] for y in range(2) for x in range(5)]
        bright, dark = (sum(samples) / len(samples) for samples in (damaged, whole))
        check(bright > dark + 50, f"the map does not show the damage: {bright} there, {dark} elsewhere")
        with chromium(lab.folder) as browser:
            browser.open(address, 1000, 700)
            until(browser, "document.querySelector('.over .layer + .layer img').naturalWidth === 10", "the map")
            browser.press(".")
            check("map at 70 %" in browser.run("document.querySelector('.foot .status').textContent"), "its opacity")
            browser.press("o")
            check_equal(browser.run("document.querySelector('.over .layer + .layer img').hidden"), True, "without it")
            views = []
            for keys in ("o", ",", "d", "s", "+"):
                browser.press(keys)
                views.append(browser.picture())
            check_equal(len(set(views)), 5, "views with a map that differ")
            places = "[...document.querySelectorAll('.layer img')].map((own) => own.style.transform)"
            check_equal(len(set(browser.run(places))), 1, "pictures and maps in step")
            check_equal(browser.complaints, [], "complaints")
            hosts = {own.split("/")[2] for own in browser.requests if not own.startswith("blob:")}
            check_equal(hosts, {address.split("/")[2]}, "whom it asked")
        check_equal(asked(address, f"{path_of(address)}map/0/500")[::2], (204, b""), "a frame that is not scored")
        for path in ("map/1/0", "map/0/40000/1"):
            check_equal(asked(address, path_of(address) + path)[0], 404, path)
    with shown(lab, "bad.mkv", "ref.mkv", "--no-scores") as (address, _):
        check_equal(asked(address, f"{path_of(address)}map/0/0")[0], 404, "without --maps")
    words = "bad.mkv", "ref.mkv", *scoring, "--crop", "reference=320:160:0:0", "--crop", "320:160:0:0"
    vmafx(lab, "score", *words, "--report", "page.html", "--report-maps").succeeded()
    maps = Content(lab.folder / "page.html").all("img", **{"class": "map"})
    check(maps and {(own["width"], own["height"]) for own in maps} == {("100.0000%",) * 2}, f"maps of a page: {maps}")
    vmafx(lab, "score", "bad.mkv", "ref.mkv", "--report-maps").failed(2, "name the page, too")
    vmafx(lab, "view", "bad.mkv", "ref.mkv", "--maps", "--no-scores").failed(2, "--maps comes of scoring")
    vmafx(lab, "view", "bad.mkv", "ref.mkv", "--maps", *FAST).failed(2, "--maps shows the map of a model")
    vmafx(lab, "view", "bad.mkv", "ref.mkv", "--maps", "--feature", "psnr").failed(
        2, "scored at 1920x1080 and 320x180: give --scale reference"
    )


# -- In a browser ------------------------------------------------------------------------------------------------------

TITLE = "document.querySelector('#viewer-title').textContent"
# Whether both layers show the wanted frame.
READY = """[...document.querySelectorAll('.layer img')].every(
  (image) => image.alt.startsWith('%s of ') && image.complete && image.naturalWidth
)"""


def until(browser, script, what):
    end = time.monotonic() + LONGEST
    while not browser.run(script):
        check(time.monotonic() < end, f"{what}: {browser.run(TITLE)}")
        time.sleep(0.05)


@case
def view_is_driven_by_keys(lab):
    """The keyboard leads through frames, seconds, the worst frame, all views and playing, with no complaint and no
    request to another place; closing the tab ends the command.
    """
    make_videos(lab)
    vmafx(lab, "score", EVIL, "late.mp4", "ref.mkv", *FAST, "--log", "scores.json").succeeded()
    encodes = json.loads((lab.folder / "scores.json").read_text())["encodes"]
    frames = encodes[0]["frames"]
    worst = min(frames, key=lambda frame: frame["metrics"]["psnr_y"])["frameNum"]
    with shown(lab, EVIL, "late.mp4", "ref.mkv", "--scores", "scores.json") as (address, process):
        with chromium(lab.folder) as browser:
            browser.open(address, 1000, 700)
            until(browser, READY % "frame 0", "frame 0")
            until(
                browser, "document.querySelector('.timeline + .row .status').textContent.includes('all 50')", "scores"
            )
            for key, frame in (
                ("n", 1),
                ("n", 2),
                ("p", 1),
                ("N", 26),
                ("P", 1),
                ("End", 49),
                ("Home", 0),
                ("x", worst),
            ):
                browser.press(key)
                until(browser, READY % f"frame {frame}", f"after {key}")
                check(browser.run(TITLE).startswith(f"frame {frame} at 0:0"), browser.run(TITLE))
            status = "document.querySelector('.foot .status').textContent"
            zoom = "new DOMMatrix(document.querySelector('.layer img').style.transform).a"
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
            views, zooms = set(), []
            for key, words in (
                ("w", "Wipe: reference left, "),
                ("]", "Wipe: reference left, "),
                ("d", "Difference of reference and "),
                ("g", "times 4"),
                ("f", "Flicker: reference; space"),
                (" ", f"Flicker: {EVIL}"),
                ("s", "Side by side: reference left, "),
                ("+", "Side by side: "),
                ("ArrowRight", "Side by side: "),
                ("r", "Side by side: reference left, late.mp4"),
            ):
                browser.press(key)
                until(browser, f"{status}.includes({json.dumps(words)})", f"what is said after {key}")
                until(browser, READY % f"frame {worst}", f"after {key}")
                views.add(browser.picture())
                zooms.append(browser.run(zoom))
            check_equal(len(views), 10, "views that differ")
            check_equal((len(set(zooms[:6])), round(zooms[7] / zooms[6], 3)), (1, 2), f"zooms: {zooms}")
            places = "[...document.querySelectorAll('.layer img')].map((own) => own.style.transform)"
            check_equal(len(set(browser.run(places))), 1, "pictures in step")
            scores = [frame["metrics"]["psnr_y"] for own in encodes for frame in own["frames"]]
            check_equal(
                browser.run("document.querySelector('.timeline').dataset.range"),
                f"{min(scores):.1f} {max(scores):.1f}",
                "the scores beside the curves",
            )
            browser.press("0", "f", "Home")
            until(browser, READY % "frame 0", "after Home")
            browser.press("k")
            until(browser, "parseInt(document.querySelector('.layer img').alt.slice(6)) > 2", "playing")
            browser.press("k")
            until(browser, "/^#t=\\d\\.\\d{3}&f=\\d+$/.test(location.hash)", "the address")
            browser.press("Escape")
            check_equal(browser.run("document.querySelector('#report').hidden"), False, "the link to all scores")
            check_equal(browser.complaints, [], "complaints")
            hosts = {own.split("/")[2] for own in browser.requests if not own.startswith("blob:")}
            check_equal(hosts, {address.split("/")[2]}, "whom it asked")
            browser.open(f"{address}#t=1.2&f=30", 390, dark=True)
            until(browser, READY % "frame 30", "a place in the address")
            check_equal(browser.run("document.documentElement.scrollWidth <= innerWidth"), True, "390 wide")
        check_equal(process.wait(LONGEST), 0, "status after the browser has ended")
