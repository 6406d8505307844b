#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Is the idle share of a pipeline its bubble? Trains inputs/pipeline_bubble.yaml with M = 1 to 16 micro-batches and
prints the idle share of the two lanes, from the trace, beside (K-1)/(M+K-1) for K = 2. Needs a quiet machine.

    python3 perf/bubble.py
"""
import argparse
import json
import pathlib
import statistics
import tempfile

from running import ROOT, ZYGOS, run_zygos

STEPS = 12
WARM_UP = 3


def idle_shares(trace):
    names = {}
    tasks = {}
    for event in trace["traceEvents"]:
        if event["pid"] != 1:
            continue
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        if event["ph"] == "X" and event["args"]["step"] > WARM_UP:
            tasks.setdefault(event["args"]["step"], []).append(event)
    # What a place sends and receives has tracks of its own, named after it with a word behind.
    compute = [tid for tid, name in names.items() if " " not in name]
    for events in tasks.values():
        begin = min(event["ts"] for event in events)
        end = max(event["ts"] + event["dur"] for event in events)
        for track in compute:
            busy = sum(event["dur"] for event in events if event["tid"] == track)
            yield 1.0 - busy / (end - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--micro-batches", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    arguments = parser.parse_args()
    print("| M | idle | (K-1)/(M+K-1) | ratio |\n| --- | --- | --- | --- |")
    for count in arguments.micro_batches:
        with tempfile.TemporaryDirectory() as folder:
            deck = ROOT / "inputs/pipeline_bubble.yaml"
            policy = f"policy={{type: gpipe, micro_batches: {count}, cuts: [second_half]}}"
            run = ["--run-dir", f"{folder}/run", "-q", f"train.steps={STEPS}", policy]
            run_zygos(arguments.zygos, "train", str(deck), *run)
            trace = json.loads(pathlib.Path(folder, "run/trace.json").read_text())
        idle = statistics.median(idle_shares(trace))
        bubble = 1.0 / (count + 1)
        print(f"| {count} | {idle:.4f} | {bubble:.4f} | {idle / bubble:.3f} |", flush=True)


if __name__ == "__main__":
    main()
