#!/usr/bin/env python3
"""Makes python/vmafx/_header.py, the declarations and the version in include/vmafx/vmafx.h, by the C preprocessor.

usage: tools/make_header.py [--check]

  --check  writes nothing; exits 1 when the module is not what the header says

The preprocessor is that of the compiler CC, or cc. The module changes with functions, structs and versions, not with
options, which the library tells when it runs.
"""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
MODULE = TOP / "python/vmafx/_header.py"

MARK = "VERSION:"
PROGRAM = f"""\
#define VMAFX_DECLARATIONS_ONLY
#include "vmafx/vmafx.h"
{MARK} VMAFX_VERSION_MAJOR VMAFX_VERSION_MINOR VMAFX_VERSION_PATCH
"""

TEXT = '''\
"""The declarations in vmafx.h, as cffi reads them, and its version. Made by tools/make_header.py."""

version = "{version}"

declarations = """
{declarations}
"""
'''


def module():
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-P", "-I", TOP / "include", "-x", "c", "-"]
    said = subprocess.run(command, input=PROGRAM, stdout=subprocess.PIPE, text=True, check=True).stdout
    declarations, _, numbers = said.partition(MARK)
    lines = [" ".join(line.split()) for line in declarations.splitlines() if line.strip()]
    return TEXT.format(version=".".join(numbers.split()), declarations="\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the module would change")
    made = module()
    if not parser.parse_args().check:
        MODULE.write_text(made)
    elif MODULE.read_text() != made:
        sys.exit(f"{MODULE.relative_to(TOP)} is not what vmafx.h says: run tools/make_header.py")


main()
