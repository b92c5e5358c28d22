"""Names of inputs: which of them FFmpeg takes for a protocol, what is secret in them, and what a list may name.

FFmpeg opens more than files: `http:`, `subfile,,start,9,end,99,,:a.mp4`, `data:`, `pipe:`, `fd:`, `concat:`; and
playlists open what they name. A command line may name any of these. A list is data and may name only files, unless
--allow-protocols is given. Only the command line may set options of metrics and models that write files.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

FILES_ONLY = "-protocol_whitelist", "file"  # stands before each input; playlists and scripts inherit it
REDACTED = "…"

# -- Protocols ---------------------------------------------------------------------------------------------------------

SCHEME = re.compile(r"[A-Za-z0-9+.-]*(?=:)|subfile(?=,.*:)", re.S)  # matches as libavformat's url_find_protocol() does


def protocol_of(name: str) -> str | None:
    """Returns the protocol that FFmpeg reads in a name; None if the name is a file's."""
    found = SCHEME.match(name)
    return found[0] if found and found[0] not in ("", "file") else None


def located(name: str, folder: str | os.PathLike[str], allow_protocols: bool) -> str:
    """Returns the name of an input in a list as it is reached from here: names are relative to the list's folder.

    With --allow-protocols, a name with a protocol stays as it is. A file whose name looks like a protocol's counts as a
    file if it exists, or with `file:` before its name.
    """
    path = os.path.abspath(os.path.join(folder, name))
    if name.startswith("file:") and not _is_there(path):
        return os.path.abspath(os.path.join(folder, name.removeprefix("file:")))
    return name if allow_protocols and protocol_of(name) and not _is_there(path) else path


def why_refused(
    name: str, folder: str | os.PathLike[str], allow_protocols: bool = False, otherwise: str = ""
) -> str | None:
    """Returns why a list cannot have this name of an input, or None; `otherwise` says when it could."""
    if not is_possible(name):
        return f"{name!r} cannot be the name of a file: take out NUL and halves of surrogate pairs"
    protocol = protocol_of(name)
    if protocol is None or allow_protocols or _is_there(os.path.join(folder, name)):
        return None
    told = f"the file {redact(name)!r} does not exist, and FFmpeg would take '{protocol}:' for a protocol"
    return f"{told}: a list may name only files{otherwise}"


def is_possible(text: str) -> bool:
    """Returns whether a program's argument may be this: it has neither a NUL nor half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _is_there(path: str) -> bool:
    return is_possible(path) and os.path.lexists(path)


# -- Options that write ------------------------------------------------------------------------------------------------

# These options of metrics take a text and write nothing. The case `lists_may_not_write` checks that.
HARMLESS = {"eotf", "cambi_eotf", "display", "display_file", "version"} | {
    "vif_prescale_method",
    "speed_prescale_method",
}
OF_MODELS = {"version", "path", "name", "disable_clip", "enable_transform"}  # a model's own options write nothing
WRITING = re.compile("path|file|folder|directory|dump|output|write")
PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|true|false")


def why_writing(models: Sequence[str], features: Sequence[str]) -> str | None:
    """Returns why a list cannot have these models and features, or None: an option of theirs may name something to
    write to.

    A number names nothing, nor does the text of a HARMLESS option.
    """
    entries = [("model", entry, OF_MODELS) for text in models for entry in text.split("|")]
    entries += [("feature", entry, {"name"}) for text in features for entry in text.split("|")]
    for kind, entry, own in entries:
        for key, value in _options(entry):
            option = key.rpartition(".")[2] if kind == "model" else key
            if key in own or option in HARMLESS:
                continue
            if WRITING.search(option.lower()) or not PLAIN.fullmatch(value):
                told = f"{kind} {entry!r}: a list cannot set {key!r}, which may name a file to write"
                return f"{told}: give it on the command line, with --{kind}"
    return None


def _options(entry: str) -> Iterator[tuple[str, str]]:
    """Yields the keys and values of an entry, as src/model/spec.cpp reads them; a first token without = is a name."""
    rest, first = entry, True
    while rest:
        key, rest = _token(rest, "=:")
        value = ""
        if rest.startswith("="):
            value, rest = _token(rest[1:], ":")
        elif first:
            key, value = "name", key
        rest, first = rest[1:], False
        yield key, value


def _token(text: str, ends: str) -> tuple[str, str]:
    """Splits off a token as av_get_token() does: a backslash takes the next character as it is, quotes '…' all in
    between.
    """
    token, place = "", 0
    while place < len(text) and text[place] not in ends:
        if text[place] == "\\" and place + 1 < len(text):
            token, place = token + text[place + 1], place + 2
        elif text[place] == "'":
            quote = text.find("'", place + 1) % (len(text) + 1)  # -1: at the end
            token, place = token + text[place + 1 : quote], quote + 1
        else:
            token, place = token + text[place], place + 1
    return token.strip(" \n\t\r"), text[place:]


# -- Secrets -----------------------------------------------------------------------------------------------------------

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/{1,2}[^\s'\"<>]+")  # finds URLs in a text
USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:/{0,2})([^/?#\s|]*)@")
VALUE_IN_PATH = re.compile(r"(?<==)[^/&;~|?#\s]+")
VALUE_IN_QUERY = re.compile(r"(?<==)[^&;|#\s]+|(?<=\?)[^=&;|#\s]+(?=[&;|#\s]|$)")
LEAST_PASSWORD, LEAST_VALUE = 4, 8  # characters: shorter ones would be found in any text


def redact(text: str, names: Iterable[str] = ()) -> str:
    """Returns the text without the secrets of its URLs: users, passwords, fragments, values of queries and of
    NAME=VALUE.

    `names` are inputs that the text may mention: their secrets are taken out wherever they stand.
    """
    for name in sorted(set(names), key=len, reverse=True):
        if protocol_of(name):
            text = text.replace(name, _shown(name))
            for secret in _secrets(name):
                text = text.replace(secret, REDACTED)
    return URL.sub(_shown_in_text, text)


def _shown_in_text(found: re.Match[str]) -> str:
    url = found[0].rstrip(":,.;)]")  # drops the sentence's punctuation
    return _shown(url) + found[0][len(url) :]


def _shown(url: str) -> str:
    if url.startswith("data:"):
        return f"data:{REDACTED}"
    url = USER.sub(rf"\1{REDACTED}@", url)
    head, fragment, _ = url.partition("#")
    path, mark, query = head.partition("?")
    path = VALUE_IN_PATH.sub(REDACTED, path)
    return path + VALUE_IN_QUERY.sub(REDACTED, mark + query) + (fragment + REDACTED if fragment else "")


def _secrets(url: str) -> list[str]:
    head, _, fragment = url.partition("#")
    path, mark, query = head.partition("?")
    users = [match[2] for match in USER.finditer(url)]
    passwords = [part for user in users for part in (user, user.partition(":")[2]) if len(part) >= LEAST_PASSWORD]
    values = [*VALUE_IN_PATH.findall(path), *VALUE_IN_QUERY.findall(mark + query), fragment]
    return sorted({*passwords, *(value for value in values if len(value) >= LEAST_VALUE)}, key=len, reverse=True)
