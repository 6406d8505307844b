#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What checkpoints cost, and how fast one is committed.

1. The same run with and without checkpoints in the background, in alternation. What a checkpoint adds to the time of the run (the copy, during
   which training stands still, and the steps that are slower while it is written) is the cost of one; every 60 s it has to be below 2 % of the time.
2. A model of 1 GiB: bytes over the time from copy to commit, against this script's own files of as many random bytes in the same folder, written in
   pieces of 16 MiB and fsynced with their folder, in alternation. Each file, and each checkpoint, removes the one before, so that files
   find memory for the system's cache that was in use a moment ago; other memory is several times slower on a virtual machine. Target: 80 %.
   Beside it, the same files written past the cache (O_DIRECT), as large checkpoints are, and the time until a checkpoint was read back as well.

Prints the tables of perf/results.md; ends with 1 where a target is missed.

    python3 perf/checkpoint_cost.py [cost|rate] [--folder DIR]
"""
import argparse
import json
import mmap
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from running import ROOT, ZYGOS, json_of

LANE = "lanes={host: {kind: host, threads: 2}}"
COMMON = [str(ROOT / "inputs" / "mnist_mlp.yaml"), LANE, "data={format: glyphs, samples: 6400, test_samples: 0}", "policy={type: single}"]
# 12.6 million parameters with two moments each: 151 MB of state.
COST_MODEL = ["model={layers: [{type: repeat, name: block, times: 3, layers: [{type: dense, units: 1920, activation: relu}]}, "
              "{type: dense, units: 10}], loss: cross_entropy}", "optimizer={type: adam}"]
# 268 million parameters without states.
RATE_MODEL = ["model={layers: [{type: repeat, name: block, times: 5, layers: [{type: dense, units: 7936, activation: relu}]}, "
              "{type: dense, units: 1200}, {type: dense, units: 10}], loss: cross_entropy}", "optimizer={type: sgd, momentum: 0}"]


def random_bytes(size):
    """In whole pages, from which the system copies fastest."""
    pages = mmap.mmap(-1, size)
    for begin in range(0, size, 1 << 24):
        pages[begin:begin + (1 << 24)] = os.urandom(1 << 24)
    return memoryview(pages)


RANDOM = random_bytes(1 << 30)


def trained(zygos, folder, *words):
    run = pathlib.Path(folder) / "run"
    shutil.rmtree(run, ignore_errors=True)
    return json_of(zygos, "train", *COMMON, *words, "--run-dir", str(run))


def cost(arguments, folder):
    """Seconds that a checkpoint adds to a run."""
    rows = []
    for _ in range(arguments.rounds):
        words = [*COST_MODEL, f"train={{steps: {arguments.steps}, batch: 128, evaluate_every: never}}"]
        without = trained(arguments.zygos, folder, *words, "checkpoint.every=never")
        with_some = trained(arguments.zygos, folder, *words, f"checkpoint.every={arguments.steps // 4} steps", "checkpoint.keep=1")
        # Both save steps 0 and the last one; three lie between.
        rows.append(((with_some["seconds"] - without["seconds"]) / 3, with_some["checkpoints"], with_some["seconds"]))
    added = statistics.median(row[0] for row in rows)
    costs = rows[-1][1]
    print("| state, MB | checkpoints | stood still for one, s | writing of one, s | one adds to the run, s | every 60 s |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(f"| {costs['bytes'] / 1e6:.0f} | {costs['committed']} | {costs['stopped_s'] / costs['committed']:.3f} | "
          f"{costs['writing_s'] / costs['committed']:.3f} | {added:.3f} ({min(r[0] for r in rows):.3f} to {max(r[0] for r in rows):.3f}) | "
          f"{100 * added / 60:.2f} % |", flush=True)
    return added / 60 < 0.02


def write_file(path, flags):
    """Seconds of a new file of random bytes, written in pieces and fsynced with its folder."""
    piece, done = 16 << 20, 0
    begun = time.perf_counter()
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | flags, 0o640)
    while done < len(RANDOM):
        done += os.write(out, RANDOM[done:done + piece])
    os.fsync(out)
    os.close(out)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    return time.perf_counter() - begun


def disk_rate(folder, flags=0):
    """Bytes a second of the last two of five files, of which each removes the one before, as checkpoints with `keep: 1` do."""
    seconds = []
    for i in range(5):
        seconds.append(write_file(pathlib.Path(folder) / f"disk-{i}.bin", flags))
        if i > 0:
            (pathlib.Path(folder) / f"disk-{i - 1}.bin").unlink()
    (pathlib.Path(folder) / "disk-4.bin").unlink()
    return len(RANDOM) / statistics.mean(seconds[-2:])


def commit_rate(arguments, folder):
    """The same of a run's checkpoints."""
    done = trained(arguments.zygos, folder, *RATE_MODEL, "train={steps: 4, batch: 1, evaluate_every: never}", "checkpoint.every=1 steps",
                   "checkpoint.background=false", "checkpoint.keep=1")
    run = pathlib.Path(folder) / "run"
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    saved = [line for line in lines if line["kind"] == "checkpoint"][-2:]
    size = sum(file.stat().st_size for file in (run / "checkpoints" / "step-000004").iterdir())
    shutil.rmtree(run)
    rates = [size / statistics.mean(line[key] for line in saved) for key in ("written_s", "verified_s")]
    return *rates, done["checkpoints"]["bytes"]


def rate(arguments, folder):
    """Commits of a 1 GiB model against the disk."""
    commits, verified, disks, direct = [], [], [], []
    for _ in range(arguments.rounds):
        disks.append(disk_rate(folder))
        direct.append(disk_rate(folder, os.O_DIRECT))
        commit, until_verified, size = commit_rate(arguments, folder)
        commits.append(commit)
        verified.append(until_verified)

    def ratios(of, to):
        all_of_them = [one / other for one, other in zip(of, to)]
        return f"{statistics.median(all_of_them):.2f} ({min(all_of_them):.2f} to {max(all_of_them):.2f})"

    print("| memory of the copy, MiB | commit, MB/s | disk, MB/s | ratio | disk past the cache, MB/s | ratio | commit and read back, MB/s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print(f"| {size / 2**20:.0f} | {statistics.median(commits) / 1e6:.0f} | {statistics.median(disks) / 1e6:.0f} | {ratios(commits, disks)} | "
          f"{statistics.median(direct) / 1e6:.0f} | {ratios(commits, direct)} | {statistics.median(verified) / 1e6:.0f} |", flush=True)
    return statistics.median(commit / disk for commit, disk in zip(commits, disks)) >= 0.8


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["cost", "rate"], default=["cost", "rate"])
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--folder", help="where to write (a new folder below it; the temporary one of the system)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for what in arguments.what:
            met = {"cost": cost, "rate": rate}[what](arguments, folder) and met
            print()
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
