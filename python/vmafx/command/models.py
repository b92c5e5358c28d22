"""Lists the built-in models: for which display and distance each is made.

The default, `auto`, takes the model for the reference's size.
"""

import argparse
import json
from typing import Any

from ._known_models import MODELS, KnownModel
from ._models import AUTO, DISPLAYS, Size, chosen
from ._terminal import emit, print_table

SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json:
        emit(json.dumps({"schema": SCHEMA, "models": [*map(_described, MODELS)]}, indent=2) + "\n")
        return 0
    heads = "model", "display", "from", "scores", "features", "remarks"
    print_table(heads, [*map(_row, MODELS)], texts=len(heads))
    sizes = (f"{chosen(AUTO, Size(columns, rows))} for {rows} rows" for rows, columns in sorted(DISPLAYS.items()))
    emit(
        f"\nHigher scores are better. The default, auto, takes {' and '.join(sizes)}.\n"
        "Distances are in heights of the display. --model path=FILE takes a model's JSON file.\n"
    )
    return 0


def _described(model: KnownModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "rows": model.rows,
        "distance_heights": model.heights,
        "least": 0,
        "most": model.most,
        "better": "higher",
        "unit": None,
        "features": model.features.split(", "),
        "like": model.like or None,
        "remarks": list(model.traits),
        "auto": model.name in {chosen(AUTO, Size(columns, rows)) for rows, columns in DISPLAYS.items()},
    }


def _row(model: KnownModel) -> tuple[str, ...]:
    display = f"{model.rows} rows"
    return model.name, display, f"{model.heights:g} heights", f"0 to {model.most}", model.features, model.remarks
