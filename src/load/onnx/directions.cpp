// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/directions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace zygos::load {
namespace {

using nn::OnnxOperator;
using Attributes = std::map<std::string, OnnxOperator::Attribute>;
using Integers = std::vector<std::int64_t>;

constexpr std::array<const char*, 2> directions{"forward", "reverse"};

/// What of a tensor belongs to a direction; no model calls a tensor so by chance.
std::string of_direction(const std::string& tensor, std::size_t direction) {
  return tensor.empty() ? tensor : tensor + ", " + directions.at(direction);
}

bool has_both(const OnnxOperator& op) { return op.text("direction", "") == "bidirectional"; }

/// The operator of one direction. Of both cells' states the first has the name, as nobody may read
/// them.
OnnxOperator operator_of(OnnxOperator op, std::size_t direction) {
  for (std::size_t i = 1; i < std::min<std::size_t>(op.inputs.size(), 4); ++i) {
    op.inputs[i] = of_direction(op.inputs[i], direction);
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const bool keeps = i > 1 && direction == 0;
    op.outputs[i] = keeps ? op.outputs[i] : of_direction(op.outputs[i], direction);
  }
  auto activations = op.texts("activations", {});
  if (const auto count = static_cast<std::ptrdiff_t>(activations.size()) / 2; count > 0) {
    const auto begin = activations.begin() + static_cast<std::ptrdiff_t>(direction) * count;
    op.attributes.insert_or_assign("activations", std::vector<std::string>(begin, begin + count));
  }
  op.attributes.insert_or_assign("direction", std::string(directions.at(direction)));
  return op;
}

class Separation {
 public:
  std::vector<OnnxOperator> operators() && { return std::move(operators_); }

  void add(OnnxOperator op) {
    if (has_both(op)) {
      return add_both(op);
    }
    if (op.type == "Concat" && op.integer("axis", 0) == 0) {
      op.inputs = with_states_apart(op.inputs);
    }
    operators_.push_back(std::move(op));
  }

 private:
  void add_both(const OnnxOperator& op) {
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      const auto number = static_cast<std::int64_t>(direction);
      for (std::size_t i = 1; i < std::min<std::size_t>(op.inputs.size(), 4); ++i) {
        if (!op.inputs[i].empty()) {
          append(op, "Slice", {op.inputs[i]}, of_direction(op.inputs[i], direction),
                 {{"axes", Integers{0}},
                  {"starts", Integers{number}},
                  {"ends", Integers{number + 1}}});
        }
      }
      operators_.push_back(operator_of(op, direction));
    }
    if (!op.outputs.empty() && !op.outputs[0].empty()) {
      join_sequences(op, op.outputs[0]);
    }
    if (op.outputs.size() > 1 && !op.outputs[1].empty()) {
      const std::string& states = op.outputs[1];
      states_[states] = {of_direction(states, 0), of_direction(states, 1)};
      append(op, "Concat", states_[states], states, {{"axis", std::int64_t{0}}});
    }
  }

  /// (T, 2, N, H) of both (T, 1, N, H): side by side, which is a layer, and moved to their places.
  void join_sequences(const OnnxOperator& op, const std::string& joined) {
    std::vector<std::string> sides;
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      const std::string one = of_direction(joined, direction);
      append(op, "Squeeze", {one}, one + ", alone", {{"axes", Integers{1}}});
      append(op, "Transpose", {one + ", alone"}, one + ", by sample",
             {{"perm", Integers{1, 0, 2}}});
      sides.push_back(one + ", by sample");
    }
    append(op, "Concat", sides, joined + ", by sample", {{"axis", std::int64_t{2}}});
    append(op, "Reshape", {joined + ", by sample"}, joined + ", by direction",
           {{"shape", Integers{0, 0, 2, -1}}});
    append(op, "Transpose", {joined + ", by direction"}, joined, {{"perm", Integers{1, 2, 0, 3}}});
  }

  /// With its name, for messages.
  void append(const OnnxOperator& op, std::string type, std::vector<std::string> inputs,
              std::string output, Attributes attributes) {
    operators_.push_back({.name = op.name,
                          .type = std::move(type),
                          .inputs = std::move(inputs),
                          .outputs = {std::move(output)},
                          .attributes = std::move(attributes)});
  }

  /// So that states of stacked operators are those of one direction each.
  std::vector<std::string> with_states_apart(const std::vector<std::string>& tensors) const {
    std::vector<std::string> all;
    for (const std::string& tensor : tensors) {
      if (const auto both = states_.find(tensor); both != states_.end()) {
        all.insert(all.end(), both->second.begin(), both->second.end());
      } else {
        all.push_back(tensor);
      }
    }
    return all;
  }

  std::vector<OnnxOperator> operators_;
  std::map<std::string, std::vector<std::string>> states_;  ///< of both directions by joined ones
};

}  // namespace

OnnxFile with_directions_apart(OnnxFile file) {
  Separation separation;
  for (OnnxOperator& op : file.operators) {
    separation.add(std::move(op));
  }
  file.operators = std::move(separation).operators();
  return file;
}

}  // namespace zygos::load
