// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/infer/model.hpp"

#include "infer/pass.hpp"
#include "infer/samples.hpp"
#include "infer/shared_model.hpp"
#include "infer/weights.hpp"
#include "lane/device/device.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace zygos::infer {
namespace {

/// Passes are laid out once for each of so many batch sizes; the oldest gives way.
constexpr std::size_t kept_passes = 4;

}  // namespace

struct Model::Impl {
  explicit Impl(std::shared_ptr<SharedModel> core_) : core(std::move(core_)) {}
  ~Impl() { leave(); }

  std::shared_ptr<SharedModel> core;
  std::shared_ptr<SharedBlock> weights{};      ///< those of `parameters`
  std::uint64_t version = 0;                   ///< of them; 0: none
  std::optional<lane::Execution> execution{};  ///< that works with the workspace
  memory::Block workspace{};
  std::size_t capacity = 0;
  NodeTensors parameters{};
  NodeTensors constants{};
  UnitStandards::Bound standards{};
  std::vector<Pass> passes{};
  std::size_t oldest = 0;

  /// Waits until nobody uses the workspace and the weights; kernels of a host instance have ended
  /// when their launch returns.
  void leave() const {
    if (execution && lane::device::is_device(*execution)) {
      wait_for(*execution, "zygos::infer::leave");
    }
  }

  /// From now on work is enqueued on `next`, with the newest weights.
  void enter(const lane::Execution& next);
  void take_weights();
  Pass& pass_for(std::int64_t samples);
  void grow(std::size_t bytes);
  void run(std::span<const Samples> inputs, const Samples& outputs);
};

void Model::Impl::enter(const lane::Execution& next) {
  const bool same = execution && static_cast<const lane::Spaces&>(*execution) == next;
  if (!same) {
    leave();
    const bool moves =
        !execution || lane::device::is_device(*execution) != lane::device::is_device(next);
    execution = next;
    if (moves) {
      passes.clear();
      workspace.reset();
      capacity = 0;
      version = 0;
      constants = core->constants().bind(next);
      standards = core->standards().bind(next);
    }
  }
  if (version != core->version()) {
    take_weights();
  }
}

void Model::Impl::take_weights() {
  leave();
  version = core->version();  // before the weights, which may be newer but never older
  weights = core->weights();
  bind_weights(core->graph(), wide(core->dtype()), weights->readable_on(*execution), parameters);
}

void Model::Impl::grow(std::size_t bytes) {
  leave();
  passes.clear();
  workspace.reset();  // before the larger one is there
  capacity = 0;
  workspace = allocate_on(*execution, bytes, "zygos::infer::workspace");
  capacity = bytes;
}

Pass& Model::Impl::pass_for(std::int64_t samples) {
  const auto found = std::ranges::find(passes, samples, &Pass::samples);
  if (found != passes.end()) {
    return *found;
  }
  Pass pass(core->graph(), core->dtype(), samples);
  if (pass.bytes() > capacity || workspace == nullptr) {
    grow(pass.bytes());
  }
  pass.bind(workspace.get());
  if (passes.size() < kept_passes) {
    return passes.emplace_back(std::move(pass));
  }
  Pass& replaced = passes[oldest];
  oldest = (oldest + 1) % kept_passes;
  replaced = std::move(pass);
  return replaced;
}

void Model::Impl::run(std::span<const Samples> inputs, const Samples& outputs) {
  Pass& pass = pass_for(outputs.count);
  // Kernels of a device may load vectors, which begin at multiples of their length.
  const bool aligned = lane::device::is_device(*execution);
  const auto in_place = [&](const Samples& samples, const Tensor& tensor) {
    return samples.dtype == tensor.dtype() && samples.is_dense() &&
           !(aligned &&
             reinterpret_cast<std::uintptr_t>(samples.data) % memory::ArenaLayout::alignment);
  };
  const bool apart =
      std::ranges::none_of(inputs, [&](const Samples& input) { return overlap(input, outputs); });
  const bool reads = apart && inputs.size() == 1 && standards.inputs.shift == nullptr &&
                     in_place(inputs.front(), pass.input());
  const bool writes =
      apart && standards.outputs.shift == nullptr && in_place(outputs, pass.output());
  pass.redirect(reads ? inputs.front().data : pass.input().raw(),
                writes ? outputs.data : pass.output().raw());
  std::int64_t first = 0;
  for (const Samples& input : inputs) {
    if (!reads) {
      ops::SampleStandards of_part = standards.inputs;
      of_part.first = first;
      copy_samples(*execution, input, samples_in(pass.input(), first, input.shape), of_part);
    }
    first += input.shape.size();
  }
  core->evaluation().run(*execution, pass.nodes(), parameters, constants);
  if (!writes) {
    copy_samples(*execution, samples_in(pass.output(), 0, outputs.shape), outputs,
                 standards.outputs);
  }
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Model::Model(const graph::Graph& graph, std::span<const Weight> weights, const Options& options)
    : impl_(std::make_unique<Impl>(std::make_shared<SharedModel>(graph, weights, options))) {}

Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::share() const { return Model(std::make_unique<Impl>(impl_->core)); }

void Model::assign(std::span<const Weight> weights) { impl_->core->assign(weights); }

void Model::predict_samples(const lane::Execution& execution, std::span<const Samples> inputs,
                            const Samples& outputs) {
  require_fit(graph(), inputs, outputs);
  if (outputs.count == 0) {
    return;
  }
  impl_->enter(execution);
  const std::int64_t most = block();
  if (outputs.count <= most) {
    return impl_->run(inputs, outputs);
  }
  std::vector<Samples> parts(inputs.begin(), inputs.end());
  for (std::int64_t begin = 0; begin < outputs.count; begin += most) {
    const std::int64_t number = std::min(most, outputs.count - begin);
    std::ranges::transform(inputs, parts.begin(),
                           [&](const Samples& input) { return input.part(begin, number); });
    impl_->run(parts, outputs.part(begin, number));
  }
}

void Model::prepare_on(const lane::Execution& execution, std::int64_t samples) {
  if (samples < 1) {
    throw UsageError("prepare() for " + std::to_string(samples) + " samples; it must be 1 or more");
  }
  impl_->enter(execution);
  static_cast<void>(impl_->pass_for(std::min(samples, block())));
}

const graph::Graph& Model::graph() const noexcept { return impl_->core->graph(); }
DType Model::dtype() const noexcept { return impl_->core->dtype(); }
std::int64_t Model::block() const noexcept { return impl_->core->block(); }

std::size_t Model::weight_bytes() const noexcept {
  return static_cast<std::size_t>(graph().parameter_elements()) * size_of(wide(dtype())) +
         impl_->core->constants().bytes();
}

std::size_t Model::workspace_bytes() const noexcept { return impl_->capacity; }

}  // namespace zygos::infer
