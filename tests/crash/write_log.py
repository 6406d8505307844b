# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Records what a program does to files: its system calls with their data, by strace, as a list of Call."""
import codecs
import dataclasses
import re
import subprocess

CALLS = ["open", "openat", "creat", "close", "dup", "dup2", "dup3", "write", "pwrite64", "writev", "pwritev", "pwritev2", "truncate", "ftruncate",
         "fallocate", "copy_file_range", "sendfile", "splice", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync", "mmap", "rename", "renameat",
         "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir"]
BEGINNING = re.compile(r"(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
RESULT = re.compile(r"(.*)\)\s+= (-?\d+|\?)([^=]*)$", re.DOTALL)
TOKEN = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?|[^,\s\[\]{}"]+|[\[\]{}]')


@dataclasses.dataclass
class Call:
    name: str
    words: list  # bytes for a string, text for all else; brackets are left out
    result: int
    begun: int  # number of the line in the log where it begins, and where it has returned
    ended: int


def words_of(text):
    words = []
    for match in TOKEN.finditer(text):
        if match[1] is not None:
            if match[2]:
                raise ValueError("strace has cut a string short")
            words.append(codecs.decode(match[1].replace("\\x", ""), "hex"))
        elif match[0] not in "[]{}":
            words.append(match[0])
    return words


def parse(lines):
    """Calls that have returned without an error, in the order of their returns."""
    open_calls, calls = {}, []
    for number, line in enumerate(lines):
        if match := RESUMED.match(line):
            begun, head = open_calls.pop((match[1], match[2]))
            name, text = match[2], head + match[3]
        elif match := BEGINNING.match(line):
            begun, name, text = number, match[2], match[3]
            if text.rstrip().endswith("<unfinished ...>"):
                open_calls[match[1], name] = number, text.rsplit("<unfinished ...>", 1)[0]
                continue
        else:
            continue  # signals, and the ends of threads
        result = RESULT.match(text)
        if result and result[2] != "?" and int(result[2]) >= 0:
            calls.append(Call(name, words_of(result[1]), int(result[2]), begun, number))
    return calls


def record(command, log, inject=()):
    """Runs a command; its calls and its exit code."""
    options = ["-f", "-qq", "-xx", "-s", "1000000000", "-o", str(log), "-e", "trace=" + ",".join(CALLS), "-e", "signal=none"]
    for one in inject:
        options += ["-e", "inject=" + one]
    outcome = subprocess.run(["strace", *options, *map(str, command)], capture_output=True, text=True, timeout=120)
    with open(log, encoding="ascii", errors="replace") as lines:
        return parse(lines), outcome
