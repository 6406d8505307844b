#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What a training step keeps in memory, by category: what `zygos check` says before a run against what
`zygos train` took, of every lane of five decks (experiment E24). Prints the table of docs/memory.md and
ends with 1 if a category is further off than 2 %.

    python3 perf/footprint.py
    python3 perf/footprint.py --decks lenet5 gpt_char --text FILE
"""
import argparse
import pathlib
import re
import sys
import tempfile

from running import ROOT, ZYGOS, json_of

# With what a profile would choose said outright: two runs on a busy machine may choose differently.
DECKS = {
    "mnist_mlp": ["policy={type: coarse_split, share: 0.5}"],
    "lenet5": [],
    "unet": [],
    "gpt_char": [],
    "gpipe": ["policy={type: gpipe, micro_batches: 8, recompute: always, cuts: [dense3]}"],
}
CATEGORIES = ["inputs", "weights", "activations", "gradients", "optimizer_state", "stash", "workspace", "communication"]
TOLERANCE = 0.02
MARKOV = "data={format: tokens, sequence: 64, vocabulary: 65}"


def short_run(checked):
    """The override that makes three steps of the deck's batch out of its training."""
    batch = re.search(r"^train:\n(?:  .*\n)*?  batch: (\d+)", checked["resolved"], re.MULTILINE).group(1)
    return f"train={{steps: 3, batch: {batch}}}"


def measured(zygos, words):
    with tempfile.TemporaryDirectory() as folder:
        return json_of(zygos, "train", *words, "--run-dir", str(pathlib.Path(folder) / "run"))["peak_bytes"]


def text_of(count):
    return "-" if count == 0 else f"{count / 2**20:.3g}"


def off(predicted, taken):
    if predicted == taken:
        return 0.0
    return abs(predicted / taken - 1.0) if taken else float("inf")


def rows_of(name, before, after):
    """A row per lane, and the worst error of any category."""
    rows, worst = [], 0.0
    for lane, taken in after.items():
        said = before[lane]
        errors = [off(said[category], taken[category]) for category in [*CATEGORIES, "total"]]
        worst = max(worst, *errors)
        cells = [text_of(taken[category]) for category in [*CATEGORIES, "total"]]
        rows.append(f"| `{name}` | {lane} | {' | '.join(cells)} | {100 * max(errors):.2f} % |")
    return rows, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--decks", nargs="+", default=list(DECKS))
    parser.add_argument("--text", help="file for gpt_char, which else learns a Markov chain")
    arguments = parser.parse_args()
    print(f"| deck | lane | {' | '.join(CATEGORIES)} | total, MiB | predicted off by |".replace("_", " "))
    print("| --- | --- |" + " --- |" * (len(CATEGORIES) + 2))
    worst = 0.0
    for name in arguments.decks:
        words = [str(ROOT / "inputs" / f"{name}.yaml"), *DECKS.get(name, [])]
        if name == "gpt_char":
            words.append(f"data.file={arguments.text}" if arguments.text else MARKOV)
        checked = json_of(arguments.zygos, "check", *words)
        taken = measured(arguments.zygos, [*words, short_run(checked)])
        rows, error = rows_of(name, checked["peak_bytes"], taken)
        worst = max(worst, error)
        print("\n".join(rows), flush=True)
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
