# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/tutorial.md and compares what they print with what the page shows.

    python3 tests/docs/test_tutorial.py ZYGOS SOURCE_FOLDER

A line "..." of the page stands for any lines, "..." within a line for any characters. Losses and hashes depend on the
processor: a hash must occur again where the page shows the same one, other numbers of losses are not compared.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBERS = re.compile(r"(loss|accuracy|xxh64) \S+( %)?")


def sessions(page):
    """Yields (command, shown lines) of all console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = part.splitlines()
            yield command, shown


def plain(line):
    return NUMBERS.sub(r"\1 #", line.strip())


def missing(shown, printed):
    """The first shown line that is not printed after those before it; None if all are."""
    printed = [plain(line) for line in printed]
    at = 0
    for line in shown:
        if line.strip() == "...":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in plain(line).split("...")))
        while at < len(printed) and not pattern.fullmatch(printed[at]):
            at += 1
        if at == len(printed):
            return line
        at += 1
    return None


def main(zygos, source):
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(Path(source, "inputs"), Path(scratch, "inputs"))
        programs = Path(scratch, "bin")
        programs.mkdir()
        (programs / "zygos").symlink_to(zygos)
        environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", XDG_CACHE_HOME=scratch)
        hashes = {}
        for command, shown in sessions(Path(source, "docs/tutorial.md").read_text()):
            print("$", command, flush=True)
            run = subprocess.run(command, shell=True, cwd=scratch, env=environment, text=True, errors="replace",
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            allowed = {137} if command.startswith("timeout") else {0}
            line = missing(shown, run.stdout.splitlines())
            if abs(run.returncode) % 128 not in {code % 128 for code in allowed} or line is not None:
                print(run.stdout, f"exit code {run.returncode}, allowed {sorted(allowed)}; not printed: {line}", sep="\n")
                return 1
            on_page = re.findall(r"xxh64 (\w+)", "\n".join(shown))
            for page_hash, found in zip(on_page, re.findall(r"^weights +xxh64 (\w+)", run.stdout, re.M)):
                if hashes.setdefault(page_hash, found) != found:
                    print(f"the weights have the hash {found}, and had {hashes[page_hash]} before")
                    return 1
        if not hashes:
            print("the page shows no hash of weights")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
