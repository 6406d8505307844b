# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that words.py sees what it is there to see."""

import tempfile
import unittest
from pathlib import Path

import words


class Words(unittest.TestCase):
    def faults(self, path, text, unclean=()):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            return [(line, word) for _, line, word, _ in words.check(folder, unclean)]

    def test_identifiers_and_prose_are_searched(self):
        text = "int most_rows = 1;\nint utmost_rows = 1;\n// gradients are added up\n"
        self.assertEqual(self.faults("src/a.cpp", text), [(1, "most_r"), (3, "added up")])

    def test_the_name_of_a_file_is_searched(self):
        self.assertEqual(self.faults("src/thin_product.hpp", ""), [(0, "thin_product")])

    def test_terms_with_the_same_letters_are_fine(self):
        text = 'a roofline; {"roofs": 1}; recommended; proof; in all cases; comes to an end; there is no file\n'
        self.assertEqual(self.faults("docs/a.md", text), [])

    def test_a_folder_that_is_not_clean_yet_is_left_out(self):
        self.assertEqual(self.faults("src/ops/a.cpp", "thin_product\n", ["src/ops"]), [])

    def test_other_files_are_left_out(self):
        self.assertEqual(self.faults("src/a.bin", "thin_product\n"), [])


if __name__ == "__main__":
    unittest.main()
