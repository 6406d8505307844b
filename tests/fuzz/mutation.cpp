// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace zygos::fuzz {

std::string Mutation::of(const std::vector<std::string>& seeds) {
  std::string bytes = seeds[below(seeds.size())];
  for (std::size_t left = 1 + below(8); left > 0; --left) {
    change(bytes, seeds);
  }
  return bytes;
}

void Mutation::change(std::string& bytes, const std::vector<std::string>& seeds) {
  const std::size_t at = below(bytes.size() + 1);
  const std::size_t length = std::min(1 + below(64), bytes.size() - at);
  switch (below(9)) {
    case 0:
    case 1:
      if (at < bytes.size()) {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      }
      return;
    case 2:
      return put_number(bytes);
    case 3:
      return put_mark(bytes);
    case 4:
      bytes.erase(at, length);
      return;
    case 5:
      bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
      return;
    case 6:
      bytes.insert(at, 1, static_cast<char>(below(256)));
      return;
    case 7: {
      const std::string& other = seeds[below(seeds.size())];
      bytes.replace(at, length, other.substr(below(other.size() + 1), 1 + below(256)));
      return;
    }
    default:
      if (below(4) == 0) {
        bytes.resize(at);
      }
  }
}

/// A whole number of one to eight bytes at the end of a type's range, in either byte order.
void Mutation::put_number(std::string& bytes) {
  constexpr std::array<std::uint64_t, 12> numbers{
      0, 1, 2, 127, 128, 255, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 40, ~0ULL};
  const std::uint64_t number = numbers[below(numbers.size())] + below(3) - 1;
  const std::size_t size = std::size_t{1} << below(4);
  const bool swapped = below(2) == 0;
  const std::size_t at = below(bytes.size() + 1);
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<char>(number >> (8 * (swapped ? size - 1 - i : i)));
  }
}

/// What means something in texts.
void Mutation::put_mark(std::string& bytes) {
  constexpr std::array<std::string_view, 20> marks{
      "{", "}",  "[", "]",     "\"",  ",",    ":",  "-",    "\n",   "\r",
      "#", "\\", "'", "1e309", "nan", "null", "-0", "\xff", "${x}", "99999999999999999999"};
  bytes.insert(below(bytes.size() + 1), marks[below(marks.size())]);
}

}  // namespace zygos::fuzz
