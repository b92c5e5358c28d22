"""The commands of ffmpeg in README.md and docs/filter.md, run as they stand there, with clips named as in them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from support import FRAMES, Skip, case, check, check_equal

top = Path(__file__).resolve().parents[2]


def indented_blocks(document, heading):
    """Returns the indented texts below a heading, without the indentation."""
    section = re.split(rf"^## {heading}$", (top / document).read_text(), flags=re.M)[1].split("\n## ")[0]
    lines = [line[4:] if line.startswith("    ") else "" for line in section.splitlines()]
    return [block for block in re.split(r"\n{2,}", "\n".join(lines)) if block.strip()]


SECTIONS = {"README.md": "Three uses", "docs/filter.md": "Examples"}


def commands(document):
    """Returns the commands: each is a line that begins with ffmpeg, with the lines that belong to it."""
    for block in indented_blocks(document, SECTIONS[document]):
        for command in re.split(r"^(?=ffmpeg )", block, flags=re.M):
            if command.startswith("ffmpeg ") and "&\n" not in command:
                yield command.strip()


def fits(command, version):
    if "-dec " in command and version < (7, 0):
        return False
    if "rw:rh" in command and version < (7, 1):
        return False
    return "scale2ref" not in command or version < (8, 0)


def lay_out(lab):
    """Fills a folder with dis.mp4 and ref.mp4, two more encodes, and an ffmpeg that overwrites."""
    for name in ("dis.mp4", "low.mp4", "high.mp4"):
        shutil.copy(lab.clips.dist, lab.folder / name)
    lab.run("-i", lab.clips.ref, "-c:v libx264 -qp 0", "ref.mp4").succeeded()
    program = lab.folder / "ffmpeg"
    program.write_text(f'#!/bin/sh\nexec "{lab.ffmpeg}" -hide_banner -nostdin -nostats -y "$@"\n')
    program.chmod(0o755)


def in_shell(lab, command):
    """Returns the scores that the log shows, each with the name before it: the encode's, else the filter's.

    Without a model these are psnr's scores, else VMAF's.
    """
    score = "psnr_y" if "model=:feature=psnr" in command else "VMAF"
    environment = {**os.environ, "PATH": f"{lab.folder}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], cwd=lab.folder, env=environment, capture_output=True, timeout=100)
    said = done.stderr.decode(errors="replace")
    check_equal(done.returncode, 0, f"exit status of {command}: {said[-500:]}")
    lines = re.findall(rf"^\[(\S+) @ 0x[0-9a-f]+\] (?:(\S+): )?{score} score: (\S+)$", said, re.M)
    return [(encode or instance, score) for instance, encode, score in lines]


def score_after(lab, encoded):
    """Scores an encoded file, scaled to the reference."""
    graph = "[0:v]scale=192:108:flags=bicubic[d];[d][1:v]vmafx"
    return lab.run("-i", encoded, "-i ref.mp4 -lavfi", graph, "-f null -").score()


@case
def examples_score(lab):
    lay_out(lab)
    ran = 0
    for document in SECTIONS:
        for command in commands(document):
            if "-dec " not in command and fits(command, lab.version()):
                check(in_shell(lab, command), f"no score: {command}")
                ran += 1
    check(ran >= 9, f"only {ran} examples were found")


@case
def example_that_encodes_scores_what_it_wrote(lab):
    (command,) = (command for command in commands("README.md") if "-dec " in command)
    if not fits(command, lab.version()):
        raise Skip("loopback decoders came with FFmpeg 7.0")
    lay_out(lab)
    check_equal([score for _, score in in_shell(lab, command)], [score_after(lab, "enc.mp4")])


@case
def example_in_python(lab):
    """The example runs with Debian's python3-av on the rebuilt libavfilter."""
    library = Path(lab.ffmpeg).parent.parent / "lib/vmafx"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    program = "import av; av.filter.Filter('vmafx')"
    if (
        not library.exists()
        or subprocess.run(["/usr/bin/python3", "-c", program], env=environment, capture_output=True).returncode
    ):
        raise Skip("Debian's python3-av is not installed, or this ffmpeg has no libavfilter of its own")
    lay_out(lab)
    text = "\n\n".join(indented_blocks("docs/filter.md", "From Python"))
    subprocess.run(["/usr/bin/python3", "-c", text], cwd=lab.folder, env=environment, check=True, timeout=100)
    report = lab.json("scores.json")
    check_equal(len(report["frames"]), FRAMES, "frames")
    check_equal(f"{report['pooled_metrics']['vmaf']['mean']:.6f}", score_after(lab, "dis.mp4"), "score")
