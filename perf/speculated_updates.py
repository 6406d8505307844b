#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What clipping by the norm costs a step of zero_offload, with and without speculation.

Usage: perf/speculated_updates.py [--rounds N] [--steps N] [--zygos PROGRAM] [--deck DECK] [WORDS]

Every round measures, in turn, steps without clipping; with clipping whose updates wait for the norm
(speculate: off); and with updates that are speculated, under a limit that no norm reaches, so that
they stand, and under one that every norm is above, so that all are made again. Medians over the
rounds of the median step; "end": the time beyond steps without clipping, which is what the norm
delays.
"""

import argparse
import statistics

from running import ROOT, ZYGOS, json_of

NEVER, ALWAYS = "1e9", "1e-9"
WAYS = {
    "no clipping": ["optimizer={type: adam, learning_rate: 0.001}"],
    "waits for the norm": [f"optimizer.clip_norm={NEVER}", "policy.speculate=off"],
    "speculated, stands": [f"optimizer.clip_norm={NEVER}", "policy.speculate=on"],
    "waits, clipped": [f"optimizer.clip_norm={ALWAYS}", "policy.speculate=off"],
    "speculated, made again": [f"optimizer.clip_norm={ALWAYS}", "policy.speculate=on"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--deck", default=str(ROOT / "inputs/zero_offload_clipped.yaml"))
    parser.add_argument("words", nargs="*", help="overrides of the deck: policy.weights=host")
    options = parser.parse_args()
    steps = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way, words in WAYS.items():
            steps[way].append(json_of(options.zygos, "bench", options.deck, *words, *options.words,
                                      "--steps", str(options.steps), "--quiet")["median_step_s"] * 1e3)
    plain = steps["no clipping"]
    print("| updates | step, ms | end, ms |\n| --- | --- | --- |")
    for way, measured in steps.items():
        end = statistics.median(one - base for one, base in zip(measured, plain))
        print(f"| {way} | {statistics.median(measured):.2f} | {end:+.2f} |")


if __name__ == "__main__":
    main()
