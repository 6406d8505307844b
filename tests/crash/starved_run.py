#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The n-th allocation fails, for every n of a short run of the program: from the command line to the report, with a checkpoint after each step.

Uses the library starve (starve.cpp) by LD_PRELOAD. The run ends with 6 (no memory), or does all of its work, or is ended by SIGABRT where an
allocation fails in a function of another library that may not throw (docs/reliability.md; fewer than one in ten). Every checkpoint that it has
committed by then has the bits of an undisturbed run and the newest is sound; the same command again ends with the bits of an undisturbed run and
leaves no other file among the checkpoints.

    python3 tests/crash/starved_run.py [--zygos build/host/bin/zygos] [--library build/host/tests/libstarve.so] [--every N]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import PROGRAMS, ROOT, Record, quick_folder  # noqa: E402

STEPS = 3
TABLE = "width,height,kind\n1,2,0\n2,1,1\n0,1,0\n1,0,1\n3,1,1\n1,3,0\n"
DECK = f"""deck_version: 1
data: {{format: csv, train: {{file: table.csv}}, test: {{file: table.csv}}}}
model: {{layers: [{{type: dense, units: 3, activation: relu}}, {{type: dense, units: 2}}], loss: cross_entropy}}
optimizer: adam
lanes: {{host: {{kind: host, threads: 1}}}}
policy: single
train: {{steps: {STEPS}, batch: 2}}
checkpoint: {{every: 1 step, keep: {STEPS + 1}}}
"""
MEMORY = 6  # ExitCode::memory


def checkpoints_of(run):
    """Names below the folder of checkpoints, and the bytes of what has the name of a checkpoint."""
    folder = run / "checkpoints"
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return names, {name: (folder / name / "state.h5").read_bytes() for name in names if name.startswith("step-")}


class StarvedRun:
    def __init__(self, zygos, library, folder):
        self.zygos, self.library, self.folder, self.record = str(zygos), str(library), pathlib.Path(folder), Record()
        (self.folder / "table.csv").write_text(TABLE)
        (self.folder / "deck.yaml").write_text(DECK)
        self.good_run = self.folder / "undisturbed"
        if (outcome := self.train(self.good_run)).returncode != 0:
            raise RuntimeError(f"the run ended with {outcome.returncode} without being disturbed: {outcome.stderr}")
        self.names, self.bits = checkpoints_of(self.good_run)

    def train(self, run, allocation=None):
        environment = {} if allocation is None else {"LD_PRELOAD": self.library, "ZYGOS_FAIL_ALLOCATION": str(allocation)}
        return subprocess.run([self.zygos, "train", "deck.yaml", "--unmeasured", "--quiet", "--run-dir", str(run)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, env={**os.environ, **environment})

    def total(self):
        """Allocations of the run."""
        counted = self.train(self.folder / "counted", "count")
        return int(counted.stderr.split()[-1])

    def told(self, run):
        """The newest step whose checkpoint the run's log names."""
        log = run / "metrics.jsonl"
        lines = log.read_text().splitlines(keepends=True) if log.exists() else []
        entries = [json.loads(line) for line in lines if line.endswith("\n")]
        return max((entry["step"] for entry in entries if entry["kind"] == "checkpoint"), default=-1)

    def newest_problem(self, run):
        """What is wrong with the newest checkpoint, None if nothing."""
        found = subprocess.run([self.zygos, "inspect", str(run), "--json"], capture_output=True, text=True, timeout=120)
        return None if found.returncode == 0 else f"the newest checkpoint is refused with {found.returncode}: {found.stderr[-300:]}"

    def problem(self, run, outcome):
        names, bits = checkpoints_of(run)
        steps = [int(name.removeprefix("step-")) for name in bits]
        wrong = [name for name in bits if bits[name] != self.bits.get(name)]
        if outcome.returncode not in (0, MEMORY, -signal.SIGABRT):
            return f"ended with {outcome.returncode}: {outcome.stderr[-300:]}"
        if outcome.returncode == MEMORY and "memory" not in outcome.stderr:
            return f"does not say that memory is what was missing: {outcome.stderr[-300:]}"
        if wrong or (outcome.returncode == 0 and names != self.names):
            return f"ended with {outcome.returncode} and left {names}, of which {wrong} have wrong bits"
        if max(steps, default=-1) < self.told(run):
            return f"said that {self.told(run)} was committed, and left {names}"
        if steps and (found := self.newest_problem(run)):
            return found
        again = self.train(run)
        if again.returncode != 0 or checkpoints_of(run) != (self.names, self.bits):
            return (f"ended with {outcome.returncode}; the same command again ended with {again.returncode} and left {checkpoints_of(run)[0]}: "
                    f"{again.stderr[-300:]}")
        return None

    def try_one(self, number):
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        outcome = self.train(run, number)
        ended = {0: "did its work", MEMORY: "ended with 6", -signal.SIGABRT: "ended by SIGABRT"}.get(outcome.returncode, "ended otherwise")
        problem = self.problem(run, outcome)
        self.record.add(f"allocation of a run, which {ended}", problem and f"allocation {number}: {problem}")
        return outcome.returncode

    def try_all(self, every):
        total = self.total()
        numbers = range(1, total + 1, every)
        print(f"{len(numbers)} of {total} allocations of a run", file=sys.stderr)
        codes = [self.try_one(number) for number in numbers]
        # Without these the library might not work at all, or no code but that of other libraries be reached.
        if codes.count(MEMORY) < len(codes) / 2 or codes.count(-signal.SIGABRT) > max(1, len(codes) / 10):
            self.record.bad["all allocations of a run"].append(f"{codes.count(MEMORY)} of {len(codes)} ended with 6, "
                                                               f"{codes.count(-signal.SIGABRT)} by SIGABRT")
        return self.record


def try_all(zygos, library, every):
    """A record of every `every`-th allocation."""
    if not zygos.exists():
        record = Record()
        record.missing("app", f"there is no program {zygos}")
        return record
    with tempfile.TemporaryDirectory(dir=quick_folder()) as folder:
        return StarvedRun(zygos, library, folder).try_all(every)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zygos", type=pathlib.Path, default=ROOT / "build/host/bin/zygos")
    parser.add_argument("--library", type=pathlib.Path, default=PROGRAMS / "libstarve.so")
    parser.add_argument("--every", type=int, default=1, help="let every n-th allocation fail only")
    arguments = parser.parse_args()
    try_all(arguments.zygos.resolve(), arguments.library.resolve(), arguments.every).end()


if __name__ == "__main__":
    main()
