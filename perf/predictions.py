#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Do predictions come true? For every deck, set of lanes and ratio of speeds: `zygos plan` measures the lanes and predicts every policy of
the registry, `zygos compare` then trains each one that can run, with the options that are predicted to be best for it, and the table sets
what was predicted beside what was measured: step time (from the clock of the training loop), peak memory (from what tasks really used), and
the planner's first choice, by predictions alone and after trial runs (`zygos plan --trials`), beside the fastest synchronous policy; (=): slower
in the median, but as fast in one of the five rounds of the comparison. Needs a quiet machine.

    python3 perf/predictions.py                       the table that perf/results.md holds
    python3 perf/predictions.py --quick               equal speeds, one round, a few seconds of steps: under 20 minutes
    python3 perf/predictions.py --decks unet --lanes links --policies
"""
import argparse
import json
import statistics
import subprocess
import sys

from running import LANES, ROOT, ZYGOS, choice, json_of, keyword, lanes

# Changes that make a deck run without a file that is not shipped.
DECKS = {
    "mnist_mlp": [],
    "mlp_deep": [],
    "lenet5": [],
    "unet": [],
    "gpt_char": ["data={format: tokens, sequence: 64, vocabulary: 65, samples: 4000, test_samples: 0}"],
}
LEAST_STEPS, MOST_STEPS = 20, 2000  # in five rounds


def parts(policy):
    """The keyword and the options of a policy's name, which `plan` and `compare` may give in another order."""
    keyword, _, options = policy.removesuffix(")").partition("(")
    return keyword, sorted(options.split(", "))


def registry(zygos):
    schema = json.loads(subprocess.run([zygos, "schema"], capture_output=True, text=True, check=True).stdout)
    # What a deck without `include` may say; after the keywords come variables.
    kinds = schema["else"]["properties"]["policy"]["properties"]["type"]["anyOf"][0]["enum"]
    return [kind for kind in kinds if kind != "auto"]


def can_run(zygos, words, policy):
    return subprocess.run([zygos, "check", *words, f"policy={{type: {policy}}}"], capture_output=True, check=False).returncode == 0


def contenders(zygos, words, policies, trials):
    """What is compared, the planner's first choices without and with trials, why other policies are left out, and the seconds of a step of each."""
    plan = json_of(zygos, "plan", *words, "policy=single", "--fresh-profile")
    tried = json_of(zygos, "plan", *words, "policy=single", "--trials", str(trials))["recommended"]
    best = {}
    first = [next(row for row in plan["rows"] if row["policy"] == name) for name in (plan["recommended"], tried)]
    for row in [first[1], first[0], *sorted(plan["rows"], key=lambda row: row["step_s"]["predicted"])]:
        best.setdefault(row["policy"] if keyword(row) == "single" else keyword(row), row)
    chosen = {keyword(row) for row in best.values()}
    refused = {refusal["policy"].split("(")[0]: refusal["reason"] for refusal in plan["refusals"]}
    # A preset has no candidates of its own.
    presets = [policy for policy in policies if policy not in chosen and policy not in refused]
    possible = [policy for policy in presets if can_run(zygos, words, policy)]
    refused.update({policy: "`zygos check` refuses it on these lanes" for policy in presets if policy not in possible})
    seconds = sum(row["step_s"]["predicted"] for row in best.values())
    reasons = {policy: reason for policy, reason in refused.items() if policy not in chosen}
    for row in first:  # two ways of one policy
        if row not in best.values():
            best[row["policy"]] = row
    return [choice(row) for row in best.values()] + possible, [row["policy"] for row in first], reasons, seconds


def measured_rows(zygos, words, chosen, steps, rounds):
    """The rows of a comparison, each with the median of its rounds, and the policies that were not told apart from the fastest one."""
    runs = [json_of(zygos, "compare", *words, "policy=single", "--policies", ",".join(chosen), "--steps", str(steps)) for _ in range(rounds)]
    rows = {}
    for row in runs[0]["rows"]:
        again = [one["step_s"]["measured"] for run in runs for one in run["rows"] if one["policy"] == row["policy"]]
        row["step_s"]["measured"] = statistics.median(again)
        rows.setdefault(row["policy"], row)
    return list(rows.values()), {name for run in runs for name in [run["recommended"], *run["not_told_apart"]]}


def error(row):
    return row["step_s"]["predicted"] / row["step_s"]["measured"] - 1.0


def memory_error(row):
    """Of the lane where it is largest; None if either side is missing."""
    peak = row.get("peak_bytes")
    if not isinstance(peak, dict) or not peak.get("predicted") or not peak.get("measured"):
        return None
    return max((peak["predicted"].get(lane, 0) / used - 1.0 for lane, used in peak["measured"].items() if used > 0), key=abs, default=0.0)


def print_policies(rows):
    for row in sorted(rows, key=lambda row: row["step_s"]["measured"]):
        memory = memory_error(row)
        used = sum((row.get("peak_bytes", {}).get("measured") or {}).values())
        print(f"|   |  |  | {row['policy']} | {1e3 * row['step_s']['predicted']:.3g} / {1e3 * row['step_s']['measured']:.3g} ms | "
              f"{100 * error(row):+.1f} % | {used / 2**20:.2f} MiB | {'-' if memory is None else f'{100 * memory:+.2f} %'} |")


def case_of(arguments, policies, deck, lane_set, slowdown):
    """Everything that one deck says on some lanes; prints its line."""
    words = [str(ROOT / "inputs" / f"{deck}.yaml"), *DECKS.get(deck, []), lanes(lane_set, slowdown)]
    chosen, first, refused, step_s = contenders(arguments.zygos, words, policies, arguments.trials)
    steps = min(MOST_STEPS, max(LEAST_STEPS, int(arguments.seconds / step_s)))
    rows, alike = measured_rows(arguments.zygos, words, chosen, steps, arguments.rounds)
    errors = [error(row) for row in rows]
    memory = [value for value in map(memory_error, rows) if value is not None]
    fastest = min((row for row in rows if row["synchronous"]), key=lambda row: row["step_s"]["measured"])
    taken = [next(row for row in rows if parts(row["policy"]) == parts(name)) for name in first]
    losses = [row["step_s"]["measured"] / fastest["step_s"]["measured"] - 1.0 for row in taken]
    as_fast = [row["policy"] in alike for row in taken]
    off = [f"{100 * loss:.1f} %{' (=)' if same and loss > 0 else ''}" for loss, same in zip(losses, as_fast)]
    print(f"| {deck} | {lane_set} | 1:{slowdown} | {len(rows)} | {100 * statistics.median(map(abs, errors)):.1f} % ({100 * max(errors, key=abs):+.1f} %) | "
          f"{100 * max(memory, key=abs, default=0.0):+.2f} % | {first[0]} | {off[0]} | {first[1]} | {off[1]} | {fastest['policy']} |", flush=True)
    if arguments.policies:
        print_policies(rows)
        for policy, reason in refused.items():
            print(f"|   |  |  | {policy} | not possible: {reason.splitlines()[0]} |")
    return errors, memory, losses, as_fast


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--decks", nargs="+", default=list(DECKS), help=f"of inputs/ ({' '.join(DECKS)})")
    parser.add_argument("--lanes", nargs="+", default=["unified", "links"], choices=LANES)
    parser.add_argument("--speeds", nargs="+", type=int, help="how much slower the first lane is (1 2 4; with --quick 1)")
    parser.add_argument("--rounds", type=int, help="comparisons of each case, of which the median counts (3; with --quick 1)")
    parser.add_argument("--seconds", type=float, help="of a round of a case, in steps (30; with --quick 10)")
    parser.add_argument("--trials", type=int, default=4, help="ways that the planner tries for its second choice (4)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--policies", action="store_true", help="a line for every policy, too, and why others can't run")
    arguments = parser.parse_args()
    arguments.speeds = arguments.speeds or ([1] if arguments.quick else [1, 2, 4])
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    arguments.seconds = arguments.seconds or (10.0 if arguments.quick else 30.0)
    policies = registry(arguments.zygos)
    print("| deck | lanes | speeds | policies | step time, predicted / measured - 1: median (largest) | peak memory, largest | first choice | off by | after trials | off by | best measured |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    cases = [case_of(arguments, policies, deck, lane_set, slowdown) for deck in arguments.decks for lane_set in arguments.lanes
             for slowdown in arguments.speeds]
    errors = [abs(value) for case in cases for value in case[0]]
    memory = [abs(value) for case in cases for value in case[1]]
    hits = [sum(case[2][way] <= 0.05 for case in cases) for way in (0, 1)]
    alike = [sum(case[2][way] <= 0.05 or case[3][way] for case in cases) for way in (0, 1)]
    print(f"\nStep time: median error {100 * statistics.median(errors):.1f} %, {100 * sum(value <= 0.1 for value in errors) / len(errors):.0f} % of "
          f"{len(errors)} within 10 %. Peak memory: largest error {100 * max(memory, default=0.0):.2f} % of {len(memory)}. "
          f"First choice within 5 % of the best in {hits[0]} of {len(cases)} cases, after trials in {hits[1]}; that or not told apart from it (=) in "
          f"{alike[0]} and {alike[1]}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
