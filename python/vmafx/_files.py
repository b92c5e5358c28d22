"""Scores two files: PyAV decodes them, and their frames are paired one to one."""

import contextlib
import errno
import os
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ._identity import file_of_output, files_of, identities, values_of
from ._library import Error, logger
from ._pictures import time_of
from ._options import Option
from ._session import Finding, FrameScores, Session

if TYPE_CHECKING:
    import av
    from av.container import InputContainer

File: TypeAlias = "str | os.PathLike[str]"


class FileScores(NamedTuple):
    """The result of score()."""

    models: dict[str, float]
    """pooled scores by the models' names: "vmaf" for a single model without a name of its own"""
    features: dict[str, float]
    """pooled main scores of the features that the option `feature` names, by their names in reports"""
    frames: list[FrameScores]
    findings: list[Finding]
    """what the pictures say, and tags and times do not: see Session.findings"""


def score(ref: File, dist: File, *, shortest: bool = False, **options: Option) -> FileScores:
    """Scores the first video stream of a file against that of another, with the options of Session. PyAV decodes them.

    The first frame is paired with the first, the second with the second; to pair frames by their times, use the filter.
    A warning goes to the logger "vmafx" if the times drift apart by more than half a frame.

    Raises Error as Session does, and with EINVAL if one file has more frames than the other, unless `shortest` ends
    with the shorter one, or if an option (log_path, openmetrics, maps, heatmaps_path of a feature) would overwrite one
    of the two files. PyAV raises av.error.FFmpegError.
    """
    _check_outputs([ref, dist], options)
    if options.get("encodes", 1) != 1:
        raise Error(
            errno.EINVAL,
            f"encodes={options['encodes']}: score() takes one distorted file; use Session for the frames of several "
            "encodes",
        )
    with _opened(ref) as ref_file, _opened(dist) as dist_file, Session(
        reference=None, fps=_fps_of(ref_file), **options
    ) as session:
        frames = list(session.run(_pairs(session, ref_file, dist_file, shortest)))
        return FileScores(*session.scores, frames, session.findings)


def _check_outputs(inputs: list[File], options: dict[str, Option]) -> None:
    """Raises Error if an output would overwrite a file that is read."""
    outputs = {file_of_output(str(options[name])): name for name in ("log_path", "openmetrics") if options.get(name)}
    given = [options.get(name) or "" for name in ("feature", "model")]
    texts = ["|".join(value) if isinstance(value, list | tuple) else str(value) for value in given]
    for folder in values_of("heatmaps_path", texts):
        names = os.listdir(folder) if os.path.isdir(folder) else []
        outputs |= {os.path.join(folder, name): "heatmaps_path" for name in names if "_heatmap_" in name}
    if folder := str(options.get("maps") or ""):
        names = os.listdir(folder) if os.path.isdir(folder) else []
        outputs |= {os.path.join(folder, name): "maps" for name in names if name.endswith("_f32.gray")}
    files = ((os.fspath(path), file) for path in inputs for file in files_of(os.fspath(path)))
    read = {identity: path for path, file in files for identity in _identities(file)}
    for path, option in outputs.items():
        for identity in _identities(path):
            if identity in read:
                told = f"{option}={path} is the input {read[identity]}, which is never overwritten"
                raise Error(errno.EINVAL, f"{told}: name another file")


def _identities(path: str) -> set[tuple[object, ...]]:
    """Returns the identities of a file; none for a name that cannot be a file's, which fails when it is opened."""
    try:
        return identities(path)
    except (OSError, ValueError):
        return set()


def _pairs(
    session: Session, ref_file: "InputContainer", dist_file: "InputContainer", shortest: bool
) -> "Iterator[tuple[av.VideoFrame, av.VideoFrame]]":
    paired = 0
    differences: list[float] = []  # between the times of each pair, in seconds
    for ref, dist in zip_longest(ref_file.decode(video=0), dist_file.decode(video=0)):
        if ref is None or dist is None:
            if shortest:
                break
            ended, other = ("reference", "distorted video") if ref is None else ("distorted video", "reference")
            raise Error(
                errno.EINVAL,
                f"the {ended} ends after {paired} frames, the {other} goes on: give shortest=True to score the pairs "
                "up to there",
            )
        times = time_of(ref), time_of(dist)
        if times[0] is not None and times[1] is not None:
            differences.append(times[1] - times[0])
        paired += 1
        yield ref, dist
    _warn_of_drift(differences, ref_file)
    session.set_pairing(
        paired=paired, max_time_difference=max((abs(difference) for difference in differences), default=0.0)
    )


def _fps_of(file: "InputContainer") -> float:
    return float(file.streams.video[0].average_rate or 0)


@contextlib.contextmanager
def _opened(path: File) -> "Iterator[InputContainer]":
    """Opens a file whose decoder decodes several frames at once.

    PyAV keeps Python's lock when it frees a decoder and waits for the decoder's threads, so it hangs if one of these
    wants to log. The decoder is therefore emptied first.
    """
    import av

    with av.open(os.fspath(path)) as file:
        if not file.streams.video:
            raise Error(errno.EINVAL, f"{os.fspath(path)} has no video")
        codec = file.streams.video[0].codec_context
        codec.thread_type = "AUTO"
        try:
            yield file
        finally:
            with contextlib.suppress(av.error.FFmpegError):  # the decoder was emptied before
                codec.decode(None)


def _warn_of_drift(differences: list[float], ref_file: "InputContainer") -> None:
    rate = ref_file.streams.video[0].average_rate
    drift = max(differences, default=0) - min(differences, default=0)
    if rate and drift > 0.5 / rate:
        logger.warning(
            "The score is doubtful: the times of the paired frames drift apart by %.3f s. Use the filter vmafx, which "
            "pairs by time.",
            drift,
        )
