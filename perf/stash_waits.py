#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How long a pipeline's lanes wait for the files that stashed weights rest in, from the trace of a run: a backward pass waits for the read of its
version once its gradients are there and what the lane computed before has ended, an update for the write of the version that it overwrites. Each
place of stashed weights is run in turn; ends with 1 if the weights differ.

    python3 perf/stash_waits.py
    python3 perf/stash_waits.py --steps 20 --rounds 5
"""
import argparse
import collections
import json
import pathlib
import statistics
import sys
import tempfile

from running import ROOT, ZYGOS, json_of

COMPUTE = {"forward", "backward", "loss", "update", "load", "copy"}
ROOMY = [f"lanes.{lane}.memory=1 GiB" for lane in ("first", "second", "third")]


def lane_of(event):
    return event["args"]["task"].split("@")[1].split()[0]


def version_of(event):
    return int(event["args"]["task"].rsplit(" v", 1)[1])


def waits(trace):
    """Seconds of reads and writes, and of the waits for them, all steps but the first."""
    took, waited = collections.Counter(), collections.Counter()
    lanes = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == 1 and event["args"].get("step", 0) > 1:
            lanes[event["args"]["step"], lane_of(event)].append(event)
    for events in lanes.values():
        last, done, arrived = 0.0, {}, {}
        for event in sorted(events, key=lambda e: e["ts"] + e["dur"]):
            kind, end = event["name"], event["ts"] + event["dur"]
            if kind in ("read_weights", "write_weights"):
                took[kind] += event["dur"] / 1e6
                done[kind, version_of(event)] = end
            elif kind == "receive":
                arrived[event["args"].get("micro_batch")] = end
            elif kind in COMPUTE:
                if kind == "backward" and any("slot 1" in buffer for buffer in event["args"]["reads"]):
                    ready = max(last, arrived.get(event["args"]["micro_batch"], 0.0))
                    waited["read_weights"] += max(0.0, done.get(("read_weights", version_of(event)), 0.0) - ready) / 1e6
                elif kind == "update":
                    waited["write_weights"] += max(0.0, done.get(("write_weights", version_of(event) - 1), 0.0) - last) / 1e6
                last = end
    return took, waited


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--deck", default=str(ROOT / "inputs/pipedream_stash_file.yaml"))
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    took, waited = collections.Counter(), collections.Counter()
    step_s, hashes = collections.defaultdict(list), set()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(arguments.rounds):
            for stash in ("lane", "host", "file"):
                run = pathlib.Path(folder) / f"{stash}-{index}"
                summary = json_of(arguments.zygos, "train", arguments.deck, *ROOMY, f"policy.stash={stash}", f"train.steps={arguments.steps}",
                                  "--run-dir", str(run))
                hashes.add(summary["weights_xxh64"])
                step_s[stash].append(summary["median_step_s"])
                of_run = waits(json.loads((run / "trace.json").read_text()))
                took.update(of_run[0])
                waited.update(of_run[1])
    for stash, seconds in step_s.items():
        print(f"{stash}: median step {1e3 * statistics.median(seconds):.0f} ms")
    for kind, seconds in took.items():
        print(f"{kind}: {1e3 * seconds:.0f} ms, lanes waited {1e3 * waited[kind]:.0f} ms for it: {100 * (1 - waited[kind] / seconds):.0f} % hidden")
    return int(len(hashes) != 1)


if __name__ == "__main__":
    sys.exit(main())
