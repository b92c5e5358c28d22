"""What ffmpeg and its filter write while they run."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST_WARNINGS = 20  # a damaged file has many
SUMMARY = re.compile(r": mean |score: |The score is doubtful")
DOUBT = re.compile(r"(.*The score is doubtful, .* frame by frame): pairs scored: \d+; (.*)\. What helps: (.*)\.")


@dataclass
class Said:
    """What ffmpeg wrote, by level, as far as it matters."""

    lines: list[str]

    @property
    def warnings(self) -> list[str]:
        """Those of the filter, and errors of the others: damaged pictures, say."""
        found = []
        for line in self.lines:
            source, level, text = split_line(line)
            if level in ("error", "fatal") or (level == "warning" and "vmafx" in source):
                found.append(text)
        different = list(dict.fromkeys(found))
        more = len(different) - MOST_WARNINGS
        return different[:MOST_WARNINGS] + ([f"ffmpeg has said {more} lines more of errors"] if more > 0 else [])

    def forget_seek(self) -> None:
        """Decoders complain where they are made to begin in mid-stream: drops what was said before the filter said how it begins.

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


def split_line(line: str) -> tuple[str, str, str]:
    """(who says it, level, text)"""
    found = re.match(r"(?:\[([^\]]* @ 0x[0-9a-f]+)\] )*\[(\w+)\] (.*)", line)
    return (found[1] or "", found[2], found[3]) if found else ("", "", line)


# -- Of the parts of a stream ----------------------------------------------------------------------------------------------


def said_together(saids: Sequence[Said]) -> Said:
    """As of a single run: doubts are told once, with the counts of all parts."""
    lines, doubts = [], []
    for line in (line for said in saids for line in said.lines):
        if found := DOUBT.fullmatch(split_line(line)[2]):
            doubts.append(found.groups())
        else:
            lines.append(line)
    heads = dict.fromkeys(head for head, _, _ in doubts)
    return Said(lines + [f"[vmafx @ 0x0] [warning] {_sum_up(head, [own[1:] for own in doubts if own[0] == head])}" for head in heads])


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
