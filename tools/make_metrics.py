#!/usr/bin/env python3
"""Makes the tables of metrics in README.md and docs/metrics.md, and python/vmafx/command/_known_metrics.py, from the
table in src/kernels/registry/metric_list.h.

usage: tools/make_metrics.py [BUILD] [--check]

  BUILD    a configured build folder (default: build), in which make builds tools/list_metrics, which lists them
  --check  writes nothing; exits 1 when a document has another table, README.md another number of metrics, or the module
           other facts
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- metrics: tools/make_metrics.py makes this table -->\n", "\n<!-- end of metrics -->"
MODULE = "python/vmafx/command/_known_metrics.py"
HEAD = '''"""The metrics, by their names. Made by tools/make_metrics.py."""

# (main score, what it measures, range of the main score, whether GPUs compute it, description)
METRICS: dict[str, tuple[str, str, str, bool, str]] = {
'''
FEWEST = 3  # keys that differ in a digit at the end and are written as one, with …


def metrics_of(build):
    subprocess.run(["make", "-s", "-C", build, "tools/list_metrics"], check=True, stdout=sys.stderr)
    listed = subprocess.run([build / "tools/list_metrics"], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in listed.splitlines()]


def names_of(keys):
    """The keys in backquotes, those of one feature at several scales as one."""
    groups = {}
    for key in keys:
        groups.setdefault(re.sub(r"\d$", "…", key), []).append(key)
    named = []
    for beginning, same in groups.items():
        named += [beginning] if len(same) >= FEWEST else same
    return ", ".join(f"`{name}`" for name in named)


def features_of(metric):
    """The keys of a metric: of each frame, the main score first, of the stream, and what a switch adds."""
    named = [*metric["frame_keys"], *(key for switch in metric["switches"] for key in switch["frame_keys"])]
    if not set(metric["keys"]) <= set(named):
        sys.exit(
            f"make_metrics.py: {metric['name']} has keys that no switch adds; say in list_metrics.cpp which option does"
        )
    parts = [names_of(sorted(metric["frame_keys"], key=lambda key: key != metric["main"]))]
    if metric["stream_keys"]:
        parts.append(f"for the stream {names_of(metric['stream_keys'])}")
    for switch in metric["switches"]:
        more = [names_of(switch["frame_keys"])] if switch["frame_keys"] else []
        more += [f"for the stream {names_of(switch['stream_keys'])}"] if switch["stream_keys"] else []
        if more:
            parts.append(f"with `{switch['option']}` {', '.join(more)}")
    return "; ".join(parts)


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def of_readme(metrics):
    return table(
        ["metric", "measures", "better is", "in full"],
        [[f"`{metric['name']}`", metric["measures"], metric["better"], metric["help"]] for metric in metrics],
    )


def of_metrics(metrics):
    return table(
        ["metric", "features", "range of the main score", "GPU"],
        [
            [f"`{metric['name']}`", features_of(metric), metric["range"], "yes" if metric["gpu"] else "no"]
            for metric in metrics
        ],
    )


def of_module(metrics):
    text = HEAD
    for metric in metrics:
        facts = [json.dumps(metric[name], ensure_ascii=False) for name in ("main", "measures", "range")]
        facts += [repr(metric["gpu"]), json.dumps(metric["help"], ensure_ascii=False)]
        text += f'    "{metric["name"]}": (\n' + "".join(f"        {fact},\n" for fact in facts) + "    ),\n"
    return text + "}\n"


def with_table(text, made, name):
    text, count = re.subn(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{made}\n{END}", text, flags=re.S
    )
    if count != 1:
        sys.exit(f"make_metrics.py: {name} has {count} places for a table of metrics; write one, '{BEGIN.strip()}'")
    return text


def with_count(text, metrics):
    """README.md's sentence that VMAF and so many other metrics are computed."""
    text, count = re.subn(r"VMAF and \d+ other metrics", f"VMAF and {len(metrics)} other metrics", text)
    if count != 1:
        sys.exit("make_metrics.py: README.md does not say once: 'VMAF and N other metrics'")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("build", nargs="?", type=Path, default=TOP / "build", metavar="BUILD")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = parser.parse_args()
    metrics = metrics_of(arguments.build.resolve())
    for name, made in ("README.md", of_readme), ("docs/metrics.md", of_metrics), (MODULE, of_module):
        page = TOP / name
        old = page.read_text() if page.exists() else ""
        new = made(metrics) if name == MODULE else with_table(old, made(metrics), name)
        new = with_count(new, metrics) if name == "README.md" else new
        if not arguments.check:
            page.write_text(new)
        elif new != old:
            sys.exit(f"{name} has other facts of metrics than the sources: run tools/make_metrics.py")


if __name__ == "__main__":
    main()
