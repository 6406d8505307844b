#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Why did two GPUs train a U-Net 1.305 times as fast as one with data parallelism, and 1.045 times with model
parallelism? Looks for the link bandwidth at which data_parallel is predicted to gain 1.305x, then measures
data_parallel, layer_placement and gpipe there and over a free link, and prints what becomes of the time. The yardstick
is the first lane, which is slower than the second if told. Needs a quiet machine.

    python3 perf/published_speedups.py
    python3 perf/published_speedups.py --bandwidth 1.06 --slowdown 1.05     GB/s, without the search
"""
import argparse
import sys

from running import ROOT, ZYGOS, json_of

PUBLISHED = {"data_parallel": 1.305, "layer_placement": 1.045}
POLICIES = ["single:lane=left", "data_parallel:exchange=ring", "layer_placement", "gpipe:micro_batches=8"]


def lanes(slowdown, gigabytes):
    link = f"{{bandwidth: {gigabytes:.4g} GB/s, latency: 20 us}}" if gigabytes else "{}"

    def lane(factor):
        return f"{{kind: emulated, threads: 1, slowdown: {factor}, link: {link}}}"

    return [f"lanes={{left: {lane(slowdown)}, right: {lane(1)}}}", "policy={type: data_parallel}"]


def compare(arguments, gigabytes, steps, policies=POLICIES):
    words = ["compare", arguments.deck, "--steps", str(steps), "--policies", ",".join(policies)]
    rows = json_of(arguments.zygos, *words, *lanes(arguments.slowdown, gigabytes))["rows"]
    found = {row["policy"].split("(")[0]: row for row in rows if row["policy"] != "single(right)"}
    one_lane = found["single"]["step_s"]
    for row in found.values():
        row["speedup"] = {key: one_lane[key] / row["step_s"][key] for key in ("predicted", "measured")}
    return found


def bandwidth_for(arguments, speedup):
    """GB/s by bisection in the logarithm: a slower link never gains more."""
    low, high = 0.05, 50.0
    for _ in range(arguments.rounds):
        middle = (low * high) ** 0.5
        rows = compare(arguments, middle, 4, POLICIES[:2])
        found = rows["data_parallel"]["speedup"]["predicted"]
        print(f"  {middle:7.3f} GB/s: predicted {found:.3f}x", file=sys.stderr, flush=True)
        if abs(found - speedup) < 0.01:
            return middle
        low, high = (middle, high) if found < speedup else (low, middle)
    return middle


def line(name, free, linked, gigabytes):
    row = linked[name]
    measured_s = row["step_s"]["measured"]
    crossing_s = row["bytes"] / 2 / (gigabytes * 1e9)
    published = f"{PUBLISHED[name]:.3f}x" if name in PUBLISHED else ""
    return (
        f"| {name} | {published} | {row['speedup']['predicted']:.3f}x | {row['speedup']['measured']:.3f}x "
        f"| {free[name]['speedup']['measured']:.3f}x | {row['bytes'] / 2**20:.1f} MiB | {crossing_s * 1e3:.0f} ms "
        f"| {(measured_s - free[name]['step_s']['measured']) * 1e3:.0f} ms of {measured_s * 1e3:.0f} ms |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--deck", default=str(ROOT / "inputs/mlp_deep.yaml"))
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=8, help="of the search")
    parser.add_argument("--slowdown", type=float, default=1.0, help="of the first lane (1)")
    parser.add_argument("--bandwidth", type=float, help="GB/s of the link: no search")
    arguments = parser.parse_args()
    gigabytes = arguments.bandwidth or bandwidth_for(arguments, PUBLISHED["data_parallel"])
    free = compare(arguments, 0.0, arguments.steps)
    linked = compare(arguments, gigabytes, arguments.steps)
    print(f"link of each lane: {gigabytes:.3g} GB/s, 20 us; one lane: {linked['single']['step_s']['measured'] * 1e3:.0f} ms a step\n")
    print("| policy | published | predicted | measured | over a free link | moved | over one lane's link | the link costs |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in free:
        if name != "single":
            print(line(name, free, linked, gigabytes))


if __name__ == "__main__":
    main()
