// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/gather_rows.hpp"

#include "zygos/lane/spaces.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <variant>

namespace zygos::train {
namespace {

/// Fewer bytes are written sooner than another thread wakes up.
constexpr std::int64_t min_bytes_per_thread = 64 * 1024;

void gather_here(const io::Rows& rows, std::span<const std::uint32_t> ids, std::byte* out,
                 DType dtype) {
  switch (dtype) {
    case DType::i32:
      return io::gather_labels(rows, ids, reinterpret_cast<std::int32_t*>(out));
    case DType::f32:
      return io::gather(rows, ids, reinterpret_cast<float*>(out));
    case DType::bf16:
      return io::gather(rows, ids, reinterpret_cast<bf16*>(out));
    default:
      return io::gather(rows, ids, reinterpret_cast<double*>(out));
  }
}

/// Labels may be refused one by one, and nothing may be thrown in a kernel.
bool can_throw(const io::Rows& rows, std::span<const std::uint32_t> ids, DType dtype) {
  return dtype == DType::i32 || std::ranges::any_of(ids, [&](std::uint32_t id) {
           return std::int64_t{id} >= rows.samples;
         });
}

}  // namespace

void gather_rows(const lane::Lane& lane, const io::Rows& rows, std::span<const std::uint32_t> ids,
                 const Tensor& out) {
  const auto* openmp = std::get_if<Kokkos::OpenMP>(&lane.execution());
  const auto count = static_cast<std::int64_t>(ids.size());
  const std::int64_t row_bytes =
      rows.row_elements * static_cast<std::int64_t>(size_of(out.dtype()));
  const std::int64_t threads =
      openmp == nullptr || !lane.host_accessible()
          ? 1
          : std::min<std::int64_t>(
                {openmp->concurrency(), count, count * row_bytes / min_bytes_per_thread});
  auto* begin = static_cast<std::byte*>(out.raw());
  if (threads <= 1 || can_throw(rows, ids, out.dtype())) {
    return gather_here(rows, ids, begin, out.dtype());
  }
  Kokkos::parallel_for(
      "zygos::train::gather_rows", Kokkos::RangePolicy<Kokkos::OpenMP>(*openmp, 0, threads),
      [&](const std::int64_t thread) {
        const std::int64_t first = count * thread / threads;
        const std::int64_t last = count * (thread + 1) / threads;
        gather_here(
            rows,
            ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)),
            begin + first * row_bytes, out.dtype());
      });
}

}  // namespace zygos::train
