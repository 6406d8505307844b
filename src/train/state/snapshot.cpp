// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/snapshot.hpp"

#include "train/state/compression_errors.hpp"

#include "zygos/tensor/convert.hpp"
#include "zygos/tensor/initialiser.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zygos::train {
namespace {

void require_finite(const Tensor &tensor, const std::string &name) {
  if (first_not_finite(tensor.dtype(), tensor.raw(), tensor.size())) {
    refuse_not_finite(name);
  }
}

const io::StoredTensor &stored_as(const io::Checkpoint &checkpoint, const std::string &name,
                                  DType dtype, const Shape &shape) {
  const io::StoredTensor &stored = checkpoint.tensor(name);
  if (stored.dtype != dtype || stored.shape != shape) {
    throw CheckpointError(checkpoint.path.filename().string() + ": tensor '" + name + "' is " +
                          std::string(name_of(stored.dtype)) + " " + stored.shape.text() +
                          ", the model has " + std::string(name_of(dtype)) + " " + shape.text());
  }
  return stored;
}

/// Throws UsageError, or NumericError for a value that is not finite.
void put_given(const io::TensorRef &given, const Tensor &to) {
  if (given.shape != to.shape() || !is_floating_point(given.dtype)) {
    throw UsageError("weight '" + given.name + "' is " + std::string(name_of(given.dtype)) + " " +
                     given.shape.text() + ", the model has " + std::string(name_of(to.dtype())) +
                     " " + to.shape().text());
  }
  convert_elements(given.dtype, given.data, to.dtype(), to.raw(), to.size());
  require_finite(to, given.name);
}

/// Throws UsageError.
void refuse_unknown(const graph::Graph &model, std::span<const io::TensorRef> given) {
  for (const io::TensorRef &tensor : given) {
    if (std::ranges::find(model.parameters(), tensor.name, &graph::Parameter::name) ==
        model.parameters().end()) {
      throw UsageError("the model has no parameter '" + tensor.name + "'");
    }
  }
}

/// As given, the others from the seed: a flat buffer of the model that runs.
std::vector<std::byte> first_weights(const ModelState &state, std::uint64_t seed,
                                     std::span<const io::TensorRef> given) {
  std::vector<std::byte> weights(whole_bytes(state));
  for (const graph::Parameter &parameter : state.model.whole.parameters()) {
    auto *begin = weights.data() + offset_of(state, parameter);
    const Tensor tensor(begin, state.parameters, parameter.shape);
    const auto start = std::ranges::find(given, parameter.name, &io::TensorRef::name);
    if (start == given.end()) {
      zygos::initialise(tensor, parameter.init, seed, parameter.name);
    } else {
      put_given(*start, tensor);
    }
  }
  return from_whole(state.model, std::move(weights), size_of(state.parameters));
}

}  // namespace

std::vector<std::string> buffer_names(const nn::Optimizer &optimizer) {
  std::vector<std::string> names{"weights"};
  for (const std::string &state : optimizer.state_names()) {
    names.push_back(state);
  }
  return names;
}

void refuse_not_finite(const std::string &name) {
  throw NumericError("weight '" + name +
                     "' holds a value that is not finite; it is not written over a good "
                     "checkpoint. Lower the learning rate, or look for bad values in the "
                     "data");
}

void begin_state(const ModelState &state, std::uint64_t seed,
                 std::span<const io::TensorRef> given) {
  refuse_unknown(state.model.whole, given);
  write_state(state, [&](std::size_t number) {
    return number == 0 ? first_weights(state, seed, given) : std::vector<std::byte>();
  });
}

void restore_state(const ModelState &state, const nn::Optimizer &optimizer,
                   const io::Checkpoint &checkpoint) {
  const auto names = buffer_names(optimizer);
  for (const std::string &name : names) {  // all of them, before anything is replaced
    for (const graph::Parameter &parameter : state.model.whole.parameters()) {
      stored_as(checkpoint, name + "/" + parameter.name, state.parameters, parameter.shape);
    }
  }
  write_state(state, [&](std::size_t number) {
    std::vector<std::byte> flat(whole_bytes(state));
    for (const graph::Parameter &parameter : state.model.whole.parameters()) {
      const auto &stored = stored_as(checkpoint, names[number] + "/" + parameter.name,
                                     state.parameters, parameter.shape);
      std::ranges::copy(stored.bytes, flat.begin() +
                                          static_cast<std::ptrdiff_t>(offset_of(state, parameter)));
    }
    return from_whole(state.model, std::move(flat), size_of(state.parameters));
  });
  restore_errors(state, checkpoint);
}

std::vector<io::TensorRef> snapshot_of(ModelState &state, const nn::Optimizer &optimizer) {
  const std::vector<Tensor> buffers = gather_state(state);
  const auto names = buffer_names(optimizer);
  std::vector<io::TensorRef> refs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (const graph::Parameter &parameter : state.model.whole.parameters()) {
      auto *begin = static_cast<std::byte *>(buffers[i].raw()) + offset_of(state, parameter);
      if (i == 0) {
        require_finite(Tensor(begin, buffers[i].dtype(), parameter.shape), parameter.name);
      }
      refs.push_back({names[i] + "/" + parameter.name, buffers[i].dtype(), parameter.shape, begin});
    }
  }
  append_errors(state, refs);
  return refs;
}

}  // namespace zygos::train
