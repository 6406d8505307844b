#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Do predicted step times come true for the decks as they are? Runs `zygos compare` with every deck's own
policy for some seconds on a profile measured just before, in several rounds, and prints the round whose
prediction was off by the median: machines drift by more than predictions are off. Needs a quiet machine.

    python3 perf/deck_predictions.py --cifar10 FOLDER --text FILE
    python3 perf/deck_predictions.py --decks lenet5 unet
"""
import argparse
import re
import statistics

from running import ROOT, ZYGOS, json_of

WARM_UP = 3  # steps, for the time of one
SECONDS = 2.0
LEAST_STEPS = 5


def policy_of(deck):
    """The deck's policy as `compare` takes it: type:option=value,option=value"""
    text = (ROOT / "inputs" / f"{deck}.yaml").read_text()
    line = re.search(r"^policy:(.*)\n((?:  .*\n)*)", text, re.M)
    inline, block = line[1].split("#")[0].strip(), line[2]
    if inline and not inline.startswith("{"):
        return inline
    pairs = re.findall(r"(\w+): *(\[[^\]]*\]|[^,}#\n]+)", inline or block)
    options = [f"{name}={value.strip()}" for name, value in pairs if name != "type"]
    return ":".join([dict(pairs)["type"].strip(), ",".join(options)]).rstrip(":")


def steps_for(deck, step_s):
    """Some seconds of them, but no more than the deck trains: what it does behind that is not the deck's."""
    text = (ROOT / "inputs" / f"{deck}.yaml").read_text()
    own = re.search(r"^train:.*?\bsteps: *(\d+)", text, re.M | re.S)
    steps = max(LEAST_STEPS, int(SECONDS / step_s))
    return min(steps, int(own[1])) if own else steps


def compare(zygos, deck, overrides, steps, *options):
    deck_file = str(ROOT / "inputs" / f"{deck}.yaml")
    policy = policy_of(deck)
    rows = json_of(zygos, "compare", deck_file, *overrides, "--policies", policy, "--steps", str(steps),
                   *options)["rows"]
    return next(row for row in rows if row["policy"].startswith(policy.split(":")[0]))


def error_of(row):
    return row["step_s"]["predicted"] / row["step_s"]["measured"] - 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--cifar10", help="folder of CIFAR-10's binary files; without it drawn digits of that size")
    parser.add_argument("--text", help="text for gpt_char; without it that deck is left out")
    parser.add_argument("--decks", nargs="+", default=sorted(p.stem for p in (ROOT / "inputs").glob("*.yaml")))
    parser.add_argument("--rounds", type=int, default=3, help="an odd number (3)")
    arguments = parser.parse_args()
    data = {"cifar10_quick": f"data.folder={arguments.cifar10}" if arguments.cifar10 else
            "data={format: glyphs, size: 32, channels: 3}"}
    if arguments.text:
        data["gpt_char"] = f"data.file={arguments.text}"
    print("| deck | policy | predicted | measured | predicted / measured - 1: median | all |")
    print("| --- | --- | --- | --- | --- | --- |")
    errors = []
    for deck in arguments.decks:
        if deck == "gpt_char" and not arguments.text:
            continue
        overrides = [data[deck]] if deck in data else []
        first = compare(arguments.zygos, deck, overrides, WARM_UP)
        steps = steps_for(deck, first["step_s"]["measured"])
        rows = [compare(arguments.zygos, deck, overrides, steps, "--fresh-profile") for _ in range(arguments.rounds)]
        rows.sort(key=error_of)
        row = rows[len(rows) // 2]
        step = row["step_s"]
        errors.append(error_of(row))
        print(f"| {deck} | {row['policy']} | {1e3 * step['predicted']:.3g} ms | {1e3 * step['measured']:.3g} ms | "
              f"{100 * errors[-1]:+.1f} % | {100 * error_of(rows[0]):+.1f} to {100 * error_of(rows[-1]):+.1f} % |",
              flush=True)
    print()
    print(f"Median error {100 * statistics.median(map(abs, errors)):.1f} %; "
          f"{sum(abs(value) <= 0.1 for value in errors)} of {len(errors)} within 10 %.")


if __name__ == "__main__":
    main()
