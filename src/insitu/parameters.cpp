// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/parameters.hpp"

#include "insitu/state_names.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/update/clip_factor.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/initialiser.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace zygos::insitu {
namespace {

void copy_flat(const lane::Execution& execution, const Tensor& from, const Tensor& to) {
  lane::dispatch(execution, to.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::copy(exec, vector_view<Exec, const T>(from), vector_view<Exec, T>(to));
  });
}

void fill_with_zeros(const lane::Execution& execution, const Tensor& tensor) {
  lane::dispatch(execution, tensor.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::fill(exec, vector_view<Exec, T>(tensor), T(0));
  });
}

/// Elements [begin, end) of the flat buffer that belong to each node which has some.
std::vector<std::array<std::int64_t, 2>> ranges_of_nodes(const graph::Graph& graph) {
  std::vector<std::array<std::int64_t, 2>> ranges;
  graph::NodeId last = -1;
  for (const graph::Parameter& parameter : graph.parameters()) {
    if (parameter.node != last) {
      ranges.push_back({parameter.offset, parameter.offset});
      last = parameter.node;
    }
    ranges.back()[1] = parameter.offset + parameter.shape.size();
  }
  return ranges;
}

/// What the squares of the gradient are summed by: nodes, each cut into pieces, what is not trained
/// left out, as train::Engine does it, so that both clip to the same bits.
ClipTable clip_table(const graph::Graph& graph) {
  constexpr std::int64_t shortest = 16384;
  constexpr std::int64_t most = 1024;
  ClipTable table;
  for (const auto& [node_begin, node_end] : ranges_of_nodes(graph)) {
    const std::int64_t length = std::max(shortest, (node_end - node_begin + most - 1) / most);
    const auto add = [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; begin += length) {
        table.pieces.insert(table.pieces.end(), {begin, std::min(end, begin + length)});
      }
    };
    table.first.push_back(std::ssize(table.pieces) / 2);
    std::int64_t begin = node_begin;
    for (const graph::Parameter& parameter : graph.parameters()) {
      if (!parameter.trained() && parameter.offset >= node_begin && parameter.offset < node_end) {
        add(begin, parameter.offset);
        begin = parameter.offset + parameter.shape.size();
      }
    }
    add(begin, node_end);
  }
  table.first.push_back(std::ssize(table.pieces) / 2);
  return table;
}

}  // namespace

/// Adds pieces to the arena's layout and binds them once it is allocated.
class Parameters::Layout {
 public:
  void tensor(Tensor& to, memory::Category category, std::string name, DType type,
              const Shape& shape) {
    to = Tensor(nullptr, type, shape);
    const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(type);
    tensors_.emplace_back(&to, layout_.add(category, std::move(name), bytes));
  }
  memory::Arena allocate(const Instance& instance) const {
    memory::Arena arena(layout_, "surrogate", 0, [&](std::size_t bytes, const std::string&) {
      return instance.allocate(bytes, "zygos::insitu::parameters");
    });
    for (const auto& [tensor, piece] : tensors_) {
      *tensor = Tensor(arena.at(piece), tensor->dtype(), tensor->shape());
    }
    return arena;
  }

 private:
  memory::ArenaLayout layout_;
  std::vector<std::pair<Tensor*, std::size_t>> tensors_;
};

Parameters::Parameters(const Instance& instance, const graph::Graph& graph,
                       const nn::Optimizer& optimizer, DType type, std::uint64_t seed)
    : named_(graph.parameters().begin(), graph.parameters().end()),
      buffer_names_{"weights"},
      inputs_(graph.input_shape().size()),
      targets_(graph.output_shape().size()) {
  Layout layout;
  Tensor standards, fresh, bad;
  lay_out_learned(layout, optimizer, Shape{graph.parameter_elements()}, type);
  lay_out_clipping(layout, optimizer, graph);
  layout.tensor(standards, memory::Category::weights, "standards", DType::f64, Shape{2, width()});
  layout.tensor(fresh, memory::Category::workspace, "fresh standards", DType::f64,
                Shape{2, width()});
  layout.tensor(bad, memory::Category::workspace, "flag", DType::i32, Shape{1});
  arena_ = layout.allocate(instance);
  standards_ = {standards.data<double>(), standards.data<double>() + width()};
  fresh_ = {fresh.data<double>(), fresh.data<double>() + width()};
  bad_ = bad.data<std::int32_t>();
  infer::bind_weights(graph, type, static_cast<std::byte*>(weights_.raw()), node_weights_);
  infer::bind_weights(graph, type, static_cast<std::byte*>(gradient_.raw()), node_gradients_);
  find_dense_ends(graph);
  initialise(instance, graph, seed);
  write_decay_mask(instance, graph);
  write_pieces(instance);
  keep(*instance);
}

void Parameters::lay_out_learned(Layout& layout, const nn::Optimizer& optimizer, const Shape& flat,
                                 DType type) {
  using memory::Category;
  std::ranges::copy(optimizer.state_names(), std::back_inserter(buffer_names_));
  states_.resize(buffer_names_.size() - 1);
  kept_.resize(buffer_names_.size());
  layout.tensor(weights_, Category::weights, "weights", type, flat);
  layout.tensor(gradient_, Category::gradients, "gradient", type, flat);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    layout.tensor(states_[i], Category::optimizer_state, buffer_names_[i + 1], type, flat);
  }
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    layout.tensor(kept_[i], Category::stash, "kept " + buffer_names_[i], type, flat);
  }
  if (optimizer.uses_decay()) {
    layout.tensor(decay_mask_, Category::weights, "decay mask", DType::u8, flat);
  }
}

void Parameters::lay_out_clipping(Layout& layout, const nn::Optimizer& optimizer,
                                  const graph::Graph& graph) {
  if (!optimizer.clip_norm()) {
    return;
  }
  constexpr auto workspace = memory::Category::workspace;
  clip_table_ = clip_table(graph);
  const std::int64_t pieces = std::ssize(clip_table_.pieces) / 2;
  const std::int64_t nodes = std::ssize(clip_table_.first) - 1;
  layout.tensor(clip_.pieces, workspace, "pieces", DType::i64, Shape{pieces, 2});
  layout.tensor(clip_.first, workspace, "first pieces", DType::i64, Shape{nodes + 1});
  layout.tensor(clip_.workspace, workspace, "squares", DType::f64,
                Shape{pieces * ops::squares_beside});
  layout.tensor(clip_.sums, workspace, "sums of squares", DType::f64, Shape{nodes});
  layout.tensor(clip_.factor, workspace, "factor", DType::f64, Shape{1});
}

void Parameters::initialise(const Instance& instance, const graph::Graph& graph,
                            std::uint64_t seed) const {
  std::vector<std::byte> flat(weights_.bytes());
  const std::size_t unit = size_of(weights_.dtype());
  for (const graph::Parameter& parameter : graph.parameters()) {
    std::byte* const at = flat.data() + static_cast<std::size_t>(parameter.offset) * unit;
    zygos::initialise(Tensor(at, weights_.dtype(), parameter.shape), parameter.init, seed,
                      parameter.name);
  }
  instance.copy_in(weights_.raw(), flat.data(), flat.size(), "zygos::insitu::initialise");
  const std::vector<double> ones(static_cast<std::size_t>(width()), 1.0);
  instance.copy_in(standards_.scale, ones.data(), ones.size() * sizeof(double),
                   "zygos::insitu::initialise");
}

void Parameters::find_dense_ends(const graph::Graph& graph) {
  const auto nodes = graph.nodes();
  const auto is_dense = [&](graph::NodeId id) {
    const graph::Node& node = nodes[static_cast<std::size_t>(id)];
    return node.layer->type() == "dense" && graph.parameters_of(id).size() == 2 && !node.frozen;
  };
  std::int64_t readers = 0;
  graph::NodeId reader = -1;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (std::ranges::find(nodes[id].inputs, graph::graph_input) != nodes[id].inputs.end()) {
      ++readers;
      reader = static_cast<graph::NodeId>(id);
    }
  }
  if (readers == 1 && is_dense(reader) && graph.parameters_of(reader)[0].shape[0] == inputs_) {
    first_dense_ = reader;
  }
  const auto last = static_cast<graph::NodeId>(nodes.size() - 1);
  const graph::Node& end = nodes.back();
  if (is_dense(last) && graph.parameters_of(last)[0].shape[1] == targets_) {
    // What follows the sum over its inputs: nothing if it is linear.
    const auto form = end.layer->shard_form(SliceKind::inputs, end.input_shapes);
    const auto whole = end.layer->shard({SliceKind::inputs, 0, form.units()}, end.input_shapes);
    last_dense_ = whole.epilogue == nullptr ? last : -1;
  }
}

void Parameters::take_fresh_standards(const lane::Execution& execution, bool absorb) const {
  if (absorb && absorbs_standards()) {
    const auto& first = node_weights_[static_cast<std::size_t>(first_dense_)];
    const auto& last = node_weights_[static_cast<std::size_t>(last_dense_)];
    absorb_inputs(execution, standards_, fresh_, first[0], first[1]);
    absorb_targets(execution, standards_.from(inputs_), fresh_.from(inputs_), last[0], last[1]);
  }
  copy_standards(execution, fresh_, standards_, width());
  for (const Tensor& state : states_) {
    fill_with_zeros(execution, state);
  }
  keep(execution);
}

void Parameters::write_decay_mask(const Instance& instance, const graph::Graph& graph) const {
  if (!decay_mask_) {
    return;
  }
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(decay_mask_.size()), 0);
  for (const graph::Parameter& parameter : graph.parameters()) {
    if (parameter.decay) {
      std::fill_n(mask.begin() + parameter.offset, parameter.shape.size(), std::uint8_t{1});
    }
  }
  instance.copy_in(decay_mask_.raw(), mask.data(), mask.size(), "zygos::insitu::decay_mask");
}

void Parameters::write_pieces(const Instance& instance) const {
  if (!clip_.pieces) {
    return;
  }
  instance.copy_in(clip_.pieces.raw(), clip_table_.pieces.data(), clip_.pieces.bytes(),
                   "zygos::insitu::clip_pieces");
  instance.copy_in(clip_.first.raw(), clip_table_.first.data(), clip_.first.bytes(),
                   "zygos::insitu::clip_pieces");
}

void Parameters::keep(const lane::Execution& execution) const {
  copy_flat(execution, weights_, kept_.front());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    copy_flat(execution, states_[i], kept_[i + 1]);
  }
}

void Parameters::roll_back(const lane::Execution& execution) const {
  copy_flat(execution, kept_.front(), weights_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    copy_flat(execution, kept_[i + 1], states_[i]);
  }
}

namespace {

/// f(name, begin in the flat buffer) of every parameter in every buffer.
template <class F>
void for_each_named(std::span<const graph::Parameter> parameters,
                    std::span<const std::string> buffers, const F& f) {
  for (std::size_t buffer = 0; buffer < buffers.size(); ++buffer) {
    for (const graph::Parameter& parameter : parameters) {
      f(buffer, buffers[buffer] + "/" + parameter.name, parameter);
    }
  }
}

bool all_finite_in(const StoredTensor& tensor) {
  const auto finite = [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < tensor.bytes.size(); i += sizeof(T)) {
      T value{};
      std::memcpy(&value, tensor.bytes.data() + i, sizeof(T));
      if (!std::isfinite(value)) {
        return false;
      }
    }
    return true;
  };
  return tensor.dtype == DType::f64 ? finite(std::type_identity<double>{})
                                    : finite(std::type_identity<float>{});
}

}  // namespace

void Parameters::add_to(State& state, const Instance& instance) const {
  const std::size_t unit = size_of(weights_.dtype());
  std::vector<std::vector<std::byte>> flat;
  for (std::size_t i = 0; i < buffer_names_.size(); ++i) {
    const Tensor& from = i == 0 ? weights_ : states_[i - 1];
    instance.copy_out(flat.emplace_back(from.bytes()).data(), from.raw(), from.bytes(),
                      "zygos::insitu::state");
  }
  for_each_named(
      named_, buffer_names_,
      [&](std::size_t buffer, std::string name, const graph::Parameter& parameter) {
        const auto begin =
            flat[buffer].begin() + parameter.offset * static_cast<std::int64_t>(unit);
        const auto bytes = parameter.shape.size() * static_cast<std::int64_t>(unit);
        state.tensors.push_back(
            {std::move(name), weights_.dtype(), parameter.shape, {begin, begin + bytes}});
      });
  StoredTensor standards{standards_name, DType::f64, Shape{2, width()}, {}};
  standards.bytes.resize(static_cast<std::size_t>(2 * width()) * sizeof(double));
  instance.copy_out(standards.bytes.data(), standards_.shift, standards.bytes.size(),
                    "zygos::insitu::state");
  state.tensors.push_back(std::move(standards));
}

void Parameters::check(const State& state) const {
  for_each_named(named_, buffer_names_,
                 [&](std::size_t, const std::string& name, const graph::Parameter& parameter) {
                   if (!all_finite_in(state.tensor(name, weights_.dtype(), parameter.shape))) {
                     throw CheckpointError("'" + name +
                                           "' of the saved state holds a value that is not finite");
                   }
                 });
  static_cast<void>(state.tensor(standards_name, DType::f64, Shape{2, width()}));
}

void Parameters::restore(const State& state, const Instance& instance) const {
  const std::size_t unit = size_of(weights_.dtype());
  std::vector<std::vector<std::byte>> flat(buffer_names_.size(),
                                           std::vector<std::byte>(weights_.bytes()));
  for_each_named(
      named_, buffer_names_,
      [&](std::size_t buffer, const std::string& name, const graph::Parameter& parameter) {
        const StoredTensor& from = state.tensor(name, weights_.dtype(), parameter.shape);
        std::ranges::copy(
            from.bytes, flat[buffer].begin() + parameter.offset * static_cast<std::int64_t>(unit));
      });
  instance.wait("zygos::insitu::restore");
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const Tensor& to = i == 0 ? weights_ : states_[i - 1];
    instance.copy_in(to.raw(), flat[i].data(), flat[i].size(), "zygos::insitu::restore");
  }
  const StoredTensor& standards = state.tensor(standards_name, DType::f64, Shape{2, width()});
  instance.copy_in(standards_.shift, standards.bytes.data(), standards.bytes.size(),
                   "zygos::insitu::restore");
  keep(*instance);
}

}  // namespace zygos::insitu
