"""Tells whether two names are one file, and which files FFmpeg may read by a name."""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator

MOST_LINKS = 40  # links in a row that Linux follows
MOST_OF_LIST = 1 << 20  # bytes of a playlist that are read
LISTS = {  # the beginning of each kind of playlist: the pattern by which its lines name files
    b"#EXTM3U": r"^(?!#)[ \t]*(\S.*?)\s*$|\bURI=\"(.+?)\"",
    b"ffconcat version": r"^[ \t]*file[ \t]+'?(.+?)'?\s*$",
}
STANDARD_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
NAMED_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)", re.ASCII)

Path = str | os.PathLike[str]
Identity = tuple[object, ...]


def state(path: Path) -> os.stat_result | None:
    """Returns the state of the file behind all links, or None if there is no such file.

    Raises OSError (too many links, a name that is too long) and ValueError (a NUL in the name).
    """
    descriptor = _named_descriptor(os.path.abspath(path))
    if descriptor is not None:
        try:
            return os.fstat(descriptor)
        except (OSError, OverflowError):  # it is not open
            return None
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _named_descriptor(name: str) -> int | None:
    """Returns the descriptor that an absolute path names in words: /dev/stdout, /dev/fd/3, /proc/self/fd/3."""
    named = NAMED_DESCRIPTOR.fullmatch(name)
    return int(named[1]) if named else STANDARD_STREAMS.get(name)


def identities(path: Path) -> set[Identity]:
    """Returns the identities of a file: two names with a common identity are one file, now or once it is made.

    A character device has none, since many may write to it. Raises as state() does.
    """
    target = os.path.realpath(path)
    found = state(path)
    if found is None:
        folder = state(os.path.dirname(target))
        return {(target,), *([(folder.st_dev, folder.st_ino, os.path.basename(target))] if folder else [])}
    if stat.S_ISCHR(found.st_mode):
        return set()
    return {(target,), (found.st_dev, found.st_ino)}


def file_of_output(name: str) -> str:
    """Returns the path that the library writes to for a name: "-" is standard output, "pipe:3" an open file."""
    found = re.fullmatch(r"pipe:(\d+)", "pipe:1" if name == "-" else name)
    return f"/dev/fd/{found[1]}" if found else name


def descriptor_of(path: Path) -> int | None:
    """Returns the open file of this process that a name stands for: /dev/stdout, /dev/fd/3, /proc/self/fd/3 or a link
    to one of these; None for the name of any other file. These names mean the open file whatever is in /dev.
    """
    name = os.path.abspath(path)
    for _ in range(MOST_LINKS):
        if (named := _named_descriptor(name)) is not None:
            return named
        folder, last = os.path.realpath(os.path.dirname(name)), os.path.basename(name)
        if folder == f"/proc/{os.getpid()}/fd":
            return int(last) if last.isdecimal() else None
        name = os.path.join(folder, last)
        if not os.path.islink(name):
            return None
        name = os.path.join(folder, os.readlink(name))
    return None


# -- Names of inputs ---------------------------------------------------------------------------------------------------


def files_of(name: str) -> Iterator[str]:
    """Yields the files that FFmpeg may read by this name, and those that a playlist (HLS, ffconcat) names.

    If no file has this name, the files are behind protocols (file:a, concat:a|b, subfile,,…:a) and patterns (%03d).
    """
    for file in [name] if os.path.exists(name) else _behind_protocols(name):
        yield file
        yield from _listed(file)


def _behind_protocols(name: str) -> Iterator[str]:
    for piece in name.split("|"):
        for colon in re.finditer("^|:", piece):
            file = piece[colon.end() :]
            yield file
            if re.search(r"%\d*d", file):
                yield from glob.glob(re.sub(r"%\d*d", "*", glob.escape(file)))


def _listed(path: str) -> Iterable[str]:
    if not os.path.isfile(path):
        return []
    try:
        with open(path, "rb") as file:
            begin = file.read(MOST_OF_LIST)
    except OSError:
        return []
    patterns = [pattern for first, pattern in LISTS.items() if begin.startswith(first)]
    lines = (found for pattern in patterns for found in re.finditer(pattern, os.fsdecode(begin), re.M))
    names = (next(filter(None, found.groups())) for found in lines)
    return [os.path.join(os.path.dirname(path), name.removeprefix("file:")) for name in names]


def files_of_models(texts: Iterable[str]) -> Iterator[str]:
    """Yields the model files that texts of the option `model` name: path=FILE."""
    return values_of("path", texts)


def values_of(key: str, texts: Iterable[str]) -> Iterator[str]:
    """Yields the values of a key in texts of the options `model` and `feature`: name=a:KEY=VALUE|…, and overloads
    a.KEY=VALUE. A backslash escapes the next character.
    """
    for text in texts:
        for value in re.findall(rf"(?:^|[:|.]){key}=((?:\\.|[^:|\\])+)", text):
            yield re.sub(r"\\(.)", r"\1", value)
