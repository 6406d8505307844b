#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How many layers should the device update? Runs `zygos compare` of policy cotrain with every number of layers, with the host
slowed down so that all updates together take 1.1, 1.5, 2 and 3 times as long as backward, and prints the number predicted to be
best beside the best that was measured. The times of backward and updates are those of a trace without slow-down. Needs a
quiet machine.

    python3 perf/cotrain_layers.py
"""
import argparse
import json
import pathlib
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
policy: {{type: zero_offload, bucket: 1 MB}}
train: {{steps: 30, batch: {batch}, evaluate_every: never}}
"""


def layers_of(policy):
    found = re.search(r"device_layers (\d+)\b(?!\.)", policy)
    return int(found[1]) if found else None


def update_per_backward(zygos, deck):
    """Seconds of a step's updates by the host over those of its backward passes, medians of a run without slow-down."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        json_of(zygos, "train", deck, "--run-dir", str(run))
        steps = {}
        for event in json.loads((run / "trace.json").read_text())["traceEvents"]:
            if event["ph"] == "X" and event["name"] in ("update", "backward") and "step" in event["args"]:
                times = steps.setdefault(event["args"]["step"], {"update": 0.0, "backward": 0.0})
                times[event["name"]] += event["dur"]
    return statistics.median(step["update"] / step["backward"] for step in steps.values() if step["backward"] > 0)


def medians(zygos, deck, slowdown, layers, steps, rounds):
    """By number of layers: predicted and measured seconds of a step, medians of the rounds."""
    policies = ",".join(f"cotrain:device_layers={k},bucket=1 MB" for k in range(layers + 2))
    times = {}
    for _ in range(rounds):
        words = ["compare", deck, "--fresh-profile", "--steps", str(steps), "--policies", policies, f"lanes.host.slowdown={slowdown:.3f}"]
        for row in json_of(zygos, *words)["rows"]:
            if (k := layers_of(row["policy"])) is not None:
                times.setdefault(k, []).append((row["step_s"]["predicted"], row["step_s"]["measured"]))
    return {k: tuple(statistics.median(column) for column in zip(*pairs)) for k, pairs in sorted(times.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--layers", type=int, default=8, help="beside the last")
    parser.add_argument("--units", type=int, default=768)
    parser.add_argument("--batch", type=int, default=256, help="large enough that updates alone take less time than backward")
    parser.add_argument("--ratios", type=float, nargs="+", default=[1.1, 1.5, 2.0, 3.0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("| updates / backward | k predicted | k measured | step at k = 0, predicted / measured, ms | at predicted k | at measured k | saved at predicted k |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as deck:
        deck.write(DECK.format(layers=arguments.layers, units=arguments.units, batch=arguments.batch))
        deck.flush()
        own = update_per_backward(arguments.zygos, deck.name)
        for ratio in arguments.ratios:
            slowdown = max(1.0, ratio / own)
            times = medians(arguments.zygos, deck.name, slowdown, arguments.layers, arguments.steps, arguments.rounds)
            cells = [min(times, key=lambda k: times[k][which]) for which in (0, 1)]
            steps = [" / ".join(f"{1e3 * seconds:.2f}" for seconds in times[k]) for k in (0, *cells)]
            saved = 100 * (1 - times[cells[0]][1] / times[0][1])
            print(f"| {own * slowdown:.2f} | {cells[0]} | {cells[1]} | " + " | ".join(steps) + f" | {saved:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
