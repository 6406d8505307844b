#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tests perf/device_code.py and perf/device_kernels.py with machine code made by hand."""

import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
import device_code  # noqa: E402
import device_kernels  # noqa: E402

WIDTH = 16
OTHER = 0x7810  # an addition
EXIT = 0x794D
RETURN = 0x7950
CALL = 0x7944
BRANCH = 0x7947 | 7 << 87
BRANCH_IF = 0x0947 | 7 << 87
INDIRECT = 0x7949


def leads(kind, place, target):
    """An instruction at `place` that leads to `target`, both counted in instructions."""
    quarter = (target - place - 1) * WIDTH // 4 % (1 << 56)
    return kind | (quarter & 0xFF) << 16 | quarter >> 8 << 34


def code_of(instructions):
    return b"".join(word.to_bytes(WIDTH, "little") for word in instructions)


def cubin(kernels):
    """An ELF file with a section for each kernel: name -> (instructions, {place: function})."""
    names, strings, symbols = b"\0", b"\0", bytes(24)
    parts = [(0, 0, b"", 0)]
    for name, (instructions, functions) in kernels.items():
        for place, function in functions.items():
            symbols += struct.pack("<IBBHQQ", len(strings), 2, 0, len(parts), place * WIDTH, 0)
            strings += function.encode() + b"\0"
        parts.append((len(names), 1, code_of(instructions), 0))
        names += b".text." + name.encode() + b"\0"
    at = len(names)
    names += b".symtab\0.strtab\0.shstrtab\0"
    parts += [(at, 2, symbols, len(parts) + 1), (at + 8, 3, strings, 0), (at + 16, 3, names, 0)]
    data, heads = b"", b""
    for name, kind, part, link in parts:
        heads += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, 64 + len(data), len(part), link, 0, 0, 24)
        data += part
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, device_code.EM_CUDA, 1, 0, 0, 64 + len(data), 0, 64, 0, 0,
                                                           64, len(parts), len(parts) - 1)
    return head + data + heads


# A loop over elements (1 to 7), in it one over windows (3 to 5); divisions at 0, 2 and 4; behind them the routines.
NESTED = [leads(CALL, 0, 9), OTHER, leads(CALL, 2, 9), OTHER, leads(CALL, 4, 11), leads(BRANCH_IF, 5, 3), OTHER, leads(BRANCH_IF, 7, 1), EXIT,
          OTHER, RETURN, OTHER, RETURN]
ROUTINES = {0: "nested", 9: "$__internal_0_$__cuda_sm20_div_u64", 11: "$__internal_1_$__cuda_sm20_rem_s64"}


def counted(instructions, functions):
    return device_code.divisions(b"object" + cubin({"k": (instructions, functions)}) + b"more")["k"]


class CountsDivisions(unittest.TestCase):
    def test_divisions_are_counted_and_those_in_inner_loops_once_more(self):
        self.assertEqual(counted(NESTED, ROUTINES), (3, 1))

    def test_calls_of_other_routines_are_none(self):
        self.assertEqual(counted(NESTED, {**ROUTINES, 9: "$__internal_0_$__cuda_sm20_div_rn_f64_full"}), (1, 1))

    def test_the_kernels_of_all_images_are_found_and_instances_have_their_largest_figures(self):
        plain = {"k": ([OTHER, EXIT], {0: "k"}), "plain": ([OTHER, EXIT], {0: "plain"})}
        found = device_code.divisions(cubin(plain) + cubin({"k": (NESTED, ROUTINES)}) + cubin(plain))
        self.assertEqual(found, {"k": (3, 1), "plain": (0, 0)})

    def test_a_branch_back_that_leaves_the_kernel_makes_no_loop(self):
        # 4 jumps back to 1, from where nothing leads to it again: a block that the compiler put at the end.
        code = [leads(BRANCH_IF, 0, 3), leads(CALL, 1, 5), EXIT, OTHER, leads(BRANCH, 4, 1), OTHER, RETURN]
        self.assertEqual(counted(code, {0: "k", 5: "$__internal_0_$__cuda_sm20_div_s64"}), (1, 0))

    def test_a_table_of_addresses_leads_to_what_nothing_else_leads_to(self):
        # The outer loop is 0 to 6; 2 switches to 3 or 4, and 4 is a loop with a division of its own.
        code = [OTHER, OTHER, INDIRECT, leads(BRANCH, 3, 6), leads(CALL, 4, 8), leads(BRANCH_IF, 5, 4), leads(BRANCH_IF, 6, 0), EXIT, OTHER, RETURN]
        self.assertEqual(counted(code, {0: "k", 8: "$__internal_0_$__cuda_sm20_div_s64"}), (1, 1))

    def test_code_that_is_encoded_in_another_way_is_refused(self):
        with self.assertRaisesRegex(device_code.Unreadable, "no function"):
            counted(NESTED, {0: "k"})
        with self.assertRaisesRegex(device_code.Unreadable, "leads to"):
            counted([leads(BRANCH, 0, 7), EXIT], {0: "k"})
        with self.assertRaisesRegex(device_code.Unreadable, "nobody calls"):
            counted([OTHER, EXIT, OTHER, RETURN], {0: "k", 2: "$__internal_0_$__cuda_sm20_div_s64"})


class ComparesWithTheTable(unittest.TestCase):
    row = device_kernels.Row(instances=2, registers=40, stack=0, shared=0, spills=0, divisions=3, inner_divisions=1)

    def faults(self, copies=(), **changes):
        known = device_kernels.listed(device_kernels.table({"ops::k": self.row}, "sm_90"))
        return list(device_kernels.faults_of({"ops::k": self.row._replace(**changes)}, known, copies))

    def test_what_the_table_lists_is_no_fault(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults(divisions=0, inner_divisions=0), [])

    def test_more_divisions_or_more_in_inner_loops_are_a_fault(self):
        self.assertRegex(self.faults(divisions=4)[0], "^ops::k: 4 divisions of 64-bit integers, 1 of them in inner loops; listed are 3 and 1")
        self.assertRegex(self.faults(inner_divisions=2)[0], "3 divisions of 64-bit integers, 2 of them")

    def test_a_functor_that_is_copied_before_each_launch_is_a_fault(self):
        names = {way: f"_ZN6Kokkos4Impl32cuda_parallel_launch_{way}_memoryIN5zygos3ops{len(way)}{way}EEEvv" for way in ("constant", "local")}
        names = {way: name.replace("32cuda", f"{len(f'cuda_parallel_launch_{way}_memory')}cuda") for way, name in names.items()}
        log = "\n".join(f"ptxas info    : Compiling entry function '{name}' for 'sm_90'" for name in names.values())
        self.assertEqual(device_kernels.copied(log), {"ops::constant"})
        self.assertRegex(self.faults(copies={"ops::k"})[0], "^ops::k: Kokkos copies its functor")

    def test_divisions_join_the_rows_of_the_log(self):
        name = "_ZN5zygos3ops4fillEv"
        rows = device_kernels.with_divisions({"ops::fill": self.row}, {name: device_code.Divisions(7, 2)})
        self.assertEqual((rows["ops::fill"].divisions, rows["ops::fill"].inner_divisions), (7, 2))

    def test_a_library_of_another_build_ends_the_script(self):
        with self.assertRaisesRegex(SystemExit, "ops::gone is in the log but not in the library"):
            device_kernels.with_divisions({"ops::gone": self.row}, {"_ZN5zygos3ops4fillEv": device_code.Divisions(0, 0)})


if __name__ == "__main__":
    unittest.main()
