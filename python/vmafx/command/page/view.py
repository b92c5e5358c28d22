"""Makes the page of `vmafx view`: the viewer of pictures over a page with the facts of the inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .document import render
from .maps import Scale
from .plots import Label, telling_names


@dataclass(frozen=True)
class View:
    """Facts of whole files, for the page's script."""

    names: Sequence[str]  # of the encodes
    reference: str
    width: int  # as pictures are shown
    height: int
    start: float  # the time of the first frame, in seconds
    rate: float  # frames a second
    frames: int | None  # None: the files do not say how many
    keys: Sequence[str]  # of the scores, the first one is shown first
    worse_high: Sequence[str]  # keys whose high scores are the worse ones
    notes: Sequence[str] = ()  # how the inputs were made alike
    maps: Scale | None = None  # what the colors of maps stand for; None: there are no maps
    extent: tuple[float, float] = (1.0, 1.0)  # of maps, as parts of the picture

    def for_script(self) -> dict[str, Any]:
        names = ("names", "reference", "width", "height", "start", "rate", "frames", "keys", "worse_high")
        maps = dict(zip(("width", "height"), self.extent)) if self.maps else None
        return {**{name: getattr(self, name) for name in names}, "brief": telling_names(self.names), "maps": maps}


def make_page(view: View) -> str:
    names = ", ".join(view.names)
    facts = [f"reference {view.reference}", f"{view.width}x{view.height}", f"{view.rate:.6g} frames a second"]
    if view.frames is not None:
        facts.append(f"{view.frames:,} frames")
    return render(
        "view.html",
        f"View of {names}" if len(names) <= 80 or len(view.names) == 1 else f"View of {len(view.names)} encodes",
        live=view.for_script(),
        facts=facts,
        warnings=[],
        series=[Label(name, place) for place, name in enumerate(view.names)],
        notes=view.notes,
        maps=view.maps,
    )
