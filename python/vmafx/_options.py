"""The options of a session, as the library tells them, and their values for C."""

import functools
import inspect
import keyword
import operator
import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from ._library import Error, ffi, library, text_of

Option: TypeAlias = "str | int | float | os.PathLike[str] | list[str] | tuple[str, ...] | None"
"""The value of an option; several texts are joined by `|`, and None is the default."""


class OptionInfo(NamedTuple):
    """The facts about an option."""

    default: str | int | None
    help: str
    type: Literal["text", "int", "flag"]
    least: int | None
    """of a number or flag, its smallest value"""
    most: int | None
    """and its largest"""
    in_filter: bool
    """whether FFmpeg's filter has it, too"""


_TYPES: dict[str, Literal["text", "int", "flag"]] = {
    "VMAFX_OPTION_TEXT": "text",
    "VMAFX_OPTION_INT": "int",
    "VMAFX_OPTION_FLAG": "flag",
}
_type_of = {number: _TYPES[name] for number, name in ffi.typeof("enum VmafxOptionType").elements.items()}


def _option_info(option: Any) -> OptionInfo:
    """A VmafxOption of the library."""
    if _type_of[option.type] == "text":
        default = text_of(option.default_text) if option.default_text else None
        return OptionInfo(default, text_of(option.help), "text", None, None, bool(option.in_filter))
    numbers = option.least, option.most, bool(option.in_filter)
    return OptionInfo(option.default_number, text_of(option.help), _type_of[option.type], *numbers)


@functools.cache
def _options() -> dict[str, OptionInfo]:
    found: dict[str, OptionInfo] = {}
    while option := library().vmafx_option(len(found)):
        found[text_of(option.name)] = _option_info(option)
    return found


def options() -> dict[str, OptionInfo]:
    """The options of a session, by their names, as the library has them. A default of None is no text.

    Raises Error if the library cannot be loaded.
    """
    return dict(_options())


def argument(option: str) -> str:
    """The name of an option as an argument: `import_`, as `import` is a word of Python's."""
    return option + "_" * keyword.iskeyword(option)


def _text_for(name: str, value: Option) -> bytes:
    if isinstance(value, (list, tuple)):
        value = "|".join(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    text = os.fsencode(value if isinstance(value, (str, os.PathLike)) else str(value))
    if b"\0" in text:
        raise ValueError(f"there is a zero byte in {name}")
    return text


def settings_of(values: Mapping[str, Option]) -> dict[str, bytes | int]:
    """The values of options, as C takes them. Raises TypeError and ValueError."""
    known = _options()
    names = {argument(name): name for name in known} | {name: name for name in known}
    settings: dict[str, bytes | int] = {}
    for given, value in values.items():
        if given not in names:
            raise TypeError(f"there is no option {given}; there are {', '.join(map(argument, known))}")
        name = names[given]
        if value is None:
            continue
        is_text = known[name].type == "text"
        settings[name] = _text_for(name, value) if is_text else operator.index(value)  # type: ignore[arg-type]
    return settings


def new_options() -> Any:
    """A VmafxOptions * in an array of one, with the defaults, which is freed when Python has no reference to the array.

    The library's own function frees it: an interrupt that came to one of Python's at this place would be lost.
    """
    holder = ffi.new("VmafxOptions **", library().vmafx_options_new())
    return ffi.gc(holder, library().vmafx_options_free)


class WithOptions(type):
    """Gives a class the library's options as arguments, for inspect.signature(), and for shells that complete them."""

    @property
    def __signature__(cls) -> inspect.Signature:
        try:
            known = _options()
        except Error as error:
            raise AttributeError("__signature__") from error
        written = [
            p for p in inspect.signature(getattr(cls, "__init__")).parameters.values() if p.kind is p.KEYWORD_ONLY
        ]
        named = [
            inspect.Parameter(argument(name), inspect.Parameter.KEYWORD_ONLY, default=option.default)
            for name, option in known.items()
        ]
        return inspect.Signature([*written, *named])
