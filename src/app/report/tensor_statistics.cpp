// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/tensor_statistics.hpp"

#include "zygos/io/hash.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace zygos::app {

namespace {

template <class T>
void accumulate(const io::StoredTensor& tensor, TensorStatistics& into) {
  const std::size_t count = tensor.bytes.size() / sizeof(T);
  double sum = 0.0;
  into.minimum = std::numeric_limits<double>::infinity();
  into.maximum = -into.minimum;
  for (std::size_t i = 0; i < count; ++i) {
    T raw{};
    std::memcpy(&raw, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    const auto value = static_cast<double>(raw);
    into.finite = into.finite && std::isfinite(value);
    into.minimum = std::min(into.minimum, value);
    into.maximum = std::max(into.maximum, value);
    sum += value;
  }
  into.mean = sum / static_cast<double>(count);
}

void accumulate_any(const io::StoredTensor& tensor, TensorStatistics& into) {
  switch (tensor.dtype) {
    case DType::u8:
      return accumulate<std::uint8_t>(tensor, into);
    case DType::i32:
      return accumulate<std::int32_t>(tensor, into);
    case DType::i64:
      return accumulate<std::int64_t>(tensor, into);
    case DType::u32:
      return accumulate<std::uint32_t>(tensor, into);
    case DType::u64:
      return accumulate<std::uint64_t>(tensor, into);
    case DType::f32:
      return accumulate<float>(tensor, into);
    case DType::f64:
      return accumulate<double>(tensor, into);
    case DType::bf16:
      return accumulate<bf16>(tensor, into);
  }
}

}  // namespace

TensorStatistics statistics_of(const io::StoredTensor& tensor) {
  TensorStatistics result;
  result.hash = io::xxh64_hex(tensor.bytes);
  if (!tensor.bytes.empty()) {
    accumulate_any(tensor, result);
  }
  return result;
}

}  // namespace zygos::app
