#!/usr/bin/python3
"""Makes bench/results/look-rates.ndjson and look-good.ndjson from the results of the whole matrix.

usage: rates.py RESULTS... VERSION PROCESSOR

  RESULTS  what `run.py --long --results RESULTS` wrote, and the same with `--seed N`, of one part or of several
  VERSION  the commit that was measured

Held out are painted clips of another seed than 0. Take one that no limit was set by: 100 to 3200 were looked at.
Columns without pairs are left out.

tools/make_tables.py makes the tables of docs/reliability.md from them.
"""

import json
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from damages import DAMAGES, GOOD

RESULTS = Path(__file__).resolve().parents[2] / "bench/results"
CRFS = 18, 30, 42


def held_out(line):
    return bool(line.get("seed"))


def name_of(line):
    return f"{line['clip']}{line.get('seed') or ''}"


def of_damage(damage, lines):
    """Returns a row: found of pairs at each CRF, how many of all are sure, and where it was missed."""
    lines = [line for line in lines if (line["case"], line["group"]) == (damage.name, damage.group)]
    lines = [line for line in lines if line["verdict"] not in ("unseen", "skipped")]
    found = [line for line in lines if line["verdict"] == "found"]
    row = [damage.group, f"`{damage.name}`", "99 %" if damage.goal else ""]
    for held in False, True:
        for crf in CRFS:
            mine = [line for line in lines if line["crf"] == crf and held_out(line) == held]
            row.append(f"{sum(line in found for line in mine)}/{len(mine)}" if mine else "")
    row.append(f"{sum(line['words'] == 'sure' for line in found)}")
    missed = {}
    for line in lines:
        if line["verdict"] != "found":
            missed.setdefault(name_of(line), []).append(str(line["crf"]))
    row.append(", ".join(f"{clip} {'/'.join(sorted(crfs))}" for clip, crfs in sorted(missed.items())))
    return row


def of_good(good, lines):
    lines = [line for line in lines if (line["case"], line["group"]) == (good.name, "good")]
    lines = [line for line in lines if line["verdict"] != "skipped"]
    alarms = [f"{name_of(line)}: {line['words']}" for line in lines if line["verdict"] not in ("quiet", "skipped")]
    return [f"`{good.name}`", good.encoder, good.filter, len(lines), len(alarms), "; ".join(sorted(alarms))]


def without_empty(columns, rows):
    kept = [i for i in range(len(columns)) if any(row[i] != "" for row in rows)]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def write(name, about, columns, rows):
    first = {**about, "columns": columns}
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in [first, *rows])
    (RESULTS / name).write_text(text + "\n")


def main():
    *paths, version, processor = sys.argv[1:]
    lines = [json.loads(text) for path in paths for text in Path(path).read_text().splitlines()]
    lines = [line for line in lines if line["through"] == "tool"]
    clips = sorted({name_of(line) for line in lines})
    wrong = sum(line["verdict"] == "wrong" for line in lines)
    about = {"processor": processor, "date": time.strftime("%-d %B %Y"), "version": version}
    damaged = [line for line in lines if line["group"] != "good" and line["verdict"] not in ("unseen", "skipped")]
    told = (
        f"{len(damaged)} damaged pairs of {len(clips)} clips ({', '.join(clips)}). {wrong} findings were sure and wrong"
    )
    columns = [
        "",
        "damage",
        "goal",
        *(f"found of pairs, CRF {crf}" for crf in CRFS),
        *(f"held out, CRF {crf}" for crf in CRFS),
        "of these sure",
        "not found in (CRF)",
    ]
    rows = [of_damage(each, lines) for each in DAMAGES.values()]
    write("look-rates.ndjson", {**about, "about": told}, *without_empty(columns, rows))
    good = [line for line in lines if line["group"] == "good" and line["verdict"] != "skipped"]
    alarms = sum(line["verdict"] == "alarm" for line in good)
    columns = ["good pair", "encoder", "filter", "pairs", "alarms", "which"]
    rows = [of_good(each, lines) for each in GOOD.values()]
    write("look-good.ndjson", {**about, "about": f"{len(good)} good pairs, {alarms} false alarms"}, columns, rows)


if __name__ == "__main__":
    main()
