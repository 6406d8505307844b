#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""PipeDream with averages of its stashed weights beside plain stashing, two versions (2BW) and SGD (E19): the model of
`inputs/pipedream.yaml` cut into a stage for each of 4 lanes, on MNIST. SGD has batches of one micro-batch, so all but 2BW update as often;
2BW updates once for every 4 micro-batches. Averages are taken at the end of every P-th step of 16 micro-batches, P = 1 to 4. Prints accuracy
after the first epoch and at the end (mean and standard deviation over seeds), the time of an epoch and the memory of the first stage's lane.

    python3 perf/experiments/weight_averaging.py
    python3 perf/experiments/weight_averaging.py --quick
"""
import argparse
import statistics
import sys

from experiment import ROOT, ZYGOS, trained

MICRO_BATCHES = 16
FILES = {"train": "train", "test": "t10k"}
DATA = "data={format: idx, " + ", ".join(
    f"{key}: {{images: data/mnist/{name}-images-idx3-ubyte.gz, labels: data/mnist/{name}-labels-idx1-ubyte.gz}}" for key, name in FILES.items()) + "}"
LANE = "{kind: emulated, threads: 1, link: {bandwidth: 12 GB/s, latency: 10 us}}"
LANES = [f"lanes={{{', '.join(f'stage{stage}: {LANE}' for stage in range(4))}}}"]
CUTS = "cuts: [dense2, dense3, dense4]"


def rows_of(batch):
    """Name, samples of a step, policy."""
    yield "SGD", batch // MICRO_BATCHES, "single"
    yield "PipeDream, stashed weights", batch, f"{{type: pipedream, micro_batches: {MICRO_BATCHES}, {CUTS}}}"
    yield "PipeDream-2BW", batch, f"{{type: pipedream_2bw, updates: {MICRO_BATCHES // 4}, accumulate: 4, {CUTS}}}"
    for period in range(1, 5):
        yield (f"averaged, P = {period}", batch,
               f"{{type: pipedream, micro_batches: {MICRO_BATCHES}, average: {period} steps, {CUTS}}}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--epochs", type=int, help="(10; with --quick 1)")
    parser.add_argument("--seeds", type=int, help="(3; with --quick 1)")
    parser.add_argument("--batch", type=int, default=512, help="samples of 16 micro-batches (512)")
    parser.add_argument("--rate", type=float, default=0.05, help="learning rate of SGD (0.05)")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    epochs = arguments.epochs or (1 if arguments.quick else 10)
    seeds = arguments.seeds or (1 if arguments.quick else 3)
    print("| method | accuracy, epoch 1 | at the end | test loss at the end | an epoch | first stage's lane |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, batch, policy in rows_of(arguments.batch):
        early, late, losses, seconds = [], [], [], []
        for seed in range(1, seeds + 1):
            train = f"train={{epochs: {epochs}, batch: {batch}, evaluate_every: 1 epoch, report_every: never}}"
            summary, metrics = trained(arguments.zygos, str(ROOT / "inputs/pipedream.yaml"), DATA, *LANES, f"policy={policy}", train, f"seed={seed}",
                                       f"optimizer={{type: sgd, learning_rate: {arguments.rate}}}", "checkpoint.every=never")
            tests = [line for line in metrics if line["kind"] == "test"]
            early.append(100 * tests[0]["test_accuracy"])
            late.append(100 * summary["test_accuracy"])
            losses.append(summary["test_loss"])
            seconds.append(summary["median_step_s"] * (60000 // batch))
        spread = statistics.stdev(late) if seeds > 1 else 0.0
        print(f"| {name} | {statistics.mean(early):.2f} % | {statistics.mean(late):.2f} +- {spread:.2f} % | {statistics.mean(losses):.4f} | "
              f"{statistics.median(seconds):.3g} s | {summary['peak_bytes']['stage0']['total'] / 2**20:.2f} MiB |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
