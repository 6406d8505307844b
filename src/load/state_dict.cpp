// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/state_dict.hpp"

#include "load/natural_order.hpp"

#include "zygos/core/error.hpp"
#include "zygos/tensor/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace zygos::load {
namespace {

/// A tensor that the model wants, by its name in a file.
struct Wanted {
  std::string name;
  const graph::Parameter* parameter = nullptr;
  nn::TorchTensor layout;
};

std::vector<Wanted> wanted_in_torch(const graph::Graph& graph) {
  std::vector<Wanted> wanted;
  for (std::size_t node = 0; node < graph.nodes().size(); ++node) {
    const graph::Node& layer = graph.nodes()[node];
    const auto parameters = graph.parameters_of(static_cast<graph::NodeId>(node));
    for (nn::TorchTensor& tensor : layer.layer->torch_tensors(layer.input_shapes)) {
      wanted.push_back({layer.name + "." + tensor.name, &parameters[tensor.parameter], tensor});
    }
  }
  return wanted;
}

std::vector<Wanted> wanted_by_own_names(const graph::Graph& graph) {
  std::vector<Wanted> wanted;
  for (const graph::Parameter& parameter : graph.parameters()) {
    wanted.push_back({parameter.name, &parameter, {parameter.name, 0, parameter.shape}});
  }
  return wanted;
}

/// Calls f(index in the parameter, index in the tensor) for runs of `count` elements that lie one
/// behind the other in both.
template <class F>
void for_each_run(const Wanted& wanted, const F& f) {
  const Shape& shape = wanted.layout.shape;
  if (!wanted.layout.transposed) {
    return f(wanted.layout.begin * wanted.parameter->shape.without_leading().size(), 0,
             shape.size());
  }
  const std::int64_t columns = shape[0];
  const std::int64_t rows = shape[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      f((wanted.layout.begin + row) * columns + column, column * rows + row, std::int64_t{1});
    }
  }
}

enum class Direction { to_tensor, to_parameter };

/// Both hold elements of so many bytes.
void copy_elements(const Wanted& wanted, Direction direction, std::size_t bytes,
                   const std::byte* from, std::byte* to) {
  for_each_run(wanted, [&](std::int64_t parameter, std::int64_t tensor, std::int64_t count) {
    const bool gives = direction == Direction::to_tensor;
    const auto source = static_cast<std::size_t>(gives ? parameter : tensor);
    const auto target = static_cast<std::size_t>(gives ? tensor : parameter);
    std::memcpy(to + target * bytes, from + source * bytes,
                static_cast<std::size_t>(count) * bytes);
  });
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  return static_cast<std::size_t>(shape.size()) * size_of(dtype);
}

std::string renamed(const std::string& name, const std::vector<Renaming>& renamings) {
  for (const auto& [from, to] : renamings) {
    const bool whole = name.size() == from.size();
    if (name.starts_with(from) && (whole || name[from.size()] == '.' || name[from.size()] == '/')) {
      return to + name.substr(from.size());
    }
  }
  return name;
}

/// "attention.in_proj.weight" of "attention.in_proj_weight": the joint projection of PyTorch's
/// MultiheadAttention, the only tensors there whose module is not before the last dot.
std::string with_module(const std::string& name) {
  constexpr std::string_view projection = "in_proj_";
  for (const std::string_view tensor : {"in_proj_weight", "in_proj_bias"}) {
    if (name == tensor || name.ends_with("." + std::string(tensor))) {
      const std::size_t at = name.size() - tensor.size() + projection.size() - 1;
      return name.substr(0, at) + "." + name.substr(at + 1);
    }
  }
  return name;
}

/// "fc1" of "fc1.weight".
std::string module_of(const std::string& tensor) {
  const auto end = tensor.find_last_of("./");
  return end == std::string::npos ? std::string() : tensor.substr(0, end);
}

/// Of the tensors, each once, in their order.
template <class Names>
std::vector<std::string> modules_of(const Names& names) {
  std::vector<std::string> modules;
  for (const std::string& name : names) {
    const std::string module = module_of(name);
    if (std::ranges::find(modules, module) == modules.end()) {
      modules.push_back(module);
    }
  }
  return modules;
}

using Tensors = std::map<std::string, const io::StoredTensor*>;

/// Gives tensors of the n-th module the name of the n-th one that is wanted.
Tensors in_order(const Tensors& tensors, const std::vector<Wanted>& wanted) {
  std::vector<std::string> names;
  std::vector<std::string> wanted_names;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name);
  }
  for (const Wanted& one : wanted) {
    wanted_names.push_back(one.name);
  }
  std::ranges::sort(names, natural_less);
  const auto modules = modules_of(names);
  const auto targets = modules_of(wanted_names);
  Tensors out;
  for (const auto& [name, tensor] : tensors) {
    const std::string module = module_of(name);
    const auto at = static_cast<std::size_t>(std::ranges::find(modules, module) - modules.begin());
    out[at < targets.size() ? targets[at] + name.substr(module.size()) : name] = tensor;
  }
  return out;
}

bool counts_batches(const std::string& name) { return name.ends_with("num_batches_tracked"); }

/// What keeps tensors from being the model's weights, for one message.
class Misfits {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }

  void throw_if_any(const std::string& source) const {
    constexpr std::size_t shown = 12;
    if (lines_.empty()) {
      return;
    }
    std::string text = source + " does not fit the model:";
    for (std::size_t i = 0; i < std::min(shown, lines_.size()); ++i) {
      text += "\n  " + lines_[i];
    }
    if (lines_.size() > shown) {
      text += fmt::format("\n  and {} more", lines_.size() - shown);
    }
    throw UsageError(text +
                     "\nRename the file's modules to the layers (rename: [module -> layer]), match "
                     "them by their order (match: order), or take what fits (partial: true)");
  }

 private:
  std::vector<std::string> lines_;
};

class Matching {
 public:
  Matching(std::vector<Wanted> wanted, Tensors tensors, const std::string& source, bool partial)
      : wanted_(std::move(wanted)),
        tensors_(std::move(tensors)),
        source_(source),
        partial_(partial) {}

  MatchedWeights result() {
    Misfits misfits;
    for (const Wanted& wanted : wanted_) {
      check(wanted, misfits);
    }
    for (const auto& [name, tensor] : tensors_) {
      if (std::ranges::find(wanted_, name, &Wanted::name) != wanted_.end() ||
          counts_batches(name)) {
        continue;
      }
      out_.unused.push_back(tensor->name);
      if (!partial_) {
        misfits.add(fmt::format("'{}' {} is of no layer", tensor->name, tensor->shape.text()));
      }
    }
    misfits.throw_if_any(source_);
    for (auto one = wanted_.begin(); one != wanted_.end();) {
      const auto end = std::find_if(one, wanted_.end(), [&](const Wanted& other) {
        return other.parameter->node != one->parameter->node;
      });
      take_layer({one, end});
      one = end;
    }
    if (out_.weights.empty()) {
      misfits.add("no tensor is of any layer");
      misfits.throw_if_any(source_);
    }
    return std::move(out_);
  }

 private:
  void check(const Wanted& wanted, Misfits& misfits) const {
    const auto found = tensors_.find(wanted.name);
    const Shape& shape = wanted.layout.shape;
    if (found == tensors_.end()) {
      if (!partial_) {
        misfits.add(fmt::format("'{}' {} is missing", wanted.name, shape.text()));
      }
    } else if (found->second->shape.without_ones() != shape.without_ones()) {
      // A gain of each channel may be [16, 1, 1].
      misfits.add(fmt::format("'{}' is {}, the model needs {}", found->second->name,
                              found->second->shape.text(), shape.text()));
    } else if (!is_floating_point(found->second->dtype)) {
      misfits.add(
          fmt::format("'{}' has elements of type {}; allowed are f32, f64, bf16 and half "
                      "precision",
                      found->second->name, name_of(found->second->dtype)));
    }
  }

  /// Takes the parameters of one layer, of which a file has each whole or none.
  void take_layer(std::span<const Wanted> wanted) {
    std::map<const graph::Parameter*, std::vector<const Wanted*>> parts;
    for (const Wanted& one : wanted) {
      parts[one.parameter].push_back(&one);
    }
    for (const auto& [parameter, pieces] : parts) {
      const bool whole = std::ranges::all_of(
          pieces, [&](const Wanted* piece) { return tensors_.contains(piece->name); });
      if (whole) {
        out_.weights.push_back(assembled(*parameter, pieces));
      } else {
        out_.missing.push_back(parameter->name);
      }
    }
  }

  io::StoredTensor assembled(const graph::Parameter& parameter,
                             const std::vector<const Wanted*>& pieces) const {
    const bool wide = std::ranges::any_of(
        pieces, [&](const Wanted* piece) { return tensors_.at(piece->name)->dtype == DType::f64; });
    io::StoredTensor out{parameter.name, wide ? DType::f64 : DType::f32, parameter.shape, {}};
    out.bytes.resize(bytes_of(out.shape, out.dtype));
    for (const Wanted* piece : pieces) {
      const io::StoredTensor& from = *tensors_.at(piece->name);
      if (const auto bad = first_not_finite(from.dtype, from.bytes.data(), from.shape.size())) {
        throw NumericError(
            fmt::format("{}: element {} of '{}' is not finite", source_, *bad, from.name));
      }
      std::vector<std::byte> converted(bytes_of(from.shape, out.dtype));
      convert_elements(from.dtype, from.bytes.data(), out.dtype, converted.data(),
                       from.shape.size());
      copy_elements(*piece, Direction::to_parameter, size_of(out.dtype), converted.data(),
                    out.bytes.data());
    }
    return out;
  }

  std::vector<Wanted> wanted_;
  Tensors tensors_;
  const std::string& source_;
  bool partial_;
  MatchedWeights out_;
};

}  // namespace

std::vector<io::StoredTensor> state_dict_of(const graph::Graph& graph,
                                            std::span<const infer::Weight> weights) {
  std::vector<io::StoredTensor> out;
  for (const Wanted& wanted : wanted_in_torch(graph)) {
    const auto weight = std::ranges::find(weights, wanted.parameter->name, &infer::Weight::name);
    if (weight == weights.end() || weight->shape != wanted.parameter->shape) {
      throw UsageError(fmt::format("there is no weight '{}' of shape {}", wanted.parameter->name,
                                   wanted.parameter->shape.text()));
    }
    io::StoredTensor tensor{wanted.name, weight->dtype, wanted.layout.shape, {}};
    tensor.bytes.resize(bytes_of(tensor.shape, tensor.dtype));
    copy_elements(wanted, Direction::to_tensor, size_of(tensor.dtype),
                  static_cast<const std::byte*>(weight->data), tensor.bytes.data());
    out.push_back(std::move(tensor));
  }
  return out;
}

MatchedWeights match_weights(const graph::Graph& graph, std::span<const io::StoredTensor> tensors,
                             const std::string& source, const MatchOptions& options) {
  Tensors by_name;
  for (const io::StoredTensor& tensor : tensors) {
    const std::string name = renamed(with_module(tensor.name), options.renamings);
    if (!counts_batches(name) && !by_name.emplace(name, &tensor).second) {
      throw UsageError(
          fmt::format("{}: two tensors are called '{}' once they are renamed", source, name));
    }
  }
  const bool own = std::ranges::any_of(graph.parameters(), [&](const graph::Parameter& parameter) {
    return by_name.contains(parameter.name);
  });
  std::vector<Wanted> wanted = own ? wanted_by_own_names(graph) : wanted_in_torch(graph);
  if (options.match == MatchBy::order) {
    by_name = in_order(by_name, wanted);
  }
  return Matching(std::move(wanted), std::move(by_name), source, options.partial).result();
}

}  // namespace zygos::load
