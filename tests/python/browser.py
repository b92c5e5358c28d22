"""Opens pages in headless Chromium and drives them by its protocol: keys, clicks, pictures, what it complains of."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time

from common import Skip

LONGEST = 30  # seconds for an answer
# Keys by their names, as the protocol wants them; other keys are their own text.
CODES = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9}


class Browser:
    """A browser with one page."""

    def __init__(self, process, to, back):
        self._process, self._to, self._back = process, to, back
        self._count, self._rest, self.complaints, self.requests = 0, b"", [], []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self._call(method, self._session, **parameters)

    def _call(self, method, session=None, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + LONGEST
        while (answer := self._receive(end)).get("id") != self._count:
            self._note(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def _receive(self, end):
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(end - time.monotonic(), 0))
            part = os.read(self._back, 1 << 20) if ready else b""
            if not part:
                raise AssertionError("the browser does not answer")
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        name, told = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"])[:500])
        elif name == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif name == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(told["args"])[:500])
        elif name == "Network.requestWillBeSent" and not told["request"]["url"].startswith("data:"):
            self.requests.append(told["request"]["url"])

    def open(self, path, width, height=900, dark=False, reduced=False, place=""):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        wanted = {"color-scheme": "dark" if dark else "light", "reduced-motion": "reduce" if reduced else ""}
        features = [{"name": f"prefers-{name}", "value": value} for name, value in wanted.items()]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url="about:blank")
        self.complaints, self.requests = [], []
        address = path if str(path).startswith("http:") else f"file://{path}"
        self.call("Page.navigate", url=f"{address}{place}")
        self.settle()

    def settle(self):
        """Waits until the page is loaded and has drawn what it has to."""
        twice = "requestAnimationFrame(() => requestAnimationFrame(done))"
        loaded = "document.readyState == 'complete'"
        self.run(f"new Promise((done) => {loaded} ? {twice} : addEventListener('load', () => {twice}))")

    def run(self, script):
        """Returns the value of an expression, after its promise."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def press(self, *keys):
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": key} if key not in CODES else {}
            code = CODES.get(key, ord(key[0].upper()))
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, whole=False):
        """Returns what is seen, as PNG; with `whole`, all of the page."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def print(self):
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])


@contextlib.contextmanager
def chromium(folder):
    """Yields a browser whose profile is below the folder."""
    program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
    if not program:
        raise Skip("Debian's chromium is not installed")
    theirs, ours = os.pipe()
    back, said = os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
    # The browser reads its orders at descriptor 3 and answers at 4.
    script = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    words = ["bash", "-c", script, str(theirs), str(said), program, *options, f"--user-data-dir={folder}/profile"]
    process = subprocess.Popen(
        words, pass_fds=(theirs, said), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    os.close(theirs)
    os.close(said)
    try:
        yield Browser(process, ours, back)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(back)
