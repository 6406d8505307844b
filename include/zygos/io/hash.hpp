// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Hashes as lower-case hex. None of them takes types or shapes into account, only bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace zygos::io {

/// XXH64 (seed 0) over any number of pieces; the same as over their concatenation. What a run's
/// `weights_xxh64` is made with.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// 16 digits for everything added so far; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// XXH3, 64 bits (seed 0), over any number of pieces: xxh3_64_hex() of their concatenation.
class Xxh3 {
 public:
  Xxh3();
  ~Xxh3();
  Xxh3(Xxh3&&) noexcept;
  Xxh3& operator=(Xxh3&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// 16 digits for everything added so far; more may follow.
  std::string hex() const;
  /// As if nothing had been added.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 over any number of pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// 64 digits for everything added so far; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of one piece: 16, 16 and 64 digits.
std::string xxh64_hex(std::span<const std::byte> bytes);
std::string xxh3_64_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace zygos::io
