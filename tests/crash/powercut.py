#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Every state in which a power cut may leave the disk during the commit of a checkpoint, the writing of another file, or
the start of a run.

Records the system calls of a commit (write_log.py), follows them in a model of a disk that promises no more than POSIX (disk_model.py), writes
each state that is legal after each call into a folder and looks at it: the newest checkpoint that was committed before is there or the new one
is, the new one is there when the program has said so, and every checkpoint that verifies has the right bytes. Then the next commit has to
succeed there and to clean up. Other files (predictions, weights, summaries) have to be the old or the new ones.

Likewise the folder of a run, and one that is set aside for another run, with the checkpoints in them.

With --ignore files or --ignore folders, fsync of them does nothing, and losses have to be found: the program ends with 0 if each case has any.

    python3 tests/crash/powercut.py [--programs build/host/tests] [--states N] [--seed N] [--ignore files|folders]
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import disk_model  # noqa: E402
import write_log  # noqa: E402
from support import PROGRAMS, Record, quick_folder  # noqa: E402

KINDS = {"files": disk_model.FILE, "folders": disk_model.FOLDER}
NONE = "none"
NO_EXCHANGE = ["renameat2:error=EINVAL"]

FILES = "other files"  # which write_once writes
RUN, ASIDE = "first run in its folder", "run that sets another one aside"  # of folder_once
PROGRAM_OF = {FILES: "write_once", RUN: "folder_once", ASIDE: "folder_once"}  # of all others: commit_once

# Steps that are there before; commits, each with what is injected and whether it is to be killed before its last fsync; what may be the newest at
# any time, and what must be at the end.
CASES = {"first checkpoint": ([], [("write 1", [], False)], {NONE, "1 old"}, "1 old"),
         "beside an older one": ([1], [("write 2", [], False)], {"1 old", "2 old"}, "2 old"),
         "one too many": ([1, 2], [("write 3", [], False)], {"2 old", "3 old"}, "3 old"),
         "in the place of one": ([1], [("replace 1", [], False)], {"1 old", "1 other"}, "1 other"),
         "in its place, in two steps": ([1], [("replace 1", NO_EXCHANGE, False)], {"1 old", "1 other"}, "1 other"),
         "killed, then again": ([1, 2], [("write 3", [], True), ("write 3", [], False)], {"2 old", "3 old"}, "3 old"),
         "killed in two steps, then another": ([1], [("replace 1", NO_EXCHANGE, True), ("write 2", [], False)],
                                               {"1 old", "1 other", "2 old"}, "2 old"),
         FILES: ([1], [("write 2", [], False)], {"old", "mixed", "new"}, "new"),
         RUN: ([], [("write 1", [], False)], {NONE, "1"}, "1"),
         ASIDE: ([1], [("write 2", [], False)], {"1", "1 and 2"}, "1 and 2")}


def make(tree, path):
    path.mkdir()
    for name, held in tree.items():
        below = path / os.fsdecode(name)
        if isinstance(held, dict):
            make(held, below)
        else:
            below.write_bytes(held)


class PowerCut:
    def __init__(self, programs, folder, limit, seed, ignore):
        self.programs, self.program, self.folder, self.limit, self.seed = programs, None, pathlib.Path(folder), limit, seed
        self.ignore = {KINDS[kind] for kind in ignore}
        self.record = Record()

    def last_fsync(self, words, inject):
        """Its number, counted in the main thread of a commit in a copy of the store."""
        shutil.copytree(self.folder / "disk", self.folder / "copy")
        log = self.folder / "log"
        write_log.record([self.program, words[0], self.folder / "copy" / "store", words[1]], log, inject)
        shutil.rmtree(self.folder / "copy")
        lines = [line.split(maxsplit=1) for line in log.read_text(errors="replace").splitlines()]
        return sum(1 for thread, call in lines if thread == lines[0][0] and call.startswith("fsync("))

    def follow(self, case):
        """The disk after each call of the commits, with whether the last of them has ended."""
        before, commits, _, _ = CASES[case]
        base = self.folder / "disk"
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir()
        for step in before:
            subprocess.run([self.program, "write", base / "store", str(step)], check=True)
        disk = disk_model.Disk(base, self.ignore)
        lines = 0
        for number, (words, inject, killed) in enumerate(commits):
            words = words.split()
            kill = [f"fsync:signal=SIGKILL:when={self.last_fsync(words, inject)}"] if killed else []
            calls, outcome = write_log.record([self.program, words[0], base / "store", words[1]], self.folder / "log", [*inject, *kill])
            if (outcome.returncode != 0) != killed:
                raise RuntimeError(f"{case}: {words} ended with {outcome.returncode} {outcome.stderr}")
            disk.new_process()
            for position, call in enumerate(calls):
                call.begun, call.ended = call.begun + lines, call.ended + lines
                disk.apply(call)
                yield disk, number == len(commits) - 1 and position == len(calls) - 1
            lines = calls[-1].ended + 1

    def states(self, case):
        """Makes a folder of each different state: its path, after which cut, and whether all commits had ended."""
        seen, made = set(), []
        for cut, (disk, ended) in enumerate(self.follow(case)):
            for tree in disk.states(self.limit, self.seed + cut):
                key = hashlib.sha256(repr((ended, tree)).encode()).digest()
                if key not in seen:
                    seen.add(key)
                    path = self.folder / "states" / str(len(made))
                    make(tree, path)
                    made.append((path, cut, ended))
        return made

    def look(self, case):
        _, _, allowed, last = CASES[case]
        self.program = str(self.programs / PROGRAM_OF.get(case, "commit_once"))
        states = self.folder / "states"
        states.mkdir()
        made = self.states(case)
        names = "".join(f"{path / 'store'}\n" for path, _, _ in made)
        outcome = subprocess.run([self.program, "recover", "-"], input=names, capture_output=True, text=True, timeout=600)
        lines = outcome.stdout.splitlines()
        if outcome.returncode != 0 or len(lines) != len(made):
            raise RuntimeError(f"{case}: recover ended with {outcome.returncode} behind {len(lines)} of {len(made)} states: {outcome.stderr[-300:]}")
        for (_, cut, ended), line in zip(made, lines):
            newest, wrong, further = line.split(", ")
            lost = newest not in ({last} if ended else allowed) or wrong != "0 wrong" or further != "goes on"
            self.record.add(case, f"after call {cut}{', the last one' if ended else ''}: {line}" if lost else None)
        shutil.rmtree(states)


def try_all(programs, states, seed, ignore=()):
    """A record of all cases, with at most `states` states after each call; `ignore`: fsync of these kinds does nothing."""
    if not shutil.which("strace"):
        record = Record()
        record.missing("strace", "system calls are recorded with strace, which is not installed")
        return record
    with tempfile.TemporaryDirectory(dir=quick_folder()) as folder:
        tests = PowerCut(programs, folder, states, seed, ignore)
        for case in CASES:
            if PROGRAM_OF.get(case) == "folder_once" and not (programs / "folder_once").exists():
                tests.record.missing("app", f"{case}: this build has no command line")
                continue
            print(f"{case}, without fsync of {', '.join(ignore)}" if ignore else case, file=sys.stderr)
            tests.look(case)
    return tests.record


def self_test(programs, states, seed, ignore):
    """A record of the same where fsync of these kinds does nothing: each case must lose something, or the model can't tell fsync from none."""
    found, record = try_all(programs, states, seed, ignore), Record()
    record.absent = found.absent
    losses = {case: len(found.bad[case]) for case in found.tried}
    if losses:
        what = f"self-test: without fsync of {' and '.join(ignore)} {sum(losses.values()):,} lose something, as they must"
        record.tried[what] = sum(found.tried.values())
        record.bad[what] = [f"{case}: nothing was lost" for case, number in losses.items() if number == 0]
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, default=PROGRAMS, help="where commit_once, write_once and folder_once are")
    parser.add_argument("--states", type=int, default=2000, help="try at most so many after each call, a sample of those that there are")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ignore", choices=sorted(KINDS), action="append", default=[],
                        help="fsync of these does nothing; each case has to lose something")
    arguments = parser.parse_args()
    attempt = self_test if arguments.ignore else try_all
    attempt(arguments.programs, arguments.states, arguments.seed, arguments.ignore).end()


if __name__ == "__main__":
    main()
