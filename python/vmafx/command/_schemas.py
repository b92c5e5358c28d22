"""The content that the command accepts in reports: JSON Schemas (https://json-schema.org, draft 7), and checks made of
them.

Frames of reports, of which there may be millions, are checked by hand in _scores.py. Keys that the schemas do not name
may have any value.
"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from ._inputs import SCALE_MATRICES
from ._reading import Wrong, shown, shown_key
from ._terminal import Failure

PACKAGE = "fastjsonschema"
NO_PACKAGE = (
    f"vmafx checks reports with the Python package {PACKAGE}, which is not installed: run apt-get install "
    f"python3-{PACKAGE}, or pip install {PACKAGE}"
)
MOST_NUMBER = 2**53 - 1  # the highest frame number: an integer in every program
MOST_TIME = 1e11  # seconds: some 3000 years
MOST_ENCODES = 256  # encodes of a report
MOST_NAME = 4096  # characters of a name
MOST_WARNINGS = 1000
MOST_DOUBTS = 1000
MOST_EVIDENCE = 16

Schema = dict[str, Any]

FRAME_NUMBER: Schema = {
    "type": "integer",
    "minimum": 0,
    "maximum": MOST_NUMBER,
    "description": f"an integer from 0 to {MOST_NUMBER}",
}
COUNT: Schema = {
    "type": "integer",
    "minimum": 0,
    "maximum": 2**31 - 1,
    "description": f"an integer from 0 to {2**31 - 1}",
}
TIME: Schema = {
    "type": "number",
    "minimum": -MOST_TIME,
    "maximum": MOST_TIME,
    "description": f"a number of seconds, up to {MOST_TIME:g}",
}
MAYBE_TIME: Schema = {**TIME, "type": ["number", "null"]}
SCORE: Schema = {
    "type": ["number", "null", "string"],
    "pattern": "^-?(inf|nan)$",
    "description": "a number, null, or 'inf' as a text",
}
SCORES: Schema = {"type": "object", "additionalProperties": SCORE, "description": "an object of scores"}
POOLED: Schema = {
    "type": "object",
    "additionalProperties": SCORES,
    "description": "an object with an object for each score",
}
TEXT: Schema = {"type": "string", "description": "a text"}
MAYBE_TEXT: Schema = {"type": ["string", "null"], "description": "a text or null"}
NAME: Schema = {"type": "string", "maxLength": MOST_NAME, "description": f"a text of at most {MOST_NAME} characters"}
FLAG: Schema = {"type": "boolean", "description": "true or false"}
OBJECT: Schema = {"type": "object", "description": "an object"}


def _object(needed: dict[str, Schema], others: dict[str, Schema] | None = None) -> Schema:
    return {**OBJECT, "required": list(needed), "properties": {**needed, **(others or {})}}


def _list(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, "description": "a list", **more}


# -- Reports -----------------------------------------------------------------------------------------------------------

WINDOW = _object({"firstFrame": FRAME_NUMBER, "lastFrame": FRAME_NUMBER, "pooled": SCORES}, {"time": MAYBE_TIME})

# The facts of a score.
FACTS = _object(
    {
        "metric": {"type": ["string", "null"], "description": "the name of a metric, or null"},
        "worse": {"enum": ["low", "high", "neither"], "description": "'low', 'high' or 'neither'"},
        "main": FLAG,
    },
    {"unit": MAYBE_TEXT},
)
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "64 hexadecimal digits"}
HASHES: Schema = {**OBJECT, "additionalProperties": SHA256}
RUN = _object({}, {"scores": {**OBJECT, "additionalProperties": FACTS}, "model_sha256": HASHES, "options": OBJECT})
# The numbers that a doubt of pictures rests on.
EVIDENCE: Schema = {
    **OBJECT,
    "maxProperties": MOST_EVIDENCE,
    "additionalProperties": {"type": "number", "description": "a number"},
}
CERTAINTY: Schema = {"enum": ["possible", "likely", "sure"], "description": "'possible', 'likely' or 'sure'"}

# A reason to doubt the scores. One that the pictures raise has a certainty, its pairs and its evidence.
DOUBT = {
    **_object(
        {"kind": TEXT, "text": TEXT, "remedies": _list(TEXT)},
        {
            "count": FRAME_NUMBER,
            "from": FRAME_NUMBER,
            "to": FRAME_NUMBER,
            "frame_duration": TIME,
            "certainty": CERTAINTY,
            "evidence": EVIDENCE,
        },
    ),
    "dependencies": {"certainty": ["from", "to", "evidence"]},
}
WARNINGS = _list(TEXT, maxItems=MOST_WARNINGS, description=f"a list of at most {MOST_WARNINGS} texts")
DOUBTS = _list(DOUBT, maxItems=MOST_DOUBTS, description=f"a list of at most {MOST_DOUBTS} doubts")

# The keys of a report beside the frames and the windows, for all encodes or for one.
SUMMARY = _object(
    {},
    {
        "encode": {**COUNT, "maximum": MOST_ENCODES - 1, "description": f"an integer below {MOST_ENCODES}"},
        "name": NAME,
        "pooled_metrics": POOLED,
        "pooled_statistics": POOLED,
        "aggregate_metrics": SCORES,
        "infinite_scores": _list(TEXT),
        "vmafx": RUN,
        "doubts": DOUBTS,
        "pairing": {
            **OBJECT,
            "additionalProperties": {
                "type": ["number", "null"],
                "minimum": 0,
                "maximum": MOST_NUMBER,
                "description": "a number from 0 on",
            },
        },
        "partial": {"enum": [True, False, "true", "false", None], "description": "true or false"},
        "warnings": WARNINGS,
    },
)

# -- Provenance --------------------------------------------------------------------------------------------------------

LISTED = _list(NAME, maxItems=1000, description="a list of at most 1000 names")
FRACTION: Schema = {
    "type": "string",
    "pattern": r"^-?\d{1,20}(/[1-9]\d{0,20})?$",
    "description": "a fraction as a text",
}
MAYBE_HASHED: Schema = {
    **_object({"packets": COUNT, "sha256": SHA256}),
    "type": ["object", "null"],
    "description": "the hash of some packets, or null",
}
CHANGE = _object(
    {},
    {
        "turn": {
            "type": "array",
            "items": [{"type": "integer", "minimum": 0, "maximum": 3}, FLAG],
            "minItems": 2,
            "maxItems": 2,
            "description": "a number of quarters and whether the picture is mirrored",
        },
        "crop": TEXT,
        "full_range": FLAG,
        "matrix": {"enum": list(SCALE_MATRICES), "description": "a color matrix"},
        "cycle": {"type": "integer", "minimum": 2, "maximum": 25, "description": "an integer from 2 to 25"},
        "counted": FLAG,
        "later": FRACTION,
    },
)
INPUT = _object(
    {
        "file": NAME,
        "bytes": {**FRAME_NUMBER, "type": ["integer", "null"]},
        "packets": _object({"first": MAYBE_HASHED, "last": MAYBE_HASHED}),
        "change": CHANGE,
        "filters": _object({"times": TEXT, "pictures": LISTED}),
    }
)
SETTINGS = _object(
    {
        "models": LISTED,
        "features": LISTED,
        "scale": NAME,
        "window": MAYBE_TEXT,
        "partial": FLAG,
        "as_is": FLAG,
        "hwaccel": NAME,
        "scale_on": {"enum": ["cpu", "gpu"], "description": "'cpu' or 'gpu'"},
        "input_options": LISTED,
        "ref_options": LISTED,
        "range": MAYBE_TEXT,
        "log": {"enum": ["json", "ndjson", "csv", "xml"], "description": "the format of a report"},
    },
    {"convert": MAYBE_TEXT, "roi": MAYBE_TEXT},
)
PROVENANCE = _object(
    {
        "schema": {"enum": [1], "description": "1, the only layout that this version knows"},
        "command": TEXT,
        "library": MAYBE_TEXT,
        "ffmpeg": TEXT,
        "cpu": MAYBE_TEXT,
        "device": MAYBE_TEXT,
        "models": HASHES,
        "settings": SETTINGS,
        "begins": {**_list(FRACTION, maxItems=MOST_ENCODES), "type": ["array", "null"]},
        "inputs": _list(INPUT, minItems=2, maxItems=MOST_ENCODES + 1, description="a list of two inputs or more"),
    }
)
# The output of `vmafx score --json`, as far as it is read again.
RESULT = _object(
    {
        "encodes": _list(
            _object({"name": NAME, "frames": COUNT, "pooled": POOLED}, {"aggregates": SCORES}),
            minItems=1,
            maxItems=MOST_ENCODES,
            description="a list of encodes",
        ),
        "provenance": PROVENANCE,
    }
)

# -- Reports of ranges -------------------------------------------------------------------------------------------------

PAIRING_NAMES = (
    "paired",
    *("unmatched_distorted", "unmatched_reference", "repeated_reference", "repeated_distorted"),
    *("corrupt_distorted", "corrupt_reference"),
)
PAIRING = _object({**{name: COUNT for name in PAIRING_NAMES}, "max_time_difference": TIME})
PICTURE = _object({"frame": COUNT, "time": MAYBE_TIME, "reference": TEXT, "distorted": TEXT})
SUBSAMPLE: Schema = {**COUNT, "minimum": 1, "description": f"an integer from 1 to {2**31 - 1}"}
# The errors of a plane, of which values of the whole stream are made.
SUM_NAMES = "frames", "samples", "peak", "whole", "fraction"
SUM: Schema = {"type": "string", "pattern": r"^\d{1,20}$", "description": "a whole number as a text"}
SUMS = _object(
    {
        "metric": TEXT,
        "plane": {"type": "integer", "minimum": 0, "maximum": 2, "description": "0, 1 or 2"},
        **{name: SUM for name in SUM_NAMES},
    }
)
# The look at the pictures of a range leaves breaks, fits and brief findings, by which a merge joins findings.
FEW = {"maxItems": 1000, "description": "a list of at most 1000"}
NUMBER: Schema = {"type": "number", "minimum": -1e9, "maximum": 1e9, "description": "a number up to 1e+09"}
BREAK = _object({"pair": COUNT, "size": NUMBER})
FIT_NAMES = "gain", "offset", "left"
FIT = _object({"pair": COUNT, **{name: NUMBER for name in FIT_NAMES}})
BRIEF = _object({"kind": TEXT, "certainty": CERTAINTY, "from": COUNT, "to": COUNT, "evidence": EVIDENCE})
RANGE = _object(
    {
        "given": TEXT,
        "unit": TEXT,
        "from": MAYBE_TIME,
        "to": MAYBE_TIME,
        "begins_stream": FLAG,
        "ends_stream": FLAG,
        "first": COUNT,
        "frames": COUNT,
        "counted_from": MAYBE_TIME,
        "context": OBJECT,
        "pictures": _list(PICTURE),
        "format": _object({"width": COUNT, "height": COUNT}),
        "options": _object({"n_subsample": SUBSAMPLE, "window": TEXT, "pool": TEXT}),
    },
    {
        "keyframes": _list(COUNT),
        "sums": {
            **OBJECT,
            "additionalProperties": _list(SUMS, minItems=1, maxItems=3, description="a list of one to three"),
        },
        "look": _object({"breaks": _list(BREAK, **FEW), "ends": _list(FIT, **FEW), "brief": _list(BRIEF, **FEW)}),
    },
)
PART = _object(
    {"range": RANGE, "aggregate_metrics": OBJECT},
    {"name": TEXT, "pairing": PAIRING, "doubts": DOUBTS, "warnings": WARNINGS},
)
# The keys of a report of ranges that hold for all encodes.
WHOLE = _object(
    {
        "version": TEXT,
        "fps": {**MAYBE_TIME, "minimum": 0, "maximum": 1e12, "description": "a number of frames a second"},
    },
    {"vmafx": RUN},
)


# -- Checks ------------------------------------------------------------------------------------------------------------


def check_packages() -> None:
    """Checks that fastjsonschema is there, before work begins whose result is read. It is not imported before there is
    a report to check: that takes as long as Python's start. Raises Failure.
    """
    if find_spec(PACKAGE) is None:
        raise Failure(NO_PACKAGE)


def _compiler() -> Any:
    try:
        import fastjsonschema
    except ImportError as error:
        raise Failure(NO_PACKAGE) from error
    return fastjsonschema


class Check:
    """Checks values against a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def __call__(self, value: Any, place: str = "") -> None:
        """Raises Wrong, which names the wrong value at this `place` of the file, and what is expected."""
        try:
            self._validate(value)
        except _compiler().JsonSchemaException as error:
            raise Wrong(_told(error, place)) from None

    @functools.cached_property
    def _validate(self) -> Callable[[Any], Any]:
        validate: Callable[[Any], Any] = _compiler().compile(
            {"$schema": "http://json-schema.org/draft-07/schema#", **self._schema}
        )
        return validate


def _told(error: Any, place: str) -> str:
    inside = error.name.removeprefix("data").removeprefix(".")
    where = shown_key(".".join(filter(None, (place, inside)))) or "it"
    if error.rule == "required":
        missing = next(key for key in error.definition["required"] if key not in error.value)
        return f"{where} has no {missing}" if where != "it" else f"{missing} is missing"
    if error.rule == "dependencies":
        wanted = next(keys for key, keys in error.definition["dependencies"].items() if key in error.value)
        return f"{where} has no {next(key for key in wanted if key not in error.value)}"
    return f"{where} is {shown(error.value)}, and not {error.definition.get('description', 'what it should be')}"


check_window = Check(WINDOW)
check_summary = Check(SUMMARY)
check_part = Check(PART)
check_whole = Check(WHOLE)
check_provenance = Check(PROVENANCE)
check_result = Check(RESULT)
