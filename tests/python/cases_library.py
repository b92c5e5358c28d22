"""Where the library is found, and how the module is installed."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import vmafx
from common import Skip, case, check, check_equal, long_case, run_python, top

SAY = "import vmafx; print(vmafx.version())"
build = os.path.dirname(os.path.dirname(os.environ["VMAFX_LIBRARY"]))


def say(program=SAY, **variables):
    """What the module says in another environment; None takes a variable away."""
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
    """As quickstart builds and installs it, also through a link."""
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


@case
def library_that_is_not_there(lab):
    empty = lab.folder / "none.so"
    empty.write_text("")
    for named in "/nowhere/libvmafx.so.0", lab.folder, empty:
        code, said = say("import vmafx\ntry: vmafx.Session()\nexcept vmafx.Error as error: print(error.errno, error)", VMAFX_LIBRARY=named)
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
    """Of the files alone that git or the distribution has, without a network."""
    if not all(map(find_spec, ("pip", "setuptools", "wheel"))):
        raise Skip("Debian's python3-pip is not installed")
    source, target = lab.folder / "source", lab.folder / "target"
    shutil.copytree(top / "python/vmafx", source / "vmafx", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(top / "python/pyproject.toml", source)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", target, source], capture_output=True, text=True)
    check_equal(done.returncode, 0, done.stdout + done.stderr)
    for name in ("py.typed", "vmafx.h", "command/page/style.css", "command/page/page.js"):
        check((target / "vmafx" / name).exists(), f"{name} is missing")
    done = subprocess.run([target / "bin/vmafx", "--version"], env={**os.environ, "PYTHONPATH": str(target)}, capture_output=True, text=True)
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
