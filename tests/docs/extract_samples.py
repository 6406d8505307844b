# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the samples in C and C++ of a page as files that a test includes.

    python3 tests/docs/extract_samples.py PAGE.md FOLDER

FOLDER/<page>_<n>.inc is the n-th sample of the page without its #include and `using namespace` lines, which are in
FOLDER/<page>_<n>.head.inc. A line "..." stands for what the reader writes.
"""

import re
import sys
from pathlib import Path

SAMPLE = re.compile(r"^```(?:cpp|c)\n(.*?)^```", re.S | re.M)


def samples(page):
    """Yields (number of its first line, text) of every sample."""
    for found in SAMPLE.finditer(page):
        yield page.count("\n", 0, found.start(1)) + 1, found.group(1)


def main(page, folder):
    page = Path(page)
    for count, (line, text) in enumerate(samples(page.read_text()), 1):
        head, body = [], [f'#line {line} "docs/{page.name}"']
        for one in text.splitlines():
            is_head = one.startswith(("#include", "using namespace"))
            head += [one] if is_head else []
            body.append("" if is_head or one.strip() == "..." else one)
        Path(folder, f"{page.stem}_{count}.head.inc").write_text("\n".join(head) + "\n")
        Path(folder, f"{page.stem}_{count}.inc").write_text("\n".join(body) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
