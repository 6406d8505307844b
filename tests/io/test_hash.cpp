// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/hash.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace zygos::test_hash {
using namespace zygos::io;

namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("hashes have their published values", "[io]") {
  CHECK(xxh64_hex({}) == "ef46db3751d8e999");
  CHECK(xxh3_64_hex({}) == "2d06800538d394c2");
  CHECK(sha256_hex({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex(bytes("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(xxh64_hex(bytes("abc")) == "44bc2cf5ad770999");
}

TEST_CASE("a hash over pieces is the hash over the whole", "[io]") {
  std::vector<std::byte> whole(10007);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i] = static_cast<std::byte>(i * i >> 3);
  }
  Hasher hasher;
  Xxh3 xxh3;
  Sha256 sha;

  std::size_t done = 0;
  for (std::size_t piece = 0; done < whole.size(); ++piece) {
    const auto part = std::span<const std::byte>(whole).subspan(
        done, std::min(piece * 7 % 300, whole.size() - done));
    hasher.add(part);
    xxh3.add(part);
    sha.add(part);
    done += part.size();
  }

  CHECK(hasher.hex() == xxh64_hex(whole));
  CHECK(xxh3.hex() == xxh3_64_hex(whole));
  xxh3.reset();
  CHECK(xxh3.hex() == xxh3_64_hex({}));
  CHECK(sha.hex() == sha256_hex(whole));
}

TEST_CASE("a hash may be read and added to again", "[io]") {
  Hasher hasher;
  Sha256 sha;
  hasher.add(bytes("a"));
  sha.add(bytes("a"));

  CHECK(hasher.hex() == xxh64_hex(bytes("a")));
  CHECK(sha.hex() == sha256_hex(bytes("a")));
  hasher.add(bytes("bc"));
  sha.add(bytes("bc"));

  CHECK(hasher.hex() == xxh64_hex(bytes("abc")));
  CHECK(sha.hex() == sha256_hex(bytes("abc")));
}

}  // namespace zygos::test_hash
