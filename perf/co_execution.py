#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How much of two lanes' speed does training on both at once reach? s_1 and s_2 are the samples per second of each lane by itself (policy
`single`), s those of both together; the table gives s / (s_1 + s_2) of `coarse_split` with the planner's share and of the fastest other synchronous
policy that the planner predicts. `compare` trains all of them in turn, and the median over the rounds counts. What the machine can give is measured
beside it: two processes that train the deck on a core each, alone and at the same time, without a word to each other. Needs a quiet machine.

    python3 perf/co_execution.py                      mlp_big and cifar10_quick at 1:1, 1:2 and 1:4, unified lanes and lanes with links
    python3 perf/co_execution.py --quick              equal speeds, one round
    python3 perf/co_execution.py --cifar10 FOLDER     cifar10_quick on CIFAR-10's binary files in place of drawn digits
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

from running import LANES, ROOT, ZYGOS, choice, json_of, keyword, lanes

# What both together have to reach.
TARGETS = {"mlp_big": 0.95, "cifar10_quick": 0.90}
DRAWN = "data={format: glyphs, size: 32, channels: 3, samples: 10000, test_samples: 1000}"


def contenders(zygos, words):
    """Each lane alone, the best coarse split, and the best other synchronous policy, as `compare` takes them; and the predicted seconds of all."""
    rows = sorted(json_of(zygos, "plan", *words, "policy=single", "--fresh-profile")["rows"], key=lambda row: row["step_s"]["predicted"])
    split = next(row for row in rows if keyword(row) == "coarse_split")
    others = [row for row in rows if row["synchronous"] and keyword(row) not in ("coarse_split", "single")]
    chosen = [row for row in rows if keyword(row) == "single"] + [split] + others[:1]
    return [choice(row) for row in chosen], sum(row["step_s"]["predicted"] for row in chosen)


def measured(zygos, words, seconds, rounds):
    """Median step time of each policy, in the order of contenders()."""
    times = {}
    for _ in range(rounds):
        chosen, step_s = contenders(zygos, words)
        steps = max(5, int(seconds / step_s))
        rows = json_of(zygos, "compare", *words, "policy=single", "--policies", ",".join(chosen), "--steps", str(steps))["rows"]
        for row in rows:
            name = row["policy"] if keyword(row) == "single" else keyword(row)
            times.setdefault(name, []).append((row["step_s"]["measured"], row["policy"]))
    return [(statistics.median(time for time, _ in of_policy), of_policy[0][1]) for of_policy in times.values() if len(of_policy) == rounds]


def trained_apart(zygos, words, seconds, step_s, cores):
    """Step times of processes that train the deck on a core each, all at once."""
    bench = [zygos, "bench", *words, "lanes={host: {kind: host, threads: 1}}", "policy=single", "--steps", str(max(5, int(seconds / step_s))), "--json"]
    started = [subprocess.Popen(bench, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=lambda core=core: os.sched_setaffinity(0, {core}))
               for core in cores]
    return [json.loads(process.communicate()[0])["median_step_s"] for process in started]


def print_apart(arguments, deck, words, step_s):
    cores = sorted(os.sched_getaffinity(0))[:2]
    alone = [trained_apart(arguments.zygos, words, arguments.seconds, step_s, [core])[0] for core in cores]
    both = trained_apart(arguments.zygos, words, arguments.seconds, step_s, cores)
    reached = sum(1.0 / time for time in both) / sum(1.0 / time for time in alone)
    print(f"| {deck} | two processes |  | {1e3 * alone[0]:.4g} | {1e3 * alone[1]:.4g} | nothing shared but the machine |  | {100 * reached:.1f} % |  |", flush=True)


def data_of(arguments, deck):
    return [f"data.folder={arguments.cifar10}" if arguments.cifar10 else DRAWN] if deck == "cifar10_quick" else []


def print_case(arguments, deck, lane_set, slowdown):
    words = [str(ROOT / "inputs" / f"{deck}.yaml"), *data_of(arguments, deck), lanes(lane_set, slowdown)]
    rows = measured(arguments.zygos, words, arguments.seconds, arguments.rounds)
    alone = [time for time, policy in rows if policy.startswith("single")]
    bound = sum(1.0 / time for time in alone)
    if lane_set == LANES[0] and slowdown == 1:
        print_apart(arguments, deck, words[:-1], alone[0])
    for time, policy in rows:
        if not policy.startswith("single"):
            reached = 1.0 / time / bound
            target = TARGETS.get(deck)
            verdict = "" if target is None else "met" if reached >= target else "missed"
            print(f"| {deck} | {lane_set} | 1:{slowdown} | {1e3 * alone[0]:.4g} | {1e3 * alone[-1]:.4g} | {policy} | {1e3 * time:.4g} | "
                  f"{100 * reached:.1f} % | {verdict} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--decks", nargs="+", default=list(TARGETS), help=f"of inputs/ ({' '.join(TARGETS)})")
    parser.add_argument("--lanes", nargs="+", default=["unified", "links"], choices=LANES)
    parser.add_argument("--speeds", nargs="+", type=int, help="how much slower the first lane is (1 2 4; with --quick 1)")
    parser.add_argument("--rounds", type=int, help="profiles and comparisons of each case (3; with --quick 1)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a comparison, in steps (10)")
    parser.add_argument("--cifar10", help="folder of CIFAR-10's binary files")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    print("| deck | lanes | speeds | one lane, ms | the other, ms | both by | both, ms | of s_1 + s_2 | target |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for deck in arguments.decks:
        for lane_set in arguments.lanes:
            for slowdown in arguments.speeds or ([1] if arguments.quick else [1, 2, 4]):
                print_case(arguments, deck, lane_set, slowdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
