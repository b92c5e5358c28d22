#!/usr/bin/env python3
"""Makes the manual pages: docs/vmafx.7 for the filter from docs/filter.md, and docs/vmafx.1 for the command from
docs/command.md.

usage: tools/make_man.py [--check]

  --check  writes nothing; exits 1 when a page is not what its document says

Knows as much of Markdown as these documents use: headings, paragraphs, definitions, lists, tables, indented code, and
`code`, **bold** and links in a line.
"""

import argparse
import ast
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LONG = 30  # letters; longer codes may be broken
WIDE = 24  # letters; wider columns of tables are broken into lines

HEAD = """\
'\\" t
.\\" Made from {text} by tools/make_man.py.
.TH VMAFX {section} "" "vmafx {version}" "{manual}"
.ad l
.SH NAME
vmafx \\- {name}
.SH SYNOPSIS
{synopsis}
.SH DESCRIPTION"""

PAGES = (
    {
        "text": "docs/filter.md",
        "page": "docs/vmafx.7",
        "section": 7,
        "manual": "FFmpeg filters",
        "name": "FFmpeg filter that scores a video against its reference",
        "synopsis": """\
.B ffmpeg \\-i
.I distorted
.B \\-i
.I reference
.B \\-lavfi vmafx\\fR[\\fB=\\fIoption\\fB=\\fIvalue\\fB:\\fR...]
.B \\-f null \\-""",
        "others": ".BR vmafx (1),\n",
    },
    {
        "text": "docs/command.md",
        "page": "docs/vmafx.1",
        "section": 1,
        "manual": "User commands",
        "name": "scores videos against their reference, and shows the scores",
        "others": ".BR vmafx (7),\n",
    },
)

TAIL = """\
.SH SEE ALSO
{others}.BR ffmpeg (1),
.BR ffmpeg\\-filters (1)
.PP
The documents named .md are in the folder docs of the sources of vmafx, and beside this one's package in /usr/share/doc.
"""


def plain(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def whole(code):
    """Returns a code without hyphens at the ends of lines; a long one may be broken after a colon or a comma."""
    made = [re.sub("([:,=])", r"\1\\:", plain(part)) if len(part) > LONG else plain(part) for part in code.split(" ")]
    return " ".join("\\%" + part for part in made)


def words(text):
    """Returns a line of text with its `code`, **bold** and links; only the text of a link is kept."""

    def part(match):
        code, bold, link = match.groups()
        return f"\\fB{whole(code)}\\fR" if code is not None else f"\\fB{words(bold)}\\fR" if bold else words(link)

    done, at = "", 0
    for match in re.finditer(r"`([^`]+)`|\*\*(.+?)\*\*|\[([^]]+)\]\([^)]+\)", text):
        done += plain(text[at : match.start()]) + part(match)
        at = match.end()
    return done + plain(text[at:])


def line(text):
    """Returns a line that is not a request to troff, whatever it begins with. A mark that forbids a hyphen goes before
    the parenthesis before a code.
    """
    parts = words(" ".join(text.split())).split(" ")
    text = " ".join("\\%" + part.replace("\\%", "") if "\\%" in part else part for part in parts)
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def table(lines):
    """Makes a table from rows `| cell | cell |`; the second one only separates the head."""
    rows = [[cell.strip() for cell in row.strip().strip("|").split(" | ")] for row in lines]
    rows = [rows[0], *rows[2:]]
    columns = len(rows[0])
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(columns)]
    kinds = " ".join("lx" if width > WIDE or i == columns - 1 else "l" for i, width in enumerate(widths))
    made = [".PP", ".TS", "allbox tab(\x01);", kinds + "."]
    for row in rows:
        made.append(
            "\x01".join(f"T{{\n{line(cell) or chr(92) + '&'}\nT}}" for cell in row + [""] * (columns - len(row)))
        )
    return made + [".TE"]


def dedent(lines, count):
    return [text[count:] if text[:count].isspace() else text for text in lines]


def body(lines):
    """Makes the rest of a definition or of an item, after its first paragraph."""
    made = blocks(lines)
    return [".RS", *made, ".RE"] if made else []


def take(lines, start, inside):
    """Takes lines from `start` on while they are inside, or blank before one that is; returns also the index after
    them.
    """
    end = start
    while end < len(lines) and (
        inside(lines[end])
        or not lines[end].strip()
        and any(map(str.strip, lines[end:]))
        and inside(next(text for text in lines[end:] if text.strip()))
    ):
        end += 1
    return end


def tagged(tag, lines, indent=""):
    """Makes a paragraph with a tag, and the paragraphs that belong to it."""
    first = next((i for i, text in enumerate(lines) if not text.strip()), len(lines))
    return [f".TP {indent}".strip(), tag, line(" ".join(lines[:first])), *body(lines[first:])]


def blocks(lines):
    made, at = [], 0
    indented = lambda text: text.startswith("  ")
    while at < len(lines):
        text = lines[at]
        item = re.match(r"(- |(\d+)\. +)", text)
        if not text.strip():
            at += 1
            continue
        if text.startswith("#"):
            level, title = text.split(" ", 1)
            if level != "#":
                made.append(f".{'SH' if level == '##' else 'SS'} {words(title.upper() if level == '##' else title)}")
            end = at + 1
        elif text.startswith("    "):
            end = take(lines, at, lambda text: text.startswith("    "))
            made += [".PP", ".RS 4", ".EX", *("\\&" + plain(code) for code in dedent(lines[at:end], 4)), ".EE", ".RE"]
        elif text.startswith("|"):
            end = take(lines, at, lambda text: text.startswith("|"))
            made += table(lines[at:end])
        elif at + 1 < len(lines) and lines[at + 1].startswith(": "):
            end = take(lines, at + 2, indented)
            made += tagged(line(text), [lines[at + 1][2:], *dedent(lines[at + 2 : end], 2)])
        elif item:
            end = take(lines, at + 1, indented)
            tag = "\\(bu" if item[2] is None else item[2] + "."
            made += tagged(tag, [text[item.end() :], *dedent(lines[at + 1 : end], item.end())], indent="3")
        else:
            end = next(
                (i for i in range(at, len(lines)) if not lines[i].strip() or re.match(r"- |\||#", lines[i]) and i > at),
                len(lines),
            )
            made += [".PP", line(" ".join(lines[at:end]))]
        at = end
    return made


def subcommands():
    """Returns the names of the subcommands, without an import of the command, which needs more libraries than this."""
    tree = ast.parse((TOP / "python/vmafx/command/__main__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "SUBCOMMANDS":
            return ast.literal_eval(node.value)
    sys.exit("tools/make_man.py: cannot find SUBCOMMANDS in python/vmafx/command/__main__.py")


def usage(text, name):
    """Returns how the document calls a subcommand: the first line of code in its section."""
    section = re.search(rf"^## `vmafx {name}`$(.*?)(?=^## |\Z)", text, re.M | re.S)
    called = section and re.search(rf"^    (vmafx {name} .*)$", section[1], re.M)
    if not called:
        sys.exit(f"tools/make_man.py: docs/command.md does not say in a section '## `vmafx {name}`' how it is called")
    return called[1]


def synopsis(text):
    """Makes a line for each subcommand: words as typed in bold, placeholders in italics."""

    def part(match):
        name, typed = match.groups()
        return f"\\fI{name.lower()}\\fR" if name else f"\\fB{plain(typed)}\\fR"

    lines = []
    for name in subcommands():
        words_of = usage(text, name).replace("…", "...").removeprefix(f"vmafx {name} ")
        lines.append(f"\\fBvmafx {name}\\fR " + re.sub(r"\b([A-Z]{2,})\b|(--?[a-z][a-z-]*|\.[a-z]+)", part, words_of))
    return "\n.br\n".join(lines)


def page(about):
    version = re.search(r"^AC_INIT\(\[vmafx\], \[([^]]+)\]", (TOP / "configure.ac").read_text(), re.M)[1]
    text = (TOP / about["text"]).read_text()
    about = {"synopsis": about.get("synopsis") or synopsis(text)} | about
    return "\n".join([HEAD.format(version=version, **about), *blocks(text.split("\n")), TAIL.format(**about)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for about in PAGES:
        path = TOP / about["page"]
        if not check:
            path.write_text(page(about))
        elif path.read_text() != page(about):
            sys.exit(f"{about['page']} is not what {about['text']} says: run tools/make_man.py")


main()
