"""What the page has for scripts: dygraphs, the curves, and page.js, which draws them with it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def scripts(charts: Sequence[dict[str, Any]], dygraphs: Path) -> str:
    data = json.dumps(charts, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return "".join(
        [
            f"<style>\n{_text(dygraphs / 'dygraph.min.css')}</style>\n",
            f'<script type="application/json" id="charts">{data}</script>\n',
            f"<script>\n{_text(dygraphs / 'dygraph.min.js')}</script>\n",
            f"<script>\n{_text(Path(__file__).with_name('page.js'))}</script>\n",
        ]
    )


def _text(path: Path) -> str:
    """Without the name of a source map, which is not there, and with nothing that would end the element it goes into."""
    text = re.sub(r"(//|/\*)# sourceMappingURL=\S*", r"\1", path.read_text(encoding="utf-8"))
    return text.replace("</s", "<\\/s").replace("<!--", "<\\!--")
