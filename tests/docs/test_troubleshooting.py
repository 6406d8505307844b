# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of docs/troubleshooting.md are those of the sources.

    python3 tests/docs/test_troubleshooting.py SOURCE_FOLDER

What stands between backquotes in the first column of a table is a message, whose parts between "..." must be in the
string literals of one source file; what formats leave open there ({}) is "..." here.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| (.*?) \| .* \| .* \|$", re.M)
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# Literals side by side are one, and so are those that an expression is added between.
LITERALS = re.compile(rf"{LITERAL}(?:\s+{LITERAL})*")
# From elsewhere: the system, and the names of commands and files.
NOT_OURS = {"Illegal instruction", "zygos"}


def messages(page):
    for row in ROW.findall(page):
        yield from (text for text in re.findall(r"`([^`]+)`", row) if text not in NOT_OURS)


def texts_of(source):
    """What a source file can print, what differs as a line of its own."""
    found = []
    for match in LITERALS.finditer(source):
        joined = "".join(part[1:-1] for part in re.findall(LITERAL, match.group(0)))
        found.append(re.sub(r"\{[^{}]*\}|\$\{[^{}]*\}|\$\(.*?\)|\$\*", "\n", joined.replace('\\"', '"').replace("\\n", "\n")))
    return "\n".join(found)


def missing_parts(message, source):
    parts = [part for part in message.split("...") if re.search(r"\w{2}", part)]
    return [part for part in parts if part not in source and part.strip() not in source]


def main(folder):
    folder = Path(folder)
    sources = [texts_of(file.read_text()) for part in ("src", "policies") for file in sorted((folder / part).rglob("*"))
               if file.suffix in {".hpp", ".cpp", ".sh"}] + [texts_of((folder / "bootstrap").read_text())]
    page = (folder / "docs/troubleshooting.md").read_text()
    found = list(messages(page))
    faults = [message for message in found if all(missing_parts(message, source) for source in sources)]
    for message in faults:
        fewest = min((missing_parts(message, source) for source in sources), key=len)
        print(f"no source file prints '{message}': {fewest}")
    if len(found) < 20:
        print(f"the page has only {len(found)} messages")
    return 1 if faults or len(found) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
