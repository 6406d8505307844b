#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Commits checkpoints into file systems of 1 to 16 MiB that are full, nearly full, or have no entries left for files.

A commit either succeeds or is an I/O error (exit 5) that leaves the checkpoint before as it was and nothing else; once space is free again, the
next one succeeds. The file systems are mounted in a name space of this process; where that is not permitted, the program ends with 77.

    python3 tests/crash/full_disk.py [--program build/host/tests/commit_once]
"""
import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import PROGRAMS, Record  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_USERS, PRIVATE = 0x00020000, 0x10000000, 0x44000  # MS_REC | MS_PRIVATE
PAGE = 4096


def own_mounts():
    """Whether this process may mount; only it sees what it mounts."""
    user, group = os.getuid(), os.getgid()
    if LIBC.unshare(NEW_MOUNTS) != 0:
        if LIBC.unshare(NEW_MOUNTS | NEW_USERS) != 0:
            return False
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    return LIBC.mount(None, b"/", None, PRIVATE, None) == 0


class FullDisk:
    def __init__(self, program, folder):
        self.program, self.disk = str(program), pathlib.Path(folder)
        self.store, self.ballast = self.disk / "store", self.disk / "ballast"
        self.record = Record()

    def mount(self, options):
        return LIBC.mount(b"tmpfs", os.fsencode(self.disk), b"tmpfs", 0, options.encode()) == 0

    def unmount(self):
        if LIBC.umount(os.fsencode(self.disk)) != 0:
            raise OSError(ctypes.get_errno(), "umount")

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=120)

    def commit_into(self, what, size, prepare, options=""):
        """A disk with one checkpoint, then `prepare()`, a commit, and another one without what was prepared."""
        if not self.mount(options):
            raise OSError(ctypes.get_errno(), "mount")
        assert self.run("write", self.store, 1, size).returncode == 0
        prepare()
        outcome = self.run("write", self.store, 2, size)
        newest, entries = self.run("verify", self.store).stdout.strip(), sorted(os.listdir(self.store))
        self.ballast.unlink(missing_ok=True)
        LIBC.mount(None, os.fsencode(self.disk), None, 32, b"size=64m,nr_inodes=1000")  # MS_REMOUNT
        again = [self.run("write", self.store, 3, size).returncode, self.run("verify", self.store).stdout.strip()]
        self.unmount()
        good = (outcome.returncode, newest, entries) in ((5, "1 old", ["step-000001"]), (0, "2 old", ["step-000001", "step-000002"]))
        holds = good and again == [0, "3 old"]
        self.record.add(f"{what}, {'done' if outcome.returncode == 0 else 'refused'}",
                        None if holds else f"ended with {outcome.returncode} {outcome.stderr.strip()}, {newest} of {entries}, then {again}")

    def require_both(self, what):
        """Of the commits some have to be refused and some not, or it was not tried what is to be tried."""
        if not all(self.record.tried[f"{what}, {how}"] for how in ("done", "refused")):
            self.record.bad[what].append("all commits or none were refused")

    def fill(self, left):
        """Leaves so many bytes of the disk free."""
        facts = os.statvfs(self.disk)
        with open(self.ballast, "wb") as file:
            for _ in range(facts.f_bavail - left // PAGE):
                file.write(b"\1" * PAGE)

    def space(self, mebibytes):
        size = (mebibytes << 20) // 4
        lefts = [size * sixteenth // 16 for sixteenth in range(0, 17, 8)] + [size + pages * PAGE for pages in range(0, 36, 6)]
        what = f"disk of {mebibytes} MiB"
        for left in lefts:
            self.commit_into(what, size, lambda left=left: self.fill(left), f"size={mebibytes}m")
        self.require_both(what)

    def entries(self, mebibytes):
        """A checkpoint is a folder and three files; the disk and the store are a folder each."""
        what = "disk with 0 to 5 entries left for files"
        for further in range(6):
            self.commit_into(what, 1000, lambda: None, f"size={mebibytes}m,nr_inodes={6 + further}")
        self.require_both(what)


def try_all(program):
    """A record of full disks of each size. This process has its own view of mounts afterwards."""
    folder = tempfile.mkdtemp()
    try:
        tests = FullDisk(program, folder)
        if not own_mounts() or not tests.mount("size=1m"):
            tests.record.missing("mount", "mounting a small file system is not permitted here")
            return tests.record
        tests.unmount()
        for mebibytes in (1, 2, 4, 8, 16):
            tests.space(mebibytes)
        tests.entries(4)
    finally:
        os.rmdir(folder)
    return tests.record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=PROGRAMS / "commit_once")
    try_all(parser.parse_args().program).end()


if __name__ == "__main__":
    main()
