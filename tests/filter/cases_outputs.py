"""Output files replace no file that somebody needs, and fail before the first frame if they cannot be written."""

import os
import shutil
import subprocess

from support import FRAMES, Skip, case, check, check_equal

FORMATS = ("json", "xml", "csv", "sub", "ndjson")
PSNR = "model='':feature=name=psnr"
WIDTH, HEIGHT = 384, 216  # cambi needs at least 216 rows
LARGE = "".join(f"[{i}]scale={WIDTH}:{HEIGHT}[{pad}];" for i, pad in enumerate("dr")) + "[d][r]"
CAMBI_MAP = f"cambi_heatmap_scale_0_{WIDTH}x{HEIGHT}_16b.gray"
BUTTERAUGLI_MAP = f"butteraugli_heatmap_{WIDTH}x{HEIGHT}_16b.gray"
PSNR_MAP = "psnr_y_24x14_f32.gray"  # of blocks of 16x16


def colons(path):
    """Escapes a path or descriptor for an option of a filter in a graph."""
    return str(path).replace("\\", "\\\\").replace(":", "\\\\:")


def refused(outcome, option):
    """Checks that the message names the option and a remedy."""
    return outcome.failed("so it stays").says(option).says("overwrite=1").does_not_say(" score: ")


def is_kept(path, wanted):
    check(path.read_bytes() == wanted, f"{path.name} was changed")


def outputs(lab):
    """Yields (option as messages call it, graph that writes to `victim`, path of the output)."""
    for log_fmt in FORMATS:
        for name in ("vmafx", "libvmaf"):
            yield "log_path=victim", f"{name}={PSNR}:log_fmt={log_fmt}:log_path=victim", lab.folder / "victim"
    yield "openmetrics=victim", f"vmafx={PSNR}:openmetrics=victim", lab.folder / "victim"
    for feature, path in (("cambi", CAMBI_MAP), ("butteraugli", BUTTERAUGLI_MAP)):
        (lab.folder / "maps").mkdir(exist_ok=True)
        graph = f"{LARGE}vmafx=model='':feature='name={feature}\\:heatmaps_path=maps'"
        yield f"heatmaps_path=maps/{path}", graph, lab.folder / "maps" / path
    yield f"maps=maps/{PSNR_MAP}", f"{LARGE}vmafx={PSNR}:maps=maps", lab.folder / "maps" / PSNR_MAP
    if lab.version() < (7, 1):
        yield "stats_file=victim", "xpsnr=stats_file=victim", lab.folder / "victim"


@case
def no_output_replaces_a_video(lab):
    """A video is not replaced by its name, by a symbolic or a hard link; with the user's word it is."""
    video = lab.clips.dist.read_bytes()
    for option, graph, path in outputs(lab):
        for link in (None, os.symlink, os.link):
            path.unlink(missing_ok=True)
            original = lab.folder / "original.mp4"
            original.write_bytes(video)
            link(original, path) if link else shutil.copy(original, path)
            refused(lab.compare(graph), option)
            is_kept(original, video)
            is_kept(path, video)
        allowed = graph.replace("'':feature=", "'':overwrite=1:feature=").replace("xpsnr=", "xpsnr=overwrite=1:")
        lab.compare(allowed).succeeded()
        check(path.read_bytes() != video, f"{path} is what it was with {allowed}")
        path.unlink()


@case
def outputs_replace_their_like(lab):
    """An older output is replaced in each format by each format, and so is an empty file."""
    path = lab.folder / "victim"
    for first in FORMATS:
        for second in FORMATS:
            lab.compare(f"vmafx={PSNR}:log_fmt={first}:log_path=victim").succeeded()
            lab.compare(f"vmafx={PSNR}:log_fmt={second}:log_path=victim").succeeded()
        path.write_text("")
    for option, graph, path in outputs(lab):
        path.unlink(missing_ok=True)
        path.touch()
        lab.compare(graph).succeeded()
        size = path.stat().st_size
        lab.compare(graph).succeeded()
        check(size > 0 and path.stat().st_size > 0, f"{option}: nothing was written")


@case
def outputs_do_not_replace_each_others_kind(lab):
    lab.compare(f"vmafx={PSNR}:openmetrics=victim").succeeded()
    refused(lab.compare(f"vmafx={PSNR}:log_path=victim"), "log_path=victim")
    (lab.folder / "victim").unlink()
    lab.compare(f"vmafx={PSNR}:log_path=victim").succeeded()
    refused(lab.compare(f"vmafx={PSNR}:openmetrics=victim"), "openmetrics=victim")


@case
def outputs_of_one_run_are_distinct(lab):
    """Outputs must be distinct, whatever their names, even with the user's word."""
    (lab.folder / "maps").mkdir()
    os.symlink("victim", lab.folder / "link")
    cambi = "model='':feature='name=cambi\\:heatmaps_path=maps'"
    for options in (
        f"{PSNR}:log_path=victim:openmetrics=victim",
        f"{PSNR}:log_path=victim:openmetrics=./victim",
        f"{PSNR}:log_path=link:openmetrics=victim",
        f"{PSNR}:log_path=-:openmetrics=-",
        f"{cambi}:log_path=maps/{CAMBI_MAP}",
        f"{cambi}:openmetrics=maps/{CAMBI_MAP}",
        f"{PSNR}:maps=maps:log_path=maps/{PSNR_MAP}",
    ):
        for overwrite in ("", ":overwrite=1"):
            # standard error is a pipe here: two outputs may share /dev/null
            command = lab.command(
                "-nostdin -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", f"vmafx={options}{overwrite}", "-f null -"
            )
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=lab.folder)
            check(done.returncode > 0 and b"name one file" in done.stderr, options, done.stderr.decode()[-300:])
    check_equal(sorted(os.listdir(lab.folder)), ["link", "maps"], "files")
    check_equal(os.listdir(lab.folder / "maps"), [], "maps")
    twice = "model='':feature='name=cambi\\:heatmaps_path=maps|name=cambi\\:topk=0.3\\:heatmaps_path=maps'"
    lab.compare(f"{LARGE}vmafx={twice}").failed("is being written already")


@case
def a_report_never_replaces_the_model(lab):
    model = lab.write_model("model.json")
    text = model.read_bytes()
    os.link(model, lab.folder / "other.json")
    for path in ("model.json", "other.json", "./model.json"):
        graph = f"vmafx=model=path=model.json:overwrite=1:log_path={path}"
        lab.compare(graph).failed("names a file that is read, by model=path=model.json")
        is_kept(model, text)


@case
def outputs_fail_before_a_gpu_is_opened(lab):
    """The error names the path, not the lack of a GPU."""
    (lab.folder / "victim").write_text("mine")
    outcome = lab.compare(f"vmafx={PSNR}:backend=hip:device=99:log_path=victim")
    refused(outcome, "log_path=victim").does_not_say("device")


@case
def names_that_cannot_be_fail_at_once(lab):
    """A name may be too long, blank, a folder, below a file, or in a folder that does not exist."""
    (lab.folder / "file").write_text("x")
    for name, message in (
        ("n" * 256, "File name too long"),
        ("./" * 2100 + "n", "File name too long"),
        ("none/", "this names a folder"),
        ("\\\\\\ \\\\\\ ", "the name consists of blanks"),
        ("file/n", "Not a directory"),
        ("none/n", "No such file or directory"),
        (".", "Is a directory"),
    ):
        for option in ("log_path", "openmetrics"):
            lab.compare(f"vmafx={PSNR}:{option}={name}").failed(message).does_not_say(" score: ")
    for name, message in (
        ("m" * 256, "File name too long"),
        ("file/m", "Not a directory"),
        ("./" * 2040 + "m", "File name too long"),
    ):
        lab.compare(f"vmafx=model='':feature='name=cambi\\:heatmaps_path={name}'").failed(
            f"the folder cannot be used: {message}"
        )
    check_equal(os.listdir(lab.folder), ["file"], "files")
    lab.compare(f"vmafx={PSNR}:log_path={'n' * 255}").succeeded()


def with_descriptor(lab, path, flags, fd=7):
    """Lets the filter write to an open descriptor; returns (exit status, messages)."""
    opened = os.open(path, flags, 0o666)

    def pass_on():
        os.dup2(opened, fd)

    graph = f"vmafx={PSNR}:log_fmt=csv:log_path={colons(f'pipe:{fd}')}"
    command = lab.command(
        "-hide_banner -nostdin -nostats -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", graph, "-f null -"
    )
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=lab.folder,
            preexec_fn=pass_on,
            close_fds=False,
        )
    finally:
        os.close(opened)
    return done.returncode, done.stderr.decode()


@case
def descriptors_are_open_for_writing_or_errors(lab):
    for wrong in ("pipe:", "pipe:3x", "pipe:-1", "pipe: 3"):
        for option in ("log_path", "openmetrics"):
            lab.compare(f"vmafx={PSNR}:{option}={colons(wrong)}").failed(
                "after pipe: there must be the number of an open descriptor"
            )
    lab.compare(f"vmafx={PSNR}:log_path={colons('pipe:77')}").failed("descriptor 77 is not open")
    check_equal(os.listdir(lab.folder), [], "files")
    path = lab.folder / "report"
    path.touch()
    code, text = with_descriptor(lab, path, os.O_RDONLY)
    check(code > 0 and "descriptor 7 is not open for writing" in text and "score" not in text, text[-300:])
    code, text = with_descriptor(lab, path, os.O_WRONLY)
    check_equal(code, 0, text[-300:])
    check_equal(len(path.read_text().splitlines()), FRAMES + 1, "lines")
    path.write_text("mine\n")
    code, text = with_descriptor(lab, path, os.O_WRONLY)
    check(code > 0 and "so it stays" in text, text[-300:])
    check_equal(with_descriptor(lab, path, os.O_WRONLY | os.O_APPEND)[0], 0, "exit status when it adds")
    check(path.read_text().startswith("mine\nFrame,"), path.read_text()[:50])


@case
def writing_beyond_the_limit_is_an_error(lab):
    """Each kind of output fails beyond `ulimit -f`, whose signal SIGXFSZ would end ffmpeg."""
    for option, graph, path in outputs(lab):
        path.unlink(missing_ok=True)
        command = lab.command(
            "-hide_banner -nostdin -nostats -i", lab.clips.dist, "-i", lab.clips.ref, "-lavfi", graph, "-f null -"
        )
        script = 'ulimit -f 1; exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", *command], stdin=subprocess.DEVNULL, capture_output=True, cwd=lab.folder
        )
        text = done.stderr.decode()
        if path.exists() and path.stat().st_size < 512 and done.returncode == 0:
            continue  # the output fits
        check(done.returncode > 0, f"{option}: exit status {done.returncode}: {text[-300:]}")
        check("File too large" in text, f"{option}: {text[-300:]}")


@case
def heat_maps_to_a_pipe_are_refused(lab):
    """Rows are written at their places, which a pipe cannot do; the filter must not wait for a reader either."""
    (lab.folder / "maps").mkdir()
    os.mkfifo(lab.folder / "maps" / CAMBI_MAP)
    outcome = lab.compare(f"{LARGE}vmafx=model='':feature='name=cambi\\:heatmaps_path=maps'").failed(
        f"maps/{CAMBI_MAP} cannot be written"
    )
    check(outcome.seconds < 30, f"{outcome.seconds} s")


@case
def a_folder_that_is_closed_fails_at_once(lab):
    if os.geteuid() == 0:
        raise Skip("no folder is closed to root")
    closed = lab.folder / "closed"
    closed.mkdir(mode=0o500)
    for options in (
        f"{PSNR}:log_path=closed/n",
        f"{PSNR}:openmetrics=closed/n",
        "model='':feature='name=cambi\\:heatmaps_path=closed'",
    ):
        lab.compare(f"vmafx={options}").failed("Permission denied")
