# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a unity build of any sources of a module compiles: no two of them give one name to things of their own.

    python3 unity_names.py ROOT

A unity build puts several sources into one translation unit, and which ones depends on the preset's list of sources. What
an unnamed namespace holds must therefore differ by name (functions: by name and parameter types) within a module. Tests
share translation units, too, those of a device all of them: each file test_X.cpp has a namespace test_X.
Prints one line per fault, `file:line: what`, and exits 1 if there is any.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)\s*$")
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:\[\[\w+\]\]\s+)?(\w+)\s*(?:final\s*)?(?::[^:].*)?$", re.S)
FUNCTION = re.compile(r"([\w~:]+|operator\s*\S+)\s*\((.*)\)\s*(?:const|noexcept|requires.*|->.*|\s)*$", re.S)
VARIABLE = re.compile(r"[\w>\]&*]\s+[&*]*(\w+)\s*(?:\[[^\]]*\])*\s*$")
# Compiled source by source (tests/docs, tests/install, tests/crash; src/ops/CMakeLists.txt: kernels of the host).
SEPARATE = {("tests", "docs"), ("tests", "install"), ("tests", "crash")}
TEMPLATE = re.compile(r"^\s*template\s*<")


def without_noise(text):
    """The text with comments, literals and directives blanked; line breaks stay."""
    return NOISE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)


def split_outside_brackets(text):
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def parameter_types(parameters):
    types = [re.sub(r"\s*=.*", "", part, flags=re.S).strip() for part in split_outside_brackets(parameters)]
    return ", ".join(" ".join(re.sub(r"(?<=[\s&*>])\w+(\[\])?$", "", kind).split()) for kind in types)


def name_of(head, end):
    """What a declaration's head, which `end` follows, defines; None if that is nothing that may be defined only once."""
    if TEMPLATE.match(head):
        depth, at = 0, head.index("<")
        while at < len(head):
            depth += (head[at] == "<") - (head[at] == ">" and head[at - 1] != "-")
            at += 1
            if depth == 0:
                break
        inner = name_of(head[at:], end)
        return inner and "template " + inner
    if end == "{" and (match := TYPE.search(head)):
        return match[1]
    if end == "{" and (match := FUNCTION.search(head)):
        return f"{match[1]}({parameter_types(match[2])})"
    if end in "={;" and "(" not in head and (match := VARIABLE.search(head)) and not re.search(r"\b(using|namespace|struct|class|enum|friend)\b", head):
        return match[1]
    return None


def own_names(text):
    """(namespace, name, line) of what unnamed namespaces of a source hold."""
    text = without_noise(text)
    found, spaces, depth, begin = [], [], 0, 0
    head_done = False
    for at, c in enumerate(text):
        if depth == 0 and c in "{=;" and not head_done:
            head = text[begin:at]
            space = NAMESPACE.search(head) if c == "{" else None
            if space:
                spaces.append(space[1])
                begin = at + 1
                continue
            name = name_of(head, c) if "" in spaces else None
            if name:
                line = text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
                found.append(("::".join(space for space in spaces if space), name, line))
            head_done = True
        if c == "{":
            depth += 1
        elif c == "}" and depth == 0:
            spaces.pop()
            begin, head_done = at + 1, False
        elif c == "}":
            depth -= 1
            if depth == 0:
                follows = text[at + 1:].lstrip()[:1]
                if follows not in (";", ",", ")"):
                    begin, head_done = at + 1, False
        elif c == ";" and depth == 0:
            begin, head_done = at + 1, False
    return found


def faults(root):
    seen = defaultdict(list)
    for path in sorted([*root.glob("src/*/**/*.cpp"), *root.glob("policies/*.cpp"), *root.glob("tests/*/**/*.cpp")]):
        file = path.relative_to(root)
        if file.parts[:2] in SEPARATE or (file.parts[:2] == ("src", "ops") and "host" in file.parts):
            continue
        module = file.parts[1] if file.parts[0] == "src" else file.parts[0]
        for space, name, line in own_names(path.read_text()):
            seen[module, space, name].append(f"{file}:{line}")
    for (_, _, name), places in sorted(seen.items()):
        for place in places[1:]:
            if place.rsplit(":", 1)[0] != places[0].rsplit(":", 1)[0]:
                yield f"{place}: {name} is also what {places[0]} calls a thing of its own: a unity build of both fails"


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)
