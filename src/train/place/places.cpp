// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/places.hpp"

#include <algorithm>
#include <string>

namespace zygos::train {
namespace {

template <class T>
std::vector<double> doubles_from(const std::vector<std::byte> &host) {
  const auto *values = reinterpret_cast<const T *>(host.data());
  return std::vector<double>(values, values + host.size() / sizeof(T));
}

}  // namespace

std::vector<double> doubles_of(const std::vector<std::byte> &host, DType dtype) {
  return dtype == DType::f64    ? doubles_from<double>(host)
         : dtype == DType::bf16 ? doubles_from<bf16>(host)
                                : doubles_from<float>(host);
}

const PlaceState &Places::at(std::size_t place) const {
  if (std::ranges::find(active, place) == active.end()) {
    throw UsageError("place " + std::to_string(place) +
                     " takes no part in this schedule here and holds nothing; ask one of "
                     "schedule().active_places()");
  }
  return *here[place];
}

std::vector<std::byte> to_host(const Places &places, std::size_t place, const Tensor &tensor) {
  std::vector<std::byte> host(tensor.bytes());
  lane::Lane &lane = places.lane(place);
  lane.run_and_wait([&] {
    lane.copy_to_host(host.data(), tensor.raw(), host.size(), "zygos::train::to_host");
    lane.fence("zygos::train::to_host");
  });
  return host;
}

std::vector<double> to_doubles(const Places &places, std::size_t place, const Tensor &tensor) {
  return doubles_of(to_host(places, place, tensor), tensor.dtype());
}

}  // namespace zygos::train
