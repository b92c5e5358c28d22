"""Starts the command `vmafx` as a fork of a Python that has imported it already.

The start of Python and the imports take longer than most commands of the tests themselves. A fork has all modules, and
is else as a Python of its own: its arguments, its environment, its folder, its descriptors. Each set of the variables
that Python and the loader of libraries read when they start has a Python that forks. With VMAFX_TEST_ALL each command
is a Python of its own.
"""

import contextlib
import functools
import gc
import importlib
import io
import json
import multiprocessing.util
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import types

LIBRARIES = "cffi", "numpy", "av"
OTHERS = "fastjsonschema", "jinja2"  # which the command imports when it needs them
READ_AT_THE_START = "PYTHON", "LC_", "LANG", "LD_", "TZ"  # how names of variables begin
MOST_BYTES = 1 << 20  # of a request


def run(line, cwd, env, timeout=60):
    """Returns what subprocess.run() does for the words of a Python, with -m vmafx.command, or with -c and a program
    that takes the module's libraries away and calls the command.
    """
    line = list(map(str, line))
    told = {name: value for name, value in env.items() if name.startswith(READ_AT_THE_START)}
    if os.environ.get("VMAFX_TEST_ALL") or line[0] != sys.executable:
        pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(line, cwd=cwd, env=env, timeout=timeout, **pipes)
    server = _server(line[1], tuple(sorted(told.items())), os.getpid())
    with open(os.devnull) as nothing:
        read, write = zip(*(os.pipe() for _ in range(3)))  # of its output, its errors and its end
        request = json.dumps({"line": line[1:], "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(server, [request], [nothing.fileno(), *write])
        for descriptor in write:
            os.close(descriptor)
    out, err, end = _read(read, time.monotonic() + timeout)
    if end is None:
        raise subprocess.TimeoutExpired(line, timeout)
    if not end:
        raise RuntimeError(f"the Python that forks has ended before {line}")
    status = os.waitstatus_to_exitcode(int(end.split()[1]))
    return subprocess.CompletedProcess(
        line, status, *(io.TextIOWrapper(io.BytesIO(text)).read() for text in (out, err))
    )


def _read(descriptors, deadline):
    """Returns what comes from each descriptor until its end. Kills the process, whose number comes first from the last
    one, at the deadline; then all is None.
    """
    found = {descriptor: b"" for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(max(0, deadline - time.monotonic())):
                if content := os.read(key.fd, 1 << 16):
                    found[key.fd] += content
                else:
                    selector.unregister(key.fd)
        is_late = bool(selector.get_map())
    for descriptor in descriptors:
        os.close(descriptor)
    if is_late:
        if number := found[descriptors[-1]].split()[:1]:
            os.kill(int(number[0]), signal.SIGKILL)
        return [None] * len(descriptors)
    return list(found.values())


@functools.cache
def _server(kind, variables, _):
    """Starts the Python that forks, one for each process of the tests, and returns the socket for requests."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line = [sys.executable, __file__, str(theirs.fileno()), kind]
    # Its streams are of pipes, as those of its forks are.
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(line, env=dict(variables), pass_fds=[theirs.fileno()], **pipes)
    theirs.close()
    multiprocessing.util.Finalize(None, _stop, [ours, process], exitpriority=0)  # also of a process of a pool
    return ours


def _stop(server, process):
    server.close()
    process.wait()


# -- The Python that forks ---------------------------------------------------------------------------------------------


def serve(server):
    """Forks for each request until the tests end. Only in a fork does it return: the words of the command."""
    forks = 0
    while True:
        request, descriptors, *_ = socket.recv_fds(server, MOST_BYTES, 4)
        while forks and os.waitpid(-1, os.WNOHANG if request else 0)[0]:
            forks -= 1
        if not request:
            os._exit(0)
        if not os.fork():
            break
        forks += 1
        for descriptor in descriptors:
            os.close(descriptor)
    server.close()
    *own, end = descriptors
    if number := os.fork():
        for descriptor in (0, 1, 2, *own):
            os.close(descriptor)
        os.write(end, b"%d " % number)
        os.write(end, b"%d" % os.waitpid(number, 0)[1])
        os._exit(0)
    os.close(end)
    for place, descriptor in enumerate(own):
        os.dup2(descriptor, place)
        os.close(descriptor)
    told = json.loads(request)
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["env"])
    return told["line"]


if __name__ == "__main__":
    if sys.argv[2] == "-c":
        sys.modules.update(dict.fromkeys(LIBRARIES))
    from vmafx.command import __main__ as command

    for name in *OTHERS, *(f"vmafx.command.{name}" for name in command.SUBCOMMANDS):
        with contextlib.suppress(ImportError):  # the command says what it lacks
            importlib.import_module(name)
    gc.freeze()
    kind, _, *words = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = [kind, *words]
    sys.path[0] = ""
    sys.modules["__main__"] = types.ModuleType("__main__")  # as with -c: processes that this one starts find no file
    sys.exit(command.main())
