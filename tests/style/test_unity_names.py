# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that unity_names.py sees what it is there to see."""

import tempfile
import unittest
from pathlib import Path

import unity_names


class UnityNames(unittest.TestCase):
    def faults(self, first, second, module="src/io"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("a", first), ("b", second)):
                file = Path(folder, module, name + ".cpp")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("namespace zygos::io {\nnamespace {\n" + text + "\n}\n}\n")
            return [line.split(" ")[1] for line in unity_names.faults(Path(folder))]

    def test_constants_types_and_functions_of_one_name_clash(self):
        text = "constexpr int most = 4;\nstruct Entry {\n  int rows;\n};\ntemplate <class T>\nT half(T x) {\n  return x / 2;\n}\n"
        self.assertEqual(self.faults(text, text), ["Entry", "most", "template"])

    def test_functions_may_differ_by_their_parameters(self):
        self.assertEqual(self.faults("int a(int x) {\n  return x;\n}", "int a(long x) {\n  return 1;\n}"), [])
        self.assertEqual(self.faults("int a(int x) {\n  return x;\n}", "int a(int y) {\n  return 1;\n}"), ["a(int)"])

    def test_what_is_inside_of_others_and_what_may_be_repeated_is_fine(self):
        text = "namespace fs = std::filesystem;\nusing Json = int;\n// constexpr int most = 4;\n"
        self.assertEqual(self.faults(text + "struct A {\n  int most = 1;\n};", text + "struct B {\n  int most = 1;\n};"), [])

    def test_modules_and_sources_compiled_separately_are_left_out(self):
        text = "constexpr int most = 4;"
        self.assertEqual(self.faults(text, text, "src/ops/gemm/host"), [])
        self.assertEqual(self.faults(text, text, "src/ops/gemm/device"), ["most"])
        self.assertEqual(self.faults(text, text, "tests/docs"), [])

    def test_tests_of_a_module_clash_unless_each_has_a_namespace(self):
        text = "constexpr int most = 4;"
        self.assertEqual(self.faults(text, text, "tests/io"), ["most"])
        in_own = "}}\nnamespace zygos::io::test_%s {\nnamespace {\n" + text
        self.assertEqual(self.faults(in_own % "a", in_own % "b", "tests/io"), [])


if __name__ == "__main__":
    unittest.main()
