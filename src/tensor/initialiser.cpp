// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/initialiser.hpp"

#include "zygos/core/philox.hpp"

#include <cmath>
#include <numbers>
#include <string_view>

namespace zygos {
namespace {

/// FNV-1a, 64 bits: written down here because the first weights of every model depend on it for
/// ever, which no library's hash promises.
constexpr std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char character : name) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001B3u;
  }
  return hash;
}
static_assert(hash_of("a") == 0xAF63DC4C8601EC8Cu, "published test value of FNV-1a");

double draw(const Initialiser& how, const RngKey& key, std::int64_t index) {
  const PhiloxBlock block = random_block(key, static_cast<std::uint64_t>(index), 0);
  const double first = uniform_double(block.v[0], block.v[1]);
  if (how.kind == Initialiser::Kind::uniform) {
    return (2.0 * first - 1.0) * how.scale;
  }
  // Box and Muller, 1958. 1 - first lies in (0, 1], so the logarithm is finite.
  const double second = uniform_double(block.v[2], block.v[3]);
  return how.scale * std::sqrt(-2.0 * std::log1p(-first)) *
         std::cos(2.0 * std::numbers::pi * second);
}

template <class T>
void fill(const Tensor& tensor, const Initialiser& how, const RngKey& key) {
  T* const data = tensor.data<T>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    data[i] =
        static_cast<T>(how.kind == Initialiser::Kind::constant ? how.value : draw(how, key, i));
  }
}

}  // namespace

void initialise(const Tensor& host_tensor, const Initialiser& how, std::uint64_t seed,
                const std::string& name) {
  // The name goes into the 64-bit key and not into the 28 free bits of the counter: two parameters
  // of a large model must not meet by chance.
  const RngKey key{seed ^ hash_of(name), RngPurpose::weights, 0};
  switch (host_tensor.dtype()) {
    case DType::f32:
      return fill<float>(host_tensor, how, key);
    case DType::f64:
      return fill<double>(host_tensor, how, key);
    default:
      throw UsageError("parameter '" + name + "' needs dtype f32 or f64, got " +
                       std::string(name_of(host_tensor.dtype())));
  }
}

}  // namespace zygos
