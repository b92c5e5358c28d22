"""Pictures stay while they are read, and go when they are not; sessions end in order, whoever ends them."""

import gc
import os
import threading
import time
import warnings
import weakref

import numpy as np
import vmafx
from common import case, check, check_equal, gray_pairs, noise, raises, run_python, score_pairs, top
from vmafx import _pictures, _session


def becomes_true(condition, what):
    for _ in range(200):
        gc.collect()
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(what)


def submit_noise(session, frames=3):
    """Submits noise and returns weak references to its arrays, to which nobody else refers."""
    watched = []
    for i in range(frames):
        pair = noise(seed=i), noise(seed=i + 100)
        watched += map(weakref.ref, pair)
        session.submit(*pair)
    return watched


def alive(watched):
    return [array for array in watched if array() is not None]


@case
def pictures_stay_until_they_are_scored(lab):
    """The arrays' owners go at once; a picture freed too early would be read from other memory."""
    del lab
    wanted = score_pairs([(noise(seed=i), noise(seed=i + 50)) for i in range(30)], model="", feature="psnr")

    def fleeting():
        for i in range(30):
            yield noise(seed=i), noise(seed=i + 50)
            gc.collect()
            noise(seed=999)

    check_equal(score_pairs(fleeting(), model="", feature="psnr"), wanted, "scores")


@case
def pictures_go_when_they_are_scored(lab):
    del lab
    with vmafx.Session(model="", feature="psnr") as session:
        watched = submit_noise(session)
        session.finish()
        becomes_true(lambda: not alive(watched), "arrays are still there after finish()")
    check_equal(_pictures._held, {}, "pictures held")


@case
def close_gives_pictures_back(lab):
    del lab
    session = vmafx.Session()
    watched = submit_noise(session)
    session.close()
    check(not alive(watched), "arrays are still there after close()")


@case
def errors_give_pictures_back(lab):
    del lab
    with vmafx.Session() as session:
        array = noise(8, 8)  # this picture is too small for a model
        watched = weakref.ref(array)
        with raises(vmafx.Error, "", 22):
            session.submit(array, array)
        with raises(vmafx.Error):
            session.submit(array, array)
        del array
    becomes_true(lambda: watched() is None, "an array of a failed session is still there")
    check_equal(_pictures._held, {}, "pictures held")


def abandon(in_a_circle):
    session = vmafx.Session()
    watched = submit_noise(session)
    if in_a_circle:
        session.itself = session
    return watched


@case
def abandoned_sessions_are_closed(lab):
    del lab
    for in_a_circle in False, True:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            watched = abandon(in_a_circle)
            becomes_true(lambda: not alive(watched), "the session is still open")
        check(any(warning.category is ResourceWarning for warning in said), "no ResourceWarning")


class Rope(np.ndarray):
    """An array that holds on to something."""


@case
def last_reference_in_a_picture(lab):
    """The session goes when one of its own workers gives its last picture back."""
    del lab
    session = vmafx.Session(model="", feature="psnr")
    closed = weakref.ref(session._context)
    for i in range(10):
        ref = noise(seed=i).view(Rope)
        ref.session = session
        session.submit(ref, noise(seed=i + 100))
    del ref, session
    becomes_true(lambda: closed() is None, "the session is still open")


@case
def close_of_a_closed_session(lab):
    del lab
    session = vmafx.Session()
    session.close()
    session.close()
    for use in (
        lambda: session.submit(noise(), noise()),
        lambda: list(session.frames()),
        session.finish,
        lambda: session.set_pairing(paired=1),
    ):
        with raises(vmafx.Error, "the session is closed", 9):
            use()
    with raises(vmafx.Error, "no pooled scores before finish()", 22):
        session.scores


@case
def sessions_closed_beside_calls(lab):
    """Another thread closes the session, or several do."""
    del lab
    unexpected = []

    def repeat(use):
        try:
            for _ in range(1000):
                use()
        except vmafx.Error as error:
            if error.errno != 9:
                unexpected.append(error)
        except BaseException as error:
            unexpected.append(error)

    for number in range(40):
        session = vmafx.Session(model="", feature="psnr", backend="cpu", n_threads=1)
        submit, wait = lambda: session.submit(noise(64, 64), noise(64, 64)), lambda: list(session.frames(wait=True))
        uses = submit, wait, lambda: session.set_pairing(paired=1)
        threads = [threading.Thread(target=repeat, args=(use,)) for use in uses]
        closers = [threading.Thread(target=session.close) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(number % 10 * 0.0005)
        for thread in closers:
            thread.start()
        for thread in threads + closers:
            thread.join()
    check_equal(unexpected, [], "errors")
    check_equal(_pictures._held, {}, "pictures held")


@case
def closed_by_its_last_picture(lab):
    """A thread of the library lets an array go whose __del__() closes the session."""
    del lab

    class Closing(np.ndarray):
        def __del__(self):
            if hasattr(self, "session"):
                self.session.close()  # which the thread cannot wait for

    def is_closed():
        try:
            session.submit(noise(), noise())
        except vmafx.Error as error:
            return error.errno == 9
        return False

    before, _session.LONGEST_CLOSE = _session.LONGEST_CLOSE, 0.1
    session = vmafx.Session(model="", feature="psnr", backend="cpu", n_threads=1)
    ref = noise().view(Closing)
    ref.session = session
    try:
        session.submit(ref, noise())
        del ref
        becomes_true(is_closed, "the session is still open")
    finally:
        _session.LONGEST_CLOSE = before


@case
def scores_outlive_the_session(lab):
    del lab
    with vmafx.Session() as session:
        frames = list(session.run(gray_pairs()))
    check_equal(session.scores.models.keys(), {"vmaf"}, "models")
    check_equal([frame.number for frame in frames], [0, 1, 2, 3], "frames")


@case
def program_ends_with_open_sessions(lab):
    del lab
    program = """
import numpy as np, vmafx
sessions = [vmafx.Session() for _ in range(3)]
for session in sessions:
    session.submit(np.zeros((64, 64), np.uint8), np.zeros((64, 64), np.uint8))
sessions[0].itself = sessions[0]
del sessions[0], session
"""
    check_equal(run_python(program, env={**os.environ, "PYTHONPATH": str(top / "python")})[0], 0, "exit status")


@case
def child_of_a_fork(lab):
    del lab
    with vmafx.Session() as session:
        session.submit(noise(), noise())
        child = os.fork()
        if child == 0:
            try:
                session.finish()
            except vmafx.Error as error:
                session.close()
                os._exit(7 if "fork()" in str(error) else 1)
            os._exit(2)
        check_equal(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7, "exit status of the child")
        session.submit(noise(), noise())
        check_equal(session.finish().models.keys(), {"vmaf"}, "models")


@case
def threads_at_once(lab):
    """Threads use sessions of their own, and one that they share."""
    del lab
    wanted = score_pairs(gray_pairs(20))
    found = []
    workers = [threading.Thread(target=lambda: found.append(score_pairs(gray_pairs(20)))) for _ in range(4)]
    with vmafx.Session() as session:
        pairs = list(gray_pairs(1))
        sharers = [threading.Thread(target=lambda: [session.submit(*pairs[0]) for _ in range(10)]) for _ in range(4)]
        for thread in workers + sharers:
            thread.start()
        for thread in workers + sharers:
            thread.join()
        session.finish()
        check_equal(len(list(session.frames())), 40, "frames of the shared session")
    check_equal(found, [wanted] * 4, "scores")
