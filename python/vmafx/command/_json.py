"""JSON that others wrote."""

import json
from typing import Any


def parse(text: str | bytes, **hooks: Any) -> Any:
    """As json.loads(); also what nests too deep for Python is a ValueError."""
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("it nests too deep") from None
