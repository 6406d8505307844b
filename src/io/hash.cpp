// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/hash.hpp"

#include "zygos/core/error.hpp"

#include <openssl/evp.h>
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <new>

namespace zygos::io {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string hex_of(std::uint64_t value) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = hex_digits[value & 0xf];
    value >>= 4;
  }
  return text;
}

}  // namespace

struct Hasher::State {
  struct Free {
    void operator()(XXH64_state_t* state) const noexcept { XXH64_freeState(state); }
  };
  std::unique_ptr<XXH64_state_t, Free> xxh64{XXH64_createState()};
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (!state_->xxh64) {
    throw std::bad_alloc();
  }
  XXH64_reset(state_->xxh64.get(), 0);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) {
    XXH64_update(state_->xxh64.get(), bytes.data(), bytes.size());
  }
}

std::string Hasher::hex() const { return hex_of(XXH64_digest(state_->xxh64.get())); }

struct Xxh3::State {
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh3{XXH3_createState()};
};

Xxh3::Xxh3() : state_(std::make_unique<State>()) {
  if (!state_->xxh3) {
    throw std::bad_alloc();
  }
  reset();
}
Xxh3::~Xxh3() = default;
Xxh3::Xxh3(Xxh3&&) noexcept = default;
Xxh3& Xxh3::operator=(Xxh3&&) noexcept = default;

void Xxh3::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) {
    XXH3_64bits_update(state_->xxh3.get(), bytes.data(), bytes.size());
  }
}

std::string Xxh3::hex() const { return hex_of(XXH3_64bits_digest(state_->xxh3.get())); }

void Xxh3::reset() { XXH3_64bits_reset(state_->xxh3.get()); }

struct Sha256::State {
  struct Free {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> digest{EVP_MD_CTX_new()};
  State() {
    if (!digest) {
      throw std::bad_alloc();
    }
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->digest.get(), EVP_sha256(), nullptr) != 1) {
    throw InternalError("libcrypto offers no SHA-256; checkpoints can't be made or read without");
  }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::span<const std::byte> bytes) {
  ZYGOS_REQUIRE(EVP_DigestUpdate(state_->digest.get(), bytes.data(), bytes.size()) == 1,
                "SHA-256 failed");
}

std::string Sha256::hex() const {
  // Finishing ends a digest's life; a copy is finished so that more may be added to this one.
  const State copy;
  std::array<unsigned char, 32> value{};
  unsigned int length = 0;
  const bool ok = EVP_MD_CTX_copy_ex(copy.digest.get(), state_->digest.get()) == 1 &&
                  EVP_DigestFinal_ex(copy.digest.get(), value.data(), &length) == 1;
  ZYGOS_REQUIRE(ok && length == value.size(), "SHA-256 failed");
  std::string text;
  for (const unsigned char byte : value) {
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 0xf];
  }
  return text;
}

std::string xxh64_hex(std::span<const std::byte> bytes) {
  return hex_of(XXH64(bytes.data(), bytes.size(), 0));
}

std::string xxh3_64_hex(std::span<const std::byte> bytes) {
  return hex_of(XXH3_64bits(bytes.data(), bytes.size()));
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace zygos::io
