"""A session: a stream of frame pairs, and their scores."""

import errno
import functools
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from ._calls import Owned, abandoned, called, close_elsewhere, is_of_python, start_closer
from ._enums import names_of
from ._library import Error, ffi, library, log_callback, text_of
from ._options import Option, WithOptions, new_options, settings_of
from ._pictures import Format, Frame, Loan, Picture, fill_format, picture_of
from ._kept_reference import KeptReference

LONGEST_CLOSE = 10.0  # seconds that a thread which threading does not know waits for a close

P = ParamSpec("P")
T = TypeVar("T")


class Window(NamedTuple):
    """A window of consecutive frames, and their pooled scores."""

    number: int
    first_frame: int
    last_frame: int
    time: float | None
    """the time of the first frame, in seconds"""
    scores: dict[str, float]


class Map(NamedTuple):
    """A map of a frame: what each block of the picture adds to a raw sum of a metric."""

    values: npt.NDArray[np.float64]
    """a row of blocks for each row: float64"""
    unit: str
    block: tuple[int, int]
    """width and height of a block in samples of luma; the last ones may be smaller"""


class FrameScores(NamedTuple):
    """The scores of a pair of frames."""

    number: int
    """the pair's number in its encode, from 0"""
    time: float | None
    """the time that the distorted picture came with, in seconds"""
    scores: dict[str, float]
    """features, then models, by their names in reports; empty for a frame that n_subsample skips"""
    window: Window | None
    """the window that ends with this frame, if any"""
    encode: int = 0
    """the encode's number, from 0"""
    sure: tuple[str, ...] = ()
    """the kinds of findings that are sure by the pairs before this one; only with the option early_doubts"""
    maps: dict[str, Map] = {}
    """maps by their names ("psnr_y", "vif_scale0"); only with the option result_maps"""


class Scores(NamedTuple):
    """The pooled scores of a stream. One is infinite or NaN where that of no frame is finite."""

    models: dict[str, float]
    """scores by the models' names: "vmaf" for a single model without a name of its own"""
    features: dict[str, float]
    """main scores of the features that the option `feature` names, by their names in reports"""


class Finding(NamedTuple):
    """A finding tells of an encode what its pictures show, and tags and times do not."""

    kind: str
    """its name in reports: "mirrored", "chroma_swapped", …"""
    certainty: str
    """"possible", "likely" or "sure" """
    pairs: range
    """the numbers of the pairs that are concerned"""
    evidence: dict[str, float]
    """the numbers that it rests on"""
    text: str
    """what is seen, as a sentence without its period"""
    remedies: list[str]
    """what the user can do"""


# -- The library's context ---------------------------------------------------------------------------------------------


class _Context(Owned):
    """A VmafxContext, from vmafx_open() to vmafx_close()."""

    kind = "session"
    encodes = 1

    def __init__(self) -> None:
        start_closer()
        super().__init__(ffi.new("VmafxContext **"))

    def open(self, values: Mapping[str, Option]) -> None:
        settings = settings_of(values)
        self.encodes = int(settings.get("encodes", 1))
        code = self.alone(lambda: self._open(settings))
        if code < 0:
            raise Error(-code, self.messages.errors[-1] if self.messages.errors else os.strerror(-code))

    def _open(self, settings: Mapping[str, bytes | int]) -> int:
        self.check_open(True)
        holder = new_options()
        options = holder[0]
        library().vmafx_options_set_log(options, log_callback, self.cookie)
        for name, value in settings.items():
            set_option = library().vmafx_options_set if isinstance(value, bytes) else library().vmafx_options_set_int
            if (code := set_option(options, name.encode(), value)) < 0:
                return int(code)
        return int(library().vmafx_open(self._out, options))

    @property
    def pointer(self) -> Any:
        """The VmafxContext, for calls inside alone()."""
        self.check_open(self._out[0])
        return self._out[0]

    def alone(self, action: Callable[[], T]) -> T:
        if not self.is_of_this_process():
            owner = "the session belongs to the process that opened it"
            raise Error(errno.EBADF, f"{owner}; a child of fork() cannot use it")
        return super().alone(action)

    def failure(self, code: int) -> Error | None:
        """Returns the error of the call that has just returned this code."""
        return (
            Error(-code, text_of(library().vmafx_last_error(self.pointer)) or os.strerror(-code)) if code < 0 else None
        )

    def check(self, code: int) -> None:
        if failure := self.failure(code):
            raise failure

    def close(self) -> None:
        """A thread that the library called back must not wait for the library's threads, of which it may be one."""
        if not self.is_of_this_process():  # the child of a fork() has no workers to wait for
            return
        if self.is_called_here():
            close_elsewhere(self)
        elif not is_of_python():
            close_elsewhere(self)
            self.over.wait(LONGEST_CLOSE)
        else:
            self.alone(self._close_once)

    def _close_once(self) -> None:
        if not self.over.is_set():
            self.give_back()

    def free(self) -> None:
        if self._out[0]:
            library().vmafx_close(self._out)

    def is_called(self) -> bool:
        return self._lock.locked() and self._calling != threading.main_thread().ident


def _one_call(method: Callable[Concatenate["Session", P], T]) -> Callable[Concatenate["Session", P], T]:
    """Makes a method one call of the session, which waits for the calls of other threads."""

    @functools.wraps(method)
    def call(self: "Session", /, *arguments: P.args, **named: P.kwargs) -> T:
        return self._context.alone(lambda: method(self, *arguments, **named))

    return call


class FrameNumberError(Error, OverflowError):
    """A number of more than 64 bits, which no frame has: an Error, as for others, and Python's usual OverflowError."""


# -- The session -------------------------------------------------------------------------------------------------------


class Session(metaclass=WithOptions):
    """Scores a stream of frame pairs, or of frames of one reference and several encodes:

        with vmafx.Session(feature="psnr") as session:
            for frame in session.run(pairs):
                print(frame.number, frame.scores["vmaf"])
        print(session.scores.models["vmaf"])

    or step by step: submit() each pair, frames() for the scores so far, finish(), and frames() for the last ones.

    The options are those of the library, by their names in vmafx.h (`import` is `import_`): model, feature, backend,
    device, n_threads, log_path, window, …; options() has them all. Raises TypeError for an option that does not exist,
    and Error: EINVAL for options and models, ENOENT, EACCES and others for files, ENODEV and others for a GPU.

    `fps` is how many frames per second the stream has, which few metrics look at (xpsnr, cvvdp); 0: not known.

    With a `reference` (see KeptReference), numbers of its frames are submitted in place of pictures of it. With the
    option `encodes`, each frame of the reference comes with a picture of each encode, or None where there is none;
    every encode has the scores that it has alone.

    Leaving `with` closes the session. If that comes before finish(), the report is marked partial. Messages of the
    library go to the logger "vmafx"; its handlers run in the library's threads and must not call the session. Several
    threads may use a session, one call at a time.
    """

    def __init__(self, *, reference: KeptReference | None = None, fps: float = 0, **options: Option) -> None:
        self._context = _Context()
        try:
            self._context.open(options)
            self.model_sha256 = self._hashes_of_models()
        except BaseException:
            self._context.close()
            raise
        self._finalizer = weakref.finalize(self, abandoned, self._context, "vmafx.Session")
        self._finalizer.atexit = False  # the end of the interpreter closes all that is open
        self._reference = reference
        self._fps = fps
        self._formats: list[Format] = []  # of the reference and of each encode
        self._times: dict[tuple[int, int], float] = {}  # of pairs of encodes whose scores are yet to come
        self._submitted = [0] * self._context.encodes
        self._waiting: deque[FrameScores] = deque()  # until somebody asks for their encode
        self._scores: list[Scores | None] = []
        self._findings: list[list[Finding]] = []

    @_one_call
    def _hashes_of_models(self) -> dict[str, str]:
        """Returns the SHA-256 of the models' files by the keys of their scores."""
        name, found = ffi.new("const char **"), {}
        for i in range(library().vmafx_model_count(self._context.pointer)):
            digits = text_of(library().vmafx_model_sha256(self._context.pointer, i, name))
            found[text_of(name[0])] = digits
        return found

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session and gives all pictures back. It may be called again."""
        self._context.close()
        self._finalizer.detach()

    def submit(self, ref: "Frame | int", *dist: "Frame | None") -> None:
        """Queues the next pair; blocks while too many are in flight.

        A picture is a Picture, an av.VideoFrame, a NumPy array (luma alone), or the arrays of its planes: see Picture.
        It is not copied, and must not be changed from now on. All must have the same width, height, chroma and bits;
        the pictures of an input are all alike.

        With a reference that stays, `ref` is the number of one of its frames. Frames may be left out, repeated and
        taken in any order. Of several encodes there is a picture each, or None.

        Raises Error (EINVAL: the formats do not go together, or the reference does not have this frame; or what an
        earlier pair failed with), TypeError and ValueError for what is no picture.
        """
        number, ref_picture = self._frame_of_reference(ref)
        pictures = [None if frame is None else picture_of(frame) for frame in dist]
        if len(pictures) != len(self._submitted):
            raise TypeError(
                f"{len(pictures)} distorted pictures were submitted, and there are {len(self._submitted)} encodes"
            )
        self._submit(number, ref_picture, pictures)

    @_one_call
    def _submit(self, number: int, ref: Picture | None, dist: Sequence[Picture | None]) -> None:
        context = self._context.pointer
        self._configure_once(ref, dist)
        with Loan() as loan:
            lent = [loan.lend(picture) if picture else ffi.NULL for picture in dist]
            pointers = ffi.new("const VmafxPicture *[]", lent)
            try:
                if ref:
                    code = loan.call(library().vmafx_submit_encodes, context, loan.lend(ref), pointers, len(dist))
                else:
                    code = loan.call(library().vmafx_submit_against, context, number, pointers, len(dist))
            finally:
                if loan.codes == [0]:
                    self._count(dist)
            self._context.check(code)

    def _frame_of_reference(self, ref: "Frame | int") -> tuple[int, Picture | None]:
        """The number of a frame, or a picture."""
        if isinstance(ref, (int, np.integer)):
            if self._reference is None:
                raise TypeError(
                    "the session has no reference to take a frame by its number from: vmafx.Session(reference=…)"
                )
            self._check_number(int(ref))
            return int(ref), None
        if self._reference is not None:
            raise TypeError("the session has a reference, whose frames are submitted by their numbers")
        return 0, picture_of(ref)

    def _check_number(self, number: int) -> None:
        """Refuses numbers that do not fit the library's type, with the library's words for all others."""
        if not -(2**63) <= number < 2**63 and self._reference is not None:
            has = f"the reference, which has {len(self._reference)} frames"
            raise FrameNumberError(errno.EINVAL, f"there is no frame {number} of {has}")

    def _count(self, pictures: Sequence[Picture | None]) -> None:
        """They were submitted."""
        for encode, picture in enumerate(pictures):
            if picture is None:
                continue
            if picture.time is not None:
                self._times[encode, self._submitted[encode]] = picture.time
            self._submitted[encode] += 1

    def _configure_once(self, ref: Picture | None, dist: Sequence[Picture | None]) -> None:
        """An encode that has no picture yet is taken to be like the first that has one."""
        like = next((picture for picture in dist if picture), None)
        if like is None:
            raise Error(errno.EINVAL, "a picture of the reference was submitted without one of any encode")
        if not self._formats:
            first = [picture or like for picture in dist]
            codes: list[int] = []
            try:
                self._configure(codes, ref, first)
            finally:
                if codes == [0]:
                    self._formats = [picture.format for picture in (ref or like, *first)]
            self._context.check(codes[0])
        for i, picture in enumerate((ref, *dist)):
            if picture and picture.format != self._formats[i]:
                raise Error(
                    errno.EINVAL, f"the {self._name(i)} input changed from {self._formats[i]} to {picture.format}"
                )

    def _configure(self, codes: list[int], ref: Picture | None, dist: Sequence[Picture]) -> None:
        """Appends what the library returned."""
        formats = ffi.new("VmafxFormat[]", len(dist))
        for i, picture in enumerate(dist):
            fill_format(formats[i], picture, self._fps)
        if self._reference is not None:
            with self._reference.in_use() as reference:
                called(codes, library().vmafx_configure_against, self._context.pointer, reference, formats, len(dist))
            return
        of_ref = ffi.new("VmafxFormat *")
        fill_format(of_ref, ref, self._fps)  # type: ignore[arg-type]
        called(codes, library().vmafx_configure_encodes, self._context.pointer, of_ref, formats, len(dist))

    def _name(self, input: int) -> str:
        """0: of the reference; else of an encode."""
        if input == 0 or len(self._submitted) == 1:
            return "distorted" if input else "reference"
        return text_of(library().vmafx_encode_name(self._context.pointer, input - 1))

    def frames(self, wait: bool = False, encode: int | None = None) -> Iterator[FrameScores]:
        """The frames that are finished and were not given yet, in order within an encode; with `encode`, those of this
        one, while those of others stay until they are asked for. With `wait`, those in flight too, unless they need a
        later frame (motion looks one ahead). After finish():
        the last ones. Raises Error: what a frame failed with."""
        if encode is not None and not 0 <= encode < len(self._submitted):
            raise ValueError(f"there is no encode {encode}, only {len(self._submitted)}, counted from 0")
        result = ffi.new("VmafxFrameResult *")
        while (scores := self._next(result, wait, encode)) is not None:
            yield scores

    @_one_call
    def _next(self, result: Any, wait: bool, encode: int | None) -> FrameScores | None:
        found = next((scores for scores in self._waiting if encode in (None, scores.encode)), None)
        while found is None and self._receive(result, wait):
            found = self._waiting[-1] if encode in (None, self._waiting[-1].encode) else None
        if found is None or self._context.messages.raised:  # which this call ends with
            return None
        self._waiting.remove(found)
        return found

    def _receive(self, result: Any, wait: bool) -> bool:
        """Adds a frame to those that wait, where it stays if the handler of a signal raises."""
        codes: list[int] = []
        try:
            receive = library().vmafx_receive_wait if wait else library().vmafx_receive
            called(codes, receive, self._context.pointer, result)
        finally:
            if codes == [0]:
                window = _window_of(result.window) if result.window else None
                time = self._times.pop((result.encode, result.frame), None)
                sure = tuple(map(text_of, result.sure[0 : result.n_sure]))
                scores = FrameScores(result.frame, time, _scores_of(result), window, result.encode, sure)
                self._waiting.append(scores._replace(maps=_maps_of(result)))
        if codes != [-errno.EAGAIN]:
            self._context.check(codes[0])
        return codes == [0]

    def set_pairing(self, **counts: float) -> None:
        """How the frames were paired, for the report: the fields of VmafxPairing by their names. Before finish()."""
        self._set_pairing(ffi.new("VmafxPairing *", counts))

    @_one_call
    def _set_pairing(self, pairing: Any) -> None:
        self._context.check(library().vmafx_set_pairing(self._context.pointer, pairing))

    def finish(self) -> Scores:
        """Waits for all frames, pools their scores, writes the report. What frames() has not given yet can still be
        had.

        Of several encodes, these are the scores of the first; `encode_scores` has all.

        Raises Error: EINVAL when no frame was scored, or none of an encode; ERANGE when a score is below `fail_below`;
        EILSEQ when `check` is "fail" and the pictures raise a doubt; and what writing the report failed with. Once
        there are scores, they are there all the same.
        """
        self._finish()
        return self.scores

    @_one_call
    def _finish(self) -> None:
        codes: list[int] = []
        try:
            failure = self._context.failure(called(codes, library().vmafx_finish, self._context.pointer))
        finally:
            if codes and library().vmafx_finished(self._context.pointer):
                self._scores = [self._pooled_of(encode) for encode in range(len(self._submitted))]
                self._findings = [self._found(encode) for encode in range(len(self._submitted))]
        if failure:
            raise failure

    def _pooled_of(self, encode: int) -> Scores | None:
        if not self._submitted[encode]:
            return None
        models = self._pooled(encode, library().vmafx_model_count, library().vmafx_encode_model_score)
        features = self._pooled(encode, library().vmafx_feature_count, library().vmafx_encode_feature_score)
        return Scores(models, features)

    def _found(self, encode: int) -> list[Finding]:
        found = ffi.new("VmafxFinding *")
        findings: list[Finding] = []
        while library().vmafx_finding(self._context.pointer, encode, len(findings), found) == 0:
            findings.append(_finding_of(found))
        return findings

    def _pooled(self, encode: int, count: Any, score: Any) -> dict[str, float]:
        name, value, scores = ffi.new("const char **"), ffi.new("double *"), {}
        for i in range(count(self._context.pointer)):
            self._context.check(score(self._context.pointer, encode, i, name, value))
            scores[text_of(name[0])] = value[0]
        return scores

    @property
    def scores(self) -> Scores:
        """The pooled scores (of several encodes, of the first), after finish(), even once the session is closed.

        Raises Error (EINVAL) before.
        """
        found = self.encode_scores[0]
        if found is None:
            raise Error(errno.EINVAL, "the first encode had no frames")
        return found

    @property
    def encode_scores(self) -> list[Scores | None]:
        """The pooled scores of each encode, as `scores` has them; None: it had no frames."""
        if not self._scores:
            raise Error(errno.EINVAL, "there are no pooled scores before finish()")
        return self._scores

    @property
    def findings(self) -> list[Finding]:
        """The findings of the look at the pictures (option `check`) about the first encode, by kinds and places, after
        finish(), even once the session is closed.

        Raises Error (EINVAL) before.
        """
        return self.encode_findings[0]

    @property
    def encode_findings(self) -> list[list[Finding]]:
        """The findings about each encode, as `findings` has them."""
        if not self._scores:
            raise Error(errno.EINVAL, "there are no findings before finish()")
        return self._findings

    def run(self, pairs: "Iterable[tuple[Frame | int | None, ...]]") -> Iterator[FrameScores]:
        """Submits all pairs (ref, dist), of several encodes (ref, dist, dist, …), and finishes. With a reference that
        stays, enumerate(…) of an encode's frames makes such pairs. The scores of each frame come as soon as they are
        known. Raises what submit() and finish() do; where a score is below `fail_below`, or an encode had no frames,
        after the last frame."""
        for pictures in pairs:
            self.submit(*pictures)
            yield from self.frames()
        failure = None
        try:
            self.finish()
        except Error as error:
            if not self._scores:
                raise
            failure = error
        yield from self.frames()
        if failure:
            raise failure


def _scores_of(found: Any) -> dict[str, float]:
    """The scores of a VmafxFrameResult or a VmafxPoolWindow."""
    return {text_of(score.key): score.value for score in found.scores[0 : found.n_scores]}


def _maps_of(result: Any) -> dict[str, Map]:
    """The maps of a VmafxFrameResult, copied: the library lends them until its next call."""
    maps = {}
    for found in result.maps[0 : result.n_maps]:
        lent = np.frombuffer(ffi.buffer(found.values, found.width * found.height * 8), np.float64)
        values = lent.reshape(found.height, found.width).copy()
        maps[text_of(found.name)] = Map(values, text_of(found.unit), (found.block_width, found.block_height))
    return maps


def _window_of(window: Any) -> Window:
    time = window.time if window.has_time else None
    return Window(window.number, window.first_frame, window.last_frame, time, _scores_of(window))


def _finding_of(found: Any) -> Finding:
    return Finding(
        text_of(found.name),
        names_of("VmafxCertainty")[found.certainty],
        range(getattr(found, "from"), found.end),
        {text_of(number.name): number.value for number in found.evidence[0 : found.n_evidence]},
        text_of(found.text),
        [text_of(remedy) for remedy in found.remedies[0 : found.n_remedies]],
    )
