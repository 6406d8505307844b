# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that text and identifiers use the terms of the field.

The left column holds words that this code once used for things that have a textbook name, the right column that name.
Only words without an ordinary use are listed: "gain" is a speed-up as well as a parameter, "good", "give" and "number"
are plain English, so nobody can search for their misuse. A word in a file's name counts, too.

    python3 tests/style/words.py SOURCE_FOLDER
"""

import re
import sys
from pathlib import Path

ROOTS = ["src", "include", "policies", "tests", "perf", "docs", "examples", "inputs", "README.md"]
ENDINGS = {".cpp", ".hpp", ".h", ".f90", ".inc", ".in", ".py", ".sh", ".txt", ".md", ".yaml", ".js", ".css", ".cmake"}
SELF = {"tests/style/words.py", "tests/style/test_words.py"}

# Folders that are still being cleaned.
UNCLEAN = []

TERMS = [
    (r"\bmost_(?!words\b)[a-z]", "max_ (most_words is a deck key)"),
    (r"\bleast_[a-z]", "min_"),
    (r"ThinProduct|thin_product|\bthin (kernel|product)|thin_(kernel|extents|rows|copies|second)", "host GEMM, microkernel"),
    (r"split_?product|products? in parts", "bf16x3 GEMM"),
    (r"\bjudge", "valid, ignored (ignore_index)"),
    (r"\bawake\b", "spin, busy-wait"),
    (r"\b(short|long) turns\b|\bask(s|ed|ing)? for turns\b", "scheduler time slice"),
    (r"\blonely", "single-lane, single thread"),
    (r"turned[ _](filter|weight|kernel)", "transposed, flipped"),
    (r"\bpays\(", "is_profitable()"),
    (r"GradientWay|gradient_way|\bProductWay", "algorithm"),
    (r"\b(hold|holds|held|holding) back\b", "slow-down"),
    (r"\broofs?\b(?!\")", "roofline, peak rate"),
    (r"\bby[ _]halves\b|byhalves", "pairwise (tree) reduction"),
    (r"\bnobody sees\b", "masked"),
    (r"\b(all forth|forth and (then )?(all )?back)\b", "forward passes, then backward passes"),
    (r"\b(added|adds?|adding) up\b", "summed, reduced, accumulated"),
    (r"\b(summed|sums?|summing) up\b", "summed, reduced, accumulated"),
    (r"\boutside of ops\b", "overhead outside kernels"),
    (r"\b(take|takes|taken|took) off\b", "subtract"),
    (r"\btaken for\b", "treated as"),
    (r"\b(come|comes|came) to\b(?! (an? |its |their )?(end|stop))", "is, equals"),
    (r"\bof afar\b|\bfrom afar\b", "remote memory"),
    (r"\b(machine|binary|build) that travels\b", "portable build"),
    (r"\bextents\b(?!\.hpp)", "dimensions"),
    (r"\bmend(s|ed|ing)?\b", "fix"),
    (r"\ba batch each\b", "weak scaling"),
    (r"\blives (do not|don't|that do not) (meet|overlap)", "lifetimes do not overlap"),
    (r"\bfall(s|en|ing)? asleep\b|\bfell asleep\b", "goes to sleep"),
    (r"\bin all\b(?! (rows|cases|places|lanes|parts|ranks|modes|three|four|of|the|its|their))", "total"),
    (r"\bnobody trains\b", "constant"),
    (r"\bsteps? length\b", "learning rate"),
    (r"\bbegins? with deviation\b", "initialised with standard deviation"),
    (r"(?<!there )\bis no (override|folder|file|list|section)\b", "is not an override, not a directory"),
    (r"\bfar weights\b|\bnear(er)? caches\b", "last-level cache or DRAM, L2"),
    (r"\bSpells?\b", "live interval"),
]
PATTERNS = [(re.compile(pattern), term) for pattern, term in TERMS]

def files(root):
    for top in ROOTS:
        path = Path(root, top)
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix in ENDINGS and file.is_file() and name not in SELF:
                yield name, file

def check(root, unclean=UNCLEAN):
    """Yields (file, line, word, term)."""
    for name, file in files(root):
        if any(name.startswith(folder) for folder in unclean):
            continue
        for pattern, term in PATTERNS:
            if found := pattern.search(name):
                yield name, 0, found.group(), term
        text = file.read_text(encoding="utf-8", errors="replace")
        for pattern, term in PATTERNS:
            for found in pattern.finditer(text):
                yield name, text.count("\n", 0, found.start()) + 1, found.group(), term

def main():
    faults = list(check(sys.argv[1]))
    for name, number, word, term in faults:
        print(f"{name}:{number}: '{word}': write: {term}")
    print(f"words: {len(faults)} faults")
    return 1 if faults else 0

if __name__ == "__main__":
    sys.exit(main())
