# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What a disk may hold after a power cut: a model of a POSIX file system that promises no more than the standard does.

A file's bytes are on the disk once fsync of the file has returned, a folder's entries once fsync of the folder has. Of what was done since then
anything may be there: of a file's writes none, all or a part, with zeros or other bytes in a place whose write is missing while the length is
right; of the changes of a folder every subset in the order in which they were made, whatever became of the files they name. A rename is atomic for
each of its two names, but may have added the new one without removing the old one.
"""
import dataclasses
import itertools
import os
import random

FOLDER, FILE = "folder", "file"


@dataclasses.dataclass
class Change:
    """Of a folder: entries after it, by name; None for one that is gone. `parts`: what of it may survive alone."""
    begun: int
    ended: int
    entries: dict
    parts: list


@dataclasses.dataclass
class Write:
    """Of a file: bytes at an offset, or with data None a new length."""
    begun: int
    ended: int
    offset: int
    data: bytes


class Node:
    def __init__(self, kind):
        self.kind = kind
        self.durable = {} if kind == FOLDER else b""  # entries or bytes
        self.entries = {}  # of a folder: as a running program sees them
        self.length = 0  # of a file: likewise
        self.pending = []


def written(data, write):
    if write.data is None:
        return data[:write.offset].ljust(write.offset, b"\0")
    return data.ljust(write.offset, b"\0")[:write.offset] + write.data + data[write.offset + len(write.data):]


class Disk:
    """Follows the calls of a program below the folder `base`, whose contents at the start are on the disk."""

    def __init__(self, base, ignore=()):
        self.base, self.ignore = os.fsencode(base), set(ignore)
        self.root = self.load(self.base)
        self.opened = {}  # by descriptor: node and position

    def load(self, path):
        node = Node(FOLDER if os.path.isdir(path) else FILE)
        if node.kind == FOLDER:
            node.durable = {name: self.load(os.path.join(path, name)) for name in sorted(os.listdir(path))}
            node.entries = dict(node.durable)
        else:
            with open(path, "rb") as file:
                node.durable = file.read()
            node.length = len(node.durable)
        return node

    def new_process(self):
        self.opened = {}

    def place(self, folder, path):
        """The folder of a path and the name in it; None outside of the base."""
        if path.startswith(b"/"):
            if not path.startswith(self.base + b"/"):
                return None
            node, parts = self.root, path[len(self.base):].split(b"/")
        else:
            if folder == "AT_FDCWD" or folder not in self.opened:
                return None
            node, parts = self.opened[folder][0], path.split(b"/")
        parts = [part for part in parts if part]
        for part in parts[:-1]:
            node = node.entries[part]
        return (node, parts[-1]) if parts else None

    # ------------------------------------------------------------ calls

    def apply(self, call):
        """Follows a call. Raises NotImplementedError for one that changes files in a way that is not modelled."""
        method = getattr(self, "on_" + call.name, None)
        if method is None:
            raise NotImplementedError(call.name)
        method(call, *call.words)

    def change(self, call, folder, entries, parts):
        folder.entries.update(entries)
        folder.entries = {name: node for name, node in folder.entries.items() if node is not None}
        folder.pending.append(Change(call.begun, call.ended, entries, parts))

    def on_openat(self, call, folder, path, flags, *_):
        place = self.place(folder, path)
        if path.rstrip(b"/") == self.base:
            self.opened[str(call.result)] = [self.root, 0]
        elif place:
            parent, name = place
            if name not in parent.entries:
                assert "O_CREAT" in flags, (path, flags)
                self.change(call, parent, {name: Node(FILE)}, [])
            node = parent.entries[name]
            if "O_TRUNC" in flags and node.length:
                self.cut(call, node, 0)
            self.opened[str(call.result)] = [node, node.length if "O_APPEND" in flags else 0]
        else:
            self.opened.pop(str(call.result), None)

    def on_open(self, call, path, flags, *rest):
        self.on_openat(call, "AT_FDCWD", path, flags, *rest)

    def on_close(self, _, descriptor):
        self.opened.pop(descriptor, None)

    def on_dup(self, call, descriptor, *_):
        self.opened.pop(str(call.result), None)
        if descriptor in self.opened:
            self.opened[str(call.result)] = self.opened[descriptor]

    on_dup2 = on_dup3 = on_dup

    def put(self, call, node, offset, data):
        node.length = max(node.length, offset + len(data))
        node.pending.append(Write(call.begun, call.ended, offset, data))

    def cut(self, call, node, length):
        node.length = length
        node.pending.append(Write(call.begun, call.ended, length, None))

    def on_write(self, call, descriptor, data, *_):
        if descriptor in self.opened:
            node, position = self.opened[descriptor]
            self.put(call, node, position, data[:call.result])
            self.opened[descriptor][1] += call.result

    def on_pwrite64(self, call, descriptor, data, _, offset):
        if descriptor in self.opened:
            self.put(call, self.opened[descriptor][0], int(offset), data[:call.result])

    def on_writev(self, call, descriptor, *words):
        data = b"".join(word for word in words if isinstance(word, bytes))
        self.on_write(call, descriptor, data)

    def on_ftruncate(self, call, descriptor, length):
        if descriptor in self.opened:
            self.cut(call, self.opened[descriptor][0], int(length))

    def on_fsync(self, call, descriptor, *_):
        if descriptor not in self.opened:
            return
        node = self.opened[descriptor][0]
        if node.kind in self.ignore:
            return
        # Of what was done while it ran, nothing is promised.
        done = [one for one in node.pending if one.ended < call.begun]
        for one in done:
            if node.kind == FOLDER:
                node.durable = {name: entry for name, entry in {**node.durable, **one.entries}.items() if entry is not None}
            else:
                node.durable = written(node.durable, one)
        node.pending = node.pending[len(done):]

    on_fdatasync = on_fsync

    def on_mmap(self, call, _address, _length, protection, flags, descriptor, *_):
        if "PROT_WRITE" in protection and "MAP_SHARED" in flags and descriptor in self.opened:
            raise NotImplementedError("a file that is written through memory")

    def on_renameat2(self, call, folder, old, other_folder, new, flags="0"):
        source, target = self.place(folder, old), self.place(other_folder, new)
        if not source and not target:
            return
        assert source and target, "renamed across the border of the folder"
        (a, name), (b, other) = source, target
        node, former = a.entries[name], b.entries.get(other)
        exchange = "RENAME_EXCHANGE" in flags
        added, removed = {other: node}, {name: former if exchange else None}
        if a is b:
            self.change(call, a, {**added, **removed}, [added, removed] if exchange else [added])
        else:
            self.change(call, b, added, [])
            self.change(call, a, removed, [])

    def on_rename(self, call, old, new):
        self.on_renameat2(call, "AT_FDCWD", old, "AT_FDCWD", new)

    def on_renameat(self, call, folder, old, other_folder, new):
        self.on_renameat2(call, folder, old, other_folder, new)

    def on_unlinkat(self, call, folder, path, *_):
        if place := self.place(folder, path):
            self.change(call, place[0], {place[1]: None}, [])

    def on_unlink(self, call, path):
        self.on_unlinkat(call, "AT_FDCWD", path)

    on_rmdir = on_unlink

    def on_mkdirat(self, call, folder, path, *_):
        if place := self.place(folder, path):
            self.change(call, place[0], {place[1]: Node(FOLDER)}, [])

    def on_mkdir(self, call, path, *_):
        self.on_mkdirat(call, "AT_FDCWD", path)

    # ------------------------------------------------------------ power cuts

    def states(self, limit, seed):
        """What the disk may hold now: all of it, or with more than `limit` combinations a sample with the extremes. As trees: {name: tree or
        bytes}."""
        choices = []
        self.collect(self.root, choices, set())
        number = 1
        for _, options in choices:
            number *= len(options)
        if number <= limit:
            picks = itertools.product(*(options for _, options in choices))
        else:
            picks = self.sampled([options for _, options in choices], limit, random.Random(seed))
        for pick in picks:
            yield self.tree(self.root, {id(node): held for (node, _), held in zip(choices, pick)})

    @staticmethod
    def sampled(options, limit, chance):
        yield [one[0] for one in options]
        yield [one[-1] for one in options]
        for _ in range(limit - 2):
            yield [chance.choice(one) for one in options]

    def collect(self, node, choices, seen):
        """Every node with pending changes below this one, reached by any entry that may survive, with what it may hold: first nothing new, last
        all."""
        if id(node) in seen:
            return
        seen.add(id(node))
        options = self.folder_options(node) if node.kind == FOLDER else file_options(node)
        if len(options) > 1:
            choices.append((node, options))
        if node.kind == FOLDER:
            for entries in options:
                for below in entries.values():
                    self.collect(below, choices, seen)

    @staticmethod
    def folder_options(node):
        options = [node.durable]
        for change in node.pending:
            unique = {}
            for way in ({}, *change.parts, change.entries):
                for held in options:
                    held = {name: entry for name, entry in {**held, **way}.items() if entry is not None}
                    unique[tuple(sorted((name, id(entry)) for name, entry in held.items()))] = held
            options = list(unique.values())
        return options

    def tree(self, node, held):
        mine = held.get(id(node))
        if node.kind == FILE:
            return node.durable if mine is None else mine
        entries = node.durable if mine is None else mine
        return {name: self.tree(below, held) for name, below in sorted(entries.items()) if below is not None}


def file_options(node):
    """The bytes a file may have: every subset of its writes, each cut and with what a file system shows in place of bytes that never came."""
    if not node.pending:
        return [node.durable]
    whole = node.durable
    options = [node.durable]
    for write in node.pending:
        if write.data:
            half = len(write.data) // 2
            options.append(written(whole, dataclasses.replace(write, data=write.data[:half])))
            options.append(written(whole, dataclasses.replace(write, data=b"\0" * len(write.data))))
            options.append(written(whole, dataclasses.replace(write, data=write.data[:half] + b"\xa5" * (len(write.data) - half))))
        whole = written(whole, write)
        options.append(whole)
    for left_out in range(len(node.pending) - 1):
        data = node.durable
        for number, write in enumerate(node.pending):
            data = data if number == left_out else written(data, write)
        options.insert(-1, data)
    return list(dict.fromkeys(options))
