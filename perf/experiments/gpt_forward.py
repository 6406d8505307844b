#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Ten forward times of a GPT, the first one included (E02): `inputs/gpt.yaml`, 10 layers of width 384 with one head, 1,000 tokens and a
vocabulary of 10,000. Published: a median of 2,135 ms on 16 cores and a first pass that takes several times the others on a GPU. Prints the
ten times for each lane, the median of the last nine, the first over that, and the ratio of the lanes (published: 34.3).

    python3 perf/experiments/gpt_forward.py
    python3 perf/experiments/gpt_forward.py --threads 16 --device        on a machine with a GPU
"""
import argparse
import statistics
import sys

from experiment import ROOT, ZYGOS, json_of

PUBLISHED_S = 2.135


def times(arguments, lane):
    words = ["bench", str(ROOT / "inputs/gpt.yaml"), f"lanes={{lane: {lane}}}", "policy=single", "--forward", "--steps", "10", "--warmup", "0"]
    return json_of(arguments.zygos, *words, *arguments.overrides)["step_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--threads", type=int, default=2, help="of the host (2)")
    parser.add_argument("--device", action="store_true", help="a GPU, too; else an emulated device of one thread")
    parser.add_argument("--quick", action="store_true", help="sequences of 100 tokens")
    parser.add_argument("overrides", nargs="*", help="of the deck: key.path=value")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.overrides = ["data={format: tokens, sequence: 100, vocabulary: 10000, samples: 200, test_samples: 20}", *arguments.overrides]
    lanes = {"host": f"{{kind: host, threads: {arguments.threads}}}",
             "device": "{kind: device}" if arguments.device else "{kind: emulated, threads: 1}"}
    print("| lane | " + " | ".join(str(number) for number in range(1, 11)) + " | median of the last nine | first / median | below 2,135 ms |")
    print("| --- " * 14 + "|")
    medians = {}
    for name, lane in lanes.items():
        seconds = times(arguments, lane)
        medians[name] = statistics.median(seconds[1:])
        print(f"| {name} | " + " | ".join(f"{1e3 * value:.4g}" for value in seconds) +
              f" | {1e3 * medians[name]:.4g} ms | {seconds[0] / medians[name]:.2f} | {'yes' if medians[name] <= PUBLISHED_S else 'no'} |", flush=True)
    print(f"\nTimes in ms. Host over device: {medians['host'] / medians['device']:.2f} (published 34.3, a GPU against 16 cores).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
