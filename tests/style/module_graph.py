# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a module includes only modules on lower levels, and house rules that can be read off the text.

    python3 module_graph.py ROOT

Prints one line per fault, `file:line: what`, and exits 1 if there is any.
"""

import re
import sys
from pathlib import Path

# docs/architecture.md: modules, bottom to top. Modules on one level do not know each other.
LEVELS = [["core"], ["memory", "deck"], ["lane"], ["tensor"], ["ops", "comm", "io"], ["synthetic"], ["nn"], ["graph"], ["infer", "schedule"],
          ["plan", "insitu"], ["train"], ["measure"], ["policies"], ["load"], ["c"], ["app"]]
LEVEL = {module: level for level, modules in enumerate(LEVELS) for module in modules}
WITHOUT_KOKKOS = {"core", "memory", "deck", "io", "comm", "synthetic", "schedule", "policies"}
# Modules that programs link without the libraries that others need: all that they include.
ALLOWED = {"infer": {"core", "memory", "lane", "tensor", "ops", "nn", "graph"},
           "insitu": {"core", "memory", "deck", "lane", "tensor", "ops", "io", "comm", "nn", "graph", "infer"}}
MAX_FILES = 25  # directly in a folder of src: what one can read off a listing
LICENCE = "SPDX-License-Identifier: Apache-2.0"
SKIP = re.compile(r"\bSKIP\s*\(|\bskipTest\b|unittest\.skip")
SKIPPING = Path("tests/support/skip.hpp")
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
CONDITIONAL = re.compile(r"\s*#\s*if")
FORBIDDEN = [
    (re.compile(r"\bDefault(Host)?ExecutionSpace\b(?!::name\()"), "uses a default execution space; kernels run on their lane's instance"),
    (re.compile(r"\bKokkos::fence\s*\("), "fences globally; that stops every lane"),
]


def module_of(path):
    """The module a file belongs to, from its path below the root; None for tests, examples and the like."""
    parts = path.parts
    if parts[0] == "policies":
        return "policies"
    if parts[:2] == ("include", "zygos") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2 and parts[1] in LEVEL:
        return parts[1]
    return None


def target_of(include):
    """The module an include names, or None if it is not one of ours."""
    parts = Path(include).parts
    if parts[0] == "zygos" and len(parts) > 2:
        return parts[1]
    if len(parts) > 1 and parts[0] in LEVEL:
        return parts[0]
    return None


def faults_of_line(module, is_public, line):
    match = INCLUDE.match(line)
    if match:
        target = target_of(match[1])
        if target is not None and target not in LEVEL:
            yield f"includes {match[1]} of '{target}', which is no module"
        elif target is not None and target != module and LEVEL[target] >= LEVEL[module]:
            yield f"'{module}' (level {LEVEL[module]}) includes '{target}' (level {LEVEL[target]})"
        elif target is not None and target != module and target not in ALLOWED.get(module, LEVEL):
            yield f"'{module}' includes '{target}'; allowed are {', '.join(sorted(ALLOWED[module]))}"
        if match[1].startswith("Kokkos_") and module in WITHOUT_KOKKOS:
            yield f"'{module}' includes {match[1]}, but knows no Kokkos"
    if is_public and CONDITIONAL.match(line):
        yield "has an #if in a public header; a feature that is off is another source file"
    code = line.split("//")[0]
    for pattern, what in FORBIDDEN:
        if pattern.search(code):
            yield what


def crowded_folders(root):
    """Folders of src with more files directly in them than MAX_FILES."""
    for folder in sorted(path for path in (root / "src").rglob("*") if path.is_dir()):
        files = sum(path.is_file() and path.name[0] != "." for path in folder.iterdir())
        if files > MAX_FILES:
            yield folder.relative_to(root), 1, f"holds {files} files; {MAX_FILES} is the most, split it by theme"


def skips(root):
    """Tests that skip by themselves, not through the helper that fails them in CI."""
    for path in sorted((root / "tests").rglob("*")):
        relative = path.relative_to(root)
        if path.suffix not in (".cpp", ".hpp", ".py") or relative == SKIPPING or relative.parts[1] == "style":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if SKIP.search(line.split("//")[0]):
                yield relative, number, f"skips a test by itself; call skip_without of {SKIPPING}"


def check(root):
    """All faults below `root`, as (file, line number, text)."""
    root = Path(root)
    faults = list(crowded_folders(root))
    for folder in ("include", "src", "policies"):
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            module = module_of(relative)
            if module is None or not re.search(r"\.(cpp|hpp)(\.in)?$", path.name):
                continue
            if module not in LEVEL:
                faults.append((relative, 1, f"lies in '{module}', which is no module"))
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            if not any(LICENCE in line for line in lines[:2]):
                faults.append((relative, 1, f"has no '{LICENCE}' in its first two lines"))
            if len(lines) > 500:
                faults.append((relative, 501, f"has {len(lines)} lines; 500 is the most, 400 the aim"))
            for number, line in enumerate(lines, 1):
                faults += [(relative, number, what) for what in faults_of_line(module, folder == "include", line)]
    return faults + list(skips(root))


def main():
    faults = check(sys.argv[1])
    for path, number, what in faults:
        print(f"{path}:{number}: {what}")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
