#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Does a split reach what two unequal lanes can give, and does the planner know it beforehand?

Usage: perf/split_speeds.py [--zygos FILE] [--rounds N] [--write FILE]

For emulated speeds s_host : s_device of 1:1, 1:4 and 1:34 (the host lane's slow-down factor), each
round plans the deck, then times the device alone and the recommended split in turn. The gain is the
ratio of the medians; the aim is 90 % of min(2, 1 + s_host/s_device), a prediction within 10 %, and
"device only" at 1:34.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DECK = "inputs/split_speeds.yaml"
SPEEDS = [1, 4, 34]


def run(zygos, *arguments):
    done = subprocess.run([zygos, *arguments, "--json"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zygos {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def split_row(plan):
    return next(row for row in plan["rows"] if row["policy"].startswith("coarse_split"))


def measure(zygos, speed, rounds, steps):
    slow = f"lanes.host.slowdown={speed}"
    single, split, predicted, verdicts, shares = [], [], [], [], []
    for _ in range(rounds):
        plan = run(zygos, "plan", DECK, slow)
        row = split_row(plan)
        share = row["samples"][0] / sum(row["samples"])
        shares.append(share)
        predicted.append(row["speedup"]["predicted"] if isinstance(row["speedup"], dict)
                         else row["speedup"])
        verdicts.append(plan["reason"].split(":")[0])
        for _ in range(2):
            single.append(run(zygos, "bench", DECK, "--steps", str(steps), slow,
                              "policy.type=single", "policy.lane=device")["median_step_s"])
            split.append(run(zygos, "bench", DECK, "--steps", str(steps), slow,
                             f"policy.share={share}")["median_step_s"])
    gain = statistics.median(single) / statistics.median(split)
    return gain, statistics.median(predicted), statistics.median(shares), verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ROOT / "build" / "host" / "bin" / "zygos"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--write", help="append the table to this file")
    options = parser.parse_args()

    lines = ["| s_host : s_device | bound | gain measured | of the bound | predicted | error |"
             " host share | verdict |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for speed in SPEEDS:
        bound = min(2.0, 1.0 + 1.0 / speed)
        gain, predicted, share, verdicts = measure(options.zygos, speed, options.rounds,
                                                   options.steps)
        lines.append(f"| 1:{speed} | {bound:.3f} | {gain:.3f} | {gain / bound:.1%} |"
                     f" {predicted:.3f} | {abs(predicted / gain - 1):.1%} | {share:.3f} |"
                     f" {', '.join(sorted(set(verdicts)))} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        with open(options.write, "a", encoding="utf-8") as out:
            out.write("\n" + text)


if __name__ == "__main__":
    main()
