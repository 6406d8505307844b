#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""A U-Net by data parallelism against model parallelism (E05): `inputs/unet.yaml` on two lanes, over a free link and over one that gives
data parallelism about the published gain. Published for two GPUs: 1.305x and 1.045x; torchgpipe's two partitions: 1.246x. The yardstick is
the first lane alone. Prints the table and a verdict on each criterion: data parallelism at least 1.6x over a free link, layer placement
0.9 to 1.1x, gpipe with 8 micro-batches at least 1.5x (formula 1.78). `published_speedups.py` does the same for a multilayer perceptron.

    python3 perf/experiments/unet_split.py
    python3 perf/experiments/unet_split.py --quick
    python3 perf/experiments/unet_split.py --lanes 'host: {kind: host, threads: 16}, device: {kind: device}'      on a machine with a GPU
"""
import argparse
import statistics
import sys

from experiment import ROOT, ZYGOS, json_of

POLICIES = {"data_parallel": "data_parallel:exchange=ring", "layer_placement": "layer_placement", "gpipe": "gpipe:micro_batches=8"}
PUBLISHED = {"data_parallel": 1.305, "layer_placement": 1.045, "gpipe": 1.246}
CRITERIA = {"data_parallel": (1.6, None), "layer_placement": (0.9, 1.1), "gpipe": (1.5, None)}
LANE = "{{kind: emulated, threads: 1, link: {link}}}"


def lanes_over(bandwidth):
    link = f"{{bandwidth: {bandwidth} GB/s, latency: 20 us}}" if bandwidth else "{}"
    return f"left: {LANE.format(link=link)}, right: {LANE.format(link=link)}"


def compared(arguments, lanes):
    """By policy: predicted and measured speed-up over the first lane, medians of all rounds, and the bytes moved."""
    first = lanes.split(":")[0].strip()
    words = ["compare", str(ROOT / "inputs/unet.yaml"), f"lanes={{{lanes}}}", "policy={type: data_parallel}", f"train.batch={arguments.batch}",
             "--steps", str(arguments.steps), "--policies", ",".join([f"single:lane={first}", *POLICIES.values()])]
    runs = [json_of(arguments.zygos, *words, *(["--fresh-profile"] if number == 0 else [])) for number in range(arguments.rounds)]
    found = {}
    for name in POLICIES:
        gains = {"predicted": [], "measured": []}
        for run in runs:
            rows = {row["policy"].split("(")[0] if row["policy"] != f"single({first})" else "first": row for row in run["rows"]}
            one = rows.get("first", rows.get("single"))["step_s"]
            for key, values in gains.items():
                values.append(one[key] / rows[name]["step_s"][key])
        found[name] = {key: statistics.median(values) for key, values in gains.items()}
        found[name]["bytes"] = rows[name]["bytes"]
    return found


def verdict(name, gain):
    least, most = CRITERIA[name]
    return "met" if gain >= least and (most is None or gain <= most) else "missed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--lanes", help="two lanes as a deck has them, in place of two equal emulated ones; one table row per policy then")
    parser.add_argument("--bandwidth", type=float, default=0.5, help="GB/s of the slow link (0.5)")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, help="of each policy and round (20; with --quick 4)")
    parser.add_argument("--rounds", type=int, help="(3; with --quick 1)")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.steps = arguments.steps or (4 if arguments.quick else 20)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    cases = {"as given": arguments.lanes} if arguments.lanes else {
        "free": lanes_over(0), f"{arguments.bandwidth} GB/s, 20 us": lanes_over(arguments.bandwidth)}
    print("| link | policy | published | predicted | measured | criterion (free link) | moved a step |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for link, lanes in cases.items():
        for name, gain in compared(arguments, lanes).items():
            reached = verdict(name, gain["measured"]) if link == "free" else ""
            print(f"| {link} | {name} | {PUBLISHED[name]:.3f}x | {gain['predicted']:.3f}x | {gain['measured']:.3f}x | {reached} | "
                  f"{gain['bytes'] / 2**20:.1f} MiB |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
