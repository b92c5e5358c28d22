#!/usr/bin/env python3
"""Writes models/*.inc: the numbers of model files, as C++ that src/model/model_builtin.cpp includes.

    tools/import_models.py OUT_DIR MODEL.json...

A model's version is its file's name; the SHA-256 of the file goes beside it. Models in the order given, the default
model first; models with equal support vectors share them. Numbers are printed in the shortest form that reads back as
the same double. Refuses what the table cannot say (another kernel, members that differ in more than their support
vectors). Files are in libvmaf's JSON format.
"""

import hashlib
import json
import os
import re
import sys

NOTICE = """Numbers published by Netflix, Inc. under BSD-2-Clause-Patent; see models/README.md.
 * Written by tools/import_models.py."""
MODEL_FIELDS = {
    "model_type",
    "norm_type",
    "feature_names",
    "feature_opts_dicts",
    "slopes",
    "intercepts",
    "score_clip",
    "score_transform",
    "model",
    "feature_dict",
    "chroma_correction_parameter",
}
SVM_HEADER = {"svm_type": "nu_svr", "kernel_type": "rbf", "nr_class": "2"}


def number(text):
    value = float(text)
    return str(int(value)) if value == int(value) and abs(value) < 1e9 and str(value) != "-0.0" else repr(value)


def option_value(value):
    """Returns a value as an option's text: true and false, numbers as %g, which is how libvmaf passes them on."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"


def identifier(version):
    return "k" + "".join(part.capitalize() for part in re.split(r"[^0-9A-Za-z]+", version))


def read_svm(text, n_features):
    """Returns (gamma, rho, rows); a row is the coefficient and the dense vector."""
    head, _, vectors = text.partition("SV\n")
    fields = dict(line.split(" ", 1) for line in head.splitlines())
    assert all(fields[key] == value for key, value in SVM_HEADER.items()), fields
    rows = []
    for line in vectors.splitlines():
        coefficient, *nodes = line.split()
        vector = dict(node.split(":") for node in nodes)
        indices = [int(index) for index in vector]
        assert indices == sorted(indices) and set(indices) <= set(range(1, n_features + 1))
        rows.append([number(coefficient)] + [number(vector.get(str(i), "0")) for i in range(1, n_features + 1)])
    assert len(rows) == int(fields["total_sv"])
    return number(fields["gamma"]), number(fields["rho"]), rows


def read_model(path):
    with open(path) as f:
        document = json.load(f)
    members = [document] if "model_dict" in document else [document[str(i)] for i in range(len(document))]
    members = [member["model_dict"] for member in members]
    common = [{key: m[key] for key in m if key not in ("model", "feature_dict")} for m in members]
    assert all(c == common[0] for c in common) and common[0]["norm_type"] == "linear_rescale"
    assert all(set(m) <= MODEL_FIELDS for m in members)
    n_features = len(common[0]["feature_names"])
    return common[0], [read_svm(m["model"], n_features) for m in members]


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def features_text(model):
    options = model.get("feature_opts_dicts", [{}] * len(model["feature_names"]))
    lines = []
    for name, chosen in zip(model["feature_names"], options, strict=True):
        pairs = ", ".join(f'{{"{key}", "{option_value(value)}"}}' for key, value in sorted(chosen.items()))
        lines.append(f'    {{"{name}", {{{pairs}}}}},\n')
    return "".join(lines)


def transform_text(model):
    transform = model.get("score_transform")
    if transform is None:
        return "{}"
    assert set(transform) <= {"enabled", "p0", "p1", "p2", "out_gte_in", "out_lte_in"}
    flags = [transform.get("enabled", False)] + [transform.get(name) == "true" for name in ("out_lte_in", "out_gte_in")]
    polynomial = [number(transform[p]) for p in ("p0", "p1", "p2")]
    return "{true, " + ", ".join(["true" if flag else "false" for flag in flags] + polynomial) + "}"


class Table:
    """The constants of builtin.inc; equal ones are written once."""

    def __init__(self):
        self.names = {}
        self.text = ""

    def add(self, kind, name, body):
        if (kind, body) not in self.names:
            self.names[kind, body] = name
            self.text += f"constexpr {kind} {name}[] = {{\n{body}}};\n\n"
        return self.names[kind, body]


def write_vectors(out_dir, version, svms):
    """Writes models/VERSION.inc: one array per support vector machine."""
    with open(os.path.join(out_dir, version + ".inc"), "w") as out:
        out.write(f"/* Support vectors of {version}: per row the coefficient, then the vector.\n * {NOTICE} */\n")
        for i, (_, _, rows) in enumerate(svms):
            body = "".join("    " + ", ".join(row) + ",\n" for row in rows)
            out.write(f"\nconstexpr double {identifier(version)}Rows{i}[] = {{\n{body}}};\n")


def main():
    out_dir, paths = sys.argv[1], sys.argv[2:]
    table, models, includes, written = Table(), "", "", {}
    for path in paths:
        version = os.path.splitext(os.path.basename(path))[0]
        name = identifier(version)
        model, svms = read_model(path)
        key = json.dumps(svms)
        if key not in written:
            written[key] = name
            write_vectors(out_dir, version, svms)
            includes += f'#include "models/{version}.inc"\n'
            machines = "".join(f"    {{{gamma}, {rho}, {name}Rows{i}}},\n" for i, (gamma, rho, _) in enumerate(svms))
            table.add("BuiltinSvm", name + "Svms", machines)
        features = table.add("BuiltinFeature", name + "Features", features_text(model))
        columns = [
            f"    {number(slope)}, {number(intercept)},\n"
            for slope, intercept in zip(model["slopes"], model["intercepts"], strict=True)
        ]
        rescale = table.add("double", name + "Rescale", "".join(columns))
        clip = ", ".join(number(limit) for limit in model["score_clip"])
        models += f'    {{"{version}", "{sha256_of(path)}",\n     {features}, {rescale},\n'
        chroma = number(model.get("chroma_correction_parameter", 0))
        models += f"     {transform_text(model)}, {{{clip}}}, {chroma}, {written[key]}Svms}},\n"
    with open(os.path.join(out_dir, "builtin.inc"), "w") as out:
        out.write(f"/* The built-in models; the types are in src/model/model_builtin.cpp.\n * {NOTICE} */\n\n")
        out.write(includes + "\n" + table.text + f"constexpr BuiltinModel kBuiltinModels[] = {{\n{models}}};\n")


if __name__ == "__main__":
    main()
