#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Inference of the surrogate 6-64-64-64-3 in Zygos, libtorch, onnxruntime and KANN, in turn, one thread each.

Usage: perf/peers/infer.py [--rounds N] [--build FOLDER] [--kann FOLDER] [--cblas FOLDER]

FOLDER is a build with -DZYGOS_ENABLE_PERF=ON (default build/host): its bench_infer and zygos. A row is the median over rounds
of the median time of a call; ratios are peer / Zygos, above 1 Zygos is faster.

KANN's columns are there if its sources are found (kann_program.py). One sample is given to kann_apply1; more are evaluated all at
once and in blocks of 64, which is how many KANN's own functions take. Each is measured with three sets of compiler flags; a
column has the fastest, and all are printed below the table. With --cblas, KANN has a second column with OpenBLAS' matrix product.
KANN's tanh is (1 - y) / (1 + y) of y = expf(-2x).
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import kann_program
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
    """The median of many short repetitions: a mean would hold the moments in which the thread was not running."""
    printed = finished([bench, f"--benchmark_filter=predict/{samples}/0$", "--benchmark_format=json",
                        "--benchmark_min_time=0.0005", "--benchmark_repetitions=101"])[0]
    (report,) = (run for run in json.loads(printed)["benchmarks"] if run.get("aggregate_name") == "median")
    return report["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[report["time_unit"]]


def kann_commands(programs, samples, calls):
    """By peer and variant: the command."""
    blocks = {"one sample": 1} if samples == 1 else {"all at once": samples, "blocks of 64": 64}
    return {(peer, f"{flags}, {name}"):
            [program, "infer", "6,64,64,64,3", "tanh", str(samples), str(block), str(max(5, calls // 3))]
            for (peer, flags), program in programs.items() for name, block in blocks.items()}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", default=str(ROOT / "build/host"))
    kann_program.add_options(parser)
    return parser.parse_args()


class Peers:
    """Measures one number of samples, everyone in turn."""

    def __init__(self, options, folder):
        self.python = environment()
        self.libtorch = libtorch_program(self.python, PEERS / "infer_libtorch.cpp")
        self.bench = f"{options.build}/bin/bench_infer"
        self.model = exported(f"{options.build}/bin/zygos", folder)
        self.kann = kann_program.programs(options)

    def round(self, samples, calls):
        """Seconds by peer, KANN by variant."""
        runtime = [self.python, str(PEERS / "infer_onnxruntime.py"), self.model, str(samples), str(calls)]
        seconds = {"Zygos": ours(self.bench, samples),
                   "libtorch": float(finished([self.libtorch, str(samples), str(calls)])[0]),
                   "onnxruntime": float(finished(runtime)[0].split()[0])}
        kann = {variant: float(finished(command)[0])
                for variant, command in kann_commands(self.kann, samples, calls).items()}
        return seconds | kann

    def medians(self, rounds, samples, calls):
        """The medians by peer, and those of KANN by peer and variant."""
        rows = [self.round(samples, calls) for _ in range(rounds)]
        every = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
        kann = {name: every.pop(name) for name in kann_commands(self.kann, samples, calls)}
        return every | {peer: kann[peer, variant] for peer, variant in kann_program.fastest(kann).items()}, kann


def table_row(cells):
    return "| " + " | ".join(cells) + " |"


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(options, pathlib.Path(folder))
        others = ["libtorch", "onnxruntime", *dict.fromkeys(peer for peer, _ in peers.kann)]
        head = ["samples", "Zygos", *others, *(f"{name} / Zygos" for name in others)]
        print(table_row(head) + "\n" + table_row(["---"] * len(head)))
        notes = []
        for samples, calls in CASES.items():
            medians, kann = peers.medians(options.rounds, samples, calls)
            times = [f"{seconds * 1e6:.2f} us" for seconds in medians.values()]
            ratios = [f"{medians[name] / medians['Zygos']:.2f}" for name in others]
            print(table_row([f"{samples:,}", *times, *ratios]), flush=True)
            notes += [f"{samples:,} samples, {peer}, {variant}: {seconds * 1e6:.2f} us" for (peer, variant), seconds in kann.items()]
    for note in ["", *notes] if notes else []:
        print(note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
