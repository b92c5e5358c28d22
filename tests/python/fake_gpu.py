#!/usr/bin/python3
"""An ffmpeg whose decoders of a GPU are those of the CPU.

FAKE_FFMPEG is the real one. Frames that a "GPU" has decoded are laid out as NVDEC does (nv12, p010le), and a graph that
gives them to a filter of the CPU before hwdownload is refused, as ffmpeg refuses it. FAKE_LOG gets each command as a
line of JSON. FAKE_FAULT: what goes wrong, as NAME or NAME=FILE for one input alone.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

WITH_GPU = {
    "settb",
    "setpts",
    "trim",
    "fps",
    "setparams",
    "setsar",
    "null",
    "split",
    "vmafx",
    "hwdownload",
    "scale_cuda",
}
LAYOUTS = {"yuv420p": "nv12", "yuv420p10le": "p010le", "yuvj420p": "nv12", "yuv444p": "yuv444p"}


def main():
    words, real = sys.argv[1:], os.environ["FAKE_FFMPEG"]
    if "-hwaccels" in words:
        print("Hardware acceleration methods:\n" + os.environ.get("FAKE_METHODS", "cuda"))
        return 0
    if "-hwaccel" not in words:
        os.execv(real, [real, *words])
    with open(os.environ["FAKE_LOG"], "a") as file:
        file.write(json.dumps(words) + "\n")
    fault, _, name = os.environ.get("FAKE_FAULT", "").partition("=")
    is_trial = "framemd5" in words
    if name and not any(word.endswith(name) for word in words):
        fault = ""
    return Run(real, words, fault, is_trial).end()


class Run:
    def __init__(self, real, words, fault, is_trial):
        self.real, self.fault, self.is_trial = real, fault, is_trial
        self.on_gpu, self.words = without_hwaccel(words)
        self.log = re.search(r"log_path=([^:\[]*)", " ".join(words))

    def end(self):
        if self.is_trial and self.fault == "refuses":
            return said("[h264 @ 0x1] [error] No support for this profile")
        if self.is_trial and self.fault == "no backend":
            return said("[Parsed_vmafx_2 @ 0x1] [error] backend=hip: there is no device")
        if self.is_trial and self.fault == "hangs":
            time.sleep(100)
        if not self.is_trial and self.fault == "breaks":
            return said("[h264 @ 0x1] [error] decoder->cvdl->cuvidMapVideoFrame failed -> CUDA_ERROR_UNKNOWN")
        if not self.is_trial and self.fault == "dies":
            os.kill(os.getpid(), 9)
        place = self.words.index("-filter_complex") + 1
        graph = self.words[place]
        if wrong := next(filter(None, (misplaced(graph, number) for number in self.on_gpu)), None):
            return said(f"[graph 0 @ 0x1] [error] Impossible to convert between the formats of cuda and '{wrong}'")
        self.words[place] = self.graph(graph)
        status = subprocess.run([self.real, *self.words]).returncode
        if not self.is_trial and self.fault == "complains":
            said("[h264 @ 0x1] [error] No decoder surfaces left")
        if status == 0 and self.is_trial and self.log:
            self.import_all()
        return status

    def graph(self, graph):
        change = "lutyuv=y=val+1" if self.is_trial and self.fault == "other pictures" else "null"
        if self.is_trial:
            graph = graph.replace("backend=hip", "backend=cpu")
        for number in self.on_gpu:
            samples = os.environ.get("FAKE_SAMPLES", "yuv420p")
            graph = graph.replace(f"[{number}:V:0]", f"[{number}:V:0]format={LAYOUTS[samples]},")
        return graph.replace("hwdownload", change)

    def import_all(self):
        """Has the report of the trial say that frames were read in the GPU's memory."""
        path = Path(self.log[1])
        report = json.loads(path.read_text())
        for counts in report["vmafx"]["frames"].values():
            counts["imported"] = 0 if self.fault == "other device" else 8
        path.write_text(json.dumps(report))


def without_hwaccel(words):
    """Returns the numbers of the inputs that the GPU decodes, and the words of the CPU's decoders."""
    on_gpu, left, number, words = [], [], 0, iter(words)
    for word in words:
        if word == "-hwaccel":
            on_gpu.append(number)
        if word in ("-hwaccel", "-hwaccel_device", "-hwaccel_output_format", "-init_hw_device"):
            next(words)
            continue
        number += word == "-i"
        left.append(word)
    return on_gpu, left


def misplaced(graph, number):
    """Returns the first filter of the CPU on the way of an input that gets frames in the GPU's memory."""
    ways = [f"[{number}:V:0]"]
    while ways:
        label = ways.pop()
        chain = next(part for part in graph.split(";") if label in part and not part.endswith(label))
        chain = chain[chain.index(label) + len(label) :]
        texts = re.sub(r"\[.*", "", chain).split(",") if not chain.startswith("[") else []
        if any("hwdownload" in text for text in texts):
            texts = texts[: [text.partition("=")[0] for text in texts].index("hwdownload")]
            ways_on = []
        else:
            ways_on = re.findall(r"\[\w+\]", chain)
        for text in texts:
            if text.partition("=")[0] not in WITH_GPU:
                return text
        ways += [way for way in ways_on if any(part.startswith(way) for part in graph.split(";"))]
    return None


def said(line):
    print(line, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
