#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Step time of data_parallel with exchange chunked_broadcast over the number of chunks, on emulated links.

Usage: perf/chunked_broadcast.py [--steps N] [--zygos PROGRAM] [--deck DECK] [--chunks 1,2,4] [WORDS]

For every link all numbers of chunks are compared in one `zygos compare`, in rounds, and the number that `chunks: auto` takes is asked for.
Predicted and measured: the step, and the time by which weights that come late delay forward passes.
"""
import argparse

from running import ROOT, ZYGOS, json_of

LINKS = ["{bandwidth: 12 GB/s, latency: 10 us}", "{bandwidth: 1 GB/s, latency: 20 us}", "{bandwidth: 250 MB/s, latency: 20 us}",
         "{bandwidth: 1 GB/s, latency: 1 ms}"]


def rows_of(options, link):
    words = [options.deck, f"lanes.first.link={link}", f"lanes.second.link={link}", *options.words]
    policies = ",".join(f"data_parallel:chunks={chunks}" for chunks in options.chunks)
    rows = json_of(options.zygos, "compare", *words, "--policies", policies, "--steps", str(options.steps), "--fresh-profile", "--quiet")["rows"]
    tasks = json_of(options.zygos, "schedule", *words, "--measured", "--quiet")["tasks"]  # by the same profile
    chosen = sum(task["name"].startswith("broadcast@first weights") for task in tasks)
    return [row for row in rows if row["policy"].startswith("data_parallel")], chosen


def milliseconds(pair):
    return f"{pair['predicted'] * 1e3:.2f} / {pair['measured'] * 1e3:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--deck", default=str(ROOT / "inputs/chunked_broadcast.yaml"))
    parser.add_argument("--chunks", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2, 3, 4, 5])
    parser.add_argument("words", nargs="*", help="overrides of the deck: train.batch=512")
    options = parser.parse_args()
    print("| link | chunks | step, ms | exposed broadcast, ms | |\n| --- | --- | --- | --- | --- |")
    for link in LINKS:
        rows, chosen = rows_of(options, link)
        best = min(rows, key=lambda row: row["step_s"]["measured"])
        for chunks, row in zip(options.chunks, rows):
            marks = (["auto"] if chosen == chunks else []) + (["fastest"] if row is best else [])
            print(f"| {link.strip('{}')} | {chunks} | {milliseconds(row['step_s'])} | {milliseconds(row['exposed_broadcast_s'])} | {', '.join(marks)} |")


if __name__ == "__main__":
    main()
