#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""A multilayer perceptron for 100 epochs of MNIST on both spaces, with loss curves (E01): `inputs/mnist_mlp.yaml` (784-128-10, Adam at 0.001,
batch 100) on the host, on the device and split between them. Prints the loss of some epochs, the accuracy, the time of an epoch and the
split's gain beside 1 + s_slow / s_fast, and a verdict on each criterion: the training loss falls in means of five epochs (as long as it is
above 0.0001), the bits of host and emulated device are equal, at least 97.5 % of the test set.

    python3 perf/experiments/mlp_curves.py --plot curves.svg
    python3 perf/experiments/mlp_curves.py --quick
    python3 perf/experiments/mlp_curves.py --device '{kind: device}' --threads 16       on a machine with a GPU
"""
import argparse
import sys

from experiment import ROOT, ZYGOS, draw, trained

BATCHES = 600  # of an epoch
NOISE = 1e-4  # a loss that no longer matters
SHOWN = [1, 2, 5, 10, 20, 50, 100]

DRAW = """
figure, axes = plot.subplots(1, 2, figsize=(9, 4), sharex=True, layout="constrained")
for name, curve in data.items():
    for axis, column in zip(axes, (1, 2)):
        axis.plot([point[0] for point in curve], [point[column] for point in curve], label=name, linewidth=1)
for axis, title in zip(axes, ("training loss", "test loss")):
    axis.set_yscale("log")
    axis.set_xlabel("epoch")
    axis.set_ylabel(title)
axes[0].legend()
"""


def curve_of(metrics):
    """Epoch, mean training loss of the epoch, test loss behind it."""
    losses, curve = {}, []
    for line in metrics:
        if line["kind"] == "train":
            losses.setdefault((line["step"] - 1) // BATCHES + 1, []).append(line["loss"])
        elif line["kind"] == "test":
            epoch = line["step"] // BATCHES
            curve.append((epoch, sum(losses[epoch]) / len(losses[epoch]), line["test_loss"]))
    return curve


def falls(curve, epochs=5):
    """Whether the loss falls in means of so many epochs; if not, where it first rises, and from what to what."""
    means = [sum(point[1] for point in curve[begin:begin + epochs]) / epochs for begin in range(0, len(curve) - epochs + 1, epochs)]
    for i, (earlier, later) in enumerate(zip(means, means[1:]), 1):
        if later >= earlier and later >= NOISE:
            return f"NO: epochs {i * epochs + 1} to {(i + 1) * epochs}, {earlier:.2g} to {later:.2g}"
    return "yes"


def runs_of(arguments):
    host, device = f"host: {{kind: host, threads: {arguments.threads}}}", f"device: {arguments.device}"
    yield "host", [f"lanes={{{host}}}", "policy=single"]
    yield "device", [f"lanes={{{device}}}", "policy=single"]
    yield "split", [f"lanes={{{host}, {device}}}", "policy={type: coarse_split, share: " + arguments.share + "}"]


def said(holds):
    return "yes" if holds else "NO"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--epochs", type=int, help="(100; with --quick 5)")
    parser.add_argument("--threads", type=int, default=1, help="of the host (1)")
    parser.add_argument("--device", default="{kind: emulated, threads: 1}", help="the second lane, as a deck has it")
    parser.add_argument("--share", default="0.5", help="of the host in the split (0.5), or auto")
    parser.add_argument("--plot", help="where the picture goes (SVG)")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    epochs = arguments.epochs or (5 if arguments.quick else 100)
    train = f"train={{epochs: {epochs}, batch: 100, report_every: 60 steps, evaluate_every: 1 epoch}}"
    curves, summaries = {}, {}
    for name, words in runs_of(arguments):
        summaries[name], metrics = trained(arguments.zygos, str(ROOT / "inputs/mnist_mlp.yaml"), *words, train, "checkpoint.every=never")
        curves[name] = curve_of(metrics)
    shown = [epoch for epoch in SHOWN if epoch <= epochs]
    print("| lanes | " + " | ".join(f"loss, epoch {epoch}" for epoch in shown) + " | falls | test accuracy | an epoch | weights |")
    print("| --- " * (len(shown) + 5) + "|")
    for name, curve in curves.items():
        summary = summaries[name]
        print(f"| {name} | " + " | ".join(f"{curve[epoch - 1][1]:.5f}" for epoch in shown) + f" | {falls(curve)} | "
              f"{100 * summary['test_accuracy']:.2f} % | {BATCHES * summary['median_step_s']:.3g} s | {summary['weights_xxh64']} |")
    seconds = {name: summary["median_step_s"] for name, summary in summaries.items()}
    fast, slow = sorted((seconds["host"], seconds["device"]))
    equal = summaries["host"]["weights_xxh64"] == summaries["device"]["weights_xxh64"]
    enough = all(summary["test_accuracy"] >= 0.975 for summary in summaries.values())
    distance = abs(curves["host"][0][1] / curves["device"][0][1] - 1.0)
    print(f"\nSplit over the faster lane: {fast / seconds['split']:.3f}x, at most 1 + s_slow / s_fast = {1 + fast / slow:.3f}. Host and device: equal bits "
          f"{said(equal)}, losses of the first epoch {distance:.1e} apart. At least 97.5 %: {said(enough) if epochs >= 20 else 'too few epochs'}.")
    if arguments.plot:
        draw(DRAW, curves, arguments.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
