"""Changes of inputs that their tags do not ask for: their pictures show that they are needed, or an option says so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from ._ffmpeg import Video
from ._inputs import SCALE_MATRICES, is_rgb
from ._models import Size
from ._terminal import Failure

MADE_UP_RATE = Fraction(25)  # of frames that are counted, if the reference tells no rate
SHOWN = "as the pictures show"
RENUMBERED = (
    f"has as many frames as the reference at another rate, and other times, {SHOWN}: frames are paired by number"
)
RANGES = {"limited": False, "tv": False, "full": True, "pc": True}
MATRICES = {name: name for name in SCALE_MATRICES} | {"bt601": "smpte170m", "bt2020": "bt2020nc"}


class Turn(NamedTuple):
    """A symmetry of the rectangle: mirrors left and right if `mirrored`, then turns by quarters, clockwise."""

    quarters: int = 0  # 0 to 3
    mirrored: bool = False

    def then(self, other: "Turn") -> "Turn":
        own = -self.quarters if other.mirrored else self.quarters
        return Turn((own + other.quarters) % 4, self.mirrored != other.mirrored)

    @property
    def filters(self) -> list[str]:
        return TURNS[self]

    @classmethod
    def parse(cls, text: str) -> "Turn":
        """Parses the value of --rotate: degrees clockwise, hflip, vflip, or two with + between. Raises ValueError."""
        turn = cls()
        for word in text.split("+"):
            if word not in WORDS:
                raise ValueError(f"'{text}' is not a rotation: use 90, 180, 270, hflip, vflip, or two such as hflip+90")
            turn = turn.then(WORDS[word])
        return turn


TURNS: dict[Turn, list[str]] = {
    Turn(0): [],
    Turn(1): ["transpose=clock"],
    Turn(2): ["hflip", "vflip"],
    Turn(3): ["transpose=cclock"],
    Turn(0, True): ["hflip"],
    Turn(1, True): ["transpose=clock_flip"],
    Turn(2, True): ["vflip"],
    Turn(3, True): ["transpose=cclock_flip"],
}
WORDS = {"0": Turn(), "90": Turn(1), "180": Turn(2), "270": Turn(3), "hflip": Turn(0, True), "vflip": Turn(2, True)}


class Box(NamedTuple):
    """A part of a picture, as FFmpeg's filter crop names it."""

    width: int
    height: int
    left: int
    top: int

    def __str__(self) -> str:
        return ":".join(map(str, self))

    def inside(self, outer: "Box | None") -> "Box":
        """Returns this part of the part `outer` as a part of the whole picture."""
        return self._replace(left=self.left + outer.left, top=self.top + outer.top) if outer else self

    @classmethod
    def parse(cls, text: str) -> "Box":
        """Parses the value of --crop. Raises ValueError."""
        if not (found := re.fullmatch(r"(\d{1,5}):(\d{1,5}):(\d{1,5}):(\d{1,5})", text)):
            raise ValueError(f"'{text}' is not a part of a picture: use WIDTH:HEIGHT:LEFT:TOP, such as 1920:1080:0:0")
        box = cls(*map(int, found.groups()))
        if not box.width or not box.height:
            raise ValueError(f"the part {text} is empty: give a width and a height from 1 on")
        return box


@dataclass(frozen=True)
class Change:
    """The changes of one input. `by_hand`: the fields that options have set, which pictures do not change."""

    turn: Turn = Turn()
    crop: Box | None = None  # the part of the picture that is kept, after turning
    full_range: bool | None = None
    matrix: str | None = None  # by ffprobe's name
    cycle: int | None = None  # in each so many frames, one repeats another and is left out
    counted: bool = False  # frames are taken in their order at the reference's rate, whatever their times are
    later: Fraction = Fraction(0)  # seconds by which an encode begins after the reference
    by_hand: frozenset[str] = frozenset()
    notes: tuple[tuple[str, str], ...] = ()  # what is done and why: a key, and a text that follows the input's name

    def with_note(self, key: str, text: str, **fields: Any) -> "Change":
        """Returns the change with other fields, and the text on them in place of an older one."""
        notes = tuple(note for note in self.notes if note[0] != key)
        return replace(self, **fields, notes=(*notes, (key, text)))

    def set_by_hand(self, text: str, **fields: Any) -> "Change":
        key = next(iter(fields))
        return replace(self.with_note(key, text, **fields), by_hand=self.by_hand | fields.keys())

    def size_of(self, video: Video) -> Size:
        """Returns the size of the picture after turning, before it is cropped."""
        size = Size(video.width, video.height)
        return Size(*reversed(size)) if self.turn.quarters % 2 else size

    def facts(self, video: Video, rate: Fraction) -> Video:
        """Returns what the changed video is; `rate` is that of counted frames. Raises Failure."""
        size, crop = self.size_of(video), self.crop
        if crop and (crop.left + crop.width > size.width or crop.top + crop.height > size.height):
            raise Failure(f"{video.name} is {size}: the part {crop} does not lie in it", 2)
        if crop:
            size = Size(crop.width, crop.height)
        aspect = 1 / video.aspect if video.aspect and self.turn.quarters % 2 else video.aspect
        changed = replace(video, width=size.width, height=size.height, aspect=aspect)
        if self.full_range is not None:
            changed = replace(changed, full_range=self.full_range, pix_fmt=video.pix_fmt.replace("yuvj", "yuv"))
        if self.matrix:
            changed = replace(changed, matrix=self.matrix)
        changed = replace(changed, changed=",".join(self._of_pictures(video)))
        if self.cycle and video.rate:
            match = "fieldmatch," if video.interlaced or video.combed else ""
            slower = video.rate * (self.cycle - 1) / self.cycle
            fields = f"{match}decimate=cycle={self.cycle}"
            changed = replace(changed, rate=slower, interlaced=False, combed=False, fields=fields)
        return changed.at_rate(rate) if self.counted else changed

    def _of_pictures(self, video: Video) -> list[str]:
        filters, tags = [], []
        if self.full_range is not None:
            word = "pc" if self.full_range else "tv"
            tags.append(f"range={word}")
            if video.pix_fmt.startswith("yuvj"):  # a format that means the full range
                filters.append(f"scale=in_range={word}:out_range={word},format={video.pix_fmt.replace('yuvj', 'yuv')}")
        if self.matrix and not is_rgb(video):
            tags.append(f"colorspace={self.matrix}")
        if tags:
            filters.append(f"setparams={':'.join(tags)}")
        filters += self.turn.filters
        if self.turn.quarters % 2:  # transpose does not take each format
            filters.append(f"format={video.pix_fmt.replace('yuvj', 'yuv')}")
        if self.crop:
            filters.append(f"crop={self.crop}:exact=1")
        return filters


AS_TAGGED = Change()


def frames_of(video: Video) -> int | None:
    """Returns how many frames a video has, as its container counts them or as its length and rate tell."""
    if video.frames:
        return video.frames
    return round(video.duration * video.rate) if video.duration and video.rate else None


def counting_rate(ref: Video) -> Fraction:
    return ref.rate or MADE_UP_RATE


def notes_of(changes: Sequence[Change], videos: Sequence[Video]) -> list[str]:
    return [f"{video.name} {text}" for video, change in zip(videos, changes) for _, text in change.notes]
