"""Reads pages, and opens them in a browser."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

from common import Skip, check, check_equal

VOID = "meta", "img", "input", "br", "path", "wbr"


OPTION = ("span", [("class", "option")])


class Content(HTMLParser):
    """A parsed page whose elements are closed where they belong.

    Its words are the texts of elements. Options of commands in them have elements that only keep them on one line, and
    lines may end at elements within a word.
    """

    def __init__(self, path):
        super().__init__()
        self.path, self.text = path, path.read_text()
        self.open, self.elements, self.words, self.scripts = [], [], [], []
        self._before, self._in_option = None, False  # what the text that follows goes on from
        self.feed(self.text)
        self.close()
        check_equal(self.open, [], "elements left open")

    def handle_starttag(self, tag, attributes):
        if tag == "wbr":
            return
        self._in_option = (tag, attributes) == OPTION
        if not self._in_option:
            self._before = None
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
        if not self._in_option:
            self._before = None
        self._in_option = False

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif (data.strip() or self._before) and "style" not in self.open:
            if self._before:
                self.words.pop()
            self._before = (self._before or "") + data
            self.words.append(self._before.strip())

    def all(self, tag, **wanted):
        return [own for name, own in self.elements if name == tag and wanted.items() <= own.items()]

    def policy(self):
        """Returns what the page allows itself, by the names of the directives."""
        contents = [own["content"] for own in self.all("meta", **{"http-equiv": "Content-Security-Policy"})]
        check_equal(len(contents), 1, "policies")
        return {name: sources for name, *sources in (directive.split() for directive in contents[0].split(";"))}

    def is_safe(self, scripts=0):
        """Checks that nothing is fetched, that only the page's own styles and scripts are allowed, and that nothing
        else is there.
        """
        check(self.text.startswith("<!DOCTYPE html>\n") and self.text.endswith("</body>\n</html>\n"), "it is not whole")
        self.allows(scripts)
        check_equal(len(self.scripts), scripts + bool(scripts), "scripts")  # the data is one more
        for tag, own in self.elements:
            handlers = [name for name in own if name.startswith("on") or name in ("style", "srcdoc", "action")]
            check(not handlers and tag not in ("iframe", "object", "embed", "base", "form"), f"{tag} {own}")
            check("href" not in own or tag == "a" and own["href"].startswith("#"), f"{tag} {own}")
            check(tag == "img" or "src" not in own, f"{tag} {own}")
            is_data = re.match("data:image/(jpeg|png);base64,", own.get("src", ""))
            check(tag != "img" or is_data, f"{own}"[:100])

    def allows(self, scripts):
        policy = self.policy()
        check_equal(
            [policy[name] for name in ("default-src", "img-src", "base-uri", "form-action")],
            [["'none'"], ["data:"], ["'none'"], ["'none'"]],
            "policy",
        )
        check_equal(
            policy["style-src"],
            [digest_of(text) for text in re.findall("<style>(.*?)</style>", self.text, re.S)],
            "styles that are allowed",
        )
        allowed = [digest_of(text) for text in re.findall("<script>(.*?)</script>", self.text, re.S)]
        check_equal((policy["script-src"], len(allowed)), (allowed or ["'none'"], scripts), "scripts that are allowed")

    def charts(self):
        return json.loads(self.scripts[0])

    def has(self, *texts):
        for text in texts:
            check(text in self.words, f"'{text}' is not in {self.words[:200]}")


def digest_of(text):
    """Returns the digest of a style or a script, as a policy has it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def in_chromium(lab, page, script):
    """Yields (width, the JSON that the script has put into the title), at two widths, light and dark.

    The page must have nothing to complain of.
    """
    script = f'addEventListener("load", () => {{{script}}});'
    text = re.sub("script-src (&#39;none&#39;)?", f"script-src {digest_of(script)} ", page.read_text(), count=1)
    page.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    for width, said, document in opened_in_chromium(lab, page):
        check("CONSOLE" not in said, said)
        title = re.search(r"<title>(\{.*?\})</title>", document)
        check(title, f"the page's scripts did not end: {said[-500:]}")
        yield width, json.loads(title[1])


def opened_in_chromium(lab, page):
    """Yields (width, the browser's messages, the document as it is then), at two widths, light and dark."""
    program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
    if not program:
        raise Skip("Debian's chromium is not installed")
    for width, scheme in ((1280, 1), (420, 0)):
        options = [
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--window-size={width},900",
            f"--blink-settings=preferredColorScheme={scheme}",
        ]
        words = [
            program,
            "--headless",
            *options,
            f"--user-data-dir={lab.folder}/profile",
            "--virtual-time-budget=3000",
            "--dump-dom",
            f"file://{page}",
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        yield width, done.stderr, done.stdout
