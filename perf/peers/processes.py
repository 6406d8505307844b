# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a process of its own: the JSON object it printed, and its peak memory."""

import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A process that ended badly, with the end of what it said."""


def finished(command):
    """Standard output of the command, and its maximal resident set in bytes. The kernel counts the
    moment before the program is loaded, too: the set can't be less than this process's own."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=said)
        with process.stdout:
            printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        end = said.read()[-2000:].decode(errors="replace")
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}\nended with {process.returncode}:\n{end}")
    return printed.decode(), usage.ru_maxrss * 1024


def measured(command):
    """The object the command printed, with "peak_bytes" added."""
    printed, peak_bytes = finished(command)
    return {**json.loads(printed), "peak_bytes": peak_bytes}
