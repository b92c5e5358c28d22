"""Threads, signals, forks and the end of the interpreter, beside calls of the library."""

import contextlib
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import vmafx
from cases_lifetime import becomes_true
from common import Listener, case, check, check_equal, noise, raises, top
from vmafx import _pictures

ENVIRONMENT = os.environ | {"PYTHONPATH": str(top / "python")}
PROGRAM = """
import faulthandler, itertools, logging, os, signal, sys, threading, time
import numpy as np, vmafx
faulthandler.enable()
logging.getLogger("vmafx").addHandler(logging.NullHandler())
small, large = (np.random.default_rng(0).integers(0, 256, size, np.uint8) for size in ((64, 64), (540, 960)))
options = {"model": "", "feature": "psnr", "backend": "cpu", "n_threads": 2}
vmafx.Session(**options).close()  # all is imported
"""


def started(program, *arguments):
    words = [sys.executable, "-c", PROGRAM + program, *map(str, arguments)]
    return subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process):
    """Waits for a process and returns (exit status, output)."""
    said = process.communicate(timeout=60)[0]
    return process.returncode, said


def run(program, *arguments):
    return ended(started(program, *arguments))


# -- The end of the interpreter ----------------------------------------------------------------------------------------

DAEMONS = {
    "run": """
def work():
    with vmafx.Session(backend="cpu", n_threads=1) as session:
        for frame in session.run(itertools.repeat((large, large))):
            pass
""",
    "submit": """
session = vmafx.Session(**options)
def work():
    while True:
        session.submit(small, small)
""",
    "wait": """
session = vmafx.Session(backend="cpu", n_threads=1)
def work():
    while True:
        session.submit(large, large)
        list(session.frames(wait=True))
""",
    "finish": """
def work():
    while True:
        with vmafx.Session(summary=1, **options) as session:
            session.submit(small, small)
            session.finish()
""",
    "open": """
def work():
    kept = []
    while True:
        kept = [*kept[-3:], vmafx.Session(**options)]
""",
    "look at what was opened": """
import os
from vmafx import _calls, _session
real = _session.library()
class Slow:
    def __getattr__(self, name):
        function = getattr(real, name)
        def late(*arguments):
            while not _calls.is_ending():
                time.sleep(0.001)
            for _ in range(100):
                if not any(owned._out[0] == arguments[0] for owned in list(_calls._owned)):
                    os._exit(4)  # the session was closed under the call
                time.sleep(0.0005)
            return function(*arguments)
        return late if name == "vmafx_model_count" else function
slow = Slow()
_session.library = lambda: slow
def work():
    vmafx.Session(**options)
""",
    "add": """
references = [vmafx.KeptReference(copy=True, budget=1 << 40), vmafx.KeptReference()]
def work():
    with vmafx.Session(reference=references[1], **options) as session:
        for i in itertools.count():
            references[0].add(small)
            references[1].add(small)
            session.submit(i, small)
            len(references[0]), references[1].nbytes
""",
}
BEGIN = """
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
sys.exit(3)
"""


@case
def daemon_threads_at_the_end(lab):
    """The process ends as it wants to, without a message from its daemon threads."""
    del lab
    for name, program in DAEMONS.items():
        runs = [started(program + BEGIN) for _ in range(2)]
        check_equal([ended(process) for process in runs], [(3, "")] * len(runs), name)


@case
def reports_at_the_end(lab):
    """Reports of a session in a daemon thread, and of one that is still open, are marked partial."""
    program = """
def work():
    with vmafx.Session(log_path=sys.argv[1], **options) as session:
        for frame in session.run(itertools.repeat((small, small))):
            pass
threading.Thread(target=work, daemon=True).start()
forgotten = vmafx.Session(log_path=sys.argv[2], **options)
forgotten.submit(small, small)
time.sleep(0.2)
"""
    paths = lab.folder / "daemon.json", lab.folder / "forgotten.json"
    check_equal(run(program, *paths), (0, ""), "the program")
    reports = [json.loads(path.read_text()) for path in paths]
    check(all(report["partial"] and report["frames"] for report in reports), "a report is not partial, or empty")
    check_equal(len(list(lab.folder.iterdir())), 2, "files")


@case
def calls_that_do_not_end(lab):
    """The end comes although a handler never returns, in a calling thread or one of the library's, or a call takes too
    long.
    """
    del lab
    handler = """
from vmafx import _calls
_calls.LONGEST_HANDLER = _calls.LONGEST_CALL = 0.2
class Stuck(logging.Filter):
    def filter(self, record):
        if threading.current_thread() is not threading.main_thread():
            time.sleep(1000)
"""
    caller = """
logging.getLogger("vmafx").addFilter(Stuck())
def work():
    vmafx.Session(model="nonsense")
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    worker = """
class Owner(np.ndarray):
    def __del__(self):
        if threading.current_thread() is not threading.main_thread():
            time.sleep(1000)
session = vmafx.Session(feature="cambi", backend="cpu", n_threads=1)
session.submit(large.view(Owner), large)
time.sleep(0.5)
"""
    computation = """
session = vmafx.Session(feature="cambi", backend="cpu", n_threads=1)
picture = np.tile(large, (4, 4))
session.submit(picture, picture)
def work():
    session.finish()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""
    for name, program in ("caller", caller), ("worker", worker), ("computation", computation):
        begin = time.monotonic()
        check_equal(run(handler + program), (0, ""), name)
        check(time.monotonic() - begin < 20, f"{name}: the end took {time.monotonic() - begin:.0f} s")


@case
def sessions_after_the_end(lab):
    """Functions that were registered before the module was imported run after its end."""
    del lab
    program = """
def late():
    submit = lambda: session.submit(small, small)
    for use in lambda: vmafx.Session(**options), submit, session.finish, lambda: reference.add(small):
        try:
            use()
        except vmafx.Error as error:
            print(error.errno, error)
    session.close(), reference.close(), print(len(reference))
import atexit
from vmafx import _calls
atexit.unregister(_calls._end)
atexit.register(late)
atexit.register(_calls._end)
session, reference = vmafx.Session(**options), vmafx.KeptReference([small])
session.submit(small, small)
"""
    kinds = "session", "session", "session", "reference"
    said = [f"9 the {kind} is closed, since the interpreter ends\n" for kind in kinds]
    check_equal(run(program), (0, "".join(said) + "0\n"), "the program")


@case
def interrupt_at_the_end(lab):
    """Ctrl-C ends the process while the end of the interpreter waits for a call."""
    del lab
    program = """
class Stuck(logging.Filter):
    def filter(self, record):
        if threading.current_thread() is not threading.main_thread():
            time.sleep(1000)
logging.getLogger("vmafx").addFilter(Stuck())
def work():
    vmafx.Session(model="nonsense")
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
import atexit
atexit.register(lambda: print("ending", flush=True))
"""
    process = started(program)
    check_equal(process.stdout.readline(), "ending\n", "what is said first")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    check_equal(ended(process), (-signal.SIGINT, ""), "the program")


@case
def calls_that_were_broken_off(lab):
    """An exception that is kept also keeps a use of the reference; the end does not wait for that."""
    del lab
    program = """
reference = vmafx.KeptReference([small])
use = reference._frames.in_use()
use.__enter__()
reference.close()
print(len(reference), flush=True)
"""
    begin = time.monotonic()
    check_equal(run(program), (0, "0\n"), "the program")
    check(time.monotonic() - begin < 25, f"the end took {time.monotonic() - begin:.0f} s")


# -- Signals -----------------------------------------------------------------------------------------------------------


@case
def interrupts_come_out(lab):
    """Each signal that comes during calls is raised by one of them, and no picture is left."""
    del lab
    program = """
from vmafx import _pictures
raised = caught = 0
armed = False
reference = session = None
def handler(*_):
    global raised, armed
    if armed:
        armed = False
        raised += 1
        raise KeyboardInterrupt
signal.signal(signal.SIGUSR1, handler)
logging.getLogger("vmafx").setLevel(logging.DEBUG)
print("begin", flush=True)
end = time.monotonic() + 2
pictures = [small] * 4
while time.monotonic() < end:
    try:
        armed = True
        with vmafx.KeptReference(pictures) as reference:
            with vmafx.Session(reference=reference, summary=1, **options) as session:
                for i in range(100):
                    session.submit(i % 4, small.copy())
                    list(session.frames())
                session.finish()
        armed = False
    except KeyboardInterrupt:
        caught += 1
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
if caught != raised or caught < 10:
    print("caught", caught, "of", raised)
del reference, session
for _ in range(100):
    if not _pictures._held:
        break
    time.sleep(0.02)
else:
    print("held", _pictures._held)
"""
    process = started(program)
    check_equal(process.stdout.readline(), "begin\n", "what is said first")
    while process.poll() is None:
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.003)
    check_equal(ended(process), (0, ""), "the program")


class Doing(Listener):
    """Calls a function with each message of the library."""

    def __init__(self, action):
        super().__init__()
        self.action = action

    def emit(self, record):
        self.action(record.getMessage())


@case
def interrupts_in_the_log(lab):
    """An exception that ends a program, raised by a handler, comes out of the call, which is done all the same."""
    del lab
    kinds = [KeyboardInterrupt, SystemExit]

    def fail(message):
        if "psnr_y" in message or "nonsense" in message:
            raise kind("handler")

    for kind in kinds:
        with Doing(fail), vmafx.Session(model="", feature="psnr", summary=1, backend="cpu") as session:
            session.submit(noise(), noise(seed=1))
            with raises(kind, "handler"):
                session.finish()
            check_equal(session.scores.features.keys(), {"psnr_y"}, "scores")
            check_equal(len(list(session.frames())), 1, "frames")
            with raises(kind, "handler"):
                vmafx.Session(model="nonsense")
        with Doing(lambda message: fail("nonsense")), raises(kind, "handler"):
            vmafx.KeptReference([noise()], budget=1)


@contextlib.contextmanager
def alarm_calls(handler):
    """Makes SIGALRM call this handler in the block."""
    before = signal.signal(signal.SIGALRM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def raise_alarm(*_):
    raise TimeoutError("alarm")


@case
def signal_during_a_message(lab):
    """The handler of a signal may raise any exception, and Python runs it at the first line of the callback."""
    del lab
    with alarm_calls(raise_alarm):
        for _ in range(20):
            with vmafx.Session(model="", feature="psnr", summary=1, backend="cpu", n_threads=1) as session:
                session.submit(noise(720, 1280), noise(720, 1280))
                with raises(TimeoutError, "alarm"):
                    signal.setitimer(signal.ITIMER_REAL, 0.0005)
                    session.finish()
                    time.sleep(5)


@case
def signal_while_a_frame_is_waited_for(lab):
    """A frame is not lost if a signal's handler raises while a caller waits for it."""
    del lab
    with alarm_calls(raise_alarm):
        with vmafx.Session(model="", feature="cambi", backend="cpu", n_threads=1) as session:
            found = []
            session.submit(noise(1080, 1920), noise(1080, 1920))
            with raises(TimeoutError, "alarm"):
                signal.setitimer(signal.ITIMER_REAL, 0.001)
                for frame in session.frames(wait=True):
                    found.append(frame.number)
                time.sleep(5)
            found.extend(frame.number for frame in session.frames(wait=True))
            check_equal(found, [0], "frames")


@case
def signal_handler_that_closes(lab):
    del lab
    with vmafx.Session(backend="cpu", n_threads=1) as session:
        with alarm_calls(lambda *_: session.close()):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with raises(vmafx.Error, "the session is closed", 9):
                while True:
                    session.submit(noise(), noise())


# -- Calls inside calls ------------------------------------------------------------------------------------------------


@case
def calls_out_of_the_log(lab):
    """Calls made by a handler of the log are refused; close() is done as soon as it can be."""
    del lab
    said = []
    session = None

    def call(message):
        if session and "psnr_y" in message:
            for use in (lambda: session.submit(noise(), noise()), session.finish, lambda: list(session.frames())):
                try:
                    use()
                except vmafx.Error as error:
                    said.append(error.errno)
            session.close()

    with Doing(call):
        session = vmafx.Session(model="", feature="psnr", summary=1, backend="cpu")
        session.submit(noise(), noise(seed=1))
        session.finish()
    check_equal(said, [35] * 3, "errors")
    check_equal(session.scores.features.keys(), {"psnr_y"}, "scores")

    def is_closed():
        try:
            list(session.frames())
        except vmafx.Error as error:
            return error.errno == 9
        return False

    becomes_true(is_closed, "the session is still open")


@case
def garbage_in_the_log(lab):
    """The collector runs in any thread, and reaches sessions, references, and owners that close sessions."""
    del lab

    class Owner:
        def __init__(self, session):
            self.session, self.itself = session, self

        def __del__(self):
            self.session.close()

    with Doing(lambda message: gc.collect(0)):
        watched = []
        for _ in range(5):
            session = vmafx.Session(model="", feature="psnr", summary=1, backend="cpu")
            array = noise()
            watched.append(weakref.ref(array))
            reference = vmafx.KeptReference([array])
            reference.itself = reference
            Owner(session)
            session.submit(array, array)
            del reference, array
            try:
                session.finish()
            except vmafx.Error as error:
                check_equal(error.errno, 9, "errno")
        del session
        becomes_true(lambda: not any(array() is not None for array in watched), "an array is still there")
    check_equal(_pictures._held, {}, "pictures held")


# -- fork() ------------------------------------------------------------------------------------------------------------


@case
def children_of_a_fork(lab):
    """A child of a fork closes its parent's objects, whichever thread was in a call, and ends."""
    del lab
    program = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later: a process with threads forks
session, reference = vmafx.Session(**options), vmafx.KeptReference([small])
another = vmafx.Session(reference=reference, **options)
over = False
def work():
    for i in itertools.count():
        session.submit(small, small)
        reference.add(small)
        another.submit(i, small)
        if over:
            break
threads = [threading.Thread(target=work)]
threads[0].start()
children = []
for number in range(10):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            session.finish()
        except vmafx.Error as error:
            if error.errno != 9:
                raise
        session.close(), another.close()
        if number % 2:
            reference.close()
        del session, another, reference
        sys.exit(7)
    children.append(child)
over = True
threads[0].join()
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
session.finish(), another.finish()
session.close(), another.close(), reference.close()
"""
    check_equal(run(program), (0, f"{[7] * 10}\n"), "the program")
