#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What of the time that offloaded and spilled activations travel is hidden behind computation, from the trace of a run, beside what can be
hidden: with a prefetch of one a copy has the time of one pass, so it counts as able to hide where, by the link's bandwidth and latency (of
a file: by the rate that the run's own tasks had), it takes no longer than the median of the three passes nearest to it. Ends with 1 if
less than 90 % of that time is hidden, or weights differ.

    python3 perf/spill_overlap.py                      # an MLP of wide layers, offloaded and spilled
    python3 perf/spill_overlap.py --units 1024 --bandwidth 4
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from running import ZYGOS, json_of

COPIES = {"offload_activations": "link", "fetch_activations": "link", "write_activations": "file", "read_activations": "file"}
COMPUTE = {"forward", "backward", "recompute", "loss", "update", "load", "copy"}


def words(arguments, keeping):
    blocks = arguments.layers
    return [
        f"model={{layers: [{{type: repeat, name: block, times: {blocks}, layers: [{{type: dense, units: {arguments.units}, activation: relu}}]}}, "
        "{type: dense, units: 10}], loss: cross_entropy}",
        f"lanes={{device: {{kind: emulated, threads: 1, link: {{bandwidth: {arguments.bandwidth} GB/s, latency: 10 us}}}}}}",
        "policy={type: single, lane: device}",
        f"memory_plan={{activations: {keeping}, prefetch: {arguments.prefetch}}}",
        f"train={{steps: {arguments.steps}, batch: {arguments.batch}, evaluate_every: never, report_every: never}}",
        "data={format: glyphs, samples: 4096, test_samples: 16}",
    ]


def steps_of(trace):
    steps = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == 1 and event["args"].get("step", 0) > 0:
            steps.setdefault(event["args"]["step"], []).append(event)
    return [events for _, events in sorted(steps.items())][3:-1]


def overlap(begin, end, busy):
    return sum(max(0.0, min(end, b) - max(begin, a)) for a, b in busy)


def shares(steps, arguments):
    """By way: time of copies, hidden of it, time of those that are able to hide, hidden of it."""
    rate = {}
    for kind, way in COPIES.items():
        speeds = [event["args"]["bytes"] / event["dur"] for events in steps for event in events if event["name"] == kind and event["dur"] > 0]
        if way == "file" and speeds:
            rate[kind] = statistics.median(speeds)
    found = {way: [0.0] * 4 for way in COPIES.values()}
    for events in steps:
        passes = sorted((e for e in events if e["name"] in ("forward", "backward")), key=lambda e: e["ts"])
        busy = [(e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] in COMPUTE]
        for event in events:
            way = COPIES.get(event["name"])
            if way is None:
                continue
            begin, end = event["ts"], event["ts"] + event["dur"]
            kind = "forward" if event["name"] in ("offload_activations", "write_activations") else "backward"
            near = sorted(passes, key=lambda e: abs(e["ts"] + e["dur"] / 2 - (begin + end) / 2))
            room = statistics.median([e["dur"] for e in near if e["name"] == kind][:3])
            size = event["args"]["bytes"]
            model = 10.0 + size / (arguments.bandwidth * 1e3) if way == "link" else size / rate[event["name"]]
            hidden = overlap(begin, end, busy)
            sums = found[way]
            sums[0] += end - begin
            sums[1] += hidden
            if model <= room:
                sums[2] += end - begin
                sums[3] += hidden
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--units", type=int, default=768)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--prefetch", type=int, default=1)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--bandwidth", type=float, default=4.0, help="of the link, GB/s")
    arguments = parser.parse_args()
    hashes, failed = {}, False
    print("| activations | way | copies, ms a step | hidden | of those that can hide | hidden | step, ms | same weights |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        deck_file = pathlib.Path(folder) / "overlap.yaml"
        deck_file.write_text("deck_version: 1\ndata: {format: glyphs}\nmodel: {layers: [{type: dense, units: 10}], loss: cross_entropy}\n"
                             "optimizer: {type: sgd, learning_rate: 0.01}\nlanes: {device: {kind: emulated}}\npolicy: single\ntrain: {steps: 1, batch: 16}\n")
        for keeping in ("keep", "offload", "spill"):
            run = pathlib.Path(folder) / keeping
            summary = json_of(arguments.zygos, "train", str(deck_file), *words(arguments, keeping), "--run-dir", str(run))
            hashes[keeping] = summary["weights_xxh64"]
            same = hashes[keeping] == hashes["keep"]
            failed = failed or not same
            steps = steps_of(json.loads((run / "trace.json").read_text()))
            for way, (whole, hidden, able, able_hidden) in shares(steps, arguments).items():
                if whole > 0.0:
                    ratio = able_hidden / able if able > 0.0 else None
                    failed = failed or (ratio is not None and ratio < 0.9)
                    print(f"| `{keeping}` | {way} | {whole / len(steps) / 1e3:.1f} | {100 * hidden / whole:.0f} % | "
                          f"{100 * able / whole:.0f} % | {'-' if ratio is None else f'{100 * ratio:.0f} %'} | "
                          f"{1e3 * summary['median_step_s']:.1f} | {'yes' if same else 'NO'} |", flush=True)
            if keeping == "keep":
                print(f"| `keep` | - | - | - | - | - | {1e3 * summary['median_step_s']:.1f} | yes |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
