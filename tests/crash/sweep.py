#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Disturbs the commit of a checkpoint at every point there is, and looks at what is left.

For a commit beside an older checkpoint, and for one that replaces the checkpoint of its step:
  kill         the process is killed just before each system call (strace --inject)
  EIO, ...     each system call fails once with that error
  lost write   a write says that it has written, and has not
  allocation   the n-th allocation fails, for every n
  random kills a process that commits without end is killed at random times (the seed is printed; --seed repeats it)

After each the newest sound checkpoint must be the old one or the new one, byte for byte (the new one if the program said so), and the next
commit must succeed and leave nothing behind. Prints a table of what was tried, and ends with 1 where something else was found.

    python3 tests/crash/sweep.py [--program build/host/tests/commit_once] [--every N] [--kills N] [--seed N]
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import PROGRAMS, Record  # noqa: E402

CALLS = ["openat", "mkdir", "write", "fsync", "close", "read", "pread64", "flock", "rename", "renameat2", "link", "linkat", "unlinkat", "newfstatat",
         "statx", "getdents64", "statfs"]
FULL = ["ENOSPC", "EDQUOT"]
ERRORS = {"openat": ["EIO", *FULL, "EINTR", "EROFS", "EMFILE"], "mkdir": ["EIO", *FULL, "EROFS"], "write": ["EIO", *FULL, "EINTR"],
          "fsync": ["EIO", *FULL], "close": ["EIO", "EINTR"], "read": ["EIO", "EINTR"], "pread64": ["EIO"], "rename": ["EIO", *FULL, "EROFS"],
          "renameat2": ["EIO", *FULL, "EROFS", "EINVAL", "ENOSYS"], "link": ["EIO", *FULL], "linkat": ["EIO", *FULL], "unlinkat": ["EIO", "EROFS"],
          "newfstatat": ["EIO", "EACCES"], "statx": ["EIO", "EACCES"], "getdents64": ["EIO"], "flock": ["EIO"], "statfs": ["EIO"]}


class Sweep:
    def __init__(self, program, every, folder):
        self.program, self.every, self.folder = str(program), every, pathlib.Path(folder)
        self.record = Record()

    def run(self, *words, prefix=(), **environment):
        return subprocess.run([*prefix, self.program, *map(str, words)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment})

    def fresh(self):
        """A store with the checkpoint of step 1, whose bytes are always the same: written once, then copied."""
        store, first = self.folder / "store", self.folder / "first"
        if not first.exists():
            assert self.run("write", first, 1).returncode == 0
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(first, store)
        return store

    def points(self, command, step):
        """By system call: how many times a thread makes it before the commit begins, and until its end."""
        store, log = self.fresh(), self.folder / "log"
        self.run(command, store, step, prefix=("strace", "-f", "-o", str(log)))
        counts, begun, points = collections.Counter(), False, collections.defaultdict(set)
        for line in log.read_text(errors="replace").splitlines():
            match = re.match(r"(\d+) +(\w+)\(", line)
            begun = begun or str(store) in line and "execve" not in line
            if match and match[2] in CALLS:
                counts[match[1], match[2]] += 1
                if begun:
                    points[match[2]].add(counts[match[1], match[2]])
        return {call: sorted(numbers)[::self.every] for call, numbers in points.items()}

    def look(self, command, step, store, outcome, codes):
        """What is wrong after a commit, None if nothing. `codes`: how the program may have ended."""
        problem = None
        found = self.run("verify", store)
        is_new = found.stdout.split() == ([str(step), "other"] if command == "replace" else [str(step), "old"])
        if outcome.returncode not in codes:
            problem = f"ended with {outcome.returncode}: {outcome.stderr[-300:]}"
        elif found.returncode != 0:
            problem = f"nothing sound is left: {found.returncode} {found.stderr[-300:]}"
        elif outcome.returncode == 0 and not is_new:
            problem = f"said that it was done, and {found.stdout.strip()} is the newest"
        elif not is_new and found.stdout.split() != ["1", "old"]:
            problem = f"neither old nor new is the newest: {found.stdout.strip()}"
        elif self.run("write", store, 7).returncode != 0 or self.run("verify", store).stdout.split() != ["7", "old"]:
            problem = "the next commit fails"
        elif rest := [name for name in os.listdir(store) if not name.startswith("step-")]:
            problem = f"left behind: {rest}"
        return problem

    def disturbed(self, what, command, step, inject, codes):
        store = self.fresh()
        outcome = self.run(command, store, step, prefix=("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=" + inject))
        problem = self.look(command, step, store, outcome, codes)
        self.record.add(what, problem and f"{command}, {inject}: {problem}")

    def calls(self, command, step):
        for call, numbers in self.points(command, step).items():
            for number in numbers:
                # A shell's and strace's way to tell of a process that was killed.
                self.disturbed("kill", command, step, f"{call}:signal=SIGKILL:when={number}", {0, 137, -signal.SIGKILL})
                for error in ERRORS.get(call, []):
                    self.disturbed(error, command, step, f"{call}:error={error}:when={number}", {0, 4, 5})
                if call == "write":
                    self.disturbed("lost write", command, step, f"write:retval=7:when={number}", {0, 5})

    def allocations(self, command, step):
        total = int(self.run(command, self.fresh(), step, ZYGOS_FAIL_ALLOCATION="count").stdout)
        for number in range(1, total + 1, self.every):
            store = self.fresh()
            outcome = self.run(command, store, step, ZYGOS_FAIL_ALLOCATION=str(number))
            # Functions of nlohmann-json and libstdc++ that may not throw allocate, and abort: as good as a kill, which must lose nothing.
            what = "allocation of a commit"
            if outcome.returncode < 0:
                what += f", after which the process ended by {signal.Signals(-outcome.returncode).name}"
            problem = self.look(command, step, store, outcome, {0, 5, 6, -signal.SIGABRT})
            self.record.add(what, problem and f"{number} of {total}, {command}: {problem}")

    def kills(self, number, seed):
        chance = random.Random(seed)
        store, last = self.fresh(), 1
        for _ in range(number):
            process = subprocess.Popen([self.program, "endless", str(store), str(last + 1)], stdout=subprocess.PIPE, text=True)
            time.sleep(chance.uniform(0.0, 0.1))
            process.kill()
            told = [int(line) for line in process.communicate()[0].split()]
            problem = None
            found = self.run("verify", store)
            newest = int(found.stdout.split()[0]) if found.returncode == 0 else -1
            if newest < max([last, *told]) or found.stdout.split()[1:] != ["old"]:
                problem = f"seed {seed}: {told} were told, {found.stdout.strip()} is left {found.stderr[-300:]}"
            self.record.add("random kill", problem)
            last = max(newest, last)


def try_all(program, every, kills, seed):
    """A record of every `every`-th point of two commits, and of `kills` random kills."""
    print(f"seed {seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(program, every, folder)
        for command, step in (("write", 2), ("replace", 1)):
            print(f"allocations of {command}", file=sys.stderr)
            sweep.allocations(command, step)
            if shutil.which("strace"):
                print(f"system calls of {command}", file=sys.stderr)
                sweep.calls(command, step)
            else:
                sweep.record.missing("strace", "system calls are disturbed with strace, which is not installed")
        print("random kills", file=sys.stderr)
        sweep.kills(kills, seed)
    return sweep.record


def random_seed():
    return random.SystemRandom().randrange(1 << 31)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=PROGRAMS / "commit_once")
    parser.add_argument("--every", type=int, default=1, help="try every n-th point only")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random_seed())
    arguments = parser.parse_args()
    try_all(arguments.program, arguments.every, arguments.kills, arguments.seed).end()


if __name__ == "__main__":
    main()
