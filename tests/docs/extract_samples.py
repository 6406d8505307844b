# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the samples in C, C++ and Fortran of a page as files that a test includes.

    python3 tests/docs/extract_samples.py PAGE.md FOLDER

FOLDER/<page>_<n>.inc is the n-th sample of the page in C or C++ without its #include and `using namespace` lines, which
are in FOLDER/<page>_<n>.head.inc; FOLDER/<page>_fortran_<n>.inc the n-th in Fortran, with its `use` and declarations in
FOLDER/<page>_fortran_<n>.head.inc. A line "..." stands for what the reader writes.
"""

import re
import sys
from pathlib import Path

def samples(page, languages="cpp|c"):
    """Yields (number of its first line, text) of every sample."""
    for found in re.finditer(rf"^```(?:{languages})\n(.*?)^```", page, re.S | re.M):
        yield page.count("\n", 0, found.start(1)) + 1, found.group(1)


def write(text, stem, heads, first=()):
    head, body = [], [*first]
    for line in text.splitlines():
        is_head = line.startswith(heads)
        head += [line] if is_head else []
        body.append("" if is_head or line.strip() == "..." else line)
    Path(f"{stem}.head.inc").write_text("\n".join(head) + "\n")
    Path(f"{stem}.inc").write_text("\n".join(body) + "\n")


def main(page, folder):
    page = Path(page)
    text = page.read_text()
    for count, (line, sample) in enumerate(samples(text), 1):
        write(sample, f"{folder}/{page.stem}_{count}", ("#include", "using namespace"), [f'#line {line} "docs/{page.name}"'])
    for count, (_, sample) in enumerate(samples(text, "fortran"), 1):
        write(sample, f"{folder}/{page.stem}_fortran_{count}", ("use ", "type(", "real("))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
