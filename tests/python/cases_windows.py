"""What the command needs to run on Windows, tried on this system: without the parts of Python that Windows lacks, and
with names as Windows writes paths, which are ordinary names of files here.
"""

import json
import ntpath
import os
import shutil
import subprocess
import sys

from command import Done, environment, vmafx
from common import case, check, check_equal, top

# Runs the command without all that CPython's documentation calls unavailable on Windows and that it might use.
LIKE_WINDOWS = """
import os, signal, sys
os.supports_dir_fd.clear()
sys.modules.update(dict.fromkeys("fcntl grp pwd resource termios".split()))
for name in '''fchown fork getpgid geteuid getgid getpgrp getuid killpg memfd_create mkfifo posix_fallocate pread pwrite
    sched_getaffinity sched_setaffinity statvfs sysconf ttyname uname O_ACCMODE O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY
    O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC O_TMPFILE'''.split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM SIGCHLD SIGHUP SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 pthread_kill pthread_sigmask sigwait".split():
    delattr(signal, name)
from vmafx.command.__main__ import main
sys.exit(main())
"""


def like_windows(lab, *words):
    done = subprocess.run(
        [sys.executable, "-c", LIKE_WINDOWS, *map(str, words)],
        cwd=lab.folder,
        env=environment(lab),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Done(done)


def frames(log):
    return json.loads(log.read_text())["frames"]


@case
def windows_functions_suffice_to_score(lab):
    words = "score", lab.clips.dist, lab.clips.ref, "--backend", "cpu", "--log", "scores.json", "--force"
    here = vmafx(lab, *words).succeeded().out
    wanted = frames(lab.folder / "scores.json")
    check_equal(like_windows(lab, *words).succeeded().out, here, "result")
    check_equal(frames(lab.folder / "scores.json"), wanted, "frames")
    check_equal(like_windows(lab, "report", "scores.json", "-o", "page.html").succeeded().status, 0, "page")


@case
def windows_functions_suffice_for_other_subcommands(lab):
    for name in "models", "metrics":
        check_equal(like_windows(lab, name).succeeded().out, vmafx(lab, name).out, name)
    for name in "compare", "crf", "doctor", "encode", "merge", "verify":
        check(like_windows(lab, name, "--help").succeeded().out, name)


@case
def windows_lacks_the_library_of_videos(lab):
    refused = like_windows(lab, "library", "list.csv", "-o", "results.jsonl")
    check_equal(refused.status, 1, "exit status")
    refused.says("vmafx library: needs locks that belong to open files, which this system lacks")
    check("library" not in like_windows(lab, "--help").out, "the help names a subcommand that cannot run")


@case
def windows_paths_reach_the_filter(lab):
    """A path of Windows has a colon and backslashes, which the lists of options of a filter and a graph read."""
    folder = lab.folder / ntpath.join("C:\\Users", "it's me; [a], b=%d", "Temp")
    folder.mkdir()
    dist = folder / ntpath.join("D:\\clips", "a 'b', [c];d.mkv")
    dist.symlink_to(lab.clips.dist)
    log = folder / "E:\\logs\\scores.json"
    words = "score", dist, lab.clips.ref, "--backend", "cpu", "--log"
    vmafx(lab, *words, log, TMPDIR=folder).succeeded()
    vmafx(lab, *words, "scores.json").succeeded()
    check_equal(frames(log), frames(lab.folder / "scores.json"), "frames")


@case
def windows_paths_of_models_are_read(lab):
    """In the text of a model, a colon ends a part, and a quote begins one: both and backslashes are escaped."""
    path = str(lab.write_model("C:\\models\\it's mine.json"))
    text = "path=" + path.replace("\\", "\\\\").replace(":", "\\:").replace("'", "\\'")
    words = "score", lab.clips.dist, lab.clips.ref, "--backend", "cpu", "--scale", "none", "--log"
    vmafx(lab, *words, "windows.json", "--model", f"{text}:name=mine").succeeded()
    vmafx(lab, *words, "linux.json", "--model", f"path={lab.write_model('mine.json')}:name=mine").succeeded()
    check_equal(frames(lab.folder / "windows.json"), frames(lab.folder / "linux.json"), "frames")


def told_on_windows(program, *words, modules=top / "python"):
    """Returns the lines that a program in Python prints, which takes this system for Windows."""
    asked = [sys.executable, "-c", f"import sys; sys.platform = 'win32'; {program}", *map(str, words)]
    environment_of_module = {**os.environ, "PYTHONPATH": str(modules)}
    for name in "VMAFX_FFMPEG", "VMAFX_LIBRARY":
        environment_of_module.pop(name, None)
    done = subprocess.run(asked, env=environment_of_module, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@case
def windows_has_its_library_beside_the_program(lab):
    """The zip for Windows has libvmafx.dll in the folder of ffmpeg.exe."""
    program = "from vmafx import _places; print(_places._beside(sys.argv[1]))"
    check_equal(
        told_on_windows(program, lab.folder / "bin/ffmpeg.exe"), [str(lab.folder / "bin/libvmafx.dll")], "place"
    )


@case
def windows_wheels_have_their_programs_inside(lab):
    """In a wheel for Windows, programs and DLLs are in one folder, and the names of programs end with .exe."""
    shutil.copytree(top / "python/vmafx", lab.folder / "site/vmafx")
    programs = lab.folder / "site/vmafx/_packed/bin"
    programs.mkdir(parents=True)
    for name in "ffmpeg.exe", "ffprobe.exe":
        (programs / name).write_text("#!/bin/sh\necho it is $(basename $0) $*\nexit 3\n")
        (programs / name).chmod(0o755)
    program = """
from vmafx import _places
from vmafx.command import _ffmpeg
path = next(_ffmpeg.places())[0]
print(_places.places()[0], path, _ffmpeg.ffprobe_of(path), sep="\\n", flush=True)
sys.argv[1:] = ["-version"]
try:
    __import__("vmafx._programs")._programs.ffprobe()
except SystemExit as left:
    print(left.code)
"""
    wanted = [str(programs / name) for name in ("libvmafx.dll", "ffmpeg.exe", "ffprobe.exe")]
    told = told_on_windows(program, modules=lab.folder / "site")
    check_equal(told, [*wanted, "it is ffprobe.exe -version", "3"], "places, and what a program did")
