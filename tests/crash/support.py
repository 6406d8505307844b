# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs in this folder share."""
import collections
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "build/host/tests"
SKIPPED = 77  # SKIP_RETURN_CODE of the tests


class Record:
    """What was tried, by kind; what was lost or otherwise not as it should be; and what could not be tried."""

    def __init__(self):
        self.tried, self.bad, self.absent = collections.Counter(), collections.defaultdict(list), {}

    def add(self, what, problem=None):
        self.tried[what] += 1
        if problem:
            self.bad[what].append(problem)

    def missing(self, word, reason):
        """`word`: with which ZYGOS_CI_WITHOUT excuses it."""
        self.absent[word] = reason

    def take(self, part, other):
        """Adds the record of a part of the tests."""
        for what, count in other.tried.items():
            self.tried[part, what] += count
        for what, problems in other.bad.items():
            self.bad[part, what] += problems
        self.absent.update({word: f"{part}: {reason}" for word, reason in other.absent.items()})

    def table(self):
        """In Markdown; of parts, if they were taken."""
        joined = [(what if isinstance(what, tuple) else (what,), what) for what in {**self.tried, **self.bad}]
        parts = any(len(words) > 1 for words, _ in joined)
        head = ["part", "what", "tried", "lost"][not parts:]
        lines = [head, ["---"] * len(head)]
        for words, what in joined:
            lines.append([*words, f"{self.tried[what]:,}", f"{len(self.bad.get(what, []))}"])
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def end(self):
        """Prints all of it and ends the program: with 1 if something was lost, or if in CI something could not be tried that is not excused (as in
        tests/support/skip.hpp); with 77 if nothing could be tried."""
        if self.tried or self.bad:
            print(self.table(), end="")
        for what, problems in self.bad.items():
            for problem in problems[:5]:
                print(f"LOST: {', '.join(what) if isinstance(what, tuple) else what}: {problem}")
        refused = False
        for word, reason in self.absent.items():
            excused = "CI" not in os.environ or word in os.environ.get("ZYGOS_CI_WITHOUT", "").split()
            refused = refused or not excused
            print(f"NOT tried: {reason}" + ("" if excused else f"; in CI every test must run (no '{word}')"))
        lost = sum(map(len, self.bad.values()))
        print(f"{sum(self.tried.values()):,} were tried, {lost} were not as they should be")
        sys.exit(1 if lost or refused else 0 if self.tried else SKIPPED)


def quick_folder():
    """As tests/support/quick_directory.hpp: in memory, if the system has such a place with room; a parent for tempfile."""
    memory, room = "/dev/shm", 2 << 30
    return memory if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= room else None
