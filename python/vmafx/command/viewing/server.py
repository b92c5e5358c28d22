"""Serves a view to this machine's browsers, and to nobody else: GET alone, below an address with a random token.

A page of another origin cannot read answers, and its requests are refused even if it has guessed the port: names that
were bound to 127.0.0.1 by another's name server fail at Host, scripts at Origin and Sec-Fetch-Site, all at the token.
"""

import hmac
import json
import re
import secrets
import select
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HERE = "127.0.0.1"
MOST_CONNECTIONS = 64
IDLE_S = 30.0  # a connection without a request is closed
STEP_S = 0.5  # between looks for new scores, and at whether a browser is still there
GRACE_S = 4.0  # between the end of the last tab and the end of the server: a tab that is loaded again comes back
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # which the page's own policy cannot say
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PICTURE = re.compile(r"picture/(\d{1,3})/(-?\d{1,15})")  # of an input, at a time in microseconds
MAP = re.compile(r"map/(\d{1,3})/(\d{1,9})")  # of an encode, by the number of a frame
Answer = tuple[int, str, bytes]  # status, type, content
PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"


class Served:
    """The page, the pictures and the scores that a server shows."""

    def __init__(
        self,
        page: Callable[[], str],
        report: Callable[[], str | None],
        picture: Callable[[int, float], bytes | str],
        news: Callable[[dict[Any, int]], list[dict[str, Any]]],
        mapped: Callable[[int, int], bytes | str | None],
    ) -> None:
        self.page = page
        self.report = report  # None: there are no scores yet
        self.picture = picture  # of an input at a time; a text says why there is none
        self.mapped = mapped  # the map of an encode's frame, by its number; None: not yet; a text: why never
        self.news = news  # messages that come after those that were told; it updates its argument

    def answer(self, path: str) -> Answer:
        if path == "":
            return 200, HTML, _text(self.page())
        if path == "report":
            page = self.report()
            return (404, PLAIN, b"Not scored yet.\n") if page is None else (200, HTML, _text(page))
        if found := PICTURE.fullmatch(path):
            return _picture(self.picture(int(found[1]), int(found[2]) / 1e6))
        if found := MAP.fullmatch(path):
            mapped = self.mapped(int(found[1]), int(found[2]))
            return (204, PLAIN, b"") if mapped is None else _picture(mapped)
        return 404, PLAIN, b"Not found.\n"


def _picture(picture: bytes | str) -> Answer:
    return (404, PLAIN, _text(picture)) if isinstance(picture, str) else (200, "image/png", picture)


def _text(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, served: Served, port: int = 0) -> None:
        self.served = served
        self.token = secrets.token_urlsafe(24)
        self.ended = threading.Event()  # set when the last tab is gone, or to end all
        self._once: str | None = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._tabs = 0
        self._left = 0.0  # when the last tab left
        super().__init__((HERE, port), Handler)
        self.host = f"{HERE}:{self.server_address[1]}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/{self.token}/"

    @property
    def address_once(self) -> str:
        """An address that leads to the page once: a browser's words, which all accounts of the machine can read, have
        it.
        """
        return f"http://{self.host}/{self._once}/"

    def takes_once(self, word: str) -> bool:
        with self._lock:
            if self._once is None or not _equal(word, self._once):
                return False
            self._once = None
            return True

    # -- Tabs ----------------------------------------------------------------------------------------------------------

    def add_tab(self, change: int) -> None:
        with self._lock:
            self._tabs += change
            self._left = 0.0 if self._tabs else time.monotonic()

    def wait(self) -> None:
        """Waits until a tab was there and the last one is gone for some seconds."""
        while not self.ended.wait(STEP_S):
            with self._lock:
                if self._left and time.monotonic() - self._left >= GRACE_S:
                    return

    # -- Connections ---------------------------------------------------------------------------------------------------

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._room.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: a browser closes connections when it likes."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    def version_string(self) -> str:
        return "vmafx"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing: requests have the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers a request that is not HTTP, without repeating anything of it."""
        self.close_connection = True
        self._send((code, PLAIN, b"Refused.\n"))

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        if self.command != "GET":
            self.send_error(405)
            return False
        return True

    def do_GET(self) -> None:
        token, slash, path = self.path.removeprefix("/").partition("/")
        if not self._is_from_here():
            self.send_error(403)
        elif _equal(token, self.server.token) and slash:
            if path == "events":
                self._stream()
            else:
                self._send(self.server.served.answer(path))
        elif path == "" and self.server.takes_once(token):
            self._send((303, PLAIN, b""), {"Location": f"/{self.server.token}/"})
        else:
            self.send_error(403)

    def _is_from_here(self) -> bool:
        """Tells whether a request was sent by the page itself, or by a user who follows an address."""
        hosts: list[str] = self.headers.get_all("Host", [])
        origins: list[str] = self.headers.get_all("Origin", [])
        if hosts != [self.server.host] or origins not in ([], [f"http://{self.server.host}"]):
            return False
        is_followed = self.headers.get("Sec-Fetch-Mode") == "navigate"
        return is_followed or self.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")

    def _send(self, answer: Answer, more: dict[str, str] | None = None) -> None:
        status, kind, content = answer
        self.send_response(status)
        for name, value in {
            **HEADERS,
            "Content-Type": kind,
            **({"Content-Length": str(len(content))} if status != 204 else {}),
            **(more or {}),
        }.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    # -- What is new ---------------------------------------------------------------------------------------------------

    def _stream(self) -> None:
        """Sends what is new until the tab is gone, and counts the tab meanwhile."""
        self.close_connection = True
        self.send_response(200)
        for name, value in {**HEADERS, "Content-Type": "text/event-stream", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.server.add_tab(1)
        try:
            told: dict[Any, int] = {}
            while not self._is_gone():
                for message in self.server.served.news(told):
                    self.wfile.write(b"data: " + json.dumps(message).encode("ascii") + b"\n\n")
        finally:
            self.server.add_tab(-1)

    def _is_gone(self) -> bool:
        """Waits a moment, and tells whether the tab has closed its connection, on which it sends nothing, or the server
        ends.
        """
        ready, _, _ = select.select([self.connection], [], [], STEP_S)
        return bool(ready) or self.server.ended.is_set()


def _equal(one: str, other: str) -> bool:
    """Compares in a time that does not tell where the texts differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode("ascii"))
