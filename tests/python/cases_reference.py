"""Kept references and several encodes have the scores of plain sessions."""

import errno
import gc
import math
import threading
import time
import weakref

import av
import numpy as np
import vmafx
from common import case, check, check_equal, noise, raises, score_pairs
from vmafx import _pictures

ALL = {"model": "vmaf_v0.6.1", "feature": "psnr|ciede|float_motion"}


def planes(seed, bits=8):
    """Returns the planes of a picture in 4:2:0, with odd sizes."""
    dtype = np.uint16 if bits > 8 else np.uint8
    return [
        noise(height, width, seed + 100 * p, 1 << bits, dtype)
        for p, (height, width) in enumerate(((73, 97), (37, 49), (37, 49)))
    ]


def picture(seed, bits=8):
    return vmafx.Picture(planes(seed, bits), bits=bits, time=seed / 25)


def coarse(seed, bits=8, step=40):
    """Returns a picture as an encoder might leave it."""
    return vmafx.Picture([plane // step * step for plane in planes(seed, bits)], bits=bits, time=seed / 25)


def score_against(reference, encode, **options):
    with vmafx.Session(reference=reference, backend="cpu", **{**ALL, **options}) as session:
        return [frame.scores for frame in session.run(enumerate(encode))], session.scores


def alone(count=6, step=40, bits=8, **options):
    return score_pairs(((picture(i, bits), coarse(i, bits, step)) for i in range(count)), **{**ALL, **options})


def encode_of(count=6, step=40, bits=8):
    return (coarse(i, bits, step) for i in range(count))


# -- The scores --------------------------------------------------------------------------------------------------------


@case
def reference_for_one_session_after_the_other(lab):
    del lab
    for bits in 8, 10:
        for copy in False, True:
            with vmafx.KeptReference((picture(i, bits) for i in range(6)), copy=copy) as reference:
                check_equal(len(reference), 6, "frames")
                for step in 40, 90, 40:
                    check_equal(
                        score_against(reference, encode_of(6, step, bits)),
                        alone(6, step, bits),
                        f"{bits} bits, copy={copy}, step {step}",
                    )


@case
def reference_for_sessions_at_once(lab):
    """Sessions score in several threads while frames are added."""
    del lab
    found, wanted = {}, {step: alone(20, step) for step in (30, 60, 90)}
    reference = vmafx.KeptReference([picture(0)])

    def run(step):
        def pairs():
            for i, frame in enumerate(encode_of(20, step)):
                while len(reference) <= i:
                    pass
                yield i, frame

        with vmafx.Session(reference=reference, backend="cpu", **ALL) as session:
            found[step] = [frame.scores for frame in session.run(pairs())], session.scores

    threads = [threading.Thread(target=run, args=(step,)) for step in wanted]
    for thread in threads:
        thread.start()
    for i in range(1, 20):
        reference.add(picture(i))
    for thread in threads:
        thread.join()
    reference.close()
    check_equal(found, wanted, "scores")


@case
def reference_of_frames(lab):
    """PyAV's frames are kept in formats that stay as they are and in formats that are converted."""
    for clips, names in (
        ((lab.clips.ref, lab.clips.dist), ("yuv420p", "nv12", "yuv444p")),
        ((lab.clips.ref10, lab.clips.dist10), ("yuv420p10le", "p010le")),
    ):
        for name in names:
            ref, dist = ([frame.reformat(format=name) for frame in decoded(clip)] for clip in clips)
            wanted = score_pairs(zip(ref, dist), **ALL)
            with vmafx.KeptReference(ref) as reference:
                del ref
                gc.collect()
                check_equal(score_against(reference, dist), wanted, name)


def decoded(file):
    with av.open(str(file)) as container:
        return list(container.decode(video=0))


@case
def reference_frames_in_any_order(lab):
    del lab
    order = [4, 2, 2, 3, 5, 0]
    wanted = score_pairs(((picture(i), coarse(i)) for i in order), **ALL)
    with vmafx.KeptReference(picture(i) for i in range(6)) as reference, vmafx.Session(
        reference=reference, backend="cpu", **ALL
    ) as session:
        frames = list(session.run((np.int64(i), coarse(i)) for i in order))
        check_equal([frame.scores for frame in frames], wanted[0], "scores")
        check_equal([frame.number for frame in frames], list(range(6)), "numbers")
        check_equal([frame.time for frame in frames], [i / 25 for i in order], "times")


@case
def reference_of_luma(lab):
    del lab
    with vmafx.KeptReference((picture(i) for i in range(6)), planes=1, copy=True) as reference:
        check_equal(reference.nbytes, 6 * 73 * 128, "bytes")
        check_equal(score_against(reference, encode_of(), feature=None), alone(feature=None), "scores")
        with raises(vmafx.Error, "a metric reads plane 1, which the reference does not keep", errno.EINVAL):
            score_against(reference, encode_of())


# -- What it keeps -----------------------------------------------------------------------------------------------------


@case
def budget_of_a_reference(lab):
    del lab
    frame = 73 * 97 + 2 * 37 * 49
    with vmafx.KeptReference(budget=4 * frame + 100) as reference:
        with raises(vmafx.Error, "and only 4 fit, which stay: allow more (budget)", errno.ENOMEM):
            for i in range(6):
                reference.add(picture(i))
        check_equal((len(reference), reference.nbytes), (4, 4 * frame), "frames and bytes")
        check_equal(score_against(reference, encode_of(4)), alone(4), "scores of what fits")
    with raises(vmafx.Error, "only 0 fit", errno.ENOMEM):
        vmafx.KeptReference([picture(0)], budget=1)
    for name in "budget", "device_budget":
        with raises(OverflowError):
            vmafx.KeptReference(**{name: -1})
    with vmafx.KeptReference(map(picture, range(4)), device_budget=1 << 30) as reference:
        check_equal(score_against(reference, encode_of(4)), alone(4), "scores")
        check_equal(reference.device_nbytes, 0, "bytes on GPUs")


@case
def frames_of_a_reference_stay_and_go(lab):
    del lab
    for copy in False, True:
        arrays = [noise(seed=i) for i in range(4)]
        watched = [weakref.ref(array) for array in arrays]
        reference = vmafx.KeptReference(arrays, copy=copy)
        del arrays
        gc.collect()
        check_equal([array() is not None for array in watched], [not copy] * 4, "arrays")
        with vmafx.Session(reference=reference) as session:
            session.submit(0, noise(seed=9))
            reference.close()
            reference.close()
            check_equal([array() is not None for array in watched], [not copy] * 4, "arrays that a session uses")
            session.submit(3, noise(seed=8))
            session.finish()
        check_equal([array() for array in watched], [None] * 4, "arrays after the session")
        check_equal(_pictures._held, {}, "pictures held")
    forgotten = weakref.ref(array := noise())
    reference = vmafx.KeptReference([array])
    del array, reference
    gc.collect()
    check(forgotten() is None, "an array of a reference that nobody has is still there")


@case
def copied_frames_may_change(lab):
    del lab
    array, wanted = noise(), score_pairs([(noise(), noise(seed=1))] * 2)
    with vmafx.KeptReference(copy=True) as reference:
        for _ in range(2):
            array[:] = noise()
            reference.add(array)
        array[:] = 0
        check_equal(score_against(reference, [noise(seed=1)] * 2, model="vmaf_v0.6.1", feature=None), wanted, "scores")


# -- What is wrong -----------------------------------------------------------------------------------------------------


@case
def frames_that_a_reference_does_not_have(lab):
    del lab
    with vmafx.KeptReference(picture(i) for i in range(3)) as reference, vmafx.Session(
        reference=reference, backend="cpu", **ALL
    ) as session:
        for wrong in 3, -1, 1 << 40:
            with raises(vmafx.Error, f"there is no frame {wrong} of the reference, which has 3 frames", errno.EINVAL):
                session.submit(wrong, coarse(0))
        frames = list(session.run(enumerate(encode_of(3))))
        check_equal(([frame.scores for frame in frames], session.scores), alone(3), "scores in spite of the errors")
        check_equal([frame.time for frame in frames], [0, 1 / 25, 2 / 25], "times in spite of the errors")
        with raises(vmafx.Error, "there is no frame 3 of the reference", errno.EINVAL):
            score_against(reference, encode_of(4))


@case
def references_that_do_not_go_together_with_it(lab):
    del lab
    with vmafx.KeptReference([picture(0)]) as reference:
        with raises(
            vmafx.Error, "the reference input changed from 97x73, 420, 8 bits to 97x73, 420, 10 bits", errno.EINVAL
        ):
            reference.add(picture(0, 10))
        check_equal((len(reference), str(reference.format)), (1, "97x73, 420, 8 bits"), "reference")
        with raises(vmafx.Error, "input pix_fmt must match", errno.EINVAL):
            score_against(reference, [coarse(0, 10)])
        with vmafx.Session(reference=reference) as session, raises(
            TypeError, "whose frames are submitted by their numbers"
        ):
            session.submit(picture(0), coarse(0))
    with raises(vmafx.Error, "the reference is closed", errno.EBADF):
        reference.add(picture(0))
    with raises(vmafx.Error, "the reference is closed", errno.EBADF):
        score_against(reference, encode_of())
    check_equal(len(reference), 0, "frames of a closed one")
    with vmafx.KeptReference() as empty:
        check_equal((len(empty), empty.nbytes, empty.format), (0, 0, None), "an empty one")
        with raises(vmafx.Error, "the reference has no frames", errno.EINVAL):
            score_against(empty, encode_of())
    with vmafx.Session() as session, raises(TypeError, "the session has no reference"):
        session.submit(0, coarse(0))
    with raises(vmafx.Error, "planes=8 of a reference", errno.EINVAL):
        vmafx.KeptReference([picture(0)], planes=8)
    with raises(TypeError):
        vmafx.KeptReference([3])


@case
def numbers_that_no_frame_has(lab):
    """A number of more than 64 bits is an error; the picture that came with it is released, and the stream goes on."""
    del lab
    options = {"backend": "cpu", "model": "", "feature": "psnr"}
    with vmafx.KeptReference([noise()]) as reference, vmafx.Session(reference=reference, **options) as session:
        for number in 2**70, -(2**70), 2**63, np.uint64(2**64 - 1):
            for kind in vmafx.Error, OverflowError:
                array = noise()
                watched = weakref.ref(array)
                with raises(kind, f"there is no frame {number} of the reference, which has 1 frames", errno.EINVAL):
                    session.submit(number, array)
                del array
                gc.collect()
                check(watched() is None, f"the picture of frame {number} is still there")
        check_equal(len(_pictures._held), 1, "pictures held, of the reference")
        check_equal(len(list(session.run([(0, noise()), (np.uint8(0), noise())]))), 2, "frames")


@case
def pictures_that_cannot_be_lent(lab):
    """A call that was not made keeps nothing."""
    del lab
    watched = []

    def wrong(**attributes):
        array = noise()
        watched.append(weakref.ref(array))
        picture = vmafx.Picture(array)
        for name, value in attributes.items():
            setattr(picture, name, value)
        return picture

    colors = {"color": vmafx.Color(matrix="bt709")}, {"color": vmafx.Color(range=2**40)}
    options = {"backend": "cpu", "model": "", "feature": "psnr"}
    for attributes in {"time": "1"}, {"time": 10**400}, {"keyframe": "no"}, *colors:
        for place in range(3):
            with vmafx.Session(encodes=2, **options) as session, raises((TypeError, OverflowError)):
                session.submit(*(wrong(**attributes if i == place else {}) for i in range(3)))
        with vmafx.KeptReference() as reference, raises((TypeError, OverflowError)):
            reference.add(wrong(**attributes))
        check_equal(_pictures._held, {}, f"pictures held, {attributes}")
    gc.collect()
    check_equal([array for array in watched if array() is not None], [], "arrays")


# -- Closed beside calls -----------------------------------------------------------------------------------------------


def race(count, prepare, end):
    """Runs the actions that `prepare` returns in threads, again and again, and closes the reference each time at
    another moment.
    """
    unexpected = []

    def repeat(use, go):
        go.wait()
        try:
            for _ in range(100):
                use()
        except vmafx.Error as error:
            if error.errno != errno.EBADF:
                unexpected.append(error)
        except BaseException as error:
            unexpected.append(error)

    for number in range(count):
        reference = vmafx.KeptReference([noise(64, 64)], budget=1 << 30)
        uses = prepare(reference)
        go = threading.Barrier(len(uses) + 1)
        threads = [threading.Thread(target=repeat, args=(use, go)) for use in uses]
        for thread in threads:
            thread.start()
        go.wait()
        time.sleep(number % 10 * 0.0003)
        end(reference)
        for thread in threads:
            thread.join()
    check_equal(unexpected, [], "errors")
    check_equal(_pictures._held, {}, "pictures held")


@case
def reference_closed_beside_its_numbers(lab):
    del lab

    def prepare(reference):
        names = "nbytes", "device_nbytes", "format"
        return [lambda: len(reference), *(lambda name=name: getattr(reference, name) for name in names)]

    race(60, prepare, vmafx.KeptReference.close)


@case
def reference_closed_beside_add(lab):
    del lab
    frame = noise(64, 64)
    race(60, lambda reference: [lambda: reference.add(frame)] * 2 + [lambda: len(reference)], vmafx.KeptReference.close)


@case
def reference_closed_beside_sessions(lab):
    """Sessions that have begun go on after the reference is closed."""
    del lab
    frame, scored = noise(64, 64), []

    def prepare(reference):
        def score():
            with vmafx.Session(reference=reference, model="", feature="psnr", backend="cpu", n_threads=1) as session:
                for _ in range(3):
                    session.submit(0, frame)
                scored.append(session.finish())

        return [score] * 4

    race(15, prepare, vmafx.KeptReference.close)
    check(scored and all(scores == scored[0] for scores in scored), "no scores, or others")


@case
def reference_closed_by_several(lab):
    del lab
    race(40, lambda reference: [reference.close] * 3 + [lambda: len(reference)], lambda reference: None)


# -- Several encodes ---------------------------------------------------------------------------------------------------


STEPS = 30, 60, 90


def has_pair(encode, i):
    return encode != 1 or i % 3 != 1


def rows(count=7):
    """Yields (reference, encode 0, encode 1, encode 2)."""
    for i in range(count):
        yield picture(i), *(coarse(i, step=step) if has_pair(encode, i) else None for encode, step in enumerate(STEPS))


def alone_of(encode, count=7):
    return score_pairs(
        ((picture(i), coarse(i, step=STEPS[encode])) for i in range(count) if has_pair(encode, i)), **ALL
    )


def check_encodes(session, frames):
    for encode in range(3):
        mine = [frame for frame in frames if frame.encode == encode]
        check_equal([frame.number for frame in mine], list(range(len(mine))), "numbers")
        check_equal(
            ([frame.scores for frame in mine], session.encode_scores[encode]), alone_of(encode), f"encode {encode}"
        )
        check_equal([frame.time for frame in mine], [i / 25 for i in range(7) if has_pair(encode, i)], "times")
    check_equal(session.scores, session.encode_scores[0], "scores of the first")


@case
def several_encodes(lab):
    del lab
    with vmafx.Session(encodes=3, backend="cpu", **ALL) as session:
        check_encodes(session, list(session.run(rows())))
    with vmafx.KeptReference(picture(i) for i in range(7)) as reference, vmafx.Session(
        reference=reference, encodes=3, backend="cpu", **ALL
    ) as session:
        check_encodes(session, list(session.run((i, *encodes) for i, (_, *encodes) in enumerate(rows()))))


@case
def frames_of_each_encode(lab):
    """Frames of each encode wait until they are asked for."""
    del lab
    with vmafx.Session(encodes=3, backend="cpu", **ALL) as session:
        found = []
        for pictures in rows():
            session.submit(*pictures)
            found += session.frames(wait=True, encode=2)
        check({frame.encode for frame in found} == {2} and len(found) >= 5, f"{len(found)} frames of encode 2")
        session.finish()
        for encode in 1, 2, 0:
            found += session.frames(encode=encode)
        check_equal(list(session.frames()), [], "frames left")
        check_encodes(session, found)
        with raises(ValueError, "there is no encode 3"):
            list(session.frames(encode=3))


@case
def encode_without_frames(lab):
    del lab
    with vmafx.Session(encodes=2, model="", feature="psnr", backend="cpu", encode_names=["high", "low"]) as session:
        frames = []
        with raises(vmafx.Error, "low: no frames were scored", errno.EINVAL):
            frames.extend(session.run((picture(i), coarse(i), None) for i in range(3)))
        check_equal(
            [frame.encode for frame in session.frames()] + [frame.encode for frame in frames], [0, 0, 0], "frames"
        )
        check(
            math.isfinite(session.scores.features["psnr_y"]) and session.encode_scores[1] is None, "scores of the other"
        )


@case
def wrong_pictures_of_encodes(lab):
    del lab
    with vmafx.Session(encodes=2, encode_names="high|low") as session:
        for pictures in (), (coarse(0),), (coarse(0),) * 3:
            with raises(TypeError, f"{len(pictures)} distorted pictures were submitted, and there are 2 encodes"):
                session.submit(picture(0), *pictures)
        with raises(vmafx.Error, "without one of any encode", errno.EINVAL):
            session.submit(picture(0), None, None)
        session.submit(picture(0), coarse(0), None)
        with raises(vmafx.Error, "the low input changed from 97x73, 420, 8 bits to 97x73, 420, 10 bits", errno.EINVAL):
            session.submit(picture(1), coarse(1), coarse(1, 10))
        session.submit(picture(1), coarse(1), coarse(1))
        session.finish()
    check_equal(_pictures._held, {}, "pictures held")
    with raises(TypeError, "0 distorted pictures"), vmafx.Session() as session:
        session.submit(picture(0))
