#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""From "everything fits" to "refused": what `memory_plan: auto` makes of smaller and smaller budgets of an emulated device (E25, E28).
For every budget: what was chosen, step time predicted (from a profile of this machine) and measured (medians of a run), planned and used
bytes, and the weights after the run, which have to be those of the run without a budget. Prints the table of docs/memory.md; ends with 1
if weights differ, or a category is further off than 2 %.

    python3 perf/memory_sweep.py
    python3 perf/memory_sweep.py --decks unet --steps 40
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from running import ROOT, ZYGOS, json_of

DECKS = {
    "unet": [],
    "memory_plan": [],
}
LINK = "link: {bandwidth: 12 GB/s, latency: 10 us}"


def words_for(deck, budget_mib, threads, steps):
    memory = "" if budget_mib is None else f"memory: {budget_mib} MiB, "
    batch = {"unet": 8, "memory_plan": 12}[deck]
    return [
        str(ROOT / "inputs" / f"{deck}.yaml"),
        f"lanes={{device: {{kind: emulated, threads: {threads}, {memory}{LINK}}}}}",
        "policy={type: single, lane: device}",
        "memory_plan.activations=auto",
        f"train={{steps: {steps}, batch: {batch}, evaluate_every: never, report_every: never}}",
    ]


def checked(zygos, words):
    done = subprocess.run([zygos, "check", *words], capture_output=True, text=True, check=False)
    chosen = [line.split(":", 1)[1].replace("(memory_plan)", "").strip()
              for line in done.stdout.splitlines() if line.startswith("memory ") and "activations:" in line]
    return done.returncode, chosen[0] if chosen else "everything kept", done.stderr.strip()


def worst_error(summary):
    planned, used = summary["planned_bytes"], summary["peak_bytes"]
    errors = [abs(planned[lane][name] / bytes - 1.0) if bytes else float(planned[lane][name] > 0)
              for lane, taken in used.items() for name, bytes in taken.items()]
    return max(errors)


def row(zygos, deck, budget, arguments):
    words = words_for(deck, budget, arguments.threads, arguments.steps)
    code, chosen, error = checked(zygos, words)
    if code != 0:
        return None, error
    with tempfile.TemporaryDirectory() as folder:
        return (chosen, json_of(zygos, "train", *words, "--run-dir", str(pathlib.Path(folder) / "run"))), None


def sweep(zygos, deck, arguments):
    kept, _ = row(zygos, deck, None, arguments)
    whole = kept[1]["planned_bytes"]["device"]["total"] / 2**20
    expected, failed = kept[1]["weights_xxh64"], False
    for percent in [None, *range(100, 0, -arguments.percent)]:
        budget = None if percent is None else int(whole * percent / 100) + (percent == 100)
        found, error = row(zygos, deck, budget, arguments)
        if found is None:
            print(f"| `{deck}` | {budget} | refused: {error.split('auto finds')[-1].split('. Raise')[0].strip()} | | | | | |")
            break
        chosen, summary = found
        predicted = ((summary.get("gain") or {}).get("step_s") or {}).get("predicted")
        measured = summary["median_step_s"]
        same = summary["weights_xxh64"] == expected
        wrong = worst_error(summary)
        failed = failed or not same or wrong > 0.02
        said = f"{1e3 * predicted:.1f}" if predicted else "-"
        ratio = "-" if not predicted else f"{100 * (predicted / measured - 1):+.1f} %"
        print(f"| `{deck}` | {budget or 'none'} | {chosen} | {said} | {1e3 * measured:.1f} | {ratio} | "
              f"{summary['peak_bytes']['device']['total'] / 2**20:.1f} | {100 * wrong:.2f} % | {'yes' if same else 'NO'} |", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--decks", nargs="+", default=list(DECKS), choices=list(DECKS))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--percent", type=int, default=10, help="of all bytes, from one budget to the next")
    arguments = parser.parse_args()
    print("| deck | budget, MiB | activations | predicted, ms | measured, ms | error | used, MiB | memory off by | same weights |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    return int(any([sweep(arguments.zygos, deck, arguments) for deck in arguments.decks]))


if __name__ == "__main__":
    sys.exit(main())
