#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Does a split reach what two unequal lanes can give, and does the planner know it beforehand?

Usage: perf/split_speeds.py [--zygos FILE] [--rounds N] [--steps N] [--write FILE]

For speeds s_host : s_device of 1:1, 1:4 and 1:34 (the host lane's slow-down factor), each round plans
the deck, then times the device alone and the planner's best split in turn, whether the planner
recommends that split or not. A gain is the ratio of the medians, device alone / split. What the
planner recommends should reach 90 % of min(2, 1 + s_host/s_device), the predicted gain should come
true within 10 %, and the verdict at 1:34 should be "device only".
"""

import argparse
import pathlib
import statistics
import sys

from running import ROOT, ZYGOS, json_of

DECK = str(ROOT / "inputs/split_speeds.yaml")
SPEEDS = [1, 4, 34]


def split_row(plan):
    return next(row for row in plan["rows"] if row["policy"].startswith("coarse_split"))


def device_row(plan):
    return next(row for row in plan["rows"] if row["policy"] == "single(device)")


def measure(zygos, speed, rounds, steps):
    """Gain predicted, gain measured, the host's share, and what the planner said in each round."""
    slow = f"lanes.host.slowdown={speed}"
    single, split, predicted, verdicts, shares = [], [], [], [], []
    for _ in range(rounds):
        plan = json_of(zygos, "plan", DECK, slow, "--fresh-profile")
        row = split_row(plan)
        share = row["samples"]["host"] / sum(row["samples"].values())
        shares.append(share)
        predicted.append(device_row(plan)["step_s"]["predicted"] / row["step_s"]["predicted"])
        verdicts.append(plan["reason"].split(":")[0])
        for _ in range(2):
            single.append(json_of(zygos, "bench", DECK, "--steps", str(steps), slow,
                              "policy={type: single, lane: device}")["median_step_s"])
            split.append(json_of(zygos, "bench", DECK, "--steps", str(steps), slow,
                             f"policy.share={share}")["median_step_s"])
    gain = statistics.median(single) / statistics.median(split)
    return statistics.median(predicted), gain, statistics.median(shares), verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--write", help="append the table to this file")
    options = parser.parse_args()

    lines = ["| s_host : s_device | bound | verdict | best split, host's share | gain predicted |"
             " gain measured | error | recommended reaches |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for speed in SPEEDS:
        bound = min(2.0, 1.0 + 1.0 / speed)
        predicted, gain, share, verdicts = measure(options.zygos, speed, options.rounds,
                                                   options.steps)
        verdict = ", ".join(sorted(set(verdicts)))
        reached = 1.0 if "only" in verdict else gain
        lines.append(f"| 1:{speed} | {bound:.3f} | {verdict} | {share:.3f} | {predicted:.3f} |"
                     f" {gain:.3f} | {abs(predicted / gain - 1):.1%} | {reached / bound:.1%} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        with open(options.write, "a", encoding="utf-8") as out:
            out.write("\n" + text)


if __name__ == "__main__":
    main()
