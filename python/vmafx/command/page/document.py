"""What all pages have: the frame, the style, the policy, the head with the warnings."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from ... import _header

# A page asks for nothing, whatever is in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def document(title: str, body: str, scripts: str = "") -> str:
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n{scripts}</body>\n</html>\n"
    )


def header(title: str, facts: Sequence[str], content: str, warnings: Sequence[str]) -> str:
    """Facts and warnings are texts, the content is HTML."""
    items = "".join(f"<li>{escape(text)}</li>" for text in dict.fromkeys(warnings))
    box = f'<ul class="warnings" aria-label="Warnings">{items}</ul>' if items else ""
    return f'<header><h1>{escape(title)}</h1><p class="facts">{escape(" · ".join(facts))}</p>{content}{box}</header>'


def footer(text: str) -> str:
    return f"<footer><p>Made by vmafx {_header.version}. {escape(text)}</p></footer>"
