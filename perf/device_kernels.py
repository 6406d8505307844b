#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiler made of the device's kernels: registers, stack, spills, static shared memory, 64-bit divisions.

Usage: perf/device_kernels.py LOG LIBRARY [--write]

LOG: what a build printed with NVCC_APPEND_FLAGS="-Xptxas -v" (./bootstrap keeps it in its folder of
logs). LIBRARY: what it built, libzygos_ops.a; divisions are counted in its machine code (device_code.py),
those in inner loops once more: loops within the one over a kernel's elements or teams. Instances of one
kernel (element types, tiles) are one row, with the largest figures. Ends with 1 for a kernel of ours that
perf/device_kernels.md does not list, for one that spills registers, for one whose functor Kokkos copies to
constant memory before each launch, and for one with more registers, stack, shared memory or divisions than listed there. --write makes that table from log and library.

Scratch memory of teams is given at launch; that it fits is asserted where the kernels are
(max_team_scratch in src/ops/common/launch.hpp).
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

import device_code

LISTED = pathlib.Path(__file__).with_suffix(".md")
ENTRY = re.compile(r"Compiling entry function '(?P<name>\S+)' for '(?P<arch>\w+)'")
PROPERTIES = re.compile(r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads")
USED = re.compile(r"Used (?P<registers>\d+) registers(?:.*?(?P<shared>\d+) bytes smem)?")
# The first name of ours in a demangled one: a functor, or the function that a lambda stands in.
OURS = re.compile(r"\bzygos::((?:\w+::|\(anonymous namespace\)::)*)(\w+)")
# Kokkos' global functions for functors that are not the kernel's argument.
COPIED = re.compile(r"cuda_parallel_launch_(?:constant|global)_memory<")
# Registers that another version of the compiler may take more.
SLACK = 16
HEAD = ["kernel", "instances", "registers", "stack, B", "static shared, B", "64-bit divisions", "in inner loops"]


class Row(NamedTuple):
    instances: int
    registers: int
    stack: int
    shared: int
    spills: int
    divisions: int = 0
    inner_divisions: int = 0

    def joined(self, other):
        return Row(self.instances + other.instances, *(max(pair) for pair in zip(self[1:], other[1:])))


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def short(name):
    """`ops::conv2d_add_up`, without what names of templates and unnamed namespaces bring along; empty if not ours."""
    # Lambdas: the function's address follows its type, which names other things of ours.
    start = name.find("&") if "__nv_dl_tag" in name or "__nv_hdl" in name else name.find("ParallelFor<")
    found = OURS.search(name, max(start, 0)) or OURS.search(name)
    if not found:
        return ""
    path = found[1].replace("(anonymous namespace)::", "").replace("detail::", "")
    return path + found[2]


def rows_of(text):
    """Row by name, and the architecture."""
    kernels, arch, current = [], "", None
    for line in text.splitlines():
        if entry := ENTRY.search(line):
            current, arch = {"name": entry["name"]}, entry["arch"]
        elif current is not None and (properties := PROPERTIES.search(line)):
            current.update(properties.groupdict())
        elif current is not None and (used := USED.search(line)):
            kernels.append((current["name"], Row(1, int(used["registers"]), int(current.get("stack", 0)), int(used["shared"] or 0),
                                                 int(current.get("stores", 0)) + int(current.get("loads", 0)))))
            current = None
    rows = {}
    for name, (_, row) in zip(demangled([kernel[0] for kernel in kernels]), kernels):
        key = short(name)
        if key:
            rows[key] = rows[key].joined(row) if key in rows else row
    return dict(sorted(rows.items())), arch


def copied(text):
    """Names of kernels whose functor is copied before each launch."""
    names = demangled([entry["name"] for entry in map(ENTRY.search, text.splitlines()) if entry])
    return {short(name) for name in names if COPIED.search(name) and short(name)}


def with_divisions(rows, counts):
    """`counts`: of device_code.divisions(). Ends the script for a row that it has no kernel of."""
    most = {}
    for name, found in zip(demangled(list(counts)), counts.values()):
        key = short(name)
        most[key] = tuple(map(max, found, most.get(key, found)))
    if missing := sorted(set(rows) - set(most)):
        sys.exit(f"{missing[0]} is in the log but not in the library; give the library that the build of this log made")
    return {name: row._replace(divisions=most[name][0], inner_divisions=most[name][1]) for name, row in rows.items()}


def table(rows, arch):
    lines = ["# Device kernels", "",
             f"What nvcc made of them for {arch}, the largest figures of all instances: `python3 perf/device_kernels.py LOG LIBRARY --write`.",
             "None spills registers. A division of 64-bit integers is a call of some 70 instructions; inner loops are those within the loop over",
             "a kernel's elements or teams. `.ci/run` compares each build with this table.", "", "| " + " | ".join(HEAD) + " |",
             "| --- " * len(HEAD) + "|"]
    lines += [f"| {name} | {row.instances} | {row.registers} | {row.stack} | {row.shared} | {row.divisions} | {row.inner_divisions} |"
              for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def listed(text):
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(HEAD) and cells[1].isdigit():
            figures = [int(cell) for cell in cells[1:]]
            found[cells[0]] = Row(*figures[:4], 0, *figures[4:])
    return found


def faults_of(rows, known, copies):
    for name in sorted(copies):
        yield f"{name}: Kokkos copies its functor before each launch, which no CUDA graph can have; launch it with functor_as_argument(policy)"
    for name, row in rows.items():
        if row.spills > 0:
            yield f"{name}: {row.spills} bytes of spilled registers; allowed are none: sum less at a time, or launch fewer threads"
        if name not in known:
            yield f"{name}: not in {LISTED.name}; look at its figures, and add it with --write"
        elif row.registers > known[name].registers + SLACK or row.stack > known[name].stack or row.shared > known[name].shared:
            yield (f"{name}: {row.registers} registers, {row.stack} bytes of stack, {row.shared} of shared memory; listed are "
                   f"{known[name].registers}, {known[name].stack} and {known[name].shared}")
        elif row.divisions > known[name].divisions or row.inner_divisions > known[name].inner_divisions:
            yield (f"{name}: {row.divisions} divisions of 64-bit integers, {row.inner_divisions} of them in inner loops; listed are "
                   f"{known[name].divisions} and {known[name].inner_divisions}: divide 32-bit numbers, or go on from the last index")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    log = given.log.read_text(errors="replace")
    rows, arch = rows_of(log)
    if not rows:
        sys.exit(f"{given.log}: found no kernel; build with NVCC_APPEND_FLAGS='-Xptxas -v', from scratch")
    try:
        rows = with_divisions(rows, device_code.divisions(given.library.read_bytes()))
    except device_code.Unreadable as error:
        sys.exit(f"{given.library}: {error}")
    if given.write:
        LISTED.write_text(table(rows, arch))
    faults = list(faults_of(rows, listed(LISTED.read_text()) if LISTED.exists() else {}, copied(log)))
    print("\n".join(faults) if faults else f"{len(rows)} kernels, {sum(row.instances for row in rows.values())} instances, as listed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
