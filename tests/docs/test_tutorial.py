# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a tutorial and compares what they print with what the page shows.

    python3 tests/docs/test_tutorial.py ZYGOS SOURCE_FOLDER PAGE

The commands run one after the other, from a stand-in of the clone that has nothing but `inputs`; where they go to from
there, and what they make in the home directory, is in a folder of its own. A block of Python that begins with the name
of a file is one that the reader saves.

A line "..." of the page stands for any lines, "..." within a line for any characters. Losses and hashes depend on the
processor: a hash must occur again where the page shows the same one, other numbers of losses are not compared. A command
whose last shown line is "exit code N" must end so.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBERS = re.compile(r"(loss|accuracy|xxh64) \S+( %)?")
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.S | re.M)
EXIT_CODE = re.compile(r"exit code (\d+)")


def actions(page):
    """Yields ("run", command, shown lines) and ("save", file name, text), in the page's order."""
    for language, block in BLOCK.findall(page):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, *shown = part.splitlines()
                yield "run", command, shown
        elif name := re.match(r"# (\w+\.py)\b", block):
            yield "save", name.group(1), block


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


class Reader:
    """Who does what the page says."""

    def __init__(self, scratch, zygos, source):
        self.scratch = Path(scratch)
        self.folder = self.scratch / "clone"
        shutil.copytree(Path(source, "inputs"), self.folder / "inputs")
        programs, home = self.scratch / "bin", self.scratch / "home"
        programs.mkdir()
        home.mkdir()
        (programs / "zygos").symlink_to(zygos)
        self.environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", HOME=str(home),
                                XDG_CACHE_HOME=str(self.scratch / "cache"))
        self.hashes = {}

    def save(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, command):
        """The completed command; a `cd` in it holds for the next one."""
        where = self.scratch / "folder"
        done = subprocess.run(["bash", "-c", f"trap 'pwd > \"{where}\"' EXIT\n{command}"], cwd=self.folder, text=True,
                              env=self.environment, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.folder = Path(where.read_text().strip())
        return done

    def problem_of(self, command, shown):
        """What differs from the page; None if nothing does."""
        allowed = 137 if command.startswith("timeout") else 0
        if shown and (code := EXIT_CODE.fullmatch(shown[-1])):
            allowed = int(code.group(1))
            shown = shown[:-1]
        done = self.run(command)
        line = missing(shown, done.stdout.splitlines())
        if abs(done.returncode) % 128 != allowed % 128 or line is not None:
            return f"{done.stdout}\nexit code {done.returncode}, allowed {allowed}; not printed: {line}"
        on_page = re.findall(r"xxh64 (\w+)", "\n".join(shown))
        for page_hash, found in zip(on_page, re.findall(r"^weights +xxh64 (\w+)", done.stdout, re.M)):
            if self.hashes.setdefault(page_hash, found) != found:
                return f"the weights have the hash {found}, and had {self.hashes[page_hash]} before"
        return None


def faulty_pictures(page):
    """Pictures of a page that are not there, or too large to be looked at in passing."""
    for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text()):
        picture = page.parent / name
        if not picture.is_file() or picture.stat().st_size > 60_000:
            yield name


def main(zygos, source, page):
    if faulty := list(faulty_pictures(Path(source, page))):
        print("missing, or larger than 60 kB:", *faulty)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        reader = Reader(scratch, Path(zygos).resolve(), source)
        commands = 0
        for kind, name, content in actions(Path(source, page).read_text()):
            if kind == "save":
                reader.save(name, content)
                continue
            print("$", name, flush=True)
            commands += 1
            if problem := reader.problem_of(name, content):
                print(problem)
                return 1
        if commands == 0 or reader.folder.is_relative_to(reader.scratch / "clone"):
            print("the page has no command, or none that leaves the clone")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
