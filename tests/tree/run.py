#!/usr/bin/env python3
"""The tree itself: who includes whom, what the distribution holds, how documents and sources look.

usage: run.py [BUILD] [--long]

  BUILD   a configured build folder (default: build), for the cases `distribution`, `bench_builds`,
          `tables_of_metrics_are_made` and `tidy`
  --long  clang-tidy's analyzer follows more paths through each function, which takes twice as long

Prints one line per case and 'N passed, N failed, N skipped' at the end; exits 1 when something failed. `format` and
`tidy` need clang-format-19 and clang-tidy-19 and are skipped without them.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
MOST_LEANING = 100
# A comment that begins so needs its neighbor to be understood.
LEANING = re.compile(r'^ *(//|/\*+|\*|#|""")* ?(Of|What|Those|The same|Likewise|Where|Whose|Which|Who) ')
CODE = (".cpp", ".h", ".hip", ".c", ".py")

# From the ground up; rooms of one floor do not know each other. A room without a name here is a family of metrics.
FLOORS = (
    ("base/system",),
    ("base",),
    ("hip",),
    ("kernels/gpu",),
    ("kernels",),  # what a metric is: extractor, options, device twin
    ("kernels/arithmetic",),
    ("kernels/steps",),
    ("kernels/recolor",),
    ("a family",),
    ("kernels/registry",),
    ("model",),
    ("report",),
    ("engine/frames",),
    ("engine/device", "engine/look", "engine/range", "engine/region"),
    ("engine",),
)


class Skip(Exception):
    pass


def output_of(*command, **options):
    return subprocess.run(
        [str(word) for word in command], cwd=TOP, capture_output=True, text=True, check=True, **options
    ).stdout


def tracked(*patterns):
    """Returns the files of the repository; in a distribution without git, the files that exist."""
    if (TOP / ".git").exists():
        names = output_of("git", "ls-files", "--", *patterns).split("\n")
        return [name for name in names if name and (TOP / name).exists()]
    folders = ("src", "include", "compat", "emulator", "tests", "fuzz", "bench", "python", "examples", "vapoursynth")
    return sorted(
        str(path.relative_to(TOP)) for folder in folders for path in (TOP / folder).rglob("*") if path.is_file()
    )


def sources(*folders, endings=(".cpp", ".h", ".hip")):
    return [name for name in tracked(*folders) if name.endswith(endings) and name.startswith(folders)]


# -- Who includes whom -------------------------------------------------------------------------------------------------


def room(name):
    return "/".join(name.split("/")[1:-1])


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
            if other != name:  # Highway's sources include themselves once for each instruction set
                visit(other)
        done.add(below.pop())

    for name in sources("src/"):
        visit(name)


def cpu_twins_see_pictures_only():
    """CPU twins reach pictures and headers of their own: no device, and not what the engine asks of a metric. A change
    there compiles no twin again."""
    above = "src/kernels/metric.h", "src/kernels/extractor.h", "src/kernels/device_twin.h"
    twins = sources("src/kernels/", endings=("_plain.cpp", "_simd.cpp"))
    assert twins, "no source is called *_plain.cpp or *_simd.cpp"
    for name in twins:
        way = {name: None}  # who included each file
        for here in (reached := [name]):
            for other in includes(here):
                if other not in way:
                    way[other] = here
                    reached.append(other)
        for other in reached:
            if other.startswith("src/hip/") or other in above:
                steps = [other]
                while way[steps[-1]]:
                    steps.append(way[steps[-1]])
                raise AssertionError("a CPU twin sees more than pictures: " + " <- ".join(steps))


def no_circle_of_folders():
    output_of(sys.executable, "tools/include_graph.py")


def each_folder_has_its_sentence():
    """Of src/, in the list of HACKING.md; the families of metrics share one."""
    listed = set(re.findall(r"^    src/(\S+?)/ +\S", (TOP / "HACKING.md").read_text(), re.M))
    family = FLOORS.index(("a family",))
    rooms = {"kernels/<family>" if floor(name) == family else room(name) for name in sources("src/")}
    assert listed == rooms, f"HACKING.md lists {sorted(listed - rooms)}, and not {sorted(rooms - listed)}"


def engines_of_the_emulator_know_the_runtime_only():
    for name in sources("emulator/"):
        here = name.split("/")[1]
        for other in re.findall(r'^#include "emulator/(\w+)/', (TOP / name).read_text(), re.M):
            assert other in (here, "runtime"), f"{name} includes a file of emulator/{other}"


def only_the_api_is_known_above():
    for name in sources("libavfilter_vmafx/", "compat/", "vapoursynth/", endings=(".c", ".cpp", ".h")):
        for other in re.findall(
            r'#include [<"]((?:vmafx|base|hip|kernels|model|report|engine)/[^>"]+)', (TOP / name).read_text()
        ):
            assert other == "vmafx/vmafx.h", f"{name} includes {other}"


# -- What the distribution holds ---------------------------------------------------------------------------------------


def distribution(build):
    if not (TOP / ".git").exists():
        raise Skip("this is a distribution, not a git clone")
    if not (build / "Makefile").exists():
        raise Skip(f"{build} is not configured")
    with tempfile.TemporaryDirectory(prefix="vmafx-dist-") as folder:
        output_of("make", "-C", build, "distdir", f"distdir={folder}/vmafx")
        held = {str(path.relative_to(f"{folder}/vmafx")) for path in Path(folder, "vmafx").rglob("*") if path.is_file()}
    wanted = {name for name in tracked() if not name.endswith(".gitignore") and name != ".git-blame-ignore-revs"}
    new = output_of("git", "ls-files", "--others", "--exclude-standard").split("\n")
    by_autoreconf = re.compile(r"(aclocal\.m4|configure|Makefile\.in|config\.h\.in|build-aux/.*|m4/.*\.m4)")
    surplus = {name for name in held - wanted - set(new) if not by_autoreconf.fullmatch(name)}
    assert wanted <= held, f"make dist lacks {', '.join(sorted(wanted - held))}"
    assert not surplus, f"make dist has {', '.join(sorted(surplus))}, which no one wrote: exclude it in Makefile.am"


def version_is_one():
    """All files have the version of configure.ac; the build compares it with vmafx.h."""
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


def tables_of_metrics_are_made(build):
    if not (build / "Makefile").exists():
        raise Skip(f"{build} is not configured")
    output_of(sys.executable, "tools/make_metrics.py", "--check", build)


def golden_frames_are_lines():
    output_of(sys.executable, "tests/golden/format.py", "--check")


def declarations_are_made():
    output_of(sys.executable, "tools/make_header.py", "--check")


def manual_pages_are_made():
    output_of(sys.executable, "tools/make_man.py", "--check")


def manual_page_names_all_subcommands():
    """The page names the subcommands of the command's own parser, whose libraries are in Debian's Python."""
    program = "from vmafx.command.__main__ import SUBCOMMANDS; print(*SUBCOMMANDS)"
    listed = output_of("/usr/bin/python3", "-B", "-c", program, env={"PYTHONPATH": str(TOP / "python")}).split()
    synopsis = (TOP / "docs/vmafx.1").read_text().partition(".SH SYNOPSIS")[2].partition(".SH DESCRIPTION")[0]
    named = re.findall(r"vmafx (\w+)", synopsis)
    assert named == listed, f"the synopsis of docs/vmafx.1 names {named}, and the command has {listed}"


def manual_pages_have_no_warning():
    """The pages are formatted at 80 columns, as on a terminal; -t formats their tables."""
    need("groff")
    for page in ("docs/vmafx.1", "docs/vmafx.7"):
        result = subprocess.run(
            ["groff", "-k", "-t", "-man", "-Tutf8", "-ww", "-rLL=80n", page], cwd=TOP, capture_output=True, text=True
        )
        assert result.returncode == 0 and not result.stderr, result.stderr


# -- What the documents look like --------------------------------------------------------------------------------------

WIDEST = 120
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents():
    return [name for name in tracked() if name.endswith(".md")]


def documents_fit_the_width():
    """Except for rows of tables, and for a line that is one link or word, which nothing can break."""
    for name in (*documents(), "CHANGES"):
        for number, line in enumerate((TOP / name).read_text().split("\n"), 1):
            row = line.lstrip().startswith("|")
            breakable = " " in re.sub(r"^[-*\d.> ]+", "", line).strip()
            assert (
                len(line) <= WIDEST or row or not breakable
            ), f"{name}:{number} has {len(line)} columns; tools/wrap_documents wraps text"


def anchors(name):
    """Those of the headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", (TOP / name).read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", LINK.sub("", heading).lower()).replace(" ", "-") for heading in headings}


def links_lead_somewhere():
    for name in documents():
        for link in LINK.findall((TOP / name).read_text()):
            if ":" in link:
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            assert (TOP / target).exists(), f"{name} links to {target}, which does not exist"
            if anchor and target.endswith(".md"):
                assert anchor in anchors(target), f"{name} links to {link}, and {target} has no such heading"


def site_has_all_documents():
    navigation = re.findall(r": (\S+\.md)$", (TOP / "tools/site/mkdocs.yml").read_text(), re.M)
    missing = set(documents()) - set(navigation)
    assert not missing, f"tools/site/mkdocs.yml lacks {', '.join(sorted(missing))}"


def site_is_made():
    if not importlib.util.find_spec("material"):
        raise Skip("mkdocs-material is not installed")
    with tempfile.TemporaryDirectory(prefix="vmafx-site-") as folder:
        output_of(sys.executable, "tools/make_site", folder)
        pages = list(Path(folder).rglob("*.html"))
        assert len(pages) > len(documents()), f"the site has {len(pages)} pages for {len(documents())} documents"
        for page in pages:
            loaded = re.findall(
                r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="((?:https?:)?//[^"]*)', page.read_text()
            )
            assert not loaded, f"{page.relative_to(folder)} loads {loaded[0]}"


# -- How the sources look ----------------------------------------------------------------------------------------------


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")
    return program


def formatted():
    return sources("src/", "compat/", "vapoursynth/", "emulator/", "tests/", "fuzz/", "bench/", "tools/")


def format():
    program = need("clang-format-19")
    result = subprocess.run([program, "--dry-run", "-Werror", *formatted()], cwd=TOP, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr.split("\n")[0] + " (tools/format mends it)"


def sources_fit_the_width():
    found = [
        f"{name}:{number}: {len(line)} columns" for name, number, line in lines_of((*CODE, ".am")) if len(line) > WIDEST
    ]
    assert not found, f"{len(found)} lines are longer than {WIDEST} columns; wrap them:\n" + "\n".join(found)


def comments_stand_alone():
    found = [f"{name}:{number}: {line.strip()}" for name, number, line in lines_of(CODE) if LEANING.match(line)]
    assert len(found) <= MOST_LEANING, (
        f"{len(found)} comments begin with Of, What, Those, …; {MOST_LEANING} may. Begin them with their subject:\n"
        + "\n".join(found)
    )


def lines_of(endings):
    for name in tracked():
        if name.endswith(endings) and not (TOP / name).is_symlink():
            for number, line in enumerate((TOP / name).read_text().split("\n"), 1):
                yield name, number, line


def tidy(build, deep):
    """Runs clang-tidy, which also checks that members guarded by a mutex are touched only by its holder
    (src/base/mutex.h).
    """
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

    def check_group(text, members):
        found = check(text)
        if len(members) == 1 or "[clang-diagnostic-error" not in found:
            return found
        return next(filter(None, map(check, members)), "")  # the files have things of one name

    # Vector code is compiled once for each instruction set from one text: the twin for one sample stands for it.
    # The sides of base/system/ for other systems, and VapourSynth's plugin, need headers that are not here.
    others = "_simd.cpp", "_windows.cpp", "_darwin.cpp", "vship/plugin.cpp"
    chosen = [name for name in sources("src/", "compat/", endings=(".cpp",)) if not name.endswith(others)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        groups = [(name, [name]) for name in chosen] if deep else together(chosen, Path(folder))
        found = [line for line in pool.map(lambda group: check_group(*group), groups) if line]
    assert not found, "\n".join(found)


def together(names, folder):
    """Texts of several sources, those of a folder in one, each with the sources' names: most of clang-tidy's time goes
    to the headers, which it checks in each text anew. Apart are files whose names another file of their folder has,
    too: definitions, floating-point forms, what is written for two platforms.
    """
    groups = {}
    for name in names:
        path = Path(name)
        alone = path.name if path.name in ("version.cpp", "hip_platform.cpp") else ""
        groups.setdefault(
            (path.parent, path.name.startswith("float_"), path.stem.endswith("_plain"), alone), []
        ).append(name)
    (folder / ".clang-tidy").write_text((TOP / ".clang-tidy").read_text())
    texts = []
    for members in sorted(groups.values(), key=len, reverse=True):
        text = folder / f"{len(texts)}.cpp"
        text.write_text("".join(f'#line 1 "{name}"\n{(TOP / name).read_text()}\n' for name in members))
        texts.append((text, members))
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
        cpu_twins_see_pictures_only,
        no_circle_of_folders,
        each_folder_has_its_sentence,
        engines_of_the_emulator_know_the_runtime_only,
        only_the_api_is_known_above,
        distribution,
        version_is_one,
        bench_builds,
        speed_is_drawn,
        tables_are_made,
        tables_of_metrics_are_made,
        golden_frames_are_lines,
        declarations_are_made,
        manual_pages_are_made,
        manual_page_names_all_subcommands,
        manual_pages_have_no_warning,
        sources_fit_the_width,
        comments_stand_alone,
        documents_fit_the_width,
        links_lead_somewhere,
        site_has_all_documents,
        site_is_made,
        format,
        tidy,
    )
    for case in cases:
        verdict, why = "PASS", ""
        try:
            case(
                *{
                    distribution: (build,),
                    bench_builds: (build,),
                    tables_of_metrics_are_made: (build,),
                    tidy: (build, deep),
                }.get(case, ())
            )
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
