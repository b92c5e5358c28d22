#!/usr/bin/python3
"""Gives arbitrary bytes to the readers of the command `vmafx`.

They read reports, tables of encodes, lists of pairs, results of libraries, and parts of streams.

usage: command_readers.py [--inputs N] [--seed N] [--atheris] [FILE|LIBFUZZER OPTION…]

  --inputs   make so many inputs of the seeds (fuzz/corpus/command) and findings (fuzz/findings/command), the same ones
             each time; default: 3000
  --seed     of the first one, default: 0
  --atheris  have libFuzzer make them (pip install atheris); options of libFuzzer follow
  FILE       hold this input alone

An input is a line with the name of a reader (report, table, list, results, part), and what it reads. Each is read, or
refused with one line for the user; what is read is shown in all ways: pages have no elements, attributes or scripts but
those of their templates, JSON is JSON. All this takes less than MOST_SECONDS and MOST_BYTES. An input that is not held
so is written to finding-command in the working folder. FILE may be such a one.
"""

import argparse
import contextlib
import copy
import io
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from html.parser import HTMLParser
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(1, str(TOP / "python"))

from vmafx.command import merge, report  # noqa: E402
from vmafx.command._scores import read_scores  # noqa: E402
from vmafx.command._statistics import pooled_values  # noqa: E402
from vmafx.command._terminal import Failure  # noqa: E402
from vmafx.command.comparison.comparison import Comparison, main_keys  # noqa: E402
from vmafx.command.comparison.output import as_json, print_tables, write_csv  # noqa: E402
from vmafx.command.comparison.points import points_of  # noqa: E402
from vmafx.command.comparison.scores import take_scores  # noqa: E402
from vmafx.command.comparison.table import read_table  # noqa: E402
from vmafx.command.fleet.pairs import read_list  # noqa: E402
from vmafx.command.fleet.store import open_results  # noqa: E402
from vmafx.command.fleet.summary import Summary, write_summary  # noqa: E402
from vmafx.command.page.comparison import make_page as make_comparison  # noqa: E402
from vmafx.command.page.page import Page, make_page  # noqa: E402

MOST_SECONDS = 10
MOST_BYTES = 3 << 30  # memory of the whole process, with the library
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the folder in which inputs are written
PAGES = 4  # one of this many inputs has its page checked, which takes the longest

# Tags of the templates. Any other would come from the input.
TAGS = {
    *("html head meta title style body header h1 h2 h3 p ul ol li section figure figcaption div span b br".split()),
    *("svg path g circle text table thead tbody tr th td details summary footer".split()),
    *("main nav a dl dt dd".split()),
}
ATTRIBUTES = {
    *("lang charset http-equiv content name class id viewbox preserveaspectratio role aria-label".split()),
    *("aria-hidden d x y r transform scope tabindex open data-head href".split()),
}


def require(condition: object, text: str) -> None:
    if not condition:
        raise AssertionError(text)


# -- What is held of what was read -------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        require(tag in TAGS, f"an element {tag}")
        for name, _ in attributes:
            require(name in ATTRIBUTES, f"an attribute {name} of {tag}")
        require(dict(attributes).get("href", "#").startswith("#"), "a link to another page")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment {data[:80]!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration {data[:80]!r}")


def hold_page(text: str) -> None:
    page = _Page()
    page.feed(text.replace("<!DOCTYPE html>", "", 1))
    page.close()
    require(not re.search("[\ud800-\udfff\0]", text), "a character that is not text")
    require("NaN" not in re.sub(r'(?s)<style>.*?</style>|"[^"]*"|>[^<]*<', "", text), "a number that is not one")
    for path in re.findall(r' d="([^"]*)"', text):
        require(re.fullmatch(r"[MLHVAZ\d .e+-]*", path), f"a path {path[:80]!r}")
    text.encode()


def hold_report(path: Path, with_page: bool) -> None:
    encodes = read_scores(path)
    for encode in encodes:
        for key, scores in encode.scores.items():
            require(len(scores) == len(encode.numbers), f"{key} has not as many scores as there are frames")
        require(len(encode.times) in (0, len(encode.numbers)), "some frames have times")
        if with_page:
            for values in (pooled_values(encode, key) for key in list(encode.scores)[:4]):
                require(
                    not any(value is not None and math.isnan(value) for value in values.values()),
                    "a pooled value is NaN",
                )
    if with_page and len(encodes) < 20:
        hold_page(make_page(Page(encodes, report._usual_keys(encodes))))


def hold_table(path: Path, with_page: bool) -> None:
    rows = [row for row in read_table(path) if row.scores and row.bitrate]
    points = points_of(rows, None) if rows else []
    take_scores(points, None, None, "mean")
    keys = [key for key in main_keys(points) if any(key in point.values for point in points)]
    if keys:
        comparison = Comparison(points, keys, rows[0].series, "mean", "pchip", "no BD-rates")
        json.dumps(as_json(comparison), allow_nan=False)
        write_csv(comparison, io.StringIO())
        with contextlib.redirect_stdout(io.StringIO()):
            print_tables(comparison)
        if with_page:
            hold_page(make_comparison(comparison))


def hold_list(path: Path, with_page: bool) -> None:
    del with_page
    pairs = read_list(path, None, ())
    require(len({pair.id for pair in pairs}) == len(pairs), "two pairs have one name")


def hold_results(path: Path, with_page: bool) -> None:
    results = open_results(path)
    try:
        records = list(results.all())
    finally:
        results.close()
    summary = Summary(records)
    with contextlib.redirect_stdout(io.StringIO()):
        summary.show(3)
    if with_page:
        write_summary(path.with_suffix(".html"), summary, "Library", 3)
        hold_page(path.with_suffix(".html").read_text())


def hold_part(path: Path, with_page: bool) -> None:
    """Merges the part with the part that follows."""
    paths = [str(path), str(path.with_name("after.json"))]
    if with_page and "VMAFX_LIBRARY" in os.environ:
        merge.merge(paths, str(path.with_name("merged.json")))
        json.loads(path.with_name("merged.json").read_bytes())
    else:
        merge.streams_of(paths)


READERS = {"report": hold_report, "table": hold_table, "list": hold_list, "results": hold_results, "part": hold_part}
ENDINGS = {"results": ".jsonl", "part": ".json"}


@contextlib.contextmanager
def at_once():
    def late(*_):
        raise TimeoutError(f"it took more than {MOST_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def prepare(folder: Path) -> None:
    """Makes the files that inputs refer to: reports, and the part that follows."""
    for path in (TOP / "fuzz/corpus/command/beside").iterdir():
        shutil.copy(path, folder)


def hold(data: bytes, folder: Path, in_time: contextlib.AbstractContextManager[None] | None = None) -> str:
    """Reads an input and returns the outcome, in a word or as an error. Raises anything but an error for the user."""
    name, _, content = data.partition(b"\n")
    reader = name.decode(errors="replace") if name.decode(errors="replace") in READERS else "report"
    path = folder / f"input{ENDINGS.get(reader, '')}"
    path.write_bytes(content)
    with_page = sum(data[-64:]) % PAGES == 0
    try:
        with in_time or at_once(), contextlib.redirect_stderr(io.StringIO()):
            READERS[reader](path, with_page)
    except Failure as failure:
        text = str(failure)
        lines = (
            text.count("\n") if reader not in ("table", "list") else 0
        )  # names of files may have several lines, which are quoted when printed
        require(
            text.strip() and not lines and "Traceback" not in text and len(text) < 20000,
            f"an error that is not one line: {text[:300]!r}",
        )
        require("not enough memory" not in text, text)
        return text
    except OSError as failure:  # merge raises it, and the command catches it
        require(reader == "part", repr(failure))
        return str(failure)
    return "read"


# -- Inputs ------------------------------------------------------------------------------------------------------------

VALUES = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        10**9,
        2**31,
        2**53,
        2**63,
        -(2**63),
        2**64,
        10**400,
        0.5,
        -0.0,
        1e308,
        -1e308,
        1e-320,
        1e15,
        1e16,
        float("inf"),
        float("nan"),
    ),
    *(
        "",
        "nan",
        "inf",
        "-inf",
        "\0",
        "\ud800",
        "\udc80",
        "é\n",
        "\x1b[31m",
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</script>",
        "{{7*7}}",
        "{% raw %}",
    ),
    *(
        [],
        {},
        [[]],
        {"": None},
        {"a": {}},
        [1] * 50,
        "x" * 10000,
        {"<b>": "<i>"},
        {"mean": "<b>"},
        "1e400",
        "1_0",
        "٣",
        "-5",
    ),
)
PIECES = (
    *(
        b"0",
        b"-",
        b"1e999",
        b"-1e308",
        b"1e308",
        b"NaN",
        b"Infinity",
        b"9" * 5000,
        b'"',
        b"'",
        b"\\",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\n",
        b"\r",
        b",",
        b";",
        b"|",
    ),
    *(
        b"[" * 20000,
        b'{"a":' * 20000,
        b"<",
        b"&",
        b"&x;",
        b"<!DOCTYPE a [",
        b'<!ENTITY x "y">',
        b"{}",
        b"[]",
        b"null",
        b"true",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
    ),
    *(
        b"<script>alert(1)</script>",
        b"&lt;",
        b"\\ud800",
        b"\\u0000",
        b"inf",
        b"1e-320",
        b"9007199254740993",
        b"://",
        b"{{",
        b"%}",
        b"frameNum",
        b"metrics",
    ),
)


def places_in(thing):
    """Yields (container, key) of all values inside."""
    for key, value in list(thing.items() if isinstance(thing, dict) else enumerate(thing)):
        yield thing, key
        if isinstance(value, (dict, list)):
            yield from places_in(value)


def changed_values(text: bytes, chance: random.Random) -> bytes:
    """Changes values of a JSON text, or of one of its lines."""
    lines = text.splitlines(keepends=True) if text.count(b"\n{") else [text]
    number = chance.randrange(len(lines))
    document = json.loads(lines[number])
    if not isinstance(document, (dict, list)):
        raise ValueError("nothing is in it")
    for _ in range(chance.randint(1, 2)):
        container, key = chance.choice(list(places_in(document)) or [(document, "new")])
        draw = chance.random()
        if draw < 0.15:
            del container[key]
        elif draw < 0.25 and isinstance(container, dict):
            container[chance.choice([value for value in VALUES if isinstance(value, str)])] = container.pop(key)
        else:
            container[key] = copy.deepcopy(chance.choice(VALUES))
        if not document:
            break
    lines[number] = json.dumps(document).encode("utf-8", "surrogatepass") + b"\n" * lines[number].endswith(b"\n")
    return b"".join(lines)


def changed_bytes(text: bytes, chance: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        piece = chance.choice(
            (b"", chance.choice(PIECES), bytes([chance.randrange(256)]), changed[at : at + chance.randint(1, 60)])
        )
        changed[at : at + chance.choice((0, 0, 1, 8, 200))] = piece
    return bytes(changed)


def changed_words(text: bytes, chance: random.Random) -> bytes:
    """Changes a number, a cell, a text in quotes or an attribute into something else."""
    words = list(re.finditer(rb'"[^"\n]*"|[-+.\w]+', text))
    if not words:
        return text
    word = chance.choice(words)
    new = chance.choice(
        (
            chance.choice(PIECES)[:100],
            b'"' + chance.choice(PIECES)[:100].replace(b'"', b"") + b'"',
            str(chance.choice(VALUES))[:100].encode("utf-8", "surrogatepass"),
        )
    )
    return text[: word.start()] + new + text[word.end() :]


def changed(data: bytes, chance: random.Random) -> bytes:
    name, _, content = data.partition(b"\n")
    kinds = [changed_bytes, changed_words] + [changed_values] * 2 * content.startswith(b"{")
    try:
        return name + b"\n" + chance.choice(kinds)(content, chance)
    except (ValueError, RecursionError):  # an earlier change has broken it
        return name + b"\n" + changed_bytes(content, chance)


def seeds() -> list[bytes]:
    folders = TOP / "fuzz/corpus/command", TOP / "fuzz/findings/command"
    return [
        path.read_bytes()
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.is_file()
    ]


def hold_inputs(count: int, seed: int = 0, only: str = "", finding: str = "") -> dict[str, int]:
    """Makes inputs from the seeds, or only from those of the reader `only`; returns how many were read, and how many
    refused.

    Raises AssertionError with the first that is not held, which is written to the file `finding`.
    """
    bases = [base for base in seeds() if base.startswith(only.encode() + b"\n" if only else b"")]
    counts = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory(prefix="vmafx-fuzz-", dir=IN_MEMORY) as name:
        folder = Path(name)
        prepare(folder)
        for number in range(seed, seed + count):
            chance = random.Random(number)
            data = bases[number % len(bases)]
            for _ in range(chance.choice((0, 1, 1, 1, 2, 3)) if number >= len(bases) else 0):
                data = changed(data, chance)
            try:
                counts["read" if hold(data, folder) == "read" else "refused"] += 1
            except BaseException as error:
                if not isinstance(error, KeyboardInterrupt):
                    if finding:
                        Path(finding).write_bytes(data)
                    raise AssertionError(
                        f"input {number} of seed {seed} ({data[:60]!r}…): {type(error).__name__}: {str(error)[:300]}"
                    ) from error
                raise
    return counts


# -- The program -------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--inputs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true")
    arguments, others = parser.parse_known_args()
    if arguments.atheris:
        return guided(others)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    if others:
        with tempfile.TemporaryDirectory(prefix="vmafx-fuzz-", dir=IN_MEMORY) as folder:
            prepare(Path(folder))
            for path in others:
                print(f"{path}: {hold(Path(path).read_bytes(), Path(folder))}")
        return 0
    counts = hold_inputs(arguments.inputs, arguments.seed, finding="finding-command")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{arguments.inputs} inputs: {counts['read']} read, {counts['refused']} refused; {most} MiB")
    return 0


def guided(options: list[str]) -> int:
    """Runs libFuzzer, which bounds time and memory itself (-timeout, -rss_limit_mb)."""
    import atheris

    atheris.instrument_all()
    with tempfile.TemporaryDirectory(prefix="vmafx-fuzz-", dir=IN_MEMORY) as folder:
        prepare(Path(folder))

        def held(data: bytes) -> None:
            hold(data, Path(folder), contextlib.nullcontext())

        atheris.Setup([sys.argv[0], f"-timeout={MOST_SECONDS}", *options], held)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", ResourceWarning)
    sys.exit(main())
