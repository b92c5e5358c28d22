"""vmafx.h: what the library declares, and the version that it is of."""

import re
from pathlib import Path

text = Path(__file__).with_name("vmafx.h").read_text(encoding="utf-8")

version = ".".join(re.findall(r"^#define VMAFX_VERSION_\w+ (\d+)$", text, re.M))
