#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How many layers should the device update? Runs `zygos compare` of policy cotrain with every number of layers, for
batches whose updates take more or less time beside backward, and prints the number predicted to be best beside the
best that was measured. The smaller the batch, the longer updates take in comparison. Needs a quiet machine.

    python3 perf/cotrain_layers.py
"""
import argparse
import re
import statistics
import tempfile

from running import ZYGOS, json_of

DECK = """
deck_version: 1
data: {{format: synthetic, function: invariants, samples: 4096}}
model:
  layers:
    - {{type: repeat, times: {layers}, layers: [{{type: dense, units: {units}, activation: relu}}]}}
    - {{type: dense, units: 3}}
  loss: mse
optimizer: {{type: adam, learning_rate: 0.0001}}
lanes:
  host: {{kind: host, threads: 1}}
  device: {{kind: emulated, threads: 1, link: {{bandwidth: 12 GB/s, latency: 10 us}}}}
policy: {{type: zero_offload}}
train: {{steps: 10, batch: 64}}
"""


def layers_of(policy):
    found = re.search(r"device_layers (\d+)", policy)
    return int(found[1]) if found else None


def medians(zygos, deck, batch, layers, steps, rounds):
    """By number of layers: predicted and measured seconds of a step, medians of the rounds."""
    policies = ",".join(f"cotrain:device_layers={k},bucket=1 MB" for k in range(layers + 2))
    times = {}
    for _ in range(rounds):
        words = ["compare", deck, "--steps", str(steps), "--policies", policies, f"train.batch={batch}"]
        for row in json_of(zygos, *words)["rows"]:
            if (k := layers_of(row["policy"])) is not None:
                times.setdefault(k, []).append((row["step_s"]["predicted"], row["step_s"]["measured"]))
    return {k: tuple(statistics.median(column) for column in zip(*pairs)) for k, pairs in sorted(times.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--layers", type=int, default=8, help="beside the last")
    parser.add_argument("--units", type=int, default=768)
    parser.add_argument("--batches", type=int, nargs="+", default=[16, 32, 64, 128, 256])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| batch | k predicted | k measured | step at k = 0, predicted / measured, ms | at predicted k | at measured k |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as deck:
        deck.write(DECK.format(layers=arguments.layers, units=arguments.units))
        deck.flush()
        for batch in arguments.batches:
            times = medians(arguments.zygos, deck.name, batch, arguments.layers, arguments.steps, arguments.rounds)
            cells = [min(times, key=lambda k: times[k][which]) for which in (0, 1)]
            steps = [" / ".join(f"{1e3 * seconds:.2f}" for seconds in times[k]) for k in (0, *cells)]
            print(f"| {batch} | {cells[0]} | {cells[1]} | " + " | ".join(steps) + " |", flush=True)


if __name__ == "__main__":
    main()
