"""Links to places of the page: a time and a frame, which its scripts show on curves and in pictures."""

from typing import NamedTuple


class Link(NamedTuple):
    text: str
    href: str  # begins with #


def link_to(text: str, frame: int, time: float | None) -> Link:
    """Returns a link to a frame. The script of places reads what is behind `#`."""
    return Link(text, f"#f={frame}" if time is None else f"#t={time:.3f}&f={frame}")
