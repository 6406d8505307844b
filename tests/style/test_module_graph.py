# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that module_graph.py sees what it is there to see."""

import tempfile
import unittest
from pathlib import Path

import module_graph

LICENCE = "// SPDX-FileCopyrightText: x\n// SPDX-License-Identifier: Apache-2.0\n"


class ModuleGraph(unittest.TestCase):
    def faults(self, path, text, licence=LICENCE):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(licence + text)
            return [what for _, _, what in module_graph.check(folder)]

    def test_an_include_of_a_lower_module_is_fine(self):
        self.assertEqual(self.faults("src/train/a.cpp", '#include "zygos/plan/profile.hpp"\n#include "ops/gemm.hpp"\n'), [])

    def test_an_include_of_a_higher_module_is_a_fault(self):
        self.assertIn("includes 'train'", self.faults("src/plan/a.cpp", '#include "zygos/train/engine.hpp"\n')[0])

    def test_an_include_of_a_module_on_the_same_level_is_a_fault(self):
        self.assertEqual(len(self.faults("include/zygos/io/a.hpp", '#include "ops/gemm.hpp"\n')), 1)

    def test_inference_includes_no_module_that_reads_files(self):
        self.assertIn("'infer' includes 'deck'", self.faults("src/infer/a.cpp", '#include "zygos/deck/value.hpp"\n')[0])
        self.assertEqual(self.faults("src/infer/a.cpp", '#include "zygos/graph/graph.hpp"\n#include "infer/b.hpp"\n'), [])

    def test_a_module_without_kokkos_may_not_include_it(self):
        self.assertEqual(len(self.faults("policies/a.cpp", "#include <Kokkos_Core.hpp>\n")), 1)

    def test_a_global_fence_and_a_default_space_are_faults_but_not_in_a_comment(self):
        text = "Kokkos::fence();\nKokkos::DefaultExecutionSpace a;\n// Kokkos::fence()\n"
        self.assertEqual(len(self.faults("src/ops/a.cpp", text)), 2)

    def test_a_conditional_in_a_public_header_is_a_fault(self):
        self.assertEqual(len(self.faults("include/zygos/core/a.hpp", "#ifdef A\n#endif\n")), 1)

    def test_a_test_that_skips_by_itself_is_a_fault(self):
        self.assertEqual(len(self.faults("tests/io/a.cpp", 'SKIP("no disk");\n// SKIP(\n')), 1)
        self.assertEqual(self.faults("tests/support/skip.hpp", "SKIP(reason);\n"), [])

    def test_a_file_without_licence_is_a_fault(self):
        self.assertEqual(len(self.faults("src/core/a.cpp", "", licence="")), 1)

    def test_a_file_of_an_unknown_module_is_a_fault(self):
        self.assertEqual(len(self.faults("include/zygos/other/a.hpp", "")), 1)

    def test_a_folder_of_src_with_more_than_25_files_is_a_fault(self):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "src/core")
            folder.mkdir(parents=True)
            for number in range(25):
                Path(folder, f"{number}.cpp").write_text(LICENCE)
            self.assertEqual(module_graph.check(root), [])
            Path(folder, "CMakeLists.txt").write_text("")
            self.assertIn("holds 26 files", module_graph.check(root)[0][2])


if __name__ == "__main__":
    unittest.main()
