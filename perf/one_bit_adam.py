#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Does 1-bit Adam learn what Adam learns, and does it move the bytes of its formula? Trains MNIST and, given a text, a small GPT
on two lanes with Adam, with Adam whose variance is frozen but whose exchange is exact, and with one bit an element, without and with refreshes
of the variance. Prints test losses of several seeds, and the bytes that a run reports beside those of the formula. The learning rate follows a cosine.
Target: 1-bit Adam is not more than 1 % above Adam, and moves the bytes of the formula.

    python3 perf/one_bit_adam.py [--text PATH/tinyshakespeare.txt]
"""
import argparse
import pathlib
import statistics
import tempfile

from running import ROOT, ZYGOS, json_of

LANES = "lanes={first: {kind: emulated, threads: 1}, second: {kind: emulated, threads: 1}}"
BLOCK = 1024  # elements that share a magnitude
ALIGNMENT = 16  # of chunks, in elements
FLOAT = 4


def step_bytes(elements, lanes):
    """Of a compressed step: 2 (N - 1) messages for each of N chunks of the gradient, which is one bucket here."""
    units = -(-elements // ALIGNMENT)
    ends = [min(elements, units * chunk // lanes * ALIGNMENT) for chunk in range(lanes + 1)]
    chunks = [end - begin for begin, end in zip(ends, ends[1:])]
    return 2 * (lanes - 1) * sum(FLOAT * -(-chunk // BLOCK) + -(-chunk // 8) for chunk in chunks)


def exact_steps(steps, freeze, refresh):
    """Steps without compression: those of the freeze, and `refresh` at each distance of 1, 2, 4, ... steps behind it."""
    exact, step, distance = min(steps, freeze), freeze, 1
    while refresh and step < steps:
        for _ in range(refresh):
            step += distance
            exact += step <= steps
        distance *= 2
    return exact


def formula(summary, lanes, freeze, refresh):
    """Bytes between lanes in a whole run."""
    moved = summary["moved_bytes"]
    # The flat gradient has gaps between parameters, which travel too.
    elements = moved["exact_step"] // (2 * (lanes - 1) * FLOAT)
    assert summary["parameters"] <= elements < 1.02 * summary["parameters"] + 1024
    exact = exact_steps(summary["steps"], freeze, refresh)
    return exact * moved["exact_step"] + (summary["steps"] - exact) * step_bytes(elements, lanes)


def trained(zygos, deck, *overrides):
    with tempfile.TemporaryDirectory() as folder:
        return json_of(zygos, "train", deck, "--run-dir", str(pathlib.Path(folder) / "run"), *overrides)


def report(zygos, name, deck, rate, length, seeds, overrides):
    """A row for each way: after how many steps the variance is frozen, how often it is refreshed, and what is exchanged."""
    schedule = f"schedule: {{type: cosine, length: {length} steps}}"

    def one_bit(freeze, refresh):
        return f"optimizer={{type: one_bit_adam, learning_rate: {rate}, freeze: {freeze}, refresh: {refresh}, {schedule}}}"

    fifth, tenth = length // 5, length // 10
    exact, compressed = "policy={type: data_parallel}", "policy={type: one_bit_adam}"
    ways = [("Adam", None, None, exact), ("variance frozen", fifth, 0, exact), ("variance refreshed", fifth, 8, exact),
            ("1-bit Adam", fifth, 0, compressed), ("1-bit Adam, refreshed", fifth, 8, compressed),
            ("1-bit Adam, refreshed", tenth, 16, compressed)]
    adam_loss = None
    for way, freeze, refresh, policy in ways:
        optimizer = one_bit(freeze, refresh) if freeze else f"optimizer={{type: adam, learning_rate: {rate}, {schedule}}}"
        runs = [trained(zygos, deck, LANES, "checkpoint={every: never}", f"seed={seed}", *overrides, optimizer, policy)
                for seed in range(1, seeds + 1)]
        losses = [run["test_loss"] for run in runs]
        loss = statistics.mean(losses)
        adam_loss = adam_loss or loss
        moved = runs[0]["moved_bytes"]["run"]
        expected = f"{formula(runs[0], 2, freeze, refresh):,}" if policy == compressed else "-"
        print(f"| {name} | {way} | {runs[0]['steps']:,} | {freeze or '-'} | {'-' if refresh is None else refresh} | {min(losses):.4f} to {max(losses):.4f} | "
              f"{100 * (loss / adam_loss - 1):+.2f} % | {moved:,} | {expected} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--text", help="a text to train the small GPT on")
    parser.add_argument("--steps", type=int, default=600, help="of the GPT")
    parser.add_argument("--seeds", type=int, default=3, help="of MNIST")
    parser.add_argument("--rate", type=float, default=0.001, help="learning rate of MNIST")
    options = parser.parse_args()
    print("| deck | optimizer | steps | freeze | refresh | test loss | mean, from Adam's | bytes moved | formula |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    report(options.zygos, "`mnist_mlp`", str(ROOT / "inputs/mnist_mlp.yaml"), options.rate, 3000, options.seeds,
           ["train={epochs: 5, batch: 100, evaluate_every: 5 epochs}"])
    if options.text:
        report(options.zygos, "`gpt_char`", str(ROOT / "inputs/gpt_char.yaml"), 0.001, options.steps, 1,
               [f"data.file={options.text}",
                f"train={{steps: {options.steps}, batch: 12, evaluate_every: {options.steps} steps}}"])


if __name__ == "__main__":
    main()
