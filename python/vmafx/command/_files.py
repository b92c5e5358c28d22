"""Counts the files that follow one another in one, as `cat` puts them together, and tells whether a file lacks its end.
ffmpeg reads only the first of MP4 and of FLV, and gives the pictures of all in Matroska and NUT times that begin anew.

    refuse_parts(video, "--partial scores what is read")
"""

import mmap
import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from ._ffmpeg import Video
from ._terminal import Failure

MOST_PARTS = 100000  # boxes or elements that are looked at: a fragmented MP4 has one every few seconds
MOST_TAGS = 10_000_000  # tags of FLV, which has one for each picture and piece of sound
EBML, SEGMENT = 0x1A45DFA3, 0x18538067
FLV, HEAD_OF_FLV, HEAD_OF_TAG, SIZE_OF_TAG = b"FLV\x01", 9, 11, 4
NUT = b"nut/multimedia container\0"
RIFF, UNKNOWN = b"RIFF", (0, 0xFFFFFFFF)
Y4M, HEAD_OF_PICTURE, LONGEST_HEAD = b"YUV4MPEG2 ", b"FRAME", 4096
Y4M_COLORS = re.compile(r"(420|411|422|444|mono)(?:jpeg|mpeg2|paldv)?(alpha)?(?:p?(9|10|12|14|16))?")
Y4M_CHROMA = {"420": (2, 2), "411": (4, 1), "422": (2, 1), "444": (1, 1)}  # samples of luma to one of chroma


def refuse_parts(video: Video, remedy: str) -> None:
    """Refuses a file of which ffmpeg would read a part and say nothing. Raises Failure.

    `remedy`: how that is accepted.
    """
    count = files_in(video.path, video.container)
    if count > 1:
        raise Failure(
            f"{video.name} has {count} files, one after another, which ffmpeg does not read as one: join them with "
            f"ffmpeg's demuxer concat ({remedy})"
        )
    if missing := missing_bytes(video.path, video.container):
        raise Failure(
            f"{video.name} lacks the last {missing} bytes of those that it promises: it is damaged or incomplete "
            f"({remedy})"
        )


def files_in(path: str, container: str) -> int:
    """Returns how many files there are in it; 1 if it cannot be told."""
    kinds = set(container.split(","))
    try:
        with open(path.removeprefix("file:"), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if "mov" in kinds:
                return _movies(file, size)
            if "flv" in kinds:
                return _tagged(file, size)
            if "nut" in kinds:
                return _named(file, size)
            return _segments(file, size) if "matroska" in kinds else 1
    except OSError:  # a URL
        return 1


def missing_bytes(path: str, container: str) -> int:
    """Returns how many bytes a file lacks of those that it promises, as a copy that was cut short does: an AVI by its
    head, a Y4M by that of its last picture. ffmpeg takes the end of such a file for that of the video. Other containers
    make ffmpeg say so.
    """
    path = path.removeprefix("file:")
    if container not in ("avi", "yuv4mpegpipe") or not os.path.isfile(path):  # a URL or a pipe
        return 0
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if container == "yuv4mpegpipe":
                return _missing_of_y4m(file, size)
            head = file.read(8)
    except OSError:  # ffmpeg tells why
        return 0
    promised = int.from_bytes(head[4:], "little")
    return max(promised + len(head) - size, 0) if head[:4] == RIFF and promised not in UNKNOWN else 0


def _missing_of_y4m(file: BinaryIO, size: int) -> int:
    """Returns how many bytes the last picture lacks; 0 if the size of pictures cannot be told."""
    head = file.readline(LONGEST_HEAD)
    picture = y4m_picture(head)
    if not picture:
        return 0
    place, least = len(head), len(HEAD_OF_PICTURE) + 1
    if (size - place) % (least + picture) == 0:
        return 0
    while place < size:  # heads of pictures may have parameters
        file.seek(place)
        line = file.readline(LONGEST_HEAD)
        if not line.startswith(HEAD_OF_PICTURE[: len(line)]):
            return 0
        place += max(len(line), least) + picture
    return place - size


def y4m_picture(head: bytes) -> int:
    """Returns how many bytes a picture has behind its head, by the first line of a Y4M; 0 if it does not tell."""
    if not head.startswith(Y4M):
        return 0
    told = {word[:1]: word[1:] for word in head.decode("ascii", "replace").split()[1:]}
    colors = Y4M_COLORS.fullmatch(told.get("C", "420"))
    if not colors or not told.get("W", "").isdecimal() or not told.get("H", "").isdecimal():
        return 0
    w, h = int(told["W"]), int(told["H"])
    kind, alpha, depth = colors.groups()
    samples = w * h * (2 if alpha else 1)
    if kind in Y4M_CHROMA:
        across, down = Y4M_CHROMA[kind]
        samples += 2 * -(-w // across) * -(-h // down)
    return samples * (2 if depth else 1)


def _tagged(file: BinaryIO, size: int) -> int:
    """Counts the heads of FLV, which stand where a tag could."""
    place, count = 0, 0
    for _ in range(MOST_TAGS):
        file.seek(place)
        head = file.read(HEAD_OF_TAG)
        if len(head) < HEAD_OF_FLV or place >= size:
            break
        if head.startswith(FLV):
            count += 1
            place += int.from_bytes(head[5:9], "big") + SIZE_OF_TAG
        else:
            place += HEAD_OF_TAG + int.from_bytes(head[1:4], "big") + SIZE_OF_TAG
    return max(count, 1)


def _named(file: BinaryIO, size: int) -> int:
    """Counts the names with which files of NUT begin."""
    if not size:
        return 1
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        count, place = 0, content.find(NUT)
        while place >= 0 and count < MOST_PARTS:
            count, place = count + 1, content.find(NUT, place + len(NUT))
    return max(count, 1)


def _movies(file: BinaryIO, size: int) -> int:
    """Counts the boxes moov. Fragments may each begin with one, and are read."""
    names = list(_boxes(file, size))
    return 1 if b"moof" in names else max(names.count(b"moov"), 1)


def _boxes(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yields the names of the boxes of an MP4."""
    place = 0
    for _ in range(MOST_PARTS):
        file.seek(place)
        head = file.read(16)
        if len(head) < 8:
            return
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        yield head[4:8]
        if length < 8 or place + length > size:  # 0: to the end of the file
            return
        place += length


def _segments(file: BinaryIO, size: int) -> int:
    """Counts the heads of Matroska."""
    place, count = 0, 0
    for _ in range(MOST_PARTS):
        file.seek(place)
        name, width = _number(file, marked=True)
        length, more = _number(file, marked=False)
        if not width or not more or name not in (EBML, SEGMENT):
            break
        count += name == EBML
        if length == (1 << 7 * more) - 1 or place + length > size:  # a live stream does not tell its length
            break
        place += width + more + length
    return max(count, 1)


def _number(file: BinaryIO, marked: bool) -> tuple[int, int]:
    """Returns a number of EBML and how many bytes it has; `marked`: with the mark of its length, as names are."""
    first = file.read(1)
    if not first or not first[0]:
        return 0, 0
    width = 9 - first[0].bit_length()
    value = int.from_bytes(first + file.read(width - 1), "big")
    return (value if marked else value & ~(1 << 7 * width)), width
