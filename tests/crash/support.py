# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs in this folder share."""
import os
import sys

SKIPPED = 77  # SKIP_RETURN_CODE of the tests


def skip_without(missing, reason):
    """What tests/support/skip.hpp is for C++. Ends the program: as skipped, or in CI as failed unless ZYGOS_CI_WITHOUT has the word `missing`."""
    excused = "CI" not in os.environ or missing in os.environ.get("ZYGOS_CI_WITHOUT", "").split()
    print(reason if excused else f"{reason}; in CI every test must run (no '{missing}')")
    sys.exit(SKIPPED if excused else 1)


def quick_folder():
    """Where thousands of fsyncs cost nothing: in memory, if the system has such a place; a parent for tempfile."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
