# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a Catch2 program so that one pass over a new machine tells of every failing case.

A kernel that reads a wrong address ends its process, and every CUDA call behind it fails, too. So the
cases run in groups, several processes at a time; a group that does not end well is run again case by
case, a process each, and what a case says that fails alone is kept. The time limit is for all together:
cases that were not reached are counted as such, and skipped ones as passed.
"""

import concurrent.futures
import os
import subprocess
import time
from typing import NamedTuple

# Few enough that starting a process (half a second with a card) is a small part of a group's time.
GROUP = 12
# A case that alone takes longer hangs, on a card.
CASE_SECONDS = 30
# Lines of a failing case that are kept: Catch2's first assertion is among them.
KEPT_LINES = 24
# Catch2 ends with it if all cases of a call were skipped.
ALL_SKIPPED = 4


class Failure(NamedTuple):
    name: str
    how: str
    said: str


class Outcome(NamedTuple):
    passed: int
    unreached: int
    failures: list

    def text(self):
        if not self.failures and not self.unreached:
            return f"all {self.passed} cases passed"
        return (f"{self.passed} cases passed, {len(self.failures)} failed, {self.unreached} not reached in time, "
                "see below and tests.log")


class DeviceTests:
    def __init__(self, program, logs, environment, limit):
        self.program = program
        self.log = logs / "tests.log"
        self.environment = environment
        self.until = time.monotonic() + limit
        # Four threads a process: the sessions of the tests ask for as many.
        self.processes = max(1, (os.cpu_count() or 1) // 2)

    def names(self, pattern):
        words = [str(self.program), "--list-tests", "--verbosity", "quiet", *([pattern] if pattern else [])]
        listed = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=self.environment, timeout=60, check=True)
        return [line.strip() for line in listed.stdout.splitlines() if line.strip()]

    def call(self, names, limit):
        """(exit code or None if it was too long, what it printed)."""
        # Catch2 takes commas, brackets and stars in a name for its own syntax.
        quoted = [name.translate({ord(mark): "\\" + mark for mark in "\\,[]*"}) for name in names]
        words = [str(self.program), "--colour-mode", "none", ",".join(quoted)]
        limit = min(limit, self.until - time.monotonic())
        if limit <= 0:
            return None, ""
        try:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", env=self.environment, timeout=limit)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            return None, (late.stdout or b"").decode(errors="replace")

    def run(self, pattern=""):
        names = self.names(pattern)
        # Neighbours come from one file: dealt out in turn, the slow ones are in different groups.
        count = max(1, -(-len(names) // GROUP))
        groups = [names[first::count] for first in range(count)]
        passed, alone = 0, []
        with concurrent.futures.ThreadPoolExecutor(self.processes) as pool:
            ends = pool.map(lambda group: self.call(group, CASE_SECONDS * 2)[0], groups)
            for group, code in zip(groups, ends):
                if code in (0, ALL_SKIPPED):
                    passed += len(group)
                else:
                    alone += group
            ends = list(pool.map(lambda name: self.call([name], CASE_SECONDS), alone))
        unreached, failures = 0, []
        with open(self.log, "w") as log:
            for name, (code, said) in zip(alone, ends):
                if code in (0, ALL_SKIPPED):
                    passed += 1
                elif code is None and time.monotonic() >= self.until:
                    unreached += 1
                else:
                    how = f"not done after {CASE_SECONDS} s" if code is None else f"ended with {code}"
                    log.write(f"==== {name} {how}\n{said}\n")
                    failures.append(Failure(name, how, "\n".join(said.splitlines()[:KEPT_LINES])))
        return Outcome(passed, unreached, failures)
