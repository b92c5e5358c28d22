"""Makes a damaged encode of a clip and has the look compare it with its reference. No picture is written to a disk:
ffmpeg encodes, another one decodes, and the program that looks reads both streams from pipes.
"""

import functools
import json
import os
import re
import subprocess
import threading

import numpy as np
from clips import MARGIN

FFMPEG = "ffmpeg"  # encodes and decodes


class Broken(Exception):
    """Raised if a program of a run failed."""


@functools.lru_cache
def names_of(what):
    """Returns the words of ffmpeg's list of its `encoders` or `filters`."""
    made = subprocess.run([FFMPEG, "-hide_banner", f"-{what}"], capture_output=True, text=True, check=True).stdout
    return frozenset(line.split()[1] for line in made.splitlines() if len(line.split()) > 1)


FILTER = re.compile(r"(?:^|,)([a-z][a-z0-9]*)(?:=|,|$)")


def lacks(encoder, filters):
    """Returns the encoder or the first filter that ffmpeg does not have, or an empty text."""
    if encoder.split()[0] not in names_of("encoders"):
        return f"the encoder {encoder.split()[0]}"
    quoted = re.sub(r"'[^']*'", "", filters)
    absent = [name for name in FILTER.findall(quoted) if name not in names_of("filters")]
    return f"the filter {absent[0]}" if absent else ""


def picture_bytes(clip, entry, function):
    """Returns the bytes of a picture of a plan."""
    if not isinstance(entry, tuple) and not function:
        return clip.pictures[entry + MARGIN].data
    if not isinstance(entry, tuple):
        planes = clip.planes(entry + MARGIN)
    else:
        first, second = clip.planes(entry[1] + MARGIN), clip.planes(entry[2] + MARGIN)
        planes = []
        for a, b in zip(first, second):
            if entry[0] == "mix":
                made = np.round(a * (1 - entry[3]) + b * np.float64(entry[3])).astype(a.dtype)
            else:
                made = a.copy()
                made[1::2] = b[1::2]
            planes.append(made)
    if function:
        planes = function(planes, clip)
    return b"".join(np.ascontiguousarray(plane).tobytes() for plane in planes)


def write_all(file, pieces):
    """Writes to a pipe until no one reads it any more."""
    try:
        with file:
            for piece in pieces:
                file.write(piece)
    except BrokenPipeError:
        pass


def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


class Pair:
    """An encode of a clip, and its reference."""

    def __init__(self, clip, case, encoder, other=None):
        """`case` is a Damage or a Good; `other` is the clip that is shown in place of this one."""
        self.clip, self.case, self.encoder, self.shown = clip, case, encoder, other or clip
        whole = list(range(min(clip.pairs, self.shown.pairs)))
        self.plan = case.plan(clip.pairs) if case.plan else whole
        self.reference = case.reference(clip.pairs) if case.reference else whole
        self.reference = self.reference[: len(self.plan)]

    def filters(self):
        """Returns the filters of the encode as ffmpeg's text."""
        text = self.case.filter(self.clip) if callable(self.case.filter) else self.case.filter
        text = text.format(w=self.clip.width, h=self.clip.height)
        form = getattr(self.case, "format", "") or ("" if "format=" in text else self.clip.pix_fmt)
        # without tags, so that no filter converts what the damage left as it is
        return ",".join(part for part in (text, f"format={form}" if form else "") if part)

    def raw(self, clip):
        return ["-f", "rawvideo", "-pix_fmt", clip.pix_fmt, "-s", f"{clip.width}x{clip.height}", "-r", "25", "-i", "-"]

    def encode(self, out=subprocess.PIPE):
        """Starts ffmpeg, which encodes to a pipe; returns it and the thread that feeds it."""
        options = ["-c:v", *self.encoder.split(), "-threads", "1", "-fps_mode", "passthrough", "-f", "nut", "-"]
        command = [FFMPEG, "-v", "error", *self.raw(self.clip), "-vf", self.filters(), *options]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE)
        pieces = (picture_bytes(self.shown, entry, self.case.picture) for entry in self.plan)
        return process, start(write_all, process.stdin, pieces)

    def decode(self, source):
        """Starts ffmpeg, which decodes a pipe to YUV4MPEG2 of the clip's format."""
        form = self.clip.pix_fmt
        limited = ["-vf", "scale=in_range=full:out_range=limited"] if "yuvj" in self.encoder else []
        command = [FFMPEG, "-v", "error", "-threads", "1", "-f", "nut", "-i", "-", *limited]
        command += ["-fps_mode", "passthrough", "-pix_fmt", form, "-strict", "-1", "-f", "yuv4mpegpipe", "-"]
        return subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def header(self):
        form = "420p10 XYSCSS=420P10" if self.clip.bits == 10 else "420mpeg2"
        return f"YUV4MPEG2 W{self.clip.width} H{self.clip.height} F25:1 Ip A0:0 C{form}\n".encode()

    def reference_pieces(self):
        yield self.header()
        for entry in self.reference:
            yield b"FRAME\n"
            yield picture_bytes(self.clip, entry, None)

    def look(self, program, kept=""):
        """Runs `program`, a Tool or a Filter, on the pair; returns its findings. `kept`: a file where a Tool keeps the
        signatures, and finds those of a run before."""
        if kept and os.path.exists(kept):
            return program.look_again(kept)
        encoder, feeder = self.encode()
        decoder = self.decode(encoder.stdout)
        encoder.stdout.close()
        looker, reference = program.start(decoder.stdout, kept and f"{kept}.part")
        decoder.stdout.close()
        feeders = [feeder, start(write_all, reference, self.reference_pieces())]
        told = looker.communicate()
        for thread in feeders:
            thread.join()
        # one that ends early breaks the pipes before it
        errors = [(program.name, looker, told[1])]
        errors += [
            (name, process, process.stderr.read()) for name, process in (("decoder", decoder), ("encoder", encoder))
        ]
        for name, process, text in errors:
            if process.wait():
                raise Broken(f"{name}: {' / '.join(text.decode(errors='replace').split(chr(10)))[-300:]}")
        if kept:
            os.replace(f"{kept}.part", kept)
        return program.findings(told[0].decode())


def with_reference(command, source):
    """Starts a command, in which REFERENCE is the path of a pipe; returns it and the pipe's other end."""
    reads, writes = os.pipe()
    command = [part.replace("REFERENCE", f"/dev/fd/{reads}") for part in command]
    process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(reads,))
    os.close(reads)
    return process, os.fdopen(writes, "wb")


FINDING = re.compile(r"([a-z ]+): (possible|likely|sure) (-?\d+)\.\.(-?\d+)(.*)")


class Tool:
    """The engine's look alone, without scores: tests/engine/look/look_pair, which prints a line for each finding."""

    def __init__(self, path):
        self.path, self.name = str(path), "tool"

    def start(self, source, kept=""):
        return with_reference([self.path, "REFERENCE", "/dev/stdin", *(["0", kept] if kept else [])], source)

    def look_again(self, kept):
        made = subprocess.run([self.path, kept], capture_output=True, text=True)
        if made.returncode:
            raise Broken(f"{self.name}: {made.stderr}")
        return self.findings(made.stdout)

    def findings(self, text):
        made = []
        for found in map(FINDING.fullmatch, text.splitlines()):
            evidence = {key: float(value) for key, value in (part.split("=") for part in found[5].split())}
            kind = found[1].replace(" ", "_")
            made.append({"kind": kind, "certainty": found[2], "from": int(found[3]), "end": int(found[4])})
            made[-1]["evidence"] = evidence
        return made


class Filter:
    """The filter of an ffmpeg, whose report in JSON has the findings as `doubts`."""

    def __init__(self, ffmpeg):
        self.path, self.name = str(ffmpeg), "filter"

    def start(self, source, _kept=""):
        graph = "[0:v][1:v]vmafx=feature=name=psnr:check=warn:log_fmt=json:log_path=/dev/stdout"
        inputs = ["-f", "yuv4mpegpipe", "-i", "-", "-f", "yuv4mpegpipe", "-i", "REFERENCE"]
        return with_reference([self.path, "-v", "error", *inputs, "-lavfi", graph, "-f", "null", "-"], source)

    def findings(self, text):
        doubts = [doubt for doubt in json.loads(text).get("doubts", []) if "certainty" in doubt]
        return [{**doubt, "end": doubt["to"] + 1} for doubt in doubts]


def make(pair, out):
    """Writes OUT.ref.mkv, without loss, and OUT.mkv, the encode, for those who want to look themselves."""
    encoder, feeder = pair.encode()
    target = [FFMPEG, "-v", "error", "-y", "-f", "nut", "-i", "-", "-c", "copy", f"{out}.mkv"]
    subprocess.run(target, stdin=encoder.stdout, check=True)
    feeder.join()
    if encoder.wait():
        raise Broken(encoder.stderr.read().decode(errors="replace"))
    target = [FFMPEG, "-v", "error", "-y", *pair.raw(pair.clip), "-c:v", "ffv1", "-threads", "1", f"{out}.ref.mkv"]
    process = subprocess.Popen(target, stdin=subprocess.PIPE)
    write_all(process.stdin, (picture_bytes(pair.clip, entry, None) for entry in pair.reference))
    if process.wait():
        raise Broken("the reference could not be written")
