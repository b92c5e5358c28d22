"""Runs Dask's scheduler in this process, and its workers in processes of this machine, which end with this one.

All of them listen on 127.0.0.1 only, also for HTTP, which Dask's own LocalCluster opens to every network. This process
gets the signals of the terminal, and ends the workers. Dask is imported when they start.
"""

import asyncio
import contextlib
import multiprocessing
import os
import queue
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import _system
from .._terminal import Failure
from .noise import Noise, told

HOST = "127.0.0.1"
DASHBOARD = f"{HOST}:8787"
ANY_PORT = f"{HOST}:0"

START_S = 60.0  # wait for the first worker, plus a second for each other
LEAST_STARTS = 3  # starts of a worker's process, after which it has ended too often
END_S = 10.0
PATIENCE_S = 1.0  # time for a worker to end after it was told to
ENDED = "closing", "closed", "failed"
ASK_S = 0.1
OF_THE_TERMINAL = _system.signals("SIGINT", "SIGQUIT", "SIGHUP")


@dataclass
class Local:
    """A thread in which this process's part of Dask runs."""

    workers: int
    dashboard: bool
    noise: Noise
    address: str = ""  # the scheduler's address
    link: str = ""  # the dashboard's address
    _nannies: list[Any] = field(default_factory=list)
    _processes: set[int] = field(default_factory=set)
    _said: "queue.SimpleQueue[BaseException | None]" = field(default_factory=queue.SimpleQueue)
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name="dask", daemon=True)

    def start(self) -> None:
        """Returns when all workers have come. Raises Failure."""
        _check_semaphores()
        with _system.signals_held(OF_THE_TERMINAL):  # processes started by the thread inherit this
            self._thread.start()
        error = self._next_said()
        if isinstance(error, Failure):
            raise error
        if error is not None:
            raise Failure(f"the workers cannot start: {self.noise.cause() or told(error)}") from error

    def _next_said(self) -> BaseException | None:
        """Waits for the thread's next message. A signal does not end a wait that has begun, so each wait is short."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._said.get(timeout=ASK_S)

    def end(self) -> None:
        """Ends scheduler and workers, whatever state they are in."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(END_S)
        self._take_processes()
        for process in self._processes:
            if _is_child(process):
                _system.kill(process)

    def _take_processes(self) -> None:
        """Remembers the workers' processes: a worker that has ended is followed by another."""
        self._processes |= {nanny.pid for nanny in self._nannies if nanny.pid}

    # -- In the thread -------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._said.put(error)  # start() may still wait for it

    async def _live(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            start = asyncio.ensure_future(self._start(stack))
            while not start.done() and not self._over.is_set():
                await asyncio.wait({start}, timeout=ASK_S)
            if not start.done():
                start.cancel()
                await asyncio.wait({start}, timeout=PATIENCE_S)
                return
            self._said.put(start.exception())
            while not start.exception() and not self._over.is_set():
                await asyncio.sleep(ASK_S)

    async def _start(self, stack: contextlib.AsyncExitStack) -> None:
        from distributed import Nanny, Scheduler
        from distributed.security import Security

        security = Security()
        shared = {"host": HOST, "protocol": "tls://" if security.require_encryption else "tcp://", "security": security}
        scheduler = Scheduler(
            port=0, dashboard=self.dashboard, dashboard_address=DASHBOARD if self.dashboard else ANY_PORT, **shared
        )
        stack.push_async_callback(_closed, scheduler)
        await scheduler
        self.address = scheduler.address
        self.link = f"http://{HOST}:{scheduler.http_server.port}/status"
        options = {
            "nthreads": 1,
            "memory_limit": 0,
            "dashboard": False,
            "dashboard_address": ANY_PORT,
            "silence_logs": 50,
            **shared,
        }
        self._nannies += [Nanny(self.address, name=number, **options) for number in range(self.workers)]
        stack.push_async_callback(self._close_nannies)
        starts = [asyncio.ensure_future(_awaited(nanny)) for nanny in self._nannies]
        deadline = time.monotonic() + START_S + self.workers
        while len(scheduler.workers) < self.workers or not all(start.done() for start in starts):
            await asyncio.sleep(ASK_S)
            for start in starts:
                if start.done():
                    start.result()
            self._watch(bool(scheduler.workers), time.monotonic() > deadline)

    def _watch(self, have_started: bool, is_late: bool) -> None:
        self._take_processes()
        if not have_started and (
            len(self._processes) > LEAST_STARTS * self.workers
            or any(nanny.status.name in ENDED for nanny in self._nannies)
        ):
            raise Failure(f"the workers end when they start: {self.noise.cause() or 'they do not say why'}")
        if is_late:
            cause = self.noise.cause()
            raise Failure(
                f"the workers have not started within {START_S + self.workers:g} s" + (f": {cause}" if cause else "")
            )

    async def _close_nannies(self) -> None:
        self._take_processes()
        await asyncio.wait(
            [asyncio.ensure_future(_closed(nanny, timeout=PATIENCE_S)) for nanny in self._nannies], timeout=END_S / 2
        )


async def _awaited(server: Any) -> Any:
    return await server


async def _closed(server: Any, **how: Any) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(server.close(**how), END_S / 2)


def _check_semaphores() -> None:
    """Makes a semaphore, as the workers' processes share some. Raises Failure.

    The first semaphore also starts the process that watches over them, which resets the signal mask of the thread that
    starts it.
    """
    try:
        multiprocessing.get_context("spawn").Lock()
    except OSError as error:
        raise Failure(
            f"the workers cannot start: they need semaphores, which Linux keeps in /dev/shm: {error.strerror}"
        ) from error


def _is_child(process: int) -> bool:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
    return False
