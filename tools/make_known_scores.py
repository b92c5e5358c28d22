#!/usr/bin/env python3
"""Makes python/vmafx/command/_known_scores.py, the facts of scores that vmafx_known_score() tells.

usage: make_known_scores.py [--check]

The command reads it for reports without them. Needs Python's cffi and a library that is built;
VMAFX_LIBRARY names it. --check writes nothing and exits with 1 if the file is not up to date.
"""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
OUTPUT = TOP / "python/vmafx/command/_known_scores.py"
HEAD = '''"""The facts of the metrics' scores, by their keys. Made by tools/make_known_scores.py."""

# (metric, the worse scores, unit, whether it stands for its metric, whether people read it without a model)
KNOWN: dict[str, tuple[str, str, str | None, bool, bool]] = {
'''


def known_scores():
    sys.path.insert(0, str(TOP / "python"))
    from vmafx._enums import names_of
    from vmafx._library import ffi, library, text_of

    facts = ffi.new("VmafxScoreFacts *")
    worse, number = names_of("VmafxWorse"), 0
    while library().vmafx_known_score(number, facts) == 0:
        unit = text_of(facts.unit) if facts.unit else None
        yield text_of(facts.key), (text_of(facts.metric), worse[facts.worse], unit, bool(facts.main), bool(facts.alone))
        number += 1


def quoted(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main():
    lines = [f"    {quoted(key)}: ({', '.join(map(quoted, values))}),\n" for key, values in known_scores()]
    text = HEAD + "".join(lines) + "}\n"
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(text)
    elif text != OUTPUT.read_text():
        sys.exit(f"{OUTPUT} is not up to date: run tools/make_known_scores.py")


main()
