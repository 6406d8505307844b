#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Do wide registers or short numbers change what is learnt (experiment E24)? Trains one deck from the same
seed in float64, in float32 without and with the processor's widest registers, and in bf16; draws the losses
and prints the table of docs/precision.md.

    python3 perf/precision_curves.py --narrow OTHER/build/host/bin/zygos --plot docs/precision.svg

OTHER is a second clone, built by `ZYGOS_HOST_ARCH=x86-64 ./bootstrap build host`: SSE2, four floats a
register and no fused multiply-add. Its OpenBLAS is told to do the same. Drawing needs matplotlib, which is
installed from the package index into an environment of its own on first use.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from plotting import draw
from running import ROOT, ZYGOS

EVERY = 10  # steps between two points


def runs_of(arguments):
    """Name, executable, precision and what is added to the environment."""
    runs = [("float64", arguments.zygos, "float64", {}), ("float32", arguments.zygos, "float32", {})]
    if arguments.narrow:
        runs.append(("float32, SSE2", arguments.narrow, "float32", {"OPENBLAS_CORETYPE": "Prescott"}))
    return [*runs, ("bf16", arguments.zygos, "bf16", {})]


def train(executable, deck, precision, extra):
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        words = [executable, "train", deck, "--quiet", "--run-dir", str(run), f"precision={precision}",
                 f"train.report_every={EVERY} steps"]
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **extra})
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        summary = json.loads((run / "summary.json").read_text())
    return [(line["step"], line["loss"]) for line in lines if line["kind"] == "train"], summary


def smooth(losses, width=10):
    """Means of the last `width` points: a report is the loss of EVERY batches, and noisy."""
    return [statistics.fmean(losses[max(0, i - width + 1): i + 1]) for i in range(len(losses))]


DRAW = """
figure, (above, below) = plot.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")
reference = dict(map(tuple, data["float64"]))
for name, points in data.items():
    steps = [step for step, _ in points]
    above.plot(steps, [loss for _, loss in points], label=name, linewidth=1)
    if name != "float64":
        below.plot(steps, [abs(loss - reference[step]) + 1e-12 for step, loss in points], label=name, linewidth=1)
above.set_yscale("log")
above.set_ylabel("training loss")
above.legend()
below.set_yscale("log")
below.set_ylabel("|loss - loss in float64|")
below.set_xlabel("step")
below.legend()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--narrow", help="an executable for plain x86-64")
    parser.add_argument("--deck", default=str(ROOT / "inputs/lenet5.yaml"))
    parser.add_argument("--plot", help="where the picture goes (SVG)")
    arguments = parser.parse_args()
    curves = {}
    print("| arithmetic | loss, last 100 steps | largest distance from float64 | test accuracy | a step | memory |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, executable, precision, extra in runs_of(arguments):
        points, summary = train(executable, arguments.deck, precision, extra)
        smoothed = smooth([loss for _, loss in points])
        curves[name] = list(zip([step for step, _ in points], smoothed))
        reference = [loss for _, loss in curves["float64"]]
        distance = max(abs(loss - other) for loss, other in zip(smoothed, reference))
        memory = sum(place["total"] for place in summary["peak_bytes"].values()) / 2**20
        print(f"| {name} | {smoothed[-1]:.4f} | {distance:.1e} | {100 * summary['test_accuracy']:.2f} % | "
              f"{1e3 * summary['median_step_s']:.3g} ms | {memory:.3g} MiB |", flush=True)
    if arguments.plot:
        draw(DRAW, curves, arguments.plot)


if __name__ == "__main__":
    main()
