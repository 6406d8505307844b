#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tests perf/device_tests.py with a stand-in for a Catch2 program, of which one case ends its process."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import device_tests  # noqa: E402

PROGRAM = """#!/usr/bin/env python3
import os, re, sys
CASES = [f"case {n} is right" for n in range(30)] + ["one, with a comma, fails", "one [in brackets] crashes", "one is skipped"]
if "--list-tests" in sys.argv:
    print("\\n".join("  " + name for name in CASES))
    sys.exit(0)
asked = [re.sub(r"\\\\(.)", r"\\1", name) for name in re.split(r"(?<!\\\\),", sys.argv[-1])]
assert all(name in CASES for name in asked), asked
if "one [in brackets] crashes" in asked:
    os.abort()
if asked == ["one is skipped"]:
    sys.exit(4)
if any("fails" in name for name in asked):
    print("REQUIRE( 1 == 2 )")
    sys.exit(42)
"""


class RunsDeviceTests(unittest.TestCase):
    def run_all(self, program, limit):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program"
            path.write_text(program)
            path.chmod(0o755)
            runs = device_tests.DeviceTests(path, pathlib.Path(folder), dict(os.environ), limit)
            return runs.run(), (pathlib.Path(folder) / "tests.log").read_text()

    def test_lists_every_failing_case_and_passes_its_neighbours(self):
        outcome, log = self.run_all(PROGRAM, 60)
        self.assertEqual(outcome.passed, 31)
        self.assertEqual(outcome.unreached, 0)
        self.assertEqual({(failure.name, failure.how) for failure in outcome.failures},
                         {("one, with a comma, fails", "ended with 42"), ("one [in brackets] crashes", "ended with -6")})
        self.assertIn("REQUIRE( 1 == 2 )", log)

    def test_counts_cases_that_the_time_limit_did_not_reach(self):
        outcome, _ = self.run_all(PROGRAM, 0)
        self.assertEqual((outcome.passed, outcome.unreached, outcome.failures), (0, 33, []))


if __name__ == "__main__":
    unittest.main()
