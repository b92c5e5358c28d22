"""Chooses the decoders of a work: with_decoders() is what subcommands call before they score."""

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from .._ffmpeg import Video
from .._scoring import TimeRange, Work
from .._terminal import Failure
from . import trial
from .decision import (
    ALONE,
    AUTO,
    NONE,
    OF_WORKER,
    Decoding,
    Format,
    Least,
    Tried,
    can_be_tried,
    decide,
    jobs_for,
    lacks_decoders,
    lacks_format,
    methods_to_try,
    too_short,
)
from .places import held

MOST_AT_ONCE = 4  # trials at the same time
USUAL_DECODERS = 1  # of a GPU that does not say how many it has
LACKING = (
    "the inputs are decoded on the CPU: this ffmpeg was built without NVIDIA's decoders (--enable-ffnvcodec, with "
    "Debian's libffmpeg-nvenc-dev)"
)

_known: dict[object, Tried] = {}  # outcomes of trials by kinds of videos


@contextlib.contextmanager
def shared_decoders(work: Work, least: Least | None = None) -> Iterator[Work]:
    """Yields the work with decoders of a GPU while this process holds one of their places, which all processes of the
    machine share; else with those of the CPU, as long as the settings say auto. `least` instead of OF_WORKER.
    """
    settings, least = work.settings, least or OF_WORKER
    if settings.hwaccel == NONE or (settings.hwaccel == AUTO and too_short(work.videos, least)):
        yield with_decoders(work, least=least)  # which says so
        return
    gpus = trial.nvidia_gpus() if trial.machine().nvidia else ()
    with held(places_here()) as number:
        if number is None and settings.hwaccel == AUTO:
            yield work
            return
        usual = str(gpus[(number or 0) % len(gpus)].number) if len(gpus) > 1 else ""
        yield with_decoders(work, least=least, by_kind=True, usual_place=usual)


def places_here() -> int:
    """Returns how many runs at once this machine's GPUs decode for; 0: it shows no GPU."""
    return decoders_here() or int(any(trial.machine()))


def decoders_here() -> int:
    """Returns how many decoders the NVIDIA GPUs of this machine have."""
    return sum(gpu.decoders for gpu in trial.nvidia_gpus()) if trial.machine().nvidia else 0


@contextlib.contextmanager
def trials_beside(work: Work, devices: Sequence[str], time_range: TimeRange | None) -> Iterator[None]:
    """Runs the trials of the inputs beside the block, so that with_decoders() finds their outcomes."""
    thread = threading.Thread(target=_try_all, args=(work, devices, time_range), daemon=True)
    thread.start()
    yield
    thread.join()


def _try_all(work: Work, devices: Sequence[str], time_range: TimeRange | None) -> None:
    with contextlib.suppress(Failure):  # with_decoders() meets it, too
        with_decoders(work, devices, time_range)


def with_decoders(
    work: Work,
    devices: Sequence[str] = (),
    time_range: TimeRange | None = None,
    least: Least | None = None,
    by_kind: bool = False,
    usual_place: str = "",
) -> Work:
    """Returns the work with the decoders that its settings want, and notes on inputs that others decode. Raises Failure
    if decoders were named that ffmpeg does not have.

    `devices`: the GPUs of --device; `time_range`: all that is scored of the inputs; `least`: what auto leaves to the
    CPU, instead of ALONE; `by_kind`: one trial is enough for inputs of one kind; `usual_place`: FFmpeg's name of the
    GPU if no device is named.
    """
    settings, machine = work.settings, trial.machine()
    if settings.hwaccel == NONE or (settings.hwaccel == AUTO and not any(machine)):
        return work
    offered = trial.methods(settings.ffmpeg)
    methods = methods_to_try(settings.hwaccel, settings.backend, offered, machine)
    begin, end = time_range.seconds() if time_range else (0.0, None)
    if settings.hwaccel == AUTO and (line := too_short(work.videos, least or ALONE, begin, end)):
        return _with(work, None, [line] if methods and any(map(can_be_tried, work.videos)) else [])
    named = [*devices, *filter(None, [settings.device])]
    notes: list[str] = []
    for method in methods:
        decoding, own = _by(method, work, named, by_kind, usual_place)
        if decoding:
            return _with(work, decoding, own)
        notes = notes or own
    if lacks_decoders(settings.hwaccel, settings.backend, offered, machine):
        notes = [LACKING]
    return _with(work, None, notes)


def usual_jobs(work: Work, devices: Sequence[str]) -> int:
    """Returns how many runs at once keep the decoders busy that the work has."""
    decoding = work.decoding
    if not decoding or decoding.method != "cuda" or decoding.streams < len(work.videos):
        return 1
    return jobs_for(decoding.streams, decoders_of({decoding.places.get(device, "") for device in devices or [""]}))


def decoders_of(places: "set[str]") -> int:
    """Returns the number of decoders of the GPUs that FFmpeg calls so."""
    indices = {int(name or 0) for name in places}
    return sum(gpu.decoders for gpu in trial.nvidia_gpus() if gpu.number in indices) or USUAL_DECODERS


def formats_of(place: str) -> frozenset[Format]:
    """Returns what the GPU that FFmpeg calls so decodes, as its driver says."""
    return next((gpu.formats for gpu in trial.nvidia_gpus() if gpu.number == int(place or 0)), frozenset[Format]())


def _with(work: Work, decoding: Decoding | None, notes: Sequence[str]) -> Work:
    preparation = dataclasses.replace(work.preparation, notes=list(dict.fromkeys([*work.notes, *notes])))
    return dataclasses.replace(work, decoding=decoding, preparation=preparation)


def _by(
    method: str, work: Work, devices: Sequence[str], by_kind: bool, usual_place: str
) -> tuple[Decoding | None, list[str]]:
    """Returns the decoders of this method, if it decodes any input, and notes."""
    settings = work.settings
    places = {"": usual_place} if not devices else {}
    for device in devices:
        if (place := trial.place_of(method, device)) is None:
            return None, [f"the inputs are decoded on the CPU: FFmpeg's decoders ({method}) do not know GPU {device}"]
        places[device] = place
    device, first = next(iter(places.items()))
    outcomes = _outcomes(work, method, first, device, by_kind)
    if any(outcome and not outcome.backend for outcome in outcomes) and settings.hwaccel != method:
        return None, []  # the filter has no GPU either, and says why if it was asked for one
    scales = settings.scale_on == "gpu" and method == "cuda"
    chains = [*work.preparation.dist, work.preparation.ref]
    decided = [
        decide(video, chain, method, outcome, settings.hwaccel, scales)
        for video, chain, outcome in zip(work.videos, chains, outcomes)
    ]
    notes = [text for _, text in decided if text]
    decoding = Decoding(method, tuple(decoder for decoder, _ in decided), places)
    if not decoding.streams:
        return None, notes
    if scales and any(decoder.method for decoder in decoding.inputs) and _scaled(work, decoding):
        notes.append("the GPU scales (scale_cuda), whose pictures differ from swscale's: scores differ a little")
    return decoding, [f"the GPU decodes ({method})", *notes]


def _scaled(work: Work, decoding: Decoding) -> bool:
    chains = [*work.preparation.dist, work.preparation.ref]
    return any(
        stays and "scale=" in text
        for decoder, chain in zip(decoding.inputs, chains)
        for stays, text in zip(decoder.stays, chain.pictures)
    )


def _outcomes(work: Work, method: str, place: str, device: str, by_kind: bool) -> list[Tried | None]:
    """Returns the outcome of each input's trial; None if it needs none. Inputs that are alike share one."""
    settings = work.settings
    of_filter = None if settings.backend == "cpu" else device

    def key(video: Video) -> object:
        kind = (video.codec, video.profile, video.pix_fmt, video.width, video.height, video.options)
        return settings.ffmpeg, method, place, of_filter, kind if by_kind else (video.path, video.options)

    new = {key(video): video for video in work.videos if can_be_tried(video) and key(video) not in _known}
    if new and method == "cuda":
        formats = formats_of(place)
        refused = {kind: Tried(cause) for kind, video in new.items() if (cause := lacks_format(video, formats))}
        _known.update(refused)
        new = {kind: video for kind, video in new.items() if kind not in refused}
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        found = pool.map(lambda video: trial.tried(settings.ffmpeg, video, method, place, of_filter), new.values())
        _known.update(zip(new, found))
    return [_known[key(video)] if can_be_tried(video) else None for video in work.videos]
