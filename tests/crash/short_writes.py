#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Commits checkpoints while reads and writes are short, are interrupted, or meet a full disk or a quota after every number of bytes.

Short and interrupted calls must not be noticed. A full disk is an I/O error (exit 5) that leaves the checkpoint before as it was and nothing else,
and the next commit without it succeeds. Uses the library obstruct (obstruct.cpp) by LD_PRELOAD.

    python3 tests/crash/short_writes.py [--program build/host/tests/commit_once] [--library build/host/tests/libobstruct.so] [--every N]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import PROGRAMS, Record, quick_folder  # noqa: E402


class ShortWrites:
    def __init__(self, program, library, folder):
        self.program, self.library, self.store = str(program), str(library), pathlib.Path(folder) / "store"
        self.record = Record()

    def run(self, *words, **obstructions):
        environment = {**os.environ, **{f"ZYGOS_OBSTRUCT_{name}": str(value) for name, value in obstructions.items()}}
        if obstructions:
            environment["LD_PRELOAD"] = self.library
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=120, env=environment)

    def fresh(self):
        shutil.rmtree(self.store, ignore_errors=True)
        assert self.run("write", self.store, 1).returncode == 0

    def newest(self, **obstructions):
        return self.run("verify", self.store, **obstructions).stdout.strip()

    def check(self, what, holds, found):
        self.record.add(what, None if holds else str(found))

    def unnoticed(self, what, **obstructions):
        """A commit and its verification, which must not notice."""
        for command, step, expected in (("write", 2, "2 old"), ("replace", 1, "1 other")):
            self.fresh()
            outcome = self.run(command, self.store, step, **obstructions)
            found = [outcome.returncode, outcome.stderr, self.newest(), self.newest(**obstructions)]
            self.check("short and interrupted calls", found == [0, "", expected, expected], f"{what}, {command}: {found}")

    def full(self, error, size):
        """A disk or quota that is exhausted after `size` bytes of a commit that is longer."""
        for command, step in (("write", 2), ("replace", 1)):
            self.fresh()
            outcome = self.run(command, self.store, step, **{error: size})
            found = [outcome.returncode, self.newest(), sorted(os.listdir(self.store))]
            again = [self.run("write", self.store, 7).returncode, self.newest()]
            self.check(f"{error} after some bytes", found == [5, "1 old", ["step-000001"]] and again == [0, "7 old"],
                       f"{command}, after {size} bytes: {found} {outcome.stderr} {again}")

    def bytes_written(self):
        self.fresh()
        assert self.run("write", self.store, 2).returncode == 0
        return sum(file.stat().st_size for file in (self.store / "step-000002").iterdir())


def try_all(program, library, every):
    """A record of short and interrupted calls, and of disks that are full after every `every`-th byte."""
    with tempfile.TemporaryDirectory(dir=quick_folder()) as folder:
        tests = ShortWrites(program, library, folder)
        total = tests.bytes_written()
        # Nobody notices a disk that is full one byte behind the end; without this the library might not work at all.
        assert tests.run("write", tests.store, 3, ENOSPC=total).returncode == 0
        for size in (1, 7, 511, 4096):
            tests.unnoticed(f"at most {size} bytes", SHORT=size)
        for interrupted in (2, 3, 5):
            tests.unnoticed(f"one call of {interrupted} interrupted", EINTR=interrupted)
            tests.unnoticed(f"one call of {interrupted} interrupted and at most 13 bytes", EINTR=interrupted, SHORT=13)
        print(f"disks full after every {every} of {total} bytes", file=sys.stderr)
        for size in [*range(0, total - 1, every), total - 1]:
            tests.full("ENOSPC", size)
            tests.full("EDQUOT", size)
    return tests.record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=PROGRAMS / "commit_once")
    parser.add_argument("--library", default=PROGRAMS / "libobstruct.so")
    parser.add_argument("--every", type=int, default=16, help="bytes from one full disk to the next")
    arguments = parser.parse_args()
    try_all(arguments.program, arguments.library, arguments.every).end()


if __name__ == "__main__":
    main()
