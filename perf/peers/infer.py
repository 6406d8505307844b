#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Inference of the surrogate 6-64-64-64-3 in Zygos, libtorch and onnxruntime, in turn, one thread each.

Usage: perf/peers/infer.py [--rounds N] [--build FOLDER]

FOLDER is a build with -DZYGOS_ENABLE_PERF=ON (default build/host): its bench_infer and zygos. A row is the median over rounds
of the median time of a call; ratios are peer / Zygos, above 1 Zygos is faster.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from processes import ROOT, finished
from torch_environment import environment, libtorch_program

PEERS = pathlib.Path(__file__).resolve().parent
CASES = {1: 20000, 256: 2000, 100_000: 15}
DECK = ROOT / "inputs/surrogate_mlp.yaml"


def exported(zygos, folder):
    file = folder / "surrogate.onnx"
    finished([zygos, "train", str(DECK), "--run-dir", str(folder / "run"), "--quiet", "policy=single",
              "lanes={host: {kind: host}}", "train={steps: 1, batch: 256, evaluate_every: never}"])
    finished([zygos, "export", str(folder / "run"), "--output", str(file), "--quiet"])
    return str(file)


def ours(bench, samples):
    printed = finished([bench, f"--benchmark_filter=predict/{samples}/0$", "--benchmark_format=json"])[0]
    report = json.loads(printed)["benchmarks"][0]
    return report["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[report["time_unit"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", default=str(ROOT / "build/host"))
    arguments = parser.parse_args()
    python = environment()
    libtorch = libtorch_program(python, PEERS / "infer_libtorch.cpp")
    bench, zygos = f"{arguments.build}/bin/bench_infer", f"{arguments.build}/bin/zygos"
    print("| samples | Zygos | libtorch | onnxruntime | libtorch / Zygos | onnxruntime / Zygos |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        model = exported(zygos, pathlib.Path(folder))
        for samples, calls in CASES.items():
            rows = []
            for _ in range(arguments.rounds):
                runtime = finished([python, str(PEERS / "infer_onnxruntime.py"), model, str(samples), str(calls)])[0]
                rows.append((ours(bench, samples),
                             float(finished([libtorch, str(samples), str(calls)])[0]),
                             float(runtime.split()[0])))
            mine, torch, runtime = (statistics.median(column) for column in zip(*rows))
            print(f"| {samples:,} | {mine * 1e6:.2f} us | {torch * 1e6:.2f} us | {runtime * 1e6:.2f} us "
                  f"| {torch / mine:.2f} | {runtime / mine:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
