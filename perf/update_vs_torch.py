#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Updates of optimizers on a host lane: share of what memory allows, and PyTorch's fused ones.

Usage: perf/update_vs_torch.py [--rounds N] [--parameters N] [--bench PROGRAM]

Each round runs, one after the other and with equal threads, bench_update (every optimizer and
STREAM's triad in the same process) and PyTorch's fused optimizers, once with its own memory and
once with huge pages (THP_MEM_ALLOC_ENABLE=1), which Zygos asks for by itself. "share": the rate at
which an update moves the bytes that it must move (adam: reads weight, gradient and two moments,
writes three: 28 bytes a parameter) over the rate of the triad of the same round, 16 bytes an
element: two reads, a write, and the read that precedes it. Medians over the rounds.

bench_update: cmake -DZYGOS_ENABLE_PERF=ON build/host, then its target. PyTorch is installed into an
environment of its own (perf/peers).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "perf" / "peers"))
from torch_environment import environment  # noqa: E402

# By name in bench_update: PyTorch's optimizer, of those with a fused kernel for CPUs.
THEIRS = {
    "sgd": "SGD(p, lr=1e-3, fused=True)",
    "momentum": "SGD(p, lr=1e-3, momentum=0.9, fused=True)",
    "adam": "Adam(p, lr=1e-3, fused=True)",
    "adamw": "AdamW(p, lr=1e-3, fused=True)",
    "adagrad": "Adagrad(p, lr=1e-3, fused=True)",
    "rmsprop": None,  # no fused kernel
}

PROGRAM = """
import json, statistics, sys, time, torch
threads, parameters = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
seconds = {}
for name, made in json.loads(sys.argv[3]).items():
    p = [torch.nn.Parameter(torch.randn(parameters))]
    p[0].grad = torch.randn(parameters)
    optimizer = eval("torch.optim." + made)
    times = []
    for _ in range(25):
        start = time.perf_counter()
        optimizer.step()
        times.append(time.perf_counter() - start)
    seconds[name] = statistics.median(times[5:])
print(json.dumps({"seconds": seconds, "version": torch.__version__}))
"""


def ours(bench, threads, parameters):
    """By benchmark: seconds of an update and GB/s."""
    only = f"/threads:{threads}/parameters:{parameters}/"
    done = subprocess.run([bench, f"--benchmark_filter={only}", "--benchmark_format=json",
                           "--benchmark_min_time=0.15", "--benchmark_min_warmup_time=0.1"],
                          check=True, capture_output=True, text=True)
    rows = json.loads(done.stdout)["benchmarks"]
    if not rows:
        sys.exit(f"bench_update has no benchmark of {parameters} parameters")
    return {row["name"].removeprefix("update/").split("/")[0]:
            (row["real_time"] * 1e-9, row["GB/s"]) for row in rows}


def theirs(python, threads, parameters, huge_pages):
    made = json.dumps({name: text for name, text in THEIRS.items() if text})
    done = subprocess.run([python, "-c", PROGRAM, str(threads), str(parameters), made], check=True,
                          capture_output=True, text=True,
                          env={**os.environ, "THP_MEM_ALLOC_ENABLE": str(int(huge_pages))})
    return json.loads(done.stdout)


def median_of(rounds, key):
    return statistics.median(key(one) for one in rounds)


def rows_of(threads, options, python):
    rounds = []
    for number in range(options.rounds):
        rounds.append((ours(options.bench, threads, options.parameters),
                       theirs(python, threads, options.parameters, False),
                       theirs(python, threads, options.parameters, True)))
        print(f"{threads} threads: round {number + 1}/{options.rounds}", file=sys.stderr)
    triad = median_of(rounds, lambda one: one[0]["triad"][1])
    for name, text in THEIRS.items():
        own = median_of(rounds, lambda one: one[0][name][0])
        rate = median_of(rounds, lambda one: one[0][name][1])
        share = median_of(rounds, lambda one: one[0][name][1] / one[0]["triad"][1])
        cells = [f"`{name}`", str(threads), f"{own * 1e3:.2f}", f"{rate:.1f}", f"{triad:.1f}",
                 f"{share * 100:.0f} %"]
        for peer in (1, 2):
            if text is None:
                cells += ["-", "-"]
                continue
            other = median_of(rounds, lambda one: one[peer]["seconds"][name])
            ratio = median_of(rounds, lambda one: one[peer]["seconds"][name] / one[0][name][0])
            cells += [f"{other * 1e3:.2f}", f"{ratio:.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)
    return rounds[0][1]["version"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parameters", type=int, default=10_020_896)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--bench", default=str(ROOT / "build/host/bin/bench_update"))
    options = parser.parse_args()
    python = environment()
    print("| optimizer | threads | Zygos ms | GB/s | triad GB/s | share | PyTorch ms | ratio |"
          " with huge pages ms | ratio |")
    print("|" + " --- |" * 10)
    version = ""
    for threads in options.threads:
        version = rows_of(threads, options, python)
    print(f"\nPyTorch {version}, {options.parameters:,} parameters, {options.rounds} rounds")


if __name__ == "__main__":
    main()
