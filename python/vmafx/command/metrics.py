"""Lists the metrics: what each measures, and how its main score is read."""

import argparse
import json
from typing import Any

from ._known_metrics import METRICS
from ._known_scores import KNOWN
from ._terminal import emit, print_table

SCHEMA = 1
BETTER = {"low": "higher", "high": "lower", "neither": None}  # by the scores that are worse
NONE = "–"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON, with all scores of each metric")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json:
        emit(json.dumps({"schema": SCHEMA, "metrics": [*map(_described, METRICS)]}, indent=2) + "\n")
        return 0
    heads = "metric", "main score", "better is", "unit", "range", "GPU", "what it is"
    print_table(heads, [*map(_row, METRICS)], texts=len(heads))
    emit("\nvmafx score --feature METRIC scores with one; vmafx models lists the models of VMAF.\n")
    return 0


def _described(metric: str) -> dict[str, Any]:
    main, measures, value_range, gpu, about = METRICS[metric]
    scores = {key: facts for key, facts in KNOWN.items() if facts[0] == metric}
    return {
        "name": metric,
        "main_score": main,
        "measures": measures,
        "about": about,
        "range": value_range,
        "gpu": gpu,
        "scores": [
            {"key": key, "better": BETTER[worse], "unit": unit, "main": is_main, "read_alone": alone}
            for key, (_, worse, unit, is_main, alone) in scores.items()
        ],
    }


def _row(metric: str) -> tuple[str, ...]:
    main, _, value_range, gpu, about = METRICS[metric]
    _, worse, unit, _, _ = KNOWN[main]
    return metric, main, BETTER[worse] or NONE, unit or NONE, value_range, "yes" if gpu else "no", about
