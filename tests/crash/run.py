#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Everything in this folder, with one table of what was tried and what was lost; progress goes to stderr. Ends with 1 if anything was lost.

    python3 tests/crash/run.py [--quick] [--build build/host] [--allocations N] [--seed N]

--quick tries what ctest does (minutes in place of an hour or so). Needs strace, and leave to mount small file systems: what cannot be tried is said.
"""
import argparse
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import full_disk  # noqa: E402
import powercut  # noqa: E402
import short_writes  # noqa: E402
import starved_run  # noqa: E402
import sweep  # noqa: E402
from support import ROOT, Record  # noqa: E402


def parts(build, quick, allocations, seed):
    """Name and function of each, with the numbers of CMakeLists.txt if `quick`."""
    programs = build / "tests"
    commit = programs / "commit_once"
    every = {"points": 17, "kills": 50, "bytes": 500} if quick else {"points": 1, "kills": 1000, "bytes": 16}
    return [("commit", lambda: sweep.try_all(commit, every["points"], every["kills"], seed)),
            ("run", lambda: starved_run.try_all(build / "bin/zygos", programs / "libstarve.so", allocations or (701 if quick else 29))),
            ("power cut", lambda: powercut.try_all(programs, 2000, 1)),
            ("power cut", lambda: powercut.self_test(programs, 8, 1, ["files"])),
            ("power cut", lambda: powercut.self_test(programs, 20, 1, ["folders"])),
            ("short write", lambda: short_writes.try_all(commit, programs / "libobstruct.so", every["bytes"])),
            # The last one: it changes which mounts this process sees.
            ("full disk", lambda: full_disk.try_all(commit))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="try what ctest does")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/host", help="where bin/zygos and tests/commit_once are")
    parser.add_argument("--allocations", type=int, help="let every n-th allocation of a run fail (29; with --quick 701; 1 takes hours)")
    parser.add_argument("--seed", type=int, default=sweep.random_seed(), help="of random kills")
    arguments = parser.parse_args()
    record, begin = Record(), time.monotonic()
    for part, attempt in parts(arguments.build.resolve(), arguments.quick, arguments.allocations, arguments.seed):
        print(f"--- {part}, after {time.monotonic() - begin:.0f} s", file=sys.stderr)
        try:
            record.take(part, attempt())
        except Exception:  # The other parts are worth trying; this one is not as it should be.
            traceback.print_exc()
            record.bad[part, "ended before all was tried"].append(traceback.format_exc(limit=-1))
    record.end()


if __name__ == "__main__":
    main()
