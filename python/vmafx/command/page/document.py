"""Makes pages from templates (templates/*.html), which escape all values, and allow a page only its own styles and
scripts.
"""

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _header
from .._terminal import Failure
from .plots import marker_of, place_in_colors, short_name, style_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parent
# Browsers take these for errors of the page: half a surrogate pair, and controls except tabs and line breaks.
NOT_SHOWN = re.compile(r"[\ud800-\udfff\0-\x08\x0b\x0c\x0e-\x1f\x7f]")


OPTION = re.compile(r"(?<!\S)(--[a-z][\w-]*)")  # of a command, which no line ends within
MOST_UNFOLDED = 3  # warnings at the top of a page; the others are folded
LONG_WORD = re.compile(r"\S{16,}")  # such as the name of a file
# A line may end here within such a word, but not within a number.
LINE_END = re.compile(r"(?<=[\w)\]][._/+=-])(?!\d(?<=\d\.\d))(?=[\w(\[])")


class NoTemplates(Failure):
    def __init__(self) -> None:
        super().__init__(
            "vmafx makes pages with the Python package jinja2, which is not installed: "
            "run apt-get install python3-jinja2, or pip install jinja2"
        )


@dataclass(frozen=True)
class Inline:
    """A style or a script of the page. The policy allows it by its digest, so that nothing else is used or run."""

    text: "Markup"

    @staticmethod
    def of_file(path: Path) -> "Inline":
        return Inline.of_text(_text(path))

    @staticmethod
    def of_text(text: str) -> "Inline":
        """Makes a part from a text of our own or from a file that the user named, without any text that would end its
        element.
        """
        from markupsafe import Markup

        return Inline(Markup("\n" + text.replace("</s", "<\\/s").replace("<!--", "<\\!--")))

    @property
    def source(self) -> str:
        """The part's name in a policy."""
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _text(path: Path) -> str:
    """Reads a text without the name of a source map, which the page lacks. Line breaks are as browsers see them."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failure(f"cannot read {path}: it is not a text in UTF-8") from error
    return re.sub(r"(//|/\*)# sourceMappingURL=\S*", r"\1", text)


def check_templates() -> None:
    """Checks that jinja2 is there, before work begins that ends with a page. Raises Failure."""
    _environment()


def render(
    template: str,
    title: str,
    charts: Sequence[dict[str, Any]] = (),
    dygraphs: Path | None = None,
    has_pictures: bool = False,
    live: dict[str, Any] | None = None,
    **values: Any,
) -> str:
    """Makes a page from a template. With `dygraphs`, the folder of dygraph.min.js, a script draws the charts; another
    one compares pictures, if there are any; `live` are facts of whole files, whose pictures come from a server.
    """
    styles = [Inline.of_file(FOLDER / "style.css")]
    scripts: list[Path] = []
    has_pictures = has_pictures or live is not None
    if dygraphs or has_pictures:
        scripts.append(FOLDER / "place.js")
    if dygraphs:
        styles.append(Inline.of_file(dygraphs / "dygraph.min.css"))
        scripts += [dygraphs / "dygraph.min.js", FOLDER / "page.js"]
    if has_pictures:
        styles.append(Inline.of_file(FOLDER / "viewer.css"))
        if live is not None:
            styles.append(Inline.of_file(FOLDER / "live.css"))
            scripts.append(FOLDER / "live.js")
        scripts.append(FOLDER / "viewer.js")
    parts = [Inline.of_file(path) for path in scripts]
    policy = [
        "default-src 'none'",
        f"style-src {_sources(styles)}",
        f"script-src {_sources(parts)}",
        "img-src data:" if live is None else "img-src blob: data:",
        *([] if live is None else ["connect-src 'self'"]),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    frame = {
        "policy": "; ".join(policy),
        "styles": styles,
        "scripts": parts,
        "charts": charts if dygraphs else [],
        "live": live,
        "most_unfolded": MOST_UNFOLDED,
        "version": _header.version,
    }
    return _environment().get_template(template).render(title=title, **frame, **values)


def _sources(parts: Sequence[Inline]) -> str:
    return " ".join(part.source for part in parts) or "'none'"


@functools.cache
def _environment() -> "Environment":
    try:
        import jinja2
    except ImportError as error:
        raise NoTemplates from error
    loader = jinja2.FileSystemLoader(FOLDER / "templates")
    made = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = style_of, marker_of, place_in_colors, short_name, pieces, broken, whole
    made.filters |= {function.__name__: function for function in filters}
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


def pieces(text: str) -> list[str]:
    """Cuts a text around the options of commands in it: every second piece is one."""
    return OPTION.split(text)


def whole(text: str) -> str:
    """Returns a text within which no line ends."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def broken(text: str) -> "Markup":
    """Lets lines end after the dots, dashes and slashes of long words, so that they do not end within a short part of a
    name.
    """
    from markupsafe import Markup

    parts, end = [], 0
    for word in LONG_WORD.finditer(text):
        for place in LINE_END.finditer(text, *word.span()):
            parts.append(text[end : place.start()])
            end = place.start()
    return Markup("<wbr>").join(map(_shown, [*parts, text[end:]]))


def _shown(value: Any) -> Any:
    """Returns a value as a template puts it into the page. Text that is HTML already (jinja2's Markup) comes from a
    template.
    """
    return NOT_SHOWN.sub("\ufffd", value) if type(value) is str else value
