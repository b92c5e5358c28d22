"""Files that others wrote, changed anywhere: what cannot be read is one error for the user, at once."""

import contextlib
import copy
import io
import json
import random
import signal

from common import case, check, gray_pairs, score_pairs
from vmafx.command._scores import read_scores
from vmafx.command._terminal import Failure
from vmafx.command.comparison.table import read_table
from vmafx.command.fleet.pairs import read_list
from vmafx.command.merge import merge

MUTATIONS = 400  # of each file
MOST_SECONDS = 5
VALUES = (None, True, -1, 0, 10**9, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, "", "nan", "\0", "\ud800", "é\n", [], {}, [[]], {"": None}, [1] * 50, "x" * 10000)
PIECES = (b"0", b"-", b"1e999", b"NaN", b"9" * 5000, b'"', b"\\", b"\0", b"\xff", b"\n", b",", b"[" * 200000, b'{"a":' * 200000, b"<", b"&x;", b"<!DOCTYPE a [", b"{}")


def places_in(thing):
    """(container, key) of all values inside."""
    for key, value in list(thing.items() if isinstance(thing, dict) else enumerate(thing)):
        yield thing, key
        if isinstance(value, (dict, list)):
            yield from places_in(value)


def changed_values(text, chance):
    """Of a JSON text."""
    document = json.loads(text)
    for _ in range(chance.randint(1, 2)):
        container, key = chance.choice(list(places_in(document)) or [(document, "new")])
        if chance.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(chance.choice(VALUES))
        if not document:
            break
    return json.dumps(document).encode("utf-8", "surrogatepass")


def changed_bytes(text, chance):
    changed = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        piece = chance.choice((b"", chance.choice(PIECES), bytes([chance.randrange(256)]), changed[at : at + chance.randint(1, 60)]))
        changed[at : at + chance.choice((0, 0, 1, 8, 200))] = piece
    return bytes(changed)


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


def hold(path, read, *allowed):
    """`read(path)` is done at once, with one line for the user where it fails."""
    text = path.read_bytes()
    kinds = [changed_bytes] + [changed_values] * (text.startswith(b"{") and text.count(b"\n{") == 0)
    for number in range(MUTATIONS):
        chance = random.Random(number)
        path.write_bytes(chance.choice(kinds)(text, chance))
        try:
            with at_once(), contextlib.redirect_stderr(io.StringIO()):
                read(path)
        except (Failure, *allowed) as failure:
            check(str(failure).strip() and "\n" not in str(failure), f"mutation {number} of {path.name}: {str(failure)[:300]!r}")
        except BaseException as error:
            raise AssertionError(f"mutation {number} of {path}: {type(error).__name__}: {str(error)[:300]}") from error


def score_to(path, **options):
    score_pairs(gray_pairs(), model="", feature="psnr", log_path=str(path), **options)


@case
def changed_reports_are_read_or_refused(lab):
    for format in ("json", "ndjson", "csv", "xml"):
        path = lab.folder / f"report.{format}"
        score_to(path, window="0.08")
        hold(path, read_scores)


@case
def changed_parts_are_merged_or_refused(lab):
    first, last = lab.folder / "first.json", lab.folder / "last.json"
    score_to(first, range="0-1")
    score_to(last, range="2-")
    merge([first, last], str(lab.folder / "merged.json"))
    hold(first, lambda path: merge([path, last], str(lab.folder / "merged.json")), OSError)


@case
def changed_tables_are_read_or_refused(lab):
    table = lab.folder / "table.csv"
    table.write_text('series,file,reference,scores,bitrate\na,"x,1.mp4",y.mp4,,\nb,,,z.json,1000.5\n')
    hold(table, read_table)
    table.write_text('{"series": "a", "scores": "x.json", "bitrate": 100}\n{"series": 2, "scores": "y.json", "bitrate": "1e3"}\n')
    hold(table, read_table)


@case
def changed_lists_are_read_or_refused(lab):
    videos = lab.folder / "videos.csv"
    videos.write_text('distorted,reference,models,id\n"x,1.mp4",y.mp4,vmaf_v0.6.1|vmaf_v0.6.1neg,1\nz.mp4,y.mp4,,2\n')
    hold(videos, lambda path: read_list(path, None, ()))
    videos.write_text('{"distorted": "x.mp4", "reference": "y.mp4", "features": ["psnr"]}\n{"distorted": "z.mp4", "reference": "y.mp4", "id": 7}\n')
    hold(videos, lambda path: read_list(path, None, ()))
