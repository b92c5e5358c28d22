"""Lists the worst frames by each score, with pictures of them if there are files, and maps over these."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from ..._system import processors
from .._findings import is_wrong
from .._scores import Encode
from .._statistics import rate_of, worst_frames
from .._terminal import Failure, note, time_text
from . import maps as page_maps
from .links import Link, link_to
from .maps import Map, Maps, Scale
from .pictures import MOST_SAMPLES, MOST_TEXT, QUALITIES, Media, compressed, picture
from .plots import Label, telling_names
from .tables import decimals_of_frames, number

APART_S, APART = 1.0, 1 / 8  # distance of worst frames: seconds, or this part of the whole length if that is less
MOST_AT_ONCE = 4  # programs that make pictures


@dataclass(frozen=True)
class Picture:
    """A picture of an encode or of the reference. Without data, `problem` says why."""

    label: Label | None  # the encode; None: the reference
    name: str
    what: str
    score: str = ""
    data: str = ""
    problem: str = ""
    place: int = 0  # of an encode's frame in its lists
    map: Map | None = None
    telling: str = ""  # what tells the name from those of the other encodes


@dataclass(frozen=True)
class WorstFrame:
    score: str
    place: Link
    remark: str = ""
    number: int = 0
    time: float | None = None
    pictures: Sequence[Picture] = ()
    above: Link | None = None  # the place on the page that has its pictures already


@dataclass(frozen=True)
class WorstFrames:
    title: str
    has_pictures: bool
    frames: list[WorstFrame]
    told: str = ""  # how the pictures were made smaller, if they were

    @property
    def summary(self) -> str:
        """The list in a few words, for where it is folded."""
        return f"{self.frames[0].score} in {self.frames[0].place.text}"


@dataclass
class Worst:
    """The worst frames of a page. Only those of its first score get pictures: each takes a decoder's time, and room."""

    encodes: Sequence[Encode]
    media: Media | None
    most: int  # frames of an encode
    chosen: Sequence["Place"] = ()  # other frames that get pictures
    maps: Maps | None = None
    seen: set[int] = field(default_factory=set)  # numbers of frames that have pictures
    scale: Scale | None = None  # of the maps, once there are some

    def lists(self, key: str, pictured: bool) -> list[WorstFrames]:
        pictured = bool(pictured and self.media and self.media.ref)
        decimals = decimals_of_frames(self.encodes, key)
        found = (
            self._list(place, encode, key, decimals, pictured and bool(encode.times))
            for place, encode in enumerate(self.encodes)
            if key in encode.scores
        )
        lists = [*(self._chosen(key, decimals) if pictured and self.chosen else ()), *filter(None, found)]
        return self._with_pictures(lists) if pictured else lists

    def _chosen(self, key: str, decimals: int) -> Iterator[WorstFrames]:
        """Yields the list of the chosen frames of the first encode that has times and scores."""
        for place, encode in enumerate(self.encodes):
            if encode.times and key in encode.scores:
                found = [chosen.place_in(encode) for chosen in self.chosen]
                frames = [self._frame(place, i, key, decimals, True) for i in dict.fromkeys(found)]
                yield WorstFrames("Chosen frames", True, frames)
                return

    def _list(self, place: int, encode: Encode, key: str, decimals: int, pictured: bool) -> WorstFrames | None:
        apart = min(APART_S, APART * (encode.times[-1] - encode.times[0])) if encode.times else 0
        chosen = worst_frames(encode, key, self.most, apart)
        if not chosen:
            return None
        frames = [self._frame(place, i, key, decimals, pictured) for i in chosen]
        title = f"Worst frames of {encode.name}" if len(self.encodes) > 1 else "Worst frames"
        return WorstFrames(title, pictured, frames)

    def _frame(self, place: int, i: int, key: str, decimals: int, pictured: bool) -> WorstFrame:
        encode = self.encodes[place]
        frame, time = encode.numbers[i], encode.times[i] if encode.times else None
        told = f"frame {frame}" if time is None else f"frame {frame} at {time_text(time)}"
        remark = "a pair that is sure to be wrong" if is_wrong(encode, frame) else ""
        score, above, pictures = number(encode.scores[key][i], decimals), None, []
        if pictured and frame in self.seen:
            above = Link("pictures above", f"#frame{frame}")
        elif pictured and time is not None:
            self.seen.add(frame)
            pictures = list(self._wanted(place, i, time, key, decimals))
        return WorstFrame(score, link_to(told, frame, time), remark, frame, time, pictures, above)

    def _wanted(self, place: int, i: int, time: float, key: str, decimals: int) -> Iterator[Picture]:
        """Yields the pictures of a frame, without their data: the reference, the encode, the others."""
        names = telling_names([encode.name for encode in self.encodes])
        yield Picture(None, "reference", f"frame {self.encodes[place].numbers[i]} of reference")
        for other in (place, *(other for other in range(len(self.encodes)) if other != place)):
            encode = self.encodes[other]
            if encode.times and (near := _nearest(encode, time)) is not None:
                score = number(encode.scores[key][near], decimals) if key in encode.scores else ""
                what = f"frame {encode.numbers[near]} of {encode.name}"
                yield Picture(Label(encode.name, other), encode.name, what, score, place=near, telling=names[other])

    def _with_pictures(self, lists: Sequence[WorstFrames]) -> list[WorstFrames]:
        wanted = [(frame, picture) for found in lists for frame in found.frames for picture in frame.pictures]
        found, told = self._small_enough(self._with_maps(wanted))
        made = iter(found)
        return [
            WorstFrames(
                found.title,
                found.has_pictures,
                [replace(frame, pictures=[next(made) for _ in frame.pictures]) for frame in found.frames],
                told if place == 0 else "",
            )
            for place, found in enumerate(lists)
        ]

    def _with_maps(self, wanted: "Sequence[tuple[WorstFrame, Picture]]") -> "list[tuple[WorstFrame, Picture]]":
        """Returns the pictures of encodes with their maps."""
        if not self.maps or not self.media or not wanted:
            return list(wanted)
        places = [page_maps.Place(own.label.number, own.place) for _, own in wanted if own.label]
        found, self.scale = page_maps.make(self.maps, self.media.ffmpeg, self.encodes, places)
        made = iter(found)
        return [(frame, replace(own, map=next(made)) if own.label else own) for frame, own in wanted]

    def _small_enough(self, wanted: Sequence[tuple[WorstFrame, Picture]]) -> tuple[list[Picture], str]:
        """Returns the pictures with their data, and how they were made smaller for the page.

        Each is decoded once, and kept in memory: of all of them, MOST_SAMPLES take 150 MB.
        """
        most = MOST_SAMPLES // max(len(wanted), 1)
        room = MOST_TEXT - sum(len(own.map.data) for _, own in wanted if own.map)
        qualities, samples, told = list(QUALITIES), most, ""
        with ThreadPoolExecutor(min(processors(), MOST_AT_ONCE)) as pool:
            decoded = list(pool.map(lambda pair: self._decoded(pair[0], pair[1], most), wanted))
            while True:
                made = list(pool.map(lambda pair: self._compressed(pair[0], pair[1], samples, qualities[0]), decoded))
                size = sum(len(own.data) for own in made)
                if size <= room:
                    return made, told
                if len(qualities) > 1:
                    qualities.pop(0)
                else:
                    samples = int(0.95 * samples * (room / size) ** 0.75)  # noise fades when it is scaled down
                told = f"Pictures are JPEGs of ffmpeg’s quality {qualities[0]}"
                told += f", of {samples:,} samples at most" if samples < most else ""
                told += ": the page stays below 15 MB."

    def _decoded(self, frame: WorstFrame, wanted: Picture, samples: int) -> tuple[Picture, bytes]:
        assert self.media and self.media.ref and frame.time is not None
        path = self.media.dists[wanted.label.number] if wanted.label else self.media.ref
        rate = rate_of(self.encodes[wanted.label.number if wanted.label else 0])
        try:
            return wanted, picture(self.media, path, frame.time, rate, samples)
        except Failure as failure:
            return self._problem(wanted, failure), b""

    def _compressed(self, wanted: Picture, decoded: bytes, samples: int, quality: int) -> Picture:
        assert self.media
        if not decoded:
            return wanted
        try:
            return replace(wanted, data=compressed(self.media.ffmpeg, decoded, samples, quality))
        except Failure as failure:
            return self._problem(wanted, failure)

    def _problem(self, wanted: Picture, failure: Failure) -> Picture:
        note(str(failure))
        return replace(wanted, problem=str(failure))


@dataclass(frozen=True)
class Place:
    """A frame that the user has chosen, by its number or by its time in seconds."""

    number: int | None = None
    time: float | None = None

    def place_in(self, encode: Encode) -> int:
        """Returns the place of the frame in the lists of an encode. Raises Failure."""
        if self.time is not None:
            found, what = _nearest(encode, self.time), f"at {self.time:g} s"
        else:
            assert self.number is not None
            found, what = bisect_left(encode.numbers, self.number), f"with the number {self.number}"
            if found == len(encode.numbers) or encode.numbers[found] != self.number:
                found = None
        if found is None:
            last = f"{encode.numbers[-1]}, at {encode.times[-1]:.3f} s"
            raise Failure(f"{encode.name} has no scored frame {what}: its last one is {last}")
        return found


def _nearest(encode: Encode, time: float) -> int | None:
    """Returns the place of the frame that is shown at this time, by less than half a frame."""
    half = 0.5 / rate_of(encode)
    place = bisect_left(encode.times, time - half)
    return place if place < len(encode.times) and encode.times[place] < time + half else None
