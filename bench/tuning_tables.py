#!/usr/bin/env python3
"""Makes the tables of docs/tuning.md from the searches that bench/tuning.py has measured.

usage: bench/tuning_tables.py [--print] RESULTS…    several files: the parts of one measurement

Writes bench/results/tuning.ndjson (all searches), tuning-targets.ndjson and tuning-clips.ndjson; tools/make_tables.py
puts the latter two into the document. Only searches that were measured by both methods count. From results of
bench/tuning_scenes.py, it makes tuning-scenes.ndjson. --print writes no file, and prints the rows.
"""

import json
import statistics
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
PRINTED = 1e-5  # the true score is printed with six decimals
THEIRS, OURS = "ab-av1", "vmafx"
COLUMNS = [
    "searches, found by both",
    "wall time: median of the ratios",
    "largest ratio",
    "processor time: median ratio",
    "decoded frames: median ratio",
    "wall time beside the encoder's alone, median",
    "error of the promise, ab-av1, vmafx",
    "true score below the target by, ab-av1, vmafx",
    "true score outside the interval",
]
EARLY = ["frames not encoded", "early ends", "of these wrong"]
TARGET_COLUMNS = ["encoder, target", *COLUMNS, *EARLY]
CLIP_COLUMNS = ["clip", *COLUMNS]
SCENE_COLUMNS = [
    *("clip, encoder, target", "scenes", "worst scene's mean score", "kB"),
    *("kB of one CRF with this worst scene", "saved"),
]


def read(paths):
    """Returns [(row of ab-av1, row of vmafx)], in order of clip, encoder and target."""
    rows = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            row = json.loads(line)
            if "method" not in row:
                continue
            rows.setdefault((row["clip"], row["encoder"], row["target"]), {})[row["method"]] = row
    return [(pair[THEIRS], pair[OURS]) for pair in rows.values() if {THEIRS, OURS} <= pair.keys()]


def read_scenes(paths):
    rows = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines()]
    return sorted((row for row in rows if "scenes" in row), key=lambda row: (row["clip"], row["encoder"]))


def median(values, text="{:.2f}"):
    values = [value for value in values if value is not None]
    return text.format(statistics.median(values)) if values else "–"


def ratios(pairs, key):
    return [ours[key] / theirs[key] for theirs, ours in pairs if ours.get(key) and theirs.get(key)]


def is_outside(row):
    low, high = row["interval"]
    return None not in (low, high) and not low - PRINTED <= row["true"] <= high + PRINTED


def promise(rows):
    return median([abs(row["promised"] - row["true"]) for row in rows])


def miss(rows):
    return f"{max([0.0, *(row['target'] - row['true'] for row in rows)]):.2f}"


def summed_up(pairs):
    """Returns the cells of a row for these searches."""
    found = [pair for pair in pairs if all(row["crf"] is not None for row in pair)]
    theirs, ours = ([pair[i] for pair in found] for i in (0, 1))
    walls = ratios(found, "wall_s")
    beside = [row["wall_s"] / row["encoder_alone_s"] for row in ours if row.get("encoder_alone_s")]
    return [
        f"{len(pairs)}, {len(found)}",
        median(walls),
        f"{max(walls):.2f}" if walls else "–",
        median(ratios(found, "processor_s")),
        median(ratios(found, "decoded")),
        median(beside),
        f"{promise(theirs)}, {promise(ours)}",
        f"{miss(theirs)}, {miss(ours)}",
        f"{sum(map(is_outside, ours))} of {len(ours)}",
    ]


def early_ends(pairs):
    probes = [probe for _, ours in pairs for probe in ours["probes"]]
    whole = sum(probe["of_frames"] for probe in probes)
    looked_at = [ours for _, ours in pairs if "wrong_early" in ours]
    wrong = sum(len(ours["wrong_early"]) for ours in looked_at)
    looked = len([probe for ours in looked_at for probe in early_of(ours["probes"])])
    told = f"{wrong} of {looked} that were looked at" if looked_at else "not looked at"
    spared = 1 - sum(probe["frames"] for probe in probes) / whole if whole else 0.0
    return [f"{100 * spared:.0f} %", f"{len(early_of(probes))} of {len(probes)} probes", told]


def early_of(probes):
    return [probe for probe in probes if probe["frames"] < probe["of_frames"]]


def about(pairs, columns):
    rows = [row for pair in pairs for row in pair]
    of = lambda key: ", ".join(sorted({str(row[key]) for row in rows}))
    clips = len({row["clip"] for row in rows})
    text = (
        f"{clips} clips of {of('frames')} frames; presets "
        + ", ".join(sorted({f"{row['encoder']} {row['preset']}" for row in rows}))
        + f"; ab-av1's probes were scored by {of('libvmaf')} filter libvmaf. Ratios are vmafx to ab-av1"
    )
    facts = {"processor": of("processor"), "date": of("date"), "version": of("version"), "about": text}
    return {**facts, "columns": columns}


def write(name, lines):
    (RESULTS / name).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def grouped(pairs, key):
    groups = {}
    for pair in pairs:
        groups.setdefault(key(pair[0]), []).append(pair)
    return groups.items()


def rows_of_targets(pairs):
    targets = grouped(pairs, lambda row: f"{row['encoder']}, {row['target']:g}")
    rows = [[name, *summed_up(group), *early_ends(group)] for name, group in targets]
    return [*rows, ["all", *summed_up(pairs), *early_ends(pairs)]]


def rows_of_clips(pairs):
    return [[name, *summed_up(group)] for name, group in grouped(pairs, lambda row: row["clip"])]


def rows_of_scenes(rows):
    return [
        [
            f"{row['clip']}, {row['encoder']}, {row['target']:g}",
            f"{row['scenes']}",
            f"{row['worst']:.2f}",
            f"{row['bytes'] / 1000:.0f}",
            f"{row['one_bytes'] / 1000:.0f}" if row["one_bytes"] else "–",
            f"{row['saved_percent']:.1f} %" if row["one_bytes"] else "–",
        ]
        for row in rows
    ]


def about_scenes(rows):
    of = lambda key: ", ".join(sorted({str(row[key]) for row in rows}))
    text = f"clips of {of('frames')} frames; presets " + ", ".join(
        sorted({f"{r['encoder']} {r['preset']}" for r in rows})
    )
    return {"processor": of("processor"), "date": of("date"), "version": of("version"), "about": text}


def show(pairs, scenes):
    tables = []
    if pairs:
        print(about(pairs, [])["about"])
        tables += [(TARGET_COLUMNS, rows_of_targets(pairs)), (CLIP_COLUMNS, rows_of_clips(pairs))]
    if scenes:
        tables.append((SCENE_COLUMNS, rows_of_scenes(scenes)))
    for columns, rows in tables:
        print("\n" + " | ".join(columns))
        for row in rows:
            print(" | ".join(row))


def main():
    paths = [word for word in sys.argv[1:] if word != "--print"]
    if not paths:
        sys.exit(__doc__.strip())
    pairs, scenes = read(paths), read_scenes(paths)
    if not pairs and not scenes:
        sys.exit("tuning_tables.py: no search was measured by both methods: run bench/tuning.py to its end")
    if len(paths) < len(sys.argv[1:]):
        return show(pairs, scenes)
    if scenes:
        write("tuning-scenes.ndjson", [{**about_scenes(scenes), "columns": SCENE_COLUMNS}, *rows_of_scenes(scenes)])
    if not pairs:
        return None
    write("tuning.ndjson", [row for pair in pairs for row in pair])
    write("tuning-targets.ndjson", [about(pairs, TARGET_COLUMNS), *rows_of_targets(pairs)])
    write("tuning-clips.ndjson", [about(pairs, CLIP_COLUMNS), *rows_of_clips(pairs)])


if __name__ == "__main__":
    main()
