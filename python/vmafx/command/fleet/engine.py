"""Runs tasks on Dask's workers, on this machine or a cluster. Dask is imported when an engine is opened.

Dask itself runs a task again if its worker is lost: the worker has died, or said nothing for the time of worker-ttl. A
frozen worker that comes back is sent away with its result. Only as many tasks are submitted at a time as keep the
workers busy, so that neither client nor scheduler holds a whole library.
"""

import asyncio
import contextlib
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import _json
from .._terminal import Failure, note, shown
from .local import Local
from .noise import Noise, kept_noise, told

INSTALL = (
    "Dask, which runs the tasks, is not installed: run apt-get install python3-distributed, or pip install "
    "'./python[library]' in vmafx's sources. docs/scale.md says how to do without it"
)
LACKS_MODULE = "a worker cannot import the task ({}): install this version of the Python module vmafx on each"
LOST = "the connection to the scheduler is lost{}; the results so far are kept: start the command again to go on"
WAITING_S = 60  # wait for the first worker of a cluster
ASK_S = 5  # interval at which the workers are counted
WRITES_IT = "name the file that `dask scheduler --scheduler-file` writes"
MOST_OF_SCHEDULER = 1 << 20  # characters of that file
ANSWER_S = 60  # wait for an answer of the scheduler
WITHOUT_S = 60  # wait while this machine has no worker
CLOSING_S = 10
POLL_S = 0.02


class Lost(Exception):
    """Raised for a task whose workers have died one after the other."""


@dataclass
class Task:
    function: Callable[..., Any]
    arguments: Sequence[Any]
    own: Any = None  # kept by the client, not sent
    attempt: int = 1


Finish = Callable[[Task, Any], Iterable[Task]]


@dataclass
class Engine:
    client: Any
    noise: Noise
    resources: dict[str, float] = field(default_factory=dict)  # needs of each task
    waits: bool = False  # whether to wait for workers if all have gone
    threads: int = 0
    asked: float = 0.0
    had: float = field(default_factory=time.monotonic)  # when there were workers last

    def run(self, tasks: Iterable[Task], finish: Finish) -> None:
        """Runs the tasks.

        `finish` gets each task with its result, an exception if Dask has one, and returns the tasks that follow, which
        come before the others.
        """
        from distributed import as_completed

        waiting, next_ones = iter(tasks), deque[Task]()
        running: dict[str, Task] = {}
        with self._in_one_line():
            finished = as_completed(loop=self.client.loop, with_results=True, raise_errors=False)
        while True:
            room = self.window() - len(running)
            batch = list(_take(room, next_ones, waiting))
            with self._in_one_line():
                for future, task in zip(self._submit(batch), batch):
                    running[future.key] = task
                    finished.add(future)
            if not running:
                return
            for future, result in self._next_of(finished):
                next_ones.extend(finish(running.pop(future.key), self._outcome(future, result)))
                future.release()

    def _next_of(self, finished: Any) -> Any:
        """Returns some finished tasks, or none for now."""
        begin = time.monotonic()
        while time.monotonic() - begin < ASK_S:
            with self._in_one_line():
                if batch := finished.next_batch(block=False):
                    return batch
            time.sleep(POLL_S)
        return []

    @contextlib.contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Turns whatever Dask raises into a Failure: its kind would not help the user."""
        try:
            yield
        except (Exception, asyncio.CancelledError) as error:
            raise Failure(LOST.format(f" ({told(error)})")) from error

    def window(self) -> int:
        """Returns how many tasks may be submitted: one for each worker to do, and one to go on with."""
        if time.monotonic() - self.asked > ASK_S:
            with self._in_one_line():
                threads = self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWER_S)
            self.threads, self.asked = sum(threads.values()), time.monotonic()
            self._check_workers()
        return 2 * self.threads + 8

    def _check_workers(self) -> None:
        if self.threads:
            self.had = time.monotonic()
        elif not self.waits and time.monotonic() - self.had > WITHOUT_S:
            cause = self.noise.cause()
            raise Failure("all workers have ended, and none starts again" + (f": {cause}" if cause else ""))

    def _submit(self, batch: Sequence[Task]) -> Iterator[Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # reports of ranges to join are large
            for task in batch:
                yield self.client.submit(task.function, *task.arguments, pure=False, resources=self.resources or None)

    def _outcome(self, future: Any, result: Any) -> Any:
        from distributed import KilledWorker

        if future.status == "finished":
            return result
        if future.status != "error":
            raise Failure(LOST.format(""))
        error = result[1]
        if isinstance(error, ImportError):
            raise Failure(LACKS_MODULE.format(error))
        return Lost("the worker died each time") if isinstance(error, KilledWorker) else error


def _take(room: int, next_ones: deque[Task], waiting: Iterator[Task]) -> Iterator[Task]:
    for _ in range(room):
        if next_ones:
            yield next_ones.popleft()
        elif (task := next(waiting, None)) is not None:
            yield task
        else:
            return


# -- Opening one -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The place where tasks run."""

    scheduler: str | None = None
    scheduler_file: Path | None = None
    workers: int = 1  # on this machine
    worker_ttl: float = 60.0  # seconds, for workers on this machine
    dashboard: bool = False
    resources: tuple[str, ...] = ()  # each as NAME=NUMBER

    @property
    def is_here(self) -> bool:
        return self.scheduler is None and self.scheduler_file is None


def check_engine() -> None:
    """Checks that Dask is installed, before anything is written. It is not imported, which takes half a second of a
    processor, until there are tasks for it. Raises Failure.
    """
    for name in "dask", "distributed":
        if find_spec(name) is None:
            raise Failure(f"{INSTALL} (no module named {name})")


@contextlib.contextmanager
def open_engine(place: Place) -> Iterator[Engine]:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise Failure(f"{INSTALL} ({error})") from error
    with kept_noise() as noise, _here(place, noise) if place.is_here else _foreign(place) as client:
        yield Engine(client, noise, _numbers(place.resources), waits=not place.is_here)


@contextlib.contextmanager
def _here(place: Place, noise: Noise) -> Iterator[Any]:
    """Starts workers on this machine, which end with this process."""
    import dask

    if place.dashboard:
        _check_bokeh()
    settings = {
        "distributed.scheduler.worker-ttl": f"{place.worker_ttl} s",
        "distributed.worker.resources": _numbers(place.resources),
        "distributed.worker.http.routes": [],
    }
    if not place.dashboard:
        settings["distributed.scheduler.http.routes"] = []
    with dask.config.set(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = Local(place.workers, place.dashboard, noise)
        try:
            local.start()
            if place.dashboard:
                note(f"the dashboard is at {local.link}")
            with _client("the workers of this machine", address=local.address) as client:
                yield client
        finally:
            local.end()


@contextlib.contextmanager
def _client(name: str, **where: Any) -> Iterator[Any]:
    from distributed import Client
    from distributed.security import Security

    try:
        client = Client(**where, security=Security())
    except (Exception, asyncio.CancelledError) as error:
        cause = told(error)
        if cause == asyncio.CancelledError.__name__:  # Dask has given up, and says no more
            cause = "none has answered, start one with `dask scheduler`"
        raise Failure(f"cannot reach the scheduler at {name}: {cause}") from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            client.close(timeout=CLOSING_S)


def _check_bokeh() -> None:
    try:
        import bokeh  # noqa: F401
    except ImportError as error:
        raise Failure("--dashboard needs bokeh, which Debian does not have: run pip install bokeh") from error


@contextlib.contextmanager
def _foreign(place: Place) -> Iterator[Any]:
    name = place.scheduler or str(place.scheduler_file)
    if place.scheduler_file:
        _check_scheduler_file(place.scheduler_file)
    where = {"address": place.scheduler} if place.scheduler else {"scheduler_file": str(place.scheduler_file)}
    with _client(name, **where) as client:
        try:
            client.wait_for_workers(1, timeout=WAITING_S)
            offers = client.run(_offered)
        except ImportError as error:
            raise Failure(LACKS_MODULE.format(error)) from error
        except (Exception, asyncio.CancelledError) as error:
            if type(error).__name__.endswith("TimeoutError"):
                raise Failure(
                    f"no worker has come to {name} within {WAITING_S} s: start one with `dask worker`"
                ) from error
            raise Failure(f"the cluster at {name} does not work: {told(error)}") from error
        _check_resources(name, offers, _numbers(place.resources))
        yield client


def _check_scheduler_file(path: Path) -> None:
    if not path.is_file():
        raise Failure(f"cannot find the file {shown(path)}: {WRITES_IT}")
    try:
        with path.open(encoding="utf-8") as file:
            content = _json.parse(file.read(MOST_OF_SCHEDULER))
        is_told = isinstance(content, dict) and isinstance(content.get("address"), str)
    except OSError as error:
        raise Failure(f"cannot read {shown(path)}: {error.strerror}") from error
    except ValueError:
        is_told = False
    if not is_told:
        raise Failure(f"{shown(path)} does not tell the address of a scheduler: {WRITES_IT}")


def _check_resources(name: str, offers: dict[str, Any], resources: dict[str, float]) -> None:
    """Refuses resources that no worker offers: such tasks would wait for ever."""
    for resource, number in resources.items():
        if all(offer.get(resource, 0) < number for offer in offers.values()):
            raise Failure(
                f"no worker of {name} has {resource}={number:g}: start one with `dask worker --resources "
                f"{resource}={number:g}`"
            )


def _offered(dask_worker: Any) -> dict[str, float]:
    return dict(dask_worker.state.total_resources)


def _numbers(resources: Sequence[str]) -> dict[str, float]:
    try:
        return {name: float(number or 1) for name, _, number in (text.partition("=") for text in resources)}
    except ValueError as error:
        raise Failure(f"--resource takes NAME=NUMBER, as --resources of dask worker does: {error}", 2) from error
