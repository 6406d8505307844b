#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The time of 4,000 iterations of Caffe's cifar10_quick against the batch (E06): steps of `inputs/cifar10_quick.yaml` at batches of 10 to 800,
and the straight line of least squares through them with R2. Published: 0.378 B + 7.55 s on a GPU, 10.1 B - 4.3 s on a CPU, 393 samples/s
there at batch 100. Prints time, samples per second, the line's value and, with --accuracy, the accuracy after 4,000 iterations at batches of
10, 50 and 100 (published: rising). Criteria: R2 above 0.99, samples/s at batch 100 above 393. Without --cifar10 drawn digits of that size stand in.

    python3 perf/experiments/cifar_batches.py --cifar10 FOLDER --accuracy
    python3 perf/experiments/cifar_batches.py --quick
    python3 perf/experiments/cifar_batches.py --lane '{kind: device}'        on a machine with a GPU
"""
import argparse
import statistics
import sys

from experiment import ROOT, ZYGOS, json_of, straight_line, trained

ITERATIONS = 4000
BATCHES = [10, 50, 100, 200, 400, 800]
WITH_ACCURACY = [10, 50, 100]
PUBLISHED_RATE = 393.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--cifar10", help="folder of CIFAR-10's binary files")
    parser.add_argument("--lane", default="{kind: host}", help="as a deck has it ({kind: host})")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--steps", type=int, help="of each batch and round (50; with --quick 5)")
    parser.add_argument("--rounds", type=int, help="all batches in turn (3; with --quick 1)")
    parser.add_argument("--accuracy", action="store_true", help="train, too: minutes")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    steps = arguments.steps or (5 if arguments.quick else 50)
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    data = f"data.folder={arguments.cifar10}" if arguments.cifar10 else "data={format: glyphs, size: 32, channels: 3, samples: 10000, test_samples: 1000}"
    words = [str(ROOT / "inputs/cifar10_quick.yaml"), data, f"lanes={{lane: {arguments.lane}}}"]
    seconds = {batch: [] for batch in arguments.batches}
    for _ in range(rounds):
        for batch, values in seconds.items():
            bench = ["bench", *words, f"train.batch={batch}", "--steps", str(steps), "--warmup", "2"]
            values.append(json_of(arguments.zygos, *bench)["median_step_s"])
    times = {batch: ITERATIONS * statistics.median(values) for batch, values in seconds.items()}
    slope, intercept, r2 = straight_line(list(times.items()))
    print(f"| batch | {ITERATIONS:,} iterations | of the line | samples/s | test accuracy |")
    print("| --- | --- | --- | --- | --- |")
    for batch, time in times.items():
        accuracy = ""
        if arguments.accuracy and batch in WITH_ACCURACY:
            train = f"train={{steps: {ITERATIONS}, batch: {batch}, evaluate_every: never, report_every: 1000 steps}}"
            accuracy = f"{100 * trained(arguments.zygos, *words, train)[0]['test_accuracy']:.2f} %"
        print(f"| {batch} | {time:.4g} s | {100 * (slope * batch + intercept) / time:.1f} % | {batch * ITERATIONS / time:.0f} | {accuracy} |", flush=True)
    print(f"\nt = {slope:.4g} B + {intercept:.3g} s, R2 = {r2:.5f} ({'met' if r2 > 0.99 else 'missed'}: above 0.99).", end="")
    if 100 in times:
        rate = 100 * ITERATIONS / times[100]
        print(f" {rate:.0f} samples/s at batch 100 ({'met' if rate >= PUBLISHED_RATE else 'missed'}: {PUBLISHED_RATE:.0f}).", end="")
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
