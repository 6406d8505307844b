#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Do predictions come true? Runs `zygos compare` for all policies on three decks, two link models and
speeds of 1:1, 1:2 and 1:4, and prints predicted against measured step times and peak memory, and whether
the planner's first choice is within 5 % of the best policy that was measured. Needs a quiet machine.

    python3 perf/predictions.py                 prints the table that perf/results.md holds
    python3 perf/predictions.py --decks residual_mlp --zygos build/host/bin/zygos
"""
import argparse
import statistics

from running import ROOT, ZYGOS, json_of

# With the steps that are measured of each policy: about a second of them.
DECKS = {"gpipe": 40, "residual_mlp": 1000, "mlp_deep": 5}
LINKS = {"free": "{}", "2 GB/s, 50 us": "{bandwidth: 2 GB/s, latency: 50 us}"}
SLOWDOWNS = [1, 2, 4]
POLICIES = [
    "single:lane=first",
    "single:lane=second",
    "coarse_split",
    "layer_placement",
    "gpipe:micro_batches=4",
    "gpipe:micro_batches=4,recompute=always",
    "one_f_one_b:micro_batches=4",
    "data_parallel",
    "data_parallel:exchange=all_reduce",
]


def lanes(link, slowdown):
    def lane(factor):
        return f"{{kind: emulated, threads: 1, link: {LINKS[link]}, slowdown: {factor}}}"

    return f"lanes={{first: {lane(slowdown)}, second: {lane(1)}}}"


def compare(zygos, deck, link, slowdown, steps):
    words = ["compare", str(ROOT / "inputs" / f"{deck}.yaml"), "--steps", str(steps)]
    words += ["--policies", ",".join(POLICIES)]
    words += [lanes(link, slowdown), "policy={type: coarse_split}"]
    return json_of(zygos, *words)


def error(pair):
    return pair["predicted"] / pair["measured"] - 1.0


def total(peak):
    return sum(place["total"] if isinstance(place, dict) else place for place in peak.values())


def memory_error(row):
    peak = row["peak_bytes"]
    if not isinstance(peak, dict) or "measured" not in peak:
        return 0.0
    return total(peak["predicted"]) / total(peak["measured"]) - 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--steps", type=int, help="of each policy (by deck)")
    parser.add_argument("--decks", nargs="+", default=list(DECKS))
    arguments = parser.parse_args()
    errors, memory, hits, cases = [], [], 0, 0
    print("| deck | link | speeds | step time, predicted / measured - 1: median (largest) | first choice | best measured | off by |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for deck in arguments.decks:
        for link in LINKS:
            for slowdown in SLOWDOWNS:
                steps = arguments.steps or DECKS[deck]
                rows = compare(arguments.zygos, deck, link, slowdown, steps)["rows"]
                case = [error(row["step_s"]) for row in rows]
                errors += [abs(value) for value in case]
                memory += [abs(memory_error(row)) for row in rows]
                chosen = min(rows, key=lambda row: row["step_s"]["predicted"])
                best = min(rows, key=lambda row: row["step_s"]["measured"])
                loss = chosen["step_s"]["measured"] / best["step_s"]["measured"] - 1.0
                cases += 1
                hits += loss <= 0.05
                worst = max(case, key=abs)
                print(
                    f"| {deck} | {link} | 1:{slowdown} | {100 * statistics.median(map(abs, case)):.1f} % "
                    f"({100 * worst:+.1f} %) | {chosen['policy']} | {best['policy']} | {100 * loss:.1f} % |",
                    flush=True,
                )
    print()
    print(
        f"Step time: median error {100 * statistics.median(errors):.1f} %, "
        f"{100 * sum(value <= 0.1 for value in errors) / len(errors):.0f} % of {len(errors)} within 10 %. "
        f"Peak memory: largest error {100 * max(memory):.2f} %. "
        f"First choice within 5 % of the best in {hits} of {cases} cases."
    )


if __name__ == "__main__":
    main()
