"""Reads pages, and opens them in a browser."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

from common import Skip, check, check_equal

VOID = "meta", "img", "br", "path"


class Content(HTMLParser):
    """A page, whose elements are closed where they belong."""

    def __init__(self, path):
        super().__init__()
        self.path, self.text = path, path.read_text()
        self.open, self.elements, self.words, self.scripts = [], [], [], []
        self.feed(self.text)
        self.close()
        check_equal(self.open, [], "elements left open")

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"</{tag}> within {self.open}")
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif data.strip() and "style" not in self.open:
            self.words.append(data.strip())

    def all(self, tag, **wanted):
        return [own for name, own in self.elements if name == tag and wanted.items() <= own.items()]

    def charts(self):
        return json.loads(self.scripts[0])

    def has(self, *texts):
        for text in texts:
            check(text in self.words, f"'{text}' is not in {self.words[:200]}")


def in_chromium(lab, page, script):
    """(width, what the script has put into the title, as JSON), at two widths, light and dark. The page has nothing to complain of."""
    program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
    if not program:
        raise Skip("Debian's chromium is not installed")
    page.write_text(page.read_text().replace("</body>", f'<script>addEventListener("load", () => {{{script}}});</script></body>'))
    for width, scheme in ((1280, 1), (420, 0)):
        options = ["--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--window-size={width},900", f"--blink-settings=preferredColorScheme={scheme}"]
        words = [program, "--headless", *options, f"--user-data-dir={lab.folder}/profile", "--virtual-time-budget=3000", "--dump-dom", f"file://{page}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        check("CONSOLE" not in done.stderr, done.stderr)
        title = re.search(r"<title>(\{.*?\})</title>", done.stdout)
        check(title, f"the page's scripts did not end: {done.stderr[-500:]}")
        yield width, json.loads(title[1])
