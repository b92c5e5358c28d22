"""Completion of the command's words in bash, zsh and fish, by the library argcomplete, which reads the parser."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from ._terminal import Failure, emit

SHELLS = "bash", "zsh", "fish"
PROGRAM = "vmafx"
# The options of bash's `complete` offer names of files if the parser offers no words.
OPTIONS = "-o nospace -o default -o bashdefault"

INSTALL = "completion needs argcomplete: run apt-get install python3-argcomplete, or pip install argcomplete"

# argcomplete before 3.0, as in Debian 12, has no form for zsh; its form for bash runs there after bashcompinit.
ZSH_BEFORE_3 = """\
#compdef {program}
autoload -Uz bashcompinit && bashcompinit
{bash}
_bash_complete {options} -F _python_argcomplete
"""


def is_asked() -> bool:
    """Returns whether a shell has called the command to complete a word, with the line so far in the environment."""
    return "_ARGCOMPLETE" in os.environ


def words_so_far() -> list[str]:
    """Returns the words before the one being completed. A subcommand among them is the only one that is imported."""
    line = os.environ.get("COMP_LINE", "")
    before = line.split()[1:]
    return before if line.endswith(" ") else before[:-1]


def answer(parser: argparse.ArgumentParser) -> NoReturn:
    """Offers words to the shell and ends. Without argcomplete it offers none, and the shell offers names of files."""
    try:
        import argcomplete
    except ImportError:
        sys.exit(1)
    with suppress(Exception):  # a version may not fit this Python, as 2.0 does not fit 3.13
        argcomplete.autocomplete(parser)  # ends the process
    sys.exit(1)


def shell_code(shell: str) -> str:
    """Returns the code by which a shell asks the command for words."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise Failure(INSTALL) from None
    if shell == "fish":
        return str(shellcode([PROGRAM], shell="fish"))
    bash = str(shellcode([PROGRAM], shell="bash"))
    if shell == "zsh" and "ZSH_VERSION" not in bash:
        return ZSH_BEFORE_3.format(program=PROGRAM, bash=bash, options=OPTIONS)
    return bash


class Print(argparse.Action):
    """The option that prints the shell's code, as --version prints the version."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        emit(shell_code(str(values)))
        parser.exit()
