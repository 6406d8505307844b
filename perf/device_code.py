# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""64-bit integer divisions in the kernels of a built library, from its machine code; used by device_kernels.py.

No instruction divides 64-bit integers: the compiler calls a routine of its own, `__cuda_sm20_div_u64` and its
like, of some 70 instructions. The toolkit of a machine that only builds has no disassembler (cuobjdump), so what
matters is read here: the device code (cubin: ELF files within .nv_fatbin), its symbols, calls and branches. A
call that leads to no function, or a branch out of its kernel, is Unreadable: that architecture encodes them in
another way than those from sm_90 on, which this was tried with.
"""

import re
import struct
from typing import NamedTuple

EM_CUDA = 190
STT_FUNC = 2
SHT_SYMTAB = 2
WIDTH = 16  # bytes of an instruction, since sm_70
DIVISION = re.compile(r"__cuda_sm20_(?:div|rem)_[su]64$")
# The low twelve bits of an instruction.
CALL, BRANCH, EXIT, RETURN, INDIRECT = 0x944, 0x947, 0x94D, 0x950, 0x949
ALWAYS = 7  # bits 12 to 15: the predicate, of which 7 is true


class Divisions(NamedTuple):
    all: int
    inner: int  # in loops within the kernel's outermost one, which is over elements or teams


class Unreadable(Exception):
    pass


def text_at(table, offset):
    return table[offset:table.index(b"\0", offset)].decode()


def images(data):
    """Each cubin of an object file, or of an archive of them."""
    at = -1
    while (at := data.find(b"\x7fELF\x02\x01", at + 1)) >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == EM_CUDA:
            yield memoryview(data)[at:]


def sections_of(image):
    """(name, type, bytes, link) of each."""
    table = struct.unpack_from("<Q", image, 40)[0]
    size, number, names_at = struct.unpack_from("<HHH", image, 58)
    heads = [struct.unpack_from("<IIQQQQI", image, table + place * size) for place in range(number)]
    parts = [b"" if head[1] == 8 else bytes(image[head[4]:head[4] + head[5]]) for head in heads]
    return [(text_at(parts[names_at], head[0]), head[1], part, head[6]) for head, part in zip(heads, parts)]


def functions_of(sections):
    """For each section the functions in it, as (offset, name)."""
    found = {}
    for _, kind, symbols, link in sections:
        if kind != SHT_SYMTAB:
            continue
        for at in range(0, len(symbols), 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", symbols, at)
            if info & 15 == STT_FUNC:
                found.setdefault(section, []).append((value, text_at(sections[link][2], name)))
    return found


def target_of(word, at):
    """Of a relative branch or call: a quarter of its distance from the next instruction, in bits 16 to 23 and 34 to 81."""
    quarter = (word >> 16 & 0xFF) | (word >> 34 & (1 << 48) - 1) << 8
    if quarter >> 55:
        quarter -= 1 << 56
    return at + WIDTH + 4 * quarter


def successors(code, functions):
    """Of each instruction, those that may come next; and the calls, as (place, target). `functions`: where some begin."""
    count = len(code) // WIDTH
    nexts, calls, switches = [], [], []
    for place in range(count):
        word = int.from_bytes(code[place * WIDTH:(place + 1) * WIDTH], "little")
        kind, always = word & 0xFFF, word >> 12 & 15 == ALWAYS
        after = [place + 1] if place + 1 < count else []
        if kind in (CALL, BRANCH):
            target = target_of(word, place * WIDTH)
            if target % WIDTH or not 0 <= target < len(code):
                raise Unreadable(f"an instruction leads to {target} of {len(code)} bytes")
            if kind == CALL:
                calls.append((place, target))
            else:
                # A branch's second condition is a register's, or its own predicate of bits 87 to 90.
                always = always and word >> 87 & 15 == ALWAYS
                after = [target // WIDTH] + ([] if always else after)
        elif kind in (EXIT, RETURN):
            after = [] if always else after
        elif kind == INDIRECT:
            switches.append(place)
            after = []
        nexts.append(after)
    # A table of addresses: of what nothing else leads to, behind the kernel's first instruction.
    if switches:
        reached = {0, *functions, *(one for after in nexts for one in after)}
        for place in switches:
            nexts[place] = [one for one in range(count) if one not in reached]
    return nexts, calls


def components(nexts, nodes):
    """Sets of `nodes` that can reach each other, by edges between them (strongly connected: Tarjan, without recursion)."""
    order, low, waiting, within = {}, {}, [], set()

    def enter(node, path):
        order[node] = low[node] = len(order)
        waiting.append(node)
        within.add(node)
        path.append((node, iter(nexts[node])))

    for root in nodes:
        path = []
        if root not in order:
            enter(root, path)
        while path:
            node, rest = path[-1]
            following = next((one for one in rest if one in nodes and (one not in order or one in within)), None)
            if following is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    found = {waiting.pop()}
                    while node not in found:
                        found.add(waiting.pop())
                    within -= found
                    if len(found) > 1 or node in nexts[node]:
                        yield found
            elif following in order:
                low[node] = min(low[node], order[following])
            else:
                enter(following, path)


def inner_places(nexts):
    """The instructions in a loop that is within another one: what is still a loop without the entries of those around it."""
    befores = [[] for _ in nexts]
    for place, after in enumerate(nexts):
        for one in after:
            befores[one].append(place)
    inner = set()
    for loop in components(nexts, set(range(len(nexts)))):
        entries = {place for place in loop if any(one not in loop for one in befores[place])}
        inner.update(*components(nexts, loop - entries))
    return inner


def divisions(data):
    """By kernel, as the compiler names it, of an object file or an archive."""
    found = {}
    for image in images(data):
        sections = sections_of(image)
        functions = functions_of(sections)
        for place, (name, _, code, _) in enumerate(sections):
            if not name.startswith(".text."):
                continue
            names = dict(functions.get(place, []))
            nexts, calls = successors(code, [offset // WIDTH for offset in names])
            if any(target not in names for _, target in calls):
                raise Unreadable(f"{name}: a call leads to no function")
            divides = [at for at, target in calls if DIVISION.search(names[target])]
            if not divides and any(DIVISION.search(one) for one in names.values()):
                raise Unreadable(f"{name}: nobody calls its {', '.join(names.values())}")
            inner = inner_places(nexts) if divides else set()
            counts = Divisions(len(divides), sum(at in inner for at in divides))
            kernel = name.removeprefix(".text.")
            found[kernel] = Divisions(*map(max, counts, found.get(kernel, counts)))
    return found
