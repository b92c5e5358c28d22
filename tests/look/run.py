#!/usr/bin/python3
"""The look at pictures: a matrix of damage, of which each kind must be found and named, and of good pairs, of which
nothing may be said.

usage: run.py [BUILD] [--long] [options]                       the suite
       run.py make CLIP DAMAGE CRF OUT [--good]                 writes OUT.ref.mkv and OUT.mkv to look at them
       run.py list                                              names of clips, damages and good pairs

  BUILD          the folder of the build (default: build): its tests/engine/look/look_pair looks, and its bin/ffmpeg
  --long         all clips x damages x CRF 18, 30, 42, and all good pairs; without it a choice
  --clips --damages --good --crf   names, or parts of names, separated by commas; `none` for none
  --tool PATH    the program that looks, in place of look_pair
  --through filter|tool            what looks (default: the tool, and the filter at a handful)
  --seed N       paints other clips of the same kinds, which nothing was tuned on, without the real ones
  --part K/N     each N-th pair of them, from the K-th on (from 1)
  --jobs N       pairs at a time (default: the number of processors)
  --folder PATH  keeps the painted clips there (default: for this run only)
  --real FOLDER  where the real clips are, too (Debian's package opencv-doc has them)
  --results FILE writes one line of JSON for each pair; pairs that it has are not run again
  --keep FOLDER  keeps signatures there; pairs whose signatures it has are looked at without an encode
  --ffmpeg PATH  encodes and decodes (default: ffmpeg)

Needs NumPy, and an ffmpeg with libx264; pairs whose encoder or filter ffmpeg lacks are skipped.
Prints a table of rates, a line for what was missed or wrong, and 'N passed, N failed, N skipped'.
"""

import argparse
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.dont_write_bytecode = True
try:
    import numpy
except ImportError:
    raise SystemExit("SKIP the matrix needs NumPy: apt-get install python3-numpy\n0 passed, 0 failed, 1 skipped")
import clips
import drive
import judge
from damages import DAMAGES, GOOD

TOP = Path(__file__).resolve().parents[2]
CRFS = 18, 30, 42
X264 = "libx264 -preset veryfast -crf {}"
CHOICE = "film", "static", "grain", "fades", "bw"
GOAL = 0.99  # of the pairs of each family of kinds whose `goal` is set
FLOOR = 0.8  # of all pairs of these kinds: fewer are a step back


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", nargs="?", default=str(TOP / "build"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--long", action="store_true")
    for name in "clips", "damages", "good", "crf", "tool", "through", "part", "folder", "real", "results":
        parser.add_argument(f"--{name}", nargs="?", const="", default=None)
    parser.add_argument("--keep", default="")
    parser.add_argument("--ffmpeg", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def chosen(names, texts, usual=None):
    """Returns the names that are one of the texts, or contain one that is no name."""
    if texts is None:
        return list(names if usual is None else usual)
    texts = [text for text in texts.split(",") if text]
    if texts == ["none"]:
        return []
    return [name for name in names if any(name == text if text in names else text in name for text in texts)]


class Lab:
    """The clips of a run."""

    def __init__(self, folder, real, pairs, small=False, kept="", seed=0):
        self.seed, self.kept, self.folder, self.pairs, self.small = seed, kept, folder, pairs, small
        self.real = [*([real] if real else []), *clips.REAL_FOLDERS]
        self.loaded = {}

    def clip(self, name):
        if name not in self.loaded:
            self.loaded[name] = clips.load(name, self.folder, self.pairs, self.real, self.small, self.seed)
        return self.loaded[name]

    def other(self, clip):
        """Returns another clip of this size and depth, the next one in turn, or None."""
        names = [*clips.PAINTED, *(() if self.seed else clips.REAL)]
        at = names.index(clip.name)
        for other in filter(None, map(self.clip, names[at + 1 :] + names[:at])):
            if (other.width, other.height, other.bits, other.gray) == (clip.width, clip.height, clip.bits, clip.gray):
                return other
        return None

    def pair(self, name, case, encoder):
        """Returns a pair; None: there is nothing to see of this damage in this clip."""
        clip = self.clip(name)
        other = self.other(clip) if getattr(case, "other", "") else None
        if getattr(case, "other", "") and not other:
            return None
        pair = drive.Pair(clip, case, encoder, other)
        return pair if not hasattr(case, "wants") or judge.shows(clip, case, pair) else None


def key_of(line):
    """Returns the names by which a pair is known in results."""
    return line["clip"], line["case"], line["group"], line["through"], line.get("crf"), line["seed"]


def name_line(lab, program, name, case, crf):
    """Returns the beginning of a pair's line of results."""
    good = not hasattr(case, "wants")
    line = {"clip": name, "case": case.name, "group": "good" if good else case.group, "through": program.name}
    line["seed"] = lab.seed
    return line if good else {**line, "crf": crf}


def run_pair(lab, program, name, case, crf):
    """Looks at one pair; returns its line of results."""
    good = not hasattr(case, "wants")
    line = name_line(lab, program, name, case, crf)
    encoder = case.encoder if good else X264.format(crf)
    kept = (
        f"{lab.kept}/{name}.{line['group']}.{case.name}.{crf}.{lab.seed}" if lab.kept and program.name == "tool" else ""
    )
    try:
        pair = lab.pair(name, case, encoder)
        if not pair:
            return {**line, "verdict": "unseen", "words": "", "findings": []}
        absent = "" if kept and os.path.exists(kept) else drive.lacks(encoder, pair.filters())
        if absent:
            return {**line, "verdict": "skipped", "words": f"ffmpeg lacks {absent}", "findings": []}
        findings = pair.look(program, kept)
    except drive.Broken as failure:
        return {**line, "verdict": "broken", "words": str(failure), "findings": []}
    told = judge.judge_good(case, findings) if good else judge.judge(pair.clip, case, pair, findings)
    return {**line, "verdict": told[0], "words": told[1], "findings": findings}


def plan(arguments, names):
    """Yields (clip, case, CRF) of a run, clip by clip."""
    crfs = [int(text) for text in arguments.crf.split(",")] if arguments.crf else CRFS
    damages = chosen(DAMAGES, arguments.damages)
    goods = chosen(GOOD, arguments.good)
    if arguments.long or arguments.clips is not None:
        for name in names:
            yield from ((name, DAMAGES[damage], crf) for damage in damages for crf in crfs)
            yield from ((name, GOOD[good], None) for good in goods)
        return
    # the choice: each damage on one clip, with the CRF in turn, and each good pair on one
    turns = itertools.product(crfs, names)
    turn = itertools.cycle(turns)
    for damage in damages:
        crf, name = next(turn)
        yield name, DAMAGES[damage], crf
    for good, name in zip(goods, itertools.cycle(names)):
        yield name, GOOD[good], None


def table(lines):
    """Returns rows: of each damage the parts that were found at each CRF, and of which clips not."""
    rows = []
    for damage in DAMAGES.values():
        mine = [line for line in lines if line["case"] == damage.name and line["group"] == damage.group]
        mine = [line for line in mine if line["verdict"] not in ("unseen", "skipped")]
        cells = []
        for crf in sorted({line["crf"] for line in mine}):
            those = [line for line in mine if line["crf"] == crf]
            found = [line for line in those if line["verdict"] == "found"]
            cells.append((crf, len(found), len(those), sum(line["words"] == "sure" for line in found)))
        if cells:
            rows.append((damage, cells))
    return rows


def print_table(lines):
    print(f"{'damage':32}" + "found of pairs, sure, by CRF")
    for damage, cells in table(lines):
        text = "".join(f"  {crf}: {found:2}/{of:2} {sure:2}" for crf, found, of, sure in cells)
        print(f"{damage.name:32}{text}{'   goal 99 %' if damage.goal else ''}")


def failures(lines):
    """Yields the reasons for which the suite fails: something wrong that is sure, a false alarm, a pair that broke, a
    change on purpose that is not said, and fewer pairs found of the kinds with a goal than when this was written.
    """
    for line in lines:
        if line["verdict"] in ("wrong", "alarm", "broken") or (line["group"] == "good" and line["verdict"] == "missed"):
            yield f"{line['verdict']}: {describe(line)}"
    families = list(rates_of_families(lines).values())
    found, of = (sum(numbers) for numbers in zip(*families)) if families else (0, 0)
    if found < FLOOR * of:
        yield f"{found} of {of} pairs of kinds with a goal are found, fewer than {FLOOR:.0%}"


def rates_of_families(lines):
    """Returns the pairs that were found, and all, of each family of kinds with a goal."""
    families = {}
    for damage, cells in table(lines):
        if damage.goal:
            family = damage.name.split("_")[0]
            found, of = families.get(family, (0, 0))
            families[family] = found + sum(cell[1] for cell in cells), of + sum(cell[2] for cell in cells)
    return families


def describe(line):
    crf = f" CRF {line['crf']}" if line.get("crf") is not None else ""
    words = f"{line['words']}: " if line["words"] else ""
    return f"{line['clip']} {line['case']}{crf}: {words}{judge.words(line['findings'])}"


def programs(arguments):
    build = Path(arguments.build).resolve()
    tool = drive.Tool(arguments.tool or build / "tests/engine/look/look_pair")
    through = drive.Filter(build / "bin/ffmpeg")
    return {"tool": tool, "filter": through}


def make_lab(arguments, folder):
    """A choice has small clips of half the length."""
    is_choice = not arguments.long and arguments.clips is None
    pairs = 120 if is_choice else clips.FRAMES
    if arguments.keep:
        Path(arguments.keep).mkdir(parents=True, exist_ok=True)
    lab = Lab(Path(arguments.folder or folder), arguments.real, pairs, is_choice, arguments.keep, arguments.seed)
    if arguments.long and not arguments.seed and not any(clips.real_file(name, lab.real) for name in clips.REAL):
        lab.real.append(clips.fetch_real(folder))
    return lab


def clips_of(arguments, lab):
    """Returns the names of clips to use, and those of real ones that are not here."""
    usual = None if arguments.long else CHOICE
    names = chosen([*clips.PAINTED, *(() if arguments.seed else clips.REAL)], arguments.clips, usual)
    absent = [name for name in names if name in clips.REAL and not clips.real_file(name, lab.real)]
    return [name for name in names if name not in absent], absent


def handful(names):
    """Yields what is looked at through the filter, too, where all else goes through the tool."""
    cases = DAMAGES["dropped_1_middle"], DAMAGES["mirrored"], DAMAGES["full_as_limited"], DAMAGES["crop_4_all"]
    for case in cases:
        yield names[0], case, 30
    for case in GOOD["crf_36"], GOOD["logo"]:
        yield names[0], case, None


def results_before(path, work):
    """Returns the lines of a run before that belong to this one. A pair that broke is run again."""
    if not path or not os.path.exists(path):
        return []
    wanted, lines = {key_of(name_line(*item)) for item in work}, {}
    for text in Path(path).read_text().splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue  # the run was stopped while it wrote this
        if line["verdict"] != "broken" and key_of(line) in wanted:
            lines[key_of(line)] = line
    return list(lines.values())


def suite(arguments, folder):
    lab = make_lab(arguments, folder)
    names, absent = clips_of(arguments, lab)
    known, began = programs(arguments), time.time()
    for name in names:
        lab.clip(name)  # in this thread
    used = [arguments.through or "tool"] + ["filter"] * (not arguments.through and arguments.clips is None)
    for name in used:
        if not os.access(known[name].path, os.X_OK):
            raise SystemExit(f"FAIL {known[name].path} is not a program: build it\n0 passed, 1 failed")
    work = [(lab, known[arguments.through or "tool"], *item) for item in plan(arguments, names)]
    if len(used) > 1:
        work += [(lab, known["filter"], *item) for item in handful(names)]
    if arguments.part:
        first, step = map(int, arguments.part.split("/"))
        work = work[first - 1 :: step]
    lines = results_before(arguments.results, work)
    done = set(map(key_of, lines))
    work = [item for item in work if key_of(name_line(*item)) not in done]
    with ThreadPoolExecutor(arguments.jobs) as pool, open(arguments.results or os.devnull, "a") as results:
        for done in as_completed([pool.submit(run_pair, *item) for item in work]):
            lines.append(done.result())
            results.write(json.dumps(lines[-1]) + "\n")
            results.flush()
    return report(lines, absent, time.time() - began)


def report(lines, absent, seconds):
    print_table(lines)
    for line in sorted(lines, key=lambda line: (line["case"], line["clip"])):
        if line["verdict"] in ("missed", "numbers"):
            print(f"{line['verdict']} {describe(line)}")
    for family, (found, of) in rates_of_families(lines).items():
        if found < GOAL * of:
            print(f"below the goal of {GOAL:.0%}: {family}, {found} of {of}")
    failed = list(failures(lines))
    for text in failed:
        print(f"FAIL {text}")
    for name in absent:
        print(f"SKIP {name}: Debian's package opencv-doc, which has {clips.REAL[name]}, is not installed")
    skipped = sorted({line["words"] for line in lines if line["verdict"] == "skipped"})
    for words in skipped:
        print(f"SKIP {sum(line['words'] == words for line in lines)} pairs: {words}")
    lines = [line for line in lines if line["verdict"] != "skipped"]
    goods = [line for line in lines if line["group"] == "good"]
    alarms = sum(line["verdict"] == "alarm" for line in goods)
    wrong = sum(line["verdict"] == "wrong" for line in lines)
    print(
        f"{len(lines) - len(goods)} damaged pairs, {wrong} with a sure finding that is wrong; {len(goods)} good pairs,"
    )
    print(f"{alarms} false alarms; {seconds:.0f} s")
    passed = max(0, len(lines) - len(failed))
    print(f"{passed} passed, {len(failed)} failed, {len(absent) + len(skipped)} skipped")
    return 1 if failed or not lines else 0


def make(arguments, folder):
    name, case, crf, out = arguments.rest
    lab = Lab(Path(arguments.folder or folder), arguments.real, clips.FRAMES)
    if not lab.clip(name):
        raise SystemExit(
            f"run.py: {clips.REAL[name]} was not found: install opencv-doc, or name its folder with --real"
        )
    known = {**GOOD, **DAMAGES} if arguments.good is None else {**DAMAGES, **GOOD}
    pair = lab.pair(name, known[case], X264.format(crf) if hasattr(known[case], "wants") else known[case].encoder)
    if not pair:
        raise SystemExit(f"run.py: {case} changes no picture of {name}")
    drive.make(pair, out)


def main():
    arguments = parse_arguments()
    drive.FFMPEG = arguments.ffmpeg or drive.FFMPEG
    clips.FFMPEG[0] = drive.FFMPEG
    if not shutil.which(drive.FFMPEG) or "libx264" not in drive.names_of("encoders"):
        print(f"SKIP {drive.FFMPEG} is not an ffmpeg with libx264: install one, or name it with --ffmpeg")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="vmafx-look-") as folder:
        if arguments.build == "list":
            print("clips:", *clips.PAINTED, *clips.REAL, "\ndamages:", *DAMAGES, "\ngood:", *GOOD)
            return 0
        if arguments.build == "make":
            return make(arguments, folder)
        return suite(arguments, folder)


if __name__ == "__main__":
    sys.exit(main())
