#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What a step takes on two ranks, and in one process with the same two lanes, on cores that others use as well.

Runs a small network with and without a busy loop on every core, in alternation, and prints the median time of a step of each as the row of
perf/results.md. Several executables are compared in the same alternation.

    python3 perf/shared_cores.py [--zygos BUILD/bin/zygos]...
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from running import ROOT, ZYGOS

LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]
BATCH = 256
DECK = [str(ROOT / "inputs" / "mnist_mlp.yaml"), "data={format: glyphs, samples: 25600, test_samples: 0}",
        "model={layers: [{type: dense, units: 512, activation: relu}, {type: dense, units: 10}], loss: cross_entropy}",
        "lanes={a: {kind: emulated, space: serial}, b: {kind: emulated, space: serial}}",
        "policy={type: data_parallel, exchange: all_reduce}", f"train={{batch: {BATCH}, steps: 150}}", "checkpoint.every=never"]


def step_ms(zygos, ranks, folder):
    """Milliseconds of a step."""
    words = [zygos, "train", *DECK, "--run-dir", folder + "/run", "--fresh", "--json"]
    done = subprocess.run((LAUNCHER if ranks > 1 else []) + words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return 1e3 * BATCH / json.loads(done.stdout)["samples_per_s"]["total"]


def busy_loops():
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zygos", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    programs = arguments.zygos or [ZYGOS]
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for busy in (False, True):
                loops = busy_loops() if busy else []
                try:
                    for program in programs:
                        for ranks in (1, 2):
                            times.setdefault((program, busy, ranks), []).append(step_ms(program, ranks, folder))
                finally:
                    for loop in loops:
                        loop.kill()
                        loop.wait()
    print("| cores | one process, ms a step | two ranks, ms a step |" + (" program |" if len(programs) > 1 else ""))
    print("| --- | --- | --- |" + (" --- |" if len(programs) > 1 else ""))
    for program in programs:
        for busy in (False, True):
            one, two = (statistics.median(times[program, busy, ranks]) for ranks in (1, 2))
            print(f"| {'busy' if busy else 'free'} | {one:.1f} | {two:.1f} |" + (f" {program} |" if len(programs) > 1 else ""))


if __name__ == "__main__":
    main()
