"""The lines that ffmpeg and its filter write while they run."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

MOST_WARNINGS = 20  # a damaged file has many
TELLING = "warning", "error", "fatal"  # levels
# The number of the input: "[in#0/mov @ …]", "[vist#0:0/h264 @ …]", "Error while decoding stream #0:0" (up to FFmpeg
# 6.0).
OF_INPUT = re.compile(r"^\[(?:in|vist|ist)#(\d+)[:/]|(?:^|\] )\[error\] Error while decoding stream #(\d+):")
CORRUPT = re.compile(r"corrupt (?:decoded frame|input packet)")  # a warning of ffmpeg, of a picture that is damaged
# A system's error in the middle of a file, and a demuxer's complaint that the file should be longer.
READ_ERROR = re.compile(
    "Input/output error|Cannot allocate memory|Stale file handle|Connection (?:reset|timed out)|Error during demuxing"
)
SHORT_FILE = re.compile("ended prematurely|partial file|Read error|Truncat")
OF_OUTPUT = re.compile("monotonically increasing dts to muxer")  # an error that tells of times, and of no damage

BEGUN = "Output #"  # ffmpeg's own word, at the info level, once the first frame has come through the filters


@dataclass
class Said:
    """The lines of ffmpeg that matter, by level."""

    lines: list[str]

    @property
    def warnings(self) -> list[str]:
        """Warnings of the filter, and errors of all others: damaged pictures, say."""
        return shortened([*self.of_filter, *self.all_damage])

    @property
    def of_filter(self) -> list[str]:
        """The filter's warnings and errors."""
        lines = map(split_line, self.lines)
        return list(dict.fromkeys(text for source, level, text in lines if "vmafx" in source and level in TELLING))

    def damage(self, inputs: Sequence[str]) -> dict[int | None, list[str]]:
        """Finds damage of pictures and files, by the number of the input; None: nobody says of which.

        `inputs` are ffmpeg's names for them.
        """
        found: dict[int | None, list[str]] = {}
        for line in self.lines:
            source, level, text = split_line(line)
            if "vmafx" in source or OF_OUTPUT.search(text):
                continue
            if level in ("error", "fatal") or CORRUPT.search(text):
                found.setdefault(_input_of(line, text, inputs), []).append(text)
        return {number: list(dict.fromkeys(texts)) for number, texts in found.items()}

    @property
    def all_damage(self) -> list[str]:
        """All of it, whichever input it is of."""
        return [text for texts in self.damage(()).values() for text in texts]

    def forget_seek(self) -> None:
        """Drops what decoders say where they are made to begin in mid-stream: what was said by others than the filter
        before the first frame came out of it. If none did, all stays.
        """
        texts = [split_line(line)[2] for line in self.lines]
        begun = next((i for i, text in enumerate(texts) if text.startswith(BEGUN)), 0)
        self.lines = [line for line in self.lines[:begun] if "vmafx" in split_line(line)[0]] + self.lines[begun:]

    def forget(self, texts: Collection[str]) -> None:
        """Drops lines that say this."""
        self.lines = [line for line in self.lines if split_line(line)[2] not in texts]


def _input_of(line: str, text: str, inputs: Sequence[str]) -> int | None:
    if found := OF_INPUT.search(line):
        return int(next(filter(None, found.groups())))
    named = [number for number, name in enumerate(inputs) if text.startswith(f"{name}: ")]
    return named[0] if len(named) == 1 else None


def shortened(texts: Sequence[str]) -> list[str]:
    """Each text once, and only so many: a damaged file has thousands."""
    different = list(dict.fromkeys(texts))
    more = len(different) - MOST_WARNINGS
    return different[:MOST_WARNINGS] + ([f"ffmpeg has said {more} lines more of errors"] if more > 0 else [])


def split_line(line: str) -> tuple[str, str, str]:
    """(who says it, level, text)"""
    found = re.match(r"(?:\[([^\]]* @ 0x[0-9a-f]+)\] )*\[(\w+)\] (.*)", line)
    return (found[1] or "", found[2], found[3]) if found else ("", "", line)


def errors_in(lines: Sequence[str]) -> list[str]:
    return [text for _, level, text in map(split_line, lines) if level in ("error", "fatal", "panic")]


def said_together(saids: Sequence[Said], of_parts: Collection[str], of_all: Sequence[str]) -> Said:
    """Puts the logs of parts together as that of a single run. The filter's warnings `of_parts` about their pairs make
    way for those `of_all`.
    """
    together = Said([line for said in saids for line in said.lines])
    together.forget(of_parts)
    together.lines += [f"[vmafx @ 0x0] [warning] {text}" for text in of_all]
    return together
