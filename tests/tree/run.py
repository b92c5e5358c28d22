#!/usr/bin/env python3
"""The tree itself: who includes whom, how large folders are, what the distribution holds, how the sources look.

usage: run.py [BUILD] [--long]

  BUILD   a configured build folder (default: build), for the cases `distribution`, `bench_builds` and `tidy`
  --long  clang-tidy's analyzer follows more paths through each function, which takes twice as long

Prints one line per case and 'N passed, N failed, N skipped' at the end; exits 1 when something failed. `format` and
`tidy` need clang-format-19 and clang-tidy-19 and are skipped without them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
MOST_FILES = 30  # in a folder

# From the ground up; rooms of one floor do not know each other. What has no name here is a family of metrics.
FLOORS = (
    ("base",),
    ("hip",),
    ("kernels/gpu",),
    ("kernels",),  # what a metric is: extractor, options, device twin
    ("kernels/arithmetic",),
    ("kernels/steps",),
    ("a family",),
    ("the table of metrics",),
    ("model",),
    ("report",),
    ("engine",),
)
TABLE = "src/kernels/registry.cpp", "src/kernels/registry.h", "src/kernels/kernels.hip"


class Skip(Exception):
    pass


def output_of(*command, **options):
    return subprocess.run(
        [str(word) for word in command], cwd=TOP, capture_output=True, text=True, check=True, **options
    ).stdout


def tracked(*patterns):
    """The files of the repository; of a distribution, which has none, those that are there."""
    if (TOP / ".git").exists():
        names = output_of("git", "ls-files", "--", *patterns).split("\n")
        return [name for name in names if name and (TOP / name).exists()]
    folders = ("src", "include", "compat", "emulator", "tests", "fuzz", "bench", "python", "examples")
    return sorted(
        str(path.relative_to(TOP)) for folder in folders for path in (TOP / folder).rglob("*") if path.is_file()
    )


def sources(*folders, endings=(".cpp", ".h", ".hip")):
    return [name for name in tracked(*folders) if name.endswith(endings) and name.startswith(folders)]


# -- Who includes whom -------------------------------------------------------------------------------------------------


def room(name):
    if name in TABLE:
        return "the table of metrics"
    parts = name.split("/")
    return "/".join(parts[1:-1]) if parts[1] == "kernels" else parts[1]


def floor(name):
    here = room(name)
    for number, rooms in enumerate(FLOORS):
        if here in rooms:
            return number
    return FLOORS.index(("a family",))


def includes(name):
    text = (TOP / name).read_text()
    return [
        f"src/{other}" for other in re.findall(r'^#include "([^"]+)"', text, re.M) if (TOP / "src" / other).exists()
    ]


def no_arrow_up():
    for name in sources("src/"):
        for other in includes(name):
            assert floor(other) <= floor(name), f"{name} includes {other}, which is above it"
            same_floor = floor(other) == floor(name)
            assert not same_floor or room(other) == room(name), f"{name} includes {other}: no family knows another"


def no_circle():
    below, done = [], set()

    def visit(name):
        assert name not in below, "a circle: " + " -> ".join(below[below.index(name) :] + [name])
        if name in done:
            return
        below.append(name)
        for other in includes(name):
            if other != name:  # Highway's sources include themselves, once for each instruction set
                visit(other)
        done.add(below.pop())

    for name in sources("src/"):
        visit(name)


def engines_of_the_emulator_know_the_runtime_only():
    for name in sources("emulator/"):
        here = name.split("/")[1]
        for other in re.findall(r'^#include "emulator/(\w+)/', (TOP / name).read_text(), re.M):
            assert other in (here, "runtime"), f"{name} includes a file of emulator/{other}"


def only_the_api_is_known_above():
    for name in sources("libavfilter_vmafx/", "compat/", endings=(".c", ".cpp", ".h")):
        for other in re.findall(
            r'#include [<"]((?:vmafx|base|hip|kernels|model|report|engine)/[^>"]+)', (TOP / name).read_text()
        ):
            assert other == "vmafx/vmafx.h", f"{name} includes {other}"


def no_folder_is_a_drawer():
    count = {}
    for name in sources(
        "src/",
        "compat/",
        "emulator/",
        "tests/",
        "fuzz/",
        "bench/",
        "libavfilter_vmafx/",
        "python/",
        "examples/",
        endings=(".c", ".cpp", ".h", ".hip", ".py"),
    ):
        folder = os.path.dirname(name)
        count[folder] = count.get(folder, 0) + 1
    for folder, files in count.items():
        assert files <= MOST_FILES, f"{folder} has {files} files, more than {MOST_FILES}"


# -- What the distribution holds ---------------------------------------------------------------------------------------


def distribution(build):
    if not (TOP / ".git").exists():
        raise Skip("this is a distribution, not a git clone")
    if not (build / "Makefile").exists():
        raise Skip(f"{build} is not configured")
    with tempfile.TemporaryDirectory(prefix="vmafx-dist-") as folder:
        output_of("make", "-C", build, "distdir", f"distdir={folder}/vmafx")
        missing = [
            name
            for name in tracked()
            if not name.endswith(".gitignore")
            and name != ".git-blame-ignore-revs"
            and not Path(folder, "vmafx", name).exists()
        ]
    assert not missing, f"make dist lacks {', '.join(missing)}"


def version_is_one():
    """That of configure.ac; the build compares it with vmafx.h."""
    version = re.search(r"^AC_INIT\(\[vmafx\], \[([0-9.]+)\]", (TOP / "configure.ac").read_text(), re.M)[1]
    for name, line in {
        "CHANGES": rf"^{version} \((unreleased|\d{{4}}-\d\d-\d\d)\)$",
        "README.md": rf"This is version {version}\b",
        "python/vmafx/_header.py": rf'^version = "{version}"$',
    }.items():
        assert re.search(
            line.replace(version, re.escape(version)), (TOP / name).read_text(), re.M
        ), f"{name} has another version than {version}"
    newest = re.search(r"^(\d+\.\d+\.\d+) ", (TOP / "CHANGES").read_text(), re.M)[1]
    assert newest == version, f"the newest entry of CHANGES is that of {newest}, not of {version}"


def bench_builds(build):
    if not (build / "Makefile").exists():
        raise Skip(f"{build} is not configured")
    output_of("make", "-C", build, "bench/bench", "bench/device")


def speed_is_drawn():
    output_of(sys.executable, "tools/draw_speed.py", "--check")


def tables_are_made():
    output_of(sys.executable, "tools/make_tables.py", "--check")


def declarations_are_made():
    output_of(sys.executable, "tools/make_header.py", "--check")


def manual_pages_are_made():
    output_of(sys.executable, "tools/make_man.py", "--check")


def manual_page_names_all_subcommands():
    """As the command's own parser knows them, whose libraries are in Debian's Python."""
    program = "from vmafx.command.__main__ import SUBCOMMANDS; print(*SUBCOMMANDS)"
    listed = output_of("/usr/bin/python3", "-B", "-c", program, env={"PYTHONPATH": str(TOP / "python")}).split()
    synopsis = (TOP / "docs/vmafx.1").read_text().partition(".SH SYNOPSIS")[2].partition(".SH DESCRIPTION")[0]
    named = re.findall(r"vmafx (\w+)", synopsis)
    assert named == listed, f"the synopsis of docs/vmafx.1 names {named}, and the command has {listed}"


def manual_pages_have_no_warning():
    """At 80 columns, as on a terminal; -t: with its tables."""
    need("groff")
    for page in ("docs/vmafx.1", "docs/vmafx.7"):
        result = subprocess.run(
            ["groff", "-k", "-t", "-man", "-Tutf8", "-ww", "-rLL=80n", page], cwd=TOP, capture_output=True, text=True
        )
        assert result.returncode == 0 and not result.stderr, result.stderr


# -- How the sources look ----------------------------------------------------------------------------------------------


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")
    return program


def formatted():
    return sources("src/", "compat/", "emulator/", "tests/", "fuzz/", "bench/")


def format():
    program = need("clang-format-19")
    result = subprocess.run([program, "--dry-run", "-Werror", *formatted()], cwd=TOP, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr.split("\n")[0] + " (tools/format mends it)"


def tidy(build, deep):
    """Also that members which a mutex guards are touched by who holds it (src/base/mutex.h)."""
    program = need("clang-tidy-19")
    if not (build / "config.h").exists():
        raise Skip(f"{build} is not configured")
    flags = ["-std=c++20", "-Wthread-safety", "-Isrc", "-Iinclude", "-I.", f"-I{build}"]
    flags += output_of("pkg-config", "--cflags", "libhwy", "nlohmann_json", "libxxhash").split()

    if not deep:
        flags += ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=10000"]

    def check(text):
        command = [program, "--quiet", "--warnings-as-errors=*", text, "--", *flags]
        result = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
        found = [line for line in result.stdout.split("\n") if ": error: " in line]
        return (
            ""
            if result.returncode == 0
            else in_source(found[0]) if found else f"{text}: {program} ended with {result.returncode}"
        )

    # Code for vectors is compiled once for each instruction set out of one text: the twin for one sample stands for it.
    chosen = [name for name in sources("src/", "compat/", endings=(".cpp",)) if not name.endswith("_simd.cpp")]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = chosen
        if not deep:
            texts = together(chosen, Path(folder))
        found = [line for line in pool.map(check, texts) if line]
    assert not found, "\n".join(found)


def together(names, folder):
    """Texts of several sources, those of a folder in one: most of clang-tidy's time goes to the headers, which it
    checks in each text anew. Apart are files whose names another file of their folder has, too: references,
    floating-point forms, what is written for two platforms.
    """
    groups = {}
    for name in names:
        path = Path(name)
        alone = path.name if path.name in ("version.cpp", "hip_platform.cpp") else ""
        groups.setdefault((path.parent, path.name.startswith("float_"), path.stem.endswith("_ref"), alone), []).append(
            name
        )
    (folder / ".clang-tidy").write_text((TOP / ".clang-tidy").read_text())
    texts = []
    for members in sorted(groups.values(), key=len, reverse=True):
        texts.append(folder / f"{len(texts)}.cpp")
        texts[-1].write_text("".join(f'#line 1 "{name}"\n{(TOP / name).read_text()}\n' for name in members))
    return texts


def in_source(found):
    """clang-tidy's 'TEXT:LINE:…' where TEXT is of several sources: with the place in the source itself."""
    text, line, rest = found.split(":", 2)
    before = Path(text).read_text().split("\n")[: int(line)]
    starts = [at for at, words in enumerate(before) if words.startswith("#line 1 ")]
    return f"{before[starts[-1]].split(chr(34))[1]}:{int(line) - starts[-1] - 1}:{rest}" if starts else found


def main():
    deep = "--long" in sys.argv
    folders = [word for word in sys.argv[1:] if word != "--long"]
    build = Path(folders[0] if folders else TOP / "build").resolve()
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    cases = (
        no_arrow_up,
        no_circle,
        engines_of_the_emulator_know_the_runtime_only,
        only_the_api_is_known_above,
        no_folder_is_a_drawer,
        distribution,
        version_is_one,
        bench_builds,
        speed_is_drawn,
        tables_are_made,
        declarations_are_made,
        manual_pages_are_made,
        manual_page_names_all_subcommands,
        manual_pages_have_no_warning,
        format,
        tidy,
    )
    for case in cases:
        verdict, why = "PASS", ""
        try:
            case(*{distribution: (build,), bench_builds: (build,), tidy: (build, deep)}.get(case, ()))
        except Skip as reason:
            verdict, why = "SKIP", f": {reason}"
        except subprocess.CalledProcessError as failure:
            verdict, why = "FAIL", f": {(failure.stderr or failure.stdout).strip()}"
        except AssertionError as failure:
            verdict, why = "FAIL", f": {failure}"
        count[verdict] += 1
        print(f"{verdict} {case.__name__}{why}", flush=True)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped")
    return 1 if count["FAIL"] else 0


sys.exit(main())
