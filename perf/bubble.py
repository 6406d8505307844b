#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Is the idle share of a pipeline its bubble? Trains inputs/pipeline_bubble.yaml with M = 1 to 16 micro-batches, in
turn, and prints the idle share of the two lanes (median of the steps) beside (K-1)/(M+K-1) for K = 2. Needs a quiet
machine.

    python3 perf/bubble.py
"""
import argparse
import re

from running import ROOT, ZYGOS, json_of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--steps", type=int, default=20, help="of each M")
    parser.add_argument("--micro-batches", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    arguments = parser.parse_args()
    counts = arguments.micro_batches
    policies = ",".join(f"gpipe:micro_batches={count},cuts=[second_half]" for count in counts)
    deck = str(ROOT / "inputs/pipeline_bubble.yaml")
    rows = json_of(arguments.zygos, "compare", deck, "--steps", str(arguments.steps), "--policies", policies)["rows"]
    idle_of = {}
    for row in rows:
        if found := re.search(r"micro_batches (\d+)", row["policy"]):
            idle_of[int(found[1])] = row["idle"]
    print("| M | idle | predicted | (K-1)/(M+K-1) | idle / that |\n| --- | --- | --- | --- | --- |")
    for count in counts:
        idle, predicted = idle_of[count]["measured"], idle_of[count]["predicted"]
        bubble = 1.0 / (count + 1)
        print(f"| {count} | {idle:.4f} | {predicted:.4f} | {bubble:.4f} | {idle / bubble:.3f} |")


if __name__ == "__main__":
    main()
