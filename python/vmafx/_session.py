"""A session: a stream of frame pairs, and their scores."""

import atexit
import errno
import operator
import os
import re
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from ._library import Error, ffi, header, library, log_callback, text_of
from ._pictures import Format, Frame, Picture, fill_format, lend, picture_of

Option: TypeAlias = "str | int | float | os.PathLike[str] | list[str] | tuple[str, ...] | None"
"""The value of an option; several texts are joined by `|`, and None is the default."""


class Window(NamedTuple):
    """Frames that follow one another, and their pooled scores."""

    number: int
    first_frame: int
    last_frame: int
    time: float | None
    """of the first frame, in seconds"""
    scores: dict[str, float]


class FrameScores(NamedTuple):
    """The scores of a pair of frames."""

    number: int
    """of the pair, from 0"""
    time: float | None
    """that the distorted picture came with, in seconds"""
    scores: dict[str, float]
    """features, then models, by their names in reports; empty for a frame that n_subsample skips"""
    window: Window | None
    """the one that ends with this frame"""


class Scores(NamedTuple):
    """The pooled scores of a stream. One is infinite or NaN where that of no frame is finite."""

    models: dict[str, float]
    """by their names: "vmaf" for the only one, unless it has another"""
    features: dict[str, float]
    """the main scores of the features that the option `feature` names, by their names in reports"""


# -- Options -------------------------------------------------------------------------------------------------------------

_TEXT, _INT = ffi.typeof("const char *"), ffi.typeof("int")
_option_types = {name: field.type for name, field in ffi.typeof("VmafxParams").fields if field.type in (_TEXT, _INT)}

# As vmafx.h says them in VMAFX_OPTIONS and VMAFX_OTHER_OPTIONS: TEXT(option, field, default, help), FLAG likewise,
# INT(option, field, default, least, most, help)
_DECLARED = re.compile(r'(?:TEXT|FLAG|INT)\(\w+, (\w+), (?:NULL|"([^"]*)"|(\d+)), (?:\w+, \w+, )?(?:\\\s*)?"([^"]*)"\)')


class OptionInfo(NamedTuple):
    """What there is to know of an option."""

    default: str | int | None
    help: str


def options() -> dict[str, OptionInfo]:
    """The options of a session, by their names, with their defaults (None: no text) and a line of help."""
    declared = {}
    for found in _DECLARED.finditer(header):
        name, text, number, help = found.groups()
        declared[name] = OptionInfo(int(number) if number else text, help)
    return {name: declared[name] for name in _option_types}


def _text_for(name: str, value: Option) -> bytes:
    if isinstance(value, (list, tuple)):
        value = "|".join(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    text = os.fsencode(value if isinstance(value, (str, os.PathLike)) else str(value))
    if b"\0" in text:
        raise ValueError(f"there is a zero byte in {name}")
    return text


def _params_of(values: Mapping[str, Option]) -> tuple[Any, list[Any]]:
    """A VmafxParams, and the texts that it points to."""
    params, texts = ffi.new("VmafxParams *"), []
    library().vmafx_default_params(params)
    for name, value in values.items():
        if name not in _option_types:
            raise TypeError(f"there is no option {name}; there are {', '.join(_option_types)}")
        if value is None:
            continue
        if _option_types[name] == _INT:
            setattr(params, name, operator.index(value))  # type: ignore[arg-type]
        else:
            texts.append(ffi.new("char[]", _text_for(name, value)))
            setattr(params, name, texts[-1])
    return params, texts


# -- The library's context -----------------------------------------------------------------------------------------------


class _Context:
    """A VmafxContext, from vmafx_open() to vmafx_close()."""

    def __init__(self, values: Mapping[str, Option]) -> None:
        params, texts = _params_of(values)
        self._errors: list[str] = []  # what the log said; the only place that tells why vmafx_open() failed
        self._cookie = ffi.new_handle(self._errors)
        self._out = ffi.new("VmafxContext **")
        self._process = os.getpid()
        params.log, params.log_cookie = log_callback, self._cookie
        code = library().vmafx_open(self._out, params)
        if code < 0:
            raise Error(-code, self._errors[-1] if self._errors else os.strerror(-code))
        _contexts.add(self)

    @property
    def pointer(self) -> Any:
        if not self._out[0]:
            raise Error(errno.EBADF, "the session is closed")
        if os.getpid() != self._process:
            raise Error(errno.EBADF, "the session belongs to the process that opened it; a child of fork() cannot use it")
        return self._out[0]

    def failure(self, code: int) -> Error | None:
        """What a call that has just returned this failed with."""
        return Error(-code, text_of(library().vmafx_last_error(self.pointer)) or os.strerror(-code)) if code < 0 else None

    def check(self, code: int) -> None:
        if failure := self.failure(code):
            raise failure

    def close(self) -> None:
        _contexts.discard(self)
        if os.getpid() == self._process:  # the child of a fork() has no workers to wait for
            library().vmafx_close(self._out)


_contexts: set[_Context] = set()


@atexit.register
def _close_all() -> None:
    for context in list(_contexts):
        context.close()


def _close_elsewhere(context: _Context) -> None:
    """Closes the context of a session that nobody refers to any more. The garbage collector may have come to it in a worker of this very session,
    which must not wait for itself: therefore in a thread."""
    if context in _contexts:  # which _close_all() may have emptied
        threading.Thread(target=context.close).start()
        warnings.warn("a vmafx.Session was not closed", ResourceWarning, stacklevel=2)


# -- The session ---------------------------------------------------------------------------------------------------------


class Session:
    """Scores one stream of frame pairs:

        with vmafx.Session(feature="psnr") as session:
            for frame in session.run(pairs):
                print(frame.number, frame.scores["vmaf"])
        print(session.scores.models["vmaf"])

    or step by step: submit() each pair, frames() for the scores so far, finish(), and frames() for the last ones.

    The options are those of VmafxParams (vmafx.h), by their names there: model, feature, backend, device, n_threads, log_path, window, …; options()
    has them all with their defaults. Raises TypeError for an option that does not exist, and Error: EINVAL for options and models, ENOENT, EACCES
    and others for files, ENODEV and others for a GPU.

    Leaving `with` closes the session. If that comes before finish(), the report is marked partial. Messages of the library go to the logger "vmafx";
    its handlers run in the library's threads and must not call the session. Several threads may use a session, one call at a time.
    """

    def __init__(self, **options: Option) -> None:
        if options.get("encodes", 1) != 1:
            raise Error(errno.EINVAL, f"encodes={options['encodes']}: a session of this module scores one encode; open one for each")
        self._lock = threading.RLock()
        self._context = _Context(options)
        self._formats: tuple[Format, Format] | None = None
        self._times: dict[int, float] = {}  # of pairs whose scores are yet to come
        self._submitted = 0
        self._scores: Scores | None = None
        self._finalizer = weakref.finalize(self, _close_elsewhere, self._context)
        self._finalizer.atexit = False  # _close_all() does it

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session and gives all pictures back. It may be called again."""
        with self._lock:
            self._finalizer.detach()
            self._context.close()

    def submit(self, ref: Frame, dist: Frame) -> None:
        """Queues the next pair; blocks while too many are in flight.

        A picture is a Picture, an av.VideoFrame, a NumPy array (luma alone), or the arrays of its planes: see Picture. It is not copied, and must not
        be changed from now on. Both must have the same width, height, chroma and bits; the pictures of an input are all alike.

        Raises Error (EINVAL: the formats do not go together; or what an earlier pair failed with), TypeError and ValueError for what is no picture.
        """
        pictures = picture_of(ref), picture_of(dist)
        with self._lock:
            context = self._context.pointer
            self._configure_once(*pictures)
            both = ffi.new("VmafxPicture[2]")
            for out, picture in zip(both, pictures):
                lend(ffi.addressof(out), picture)
            time = pictures[1].time
            if time is not None:
                self._times[self._submitted] = time
            self._context.check(library().vmafx_submit(context, both, both + 1))
            self._submitted += 1

    def _configure_once(self, ref: Picture, dist: Picture) -> None:
        formats = ref.format, dist.format
        if self._formats is None:
            both = ffi.new("VmafxFormat[2]")
            fill_format(both[0], ref)
            fill_format(both[1], dist)
            self._context.check(library().vmafx_configure(self._context.pointer, both, both + 1))
            self._formats = formats
        for name, first, now in zip(("reference", "distorted"), self._formats, formats):
            if now != first:
                raise Error(errno.EINVAL, f"the {name} input changed from {first} to {now}")

    def frames(self, wait: bool = False) -> Iterator[FrameScores]:
        """The frames that are finished and were not given yet, in order. With `wait`, those in flight too, unless they need a later frame (motion
        looks one ahead). After finish(): the last ones. Raises Error: what a frame failed with."""
        result = ffi.new("VmafxFrameResult *")
        while (scores := self._receive(result, wait)) is not None:
            yield scores

    def _receive(self, result: Any, wait: bool) -> FrameScores | None:
        receive = library().vmafx_receive_wait if wait else library().vmafx_receive
        with self._lock:
            code = receive(self._context.pointer, result)
            if code == -errno.EAGAIN:
                return None
            self._context.check(code)
            window = _window_of(result.window) if result.window else None
            return FrameScores(result.frame, self._times.pop(result.frame, None), _scores_of(result), window)

    def set_pairing(self, **counts: float) -> None:
        """How the frames were paired, for the report: the fields of VmafxPairing by their names. Before finish()."""
        with self._lock:
            pairing = ffi.new("VmafxPairing *", counts)
            self._context.check(library().vmafx_set_pairing(self._context.pointer, pairing))

    def finish(self) -> Scores:
        """Waits for all frames, pools their scores, writes the report. What frames() has not given yet can still be had.

        Raises Error: EINVAL when no frame was scored; ERANGE when a score is below `fail_below`, and what writing the report failed with. In these
        two cases `scores` is there all the same.
        """
        with self._lock:
            failure = self._context.failure(library().vmafx_finish(self._context.pointer))
            if library().vmafx_finished(self._context.pointer):
                models = self._pooled(library().vmafx_model_count, library().vmafx_model_score)
                features = self._pooled(library().vmafx_feature_count, library().vmafx_feature_score)
                self._scores = Scores(models, features)
        if failure:
            raise failure
        return self.scores

    def _pooled(self, count: Any, score: Any) -> dict[str, float]:
        name, value, scores = ffi.new("const char **"), ffi.new("double *"), {}
        for i in range(count(self._context.pointer)):
            self._context.check(score(self._context.pointer, i, name, value))
            scores[text_of(name[0])] = value[0]
        return scores

    @property
    def scores(self) -> Scores:
        """The pooled scores, after finish(), even once the session is closed. Raises Error (EINVAL) before."""
        if self._scores is None:
            raise Error(errno.EINVAL, "there are no pooled scores before finish()")
        return self._scores

    def run(self, pairs: Iterable[tuple[Frame, Frame]]) -> Iterator[FrameScores]:
        """Submits all pairs (ref, dist) and finishes. The scores of each frame come as soon as they are known. Raises what submit() and finish() do;
        where a score is below `fail_below`, after the last frame."""
        for ref, dist in pairs:
            self.submit(ref, dist)
            yield from self.frames()
        failure = None
        try:
            self.finish()
        except Error as error:
            if self._scores is None:
                raise
            failure = error
        yield from self.frames()
        if failure:
            raise failure


def _scores_of(found: Any) -> dict[str, float]:
    """The scores of a VmafxFrameResult or a VmafxWindow."""
    return {text_of(score.key): score.value for score in found.scores[0 : found.n_scores]}


def _window_of(window: Any) -> Window:
    time = window.time if window.has_time else None
    return Window(window.number, window.first_frame, window.last_frame, time, _scores_of(window))
