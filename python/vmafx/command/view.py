"""look at encodes and their reference in a browser, frame by frame, while they are scored

A server on this machine, which nobody else reaches, shows the pictures as they are scored: at any frame, two under one
cursor. It ends with Ctrl-C, and some seconds after the last tab is closed.
"""

import argparse
import contextlib
import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import _look
from ._keys import known_facts
from ._maps import scale
from ._models import metrics_of
from ._names import redact
from ._regions import names_of
from ._outputs import check_outputs
from ._run import Processes
from ._schemas import check_packages
from ._scoring import Work
from ._terminal import Failure, emit, note
from ._whole import promise_of
from .page.document import check_templates
from .page.maps import Scale, png_address
from .page.page import Page, make_page
from .page.view import View
from .page.view import make_page as make_view
from .report import find_dygraphs
from .score import (
    add_begins,
    add_changes,
    add_regions,
    add_scoring_arguments,
    begins_asked,
    changes_by_hand,
    check_begins,
    read_for_scoring,
    scoring_settings,
)
from .viewing.maps import MOST as MOST_POINTS
from .viewing.maps import Maps
from .viewing.pictures import Decoder
from .viewing.scores import Scores
from .viewing.server import Served, Server

MOST_PORT = 65535
DISPLAYS = "DISPLAY", "WAYLAND_DISPLAY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("videos", nargs="+", metavar="VIDEO", help="DISTORTED… REFERENCE: one or several encodes, then the reference")
    add("--no-browser", action="store_true", help="only print the address, and open no browser")
    add("--port", type=_port, default=0, metavar="PORT", help="the port of the address (default: any that is free)")
    add("--no-scores", action="store_true", help="show pictures only, and compute no scores")
    add("--maps", action="store_true", help="also show where in the picture frames lose the first model's score")
    add("--scores", type=Path, metavar="REPORT", help="a report of these encodes, whose scores are shown instead")
    add("--device", metavar="DEVICE", help="the GPU to use: an index or a PCI address")
    add_begins(parser)
    add_changes(parser)
    add_regions(parser)
    add_scoring_arguments(parser)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST_PORT):
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: give a number up to {MOST_PORT}; 0: any")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    check_packages()
    check_templates()
    if len(arguments.videos) < 2:
        raise Failure("view needs at least two videos: name the encodes, and the reference as the last one", 2)
    if arguments.scores and arguments.no_scores:
        raise Failure("--no-scores shows none of those that --scores names: leave one of them out", 2)
    if arguments.maps and (arguments.scores or arguments.no_scores):
        raise Failure("--maps comes of scoring: leave --scores and --no-scores out", 2)
    check_begins(arguments)
    inputs = [*arguments.videos, arguments.scores, *read_for_scoring(arguments)]
    check_outputs(inputs, [], force=False)
    work = _prepared(arguments)
    if arguments.maps and not work.models:
        raise Failure("--maps shows the map of a model: give one with --model", 2)
    if arguments.maps and len(work.groups) > 1:
        sizes = " and ".join(map(str, dict.fromkeys(map(work.size_of, work.groups))))
        raise Failure(f"--maps needs scores of one size, but these are scored at {sizes}: give --scale reference", 2)
    with tempfile.TemporaryDirectory(prefix="vmafx-") as folder, _shown(arguments, work, Path(folder)) as server:
        emit(f"{server.address}\n")
        if not arguments.no_browser and any(map(os.environ.get, DISPLAYS)):
            webbrowser.open(server.address_once)
        with contextlib.suppress(KeyboardInterrupt):
            server.wait()
    return 0


def _prepared(arguments: argparse.Namespace) -> Work:
    """Returns the work as `vmafx score` prepares it, and says how."""
    *dists, ref = arguments.videos
    settings = scoring_settings(arguments, device=arguments.device)
    changes = changes_by_hand(arguments, len(dists))
    work = _look.prepared(settings, dists, ref, begins=begins_asked(arguments, settings), changes=changes)
    work = _look.looked_at(work, whole=True)
    for line in work.notes:
        note(line)
    return work


@contextlib.contextmanager
def _shown(arguments: argparse.Namespace, work: Work, folder: Path) -> Iterator[Server]:
    """Yields a server that runs, and ends it with all that it has started."""
    maps = Maps(work, folder / "maps") if arguments.maps else None
    if maps:
        work = replace(work, settings=replace(work.settings, maps=str(maps.folder)))
    processes = Processes()
    decoders = [Decoder(work, number, processes) for number in range(len(work.videos))]
    scores = Scores(work, processes)
    if arguments.scores:
        scores.take_report(arguments.scores)
    desk = Desk(work, decoders, scores, None if arguments.no_scores or arguments.scores else folder, maps)
    try:
        server = Server(Served(desk.page, desk.report, desk.picture, desk.news, desk.mapped), arguments.port)
    except OSError as error:
        raise Failure(f"cannot serve at port {arguments.port}: {error.strerror}; name another with --port") from error
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        for decoder in decoders:
            decoder.close()
        processes.end_all()
        scores.close()


class Desk:
    """Answers what the server is asked."""

    def __init__(
        self, work: Work, decoders: Sequence[Decoder], scores: Scores, folder: Path | None, maps: Maps | None
    ) -> None:
        self._work, self._decoders, self._scores = work, decoders, scores
        self._folder = folder  # for the report that grows; None: nothing is scored
        self._maps = maps
        self._page = make_view(view_of(work, scores, maps))

    def page(self) -> str:
        return self._page

    def report(self) -> str | None:
        """Returns the page that `vmafx report` makes, once all is scored."""
        scores = self._scores
        if scores.state != "done":
            return None
        keys = scores.keys or scores.encodes[0].main_keys()
        dygraphs = find_dygraphs(None, quiet=True)
        return make_page(Page(scores.encodes, keys, None, dygraphs, said=list(self._work.notes), scenes=0))

    def picture(self, number: int, time: float) -> bytes | str:
        if number >= len(self._decoders):
            return f"Input {number} does not exist: name one from 0 to {len(self._decoders) - 1}.\n"
        try:
            return self._decoders[number].picture(time) or "it has no picture at this time\n"
        except Failure as failure:
            return f"{failure}\n"

    def mapped(self, number: int, frame: int) -> bytes | str | None:
        if not self._maps or number >= len(self._work.dists):
            return "There is no map: --maps makes those of encodes.\n"
        return self._maps.picture(number, frame)

    def news(self, told: dict[Any, int]) -> list[dict[str, Any]]:
        """Returns the scores that came since, and how far it is. Scoring begins with the first tab."""
        if self._folder:
            self._scores.start(self._folder)
        messages: list[dict[str, Any]] = []
        state = {"state": self._scores.state, "problem": self._scores.problem}
        for place, own in list(self._scores.series.items()):
            part = own.since(told.get(place, 0))
            if part["scores"]:
                messages.append({"series": True, **part})
                told[place] = told.get(place, 0) + len(part["scores"])
        is_news = told.get("state") != hash(state["state"])
        if is_news and (state["state"] == "running" or not messages):  # the end comes after the last scores
            messages.append(state)
            told["state"] = hash(state["state"])
        return messages


def view_of(work: Work, scores: Scores, maps: Maps | None) -> View:
    size = work.size_of(work.groups[0])
    aspect = float(work.ref.aspect or 1) if size == (work.ref.width, work.ref.height) else 1.0
    begins = [span[0] for span in work.spans() if span]
    promised = [frames for number in range(len(work.dists)) if (frames := promise_of(work, number).frames)]
    rates = [float(video.rate) for video in (work.ref, *work.dists) if video.rate]
    of_models = (f"{model}.{region}" for model in work.models for region in names_of(work.settings.roi))
    keys = [*work.models, *of_models, *(metrics_of(work.settings.features) if work.settings.features else ())]
    keys = scores.keys or keys
    return View(
        work.names,
        Path(redact(work.ref.path, [work.ref.path])).name,
        round(size.width * aspect),
        size.height,
        max([0.0, *begins]),
        rates[0] if rates else 25.0,
        max(promised, default=None),
        keys,
        [key for key in keys if known_facts(key).worse_is_high],
        work.notes,
        Scale(maps.name, png_address(scale(work.settings.ffmpeg)), f"{MOST_POINTS} points and more") if maps else None,
        maps.extent if maps else (1.0, 1.0),
    )
