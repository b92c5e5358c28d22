#!/usr/bin/env python3
"""Writes the list of what a bundle or a wheel has inside (an SBOM) in CycloneDX's format to standard output.

usage: make_sbom.py TIME <LINES

  TIME   seconds since 1970, at which it counts as written
  LINES  for each part its name, its version, its license by its SPDX name ("-WITH-" for " WITH "), and the place of
         its source or "-"; the first one is the whole

Equal lines and times give equal bytes. Needs the package cyclonedx-python-lib.
"""

import datetime
import sys
import uuid

from cyclonedx.model import ExternalReference, ExternalReferenceType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion


def component(line, kind):
    name, version, expression, source = line.split()
    places = [] if source == "-" else [ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=XsUri(source))]
    return Component(
        name=name,
        version=version,
        type=kind,
        bom_ref=f"{name}-{version}",
        licenses=[LicenseExpression(expression.replace("-WITH-", " WITH "))],
        external_references=places,
    )


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    lines = sys.stdin.read().splitlines()
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(lines)))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(int(sys.argv[1]), datetime.timezone.utc)
    whole, *parts = lines
    bom.metadata.component = component(whole, ComponentType.APPLICATION)
    for line in parts:
        bom.components.add(component(line, ComponentType.LIBRARY))
    bom.register_dependency(bom.metadata.component, bom.components)
    print(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2))


if __name__ == "__main__":
    main()
