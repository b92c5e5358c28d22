"""What ffmpeg and its filter write while they run."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST_WARNINGS = 20  # a damaged file has many
TELLING = "warning", "error", "fatal"  # levels
SUMMARY = re.compile(r": mean |score: |The score is doubtful")
# The number of the input: "[in#0/mov @ …]", "[vist#0:0/h264 @ …]", "Error while decoding stream #0:0" (up to FFmpeg
# 6.0).
OF_INPUT = re.compile(r"^\[(?:in|vist|ist)#(\d+)[:/]|(?:^|\] )\[error\] Error while decoding stream #(\d+):")
CORRUPT = re.compile(r"corrupt (?:decoded frame|input packet)")  # a warning of ffmpeg, of a picture that is damaged
# A system's error in the middle of a file, and a demuxer's complaint that the file should be longer.
READ_ERROR = re.compile(
    "Input/output error|Cannot allocate memory|Stale file handle|Connection (?:reset|timed out)|Error during demuxing"
)
SHORT_FILE = re.compile("ended prematurely|partial file|Read error|Truncat")

DOUBT = re.compile(r"(.*The score is doubtful, .* frame by frame): (.*)\. What helps: (.*)\.")


@dataclass
class Said:
    """What ffmpeg wrote, by level, as far as it matters."""

    lines: list[str]

    @property
    def warnings(self) -> list[str]:
        """Those of the filter, and errors of the others: damaged pictures, say."""
        return shortened([*self.of_filter, *(text for texts in self.damage(()).values() for text in texts)])

    @property
    def of_filter(self) -> list[str]:
        """The filter's warnings and errors."""
        lines = map(split_line, self.lines)
        return list(dict.fromkeys(text for source, level, text in lines if "vmafx" in source and level in TELLING))

    def damage(self, inputs: Sequence[str]) -> dict[int | None, list[str]]:
        """What is wrong with pictures and files, by the number of the input; None: nobody says of which.

        `inputs` are ffmpeg's names for them.
        """
        found: dict[int | None, list[str]] = {}
        for line in self.lines:
            source, level, text = split_line(line)
            if "vmafx" not in source and (level in ("error", "fatal") or CORRUPT.search(text)):
                found.setdefault(_input_of(line, text, inputs), []).append(text)
        return {number: list(dict.fromkeys(texts)) for number, texts in found.items()}

    def forget_seek(self) -> None:
        """Decoders complain where they are made to begin in mid-stream: drops what was said before the filter said how
        it begins.

        With --backend cpu it may say nothing of that, and what comes at the end is too late: the complaints stay.
        """
        first = next((i for i, line in enumerate(self.lines) if "vmafx" in split_line(line)[0]), 0)
        if not SUMMARY.search(self.lines[first] if self.lines else ""):
            self.lines = self.lines[first:]

    @property
    def features(self) -> list[str]:
        """The keys of the main scores of features, as the filter has printed them."""
        texts = (split_line(line)[2] for line in self.lines if "vmafx" in line)
        found = [match[1] for text in texts if (match := re.search(r"(\S+) score: \S+$", text)) and match[1] != "VMAF"]
        return list(dict.fromkeys(found))


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


# -- Of the parts of a stream ------------------------------------------------------------------------------------------


def said_together(saids: Sequence[Said]) -> Said:
    """As of a single run: doubts are told once, with the counts of all parts."""
    lines, doubts = [], []
    for line in (line for said in saids for line in said.lines):
        if found := DOUBT.fullmatch(split_line(line)[2]):
            doubts.append(found.groups())
        else:
            lines.append(line)
    heads = dict.fromkeys(head for head, _, _ in doubts)
    return Said(
        lines
        + [f"[vmafx @ 0x0] [warning] {_sum_up(head, [own[1:] for own in doubts if own[0] == head])}" for head in heads]
    )


def _sum_up(head: str, doubts: Sequence[Sequence[str]]) -> str:
    counts: Counter[str] = Counter()
    others, remedies = [], []
    for found, helps in doubts:
        remedies += helps.split("; ")
        for doubt in found.split("; "):
            what, _, count = doubt.rpartition(": ")
            if count.isdigit():
                counts[what] += int(count)
            else:
                others.append(doubt)
    texts = [f"{what}: {count}" for what, count in counts.items()] + others
    return f"{head}: {'; '.join(dict.fromkeys(texts))}. What helps: {'; '.join(dict.fromkeys(remedies))}."
