"""How the module finds the library, and how it is installed."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import vmafx
from common import Skip, case, check, check_equal, gray_pairs, long_case, run_python, top

SAY = "import vmafx; print(vmafx.version())"
SAY_ERROR = "import vmafx\ntry: vmafx.Session()\nexcept vmafx.Error as error: print(error.errno, error)"
build = os.path.dirname(os.path.dirname(os.environ["VMAFX_LIBRARY"]))


def say(program=SAY, **variables):
    """Runs a program in another environment and returns its output; None takes a variable away."""
    environment = {**os.environ, "PYTHONPATH": str(top / "python")} | variables
    return run_python(program, env={name: str(value) for name, value in environment.items() if value is not None})


def says_its_version(**variables):
    check_equal(say(**variables), (0, f"{vmafx.version()}\n"), "version")


@case
def library_of_the_environment(lab):
    del lab
    says_its_version(PATH="/nowhere")
    says_its_version(PATH="/nowhere", VMAFX_LIBRARY=f"{build}/.libs")


@case
def library_beside_ffmpeg(lab):
    """The library is found beside ffmpeg, as quickstart builds and installs it, also through a link."""
    says_its_version(VMAFX_LIBRARY=None, PATH=f"{build}/bin:/usr/bin")
    prefix = lab.folder / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/vmafx").mkdir(parents=True)
    shutil.copy(f"{build}/.libs/libvmafx.so.0", prefix / "lib")
    (prefix / "lib/vmafx/libvmafx.so.0").symlink_to("../libvmafx.so.0")
    shutil.copy(lab.ffmpeg, prefix / "bin/ffmpeg")
    (lab.folder / "ffmpeg").symlink_to(prefix / "bin/ffmpeg")
    says_its_version(VMAFX_LIBRARY=None, PATH=lab.folder)


@case
def library_of_the_loader(lab):
    del lab
    says_its_version(VMAFX_LIBRARY=None, PATH="/nowhere", LD_LIBRARY_PATH=f"{build}/.libs")


def module_in(folder):
    """Copies the module to a place whose sources have no library."""
    shutil.copytree(top / "python/vmafx", folder / "vmafx", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def prefix_of(lab, name="prefix"):
    """Makes a prefix as `quickstart install` does."""
    prefix = lab.folder / name
    (prefix / "bin").mkdir(parents=True)
    module_in(prefix / "lib/vmafx/python")
    shutil.copy(f"{build}/.libs/libvmafx.so.0", prefix / "lib")
    (prefix / "lib/vmafx/libvmafx.so.0").symlink_to("../libvmafx.so.0")
    shutil.copy(top / "tools/vmafx", prefix / "bin/vmafx")
    shutil.copy(lab.ffmpeg, prefix / "bin/ffmpeg")
    return prefix


@case
def library_of_the_module(lab):
    """The library is found in the prefix of an installed module, and in the sources that a module is in."""
    prefix = prefix_of(lab)
    nothing = {"VMAFX_LIBRARY": None, "PATH": "/nowhere"}
    says_its_version(**nothing, PYTHONPATH=prefix / "lib/vmafx/python")
    for folder in "build/.libs", "build/lib/vmafx":
        source = lab.folder / folder.replace("/", "-")
        module_in(source / "python")
        (source / folder).mkdir(parents=True)
        shutil.copy(f"{build}/.libs/libvmafx.so.0", source / folder)
        says_its_version(**nothing, PYTHONPATH=source / "python")
    alone = module_in(lab.folder / "alone")
    says_its_version(**nothing, PYTHONPATH=alone, VMAFX_FFMPEG=prefix / "bin/ffmpeg")
    beside = f"from vmafx import _library, _places; _places.look_beside('{prefix}/bin/ffmpeg'); {SAY}"
    check_equal(say(beside, **nothing, PYTHONPATH=alone), (0, f"{vmafx.version()}\n"), "beside a program")


@case
def library_of_the_command(lab):
    """PREFIX/bin/vmafx merges, called by its path and through links, while PATH has nothing of the prefix."""
    prefix = prefix_of(lab)
    parts = []
    for reach in "0-4", "5-":
        parts.append(str(lab.folder / f"part{len(parts)}.json"))
        with vmafx.Session(model="", feature="psnr", backend="cpu", log_path=parts[-1], range=reach) as session:
            list(session.run(gray_pairs(10)))
    (lab.folder / "link").symlink_to(prefix / "bin/vmafx")
    (lab.folder / "far").symlink_to(lab.folder / "link")
    (lab.folder / "folder").symlink_to(prefix / "bin")
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    environment.pop("VMAFX_LIBRARY")
    environment.pop("PYTHONPATH", None)
    for command in prefix / "bin/vmafx", "prefix/bin/vmafx", "link", "./far", "folder/vmafx":
        words = [sys.executable, command, "merge", *parts, "-o", "merged.json"]
        done = subprocess.run(words, cwd=lab.folder, env=environment, capture_output=True, text=True)
        check_equal((done.returncode, done.stderr), (0, ""), f"{command}")
        check_equal(len(lab.json("merged.json")["frames"]), 10, "frames")
        (lab.folder / "merged.json").unlink()


@case
def library_of_a_bundle(lab):
    """The library's own needs are beside it, or in the folder of the compiler's libraries, on a host without them."""
    for folder in ".", "gcc":
        place = lab.folder / f"bundle-{folder}"
        (place / folder).mkdir(parents=True)
        (place / "needed.c").write_text("int needed(void) { return 0; }\n")
        (place / "own.c").write_text("int needed(void);\nint vmafx_version(void) { return needed(); }\n")
        needed = place / folder / "libvmafxneeded.so.7"
        link = ["cc", "-shared", "-fPIC", "-o"]
        subprocess.run([*link, needed, "-Wl,-soname,libvmafxneeded.so.7", place / "needed.c"], check=True)
        subprocess.run([*link, place / "libvmafx.so.0", place / "own.c", needed], check=True)
        code, said = say(SAY_ERROR, VMAFX_LIBRARY=place)
        check_equal(code, 0, said)
        check(said.startswith("38 ") and "older than this module" in said, said)
        needed.unlink()
        code, said = say(SAY_ERROR, VMAFX_LIBRARY=place)
        check(said.startswith("2 ") and "libvmafxneeded.so.7: cannot open" in said, said)


@case
def places_that_were_looked_at(lab):
    """The error names all places, each with its problem. A library that is too old or damaged does not hide another."""
    (lab.folder / "old/build/.libs").mkdir(parents=True)
    (lab.folder / "old/build/lib/vmafx").mkdir(parents=True)
    module = module_in(lab.folder / "old/python")
    (lab.folder / "old.c").write_text('const char *vmafx_version(void) { return "0.0.1"; }\n')
    old = lab.folder / "old/build/.libs/libvmafx.so.0"
    subprocess.run(["cc", "-shared", "-o", old, lab.folder / "old.c"], check=True)
    (lab.folder / "old/build/lib/vmafx/libvmafx.so.0").write_text("")
    nothing = {"VMAFX_LIBRARY": None, "PATH": "/nowhere", "PYTHONPATH": module}
    says_its_version(**nothing, LD_LIBRARY_PATH=f"{build}/.libs")
    code, said = say(SAY_ERROR, **nothing)
    if not said:
        raise Skip("the loader of libraries finds an installed libvmafx.so.0")
    check_equal((code, said[:3]), (0, "38 "), said)
    for text in (
        f"{lab.folder}/old/libvmafx.so.0 (not there); {old} (older than this module, it lacks vmafx_",
        f"{lab.folder}/old/build/lib/vmafx/libvmafx.so.0 (",
        "file too short); ",
        "the loader of libraries (libvmafx.so.0: cannot open shared object file: No such file or directory). Set ",
    ):
        check(text in said, f"'{text}' is not in: {said}")
    said = say(SAY_ERROR, **nothing | {"VMAFX_LIBRARY": "/nowhere"})[1]
    check("looked for at: /nowhere (not there). Set" in said, said)


@case
def library_that_is_not_there(lab):
    empty = lab.folder / "none.so"
    empty.write_text("")
    for named in "/nowhere/libvmafx.so.0", lab.folder, empty:
        code, said = say(
            "import vmafx\ntry: vmafx.Session()\nexcept vmafx.Error as error: print(error.errno, error)",
            VMAFX_LIBRARY=named,
        )
        check_equal(code, 0, said)
        check(said.startswith("2 ") and "Set VMAFX_LIBRARY to" in said, said)


@case
def library_that_is_older(lab):
    (lab.folder / "old.c").write_text('const char *vmafx_version(void) { return "0.0.1"; }\n')
    subprocess.run(["cc", "-shared", "-o", lab.folder / "old.so", lab.folder / "old.c"], check=True)
    code, said = say(VMAFX_LIBRARY=lab.folder / "old.so")
    check(code != 0 and "older than this module, it lacks vmafx_" in said, said)


@case
def installed_by_pip(lab):
    """pip installs the module from the files that git or the distribution has, without a network."""
    if not all(map(find_spec, ("pip", "setuptools", "wheel"))):
        raise Skip("Debian's python3-pip is not installed")
    source, target = lab.folder / "source", lab.folder / "target"
    shutil.copytree(top / "python/vmafx", source / "vmafx", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(top / "python/pyproject.toml", source)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "-q",
        "--disable-pip-version-check",
        "install",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    done = subprocess.run([*pip, "--target", target, source], capture_output=True, text=True)
    check_equal(done.returncode, 0, done.stdout + done.stderr)
    for name in (
        "py.typed",
        "command/page/style.css",
        "command/page/page.js",
        "command/page/viewer.js",
        "command/page/templates/report.html",
    ):
        check((target / "vmafx" / name).exists(), f"{name} is missing")
    done = subprocess.run(
        [target / "bin/vmafx", "--version"],
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    check_equal(done.stdout, f"vmafx {vmafx.__version__}\n", "the command")
    said = say("import vmafx; print(vmafx.__file__, len(vmafx.models()))", PYTHONPATH=target)
    check_equal(said[1].split()[0], f"{target}/vmafx/__init__.py", "file")


@long_case
def types(lab):
    del lab
    if not shutil.which("mypy"):
        raise Skip("Debian's mypy is not installed")
    done = subprocess.run(["mypy", "--cache-dir=/dev/null"], cwd=top / "python", capture_output=True, text=True)
    check_equal(done.returncode, 0, done.stdout + done.stderr)
