"""The program that loads the library and has it examine the machine; gpus.py runs it, with a time limit.

It prints what the library tells, a JSON object a line, and before that where the library was found.
"""

import ctypes
import json
import os
import sys
from typing import Any

from ..._places import NAME, opened, places, reason_of

INFO = 2  # VMAFX_LOG_INFO


def main() -> int:
    lasting: list[object] = []
    seen = []
    for place in places():
        if os.path.dirname(place) and not os.path.exists(place):
            continue
        try:
            library = opened(place, ctypes.CDLL, lasting)
        except OSError as failure:
            seen.append(f"{place}: {reason_of(failure)}")
            continue
        _say(kind="place", place=place)
        return _examine(library)
    _say(kind="place", place=None, reason="; ".join(seen) or f"there is no {NAME}")
    return 0


def _examine(library: Any) -> int:
    if not hasattr(library, "vmafx_examine"):
        _say(kind="library", version=None)
        return 0

    def tell(_: Any, level: int, message: bytes) -> None:
        if level == INFO:
            print(message.decode(errors="replace"), flush=True)
        else:
            _say(kind="failure", reason=message.decode(errors="replace"))

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
    library.vmafx_examine(callback(tell), None)
    return 0


def _say(**fact: Any) -> None:
    print(json.dumps(fact), flush=True)


if __name__ == "__main__":
    sys.exit(main())
