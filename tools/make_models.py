#!/usr/bin/env python3
"""Makes the table of models in docs/models.md from python/vmafx/command/_known_models.py.

usage: tools/make_models.py [--check]

  --check  writes nothing; exits 1 when the document has another table
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PAGE = TOP / "docs/models.md"
BEGIN, END = "<!-- models: tools/make_models.py makes this table -->\n", "\n<!-- end of models -->"
sys.path.insert(0, str(TOP / "python"))

from vmafx.command._known_models import MODELS  # noqa: E402


def row(model):
    names = ", ".join(f"`{name}`" for name in model.features.split(", "))
    cells = f"`{model.name}`", f"{model.rows} rows", f"{model.heights:g} heights", f"0 to {model.most}", names
    remarks = re.sub(r"vmaf_[^ ;]+", r"`\g<0>`", model.remarks)
    return f"| {' | '.join(cells)} | {remarks} |"


def main():
    head = "| version | display | distance | scores | features | remarks |\n| --- | --- | --- | --- | --- | --- |"
    made = "\n".join([head, *map(row, MODELS)])
    old = PAGE.read_text()
    new, count = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{made}\n{END}", old, flags=re.S)
    if count != 1:
        sys.exit(f"make_models.py: {PAGE} has {count} places for the table of models; write one, '{BEGIN.strip()}'")
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new)
    elif new != old:
        sys.exit(f"{PAGE} has another table of models than _known_models.py: run tools/make_models.py")


main()
