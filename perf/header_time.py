#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How long a file takes to compile that includes one header and nothing else.

Usage: perf/header_time.py [HEADER...] [--rounds N] [--limit SECONDS]

A C++ header is measured against <Kokkos_Core.hpp>, which every program that uses it includes anyway,
a C header against an empty file. Each round compiles all of them once, one after the other and in
turn; a time is the compiler's own processor time (user and system), so that a busy machine changes
little. Medians over the rounds; "beyond" is the median of the differences within a round. Flags are
those of a source of build/host that uses Kokkos (compile_commands.json). Exits 1 if a header is over
the limit.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ["zygos/infer/model.hpp", "zygos/insitu/surrogate.hpp", "zygos/insitu/ensemble.hpp",
           "zygos/load/model.hpp", "zygos/zygos.h", "zygos/zygos_insitu.h"]
KOKKOS = "Kokkos_Core.hpp"
NOTHING = ""


def flags_of(build):
    """Of a source of the insitu module: compiler, and flags without those of input and output."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if "zygos_insitu.dir" not in entry["command"]:
            continue
        while not os.path.basename(words[0]).startswith(("g++", "c++", "clang++")):
            words.pop(0)  # a launcher such as ccache, which would measure itself
        return [word for i, word in enumerate(words)
                if word not in ("-c", "-o", "-Werror") and words[i - 1] not in ("-c", "-o")]
    sys.exit(f"{build}/compile_commands.json has no source of insitu; configure the preset host")


def is_c(header):
    return header.endswith(".h") or header == NOTHING


def command_of(header, flags):
    if is_c(header):
        return ["cc", "-std=c99", "-O3", *(word for word in flags if word.startswith("-I"))]
    return flags


def seconds_of(command, source, output):
    """Processor time of one compilation."""
    before = os.times()
    pid = os.spawnvp(os.P_NOWAIT, command[0], [*command, "-c", source, "-o", output])
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        sys.exit(f"failed: {shlex.join(command)} -c {source}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(headers, flags, rounds):
    """By header: its times, one a round."""
    times = {header: [] for header in [KOKKOS, NOTHING, *headers]}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for header, own in times.items():
                source = pathlib.Path(folder, "one.c" if is_c(header) else "one.cpp")
                source.write_text(f"#include <{header}>\n" if header else "", encoding="utf-8")
                own.append(seconds_of(command_of(header, flags), str(source), folder + "/one.o"))
            print(f"round {number + 1}/{rounds}", file=sys.stderr)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("headers", nargs="*", default=HEADERS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/host")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=3.0)
    options = parser.parse_args()
    flags = flags_of(options.build)
    times = measure(options.headers, flags, options.rounds)
    print("| header | seconds | beyond | by seconds |\n| --- | --- | --- | --- |")
    print(f"| `{KOKKOS}` | {statistics.median(times[KOKKOS]):.2f} | | |")
    worst = 0.0
    for header in options.headers:
        base = NOTHING if is_c(header) else KOKKOS
        beyond = statistics.median(a - b for a, b in zip(times[header], times[base]))
        worst = max(worst, beyond)
        print(f"| `{header}` | {statistics.median(times[header]):.2f} | "
              f"{'Kokkos' if base else 'an empty file'} | {beyond:.2f} |")
    if worst > options.limit:
        sys.exit(f"a header takes {worst:.2f} s; {options.limit:g} are allowed")


if __name__ == "__main__":
    main()
