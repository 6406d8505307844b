#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""From "everything fits" to "refused": what `memory_plan: auto` makes of smaller and smaller budgets of an emulated device (E25, E28).
For every budget: what was chosen, step time predicted (from a profile of this machine) and measured (medians of a run), planned and used
bytes, and the weights after the run, which have to be those of the run without a budget; medians of rounds in turn. Prints the table of docs/memory.md; ends with 1
if weights differ, or a category is further off than 2 %.

    python3 perf/memory_sweep.py --plot docs/memory_sweep.svg
    python3 perf/memory_sweep.py --decks unet --steps 40
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from plotting import draw
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


def trained(zygos, words):
    with tempfile.TemporaryDirectory() as folder:
        # Each prediction from a profile of the minute in which the run is measured.
        return json_of(zygos, "train", *words, "--fresh-profile", "--run-dir", str(pathlib.Path(folder) / "run"))


def budgets_of(zygos, deck, arguments):
    """None (no budget), then MiB from "everything fits" down to the last that is not refused, with what is chosen for each; and the refusal."""
    words = words_for(deck, None, arguments.threads, 1)
    whole = trained(zygos, words)["planned_bytes"]["device"]["total"] / 2**20
    budgets = {None: "everything kept"}
    for percent in range(100 - arguments.percent, 0, -arguments.percent):
        budget = int(whole * percent / 100)
        code, chosen, error = checked(zygos, words_for(deck, budget, arguments.threads, 1))
        if code != 0:
            return budgets, f"| `{deck}` | {budget} | refused: {error.split('auto finds')[-1].split('. Raise')[0].strip()} | | | | | | |"
        budgets[budget] = chosen
    return budgets, ""


def sweep(zygos, deck, arguments):
    """Rounds in turn, so that a machine that drifts hits all budgets alike."""
    budgets, refusal = budgets_of(zygos, deck, arguments)
    runs = {budget: [] for budget in budgets}
    for _ in range(arguments.rounds):
        for budget in budgets:
            runs[budget].append(trained(zygos, words_for(deck, budget, arguments.threads, arguments.steps)))
    expected, failed, points = runs[None][0]["weights_xxh64"], False, []
    for budget, chosen in budgets.items():
        predicted = [((one.get("gain") or {}).get("step_s") or {}).get("predicted") for one in runs[budget]]
        predicted = 1e3 * statistics.median(predicted) if all(predicted) else None
        measured = 1e3 * statistics.median(one["median_step_s"] for one in runs[budget])
        same = all(one["weights_xxh64"] == expected for one in runs[budget])
        wrong = max(map(worst_error, runs[budget]))
        used = runs[budget][0]["peak_bytes"]["device"]["total"] / 2**20
        failed = failed or not same or wrong > 0.02
        ratio = f"{100 * (predicted / measured - 1):+.1f} %" if predicted else "-"
        print(f"| `{deck}` | {budget or 'none'} | {chosen} | {f'{predicted:.1f}' if predicted else '-'} | {measured:.1f} | {ratio} | "
              f"{used:.1f} | {100 * wrong:.2f} % | {'yes' if same else 'NO'} |", flush=True)
        points.append([budget or used, predicted, measured, used])
    print(refusal, flush=True)
    return failed, points


DRAW = """
figure, axes = plot.subplots(2, len(data), figsize=(9, 5), sharex="col", squeeze=False, layout="constrained")
for column, (deck, points) in enumerate(data.items()):
    points.sort()
    budgets = [point[0] for point in points]
    times, bytes = axes[0][column], axes[1][column]
    times.plot(budgets, [point[2] for point in points], "o-", label="measured")
    times.plot(*zip(*[(point[0], point[1]) for point in points if point[1]]), "x--", label="predicted")
    times.set_ylim(bottom=0)
    times.set_title(deck)
    bytes.plot(budgets, [point[3] for point in points], "o-", label="used")
    bytes.plot(budgets, budgets, ":", color="grey", label="budget")
    bytes.set_ylim(bottom=0)
    bytes.set_xlabel("budget of the device, MiB")
axes[0][0].set_ylabel("a step, ms")
axes[1][0].set_ylabel("device memory, MiB")
for row in axes:
    row[0].legend()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--decks", nargs="+", default=list(DECKS), choices=list(DECKS))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", help="where the picture goes (SVG); needs matplotlib, which is installed into an environment of its own")
    parser.add_argument("--percent", type=int, default=10, help="of all bytes, from one budget to the next")
    arguments = parser.parse_args()
    print("| deck | budget, MiB | activations | predicted, ms | measured, ms | error | used, MiB | memory off by | same weights |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    found = {deck: sweep(arguments.zygos, deck, arguments) for deck in arguments.decks}
    if arguments.plot:
        draw(DRAW, {deck: points for deck, (_, points) in found.items()}, arguments.plot)
    return int(any(failed for failed, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
