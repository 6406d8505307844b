// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace zygos::fuzz {

/// Changes bytes at random: the same seed gives the same inputs on every machine.
class Mutation {
 public:
  explicit Mutation(std::uint64_t seed) : random_(seed) {}

  /// One of the seeds, changed in one to eight places.
  std::string of(const std::vector<std::string>& seeds);

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  void change(std::string& bytes, const std::vector<std::string>& seeds);
  void put_number(std::string& bytes);
  void put_mark(std::string& bytes);

  std::mt19937_64 random_;
};

}  // namespace zygos::fuzz
