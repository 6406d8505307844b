// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/ranks.hpp"

#include "insitu/kernels/moments.hpp"
#include "insitu/state_names.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace zygos::insitu {
namespace {

template <class T>
std::vector<T> values_in(const StoredTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
void put(StoredTensor& tensor, const std::vector<T>& values) {
  std::memcpy(tensor.bytes.data(), values.data(), values.size() * sizeof(T));
}

/// Blocks of all ranks, which have the same size.
std::vector<std::byte> gathered(comm::Communicator& ranks, std::span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(mine, all);
  return all;
}

/// Whether all ranks say the same number.
bool agree(comm::Communicator& ranks, std::int64_t number) {
  std::array<std::int64_t, 2> ends{number, -number};
  ranks.max(ends);
  return ends[0] == -ends[1];
}

bool is_trained(const StoredTensor& tensor) {
  return tensor.name != standards_name && tensor.name != counters_name;
}

std::int64_t elements_of(const State& state) {
  std::int64_t elements = 0;
  for (const StoredTensor& tensor : state.tensors) {
    elements += tensor.shape.size();
  }
  return elements;
}

/// Each weight times its rank's share, summed over the ranks in rank order.
template <class T>
void average_tensor(StoredTensor& tensor, comm::Communicator& ranks, double share) {
  std::vector<T> values = values_in<T>(tensor);
  std::vector<double> sums(values.size());
  std::ranges::transform(values, sums.begin(),
                         [&](T value) { return share * static_cast<double>(value); });
  ranks.sum(sums);
  std::ranges::transform(sums, values.begin(), [](double sum) { return static_cast<T>(sum); });
  put(tensor, values);
}

void require_same(comm::Communicator& ranks, const State& state, double weight) {
  if (!agree(ranks, elements_of(state))) {
    throw UsageError("average(): the ranks' networks differ; make them from the same options");
  }
  const StoredTensor& standards =
      *std::ranges::find(state.tensors, standards_name, &StoredTensor::name);
  const auto all = gathered(ranks, standards.bytes);
  std::int64_t same = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    same = all[i] == standards.bytes[i % standards.bytes.size()] ? same : 0;
  }
  std::array<std::int64_t, 2> bad{same == 0 ? 1 : 0,
                                  std::isfinite(weight) && weight >= 0.0 ? 0 : 1};
  ranks.max(bad);
  if (bad[0] != 0) {
    throw UsageError(
        "average(): the ranks standardise their samples differently, so a mean of their weights "
        "would mean nothing; call share_standards() first, or set Options::standardise to false");
  }
  if (bad[1] != 0) {
    throw UsageError("average(): a rank's weight is negative or not finite");
  }
}

}  // namespace

void share_standards(Surrogate& net, const Reservoir& reservoir, comm::Communicator& ranks) {
  const State samples = reservoir.state();
  const auto found = std::ranges::find(samples.tensors, "reservoir/moments", &StoredTensor::name);
  const auto width = static_cast<std::size_t>(found->shape[0]);
  if (!agree(ranks, static_cast<std::int64_t>(width))) {
    throw UsageError("share_standards(): the ranks' samples have different numbers of columns");
  }
  const auto all = gathered(ranks, found->bytes);
  std::vector<double> shift(width), scale(width);
  for (std::size_t column = 0; column < width; ++column) {
    Moments moments{0.0, 0.0, 0.0};
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks.size()); ++rank) {
      Moments of_rank{};
      std::memcpy(&of_rank, all.data() + (rank * width + column) * sizeof(Moments),
                  sizeof(Moments));
      moments = merged(moments, of_rank);
    }
    const double deviation = moments.count > 0.0 ? std::sqrt(moments.squares / moments.count) : 1.0;
    shift[column] = moments.mean;
    scale[column] = deviation > 0.0 && std::isfinite(deviation) ? deviation : 1.0;
  }
  net.set_standards(shift, scale);
}

void average(Surrogate& net, comm::Communicator& ranks, double weight) {
  State state = net.state();
  require_same(ranks, state, weight);
  std::array<double, 1> total{weight};
  ranks.sum(total);
  if (total[0] == 0.0) {
    return;
  }
  for (StoredTensor& tensor : state.tensors) {
    if (is_trained(tensor) && tensor.dtype == DType::f64) {
      average_tensor<double>(tensor, ranks, weight / total[0]);
    } else if (is_trained(tensor)) {
      average_tensor<float>(tensor, ranks, weight / total[0]);
    }
  }
  net.restore(state);
}

}  // namespace zygos::insitu
